"""Upper bounds of the distance to another boundary that covers a piece of boundary without a gap.

The idea
--------
From a small triangle, a *piece* of one boundary, look straight up along the normal of the nearest triangle of the other
one. If the other boundary covers the piece like a roof, then nothing on the piece is farther from it than the height of
the roof. This height is piecewise linear, as piece and roof are: over all of the piece it is largest at one of its
corners, or where a side of one of the roof's triangles ends above the piece or passes over its rim.

Whether a roof has no gap is decided by its sides: for every side that passes over the piece, the triangle beyond it has
to be part of the roof as well, and to face the same way. Then the covered part has no end above the piece: if anything
is covered, all of the piece is.

Unlike bounds by single triangles, this one is independent of the triangulation of the roof. For one shape with two
triangulations it quickly finds that the two are the same.
"""

from __future__ import annotations

import numpy as np

from ..geometry.closest import ClosestSurface
from ..geometry.triangles import distancesToTriangles

# Triangles steeper than this, as the cosine of the angle between their normal and the upward direction, are no roof.
STEEP = 0.1
# A roof is searched this much farther than the triangle next to a piece's center, per mm between center and rim.
SLOPE = 0.3
# Fraction of a triangle's area by which a place may lie beside it, to allow for rounding.
ROUNDING = 1e-9
# Pieces whose area, seen from above, is a smaller fraction of their squared size are treated as lines.
THIN = 1e-9
# Pieces are shrunk to no less than this fraction of their size.
MOST_INSET = 0.5
NEXT = np.array([1, 2, 0])


def coverBounds(pieces: np.ndarray, nearest: np.ndarray, other: ClosestSurface, margin: float) -> np.ndarray:
    """Return upper bounds (k,) in mm of the distance from pieces to another boundary; inf where it is no roof.

    pieces: (k, 3, 3) corners of triangles, mm. nearest: (k, 3, 3) corners of the other boundary's triangle next to each
    center. margin: mm by which bounds may be too large; the rim of a piece is left out to this width, so that rounding
    does not matter where a roof ends exactly at the rim.
    """
    centers, axes = pieces.mean(axis=1), _axes(nearest)
    local = (pieces - centers[:, None]) @ axes
    area = _across(local)[:, 2]
    local = np.where((area < 0)[:, None, None], local[:, ::-1], local)
    reach = np.linalg.norm(local, axis=2).max(axis=1)
    hasArea = np.abs(area) > THIN * reach**2
    away = distancesToTriangles(centers, nearest) + SLOPE * reach
    numbers, owners = other.trianglesWithin(centers, reach**2 + away**2)
    # sorted and without repetitions
    count = len(other.across)
    keys = np.unique(owners * count + numbers)
    owners, numbers = np.divmod(keys, count)
    roofs = (other.triangles(numbers) - centers[owners, None]) @ axes[owners]
    across = _across(roofs)
    isRoof = (across[:, 2] > STEEP * np.linalg.norm(across, axis=1)) & hasArea[owners]
    keys, owners, numbers, roofs = keys[isRoof], owners[isRoof], numbers[isRoof], roofs[isRoof]

    inset = np.maximum(1 - margin / np.maximum(reach, margin), MOST_INSET)
    below = (local * inset[:, None, None])[owners]
    atCorners = np.full((3, len(pieces)), -np.inf)
    for corner, gaps in enumerate(atCorners):
        np.maximum.at(gaps, owners, _gapsAbove(below, corner, roofs))
    # a corner without a triangle above it means that there is no roof
    highest, isWhole = atCorners.max(axis=0), atCorners.min(axis=0) >= 0
    for side in range(3):
        rows, gaps = _gapsAlong(below, roofs, side)
        np.maximum.at(highest, owners[rows], gaps)
        beyond = other.across[numbers[rows], side]
        isThere = (beyond >= 0) & _areIn(owners[rows] * count + beyond, keys)
        isWhole[owners[rows[~isThere]]] = False
    return np.where(isWhole, highest + margin, np.inf)


def _areIn(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Return whether each of some values (n,) is among others (m,), which are in ascending order."""
    places = np.searchsorted(ascending, values).clip(max=len(ascending) - 1)
    return ascending.take(places) == values if len(ascending) else np.zeros(len(values), bool)


def _axes(triangles: np.ndarray) -> np.ndarray:
    """Return three axes (k, 3, 3) in columns, the last one up from triangles (k, 3, 3); zeros where one has no area."""
    along, up = triangles[:, 1] - triangles[:, 0], _across(triangles)
    vectors = np.stack([along, np.cross(up, along), up], axis=2)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    isFlat = lengths.min(axis=2, keepdims=True) > 0
    return np.where(isFlat, vectors / np.where(isFlat, lengths, 1), 0)


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the third component (...) of the cross product of vectors (..., 2 or 3)."""
    return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]


def _across(triangles: np.ndarray) -> np.ndarray:
    """Return normal vectors (k, 3) of triangles (k, 3, 3), whose length is twice the area."""
    return np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def _height(triangles: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the heights (c,) of triangles (c, 3, 3) at places (c, 3), and the least barycentric weights (c,) there.

    Places may lie beside the triangle, where the least weight is negative.
    """
    ways = triangles - places[:, None]
    weights = _cross(ways[:, NEXT], ways[:, NEXT[NEXT]])
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights * triangles[:, :, 2]).sum(axis=1), weights.min(axis=1)


def _gapsAbove(pieces: np.ndarray, corner: int, roofs: np.ndarray) -> np.ndarray:
    """Return the vertical gaps (c,) between a corner of pieces (c, 3, 3) and triangles (c, 3, 3); -inf beside these."""
    heights, least = _height(roofs, pieces[:, corner])
    return np.where(least >= -ROUNDING, np.abs(heights - pieces[:, corner, 2]), -np.inf)


def _gapsAlong(pieces: np.ndarray, roofs: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of triangles (c, 3, 3) with a given side above pieces (c, 3, 3), and the largest gaps there."""
    start, end = roofs[:, side], roofs[:, NEXT[side]]
    enters, leaves = np.zeros(len(roofs)), np.ones(len(roofs))
    for corner in range(3):
        rim = pieces[:, NEXT[corner]] - pieces[:, corner]
        first, last = _cross(rim, start - pieces[:, corner]), _cross(rim, end - pieces[:, corner])
        change = first - last
        meets = first / np.where(change == 0, 1, change)
        enters = np.where(first < 0, np.maximum(enters, meets), enters)
        leaves = np.where(last < 0, np.minimum(leaves, meets), leaves)
        leaves = np.where(np.maximum(first, last) <= 0, -1.0, leaves)
    rows = np.flatnonzero(enters < leaves)
    gaps = np.zeros(len(rows))
    for share in (enters[rows], leaves[rows]):
        place = start[rows] + share[:, None] * (end[rows] - start[rows])
        np.maximum(gaps, np.abs(place[:, 2] - _height(pieces[rows], place)[0]), out=gaps)
    return rows, gaps
