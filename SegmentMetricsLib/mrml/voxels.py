"""Reading masks from the labelmaps of segmentation nodes. Labelmaps are only read, never changed."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from ..base.errors import InputError
from ..geometry.grids import RAS_FROM_LPS, Grid
from ..geometry.masks import Labels, Mask
from ..io.segmentationfiles import FRACTIONAL, scaleMemberships
from ..model.inputs import HALF


class VoxelReader:
    """Reads copies of the voxels of a node's segments, in LPS mm; labels are kept until their labelmap is modified."""

    def __init__(self, segmentationNode):
        self.node = segmentationNode
        # by vtkOrientedImageData: its modification time and the labels found then
        self._labelmaps: dict[object, tuple[int, Labels]] = {}

    def stored(self, identifier: str) -> tuple[Mask | None, Mask | None]:
        """Return the voxels of a segment, None without a labelmap, and its memberships, None if that is binary."""
        import slicer

        source = self.node.GetSegmentation().GetSourceRepresentationName()
        if source == FRACTIONAL:
            memberships = membershipsOfSegment(self.node, identifier)
            return memberships.cut(HALF), memberships
        if source == slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName():
            return self.mask(identifier), None
        return None, None

    def mask(self, identifier: str) -> Mask:
        """Return the voxels of a segment stored as a binary labelmap, on the grid of the image that it was drawn on."""
        import slicer

        segmentation = self.node.GetSegmentation()
        segment = segmentation.GetSegment(identifier)
        name = slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName()
        image = segment.GetRepresentation(name) or slicer.vtkOrientedImageData()
        array, grid, low = voxelsOf(image, segmentation)
        if array is None:
            return Mask.empty(grid)
        label = segment.GetLabelValue()
        if array.dtype.kind in "iu":  # like Slicer, clip the label to the range of the labelmap's type
            label = max(np.iinfo(array.dtype).min, min(label, np.iinfo(array.dtype).max))
        time, labels = self._labelmaps.get(image, (None, None))
        if labels is None or time != image.GetMTime():
            labels = Labels(array)
            self._labelmaps[image] = image.GetMTime(), labels
        return labels.mask(label, grid, low)


def membershipsOfSegment(segmentationNode, identifier: str) -> Mask:
    """Return the fraction of each voxel that a fractional segment occupies, in the coordinates of its node (LPS mm)."""
    import slicer

    segmentation = segmentationNode.GetSegmentation()
    segment = segmentation.GetSegment(identifier)
    image = segment.GetRepresentation(FRACTIONAL)
    field = image.GetFieldData().GetArray(slicer.vtkSegmentationConverter.GetScalarRangeFieldName())
    # Slicer's default range
    limits = (0.0, 1.0) if field is None else (field.GetTuple1(0), field.GetTuple1(1))
    voxels, grid, low = voxelsOf(image, segmentation)
    if voxels is None:
        return Mask.empty(grid)
    try:
        return Mask.ofMemberships(scaleMemberships(voxels, limits), grid, low)
    except InputError as error:
        raise InputError(f"{segment.GetName() or identifier}: {error}") from error


def voxelsOf(image, segmentation) -> tuple[np.ndarray | None, Grid, np.ndarray]:
    """Return the values [k, j, i] of an image, None if it is empty, its grid, and its first voxel there."""
    import slicer

    extent = image.GetExtent()
    low, high = np.array(extent[::2]), np.array(extent[1::2])
    matrix = vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    stored = Grid((1, 1, 1), RAS_FROM_LPS @ matrixArray(matrix))
    geometry = Grid.fromSlicerGeometry(
        segmentation.GetConversionParameter(slicer.vtkSegmentationConverter.GetReferenceImageGeometryParameterName())
        or ""
    )
    isEmpty = (low > high).any() or image.GetPointData().GetScalars() is None
    shift = None if geometry is None else stored.offsetOn(geometry)
    if geometry is not None and shift is not None:
        grid = Grid(geometry.size, geometry.matrix, planar=geometry.size.count(1) == 1)
        low, high = low + shift, high + shift
    elif isEmpty:
        grid = stored
    else:
        # the extent of the image is unknown: pad by one voxel, so that the structure does not touch an edge
        grid = stored.resize(low - 1, high + 1)
        low, high = np.ones(3, int), high - low + 1
    if isEmpty:
        return None, grid, low
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape((high - low + 1)[::-1]), grid, low


def matrixArray(matrix: vtkMatrix4x4) -> np.ndarray:
    """Return a VTK matrix as an array (4, 4)."""
    return np.array([[matrix.GetElement(row, column) for column in range(4)] for row in range(4)])
