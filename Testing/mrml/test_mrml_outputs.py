"""Tables and distance maps in a scene; and that each result is one node of its pair."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import shapes
import slicer
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
from vtkmodules.vtkFiltersSources import vtkSphereSource

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.model.dose import Dose
from SegmentMetricsLib.model.structure import Structure
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST
from SegmentMetricsLib.mrml import colors, folders, outputs
from SegmentMetricsLib.show import distributions
from SegmentMetricsLib.show.maps import Coloring

# off center and not a cube of voxels, so that a wrong axis or sign cannot go unnoticed
GRID = {"spacing": (1.0, 1.5, 2.0), "origin": (-60.0, 5.0, 20.0), "size": (60, 50, 40)}
CENTER = np.array([-30.0, 42.0, 60.0])
# enough for a map of the distances
BOUNDARY = Settings(families="boundary")


def ellipsoid(radius=16.0, shift=(0, 0, 0), name="Liver", file="case.nrrd", **source) -> Structure:
    """A ball as a structure, named like one that was read from a file."""
    mask = Mask.fromArray(*_arrayAndGrid(shapes.ball(radius, CENTER + shift, **GRID)))
    return Structure(name, mask, file=file, **source)


def _arrayAndGrid(image):
    import SimpleITK

    return SimpleITK.GetArrayFromImage(image), Grid.fromImage(image)


@pytest.fixture(scope="module")
def comparison():
    """The test is 4 mm larger and 6 mm further to the patient's left: LPS +x, RAS -x."""
    return compare(ellipsoid(16), ellipsoid(20, (6, 0, 0)))


def points(polyData) -> np.ndarray:
    return vtk_to_numpy(polyData.GetPoints().GetData())


def array(polyData, name) -> np.ndarray:
    return vtk_to_numpy(polyData.GetPointData().GetArray(name))


def folderOf(node):
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(node.GetScene())
    return hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node))


def folderName(node) -> str:
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(node.GetScene())
    return hierarchy.GetItemName(folderOf(node))


class TestTable:
    def testColumnsAreTypedAndDescribeThemselves(self, scene, comparison):
        node = outputs.showTable(comparison)
        table = node.GetTable()
        names = [table.GetColumnName(n) for n in range(table.GetNumberOfColumns())]
        numbers = ["Value", "ReferenceToTest", "TestToReference"]
        assert names == ["Measurement", "Title", "Value", "Unit", *numbers[1:], "Status", "Reason"]
        for name in names:
            kind = vtkDoubleArray if name in numbers else vtkStringArray
            assert isinstance(table.GetColumnByName(name), kind)
            assert node.GetColumnTitle(name)
            assert node.GetColumnDescription(name)
        assert node.GetUseColumnTitleAsColumnHeader()
        assert table.GetNumberOfRows() == len(comparison)

    def testValuesAreExact(self, scene, comparison):
        table = outputs.showTable(comparison).GetTable()
        for row, measurement in enumerate(comparison.values()):
            assert table.GetValueByName(row, "Measurement").ToString() == measurement.key
            given, shown = measurement.referenceToTest, table.GetColumnByName("ReferenceToTest").GetValue(row)
            np.testing.assert_equal(table.GetColumnByName("Value").GetValue(row), measurement.value)
            np.testing.assert_equal(shown, np.nan if given is None else given)

    def testInfiniteValuesHaveAReason(self, scene):
        empty = replace(ellipsoid(), mask=Mask.fromArray(np.zeros((4, 4, 4)), ellipsoid().mask.grid))
        node = outputs.showTable(compare(ellipsoid(), empty))
        table = node.GetTable()
        keys = [table.GetValueByName(n, "Measurement").ToString() for n in range(table.GetNumberOfRows())]
        row = keys.index("HD95")
        assert table.GetColumnByName("Value").GetValue(row) == np.inf
        assert table.GetValueByName(row, "Status").ToString() == "infinite"
        assert "empty" in table.GetValueByName(row, "Reason").ToString()
        json.loads(node.GetAttribute(outputs.COMPARISON_ATTRIBUTE), parse_constant=pytest.fail)

    def testOneRowPerPair(self, scene, comparison):
        other = compare(ellipsoid(name="Spleen"), ellipsoid(17, name="Spleen AI"), Settings(families=("overlap",)))
        for pairs in ([comparison, other], [comparison.record(), other.record()]):
            node = outputs.showComparisonsTable(pairs)
            table = node.GetTable()
            assert table.GetNumberOfRows() == 2
            assert [table.GetValueByName(n, "Test").ToString() for n in range(2)] == ["Liver", "Spleen AI"]
            assert table.GetValueByName(0, "ReferenceFile").ToString() == "case.nrrd"
            for key, measurement in comparison.items():
                column = table.GetColumnByName(key)
                assert isinstance(column, vtkDoubleArray)
                assert column.GetValue(0) == measurement.value
                assert node.GetColumnTitle(key) == measurement.title
                assert (node.GetColumnUnitLabel(key) or "") == measurement.unit
                assert node.GetColumnDescription(key) == measurement.description
            assert table.GetColumnByName("DSC").GetValue(1) == other["DSC"].value
            assert np.isnan(table.GetColumnByName("HD95").GetValue(1))
            stored = json.loads(node.GetAttribute(outputs.COMPARISONS_ATTRIBUTE))
            assert stored == [comparison.toDictionary(), other.toDictionary()]
        assert outputs.showComparisonsTable([other], tableNode=node) is node
        assert node.GetTable().GetNumberOfRows() == 1
        assert node.GetTable().GetColumnByName("HD95") is None


