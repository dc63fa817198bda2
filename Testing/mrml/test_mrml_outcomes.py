"""Results that are kept in the scene: recalled, recognized as out of date, and the segments that maps cover."""

from __future__ import annotations

import pytest
import shapes
from segmentnodes import segmentationOf

from SegmentMetricsLib import Settings, mrml
from SegmentMetricsLib.metrics.registry import FAMILIES, REGISTRY
from SegmentMetricsLib.mrml import maps, outcomes
from SegmentMetricsLib.mrml.contents import ContentHashes
from SegmentMetricsLib.mrml.sample import loadSample
from SegmentMetricsLib.show import explanations


@pytest.fixture(scope="module")
def scene():
    scene = mrml.ensureScene()
    scene.Clear(0)
    yield scene
    scene.Clear(0)


@pytest.fixture(scope="module")
def nodes(scene):
    return loadSample(scene=scene)


@pytest.fixture(scope="module")
def outcome(nodes):
    return outcomes.measure(mrml.Request([(node, idOf(node, "Parotid_L")) for node in nodes], Settings(tolerances=3)))


def idOf(node, name: str) -> str:
    return node.GetSegmentation().GetSegmentIdBySegmentName(name)


def hashOf(node, segment: str, surface: str = "unsmoothed") -> str:
    """Return the content hash of a segment, read anew."""
    return dict(ContentHashes().current(node, [segment], surface))[segment]


def testTheSampleHasNoFilesBehindIt(nodes):
    assert [node.GetName() for node in nodes] == ["Observer 1", "Observer 2"]
    assert [node.GetSegmentation().GetNumberOfSegments() for node in nodes] == [9, 8]
    assert all(node.GetStorageNode() is None and node.GetDisplayNode() is not None for node in nodes)


def testRecalledResultsAreThoseThatWereKept(outcome):
    recalled = outcomes.recall(outcome.table)
    assert recalled.comparisons is None and outcome.comparisons is not None
    assert [r.toDictionary() for r in recalled.records] == [r.toDictionary() for r in outcome.records]
    for name in ("run", "segments", "settings", "isOfAll", "unmatched", "failures"):
        assert getattr(recalled, name) == getattr(outcome, name), name
    assert recalled.hashes == outcome.hashes and [len(own) for own in recalled.hashes] == [1, 1]
    assert recalled.node("reference") is outcome.node("reference")


def testTablesWithoutResults(scene):
    """As those of a scene that another version saved: its tables and models stay."""
    assert outcomes.recall(None) is None
    table = scene.AddNewNodeByClass("vtkMRMLTableNode", "Old")
    for text in (None, "{}", '{"run": "1", "settings": {}, "segments": [], "stamps": {}, "isOfAll": false}'):
        table.SetAttribute(outcomes.OUTCOME_ATTRIBUTE, text)
        with pytest.raises(ValueError, match=r"The results in Old cannot be read.*Press Apply to measure again"):
            outcomes.recall(table)


def testResultsOfAllStructures(nodes):
    request = mrml.Request([(node, "") for node in nodes], Settings(metrics="DSC"))
    outcome = outcomes.measure(request)
    recalled = outcomes.recall(outcome.table)
    assert recalled.isOfAll and recalled.change() == ""
    assert recalled.unmatched == {"reference": ["Submandibular_R"], "test": []}
    assert [r.name for r in recalled.records] == [c.reference.name for c in outcome.comparisons]
    added = nodes[1].GetSegmentation().AddEmptySegment("Another")
    assert recalled.change() == "Segments were added to or removed from the test."
    nodes[1].GetSegmentation().RemoveSegment(added)
    assert recalled.change() == ""
    # a second run uses the same table
    assert outcomes.keep(request, outcome.comparisons).table is outcome.table


def testOnlyChangesOfTheContentCount(scene, nodes, outcome):
    node, segment = nodes[1], outcome.segments[0][1]
    before = hashOf(node, segment)
    node.GetSegmentation().GetSegment(segment).SetName("Something else")
    assert node.CreateClosedSurfaceRepresentation()
    assert outcome.change() == "" and hashOf(node, segment) == before
    transform = scene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    node.SetAndObserveTransformNodeID(transform.GetID())
    assert outcome.change() == ""
    moved = transform.GetMatrixTransformToParent()
    moved.SetElement(1, 3, 0.001)
    transform.SetMatrixTransformToParent(moved)
    assert outcome.change() == "Something else of the test has changed."
    assert outcome.change(suspects={"another segment"}) == ""
    scene.RemoveNode(transform)
    node.GetSegmentation().GetSegment(segment).SetName("Parotid_L")
    assert outcome.change() == ""


