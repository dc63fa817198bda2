"""Slicer's conversion of segments to surfaces, and the scene where there is no Slicer application."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer
from segmentnodes import segmentationOf
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.model.inputs import labelMasks
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.mrml import conversion, headless

# off center and not a cube of voxels, so that a wrong axis or sign cannot go unnoticed
CENTER = np.array([-30.0, 42.0, 60.0])


IMAGE = shapes.ball(16, CENTER, (1.0, 1.5, 2.0), (-60.0, 5.0, 20.0), (60, 50, 40))
LIVER = Structure("Liver", labelMasks(IMAGE, 0.5)[1])


def points(polyData) -> np.ndarray:
    return vtk_to_numpy(polyData.GetPoints().GetData())


class TestConversion:
    def testTheUsersSegmentationIsOnlyRead(self, scene):
        segmentation = segmentationOf(scene, Liver=IMAGE).GetSegmentation()
        segment, name = segmentation.GetNthSegment(0), segmentation.GetNthSegmentID(0)
        segmentation.SetConversionParameter("Smoothing factor", "0.1")

        def times() -> list[int]:
            return [one.GetMTime() for one in (segmentation, segment, segment.GetRepresentation("Binary labelmap"))]

        before = times()
        own = conversion.closedSurface(segmentation, name)
        smoother = conversion.closedSurface(segmentation, name, {"Smoothing factor": "0.9"})
        assert not segmentation.ContainsRepresentation("Closed surface") and times() == before
        assert segmentation.GetConversionParameter("Smoothing factor") == "0.1"
        assert np.abs(points(own) - points(smoother)).max() > 0.01

    def testObliqueVoxels(self, scene):
        array = shapes.blob(3)
        spacing = np.diag([1.0, 1.2, 2.5])
        places = []
        for turned in (np.eye(3), shapes.rotation((1, 2, 3), 30), np.diag([-1.0, 1.0, 1.0])):
            matrix = np.eye(4)
            matrix[:3, :3] = turned @ spacing
            matrix[:3, 3] = (10, -20, 30)
            mask = Mask.fromArray(array, Grid(array.shape[::-1], matrix))
            shown = points(conversion.displayedSurface(Structure("Blob", mask))) * [-1, -1, 1]
            places.append(np.unique(np.round(mask.grid.toIndex(shown), 2), axis=0))
        for place in places:
            assert place.min(axis=0) == pytest.approx(places[0].min(axis=0), abs=0.02)
            assert place.max(axis=0) == pytest.approx(places[0].max(axis=0), abs=0.02)
            assert place.mean(axis=0) == pytest.approx(places[0].mean(axis=0), abs=0.02)

    def testEmptyStructures(self, scene):
        mask = Mask.fromArray(np.zeros((4, 4, 4)), Grid((4, 4, 4), np.eye(4)))
        with pytest.raises(ValueError, match="Liver is empty"):
            conversion.displayedSurface(Structure("Liver", mask))


class TestScene:
    def testASceneOfAScriptIsKept(self, monkeypatch):
        own = slicer.vtkMRMLScene()
        monkeypatch.setattr(slicer, "mrmlScene", own)
        monkeypatch.setattr(headless, "_headlessSlicer", None)
        assert headless.ensureScene() is own
        assert own.GetFirstNodeByClass("vtkMRMLInteractionNode") is not None
        volume = own.AddNewNodeByClass("vtkMRMLScalarVolumeNode")
        volume.CreateDefaultDisplayNodes()
        assert volume.GetDisplayNode().GetColorNode() is own.GetNodeByID("vtkMRMLColorTableNodeGrey") is not None
        assert conversion.displayedSurface(LIVER).GetNumberOfPolys() > 0

    def testTheApplicationsSceneIsNotTouched(self, monkeypatch):
        own = slicer.vtkMRMLScene()
        monkeypatch.setattr(slicer, "mrmlScene", own)
        monkeypatch.setattr(slicer, "app", object(), raising=False)
        monkeypatch.setattr(headless, "_headlessSlicer", None)
        assert headless.ensureScene() is own
        assert headless._headlessSlicer is None
        assert own.GetNumberOfNodes() == 0
