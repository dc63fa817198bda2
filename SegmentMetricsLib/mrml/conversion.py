"""Slicer's own conversion of segments to smooth surfaces, done on private copies: user data are only read."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkFiltersCore import vtkPolyDataNormals, vtkReverseSense, vtkTriangleFilter

from ..base.errors import InputError
from ..base.parallel import allCores
from ..base.texts import percent
from ..geometry.grids import RAS_FROM_LPS
from ..geometry.masks import Mask
from ..geometry.surfaces import Surface, doublePoints, toPolyData, triangleIndices
from ..model.structures import shareLeft
from .headless import ensureScene

# Slicer's defaults for showing a segment in 3D: flying edges, moderate smoothing, no decimation.
DISPLAY_PARAMETERS = {
    "Smoothing factor": "0.5",
    "Decimation factor": "0.0",
    "Conversion method": "0",
    "Compute surface normals": "1",
}

# What Slicer calls the representations of a segment.
BINARY, CLOSED_SURFACE = "Binary labelmap", "Closed surface"

# The field of a map that says why it is not drawn on the surface that Slicer shows.
NOTE = "DrawnOn"

# Cache: converting a large mask takes longer than all other steps of a distance map.
_surfaceOfMask: weakref.WeakKeyDictionary[Mask, vtkPolyData] = weakref.WeakKeyDictionary()


def closedSurface(segmentation, segmentID: str, parameters: Mapping[str, str] | None = None) -> vtkPolyData:
    """Return the closed surface of a segment of a vtkSegmentation, in its coordinates (RAS mm).

    It is made in a private segmentation. parameters: of the conversion, in place of those of the segmentation. Raises
    ValueError if it is not possible.
    """
    import slicer

    ensureScene()  # registers the conversions
    private, kind = slicer.vtkSegmentation(), segmentation.GetSourceRepresentationName()
    private.SetSourceRepresentationName(kind)
    private.CopyConversionParameters(segmentation)
    private.CopySegmentFromSegmentation(segmentation, segmentID)
    for name, value in (parameters or {}).items():
        private.SetConversionParameter(name, value)
    if kind != CLOSED_SURFACE:
        # True: overwrite a surface copied with the segment, which was created with other parameters
        with allCores():
            isMade = private.CreateRepresentation(CLOSED_SURFACE, True)
        if not isMade:
            name = private.GetSegment(segmentID).GetName()
            raise InputError(
                f"{name or 'The segment'} has no closed surface, and Slicer cannot make one of its {kind.lower()}: "
                "convert it in the module Segmentations first."
            )
    return private.GetSegment(segmentID).GetRepresentation(CLOSED_SURFACE)


def addVoxels(segmentation, name: str, mask: Mask):
    """Add voxels to a vtkSegmentation as a segment of a name; return the vtkSegment. Raises ValueError if empty."""
    import slicer

    segment = slicer.vtkSegment()
    segment.SetName(name)
    segment.AddRepresentation(BINARY, orientedImage(mask))
    segmentation.SetSourceRepresentationName(BINARY)
    segmentation.AddSegment(segment)
    return segment


def orientedImage(mask: Mask):
    """Return a mask as vtkOrientedImageData of 0 and 1 in RAS, cropped to the structure. Raises ValueError if empty."""
    import slicer

    if mask.isEmpty:
        raise InputError("An empty structure has no image.")
    image = slicer.vtkOrientedImageData()
    image.SetExtent(*np.stack([mask.low, mask.high], axis=1).ravel().tolist())
    scalars = numpy_to_vtk(mask.voxels.ravel(), deep=True)
    scalars.SetName("ImageScalars")
    image.GetPointData().SetScalars(scalars)
    matrix = vtkMatrix4x4()
    matrix.DeepCopy((RAS_FROM_LPS @ mask.grid.matrix).ravel())
    image.SetImageToWorldMatrix(matrix)
    return image


def displayedSurface(structure) -> vtkPolyData:
    """Return the surface that Slicer shows for a structure, in RAS mm with normals; not to be modified.

    Structures without voxels and contours in a plane (lines, no normals) are returned as measured. Raises ValueError if
    it is empty.
    """
    if structure.isEmpty:
        raise InputError(f"{structure.name} is empty, so there is nothing to show.")
    mask = structure.mask
    if mask is None or structure.dimension == 2 or structure.surfaceKind == "displayed":
        return withNormals(toRas(toPolyData(structure.surface)))
    if mask not in _surfaceOfMask:
        import slicer

        ensureScene()  # first: segmentations created before have no converters
        voxels = slicer.vtkSegmentation()
        addVoxels(voxels, structure.name, mask)
        _surfaceOfMask[mask] = outward(closedSurface(voxels, voxels.GetNthSegmentID(0), DISPLAY_PARAMETERS))
    return _surfaceOfMask[mask]


def drawnSurface(
    structure, what: str, measured: Surface, surface: str = "displayed", shown: vtkPolyData | None = None
) -> tuple[vtkPolyData, bool]:
    """Return the surface that every map of a structure is drawn on, in RAS mm, and whether it is the measured one.

    If the surface that Slicer shows encloses too little of the voxels' volume, as shareLeft() tells, it is the surface
    around the voxels, and noteOf() says so. what: the structure is, in words. shown: the surface that Slicer shows.
    """
    result, note = vtkPolyData(), ""
    isMeasured = surface == "measured"
    if not isMeasured:
        shown = shown or displayedSurface(structure)
        share = shareLeft(structure, signedVolume(shown))
        if share is None:
            result.ShallowCopy(shown)
            return result, False
        note = f"The {what} is drawn around its voxels: smoothing leaves {percent(share)} of them."
        isMeasured = structure.surfaceKind != "displayed"
        measured = measured if isMeasured else structure.withoutSmoothing().surface
    result.ShallowCopy(toRas(toPolyData(measured)))
    if note:
        said = vtkStringArray()
        said.SetName(NOTE)
        said.InsertNextValue(note)
        result.GetFieldData().AddArray(said)
    return result, isMeasured


def noteOf(polyData: vtkPolyData) -> str:
    """Return the sentence that a map is not drawn on the surface that Slicer shows, "" if it is."""
    said = polyData.GetFieldData().GetAbstractArray(NOTE)
    return "" if said is None else said.GetValue(0)


def signedVolume(polyData: vtkPolyData) -> float:
    """Return the volume in mm3 that a closed surface encloses, negative if its polygons face inward."""
    if polyData.GetNumberOfPolys() and polyData.GetPolys().GetMaxCellSize() != 3:
        triangles = vtkTriangleFilter()
        triangles.SetInputData(polyData)
        triangles.Update()
        polyData = triangles.GetOutput()
    return Surface(pointsOf(polyData), triangleIndices(polyData)).volume if polyData.GetNumberOfPolys() else 0.0


def outward(polyData: vtkPolyData) -> vtkPolyData:
    """Return a closed surface with polygons and normals outward: Slicer turns those of left-handed voxels inward."""
    if signedVolume(polyData) >= 0:
        return polyData
    turned = vtkReverseSense()
    turned.SetInputData(polyData)
    turned.ReverseNormalsOn()
    turned.Update()
    return turned.GetOutput()


def pointsOf(polyData: vtkPolyData) -> np.ndarray:
    """Return the points of a polydata in RAS as an array (n, 3) in LPS mm."""
    return vtk_to_numpy(polyData.GetPoints().GetData()).astype(float) * np.diag(RAS_FROM_LPS)[:3]


def withNormals(polyData: vtkPolyData) -> vtkPolyData:
    """Return a surface with point normals for smooth shading; lines and surfaces that have them are unchanged."""
    if polyData.GetNumberOfPolys() == 0 or polyData.GetPointData().GetNormals() is not None:
        return polyData
    normals = vtkPolyDataNormals()
    normals.SetInputData(polyData)
    normals.SplittingOff()  # it would add points
    normals.ConsistencyOff()  # triangles already face outward
    normals.Update()
    return normals.GetOutput()


def toRas(polyData: vtkPolyData) -> vtkPolyData:
    """Return a copy of a polydata, without normals, converted from LPS to RAS or back; triangles still face outward."""
    result = vtkPolyData()
    result.ShallowCopy(polyData)
    if polyData.GetNumberOfPoints():
        result.SetPoints(doublePoints(vtk_to_numpy(polyData.GetPoints().GetData()) * np.diag(RAS_FROM_LPS)[:3]))
    result.GetPointData().SetNormals(None)
    return result
