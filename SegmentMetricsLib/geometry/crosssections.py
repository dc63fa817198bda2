"""The contours of a structure in the slices of a grid, as segments: around the pixels of a mask, or cut from a surface.

A triangle that reaches from below the plane of a slice to above it is cut along one segment. A point exactly in a plane
counts as below it, just as a center on a low face of a surface counts as inside when voxels are filled. So a box from 2
to 5 is in the slices 2, 3 and 4, whatever it is made of, and every contour is closed. Lengths are in pixels of the
slices, along the two axes of the grid that lie in the slices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.progress import chunks
from .grids import Grid, roundIndex
from .masks import Mask
from .ranges import levelsOf
from .surfaces import Surface

# Triangles cut at a time, so that temporary arrays stay small.
PART = 1 << 17
# In pixels: segments no longer than this have no direction.
NO_LENGTH = 1e-9


@dataclass(frozen=True, eq=False)
class CrossSections:
    """The contours of a structure in the slices along the k axis of a grid, as segments.

    start, end: (m, 2) i and j where segments start and end, with the inside on the left as i turns to j. slices: (m,)
    the k of each, ascending. starts, ends: (m,) numbers of the places where they start and end, equal where one segment
    continues another. Segments may have length 0. isOfPixels: whether they run between the pixels of the slices.
    """

    grid: Grid
    start: np.ndarray
    end: np.ndarray
    slices: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    isOfPixels: bool = False

    @property
    def isEmpty(self) -> bool:
        return len(self.slices) == 0


def cut(surface: Surface, grid: Grid, within: tuple[int, int] | None = None) -> CrossSections:
    """Return the cross-sections of a closed surface with the slices along the k axis of a grid, also beyond its edges.

    within: the first and the last slice that count, None for all.
    """
    index = grid.toIndex(surface.points)
    heights = roundIndex(index[:, 2])
    levels = np.ceil(heights).astype(np.int64)
    if within is not None:
        levels = np.clip(levels, within[0], within[1] + 1)
    isMirrored = np.linalg.det(grid.axes) < 0
    parts = [
        _cut(index[:, :2], heights, levels, surface.cells[chosen], isMirrored)
        for chosen in chunks(max(surface.count, 1), PART)
    ]
    start, end, slices, startSides, endSides = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(slices, kind="stable")
    slices = slices[order]
    # a place is identified by the number of a triangle's side and the slice
    sides, numbers = np.unique(np.concatenate([startSides[order], endSides[order]]), return_inverse=True)
    places = (np.tile(slices, 2) - slices.min(initial=0)) * max(len(sides), 1) + numbers.ravel()
    starts, ends = np.split(places, 2)
    return CrossSections(grid, start[order], end[order], slices, starts, ends)


def _cut(
    flat: np.ndarray, heights: np.ndarray, levels: np.ndarray, cells: np.ndarray, isMirrored: bool
) -> tuple[np.ndarray, ...]:
    """Return start and end (m, 2), slices (m,) and the sides (m,) on which the segments of triangles start and end.

    flat: (n, 2) i and j of points. heights: their k. levels: the first slice at or above each.
    """
    corners = levels.take(cells)
    crossing = np.flatnonzero(corners.min(axis=1) < corners.max(axis=1))
    cells, corners = cells[crossing], corners[crossing]
    # from the lowest to the highest corner; the parity of this permutation determines which way the triangle turns
    order = np.argsort(corners, axis=1, kind="stable")
    isTurned = ((order[:, 1] - order[:, 0]) % 3 == 2) != isMirrored
    low, middle, high = np.take_along_axis(cells, order, axis=1).T
    number, slices = levelsOf(levels[low], levels[high])
    isBelow = slices < levels[middle].take(number)
    low, middle, high = (corner.take(number) for corner in (low, middle, high))
    long = low, high
    short = np.where(isBelow, low, middle), np.where(isBelow, middle, high)
    places, sides = [], []
    for below, above in (long, short):
        # both triangles at a side compute the same place on it, as both go up
        share = (slices - heights[below]) / (heights[above] - heights[below])
        places.append(flat[below] + share[:, None] * (flat[above] - flat[below]))
        sides.append(np.minimum(below, above).astype(np.int64) * len(flat) + np.maximum(below, above))
    turned = isTurned.take(number)
    start, end = (np.where(turned[:, None], a, b) for a, b in (places[::-1], places))
    return start, end, slices, *(np.where(turned, a, b) for a, b in (sides[::-1], sides))


def ofVoxels(mask: Mask, axis: int = 2) -> CrossSections:
    """Return the contours, half-way between pixel centers, of all slices of a mask across an axis of its grid.

    Pixels that share only a corner are not connected, as in the contours that are measured elsewhere.
    """
    grid = mask.grid if axis == 2 else mask.grid.slicesLast()
    if mask.isEmpty:
        nothing = np.zeros(0, np.int64)
        return CrossSections(grid, np.zeros((0, 2)), np.zeros((0, 2)), nothing, nothing, nothing, isOfPixels=True)
    pixels, outward, slices, first = trace(mask, axis, joined=False)
    after = np.arange(1, len(slices) + 1)
    after[np.append(first[1:], len(slices)) - 1] = first
    places = pixels + outward / 2
    return CrossSections(grid, places, places[after], slices, np.arange(len(slices)), after, isOfPixels=True)


def trace(mask: Mask, axis: int, joined: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pixel sides between inside and outside of a non-empty mask, in order along each contour.

    axis: across the slices. joined: whether pixels that share a corner are connected. Returns for every side the inside
    pixel (n, 2) of the grid, the unit step (n, 2) to the outside pixel and the slice (n,), and the index (m,) at which
    each contour begins.
    """
    voxels = np.moveaxis(mask.voxels, 2 - axis, 0) != 0
    padded = np.pad(voxels, ((0, 0), (1, 1), (1, 1)))
    _, rows, columns = padded.shape
    flat = padded.ravel()
    # right, up, left, down: each is the previous one turned left
    steps = np.array([1, columns, -1, -columns])
    found = []
    for way, step in enumerate((1, columns)):
        low, high = flat[:-step], flat[step:]
        found.append(np.flatnonzero(low > high) * 4 + way)
        found.append((np.flatnonzero(high > low) + step) * 4 + way + 2)
    keys = np.sort(np.concatenate(found))
    pixel, direction = keys // 4, keys % 4
    left, right = (direction + 1) % 4, (direction + 3) % 4
    beside = pixel + steps[left]
    across = beside + steps[direction]
    # walk with the inside on the left: around the pixel, straight on, or around the pixel ahead on the right
    turnsRight = flat[across] & (flat[beside] | joined)
    pixelAfter = np.where(turnsRight, across, np.where(flat[beside], beside, pixel))
    directionAfter = np.where(turnsRight, right, np.where(flat[beside], direction, left))
    order, starts = cycles(np.searchsorted(keys, pixelAfter * 4 + directionAfter))
    pixel, direction = pixel[order], direction[order]
    slices, rest = np.divmod(pixel, rows * columns)
    row, column = np.divmod(rest, columns)
    kept = [a for a in range(3) if a != axis]
    pixels = np.stack([column, row], axis=1) - 1 + mask.low[kept]
    outward = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])[direction]
    return pixels, outward, slices + mask.low[axis], starts


