"""How much of its own shape a mask lacks: cavities, and holes as small as those of noise."""

from __future__ import annotations

import numpy as np

from ...geometry.masks import Mask


def shareMissingInside(mask: Mask, least: float = 0.0) -> float:
    """Return the share of the filled shape of a mask, in [0, 1), that is missing inside; 0 for an empty mask.

    A voxel is missing inside if the mask lies on all sides of it, along every axis, and encloses it once gaps of up to
    two voxels are closed. So the pores of noise count, although they are connected, but neither the lumen of a tube nor
    the space between the branches of a tree. least: smaller shares may be returned as 0, which saves time.
    """
    # an image of one slice has nothing across it
    flat = tuple(n for n, size in enumerate(mask.grid.size[::-1]) if size == 1 and mask.voxels.shape[n] == 1)
    isSet = (mask.voxels > 0).squeeze(flat)
    # most organs have few gaps along the axis along which counting is quickest
    # a single voxel has no gaps
    if isSet.size < 2 or _shareOfGaps(isSet) < least:
        return 0.0
    missing = ~isSet
    for axis in range(isSet.ndim):
        missing &= np.logical_or.accumulate(isSet, axis)
        missing &= np.flip(np.logical_or.accumulate(np.flip(isSet, axis), axis), axis)
        # most organs have few gaps along any axis
        if not missing.any() or _share(missing, isSet) < least:
            return 0.0
    return _share(missing & _enclosed(isSet), isSet)


def _shareOfGaps(isSet: np.ndarray) -> float:
    """Return the share of voxels between the first and the last one of every row along the last axis that are unset."""
    rows = isSet.any(axis=-1)
    span = isSet.shape[-1] - isSet.argmax(axis=-1) - isSet[..., ::-1].argmax(axis=-1)
    filled = int(span[rows].sum())
    return 1 - np.count_nonzero(isSet) / filled if filled else 0.0


def _share(missing: np.ndarray, isSet: np.ndarray) -> float:
    number = np.count_nonzero(missing)
    return number / (number + np.count_nonzero(isSet))


def _enclosed(isSet: np.ndarray) -> np.ndarray:
    """Return the voxels that cannot be reached from outside, once gaps of up to two voxels are closed."""
    from scipy.ndimage import label

    # a voxel of margin on each side for the closing, and one more for the outside, which is then connected
    closed = np.pad(isSet, 2)
    for axis in range(isSet.ndim):
        closed = _withNeighbors(closed, axis, np.logical_or)
    for axis in range(isSet.ndim):
        closed = _withNeighbors(closed, axis, np.logical_and)
    outside, _ = label(~closed)
    return (outside != outside[(0,) * isSet.ndim])[(slice(2, -2),) * isSet.ndim]


def _withNeighbors(voxels: np.ndarray, axis: int, combine: np.ufunc) -> np.ndarray:
    """Return voxels combined with both neighbors along an axis; those at the ends are kept."""
    result = voxels.copy()
    ends = [np.moveaxis(array, axis, 0)[1:-1] for array in (result, voxels)]
    around = np.moveaxis(voxels, axis, 0)
    ends[0][...] = combine(combine(around[:-2], around[2:]), ends[1])
    return result
