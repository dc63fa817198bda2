"""Which triangle is nearest to each of many points, through the corners next to them.

The idea
--------
A search tree of points answers within a microsecond or two, one of triangles takes ten times as long. For small
triangles the first tells nearly all that the second does. A place p of a triangle is a weighted mean of its corners c,
and from any point x

    |x - p|^2  =  (weighted mean of |x - c|^2)  -  (that of |p - c|^2)  >=  min over c of |x - c|^2  -  r^2,

where r is the radius of the smallest circle around the triangle. The nearest triangle is not farther than any other,
those around the nearest corner of all for a start. So it has a corner whose squared distance is larger than that of the
nearest of these by no more than r^2, which far from the surface is next to nothing: mostly one or two more corners are
left, with the few triangles around each.

Where some triangles are so large that many corners are left, a search tree of triangles is asked instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ..cores import threads
from ..progress import checkpoint
from .triangles import columns, distancesToTriangles

# Corners looked at per point: at first, at first where triangles are uneven, where these do not decide, and at most; of
# more, a search tree of triangles mostly takes a fraction of the time.
FEW_CORNERS, MORE_CORNERS, MANY_CORNERS, ALL_CORNERS = 8, 16, 32, 64
# Up to so many triangles a search tree of them is soon made.
FEW_TRIANGLES = 20_000
# Where more than this share of points is not decided, triangles are uneven; if that remains with more corners, a search
# tree of few triangles decides sooner.
MOST_OPEN = 0.25
# Corners of all points looked at at a time.
MOST_AT_ONCE = 1 << 15
# Points whose corners are searched at a time; fewer are found sooner than threads are started.
SEARCHED, FEW = 1 << 14, 1024
# Points whose triangles are looked at at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 12
# Triangles whose sizes are found at a time, for the same reason.
CELLS = 1 << 14
# Makes up for what single precision takes away.
ROUNDED_UP = 1 + 1e-6
# What rounding may change in squared distances, as a share of them.
ROUNDING = 1e-12
# Squared sine of a triangle's angle below which squared lengths alone have too few digits.
THIN = 1e-4


class NearestTriangles:
    """Tells which triangle is nearest to points.

    points: (n, 3) mm. cells: (m, 3) triangles of them. otherwise: tells the same of the points (k, 3) for which corners
    do not decide. spread: the largest of spreads() where all are about equally large and it is known; None to look at
    every triangle.
    """

    def __init__(
        self,
        points: np.ndarray,
        cells: np.ndarray,
        otherwise: Callable[[np.ndarray], np.ndarray],
        spread: float | None = None,
    ):
        self._otherwise = otherwise
        self._points, self._cells = points, cells
        # triangles around every point
        ends = np.repeat(np.arange(len(cells), dtype=np.int32), 3)
        corners = cells.ravel().astype(np.int32)
        around = csr_array((np.ones(len(ends), bool), (corners, ends)), shape=(len(points), len(cells)))
        counts = np.diff(around.indptr)
        # points without triangles would hide those with
        used = np.flatnonzero(counts)
        self._first, self._count, self._triangles = around.indptr[used], counts[used], around.indices
        everyPoint = points if len(used) == len(points) else points[used]
        self._tree = cKDTree(everyPoint, balanced_tree=False, compact_nodes=False)
        if spread is None:
            self._spreads = spreads(points, cells)
            # of the largest triangle around every point
            self._spread = np.maximum.reduceat(self._spreads[self._triangles], self._first)
        else:
            self._spreads, self._spread = (np.full(count, spread, np.float32) for count in (len(cells), len(used)))
        self._largestSpread = float(self._spreads.max())
        # at first; more as soon as these have not decided often enough
        self._corners = FEW_CORNERS

    def find(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3)."""
        numbers = np.empty(len(points), np.int64)
        for first in range(0, len(points), SEARCHED):
            checkpoint()
            numbers[first : first + SEARCHED] = self._found(points[first : first + SEARCHED], self._corners)
        return numbers

    def within(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which triangles (k,) are within a squared distance (n,) of points (n, 3), and of which (k,) of these.

        A triangle may be told more than once.
        """
        owners, triangles = [np.zeros(0, np.intp)], [np.zeros(0, np.int32)]
        for first in range(0, len(points), SEARCHED):
            chosen = np.arange(first, min(first + SEARCHED, len(points)))
            for rows in self._blocks(chosen, self._countsWithin(points[chosen], squared[chosen])):
                numbers, around = self._trianglesAround(*self._cornersWithin(points[rows], squared[rows]))
                isWithin = self._squaredDistances(columns(points, rows[numbers]), around) <= squared[rows[numbers]]
                owners.append(rows[numbers[isWithin]])
                triangles.append(around[isWithin])
        return np.concatenate(triangles), np.concatenate(owners)

    def _reach(self, squared: np.ndarray) -> np.ndarray:
        """Return how far the corners of triangles within squared distances (n,) may be."""
        return np.sqrt(squared + self._largestSpread) * (1 + ROUNDING)

    def _countsWithin(self, points: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Return how many corners (n,) triangles within squared distances (n,) of points (n, 3) may have."""
        reach, workers = self._reach(squared), self._workers(points)
        return self._tree.query_ball_point(points, reach, return_length=True, workers=workers)

    @staticmethod
    def _blocks(rows: np.ndarray, counts: np.ndarray) -> Iterator[np.ndarray]:
        """Yield rows (n,) in blocks that have few corners together, as far as one row alone has few."""
        blocks = np.cumsum(counts) // MOST_AT_ONCE
        for block in np.split(rows, np.flatnonzero(np.diff(blocks)) + 1):
            checkpoint()
            if len(block):
                yield block

    def _cornersWithin(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the points' numbers (c,), in order, and corners (c,) of all triangles within squared distances."""
        near = self._tree.query_ball_point(points, self._reach(squared), workers=self._workers(points))
        owners = np.repeat(np.arange(len(near)), [len(found) for found in near])
        corners = np.concatenate([np.zeros(0, np.intp), *near]).astype(np.intp)
        away = _squared(columns(points, owners), columns(self._tree.data, corners))
        isNear = away - self._spread[corners] <= squared[owners]
        return owners[isNear], corners[isNear]

    @staticmethod
    def _workers(points: np.ndarray) -> int:
        return threads() if len(points) > FEW else 1

    def _found(self, points: np.ndarray, count: int) -> np.ndarray:
        slots = np.arange(1, min(count, self._tree.n) + 1)
        distances, near = self._tree.query(points, k=slots, workers=self._workers(points))
        squared = distances**2
        numbers, limit = np.empty(len(points), np.int64), np.empty(len(points))
        for first in range(0, len(points), CHUNK):
            chosen = slice(first, first + CHUNK)
            numbers[chosen], limit[chosen] = self._nearestOfCorners(points[chosen], squared[chosen], near[chosen])
        # whether there may be more corners that are near than were looked at
        isOpen = (squared[:, -1] - self._largestSpread <= limit) & (count < self._tree.n)
        if not isOpen.any():
            return numbers
        left = points[isOpen]
        isUneven = len(left) > MOST_OPEN * len(points)
        if isUneven and count < MORE_CORNERS:
            self._corners = MORE_CORNERS
            numbers[isOpen] = self._found(left, MORE_CORNERS)
        elif isUneven and len(self._cells) <= FEW_TRIANGLES:
            numbers[isOpen] = self._otherwise(left)
        elif count < MANY_CORNERS:
            numbers[isOpen] = self._found(left, MANY_CORNERS)
        else:
            numbers[isOpen] = self._fromAll(left, limit[isOpen])
        return numbers

    def _nearestOfCorners(
        self, points: np.ndarray, squared: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the triangles around corners is nearest to each point (n, 3), and how near others have to be.

        squared, near: (n, s) squared distances of the corners next to each point, ascending, and their numbers. How
        near: (n,) the squared distance of the triangle, rounded up.
        """
        # the triangles around the nearest corner leave few of the others to be looked at
        least, numbers = self._least(points, *self._trianglesAround(np.arange(len(points)), near[:, 0]))
        rounding = ROUNDING * squared[:, 0]
        owners, slots = np.nonzero(squared[:, 1:] - self._spread[near[:, 1:]] <= (least + rounding)[:, None])
        pairs, triangles = self._trianglesAround(np.arange(len(owners)), near[owners, slots + 1])
        ends, owners = squared[owners, slots + 1].take(pairs), owners.take(pairs)
        isNear = ends - self._spreads.take(triangles) <= (least + rounding).take(owners)
        owners, triangles = owners[isNear], triangles[isNear]
        if len(owners):
            others, found = self._least(points, owners, triangles)
            rows = owners[np.diff(owners, prepend=-1) > 0]
            isNearer = others < least[rows]
            rows = rows[isNearer]
            least[rows], numbers[rows] = others[isNearer], found[isNearer]
        return numbers, least + rounding

    def _least(self, points: np.ndarray, owners: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least squared distance of the points that own triangles (c,), in order, and to which of these."""
        squared = self._squaredDistances(columns(points, owners), triangles)
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        least = np.minimum.reduceat(squared, firsts)
        isLeast = np.flatnonzero(squared == np.repeat(least, np.diff(firsts, append=len(owners))))
        return least, triangles[isLeast[np.diff(owners[isLeast], prepend=-1) > 0]]

    def _fromAll(self, points: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3) from all corners there may be, or otherwise.

        limit: (n,) squared distances that the nearest triangles do not exceed.
        """
        counts = self._countsWithin(points, limit)
        numbers = np.empty(len(points), np.int64)
        isMany = counts > ALL_CORNERS
        if isMany.any():
            numbers[isMany] = self._otherwise(points[isMany])
        rows = np.flatnonzero(~isMany)
        for block in self._blocks(rows, counts[rows]):
            around = self._trianglesAround(*self._cornersWithin(points[block], limit[block]))
            numbers[block] = self._least(points[block], *around)[1]
        return numbers

    def _trianglesAround(self, owners: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangles (k,) around corners (c,), and of which points (k,) these are, told those (c,)."""
        counts = self._count[corners]
        starts = np.cumsum(counts) - counts
        triangles = self._triangles[np.arange(counts.sum()) + np.repeat(self._first[corners] - starts, counts)]
        return np.repeat(owners, counts), triangles

    def _squaredDistances(self, points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return the squared distances (n,) from points (3, n) to a triangle (n,) each.

        From nothing but squared lengths, which is the fastest; digits that cancel do not matter to which is nearest,
        but in thin triangles, where so many do that their heights get lost.
        """
        a, b, c = (columns(self._points, column.take(triangles)) for column in self._cells.T)
        toA, toB, toC = (_squared(points, corner) for corner in (a, b, c))
        ab, bc, ca = _squared(a, b), _squared(b, c), _squared(c, a)
        # twice the inner products of the sides at corner A with each other, and with the way to the point
        between, alongB, alongC = ab + ca - bc, toA + ab - toB, toA + ca - toC
        area = 4 * ab * ca - between * between
        weightB, weightC = 2 * alongB * ca - between * alongC, 2 * alongC * ab - between * alongB
        isThin = area <= 4 * THIN * ab * ca
        isAbove = (weightB >= 0) & (weightC >= 0) & (weightB + weightC <= area) & ~isThin
        height = toA - (weightB * alongB + weightC * alongC) / (2 * np.where(isAbove, area, 1))
        toSides = np.minimum(np.minimum(_toSide(toA, toB, ab), _toSide(toB, toC, bc)), _toSide(toC, toA, ca))
        result = np.where(isAbove, height, toSides)
        thin = np.flatnonzero(isThin)
        if len(thin):
            corners = np.stack([corner[:, thin].T for corner in (a, b, c)], axis=1)
            result[thin] = distancesToTriangles(points[:, thin].T, corners) ** 2
        return result


def spreads(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the squared radii (m,) of the smallest circles around triangles (m, 3) of points (n, 3), rounded up."""
    return np.concatenate([_spreads(points, cells[first : first + CELLS]) for first in range(0, len(cells), CELLS)])


def _spreads(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    a, b, c = (columns(points, column) for column in cells.T)
    ab, bc, ca = _squared(a, b), _squared(b, c), _squared(c, a)
    longest = np.maximum(np.maximum(ab, bc), ca)
    # through all corners of an acute triangle, or around the longest side
    area = 4 * ab * ca - (ab + ca - bc) ** 2
    isAcute = (ab + bc + ca > 2 * longest) & (area > 0)
    around = ab * bc * ca / np.where(isAcute, area, 1)
    # whatever rounding makes of thin ones
    radii = np.clip(np.where(isAcute, around, 0), longest / 4, longest / 3)
    return (radii * ROUNDED_UP).astype(np.float32)


def _squared(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the squared distances (n,) between points (3, n)."""
    x, y, z = one - other
    return x * x + y * y + z * z


def _toSide(toStart: np.ndarray, toEnd: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the squared distances to segments from those to their ends and the squares of their lengths."""
    lead = toStart - toEnd
    along = ((lead + length) / (2 * np.where(length > 0, length, 1))).clip(0, 1)
    return toStart + along * (along * length - lead - length)
