"""Plastimatch's approximate distance transform, in which offsets to a border voxel travel from voxel to voxel.

Every border voxel starts with the offset 0. Neighbors take over an offset, one step longer, if that brings them closer
to the border. Offsets travel forward and back along a row; rows pass them on forward and back within a slice, and
slices forward and back within the image; every row that received an offset lets it travel again. An offset that lost at
one voxel does not reach the voxels behind it, although it may be the best one there. This causes small errors, which
this module reproduces.

Two properties make it fast. The result for a row is the only solution of "every voxel has the better one of its own
offset and its neighbor's new one, one step longer", so all voxels of a row can be updated at once, repeatedly, until
nothing changes. And rows and slices that receive nothing are left as they are.
"""

from __future__ import annotations

import numpy as np

from ..base.progress import checkpoint
from .elements import faceBorder
from .rules import Sample
from .toolmasks import Sampling

# How far offsets travel at first, as a multiple of the longest exact distance.
SLACK = 1.2


def propagate(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return distances between border voxels by traveling offsets."""
    borders = [sampling.voxels(faceBorder, number) for number in (0, 1)]
    filled = np.argwhere(borders[0] | borders[1])
    box = tuple(slice(low, high + 1) for low, high in zip(filled.min(axis=0), filled.max(axis=0)))
    cropped = [border[box] for border in borders]
    stacked = np.stack(cropped, axis=2)
    unit = tuple(sampling.spacing)
    limit = max(sampling.nearest(faceBorder, number, faceBorder, unit).max() for number in (0, 1))
    while True:
        # the approximate distances exceed the exact ones, but hardly ever by much
        limit = SLACK * limit + sampling.spacing.max()
        maps = distanceMaps(stacked, sampling.spacing, limit)
        found = maps[:, :, 1][cropped[0]], maps[:, :, 0][cropped[1]]
        if all(np.isfinite(distances).all() for distances in found):
            return Sample(found[0]), Sample(found[1])


def distanceMaps(borders: np.ndarray, spacing: np.ndarray, limit: float = np.inf) -> np.ndarray:
    """Return the distances [k, j, n, i] in mm to the nearest True of each of n masks [k, j, n, i], single precision.

    spacing: (3,) mm along k, j, i. limit: distances above it become infinite. The others are unaffected, because longer
    offsets never become shorter ones.
    """
    state = _State(borders, spacing, limit)
    count = len(borders)
    for slices in (range(count), range(count - 2, -1, -1)):
        for k in slices:
            checkpoint()
            before = k - slices.step
            isNew = 0 <= before < count and state.handOn(
                state.offsets[before], state.offsets[k], state.squared[k], state.strides[0]
            )
            if isNew or slices.step > 0:
                state.settle(k)
    return np.sqrt(state.squared)


class _State:
    """Offsets and squared distances of all voxels; an offset is stored as one number, its steps times the strides."""

    def __init__(self, borders: np.ndarray, spacing: np.ndarray, limit: float):
        shape = np.array([borders.shape[0], borders.shape[1], borders.shape[3]]) + 2
        self.strides = np.array([shape[1] * shape[2], shape[2], 1])
        unit = spacing.astype(np.float32) ** 2
        k, j, i = (np.arange(n, dtype=np.float32) ** 2 * u for n, u in zip(shape, unit))
        lengths = (i[None, None, :] + j[None, :, None] + k[:, None, None]).ravel()
        lengths[lengths > limit**2] = np.inf
        # an extra offset, and those one step longer, for voxels that no offset has reached
        self.lengths = np.concatenate([lengths, np.full(self.strides[0] + 1, np.inf, np.float32)])
        self.offsets = np.where(borders, 0, len(lengths)).astype(np.int32)
        self.squared = self.lengths[self.offsets]

    def handOn(self, source: np.ndarray, offsets: np.ndarray, squared: np.ndarray, stride: int) -> bool:
        """Let neighbors take over offsets, one step longer, if they are closer; return whether any did."""
        longer = source + np.int32(stride)
        length = self.lengths.take(longer)
        closer = length < squared
        if not closer.any():
            return False
        np.copyto(offsets, longer, where=closer)
        np.copyto(squared, length, where=closer)
        return True

    def settle(self, k: int) -> None:
        """Let offsets travel within a slice, forward and back; rows that nothing can change are skipped."""
        for step in (1, -1):
            offsets, squared = self.offsets[k, ::step], self.squared[k, ::step]
            isAcross = self.lengths.take(offsets[:-1] + np.int32(self.strides[1])) < squared[1:]
            longer = self.lengths.take(offsets + np.int32(1))
            isAlong = (longer[..., :-1] < squared[..., 1:]) | (longer[..., 1:] < squared[..., :-1])
            isReached, isLoose = (np.logical_or.reduce(flags, axis=(1, 2)) for flags in (isAcross, isAlong))
            isNew = False
            for j in range(len(offsets)):
                isNew = (isNew or (j > 0 and isReached[j - 1])) and self.handOn(
                    offsets[j - 1], offsets[j], squared[j], self.strides[1]
                )
                if isNew or (isLoose[j] and step > 0):
                    isNew = True
                    self._travel(offsets[j, :, :-1], offsets[j, :, 1:], squared[j, :, 1:])
                    self._travel(offsets[j, :, 1:], offsets[j, :, :-1], squared[j, :, :-1])

    def _travel(self, source: np.ndarray, target: np.ndarray, squared: np.ndarray) -> None:
        """Let offsets travel along a row in one direction.

        source, target: the same row without its last and without its first voxel, as seen in that direction.
        """
        longer = source + np.int32(1)
        closer = self.lengths.take(longer) < squared
        if not closer.any():
            return
        own = target.copy()
        np.copyto(target, longer, where=closer)
        while True:
            np.add(source, np.int32(1), out=longer)
            new = np.where(self.lengths.take(longer) < squared, longer, own)
            if not (new != target).any():
                break
            target[...] = new
        squared[...] = self.lengths.take(target)
