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

Between few points and corners, all powers are computed at once instead of making a search tree. Triangles far longer
than others would make all corners nearby matter: they are left out, and those whose boxes are near are tried afterward.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import chunks
from .cellcases import cases
from .ranges import levelsOf, partsOf
from .triangles import columns, distancesToTriangles, dot, orderRows

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Corners searched per point at first, and where these are not decisive; after that, all that matter are.
FEW_CORNERS, MANY_CORNERS = 7, 32
# Triangles are long if their squared radius exceeds this multiple of usual areas: all corners nearby would matter.
LONG = 100
# Corners per leaf of their search tree: larger leaves make the tree faster to build, and as fast to search.
LEAF = 20
# Up to so many distances of points to corners, all are measured, because making a search tree takes longer.
EVERY = 100_000
# Distances, and points, of which all are measured at a time.
AT_ONCE, TOGETHER = 1 << 16, 1 << 8
# Corners of all points processed at a time.
MOST_AT_ONCE = 1 << 15
# Points whose corners are searched at a time, and whose triangles are.
SEARCHED, CHUNK = 1 << 14, 1 << 12
# Relative rounding error of squared distances.
ROUNDING = 1e-12
# Compensates for rounding of squared radii.
ROUNDED_UP = 1 + 1e-6
# Squared sine of a triangle's angle below which inner products have too few digits to locate a point.
THIN = 1e-4


