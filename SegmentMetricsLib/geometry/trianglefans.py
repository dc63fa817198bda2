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
        one, other, (lengthOne, lengthOther, between, area) = table[3:6], table[6:9], table[9:]
        ways = columns(points, owners)
        ways -= table[:3]
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
        thin = np.flatnonzero(area < 0)
        if len(thin):
            corners = np.stack([np.zeros((len(thin), 3)), one[:, thin].T, other[:, thin].T], axis=1)
            result[thin] = distancesToTriangles(ways[:, thin].T, corners) ** 2
        return result


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


def tables(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what distances to triangles (m, 3) of points (n, 3) depend on, (13, m), and their spreads (m,), mm2.

    A column holds the first corner, the sides from there to the other two, the inner products of the first side with
    itself, of the second with itself and of both, and 4 times the squared area: the product of the first two less the
    square of the third. Thin triangles have an area of -1, and products that are safe to divide by.
    """
    result, spreads = np.empty((13, len(cells))), np.empty(len(cells))
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
        for values, safe in ((lengthOne, 1), (lengthOther, 1), (between, 0), (area, -1)):
            values[isThin] = safe
        result[:, chosen] = np.concatenate([a, one, other, [lengthOne, lengthOther, between, area]])
    return result, spreads


@lru_cache(maxsize=32)
def caseSpreads(axes: tuple[float, ...]) -> np.ndarray:
    """Return the spreads (189,) in mm2 of the triangles of all cases. axes: (9,) the steps between voxels, mm."""
    corners = cases().triangles @ np.reshape(axes, (3, 3)).T
    return tables(corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3))[1]
