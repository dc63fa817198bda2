"""The lateral boundary: the part of a structure's boundary within a slab, without the faces where it is cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPlane, vtkPlaneCollection

from . import meshing
from .grids import Grid
from .masks import Mask
from .surfaces import Surface, empty, toPolyData

# Fraction of a voxel, or mm for meshes: planes closer to each other than this are the same.
SAME_PLANE = 1e-3
# mm by which meshes are cut inside the slab, so that a cap in the end plane itself is cut off.
CUT_INSIDE = 1e-6
# Slices by which masks continue beyond the slab: more than the reach of table lookup, distances.lattice.LARGEST_REACH.
MORE_SLICES = 11


@dataclass(frozen=True, eq=False)
class Slab:
    """The space between two planes.

    normal: (3,) unit vector toward L, P or S. low, high: mm along it where the boundary begins and ends. outerLow,
    outerHigh: mm along it where the volume begins and ends, half a slice beyond planes of slices. reach: mm, more than
    any distance in the slab.
    """

    normal: np.ndarray
    low: float
    high: float
    outerLow: float
    outerHigh: float
    reach: float

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Return whether LPS points (n, 3) lie between the planes where the boundary begins and ends."""
        heights = points @ self.normal
        return (heights >= self.low) & (heights <= self.high)

    def clip(self, grid: Grid, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a box of voxel indices without the slices beyond the slab; unchanged if the grid is oblique to it."""
        axis = alignedAxis(grid, self.normal)
        if axis is None:
            return low, high
        first, last = self.rows(grid, axis)
        low, high = np.array(low), np.array(high)
        low[axis], high[axis] = max(low[axis], first), min(high[axis], last)
        return low, high

    def rows(self, grid: Grid, axis: int) -> tuple[int, int]:
        """Return the first and the last voxel index that count as volume, along an axis across the slab's planes."""
        first, last = sorted(self._rowsOfEnds(grid, axis))
        return int(np.ceil(first - SAME_PLANE)), int(np.ceil(last - SAME_PLANE)) - 1

    def fits(self, grid: Grid) -> bool:
        """Return whether the slab ends half-way between slices of a grid and the grid's axes are at right angles."""
        axis = alignedAxis(grid, self.normal)
        if axis is None or not grid.isRectangular:
            return False
        return all(abs(row - np.floor(row) - 0.5) < SAME_PLANE for row in self._rowsOfEnds(grid, axis))

    def _rowsOfEnds(self, grid: Grid, axis: int) -> list[float]:
        """Return the continuous voxel indices along an axis where the volume begins and ends."""
        step, start = (float(vector @ self.normal) for vector in (grid.axes[:, axis], grid.origin))
        return [(height - start) / step for height in (self.outerLow, self.outerHigh)]


@dataclass(frozen=True, eq=False)
class LateralSurface(Surface):
    """The part of a closed boundary within a slab, without the faces where it was cut.

    continued: the closed boundary that continues beyond the slab. within: the slab.
    """

    continued: Surface = field(kw_only=True)
    within: Slab = field(kw_only=True)

    @property
    def target(self) -> Surface:
        return self.continued

    @property
    def slab(self) -> Slab:
        return self.within

    @cached_property
    def solid(self) -> Surface:
        heights = self.continued.points @ self.within.normal
        moved = np.clip(heights, self.within.outerLow, self.within.outerHigh) - heights
        return Surface(self.continued.points + moved[:, None] * self.within.normal, self.continued.cells)

    @cached_property
    def volume(self) -> float:
        return self.solid.volume


def alignedAxis(grid: Grid, normal: np.ndarray) -> int | None:
    """Return the axis of a grid whose slices are perpendicular to a normal, None if there is none."""
    across = np.abs(grid.direction.T @ normal) < 1e-6
    return int(np.flatnonzero(~across)[0]) if across.sum() == 2 else None


def stepAlong(grid: Grid, normal: np.ndarray) -> float:
    """Return the spacing in mm along a normal of the slices of a grid that face it most."""
    return float(np.abs(grid.axes.T @ normal).max())


def maskWithin(mask: Mask, slab: Slab) -> Mask:
    """Return the voxels of a mask, or of memberships, whose centers lie in the volume of a slab."""
    if mask.isEmpty:
        return mask
    start = mask.grid.toWorld(mask.low[None])[0] @ slab.normal
    steps = mask.grid.axes.T @ slab.normal
    k, j, i = (np.arange(n) * step for n, step in zip(mask.voxels.shape, steps[::-1], strict=True))
    heights = start + k[:, None, None] + j[:, None] + i
    tolerance = SAME_PLANE * stepAlong(mask.grid, slab.normal)
    kept = mask.voxels * ((heights >= slab.outerLow - tolerance) & (heights < slab.outerHigh - tolerance))
    cropped = Mask.fromArray(kept, mask.grid, mask.offset)
    if mask.voxels.dtype == np.uint8 or cropped.isEmpty:
        return cropped
    return replace(cropped, voxels=replace(mask, voxels=kept).block(cropped.low, cropped.high))


def lateralOfMask(mask: Mask, slab: Slab) -> LateralSurface:
    """Return the unsmoothed lateral boundary of a mask whose grid the slab fits.

    Beyond the slab the mask is continued with copies of the first and the last slice in it; between two equal slices
    the boundary runs straight on, so that the nearest place is never beyond. `mask` and `lattice` of the result are
    those of the continued mask, for table lookup.
    """
    axis = cast(int, alignedAxis(mask.grid, slab.normal))
    first, last = slab.rows(mask.grid, axis)
    low, high = mask.low.copy(), mask.high.copy()
    low[axis], high[axis] = first, last
    more = np.zeros((3, 2), int)
    more[2 - axis] = MORE_SLICES
    low[axis] -= MORE_SLICES
    grown = np.pad(mask.block(np.where(np.arange(3) == axis, first, low), high), more, mode="edge")
    whole = meshing.fromMask(Mask.fromArray(grown, mask.grid, low))
    lattice = cast(np.ndarray, whole.lattice)
    rows = lattice[:, axis]
    # a single slice has no boundary between it and a next one: use that up to its first copy, which is as thick
    top = max(last, first + 1)
    lateral = whole.cells[((rows >= first) & (rows <= top))[whole.cells].all(axis=1)]
    used, cells = np.unique(lateral, return_inverse=True)
    # far enough away never to be the nearest place
    beyond = np.maximum(rows - (last + 1), 0) - np.maximum((first - 1) - rows, 0)
    stretched = whole.points + (beyond * slab.reach)[:, None] * mask.grid.direction[:, axis]
    return LateralSurface(
        whole.points[used],
        cells.reshape(-1, 3),
        mask=whole.mask,
        lattice=lattice[used],
        continued=Surface(stretched, whole.cells),
        within=slab,
    )


def lateralOfSurface(surface: Surface, slab: Slab) -> LateralSurface:
    """Return the lateral boundary of a closed surface within a slab, cut at its end planes."""
    from vtkmodules.vtkFiltersGeneral import vtkClipClosedSurface

    center = surface.center
    middle = float(center @ slab.normal)
    planes = vtkPlaneCollection()
    for height, side in ((slab.low + CUT_INSIDE, 1), (slab.high - CUT_INSIDE, -1)):
        plane = vtkPlane()
        plane.SetOrigin(*((height - middle) * slab.normal))
        plane.SetNormal(*(side * slab.normal))
        planes.AddItem(plane)
    clip = vtkClipClosedSurface()
    clip.SetInputData(toPolyData(Surface(surface.points - center, surface.cells)))
    clip.SetClippingPlanes(planes)
    clip.SetScalarModeToLabels()
    clip.Update()
    output = clip.GetOutput()
    if not output.GetNumberOfPolys():
        nothing = empty()
        return LateralSurface(nothing.points, nothing.cells, repairs=surface.repairs, continued=nothing, within=slab)
    points, cells, isCap = meshing.trianglesOf(output)
    points = points + center
    lateral, caps = cells[~isCap], cells[isCap]
    # the boundary continues straight beyond the cuts, with its ends far enough away never to be the nearest place
    edges = lateral[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    keys = np.sort(edges, axis=1) @ np.array([len(points), 1])
    _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    a, b = edges[firsts[counts == 1]].T
    away = np.where(points @ slab.normal > (slab.low + slab.high) / 2, slab.reach, -slab.reach)
    moved = points + away[:, None] * slab.normal
    n = len(points)
    walls = [np.stack([b, a, a + n], axis=1), np.stack([b, a + n, b + n], axis=1)]
    continued = Surface(np.concatenate([points, moved]), np.concatenate([lateral, *walls, caps + n]))
    used, numbers = np.unique(lateral, return_inverse=True)
    return LateralSurface(
        points[used], numbers.reshape(-1, 3), repairs=surface.repairs, continued=continued, within=slab
    )
