"""Masks: which voxels of a grid belong to a structure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from ..base.errors import Undefined
from ..base.progress import chunks
from .grids import Grid, gridAround, roundIndex

# Voxels of a whole image compared at a time, so that the result is still in the processor's cache when it is read.
BLOCK = 2**20

# More voxels than any image of a patient has, and more than fit into memory.
LARGEST_BOX = 2_000_000_000
# More slices than any image of a patient has.
LARGEST_ROW = 100_000

# A part of an array indexed [k, j, i], and the one without voxels.
Box = tuple[slice, slice, slice]
NOWHERE: Box = (slice(0, 0), slice(0, 0), slice(0, 0))


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """The voxels of one structure, cropped to its bounding box.

    Parameters
    ----------
    voxels : np.ndarray
        Uint8 array of 0 and 1, or floating-point memberships in [0, 1], indexed [k, j, i], shape (0, 0, 0) when the
        structure is empty.
    offset : tuple[int, int, int]
        (i, j, k) of voxels[0, 0, 0] on the grid.
    grid : Grid
        The whole stored image.

    Attributes
    ----------
    isEmpty : bool
        Whether no voxel belongs to the structure.
    low, high : np.ndarray
        (3,) smallest and largest voxel index i, j, k of the structure.
    """

    voxels: np.ndarray
    offset: tuple[int, int, int]
    grid: Grid
    isEmpty: bool = field(init=False)
    low: np.ndarray = field(init=False)
    high: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        low = np.array(self.offset)
        high = low + self.voxels.shape[::-1] - 1
        for array in (low, high):  # they are shared, so callers must not change them
            array.setflags(write=False)
        vars(self).update(isEmpty=self.voxels.size == 0, low=low, high=high)

    def __repr__(self) -> str:
        return f"<Mask of {self.count} voxels on {self.grid!r}>"

    @staticmethod
    def empty(grid: Grid) -> Mask:
        """Return the mask of a structure without voxels."""
        return Mask(np.zeros((0, 0, 0), np.uint8), (0, 0, 0), grid)

    @staticmethod
    def fromArray(
        array: np.ndarray, grid: Grid, start=(0, 0, 0), *, isOwn: bool = False, slices: np.ndarray | None = None
    ) -> Mask:
        """Return the mask of the nonzero voxels of an array [k, j, i] whose first voxel is `start` (i, j, k).

        isOwn: whether the mask takes over the array, so that a bool array without margins need not be copied.
        slices: (n,) ascending numbers k of the slices that are not all 0, if known.
        """
        array = np.asarray(array)
        if slices is None:
            slices = np.flatnonzero(array.any(axis=(1, 2)))
        if not len(slices):
            return Mask.empty(grid)
        # slices known to be empty are skipped
        layer = np.any(array[slices[0] : slices[-1] + 1], axis=0)
        found = slices, np.flatnonzero(layer.any(axis=1)), np.flatnonzero(layer.any(axis=0))
        bounds = [slice(int(numbers[0]), int(numbers[-1]) + 1) for numbers in found]
        # the fastest way to one byte per voxel
        inBox = array[tuple(bounds)]
        voxels = (np.ascontiguousarray(inBox, bool) if isOwn else np.array(inBox, bool, order="C")).view(np.uint8)
        i, j, k = (int(s) + b.start for s, b in zip(start, reversed(bounds), strict=True))
        return Mask(voxels, (i, j, k), grid)

    @staticmethod
    def ofMemberships(array: np.ndarray, grid: Grid, start=(0, 0, 0)) -> Mask:
        """Return the mask of the memberships above 0 of an array [k, j, i] whose first voxel is `start` (i, j, k)."""
        support = Mask.fromArray(array > 0, grid, start)
        return Mask(array[slicesOf(support.low - start, support.high - start)].copy(), support.offset, grid)

    @staticmethod
    def ofVoxels(index: np.ndarray, grid: Grid) -> Mask:
        """Return the mask of voxels given by their indices i, j, k (n, 3)."""
        if not len(index):
            return Mask.empty(grid)
        low = index.min(axis=0)
        voxels = np.zeros((index.max(axis=0) - low + 1)[::-1], np.uint8)
        voxels[tuple((index - low).T[::-1])] = 1
        return Mask(voxels, tuple(low.tolist()), grid)

    def __reduce__(self) -> tuple:
        """Pickle a mask as one bit per voxel; memberships are pickled as they are."""
        if self.voxels.dtype != np.uint8:
            return Mask, (self.voxels, self.offset, self.grid)
        return _unpack, (np.packbits(self.voxels), self.voxels.shape, self.offset, self.grid)

    @cached_property
    def count(self) -> int:
        """Number of voxels of the structure."""
        return int(np.count_nonzero(self.voxels))

    @property
    def size(self) -> float:
        """Voxel count times voxel size, in mm3, or in mm2 on a planar grid."""
        return self.count * self.grid.voxelSize

    @property
    def touchesEdge(self) -> bool:
        """Whether the structure reaches the first or last slice of its image along an axis with more than one slice."""
        if self.isEmpty:
            return False
        spans = zip(self.offset, self.voxels.shape[::-1], self.grid.size, strict=True)
        return any(size > 1 and (low == 0 or low + length == size) for low, length, size in spans)

    def isSameAs(self, other: Mask) -> bool:
        """Return whether another mask has the same voxels of the same lattice, stored in the same order of axes."""
        shift = other.grid.offsetOn(self.grid)
        if shift is None or not np.array_equal(self.voxels, other.voxels):
            return False
        return self.isEmpty or bool((np.add(other.offset, shift) == self.offset).all())

    def block(self, low, high) -> np.ndarray:
        """Return a copy [k, j, i] of the box from voxel index low to high (both included), 0 outside the mask."""
        low, high = np.asarray(low), np.asarray(high)
        result = np.zeros((high - low + 1)[::-1], self.voxels.dtype)
        if not self.isEmpty:
            first, last = np.maximum(low, self.low), np.minimum(high, self.high)
            if (first <= last).all():
                result[slicesOf(first - low, last - low)] = self.voxels[slicesOf(first - self.low, last - self.low)]
        return result

    def corners(self) -> np.ndarray:
        """(8, 3) LPS corners of the bounding box, mm; (0, 3) when empty."""
        if self.isEmpty:
            return np.zeros((0, 3))
        return self.grid.resize(self.low, self.high).corners()

    def cornersAlong(self, grid: Grid) -> np.ndarray:
        """Return LPS corners (8, 3) in mm of the smallest box along a grid's axes with all voxels, (0, 3) if empty."""
        if self.isEmpty:
            return np.zeros((0, 3))
        isSet = self.voxels > 0
        k, j = np.nonzero(isSet.any(axis=2))
        # only the first and the last voxel of a row can be outermost
        first = isSet[k, j].argmax(axis=1)
        last = isSet.shape[2] - 1 - isSet[k, j, ::-1].argmax(axis=1)
        ends = np.concatenate([np.stack([i, j, k], axis=1) for i in (first, last)]) + self.low
        centers = grid.toIndex(self.grid.toWorld(ends))
        # how far a voxel reaches from its center along the grid's axes
        half = np.abs(np.linalg.inv(grid.axes) @ self.grid.axes).sum(axis=1) / 2
        low, high = centers.min(axis=0) - half, centers.max(axis=0) + half
        return grid.toWorld(list(itertools.product(*zip(low, high, strict=True))))

    def cut(self, level: float) -> Mask:
        """Return the mask of the voxels whose membership is at least `level`."""
        return Mask.fromArray(self.voxels >= level, self.grid, self.offset)

    def divide(self, parts: Sequence[int]) -> Mask:
        """Return the mask with every voxel divided into as many parts along i, j, k, all with its value."""
        voxels = self.voxels
        for axis, number in enumerate(reversed(parts)):
            voxels = np.repeat(voxels, number, axis)
        i, j, k = (first * number for first, number in zip(self.offset, parts, strict=True))
        return Mask(voxels, (i, j, k), self.grid.divide(parts))

    def without(self, removed: Mask) -> Mask:
        """Return the mask without the voxels of another one, which is resampled if it lies on another lattice."""
        if self.isEmpty or removed.isEmpty:
            return self
        voxels = np.where(removed.on(self.grid).block(self.low, self.high) > 0, 0, self.voxels)
        make = Mask.fromArray if self.voxels.dtype == np.uint8 else Mask.ofMemberships
        return make(voxels, self.grid, self.offset)

    def alongAxesOf(self, grid: Grid) -> Mask:
        """Return the mask with its axes ordered and directed like another grid's, if all run along the same lines."""
        found = None if np.array_equal(self.grid.axes, grid.axes) else self.grid.alongAxesOf(grid)
        if found is None:
            return self
        own, order, turned = found
        if order == (0, 1, 2) and not any(turned):
            return self
        # arrays are indexed [k, j, i]
        voxels = self.voxels.transpose([2 - axis for axis in reversed(order)])
        voxels = voxels[tuple(slice(None, None, -1 if backward else None) for backward in reversed(turned))]
        if self.isEmpty:
            return Mask(voxels, (0, 0, 0), own)
        far = np.array(self.grid.size) - 1 - self.high
        i, j, k = (int(far[axis] if backward else self.low[axis]) for axis, backward in zip(order, turned))
        return Mask(np.ascontiguousarray(voxels), (i, j, k), own)

    def oneThick(self) -> Mask:
        """Return a mask on a planar grid with pixels 1 mm thick."""
        return Mask(self.voxels, self.offset, self.grid.oneThick())

    def fits(self, grid: Grid) -> bool:
        """Return whether the voxels coincide with those of another grid, so that on() resamples nothing."""
        if self.grid.planar and grid.planar and not (self.grid.hasUnitSlices and grid.hasUnitSlices):
            return self.oneThick().fits(grid.oneThick())
        return self.isEmpty or self.alongAxesOf(grid).grid.offsetOn(grid) is not None

    def on(self, grid: Grid) -> Mask:
        """Return the mask on another grid: shifted if the voxels coincide, else resampled.

        Masks take the value of the nearest voxel; memberships are interpolated linearly. The result covers the whole
        structure even where it leaves the grid.
        """
        if self.grid.planar and grid.planar and not (self.grid.hasUnitSlices and grid.hasUnitSlices):
            moved = self.oneThick().on(grid.oneThick())
            return Mask(moved.voxels, moved.offset, grid)
        mask = self.alongAxesOf(grid)
        shift = mask.grid.offsetOn(grid)
        if self.isEmpty:
            return Mask(self.voxels, (0, 0, 0), grid)
        if shift is not None:
            return Mask(mask.voxels, tuple(np.array(mask.offset) + shift), grid)
        from scipy.ndimage import affine_transform

        isFuzzy = self.voxels.dtype.kind == "f"
        # memberships fade to 0 beyond the outermost voxels
        reached = self.grid.resize(self.low - isFuzzy, self.high + isFuzzy)
        index = grid.toIndex(reached.corners())
        low, high = np.floor(index.min(axis=0)).astype(int), np.ceil(index.max(axis=0)).astype(int)
        # output index [k, j, i] -> world -> index [k, j, i] into self.voxels
        forward = np.linalg.inv(self.grid.axes) @ grid.axes
        start = self.grid.toIndex(grid.toWorld(low[None]))[0] - self.low
        if isFuzzy and self.grid.planar:  # nothing fades across a plane
            start[self.grid.flatAxis] = np.rint(start[self.grid.flatAxis])
        if not isFuzzy:
            forward, start = roundIndex(forward), roundIndex(start)
        voxels = affine_transform(
            self.voxels,
            forward[::-1, ::-1],
            start[::-1],
            tuple((high - low + 1)[::-1]),
            order=1 if isFuzzy else 0,
            mode="grid-constant",
        )
        return Mask.ofMemberships(voxels, grid, low) if isFuzzy else Mask.fromArray(voxels, grid, low)


