"""The largest distance of one boundary to another, with guaranteed bounds.

The idea
--------
Samples alone never determine the largest distance: the farthest place may lie between them. But the distance to a
boundary changes by at most 1 mm per mm, so a piece of boundary whose samples are all well below the largest one cannot
contain the farthest place; it is left out. The remaining pieces are cut, and cut again, until their upper bounds exceed
the largest sample by no more than is wanted (branch and bound).

A bound that only knows "1 mm per mm" decreases slowly, and excludes nothing where a whole face is equally far. A second
one is much better. Let T be any triangle of the other boundary. Nothing is farther from the other boundary than from T,
and the distance from T is a convex function, whose largest value over a piece is at one of its corners:

    distance(x) <= |x - T| <= max over corners c of |c - T|       for every x on the piece.

Where all of the piece is nearest to the same T, this immediately is the largest distance itself. But the farthest place
often is where several triangles are equally far, and where moving toward any of them reduces the distance. There a
weighted mean of the distances from several triangles, which is also convex and never less than the smallest of them,

    distance(x) <= sum of w_T |x - T| <= max over corners c of sum of w_T |c - T|,

balances distances that grow along the way against those that shrink. The bound holds for all weights; the best of a
fixed set is taken.

Neither bound is good where very many pieces are equally far and each lies below several triangles, as on one shape with
two triangulations. Where many pieces are left, the bound for covered pieces is tried (covers.py).

Where distances count toward one side only, a piece on the other side may be far from the boundary and yet irrelevant.
Only the first bound excludes such pieces, and those that touch the boundary from there would be cut to the very end. On
a lattice the voxels show beforehand which of them stay on their side (nestedSurfaces() in cellcases.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..base.progress import checkpoint
from ..geometry.triangles import distancesToTriangles
from .linear import PIECES

# The corners before and after each corner, by their number.
BEFORE_AND_AFTER = {2: ([1, 0], [1, 0]), 3: ([2, 0, 1], [1, 2, 0])}
# Weights of several triangles are whole multiples of 1 / PARTS_OF_WEIGHT.
PARTS_OF_WEIGHT = 8
# Pieces processed at a time, for close bounds and for the simple first one, so that temporary arrays stay small.
CHUNK, MANY = 4096, 1 << 15
# Only above this many pieces is it worth checking whether the other boundary covers them.
FEW_TO_COVER = 100
# Rounding error of a distance, as a fraction of the acceptable gap between the bounds.
ROUNDING = 2e-4
# Limit of pieces cut in total, at which the bounds stay as wide as they are. Where distances toward the other side do
# not count, pieces that touch the other boundary from there are cut in vain: only their size bounds their distances.
MOST_PIECES, MOST_OF_SIDE = 40_000, 10_000


def farthest(
    elements: np.ndarray,
    values: np.ndarray,
    distances: Callable[[np.ndarray], np.ndarray],
    nearestTriangles: Callable[[np.ndarray], np.ndarray],
    wanted: float,
    known: float = 0.0,
    most: int = MOST_PIECES,
    covered: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[float, float, np.ndarray]:
    """Return bounds in mm of the largest distance on some elements, and the place (3,) of the lower bound.

    elements: (k, 2 or 3, 3) corners of segments or triangles in mm. values: (k, 2 or 3) distances there, mm, negative
    where they do not count because they lie toward the other side. distances: returns the same for points (n, 3).
    nearestTriangles: returns the other boundary's triangles (n, 3, 3) next to points (n, 3). wanted: acceptable gap
    between the bounds, mm. known: a distance in mm already found elsewhere, below which these elements do not matter;
    the upper bound shows whether they may exceed it. most: limit of pieces to cut. covered: returns upper bounds (k,)
    of the distance on elements, given these and the triangles next to their centers; used where many are left.
    """
    worst = values.argmax()
    lowest, place = float(values.flat[worst]), elements.reshape(-1, 3)[worst]
    highest = lowest
    rounding = ROUNDING * wanted
    looked, ofParents = 0, np.full(len(elements), np.inf)
    while len(elements):
        checkpoint()
        parts = [slice(first, first + MANY) for first in range(0, len(elements), MANY)]
        bounds = np.concatenate([slowBounds(elements[part], values[part]) for part in parts]) + rounding
        np.minimum(bounds, ofParents, out=bounds)
        enough = max(lowest, known) + wanted
        # close bounds are never below the distance at a corner, on either side: try only elements they can exclude
        possible = np.flatnonzero((bounds > enough) & (np.abs(values).max(axis=1) <= enough))
        _lower(bounds, possible, elements, nearestTriangles, covered, enough, rounding, most)
        isPossible = bounds > enough
        looked += int(np.count_nonzero(isPossible))
        if looked > most:
            highest = max(highest, float(bounds.max()))
            break
        highest = max(highest, float(bounds[~isPossible].max(initial=0.0)))
        ofParents = np.repeat(bounds[isPossible], len(PIECES[elements.shape[1]]))
        elements, values = cut(elements[isPossible], values[isPossible], distances)
        if values.max(initial=-np.inf) > lowest:
            worst = values.argmax()
            lowest, place = float(values.flat[worst]), elements.reshape(-1, 3)[worst]
    return lowest, max(highest, lowest), place


def _lower(
    bounds: np.ndarray,
    left: np.ndarray,
    elements: np.ndarray,
    nearestTriangles: Callable[[np.ndarray], np.ndarray],
    covered: Callable[[np.ndarray, np.ndarray], np.ndarray] | None,
    enough: float,
    rounding: float,
    most: int,
) -> None:
    """Lower the bounds (k,) in mm of elements `left` (c,), given by number, trying one method after the other.

    enough: bounds need not be lower than this, mm. rounding: error of a distance, mm. The other parameters are those of
    farthest().
    """
    nearest = np.empty((len(elements), 3, 3))  # only rows that are written to take memory

    def lower(bound: Callable[[np.ndarray], np.ndarray]) -> None:
        nonlocal left
        for first in range(0, len(left), CHUNK):
            rows = left[first : first + CHUNK]
            bounds[rows] = np.minimum(bounds[rows], bound(rows) + rounding)
        left = left[bounds[left] > enough]

    def byOne(rows: np.ndarray) -> np.ndarray:
        nearest[rows] = nearestTriangles(elements[rows].mean(axis=1))
        return distancesToTriangles(elements[rows], nearest[rows, None]).max(axis=1)

    lower(byOne)
    if covered and len(left) > FEW_TO_COVER:
        lower(lambda rows: covered(elements[rows], nearest[rows]))
    if len(left) <= most:  # of more, too many would be left anyway
        lower(lambda rows: balancedBounds(elements[rows], nearest[rows], nearestTriangles))


def nearCorner(corners: int) -> float:
    """Return an upper bound of the distance from any place on an element to its nearest corner.

    As a fraction of the element's longest side.
    """
    return 1 / 2 if corners == 2 else 1 / 3**0.5


def slowBounds(elements: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return upper bounds (k,) of the distance on elements, as it changes by at most 1 mm per mm.

    The sum of a place's distances to all corners is at most the sum of the two longer sides.
    """
    before, after = BEFORE_AND_AFTER[elements.shape[1]]
    sides = np.linalg.norm(elements - elements[:, before], axis=2)
    near = sides.max(axis=1) * nearCorner(elements.shape[1])
    # nothing is farther from a corner than the other end of the longer side there
    longer = np.maximum(sides, sides[:, after])
    fromOne = np.minimum(values.max(axis=1) + near, (values + longer).min(axis=1))
    fromAll = (values.sum(axis=1) + sides.sum(axis=1) - sides.min(axis=1)) / elements.shape[1]
    return np.minimum(fromOne, fromAll)


