"""The overlap of two boundary bands on a regular grid: every voxel is cut into sub-voxels, all tested at their centers.

For masks on one lattice, the centers have the same few positions in every cell, so that all are tested at once as bits,
as in lookup.py. Centers on a boundary itself are in no band.

Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np

from ....base.parallel import eachSideBySide, evenParts
from ....base.progress import checkpoint
from ....distances import lattice
from ....distances.extrapolation import ROUNDING
from ....distances.surfacedistances import BoundaryPair
from ....geometry.cellcases import Positions, subVoxelPositions
from ....geometry.grids import Grid
from ....geometry.masks import Mask
from ....geometry.slabs import Slab, alignedAxis
from .bandsearch import TIE_TOLERANCE
from .bandtables import BandTables, inBlocks, packed
from .lookup import bandCells, bandMembership, bandsOfBoth, cellIndices, countedBits, stepsWithin
from .sizes import Bands

# Above this many steps, tabulating costs more than searching.
LARGEST_TABLE_COUNT = 400
# Blocks searched, and bits looked up, at a time.
CHUNK, BITS = 1 << 16, 1 << 20
# Approximate number of blocks of sub-voxels along the longest side of the box around the structures, before cutting.
BLOCKS_ALONG = 16
# States of a block.
OUTSIDE, IN_BAND, UNKNOWN = 0, 1, 2


def gridBands(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> Bands:
    """Return the overlap of the bands of two closed boundaries on the sub-voxels of the masks' grid.

    tolerance: tau in mm, > 0. pieces: sub-voxels along each axis of a voxel.
    """
    isLookedUp = _isLookedUp(boundaries.lattice, masks[0].grid, tolerance, pieces)
    return (_lookedUp if isLookedUp else _searched)(boundaries, masks, tolerance, pieces)


def _isLookedUp(pair: lattice.Lattice | None, grid: Grid, tolerance: float, pieces: int) -> bool:
    if pair is None or grid.offsetOn(pair.grid) is None:
        return False
    steps = stepsWithin(pair, subVoxelPositions(pieces), tolerance)
    return steps is not None and steps <= LARGEST_TABLE_COUNT


def _lookedUp(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> Bands:
    pair, slab = cast(lattice.Lattice, boundaries.lattice), boundaries.surfaces[0].slab
    positions = subVoxelPositions(pieces)
    near, touching = _tables(pair.spacing, pieces, lattice.cellsWithin(pair.grid, tolerance), tolerance)
    perCell, strides = near.room, near.steps @ pair.strides
    cells, isNear = bandCells(pair, tolerance)

    def counted(chosen: slice) -> tuple[int, int]:
        checkpoint()
        some = cells[chosen]

        def ask(codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
            asked = some[rows]
            inBand = bandMembership(codes, strides, asked, np.zeros(len(asked), np.intp), near.inBlocks(perCell))
            for shift, table in touching:
                inBand &= ~table.take(codes.take(asked + shift @ pair.strides), axis=0)
            return inBand

        one, other = bandsOfBoth(pair, isNear[:, chosen], ask)
        if slab is not None:
            within = _withinSlab(slab, pair, some, positions)
            one, other = one & within, other & within
        return _bitsIn(one & other), _bitsIn(one | other)

    near.inBlocks(perCell)  # fills the cache, or every thread would
    counts = eachSideBySide(counted, evenParts(len(cells), max(1, BITS // perCell)))
    both, either = np.sum([(0, 0), *counts], axis=0).tolist()
    scale = masks[0].grid.voxelSize / pieces**3
    return Bands(both * scale, either * scale, len(cells) * pieces**3)


@lru_cache(maxsize=8)
def _tables(
    spacing: tuple[float, float, float], pieces: int, reach: int, tolerance: float
) -> tuple[BandTables, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the band tables of a spacing and a tolerance in mm, and tables of the positions on a boundary.

    The latter are listed with their step (3,) from cell to cell, if any position is set, in the layout of
    BandTables.inBlocks().
    """
    tables = lattice.cellTables(spacing, subVoxelPositions(pieces), reach)
    near, on = BandTables(tables, max(tolerance - TIE_TOLERANCE, 0.0)), BandTables(tables, TIE_TOLERANCE)
    touching = zip(on.steps, on.inBlocks(on.room)[1], strict=True)
    return near, [(step, table) for step, table in touching if table.any()]


