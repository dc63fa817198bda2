"""The sides that the reference faces below a test: table lookup against every triangle looked at."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings
from SegmentMetricsLib.case.given import asStructure
from SegmentMetricsLib.geometry.surfaces import outwardNormals
from SegmentMetricsLib.geometry.triangles import closestPoints
from SegmentMetricsLib.metrics.pair import Pair
from SegmentMetricsLib.metrics.signed import DIRECTIONS, sideBit, sidesBelow, sidesOf

# mm up to which the table lookup answers for sure
NEAR = 1.5


def pairOf(*given) -> Pair:
    settings = Settings(families="signed")
    return Pair(*(asStructure(one, "structure", None, settings) for one in given), settings)


def testSidesOfNormals():
    diagonal = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    normals = np.array([*DIRECTIONS.values(), diagonal, -diagonal, (0.6, 0.0, 0.8), (0.0, 0.0, 0.0)], float)
    names = ["".join(side for side in DIRECTIONS if sides & sideBit(side)) for sides in sidesOf(normals)]
    assert names == [*DIRECTIONS, "LP", "RA", "S", ""]


@pytest.mark.parametrize("direction", [None, shapes.rotation((1, 2, 3), 40), np.diag([-1.0, 1, 1])])
def testElementsFaceTheSidesOfTheirNormals(direction):
    """Looked up by case for masks: those of the triangles."""
    first = np.pad(shapes.blob(3, (9, 8, 7)), 1)
    second = first.copy()
    second[:, :, :5] = False
    pair = pairOf(*(shapes.imageOf(one, (1.0, 1.5, 2.0), direction=direction) for one in (first, second)))
    for one in pair.distances.directions:
        surface = one.surface
        every = np.arange(surface.count)
        assert (sidesOf(surface.normalsOf(every)) == sidesOf(outwardNormals(surface, every))).all()
        assert len(one.sharedCells) and len(one.sharedCells) + len(one.cells) == surface.count


@pytest.mark.parametrize("turned", [*rarely([False]), True], ids=["straight", "turned"])
def testLookupFindsTheSidesOfAllNearestPlaces(turned):
    axes = shapes.rotation((0, 0, 1), 23) * (1, 1, -1) if turned else None
    images = [shapes.imageOf(shapes.blob(seed, (9, 10, 8)), (1.0, 1.5, 2.0), direction=axes) for seed in (1, 2)]
    pair = pairOf(*images)
    boundaries, direction = pair.boundaries, pair.distances.directions[1]
    assert boundaries.lattice is not None
    found = sidesBelow(boundaries, direction)
    expected = everyTriangle(boundaries, pair.reference.surface, direction.centers)
    # of far points the search tree tells one place
    near = np.abs(boundaries.search(0).signedDistances(direction.centers)) <= NEAR
    assert near.mean() > 0.5
    assert (found[near] == expected[near]).all()
    assert (found != 0).all() and not (found & ~expected).any()
    assert len(np.unique(found)) > 6


def everyTriangle(boundaries, reference, centers) -> np.ndarray:
    """Return the sides of all triangles of the reference that are nearest to centers of elements of the test."""
    corners = reference.points[reference.cells]
    normals = outwardNormals(reference, np.arange(len(corners)))
    outside = np.where(boundaries.search(0).signedDistances(centers) < 0, -1, 1)
    result = np.zeros(len(centers), np.uint8)
    for number, (center, side) in enumerate(zip(centers, outside)):
        ways = center - closestPoints(np.broadcast_to(center, (len(corners), 3)), corners)
        lengths = np.linalg.norm(ways, axis=1)
        nearest = lengths <= lengths.min() + 1e-5
        touches = lengths[nearest, None] < 1e-4
        away = side * ways[nearest] / np.maximum(lengths[nearest, None], 1e-9)
        directions = np.where(touches, normals[nearest], away)
        result[number] = np.bitwise_or.reduce(sidesOf(directions))
    return result


@pytest.mark.parametrize("origin", [(0, 0, 0), (1e5, -1e5, 7e4)])
def testFarPointsBelongToTheSidesOfAllNearestPlaces(origin):
    """A voxel in the middle of a large cavity: each of its faces is as far from three walls."""
    array = np.pad(np.ones((31, 31, 31), bool), 1)
    array[2:-2, 2:-2, 2:-2] = False
    voxel = np.zeros_like(array)
    voxel[16, 16, 16] = True
    pair = pairOf(*(shapes.imageOf(a, origin=origin) for a in (array, voxel)))
    assert pair.boundaries.lattice is not None
    sides = sidesBelow(pair.boundaries, pair.distances.directions[1])
    assert [bin(side).count("1") for side in sides] == [3] * 8


def testElementsThatCutThroughTheReferenceFaceTheSideOfTheirMiddle():
    """All corners of a coarse ball are outside of a fine one, and the middles of its triangles inside."""
    pair = pairOf(shapes.ballMesh(10.0, resolution=96), shapes.ballMesh(10.1, resolution=12))
    test = pair.distances.directions[1]
    centers = test.centers
    assert (np.linalg.norm(centers, axis=1) < 9.9).any() and (np.linalg.norm(centers, axis=1) > 8).all()
    # of a ball around the origin, away from where two sides meet
    largest, second = -np.sort(-np.abs(centers), axis=1).T[:2]
    isClear = second < 0.95 * largest
    assert isClear.sum() > 100
    assert (sidesBelow(pair.boundaries, test)[isClear] == sidesOf(centers / 10)[isClear]).all()


def testElementsWithAMiddleOnTheOtherSideThanAllCorners():
    """A bump of the reference reaches through the middle of a large triangle on its top: it faces the head there."""
    array = np.zeros((12, 11, 11), bool)
    array[:10, :10, :10] = array[10, 3, 3] = True
    box = shapes.boxMesh((-0.6, -0.6, -0.6), (10.2, 10.2, 9.7))
    pair = pairOf(shapes.surfaceOf(shapes.imageOf(array)), box)
    test = pair.distances.directions[1]
    middle = np.linalg.norm(test.centers - (3, 3, 9.7), axis=1).argmin()
    assert pair.boundaries.search(0).signedDistances(test.centers[[middle]])[0] < 0
    side = sidesBelow(pair.boundaries, test)[middle]
    assert side & sideBit("S") and not side & sideBit("I")
