"""Distance from any point to a boundary."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..base.progress import chunks
from .nearest import NearestTriangles
from .pseudonormals import PseudoNormals
from .surfaces import Surface
from .triangles import closestPoints, distancesToTriangles, dot

# Points processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 12
# At places closer to a boundary than this, in mm, the direction to it is unreliable.
ON_BOUNDARY = 1e-9
# Distances of up to this many roundings of the coordinates they were computed from are 0: the point is on the boundary.
ROUNDINGS = 64


class ClosestSurface:
    """Measures distances from points to one boundary.

    surface: triangles or contours, not empty. Coordinates are taken relative to its center, in whole mm, so that
    boundaries far from the origin keep their digits. Contours become a low wall across their plane: for points in that
    plane the distance to the wall is the distance to the contours. squaredRadii: as for NearestTriangles.
    """

    def __init__(self, surface: Surface, squaredRadii: np.ndarray | None = None):
        self.center = np.rint(surface.center)
        self.isClosed, self._squaredRadii = surface.isClosed, squaredRadii
        local = Surface(surface.points - self.center, surface.cells, surface.normal)
        self._triangles = local if local.dimension == 3 else wall(local)
        largest = max(np.abs(surface.points).max(), np.abs(self._triangles.points).max())
        self._rounding = ROUNDINGS * float(np.finfo(float).eps * largest)

    @cached_property
    def _nearest(self) -> NearestTriangles:
        return NearestTriangles(self._triangles.points, self._triangles.cells, self._squaredRadii)

    @cached_property
    def _normals(self) -> PseudoNormals:
        return PseudoNormals(self._triangles.points, self._triangles.cells)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Return distances (n,) in mm of LPS points (n, 3), not negative."""
        local = points - self.center
        return self._distances(local, self._nearest.find(local))

    def signedDistances(self, points: np.ndarray) -> np.ndarray:
        """Return distances (n,) in mm of LPS points (n, 3): negative inside; never negative for open surfaces."""
        local = points - self.center
        numbers = self._nearest.find(local)
        result = self._distances(local, numbers)
        if self.isClosed:
            # the boundary itself has no side
            np.negative(result, out=result, where=self._normals.isBehind(local, numbers) & (result > 0))
        return result

    def signedDistancesAndGradients(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return signed distances (n,) in mm of LPS points (n, 3), and their gradients (n, 3), which are unit vectors.

        On the boundary itself the gradients are zero. For open surfaces see signedDistances().
        """
        local = points - self.center
        numbers = self._nearest.find(local)
        signed, gradients = np.empty(len(local)), np.empty((3, len(local)))
        for chosen in chunks(len(local), CHUNK):
            corners = self._triangles.corners(numbers[chosen])
            ways = (local[chosen] - closestPoints(local[chosen], corners)).T
            away = np.sqrt(dot(ways, ways))
            signed[chosen] = np.where(away > self._rounding, away, 0.0)
            gradients[:, chosen] = ways
        isBehind = self._normals.isBehind(local, numbers) if self.isClosed else np.zeros(len(local), bool)
        np.negative(signed, out=signed, where=isBehind & (signed > 0))
        isOn = np.abs(signed) <= ON_BOUNDARY
        gradients /= np.where(isOn, 1, signed)
        gradients[:, isOn] = 0
        return signed, gradients.T

    def _distances(self, local: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the distances (n,) of points (n, 3), relative to the center, to one triangle each, by number."""
        result = np.empty(len(local))
        for chosen in chunks(len(local), CHUNK):
            corners = self._triangles.corners(numbers[chosen])
            away = distancesToTriangles(local[chosen], corners)
            # 0 where rounding alone explains it
            result[chosen] = np.where(away > self._rounding, away, 0.0)
        return result

    def nearestTriangles(self, points: np.ndarray) -> np.ndarray:
        """Return the corners (n, 3, 3) in mm of the boundary's triangle next to each of the LPS points (n, 3)."""
        return self._triangles.corners(self._nearest.find(points - self.center)) + self.center

    def trianglesWithin(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners (k, 3, 3) in mm of triangles within squared distances (n,) in mm2 of LPS points (n, 3).

        Also returns the numbers (k,) of these points.
        """
        numbers, owners = self._nearest.within(points - self.center, squared)
        return self._triangles.corners(numbers) + self.center, owners


def wall(contours: Surface) -> Surface:
    """Return the triangles of a wall along the contours, across their plane, with the same outside."""
    half = 0.5 * contours.sizes.mean() * contours.normal
    count = len(contours.points)
    points = np.concatenate([contours.points - half, contours.points + half])
    a, b = contours.cells.T
    cells = np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)])
    return Surface(points, cells)