def follow(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the number (m,) of the segment that continues each, from the numbers (m,) of the places at their ends.

    Of several segments that start at one place, each continues one.
    """
    order = np.argsort(starts, kind="stable")
    return order[np.argsort(np.argsort(ends, kind="stable"), kind="stable")]


def cycles(after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a permutation cycle by cycle, in order, and the indices at which the cycles begin."""
    following = after.tolist()
    order: list[int] = []
    starts: list[int] = []
    for first in range(len(following)):
        number = first
        if following[number] >= 0:
            starts.append(len(order))
        while following[number] >= 0:
            order.append(number)
            following[number], number = -1, following[number]
    return np.array(order, np.int64), np.array(starts, np.int64)


def boxesOf(mask: Mask) -> Surface:
    """Return the outer faces of the voxels of a mask in space, as triangles that share no points."""
    corners = []
    for axis in range(3):
        step = np.diff(np.pad(mask.voxels.view(np.int8), [(int(a == 2 - axis),) * 2 for a in range(3)]), axis=2 - axis)
        others = [(axis + 1) % 3, (axis + 2) % 3]
        for facing, turn in ((-1, 1), (1, -1)):
            # where the step is down the inside ends, and the face points along the axis
            index = np.argwhere(step == facing)[:, ::-1] + np.array(mask.offset, float)
            index[:, axis] -= 0.5
            face = np.repeat(index[:, None], 4, axis=1)
            face[:, :, others] += np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])[::turn]
            corners.append(face)
    points = np.concatenate(corners).reshape(-1, 3)
    cells = (np.arange(0, len(points), 4)[:, None, None] + [(0, 1, 2), (0, 2, 3)]).reshape(-1, 3)
    if np.linalg.det(mask.grid.axes) < 0:
        cells = cells[:, ::-1]
    return Surface(mask.grid.toWorld(points), cells)
