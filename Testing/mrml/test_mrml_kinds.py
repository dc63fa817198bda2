"""Hazard, dose, local distances and lesions in a scene: as volumes, charts and tables, and as the colors of maps."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from scenework import segmentation
from segmentnodes import move, segmentationOf, volumeNode
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.base.palettes import EVENTS, rgb
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.model.inputs import labelMasks
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.mrml import colors, inputs, maps
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
        result[name] = Structure(name, labelMasks(image, 0.5)[1], file="case.nrrd")
    return result


@pytest.fixture(scope="module")
def comparison():
    organ, other, wall = structures().values()
    return compare(organ, other, Settings(families=FAMILIES), criticals={"Wall": wall})


@pytest.fixture(scope="module")
def plain():
    """The same without anything but distances."""
    return compare(*list(structures().values())[:2], Settings(families="boundary"))


def pointsOf(model, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The points of a model, LPS mm, and the numbers of an array there."""
    polyData = model.GetPolyData()
    values = vtk_to_numpy(polyData.GetPointData().GetArray(name))
    return vtk_to_numpy(polyData.GetPoints().GetData()) * RAS, values


def testAVolumeOfHazard(scene, comparison):
    """Its voxels are where the hazard is, colored as on maps, and where there is none one sees the image below."""
    volume = mrml.showHazard(comparison)
    assert volume.IsA("vtkMRMLScalarVolumeNode") and volume.GetName() == "Organ vs Other: hazard"
    matrix = vtkMatrix4x4()
    volume.GetIJKToRASMatrix(matrix)
    shape = volume.GetImageData().GetDimensions()
    index = np.indices(shape[::-1]).reshape(3, -1)[::-1].T
    toRas = np.array(matrix.GetData()).reshape(4, 4)
    positions = (index @ toRas[:3, :3].T + toRas[:3, 3]) * RAS
    values = vtk_to_numpy(volume.GetImageData().GetPointData().GetScalars())
    assert values == pytest.approx(comparison.hazard.at(positions), abs=1e-6)
    # all of the wall is in it, and its 10 mm are one way 10 voxels
    grid = comparison.reference.mask.grid
    assert grid.toIndex(positions)[:, 0].max() == pytest.approx(14)
    inWall = np.isin(np.rint(grid.toIndex(positions)[:, 0]), (2, 3, 4))
    assert (values[inWall] == 1).all() and (values[~inWall] < 1).all()
    display = volume.GetDisplayNode()
    color = display.GetColorNode().GetColorTransferFunction().GetColor(1.0)
    assert color == pytest.approx(rgb(HAZARD[-1]), abs=1e-3)
    assert (display.GetWindowLevelMin(), display.GetWindowLevelMax()) == (0, 1)
    assert display.GetApplyThreshold() and 0 < display.GetLowerThreshold() < 0.05


@pytest.mark.parametrize(("side", "surface"), [("reference", "displayed"), ("test", "measured")])
def testEveryPointHasItsHazard(scene, comparison, side, surface):
    model = mrml.showDistanceMap(comparison, side=side, kind="hazard", surface=surface)
    points, found = pointsOf(model, "Hazard")
    assert found == pytest.approx(comparison.hazard.at(points))
    # 1 - (d / 10)^2 of a point d mm from the centers of the wall's last voxels
    d = comparison.reference.mask.grid.toIndex(points)[:, 0] - 4
    assert found == pytest.approx(np.clip(1 - (d / 10) ** 2, 0, 1), abs=3e-3)  # linear between voxels


def testKindsThatWereNotMeasured(scene, comparison, plain):
    """They are refused when a map is made, and when one is colored anew."""
    for kind, shown, recolored in (
        ("hazard", "measure the family hazard with critical structures", "made without critical structures"),
        ("dose", "no dose to show", "no dose to show"),
    ):
        with pytest.raises(ValueError, match=shown):
            mrml.showDistanceMap(plain, kind=kind)
        model = mrml.showDistanceMap(plain)
        with pytest.raises(ValueError, match=recolored):
            maps.recolor(model, kind)
    with pytest.raises(ValueError, match="measure the family hazard with critical structures"):
        mrml.showHazard(plain)
    with pytest.raises(ValueError, match="no dose"):
        mrml.showDoseVolume(plain)
    organ, other, _ = structures().values()
    far = Structure("Far", Mask(np.ones((1, 1, 1), np.uint8), (200, 0, 0), organ.mask.grid))
    away = compare(organ, other, Settings(families=FAMILIES), criticals={"Far": far})
    with pytest.raises(ValueError, match="too far away"):
        mrml.showHazard(away)


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


