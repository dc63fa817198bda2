"""The overlap of two boundary bands on a regular grid: every voxel is cut into sub-voxels, all tested at their centers.

So MeshMetrics measures. Centers on a boundary itself are in no band.

Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630.
"""

from __future__ import annotations

import numpy as np

from ..base.progress import checkpoint
from ..distances.field import ROUNDING
from ..distances.surfacedistances import BoundaryPair
from ..geometry.masks import Mask, boxAround
from ..metrics.bands.bandsearch import TIE_TOLERANCE
from ..metrics.bands.sizes import Bands

# Blocks searched at a time.
CHUNK = 1 << 16
# Approximate number of blocks of sub-voxels along the longest side of the box around the structures, before cutting.
BLOCKS_ALONG = 16
# States of a block.
OUTSIDE, IN_BAND, UNKNOWN = 0, 1, 2


def gridBands(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> Bands:
    """Return the overlap of the bands of two closed boundaries on the sub-voxels of the masks' grid.

    Distances are measured in the middle of blocks of sub-voxels, and the blocks that this leaves undecided are cut:
    within a block, the distance to a boundary differs from that of the middle by at most half the diagonal. tolerance:
    tau in mm, > 0. pieces: sub-voxels along each axis of a voxel.
    """
    grid = masks[0].grid
    isCut = np.arange(3) != grid.flatAxis
    along = np.where(isCut, pieces, 1)
    low, high = boxAround(*masks)
    low, high = low - 2 * isCut, high + 2 * isCut
    count = (high - low + 1) * along
    side = 1 << int(np.log2(max(1, count.max() // BLOCKS_ALONG)))
    numbers = np.indices(-(-count // np.where(isCut, side, 1))).reshape(3, -1).T
    blocks = low * along + numbers * np.where(isCut, side, 1)
    corners = np.indices((2, 2, 2)).reshape(3, -1) - 0.5
    left = [(blocks, np.full((len(blocks), 2), UNKNOWN, np.int8), side)]
    both = either = 0
    while left:
        checkpoint()
        blocks, states, side = left.pop()
        if len(blocks) > CHUNK:
            left += [(blocks[part], states[part], side) for part in (slice(CHUNK, None), slice(CHUNK))]
            continue
        sides = np.where(isCut, side, 1)
        places = grid.toWorld((blocks + sides / 2) / along - 0.5)
        # the largest distance from the middle of a block to a corner
        reach = float(np.linalg.norm(grid.axes * ((sides - 1) / along) @ corners, axis=0).max())
        reach += ROUNDING if reach else 0.0
        for number, state in enumerate(states.T):
            rows = np.flatnonzero(state == UNKNOWN)
            signed = boundaries.search(number).signedDistances(places[rows])  # negative inside
            isIn = (signed < -TIE_TOLERANCE - reach) & (signed > TIE_TOLERANCE - tolerance + reach)
            isOutside = (signed >= reach - TIE_TOLERANCE) | (signed <= TIE_TOLERANCE - tolerance - reach)
            state[rows] = np.select([isIn, isOutside], [IN_BAND, OUTSIDE], UNKNOWN)
        isKnown = (states != UNKNOWN).all(axis=1)
        within = states[isKnown] == IN_BAND
        both += int(np.count_nonzero(within.all(axis=1)) * sides.prod())
        either += int(np.count_nonzero(within.any(axis=1)) * sides.prod())
        if not isKnown.all():
            halves = np.unique(np.indices((2, 2, 2)).reshape(3, -1).T * isCut, axis=0) * (side // 2)
            parts = (blocks[~isKnown][:, None] + halves).reshape(-1, 3)
            left.append((parts, np.repeat(states[~isKnown], len(halves), axis=0), side // 2))
    scale = grid.voxelSize / int(along.prod())
    return Bands(both * scale, either * scale)