def _unpack(bits: np.ndarray, shape: tuple[int, int, int], offset: tuple[int, int, int], grid: Grid) -> Mask:
    """Return the mask that was packed into bits."""
    return Mask(np.unpackbits(bits, count=int(np.prod(shape))).reshape(shape), offset, grid)


class Labels:
    """The labels of an array indexed [k, j, i], to extract their masks one after the other.

    The first label is searched for alone, which takes a tenth of the time of finding the boxes of all. With the second
    label the boxes of all are found, and from then on only these are searched. The array must not change meanwhile.
    """

    def __init__(self, array: np.ndarray):
        self.array = array
        self._isAsked = False
        self._boxes: dict[int, Box] | None = None

    def mask(self, label: int, grid: Grid, start=(0, 0, 0)) -> Mask:
        """Return the mask of a label, empty if it does not occur; `start` (i, j, k) is the array's first voxel."""
        return _inBox(self.array, label, self._box(label), grid, start)

    def _box(self, label: int) -> Box:
        k, j, i = self.array.shape
        everywhere = slice(0, k), slice(0, j), slice(0, i)
        if label == 0 or self.array.dtype.kind not in "iu":  # background and fractional values have no boxes
            return everywhere
        if self._boxes is None:
            if not self._isAsked:
                self._isAsked = True
                return everywhere
            self._boxes = boxesOfLabels(self.array)
        return self._boxes.get(label, NOWHERE)