class NearestTriangles:
    """Finds the triangle nearest to each of many points.

    points: (n, 3) mm. cells: (m, 3) triangles of them. squaredRadii: (m,) those of the smallest circles around the
    triangles, rounded up, mm2; they are computed if None.
    """

    def __init__(self, points: np.ndarray, cells: np.ndarray, squaredRadii: np.ndarray | None = None):
        # to masks few points are searched, so that making the tree fast matters more than its quality
        self._isCompact = squaredRadii is None
        self._points, self._asked, self._table = points, 0, None
        self._rest, self._long = None, np.zeros(0, np.intp)
        if squaredRadii is None:
            self._table, squaredRadii = triangleTables(points, cells)
            # twice the median area in mm2, 1 if most are as thin as a line
            usual = float(np.median(np.abs(self._table[13]))) ** 0.5
            isLong = squaredRadii > LONG * usual
            self._long, self._longCorners = np.flatnonzero(isLong), points[cells[isLong]]
        if len(self._long):
            self._rest = np.flatnonzero(~isLong) if len(self._long) < len(cells) else np.zeros(1, np.intp)
            cells, squaredRadii, self._table = cells[self._rest], squaredRadii[self._rest], None
        self._cells, self._squaredRadii = cells, squaredRadii
        owners = np.ascontiguousarray(cells.ravel(), np.int32)
        # those around every corner
        self._triangles = (orderRows(owners) // 3).astype(np.int32)
        counts = np.bincount(owners, minlength=len(points))
        # points without triangles would hide those that have some
        used = np.flatnonzero(counts)
        self._corners = points if len(used) == len(points) else points[used]
        self._starts = np.concatenate([[0], np.cumsum(counts[used])])
        self._largestAround = np.maximum.reduceat(squaredRadii.take(self._triangles), self._starts[:-1])
        self._largest = float(self._largestAround.max())

    @cached_property
    def _products(self) -> np.ndarray:
        """(4, c) times (n, 4) points and 1: squared distances from the corners, but for those of the points from 0."""
        corners = self._corners.T
        return np.vstack([-2 * corners, dot(corners, corners)])

    @cached_property
    def _tree(self) -> cKDTree:
        # imported late: this takes longer than a small structure, and masks that lie close together need no search
        from scipy.spatial import cKDTree

        lifted = np.column_stack([self._corners, np.sqrt(self._largest - self._largestAround)])
        return cKDTree(lifted, LEAF, balanced_tree=False, compact_nodes=self._isCompact)

    def find(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3)."""
        numbers = np.empty(len(points), np.int64)
        if self._areFew(points):
            for rows in self._parts(points):
                numbers[rows] = self._nearestOf(points[rows], *self._ofAllCorners(points[rows]))
        else:
            for rows in chunks(len(points), SEARCHED):
                numbers[rows] = self._find(points[rows], FEW_CORNERS)
        if self._rest is None:
            return numbers
        # long triangles may be nearer
        least = self._squaredDistances(points, np.arange(len(points)), numbers)
        numbers = self._rest.take(numbers)
        for some, owners, squared, triangles in self._longWithin(points, least, isNearest=True):
            nearer, found = least[some], numbers[some]
            self._improve(nearer, found, squared, owners, triangles)
            numbers[some] = found
        return numbers

    def _longWithin(
        self, points: np.ndarray, squared: np.ndarray, isNearest: bool = False
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield rows of points (n, 3), numbers (k,) of points among them, and long triangles that are no farther.

        These are the ones within squared distances (n,), whose own ones (k,) come before their numbers (k,). isNearest:
        whether only the nearest matters.
        """
        low, high = self._longCorners.min(axis=1), self._longCorners.max(axis=1)
        # neighbors along the longest axis together, to which few of the triangles are near
        order = np.argsort(points[:, np.argmax((high - low).max(axis=0))])
        for part in chunks(len(points), max(1, min(TOGETHER, 16 * AT_ONCE // len(self._long)))):
            rows = order[part]
            some, reach = points[rows], float(squared[rows].max()) ** 0.5
            near = ((low <= some.max(axis=0) + reach) & (high >= some.min(axis=0) - reach)).all(axis=1)
            chosen = np.flatnonzero(near)
            # first the distances of boxes around them
            away = np.zeros((len(rows), len(chosen)))
            for coordinates, least, most in zip(some.T[..., None], low[chosen].T, high[chosen].T, strict=True):
                away += np.maximum(np.maximum(least - coordinates, coordinates - most), 0) ** 2
            limits = squared[rows] * (1 + ROUNDING)
            if isNearest and len(chosen):
                first = self._longCorners[chosen[away.argmin(axis=1)]]
                np.minimum(limits, distancesToTriangles(some, first) ** 2 * (1 + ROUNDING), out=limits)
            owners, columns = _places(away <= limits[:, None]) if len(chosen) else (chosen, chosen)
            found = distancesToTriangles(some[owners], self._longCorners[chosen[columns]]) ** 2
            isWithin = found <= limits.take(owners)
            yield rows, owners[isWithin], found[isWithin], self._long[chosen[columns[isWithin]]]

    def within(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return triangles (k,) within squared distances (n,) of points (n, 3), and the points' numbers (k,).

        A triangle may be returned more than once. Rounding decides about triangles exactly at that distance.
        """
        owners: list[np.ndarray] = [np.zeros(0, np.intp)]
        triangles: list[np.ndarray] = [np.zeros(0, np.int32)]
        isFew = self._areFew(points)
        for rows in self._parts(points) if isFew else self._blocks(points, squared):
            found = (self._ofAllCorners if isFew else self._cornersWithin)(points[rows], squared[rows])
            away, mine, near = self._away(points[rows], *found)
            isWithin = away <= squared[rows].take(mine)
            owners.append(rows.start + mine[isWithin])
            triangles.append(near[isWithin] if self._rest is None else self._rest.take(near[isWithin]))
        for chosen, mine, _, near in self._longWithin(points, squared) if self._rest is not None else ():
            owners.append(chosen[mine])
            triangles.append(near)
        return np.concatenate(triangles), np.concatenate(owners)

    def _areFew(self, points: np.ndarray) -> bool:
        return len(points) * len(self._corners) <= EVERY

    def _parts(self, points: np.ndarray) -> Iterator[slice]:
        """Yield the rows of points (n, 3) of which the distances to all corners are measured at a time."""
        return chunks(len(points), max(1, min(TOGETHER, AT_ONCE // len(self._corners))))

    def _ofAllCorners(self, points: np.ndarray, squared: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the points' numbers (c,), ascending, and corners (c,) of all triangles within squared distances.

        squared: (n,) mm2; None for the distances to the nearest corners, which the nearest triangles do not exceed.
        """
        # relative to the squared distances of the points from the origin
        away = _lift(points, 1.0) @ self._products
        own = dot(points.T, points.T)
        limits = away.min(axis=1) if squared is None else squared - own
        limits += ROUNDING * (own + self._products[3].max())
        away -= self._largestAround
        return _places(away <= limits[:, None])

    def _blocks(self, points: np.ndarray, squared: np.ndarray) -> Iterator[slice]:
        """Yield the rows of points (n, 3) in blocks with few corners in total, unless a single row has many."""
        counts = self._tree.query_ball_point(*self._ball(points, squared), return_length=True)
        return partsOf(counts, MOST_AT_ONCE)

    def _ball(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return centers (n, 4) and radii (n,) of balls that hold the corners of triangles within squared distances."""
        return _lift(points, 0.0), np.sqrt(squared + self._largest) * (1 + ROUNDING)

    def _cornersWithin(self, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same as _ofAllCorners(), from the search tree."""
        near = self._tree.query_ball_point(*self._ball(points, squared))
        owners = np.repeat(np.arange(len(near)), [len(found) for found in near])
        return owners, np.concatenate([np.zeros(0, np.intp), *near]).astype(np.intp)

    def _find(self, points: np.ndarray, count: int) -> np.ndarray:
        """Return the number of the triangle next to each point (n, 3). count: corners to search first."""
        slots = np.arange(1, min(count, self._tree.n) + 1)
        # on one thread: for this number of points, starting threads takes longer than they save
        raised, near = self._tree.query(_lift(points, 0.0), k=slots)
        raised *= raised
        numbers, limits = np.empty(len(points), np.int64), np.empty(len(points))
        for chosen in chunks(len(points), CHUNK):
            numbers[chosen], limits[chosen] = self._nearestOfCorners(points[chosen], raised[chosen], near[chosen])
        # whether corners that were not searched may matter
        isOpen = (raised[:, -1] <= limits) & (count < self._tree.n)
        left = points[isOpen]
        if len(left) and count < MANY_CORNERS:
            numbers[isOpen] = self._find(left, MANY_CORNERS)
        elif len(left):
            limits, rows = limits[isOpen] - self._largest, np.flatnonzero(isOpen)
            for block in self._blocks(left, limits):
                found = self._cornersWithin(left[block], limits[block])
                numbers[rows[block]] = self._nearestOf(left[block], *found)
        return numbers

    def _nearestOfCorners(
        self, points: np.ndarray, raised: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest of the triangles around corners to each point (n, 3), and limits (n,) for other corners.

        raised, near: (n, s) powers of the corners plus R^2, ascending, and the corners' numbers. Other corners may have
        nearer triangles only if their power plus R^2 is at most the limit, which is rounded up.
        """
        least, numbers = np.full(len(points), np.inf), np.zeros(len(points), np.int64)
        # the triangles around the first corner exclude most of the others
        self._improve(least, numbers, *self._away(points, np.arange(len(points)), near[:, 0]))
        room = self._largest + ROUNDING * (raised[:, 0] + self._largest)
        limits = least + room
        isNear = raised <= limits[:, None]
        isNear[:, 0] = False
        owners, slots = _places(isNear)
        corners = near[owners, slots]
        # for a small triangle less is subtracted than for the largest one around its corner
        rest = raised[owners, slots] - limits.take(owners) + self._largestAround.take(corners)
        self._improve(least, numbers, *self._away(points, owners, corners, rest))
        return numbers, least + room

    def _nearestOf(self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray) -> np.ndarray:
        """Return the nearest (n,) of the triangles around corners (c,) that belong to points (n, 3), by number (c,)."""
        least, numbers = np.full(len(points), np.inf), np.zeros(len(points), np.int64)
        self._improve(least, numbers, *self._away(points, owners, corners))
        return numbers

    def _away(
        self, points: np.ndarray, owners: np.ndarray, corners: np.ndarray, least: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return squared distances (k,) of points to triangles around corners (c,), these points and triangles (k,).

        owners: (c,) the point of each corner. least: (c,) triangles with a smaller squared radius are left out.
        """
        places, entries = levelsOf(self._starts.take(corners), self._starts.take(corners + 1))
        triangles = self._triangles.take(entries)
        if least is not None:
            isNear = np.flatnonzero(self._squaredRadii.take(triangles) >= least.take(places))
            places, triangles = places.take(isNear), triangles.take(isNear)
        owners = owners.take(places)
        return self._squaredDistances(points, owners, triangles), owners, triangles

    def _squaredDistances(self, points: np.ndarray, owners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return the squared distances (k,) in mm2 from points, by number (k,), to one triangle (k,) each.

        A triangle is given by a corner and the two sides from there. The distance depends only on the inner products of
        these two and of the vector from the corner to the point.

        Cancellation of digits hardly affects which triangle is nearest, except for thin ones, whose heights would be
        lost; these are computed separately.
        """
        self._asked += len(triangles)
        if self._table is None and self._asked >= len(self._cells):
            self._table, _ = triangleTables(self._points, self._cells)
        if self._table is None:
            table, _ = triangleTables(self._points, self._cells.take(triangles, axis=0))
        else:
            table = self._table.take(triangles, axis=1)
        start, sides, lengths, (between, area) = table[:3], table[3:9].reshape(2, 3, -1), table[9:12], table[12:]
        ways = columns(points, owners)
        ways -= start
        along = np.empty(lengths.shape)
        alongOne, alongOther = np.einsum("xk,sxk->sk", ways, sides, out=along[:2])
        # the third side begins where the first one ends
        np.subtract(alongOther - alongOne, between - lengths[0], out=along[2])
        weightOne = alongOne * lengths[1] - alongOther * between
        weightOther = alongOther * lengths[0] - alongOne * between
        isAbove = (weightOne >= 0) & (weightOther >= 0) & (weightOne + weightOther <= area)
        # how much less it is than to the corner: to each of the sides, and above the triangle
        share = along / lengths
        np.clip(share, 0, 1, out=share)
        less = (2 * along - share * lengths) * share
        less[2] += 2 * alongOne - lengths[0]
        weightOne *= alongOne
        weightOther *= alongOther
        result = dot(ways, ways) - np.where(isAbove, (weightOne + weightOther) / area, less.max(axis=0))
        thin = np.flatnonzero(area < 0)
        if len(thin):
            corners = np.concatenate([np.zeros((1, 3, len(thin))), sides[:, :, thin]]).transpose(2, 0, 1)
            result[thin] = distancesToTriangles(ways[:, thin].T, corners) ** 2
        return result

    @staticmethod
    def _improve(
        least: np.ndarray, numbers: np.ndarray, away: np.ndarray, owners: np.ndarray, triangles: np.ndarray
    ) -> None:
        """Update the least squared distances of points, and the numbers of their triangles, where others are nearer.

        away, owners, triangles: see _away(); the owners ascend.
        """
        nearer = np.flatnonzero(away <= least.take(owners))
        if not len(nearer):
            return
        away, triangles, owners = away.take(nearer), triangles.take(nearer), owners.take(nearer)
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        improved, found = owners.take(firsts), np.minimum.reduceat(away, firsts)
        numbers[improved[found < least.take(improved)]] = np.iinfo(numbers.dtype).max
        least[improved] = found
        nearest = np.flatnonzero(away == least.take(owners))
        # of equally near ones the first, so that the same is found whatever else the tree holds
        np.minimum.at(numbers, owners.take(nearest), triangles.take(nearest))


def _lift(points: np.ndarray, height: float) -> np.ndarray:
    """Return points (n, 3) with a height as fourth coordinate, (n, 4)."""
    lifted = np.full((len(points), 4), height)
    lifted[:, :3] = points
    return lifted


def _places(flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows (k,), ascending, and columns (k,) of true flags (n, c), many times faster than np.nonzero()."""
    rows, columns = np.divmod(np.flatnonzero(flags), flags.shape[1])
    return rows, columns


def triangleTables(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what distances to triangles (m, 3) of points (n, 3) depend on, (14, m), and their squared radii (m,), mm2.

    A column holds the first corner, the sides from there to the other two, the squared lengths of these and of the
    third side, the inner product of the two, and 4 times the squared area: the product of the first two lengths less
    the square of the inner product. Thin triangles have an area of -1, and lengths of 1.
    """
    result, squaredRadii = np.empty((14, len(cells))), np.empty(len(cells))
    for chosen in chunks(len(cells)):
        a, b, c = (columns(points, column) for column in cells[chosen].T)
        one, other = b - a, c - a
        lengthOne, lengthOther, between = dot(one, one), dot(other, other), dot(one, other)
        both = lengthOne * lengthOther
        area, across = both - between * between, dot(b - c, b - c)
        longest = np.maximum(np.maximum(lengthOne, lengthOther), across)
        # the circle goes through all corners of an acute triangle; otherwise the longest side is its diameter
        isAcute = (lengthOne + lengthOther + across > 2 * longest) & (area > 0)
        around = np.where(isAcute, both * across / np.where(isAcute, 4 * area, 1), 0)
        # the range of possible values, in spite of rounding in thin triangles
        np.multiply(np.clip(around, longest / 4, longest / 3), ROUNDED_UP, out=squaredRadii[chosen])
        isThin = area <= THIN * both
        result[:, chosen] = np.concatenate([a, one, other, [lengthOne, lengthOther, across, between, area]])
        result[9:, chosen][:, isThin] = np.array([[1], [1], [1], [0], [-1]])
    return result, squaredRadii


@lru_cache(maxsize=32)
def squaredRadiiOfCases(axes: tuple[float, ...]) -> np.ndarray:
    """Return the squared radii (189,) in mm2 of the triangles of all cases. axes: (9,) the steps between voxels, mm."""
    corners = cases().triangles @ np.reshape(axes, (3, 3)).T
    return triangleTables(corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3))[1]
