"""Hazard, dose, local distances and lesions in a scene: as volumes, charts and tables, and as the colors of maps."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from scenework import segmentation
from segmentnodes import move, segmentationOf, volumeNode
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.base.palettes import EVENTS, rgb
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import colors, doses, maps
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
    return compare(organ, other, Settings(families="boundary"))


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


SIZE, STEP = (12, 14, 16), 2.0
DOSED = Settings(metrics=("boundary", "dose"))


def volumeOf(scene, name="Plan", components=1, **attributes):
    """Return a volume whose values are 2 Gy per mm of the LPS axis z, with voxels in the order of RAS."""
    values = 2 * STEP * np.indices(SIZE[::-1], np.float32)[0]
    matrix = np.diag([-STEP, -STEP, STEP, 1])
    return volumeNode(scene, values, matrix, name, components=components, **attributes)


def boxes():
    return [shapes.box((5, 5, z), (14, 14, z + 9), (20, 20, 28)) for z in (5, 7)]


@pytest.fixture
def dosed(scene):
    return compare(*boxes(), DOSED, dose=mrml.doseOf(volumeOf(scene)))


class TestDose:
    def testItIsWhereItIs(self, scene):
        node = volumeOf(scene, **{doses.IS_DOSE: "1", doses.UNIT: "GY"})
        move(scene, node, shift=(0, 0, 5))
        dose = mrml.doseOf(node)
        assert dose.at(np.array([[4.0, 6, 5 + 7.5]]))[0] == pytest.approx(15) and dose.remarks == ()
        assert doses.isDose(node) and not doses.isDose(volumeOf(scene))

    def testUnits(self, scene):
        assert "taken to be in Gy" in mrml.doseOf(volumeOf(scene)).remarks[0]
        hundredths = volumeOf(scene, **{doses.UNIT: "cGy"})
        assert mrml.doseOf(hundredths).at(np.array([[4.0, 6, 10]]))[0] == pytest.approx(0.2)
        with pytest.raises(ValueError, match="Plan is in the unit RELATIVE"):
            mrml.doseOf(volumeOf(scene, **{doses.UNIT: "RELATIVE"}))

    def testRefused(self, scene):
        with pytest.raises(ValueError, match="must be a scalar volume"):
            mrml.doseOf(scene.AddNewNodeByClass("vtkMRMLModelNode"))
        with pytest.raises(ValueError, match="no voxels"):
            mrml.doseOf(scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode"))
        colors = volumeOf(scene, "Colors", 3)
        with pytest.raises(ValueError, match="Colors does not have one number per voxel"):
            mrml.doseOf(colors)
        difference = volumeOf(scene, "Difference")
        vtk_to_numpy(difference.GetImageData().GetPointData().GetScalars())[0] = -1
        with pytest.raises(ValueError, match="Difference: The dose has negative values"):
            mrml.doseOf(difference)


def testSegments(scene):
    reference, test = (segmentationOf(scene, Organ=image) for image in boxes())
    one = mrml.compareSegments(reference, "Organ", test, "Organ", DOSED, dose=volumeOf(scene))
    (other,) = mrml.compareSegmentations(reference, test, Settings(metrics="DSC"), dose=volumeOf(scene))
    for found in (one, other):
        assert found["DmeanDifference"].value == pytest.approx(4, abs=0.02)
    keys = mrml.showTable(one).GetTable().GetColumnByName("Measurement")
    assert "DmeanDifference" in [keys.GetValue(n) for n in range(keys.GetNumberOfValues())]


def testChart(scene, dosed):
    chart = mrml.showDoseVolume(dosed)
    assert (chart.GetXAxisTitle(), chart.GetYAxisTitle()) == ("Dose (Gy)", "Volume (%)") and chart.GetLegendVisibility()
    for number, mean in enumerate((19, 23)):
        series = chart.GetNthPlotSeriesNode(number)
        table = series.GetTableNode().GetTable()
        x, y = (vtk_to_numpy(table.GetColumnByName(c)) for c in (series.GetXColumnName(), series.GetYColumnName()))
        assert np.interp(mean, x, y) == pytest.approx(50, abs=1)
    with pytest.raises(ValueError, match="no dose"):
        mrml.showDoseVolume(compare(*boxes(), Settings(families="boundary")))


@pytest.mark.parametrize("surface", ["displayed", "measured"])
def testDoseMap(scene, dosed, surface):
    model = mrml.showDistanceMap(dosed, kind="dose", surface=surface)
    points = vtk_to_numpy(model.GetPolyData().GetPoints().GetData())
    found = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("Dose"))
    assert found == pytest.approx(2 * points[:, 2], abs=1e-4)
    display = model.GetDisplayNode()
    # 33 Gy at the top of the test
    assert display.GetActiveScalarName() == "Dose" and display.GetScalarRange() == (0, 40)
    assert colors.legendOf(model).GetTitleText() == "Dose (Gy)"
    maps.recolor(model, "signed")
    assert display.GetActiveScalarName() == "SignedDistance"
    maps.recolor(model, "dose")
    assert display.GetScalarRange() == (0, 40)
    plain = mrml.showDistanceMap(compare(*boxes(), Settings(families="boundary")), side="test")
    with pytest.raises(ValueError, match="no dose to show"):
        maps.recolor(plain, "dose")
    with pytest.raises(ValueError, match="no dose to show"):
        mrml.showDistanceMap(compare(*boxes(), Settings(families="boundary")), kind="dose")


def moved(**settings):
    """Return the comparison of a box with itself 3 voxels to one side."""
    boxes = shapes.box((5, 5, 5), (14, 14, 12)), shapes.box((8, 5, 5), (17, 14, 12))
    return compare(*boxes, Settings(**settings))


def local(model) -> np.ndarray:
    return vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("BLD"))


@pytest.mark.parametrize("side", ["reference", "test"])
@pytest.mark.parametrize("surface", ["measured", "displayed"])
def testEveryPointHasMoved(scene, side, surface):
    model = mrml.showDistanceMap(moved(), side=side, kind="bld", surface=surface)
    assert local(model) == pytest.approx(3, abs=1e-6)
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "BLD" and display.GetScalarRange()[0] == 0
    assert colors.legendOf(model).GetTitleText() == "Local (mm)"


def testRecolored(scene):
    """A map made for another kind has these distances only if the similarity family was measured."""
    model = mrml.showDistanceMap(moved(), kind="signed")
    assert not maps.hasLocalDistances(model)
    with pytest.raises(ValueError, match="no bidirectional local distance"):
        maps.recolor(model, "bld")
    assert model.GetDisplayNode().GetActiveScalarName() == "SignedDistance"
    model = mrml.showDistanceMap(moved(families=("boundary", "similarity")), kind="absolute")
    maps.recolor(model, "bld")
    assert model.GetDisplayNode().GetActiveScalarName() == "BLD"
    maps.recolor(model, "tolerance")
    assert model.GetDisplayNode().GetActiveScalarName() == "SignedDistance"


def cubes(*places: int):
    array = np.zeros((12, 12, 60), np.uint8)
    for place in places:
        array[3:8, 3:8, place : place + 5] = 1
    return shapes.imageOf(array)


def compared(**settings):
    """Return a comparison in which one lesion is found, one missed and one invented."""
    return compare(cubes(4, 20), cubes(5, 40), Settings(metrics="instances", **settings))


def testColorsOfLesions(scene):
    model = mrml.showLesions(compared())
    polyData = model.GetPolyData()
    points = vtk_to_numpy(polyData.GetPoints().GetData())
    events = vtk_to_numpy(polyData.GetPointData().GetArray("Event"))
    display, table = model.GetDisplayNode(), model.GetDisplayNode().GetColorNode()
    names = [table.GetColorName(n) for n in range(table.GetNumberOfColors())]
    assert names == ["missed", "invented (test)", "found"]
    # RAS: to the left is negative
    for event, low, high in ((0, 19, 25), (1, 39, 45), (2, 3, 9)):
        x = -points[events == event][:, 0]
        assert len(x) and low < x.min() and x.max() < high
    color = [0.0] * 4
    table.GetColor(0, color)
    assert color[:3] == pytest.approx(rgb(EVENTS["missed"]), abs=0.01)
    assert display.GetVisibility2D() and display.GetActiveScalarName() == "Event"
    legend = colors.legendOf(model)
    assert (legend.GetTitleText(), bool(legend.GetUseColorNamesForLabels())) == ("Lesions", True)


def testTableLeadsToEachLesion(scene):
    found = compared()
    node = mrml.showLesionsTable(found)
    table = node.GetTable()
    assert [table.GetValueByName(row, "Event").ToString() for row in range(3)] == ["missed", "invented", "found"]
    for row, lesion in enumerate(found.lesions):
        assert mrml.jumpToSlice(node, row) == pytest.approx(lesion.position)


def testWithoutLesions(scene):
    with pytest.raises(ValueError, match="measure the family instances"):
        mrml.showLesions(compare(cubes(4), cubes(4), Settings(metrics="DSC")))
    nothing = cubes()
    with pytest.raises(ValueError, match="neither structure has one"):
        mrml.showLesionsTable(compare(nothing, nothing, Settings(metrics="instances")))
    with pytest.raises(ValueError, match="no surfaces"):
        mrml.showLesions(compared().record())


def testSegmentsAreLesions(scene):
    """Two that touch are two lesions of one structure."""
    nodes = [segmentation(which, **{f"Lesion {n}": cubes(n) for n in places})
             for which, places in (("First", (4, 9, 30)), ("Second", (4, 9)))]  # fmt: skip
    (found,) = mrml.compareSegmentations(*nodes, Settings(metrics="instances", instanceMaps=True))
    assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [3, 2, 1]
