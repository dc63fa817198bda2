"""Views that go to a pair and draw nothing but it, on odd pairs and beside what else is in the scene."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer
from panel_checks.views import drawn, shownIn
from scenework import choose, segmentation

from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml import navigation

FAR = (20, 18, 22), (26, 24, 27)  # voxels of 1 mm
NEAR = (4, 5, 5), (9, 9, 9)


def middleOf(box) -> np.ndarray:
    """The middle of a box of voxels, RAS."""
    return np.mean(structureFromImage(shapes.box(*box), "Box", None, 0.5).box, axis=0) * (-1, -1, 1)


def structures(name: str, **others):
    boxes = {"Near": NEAR, "Far": FAR} | others
    return segmentation(name, **{key: shapes.box(*box) for key, box in boxes.items()})


def centers() -> list[np.ndarray]:
    """The middle of every slice view, RAS."""
    nodes = navigation.sliceNodesOf(slicer.mrmlScene)
    return [np.array([node.GetSliceToRAS().GetElement(row, 3) for row in range(3)]) for node in nodes]


def look(at: float) -> dict:
    """Let all slice views look elsewhere, and return their state."""
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        node.JumpSliceByCentering(at, at, at)
    return navigation.viewState(slicer.mrmlScene)


@pytest.mark.parametrize("which", ["identical", "empty test", "one segmentation"])
def testPairsWithoutAWorstPlace(session, which):
    """The views go to the structure all the same, and what there is of the pair is drawn."""
    first = structures("First", Other=((21, 18, 22), (26, 24, 27)))
    second = structures("Second")
    if which == "empty test":
        second.GetSegmentation().RemoveSegment(second.GetSegmentation().GetSegmentIdBySegmentName("Far"))
        second.GetSegmentation().AddEmptySegment("", "Far")
    choose(session, first, first if which == "one segmentation" else second, "Far")
    if which == "one segmentation":
        session.parameters.testSegment = first.GetSegmentation().GetSegmentIdBySegmentName("Other")
        session.settle(0.05)
    look(at=77)
    session.apply()
    assert all(np.allclose(center, middleOf(FAR), atol=4) for center in centers())
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        assert np.abs(shownIn(node, middleOf(FAR)[None])[0, :2]).max() < 0.1
    found = {("line", "reference")} if which == "empty test" else {("map", "reference"), ("line", "test")}
    assert set(drawn(session)) == found
    assert not first.GetDisplayNode().GetVisibility()
