"""The sides of triangles, and the distances of triangles, against counting one by one."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import shapes

from SegmentMetricsLib.geometry import triangles
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.geometry.triangles import distancesToTriangles
from SegmentMetricsLib.model.inputs import labelMasks


def testSidesAreSharedByNeighbors():
    random = np.random.default_rng(4)
    cells = np.stack([random.permutation(50)[:3] for _ in range(200)])
    sides, numbers = triangles.uniqueSides(cells)
    assert numbers.shape == cells.shape
    assert len({tuple(side) for side in sides.tolist()}) == len(sides)
    ends = np.stack([cells, np.roll(cells, -1, axis=1)], axis=2)
    assert (sides[numbers] == np.sort(ends, axis=2)).all()


@pytest.mark.parametrize("count", [1, 2, 200, 1 << 16, (1 << 16) + 1, 1 << 31])
def testInOrder(count):
    first, second = np.random.default_rng(6).integers(0, count, (2, 500))
    first[100:200] = first[0]
    second[150:200] = second[100:150]
    order = triangles.inOrder(first, second).tolist()
    assert order == sorted(range(500), key=lambda row: (first[row], second[row]))


def testDistancesToTriangles():
    """One of them as thin as a line, one a point."""
    random = np.random.default_rng(5)
    triangles = random.uniform(0, 4, (12, 3, 3))
    triangles[0, 2], triangles[1] = triangles[0, :2].mean(axis=0), triangles[1, 0]
    points = random.uniform(-1, 5, (60, 3))
    found = distancesToTriangles(points[:, None], triangles[None])
    assert found == pytest.approx(naive.distancesTo(points, triangles), abs=1e-7)


def testSearchesWithAndWithoutSideAgree():
    surface = fromMask(labelMasks(shapes.imageOf(np.pad(shapes.blob(2), 1), (1.5, 1.5, 3.0)), 0.5)[1])
    tree = ClosestSurface(surface)
    random = np.random.default_rng(2)
    points = surface.points[random.integers(0, len(surface.points), 300)] + random.normal(0, 2, (300, 3))
    signed = tree.signedDistances(points)
    corners = surface.corners(np.arange(surface.count))
    assert np.abs(signed) == pytest.approx(naive.distancesTo(points, corners).min(axis=1), abs=1e-9)
    assert ((signed < 0) == naive.isInside(points, corners)).all()
    assert tree.distances(points) == pytest.approx(np.abs(signed), abs=1e-9)
    assert tree.distances(points[:0]).shape == (0,)
    assert distancesToTriangles(points, tree.nearestTriangles(points)) == pytest.approx(np.abs(signed), abs=1e-6)
