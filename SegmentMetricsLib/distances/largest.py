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
fixed set is taken, for the triangles that are nearest to the corners. These are searched once and kept for the pieces.

Where distances count toward one side only, a piece on the other side may be far from the boundary and yet irrelevant.
Only the first bound excludes such pieces, and those that touch the boundary from there would be cut to the very end. On
a lattice the voxels show beforehand which of them stay on their side (nestedSurfaces() in cellcases.py).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..base.progress import checkpoint, chunks
from ..geometry.surfaces import PIECES
from ..geometry.triangles import distancesToTriangles, uniqueSides
from .bounded import Bounded

# Largest acceptable gap between the bounds, mm; less for short elements, see field.SHORT.
WANTED = 0.01
# Sets of weights of several triangles to try, (w, 2 or 3): multiples of a quarter whose sum is 1.
WEIGHTS = {
    count: np.array([some for some in itertools.product(range(5), repeat=count) if sum(some) == 4]) / 4
    for count in (2, 3)
}
# Pieces processed at a time, so that temporary arrays stay small.
CHUNK = 1 << 12
# Rounding error of a distance, as a fraction of the acceptable gap between the bounds.
ROUNDING = 2e-4
# Limit of pieces cut in total, at which the bounds stay as wide as they are. Where distances toward the other side do
# not count, pieces that touch the other boundary from there are cut in vain: only their size bounds their distances.
MOST_PIECES, MOST_OF_SIDE = 40_000, 10_000
# Elements whose corners are no farther from the other boundary, mm, may be part of it.
TOUCHING = 1e-6
# Largest distance of a place on an element from the nearest corner, as a fraction of the longest side.
NEAR_CORNER = {2: 1 / 2, 3: 1 / 3**0.5}
# The corners that follow each corner, and the corners before it.
FOLLOWING, BEFORE = {2: [1], 3: [1, 2, 0]}, {2: [1, 0], 3: [2, 0, 1]}


def farthest(field: Any, side: int) -> list[tuple[Bounded, np.ndarray]]:
    """Return the largest distance in mm of every segment of a field, with guaranteed bounds, and its LPS place (3,).

    field, side: a Field, and the side as for Field.largest().
    """
    sampler, elements = field.sampler, field.elements
    values = side * sampler.values if side else np.abs(sampler.values)
    _, high = elements.signedRange(side) if side else elements.range
    # nothing on a piece of an element is farther than one of its nodes by more than this
    near = elements.sides * NEAR_CORNER[elements.corners] / 2
    # of every segment; no distance on one side exceeds the largest of all, which usually has a tighter bound
    lowest, highest, places = np.zeros(field.count), np.zeros(field.count), np.zeros((field.count, 3))
    ofAll, every, most = field.largest() if side else [], range(field.count), np.full(field.count, np.inf)
    for number, own in enumerate(map(elements.rowsOf, every)):
        if own.start == own.stop:  # all of the boundary is shared
            places[number] = sampler.surfaces[number].points[0]
            continue
        nodes = elements.nodes[:, own.start + int(high[own].argmax())]
        node = nodes[values[nodes].argmax()]
        lowest[number], places[number] = values[node], sampler.points(node[None])[0]
        if side:
            largest, place = ofAll[number]
            most[number] = largest.bounds[1]
            if side * sampler.measureAt(number, place[None])[0] > lowest[number]:  # it lies on this side
                lowest[number], places[number] = largest, place
    upper = np.minimum(high + near, most.take(elements.segment))
    # toward one side only the larger distance of the two boundaries of a pair counts
    reached = np.tile(lowest.reshape(2, -1).max(axis=0), 2) if side else lowest
    isPossible = upper > (reached + WANTED * field.scales).take(elements.segment)
    np.maximum.at(highest, elements.segment[~isPossible], upper[~isPossible])
    chosen = np.flatnonzero(isPossible)
    if side:
        chosen = chosen[sampler.mayReach(elements.rows[chosen], side)]
    if len(chosen):
        corners = elements.nodes[: elements.corners, chosen].T
        _narrow(field, side, corners, values, elements.segment[chosen], (lowest, highest, places))
    highest = np.maximum(lowest, np.minimum(highest, most))
    return [(Bounded(lowest[n], lowest[n], highest[n]), places[n]) for n in every]


