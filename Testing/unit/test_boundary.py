"""Boundary and signed metrics of distances that are given: every number by hand."""

from __future__ import annotations

import pytest
from givendistances import given

from SegmentMetricsLib.metrics import boundary, signed

# mm and size of the elements of the reference, 10 in all, and of the test, 15 in all
DISTANCES = given(([0.0, 2.0, -5.0], [2, 3, 5]), ([1.0, -4.0], [6, 9]))


def parts(found) -> tuple[float, ...]:
    """Return a number and those of its directions."""
    return found, found.referenceToTest, found.testToReference


def testHausdorff():
    assert parts(boundary.hausdorff(DISTANCES)) == (5, 5, 4)


@pytest.mark.parametrize(
    ("percent", "there", "back"),
    # up to 0, 2, 5 mm lie 20, 50, 100 % of the reference, up to 1, 4 mm 40, 100 % of the test
    [(20, 0, 1), (21, 2, 1), (40, 2, 1), (41, 2, 4), (50, 2, 4), (51, 5, 4), (100, 5, 4)],
)
def testPercentiles(percent, there, back):
    assert parts(boundary.percentileHausdorff(DISTANCES, percent)) == (max(there, back), there, back)


def testMeans():
    there, back = (2 * 3 + 5 * 5) / 10, (1 * 6 + 4 * 9) / 15
    assert parts(boundary.meanAverageSurfaceDistance(DISTANCES)) == pytest.approx(((there + back) / 2, there, back))
    assert parts(boundary.averageSymmetricSurfaceDistance(DISTANCES)) == pytest.approx((73 / 25, there, back))
    assert signed.mean(DISTANCES) == pytest.approx((2 * 3 - 5 * 5 + 1 * 6 - 4 * 9) / 25)


@pytest.mark.parametrize(
    ("tolerance", "there", "back", "ties"),
    [(0.5, 2, 0, 0), (1, 2, 6, 6), (1.9, 2, 6, 0), (2, 5, 6, 3), (4, 5, 15, 9), (5, 10, 15, 5), (6, 10, 15, 0)],
)
def testSharesWithin(tolerance, there, back, ties):
    found = boundary.normalizedSurfaceDistance(DISTANCES, tolerance)
    assert parts(found) == pytest.approx(((there + back) / 25, there / 10, back / 15))
    assert boundary.shareOfTies(DISTANCES, tolerance) == pytest.approx(ties / 25)
    over, under = (signed.fractionBeyond(DISTANCES, tolerance, side) for side in (1, -1))
    assert over + under + found == pytest.approx(1)


def testTiesAreThoseOfRounding():
    """To a ten-thousandth of a millimeter a distance is the tolerance."""
    nearly = given(([2 - 0.5e-4, 2 + 0.5e-4, 2 - 1.5e-4, 2 + 1.5e-4], [1, 2, 4, 8]), ([9.0], [1]))
    assert boundary.shareOfTies(nearly, 2) == pytest.approx((1 + 2) / 16)
    assert boundary.normalizedSurfaceDistance(nearly, 2) == pytest.approx((1 + 2 + 4) / 16)
    assert signed.fractionBeyond(nearly, 2, 1) == pytest.approx((8 + 1) / 16)


@pytest.mark.parametrize(
    ("tolerance", "over", "under"), [(0.5, 9, 14), (1, 3, 14), (2, 0, 14), (4, 0, 5), (4.5, 0, 5), (5, 0, 0)]
)
def testFractionsBeyond(tolerance, over, under):
    assert signed.fractionBeyond(DISTANCES, tolerance, 1) == pytest.approx(over / 25)
    assert signed.fractionBeyond(DISTANCES, tolerance, -1) == pytest.approx(under / 25)


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
