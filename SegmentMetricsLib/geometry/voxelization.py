"""From boundaries to masks: which voxel centers of a grid lie inside."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkImagingStencil import vtkImageStencilToImage, vtkPolyDataToImageStencil

from ..errors import InputError
from ..progress import checkpoint
from .contours import planeAxes
from .filling import filled
from .grids import Grid, gridAround
from .masks import Mask
from .surfaces import Surface, toPolyData

# Grids for comparing meshes: this many steps across the smaller structure, unless that takes more voxels than fit.
STEPS_ACROSS = 100
LARGEST_GRID = 50_000_000
# Slices filled at a time.
SLICES = 16


def maskOf(surface: Surface, grid: Grid) -> Mask:
    """Return the voxels of a grid whose centers lie inside a closed boundary, also beyond the grid's edges."""
    if surface.isEmpty:
        return Mask(np.zeros((0, 0, 0), np.uint8), (0, 0, 0), grid)
    surface = surface.solid
    index = grid.toIndex(surface.points)
    low, high = np.floor(index.min(axis=0)).astype(int), np.ceil(index.max(axis=0)).astype(int)
    if surface.dimension == 2:
        return Mask.fromArray(filledContours(index, surface.cells, low, high, grid), grid, low)
    voxels = np.zeros((high - low + 1)[::-1], np.uint8)
    heights = index[:, 2][surface.cells]
    bottom, top = heights.min(axis=1), heights.max(axis=1)
    # VTK looks at all triangles for every slice, so it gets those that reach a few slices
    for first in range(low[2], high[2] + 1, SLICES):
        checkpoint()
        last = min(first + SLICES - 1, high[2])
        cells = surface.cells[(bottom <= last + 1) & (top >= first - 1)]
        if len(cells):
            used, cells = np.unique(cells, return_inverse=True)
            part = Surface(index[used], cells.reshape(-1, 3))
            voxels[first - low[2] : last - low[2] + 1] = filledSlices(part, (*low[:2], first), (*high[:2], last))
    return Mask.fromArray(voxels, grid, low)


def filledSlices(surface: Surface, low: tuple[int, ...], high: tuple[int, ...]) -> np.ndarray:
    """Return the voxels [k, j, i] from one index (3,) to another inside triangles whose points are voxel indices."""
    stencil = vtkPolyDataToImageStencil()
    stencil.SetInputData(toPolyData(surface))
    stencil.SetOutputSpacing(1, 1, 1)
    stencil.SetOutputOrigin(0, 0, 0)
    stencil.SetOutputWholeExtent([int(n) for pair in zip(low, high, strict=True) for n in pair])
    image = vtkImageStencilToImage()
    image.SetInputConnection(stencil.GetOutputPort())
    image.SetInsideValue(1)
    image.SetOutsideValue(0)
    image.SetOutputScalarTypeToUnsignedChar()
    image.Update()
    return vtk_to_numpy(image.GetOutput().GetPointData().GetScalars()).reshape(np.subtract(high, low)[::-1] + 1)


def filledContours(index: np.ndarray, cells: np.ndarray, low: np.ndarray, high: np.ndarray, grid: Grid) -> np.ndarray:
    """Return the pixels [k, j, i] inside contours whose points are voxel indices (n, 3), by the even-odd rule."""
    flat = grid.flatAxis
    if flat is None:
        raise InputError("Contours in a plane can only be drawn on a grid of one slice.")
    column, row = (axis for axis in range(3) if axis != flat)
    low[flat] = high[flat] = 0
    kept = [column, row]
    start, end = (index[cells[:, corner]][:, kept] - low[kept] for corner in (0, 1))
    size = high - low + 1
    return np.expand_dims(filled(start, end, (size[row], size[column])), 2 - flat)


def gridForMeshes(reference: Surface, test: Surface, spacing: float) -> Grid:
    """Return a grid with cubic voxels that contains two boundaries given as meshes.

    spacing: mm; finer so that the smaller structure's shortest side spans 100 steps, as far as memory allows.
    """
    surfaces = [s for s in (reference, test) if not s.isEmpty]
    axes = np.eye(3)
    if surfaces[0].dimension == 2:
        axes = np.column_stack([planeAxes(surfaces[0].normal), surfaces[0].normal])
    spans = [np.ptp(s.points @ axes, axis=0)[: s.dimension] for s in surfaces]
    side = min(span.min() for span in spans)
    if side > 0:
        spacing = min(spacing, side / STEPS_ACROSS)
    points = np.concatenate([s.points for s in surfaces])
    span = np.ptp(points @ axes, axis=0)[: surfaces[0].dimension]
    spacing = max(spacing, float((span.prod() / LARGEST_GRID) ** (1 / len(span))))
    # voxel centers half a step off the corner, so that flat sides do not run through them
    corner = axes @ ((points @ axes).min(axis=0))
    planar = surfaces[0].dimension == 2
    origin = corner + axes @ (0.5 * spacing * np.array([1, 1, 0 if planar else 1]))
    grid = gridAround(points, axes * spacing, origin)
    if planar:
        low = np.rint(grid.toIndex(corner[None])[0]).astype(int)
        size = (grid.size[0], grid.size[1], 1)
        matrix = grid.matrix.copy()
        matrix[:3, 3] += grid.axes[:, 2] * low[2]
        return Grid(size, matrix, planar=True)
    return grid
