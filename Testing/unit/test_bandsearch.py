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
from SegmentMetricsLib.metrics.bands.bandvoxels import SIDE, BandVoxels

HOME = Grid((4, 4, 4), np.eye(4))
BOXES = ((0, 0, 0), (16, 16, 16)), ((1, 0, 0), (17, 16, 14))


def boxes() -> BoundaryPair:
    return BoundaryPair(*(fromPolyData(shapes.boxMesh(*corners)) for corners in BOXES))


def isWithin(places, corners, depth=0.0):
    low, high = np.array(corners)
    return ((places > low + depth) & (places < high - depth)).all(axis=1)


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
