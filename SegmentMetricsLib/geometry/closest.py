"""Distance from any point to a boundary."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import reference, vtkDoubleArray
from vtkmodules.vtkCommonDataModel import vtkGenericCell, vtkPolyData, vtkStaticCellLocator
from vtkmodules.vtkFiltersCore import vtkImplicitPolyDataDistance

from ..cores import allCores
from ..progress import checkpoint
from .nearest import NearestTriangles
from .surfaces import Surface, toPolyData
from .triangles import distancesToTriangles

# Points asked at a time: VTK keeps Python's lock while it answers, and a user interface stands still that long.
CHUNK = 4096
# Fewer points find the triangle next to them sooner one by one than together.
ONE_BY_ONE = 48
# The search for points one by one in more triangles takes longer to prepare than the other.
FEW_TRIANGLES = 20_000
# Fewer points are answered sooner than threads are started.
FEW = 2048


class ClosestSurface:
    """Answers how far points are from one boundary.

    surface: triangles or contours, not empty. Coordinates are taken relative to its center, so that boundaries far from
    the origin keep their digits. Contours become a low wall across their plane: for points in that plane the distance
    to the wall is the distance to the contours.
    """

    def __init__(self, surface: Surface):
        self.center = surface.points.mean(axis=0)
        self.isClosed = surface.isClosed
        local = Surface(surface.points - self.center, surface.cells, surface.normal)
        self._triangles = local if local.dimension == 3 else wall(local)

    @cached_property
    def _polyData(self) -> vtkPolyData:
        return toPolyData(self._triangles)

    @cached_property
    def _distance(self) -> vtkImplicitPolyDataDistance:
        distance = vtkImplicitPolyDataDistance()
        distance.SetInput(self._polyData)
        return distance

    def signedDistances(self, points: np.ndarray) -> np.ndarray:
        """Return distances (n,) in mm of LPS points (n, 3): negative inside; of open surfaces always positive."""
        values = np.empty(len(points))
        output = vtkDoubleArray()
        with allCores() if len(points) > FEW else nullcontext():
            for first in range(0, len(points), CHUNK):
                checkpoint()
                chosen = points[first : first + CHUNK] - self.center
                self._distance.FunctionValue(numpy_to_vtk(np.ascontiguousarray(chosen)), output)
                values[first : first + CHUNK] = vtk_to_numpy(output)
        return values if self.isClosed else np.abs(values)

    @cached_property
    def _nearest(self) -> NearestTriangles:
        return NearestTriangles(self._triangles.points, self._triangles.cells, self._oneByOne)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Return distances (n,) in mm of LPS points (n, 3), not negative."""
        local = points - self.center
        triangles = self._nearestTo(local)
        result = np.empty(len(points))
        for first in range(0, len(points), CHUNK):
            chosen = slice(first, first + CHUNK)
            result[chosen] = distancesToTriangles(local[chosen], triangles[chosen])
        return result

    def nearestTriangles(self, points: np.ndarray) -> np.ndarray:
        """Return the corners (n, 3, 3) in mm of the boundary's triangle next to each of the LPS points (n, 3)."""
        return self._nearestTo(points - self.center) + self.center

    def trianglesWithin(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangles (k,) within squared distances (n,) in mm2 of LPS points (n, 3), and of which (k,)."""
        return self._nearest.within(points - self.center, squared)

    def _nearestTo(self, local: np.ndarray) -> np.ndarray:
        isAlone = len(local) <= ONE_BY_ONE and len(self._triangles.cells) <= FEW_TRIANGLES
        find = self._oneByOne if isAlone else self._nearest.find
        return self._triangles.points[self._triangles.cells[find(local)]]

    @cached_property
    def _locator(self) -> vtkStaticCellLocator:
        locator = vtkStaticCellLocator()
        locator.SetDataSet(self._polyData)
        locator.BuildLocator()
        return locator

    def _oneByOne(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3), relative to the center."""
        closest, cell, part = [0.0] * 3, vtkGenericCell(), reference(0)
        number, squared = reference(0), reference(0.0)
        numbers = np.empty(len(points), np.int64)
        find = self._locator.FindClosestPoint
        for row, point in enumerate(points.tolist()):
            if row % CHUNK == 0:
                checkpoint()
            find(point, closest, cell, number, part, squared)
            numbers[row] = number.get()
        return numbers


def wall(contours: Surface) -> Surface:
    """Return the triangles of a wall along the contours, across their plane, with the same outside."""
    half = 0.5 * contours.sizes.mean() * contours.normal
    count = len(contours.points)
    points = np.concatenate([contours.points - half, contours.points + half])
    a, b = contours.cells.T
    cells = np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)])
    return Surface(points, cells)
