"""Bands by search: voxels on a grid that runs askew, and how deep they lie as interpolated."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.metrics.bands import bandsearch, bandvoxels
from SegmentMetricsLib.metrics.bands import depths as banddepths
from SegmentMetricsLib.metrics.bands.bandvoxels import SIDE, BandVoxels

HOME = Grid((4, 4, 4), np.eye(4))
BOXES = ((0, 0, 0), (16, 16, 16)), ((1, 0, 0), (17, 16, 14))


def boxes() -> BoundaryPair:
    return BoundaryPair(*(fromPolyData(shapes.boxMesh(*corners)) for corners in BOXES))


def isWithin(places, corners, depth=0.0):
    low, high = np.array(corners)
    return ((places > low + depth) & (places < high - depth)).all(axis=1)


def testAxesAreAtRightAnglesAndOblique():
    sheared = np.array([[1, 0.2, 0, 5], [0, 2, 0.3, 6], [0, 0, 3, 7], [0, 0, 0, 1]])
    for home in (HOME, Grid((4, 4, 4), sheared), Grid((4, 1, 4), sheared, planar=True)):
        axes = bandvoxels.askewAxes(home)
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
        if home.planar:
            np.testing.assert_allclose(axes[:, :2].T @ np.cross(*home.direction[:, ::2].T), 0, atol=1e-12)
    # neither along those of a box nor along the diagonals of its faces
    for direction in ((1, 0, 0), (1, 1, 0), (1, -1, 0), (1, 1, 1), (1, 1, -1)):
        for turn in range(3):
            cosines = np.abs(bandvoxels.turned().T @ np.roll(direction, turn)) / np.linalg.norm(direction)
            assert cosines.min() > 0.01 and cosines.max() < 0.995


@pytest.mark.parametrize("step", [0.3, 1.0])
def testVoxelsAreThoseInsideTheBoundaries(step):
    voxels = BandVoxels.around(boxes(), HOME, step)
    index = np.argwhere(np.ones(voxels.codes.shape, bool))
    places, codes = voxels.places(index), voxels.codes.ravel()
    assert voxels.step == pytest.approx(step) and (np.array(voxels.codes.shape) % SIDE == 0).all()
    for number, corners in enumerate(BOXES):
        assert (isWithin(places, corners) == (codes >> number & 1)).all()
        # all voxels around a block that is known to be deep lie inside
        for depth in (0.5, 3.0):
            isDeep = voxels.deeper(number, depth)[tuple(index.T // SIDE)]
            assert isWithin(places[isDeep], corners, depth).all() and (step == 1 or depth == 3 or isDeep.any())
        assert (voxels.holding(number)[tuple(index.T // SIDE)] >= (codes >> number & 1)).all()
    isIn = [isWithin(places, corners) for corners in BOXES]
    assert voxels.counts == (np.count_nonzero(isIn[0] & isIn[1]), np.count_nonzero(isIn[0] | isIn[1]))
    chosen = np.array([0, 1]), np.array([1, 1]), np.array([1, 0])
    first = voxels.codes[:SIDE, SIDE : 2 * SIDE, SIDE : 2 * SIDE]
    assert (voxels.inBlocks(chosen)[0] == first.ravel()).all()


def testVoxelsAreNeitherTooManyNorTooFew():
    for step in (1e-6, 1e6):
        count = BandVoxels.around(boxes(), HOME, step).codes.size
        assert bandvoxels.FEWEST_VOXELS <= count <= 1.5 * bandvoxels.MOST_VOXELS


def testCountingErrsByAsMuchAsIsSaid():
    pair = boxes()
    volumes = np.array([surface.volume for surface in pair.surfaces])
    sizes = [float(surface.sizes.sum()) for surface in pair.surfaces]
    ratios = []
    for step in np.linspace(0.4, 1.0, 25):
        codes = BandVoxels.around(pair, HOME, step).codes
        counted = [np.count_nonzero(codes >> number & 1) * step**3 for number in (0, 1)]
        ratios += list((counted - volumes) / [bandvoxels.noise(step, size, 3) for size in sizes])
    assert 0.2 < np.std(ratios) < 1.5
    assert bandvoxels.stepFor(bandvoxels.noise(0.7, 200.0, 3), 200.0, 3) == pytest.approx(0.7)
    assert bandvoxels.stepFor(bandvoxels.noise(0.7, 200.0, 2), 200.0, 2) == pytest.approx(0.7)


def testDepthsAreKnownWhereBandsEnd():
    pair, tolerance = boxes(), 2.0
    voxels = BandVoxels.around(pair, HOME, 0.3)
    depths = banddepths.Depths(pair.search(0), voxels, 0, tolerance, 2000.0, 0.0005)
    index = np.argwhere(np.ones(voxels.codes.shape, bool))
    signed = pair.search(0).signedDistances(voxels.places(index)).reshape(voxels.codes.shape)
    assert depths.error > 0 and (depths.scales > 0).all()
    rows = depths.rows.ravel()
    blocks = [signed[tuple(slice(SIDE * n, SIDE * n + SIDE) for n in block)] for block in np.argwhere(depths.rows > -2)]
    for row, isDeep, block in zip(rows, depths.isDeep.ravel(), blocks, strict=True):
        if row < 0:
            # as a whole deeper, or less deep, than the band
            assert (block < -tolerance).all() if isDeep else (block > -tolerance).all()
            continue
        off = np.abs(depths.above[row] - (block.ravel() + tolerance))
        parts = bandsearch.partOfVoxels(3)
        isClose = np.abs(block.ravel() + tolerance) < 0.3
        assert (off[isClose] < 0.05 + 12 * depths.scales[row][parts[isClose]]).all()


def overlapOf(first, second, tolerance=2.0):
    return compare(first, second, Settings(tolerances=(tolerance,), families=("boundary",)))[f"BIoU_{tolerance:g}mm"]


def testTheSameTwiceOverlapsAsAWhole():
    # in another order of triangles
    for other in (shapes.ballMesh(9), shapes.meshOf(*reversedMesh(shapes.ballMesh(9)))):
        found = overlapOf(shapes.ballMesh(9), other)
        assert (found.value, found.lower, found.upper) == (1, 1, 1)


def reversedMesh(mesh):
    """Return the points of a mesh and its triangles, the last ones first."""
    surface = fromPolyData(mesh)
    return surface.points, surface.cells[::-1]


@pytest.mark.parametrize("tolerance", [0.2, 2.0, 7.0])
def testBallsWithKnownBands(tolerance):
    # polyhedra that are nearly balls; the smaller one lies in the middle of the larger one
    radii = 10.0, 9.0
    shells = [radius**3 - (radius - tolerance) ** 3 for radius in radii]
    shared = max(0.0, radii[1] ** 3 - (radii[0] - tolerance) ** 3)
    found = overlapOf(*(shapes.ballMesh(radius, resolution=64) for radius in radii), tolerance)
    assert found.value == pytest.approx(shared / (sum(shells) - shared), abs=0.004)
    swapped = overlapOf(*(shapes.ballMesh(radius, resolution=64) for radius in radii[::-1]), tolerance)
    assert (swapped.value, swapped.lower) == (found.value, found.lower)


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


@pytest.mark.parametrize("tolerance", [0.05, 1.0, *rarely((0.08, 0.1, 0.13))])
def testPlatesThinnerThanVoxels(tolerance):
    """Where the middle of a plate is less deep than a ramp reaches, a ramp would count what is not there."""
    plates = ((0, 0, 0), (40, 30, 0.2)), ((0.5, 0.3, 0.05), (40.5, 30.3, 0.25))
    truth = overlapOfBoxes(*plates, tolerance)
    found = overlapOf(*(shapes.boxMesh(*plate) for plate in plates), tolerance)
    assert found.lower <= truth <= found.upper
    assert found.value == pytest.approx(truth, abs=0.004) and found.upper - found.lower < 0.012


def testContoursWithKnownBands():
    squares = [shapes.loops([(x, 0), (x + 12, 0), (x + 12, 12), (x, 12)], z=3.0) for x in (0, 1)]
    shared, band = 11 * 12 - (2 * 8 * 8 - 7 * 8), 12**2 - 8**2
    found = overlapOf(*squares)
    assert found.value == pytest.approx(shared / (2 * band - shared), abs=0.004)
    assert found.lower <= shared / (2 * band - shared) <= found.upper
