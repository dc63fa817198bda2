"""Hazard, dose, local distances and lesions in a scene: as volumes, charts and tables, and as the colors of maps."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import refused, says
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer
from segmentnodes import move, segmentationOf, volumeNode

from SegmentMetricsLib import mrml

# turned and not a cube of voxels, so that a wrong axis or sign cannot go unnoticed
GEOMETRY = {"spacing": (1.0, 1.2, 2.0), "origin": (-30.0, 12.0, 5.0)}
BOXES = ((8, 5, 5), (14, 12, 11)), ((7, 5, 5), (13, 12, 11)), ((2, 0, 0), (4, 23, 23))
HAZARD = Settings(families=("boundary", "hazard"))
RAS = np.array([-1, -1, 1])


def images(**geometry) -> list:
    """Return an organ, another one, and a wall beside them."""
    made = [shapes.box(*corners, **{**GEOMETRY, **geometry}) for corners in BOXES]
    for image in made:
        image.SetDirection(shapes.rotation((1, 2, 3), 25).ravel().tolist())
    return made


@pytest.fixture(scope="module")
def comparison():
    organ, other, wall = images()
    return compare(organ, other, HAZARD, criticals={"Wall": wall})


def pointsOf(model, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The points of a model, LPS mm, and the numbers of an array there."""
    polyData = model.GetPolyData()
    values = vtk_to_numpy(polyData.GetPointData().GetArray(name))
    return vtk_to_numpy(polyData.GetPoints().GetData()) * RAS, values


def colorAt(node, value: float) -> tuple:
    return node.GetDisplayNode().GetColorNode().GetColorTransferFunction().GetColor(value)


def titleOf(model) -> str:
    return slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model).GetTitleText()


def testAVolumeOfHazard(scene, comparison):
    """Its voxels are where the hazard is, colored as on maps, and where there is none one sees the image below."""
    volume, matrix = mrml.showHazard(comparison), vtkMatrix4x4()
    volume.GetIJKToRASMatrix(matrix)
    toRas, shape = np.reshape(matrix.GetData(), (4, 4)), volume.GetImageData().GetDimensions()
    index = np.indices(shape[::-1]).reshape(3, -1)[::-1].T
    positions = (index @ toRas[:3, :3].T + toRas[:3, 3]) * RAS
    values = vtk_to_numpy(volume.GetImageData().GetPointData().GetScalars())
    assert values == pytest.approx(comparison.hazard.at(positions), abs=1e-6)
    # all of the wall is in it, and its 10 mm are one way 10 voxels
    grid = comparison.reference.mask.grid
    assert grid.toIndex(positions)[:, 0].max() == pytest.approx(14)
    inWall = np.isin(np.rint(grid.toIndex(positions)[:, 0]), (2, 3, 4))
    assert (values[inWall] == 1).all() and (values[~inWall] < 1).all()
    display = volume.GetDisplayNode()
    assert colorAt(volume, 1.0) == colorAt(mrml.showDistanceMap(comparison, kind="hazard"), 1.0)
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


def testKindsThatWereNotMeasured(scene):
    organ, other, _wall = images()
    plain = compare(organ, other, Settings(families="boundary"))
    away = compare(organ, other, HAZARD, criticals={"Far": images(origin=(900, 900, 900))[2]})
    for show, name in (
        (lambda: mrml.showDistanceMap(plain, kind="hazard"), "hazard"),
        (lambda: mrml.showDistanceMap(plain, kind="dose"), "dose"),
        (lambda: mrml.showHazard(plain), "hazard"),
        (lambda: mrml.showDoseVolume(plain), "dose"),
        (lambda: mrml.showHazard(away), "hazard"),
    ):
        with refused(name):
            show()


SIZE, STEP = (12, 14, 16), 2.0
DOSED = Settings(metrics=("boundary", "dose"))


def volumeOf(scene, name="Plan", components=1, unit=""):
    """Return a volume whose values are 2 Gy per mm of the LPS axis z, with voxels in the order of RAS."""
    values = 2 * STEP * np.indices(SIZE[::-1], np.float32)[0]
    matrix = np.diag([-STEP, -STEP, STEP, 1])
    said = {"DicomRtImport.DoseUnitName": unit} if unit else {}
    return volumeNode(scene, values, matrix, name, components=components, **said)


def boxes():
    return [shapes.box((5, 5, z), (14, 14, z + 9), (20, 20, 28)) for z in (5, 7)]


@pytest.fixture
def dosed(scene):
    return compare(*boxes(), DOSED, dose=mrml.doseOf(volumeOf(scene)))


