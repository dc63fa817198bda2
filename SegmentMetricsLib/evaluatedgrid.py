"""The evaluated grid: where the voxels outside both structures count as true negatives."""

from __future__ import annotations

import math

import numpy as np

from .geometry.grids import Grid
from .geometry.masks import Mask, boxAround

EXTENDED = ", extended to contain both structures"
RECOUNTED = ", counted in voxels of the size in which overlap is counted"
# Axes count as parallel when the largest cosine between them is at least this: a tenth of a voxel over 100 voxels.
PARALLEL = 1 - 5e-7


def extended(home: Grid, grid: Grid, extents: tuple[Mask, Mask], name: str) -> tuple[Grid, str]:
    """Return the evaluated grid that a volume makes, extended to contain both structures, and what it is in words.

    home: the volume's grid. grid: the lattice on which overlap is counted. extents: both structures on it. name: what
    the volume is called. Where the axes of both run alike the result is a box of the lattice; else it keeps the
    volume's own voxels, and voxelsOf() tells how many of the lattice's size fill it.
    """
    same = home.offsetOn(grid) is not None
    if not (same or grid.planar or isParallel(home, grid)):
        corners = [mask.corners() for mask in extents if not mask.isEmpty]
        grown = home.grownTo(np.concatenate(corners)) if corners else home
        return grown, name + RECOUNTED + (EXTENDED if grown.size != home.size else "")
    index = grid.toIndex(home.corners())
    # as many voxels as fit, wherever between those of the lattice the volume starts
    low = np.rint(index.min(axis=0) + 0.5).astype(int)
    high = low + np.maximum(np.rint(np.ptp(index, axis=0)).astype(int), 1) - 1
    if grid.flatAxis is not None:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    box = boxAround(*extents, (low, high))
    isLarger = (box[0] < low).any() or (box[1] > high).any()
    isCoarser = not np.isclose(home.voxelSize, grid.voxelSize, rtol=1e-6) and home.planar == grid.planar
    return grid.resized(*box), name + (RECOUNTED if isCoarser else "") + (EXTENDED if isLarger else "")


def isParallel(first: Grid, second: Grid) -> bool:
    """Return whether the axes of two grids run along the same lines, in whatever order and direction."""
    along = np.abs(first.direction.T @ second.direction)
    return bool((along.max(axis=1) >= PARALLEL).all())


def voxelsOf(evaluated: Grid, grid: Grid) -> int:
    """Return how many voxels of a lattice fill the evaluated grid."""
    number = math.prod(evaluated.size)
    if evaluated.offsetOn(grid) is not None:
        return number
    return max(round(number * evaluated.voxelSize / grid.voxelSize), 1)


def voxelsAround(volume: Grid | None, reference: Mask, test: Mask, grid: Grid) -> float:
    """Return how many voxels of a lattice fill the box around two masks and a volume, if there is one.

    The axes of all run along the same lines. Nothing is resampled, so the number need not be whole.
    """
    corners = [mask.corners() for mask in (reference, test)] + ([volume.corners()] if volume else [])
    lengths = np.ptp(grid.toIndex(np.concatenate(corners)), axis=0)
    if grid.flatAxis is not None:
        lengths[grid.flatAxis] = 1
    return float(np.prod(lengths))
