"""Boundaries along the faces of voxels, as surface nets without smoothing make them.

Source: Frisken, Surface Nets for Multi-Label Segmentations with Preservation of Sharp Boundaries, JCGT 11(1), 2022.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

from ..distances.surfacedistances import BoundaryPair
from ..geometry import contours, meshing
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface, triangleIndices
from .meshes import TIE_TOLERANCE, samples
from .rules import Sample
from .toolmasks import Sampling


def faces(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return distances from the centers of the triangles of voxel faces to the other boundary, with their areas.

    For one slice, distances are those from the middles of pixel edges. Meshes are measured as they are.
    """
    reference, test = (s.surface if s.mask is None else alongFaces(s.mask) for s in sampling.structures)
    return samples(BoundaryPair(reference, test), 0)


def nearFaces(sampling: Sampling, number: int, tolerance: float) -> np.ndarray:
    """Return the voxels of a mask whose centers are closer than the tolerance in mm to a voxel outside, as a box."""
    from scipy.ndimage import grey_erosion

    mask = sampling.arrays[number]
    squared = np.where(mask, np.inf, 0.0)
    for axis in range(3):
        if axis != sampling.flatAxis:
            length = sampling.spacing[axis]
            reach = int(np.ceil(tolerance / length + 0.5))
            steps = np.abs(np.arange(-reach, reach + 1))
            gaps = (np.maximum(steps - 0.5, 0) * length) ** 2
            # the smallest sum of both along the axis; there is background beyond the edge of the array
            around = np.expand_dims(-gaps, [other for other in range(3) if other != axis])
            squared = grey_erosion(squared, structure=around, mode="constant")
    return mask & (squared < (tolerance - TIE_TOLERANCE) ** 2)


def alongFaces(mask: Mask) -> Surface:
    """Return the boundary of a mask along the faces of its voxels, or along the edges of its pixels."""
    if mask.grid.planar:
        return _pixelEdges(mask)
    from vtkmodules.vtkFiltersCore import vtkSurfaceNets3D

    nets = vtkSurfaceNets3D()
    nets.SetInputData(meshing.paddedImage(mask))
    nets.SmoothingOff()
    nets.SetOutputMeshTypeToTriangles()
    nets.Update()
    output = nets.GetOutput()
    lattice = vtk_to_numpy(output.GetPoints().GetData()).astype(float) + mask.offset
    surface = Surface(mask.grid.toWorld(lattice), triangleIndices(output))
    return surface if surface.volume > 0 else Surface(surface.points, np.ascontiguousarray(surface.cells[:, ::-1]))


def _pixelEdges(mask: Mask) -> Surface:
    """Return the contours along the edges between the pixels of a mask and those around it."""
    flat = cast(int, mask.grid.flatAxis)
    pixels = np.pad(mask.voxels.squeeze(2 - flat), 1).astype(bool)  # [v, u]
    # numbered like the corners of pixels: the one before pixel (v, u) is (v, u)
    corners = np.arange((pixels.shape[0] + 1) * (pixels.shape[1] + 1)).reshape(np.array(pixels.shape) + 1)
    crossed = [pixels[:, 1:] != pixels[:, :-1], pixels[1:] != pixels[:-1]]
    edges = [
        np.stack([corners[:-1, 1:-1], corners[1:, 1:-1]], axis=-1)[crossed[0]],
        np.stack([corners[1:-1, :-1], corners[1:-1, 1:]], axis=-1)[crossed[1]],
    ]
    used, cells = np.unique(np.concatenate(edges), return_inverse=True)
    v, u = np.unravel_index(used, corners.shape)
    lattice = np.insert(np.stack([u, v], axis=1) - 1.5, flat, 0, axis=1) + mask.offset
    return contours.orient(Surface(mask.grid.toWorld(lattice), cells.reshape(-1, 2), mask=mask))