class TestDistanceMap:
    @pytest.mark.parametrize("side", REFERENCE_AND_TEST)
    @pytest.mark.parametrize("surface", ["displayed", "measured"])
    def testValuesLieWhereTheyBelong(self, scene, comparison, side, surface):
        model = outputs.showDistanceMap(comparison, side=side, surface=surface)
        polyData = model.GetPolyData()
        signed = array(polyData, "SignedDistance")
        assert np.isfinite(signed).all()
        np.testing.assert_array_equal(np.abs(signed), array(polyData, "Distance"))
        # RAS: in the middle of the ball that is drawn, and the test reaches 10 mm further at the patient's left (-x)
        position = points(polyData) - CENTER * [-1, -1, 1] + [6 * (side == "test"), 0, 0]
        assert np.linalg.norm(position, axis=1) == pytest.approx(16 if side == "reference" else 20, abs=2)
        left, right = position[:, 0].argmin(), position[:, 0].argmax()
        assert signed[left] == pytest.approx(10, abs=1.5)
        assert signed[right] == pytest.approx(-2, abs=1.5)

    def testMeasuredSurfaceShowsItsPointDistances(self, scene, comparison):
        polyData = outputs.distanceMap(comparison, "test", "measured")
        directed = comparison.distances.testToReference
        np.testing.assert_array_equal(array(polyData, "SignedDistance"), directed.atPoints)
        np.testing.assert_allclose(points(polyData) * [-1, -1, 1], directed.surface.points)

    def testSignedColors(self, scene, comparison):
        model = outputs.showDistanceMap(comparison, range=8)
        display = model.GetDisplayNode()
        assert display.GetActiveScalarName() == "SignedDistance"
        assert display.GetScalarVisibility()
        assert display.GetScalarRangeFlag() == display.UseManualScalarRange
        assert display.GetScalarRange() == (-8, 8)
        assert display.GetVisibility2D()
        function = display.GetColorNode().GetColorTransferFunction()
        assert function.GetRange() == (-8, 8)
        low, middle, high = (np.array(function.GetColor(value)) for value in (-8, 0, 8))
        assert low.argmax() == 2  # blue
        assert high.argmax() == 0  # red
        assert middle.min() > 0.7  # light,
        assert np.ptp(middle) > 0.1  # but not white
        legend = colors.legendOf(model)
        assert legend.GetVisibility()
        assert not legend.GetVisibility2D()
        assert "mm" in legend.GetTitleText()

    def testAbsoluteColorsGetDarker(self, scene, comparison):
        display = outputs.showDistanceMap(comparison, kind="absolute", range=5).GetDisplayNode()
        assert display.GetActiveScalarName() == "Distance"
        assert display.GetScalarRange() == (0, 5)
        function = display.GetColorNode().GetColorTransferFunction()
        luminance = [np.dot(function.GetColor(value), (0.2126, 0.7152, 0.0722)) for value in np.linspace(0, 5, 50)]
        assert (np.diff(luminance) < 0).all()

    def testToleranceHasThreeBands(self, scene, comparison):
        model = outputs.showDistanceMap(comparison, kind="tolerance", tolerance=1.5)
        display = model.GetDisplayNode()
        assert display.GetScalarRange() == pytest.approx((-4.5, 4.5), rel=1e-4)
        table = display.GetColorNode().GetLookupTable()
        # exactly at the tolerance is within, as for NSD
        values = (-4.5, -3, -1.51, -1.5, 0, 1.5, 1.51, 3, 4.5)
        bands = [tuple(np.round(colorAt(table, value, display.GetScalarRange()), 3)) for value in values]
        assert len({*bands[:3]}) == len({*bands[3:6]}) == len({*bands[6:]}) == 1
        assert len({*bands}) == 3
        legend = colors.legendOf(model)
        assert legend.GetTitleText() == "Tolerance 1.5 mm"

    @pytest.mark.parametrize("signed", [True, False])
    def testTheLegendOfATolerance(self, scene, comparison, signed):
        """Words, as the ends of the outer bands mean nothing; they are there again when a scene was saved."""
        model = outputs.showDistanceMap(comparison)
        legend, wide = colors.legendOf(model), (0.3, 0.5)
        outputs.colorMap(model, Coloring("signed", 5, 2, signed))
        numbers = legend.GetLabelFormat(), tuple(legend.GetSize())
        outputs.colorMap(model, Coloring("tolerance", 5, 2, signed))
        node = model.GetDisplayNode().GetColorNode()
        names = [node.GetColorName(n) for n in range(node.GetNumberOfColors())]
        assert names == (["under-contoured", "within", "over-contoured"] if signed else ["within", "beyond"])
        assert legend.GetUseColorNamesForLabels() and legend.GetLabelFormat().endswith("s")
        storage = node.CreateDefaultStorageNode()
        assert storage.IsA("vtkMRMLColorTableStorageNode"), "it keeps names; that of procedural colors does not"
        assert [n for n in scene.GetNodes() if n.GetAttribute(colors.COLORS_ATTRIBUTE)] == [node]
        outputs.colorMap(model, Coloring("signed", 5, 2, signed))
        assert (legend.GetLabelFormat(), tuple(legend.GetSize())) == numbers
        assert not legend.GetUseColorNamesForLabels() and model.GetDisplayNode().GetColorNode() is not node
        legend.SetSize(*wide)
        outputs.colorMap(model, Coloring("tolerance", 5, 2, signed))
        assert tuple(legend.GetSize()) == wide, "what somebody chose"

    def testAutomaticRangeIsTheSameForBothSides(self, scene, comparison):
        ranges = {
            outputs.showDistanceMap(comparison, side=side).GetDisplayNode().GetScalarRange()
            for side in REFERENCE_AND_TEST
        }
        assert len(ranges) == 1
        low, high = ranges.pop()
        assert low == -high
        farthest = max(directed.percentile(98) for directed in comparison.distances.directions)
        assert farthest <= high <= 1.5 * farthest

    def testOpenSurfacesHaveNoSign(self, scene):
        source = vtkSphereSource()
        source.SetRadius(10)
        source.SetEndPhi(90)
        source.Update()
        comparison = compare(shapes.ballMesh(11), source.GetOutput(), BOUNDARY)
        model = outputs.showDistanceMap(comparison, side="reference", kind="signed")
        assert model.GetDisplayNode().GetActiveScalarName() == "Distance"
        assert model.GetDisplayNode().GetScalarRange()[0] == 0

    def testContours(self, scene):
        comparison = compare(
            shapes.loops([(0, 0), (10, 0), (10, 10), (0, 10)]), shapes.loops([(0, 0), (12, 0), (12, 10), (0, 10)])
        )
        polyData = outputs.showDistanceMap(comparison, side="test").GetPolyData()
        assert polyData.GetNumberOfLines() == 4
        assert np.isfinite(array(polyData, "SignedDistance")).all()

    @pytest.mark.parametrize(
        "arguments", [{"side": "left"}, {"kind": "hot"}, {"surface": "raw"}, {"range": 0.0}, {"tolerance": np.nan}]
    )
    def testWrongChoices(self, scene, comparison, arguments):
        count = scene.GetNumberOfNodes()
        with pytest.raises(ValueError, match="distance map"):
            outputs.showDistanceMap(comparison, **arguments)
        assert scene.GetNumberOfNodes() == count


