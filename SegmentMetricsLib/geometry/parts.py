"""Connected parts of graphs, and of masks: from their runs of voxels, many times faster than from the voxels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .masks import Mask, runsOf
from .ranges import levelsOf

# Of the neighbors of a voxel that belong to one part with it: how many coordinates of the step to them may differ.
COORDINATES = {6: 1, 18: 2, 26: 3}
# Steps to later rows, as rows and slices, and in how many of these two coordinates they differ.
ROWS = ((1, 0, 1), (-1, 1, 2), (0, 1, 1), (1, 1, 2))


@dataclass(frozen=True, eq=False)
class Parts:
    """The separate parts of a mask.

    voxels: (n, 3) indices i, j, k of its voxels on its grid. numbers: (n,) of the parts that they belong to, from 0.
    count: of parts.
    """

    voxels: np.ndarray
    numbers: np.ndarray
    count: int


def partSizes(mask: Mask) -> list[int]:
    """Return the voxel counts of the separate parts of a mask, which do not touch even at a corner, largest first."""
    if mask.isEmpty:
        return []
    first, last, labels = _labeledRuns(mask)
    return sorted(np.bincount(labels, last - first + 1).astype(int).tolist(), reverse=True)


def partsOf(mask: Mask, connectivity: int = 26) -> Parts:
    """Return the separate parts of a mask, in the order of their first voxels.

    connectivity: voxels are connected to the 6, 18 or 26 around them; with 26, parts do not touch even at a corner.
    """
    if mask.isEmpty:
        return Parts(np.zeros((0, 3), int), np.zeros(0, int), 0)
    first, last, labels = _labeledRuns(mask, connectivity)
    number, places = levelsOf(first, last + 1)
    width, depth = _strides(mask)
    rows, i = np.divmod(places, width)
    k, j = np.divmod(rows, depth)
    return Parts(np.stack([i - 1, j, k], axis=1) + mask.low, labels[number], int(labels.max()) + 1)


def partsOutside(mask: Mask, other: Mask) -> int:
    """Return how many of the separate parts of a mask share no voxel with another mask on the same grid."""
    if mask.isEmpty:
        return 0
    first, _last, labels = _labeledRuns(mask)
    isShared = (mask.voxels > 0) & (other.block(mask.low, mask.high) > 0)
    inBoth, _ = _runs(Mask(isShared.view(np.uint8), mask.offset, mask.grid))
    # every run that both have begins within a run of the mask
    isMet = np.zeros(int(labels.max()) + 1, bool)
    isMet[labels[np.searchsorted(first, inBoth, side="right") - 1]] = True
    return int((~isMet).sum())


def _strides(mask: Mask) -> tuple[int, int]:
    """Return the length of a row, and the rows of a slice, with gaps: the end of none touches the start of the next."""
    _slices, rows, columns = mask.voxels.shape
    return columns + 2, rows + 1


def _runs(mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last place (r,) of every run of voxels along i, counted with gaps."""
    width, depth = _strides(mask)
    _, k, j, first, last = np.concatenate([np.stack(runs) for runs in runsOf(mask.voxels)], axis=1)
    starts = (k * depth + j) * width + 1
    return starts + first, starts + last


def _labeledRuns(mask: Mask, connectivity: int = 26) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first and the last place (r,) of every run, and the number (r,) of the part that it belongs to."""
    first, last = _runs(mask)
    width, depth = _strides(mask)
    most = COORDINATES[connectivity]
    # runs that touch a run: in the next row, and in three rows of the next slice
    rows = [(step + slices * depth, differing) for step, slices, differing in ROWS if differing <= most]
    shifts = np.array([[row] for row, _ in rows]) * width
    # the ends of runs may be a voxel apart if one more coordinate may differ
    beyond = np.array([[differing < most] for _, differing in rows], int)
    low = np.searchsorted(last, first + shifts - beyond).ravel()
    high = np.searchsorted(first, last + shifts + beyond, side="right").ravel()
    number = len(first)
    starts, ends = (np.bincount(places, minlength=number + 1) for places in (low, high))
    isReached = np.cumsum(starts - ends)[:number] > 0
    # every run but the first touches an earlier one, so that all are connected to the first, as in most small organs
    if isReached[1:].all():
        return first, last, np.zeros(number, int)
    # a run is connected with the first run that it touches, and that one with the next ones
    touching = np.flatnonzero(low < high)
    low, high = low[touching], high[touching]
    starts, ends = (np.bincount(places, minlength=number) for places in (low, high - 1))
    areBoth = np.flatnonzero(np.cumsum(starts - ends)[:-1] > 0)
    one, other = np.append(touching % number, areBoth), np.append(low, areBoth + 1)
    return first, last, components(one, other, number)


def components(starts: np.ndarray, ends: np.ndarray, count: int) -> np.ndarray:
    """Return the number of the connected part that every node (count,) of a graph belongs to.

    starts, ends: (l,) the nodes at the two ends of each link. Parts are numbered from 0, in the order of their first
    nodes. This is as fast as SciPy's search, whose import takes longer than a comparison of small structures.
    """
    # the lowest node known to be connected with every node
    lowest = np.arange(count)
    while len(starts):
        starts, ends = lowest.take(starts), lowest.take(ends)
        apart = np.flatnonzero(starts != ends)
        starts, ends = starts.take(apart), ends.take(apart)
        np.minimum.at(lowest, np.maximum(starts, ends), np.minimum(starts, ends))
        while not np.array_equal(lower := lowest.take(lowest), lowest):
            lowest = lower
    isFirst = lowest == np.arange(count)
    return (np.cumsum(isFirst) - 1).take(lowest)
