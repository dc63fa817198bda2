"""Tables, distance maps and markers in a scene; and that each result is one node of its pair."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import shapes
from sayings import refused, says
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Dose, Grid, Mask, Settings, Structure, compare

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer

from SegmentMetricsLib import mrml

# off center and not a cube of voxels, so that a wrong axis or sign cannot go unnoticed
GRID = {"spacing": (1.0, 1.5, 2.0), "origin": (-60.0, 5.0, 20.0), "size": (60, 50, 40)}
CENTER = np.array([-30.0, 42.0, 60.0])
# enough for a map of the distances
BOUNDARY = Settings(families="boundary")
SIDES = ("reference", "test")
RAS = np.array([-1, -1, 1])


@cache
def maskOf(radius: float, shift) -> Mask:
    image = shapes.ball(radius, CENTER + shift, **GRID)
    return compare(image, image, Settings(metrics="DSC")).reference.mask


def ball(radius=16.0, shift=(0, 0, 0), name="Liver", file="case.nrrd", **source) -> Structure:
    """A ball as a structure, named like one that was read from a file."""
    return Structure(name, maskOf(radius, shift), file=file, **source)


@pytest.fixture(scope="module")
def comparison():
    """The test is 4 mm larger and 6 mm further to the patient's left: LPS +x, RAS -x."""
    return compare(ball(16), ball(20, (6, 0, 0)))


@pytest.fixture(scope="module")
def opened():
    """A surface that is open, so that nothing is inside."""
    return compare(shapes.ballMesh(11), shapes.openBox(), BOUNDARY)


def points(polyData) -> np.ndarray:
    return vtk_to_numpy(polyData.GetPoints().GetData())


def array(polyData, name) -> np.ndarray:
    return vtk_to_numpy(polyData.GetPointData().GetArray(name))


def hierarchyOf(scene):
    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)


def folderOf(node):
    hierarchy = hierarchyOf(node.GetScene())
    return hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node))


def legendOf(model):
    return slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model)


def colorNodes(scene) -> list:
    return [node for node in scene.GetNodes() if node.GetAttribute("SegmentMetrics.Colors")]


def testColumnsAreTypedAndDescribeThemselves(scene, comparison):
    """All values are exact, and those that are no finite numbers have a reason."""
    empty = replace(comparison.test, mask=Mask.fromArray(np.zeros((4, 4, 4)), comparison.test.mask.grid))
    for pair in (comparison, compare(comparison.reference, empty)):
        node = mrml.showTable(pair)
        table = node.GetTable()
        names = [table.GetColumnName(n) for n in range(table.GetNumberOfColumns())]
        numbers = ["Value", "ReferenceToTest", "TestToReference"]
        assert names == ["Measurement", "Title", "Value", "Unit", *numbers[1:], "Status", "Reason"]
        for name in names:
            assert isinstance(table.GetColumnByName(name), vtkDoubleArray if name in numbers else vtkStringArray)
            assert node.GetColumnTitle(name) and node.GetColumnDescription(name)
        assert node.GetUseColumnTitleAsColumnHeader() and table.GetNumberOfRows() == len(pair)
        for row, measurement in enumerate(pair.values()):
            key, status, reason = (table.GetValueByName(row, name).ToString() for name in (*names[:1], *names[-2:]))
            assert (key, status, reason) == (measurement.key, measurement.status, measurement.reason or "")
            given, shown = measurement.referenceToTest, table.GetColumnByName("ReferenceToTest").GetValue(row)
            np.testing.assert_equal(table.GetColumnByName("Value").GetValue(row), measurement.value)
            np.testing.assert_equal(shown, np.nan if given is None else given)
        json.loads(node.GetAttribute("SegmentMetrics.Comparison"), parse_constant=pytest.fail)


