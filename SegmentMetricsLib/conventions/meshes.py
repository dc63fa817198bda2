"""Distances between meshed boundaries, as the generations of MeshMetrics measure them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

from .. import meshing
from ..bands import bands
from ..distances import BoundaryPair
from ..masks import Mask
from ..structures import Structure
from ..surfaces import Surface, triangleIndices
from .rules import Sample
from .sampling import Sampling


@dataclass(frozen=True)
class Meshes:
    """Distances from the centers of the elements of one boundary to the other boundary, with the elements' sizes.

    subdivisions: how often triangles are cut into four; segments: how often segments are cut into two. nets: whether
    the boundary runs along the faces of voxels, else it is that of the reference values.
    """

    subdivisions: int
    segments: int
    nets: bool = False

    def boundaries(self, sampling: Sampling) -> BoundaryPair:
        """Return the two boundaries."""
        make = _alongFaces if self.nets else _unsmoothed
        return sampling.keep(
            ("boundaries", self.nets), lambda: BoundaryPair(*map(make, sampling.structures), reach=5.0)
        )

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        boundaries = self.boundaries(sampling)
        subdivisions = self.subdivisions if boundaries.surfaces[0].dimension == 3 else self.segments
        directions = boundaries.measure(subdivisions).directions
        return tuple(Sample(direction.distances, direction.sizes) for direction in directions)


@dataclass(frozen=True)
class MeshBands:
    """The rule for the overlap of the bands inside two meshed boundaries.

    meshes: the boundaries. oversampling: how often each voxel is cut along each axis, None for as often as needed.
    """

    meshes: Meshes
    oversampling: int | None

    def __call__(self, sampling: Sampling, tolerance: float) -> float:
        boundaries = self.meshes.boundaries(sampling)
        return bands(boundaries, sampling.masks, tolerance, self.oversampling).overlap


def _unsmoothed(structure: Structure) -> Surface:
    return structure.surface


def _alongFaces(structure: Structure) -> Surface:
    """Return the boundary of a mask along the faces of its voxels; a mesh stays what it is.

    Source: Frisken, Surface Nets for Multi-Label Segmentations, JCGT 11(1), 2022, without its smoothing.
    """
    mask = structure.mask
    if mask is None:
        return structure.surface
    return _pixelEdges(mask) if mask.grid.planar else _voxelFaces(mask)


def _voxelFaces(mask: Mask) -> Surface:
    from vtkmodules.vtkFiltersCore import vtkSurfaceNets3D

    nets = vtkSurfaceNets3D()
    nets.SetInputData(meshing.paddedImage(mask))
    nets.SmoothingOff()
    nets.SetOutputMeshTypeToTriangles()
    nets.Update()
    output = nets.GetOutput()
    points = vtk_to_numpy(output.GetPoints().GetData()).astype(float) + mask.offset
    surface = Surface(mask.grid.toWorld(points), triangleIndices(output), mask=mask)
    return surface if surface.volume > 0 else replace(surface, cells=np.ascontiguousarray(surface.cells[:, ::-1]))


def _pixelEdges(mask: Mask) -> Surface:
    """Return the contours along the edges between the pixels of a mask and those around it."""
    from .. import contours

    flat = mask.grid.flatAxis
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
    return contours.oriented(Surface(mask.grid.toWorld(lattice), cells.reshape(-1, 2), mask=mask))
