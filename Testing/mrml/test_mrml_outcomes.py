"""Results that are kept in the scene: recalled as they were, and out of date; and the segments that maps cover."""

from __future__ import annotations

import pytest
import shapes
from sayings import refused, says
from segmentnodes import segmentationOf

from SegmentMetricsLib import Settings, mrml
from SegmentMetricsLib.mrml import maps, outcomes
from SegmentMetricsLib.mrml.sample import loadSample


@pytest.fixture(scope="module")
def nodes():
    scene = mrml.ensureScene()
    scene.Clear(0)
    yield loadSample(scene=scene)
    scene.Clear(0)


@pytest.fixture(scope="module")
def outcome(nodes):
    segments = [(node, node.GetSegmentation().GetSegmentIdBySegmentName("Parotid_L")) for node in nodes]
    return mrml.measure(mrml.Request(segments, Settings(tolerances=3)))


def testTheSampleHasNoFilesBehindIt(nodes):
    assert [node.GetName() for node in nodes] == ["Observer 1", "Observer 2"]
    assert [node.GetSegmentation().GetNumberOfSegments() for node in nodes] == [9, 8]
    assert all(node.GetStorageNode() is None and node.GetDisplayNode() is not None for node in nodes)


def testRecalledResultsAreThoseThatWereKept(outcome):
    recalled = outcomes.recall(outcome.table)
    assert recalled.comparisons is None and outcome.comparisons is not None
    assert [r.toDictionary() for r in recalled.records] == [r.toDictionary() for r in outcome.records]
    for name in ("run", "segments", "settings", "isOfAll", "unmatched", "failures", "hashes", "nodes"):
        assert getattr(recalled, name) == getattr(outcome, name), name
    assert [len(own) for own in recalled.hashes] == [1, 1]


def testTablesWithoutResults(scene):
    """As those of a scene that another version saved: its tables and models stay."""
    assert outcomes.recall(None) is None
    table = scene.AddNewNodeByClass("vtkMRMLTableNode", "Old")
    for text in (None, "{}", '{"run": "1", "settings": {}, "segments": [], "stamps": {}, "isOfAll": false}'):
        table.SetAttribute(outcomes.OUTCOME_ATTRIBUTE, text)
        with refused("Old"):
            outcomes.recall(table)


def testResultsOfAllStructures(nodes):
    request = mrml.Request([(node, "") for node in nodes], Settings(metrics="DSC"))
    outcome = mrml.measure(request)
    recalled = outcomes.recall(outcome.table)
    assert recalled.isOfAll and recalled.unmatched == {"reference": ["Submandibular_R"], "test": []}
    assert [r.name for r in recalled.records] == [c.reference.name for c in outcome.comparisons]
    added = nodes[1].GetSegmentation().AddEmptySegment("Another")
    says(recalled.change(), "test")
    nodes[1].GetSegmentation().RemoveSegment(added)
    assert recalled.change() == ""
    assert outcomes.keep(request, outcome.comparisons).table is outcome.table, "a second run uses the same table"


def testMapsCoverSegmentsAndGiveThemBack(nodes, outcome):
    """What the user has hidden stays hidden; what a map of observers covers, too, comes back with the last of them."""
    both = [mrml.showDistanceMap(outcome.comparisons[0], side=side) for side in ("reference", "test")]
    times, scene = [node.GetSegmentation().GetMTime() for node in nodes], both[0].GetScene()
    displays, segments = [node.GetDisplayNode() for node in nodes], outcome.segments[0]
    displays[1].SetSegmentVisibility3D(segments[1], False)  # by the user
    for cover, covering, isShown in (
        (maps.showMaps, both, False),
        (maps.showMaps, both[1:], False),
        (maps.showMaps, [], True),
        (maps.coverNodes, nodes, False),
        (maps.cover, both[:1], False),
        (maps.coverNodes, [], False),
        (maps.cover, [], True),
    ):
        cover(covering, scene)
        shown = [display.GetSegmentVisibility3D(each) for display, each in zip(displays, segments, strict=True)]
        assert shown == [isShown, False]
    assert [node.GetSegmentation().GetMTime() for node in nodes] == times


@pytest.mark.parametrize("kind", ["hazard", "dose", "bld"])
def testMapsThatLackWhatIsToBeShown(outcome, kind):
    model = mrml.showDistanceMap(outcome.comparisons[0])
    with refused():
        maps.recolor(model, kind)


def testObserversAreRecalledAsTheyWereKept(scene):
    observers = [segmentationOf(scene, Box=shapes.box((x, 8, 8), (x + 5, 12, 12), (30, 20, 20))) for x in (5, 7, 11)]
    for node, name in zip(observers, ("Ärztin", "Ben", "Chris"), strict=True):
        node.SetName(name)
    settings = Settings(metrics=("HD95", "DSC"))
    request = mrml.Request([(node, "") for node in observers], settings, observers=3, consensus="majority")
    outcome = mrml.measure(request)
    again = outcomes.recall(outcome.table)
    for name in ("content", "settings", "method", "given", "segments", "hashes", "members", "run", "names", "nodes"):
        assert getattr(again, name) == getattr(outcome, name), name
    assert again.study is None and again.change() == "" == outcome.change()
    assert mrml.measure(request).table is outcome.table, "the next run of the same observers replaces it"
    node, segmentation = observers[1], observers[1].GetSegmentation()
    image = node.GetBinaryLabelmapInternalRepresentation(outcome.segments[0][1])
    segmentation.GetNthSegment(0).SetName("Renamed")
    assert outcome.change() == ""
    for change, name in (
        (lambda: segmentation.AddEmptySegment("More"), "Ben"),
        (lambda: image.SetOrigin(9, 9, 9), "Renamed of Ben"),
        (segmentation.RemoveAllSegments, "Ben"),
        (lambda: scene.RemoveNode(node), "Ben"),
    ):
        change()
        says(outcome.change(), name)


def testASampleThatCannotBeLoadedLeavesNothingInTheScene(scene, monkeypatch, tmp_path):
    (tmp_path / "observer1.seg.nrrd").write_text("no segmentation")
    monkeypatch.setattr("SegmentMetricsLib.mrml.sample.FOLDER", tmp_path)
    before = {node.GetID() for node in scene.GetNodes()}
    with refused():
        loadSample(scene=scene)
    assert {node.GetID() for node in scene.GetNodes()} == before
