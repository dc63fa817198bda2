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
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import checkpoint
from ..geometry.edges import uniqueSides
from ..geometry.triangles import distancesToTriangles
from .bounded import Bounded
from .elements import chunksOf
from .linear import PIECES

if TYPE_CHECKING:
    from .field import Field

# Largest acceptable gap between the bounds, mm; less for short elements, see field.SHORT.
WANTED = 0.01
# Weights of several triangles are whole multiples of 1 / PARTS_OF_WEIGHT.
PARTS_OF_WEIGHT = 4
# Pieces processed at a time, so that temporary arrays stay small.
CHUNK = 1 << 12
# Above this many candidates, whole elements are bounded before their pieces.
MANY = 5_000
# Rounding error of a distance, as a fraction of the acceptable gap between the bounds.
ROUNDING = 2e-4
# Limit of pieces cut in total, at which the bounds stay as wide as they are. Where distances toward the other side do
# not count, pieces that touch the other boundary from there are cut in vain: only their size bounds their distances.
MOST_PIECES, MOST_OF_SIDE = 40_000, 10_000
# The corners that follow each corner, and the corners before it.
FOLLOWING, BEFORE = {2: [1], 3: [1, 2, 0]}, {2: [1, 0], 3: [2, 0, 1]}


def farthest(field: Field, number: int, side: int, known: float) -> tuple[Bounded, np.ndarray]:
    """Return the largest distance in mm of a segment of a field, with guaranteed bounds, and its place (3,).

    The parameters are those of Field.largest().
    """
    sampler, leaves = field.sampler, field.leaves
    rows = np.flatnonzero(leaves.segment == number)
    if not len(rows):  # all of the boundary is shared
        return Bounded(0.0, 0.0, 0.0), sampler.anyPoint(number)
    values = side * field.values if side else np.abs(field.values)
    corners, wanted = leaves.corners, WANTED * field.scales[number]
    low, high = leaves.signedRange(side) if side else leaves.range
    top = rows[high[rows].argmax()]
    nodes = leaves.nodes[:, top]
    node = nodes[values[nodes].argmax()]
    lowest, place = float(values[node]), sampler.points(nodes[:1] * 0 + node)[0]
    enough = max(lowest, known)
    # every place on a piece of an element is at most this far from one of its corners
    near = sampler.longest * nearCorner(corners) / 2.0 ** (field.halvings[rows] + 1)
    rows = rows[high[rows] + near > enough]
    if side:
        rows = rows[sampler.mayReach(field.leafRows[rows], side)]
    equal = rows[(high[rows] <= 1e-6) & (low[rows] >= -1e-6)]
    if len(equal):
        rows = np.setdiff1d(rows, equal[sampler.areShared(number, field.leafRows[equal])])
    # of many candidates, as for two concentric balls, most are excluded as whole elements
    parts = np.arange(corners)[None] if len(rows) > MANY else PIECES[corners]
    found = np.ascontiguousarray(leaves.nodes[:, rows].T)[:, parts].reshape(-1, corners)
    highest = enough
    if len(found):
        lowest, highest, place = _bounded(field, number, side, known, found, values, (lowest, place), wanted)
    return Bounded(lowest, lowest, max(lowest, highest)), place


