"""The lateral boundary: the part of a structure's boundary within a slab, without the faces where it is cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPlane, vtkPlaneCollection

from . import meshing
from .masks import Mask
from .slabs import SAME_PLANE, Slab, alignedAxis
from .surfaces import Surface, empty, toPolyData, triangleIndices
from .triangles import CORNERS_OF_SIDES, uniqueSides

# mm by which meshes are cut inside the slab, so that a cap in the end plane itself is cut off.
CUT_INSIDE = 1e-6
# Slices by which masks continue beyond the slab: more than the reach of table lookup, distances.lattice.LARGEST_REACH.
MORE_SLICES = 11
# Meshes continue beyond the slab as walls, in parts each of which is as long as all before it: triangles much longer
# than their neighbors slow down every search.
RINGS = 9


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


def maskWithin(mask: Mask, slab: Slab) -> Mask:
    """Return the voxels of a mask, or of memberships, whose centers lie in the volume of a slab."""
    if mask.isEmpty:
        return mask
    start = mask.grid.toWorld(mask.low[None])[0] @ slab.normal
    steps = mask.grid.axes.T @ slab.normal
    k, j, i = (np.arange(n) * step for n, step in zip(mask.voxels.shape, steps[::-1], strict=True))
    heights = start + k[:, None, None] + j[:, None] + i
    tolerance = SAME_PLANE * np.abs(steps).max()
    kept = mask.voxels * ((heights >= slab.outerLow - tolerance) & (heights < slab.outerHigh - tolerance))
    make = Mask.fromArray if mask.voxels.dtype == np.uint8 else Mask.ofMemberships
    return make(kept, mask.grid, mask.offset)


def lateralOfMask(mask: Mask, slab: Slab) -> LateralSurface:
    """Return the unsmoothed lateral boundary of a mask whose grid the slab fits.

    Beyond the slab the mask is continued with copies of the first and the last slice in it; between two equal slices
    the boundary runs straight on, so that the nearest place is never beyond. `mask` of the result is that of
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
    rows = cast(meshing.MaskSurface, whole).lattice[:, axis]
    # a single slice has no boundary between it and a next one: use that up to its first copy, which is as thick
    top = max(last, first + 1)
    lateral = whole.cells[((rows >= first) & (rows <= top))[whole.cells].all(axis=1)]
    used, cells = np.unique(lateral, return_inverse=True)
    # with its ends far enough away never to be the nearest place, and no sudden change in the lengths of triangles
    beyond = np.maximum(rows - (last + 1), 0) - np.maximum((first - 1) - rows, 0)
    away = np.sign(beyond) * (2.0 ** np.abs(beyond) - 1) * (slab.reach / 2.0 ** (MORE_SLICES - 2))
    stretched = whole.points + away[:, None] * mask.grid.direction[:, axis]
    return LateralSurface(
        whole.points[used],
        cells.reshape(-1, 3),
        mask=whole.mask,
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
    output = meshing.cleanTriangles(output)
    points, cells = vtk_to_numpy(output.GetPoints().GetData()) + center, triangleIndices(output)
    isCap = vtk_to_numpy(output.GetCellData().GetScalars()) != 0
    lateral, caps = cells[~isCap], cells[isCap]
    # the boundary continues straight beyond the cuts, with its ends far enough away never to be the nearest place
    numbers = uniqueSides(lateral)[1]
    edges = lateral[:, CORNERS_OF_SIDES[3]][np.bincount(numbers.ravel())[numbers] == 1]
    ways = np.where(points @ slab.normal > (slab.low + slab.high) / 2, 1, -1)[:, None] * slab.normal
    shifts = slab.reach * np.concatenate([[0.0], 2.0 ** np.arange(-RINGS, 1)])
    starts = len(points) * np.arange(len(shifts))[:, None]
    a, b = (starts + ends for ends in edges.T)
    walls = np.concatenate([[b[:-1], a[:-1], a[1:]], [b[:-1], a[1:], b[1:]]], axis=1).reshape(3, -1).T
    moved = (points + shift * ways for shift in shifts)
    continued = Surface(np.concatenate([*moved]), np.concatenate([lateral, walls, caps + starts[-1]]))
    used, numbers = np.unique(lateral, return_inverse=True)
    return LateralSurface(
        points[used], numbers.reshape(-1, 3), repairs=surface.repairs, continued=continued, within=slab
    )
