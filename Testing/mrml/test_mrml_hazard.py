"""Hazard in a scene: as a volume, and as the colors of distance maps and pictures."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.base.palettes import rgb
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import colors, maps
from SegmentMetricsLib.show.maps import HAZARD

# turned and not a cube of voxels, so that a wrong axis or sign cannot go unnoticed
GEOMETRY = {"spacing": (1.0, 1.2, 2.0), "origin": (-30.0, 12.0, 5.0)}
BOXES = {"Organ": ((8, 5, 5), (14, 12, 11)), "Other": ((7, 5, 5), (13, 12, 11)), "Wall": ((2, 0, 0), (4, 23, 23))}
FAMILIES = ("boundary", "hazard")
RAS = np.array([-1, -1, 1])


def structures() -> dict[str, Structure]:
    result = {}
    for name, corners in BOXES.items():
        image = shapes.box(*corners, **GEOMETRY)
        image.SetDirection(shapes.rotation((1, 2, 3), 25).ravel().tolist())
        mask = Mask.fromArray(SimpleITK.GetArrayFromImage(image), Grid.fromImage(image))
        result[name] = Structure(name, mask, file="case.nrrd")
    return result


@pytest.fixture(scope="module")
def comparison():
    organ, other, wall = structures().values()
    return compare(organ, other, Settings(families=FAMILIES), criticals={"Wall": wall})


@pytest.fixture(scope="module")
def withoutCriticals():
    organ, other, _ = structures().values()
    return compare(organ, other)


def valuesOf(volume) -> np.ndarray:
    """The voxels of a volume node as (n,), i fastest."""
    return vtk_to_numpy(volume.GetImageData().GetPointData().GetScalars())


class TestVolume:
    def testVoxelsAreWhereTheHazardIs(self, scene, comparison):
        volume = mrml.showHazard(comparison)
        assert volume.IsA("vtkMRMLScalarVolumeNode") and volume.GetName() == "Organ vs Other: hazard"
        matrix = vtkMatrix4x4()
        volume.GetIJKToRASMatrix(matrix)
        shape = volume.GetImageData().GetDimensions()
        index = np.indices(shape[::-1]).reshape(3, -1)[::-1].T
        toRas = np.array([[matrix.GetElement(r, c) for c in range(4)] for r in range(4)])
        positions = (index @ toRas[:3, :3].T + toRas[:3, 3]) * RAS
        assert valuesOf(volume) == pytest.approx(comparison.hazard.at(positions), abs=1e-6)
        # all of the wall is in it, and its 10 mm are one way 10 voxels
        grid = comparison.reference.mask.grid
        assert grid.toIndex(positions)[:, 0].max() == pytest.approx(14)
        inWall = np.isin(np.rint(grid.toIndex(positions)[:, 0]), (2, 3, 4))
        assert (valuesOf(volume)[inWall] == 1).all() and (valuesOf(volume)[~inWall] < 1).all()

    def testColors(self, scene, comparison):
        display = mrml.showHazard(comparison).GetDisplayNode()
        function = display.GetColorNode().GetColorTransferFunction()
        assert function.GetColor(1.0) == pytest.approx(rgb(HAZARD[-1]), abs=1e-3)
        assert (display.GetWindowLevelMin(), display.GetWindowLevelMax()) == (0, 1)
        # where there is no hazard one sees the image below
        assert display.GetApplyThreshold() and 0 < display.GetLowerThreshold() < 0.05

    def testThereMayBeNoHazard(self, scene, withoutCriticals):
        with pytest.raises(ValueError, match="measure the family hazard with critical structures"):
            mrml.showHazard(withoutCriticals)
        organ, other, _ = structures().values()
        far = Structure("Far", Mask(np.ones((1, 1, 1), np.uint8), (200, 0, 0), organ.mask.grid))
        away = compare(organ, other, Settings(families=FAMILIES), criticals={"Far": far})
        with pytest.raises(ValueError, match="too far away"):
            mrml.showHazard(away)


class TestMap:
    @pytest.mark.parametrize("surface", ["displayed", "measured"])
    @pytest.mark.parametrize("side", REFERENCE_AND_TEST)
    def testEveryPointHasItsHazard(self, scene, comparison, side, surface):
        model = mrml.showDistanceMap(comparison, side=side, kind="hazard", surface=surface)
        polyData = model.GetPolyData()
        points = vtk_to_numpy(polyData.GetPoints().GetData()) * RAS
        found = vtk_to_numpy(polyData.GetPointData().GetArray("Hazard"))
        assert found == pytest.approx(comparison.hazard.at(points))
        # 1 - (d / 10)^2 of a point d mm from the centers of the wall's last voxels
        d = comparison.reference.mask.grid.toIndex(points)[:, 0] - 4
        assert found == pytest.approx(np.clip(1 - (d / 10) ** 2, 0, 1), abs=3e-3)  # linear between voxels
        display = model.GetDisplayNode()
        assert display.GetActiveScalarName() == "Hazard" and display.GetScalarRange() == (0, 1)

    def testLegend(self, scene, comparison):
        model = mrml.showDistanceMap(comparison, kind="hazard")
        legend = colors.legendOf(model)
        assert legend.GetTitleText() == "Hazard" and legend.GetNumberOfLabels() == 3
        maps.recolor(model, "signed")
        assert model.GetDisplayNode().GetActiveScalarName() == "SignedDistance"
        assert legend.GetTitleText() == "mm, + outside"
        maps.recolor(model, "hazard")
        assert model.GetDisplayNode().GetScalarRange() == (0, 1) and legend.GetTitleText() == "Hazard"

    def testThereMayBeNoHazard(self, scene, withoutCriticals):
        with pytest.raises(ValueError, match="measure the family hazard with critical structures"):
            mrml.showDistanceMap(withoutCriticals, kind="hazard")
        model = mrml.showDistanceMap(withoutCriticals)
        with pytest.raises(ValueError, match="made without critical structures"):
            maps.recolor(model, "hazard")
        assert not model.GetPolyData().GetPointData().HasArray("Hazard")
