"""How time and memory grow: ratios within one process, never seconds, which say more about the machine."""

from __future__ import annotations

import itertools
from statistics import median

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, Structure, compare, compareObservers
from SegmentMetricsLib.model.inputs import labelMask, labelMasks

pytestmark = pytest.mark.nightly

ROUNDS = 3
SETTINGS = Settings(families=("boundary", "overlap"))


@pytest.fixture(scope="module")
def pairs(benchmark):
    return benchmark("pairs")


@pytest.fixture(scope="module")
def measure(benchmark):
    return benchmark("measure")


def ratio(measure, work, other) -> float:
    """Return how many times as long as the other some work takes: in turn, the median of several rounds."""
    work(), other()  # imports and tables
    return median(measure.clock(work)[0] / measure.clock(other)[0] for _ in range(ROUNDS))


@pytest.mark.parametrize(("method", "triangles"), [("fast", 2e4), ("general", 2.5e3)])
def testTimeAndMemoryGrowWithTheSurfaces(pairs, measure, method, triangles):
    """Eight times the triangles: eight times the time and memory, not the 64 times of something quadratic."""
    small, large = pairs.ellipsoids(triangles), pairs.ellipsoids(8 * triangles)
    times = large.triangles / small.triangles
    assert 6 < times < 10
    works = [measure.workOf(pair, method) for pair in (large, small)]
    assert ratio(measure, *works) / times < 2
    assert np.divide(*map(measure.peakBytes, works)) / times < 1.5


@pytest.mark.parametrize("method", ["fast", "general"])
def testFarApartIsNoCliff(pairs, measure, method):
    """30 mm apart instead of 2 mm."""
    near = pairs.ellipsoids(5e3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "APART", np.array([26.0, -12.0, 9.0]))
        far = pairs.ellipsoids(5e3)
    assert far.triangles == pytest.approx(near.triangles, rel=0.02)
    apart, close = (compare(*pair.images, SETTINGS)["MASD"].value for pair in (far, near))
    assert apart > 5 * close
    # three times is what is wanted; noise may add to it
    assert ratio(measure, measure.workOf(far, method), measure.workOf(near, method)) < 4.5


def testBandsOfVoxelCentersAreNoCliff(pairs, measure):
    """Deep inside a large structure all triangles are about equally far; MeshMetrics asks for every center there."""
    pair = pairs.ellipsoids(1e5)
    preset = Settings.preset("MeshMetrics-1.4.1", families=SETTINGS.families)
    assert ratio(measure, lambda: compare(*pair.images, preset), lambda: compare(*pair.images, SETTINGS)) < 1


@pytest.mark.smoke
def testOneLabelIsFoundSoonerThanAll(measure):
    """One structure of a label map after the other, each with a call of its own; a single call takes a millisecond."""
    labels = np.zeros((60, 200, 200), np.uint8)
    for number in range(1, 26):
        labels[2 * number : 2 * number + 4, 7 * number : 7 * number + 9, 10:90] = number
    image = shapes.imageOf(labels)
    works = lambda: [labelMask(image, 13, 0.5) for _ in range(20)], lambda: [labelMasks(image, 0.5) for _ in range(20)]
    assert ratio(measure, *works) < 0.6


def testBothOrdersOfAPairCostLittleMoreThanOne(pairs, measure):
    """Six observers: thirty ordered pairs, of which fifteen are measured and the others follow, with the consensus."""
    images = [image for pair in map(pairs.ellipsoids, (5e3, 5.5e3, 6e3)) for image in pair.images]
    observers = [Structure("Blob", labelMasks(image, 0.5)[1]) for image in images]
    pairs = list(itertools.combinations(observers, 2))
    works = lambda: compareObservers(observers, SETTINGS), lambda: [compare(*pair, SETTINGS) for pair in pairs]
    assert ratio(measure, *works) < 2
