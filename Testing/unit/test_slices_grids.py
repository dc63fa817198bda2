"""Slices, effort and similarity of a test on another grid than the reference, against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare

FAMILIES = ("slices", "effort", "similarity", "overlap")
# 10 x 10 x 10 voxels of 1 mm, from -5 to 5 mm: the contour cuts the corners half a pixel from them
BOX = shapes.box((4, 4, 4), (13, 13, 13), origin=(-8.5, -8.5, -8.5))
SHIFT = 0.3


def settings(**changed) -> Settings:
    return Settings(families=FAMILIES, **{"tolerances": (0.2,), **changed})


def moved(shift=(SHIFT, 0, 0)):
    return shapes.box((4, 4, 4), (13, 13, 13), origin=np.add((-8.5, -8.5, -8.5), shift).tolist())


def testPartOfAVoxel():
    """The same box 0.3 mm farther toward L: every slice sees it."""
    found = compare(BOX, moved(), settings())
    assert [row.index for row in found.slices] == list(range(4, 14))
    for row in found.slices:
        assert row.only == "" and (row["AreaReference"], row["AreaTest"]) == (100, pytest.approx(100, abs=1e-6))
        assert row["DSC"] == pytest.approx(0.97) == found["DSC"].value
        assert row["HD"] == pytest.approx(SHIFT) and 0 < row["MASD"] < SHIFT
        # the sides toward R and L, and the cut corners but for what is near the sides along the shift: where a side
        # ends toward R it is nearer to the corner's line, which is 0.3 mm away along the shift; toward L the corners
        # leave the side's line at 45 degrees
        sides, right = 2 * 9, 2 * (math.sqrt(0.5) + SHIFT - 0.2 * math.sqrt(2))
        left = 2 * 0.3 * math.sqrt(2)
        assert row["APL_0.2mm"] == pytest.approx(sides + right + left, abs=0.005)
    assert found["APL_0.2mm"].value == pytest.approx(sum(row["APL_0.2mm"] for row in found.slices))
    # contours of one shape are paired as if they lay on each other, and measured where they are
    assert found["MeanBLD"].value == pytest.approx(SHIFT)
    assert found["MSI"].value == pytest.approx(math.exp(-0.5 * (SHIFT / 10) ** 2))
    assert compare(BOX, moved(), settings(tolerances=(0.3,)))["APL_0.3mm"].value == 0


@pytest.mark.parametrize("shift", [(0.3, -0.4, 0), (0.5, 0.5, 0), (2.3, 0, 0)], ids=str)
def testSharedAreasAreExact(shift):
    shared = np.prod(10 - np.abs(shift[:2])) / 100
    for row in compare(BOX, moved(shift), settings()).slices:
        assert row["DSC"] == pytest.approx(shared) and row["AreaTest"] == pytest.approx(100)


@pytest.mark.parametrize("shift", [0.3, -0.3, 0.5, -0.5, 1.3])
def testAcrossTheSlices(shift):
    """Moved along the slices, the box is in those whose planes go through it; a low face in a plane is in it."""
    found = compare(BOX, moved((0, 0, shift)), settings())
    planes = np.arange(24) - 8.5
    isThere = (planes >= shift - 5) & (planes < shift + 5)
    assert [row.index for row in found.slices if row["AreaTest"]] == np.flatnonzero(isThere).tolist()
    assert all(row["DSC"] == 1 for row in found.slices if not row.only)


@pytest.mark.parametrize("order", [1, -1])
def testCoarserAndFiner(order):
    """The same box of 5 x 5 x 5 voxels of 2 mm: in the slices only the corners differ, which it cuts 1 mm from them."""
    coarse = shapes.box((2, 2, 2), (6, 6, 6), (9, 9, 9), (2, 2, 2), (-8, -8, -8))
    found = compare(*(BOX, coarse)[::order], settings(tolerances=(0.3, 0.4)))
    rows = found.slices
    assert len(rows) == (10 if order == 1 else 5)
    for row in rows:
        assert row.only == "" and row["DSC"] == 1 and row["AreaReference"] == row["AreaTest"] == 100
    # next to its ends the surface of the coarse one is cut, too
    for row in rows[1:-1]:
        assert row["HD"] == pytest.approx(math.sqrt(0.5) / 2)
        assert row["APL_0.4mm"] == 0
    # the fine one's corners lie beyond the coarse one's lines; of these no more than their middles is as far away
    middle = rows[len(rows) // 2]["APL_0.3mm"]
    assert middle >= 4 * math.sqrt(0.5) - 0.01 if order == 1 else 0 < middle < 4 * math.sqrt(2)


def testTurnedGrid():
    """The same box turned by 45 degrees about its middle: the two share a regular octagon in every slice."""
    turned = shapes.rotation((0, 0, 1), 45)
    test = shapes.imageOf(
        np.pad(np.ones((10, 10, 10), np.uint8), 4), origin=(turned @ np.full(3, -8.5)).tolist(), direction=turned
    )
    found = compare(BOX, test, settings())
    assert len(found.slices) == 10
    for row in found.slices:
        assert row["AreaTest"] == pytest.approx(100) and row["DSC"] == pytest.approx(2 * (math.sqrt(2) - 1), abs=1e-6)
    # a corner's cut is 9.5 / sqrt(2) mm from the middle, the side beside it 5 mm
    assert found.slices[5]["HD"] == pytest.approx(9.5 * math.sqrt(0.5) - 5, abs=1e-3)


def testMeshesAreCutWhereTheyAre():
    mesh = shapes.boxMesh((-5 + SHIFT, -5, -5), (5 + SHIFT, 5, 5))
    found = compare(BOX, mesh, settings())
    for row in found.slices:
        assert row.only == "" and row["AreaTest"] == pytest.approx(100) and row["DSC"] == pytest.approx(0.97)
        # toward L the mesh has whole corners, beyond those that the reference cuts
        assert row["HD"] == pytest.approx((0.5 + SHIFT) * math.sqrt(0.5))
    assert len(found.slices) == 10 and found["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05)
    # as a reference it has no slices of its own: the index takes those of the test
    other = compare(mesh, BOX, Settings(families="similarity", ol=3))
    assert other["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05) and len(other.similarity.slices) == 10
    opened = compare(BOX, shapes.openBox(), settings())
    reason = "the surface of the test is not closed, so it has no inside"
    assert opened["APL_0.2mm"].reason == opened["MSI"].reason == reason
    assert opened.slices == () and f"There is no per-slice profile: {reason}." in opened.findings


def testSlicesThatOneLacks():
    """A mesh between two slices is in none of them."""
    found = compare(BOX, shapes.boxMesh((-1, -1, 0.6), (1, 1, 1.4)), settings())
    assert [row.only for row in found.slices] == ["reference"] * 10
    found = compare(BOX, shapes.boxMesh((-1, -1, 3), (3, 1, 7)), settings())
    assert [row.only for row in found.slices] == ["reference"] * 8 + [""] * 2 + ["test"] * 2
    assert found.slices[-1].place == pytest.approx((1, 0, 6.5)) and found.slices[-1]["AreaTest"] == pytest.approx(8)
    assert found.slices[0]["APL_0.2mm"] == pytest.approx(36 + 4 * math.sqrt(0.5))


def testWithinTheCommonExtent():
    """Cut to the slices that both have, a test on another grid is measured in these only."""
    reference, test = shapes.box((4, 4, 2), (13, 13, 20)), shapes.box((4, 4, 6), (13, 13, 22), origin=(SHIFT, 0, 0.2))
    found = compare(reference, test, settings(extent="common"))
    # the test's first slice lies at 6.2 mm
    assert [row.index for row in found.slices] == list(range(7, 21))
    for row in found.slices:
        assert row.only == "" and row["HD"] == pytest.approx(SHIFT) and row["DSC"] == pytest.approx(0.97)
    assert [one.index for one in found.similarity.slices] == [row.index for row in found.slices]


def testContoursOfOnePlane():
    """Images of one slice whose pixels lie apart by part of a pixel, and contours given as lines."""
    square = np.pad(np.ones((10, 10), np.uint8), 4)
    reference, test = shapes.imageOf(square), shapes.imageOf(square, origin=(SHIFT, 0))
    lines = shapes.loops([(3.5, 3.5), (13.5, 3.5), (13.5, 13.5), (3.5, 13.5)])
    assert compare(reference, test, settings())["MeanBLD"].value == pytest.approx(SHIFT)
    for pair in ((test, lines), (lines, test)):
        found = compare(*pair, Settings(families="similarity", ol=2))
        assert found["MeanBLD"].value == pytest.approx(SHIFT, abs=0.05)
