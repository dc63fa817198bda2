"""The largest distance of one boundary to another, between bounds that are certain.

The idea
--------
Samples alone never tell the largest distance: the farthest place may lie between them. But the distance to a boundary
changes by at most 1 mm per mm, so a piece of boundary whose samples are all well below the largest one cannot hold the
farthest place; it is left out. The pieces that remain are cut, and cut again, until what they may hold exceeds the
largest sample by no more than is wanted (branch and bound).

A bound that only knows "1 mm per mm" shrinks slowly, and not at all where a whole face is equally far. A second one is
much better. Let T be any triangle of the other boundary. Nothing is farther from the other boundary than from T, and
the distance from T is a convex function, whose largest value over a piece is at one of its corners:

    distance(x) <= |x - T| <= max over corners c of |c - T|       for every x on the piece.

Where all of the piece is nearest to the same T, that is the largest distance itself, at once. The farthest place often
lies elsewhere: where it is equally far to several triangles, and toward each of them it becomes nearer. There a
weighted mean of the distances from several triangles, which is as convex and never less than the smallest of them,

    distance(x) <= sum of w_T |x - T| <= max over corners c of sum of w_T |c - T|,

balances what grows on the way against what shrinks. The bound holds for all weights; the best of a fixed set is taken.

Neither is good where very many pieces are equally far and each lies below several triangles, as on one shape with two
triangulations. Where many pieces are left, it is asked whether the other boundary covers them (covers.py).

Where distances count toward one side only, a piece on the other side may be far from the boundary and hold nothing. Of
such pieces only the first bound says so, and those that touch the boundary from there would be cut down to the last
crumb; on a lattice the voxels tell beforehand which of them stay on their side (nestedSurfaces() in cases.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..geometry.triangles import distancesToTriangles
from ..progress import checkpoint
from .linear import PIECES

# Weights of several triangles are whole multiples of one part of so many.
PARTS_OF_WEIGHT = 8
# Pieces bounded at a time, closely and by what is soon told, so that temporary arrays stay small.
CHUNK, MANY = 4096, 1 << 15
# Of more pieces than these it is asked whether the other boundary covers them.
FEW_TO_COVER = 100
# What rounding may add to a distance, mm.
ROUNDING = 2e-6
# Pieces cut in all; beyond, the bounds stay as wide as they are. Where distances toward the other side do not count,
# pieces that touch the other boundary from there are cut in vain: nothing but their size bounds what they hold.
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
    """Return bounds in mm of the largest distance on some elements, and the place (3,) of the lower one.

    elements: (k, 2 or 3, 3) corners of segments or triangles in mm. values: (k, 2 or 3) distances there, mm, negative
    where they do not count because they lie toward the other side. distances: tells the same of points (n, 3).
    nearestTriangles: tells the other boundary's triangles (n, 3, 3) next to points (n, 3). wanted: how far apart the
    bounds may be, mm. known: a distance in mm that is reached elsewhere, up to which these elements do not matter; the
    upper bound says whether they may exceed it. most: pieces to cut. covered: tells what the distance (k,) may be on
    elements at most, given these and the triangles next to their centers; asked where many are left.
    """
    worst = values.argmax()
    lowest, place = float(values.flat[worst]), elements.reshape(-1, 3)[worst]
    highest = lowest
    looked, ofParents = 0, np.full(len(elements), np.inf)
    while len(elements):
        checkpoint()
        parts = [slice(first, first + MANY) for first in range(0, len(elements), MANY)]
        bounds = np.concatenate([slowBounds(elements[part], values[part]) for part in parts])
        np.minimum(bounds, ofParents, out=bounds)
        enough = max(lowest, known) + wanted
        # no such bound is less than the distance at a corner, on whichever side that is
        possible = np.flatnonzero((bounds > enough) & (np.abs(values).max(axis=1) <= enough))
        _lower(bounds, possible, elements, nearestTriangles, covered, enough, most)
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
    most: int,
) -> None:
    """Lower the bounds (k,) in mm of some elements (c,), by number, as far as needed: by one way after the other.

    enough: what they need not be lower than. The rest as for farthest().
    """
    nearest = np.empty((len(elements), 3, 3))  # of those that are asked, the others take no memory

    def lower(bound: Callable[[np.ndarray], np.ndarray]) -> None:
        nonlocal left
        for first in range(0, len(left), CHUNK):
            rows = left[first : first + CHUNK]
            bounds[rows] = np.minimum(bounds[rows], bound(rows) + ROUNDING)
        left = left[bounds[left] > enough]

    def byOne(rows: np.ndarray) -> np.ndarray:
        nearest[rows] = nearestTriangles(elements[rows].mean(axis=1))
        return distancesToTriangles(elements[rows], nearest[rows, None]).max(axis=1)

    lower(byOne)
    if covered and len(left) > FEW_TO_COVER:
        lower(lambda rows: covered(elements[rows], nearest[rows]))
    if len(left) <= most:  # of more, most would be left in vain
        lower(lambda rows: balancedBounds(elements[rows], nearest[rows], nearestTriangles))


def nearCorner(corners: int) -> float:
    """Return how far any place of an element is from the nearest of its corners at most, per mm of its longest side."""
    return 1 / 2 if corners == 2 else 1 / 3**0.5


def slowBounds(elements: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the distance (k,) may be on elements at most, as it changes by at most 1 mm per mm.

    To all corners together a place is no farther than from one of them, where the two longer sides meet.
    """
    sides = np.linalg.norm(elements - np.roll(elements, 1, axis=1), axis=2)
    near = sides.max(axis=1) * nearCorner(elements.shape[1])
    # from any one corner, nothing is farther than the longer of the sides there
    longer = np.maximum(sides, np.roll(sides, -1, axis=1))
    fromOne = np.minimum(values.max(axis=1) + near, (values + longer).min(axis=1))
    fromAll = (values.sum(axis=1) + sides.sum(axis=1) - sides.min(axis=1)) / elements.shape[1]
    return np.minimum(fromOne, fromAll) + ROUNDING


