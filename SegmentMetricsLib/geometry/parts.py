"""Separate parts of a mask, found from its runs of voxels: many times faster than from the voxels."""

from __future__ import annotations

import numpy as np

from .graphs import components
from .masks import Mask

# Slices processed at a time, so that temporary arrays are small compared to the mask.
SLICES = 16


def partSizes(mask: Mask) -> list[int]:
    """Return the voxel counts of the separate parts of a mask, largest first; parts do not touch even at a corner."""
    if mask.isEmpty:
        return []
    slices, rows, columns = mask.voxels.shape
    # gaps between rows and slices keep the end of one from touching the start of the next
    width, depth = columns + 2, rows + 1
    found = []
    for start in range(0, slices, SLICES):
        some = mask.voxels[start : start + SLICES]
        gapped = np.zeros((len(some), depth, width), np.uint8)
        gapped[:, :rows, 1:-1] = some
        flat = gapped.ravel()
        # where a run of voxels starts, and where the gap after it starts
        found.append(np.flatnonzero(flat[1:] != flat[:-1]) + (1 + start * depth * width))
    changes = np.concatenate(found)
    first, last = changes[::2], changes[1::2] - 1
    # runs that touch a run: in the next row, and in three rows of the next slice
    shifts = np.array([[1], [depth - 1], [depth], [depth + 1]]) * width
    low = np.searchsorted(last, first + shifts - 1).ravel()
    high = np.searchsorted(first, last + shifts + 1, side="right").ravel()
    number = np.maximum(high - low, 0)
    one = np.repeat(np.tile(np.arange(len(first)), len(shifts)), number)
    other = np.arange(len(one)) + np.repeat(low - np.cumsum(number) + number, number)
    lengths = last - first + 1
    isReached = np.zeros(len(first), bool)
    isReached[other] = True
    # every run but the first touches an earlier one, so that all are connected to the first, as in most small organs
    if isReached[1:].all():
        return [int(lengths.sum())]
    labels = components(one, other, len(first))
    return sorted(np.bincount(labels, lengths).astype(int).tolist(), reverse=True)