def fromLabels(labels: np.ndarray, grid: Grid, peaks: np.ndarray | None = None) -> dict[int, Mask]:
    """Return the mask of every label but 0 of an integer array indexed [k, j, i].

    peaks: result of peaksOf(), if known and no label is negative.
    """
    if peaks is None and labels.size and labels.min() >= 0:
        peaks = peaksOf(labels)
    if peaks is not None and peaks.max(initial=0) == 1:
        # one structure, as in a folder with one file per structure: no boxes needed
        return {1: Mask.fromArray(labels, grid, slices=np.flatnonzero(peaks))}
    return {label: _inBox(labels, label, box, grid) for label, box in boxesOfLabels(labels).items()}


def oneOfLabels(labels: np.ndarray, label: int, grid: Grid, peaks: np.ndarray) -> Mask:
    """Return the mask of a label of an array [k, j, i] of integers from 0, empty without it. peaks: of peaksOf()."""
    slices = np.flatnonzero(peaks >= label)
    if not len(slices):
        return Mask.empty(grid)
    if label == peaks.max() == 1:
        return Mask.fromArray(labels, grid, slices=slices)
    _, height, width = labels.shape
    box = slice(int(slices[0]), int(slices[-1]) + 1), slice(0, height), slice(0, width)
    return _inBox(labels, label, box, grid)


