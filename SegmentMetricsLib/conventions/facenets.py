"""Boundaries along the faces of voxels, as surface nets without smoothing make them.

Source: Frisken, Surface Nets for Multi-Label Segmentations with Preservation of Sharp Boundaries, JCGT 11(1), 2022.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

from ..base.parallel import threads
from ..base.progress import checkpoint
from ..distances.surfacedistances import BoundaryPair
from ..geometry import contours, meshing
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface, triangleIndices
from .meshes import samples
from .rules import Sample
from .toolmasks import Sampling

# Numbers of nearest faces measured in successive passes.
NEIGHBORS = (4, 16, 64, 256)
CHUNK = 50_000
# Voxel centers often lie exactly tau from a face. They do not count as closer, regardless of rounding.
TIE_TOLERANCE = 1e-5


def faces(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return distances from the centers of the triangles of voxel faces to the other boundary, with their areas.

    For one slice, distances are those from the middles of pixel edges. Meshes are measured as they are.
    """
    structures = sampling.structures
    masks = [s.mask for s in structures if s.mask is not None]
    isShared = len(masks) == 2 and masks[0].grid.isRectangular and masks[1].grid.offsetOn(masks[0].grid) is not None
    if not isShared or any(mask.grid.planar for mask in masks):
        reference, test = (s.surface if s.mask is None else _alongFaces(s.mask) for s in structures)
        return samples(BoundaryPair(reference, test), 0)
    grid = masks[0].grid
    mine, other = (_triangles(mask.on(grid)) for mask in masks)
    return _measure(mine, other, grid.spacing), _measure(other, mine, grid.spacing)


def _triangles(mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (n, 3, 3) of the triangles of all faces, as voxel indices, and the faces (n, 3) they lie in.

    A face is the sum of the indices of the two voxels that it separates.
    """
    from vtkmodules.vtkFiltersCore import vtkSurfaceNets3D

    nets = vtkSurfaceNets3D()
    nets.SetInputData(meshing.paddedImage(mask))
    nets.SmoothingOff()
    nets.SetOutputMeshTypeToTriangles()
    nets.Update()
    output = nets.GetOutput()
    points = vtk_to_numpy(output.GetPoints().GetData()).astype(float) + mask.offset
    triangles = points[triangleIndices(output)]
    return triangles, np.rint(triangles.min(axis=1) + triangles.max(axis=1)).astype(int)


def _measure(source: tuple, target: tuple, spacing: np.ndarray) -> Sample:
    """Return distances (n,) from the centers of the triangles of one net to the faces of another one."""
    triangles, faces = source
    corners = triangles * spacing
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    goals = np.unique(target[1], axis=0)
    distances = np.zeros(len(faces))
    # a unique number for every face
    number = np.array([1 << 42, 1 << 21, 1])
    apart = np.flatnonzero(~np.isin((faces + (1 << 20)) @ number, (goals + (1 << 20)) @ number))
    distances[apart] = _toFaces(corners[apart].mean(axis=1), goals, spacing)
    return Sample(distances, areas)


def _toFaces(points: np.ndarray, faces: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Return the distances (n,) in mm of points (n, 3) to the nearest of rectangular faces (m, 3)."""
    from scipy.spatial import cKDTree

    centers = faces * spacing / 2
    # a face is perpendicular to the axis along which the indices of its two voxels differ, where their sum is odd
    half = np.where(faces % 2 == 1, 0, spacing / 2)
    reach = np.linalg.norm(half, axis=1).max()
    tree = cKDTree(centers)
    found = np.full(len(points), np.inf)
    open_ = np.arange(len(points))
    for count in (*NEIGHBORS, len(centers)):
        count = min(count, len(centers))
        unsure = []
        for first in range(0, len(open_), max(1, CHUNK * NEIGHBORS[0] // count)):
            checkpoint()
            chosen = open_[first : first + max(1, CHUNK * NEIGHBORS[0] // count)]
            toCenter, which = tree.query(points[chosen], k=[*range(1, count + 1)], workers=threads())
            gap = np.maximum(np.abs(points[chosen, None] - centers[which]) - half[which], 0)
            found[chosen] = np.sqrt((gap**2).sum(axis=2).min(axis=1))
            # the centers of all other faces are at least as far away as the last one
            unsure.append(chosen[toCenter[:, -1] < found[chosen] + reach])
        open_ = np.concatenate(unsure) if unsure else open_[:0]
        if not len(open_) or count == len(centers):
            break
    return found


def nearFaces(sampling: Sampling, number: int, tolerance: float) -> np.ndarray:
    """Return the voxels of a mask whose centers are closer than the tolerance in mm to a voxel outside, as a box."""
    mask = sampling.arrays[number]
    limit = (tolerance - TIE_TOLERANCE) ** 2
    squared = np.where(mask, np.float32(np.inf), np.float32(0))
    for axis in range(3):
        if axis == sampling.flatAxis:
            continue
        length = sampling.spacing[axis]
        best = squared.copy()
        for steps in range(1, int(np.ceil(tolerance / length + 0.5)) + 1):
            gap = np.float32(((steps - 0.5) * length) ** 2)
            ahead, behind = [slice(None)] * 3, [slice(None)] * 3
            ahead[axis], behind[axis] = slice(steps, None), slice(None, -steps)
            for here, there in ((ahead, behind), (behind, ahead)):
                np.minimum(best[tuple(here)], squared[tuple(there)] + gap, out=best[tuple(here)])
            # there is background beyond the edge of the array
            for edge in (slice(steps - 1, steps), slice(-steps, best.shape[axis] - steps + 1)):
                ahead[axis] = edge
                np.minimum(best[tuple(ahead)], gap, out=best[tuple(ahead)])
        squared = best
    return mask & (squared < limit)


def _alongFaces(mask: Mask) -> Surface:
    """Return the boundary of a mask along the faces of its voxels, or along the edges of its pixels."""
    if mask.grid.planar:
        return _pixelEdges(mask)
    triangles, _ = _triangles(mask)
    points, cells = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    surface = Surface(mask.grid.toWorld(points), cells.reshape(-1, 3))
    if surface.volume > 0:
        return surface
    return Surface(surface.points, np.ascontiguousarray(surface.cells[:, ::-1]))


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
