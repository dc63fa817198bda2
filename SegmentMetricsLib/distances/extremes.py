"""The largest distances of a boundary, toward either side or one of them, with guaranteed bounds.

The distances at the nodes of a refined boundary determine which pieces may contain them; these candidates are searched
by branch and bound (farthest.py).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .bounded import Bounded
from .covers import coverBounds
from .extrapolation import ROUNDING
from .farthest import MOST_OF_SIDE, MOST_PIECES, farthest, nearCorner
from .linear import PIECES

if TYPE_CHECKING:
    from .elements import Part
    from .refinement import Refined

# Points processed at a time, so that temporary arrays stay small.
CHUNK = 1 << 15
# Fraction of the largest distance's acceptable error that is spent on the rims of covered pieces, see covers.py.
MARGIN = 0.05
# Above this many candidates, bound whole elements before their pieces.
MANY_FAR = 5_000


def extreme(refined: Refined, side: int = 0, known: float = 0.0) -> tuple[Bounded, np.ndarray]:
    """Return the largest distance in mm of a refined boundary toward either side, and its place (3,).

    The bounds are guaranteed. side: 0 for both sides; 1 or -1 for the largest signed distance toward the positive or
    negative side, which is negative if nothing lies there. known: a distance in mm already found elsewhere; smaller
    ones are not searched for: the result then only shows that none exceeds the upper bound.
    """
    sampler = refined.sampler
    values = side * refined.values if side else np.abs(refined.values)
    worst = int(values.argmax())
    lowest = float(values[worst])
    highest = max(lowest, known)
    place = sampler.points(refined.coordinates[worst : worst + 1])[0]
    nodes = np.concatenate([_mayExceed(refined, part, side, highest) for part in refined.parts])
    if len(nodes):
        covered = partial(coverBounds, other=sampler.other, margin=refined.largestError * MARGIN)
        found = farthest(
            _places(refined, nodes),
            values[nodes],
            (lambda points: side * sampler.signedAt(points)) if side else sampler.distancesAt,
            sampler.nearestTriangles,
            refined.largestError,
            known,
            MOST_OF_SIDE if side else MOST_PIECES,
            covered if nodes.shape[1] == 3 else None,
        )
        if found[0] > lowest:
            lowest, place = found[0], found[2]
        highest = max(known, found[1])
    return Bounded(lowest, lowest, max(lowest, highest)), place


def _mayExceed(refined: Refined, part: Part, side: int, limit: float) -> np.ndarray:
    """Return the corners (k, c), as point numbers, of the pieces that may contain a distance over a limit in mm.

    side: toward which distances count, 0 for both.
    """
    sampler = refined.sampler
    # every place on a piece is at most this far from a corner
    near = sampler.longestSide * nearCorner(part.corners) / 2.0**part.halvings
    high = part.signedRange(side)[1] if side else part.range()[1]
    leaves = np.flatnonzero(part.isLeaf & (high + near > limit))
    if side and len(leaves):
        centers = refined.coordinates[part.nodes[leaves][:, : part.corners]].sum(axis=1) // part.corners
        leaves = leaves[sampler.mayReach(centers, side)]
    if part is refined.base and not sampler.isOnLattice:
        equal = leaves[part.range()[1][leaves] <= ROUNDING]
        if len(equal):
            isShared = sampler.areShared(refined.chosen[equal // refined.perCell])
            leaves = np.setdiff1d(leaves, equal[isShared])
    # of many candidates, as for two concentric balls, most are excluded as whole elements
    parts = np.arange(part.corners)[None] if len(leaves) > MANY_FAR else PIECES[part.corners]
    return part.nodes.take(leaves, axis=0)[:, parts].reshape(-1, part.corners)


def _places(refined: Refined, nodes: np.ndarray) -> np.ndarray:
    """Return the LPS positions (k, c, 3) in mm of points given by number (k, c)."""
    result, numbers = np.empty((nodes.size, 3)), nodes.ravel()
    for first in range(0, len(numbers), CHUNK):
        chosen = slice(first, first + CHUNK)
        result[chosen] = refined.sampler.points(refined.coordinates.take(numbers[chosen], axis=0))
    return result.reshape(*nodes.shape, 3)