def _withinSlab(slab: Slab, pair: lattice.Lattice, cells: np.ndarray, positions: Positions) -> np.ndarray:
    """Return the positions in cells (n,) that lie in a slab, as bits (n,) or (n, words)."""
    index, axis = cellIndices(pair, cells), alignedAxis(pair.grid, slab.normal)
    # all cells of a layer are alike
    _, firsts, layers = np.unique(index[:, axis], return_index=True, return_inverse=True)
    places = (index[firsts] + pair.low)[:, None] + positions.local / positions.denominator
    isWithin = slab.contains(pair.grid.toWorld(places.reshape(-1, 3))).reshape(places.shape[:2])
    bytes_ = packed(isWithin)
    return inBlocks(bytes_, 8 * bytes_.shape[1]).take(layers, axis=0)


def _bitsIn(words: np.ndarray) -> int:
    """Return the number of set bits in numbers (n,) or (n, w)."""
    return int(countedBits(words.reshape(len(words), -1).view(np.uint8), axis=1).sum())


def _searched(boundaries: BoundaryPair, masks: tuple[Mask, Mask], tolerance: float, pieces: int) -> Bands:
    """Measure in the middle of blocks of sub-voxels, and cut the blocks that this leaves undecided.

    Within a block, the distance to a boundary differs from that of the middle by at most half the diagonal.
    """
    grid, slab = masks[0].grid, boundaries.surfaces[0].slab
    isCut = np.arange(3) != grid.flatAxis
    along = np.where(isCut, pieces, 1)
    low, high = boxAround(masks)
    count = (high - low + 1) * along
    # a slab may end within a block
    side = 1 if slab is not None else 1 << int(np.log2(max(1, count.max() // BLOCKS_ALONG)))
    numbers = np.indices(-(-count // np.where(isCut, side, 1))).reshape(3, -1).T
    blocks = low * along + numbers * np.where(isCut, side, 1)
    left = [(blocks, np.full((len(blocks), 2), UNKNOWN, np.int8), side)]
    both = either = asked = 0
    while left:
        checkpoint()
        blocks, states, side = left.pop()
        if len(blocks) > CHUNK:
            left += [(blocks[part], states[part], side) for part in (slice(CHUNK, None), slice(CHUNK))]
            continue
        sides = np.where(isCut, side, 1)
        places = grid.toWorld((blocks + sides / 2) / along - 0.5)
        reach = halfDiagonal(grid.axes * ((sides - 1) / along))
        for number, state in enumerate(states.T):
            rows = np.flatnonzero(state == UNKNOWN)
            state[rows] = statesAround(boundaries.search(number).signedDistances(places[rows]), tolerance, reach)
            asked += len(rows)
        if slab is not None:
            states[~slab.contains(places)] = OUTSIDE
        isKnown = (states != UNKNOWN).all(axis=1)
        within = states[isKnown] == IN_BAND
        both += int(np.count_nonzero(within.all(axis=1)) * sides.prod())
        either += int(np.count_nonzero(within.any(axis=1)) * sides.prod())
        if not isKnown.all():
            halves = np.unique(np.indices((2, 2, 2)).reshape(3, -1).T * isCut, axis=0) * (side // 2)
            parts = (blocks[~isKnown][:, None] + halves).reshape(-1, 3)
            left.append((parts, np.repeat(states[~isKnown], len(halves), axis=0), side // 2))
    scale = grid.voxelSize / int(along.prod())
    return Bands(both * scale, either * scale, asked)


def halfDiagonal(edges: np.ndarray) -> float:
    """Return the largest distance in mm from the middle of a block to a corner. edges: (3, 3) its edges as columns."""
    signs = np.indices((2, 2, 2)).reshape(3, -1) - 0.5
    return float(np.linalg.norm(edges @ signs, axis=0).max())


def statesAround(signed: np.ndarray, tolerance: float, reach: float) -> np.ndarray:
    """Return the states (n,) of the surroundings, up to `reach` mm, of places: in a band, outside it, or unknown.

    signed: (n,) signed distances in mm of the places to the band's boundary, negative inside.
    """
    if reach:
        reach += ROUNDING
    isIn = (signed < -TIE_TOLERANCE - reach) & (signed > TIE_TOLERANCE - tolerance + reach)
    isOutside = (signed >= reach - TIE_TOLERANCE) | (signed <= TIE_TOLERANCE - tolerance - reach)
    return np.select([isIn, isOutside], [IN_BAND, OUTSIDE], UNKNOWN)


def boxAround(masks: tuple[Mask, Mask]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last voxel index (i, j, k) of a box around both masks, with a margin."""
    grid = masks[0].grid
    low = np.min([m.low for m in masks], axis=0) - 2
    high = np.max([m.high for m in masks], axis=0) + 2
    if grid.planar:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    return low, high
