"""The scene where there is no Slicer application, and where a script or the application has one."""

from __future__ import annotations

import pytest
import shapes

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer
from segmentnodes import segmentationOf

from SegmentMetricsLib import Settings, mrml


@pytest.fixture
def own(monkeypatch):
    """The scene of a script, which replaced the one that there was."""
    mrml.ensureScene()
    scene = slicer.vtkMRMLScene()
    monkeypatch.setattr(slicer, "mrmlScene", scene)
    return scene


def testASceneOfAScriptIsKept(own):
    """It gets what Slicer's application has: modes of the mouse, colors, and conversions of segments."""
    assert mrml.ensureScene() is own
    assert own.GetFirstNodeByClass("vtkMRMLInteractionNode") is not None
    volume = own.AddNewNodeByClass("vtkMRMLScalarVolumeNode")
    volume.CreateDefaultDisplayNodes()
    assert volume.GetDisplayNode().GetColorNode() is own.GetNodeByID("vtkMRMLColorTableNodeGrey") is not None
    node = segmentationOf(own, A=shapes.box((5, 5, 5), (9, 9, 9)), B=shapes.box((5, 5, 5), (9, 9, 8)))
    found = mrml.compareSegments(node, "A", node, "B", Settings(metrics="HD", surface="displayed"))
    assert mrml.showDistanceMap(found).GetPolyData().GetNumberOfPolys() > 0


def testTheApplicationsSceneIsNotTouched(own, monkeypatch):
    monkeypatch.setattr(slicer, "app", object(), raising=False)
    assert mrml.ensureScene() is own and own.GetNumberOfNodes() == 0
