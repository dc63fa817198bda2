"""Distances to triangles and the closest points on them, against a search over each triangle."""

from __future__ import annotations

import numpy as np
import pytest

from SegmentMetricsLib.geometry.triangles import closestPoints, distancesToTriangles

PARTS = 200
WEIGHTS = np.array([(a, b, PARTS - a - b) for a in range(PARTS + 1) for b in range(PARTS + 1 - a)]) / PARTS


def testClosestOfManyPlacesOnTheTriangle():
    random = np.random.default_rng(1)
    triangles = random.normal(size=(60, 3, 3))
    # as thin as a line, and as a point
    triangles[0, 2], triangles[1] = triangles[0, :2].mean(axis=0), triangles[1, 0]
    points = 2 * random.normal(size=(60, 3))
    places = np.einsum("pc,ncx->npx", WEIGHTS, triangles)
    expected = np.linalg.norm(places - points[:, None], axis=2).min(axis=1)
    found = closestPoints(points, triangles)
    assert distancesToTriangles(points, triangles) == pytest.approx(np.linalg.norm(found - points, axis=1), abs=1e-12)
    assert (distancesToTriangles(points, triangles) <= expected + 1e-12).all()
    assert distancesToTriangles(points, triangles) == pytest.approx(expected, abs=2 / PARTS)
    # on the triangle
    assert distancesToTriangles(found, triangles) == pytest.approx(0, abs=1e-12)


SHAPES = [((), (7,)), ((5,), ()), ((5, 1), (7,)), ((5, 1), (1, 7)), ((4, 1, 3), (4, 3, 1))]


@pytest.mark.parametrize(("one", "other"), SHAPES)
def testPointsAndTrianglesAreBroadcastTogether(one, other):
    random = np.random.default_rng(2)
    points, triangles = random.normal(size=(*one, 3)), random.normal(size=(*other, 3, 3))
    shape = np.broadcast_shapes(one, other)
    every = np.broadcast_to(points, (*shape, 3)), np.broadcast_to(triangles, (*shape, 3, 3))
    expected = distancesToTriangles(every[0].reshape(-1, 3), every[1].reshape(-1, 3, 3))
    assert distancesToTriangles(points, triangles) == pytest.approx(expected.reshape(shape), abs=1e-12)
