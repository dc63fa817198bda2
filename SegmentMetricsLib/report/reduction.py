"""Measured surfaces made small enough for a page, with the distance at every point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkQuadricDecimation, vtkWindowedSincPolyDataFilter

from ..distances import DirectedDistances
from ..surfaces import toPolyData, triangleIndices

# Triangles of a surface in a page: more are not seen in a picture of its size.
MOST_TRIANGLES = 8_000
# Smoothing that takes the steps between voxels away and leaves the shape; see vtkWindowedSincPolyDataFilter.
ITERATIONS, PASS_BAND = 20, 0.1


@dataclass(frozen=True, eq=False)
class ReducedSurface:
    """A surface for pictures.

    points: (n, 3) float32 LPS mm. triangles: (m, 3) int32. signed: (n,) float32 mm, the signed distance at the point of
    the measured surface that is nearest.
    """

    points: np.ndarray
    triangles: np.ndarray
    signed: np.ndarray


def reduced(direction: DirectedDistances) -> ReducedSurface:
    """Return the boundary measured from, smoothed and coarsened, with the distances that were measured on it."""
    from scipy.spatial import cKDTree

    surface = direction.surface
    polyData = toPolyData(surface)
    if surface.mask is not None:
        smooth = vtkWindowedSincPolyDataFilter()
        smooth.SetInputData(polyData)
        smooth.SetNumberOfIterations(ITERATIONS)
        smooth.SetPassBand(PASS_BAND)
        smooth.NonManifoldSmoothingOn()
        smooth.NormalizeCoordinatesOn()
        smooth.BoundarySmoothingOff()
        smooth.Update()
        polyData = smooth.GetOutput()
    if len(surface.cells) > MOST_TRIANGLES:
        decimation = vtkQuadricDecimation()
        decimation.SetInputData(polyData)
        decimation.SetTargetReduction(1 - MOST_TRIANGLES / len(surface.cells))
        decimation.VolumePreservationOn()
        decimation.Update()
        polyData = decimation.GetOutput()
    points = vtk_to_numpy(polyData.GetPoints().GetData())
    nearest = cKDTree(surface.points).query(points, workers=-1)[1]
    return ReducedSurface(
        points.astype(np.float32),
        triangleIndices(polyData).astype(np.int32),
        direction.atPoints[nearest].astype(np.float32),
    )