def testOneRowPerPair(scene, comparison):
    other = compare(ball(name="Spleen"), ball(17, name="Spleen AI"), Settings(families=("overlap",)))
    for pairs in ([comparison, other], [comparison.record(), other.record()]):
        node = mrml.showComparisonsTable(pairs)
        table = node.GetTable()
        assert table.GetNumberOfRows() == 2
        assert [table.GetValueByName(n, "Test").ToString() for n in range(2)] == ["Liver", "Spleen AI"]
        assert table.GetValueByName(0, "ReferenceFile").ToString() == "case.nrrd"
        for key, measurement in comparison.items():
            assert table.GetColumnByName(key).GetValue(0) == measurement.value
            shown = node.GetColumnTitle(key), node.GetColumnUnitLabel(key) or "", node.GetColumnDescription(key)
            assert shown == (measurement.title, measurement.unit, measurement.description)
        assert table.GetColumnByName("DSC").GetValue(1) == other["DSC"].value
        assert np.isnan(table.GetColumnByName("HD95").GetValue(1))
        stored = json.loads(node.GetAttribute("SegmentMetrics.Comparisons"))
        assert stored == [comparison.toDictionary(), other.toDictionary()]
    assert mrml.showComparisonsTable([other], tableNode=node) is node
    assert node.GetTable().GetNumberOfRows() == 1 and node.GetTable().GetColumnByName("HD95") is None


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("surface", ["displayed", "measured"])
def testValuesOfMapsLieWhereTheyBelong(scene, comparison, side, surface):
    polyData = mrml.showDistanceMap(comparison, side=side, surface=surface).GetPolyData()
    signed = array(polyData, "SignedDistance")
    assert np.isfinite(signed).all()
    np.testing.assert_array_equal(np.abs(signed), array(polyData, "Distance"))
    # RAS: in the middle of the ball that is drawn, and the test reaches 10 mm further at the patient's left (-x)
    position = points(polyData) - CENTER * RAS + [6 * (side == "test"), 0, 0]
    assert np.linalg.norm(position, axis=1) == pytest.approx(16 if side == "reference" else 20, abs=2)
    left, right = position[:, 0].argmin(), position[:, 0].argmax()
    assert signed[left] == pytest.approx(10, abs=1.5) and signed[right] == pytest.approx(-2, abs=1.5)


def testAGivenSurfaceIsDrawn(scene, comparison):
    given = vtkPolyData()
    given.CopyStructure(mrml.showDistanceMap(compare(ball(17), ball(17), BOUNDARY)).GetPolyData())
    polyData = mrml.showDistanceMap(comparison, displayedSurface=given).GetPolyData()
    np.testing.assert_array_equal(points(polyData), points(given))
    assert array(polyData, "Distance").max() == pytest.approx(9, abs=1)
    assert not given.GetPointData().HasArray("Distance")


@pytest.mark.parametrize(("kind", "name", "low"), [("signed", "SignedDistance", -8), ("absolute", "Distance", 0)])
def testColors(scene, comparison, kind, name, low):
    """Blue, not quite white, and red; or darker and darker."""
    model = mrml.showDistanceMap(comparison, kind=kind, range=8)
    display, legend = model.GetDisplayNode(), legendOf(model)
    assert display.GetActiveScalarName() == name and display.GetScalarVisibility() and display.GetVisibility2D()
    assert display.GetScalarRangeFlag() == display.UseManualScalarRange and display.GetScalarRange() == (low, 8)
    assert legend.GetVisibility() and not legend.GetVisibility2D() and "mm" in legend.GetTitleText()
    function = display.GetColorNode().GetColorTransferFunction()
    drawn = np.array([function.GetColor(value) for value in np.linspace(low, 8, 51)])
    assert function.GetRange() == (low, 8)
    if kind == "signed":
        assert (drawn[0].argmax(), drawn[-1].argmax()) == (2, 0)
        assert drawn[25].min() > 0.7 and np.ptp(drawn[25]) > 0.1
    else:
        assert (np.diff(drawn @ (0.2126, 0.7152, 0.0722)) < 0).all()


