"""Areas of two structures, and of their overlap, in every slice of the reference.

For masks on one lattice, pixels are counted. A structure that is not on the lattice of the slices is cut by their
planes. The area of its cross-section is exact, and so is the area that it shares with the pixels of the other one: the
segments around the cross-section are cut where they pass from one pixel to the next, and the pixels to their left are
summed up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry.arrangement import cross
from ..geometry.crosssections import CrossSections
from ..geometry.grids import roundIndex
from ..geometry.masks import Mask
from ..geometry.ranges import levelsOf
from ..geometry.slicing import SliceStack


@dataclass(frozen=True, eq=False)
class SliceAreas:
    """Areas of two structures in pixels, slice by slice.

    first: number of the first slice. areas: (2, n) of the reference and of the test, whole numbers where pixels were
    counted. shared: (n,) of the overlap. sides: the two structures, as masks or, if on another lattice, as
    cross-sections.
    """

    first: int
    areas: np.ndarray
    shared: np.ndarray
    sides: tuple[Mask | CrossSections, Mask | CrossSections]

    def center(self, which: int, number: int) -> np.ndarray:
        """Return the LPS center of mass (3,) in mm of the reference (0) or the test (1) in a slice that it is in."""
        side = self.sides[which]
        if isinstance(side, Mask):
            j, i = np.nonzero(side.voxels[number - side.offset[2]])
            return side.grid.toWorld([[i.mean() + side.offset[0], j.mean() + side.offset[1], number]])[0]
        here = side.slices == number
        start = side.start[here]
        local = start[0]
        start, end = start - local, side.end[here] - local
        doubled = cross(start, end)
        area = doubled.sum()
        center = (start + end).T @ doubled / (3 * area) if area else start.mean(axis=0)
        return side.grid.toWorld([[*(center + local), number]])[0]


def areasOf(
    sides: tuple[Mask | CrossSections, Mask | CrossSections], stacks: tuple[SliceStack, SliceStack]
) -> SliceAreas:
    """Return the areas of two structures, not both empty, at least one of which is a mask.

    sides: masks on one lattice with its slices along the k axis, or cross-sections of a structure that is not on it.
    stacks: their contours; a structure without a contour in a slice has no area there.
    """
    spans = [_span(side) for side in (*sides, *stacks)]
    first, last = int(min(low for low, _ in spans)), int(max(high for _, high in spans))
    count = last - first + 1
    areas = [_areas(side, first, count) for side in sides]
    masks = [side for side in sides if isinstance(side, Mask)]
    if len(masks) == 2:
        reference, test = masks
        both = reference.voxels & test.block(reference.low, reference.high)
        shared = _areas(Mask(both, reference.offset, reference.grid), first, count)
    else:
        hasContour = [np.bincount(stack.numbers - first, minlength=count) > 0 for stack in stacks]
        areas = [np.where(has, area, 0) for has, area in zip(hasContour, areas, strict=True)]
        (sections,) = (side for side in sides if not isinstance(side, Mask))
        shared = np.clip(_shareBySections(masks[0], sections, first, count), 0, np.minimum(*areas))
    return SliceAreas(first, np.array(areas), shared, sides)


def _span(side: Mask | CrossSections | SliceStack) -> tuple[float, float]:
    """Return the first and the last slice of a structure, (inf, -inf) if it is empty."""
    if side.isEmpty:
        return np.inf, -np.inf
    if isinstance(side, Mask):
        return side.low[2], side.high[2]
    slices = side.slices if isinstance(side, CrossSections) else side.numbers
    return slices[0], slices[-1]


def _areas(side: Mask | CrossSections, first: int, count: int) -> np.ndarray:
    """Return the area (count,) in pixels of a structure in the slices from `first` on."""
    counts = np.zeros(count, np.int64)
    if side.isEmpty:
        return counts
    if isinstance(side, Mask):
        start = side.low[2] - first
        counts[start : start + len(side.voxels)] = np.count_nonzero(side.voxels, axis=(1, 2))
        return counts
    # relative to a point nearby, to avoid cancellation
    origin = side.start.mean(axis=0)
    doubled = cross(side.start - origin, side.end - origin)
    return np.maximum(roundIndex(np.bincount(side.slices - first, doubled, count) / 2), 0)


def _shareBySections(mask: Mask, sections: CrossSections, first: int, count: int) -> np.ndarray:
    """Return the area (count,) in pixels of cross-sections that the pixels of a mask cover, in the slices from `first`.

    By Green's theorem, it is the sum over the segments of each one's rise times the length of the mask's row on its
    left. Along a segment cut at the sides of pixels, that length is linear, so its value at the middle is exact.
    """
    if mask.isEmpty or sections.isEmpty:
        return np.zeros(count)
    start, end, slices = sections.start, sections.end, sections.slices
    for axis in (1, 0):
        start, end, which = _cutAtSides(start, end, axis)
        slices = slices[which]
    # positions relative to the corner of the first pixel
    column, row = ((start + end) / 2 - mask.low[:2] + 0.5).T
    layer, line = slices - mask.low[2], np.floor(row).astype(np.int64)
    depth, rows, columns = mask.voxels.shape
    chosen = np.flatnonzero((layer >= 0) & (layer < depth) & (line >= 0) & (line < rows) & (column > 0))
    column, layer, line = np.minimum(column[chosen], columns), layer[chosen], line[chosen]
    summed = np.pad(np.cumsum(mask.voxels, axis=2, dtype=np.int32), ((0, 0), (0, 0), (1, 1)), mode="edge")
    summed[:, :, 0] = 0
    pixel = np.floor(column).astype(np.int64)
    before, behind = summed[layer, line, pixel], summed[layer, line, pixel + 1]
    onLeft = before + (column - pixel) * (behind - before)
    rise = (end - start)[chosen, 1]
    return roundIndex(np.bincount(slices[chosen] - first, rise * onLeft, count))


def _cutAtSides(start: np.ndarray, end: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return segments (m, 2) cut half-way between whole numbers along an axis, and the original one of each piece."""
    low, high = (np.floor(f(start[:, axis], end[:, axis]) + 0.5).astype(np.int64) for f in (np.minimum, np.maximum))
    which, pixel = levelsOf(low, high + 1)
    start, end = start[which], end[which]
    step = end - start
    length = np.where(step[:, axis] == 0, 1.0, step[:, axis])
    inPixel = np.sort([(pixel + side - start[:, axis]) / length for side in (-0.5, 0.5)], axis=0)
    inPixel = np.where(step[:, axis] == 0, [[0.0], [1.0]], np.clip(inPixel, 0, 1))
    return *(start + share[:, None] * step for share in inPixel), which