def peaksOf(labels: np.ndarray) -> np.ndarray:
    """Return the largest label (k,) of every slice of an array [k, j, i]."""
    return labels.reshape(len(labels), -1).max(axis=1) if labels.size else labels.reshape(-1)


def boxesOfLabels(labels: np.ndarray) -> dict[int, Box]:
    """Return the bounding box of every label but 0 of an integer array indexed [k, j, i], as slices of the array."""
    found: dict[int, np.ndarray] = {}
    for number, k, j, first, last in runsOf(labels) if labels.size else ():
        # in their own type, as labels of 64 bits without a sign may be larger than any index
        values, numbers = np.unique(number.astype(labels.dtype), return_inverse=True)
        # the lowest index, and the highest one with a minus
        ends = np.full((6, len(values)), max(labels.shape))
        for end, places in zip(ends, (first, j, k, -last, -j, -k), strict=True):
            np.minimum.at(end, numbers, places)
        for value, box in zip(values.tolist(), ends.T, strict=True):
            found[value] = np.minimum(box, found.get(value, box))
    return {value: slicesOf(found[value][:3].tolist(), (-found[value][3:]).tolist()) for value in sorted(found)}


def runsOf(labels: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the runs (n,) of equal labels but 0 along the rows of an array [k, j, i] of integers.

    They are given in order by their label, slice k, row j, first voxel i and last voxel i, some slices at a time.
    """
    _, height, width = labels.shape
    for chosen in _blocksOf(labels):
        rows = labels[chosen].reshape(-1, width)
        filled = np.flatnonzero(rows.any(axis=1))
        rows = rows[filled]
        isStart = np.ones(rows.shape, bool)
        np.not_equal(rows[:, 1:], rows[:, :-1], out=isStart[:, 1:])
        starts = np.flatnonzero(isStart)
        found, ends = rows.ravel().take(starts), np.append(starts[1:], rows.size) - 1
        isLabeled = np.flatnonzero(found)
        row, first = np.divmod(starts.take(isLabeled), width)
        k, j = np.divmod(filled.take(row), height)
        yield found.take(isLabeled).astype(np.intp), k + chosen.start, j, first, ends.take(isLabeled) - row * width


def _inBox(labels: np.ndarray, label: int, box: Box, grid: Grid, start=(0, 0, 0)) -> Mask:
    """Return the mask of a label that occurs only in a box of an array, whose first voxel is `start`."""
    inBox, first = labels[box], 0
    if inBox.size > BLOCK:
        # only the slices from the first with the label to the last
        slices = np.flatnonzero(np.concatenate([(inBox[k] == label).any(axis=(1, 2)) for k in _blocksOf(inBox)]))
        first, last = (int(slices[0]), int(slices[-1]) + 1) if len(slices) else (0, 0)
        inBox = inBox[first:last]
    begin = np.add([b.start for b in reversed(box)], (0, 0, first)) + start
    return Mask.fromArray(inBox == label, grid, begin, isOwn=True)


def _blocksOf(labels: np.ndarray) -> Iterator[slice]:
    """Yield parts of the slices of an array [k, j, i], of about BLOCK voxels each."""
    return chunks(len(labels), max(1, BLOCK // labels[0].size))


def slicesOf(low: Sequence[int], high: Sequence[int]) -> Box:
    """Return the part of an array [k, j, i] from voxel index low to high (i, j, k), both included."""
    (i, j, k), (lastI, lastJ, lastK) = low, high
    return slice(int(k), int(lastK) + 1), slice(int(j), int(lastJ) + 1), slice(int(i), int(lastI) + 1)


def boxAround(first: Mask, second: Mask, *boxes) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest voxel index (3,) of two masks on one lattice and of further such boxes.

    Raises Undefined if there is no voxel.
    """
    every = [*((mask.low, mask.high) for mask in (first, second) if not mask.isEmpty), *boxes]
    if not every:
        raise Undefined("neither structure encloses a voxel")
    lows, highs = zip(*every, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def union(parts: Sequence[Mask]) -> Mask:
    """Return the mask of the voxels of any of several masks on one grid, at least one of them not empty."""
    parts = [part for part in parts if not part.isEmpty]
    low, high = np.min([part.low for part in parts], axis=0), np.max([part.high for part in parts], axis=0)
    voxels = np.zeros((high - low + 1)[::-1], np.uint8)
    for part in parts:
        voxels[slicesOf(part.low - low, part.high - low)] |= part.voxels > 0
    return Mask(voxels, tuple(low.tolist()), parts[0].grid)


def commonGrid(first: Mask, second: Mask) -> tuple[Grid, bool]:
    """Return a grid that contains both structures, and whether a mask has to be resampled onto it.

    Masks on one lattice keep it, whatever the order and direction of their axes. Otherwise the axes of the finer image
    are kept, with the finer spacing of the two along each axis. The choice does not depend on the order of the two, on
    how far the images extend beyond the structures, or on the common position of both in space.
    """
    if second.grid.offsetOn(first.grid) is not None:
        return first.grid, False
    planar = first.grid.planar and second.grid.planar
    if planar:
        first, second = first.oneThick(), second.oneThick()
    finer, other = finerFirst(first, second)
    if other.alongAxesOf(finer.grid).grid.offsetOn(finer.grid) is not None:
        return finer.grid, False
    grid = finer.grid
    # the other image's spacing is compared along the finer image's axes, as axes may be permuted
    along = np.abs(grid.direction.T @ other.grid.direction)
    aligned = along.max(axis=1) > 0.999
    spacing = np.where(aligned, np.minimum(grid.spacing, other.grid.spacing[along.argmax(axis=1)]), grid.spacing)
    # start at a voxel of the structure, not of the image: cropping an image must not move the lattice
    start = grid.toWorld(finer.low[None])
    corners = np.concatenate([first.corners(), second.corners(), start])
    common = gridAround(corners, grid.direction * spacing, start[0])
    if planar:
        axis = cast(int, finer.grid.flatAxis)
        common = common.plane(int(np.rint(common.toIndex(start)[0, axis])), axis)
    return common, True


def finest(masks: Sequence[Mask]) -> Mask:
    """Return the mask on the finest grid, whatever the order of the masks; ties are broken by content."""
    return min(masks, key=_fineness)


def finerFirst(first: Mask, second: Mask) -> tuple[Mask, Mask]:
    """Return two masks, the one on the finer grid first, independent of their order and common position."""
    if (_fineness(second), _view(second, first)) < (_fineness(first), _view(first, second)):
        return second, first
    return first, second


def _fineness(mask: Mask) -> tuple:
    """Return the sort key by which the finer of two masks is chosen: the voxel size, then the contents."""
    spacing = [float(f"{length:.6g}") for length in mask.grid.spacing]
    return (float(f"{mask.grid.voxelSize:.6g}"), mask.count, spacing, mask.voxels.shape, mask.voxels.tobytes())


def _view(mask: Mask, other: Mask) -> list[float]:
    """Return the direction and position of another mask relative to a mask, which do not change if both are moved."""
    shift = np.subtract(*(m.grid.toWorld(m.low[None])[0] for m in (other, mask)))
    seen = mask.grid.direction.T @ np.column_stack([other.grid.direction, shift])
    return (np.round(seen, 6) + 0.0).ravel().tolist()
