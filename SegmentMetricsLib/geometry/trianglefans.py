"""Distances from points to the triangles around corners next to them.

The triangles around a corner are its fan. Seen from the corner, a triangle is given by two of its sides. The distance
depends only on the inner products of these two and of the vector w from the corner to the point. The unsmoothed surface
of a mask has few distinct triangles (cellcases.py), so the products of their sides are looked up.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import cast

import numpy as np

from .cellcases import caseTriangles
from .masks import Mask
from .surfaces import Surface
from .triangles import columns, distancesToTriangles, dot

# Triangles whose spreads are computed at a time, so that temporary arrays stay in the processor's cache.
CELLS = 1 << 14
# Up to this many corners, sorting takes less time than making matrices.
FEW_TO_SORT = 60_000
# Compensates for rounding to single precision.
ROUNDED_UP = 1 + 1e-6
# Squared sine of a triangle's angle below which inner products have too few digits to locate a point.
THIN = 1e-4
# Corners of a case's triangle are at most two half voxels apart along every axis, so the difference of two corners is a
# number with three digits from -2 to 2 in base 5.
DIGITS = np.array([1, 5, 25])
DIFFERENCES = 125
# The corner of a triangle that follows a corner, and the one after that.
NEXT, AFTER_NEXT = np.array([1, 2, 0]), np.array([2, 0, 1])
NONE = np.zeros(0, np.intp)


class TriangleFans:
    """The triangles around every corner of a surface.

    points: (n, 3) mm. cells: (m, 3) triangles of them. shapes: those of the triangles; None to take them from the
    points. corners: (c, 3) the points used by triangles, mm, whose numbers identify the fans. largestAround: (c,) the
    largest of the spreads() of the triangles around each.
    """

    def __init__(self, points: np.ndarray, cells: np.ndarray, shapes: LatticeShapes | None = None):
        ends, self._triangles, self._slots = _sorted(cells, len(points))
        counts = np.diff(ends)
        # points without triangles would hide those that have some
        used = np.flatnonzero(counts)
        self.corners = points if len(used) == len(points) else points[used]
        self._first, self._count = ends[used], counts[used]
        self._shapes = shapes or GivenShapes(points, cells)
        self.largestAround = np.maximum.reduceat(self._shapes.spreads(self._triangles), self._first).astype(float)

    def around(self, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return for every triangle around corners (c,) the row (k,) of its corner, ascending, and its entry (k,)."""
        counts = self._count.take(corners)
        places = np.repeat(np.arange(len(corners)), counts)
        shifts = self._first.take(corners) - (np.cumsum(counts) - counts)
        return places, np.arange(len(places)) + shifts.take(places)

    def triangles(self, entries: np.ndarray) -> np.ndarray:
        """Return the numbers (k,) of the triangles of entries (k,)."""
        return self._triangles.take(entries)

    def spreads(self, entries: np.ndarray) -> np.ndarray:
        """Return the spreads() (k,) of the triangles of entries (k,)."""
        return self._shapes.spreads(self._triangles.take(entries))

    def squaredDistances(self, ways: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Return the squared distances (k,) in mm2 from points to the triangle of an entry (k,) each.

        ways: (3, k) mm from the corner that has the fan to the points. Cancellation of digits hardly affects which
        triangle is nearest, except for thin ones, whose heights would be lost; these are computed separately.
        """
        one, other, *products = self._shapes.sides(self._triangles.take(entries), self._slots.take(entries))
        lengthOne, lengthOther, between, area, thin = products
        alongOne, alongOther = dot(ways, one), dot(ways, other)
        weightOne = alongOne * lengthOther - alongOther * between
        weightOther = alongOther * lengthOne - alongOne * between
        isAbove = (weightOne >= 0) & (weightOther >= 0) & (weightOne + weightOther <= area)
        # how much less it is than to the corner: above the triangle, and to each of its sides
        weightOne *= alongOne
        weightOther *= alongOther
        weightOne += weightOther
        weightOne /= area
        less = np.maximum(_lessAlong(alongOne, lengthOne), _lessAlong(alongOther, lengthOther))
        across = _lessAlong(alongOther - alongOne + (lengthOne - between), lengthOne + lengthOther - 2 * between)
        # the third side begins where the first one ends
        across += 2 * alongOne
        across -= lengthOne
        np.maximum(less, across, out=less)
        np.copyto(less, weightOne, where=isAbove)
        result = dot(ways, ways)
        result -= less
        if len(thin):
            corners = np.stack([np.zeros((len(thin), 3)), one[:, thin].T, other[:, thin].T], axis=1)
            result[thin] = distancesToTriangles(ways[:, thin].T, corners) ** 2
        return result


def _sorted(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the corners of triangles (m, 3) sorted by point: where each of `count` points begins, and ends the last.

    The other arrays (3 m,) are the triangle of every corner, ascending for each point, and which corner it is.
    """
    corners = cells.ravel().astype(np.int32)
    if len(corners) <= FEW_TO_SORT:
        order = np.argsort(corners, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=count))])
        return ends.astype(np.int32), (order // 3).astype(np.int32), (order % 3).astype(np.int8)
    from scipy.sparse import csr_array

    slots = np.tile(np.arange(3, dtype=np.int8), len(cells))
    firsts = np.arange(0, len(corners) + 1, 3, dtype=np.int32)
    around = csr_array((slots, corners, firsts), shape=(len(cells), count)).tocsc()
    return around.indptr, around.indices, around.data


def _lessAlong(along: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the squared distances to the start of a side, minus those to the side itself (k,).

    along: inner products of the side and the vector from its start. length: inner product of the side with itself.
    """
    share = along / length
    np.clip(share, 0, 1, out=share)
    result = 2 * along
    result -= share * length
    result *= share
    return result


class GivenShapes:
    """The shapes of any triangles (m, 3) of points (n, 3)."""

    def __init__(self, points: np.ndarray, cells: np.ndarray):
        self._points, self._corners = points, cells.ravel()
        self.every = spreads(points, cells)

    def spreads(self, triangles: np.ndarray) -> np.ndarray:
        """Return the spreads() (k,) of some triangles (k,)."""
        return self.every.take(triangles)

    def sides(self, triangles: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the two sides (3, k) of some triangles (k,) from one of their corners, and their inner products.

        slots: (k,) which corner. The products (k,) are those of the first side with itself, of the second with itself,
        of both, and 4 times the squared area: the product of the first two less the square of the third. The numbers of
        thin triangles come last.
        """
        first = 3 * triangles.astype(np.intp)
        numbers = (first + corner.take(slots) for corner in (NEXT, AFTER_NEXT))
        start = columns(self._points, self._corners.take(first + slots))
        one, other = (columns(self._points, self._corners.take(number)) - start for number in numbers)
        products = lengthOne, lengthOther, between = dot(one, one), dot(other, other), dot(one, other)
        area = lengthOne * lengthOther
        limits = THIN * area
        area -= between * between
        thin = np.flatnonzero(area <= limits)
        # values that are safe to divide by
        for values, whole in zip((*products, area), (1, 1, 0, 1), strict=True):
            values[thin] = whole
        return one, other, *products, area, thin


class LatticeShapes:
    """The shapes of the triangles of the unsmoothed surface of a mask."""

    def __init__(self, surface: Surface):
        x, y, z = np.ascontiguousarray(cast(np.ndarray, surface.lattice).T, float)
        places = (2 * (DIGITS[0] * x + DIGITS[1] * y + DIGITS[2] * z)).astype(np.int32)
        numberOf, self._turned, _ = orderedTriangles()
        self._kinds = numberOf.take(_differences(*(places.take(column) for column in surface.cells.T)))
        self._sides, self._spreads, _ = latticeTables(_axes(surface))

    @staticmethod
    def of(surface: Surface) -> LatticeShapes | None:
        """Return the shapes of a surface; None if it is not that of a mask, or if its voxels make triangles thin."""
        return None if surface.lattice is None or latticeTables(_axes(surface))[2] else LatticeShapes(surface)

    def spreads(self, triangles: np.ndarray) -> np.ndarray:
        """Return the spreads() (k,) of some triangles (k,)."""
        return self._spreads.take(self._kinds.take(triangles))

    def sides(self, triangles: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return two sides of some triangles from one of their corners, and products, as GivenShapes.sides() does."""
        kinds = self._turned.take(3 * self._kinds.take(triangles) + slots)
        x, y, z, u, v, w, *products = (row.take(kinds) for row in self._sides)
        return (x, y, z), (u, v, w), *products, NONE


def _axes(surface: Surface) -> tuple[float, ...]:
    return tuple(cast(Mask, surface.mask).grid.axes.ravel().tolist())


@lru_cache(maxsize=1)
def orderedTriangles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the triangles of all cases (caseTriangles()) with their corners in every order, t distinct ones.

    numberOf: (DIFFERENCES ** 2,) the number of each by its corners' differences. turned: (3 t,) at 3 n + s, the number
    of triangle n when it begins with its corner s. corners: (t, 3, 3) in half voxels.
    """
    orders = np.array(list(itertools.permutations(range(3))))
    corners = np.rint(2 * caseTriangles()[0]).astype(np.int64)[:, orders].reshape(-1, 3, 3)
    keys, first = np.unique(_differences(*(corners @ DIGITS).T), return_index=True)
    corners = corners[first]
    numberOf = np.zeros(DIFFERENCES**2, np.int16)
    numberOf[keys] = np.arange(len(keys))
    turned = [numberOf[_differences(*(np.roll(corners, -slot, axis=1) @ DIGITS).T)] for slot in range(3)]
    return numberOf, np.stack(turned, axis=1).ravel(), corners


def _differences(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a number for the shape of every triangle, given its corners (m,) as numbers with DIGITS."""
    middle = DIFFERENCES // 2
    return (b - a + middle) * DIFFERENCES + (c - a + middle)


@lru_cache(maxsize=32)
def latticeTables(axes: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return tables of all orderedTriangles(): GivenShapes.sides() of the first corners as rows (10, t), and spreads().

    The third item is whether some triangles are thin. axes: (9,) the steps between voxels, mm.
    """
    corners = orderedTriangles()[2] / 2 @ np.reshape(axes, (3, 3)).T
    numbers = np.arange(3 * len(corners)).reshape(-1, 3)
    shapes = GivenShapes(corners.reshape(-1, 3), numbers)
    one, other, *products, thin = shapes.sides(np.arange(len(corners)), np.zeros(len(corners), np.intp))
    return np.concatenate([one, other, products]), shapes.every, len(thin) > 0


def spreads(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the squared radii (m,) of the smallest circles around triangles (m, 3) of points (n, 3), rounded up."""
    return np.concatenate([_spreads(points, cells[first : first + CELLS]) for first in range(0, len(cells), CELLS)])


def _spreads(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    a, b, c = (columns(points, column) for column in cells.T)
    ab, bc, ca = (dot(side, side) for side in (b - a, c - b, a - c))
    longest = np.maximum(np.maximum(ab, bc), ca)
    # the circle goes through all corners of an acute triangle; otherwise the longest side is its diameter
    area = 4 * ab * ca - (ab + ca - bc) ** 2
    isAcute = (ab + bc + ca > 2 * longest) & (area > 0)
    around = ab * bc * ca / np.where(isAcute, area, 1)
    # the range of possible values, in spite of rounding in thin triangles
    radii = np.clip(np.where(isAcute, around, 0), longest / 4, longest / 3)
    return (radii * ROUNDED_UP).astype(np.float32)