def testDosesOfVolumes(scene):
    """They are where they are, in Gy, and anything else is refused."""
    node = volumeOf(scene, unit="GY")
    move(scene, node, shift=(0, 0, 5))
    dose = mrml.doseOf(node)
    assert dose.at(np.array([[4.0, 6, 5 + 7.5]]))[0] == pytest.approx(15) and dose.remarks == ()
    (remark,) = mrml.doseOf(volumeOf(scene)).remarks
    says(remark, "Gy")
    assert mrml.doseOf(volumeOf(scene, unit="cGy")).at(np.array([[4.0, 6, 10]]))[0] == pytest.approx(0.2)
    difference = volumeOf(scene, "Difference")
    vtk_to_numpy(difference.GetImageData().GetPointData().GetScalars())[0] = -1
    for node, names in (
        (volumeOf(scene, unit="RELATIVE"), ["Plan", "RELATIVE"]),
        (scene.AddNewNodeByClass("vtkMRMLModelNode"), []),
        (scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode"), []),
        (volumeOf(scene, "Colors", 3), ["Colors"]),
        (difference, ["Difference"]),
    ):
        with refused(*names):
            mrml.doseOf(node)


def testDoseOfSegments(scene):
    reference, test = (segmentationOf(scene, Organ=image) for image in boxes())
    one = mrml.compareSegments(reference, "Organ", test, "Organ", DOSED, dose=volumeOf(scene))
    (other,) = mrml.compareSegmentations(reference, test, Settings(metrics="DSC"), dose=volumeOf(scene))
    for found in (one, other):
        assert found["DmeanDifference"].value == pytest.approx(4, abs=0.02)


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
        for again in (kind, "signed", kind):
            model = mrml.showDistanceMap(pair, kind=again)
            shown = model.GetDisplayNode().GetActiveScalarName(), titleOf(model)
            assert shown == (("SignedDistance", "mm, + outside") if again == "signed" else (array, title))
        assert model.GetDisplayNode().GetScalarRange() == (0, end)


@pytest.mark.parametrize(("side", "surface"), [("reference", "measured"), ("test", "displayed")])
def testLocalDistances(scene, side, surface):
    """Every point of a box has moved by 3 mm."""
    boxes = shapes.box((5, 5, 5), (14, 14, 12)), shapes.box((8, 5, 5), (17, 14, 12))
    model = mrml.showDistanceMap(compare(*boxes), side=side, kind="bld", surface=surface)
    assert pointsOf(model, "BLD")[1] == pytest.approx(3, abs=1e-6)
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "BLD" and display.GetScalarRange()[0] == 0
    assert titleOf(model) == "Local (mm)"


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
    display, table, color = model.GetDisplayNode(), model.GetDisplayNode().GetColorNode(), [0.0] * 4
    names = [table.GetColorName(n) for n in range(table.GetNumberOfColors())]
    assert names == ["missed", "invented (test)", "found"]
    colors = set()
    for event, low, high in ((0, 19, 25), (1, 39, 45), (2, 3, 9)):
        x = points[events == event][:, 0]
        assert len(x) and low < x.min() and x.max() < high
        table.GetColor(event, color)
        colors.add(tuple(color))
    assert len(colors) == 3 and display.GetVisibility2D() and display.GetActiveScalarName() == "Event"
    legend = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model)
    assert (legend.GetTitleText(), bool(legend.GetUseColorNamesForLabels())) == ("Lesions", True)


def testTableLeadsToEachLesion(scene, lesions):
    node = mrml.showLesionsTable(lesions)
    table = node.GetTable()
    assert [table.GetValueByName(row, "Event").ToString() for row in range(3)] == ["missed", "invented", "found"]
    for row, lesion in enumerate(lesions.lesions):
        assert mrml.jumpToSlice(node, row) == pytest.approx(lesion.position)


def testWithoutLesions(scene, lesions):
    for show, given, name in (
        (mrml.showLesions, compare(cubes(4), cubes(4), Settings(metrics="DSC")), "lesions"),
        (mrml.showLesionsTable, compare(cubes(), cubes(), Settings(metrics="instances")), ""),
        (mrml.showLesions, lesions.record(), ""),
    ):
        with refused(name):
            show(given)


def testSegmentsAreLesions(scene):
    """Two that touch are two lesions of one structure."""
    sets = {"First": (4, 9, 30), "Second": (4, 9)}
    nodes = [segmentationOf(scene, which, **{f"Lesion {n}": cubes(n) for n in sets[which]}) for which in sets]
    (found,) = mrml.compareSegmentations(*nodes, Settings(metrics="instances", instanceMaps=True))
    assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [3, 2, 1]
