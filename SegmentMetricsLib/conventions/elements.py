"""The elements of a boundary that tools measure from and to.

A kind of voxels is a function of a mask [k, j, i] and of the axis along which it is flat, None in 3D. Elements are
called with a Sampling and return the distances from the reference and those from the test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..geometry.cellcases import caseAreas, cases, cellCodes
from .rules import Sample
from .toolmasks import Sampling


def faceBorder(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels with a face toward the outside, where everything beyond the edge of the image is outside."""
    return _border(mask, flatAxis, 1, False)


def faceBorderWithin(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels with a face toward the outside, not counting the edge of the image."""
    return _border(mask, flatAxis, 1, True)


def fullBorderWithin(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the voxels that touch the outside, if only by a corner, not counting the edge of the image."""
    return _border(mask, flatAxis, 3, True)


def foreground(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return all voxels of the structure."""
    return mask


def _border(mask: np.ndarray, flatAxis: int | None, reach: int, beyond: bool) -> np.ndarray:
    """Return the voxels with a neighbor outside, up to so many steps along the axes away.

    beyond: whether what is beyond the edge of the image counts as inside.
    """
    from scipy.ndimage import binary_erosion, generate_binary_structure

    near = generate_binary_structure(mask.ndim, reach)
    if flatAxis is not None:
        near &= np.indices(near.shape)[flatAxis] == 1
    return mask & ~binary_erosion(mask, near, border_value=beyond)


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
        unit = (1.0, 1.0, 1.0) if self.inVoxels else tuple(sampling.spacing)
        starts = (self.start, self.start)
        if self.zeroInside:
            starts = sampling.keep(("outside", self.start), lambda: self._outside(*sampling.arrays))
        samples = []
        for number, start in enumerate(starts):
            distances = sampling.nearest(start, number, self.goal or self.start, unit)
            if self.zeroInside:
                inside = np.count_nonzero(sampling.voxels(self.start, number)) - len(distances)
                distances = np.concatenate([distances, np.zeros(inside)])
            samples.append(Sample(distances.astype(np.float32) if self.single else distances))
        return samples[0], samples[1]

    def _outside(self, reference: np.ndarray, test: np.ndarray) -> tuple[Callable, Callable]:
        """Return for each mask the kind of its voxels that are outside the other one."""
        return lambda mask, flat: self.start(mask, flat) & ~test, lambda mask, flat: self.start(mask, flat) & ~reference


@dataclass(frozen=True)
class Cropped:
    """Distances within the box around both structures, with no background around them."""

    elements: Callable

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        either = sampling.arrays[0] | sampling.arrays[1]
        box = tuple(slice(axis.min(), axis.max() + 1) for axis in np.nonzero(either))
        return self.elements(sampling.replace(arrays=tuple(array[box] for array in sampling.arrays)))


def inSmallestSteps(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return the distances between border voxels, in units of the smallest voxel spacing."""
    axes = [axis for axis in range(3) if axis != sampling.flatAxis]
    toTest, toReference = sampling.keep(Voxels(faceBorder), lambda: Voxels(faceBorder)(sampling))
    step = sampling.spacing[axes].min()
    return Sample(toTest.distances / step), Sample(toReference.distances / step)


@dataclass(frozen=True)
class Corners:
    """Distances between the corners of voxels where the boundary passes, each with the size of the boundary there.

    isSolid: whether an image of one slice is treated as a solid 1 mm thick, whose faces belong to the boundary, too.
    """

    isSolid: bool = False

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        if self.isSolid and sampling.flatAxis is not None:
            isAcross = np.arange(3) == sampling.flatAxis
            sampling = sampling.replace(spacing=np.where(isAcross, 1.0, sampling.spacing), flatAxis=None)
        sizes = cornerSizes(sampling.spacing, sampling.flatAxis)
        samples = []
        for number in (0, 1):
            codes, isBoundary = sampling.voxels(cornerCodes, number), sampling.voxels(cornerBorder, number)
            distances = sampling.nearest(cornerBorder, number, cornerBorder, tuple(sampling.spacing))
            samples.append(Sample(distances, sizes[codes[isBoundary]]))
        return samples[0], samples[1]


def cornerCodes(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return for every corner of a voxel [k, j, i], one more than voxels along each axis, a code of the voxels around.

    Bit x + 2 y + 4 z is set if the voxel x, y, z steps along i, j, k from the one before the corner is in the mask. For
    an image of one slice, the two axes of the slice take the places of i and j.
    """
    if flatAxis is None:
        return cellCodes(np.pad(mask, 1).view(np.uint8))
    padded = np.pad(mask.squeeze(flatAxis), 1).view(np.uint8)
    codes = padded[:-1, :-1] | padded[:-1, 1:] << 1 | padded[1:, :-1] << 2 | padded[1:, 1:] << 3
    return np.expand_dims(codes, flatAxis)


def cornerSizes(spacing: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the size of the boundary at a corner by its code: (256,) mm2 in 3D, (16,) mm for one slice.

    spacing: (3,) mm along k, j, i. As in the original marching cubes, a code and its opposite, with inside and outside
    exchanged, have the same triangles: those of the one that has fewer voxels inside.
    """
    if flatAxis is None:
        _, numbers, counts, _ = cases()
        areas = caseAreas(tuple(np.diag(spacing[::-1]).ravel().tolist()))
        sizes = np.where(np.arange(5) < counts[:, None], areas[numbers], 0).sum(axis=1)
        inside = np.array([code.bit_count() for code in range(256)])
        return np.where(inside <= 4, sizes, sizes[::-1])
    alongJ, alongI = np.delete(spacing, flatAxis)
    diagonal = np.hypot(alongJ, alongI)
    # where one pixel differs from the others; and where none does, two beside each other do, and two opposite ones
    sizes = np.full(16, diagonal / 2)
    sizes[[0, 15]], sizes[[3, 12]], sizes[[5, 10]], sizes[[6, 9]] = 0, alongI, alongJ, diagonal
    return sizes


def cornerBorder(mask: np.ndarray, flatAxis: int | None) -> np.ndarray:
    """Return the corners [k, j, i] of voxels around which some voxels belong to the mask and some do not."""
    codes = cornerCodes(mask, flatAxis)
    return (codes != 0) & (codes != (255 if flatAxis is None else 15))


def masks(sampling: Sampling) -> tuple[Sampling]:
    """Return the masks themselves, for numbers that do not come from distances."""
    return (sampling,)
