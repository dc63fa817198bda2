"""The evaluated grid: where the voxels outside both structures count as true negatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..geometry.grids import Grid
from ..geometry.masks import Mask, boxAround

if TYPE_CHECKING:
    from ..model.structure import Structure

EXTENDED = ", extended to contain both structures"
RECOUNTED = ", in voxels of the size in which overlap is counted"
# Axes count as parallel when the largest cosine between them is at least this: a tenth of a voxel over 100 voxels.
PARALLEL = 1 - 5e-7


class ChosenGrid(NamedTuple):
    """A grid, why it was chosen, in words, and whether masks have to be resampled onto it."""

    grid: Grid
    why: str
    isResampled: bool = False


def extendVolume(
    home: Grid, grid: Grid, structures: Sequence[Structure], extents: tuple[Mask, Mask], name: str
) -> ChosenGrid:
    """Return a volume extended to contain both structures, as the evaluated grid, and its description in words.

    If the axes of both grids are parallel, the result is a box of the lattice. Otherwise it keeps the volume's own
    voxels, and sizeInVoxels() returns its size in voxels of the lattice. home: the volume's grid. grid: the lattice on
    which overlap is counted. structures: the two structures. extents: their voxels on the lattice. name: of the volume.
    """
    same = home.offsetOn(grid) is not None
    if not (same or grid.planar or isParallel(home, grid)):
        # the structures as given, because resampled ones extend farther
        masks = [structure.memberships or structure.mask for structure in structures]
        own = [m.cornersAlong(home) if m else s.surface.points for m, s in zip(masks, structures)]
        reached = np.concatenate(own)
        grown = home.growTo(reached) if len(reached) else home
        return ChosenGrid(grown, name + RECOUNTED + (EXTENDED if grown.size != home.size else ""))
    index = grid.toIndex(home.corners())
    # as many voxels as fit, however the volume is offset from the lattice
    low = np.rint(index.min(axis=0) + 0.5).astype(int)
    high = low + np.maximum(np.rint(np.ptp(index, axis=0)).astype(int), 1) - 1
    if grid.flatAxis is not None:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    box = boxAround(*extents, (low, high))
    isLarger = (box[0] < low).any() or (box[1] > high).any()
    isCoarser = not np.isclose(home.voxelSize, grid.voxelSize, rtol=1e-6) and home.planar == grid.planar
    why = name + (RECOUNTED if isCoarser else "") + (EXTENDED if isLarger else "")
    return ChosenGrid(grid.resize(*box), why)


def isParallel(first: Grid, second: Grid) -> bool:
    """Return whether the axes of two grids run along the same lines, in whatever order and direction."""
    along = np.abs(first.direction.T @ second.direction)
    return bool((along.max(axis=1) >= PARALLEL).all())


def sizeInVoxels(evaluated: Grid, grid: Grid) -> int:
    """Return the size of the evaluated grid in voxels of a lattice, a whole number of at least 1."""
    number = math.prod(evaluated.size)
    if evaluated.offsetOn(grid) is not None:
        return number
    return max(round(number * evaluated.voxelSize / grid.voxelSize), 1)


def voxelsAround(volume: Grid | None, reference: Mask, test: Mask, grid: Grid) -> float:
    """Return the size, in voxels of a lattice, of the box around two masks and a volume, if there is one.

    The axes of all grids must be parallel. Nothing is resampled, so the size need not be whole.
    """
    corners = [mask.corners() for mask in (reference, test)] + ([volume.corners()] if volume else [])
    lengths = np.ptp(grid.toIndex(np.concatenate(corners)), axis=0)
    if grid.flatAxis is not None:
        lengths[grid.flatAxis] = 1
    return float(np.prod(lengths))