def testToleranceHasThreeBands(scene, comparison):
    """What lies exactly at the tolerance is within, as for NSD."""
    model = mrml.showDistanceMap(comparison, kind="tolerance", tolerance=1.5)
    display, table = model.GetDisplayNode(), model.GetDisplayNode().GetColorNode().GetLookupTable()
    assert display.GetScalarRange() == pytest.approx((-4.5, 4.5), rel=1e-4)
    assert legendOf(model).GetTitleText() == "Tolerance 1.5 mm"
    table.SetTableRange(*display.GetScalarRange())  # as a mapper does
    bands = [table.MapValue(value)[:] for value in (-4.5, -3, -1.51, -1.5, 0, 1.5, 1.51, 3, 4.5)]
    assert len({*bands[:3]}) == len({*bands[3:6]}) == len({*bands[6:]}) == 1 and len({*bands}) == 3


@pytest.mark.parametrize("which", ["comparison", "opened"])
def testTheLegendOfATolerance(scene, request, which):
    """Words, as the ends of the outer bands mean nothing; they are there again when a scene was saved."""
    pair, wide = request.getfixturevalue(which), (0.3, 0.5)
    model = mrml.showDistanceMap(pair)
    legend = legendOf(model)
    numbers = legend.GetLabelFormat(), tuple(legend.GetSize())
    legend.SetVisibility(False)
    mrml.showDistanceMap(pair, kind="tolerance")
    node = model.GetDisplayNode().GetColorNode()
    names = [node.GetColorName(n) for n in range(node.GetNumberOfColors())]
    assert names == (["within", "beyond"] if which == "opened" else ["under-contoured", "within", "over-contoured"])
    assert legend.GetUseColorNamesForLabels() and legend.GetLabelFormat().endswith("s") and not legend.GetVisibility()
    storage = node.CreateDefaultStorageNode()
    assert storage.IsA("vtkMRMLColorTableStorageNode"), "it keeps names; that of procedural colors does not"
    assert colorNodes(scene) == [node]
    mrml.showDistanceMap(pair)
    assert (legend.GetLabelFormat(), tuple(legend.GetSize())) == numbers
    assert not legend.GetUseColorNamesForLabels() and model.GetDisplayNode().GetColorNode() is not node
    legend.SetSize(*wide)
    mrml.showDistanceMap(pair, kind="tolerance")
    assert tuple(legend.GetSize()) == wide, "what somebody chose"


def testOpenSurfacesAndContours(scene, opened):
    """Open surfaces have no sign."""
    display = mrml.showDistanceMap(opened).GetDisplayNode()
    assert display.GetActiveScalarName() == "Distance" and display.GetScalarRange()[0] == 0
    contours = [shapes.loops([(0, 0), (x, 0), (x, 10), (0, 10)]) for x in (10, 12)]
    polyData = mrml.showDistanceMap(compare(*contours), side="test").GetPolyData()
    assert polyData.GetNumberOfLines() == 4 and np.isfinite(array(polyData, "SignedDistance")).all()


def testAutomaticRangeIsTheSameForBothSides(scene, comparison):
    shown = [mrml.showDistanceMap(comparison, side=side).GetDisplayNode().GetScalarRange() for side in SIDES]
    ((low, high),) = set(shown)
    farthest = max(directed.percentile(98) for directed in comparison.distances.directions)
    assert low == -high and farthest <= high <= 1.5 * farthest


@pytest.mark.parametrize(
    "arguments", [{"side": "left"}, {"kind": "hot"}, {"surface": "raw"}, {"range": 0.0}, {"tolerance": np.nan}]
)
def testWrongChoices(scene, comparison, arguments):
    count = scene.GetNumberOfNodes()
    with refused(*arguments, *arguments.values()):
        mrml.showDistanceMap(comparison, **arguments)
    assert scene.GetNumberOfNodes() == count


