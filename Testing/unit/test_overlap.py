"""Overlap: counts and areas that can be told by hand, and what is undefined without any."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import overlap
from SegmentMetricsLib.metrics.overlap import Counts, areas, count

GRID = Grid((20, 20, 20), np.eye(4))
NOTHING = Mask.empty(GRID)


def maskOf(low, high) -> Mask:
    """Return the mask of a box of voxels from low to high (i, j, k), both included."""
    return Mask(np.ones((np.subtract(high, low) + 1)[::-1], np.uint8), low, GRID)


@pytest.mark.parametrize(
    ("test", "shared"),
    [
        (maskOf((2, 2, 2), (5, 4, 3)), 24),  # the same
        (maskOf((4, 3, 3), (9, 9, 9)), 2 * 2 * 1),
        (maskOf((3, 3, 2), (3, 3, 2)), 1),
        (maskOf((0, 0, 0), (9, 9, 9)), 24),
        (maskOf((6, 2, 2), (9, 4, 3)), 0),  # beside it
        (maskOf((12, 12, 12), (13, 13, 13)), 0),
        (NOTHING, 0),
    ],
)
def testCountsOfBoxes(test, shared):
    reference = maskOf((2, 2, 2), (5, 4, 3))
    assert count(reference, test) == Counts(shared, test.count - shared, 24 - shared)
    assert count(test, reference) == Counts(shared, 24 - shared, test.count - shared)


def testNothingSharesNothingWithItself():
    assert count(NOTHING, NOTHING) == Counts(0, 0, 0)


def testAreasOfSquares():
    """4 x 3 mm2 and 5 x 2 mm2 that share 2 x 1 mm2."""
    reference, test = (
        meshing.fromPolyData(shapes.loops([(x, y), (x + w, y), (x + w, y + h), (x, y + h)]))
        for x, y, w, h in ((0, 0, 4, 3), (2, 2, 5, 2))
    )
    found = areas(reference, test)
    assert (found.truePositive, found.falsePositive, found.falseNegative) == pytest.approx((2, 8, 10))
    assert found.unit == "area"
    assert (found.reference, found.test) == pytest.approx((12, 10))
    assert overlap.dice(found) == pytest.approx(2 * 2 / 22)


def testSharedAreaIsNeverMoreThanEither(monkeypatch):
    """Rounding of the shared area must not make a count negative."""
    square = meshing.fromPolyData(shapes.loops([(0, 0), (2, 0), (2, 2), (0, 2)]))
    for large, small in ((4.5, 4), (3, 3)):
        monkeypatch.setattr(overlap.contours, "sharedArea", lambda *_, large=large: large)
        found = areas(square, square)
        assert found == Counts(small, square.volume - small, square.volume - small, "area")


def testMeasuresByHand():
    """3 in both, 1 in the test only, 2 in the reference only."""
    counts = Counts(3, 1, 2)
    assert (counts.reference, counts.test) == (5, 4)
    assert overlap.dice(counts) == 6 / 9
    assert overlap.intersectionOverUnion(counts) == 3 / 6
    assert overlap.sensitivity(counts) == 3 / 5
    assert overlap.precision(counts) == 3 / 4


@pytest.mark.parametrize(
    ("function", "counts", "message"),
    [
        (overlap.dice, Counts(0, 0, 0), "both structures enclose no voxel"),
        (overlap.intersectionOverUnion, Counts(0, 0, 0, "area"), "both structures enclose no area"),
        (overlap.sensitivity, Counts(0, 1, 0), "the reference encloses no voxel"),
        (overlap.precision, Counts(0, 0, 1), "the test encloses no voxel"),
        (overlap.precision, Counts(0, 0, 0), "both structures enclose no voxel"),
        # a formula of its own, whose denominator is 0 where nothing is empty
        (lambda counts: overlap._ratio(1, counts.test - counts.reference, counts), Counts(1, 1, 1), "its formula is 0"),
    ],
)
def testUndefinedWithoutAny(function, counts, message):
    with pytest.raises(Undefined, match=message):
        function(counts)


@pytest.mark.parametrize("origin", [0.0, -512.3, 10000.1])
def testTheSameShapeElsewhereHasTheSameVolume(origin):
    """Sums over other coordinates round differently, which is no difference to report."""
    blob = np.pad(shapes.blob(1), 4)
    comparison = compare(*(shapes.imageOf(np.roll(blob, n, 2), (0.7,) * 3, (origin,) * 3) for n in (0, 3)))
    assert comparison["VolumeDifference"].value == 0 and "has the same volume" in comparison.summary


def testAVoxelIsADifferenceOfVolumes():
    assert overlap.volumeDifference(1e9, 1e9 + 1) == 1
    assert overlap.volumeDifference(0.0, 0.0) == 0 and overlap.volumeDifference(0.0, 1e-30) == 1e-30


def testAreasOfContoursAndOfNothing():
    """A mesh without points is empty whatever it would have been."""
    contour, nothing = shapes.loops([(0, 0), (5, 0), (5, 5)]), shapes.meshOf([])
    for pair in ((contour, nothing), (nothing, contour)):
        result = compare(*pair, Settings(families=("overlap", "agreement")))
        assert result["DSC"].value == 0 and result["DSC"].reason
        assert result["VolumeReference"].value + result["VolumeTest"].value == pytest.approx(12.5)
