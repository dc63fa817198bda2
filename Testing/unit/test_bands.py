"""Bands along boundaries and their overlap: against sizes that are known, by lookup and by search."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.meshing import fromMask, fromPolyData
from SegmentMetricsLib.metrics.bands import Bands
from SegmentMetricsLib.metrics.bands import methods as bandmethods


def biou(first, second, tolerance=2.0):
    return compare(first, second, Settings(tolerances=(tolerance,), metrics="BIoU"))[f"BIoU_{tolerance:g}mm"]


def sharedBox(*boxes) -> float:
    """Return the volume that boxes have in common."""
    low, high = np.max([low for low, _ in boxes], axis=0), np.min([high for _, high in boxes], axis=0)
    return float(np.maximum(high - low, 0).prod())


def overlapOfBoxes(first, second, tolerance: float) -> float:
    """Return the exact overlap of the bands of two boxes: a band is a box without a smaller one."""
    boxes = [np.array(box, float) for box in (first, second)]
    inner = [np.stack([low + tolerance, high - tolerance]) for low, high in boxes]
    bands = sum(sharedBox(box) - sharedBox(small) for box, small in zip(boxes, inner, strict=True))
    one, other = zip(boxes, inner, strict=True)
    signs = ((a, b, sign) for a, sign in zip(one, (1, -1), strict=True) for b in other)
    shared = sum(sign * (1 if b is other[0] else -1) * sharedBox(a, b) for a, b, sign in signs)
    return shared / (bands - shared)


# Of plates thinner than voxels the middle is less deep than a ramp reaches, which would count what is not there.
BOXES = {
    "cubes": (((0, 0, 0), (12, 12, 12)), ((1, 0, 0), (13, 12, 12))),
    "plates": (((0, 0, 0), (40, 30, 0.2)), ((0.5, 0.3, 0.05), (40.5, 30.3, 0.25))),
}


@pytest.mark.parametrize("tolerance", [0.05, 1.0, *rarely((0.08, 0.1, 0.13, 0.3, 2.0))])
@pytest.mark.parametrize("boxes", BOXES.values(), ids=BOXES)
def testBoxesWithKnownBands(boxes, tolerance):
    truth = overlapOfBoxes(*boxes, tolerance)
    found = biou(*(shapes.boxMesh(*box) for box in boxes), tolerance)
    # bounds are two standard errors away
    assert found.value == pytest.approx(truth, abs=min(0.004, found.upper - found.lower))
    assert found.upper - found.lower < 0.012


def testPartsFarApart():
    """They are measured as alone, though all of one grid around them would be between its voxels."""
    shared = 2 / (1 + 1 / overlapOfBoxes(*BOXES["cubes"], 1.0))  # in sizes of the band of one box
    one, other, far = (shapes.boxMesh(*box) for box in (*BOXES["cubes"], (3 * (900,), 3 * (912,))))
    found = biou(shapes.append(one, far), other, 1.0)
    assert found.value == pytest.approx(shared / (3 - shared), abs=0.004) and found.upper - found.lower < 0.012


@pytest.mark.parametrize("tolerance", [2.0, *rarely((0.2, 7.0))])
def testBallsWithKnownBands(tolerance):
    # polyhedra that are nearly balls; the smaller one lies in the middle of the larger one
    radii = 10.0, 9.0
    shells = [radius**3 - (radius - tolerance) ** 3 for radius in radii]
    shared = max(0.0, radii[1] ** 3 - (radii[0] - tolerance) ** 3)
    found = biou(*(shapes.ballMesh(radius, resolution=64) for radius in radii), tolerance)
    assert found.value == pytest.approx(shared / (sum(shells) - shared), abs=0.004)
    swapped = biou(*(shapes.ballMesh(radius, resolution=64) for radius in radii[::-1]), tolerance)
    assert (swapped.value, swapped.lower) == (found.value, found.lower)


def testTheSameTwiceOverlapsAsAWhole():
    """Also with the triangles of one in another order."""
    ball = fromPolyData(shapes.ballMesh(9))
    found = biou(shapes.ballMesh(9), shapes.meshOf(ball.points, ball.cells[::-1]))
    assert (found.value, found.lower, found.upper) == (1, 1, 1)


@pytest.mark.parametrize("tolerance", [1e-6, 0.05, 1.0, *rarely((0.001, 0.02, 0.2, 5.0))])
def testSingleVoxel(tolerance):
    # an octahedron of half-axis 1/2 and its neighbor, which it touches in a corner
    one = shapes.box((5, 5, 5), (5, 5, 5))
    assert biou(one, one, tolerance).value == 1
    assert biou(one, shapes.box((6, 5, 5), (6, 5, 5)), tolerance).value == 0
    # two voxels hold the octahedron's half and more: all within reach when tau exceeds the inner radius
    overlap = biou(one, shapes.box((5, 5, 5), (6, 5, 5)), tolerance).value
    # random points with exact distances, 1.5 million; beyond 0.3 mm everything lies in the bands
    known = {0.02: 0.1674, 0.05: 0.1737, 0.2: 0.2207, 1.0: 0.25, 5.0: 0.25}
    assert 0 < overlap < 0.5 and overlap == pytest.approx(known.get(tolerance, overlap), abs=0.005)


def testSquaresInAPlane():
    """12 mm wide contours with whole corners; in masks of 10 x 10 pixels four corners each are cut."""
    squares = [shapes.loops([(x, 0), (x + 12, 0), (x + 12, 12), (x, 12)], z=3.0) for x in (0, 1)]
    masks = [shapes.box((low, 2, 0), (low + 9, 11, 0), (16, 14, 1), (1, 1, 4)) for low in (2, 4)]
    cubes = {"contours": (11 * 12 - (2 * 8 * 8 - 7 * 8), 12**2 - 8**2), "masks": (31.5, 63.5)}
    for pair, (shared, band) in zip((squares, masks), cubes.values(), strict=True):
        found, truth = biou(*pair), shared / (2 * band - shared)
        assert found.value == pytest.approx(truth, abs=0.004) and found.lower <= truth <= found.upper


@pytest.mark.parametrize("kind", ["mesh", "mask", "thick slice", "thin slice"])
def testBandsAsThinAsSurfacesAreAsLargeAsThese(kind):
    """A box 10 mm wide, and its lower 6 mm: the lower faces and part of the upright ones are those of both."""
    arrays = [np.zeros((14, 14, 14), bool) for _ in range(2)]
    arrays[0][2:12, 2:12, 2:12] = arrays[1][2:8, 2:12, 2:12] = True
    isFlat = "slice" in kind
    spacing = (1.0, 1.0, 1e-3 if kind == "thin slice" else 1.0)
    images = (shapes.imageOf(array[:, 7][None] if isFlat else array, spacing) for array in arrays)
    masks = tuple(map(shapes.maskOf, images))
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
    found = bandmethods.bands(BoundaryPair(*surfaces), masks[0].grid, [mask.size for mask in masks], 0.002)
    assert found.intersection == pytest.approx(0.002 * shared, rel=0.002)
    assert found.union == pytest.approx(0.002 * (sum(sizes) - shared), rel=0.002)


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 2.0])
def testLookupAndSearchAgreeOnAutomaticSampling(tolerance):
    first = np.pad(shapes.blob(3, (20, 18, 16), 0.35, 3.0), 2)
    second = np.roll(first, 1, axis=2) & np.pad(shapes.blob(4, (20, 18, 16), 0.93, 2.0), 2)
    masks = tuple(shapes.maskOf(array, (1.0, 1.0, 2.0)) for array in (first, second))
    assert min(mask.count for mask in masks) > 1000
    boundaries = BoundaryPair(*map(fromMask, masks), reach=tolerance)
    given = masks[0].grid, [mask.size for mask in masks], tolerance
    byLookup = bandmethods.bands(boundaries, *given)
    boundaries.lattice = None
    bySearch = bandmethods.bands(boundaries, *given)
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
