"""Bounds where one boundary covers pieces of another: they hold, and how the cover is cut does not matter."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from scipy.spatial import Delaunay

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances.covers import coverBounds
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.edges import acrossSides
from SegmentMetricsLib.geometry.surfaces import Surface

MARGIN = 0.0005
FLAT = np.array([[-10.0, -10, 0], [10, -10, 0], [10, 10, 0], [-10, 10, 0], [0.3, 0.2, 0]])
FAN = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], np.int32)


def surfaceOver(random, count, heights) -> Surface:
    """Return a surface above 10 mm x 10 mm that is cut into triangles at random."""
    flat = random.uniform(-5, 5, (count, 2))
    cells = Delaunay(flat).simplices.astype(np.int32)
    sides = np.diff(flat[cells], axis=1)
    isDown = sides[:, 0, 0] * sides[:, 1, 1] < sides[:, 0, 1] * sides[:, 1, 0]
    cells[isDown] = cells[isDown][:, ::-1]
    return Surface(np.column_stack([flat, heights(*flat.T)]), cells)


def bounds(pieces, surface) -> np.ndarray:
    closest = ClosestSurface(surface)
    return coverBounds(pieces, closest.nearestTriangles(pieces.mean(axis=1)), closest, MARGIN)


def piece(*corners) -> np.ndarray:
    return np.array([corners], float)


class TestCoverBounds:
    @pytest.mark.parametrize("seed", range(12))
    def testNothingIsFarther(self, seed):
        """Smooth and rough covers, some with holes and some with triangles that face downward, turned at random."""
        random = np.random.default_rng(seed)
        size = 10 ** random.uniform(-3, 0.3)
        rough = lambda x, y: size * random.normal(size=len(x))  # noqa: E731
        smooth = lambda x, y: size * np.sin(x) * np.cos(y)  # noqa: E731
        surface = surfaceOver(random, 80, rough if seed % 2 else smooth)
        cells = surface.cells
        if seed % 3 == 0:
            cells = np.delete(cells, random.choice(len(cells), len(cells) // 10, False), axis=0)
        if seed % 4 == 0:
            cells[:3] = cells[:3, ::-1]
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        surface = Surface(surface.points @ turn.T + 50, cells)
        centers = np.column_stack([random.uniform(-5, 5, (300, 2)), np.zeros(300)])
        sizes = 10 ** random.uniform(-1.5, 0.5, (300, 1, 1))
        flatness = 10 ** random.uniform(-3, 0)
        pieces = (centers[:, None] + sizes * random.normal(size=(300, 3, 3)) * [1, 1, flatness]) @ turn.T + 50
        found = bounds(pieces, surface)
        isCovered = np.isfinite(found)
        assert isCovered.sum() > 30
        weights = np.concatenate([random.dirichlet(np.full(3, 0.7), 200), np.eye(3)])
        places = np.einsum("wc,kcx->kwx", weights, pieces[isCovered])
        largest = ClosestSurface(surface).distances(places.reshape(-1, 3)).reshape(isCovered.sum(), -1).max(axis=1)
        assert (largest <= found[isCovered] + 1e-9).all()
        # and little is left
        assert np.median(found[isCovered] - largest) <= MARGIN + 0.2 * size

    def testHowAPlaneIsCutDoesNotMatter(self):
        high = piece((-2, -1, 0.25), (2, -2, 0.5), (1, 3, 0.375))
        for points, cells in ((FLAT, FAN), (FLAT[:4], np.array([[0, 1, 2], [0, 2, 3]], np.int32))):
            assert bounds(high, Surface(points, cells))[0] == pytest.approx(0.5 + MARGIN, abs=1e-3)

    def testAHoleIsNoCover(self):
        high = piece((-2, -1, 0.5), (2, -2, 0.5), (1, 3, 0.5))
        for missing in range(4):
            assert np.isinf(bounds(high, Surface(FLAT, np.delete(FAN, missing, axis=0)))[0])

    def testWhatEndsBesideThePieceCovers(self):
        # both end on the same line
        flush = piece((-10, -10, 0), (10, -10, 0), (0, -8, 0))
        assert bounds(flush, Surface(FLAT, FAN))[0] == pytest.approx(MARGIN)
        assert np.isinf(bounds(flush - [0, 0.5, 0], Surface(FLAT, FAN))[0])

    def testWhatFoldsBackDoesNot(self):
        # the last triangle turns around and lies below the one before
        points = np.concatenate([FLAT[:4], [[-2.0, -2, -0.1]]])
        folded = Surface(points, np.array([[0, 1, 3], [1, 4, 3]], np.int32))
        assert np.isinf(bounds(piece((1, 1, 0), (4, 1, 0), (1, 4, 0)) - [2, 2, 0], folded)[0])

    def testNothingOfAPieceOrACoverWithoutArea(self):
        line = piece((0, 0, 0), (1, 0, 0), (2, 0, 0))
        assert np.isinf(bounds(line, Surface(FLAT, FAN))[0])
        thin = Surface(FLAT, np.array([[0, 1, 1]], np.int32))
        assert np.isinf(bounds(piece((0, -9, 0), (1, -9, 0), (0, -8, 0)), thin)[0])


def testAcrossSides():
    # the last two share a side with three triangles
    cells = np.array([[0, 1, 2], [2, 1, 3], [4, 5, 6], [5, 4, 7], [4, 5, 8]])
    expected = [[-1, 1, -1], [0, -1, -1], [-1, -1, -1], [-1, -1, -1], [-1, -1, -1]]
    assert acrossSides(cells).tolist() == expected
    closed = acrossSides(np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    assert np.sort(closed, axis=1).tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def testOneShapeWithTwoTriangulations():
    """Flat faces cut into triangles of one size, and of several, are the same, and that is certain."""
    from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkDecimatePro
    from vtkmodules.vtkFiltersModeling import vtkLinearSubdivisionFilter

    clean = vtkCleanPolyData()
    clean.SetInputData(shapes.boxMesh((0, 0, 0), (30, 20, 10)))
    finer = vtkLinearSubdivisionFilter()
    finer.SetInputConnection(clean.GetOutputPort())
    finer.SetNumberOfSubdivisions(3)
    coarser = vtkDecimatePro()
    coarser.SetInputConnection(finer.GetOutputPort())
    coarser.SetTargetReduction(0.4)
    coarser.PreserveTopologyOn()
    coarser.SetMaximumError(1e-9)
    coarser.Update()
    one, other = finer.GetOutput(), coarser.GetOutput()
    assert other.GetNumberOfCells() < 0.7 * one.GetNumberOfCells()
    found = compare(one, other, Settings(families=("boundary", "signed")))
    for key in ("HD", "OverMax", "UnderMax"):
        assert found[key].value == pytest.approx(0, abs=1e-5)
        assert found[key].upper <= 0.001
