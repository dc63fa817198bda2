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
from scipy.spatial import cKDTree

from ..cores import threads
from ..progress import checkpoint
from .stars import LatticeShapes, Stars
from .triangles import columns, dot

# Corners looked at per point: at first, at first where triangles are uneven, where these do not decide, and at most; of
# more, a search tree of triangles mostly takes a fraction of the time.
FEW_CORNERS, MORE_CORNERS, MANY_CORNERS, ALL_CORNERS = 8, 16, 32, 64
# Corners in a leaf of their search tree: more are sooner sorted, and as soon looked through.
LEAF = 32
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
# What rounding may change in squared distances, as a share of them.
ROUNDING = 1e-12


class NearestTriangles:
    """Tells which triangle is nearest to points.

    points: (n, 3) mm. cells: (m, 3) triangles of them. otherwise: tells the same of the points (k, 3) for which corners
    do not decide. shapes: of the triangles, where these are known without looking at the points.
    """

    def __init__(
        self,
        points: np.ndarray,
        cells: np.ndarray,
        otherwise: Callable[[np.ndarray], np.ndarray],
        shapes: LatticeShapes | None = None,
    ):
        self._otherwise, self._isSmall = otherwise, len(cells) <= FEW_TRIANGLES
        self._stars = Stars(points, cells, shapes)
        self._tree = cKDTree(self._stars.corners, LEAF, balanced_tree=False, compact_nodes=False)
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

        A triangle may be told more than once; of those exactly so far away, rounding decides.
        """
        owners, triangles = [np.zeros(0, np.intp)], [np.zeros(0, np.int32)]
        for first in range(0, len(points), SEARCHED):
            chosen = np.arange(first, min(first + SEARCHED, len(points)))
            for rows in self._blocks(chosen, self._countsWithin(points[chosen], squared[chosen])):
                numbers, corners = self._cornersWithin(points[rows], squared[rows])
                away, entries, places = self._away(points, rows[numbers], corners)
                places = rows[numbers].take(places)
                isWithin = away <= squared[places]
                owners.append(places[isWithin])
                triangles.append(self._stars.triangles(entries[isWithin]))
        return np.concatenate(triangles), np.concatenate(owners)

    def _reach(self, squared: np.ndarray) -> np.ndarray:
        """Return how far the corners of triangles within squared distances (n,) may be."""
        return np.sqrt(squared + self._stars.largestSpread) * (1 + ROUNDING)

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
        ways = self._ways(points, owners, corners)
        isNear = dot(ways, ways) - self._stars.spreadsAround(corners) <= squared[owners]
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
        isOpen = (squared[:, -1] - self._stars.largestSpread <= limit) & (count < self._tree.n)
        if not isOpen.any():
            return numbers
        left = points[isOpen]
        isUneven = len(left) > MOST_OPEN * len(points)
        if isUneven and count < MORE_CORNERS:
            self._corners = MORE_CORNERS
            numbers[isOpen] = self._found(left, MORE_CORNERS)
        elif isUneven and self._isSmall:
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
        least, numbers = np.full(len(points), np.inf), np.zeros(len(points), np.int64)
        rounding = ROUNDING * squared[:, 0]
        # the triangles around the nearest corner leave few of the others to be looked at
        self._improve(least, numbers, np.arange(len(points)), *self._away(points, np.arange(len(points)), near[:, 0]))
        limits = least + rounding
        owners, slots = np.nonzero(squared[:, 1:] - self._stars.spreadsAround(near[:, 1:]) <= limits[:, None])
        rest = squared[owners, slots + 1] - limits.take(owners)
        self._improve(least, numbers, owners, *self._away(points, owners, near[owners, slots + 1], rest))
        return numbers, least + rounding

    def _ways(self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray) -> np.ndarray:
        """Return the ways (3, c) from corners (c,) to the points that own them, mm."""
        ways = columns(points, owners)
        ways -= columns(self._stars.corners, corners)
        return ways

    def _away(
        self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray, least: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return squared distances (k,) from points to the triangles around corners (c,), these, and around which.

        owners: (c,) the point that asks for a corner. least: (c,) what a triangle's spread must not be less than.
        """
        places, entries = self._stars.around(corners)
        if least is not None:
            isNear = np.flatnonzero(self._stars.spreads(entries) >= least.take(places))
            places, entries = places.take(isNear), entries.take(isNear)
        ways = self._ways(points, owners, corners).take(places, axis=1)
        return self._stars.squaredDistances(ways, entries), entries, places

    def _improve(
        self,
        least: np.ndarray,
        numbers: np.ndarray,
        owners: np.ndarray,
        away: np.ndarray,
        entries: np.ndarray,
        places: np.ndarray,
    ) -> None:
        """Put smaller squared distances and the numbers of their triangles in the place of those of points.

        owners: (c,) points that own corners. away, entries, places: of triangles around these, see _away().
        """
        owners = owners.take(places)
        nearer = np.flatnonzero(away < least.take(owners))
        if not len(nearer):
            return
        away, entries, owners = away.take(nearer), entries.take(nearer), owners.take(nearer)
        isFirst = np.concatenate([[True], owners[1:] != owners[:-1]])
        firsts = np.flatnonzero(isFirst)
        least[owners.take(firsts)] = np.minimum.reduceat(away, firsts)
        nearest = np.flatnonzero(away == least.take(owners))
        numbers[owners.take(nearest)] = self._stars.triangles(entries.take(nearest))

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
            owners, corners = self._cornersWithin(points[block], limit[block])
            least, found = np.full(len(block), np.inf), np.zeros(len(block), np.int64)
            self._improve(least, found, owners, *self._away(points[block], owners, corners))
            numbers[block] = found
        return numbers
