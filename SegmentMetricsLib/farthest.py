"""The largest distance of one boundary to another, between bounds that are certain.

The idea
--------
Samples alone never tell the largest distance: the farthest place may lie between them. But the distance to a boundary
changes by at most 1 mm per mm, so a piece of boundary whose samples are all well below the largest one cannot hold the
farthest place; it is left out. The pieces that remain are cut, and cut again, until what they may hold exceeds the
largest sample by no more than is wanted (branch and bound).

A bound that only knows "1 mm per mm" shrinks slowly, and hardly at all where a whole face is equally far. A second one
is much better there. Let q be a point of the other boundary. Nothing on the piece is farther from the other boundary
than from q, and the distance from one point is a convex function, whose largest value over a triangle is at a corner:

    distance(x) <= |x - q| <= max over corners c of |c - q|       for every x on the piece.

With q the place next to the middle of the piece, h the piece's radius and d its distance, that exceeds d by only
h^2 / 2d where the piece is parallel to the other boundary. q is found from the direction in which the distance grows
and need not lie on the other boundary exactly: if it misses by e (which is asked, too), e is added to the bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .linear import PIECES
from .progress import checkpoint

# Step in mm over which the direction of growth is taken.
STEP = 1e-4
# What rounding may add to a distance, mm.
ROUNDING = 2e-6
# Pieces looked at in all; beyond, the bounds stay as wide as they are.
MOST_PIECES = 60_000


def farthest(
    elements: np.ndarray, values: np.ndarray, distances: Callable[[np.ndarray], np.ndarray], wanted: float
) -> tuple[float, float, np.ndarray]:
    """Return bounds in mm of the largest distance on some elements, and the place (3,) of the lower one.

    elements: (k, 2 or 3, 3) corners of segments or triangles in mm. values: (k, 2 or 3) distances there, mm, negative
    where they do not count because they lie toward the other side. distances: tells the same of points (n, 3).
    wanted: how far apart the bounds may be, mm.
    """
    worst = values.argmax()
    lowest, place = float(values.flat[worst]), elements.reshape(-1, 3)[worst]
    highest = lowest
    looked, ofParents = 0, np.full(len(elements), np.inf)
    while len(elements):
        checkpoint()
        centers = elements.mean(axis=1)
        bounds = np.minimum(slowBounds(elements, values), ofParents)
        possible = bounds > max(lowest, 0.0) + wanted
        looked += int(possible.sum())
        if looked > MOST_PIECES:
            highest = max(highest, float(bounds.max()))
            break
        if possible.any():
            atCenters = distances(centers[possible])
            if atCenters.max() > lowest:
                lowest, place = float(atCenters.max()), centers[possible][atCenters.argmax()]
            closer = convexBounds(elements[possible], centers[possible], np.abs(atCenters), distances)
            bounds[possible] = np.minimum(bounds[possible], closer)
            possible = bounds > max(lowest, 0.0) + wanted
        highest = max(highest, float(bounds[~possible].max(initial=0.0)))
        ofParents = np.repeat(bounds[possible], len(PIECES[elements.shape[1]]))
        elements, values = cut(elements[possible], values[possible], distances)
        if values.max(initial=-np.inf) > lowest:
            worst = values.argmax()
            lowest, place = float(values.flat[worst]), elements.reshape(-1, 3)[worst]
    return lowest, max(highest, lowest), place


def slowBounds(elements: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the distance (k,) may be on elements at most, as it changes by at most 1 mm per mm.

    Every point of a triangle is closer to one of its corners than its longest side over the root of 3.
    """
    sides = np.linalg.norm(elements - np.roll(elements, 1, axis=1), axis=2)
    near = sides.max(axis=1) / (2 if elements.shape[1] == 2 else np.sqrt(3))
    # from any one corner, nothing is farther than the longer of the sides there
    longer = np.maximum(sides, np.roll(sides, -1, axis=1))
    return np.minimum(values.max(axis=1) + near, (values + longer).min(axis=1)) + ROUNDING


def convexBounds(elements, centers, atCenters, distances) -> np.ndarray:
    """Return what the distance (k,) may be on elements at most, from the place next to their centers."""
    steps = np.abs(distances((centers[:, None] + STEP * np.eye(3)).reshape(-1, 3))).reshape(-1, 3)
    growth = steps - atCenters[:, None]
    length = np.linalg.norm(growth, axis=1, keepdims=True)
    nearest = centers - atCenters[:, None] * np.divide(growth, length, out=np.zeros_like(growth), where=length > 0)
    missed = np.abs(distances(nearest))
    return np.linalg.norm(elements - nearest[:, None], axis=2).max(axis=1) + missed + ROUNDING


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
