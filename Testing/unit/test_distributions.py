"""How distances are distributed: exact shares of surfaces whose distances are given."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import shapes
from givendistances import given

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.show import distributions


class TestHistogram:
    def testSharesAreWeightedAndSplitAtZeroAndTolerance(self):
        # 10 of size in all: 2 at zero, 3 at exactly +tau, 4 beyond it, 1 on the other side
        shown = distributions.histogram(given(([0.0, 2.0], [2, 3]), ([3.9, -1.3], [4, 1])), 2.0, signed=True)
        assert shown.edges[0] == -shown.edges[-1] and shown.edges[-1] == 4
        assert {0.0, 2.0, -2.0} <= set(shown.edges.tolist())
        bars = {round(edge, 6): share for edge, share in zip(shown.edges[1:], shown.shares) if share}
        width = shown.edges[1] - shown.edges[0]
        # half of the zeros on either side; keys are upper ends of bars, which are those nearer to 0 for negative ones
        assert bars[0.0] == bars[round(width, 6)] == pytest.approx(10)
        assert bars[2.0] == pytest.approx(30)
        assert shown.shares[shown.edges[1:] > 2].sum() == pytest.approx(40)
        assert shown.shares[shown.edges[:-1] < -width / 2][:-1].sum() == pytest.approx(10)
        assert shown.shares.sum() == pytest.approx(100)
        assert (shown.beyond, shown.largest) == (0, 3.9)
        np.testing.assert_allclose(np.diff(shown.edges), width)
        np.testing.assert_allclose(shown.centers, shown.edges[:-1] + width / 2)

    def testWithoutSignsItBeginsAtZero(self):
        shown = distributions.histogram(given(([0.0, 1.0], [1, 1]), ([3.0], [2])), 2.0, signed=False)
        assert shown.edges[0] == 0 and 2.0 in shown.edges
        assert shown.shares[0] == pytest.approx(25)
        assert shown.shares[shown.edges[1:] <= 2].sum() == pytest.approx(50)
        assert shown.shares.sum() == pytest.approx(100)

    def testAFewFarOnesAreInTheOuterBars(self):
        shown = distributions.histogram(given(([1.0, 80.0], [99, 1]), ([-1.0], [100])), 2.0, signed=True)
        assert shown.edges[-1] == pytest.approx(3, abs=0.2)
        assert shown.beyond == pytest.approx(0.5) and shown.largest == 80
        assert shown.shares[-1] == pytest.approx(0.5)
        assert shown.shares.sum() == pytest.approx(100)

    def testWhatTheOuterBarsHoldInWords(self):
        few, none = (
            distributions.histogram(given(([1.0, 80.0], [99, far]), ([-1.0], [100])), 2.0, signed=True).outerBars
            for far in (1, 0)
        )
        assert few == "outer bars: also 0.5 % beyond, up to 80.0 mm" and none == ""
        rare = distributions.histogram(given(([1.0, 80.0], [9999, 1]), ([-1.0], [10000])), 2.0, signed=True)
        assert rare.outerBars.startswith("outer bars: also less than 0.1 % beyond")

    @pytest.mark.parametrize("signed", [True, False])
    def testBarsThatAreTooWideAreSplitAtTheTolerance(self, signed):
        # bars are 5 mm wide; 60 of 100 lie within 2 mm, and 10 more within 5
        distances = given(([1.0, 3.0, 120.0], [30, 10, 30]), ([-1.5], [30]))
        plain = distributions.histogram(distances, 2.0, signed)
        assert plain.width == np.diff(plain.edges).min() > 2 and not plain.isSplit
        np.testing.assert_array_equal(plain.heights, plain.shares)
        shown = distributions.histogram(distances, 2.0, signed, isSplit=True)
        assert shown.isSplit and shown.width == plain.width and {2.0, -2.0 if signed else 2.0} <= set(shown.edges)
        within = np.abs(shown.centers) < 2
        assert shown.shares[within].sum() == pytest.approx(60) and shown.shares.sum() == pytest.approx(100)
        # areas are shares
        np.testing.assert_allclose(shown.heights * np.diff(shown.edges), shown.shares)

    def testBarsThatEndAtTheToleranceAreNotSplit(self):
        distances = given(([0.0, 2.0], [2, 3]), ([3.9, -1.3], [4, 1]))
        whole, split = (distributions.histogram(distances, 0.7, True, isSplit=one) for one in (False, True))
        np.testing.assert_array_equal(whole.edges, split.edges)

    def testManyFarOnesAreShown(self):
        shown = distributions.histogram(given(([1.0, 80.0], [90, 10]), ([-1.0], [100])), 2.0, signed=True)
        assert shown.edges[-1] >= 80 and shown.beyond == 0

    @pytest.mark.parametrize(("largest", "isSqueezed"), [(5.0, False), (6.0, True)])
    def testFarIsTwiceAsFar(self, largest, isSqueezed):
        """98 % lie within 1 mm: the axis would end at 3 mm, the round number that leaves room beyond 2 mm."""
        shown = distributions.histogram(given(([1.0, largest], [99, 1]), ([-1.0], [100])), 2.0, signed=True)
        assert (shown.edges[-1] < 4) == isSqueezed
        assert shown.beyond == (0.5 if isSqueezed else 0) and len(shown.shares) <= 60

    @pytest.mark.parametrize("signed", [False, True])
    def testFarOnesToEitherSideAreBeyond(self, signed):
        shown = distributions.histogram(given(([1.0, 80.0], [99, 1]), ([-1.0, -90.0], [98, 2])), 2.0, signed)
        assert shown.beyond == pytest.approx(1.5) and shown.largest == 90
        assert shown.shares[-1] == pytest.approx(0.5 if signed else 1.5)
        assert shown.shares[0] == pytest.approx(1 if signed else 0)
        assert shown.shares.sum() == pytest.approx(100)

    def testAroundZero(self):
        """2 of 10 are at zero, 3 just outside, 4 just inside, 1 at 2 mm: zeros are half on either side."""
        distances = given(([0.0, 0.05, -0.05], [2, 3, 4]), ([2.0], [1]))
        signed, unsigned = (distributions.histogram(distances, 2.0, signed=one) for one in (True, False))
        middle = len(signed.shares) // 2
        assert signed.shares[middle - 1 : middle + 1] == pytest.approx([50, 40])
        assert unsigned.shares[0] == pytest.approx(90)
        assert signed.shares.sum() == pytest.approx(100) == unsigned.shares.sum()

    def testIdenticalIsAllZero(self):
        shown = distributions.histogram(given(([0.0], [1]), ([0.0], [1])), 2.0, signed=True)
        middle = len(shown.shares) // 2
        np.testing.assert_allclose(shown.shares[middle - 1 : middle + 1], 50)
        assert shown.edges[middle] == 0 and shown.edges[-1] > 2

    def testBarsAgreeWithTheMeasurements(self):
        comparison = compare(shapes.ball(15), shapes.ball(17, (4, 0, 0)), Settings(tolerances=(2.5,)))
        shown = distributions.histogram(comparison.distances, 2.5, signed=True)
        over, under = shown.edges[:-1] >= 2.5, shown.edges[1:] <= -2.5
        assert shown.shares[over].sum() == pytest.approx(100 * comparison["OverFraction_2.5mm"].value)
        assert shown.shares[under].sum() == pytest.approx(100 * comparison["UnderFraction_2.5mm"].value, abs=1e-9)
        assert shown.shares[~over & ~under].sum() == pytest.approx(100 * comparison["NSD_2.5mm"].value)

    def testConcentricBalls(self):
        comparison = compare(shapes.ballMesh(20), shapes.ballMesh(21), Settings(families="signed"))
        shown = distributions.histogram(comparison.distances, 2.0, signed=True)
        nearOne = np.abs(shown.centers - 1) < 0.15
        assert shown.shares[nearOne].sum() == pytest.approx(100)


@pytest.mark.parametrize("limit", [0.5, 2, 2.5, 3, 8, 15, 30, 60, 100, 300])
@pytest.mark.parametrize("tolerance", [0.1, 1.0, 1.5, 2.0, 3.0, 5.0])
def testEdges(limit, tolerance):
    edges = distributions.binEdges(limit, tolerance, 30)
    assert edges[0] == 0 and edges[-1] >= limit and len(edges) <= 32
    np.testing.assert_allclose(np.diff(edges), edges[1], atol=1e-8)
    if limit <= 30 * tolerance and limit >= tolerance:
        assert np.abs(edges - tolerance).min() == 0
        assert len(edges) > 15


@pytest.mark.parametrize(
    ("limit", "tolerance", "width", "count"),
    # the finest parts of the tolerance that 30 bins allow: 1/10, 1/8, 1/16, 1/2, all of it; else a round width
    [(4, 2, 0.2, 20), (7, 2, 0.25, 28), (3.5, 2, 0.125, 28), (15, 1, 0.5, 30), (30, 1, 1, 30), (50, 1, 2, 25)],
)
def testWidthsOfBins(limit, tolerance, width, count):
    edges = distributions.binEdges(limit, tolerance, 30)
    assert len(edges) == count + 1 and edges[1] == width


@pytest.mark.parametrize(
    ("distance", "tolerance", "limit"), [(0.0, 0.0, 0.1), (0.15, 0.0, 0.15), (3.2, 2.0, 4), (3.2, 5.0, 5)]
)
def testRangeOfAMap(distance, tolerance, limit):
    assert distributions.mapRange(given(([distance], [1]), ([0.0], [1])), tolerance) == limit


class TestCumulative:
    def testNothingIsWithinLessThanTheLeast(self):
        distances = given(([1.0], [1]), ([-2.0], [3]))
        np.testing.assert_allclose(distributions.cumulativeShares(distances, [0.0, 0.5, 1, 2]), [0, 0, 25, 100])

    def testSharesWithinDistances(self):
        distances = given(([0.0, 2.0], [2, 3]), ([4.0, -1.0], [4, 1]))
        shares = distributions.cumulativeShares(distances, np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0]))
        np.testing.assert_allclose(shares, [20, 20, 30, 60, 60, 100])
        assert shares[-1] <= 100

    def testItPassesThroughTheMeasuredShare(self):
        comparison = compare(shapes.ball(15), shapes.ball(17, (4, 0, 0)), Settings(tolerances=(2.3,)))
        positions = distributions.cumulativePositions(8, 2.3)
        shares = distributions.cumulativeShares(comparison.distances, positions)
        assert shares[positions == 2.3] == pytest.approx(100 * comparison["NSD_2.3mm"].value)
        assert (np.diff(shares) >= 0).all() and shares[0] >= 0 and shares[-1] == pytest.approx(100)

    def testPositions(self):
        positions = distributions.cumulativePositions(6, 1.7)
        assert (positions[0], positions[-1]) == (0, 6) and 1.7 in positions
        assert (np.diff(positions) > 0).all() and len(positions) <= 200

    def testOnePairFarOffDoesNotSqueezeTheOthers(self):
        near, far = given(([1.0], [1]), ([1.0], [1])), given(([90.0], [1]), ([90.0], [1]))
        assert distributions.cumulativeLimit([near], 2.0) == 4
        assert distributions.cumulativeLimit([far], 2.0) == 100
        assert distributions.cumulativeLimit([near] * 19 + [far], 2.0) == 4


@pytest.mark.parametrize(
    ("value", "above"),
    [
        (0.1, 0.1),
        (0.11, 0.15),
        (1, 1),
        (1.6, 2),
        (2.1, 3),
        (3.2, 4),
        (4.5, 5),
        (5.5, 6),
        (6.5, 8),
        (9, 10),
        (61, 80),
        (100, 100),
    ],
)
def testRoundNumbers(value, above):
    assert distributions.roundAbove(value) == above


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (-68.75, -3.75, (-70, 0)),
        (0, 9, (0, 10)),
        (0, 0.37, (0, 0.4)),
        (-1.2, 3.3, (-1.5, 3.5)),
        (0, 0, (0, 1)),
        (5, 5, (5, 6)),
        (0, 137, (0, 140)),
    ],
)
def testAxesHaveRoundNumbersAtTheirEndsAndInTheMiddle(low, high, ends):
    assert distributions.roundRange(low, high) == pytest.approx(ends)


def testRoundAxesHoldWhatIsShown():
    for low, span in itertools.product((-987.3, -1.07, 0, 12.34), (1e-4, 0.3, 7.77, 612)):
        first, last = distributions.roundRange(low, low + span)
        assert first <= low + 1e-9 and last >= low + span - 1e-9 and last - first < 1.7 * span
        middle, digits = (first + last) / 2, -math.floor(math.log10(span / 8))
        assert middle == pytest.approx(round(middle, digits), abs=1e-12)
