"""The contours of all slices of a structure as one surface, to measure within slices only.

The slices are moved so far apart that no contour of another slice is ever the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .crosssections import NO_LENGTH, CrossSections, ofVoxels
from .masks import Mask
from .ranges import levelsOf
from .surfaces import Surface

# More than four times the pixels along any side of an image.
KEY_STRIDE = 1 << 20


@dataclass(frozen=True, eq=False)
class SliceStack:
    """The contours of many slices.

    contours: all of them as one, each slice moved away by its number times `shift`, (3,) in mm along the normal.
    numbers: (m,) slice of every segment, ascending. keys: (m,) equal for equal segments of the stacks of one lattice.
    """

    contours: Surface
    numbers: np.ndarray
    shift: np.ndarray
    keys: np.ndarray

    @property
    def isEmpty(self) -> bool:
        return self.contours.isEmpty


def stackOf(sections: CrossSections, gap: float) -> SliceStack:
    """Return cross-sections as a stack that matches the others on the same grid.

    gap: mm between neighboring slices of the stack, which are placed by their numbers. Long segments are cut into parts
    no longer than a pixel's longer side, as those between pixels are. Only the keys of those are ever equal.
    """
    grid = sections.grid
    steps = sections.end - sections.start
    chosen = np.flatnonzero(np.abs(steps).max(axis=1, initial=0) > NO_LENGTH)
    if sections.isOfPixels:  # row by row
        x, y = (sections.start + sections.end).T / 2
        chosen = np.lexsort([x, np.floor(y), sections.slices])
    start, steps, numbers = sections.start[chosen], steps[chosen], sections.slices[chosen]
    longest = float(grid.spacing[:2].max())
    counts = np.ceil(np.linalg.norm(steps @ grid.axes[:, :2].T, axis=1) / longest * (1 - NO_LENGTH)).astype(np.int64)
    which, part = levelsOf(np.zeros(len(counts), np.int64), np.maximum(counts, 1))
    shares = np.stack([part, part + 1]) / np.maximum(counts, 1)[which]
    numbers = numbers[which]
    ends = start[which] + shares[..., None] * steps[which]
    index = np.concatenate([ends, np.broadcast_to(numbers[:, None], (2, len(numbers), 1))], axis=2)
    normal = np.cross(*grid.axes[:, :2].T)
    normal /= np.linalg.norm(normal)
    shift = (gap - grid.axes[:, 2] @ normal) * normal
    points = grid.toWorld(index.transpose(1, 0, 2).reshape(-1, 3)) + np.repeat(numbers, 2)[:, None] * shift
    cells = np.arange(len(points), dtype=np.int64).reshape(-1, 2)
    keys = -1 - np.arange(len(numbers))
    if sections.isOfPixels:
        # twice the middle and the segment's length along i identify it within its slice
        x, y = np.rint(2 * ends.sum(axis=0)).astype(np.int64).T
        across = np.rint(2 * np.abs(ends[1] - ends[0])[:, 0]).astype(np.int64)
        keys = ((numbers * KEY_STRIDE + y) * KEY_STRIDE + x) * 3 + across
    return SliceStack(Surface(points, cells, normal), numbers, shift, keys)


def stacksOf(*sides: Mask | CrossSections) -> tuple[SliceStack, ...]:
    """Return the contours in every slice along the k axis of masks on one lattice.

    Structures that are not on that lattice are given by their cross-sections instead of masks.
    """
    corners = np.concatenate([_ends(side) for side in sides])
    # more than any distance within a slice
    gap = 10 * float(np.linalg.norm(np.ptp(corners, axis=0))) + 10.0 if len(corners) else 1.0
    return tuple(stackOf(ofVoxels(side) if isinstance(side, Mask) else side, gap) for side in sides)


def _ends(side: Mask | CrossSections) -> np.ndarray:
    """Return LPS points (n, 3) in mm around a structure."""
    if isinstance(side, Mask):
        return side.corners()
    index = np.column_stack([np.concatenate([side.start, side.end]), np.tile(side.slices, 2)])
    return side.grid.toWorld(index) if len(index) else np.zeros((0, 3))
