"""The triangle next to a point, found through the corners next to it, against all triangles."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib.base import progress
from SegmentMetricsLib.geometry import nearest
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.meshing import fromMask, fromPolyData
from SegmentMetricsLib.geometry.nearest import NearestTriangles

BLOB = shapes.blob(3, (14, 13, 12), 0.4, 2.0)
SURFACE = shapes.boundaryOf(BLOB, (1.0, 1.0, 2.5))


@pytest.fixture(autouse=True, params=["with a search tree", "without one"])
def road(request, monkeypatch):
    monkeypatch.setattr(nearest, "EVERY", 0 if request.param == "with a search tree" else 10_000_000)


# turned, mirrored and sheared grids have triangles of their own
AXES = {
    "straight": np.diag([1.0, 1.0, 2.5]),
    "mirrored": np.diag([-0.7, 0.7, 3.0]),
    "turned": np.linalg.qr(np.array([[1.0, 2, 3], [0, 1, 4], [5, 6, 0]]))[0],
    "needles": np.diag([0.01, 1.0, 3.0]),
    "sheared": np.array([[1.0, 0, 0.4], [0, 1.0, 0.2], [0, 0, 2.0]]),
}


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("away", [0.0, 0.3, 30.0, 1000.0])
def testNearestOfALattice(name, away):
    surface = fromMask(Mask.fromArray(BLOB, shapes.gridOf(origin=(30.0, -20.0, 10.0), direction=AXES[name])))
    random = np.random.default_rng(4)
    points = surface.points[random.integers(0, len(surface.points), 100)] + away * random.normal(size=(100, 3))
    found = NearestTriangles(surface.points, surface.cells).find(points)
    distances = naive.distancesTo(points, surface.points[surface.cells])
    assert distances[np.arange(100), found] == pytest.approx(distances.min(axis=1), abs=1e-9)


@pytest.mark.parametrize("count", [1, 3000])
def testTheSearchCanBeStopped(count):
    closest = ClosestSurface(SURFACE)
    with progress.stoppable(lambda: True), pytest.raises(progress.Cancelled):
        closest.distances(np.zeros((count, 3)))


@pytest.mark.parametrize("scale", [0.01, 1.0])
@pytest.mark.parametrize("away", [0.5, 5.0, 200.0])
def testAllTrianglesWithinADistance(away, scale):
    corners = scale * SURFACE.points
    random = np.random.default_rng(7)
    points = corners[random.integers(0, len(corners), 60)] + scale * away * random.normal(size=(60, 3))
    distances = naive.distancesTo(points, corners[SURFACE.cells])
    squared = (distances.min(axis=1) * random.uniform(1.0, 1.3, 60)) ** 2 + 1e-9 * scale**2
    triangles, owners = NearestTriangles(corners, SURFACE.cells).within(points, squared)
    found = np.zeros(distances.shape, bool)
    found[owners, triangles] = True
    isSure = np.abs(distances**2 - squared[:, None]) > 1e-9 * (scale * away) ** 2
    assert (found == (distances**2 <= squared[:, None]))[isSure].all() and found.any(axis=1).all()


@pytest.mark.parametrize("size", [4000, *rarely((40, 400_000))])
def testLargeTrianglesElsewhereDoNotMatter(size):
    """Corners are searched by what the triangles around them can be nearer, not by the largest triangle of all."""
    count = len(SURFACE.points)
    low = SURFACE.points.min(axis=0)
    large = low + (0, 0, -3) + size * np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0.0]])
    points, cells = np.concatenate([SURFACE.points, large]), np.concatenate([SURFACE.cells, [count + np.arange(3)]])
    random = np.random.default_rng(4)
    places = SURFACE.points[random.integers(0, count, 400)] + random.normal(size=(400, 3))
    search = NearestTriangles(points, cells)
    looked = []
    search._cornersWithin = lambda some, limit: looked.append(len(some))
    found = search.find(places)
    distances = naive.distancesTo(places, points[cells])
    assert distances[np.arange(400), found] == pytest.approx(distances.min(axis=1), abs=1e-9)
    assert not looked and 0 < np.count_nonzero(found == len(SURFACE.cells)) < 200


@pytest.mark.parametrize("seed", range(12))
def testNearestOfTrianglesOfAllSizes(seed):
    """Long and short, neighbors and far apart, some of them ties or without any area, in micrometers and in meters."""
    random = np.random.default_rng(seed)
    count, scale = int(random.integers(20, 400)), 10.0 ** random.uniform(-3, 3)
    points = scale * np.cumsum(random.normal(size=(count, 3)), axis=0)
    if seed % 3 == 0:
        points = np.round(points / scale) * scale
    start = random.integers(0, count, 500)
    cells = np.stack([start, start + random.integers(1, 4, 500), start + random.integers(1, 9, 500)], axis=1) % count
    cells[:: 50 + seed] = random.integers(0, count, cells[:: 50 + seed].shape)
    if seed % 4 == 1:  # of few of them; most points have none
        cells = cells[: seed // 2 + 1]
    places = points[random.integers(0, count, 60)] + random.normal(size=(60, 3)) * scale * 10.0 ** random.uniform(-3, 2)
    distances = naive.distancesTo(places, points[cells])
    search = NearestTriangles(points, cells)
    assert distances[np.arange(60), search.find(places)] == pytest.approx(distances.min(axis=1), rel=1e-9)


@pytest.mark.parametrize("sides", [(1000, 0.01, 3), (100, 0.01, 3), (500, 0.001, 500)])
def testNearestOfThinTriangles(sides):
    """Of which squared lengths alone do not tell the height: they were taken for others, millimeters away."""
    surface = fromPolyData(shapes.boxMesh((0, 0, 0), sides))
    random = np.random.default_rng(1)
    corners = surface.points[surface.cells[random.integers(0, len(surface.cells), 3000)]]
    weights = random.dirichlet((0.4, 0.4, 0.4), 3000)
    places = (weights[:, :, None] * corners).sum(axis=1) + 1e-3 * random.normal(size=(3000, 3))
    half = np.array(sides) / 2
    beyond = np.abs(places - half) - half
    expected = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    assert ClosestSurface(surface).signedDistances(places) == pytest.approx(expected, abs=1e-4)


def testGradientsOfSignedDistances():
    closest = ClosestSurface(SURFACE)
    random = np.random.default_rng(7)
    places = SURFACE.points[random.integers(0, len(SURFACE.points), 400)] + random.normal(0, 2, (400, 3))
    signed, gradients = closest.signedDistancesAndGradients(places)
    assert signed == pytest.approx(closest.signedDistances(places), abs=1e-12)
    assert np.linalg.norm(gradients, axis=1) == pytest.approx(1)
    # one millimeter further along is one millimeter more, unless another part is nearer from there
    step = 1e-4
    grown = closest.signedDistances(places + step * gradients) - signed
    assert np.quantile(np.abs(grown / step - 1), 0.95) < 1e-3
    # on the boundary a direction cannot be told
    signed, gradients = closest.signedDistancesAndGradients(SURFACE.points[:20])
    assert signed == pytest.approx(0, abs=1e-12) and not gradients.any()