class TestFolder:
    def testAHiddenLegendStaysSo(self, scene, comparison):
        first = outputs.showDistanceMap(comparison, range=3)
        colors.legendOf(first).SetVisibility(False)
        again = outputs.showDistanceMap(comparison, kind="tolerance")
        assert not colors.legendOf(again).GetVisibility() and "Tolerance" in colors.legendOf(again).GetTitleText()
        assert again.GetDisplayNode().GetColorNode().GetAttribute(colors.COLORS_ATTRIBUTE) == "tolerance"

    def testPairsOfTheSameNamesStayApart(self, scene, comparison):
        first = outputs.showDistanceMap(comparison)
        second = outputs.showDistanceMap(
            compare(ellipsoid(file="other.nrrd"), ellipsoid(18, file="other.nrrd"), BOUNDARY)
        )
        assert second is not first
        assert folderOf(second) != folderOf(first)

    def testSegmentsAreKnownByTheirNodeAndIdentifier(self, scene):
        one, other = (scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Segmentation") for _ in range(2))

        def mapOf(reference, name="Liver"):
            sources = ({"nodeID": node.GetID(), "segmentID": "Segment_1"} for node in (reference, other))
            pair = [ellipsoid(15 + n, name=name, **source) for n, source in enumerate(sources)]
            return outputs.showDistanceMap(compare(*pair, BOUNDARY))

        first = mapOf(one)
        assert mapOf(other) is not first
        assert mapOf(one, "Liver, renamed") is first
        assert folderName(first).startswith("Segment Metrics: Liver, renamed")

    def testAGivenNodeMovesAndLeavesNoEmptyFolder(self, scene, comparison):
        first = outputs.showDistanceMap(comparison)
        old = folderOf(first)
        other = compare(ellipsoid(name="Spleen"), ellipsoid(18, name="Spleen"), BOUNDARY)
        assert outputs.showDistanceMap(other, modelNode=first) is first
        assert "Spleen" in folderName(first)
        hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
        assert not hierarchy.GetItemDataNode(old)
        assert hierarchy.GetItemName(old) == ""

    def testCopiesStayWithoutSegmentationsToReferTo(self, scene, comparison):
        table = outputs.showTable(comparison)
        copy = scene.AddNewNodeByClass("vtkMRMLTableNode")
        copy.CopyContent(table)
        copy.SetName("mine")
        scene.RemoveNode(table)
        assert outputs.showTable(comparison) is not copy
        folders.removeResults(comparison)
        assert scene.IsNodePresent(copy) and copy.GetName() == "mine"
        scene.RemoveNode(copy)


def colorAt(table, value: float, shown: tuple[float, float]) -> tuple:
    """Return the color that a mapper gives a value with a lookup table, whose range it sets to that of the display."""
    table.SetTableRange(*shown)
    color = [0.0] * 3
    table.GetColor(value, color)
    return tuple(color)


@pytest.mark.parametrize(
    ("distance", "limit"),
    [(0, 0.1), (0.13, 0.15), (1, 1), (1.01, 1.5), (2.2, 3), (6.1, 8), (9, 10), (14, 15), (210, 300)],
)
def testRangesEndInRoundNumbers(distance, limit):
    direction = SimpleNamespace(percentile=lambda _: distance)
    assert distributions.mapRange(SimpleNamespace(directions=[direction]), 0) == pytest.approx(limit)


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
    show, other, _ = RESULTS[result]
    slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)  # made when it is first asked for
    before = identifiers(scene)
    node = show(pair)
    made = identifiers(scene)
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
            assert folderOf(one) == folderOf(node) != 0
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
    folder = folderOf(node)
    assert hierarchy.GetItemName(folder) == folders.folderName(pair, scene)
    mrml.removeResults(pair)
    assert identifiers(scene) == before and hierarchy.GetItemName(folder) == ""
    assert not [one for one in scene.GetNodes() if one.GetAttribute(colors.COLORS_ATTRIBUTE)]


def testAllOfAPairShareOneFolderAndComeBackWithTheScene(scene, pair, savedAndLoaded):
    made = {result: show(pair) for result, (show, _, _) in RESULTS.items()}
    assert len({folderOf(node) for node in made.values()}) == 1
    loaded = savedAndLoaded(scene)
    count = loaded.GetNumberOfNodes()
    for result, (show, _, _) in RESULTS.items():
        found = show(pair, scene=loaded)
        assert found.GetScene() is loaded and found.GetName() == made[result].GetName()
    assert loaded.GetNumberOfNodes() == count


@pytest.mark.parametrize("result", [result for result in RESULTS if result != "test"])
def testIntoAGivenNode(scene, pair, result):
    show, _, argument = RESULTS[result]
    given = scene.AddNewNodeByClass(show(pair).GetClassName())
    mrml.removeResults(pair)
    assert show(pair, **{argument: given}) is given and show(pair) is given
