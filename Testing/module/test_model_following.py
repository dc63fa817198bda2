"""Which places of an edit are corrected, in which order they are visited, and with which brush."""

from __future__ import annotations

import math

import pytest
import shapes
from SegmentMetricsPanel.contents import following

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.places import Place

PAIR = (("node", "one"), ("node", "two"))


def place(x: float, value: float = 4.0, area: float = math.pi * 9, rank: int = 1) -> Place:
    """Return a place on the x axis; its disk has a radius of 3 mm unless another area is given."""
    return Place(rank, value, area, (x, 0.0, 0.0), "L", "test", (1.0, 0.0, 0.0))


def testWhatIsCorrected():
    for now, isDone, added in (
        ([], (True, True), 0),
        ([place(0)], (False, True), 0),
        ([place(6.9)], (False, True), 0),  # 4 mm that the contour may have moved, and the 3 mm of what is left
        ([place(14)], (True, False), 0),  # in reach of the second, which is nearer
        ([place(0, -4)], (True, True), 1),  # on the other side of the reference
        ([place(50)], (True, True), 1),
        ([place(0), place(2), place(20)], (False, False), 0),  # a place may fall apart
    ):
        edit = following.beginEdit(PAIR, {}, [place(0), place(20, rank=2)])
        after = following.advance(edit, now)
        assert after.isDone[:2] == isDone and len(after.places) == 2 + added and len(after.isDone) == 2 + added
        assert after.isDone[2:] == (False,) * added and [one.rank for one in after.places] == list(range(1, 3 + added))
        assert following.advance(after, []).isDone == (True,) * len(after.places), "all are corrected in the end"
        assert following.Edit.fromText(after.toText()) == after


@pytest.mark.parametrize("text", ["", "?", "[]", "[1, 2, 3, 4, 5]", '[[["a", "b"]], {}, [{}], [], 0]'])
def testTextsThatAreNoEdit(text):
    assert following.Edit.fromText(text) is None


def testTheOrderOfPlaces():
    for isDone, current, expected in (
        ((False, False, False), -1, (0, 2)),
        ((False, False, False), 2, (0, 1)),
        ((True, False, True), 1, (1, 1)),
        ((False, True, False), 0, (2, 2)),
        ((True, True, True), 0, (None, None)),
        ((), -1, (None, None)),
    ):
        edit = following.Edit(PAIR, {}, [place(n) for n in range(len(isDone))], isDone, current)
        assert (following.following(edit, 1), following.following(edit, -1)) == expected


@pytest.mark.parametrize(
    ("value", "radius", "size"), [(4.2, 30, 4.0), (-4.3, 30, 4.5), (8, 1.5, 3.0), (2.1, 0.1, 1.0), (20, 30, 20.0)]
)
def testTheBrush(value, radius, size):
    assert following.brushSize(place(0, value, math.pi * radius**2)) == size


def testTheCorners():
    """Numbers that were not finite have no change, and those that were not measured are not there."""
    boxes = [shapes.box((5, 5, 5), (high, 14, 14)) for high in (14, 13, 9)]
    record = compare(boxes[0], boxes[1]).record()
    before = following.beginEdit(PAIR, compare(boxes[0], boxes[2]).measurements, [])
    assert following.cornerText(record, before).splitlines()[0] == "DSC 0.947 (+0.281)"
    assert following.cornerText(record, None).splitlines() == ["DSC 0.947", "HD95 1.00 mm", "NSD 2 mm 1.000"]
    empty = following.beginEdit(PAIR, compare(boxes[0], shapes.box((5, 5, 5), (4, 4, 4))).measurements, [])
    assert following.cornerText(record, empty).splitlines()[1] == "HD95 1.00 mm"
    assert following.changeText(-0.0001, "mm") == "+0.00"
    overlap = compare(boxes[0], boxes[1], Settings(families=["overlap"])).record()
    assert following.cornerText(overlap, None) == "DSC 0.947"
