"""Slicer's own conversion of segments to smooth surfaces, done privately: a user's segmentation is only read."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from ..masks import Mask
from ..surfaces import doublePoints, toPolyData
from .headless import ensureScene

# What Slicer does by default when a segment is shown in 3D: flying edges, moderate smoothing, every triangle kept.
DISPLAY_PARAMETERS = {
    "Smoothing factor": "0.5",
    "Decimation factor": "0.0",
    "Conversion method": "0",
    "Compute surface normals": "1",
}

# LPS to RAS, the coordinate system of Slicer's nodes, and back.
FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])

# Converting a large mask takes longer than everything else a distance map needs.
_surfaceOfMask: weakref.WeakKeyDictionary[Mask, vtkPolyData] = weakref.WeakKeyDictionary()


def closedSurface(source, segmentID: str | None = None, parameters: Mapping[str, str] | None = None) -> vtkPolyData:
    """Return the closed surface of a labelmap or of a segment, made in a segmentation of its own.

    source: a vtkOrientedImageData of 0 and 1, or a vtkSegmentation together with a segment ID, whose conversion
    parameters are taken over. parameters: conversion parameters by Slicer's names that replace those. The result is in
    the coordinates of the source (RAS mm, before any parent transform), with point normals if the parameters ask for
    them; it has no points for an empty labelmap. Raises ValueError for an unknown segment and when there is no
    conversion.
    """
    import slicer

    ensureScene()  # without it no conversion is known
    names = slicer.vtkSegmentationConverter
    private = slicer.vtkSegmentation()
    if segmentID is None:
        private.SetSourceRepresentationName(names.GetSegmentationBinaryLabelmapRepresentationName())
        parameters = {**DISPLAY_PARAMETERS, **(parameters or {})}
        segment = slicer.vtkSegment()
        segment.AddRepresentation(private.GetSourceRepresentationName(), source)
        segmentID = "segment"
        private.AddSegment(segment, segmentID)
    else:
        if source.GetSegment(segmentID) is None:
            raise ValueError(f"The segmentation has no segment {segmentID}.")
        private.SetSourceRepresentationName(source.GetSourceRepresentationName())
        private.CopyConversionParameters(source)
        private.CopySegmentFromSegmentation(source, segmentID)
    for name, value in (parameters or {}).items():
        private.SetConversionParameter(name, str(value))
    surfaceName = names.GetSegmentationClosedSurfaceRepresentationName()
    if surfaceName == private.GetSourceRepresentationName():
        surface = private.GetSegment(segmentID).GetRepresentation(surfaceName)
    else:
        # True: a surface that came along with the segment was made with other parameters
        converted = private.CreateRepresentation(surfaceName, True)
        surface = private.GetSegment(segmentID).GetRepresentation(surfaceName) if converted else None
    if surface is None:
        raise ValueError(f"The segment cannot be converted from {private.GetSourceRepresentationName()} to a surface.")
    return surface


def orientedImage(mask: Mask):
    """Return a mask as vtkOrientedImageData of 0 and 1 in RAS, cropped to the structure. Raises ValueError when empty."""
    import slicer

    if mask.isEmpty:
        raise ValueError("An empty structure has no image.")
    image = slicer.vtkOrientedImageData()
    image.SetExtent(*np.stack([mask.low, mask.high], axis=1).ravel().tolist())
    scalars = numpy_to_vtk(mask.voxels.ravel(), deep=True)
    scalars.SetName("ImageScalars")
    image.GetPointData().SetScalars(scalars)
    matrix = vtkMatrix4x4()
    matrix.DeepCopy((FLIP @ mask.grid.matrix).ravel())
    image.SetImageToWorldMatrix(matrix)
    return image


def displayedSurface(structure) -> vtkPolyData:
    """Return how Slicer shows a structure by default, as vtkPolyData in RAS mm; do not change it, it is kept for reuse.

    structure: a Mask, or anything with `mask` and `surface`. Structures without a mask and contours in a plane are
    shown as they were measured. Raises ValueError when the structure is empty.
    """
    mask = structure if isinstance(structure, Mask) else structure.mask
    if mask is None or (mask.grid.planar and mask is not structure):
        if structure.surface is None or structure.surface.isEmpty:
            raise ValueError(f"{structure.name} is empty, so there is nothing to show.")
        return toRas(toPolyData(structure.surface))
    if mask not in _surfaceOfMask:
        _surfaceOfMask[mask] = closedSurface(orientedImage(mask))
    return _surfaceOfMask[mask]


def toRas(polyData: vtkPolyData) -> vtkPolyData:
    """Return a copy of a polydata with LPS turned into RAS or back; triangles keep facing outward."""
    result = vtkPolyData()
    result.ShallowCopy(polyData)
    if polyData.GetNumberOfPoints():
        result.SetPoints(doublePoints(vtk_to_numpy(polyData.GetPoints().GetData()) * np.diag(FLIP)[:3]))
    normals = polyData.GetPointData().GetNormals()
    if normals is not None:
        flipped = numpy_to_vtk(vtk_to_numpy(normals) * np.diag(FLIP)[:3].astype(np.float32), deep=True)
        flipped.SetName(normals.GetName())
        result.GetPointData().SetNormals(flipped)
    return result
