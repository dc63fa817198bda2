"""The triangle nearest to each of many points, found through the corners next to them.

The idea
--------
A search tree of points answers within a microsecond or two; one of triangles takes ten times as long. For small
triangles the first is nearly as informative as the second. A place p on a triangle is a weighted mean of its corners c,
and for any point x

    |x - p|^2  =  (weighted mean of |x - c|^2)  -  (that of |p - c|^2)  >=  min over c of |x - c|^2  -  r^2,

where r is the radius of the smallest circle around the triangle. The nearest triangle is no farther than any other, in
particular those around the nearest corner. So it has a corner whose squared distance exceeds that of the nearest of
these triangles by at most r^2. Far from the surface this is a small difference: usually one or two more corners are
left, with the few triangles around each.

Corners are searched by this lower bound, their *power*: |x - c|^2 - r^2, with r of the largest triangle around the
corner. As soon as the powers of the corners found reach the squared distance of the nearest of their triangles, no
other corner matters, however large triangles elsewhere are. A search tree of points sorts by power if every corner is
lifted in a fourth dimension by the root of R^2 - r^2, with R the largest r of all: squared distances there are powers
plus R^2. (Aurenhammer, Power diagrams, SIAM Journal on Computing 16, 1987, doi:10.1137/0216006.)

Where some triangles are so large that many corners are left, a search tree of triangles is used instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import checkpoint
from .trianglefans import LatticeShapes, TriangleFans
from .triangles import columns

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Corners searched per point: at first, where these are not decisive, and at most; beyond that, a search tree of
# triangles is usually much faster.
FEW_CORNERS, MANY_CORNERS, ALL_CORNERS = 7, 32, 64
# Corners per leaf of their search tree: larger leaves make the tree faster to build, and as fast to search.
LEAF = 20
# Up to this many triangles, a search tree of them is built quickly.
FEW_TRIANGLES = 20_000
# If more than this fraction of points is undecided after MANY_CORNERS, a search tree of few triangles is faster.
MOST_OPEN = 0.25
# Corners of all points processed at a time.
MOST_AT_ONCE = 1 << 15
# Points whose corners are searched at a time.
SEARCHED = 1 << 14
# Points whose triangles are processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 12
# Up to this many distances from points to corners, those within a distance are found by measuring all of them, for this
# many points at a time: the import of SciPy takes longer.
EVERY, FEW = 1_500_000, 32
# Relative rounding error of squared distances.
ROUNDING = 1e-12


class NearestTriangles:
    """Finds the triangle nearest to each of many points.

    points: (n, 3) mm. cells: (m, 3) triangles of them. otherwise: does the same for points (k, 3) for which corners are
    not decisive. shapes: of the triangles, if these are known without the points.
    """

    def __init__(
        self,
        points: np.ndarray,
        cells: np.ndarray,
        otherwise: Callable[[np.ndarray], np.ndarray],
        shapes: LatticeShapes | None = None,
    ):
        self._otherwise, self._isSmall = otherwise, len(cells) <= FEW_TRIANGLES
        self._fans = TriangleFans(points, cells, shapes)
        self._largest = float(self._fans.largestAround.max())
        # for masks few points are searched, so that building a tree fast matters more than its quality
        self._isCompact = shapes is None

    @cached_property
    def _columns(self) -> np.ndarray:
        """(3, c) coordinates of the corners, mm."""
        return np.ascontiguousarray(self._fans.corners.T)

    @cached_property
    def _tree(self) -> cKDTree:
        # imported late: this takes longer than a small structure, and masks that lie close together need no search
        from scipy.spatial import cKDTree

        lifted = np.column_stack([self._fans.corners, np.sqrt(self._largest - self._fans.largestAround)])
        return cKDTree(lifted, LEAF, balanced_tree=False, compact_nodes=self._isCompact)

    def find(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3)."""
        numbers = np.empty(len(points), np.int64)
        for first in range(0, len(points), SEARCHED):
            checkpoint()
            numbers[first : first + SEARCHED] = self._found(points[first : first + SEARCHED], FEW_CORNERS)
        return numbers

    def within(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return triangles (k,) within squared distances (n,) of points (n, 3), and the points' numbers (k,).

        A triangle may be returned more than once. Rounding decides about triangles exactly at that distance.
        """
        owners, triangles = [np.zeros(0, np.intp)], [np.zeros(0, np.int32)]
        isFew = len(points) * len(self._fans.corners) <= EVERY
        search = self._ofAllCorners if isFew else self._cornersWithin
        for first in range(0, len(points), FEW if isFew else SEARCHED):
            chosen = np.arange(first, min(first + (FEW if isFew else SEARCHED), len(points)))
            blocks = [chosen] if isFew else self._blocks(chosen, self._countsWithin(points[chosen], squared[chosen]))
            for rows in blocks:
                checkpoint()
                numbers, corners = search(points[rows], squared[rows])
                away, entries, places = self._away(points, rows[numbers], corners)
                places = rows[numbers].take(places)
                isWithin = away <= squared[places]
                owners.append(places[isWithin])
                triangles.append(self._fans.triangles(entries[isWithin]))
        return np.concatenate(triangles), np.concatenate(owners)

    def _countsWithin(self, points: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Return the number (n,) of corners that triangles within squared distances (n,) of points (n, 3) may have."""
        return self._tree.query_ball_point(*self._ball(points, squared), return_length=True)

    def _ball(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return centers (n, 4) and radii (n,) of balls that hold the corners of triangles within squared distances."""
        return _level(points), np.sqrt(squared + self._largest) * (1 + ROUNDING)

    @staticmethod
    def _blocks(rows: np.ndarray, counts: np.ndarray) -> Iterator[np.ndarray]:
        """Yield rows (n,) in blocks with few corners in total, unless a single row has many."""
        blocks = np.cumsum(counts) // MOST_AT_ONCE
        for block in np.split(rows, np.flatnonzero(np.diff(blocks)) + 1):
            checkpoint()
            if len(block):
                yield block

    def _cornersWithin(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the points' numbers (c,), ascending, and corners (c,) of all triangles within squared distances."""
        near = self._tree.query_ball_point(*self._ball(points, squared))
        owners = np.repeat(np.arange(len(near)), [len(found) for found in near])
        return owners, np.concatenate([np.zeros(0, np.intp), *near]).astype(np.intp)

    def _ofAllCorners(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same as _cornersWithin() without a search tree."""
        away = np.tile(-self._fans.largestAround, (len(points), 1))
        for place, corner in zip(points.T, self._columns, strict=True):
            way = np.subtract.outer(place, corner)
            away += np.square(way, out=way)
        owners, corners = np.nonzero(away <= (squared * (1 + ROUNDING) + ROUNDING * self._largest)[:, None])
        return owners, corners

    def _found(self, points: np.ndarray, count: int) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3). count: corners to search first."""
        slots = np.arange(1, min(count, self._tree.n) + 1)
        # on one thread: for this number of points, starting threads takes longer than they save
        raised, near = self._tree.query(_level(points), k=slots)
        raised *= raised
        numbers, limits = np.empty(len(points), np.int64), np.empty(len(points))
        for first in range(0, len(points), CHUNK):
            chosen = slice(first, first + CHUNK)
            numbers[chosen], limits[chosen] = self._nearestOfCorners(points[chosen], raised[chosen], near[chosen])
        # whether corners that were not searched may matter
        isOpen = (raised[:, -1] <= limits) & (count < self._tree.n)
        if not isOpen.any():
            return numbers
        left = points[isOpen]
        if count < MANY_CORNERS:
            numbers[isOpen] = self._found(left, MANY_CORNERS)
        elif self._isSmall and len(left) > MOST_OPEN * len(points):
            numbers[isOpen] = self._otherwise(left)
        else:
            numbers[isOpen] = self._fromAll(left, limits[isOpen] - self._largest)
        return numbers

    def _nearestOfCorners(
        self, points: np.ndarray, raised: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest of the triangles around corners to each point (n, 3), and limits (n,) for other corners.

        raised, near: (n, s) powers of the corners plus R^2, ascending, and the corners' numbers. Other corners may have
        nearer triangles only if their power plus R^2 is at most the limit, which is rounded up.
        """
        least, numbers = np.full(len(points), np.inf), np.zeros(len(points), np.int64)
        every = np.arange(len(points))
        # the triangles around the first corner exclude most of the others
        self._improve(least, numbers, every, *self._away(points, every, near[:, 0]))
        room = self._largest + ROUNDING * (raised[:, 0] + self._largest)
        limits = least + room
        owners, slots = np.nonzero(raised[:, 1:] <= limits[:, None])
        corners = near[owners, slots + 1]
        # for a small triangle less is subtracted than for the largest one around its corner
        rest = raised[owners, slots + 1] - limits.take(owners) + self._fans.largestAround.take(corners)
        self._improve(least, numbers, owners, *self._away(points, owners, corners, rest))
        return numbers, least + room

    def _ways(self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray) -> np.ndarray:
        """Return the vectors (3, c) from corners (c,) to the points that own them, mm."""
        ways = columns(points, owners)
        ways -= columns(self._fans.corners, corners)
        return ways

    def _away(
        self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray, least: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return squared distances (k,) from points to triangles around corners (c,), these entries, and their corners.

        owners: (c,) the point of each corner. least: (c,) triangles with a smaller spread are left out.
        """
        places, entries = self._fans.around(corners)
        if least is not None:
            isNear = np.flatnonzero(self._fans.spreads(entries) >= least.take(places))
            places, entries = places.take(isNear), entries.take(isNear)
        ways = self._ways(points, owners, corners).take(places, axis=1)
        return self._fans.squaredDistances(ways, entries), entries, places

    def _improve(
        self,
        least: np.ndarray,
        numbers: np.ndarray,
        owners: np.ndarray,
        away: np.ndarray,
        entries: np.ndarray,
        places: np.ndarray,
    ) -> None:
        """Update the least squared distances of points, and the numbers of their triangles, where others are nearer.

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
        numbers[owners.take(nearest)] = self._fans.triangles(entries.take(nearest))

    def _fromAll(self, points: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3) from all corners that may matter, or otherwise.

        limit: (n,) upper bounds of the squared distances to the nearest triangles.
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


def _level(points: np.ndarray) -> np.ndarray:
    """Return points (n, 3) with 0 as fourth coordinate, (n, 4)."""
    level = np.zeros((len(points), 4))
    level[:, :3] = points
    return level