def testDosesOfVolumes(scene):
    """They are where they are, in Gy, and anything else is refused."""
    node = volumeOf(scene, **{inputs.IS_DOSE: "1", inputs.UNIT: "GY"})
    move(scene, node, shift=(0, 0, 5))
    dose = mrml.doseOf(node)
    assert dose.at(np.array([[4.0, 6, 5 + 7.5]]))[0] == pytest.approx(15) and dose.remarks == ()
    assert inputs.isDose(node) and not inputs.isDose(volumeOf(scene))
    assert "taken to be in Gy" in mrml.doseOf(volumeOf(scene)).remarks[0]
    hundredths = volumeOf(scene, **{inputs.UNIT: "cGy"})
    assert mrml.doseOf(hundredths).at(np.array([[4.0, 6, 10]]))[0] == pytest.approx(0.2)
    difference = volumeOf(scene, "Difference")
    vtk_to_numpy(difference.GetImageData().GetPointData().GetScalars())[0] = -1
    for node, message in (
        (volumeOf(scene, **{inputs.UNIT: "RELATIVE"}), "Plan is in the unit RELATIVE"),
        (scene.AddNewNodeByClass("vtkMRMLModelNode"), "must be a scalar volume"),
        (scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode"), "no voxels"),
        (volumeOf(scene, "Colors", 3), "Colors does not have one number per voxel"),
        (difference, "Difference: The dose has negative values"),
    ):
        with pytest.raises(ValueError, match=message):
            mrml.doseOf(node)


def testDoseOfSegments(scene):
    reference, test = (segmentationOf(scene, Organ=image) for image in boxes())
    one = mrml.compareSegments(reference, "Organ", test, "Organ", DOSED, dose=volumeOf(scene))
    (other,) = mrml.compareSegmentations(reference, test, Settings(metrics="DSC"), dose=volumeOf(scene))
    for found in (one, other):
        assert found["DmeanDifference"].value == pytest.approx(4, abs=0.02)
    keys = mrml.showTable(one).GetTable().GetColumnByName("Measurement")
    assert "DmeanDifference" in [keys.GetValue(n) for n in range(keys.GetNumberOfValues())]


def testDoseVolumeHistograms(scene, dosed):
    chart = mrml.showDoseVolume(dosed)
    assert (chart.GetXAxisTitle(), chart.GetYAxisTitle()) == ("Dose (Gy)", "Volume (%)") and chart.GetLegendVisibility()
    for number, mean in enumerate((19, 23)):
        series = chart.GetNthPlotSeriesNode(number)
        table = series.GetTableNode().GetTable()
        x, y = (vtk_to_numpy(table.GetColumnByName(c)) for c in (series.GetXColumnName(), series.GetYColumnName()))
        assert np.interp(mean, x, y) == pytest.approx(50, abs=1)


@pytest.mark.parametrize("surface", ["displayed", "measured"])
def testDoseMap(scene, dosed, surface):
    points, found = pointsOf(mrml.showDistanceMap(dosed, kind="dose", surface=surface), "Dose")
    assert found == pytest.approx(2 * points[:, 2], abs=1e-4)


def testMapsAreColoredAnew(scene, comparison, dosed):
    """With the array, the range and the title of what is shown: 33 Gy at the top of the test."""
    for pair, kind, array, end, title in (
        (comparison, "hazard", "Hazard", 1, "Hazard"),
        (dosed, "dose", "Dose", 40, "Dose (Gy)"),
    ):
        model = mrml.showDistanceMap(pair, kind=kind)
        display, legend = model.GetDisplayNode(), colors.legendOf(model)
        for again in (kind, "signed", kind):
            maps.recolor(model, again)
            if again == "signed":
                assert (display.GetActiveScalarName(), legend.GetTitleText()) == ("SignedDistance", "mm, + outside")
            else:
                assert (display.GetActiveScalarName(), legend.GetTitleText()) == (array, title)
                assert display.GetScalarRange() == (0, end) and legend.GetNumberOfLabels() == 3


@pytest.mark.parametrize(("side", "surface"), [("reference", "measured"), ("test", "displayed")])
def testLocalDistances(scene, side, surface):
    """Every point of a box has moved by 3 mm; a map of another kind has them if the similarity family was measured."""
    boxes = shapes.box((5, 5, 5), (14, 14, 12)), shapes.box((8, 5, 5), (17, 14, 12))
    model = mrml.showDistanceMap(compare(*boxes), side=side, kind="signed")
    assert not maps.hasLocalDistances(model)
    with pytest.raises(ValueError, match="no bidirectional local distance"):
        maps.recolor(model, "bld")
    model = mrml.showDistanceMap(compare(*boxes), side=side, kind="bld", surface=surface)
    assert pointsOf(model, "BLD")[1] == pytest.approx(3, abs=1e-6)
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "BLD" and display.GetScalarRange()[0] == 0
    assert colors.legendOf(model).GetTitleText() == "Local (mm)"
    measured = compare(*boxes, Settings(families=("boundary", "similarity")))
    maps.recolor(mrml.showDistanceMap(measured, kind="absolute"), "bld")


def cubes(*places: int):
    array = np.zeros((12, 12, 60), np.uint8)
    for place in places:
        array[3:8, 3:8, place : place + 5] = 1
    return shapes.imageOf(array)


@pytest.fixture(scope="module")
def lesions():
    """One is found, one missed and one invented."""
    return compare(cubes(4, 20), cubes(5, 40), Settings(metrics="instances"))


def testColorsOfLesions(scene, lesions):
    model = mrml.showLesions(lesions)
    points, events = pointsOf(model, "Event")
    display, table = model.GetDisplayNode(), model.GetDisplayNode().GetColorNode()
    names = [table.GetColorName(n) for n in range(table.GetNumberOfColors())]
    assert names == ["missed", "invented (test)", "found"]
    for event, low, high in ((0, 19, 25), (1, 39, 45), (2, 3, 9)):
        x = points[events == event][:, 0]
        assert len(x) and low < x.min() and x.max() < high
    color = [0.0] * 4
    table.GetColor(0, color)
    assert color[:3] == pytest.approx(rgb(EVENTS["missed"]), abs=0.01)
    assert display.GetVisibility2D() and display.GetActiveScalarName() == "Event"
    legend = colors.legendOf(model)
    assert (legend.GetTitleText(), bool(legend.GetUseColorNamesForLabels())) == ("Lesions", True)


def testTableLeadsToEachLesion(scene, lesions):
    node = mrml.showLesionsTable(lesions)
    table = node.GetTable()
    assert [table.GetValueByName(row, "Event").ToString() for row in range(3)] == ["missed", "invented", "found"]
    for row, lesion in enumerate(lesions.lesions):
        assert mrml.jumpToSlice(node, row) == pytest.approx(lesion.position)


def testWithoutLesions(scene, lesions):
    for show, given, message in (
        (mrml.showLesions, compare(cubes(4), cubes(4), Settings(metrics="DSC")), "measure the family instances"),
        (mrml.showLesionsTable, compare(cubes(), cubes(), Settings(metrics="instances")), "neither structure has one"),
        (mrml.showLesions, lesions.record(), "no surfaces"),
    ):
        with pytest.raises(ValueError, match=message):
            show(given)


def testSegmentsAreLesions(scene):
    """Two that touch are two lesions of one structure."""
    nodes = [segmentation(which, **{f"Lesion {n}": cubes(n) for n in places})
             for which, places in (("First", (4, 9, 30)), ("Second", (4, 9)))]  # fmt: skip
    (found,) = mrml.compareSegmentations(*nodes, Settings(metrics="instances", instanceMaps=True))
    assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [3, 2, 1]
