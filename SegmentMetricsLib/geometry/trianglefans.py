"""Distances from points to the triangles around corners next to them.

The triangles around a corner are its fan. A triangle is given by a corner and the two sides from there. The distance
depends only on the inner products of these two and of the vector from the corner to the point.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from ..base.progress import chunks
from .cellcases import cases
from .edges import inOrder
from .ranges import levelsOf
from .triangles import columns, distancesToTriangles, dot

# Compensates for rounding of spreads.
ROUNDED_UP = 1 + 1e-6
# Squared sine of a triangle's angle below which inner products have too few digits to locate a point.
THIN = 1e-4


class TriangleFans:
    """The triangles around every corner of a surface.

    points: (n, 3) mm. cells: (m, 3) triangles of them. corners: (c, 3) the points used by triangles, mm, whose numbers
    identify the fans. spreads: (m,) squared radii of the smallest circles around the triangles, rounded up, mm2; they
    are computed if None. largestAround: (c,) the largest of them around each corner.
    """

    def __init__(self, points: np.ndarray, cells: np.ndarray, spreads: np.ndarray | None = None):
        self._points, self._cells, self._asked = points, cells, 0
        owners = np.ascontiguousarray(cells.ravel(), np.int32)
        self._triangles = (inOrder(owners) // 3).astype(np.int32)
        counts = np.bincount(owners, minlength=len(points))
        # points without triangles would hide those that have some
        used = np.flatnonzero(counts)
        self.corners = points if len(used) == len(points) else points[used]
        self._starts = np.concatenate([[0], np.cumsum(counts[used])])
        self.spreads = self._every[1] if spreads is None else spreads
        self.largestAround = np.maximum.reduceat(self.spreads.take(self._triangles), self._starts[:-1])

    @cached_property
    def _every(self) -> tuple[np.ndarray, np.ndarray]:
        return tables(self._points, self._cells)

    @property
    def usualArea(self) -> float:
        """Twice the median area of triangles in mm2, 1 if most are as thin as a line."""
        return float(np.median(np.abs(self._every[0][13]))) ** 0.5

    def around(self, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return for every triangle around corners (c,) the row (k,) of its corner, ascending, and its number (k,)."""
        places, entries = levelsOf(self._starts.take(corners), self._starts.take(corners + 1))
        return places, self._triangles.take(entries)

    def squaredDistances(self, points: np.ndarray, owners: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Return the squared distances (k,) in mm2 from points, by number (k,), to one triangle (k,) each.

        Cancellation of digits hardly affects which triangle is nearest, except for thin ones, whose heights would be
        lost; these are computed separately.
        """
        self._asked += len(triangles)
        if "_every" not in self.__dict__ and self._asked < len(self._cells):
            table, _ = tables(self._points, self._cells.take(triangles, axis=0))
        else:
            table = self._every[0].take(triangles, axis=1)
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


def tables(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what distances to triangles (m, 3) of points (n, 3) depend on, (14, m), and their spreads (m,), mm2.

    A column holds the first corner, the sides from there to the other two, the squared lengths of these and of the
    third side, the inner product of the two, and 4 times the squared area: the product of the first two lengths less
    the square of the inner product. Thin triangles have an area of -1, and lengths of 1.
    """
    result, spreads = np.empty((14, len(cells))), np.empty(len(cells))
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
        np.multiply(np.clip(around, longest / 4, longest / 3), ROUNDED_UP, out=spreads[chosen])
        isThin = area <= THIN * both
        result[:, chosen] = np.concatenate([a, one, other, [lengthOne, lengthOther, across, between, area]])
        result[9:, chosen][:, isThin] = np.array([[1], [1], [1], [0], [-1]])
    return result, spreads


@lru_cache(maxsize=32)
def caseSpreads(axes: tuple[float, ...]) -> np.ndarray:
    """Return the spreads (189,) in mm2 of the triangles of all cases. axes: (9,) the steps between voxels, mm."""
    corners = cases().triangles @ np.reshape(axes, (3, 3)).T
    return tables(corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3))[1]
