"""The contours of all slices of a structure at once.

The unsmoothed contour of a slice is made cell by cell: which of the four neighboring pixel centers belong to the
structure determines the segments between the middles of the cell's sides. With a table of these segments the contours
of hundreds of slices are made at once. To measure within slices only, the slices are moved so far apart that no contour
of another slice is ever the nearest. Structures that are not on the lattice of the slices are cut by their planes
instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData

from .contours import segments
from .crosssections import NO_LENGTH, CrossSections
from .grids import Grid
from .masks import Mask
from .ranges import levelsOf
from .surfaces import Surface, empty

# More than four times the pixels along any side of an image.
KEY_STRIDE = 1 << 20
# The corner (x, y) of a cell contributes bit 1 << (x + 2 y) to its case.
CORNERS = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])


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


@lru_cache(maxsize=1)
def caseSegments() -> np.ndarray:
    """Return the segments of all cases (16, 2, 2, 2) as made by the contour filter itself, NaN where there is none.

    At [case, segment, end] are the x and y of the middle of a side of the cell, in cell coordinates 0..1. The inside is
    on the left.
    """
    from vtkmodules.vtkFiltersGeneral import vtkDiscreteFlyingEdges2D

    table = np.full((16, 2, 2, 2), np.nan)
    flyingEdges = vtkDiscreteFlyingEdges2D()
    flyingEdges.SetValue(0, 1)
    flyingEdges.ComputeScalarsOff()
    for case in range(1, 15):
        # the filter does not handle an image of a single cell, so the pixels are repeated around it
        image = vtkImageData()
        image.SetDimensions(4, 4, 1)
        image.SetOrigin(-1, -1, 0)
        inside = (case >> np.arange(4)) & 1
        pixels = np.pad(inside.reshape(2, 2), 1, mode="edge").astype(np.uint8)
        image.GetPointData().SetScalars(numpy_to_vtk(pixels.ravel(), deep=True))
        flyingEdges.SetInputData(image)
        flyingEdges.Update()
        output = flyingEdges.GetOutput()
        ends = vtk_to_numpy(output.GetPoints().GetData())[:, :2][segments(output)]
        isInCell = ((ends >= 0) & (ends <= 1)).all(axis=(1, 2))
        for number, (start, end) in enumerate(ends[isInCell]):
            step = end - start
            toCorners = CORNERS - (start + end) / 2
            # the nearest corner certainly lies beside the segment, not on its line
            nearest = int(np.linalg.norm(toCorners, axis=1).argmin())
            isLeft = step[0] * toCorners[nearest, 1] - step[1] * toCorners[nearest, 0] > 0
            table[case, number] = (start, end) if isLeft == bool(inside[nearest]) else (end, start)
    return table


def stackOf(mask: Mask, gap: float) -> SliceStack:
    """Return the unsmoothed contours of all slices along the k axis of a mask in space.

    gap: mm between neighboring slices of the stack. Slices are placed by their numbers on the mask's grid, so that the
    stacks of two masks on one grid match.
    """
    if mask.isEmpty:
        nothing = np.zeros(0, np.int64)
        return SliceStack(empty(2, np.array([0.0, 0.0, 1.0])), nothing, np.zeros(3), nothing)
    padded = np.pad(mask.voxels, ((0, 0), (1, 1), (1, 1)))
    cases = padded[:, :-1, :-1] | (padded[:, :-1, 1:] << 1) | (padded[:, 1:, :-1] << 2) | (padded[:, 1:, 1:] << 3)
    k, j, i = np.nonzero((cases != 0) & (cases != 15))
    found = caseSegments()[cases[k, j, i]]
    row, which = np.nonzero(~np.isnan(found[:, :, 0, 0]))
    # twice the index, so that all are integers
    doubled = np.rint(2 * found[row, which]).astype(np.int64) + 2 * np.stack([i[row], j[row]], axis=1)[:, None]
    width, height = (2 * n for n in padded.shape[:0:-1])
    keys = (k[row, None] * height + doubled[..., 1]) * width + doubled[..., 0]
    used, cells = np.unique(keys, return_inverse=True)
    index = np.stack([used % width, used // width % height, used // (width * height)], axis=1) * (0.5, 0.5, 1.0)
    index += np.array(mask.offset) - (1, 1, 0)
    normal, shift = _apart(mask.grid, gap)
    points = mask.grid.toWorld(index) + index[:, 2:] * shift
    numbers = k[row] + mask.offset[2]
    # twice the middle and the segment's length along i identify it within its slice
    middles = doubled.sum(axis=1) + 4 * np.array(mask.offset[:2])
    keys = ((numbers * KEY_STRIDE + middles[:, 1]) * KEY_STRIDE + middles[:, 0]) * 3 + np.abs(
        np.diff(doubled[..., 0])[:, 0]
    )
    return SliceStack(Surface(points, cells.reshape(-1, 2), normal), numbers, shift, keys)


def stackOfSections(sections: CrossSections, gap: float) -> SliceStack:
    """Return the contours of cross-sections as a stack that matches those of masks on the same grid.

    Long segments are cut into parts no longer than a pixel's longer side, like those of masks. Keys never equal those
    of masks.
    """
    grid = sections.grid
    steps = sections.end - sections.start
    chosen = np.flatnonzero(np.abs(steps).max(axis=1, initial=0) > NO_LENGTH)
    start, steps, numbers = sections.start[chosen], steps[chosen], sections.slices[chosen]
    longest = float(grid.spacing[:2].max())
    counts = np.ceil(np.linalg.norm(steps @ grid.axes[:, :2].T, axis=1) / longest * (1 - NO_LENGTH)).astype(np.int64)
    which, part = levelsOf(np.zeros(len(counts), np.int64), np.maximum(counts, 1))
    shares = np.stack([part, part + 1]) / np.maximum(counts, 1)[which]
    numbers = numbers[which]
    ends = start[which] + shares[..., None] * steps[which]
    index = np.concatenate([ends, np.broadcast_to(numbers[:, None], (2, len(numbers), 1))], axis=2)
    normal, shift = _apart(grid, gap)
    points = grid.toWorld(index.transpose(1, 0, 2).reshape(-1, 3)) + np.repeat(numbers, 2)[:, None] * shift
    cells = np.arange(len(points), dtype=np.int64).reshape(-1, 2)
    return SliceStack(Surface(points, cells, normal), numbers, shift, -1 - np.arange(len(numbers)))


def _apart(grid: Grid, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit normal (3,) of slices along k, and the shift (3,) in mm of each relative to the one before."""
    u, v = grid.axes[:, :2].T
    normal = np.cross(u, v)
    normal /= np.linalg.norm(normal)
    return normal, (gap - grid.axes[:, 2] @ normal) * normal


def stacksOf(*sides: Mask | CrossSections) -> tuple[SliceStack, ...]:
    """Return the contours in every slice along the k axis of masks on one lattice.

    Structures that are not on that lattice are given by their cross-sections instead of masks.
    """
    gap = gapBetween(*sides)
    return tuple(stackOf(side, gap) if isinstance(side, Mask) else stackOfSections(side, gap) for side in sides)


def gapBetween(*sides: Mask | CrossSections) -> float:
    """Return the gap in mm required between the slices of a stack: more than any distance within a slice."""
    corners = np.concatenate([_ends(side) for side in sides])
    return 10 * float(np.linalg.norm(np.ptp(corners, axis=0))) + 10.0 if len(corners) else 1.0


def _ends(side: Mask | CrossSections) -> np.ndarray:
    """Return LPS points (n, 3) in mm around a structure."""
    if isinstance(side, Mask):
        return side.corners()
    index = np.column_stack([np.concatenate([side.start, side.end]), np.tile(side.slices, 2)])
    return side.grid.toWorld(index) if len(index) else np.zeros((0, 3))
