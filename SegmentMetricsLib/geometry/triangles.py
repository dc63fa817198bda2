"""Distances from points to triangles, and crossings of triangles by segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

# Triangles processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 13


class TriangleSet:
    """Triangles for measuring distances from many points, with everything precomputed that does not depend on these.

    triangles: (t, 3, 3) corners. edges: (e, 2, 3) their distinct sides. sides: (t, 3) each triangle's side numbers.
    """

    def __init__(self, triangles: np.ndarray, edges: np.ndarray, sides: np.ndarray):
        self.sides = sides
        self.start, self.step = edges[:, 0], edges[:, 1] - edges[:, 0]
        self.length = (self.step**2).sum(axis=1)
        self.startAlong = (self.start * self.step).sum(axis=1)
        corners = [triangles[:, n] for n in range(3)]
        self.normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        self.squaredNormal = (self.normal**2).sum(axis=1)
        self.plane = (corners[0] * self.normal).sum(axis=1)
        outward = [np.cross(corners[b] - corners[a], self.normal) for a, b in ((0, 1), (1, 2), (2, 0))]
        self.prism = [(o, (corner * o).sum(axis=1)) for o, corner in zip(outward, corners, strict=True)]

    def squaredDistances(self, points: np.ndarray) -> np.ndarray:
        """Return the squared distances (t, p) in mm2 from points (p, 3) to every triangle.

        The nearest point of a triangle is the foot of the perpendicular on its plane if that lies in the triangle;
        otherwise it is on one of its sides.
        """
        points = points.T
        # one row per edge and triangle: taking whole rows is several times faster than taking parts of them
        along = self.step @ points
        along -= self.startAlong[:, None]
        along /= self.length[:, None]
        np.clip(along, 0, 1, out=along)
        toEdges = np.zeros(along.shape)
        for coordinate, start, step in zip(points, self.start.T, self.step.T, strict=True):
            gap = along * step[:, None]
            np.subtract(coordinate - start[:, None], gap, out=gap)
            gap *= gap
            toEdges += gap
        result = toEdges.take(self.sides[:, 0], axis=0)
        for side in self.sides.T[1:]:
            np.minimum(result, toEdges.take(side, axis=0), out=result)
        abovePrism = np.ones(result.shape, bool)
        for outward, limit in self.prism:
            abovePrism &= outward @ points <= limit[:, None]
        height = self.normal @ points
        height -= self.plane[:, None]
        height *= height
        height /= self.squaredNormal[:, None]
        np.copyto(result, height, where=abovePrism)
        return result


def distancesToTriangles(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the distances (...) in mm from points (..., 3) to one triangle each (..., 3, 3), broadcast together.

    Triangles may be as thin as a line or a point.
    """
    # coordinate by coordinate, which is several times faster than with vectors of three
    point = _coordinates(points)
    corners = [_coordinates(triangles[..., corner, :]) for corner in range(3)]
    sides = [_difference(corners[(start + 1) % 3], corners[start]) for start in range(3)]
    normal = _cross(sides[2], sides[0])
    squaredNormal = dot(normal, normal)
    isAbove = squaredNormal > 0
    toSides = np.inf
    for start, side in zip(corners, sides, strict=True):
        gap, length = _difference(point, start), dot(side, side)
        along = np.minimum(np.maximum(dot(gap, side) / np.where(length > 0, length, 1), 0), 1)
        aside = [g - along * s for g, s in zip(gap, side, strict=True)]
        toSides = np.minimum(toSides, dot(aside, aside))
        isAbove = isAbove & (dot(_cross(normal, side), gap) >= 0)
    height = dot(_difference(point, corners[0]), normal) ** 2 / np.where(squaredNormal > 0, squaredNormal, 1)
    return np.sqrt(np.where(isAbove, height, toSides))


def columns(points: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the coordinates (3, k) of points (n, 3) given by number (k,), contiguous for each axis.

    Much faster than points[numbers].T.
    """
    return np.ascontiguousarray(points.take(numbers, axis=0).T)


def areaVectors(points: np.ndarray, cells: np.ndarray) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """Yield batches of the three corners (3, k) of triangles and of normal vectors (3, k), twice the area long.

    points: (n, 3). cells: (m, 3) triangles of them.
    """
    coordinates = np.ascontiguousarray(points.T)
    for first in range(0, len(cells), CHUNK):
        numbers = np.ascontiguousarray(cells[first : first + CHUNK].T)
        a, b, c = corners = [coordinates.take(column, axis=1) for column in numbers]
        yield corners, np.stack(_cross(b - a, c - a))


def _coordinates(vectors: np.ndarray) -> list[np.ndarray]:
    return [vectors[..., axis] for axis in range(3)]


def _difference(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    return [a - b for a, b in zip(one, other, strict=True)]


def dot(one: Sequence[np.ndarray] | np.ndarray, other: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the inner products (...) of vectors given coordinate by coordinate, (3, ...)."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    (a, b, c), (x, y, z) = one, other
    return [b * z - c * y, c * x - a * z, a * y - b * x]


def closestPoints(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the point (n, 3) of each triangle (n, 3, 3) that is nearest to each point (n, 3).

    Triangles may be as thin as a line or a point.
    """
    point = _coordinates(points)
    corners = [_coordinates(triangles[:, corner]) for corner in range(3)]
    sides = [_difference(corners[(start + 1) % 3], corners[start]) for start in range(3)]
    normal = _cross(sides[0], sides[1])
    squaredNormal = dot(normal, normal)
    isAbove, least = squaredNormal > 0, None
    nearest: list[np.ndarray] = []
    for start, side in zip(corners, sides, strict=True):
        gap, length = _difference(point, start), dot(side, side)
        along = np.minimum(np.maximum(dot(gap, side) / np.where(length > 0, length, 1), 0), 1)
        place = [s + along * d for s, d in zip(start, side, strict=True)]
        aside = _difference(point, place)
        squared = dot(aside, aside)
        isNearer = True if least is None else squared < least
        least = squared if least is None else np.where(isNearer, squared, least)
        nearest = [np.where(isNearer, new, old) for new, old in zip(place, nearest or place, strict=True)]
        isAbove = isAbove & (dot(_cross(side, normal), gap) <= 0)
    # otherwise the foot of the perpendicular, if it lies in the triangle
    height = dot(_difference(point, corners[0]), normal) / np.where(squaredNormal > 0, squaredNormal, 1)
    feet = [p - height * n for p, n in zip(point, normal, strict=True)]
    return np.stack([np.where(isAbove, foot, near) for foot, near in zip(feet, nearest, strict=True)], axis=1)


def segmentsCrossTriangles(starts: np.ndarray, end: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return whether segments from starts (..., 3) to one end point (3,) cross one triangle (..., 3, 3) each.

    `starts` and `triangles` are broadcast together.
    """
    # Signed volumes of the tetrahedra that the end point makes with the start and each triangle edge: all of one sign
    # means that the line passes through the triangle.
    direction = _coordinates(starts - end)
    a, b, c = (_coordinates(triangles[..., n, :] - end) for n in range(3))
    sides = [np.sign(dot(direction, _cross(u, v))) for u, v in ((a, b), (b, c), (c, a))]
    through = (sides[0] == sides[1]) & (sides[1] == sides[2])
    normal = _cross(_difference(b, a), _difference(c, a))
    height = dot(a, normal)
    # the start lies beyond the plane as seen from the end
    return through & (np.sign(dot(direction, normal) - height) == np.sign(height))
