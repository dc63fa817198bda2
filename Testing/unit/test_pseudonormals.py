"""Inside or outside by what is nearest, against the solid angles of all triangles."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import shapes
from test_orientation import BOX, capped, rounded

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.surfaces import Surface


def isInside(surface: Surface, places: np.ndarray) -> np.ndarray:
    return naive.isInside(places, surface.points[surface.cells])


def crown() -> Surface:
    """A star of very sharp tips and notches around a thin stem: many corners are seen from in front and from behind."""
    random = np.random.default_rng(1)
    ball = meshing.fromPolyData(shapes.ballMesh(5, resolution=18))
    spikes = random.uniform(0.3, 2.0, (len(ball.points), 1)) * (1, 1, 0.2)
    center = ball.points.mean(axis=0)
    return Surface(center + spikes * (ball.points - center), ball.cells)


def blob() -> Surface:
    return shapes.boundaryOf(shapes.blob(3, (14, 13, 12), 0.4, 2.0), (1.0, 1.0, 2.5))


def box() -> Surface:
    return shapes.boundaryOf(shapes.box((1, 1, 1), (5, 4, 3)))


def ridges() -> Surface:
    """A box with triangles as thin as a line along its edges, which face anywhere."""
    return rounded(capped(BOX, 1))


def speck() -> Surface:
    """A ball beside a flat part that cuts through itself, such as smoothing makes of a single voxel."""
    ball = meshing.fromPolyData(shapes.ballMesh(5, resolution=18))
    small = np.random.default_rng(3).normal((9, 2, 1), (0.05, 1e-3, 1e-7), ball.points.shape)
    cells = np.concatenate([ball.cells, ball.cells + len(small)])
    return meshing.fromPolyData(shapes.meshOf(np.concatenate([ball.points, small]), cells))


@pytest.mark.parametrize("make", [crown, blob, box, ridges, speck])
@pytest.mark.parametrize("away", [0.05, 1.0, 20.0])
def testInsideIsWhereTheSurfaceWindsAround(make, away):
    surface = make()
    random = np.random.default_rng(2)
    places = surface.points[random.integers(0, len(surface.points), 400)] + away * random.normal(size=(400, 3))
    signed = ClosestSurface(surface).signedDistances(places)
    isSure = np.abs(signed) > 1e-9
    expected = isInside(surface, places)
    assert (signed < 0)[isSure].tolist() == expected[isSure].tolist()
    if away <= 1:
        assert 20 < np.count_nonzero(expected) < 380


def testNextToCornersAndSides():
    """Where the nearest is a corner or a side, and triangles around it face either way."""
    surface = crown()
    a, b = surface.points[surface.cells[:, 0]], surface.points[surface.cells[:, 1]]
    random = np.random.default_rng(3)
    places = np.concatenate([a, (a + b) / 2]) + 1e-3 * random.normal(size=(2 * len(a), 3))
    signed = ClosestSurface(surface).signedDistances(places)
    assert ((signed < 0) == isInside(surface, places)).all()