@pytest.fixture(scope="module")
def bumps():
    """5 mm too much at the patient's left, 4 mm too little at the head."""
    body, left, head = (
        shapes.box(low, high, (32, 32, 32))
        for low, high in (((8, 8, 8), (19, 19, 19)), ((20, 12, 12), (24, 15, 15)), ((12, 12, 20), (15, 15, 23)))
    )
    return compare(body | head, body | left)


def testMarkersAreNumberedLockedAndColored(scene, bumps):
    node = mrml.showMarkers(bumps)
    over, under = bumps.worstPlaces
    assert (over.direction, under.direction) == ("L", "S")
    assert node.GetNumberOfControlPoints() == 2 and node.GetLocked()
    for index, place in enumerate((over, under)):
        assert node.GetNthControlPointLabel(index) == str(place.rank)
        assert node.GetNthControlPointPosition(index) == pytest.approx(RAS * place.position)
        assert node.GetNthControlPointLocked(index)
        assert node.GetNthControlPointSelected(index) == (place.value > 0)
    says(node.GetNthControlPointDescription(0), f"{over.value:.1f} mm")
    says(node.GetNthControlPointDescription(1), f"{-under.value:.1f} mm")
    display = node.GetDisplayNode()
    assert np.argmax(display.GetSelectedColor()) == 0 and np.argmax(display.GetColor()) == 2  # red and blue
    assert display.GetVisibility() and display.GetPointLabelsVisibility()
    mrml.showMarkers(bumps, places=())
    assert node.GetNumberOfControlPoints() == 0 and not display.GetVisibility()
    mrml.showMarkers(bumps, signed=False)
    assert display.GetVisibility()
    says(node.GetNthControlPointDescription(0), f"{over.value:.1f} mm")


def testPlacingMarkupsGoesOnAsBefore(scene, bumps):
    logic = slicer.vtkSlicerMarkupsLogic()
    logic.SetMRMLScene(scene)
    selection = scene.GetNodeByID("vtkMRMLSelectionNodeSingleton")
    mine = scene.AddNewNodeByClass("vtkMRMLMarkupsLineNode")
    before = (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID())
    assert before == ("vtkMRMLMarkupsLineNode", mine.GetID())
    node = mrml.showMarkers(bumps)
    assert (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID()) == before
    assert node.GetNumberOfDisplayNodes() == 1
    logic.SetMRMLScene(None)


