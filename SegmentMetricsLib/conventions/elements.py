"""The elements of a boundary that tools measure from and to.

A kind of voxels is a function of a mask [k, j, i] and of the axis along which it is flat, None in 3D. Elements are
called with a Sampling and return the distances from the reference and those from the test.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .corners import corners, cornerSizes
from .rules import Sample
from .toolmasks import Sampling


def faceBorder(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels with a face toward the outside, where everything beyond the edge of the image is outside."""
    return mask & ~erode(mask, flatAxis, False)


def faceBorderWithin(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels with a face toward the outside, not counting the edge of the image."""
    return mask & ~erode(mask, flatAxis, True)


def fullBorderWithin(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels that touch the outside, if only by a corner, not counting the edge of the image."""
    inner = mask
    for axis in range(mask.ndim):
        if axis != flatAxis:
            inner = inner & _shift(inner, axis, 1, True) & _shift(inner, axis, -1, True)
    return mask & ~inner


def foreground(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return all voxels of the structure."""
    return mask


def erode(mask: np.ndarray, flatAxis: int | None, beyond: bool) -> np.ndarray:
    """Return the voxels whose face neighbors all belong to the mask. beyond: whether the image's outside does."""
    inner = mask.copy()
    for axis in range(mask.ndim):
        if axis != flatAxis:
            inner &= _shift(mask, axis, 1, beyond)
            inner &= _shift(mask, axis, -1, beyond)
    return inner


def _shift(mask: np.ndarray, axis: int, step: int, beyond: bool) -> np.ndarray:
    """Return a mask moved by one voxel along an axis."""
    result = np.full_like(mask, beyond)
    ahead, behind = [slice(None)] * mask.ndim, [slice(None)] * mask.ndim
    ahead[axis], behind[axis] = (slice(1, None), slice(None, -1)) if step > 0 else (slice(None, -1), slice(1, None))
    result[tuple(ahead)] = mask[tuple(behind)]
    return result


@dataclass(frozen=True)
class Voxels:
    """Distances between voxel centers.

    start: kind of the voxels to measure from. goal: kind of the voxels to measure to, None for the same.
    zeroInside: whether the distance is 0 inside the other structure. inVoxels: whether spacing is ignored. single:
    whether distances are in single precision.
    """

    start: Callable
    goal: Callable | None = None
    zeroInside: bool = False
    inVoxels: bool = False
    single: bool = False

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        return self._measure(sampling, 0), self._measure(sampling, 1)

    def _measure(self, sampling: Sampling, number: int) -> Sample:
        unit = (1.0, 1.0, 1.0) if self.inVoxels else tuple(sampling.spacing)
        start, goal = self.start, self.goal or self.start
        if self.zeroInside:
            outside = sampling.keep(("outside", start), lambda: _outside(start, sampling))
            found = sampling.nearest(outside[number], number, goal, unit)
            inside = np.count_nonzero(sampling.voxels(start, number)) - len(found)
            distances = np.concatenate([found, np.zeros(inside)])
        else:
            distances = sampling.nearest(start, number, goal, unit)
        return Sample(distances.astype(np.float32) if self.single else distances)


@dataclass(frozen=True)
class Cropped:
    """Distances within the box around both structures, with no background around them."""

    elements: Callable

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        either = sampling.arrays[0] | sampling.arrays[1]
        box = tuple(slice(axis.min(), axis.max() + 1) for axis in np.nonzero(either))
        cropped = copy.copy(sampling)
        cropped.arrays, cropped.kept = tuple(array[box] for array in sampling.arrays), {}
        return self.elements(cropped)


def inSmallestSteps(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return the distances between border voxels, in units of the smallest voxel spacing."""
    axes = [axis for axis in range(3) if axis != sampling.flatAxis]
    toTest, toReference = sampling.keep(Voxels(faceBorder), lambda: Voxels(faceBorder)(sampling))
    step = sampling.spacing[axes].min()
    return Sample(toTest.distances / step), Sample(toReference.distances / step)


def _outside(kind: Callable, sampling: Sampling) -> tuple[Callable, Callable]:
    """Return for each mask the kind of its voxels that are outside the other mask."""

    def ofMask(number: int) -> Callable:
        other = sampling.arrays[1 - number]
        return lambda mask, flatAxis: kind(mask, flatAxis) & ~other

    return ofMask(0), ofMask(1)


@dataclass(frozen=True)
class Corners:
    """Distances between the corners of voxels where the boundary passes, each with the size of the boundary there.

    isSolid: whether an image of one slice is treated as a solid 1 mm thick, whose faces belong to the boundary, too.
    """

    isSolid: bool = False

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        spacing, flatAxis = sampling.spacing, sampling.flatAxis
        codesOf, border = corners, cornerBorder
        if self.isSolid and flatAxis is not None:
            spacing = np.where(np.arange(3) == flatAxis, 1.0, spacing)
            flatAxis, codesOf, border = None, solidCorners, solidCornerBorder
        sizes = cornerSizes(spacing, flatAxis)
        samples = []
        for number in (0, 1):
            codes, isBoundary = sampling.voxels(codesOf, number), sampling.voxels(border, number)
            distances = sampling.nearest(border, number, border, tuple(spacing))
            samples.append(Sample(distances, sizes[codes[isBoundary]]))
        return samples[0], samples[1]


def cornerBorder(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the corners [k, j, i] of voxels around which some voxels belong to the mask and some do not."""
    codes = corners(mask, flatAxis)
    return (codes != 0) & (codes != (255 if flatAxis is None else 15))


def solidCorners(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return corners() of an image that is always treated as a solid."""
    return corners(mask, None)


def solidCornerBorder(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return cornerBorder() of an image that is always treated as a solid."""
    return cornerBorder(mask, None)


def masks(sampling: Sampling) -> tuple[Sampling]:
    """Return the masks themselves, for numbers that do not come from distances."""
    return (sampling,)
