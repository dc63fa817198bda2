"""What several observers have drawn, kept in a table node and recalled from it; and what has changed since."""

from __future__ import annotations

import pytest
import segmentnodes
import shapes
import slicer

from SegmentMetricsLib import Settings, mrml
from SegmentMetricsLib.mrml import outcomes as observed

FEW = Settings(metrics=("HD95", "DSC"))


def box(x: int):
    return shapes.box((5 + x, 8, 8), (10 + x, 12, 12), (30, 20, 20))


@pytest.fixture
def nodes(scene):
    made = [segmentnodes.segmentationOf(scene, Box=box(x)) for x in (0, 2, 6)]
    for node, name in zip(made, ("Ärztin", "Ben", "Chris"), strict=True):
        node.SetName(name)
    return made


def kept(nodes, scene):
    request = mrml.Request([(node, "") for node in nodes], FEW, observers=len(nodes), consensus="majority")
    return observed.measure(request, scene=scene)


def testRecalledAsItWasKept(nodes, scene):
    outcome = kept(nodes, scene)
    again = observed.recall(outcome.table)
    for name in ("content", "settings", "method", "given", "segments", "hashes", "members", "run", "names", "nodes"):
        assert getattr(again, name) == getattr(outcome, name), name
    assert again.study is None and again.change() == "" == outcome.change()
    assert outcome.segments == [[node.GetSegmentation().GetNthSegmentID(0) for node in nodes]]
    assert kept(nodes, scene).table is outcome.table, "the next run of the same observers replaces it"
    outcome.table.SetAttribute(observed.OUTCOME_ATTRIBUTE, "{}")
    with pytest.raises(ValueError, match="cannot be read"):
        observed.recall(outcome.table)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda node, segmentation, scene: segmentation.GetNthSegment(0).SetName("Renamed"), ""),
        (
            lambda node, segmentation, scene: segmentation.AddEmptySegment("More"),
            "Segments were added to or removed from Ben.",
        ),
        (lambda node, segmentation, scene: segmentation.RemoveAllSegments(), "A segment of Ben was removed."),
        (lambda node, segmentation, scene: scene.RemoveNode(node), "The segmentation of Ben was removed."),
        (
            lambda node, segmentation, scene: (
                segmentation.GetNthSegment(0)
                .GetRepresentation("Binary labelmap")
                .SetImageToWorldMatrix(slicer.vtkMRMLSliceNode().GetSliceToRAS())
            ),
            "Box of Ben has changed.",
        ),
    ],
)
def testWhatHasChanged(nodes, scene, change, said):
    outcome = kept(nodes, scene)
    change(nodes[1], nodes[1].GetSegmentation(), scene)
    assert outcome.change() == said
