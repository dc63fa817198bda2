"""Boundary intersection over union against areas and volumes that are known, and against the full grid."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.meshing import fromMask, fromPolyData
from SegmentMetricsLib.metrics.bands import methods as bandmethods
from SegmentMetricsLib.metrics.bands.sizes import Bands
from SegmentMetricsLib.model.inputs import labelMasks


def biou(first, second, tolerance=2.0) -> float:
    settings = Settings(tolerances=(tolerance,), families=("boundary",))
    return compare(first, second, settings)[f"BIoU_{tolerance:g}mm"].value


@pytest.mark.parametrize("tolerance", [0.05, 0.3, 2.0])
def testBoxesWithKnownBandsOfAnyWidth(tolerance):
    first, second = shapes.boxMesh((0, 0, 0), (12, 12, 12)), shapes.boxMesh((1, 0, 0), (13, 12, 12))
    deep = 12 - 2 * tolerance
    # how far what is deep in either one reaches along x within what is in both; then as above
    along = 2 * (11 - tolerance) - max(0, 11 - 2 * tolerance) if tolerance < 1 else 2 * deep - (deep - 1)
    shared = 11 * 12 * 12 - along * deep**2
    band = 12**3 - deep**3
    assert biou(first, second, tolerance) == pytest.approx(shared / (2 * band - shared), abs=0.003)


def blobPair(spacing):
    """Return two masks of over 1,000 voxels that overlap, the second one shifted and worn off."""
    first = np.pad(shapes.blob(3, (20, 18, 16), 0.35, 3.0), 2)
    second = np.roll(first, 1, axis=2) & np.pad(shapes.blob(4, (20, 18, 16), 0.93, 2.0), 2)
    masks = tuple(labelMasks(shapes.imageOf(array, spacing), 0.5)[1] for array in (first, second))
    assert min(mask.count for mask in masks) > 1000
    return masks


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 2.0])
def testLookupAndSearchAgreeOnAutomaticSampling(tolerance):
    masks = blobPair((1.0, 1.0, 2.0))
    boundaries = BoundaryPair(*map(fromMask, masks), reach=tolerance)
    byLookup = bandmethods.bands(boundaries, masks, tolerance)
    boundaries.lattice = None
    bySearch = bandmethods.bands(boundaries, masks, tolerance)
    assert byLookup.overlap == pytest.approx(bySearch.overlap, abs=0.003)
    assert byLookup.union == pytest.approx(bySearch.union, rel=0.005)
    # what is wanted of structures of over 1,000 voxels: 0.2 %pt, and what costs nothing more by lookup
    assert 0 < byLookup.error < 0.00075 and 0 < bySearch.error < 0.00105
    assert bySearch.overlap.lower == pytest.approx(bySearch.overlap - 2 * bySearch.error)


def testBoundsOfAnOverlapAreNeverCloserThanWhatNobodyLookedAt():
    for error, expected in ((1e-6, 0.0003), (0.001, 0.002)):
        overlap = Bands(1.0, 2.0, error).overlap
        assert (overlap.lower, overlap, overlap.upper) == pytest.approx((0.5 - expected, 0.5, 0.5 + expected))
    # the same twice is known without looking, and a count of all sub-voxels has no bounds
    same = Bands(2.0, 2.0, 0.0).overlap
    assert (same.lower, same.upper) == (1, 1)
    assert not hasattr(Bands(1.0, 2.0).overlap, "lower")


@pytest.mark.parametrize("tolerance", [1e-6, 0.001, 0.02, 0.05, 0.2, 1.0, 5.0])
def testSingleVoxel(tolerance):
    # an octahedron of half-axis 1/2 and its neighbor, which it touches in a corner
    one = shapes.box((5, 5, 5), (5, 5, 5))
    assert biou(one, one, tolerance) == 1
    assert biou(one, shapes.box((6, 5, 5), (6, 5, 5)), tolerance) == 0
    # two voxels hold the octahedron's half and more: all within reach when tau exceeds the inner radius
    overlap = biou(one, shapes.box((5, 5, 5), (6, 5, 5)), tolerance)
    assert 0 < overlap < 0.5
    # random points with exact distances, 1.5 million; beyond 0.3 mm everything lies in the bands
    known = {0.02: 0.1674, 0.05: 0.1737, 0.2: 0.2207, 1.0: 0.25, 5.0: 0.25}
    if tolerance in known:
        assert overlap == pytest.approx(known[tolerance], abs=0.005)


@pytest.mark.parametrize("kind", ["mesh", "mask", "thick slice", "thin slice"])
def testBandsAsThinAsSurfacesAreAsLargeAsThese(kind):
    """A box 10 mm wide, and its lower 6 mm: the lower faces and part of the upright ones are those of both."""
    arrays = [np.zeros((14, 14, 14), bool) for _ in range(2)]
    arrays[0][2:12, 2:12, 2:12] = arrays[1][2:8, 2:12, 2:12] = True
    isFlat = "slice" in kind
    spacing = (1.0, 1.0, 1e-3 if kind == "thin slice" else 1.0)
    images = (shapes.imageOf(array[:, 7][None] if isFlat else array, spacing) for array in arrays)
    masks = tuple(labelMasks(image, 0.5)[1] for image in images)
    surfaces = [fromMask(mask) for mask in masks]
    # the edges and corners of masks are cut; those below the smaller one's upper face are of both
    edge, corner = 0.5**0.5, 3**0.5 / 8
    if kind == "mesh":
        surfaces = [fromPolyData(shapes.boxMesh((0, 0, 0), (10, 10, height))) for height in (10, 6)]
        sizes, shared = (600, 440), 100 + 4 * 60
    elif isFlat:
        sizes, shared = (36 + 4 * edge, 28 + 4 * edge), 9 + 2 * 5 + 2 * edge
    else:
        sizes = (6 * 81 + 12 * 9 * edge + 8 * corner, 2 * 81 + 4 * 45 + (8 * 9 + 4 * 5) * edge + 8 * corner)
        shared = 81 + 4 * 45 + 4 * (9 + 5) * edge + 4 * corner
    found = bandmethods.bands(BoundaryPair(*surfaces), masks, 0.002)
    assert found.intersection == pytest.approx(0.002 * shared, rel=0.002)
    assert found.union == pytest.approx(0.002 * (sum(sizes) - shared), rel=0.002)


def testSquaresInASlice():
    """Bands between two squares, 10 and 6 mm wide, without four corners each."""
    images = []
    for low in (2, 4):
        array = np.zeros((1, 14, 16), bool)
        array[0, 2:12, low : low + 10] = True
        images.append(shapes.imageOf(array, (1, 1, 4)))
    assert biou(*images) == pytest.approx(31.5 / (2 * 63.5 - 31.5), abs=0.002)
