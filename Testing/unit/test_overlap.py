"""Overlap: counts and areas that can be told by hand, and what is undefined without any."""

from __future__ import annotations

import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.metrics import overlap
from SegmentMetricsLib.metrics.overlap import Counts, areas, ratio


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


@pytest.mark.parametrize(
    ("function", "counts", "message"),
    [
        (overlap.dice, Counts(0, 0, 0), "both structures enclose no voxel"),
        (overlap.intersectionOverUnion, Counts(0, 0, 0, "area"), "both structures enclose no area"),
        (overlap.sensitivity, Counts(0, 1, 0), "the reference encloses no voxel"),
        (overlap.precision, Counts(0, 0, 1), "the test encloses no voxel"),
        (overlap.precision, Counts(0, 0, 0), "both structures enclose no voxel"),
        # a formula of its own, whose denominator is 0 where nothing is empty
        (lambda counts: ratio(1, counts.test - counts.reference, counts), Counts(1, 1, 1), "its formula is 0"),
    ],
)
def testUndefinedWithoutAny(function, counts, message):
    with pytest.raises(Undefined, match=message):
        function(counts)


def testAVoxelIsADifferenceOfVolumes():
    assert overlap.volumeDifference((1e9, 1e9 + 1)) == 1
    assert overlap.volumeDifference((0.0, 0.0)) == 0 and overlap.volumeDifference((0.0, 1e-30)) == 1e-30


def testAreasOfContoursAndOfNothing():
    """A mesh without points is empty whatever it would have been."""
    contour, nothing = shapes.loops([(0, 0), (5, 0), (5, 5)]), shapes.meshOf([])
    for pair in ((contour, nothing), (nothing, contour)):
        result = compare(*pair, Settings(families=("overlap", "agreement")))
        assert result["DSC"].value == 0 and result["DSC"].reason
        assert result["VolumeReference"].value + result["VolumeTest"].value == pytest.approx(12.5)
