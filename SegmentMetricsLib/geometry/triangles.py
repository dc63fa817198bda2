"""The sides of triangles, distances from points to triangles, and crossings of triangles by segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..base.progress import chunks

# The corner that follows each corner of a triangle.
FOLLOWING = [1, 2, 0]
# The ends of the sides of an element, as corner numbers, by its number of corners: a segment and a triangle.
CORNERS_OF_SIDES = {2: np.array([[0, 1]]), 3: np.array([[0, 1], [1, 2], [2, 0]])}


class TriangleSet:
    """Triangles for measuring distances from many points, with everything precomputed that does not depend on these.

    triangles: (t, 3, 3) corners.
    """

    def __init__(self, triangles: np.ndarray):
        points, numbers = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
        # sides that are shared count once
        edges, self.sides = uniqueSides(numbers.reshape(-1, 3))
        self.start, self.step = points[edges[:, 0]], points[edges[:, 1]] - points[edges[:, 0]]
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
    aside, heights, normals, isAbove = _toTriangles(points, triangles)
    return np.sqrt(np.where(isAbove, heights**2 * dot(normals, normals), dot(aside, aside).min(axis=0)))


def closestPoints(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the point (n, 3) of each triangle (n, 3, 3) that is nearest to each point (n, 3).

    Triangles may be as thin as a line or a point.
    """
    aside, heights, normals, isAbove = _toTriangles(points, triangles)
    nearest = dot(aside, aside).argmin(axis=0)
    ways = np.take_along_axis(aside, nearest[None, None], axis=1)[:, 0]
    return points - np.where(isAbove, heights * normals, ways).T


def _toTriangles(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the vectors (3, 3, ...) to points (..., 3) from the nearest places of the three sides of triangles.

    Also return the points' heights (...) above the triangles (..., 3, 3), in lengths of their normals, these normals
    (3, ...), and whether the points are above the inside: there the height decides instead of the sides.
    """
    more = triangles.ndim - points.ndim - 1
    points, triangles = points[(None,) * more], triangles[(None,) * -more]
    # coordinate by coordinate, which is several times faster than with vectors of three
    corners = np.ascontiguousarray(np.moveaxis(triangles, (-1, -2), (0, 1)))
    sides = corners.take(FOLLOWING, axis=1) - corners
    aside = np.moveaxis(points, -1, 0)[:, None] - corners
    normals = _cross(sides[:, 2], sides[:, 0])
    lengths, squared = dot(sides, sides), dot(normals, normals)
    isAbove = (dot(_cross(sides, aside), normals[:, None]) >= 0).all(axis=0) & (squared > 0)
    heights = dot(aside[:, 0], normals) / np.where(squared > 0, squared, 1)
    along = dot(aside, sides) / np.where(lengths > 0, lengths, 1)
    aside -= np.clip(along, 0, 1) * sides
    return aside, heights, normals, isAbove


def columns(points: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return coordinates (3, k) of points (n, 3) by number (k,), contiguous by axis: faster than points[numbers].T."""
    return np.ascontiguousarray(points.take(numbers, axis=0).T)


def areaVectors(points: np.ndarray, cells: np.ndarray) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """Yield batches of the three corners (3, k) of triangles and of normal vectors (3, k), twice the area long.

    points: (n, 3). cells: (m, 3) triangles of them.
    """
    coordinates = np.ascontiguousarray(points.T)
    for chosen in chunks(len(cells)):
        numbers = np.ascontiguousarray(cells[chosen].T)
        a, b, c = corners = [coordinates.take(column, axis=1) for column in numbers]
        yield corners, _cross(b - a, c - a)


def dot(a: Sequence[np.ndarray] | np.ndarray, b: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return the inner products (...) of vectors given coordinate by coordinate, (3, ...)."""
    return np.einsum("i...,i...->...", a, b)


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cross products (3, ...) of vectors (3, ...), several times faster than NumPy's."""
    (a, b, c), (x, y, z) = first, second
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x])


def segmentsCrossTriangles(starts: np.ndarray, end: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return whether segments from starts (..., 3) to a point (3,) cross one triangle (..., 3, 3) each, broadcast."""
    # Signed volumes of the tetrahedra that the end point makes with the start and each triangle edge: all of one sign
    # means that the line passes through the triangle.
    direction = np.moveaxis(starts - end, -1, 0)
    a, b, c = np.moveaxis(triangles - end, (-2, -1), (0, 1))
    sides = [np.sign(dot(direction, _cross(u, v))) for u, v in ((a, b), (b, c), (c, a))]
    through = (sides[0] == sides[1]) & (sides[1] == sides[2])
    normal = _cross(b - a, c - a)
    height = dot(a, normal)
    # the start lies beyond the plane as seen from the end
    return through & (np.sign(dot(direction, normal) - height) == np.sign(height))


def uniqueSides(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct sides (s, 2) of elements (k, 2 or 3), and each element's side numbers (k, 1 or 3)."""
    if cells.shape[1] == 2:
        return cells, np.arange(len(cells))[:, None]
    following = cells.take(CORNERS_OF_SIDES[3][:, 1], axis=1)
    low = np.minimum(cells, following).ravel()
    # the points of a side usually have similar numbers, so the step is small and has few digits to sort by
    step = np.maximum(cells, following, out=following).ravel() - low
    order = orderRows(low, step)
    low, step = low.take(order), step.take(order)
    isFirst = np.ones(len(order), bool)
    np.logical_or(low[1:] != low[:-1], step[1:] != step[:-1], out=isFirst[1:])
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(isFirst, dtype=np.int32) - 1
    low, step = low.compress(isFirst), step.compress(isFirst)
    return np.stack([low, low + step], axis=1), numbers.reshape(-1, 3)


def orderRows(*columns: np.ndarray) -> np.ndarray:
    """Return the lexicographic order (n,) of rows of non-negative integers, which are given column by column.

    Sorts digit by digit of 16 bits: these are sorted by counting, several times faster than by comparison.
    """
    digits: list[np.ndarray] = []
    for column in reversed(columns):
        bits = int(column.max(initial=0)).bit_length()
        digits.extend((column >> shift).astype(np.uint16) for shift in range(0, max(bits, 1), 16))
    return np.lexsort(digits)
