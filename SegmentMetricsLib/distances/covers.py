"""How far places are from another boundary at most that covers them without a gap.

The idea
--------
Look from a small triangle, a *piece* of one boundary, straight up, along the normal of what is next to it on the other
one. If the other boundary covers the piece like a roof, then nothing on the piece is farther from it than straight up.
How high that is, is linear between piece and roof as long as both are: over all of the piece it is largest at one of
its corners, or where a side of the roof's triangles ends above the piece or passes over its rim.

That a roof has no gap is seen by its sides: of every side that passes over the piece the triangle beyond it has to be
of the roof as well, and to face the same way. Then what is covered ends nowhere above the piece: it is all of the
piece, if it is anything.

Other than bounds by single triangles, this one does not mind how the roof is cut into triangles. Of one shape with two
triangulations it tells soon that the two are the same.
"""

from __future__ import annotations

import numpy as np

from ..geometry.closest import ClosestSurface
from ..geometry.triangles import distancesToTriangles

# Triangles steeper than this, as the cosine of the angle between their normal and the way up, are no roof.
STEEP = 0.1
# How much farther than the triangle next to its center a piece's roof may be at the rim, per mm from there.
SLOPE = 0.3
# Share of a triangle's area by which a place may lie beside it, as far as rounding goes.
ROUNDING = 1e-9
# Pieces whose area is a smaller share of their squared size, seen from above, are as good as lines.
THIN = 1e-9
# Share of its size by which a piece is made smaller at most.
MOST_INSET = 0.5
NEXT = np.array([1, 2, 0])


def coverBounds(pieces: np.ndarray, nearest: np.ndarray, other: ClosestSurface, margin: float) -> np.ndarray:
    """Return what the distance (k,) in mm to another boundary may be on pieces at most; inf where it is no roof.

    pieces: (k, 3, 3) corners of triangles, mm. nearest: (k, 3, 3) those of the other's triangle next to each center.
    margin: mm that bounds may be too large; of a piece's rim so much is left out, lest rounding decides where a roof
    ends together with it.
    """
    centers, axes = pieces.mean(axis=1), _axes(nearest)
    local = (pieces - centers[:, None]) @ axes
    area = _across(local)[:, 2]
    local = np.where((area < 0)[:, None, None], local[:, ::-1], local)
    reach = np.linalg.norm(local, axis=2).max(axis=1)
    hasArea = np.abs(area) > THIN * reach**2
    away = distancesToTriangles(centers, nearest) + SLOPE * reach
    numbers, owners = other.trianglesWithin(centers, reach**2 + away**2)
    # each once, in order
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
    # where no triangle is above a corner there is no roof
    highest, isWhole = atCorners.max(axis=0), atCorners.min(axis=0) >= 0
    for side in range(3):
        rows, gaps = _gapsAlong(below, roofs, side)
        np.maximum.at(highest, owners[rows], gaps)
        beyond = other.across[numbers[rows], side]
        isThere = (beyond >= 0) & _areIn(owners[rows] * count + beyond, keys)
        isWhole[owners[rows[~isThere]]] = False
    return np.where(isWhole, highest + margin, np.inf)


def _areIn(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Return which values (n,) are among others (m,) in ascending order."""
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
    """Return the vectors (k, 3) across triangles (k, 3, 3), as long as twice their area."""
    return np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def _height(triangles: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how high triangles (c, 3, 3) are at places (c, 3), which may lie beside them, and where these do.

    Where: (c,) the least of the places' weights, negative beside the triangle.
    """
    ways = triangles - places[:, None]
    weights = _cross(ways[:, NEXT], ways[:, NEXT[NEXT]])
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights * triangles[:, :, 2]).sum(axis=1), weights.min(axis=1)


def _gapsAbove(pieces: np.ndarray, corner: int, roofs: np.ndarray) -> np.ndarray:
    """Return how far (c,) triangles (c, 3, 3) are above or below a corner of pieces (c, 3, 3); -inf beside it."""
    heights, least = _height(roofs, pieces[:, corner])
    return np.where(least >= -ROUNDING, np.abs(heights - pieces[:, corner, 2]), -np.inf)


def _gapsAlong(pieces: np.ndarray, roofs: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which triangles (c, 3, 3) have their side of that number above pieces (c, 3, 3), and how far at most."""
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
