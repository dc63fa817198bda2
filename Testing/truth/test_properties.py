"""What holds for every pair and all settings, tried on random ones: ranges, bounds, symmetry, identity, order.

test_registry.py holds the shared pairs to the same promises. See strategies.py for a long search.
"""

from __future__ import annotations

import promises
import pytest
import shapes
import strategies as some
from hypothesis import event, given
from hypothesis import strategies as st

from SegmentMetricsLib import compare
from SegmentMetricsLib.geometry.surfaces import toPolyData
from SegmentMetricsLib.metrics.registry import findMetric

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("coarse")]


@st.composite
def pairs(draw):
    """Reference, test and critical structures of every kind that compare() takes: two of one kind, or mask and mesh."""
    kind = draw(st.sampled_from(["masks", "masks", "slices", "meshes", "mask and mesh", "contours"]))
    event(kind)
    if kind == "meshes":
        reference, test, critical = (toPolyData(draw(some.meshes())) for _ in range(3))
        return reference, test, critical
    planar = kind in ("slices", "contours")
    images = draw(some.pairsOfMasks(some.spacedPlacements() if planar else some.placements(), 7, planar)).images()
    if kind == "contours":
        return tuple(map(shapes.surfaceOf, images))
    if kind == "mask and mesh":
        which = draw(st.sampled_from([0, 1]))
        images[which] = shapes.surfaceOf(images[which])
    return tuple(images)


def compared(pair, settings):
    reference, test, critical = pair
    return compare(reference, test, settings, criticals={"Wall": critical})


@given(pairs(), some.settings())
def testRangesAndBounds(pair, settings):
    for key, measurement in compared(pair, settings).items():
        promises.requireSound(key, measurement)


@given(pairs(), some.settings())
def testExchangingReferenceAndTest(pair, settings):
    forward, reverse = compared(pair, settings), compared((pair[1], pair[0], pair[2]), settings)
    assert forward.keys() == reverse.keys()
    for key in forward:
        # the image is another one where only one of the two has one
        if not (findMetric(key).metric.dependsOnGrid and settings.grid == "reference"):
            promises.requireSymmetry(key, forward, reverse)


@given(pairs(), some.settings(asPublished=False))
def testNothingIsBetterThanTheSame(pair, settings):
    """But for the similarity index as published: its authors' formula gives single pixels and lines a score of 0."""
    reference, _, critical = pair
    same, other = compared((reference, reference, critical), settings), compared(pair, settings)
    for key in same:
        promises.requireIdentity(key, same, other)


@given(pairs(), some.settings())
def testTrendInTheParameter(pair, settings):
    found = {}
    for key, measurement in compared(pair, settings).items():
        found.setdefault(findMetric(key).metric, {})[key] = measurement
    for definition, measurements in found.items():
        promises.requireTrend(definition, measurements)


@given(pairs(), some.settings(betas=(1.0,), quantiles=(0.5, 1.0)))
@pytest.mark.smoke
def testWhatFollowsFromOthers(pair, settings):
    comparison = compared(pair, settings)
    promises.requireOrder(comparison)
    promises.requireSums(comparison)
