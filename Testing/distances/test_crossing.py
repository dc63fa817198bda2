"""Linear functions over elements: where their size reaches a wanted one, pieces, bounds."""

from __future__ import annotations

import numpy as np
import pytest

from SegmentMetricsLib.distances import crossing, linear
from SegmentMetricsLib.distances.bounded import Bounded, combined
from SegmentMetricsLib.distances.elements import Leaves, Part, turned
from SegmentMetricsLib.distances.extrapolation import BOUNDS, errorOf
from SegmentMetricsLib.distances.percentiles import Percentiles
from SegmentMetricsLib.geometry.edges import CORNERS_OF_SIDES


@pytest.mark.parametrize("corners", [2, 3])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def testWhereASizeIsReached(corners, scale):
    """Against all shares added up, at the place that is found."""
    random = np.random.default_rng(corners)
    for count in (1, 3, 40, 700):
        values = np.sort(random.uniform(1, 9, (corners, count)), axis=0)
        sizes = scale * random.uniform(0.1, 2, count)
        limits = np.array([values[0].min(), values[-1].max()])
        ends = crossing.sizesBelow(values, sizes, limits)
        assert ends == pytest.approx([0, sizes.sum()], abs=1e-9 * scale)
        for share in (0.01, 0.3, 0.5, 0.77, 0.95, 0.999):
            wanted = share * float(sizes.sum())
            found = crossing.firstReaching(values, sizes, wanted, limits, ends)
            assert limits[0] <= found <= limits[1]
            reached = float(linear.orderedShareBelow(values, found) @ sizes)
            assert reached == pytest.approx(wanted, rel=1e-9)
            assert crossing.sizesBelow(values, sizes, np.array([found])) == pytest.approx([wanted], rel=1e-9)


def testOneTriangle():
    """Values 2, 3, 6 at the corners: 1/4 of it is below 3, and 1 - (6 - 4)^2 / 12 below 4."""
    values = np.array([[2.0], [3.0], [6.0]])
    sizes = np.array([8.0])
    assert crossing.sizesBelow(values, sizes, np.array([1, 2.5, 3, 4, 6, 7])) == pytest.approx(
        [0, 8 * 0.25 / 4, 8 / 4, 8 * (1 - 4 / 12), 8, 8]
    )
    ends = np.array([2.0, 6]), np.array([0.0, 8])
    assert crossing.firstReaching(values, sizes, 8 * (1 - 4 / 12), *ends) == pytest.approx(4)
    assert crossing.firstReaching(values, sizes, 0.5, *ends) == pytest.approx(2.5)
    assert crossing.sizesBeyond(values, sizes, np.array([1.0, 3, 4, 6])) == pytest.approx([8, 6, 8 / 3, 0])


def testASizeThatRoundingReaches():
    """One rounding more than is reached at a limit: none is left where what lies below is subtracted from both."""
    below, reached = 3.1621323800087477, 22.921120244264376
    wanted = np.nextafter(reached, np.inf)
    assert wanted - below == reached - below
    # what lies below, and a triangle with values 0, 0.7 and 1, of which 0.5^2 / 0.7 is within 0.5
    values, sizes = np.array([[0.1, 0], [0.1, 0.7], [0.1, 1]]), np.array([below, (reached - below) * 0.7 / 0.25])
    limits = np.array([0.4, 0.5, 0.9])
    found = crossing.firstReaching(values, sizes, wanted, limits, np.array([15.8, reached, 57.6]))
    assert found == pytest.approx(0.5, abs=1e-12)


def testBinsHoldAllValues():
    values, sizes = np.array([0.0, 250, 999.999, 1000]), np.array([1.0, 2, 4, 8])
    width, sums = crossing.binnedSums(values, sizes, 4)
    assert width == pytest.approx(250) and 4 * width > 1000
    assert sums.tolist() == [3, 3, 3, 15]
    for wanted in (0.5, 1, 2.5, 3, 10, 15):
        below, above = (function(values, sizes, wanted, 4) for function in (crossing.valueBelow, crossing.valueAbove))
        assert sizes[values <= below].sum() < wanted <= sizes[values <= above].sum()


@pytest.mark.parametrize("corners", [2, 3])
def testPiecesAreEqual(corners):
    """The corners of an element and the middles of its sides, in order: all pieces are as large, and turned alike."""
    points = np.array([[0, 0], [6, 0], [0, 6.0]])[:corners]
    middles = [points[side].mean(axis=0) for side in CORNERS_OF_SIDES[corners]]
    pieces = np.vstack([points, *middles])[linear.PIECES[corners]]
    steps = pieces[:, 1:] - pieces[:, :1]
    if corners == 2:
        assert steps[:, 0].tolist() == [[3, 0], [3, 0]] and pieces[0, 1].tolist() == pieces[1, 0].tolist()
    else:
        assert (steps[:, 0, 0] * steps[:, 1, 1] - steps[:, 0, 1] * steps[:, 1, 0]).tolist() == [9] * 4


