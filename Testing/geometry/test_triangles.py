"""Triangles: their sides, and the places on them that are nearest to points, against counting and brute force."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from SegmentMetricsLib.geometry import triangles
from SegmentMetricsLib.geometry.triangles import closestPoints, distancesToTriangles


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


def testNearestPlaces():
    """Of triangles, one of them as thin as a line and one a point, each with each point, and however they are given."""
    random = np.random.default_rng(5)
    corners = random.uniform(0, 4, (12, 3, 3))
    corners[0, 2], corners[1] = corners[0, :2].mean(axis=0), corners[1, 0]
    points = random.uniform(-1, 5, (60, 3))
    expected = naive.distancesTo(points, corners)
    assert distancesToTriangles(points[:, None], corners[None]) == pytest.approx(expected, abs=1e-7)
    for one, other in ((points[0], corners), (points, corners[3]), (points[:, None], corners)):
        wanted = expected[0] if one.ndim == 1 else expected[:, 3] if other.ndim == 2 else expected
        assert distancesToTriangles(one, other) == pytest.approx(wanted, abs=1e-7)
    for number, triangle in enumerate(corners):
        places = closestPoints(points, np.broadcast_to(triangle, (60, 3, 3)))
        assert np.linalg.norm(places - points, axis=1) == pytest.approx(expected[:, number], abs=1e-7)
        assert naive.distancesTo(places, triangle[None]) == pytest.approx(0, abs=1e-7)