def _bounded(
    field: Field,
    number: int,
    side: int,
    known: float,
    nodes: np.ndarray,
    atNodes: np.ndarray,
    best: tuple[float, np.ndarray],
    wanted: float,
) -> tuple[float, float, np.ndarray]:
    """Return bounds in mm of the largest distance of pieces with corners (k, c), and the place of the lower one."""
    sampler, closest = field.sampler, field.sampler.closest(number)
    lowest, place = best
    highest, rounding, most = max(lowest, known), ROUNDING * wanted, MOST_OF_SIDE if side else MOST_PIECES
    every, numbers = np.unique(nodes, return_inverse=True)
    places, values = sampler.points(every), atNodes[every]
    triangles = np.zeros((len(every), 3, 3))
    isKnown = np.zeros(len(every), bool)
    elements: np.ndarray = numbers.reshape(nodes.shape)
    bounds, looked = np.full(len(nodes), np.inf), 0
    while len(elements):
        checkpoint()
        ofElements = values[elements]
        np.minimum(bounds, slowBounds(places[elements], ofElements) + rounding, out=bounds)
        enough = max(lowest, known) + wanted
        # close bounds are never below the distance at a corner, on either side: try only elements they can exclude
        rows = np.flatnonzero((bounds > enough) & (np.abs(ofElements).max(axis=1) <= enough))
        # over flat parts the triangle next to the middle of a piece often lies opposite all of it, so of many pieces it
        # is tried first; those next to the corners are searched once, but several may be next to a flat piece
        for isOfCorners in (False, True) if len(rows) > MANY else (True, False):
            if isOfCorners and len(rows) <= most:
                asked = np.unique(elements[rows])
                asked = asked[~isKnown[asked]]
                triangles[asked], isKnown[asked] = closest.nearestTriangles(places[asked]), True
            elif isOfCorners:
                continue
            for some in chunksOf(rows, CHUNK):
                corners = elements[some]
                if isOfCorners:
                    close = balancedBounds(places[corners], triangles[corners])
                else:
                    nearest = closest.nearestTriangles(places[corners].mean(axis=1))
                    close = distancesToTriangles(places[corners], nearest[:, None]).max(axis=1)
                bounds[some] = np.minimum(bounds[some], close + rounding)
            rows = rows[bounds[rows] > enough]
        isPossible = bounds > enough
        looked += int(np.count_nonzero(isPossible))
        if looked > most:
            highest = max(highest, float(bounds.max()))
            break
        highest = max(highest, float(bounds[~isPossible].max(initial=0.0)))
        # cut in the middles of the sides
        elements, bounds = elements[isPossible], bounds[isPossible]
        sides, numbers = uniqueSides(elements)
        middles = places[sides].mean(axis=1)
        signed = sampler.signedAt(number, middles)
        corners = np.concatenate([elements, len(places) + numbers], axis=1)
        places = np.concatenate([places, middles])
        values = np.concatenate([values, side * signed if side else np.abs(signed)])
        triangles = np.concatenate([triangles, np.zeros((len(middles), 3, 3))])
        isKnown = np.concatenate([isKnown, np.zeros(len(middles), bool)])
        pieces = PIECES[elements.shape[1]]
        elements, bounds = corners[:, pieces].reshape(-1, pieces.shape[1]), np.repeat(bounds, len(pieces))
        worst = int(values.argmax())
        if values[worst] > lowest:
            lowest, place = float(values[worst]), places[worst]
    return lowest, max(highest, lowest), place


def nearCorner(corners: int) -> float:
    """Return an upper bound of the distance from any place on an element to its nearest corner.

    As a fraction of the element's longest side.
    """
    return 1 / 2 if corners == 2 else 1 / 3**0.5


def slowBounds(elements: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return upper bounds (k,) of the distance on elements (k, c, 3), as it changes by at most 1 mm per mm.

    values: (k, c) at the corners. The sum of a place's distances to all corners is at most the sum of the two longer
    sides.
    """
    corners = elements.shape[1]
    sides = np.linalg.norm(elements - elements[:, BEFORE[corners]], axis=2)
    near = sides.max(axis=1) * nearCorner(corners)
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
    result = several.max(axis=0).min(axis=0)
    for weights in balances(elements.shape[1]):
        np.minimum(result, (several * weights[None, :, None]).sum(axis=1).max(axis=0), out=result)
    return result


@lru_cache(maxsize=2)
def balances(count: int) -> np.ndarray:
    """Return the sets of weights (w, count) of several triangles to try; every row sums to 1."""
    choices = itertools.product(range(PARTS_OF_WEIGHT), repeat=count)
    return np.array([choice for choice in choices if sum(choice) == PARTS_OF_WEIGHT]) / PARTS_OF_WEIGHT