def testTurned():
    found = turned(np.array([[-5.0, -1, 1], [0, 2, 2], [1, -1, 3]]).T)
    assert found.T.tolist() == [[5, 1, -1], [0, 2, 2], [1, -1, 3]]


@pytest.mark.parametrize("number", [Bounded(1, 0.5, None), Bounded(1, None, 2), Bounded(1)])
def testBoundsOfOneSideAreNone(number):
    for pair in ((number, Bounded(3, 2, 4)), (Bounded(3, 2, 4), number)):
        found = combined(max, *pair)
        assert (found, found.lower, found.upper) == (3, None, None)


def testErrorsOfSums():
    """What all differences have in common counts by its sum, what is left to chance by its root of squares."""
    differences = np.array([3.0, -7.0])
    assert errorOf(differences, (1, 0)) == 4
    assert errorOf(differences, (0, 1)) == pytest.approx(58**0.5)
    assert errorOf(-0.1 * differences, (0.5, 2)) == pytest.approx(0.1 * (0.5 * 4 + 2 * 58**0.5))
    assert errorOf(differences[:0]) == 0


def leavesOf(curve, count: int = 8) -> Leaves:
    """Return a line 1 mm long, cut into so many segments, and the distances that a function has along it."""
    start = 2 * np.arange(count)
    nodes = np.stack([start, start + 2, start + 1], axis=1)
    values = curve(np.linspace(0, 1, 2 * count + 1))
    line = Part(values, nodes, np.full(count, 1 / count), np.zeros(count, np.int8), np.ones(count, bool))
    return Leaves(line, line.chosen(np.zeros(0, int)))


@pytest.mark.parametrize("shared", [0.0, 0.25])
@pytest.mark.parametrize("error", [0.008, 1e-5])
@pytest.mark.parametrize("percent", [33, 50.5, 71, 95])
def testPercentilesOfACurve(percent, error, shared):
    """The distance 4 x^2: where x is the wanted share of the line, and where it surely is."""
    leaves = leavesOf(lambda x: 4 * x**2)
    percentiles = Percentiles(leaves, 1 + shared, shared, error)
    found = percentiles.estimate(percent)
    wanted = percent / 100 * (1 + shared) - shared
    assert found.low < 4 * wanted**2 < found.high
    assert found.value == pytest.approx(4 * wanted**2, abs=0.006)
    assert found.chosen.tolist() == [int(8 * wanted)]
    # how much of the line is as near as the error, which bounds cannot be better than
    assert found.wanted == pytest.approx(max(error / (8 * wanted), 2e-5 * (1 + shared)), rel=0.1)
    # by the pieces of segments, a third of what these are off by the segments as a whole
    size = wanted - found.differences.sum() / 3
    sizes = [leaves.within(limit)[0] for limit in (found.low, found.value, found.high)]
    off = BOUNDS * errorOf(found.differences)
    assert sizes[1] == pytest.approx(size, rel=1e-9)
    assert [sizes[0], sizes[2]] == pytest.approx([size - off, min(size + off, 1)], abs=0.005)
    again = Percentiles(leaves, 1 + shared, shared, error, found).estimate(percent)
    assert again.value == pytest.approx(found.value, abs=1e-12)
    assert again[1:3] == pytest.approx(found[1:3], abs=5e-4)


def testPercentilesToBothSides():
    # from 1 mm on one side to 3 mm on the other
    percentiles = Percentiles(leavesOf(lambda x: 4 * x - 1, 1), 1.0, 0.0, 0.008)
    for percent, expected in ((10, 0.2), (30, 0.6), (50, 1.0), (80, 2.2), (95, 2.8)):
        found = percentiles.estimate(percent)
        assert found.value == pytest.approx(expected, abs=1e-9)
        assert found.low == pytest.approx(expected, abs=2e-4) and found.high == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(("percent", "expected"), [(10, 0), (20, 0), (30, 1), (76, 1), (81, 3), (100, 3)])
def testPercentilesOfPlateaus(percent, expected):
    """A fifth of a boundary is that of the other one; of the rest seven tenths are 1 mm away and two tenths 3 mm."""
    percentiles = Percentiles(leavesOf(lambda x: np.where(x < 0.71, 1.0, 3.0), 10), 1.25, 0.25, 0.008)
    found = percentiles.estimate(percent)
    assert found.value == expected
    # what rounding may add
    assert found.low == 0 or found.low <= expected - 1e-6
    assert found.high >= expected + 0.999e-6


def testPercentilesNextToWhatIsNoDistanceAway():
    # half of the boundary lies exactly on the other one, though not as its elements
    percentiles = Percentiles(leavesOf(lambda x: np.maximum(x - 0.5, 0) * 0.08), 1.0, 0.0, 0.008)
    for percent, expected in ((40, 0), (60, 0.008), (75, 0.02), (100, 0.04)):
        assert percentiles.estimate(percent).value == pytest.approx(expected, abs=1e-9)
