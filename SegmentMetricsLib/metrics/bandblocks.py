"""Where to look for boundary bands: the blocks of voxels that can touch them."""

from __future__ import annotations

import numpy as np

from ..cores import eachSideBySide
from ..geometry.masks import Mask
from .bandlookup import spread

# Voxels looked at one by one; where the box around the structures has more, blocks of them.
LARGEST_VOLUME = 1 << 18


def bandBlocks(
    masks: tuple[Mask, Mask], tolerance: float, most: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], np.ndarray]:
    """Return the blocks of voxels that can touch either band, about `most`: numbers and centers (n, 3), flags, sides.

    flags: for each mask which blocks (n,) can touch its band. sides: (3,) of the blocks, in voxels. Centers are voxel
    indices, not always whole ones. Blocks are counted from the structures, not from the image: cropping an image must
    not change where they lie.
    """
    grid = masks[0].grid
    axes = [axis for axis in range(3) if axis != grid.flatAxis]
    low, high = boxAround(masks)
    first, more = np.ones(3, int), np.ones(3, int)
    first[axes] = sideOf(float(np.prod(high - low + 1.0)), LARGEST_VOLUME, len(axes))
    low, flags = bandFlags(masks, tolerance, first)
    # of whole or half numbers of voxels
    more[axes] = sideOf(np.count_nonzero(flags[0] | flags[1]) * 2 ** len(axes), most, len(axes))
    if more[axes[0]] % 2 == 0 or more[axes[0]] == 1:
        more[axes] = (more[axes] + 1) // 2
    flags, sides = [joined(f, more[::-1]) for f in flags], first * more
    chosen = np.flatnonzero(flags[0] | flags[1])
    numbers = np.stack(np.unravel_index(chosen, flags[0].shape)[::-1], axis=1)
    return numbers, low + numbers * sides + (sides - 1) / 2, [f.ravel()[chosen] for f in flags], sides


def sideOf(count: float, most: float, dimension: int) -> int:
    """Return along how many of `count` things a block must reach so that there are about `most` blocks."""
    return max(1, round((count / most) ** (1 / dimension)))


def joined(flags: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return flags [k, j, i] of blocks of voxels that hold a flagged one. sides: of the blocks, in voxels."""
    for axis, side in enumerate(sides):
        if side == 1:
            continue
        lines = np.moveaxis(flags, axis, 0)
        held = lines[::side].copy()
        for step in range(1, side):
            more = lines[step::side]
            held[: len(more)] |= more
        flags = np.moveaxis(held, 0, axis)
    return flags


def boxAround(masks: tuple[Mask, Mask]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last voxel index (i, j, k) of a box around both masks, with room."""
    grid = masks[0].grid
    low = np.min([m.low for m in masks], axis=0) - 2
    high = np.max([m.high for m in masks], axis=0) + 2
    if grid.planar:
        low[grid.flatAxis] = high[grid.flatAxis] = 0
    return low, high


def bandFlags(
    masks: tuple[Mask, Mask], tolerance: float, sides: np.ndarray | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return for each mask which voxels can touch its band, as bool [k, j, i], and the index (i, j, k) of the first.

    sides: (3,) of blocks of voxels that are told of instead, those along the last ones smaller.
    """
    grid = masks[0].grid
    sides = np.ones(3, int) if sides is None else sides
    low, high = boxAround(masks)
    # A voxel whose surrounding box of this half-width is all inside lies deeper than the band, whatever its sub-voxel.
    depth = np.ceil(np.ceil(tolerance / grid.spacing + 0.5) / sides).astype(int)
    grown = np.ones(3, int)
    if grid.planar:
        depth[grid.flatAxis] = grown[grid.flatAxis] = 0

    def found(mask: Mask) -> np.ndarray:
        inside, outside = _heldBy(mask, low, high, sides)
        return spread(inside, grown[::-1]) & spread(outside, depth[::-1])

    flags = eachSideBySide(found, masks)
    return low, flags


def _heldBy(mask: Mask, low: np.ndarray, high: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which blocks [k, j, i] of a box around a mask hold voxels of it, and which others.

    low, high: first and last voxel index (i, j, k) of the box. sides: (3,) of the blocks, in voxels.
    """
    size, side = high - low + 1, int(sides[2])
    inside = np.zeros((-(-size[2] // side), size[1], size[0]), bool)
    outside = np.ones_like(inside)
    if not mask.isEmpty:
        i, j, before = (mask.low - low).tolist()
        depth, height, width = mask.voxels.shape
        part = slice(j, j + height), slice(i, i + width)
        # some layers at a time, so that large volumes are read once and nothing as large is made
        for row in range(before // side, (before + depth - 1) // side + 1):
            first = row * side - before
            layers = mask.voxels[max(first, 0) : first + side]
            inside[row][part] = layers.max(axis=0) > 0
            if len(layers) == side:
                outside[row][part] = layers.min(axis=0) == 0
    return tuple(joined(flags, (1, *sides[1::-1])) for flags in (inside, outside))