def balancedBounds(elements: np.ndarray, nearest: np.ndarray, nearestTriangles) -> np.ndarray:
    """Return upper bounds (k,) in mm of the distance on elements (k, c, 3), by weighting several triangles.

    nearest: (k, 3, 3) the triangles next to their centers, mm. The other triangles are those next to their corners.
    """
    count, corners = elements.shape[:2]
    others = nearestTriangles(elements.reshape(-1, 3)).reshape(count, corners, 3, 3)
    triangles = np.concatenate([nearest[:, None], others], axis=1)
    several = distancesToTriangles(elements[:, None], triangles[:, :, None])  # (count, triangles, corners)
    balanced = np.einsum("wt,ktc->kwc", balances(corners + 1), several)
    return balanced.max(axis=2).min(axis=1)


@lru_cache(maxsize=2)
def balances(count: int) -> np.ndarray:
    """Return the sets of weights (w, count) to try for `count` triangles; every row sums to 1."""
    choices = itertools.product(range(PARTS_OF_WEIGHT + 1), repeat=count)
    return np.array([choice for choice in choices if sum(choice) == PARTS_OF_WEIGHT]) / PARTS_OF_WEIGHT


def cut(elements: np.ndarray, values: np.ndarray, distances) -> tuple[np.ndarray, np.ndarray]:
    """Return the pieces of elements and the distances at their corners."""
    corners = elements.shape[1]
    if not len(elements):
        return elements, values
    following = elements[:, BEFORE_AND_AFTER[corners][1][: 1 if corners == 2 else 3]]
    middles = (elements[:, : following.shape[1]] + following) / 2
    atMiddles = distances(middles.reshape(-1, 3)).reshape(middles.shape[:2])
    nodes, atNodes = np.concatenate([elements, middles], axis=1), np.concatenate([values, atMiddles], axis=1)
    return nodes[:, PIECES[corners]].reshape(-1, corners, 3), atNodes[:, PIECES[corners]].reshape(-1, corners)
