"""Where to look for boundary bands: the blocks of voxels that can touch them."""

from __future__ import annotations

import numpy as np

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
    low, near = _nearBits(masks, tolerance, first)
    # of whole or half numbers of voxels
    more[axes] = sideOf(np.count_nonzero(near) * 2 ** len(axes), most, len(axes))
    if more[axes[0]] % 2 == 0 or more[axes[0]] == 1:
        more[axes] = (more[axes] + 1) // 2
    near, sides = joined(near, more[::-1]), first * more
    chosen = np.flatnonzero(near)
    numbers = np.stack(np.unravel_index(chosen, near.shape)[::-1], axis=1)
    return numbers, low + numbers * sides + (sides - 1) / 2, _ofEachMask(near.ravel()[chosen]), sides


def sideOf(count: float, most: float, dimension: int) -> int:
    """Return along how many of `count` things a block must reach so that there are about `most` blocks."""
    return max(1, round((count / most) ** (1 / dimension)))


def joined(flags: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the flags [k, j, i], or bits, that voxels in blocks have together. sides: of the blocks, in voxels."""
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


def _ofEachMask(bits: np.ndarray) -> list[np.ndarray]:
    """Return the flags of each mask from one bit for each."""
    return [(bits >> number & 1).astype(bool) for number in (0, 1)]


def _nearBits(masks: tuple[Mask, Mask], tolerance: float, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which blocks of voxels can touch the masks' bands, and the index (i, j, k) of the first voxel.

    sides: (3,) of the blocks, in voxels, those along the last ones smaller. Which: uint8 [k, j, i], one bit for each
    mask.
    """
    grid = masks[0].grid
    low, high = boxAround(masks)
    # A voxel whose surrounding box of this half-width is all inside lies deeper than the band, whatever its sub-voxel.
    depth = np.ceil(np.ceil(tolerance / grid.spacing + 0.5) / sides).astype(int)
    grown = np.ones(3, int)
    if grid.planar:
        depth[grid.flatAxis] = grown[grid.flatAxis] = 0
    # what both masks hold at once, and first as far as either needs
    held = spread(_heldBy(masks, low, high, sides), grown[::-1])
    inside = held & np.uint8(0b0011)
    outside = spread(held, (depth - grown)[::-1])
    return low, inside & outside >> np.uint8(2)


def _heldBy(masks: tuple[Mask, Mask], low: np.ndarray, high: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return what the blocks [k, j, i] of a box around two masks hold, as bits of uint8.

    The first two bits tell of voxels of each mask, the next two of voxels outside it. low, high: first and last voxel
    index (i, j, k) of the box. sides: (3,) of the blocks, in voxels.
    """
    size, side = high - low + 1, int(sides[2])
    held = np.full((-(-size[2] // side), size[1], size[0]), 0b1100, np.uint8)
    for number, mask in enumerate(masks):
        if mask.isEmpty:
            continue
        i, j, before = (mask.low - low).tolist()
        depth, height, width = mask.voxels.shape
        part = slice(j, j + height), slice(i, i + width)
        # some layers at a time, so that large volumes are read once and nothing as large is made
        for layer in range(before // side, (before + depth - 1) // side + 1):
            first = layer * side - before
            layers = mask.voxels[max(first, 0) : first + side]
            blocks = held[layer][part]
            blocks |= (layers.max(axis=0) > 0).view(np.uint8) << np.uint8(number)
            if len(layers) == side:
                blocks ^= (layers.min(axis=0) > 0).view(np.uint8) << np.uint8(number + 2)
    return joined(held, (1, *sides[1::-1]))