def testPairsAreKnownByTheirFilesOrSegments(scene, comparison):
    """Whatever they are called; a node that is given to another pair leaves no empty folder."""
    first = mrml.showDistanceMap(comparison)
    second = mrml.showDistanceMap(compare(ball(file="other.nrrd"), ball(18, file="other.nrrd"), BOUNDARY))
    assert second is not first and folderOf(second) != folderOf(first)
    one, other = (scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Segmentation") for _ in range(2))

    def mapOf(reference, name="Liver"):
        sources = ({"nodeID": node.GetID(), "segmentID": "Segment_1"} for node in (reference, other))
        pair = [ball(15 + n, name=name, **source) for n, source in enumerate(sources)]
        return mrml.showDistanceMap(compare(*pair, BOUNDARY))

    hierarchy, third, old = hierarchyOf(scene), mapOf(one), folderOf(first)
    assert mapOf(other) is not third and mapOf(one, "Liver, renamed") is third
    assert "Liver, renamed" in hierarchy.GetItemName(folderOf(third))
    spleen = compare(ball(name="Spleen"), ball(18, name="Spleen"), BOUNDARY)
    assert mrml.showDistanceMap(spleen, modelNode=first) is first
    assert "Spleen" in hierarchy.GetItemName(folderOf(first)) and hierarchy.GetItemName(old) == ""


def testCopiesStayWithoutSegmentationsToReferTo(scene, comparison):
    table, copy = mrml.showTable(comparison), scene.AddNewNodeByClass("vtkMRMLTableNode")
    copy.CopyContent(table)
    copy.SetName("mine")
    scene.RemoveNode(table)
    assert mrml.showTable(comparison) is not copy
    mrml.removeResults(comparison)
    assert scene.IsNodePresent(copy) and copy.GetName() == "mine"


# How each result is shown, in another way, and the argument that takes a node to fill.
RESULTS = {
    "table": (mrml.showTable, {}, "tableNode"),
    "reference": (mrml.showDistanceMap, {"kind": "tolerance"}, "modelNode"),
    "test": (lambda pair, **more: mrml.showDistanceMap(pair, side="test", **more), {"kind": "absolute"}, "modelNode"),
    "histogram": (mrml.showHistogram, {"tolerance": 2}, "chartNode"),
    "cumulative": (mrml.showCumulative, {"tolerance": 2}, "chartNode"),
    "dose": (mrml.showDoseVolume, {}, "chartNode"),
    "slices": (mrml.showSlices, {"quantity": "DSC"}, "chartNode"),
    "markers": (mrml.showMarkers, {"places": ()}, "markersNode"),
    "hazard": (mrml.showHazard, {}, "volumeNode"),
    "lesions": (mrml.showLesions, {}, "modelNode"),
    "lesionsTable": (mrml.showLesionsTable, {}, "tableNode"),
}


@pytest.fixture(scope="module")
def pair():
    """Two boxes with everything that can be shown."""
    families = ("boundary", "signed", "overlap", "hazard", "slices", "instances", "dose")
    boxes = [shapes.box(low, high) for low, high in (((8, 5, 5), (14, 12, 11)), ((6, 5, 5), (13, 12, 11)))]
    wall = shapes.box((2, 0, 0), (3, 23, 23))
    dose = Dose(np.indices((24, 24, 24), float)[0] + 1, Grid((24, 24, 24), np.eye(4)))
    return compare(*boxes, Settings(families=families), criticals={"Wall": wall}, dose=dose)


def identifiers(scene) -> set:
    return {node.GetID() for node in scene.GetNodes()}


@pytest.mark.parametrize("result", RESULTS)
def testANextRunReplacesAndRemovingLeavesNothing(scene, pair, result):
    show, other, argument = RESULTS[result]
    hierarchy = hierarchyOf(scene)  # made when it is first asked for
    before = identifiers(scene)
    node = show(pair)
    made, folder = identifiers(scene), folderOf(node)
    node.SetName("renamed by the user")
    if node.IsA("vtkMRMLDisplayableNode"):
        node.GetDisplayNode().SetOpacity(0.4)
    assert show(pair, **other) is node and show(pair) is node
    assert len(identifiers(scene)) == len(made)
    if node.IsA("vtkMRMLDisplayableNode"):
        assert node.GetDisplayNode().GetOpacity() == 0.4
    # all of it, but colors, is in the folder of the pair, and is saved
    for one in filter(None, map(scene.GetNodeByID, made - before)):
        assert one.GetSaveWithScene()
        if not one.IsA("vtkMRMLDisplayNode") and not one.IsA("vtkMRMLColorNode"):
            assert folderOf(one) == folder != 0
    assert {"reference", "test"} <= set(hierarchy.GetItemName(folder).split())
    mrml.removeResults(pair)
    assert identifiers(scene) == before and hierarchy.GetItemName(folder) == "" and colorNodes(scene) == []
    given = scene.AddNewNodeByClass(node.GetClassName())
    assert show(pair, **{argument: given}) is given and show(pair) is given


def testAllOfAPairShareOneFolderAndComeBackWithTheScene(scene, pair, savedAndLoaded):
    made = {result: show(pair) for result, (show, _, _) in RESULTS.items()}
    assert len({folderOf(node) for node in made.values()}) == 1
    loaded = savedAndLoaded(scene)
    count = loaded.GetNumberOfNodes()
    for result, (show, _, _) in RESULTS.items():
        found = show(pair, scene=loaded)
        assert found.GetScene() is loaded and found.GetName() == made[result].GetName()
    assert loaded.GetNumberOfNodes() == count
