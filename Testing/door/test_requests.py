"""A script asks for what Apply measures, and a pair of segments is a case of one match."""

from __future__ import annotations

import pytest
import segmentnodes
import shapes
from sayings import says

from SegmentMetricsLib import Settings

pytest.importorskip("slicer", reason="needs the slicer-core package")
from SegmentMetricsLib import mrml

FEW = Settings(metrics=("HD95", "DSC"))


@pytest.fixture
def nodes(scene):
    boxes, other = [shapes.box((x, 5, 5), (12, 12, 12)) for x in (5, 7)], shapes.box((14, 14, 14), (18, 18, 18))
    made = [segmentnodes.segmentationOf(scene, A=box, B=other) for box in boxes]
    for node, name in zip(made, ("First", "Second"), strict=True):
        node.SetName(name)
    return made


def testAPairIsACaseOfOneMatch(nodes):
    case = mrml.openCase((nodes[0], "A"), (nodes[1], "A"), FEW)
    (found,), single = case.compare(), mrml.compareSegments(nodes[0], "A", nodes[1], "A", FEW)
    assert found.numbers == single.numbers and found["HD95"].value == 2
    whole = mrml.openCase(*nodes, FEW, choices={"B": None})
    assert [match.title for match in whole.pairing.pairs] == ["A"] and whole.pairing.unmatched["reference"] == ["B"]


@pytest.mark.parametrize("name", ["A", ""])
def testWhatApplyDoes(nodes, scene, name):
    segments = [node.GetSegmentation().GetSegmentIdBySegmentName(name) if name else "" for node in nodes]
    request = mrml.Request(list(zip(nodes, segments, strict=True)), FEW)
    outcome = mrml.measure(request)
    assert [record.name for record in outcome.records] == (["A"] if name else ["A", "B"])
    assert outcome.table.GetScene() is scene and outcome.change() == "" and outcome.nodes == nodes
    nodes[1].GetSegmentation().RemoveSegment(outcome.segments[0][1])
    says(outcome.change(), "test")


def testSeveralObservers(nodes):
    request = mrml.Request([(node, "") for node in nodes], FEW, observers=2, consensus="majority")
    outcome = mrml.measure(request)
    assert outcome.names == ["First", "Second"] and [one["name"] for one in outcome.content["structures"]] == ["A", "B"]
