"""Boundary and signed metrics of distances that are given: every number by hand."""

from __future__ import annotations

import numpy as np
import pytest
from givendistances import given

from SegmentMetricsLib.metrics import boundary, signed
from SegmentMetricsLib.show import distributions

# mm and size of the elements of the reference, 10 in all, and of the test, 15 in all
DISTANCES = given(([0.0, 2.0, -5.0], [2, 3, 5]), ([1.0, -4.0], [6, 9]))


def parts(found) -> tuple[float, ...]:
    """Return a number and those of its directions."""
    return found, found.referenceToTest, found.testToReference


@pytest.mark.parametrize(
    ("percent", "toTest", "toReference"),
    # up to 0, 2, 5 mm lie 20, 50, 100 % of the reference, up to 1, 4 mm 40, 100 % of the test
    [(20, 0, 1), (21, 2, 1), (40, 2, 1), (41, 2, 4), (50, 2, 4), (51, 5, 4), (100, 5, 4)],
)
def testPercentiles(percent, toTest, toReference):
    assert parts(boundary.percentileHausdorff(DISTANCES, percent)) == (max(toTest, toReference), toTest, toReference)


def testHausdorffAndMeans():
    toTest, toReference = (2 * 3 + 5 * 5) / 10, (1 * 6 + 4 * 9) / 15
    mean = (toTest + toReference) / 2
    assert parts(boundary.hausdorff(DISTANCES)) == (5, 5, 4)
    assert parts(boundary.meanAverageSurfaceDistance(DISTANCES)) == pytest.approx((mean, toTest, toReference))
    assert parts(boundary.averageSymmetricSurfaceDistance(DISTANCES)) == pytest.approx((73 / 25, toTest, toReference))
    assert signed.mean(DISTANCES) == pytest.approx((2 * 3 - 5 * 5 + 1 * 6 - 4 * 9) / 25)


@pytest.mark.parametrize(
    ("tolerance", "toTest", "toReference", "ties", "over", "under"),
    [
        (0.5, 2, 0, 0, 9, 14),
        (1, 2, 6, 6, 3, 14),
        (1.9, 2, 6, 0, 3, 14),
        (2, 5, 6, 3, 0, 14),
        (4, 5, 15, 9, 0, 5),
        (4.5, 5, 15, 0, 0, 5),
        (5, 10, 15, 5, 0, 0),
    ],
)
def testSharesWithin(tolerance, toTest, toReference, ties, over, under):
    found = boundary.normalizedSurfaceDistance(DISTANCES, tolerance)
    assert parts(found) == pytest.approx(((toTest + toReference) / 25, toTest / 10, toReference / 15))
    assert boundary.shareOfTies(DISTANCES, tolerance) == pytest.approx(ties / 25)
    beyond = [signed.fractionBeyond(DISTANCES, tolerance, side) for side in (1, -1)]
    assert beyond == pytest.approx([over / 25, under / 25])


def testTiesAreThoseOfRounding():
    """To a ten-thousandth of a millimeter a distance is the tolerance."""
    nearly = given(([2 - 0.5e-4, 2 + 0.5e-4, 2 - 1.5e-4, 2 + 1.5e-4], [1, 2, 4, 8]), ([9.0], [1]))
    assert boundary.shareOfTies(nearly, 2) == pytest.approx((1 + 2) / 16)
    assert boundary.normalizedSurfaceDistance(nearly, 2) == pytest.approx((1 + 2 + 4) / 16)
    assert signed.fractionBeyond(nearly, 2, 1) == pytest.approx((8 + 1) / 16)


def testLargestToEitherSide():
    for sign, value, element in ((1, 2, 1), (-1, 5, 2)):
        found = signed.largest(DISTANCES, sign)
        assert found == value
        assert found.position[2] == element
    # where nothing lies on that side it is 0 and nowhere
    outside = given(([1.0, 2.0], [1, 1]), ([0.5], [1]))
    nowhere = signed.largest(outside, -1), signed.largest(given(([0.0], [1]), ([0.0], [1])), 1)
    assert [(one, one.position) for one in nowhere] == [(0, None)] * 2
    # the farther of the two boundaries tells where
    farther = signed.largest(given(([1.0], [1]), ([0.5, 3.0], [1, 1])), 1)
    assert farther == 3 and farther.position[2] == 1


# How distances are distributed: exact shares of surfaces whose distances are given


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

    def testAFewFarOnesAreInTheOuterBars(self):
        shown = distributions.histogram(given(([1.0, 80.0], [99, 1]), ([-1.0], [100])), 2.0, signed=True)
        assert shown.edges[-1] == pytest.approx(3, abs=0.2)
        assert shown.beyond == pytest.approx(0.5) and shown.largest == 80
        assert shown.shares[-1] == pytest.approx(0.5)
        assert shown.shares.sum() == pytest.approx(100)

    @pytest.mark.parametrize("signed", [True, False])
    def testBarsThatAreTooWideAreSplitAtTheTolerance(self, signed):
        # bars are 5 mm wide; 60 of 100 lie within 2 mm, and 10 more within 5
        distances = given(([1.0, 3.0, 120.0], [30, 10, 30]), ([-1.5], [30]))
        plain = distributions.histogram(distances, 2.0, signed)
        assert np.diff(plain.edges).min() > 2 and not plain.isSplit
        np.testing.assert_array_equal(plain.heights, plain.shares)
        shown = distributions.histogram(distances, 2.0, signed, isSplit=True)
        assert shown.isSplit and set(shown.edges) == {*plain.edges, 2.0, -2.0 if signed else 2.0}
        within = np.abs(shown.centers) < 2
        assert shown.shares[within].sum() == pytest.approx(60) and shown.shares.sum() == pytest.approx(100)
        # areas are shares
        np.testing.assert_allclose(shown.heights * np.diff(shown.edges), shown.shares)


def testSharesWithinDistances():
    distances = given(([0.0, 2.0], [2, 3]), ([4.0, -1.0], [4, 1]))
    shares = distributions.cumulativeShares(distances, np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(shares, [20, 20, 30, 60, 60, 100])
    assert shares[-1] <= 100


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