def balancedBounds(elements: np.ndarray, nearest: np.ndarray, nearestTriangles) -> np.ndarray:
    """Return what the distance (k,) in mm may be on elements (k, c, 3) at most, by weighing several triangles.

    nearest: (k, 3, 3) the triangles next to their centers, mm. The others are those next to their corners.
    """
    count, corners = elements.shape[:2]
    others = nearestTriangles(elements.reshape(-1, 3)).reshape(count, corners, 3, 3)
    triangles = np.concatenate([nearest[:, None], others], axis=1)
    several = distancesToTriangles(elements[:, None], triangles[:, :, None])  # (count, triangles, corners)
    balanced = np.einsum("wt,ktc->kwc", balances(corners + 1), several)
    return balanced.max(axis=2).min(axis=1)


@lru_cache(maxsize=2)
def balances(count: int) -> np.ndarray:
    """Return the weights (w, count) in which so many triangles are tried; every row sums to 1."""
    choices = itertools.product(range(PARTS_OF_WEIGHT + 1), repeat=count)
    return np.array([choice for choice in choices if sum(choice) == PARTS_OF_WEIGHT]) / PARTS_OF_WEIGHT


def cut(elements: np.ndarray, values: np.ndarray, distances) -> tuple[np.ndarray, np.ndarray]:
    """Return the pieces of elements and the distances at their corners."""
    corners = elements.shape[1]
    if not len(elements):
        return elements, values
    following = np.roll(elements, -1, axis=1)[:, : 1 if corners == 2 else 3]
    middles = (elements[:, : following.shape[1]] + following) / 2
    atMiddles = distances(middles.reshape(-1, 3)).reshape(middles.shape[:2])
    nodes, atNodes = np.concatenate([elements, middles], axis=1), np.concatenate([values, atMiddles], axis=1)
    return nodes[:, PIECES[corners]].reshape(-1, corners, 3), atNodes[:, PIECES[corners]].reshape(-1, corners)