def testMapsOfAnEarlierRunAreRecognized(outcome):
    model = outcome.mark(mrml.showDistanceMap(outcome.comparisons[0]))
    assert outcome.shows(model) and outcome.result(outcome.pair(0), "distance map on reference") is model
    request = mrml.Request(list(zip(outcome.nodes, outcome.given, strict=True)), outcome.settings)
    again = outcomes.keep(request, outcome.comparisons)
    assert again.table is outcome.table and not again.shows(model) and not again.shows(None)
    assert maps.mapInformation(model)["tolerance"] == 3


def testMapsCoverSegmentsAndGiveThemBack(nodes, outcome):
    model = mrml.showDistanceMap(outcome.comparisons[0])
    times = [node.GetSegmentation().GetMTime() for node in nodes]
    displays = [node.GetDisplayNode() for node in nodes]
    displays[1].SetSegmentVisibility3D(outcome.segments[0][1], False)  # by the user
    both = [model, mrml.showDistanceMap(outcome.comparisons[0], side="test")]
    maps.showMaps(both, model.GetScene())
    maps.showMaps(both[1:], model.GetScene())
    assert not model.GetDisplayNode().GetVisibility()
    maps.showMaps([model], model.GetScene())
    shown = [d.GetSegmentVisibility3D(s) for d, s in zip(displays, outcome.segments[0], strict=True)]
    assert shown == [False, False] and model.GetDisplayNode().GetVisibility()
    maps.showMaps([], model.GetScene())
    shown = [d.GetSegmentVisibility3D(s) for d, s in zip(displays, outcome.segments[0], strict=True)]
    assert shown == [True, False] and not model.GetDisplayNode().GetVisibility()
    # also under a map of observers, which is hidden first
    maps.coverNodes(nodes, model.GetScene())
    for cover, covering, isShown in (
        (maps.cover, [model], False),
        (maps.coverNodes, [], False),
        (maps.cover, [], True),
    ):
        cover(covering, model.GetScene())
        shown = [d.GetSegmentVisibility3D(s) for d, s in zip(displays, outcome.segments[0], strict=True)]
        assert shown == [isShown, False]
    assert [node.GetSegmentation().GetMTime() for node in nodes] == times


def testExplanationsComeFromTheRegistry(outcome):
    letters = {"percentile": "95", "tolerance": "τ", "dosePercent": "2", "doseVolume": "0.03", "doseLevel": "20"}
    for family in FAMILIES:
        text = explanations.ofFamily(family) + "\n"  # the per-slice profile has no keys
        for definition in REGISTRY:
            key = definition.keyFor(letters).replace("_", " ")
            assert (key in text.split("\n")[1].split(", ")) == (definition.family == family)
    assert explanations.ofSetting("tolerances").endswith(
        "Used by NSD τmm, BIoU τmm, OverFraction τmm, UnderFraction τmm, APL τmm, RelativeAPL τmm."
    )
    measurement = outcome.records[0].measurements["NSD_3mm"]
    text = explanations.ofMeasurement(measurement)
    assert measurement.title in text and measurement.source in text and "Higher is better." in text


@pytest.fixture
def observers(scene):
    made = [segmentationOf(scene, Box=shapes.box((x, 8, 8), (x + 5, 12, 12), (30, 20, 20))) for x in (5, 7, 11)]
    for node, name in zip(made, ("Ärztin", "Ben", "Chris"), strict=True):
        node.SetName(name)
    yield made
    for node in made:
        scene.RemoveNode(node)


def measureObservers(nodes):
    settings = Settings(metrics=("HD95", "DSC"))
    request = mrml.Request([(node, "") for node in nodes], settings, observers=len(nodes), consensus="majority")
    return outcomes.measure(request)


def testObserversAreRecalledAsTheyWereKept(observers):
    outcome = measureObservers(observers)
    again = outcomes.recall(outcome.table)
    for name in ("content", "settings", "method", "given", "segments", "hashes", "members", "run", "names", "nodes"):
        assert getattr(again, name) == getattr(outcome, name), name
    assert again.study is None and again.change() == "" == outcome.change()
    assert outcome.segments == [[node.GetSegmentation().GetNthSegmentID(0) for node in observers]]
    assert measureObservers(observers).table is outcome.table, "the next run of the same observers replaces it"
    node = observers[1]
    segmentation, image = node.GetSegmentation(), node.GetBinaryLabelmapInternalRepresentation(outcome.segments[0][1])
    for change, said in (
        (lambda: segmentation.GetNthSegment(0).SetName("Renamed"), ""),
        (lambda: segmentation.AddEmptySegment("More"), "Segments were added to or removed from Ben."),
        (lambda: image.SetOrigin(9, 9, 9), "Renamed of Ben has changed."),
        (segmentation.RemoveAllSegments, "A segment of Ben was removed."),
        (lambda: node.GetScene().RemoveNode(node), "The segmentation of Ben was removed."),
    ):
        change()
        assert outcome.change() == said
