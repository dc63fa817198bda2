"""Simplified surfaces that are small enough for a page, with the measured distance at every point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkQuadricDecimation, vtkWindowedSincPolyDataFilter

from ...base.parallel import threads
from ...distances.surfacedistances import DirectedDistances
from ...geometry.masks import Mask
from ...geometry.surfaces import doublePoints, toPolyData, triangleIndices
from ...model.dose import Dose

# Approximate maximum of triangles per surface in a page: more make no visible difference at that size.
MOST_TRIANGLES = 8_000
# Smoothing that removes the steps between voxels but preserves the shape; see vtkWindowedSincPolyDataFilter.
ITERATIONS, PASS_BAND = 20, 0.1


@dataclass(frozen=True, eq=False)
class ReducedSurface:
    """A surface for pictures.

    points: (n, 3) float32 LPS mm. triangles: (m, 3) int32. signed: (n,) float32 mm, the signed distance at the nearest
    point of the measured surface. dose: (n,) float32 Gy there, 0 where it is not known, None without a dose.
    """

    points: np.ndarray
    triangles: np.ndarray
    signed: np.ndarray
    dose: np.ndarray | None = None


def reduce(direction: DirectedDistances, dose: Dose | None = None) -> ReducedSurface:
    """Return the boundary measured from, smoothed and simplified, with the distances that were measured on it."""
    from scipy.spatial import cKDTree

    surface, polyData = direction.surface, vtkPolyData()
    factor = math.floor(math.sqrt(len(surface.cells) / MOST_TRIANGLES))
    if surface.mask is not None and factor >= 2:
        # much faster than removing triangles one by one; thin parts that it loses would hardly be visible anyway
        polyData = fromBlocks(surface.mask, factor)
    if not polyData.GetNumberOfCells():
        polyData = toPolyData(surface)
    if surface.mask is not None:  # which has steps between voxels
        smoothing = vtkWindowedSincPolyDataFilter()
        smoothing.SetInputData(polyData)
        smoothing.SetNumberOfIterations(ITERATIONS)
        smoothing.SetPassBand(PASS_BAND)
        smoothing.NonManifoldSmoothingOn()
        smoothing.NormalizeCoordinatesOn()
        smoothing.BoundarySmoothingOff()
        smoothing.Update()
        polyData = smoothing.GetOutput()
    if polyData.GetNumberOfCells() > MOST_TRIANGLES:
        decimation = vtkQuadricDecimation()
        decimation.SetInputData(polyData)
        decimation.SetTargetReduction(1 - MOST_TRIANGLES / polyData.GetNumberOfCells())
        decimation.VolumePreservationOn()
        decimation.Update()
        polyData = decimation.GetOutput()
    points = vtk_to_numpy(polyData.GetPoints().GetData())
    nearest = cKDTree(surface.points).query(points, workers=threads())[1]
    return ReducedSurface(
        points.astype(np.float32),
        triangleIndices(polyData).astype(np.int32),
        direction.atPoints[nearest].astype(np.float32),
        None if dose is None else dose.valuesAt(surface.points[nearest], 0.0).astype(np.float32),
    )


def fromBlocks(mask: Mask, factor: int) -> vtkPolyData:
    """Return the surface, LPS in mm, around the blocks of voxels that belong to a mask by at least half.

    The surface is the isosurface at 0.5 of the mean of each block. factor: edge length of a block in voxels.
    """
    # start one block before the mask, so that the surface is closed
    padding = [(factor, factor + -size % factor) for size in mask.voxels.shape]
    blocks = np.pad(mask.voxels.astype(np.float32), padding)
    counts = [size // factor for size in blocks.shape]
    means = blocks.reshape(counts[0], factor, counts[1], factor, counts[2], factor).mean(axis=(1, 3, 5))
    image = vtkImageData()
    image.SetDimensions(means.shape[::-1])
    image.GetPointData().SetScalars(numpy_to_vtk(means.ravel(), deep=True))
    flyingEdges = vtkFlyingEdges3D()
    flyingEdges.SetInputData(image)
    flyingEdges.SetValue(0, 0.5)
    flyingEdges.ComputeNormalsOff()
    flyingEdges.ComputeScalarsOff()
    flyingEdges.Update()
    polyData = flyingEdges.GetOutput()
    if polyData.GetNumberOfPoints():
        # from block centers to voxel indices
        index = vtk_to_numpy(polyData.GetPoints().GetData()) * factor + (factor - 1) / 2 - factor + mask.low
        polyData.SetPoints(doublePoints(mask.grid.toWorld(index)))
    return polyData