def _narrow(
    field: Any,
    side: int,
    elements: np.ndarray,
    atNodes: np.ndarray,
    segment: np.ndarray,
    result: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Raise lower bounds (s,) of largest distances in mm, with their places (s, 3), and upper bounds (s,), the result.

    elements: (k, c) corners of those that may be farther, by number. atNodes: (n,) mm. segment: (k,).
    """
    lowest, highest, best = result
    sampler, wanted, most = field.sampler, WANTED * field.scales, MOST_OF_SIDE if side else MOST_PIECES
    rounding = ROUNDING * wanted
    every, numbers = np.unique(elements, return_inverse=True)
    elements = numbers.reshape(elements.shape)
    places, values = sampler.points(every), atNodes[every]
    # the nearest triangles of places, as far as they were searched
    triangles, isKnown = np.zeros((len(every), 3, 3)), np.zeros(len(every), bool)
    ofPlaces = np.empty(len(every), segment.dtype)
    ofPlaces[elements] = segment[:, None]
    bounds, looked = np.full(len(elements), np.inf), np.zeros(field.count, int)
    while True:
        checkpoint()
        ofElements, around = values[elements], rounding.take(segment)
        np.minimum(bounds, slowBounds(places[elements], ofElements) + around, out=bounds)
        reached = np.tile(lowest.reshape(2, -1).max(axis=0), 2) if side else lowest
        enough = (reached + wanted).take(segment)
        # close bounds are never below the distance at a corner, on either side: try only elements they can exclude
        rows = np.flatnonzero((bounds > enough) & (np.abs(ofElements).max(axis=1) <= enough))
        # next to the middle of a piece that is part of both boundaries lies the triangle that it is part of
        touching = rows[np.abs(ofElements[rows]).max(axis=1) <= TOUCHING]
        if len(touching):
            corners = places[elements[touching]]
            nearest = sampler.nearestTriangles(segment[touching], corners.mean(axis=1))
            bounds[touching] = distancesToTriangles(corners, nearest[:, None]).max(axis=1) + around[touching]
        rows = rows[bounds[rows] > enough[rows]]
        asked = np.unique(elements[rows])
        asked = asked[~isKnown[asked]]
        isKnown[asked] = True
        if len(asked):
            triangles[asked] = sampler.nearestTriangles(ofPlaces[asked], places[asked])
        for some in (rows[part] for part in chunks(len(rows), CHUNK)):
            close = balancedBounds(places[elements[some]], triangles[elements[some]])
            bounds[some] = np.minimum(bounds[some], close + around[some])
        isPossible = bounds > enough
        looked += np.bincount(segment[isPossible], minlength=field.count)
        isPossible &= (looked <= most).take(segment)
        np.maximum.at(highest, segment[~isPossible], bounds[~isPossible])
        if not isPossible.any():
            return
        # cut in the middles of the sides
        elements, bounds, segment = elements[isPossible], bounds[isPossible], segment[isPossible]
        sides, numbers = uniqueSides(elements)
        middles, ofMiddles = places[sides].mean(axis=1), ofPlaces[sides[:, 0]]
        nearest = sampler.nearestTriangles(ofMiddles, middles)
        found = distancesToTriangles(middles, nearest)
        for number in np.unique(ofMiddles).tolist():
            own = np.flatnonzero(ofMiddles == number)
            if side:
                found[own] = side * sampler.measureAt(number, middles[own])
            top = int(own[found[own].argmax()])
            if found[top] > lowest[number]:
                lowest[number], best[number] = found[top], middles[top]
        corners = np.concatenate([elements, len(places) + numbers], axis=1)
        places, values = np.concatenate([places, middles]), np.concatenate([values, found])
        triangles, ofPlaces = np.concatenate([triangles, nearest]), np.concatenate([ofPlaces, ofMiddles])
        isKnown = np.concatenate([isKnown, np.ones(len(middles), bool)])
        pieces = PIECES[elements.shape[1]]
        elements = corners[:, pieces].reshape(-1, pieces.shape[1])
        bounds, segment = np.repeat(bounds, len(pieces)), np.repeat(segment, len(pieces))


def slowBounds(elements: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return upper bounds (k,) of the distance on elements (k, c, 3), as it changes by at most 1 mm per mm.

    values: (k, c) at the corners. The sum of a place's distances to all corners is at most the sum of the two longer
    sides.
    """
    corners = elements.shape[1]
    sides = np.linalg.norm(elements - elements[:, BEFORE[corners]], axis=2)
    near = sides.max(axis=1) * NEAR_CORNER[corners]
    # nothing is farther from a corner than the other end of the longer side there
    longer = np.maximum(sides, sides[:, FOLLOWING[corners]])
    fromOne = np.minimum(values.max(axis=1) + near, (values + longer).min(axis=1))
    fromAll = (values.sum(axis=1) + sides.sum(axis=1) - sides.min(axis=1)) / corners
    return np.minimum(fromOne, fromAll)


def balancedBounds(elements: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """Return upper bounds (k,) in mm of the distance on elements (k, c, 3), by weighting several triangles.

    nearest: (k, c, 3, 3) the triangles next to the corners, mm.
    """
    # (corners, triangles, count): NumPy is slow to reduce along a short last axis
    corners, triangles = elements.transpose(1, 0, 2)[:, None], nearest.transpose(1, 0, 2, 3)[None]
    several = distancesToTriangles(corners, triangles)
    return np.einsum("wt,ctk->wck", WEIGHTS[elements.shape[1]], several).max(axis=1).min(axis=0)
