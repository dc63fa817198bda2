"""Reading structures, grids and doses from nodes. Nodes are only read, never changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import reference, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkCommonTransforms import vtkGeneralTransform, vtkTransform

from ..base.errors import InputError, requireKind
from ..base.texts import commaSeparated
from ..geometry import meshing
from ..geometry.grids import RAS_FROM_LPS, Grid
from ..geometry.masks import Labels, Mask
from ..geometry.surfaces import doublePoints
from ..io.segmentationfiles import FRACTIONAL, scaleMemberships
from ..model import naming
from ..model.dose import Dose
from ..model.inputs import HALF
from ..model.structure import Structure
from .conversion import BINARY, CLOSED_SURFACE, closedSurface, displayedSurface, outward, pointsOf, toRas
from .headless import whyUnavailable
from .nodes import matrixArray

# What SlicerRT writes on volumes of doses.
IS_DOSE, UNIT = "DicomRtImport.DoseVolume", "DicomRtImport.DoseUnitName"
# Units by their size in Gy.
UNITS = {"GY": 1.0, "CGY": 0.01}
IN_GY = "The volume {name} does not say its unit: its values are taken to be in Gy."


def segmentationOf(node):
    """Return the vtkSegmentation of a segmentation node. Raises ValueError for None and for other kinds of nodes."""
    if not hasattr(node, "IsA"):
        raise InputError("There is no segmentation." if node is None else "A segmentation must be given as its node.")
    segmentation = node.GetSegmentation() if node.IsA("vtkMRMLSegmentationNode") else None
    if segmentation is None:
        raise InputError(f"{node.GetName()} is not a segmentation; import it into one first.")
    return segmentation


def nameOf(segmentation, identifier: str) -> str:
    """Return the name of a segment of a vtkSegmentation, or its ID if a script has created it without a name."""
    return segmentation.GetSegment(identifier).GetName() or identifier


def findSegment(segmentationNode, segment: str, by: str = "any") -> str:
    """Return the ID of a segment given by ID or by name, in any spelling. Raises ValueError unless there is one.

    by: "ID", "name", or "any" of the two; "any" rejects a text that is the ID of one segment and the name of another.
    """
    if by not in ("any", "ID", "name"):
        raise InputError(f"'by' must be 'ID', 'name' or 'any', not {by!r}.")
    requireKind(segment, str, "A segment", "its name or ID")
    segmentation, node = segmentationOf(segmentationNode), segmentationNode.GetName()
    names = {identifier: nameOf(segmentation, identifier) for identifier in segmentation.GetSegmentIDs()}
    found = [i for i, name in names.items() if (by != "ID" and name == segment) or (by != "name" and i == segment)]
    isExact = bool(found)
    if not isExact and by != "ID":
        meant = naming.findMeant(segment, names.values())
        found = [identifier for identifier, name in names.items() if name in meant]
    if len(found) == 1:
        return found[0]
    if not found:
        known = list(names) if by == "ID" else names.values()
        hint = naming.hintAt(segment, known)
        raise InputError(f"{node} has no segment {segment!r}; it has {commaSeparated(known)}.{hint}")
    if not isExact:
        which = commaSeparated(names[identifier] for identifier in found)
        raise InputError(f"{node} has {len(found)} segments that {segment!r} could mean: {which}; use the exact name.")
    if by == "any" and segment in found:
        raise InputError(
            f"{node} has a segment named {segment!r} and another one whose ID is {segment!r}; "
            "say whether it is given by='name' or by='ID'."
        )
    way = "give them different names" if by == "name" else "use the segment ID"
    raise InputError(f"{node} has {len(found)} segments named {segment!r}; {way}.")


def tagOf(segment, name: str) -> str:
    """Return a tag of a vtkSegment, or "" if the segment does not have it."""
    value: Any = reference("")
    return str(value.get()) if segment.GetTag(name, value) else ""


class SegmentReader:
    """Reads copies of the segments of a node as they are now; labels are kept until their labelmap is modified."""

    def __init__(self, segmentationNode):
        self.node = segmentationNode
        # by vtkOrientedImageData: its modification time and the labels found then
        self._labelmaps: dict[object, tuple[int, Labels]] = {}

    def structure(self, segment: str, surface: str = "unsmoothed", by: str = "any") -> Structure:
        """Return a segment as a structure in LPS mm, with its node's parent transforms applied.

        segment, by: as for findSegment. surface: "unsmoothed" measures the boundary of the voxels, "displayed" the
        closed surface that Slicer shows, as of segments without voxels in any case. Raises ValueError without any.
        """
        identifier = findSegment(self.node, segment, by)
        segmentation = self.node.GetSegmentation()
        node = segmentation.GetSegment(identifier)
        common = {
            "name": nameOf(segmentation, identifier),
            "color": tuple(node.GetColor()),
            "terminology": tagOf(node, node.GetTerminologyEntryTagName()),
            "nodeID": self.node.GetID(),
            "segmentation": self.node.GetName() or "",
            "segmentID": identifier,
        }
        toWorld = worldTransform(self.node)
        linear = linearMatrix(toWorld)
        source = segmentation.GetSourceRepresentationName()
        memberships = self._memberships(identifier) if source == FRACTIONAL else None
        mask = self.mask(identifier) if source == BINARY else memberships and memberships.cut(HALF)
        if mask is not None:
            if linear is not None:
                mask = moveMask(mask, linear)
                common["memberships"] = None if memberships is None else moveMask(memberships, linear)
                if surface == "unsmoothed" or mask.isEmpty:
                    return Structure(mask=mask, **common)
            elif surface == "unsmoothed" or mask.isEmpty:
                # voxels deformed by a nonlinear transform form no grid, so only the surface is used
                bent = meshing.transform(meshing.fromMask(mask), lambda points: moveLps(points, toWorld))
                return Structure(givenSurface=bent, **common)
        if segmentation.ContainsRepresentation(CLOSED_SURFACE):
            shown = vtkPolyData()
            self.node.GetClosedSurfaceRepresentation(identifier, shown)
        else:
            shown = closedSurface(segmentation, identifier)
        if mask is not None and not shown.GetNumberOfPolys():
            isJoint = segmentation.GetConversionParameter("Joint smoothing") == "1"
            why = " because the option Joint smoothing of its conversion to closed surfaces is on" if isJoint else ""
            way = "Turn it off and make the surface again, or measure" if isJoint else "Measure"
            raise InputError(
                f"Slicer's closed surface of {common['name']} has no triangles{why}. {way} the unsmoothed surface."
            )
        world = vtkPolyData()
        world.ShallowCopy(shown)
        if shown.GetNumberOfPoints():
            world.SetPoints(doublePoints(moveLps(pointsOf(shown), toWorld)))
        # Slicer turns what it makes of left-handed voxels inside out
        boundary = meshing.fromPolyData(world if mask is None else outward(world))
        kind = "imported" if mask is None else "displayed"
        return Structure(mask=mask if linear is not None else None, givenSurface=boundary, surfaceKind=kind, **common)

    def mask(self, identifier: str) -> Mask:
        """Return the voxels of a segment stored as a binary labelmap, on the grid of the image that it was drawn on."""
        import slicer

        segmentation = self.node.GetSegmentation()
        segment = segmentation.GetSegment(identifier)
        image = segment.GetRepresentation(BINARY) or slicer.vtkOrientedImageData()
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

    def _memberships(self, identifier: str) -> Mask:
        """Return the fraction of each voxel that a fractional segment occupies, in the node's coordinates (LPS mm)."""
        import slicer

        segmentation = self.node.GetSegmentation()
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


def readAll(node, surface: str, tell: Callable[[str], object] = str) -> tuple[dict[str, Structure], dict[str, str]]:
    """Return the structures of all segments of a node and the reasons why others cannot be read, both by segment ID.

    tell: called with the name of each segment before it is read.
    """
    segmentation, reader = segmentationOf(node), SegmentReader(node)
    read: dict[str, Structure] = {}
    problems: dict[str, str] = {}
    for identifier in segmentation.GetSegmentIDs():
        tell(nameOf(segmentation, identifier))
        try:
            read[identifier] = reader.structure(identifier, surface, by="ID")
        except InputError as error:
            problems[identifier] = str(error)
    return read, problems


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


def moveMask(mask: Mask, linear: np.ndarray) -> Mask:
    """Return a mask transformed by a 4x4 matrix, which is in RAS."""
    matrix = RAS_FROM_LPS @ linear @ RAS_FROM_LPS
    return Mask(mask.voxels, mask.offset, Grid(mask.grid.size, matrix @ mask.grid.matrix, mask.grid.planar))


def gridOf(volumeNode) -> Grid:
    """Return the grid of a volume node in LPS mm, with its parent transforms applied, for use as Settings.grid.

    Parameters
    ----------
    volumeNode
        A vtkMRMLVolumeNode.

    Returns
    -------
    Grid

    Raises
    ------
    ValueError
        For a node that is not a volume, has no voxels, or has a nonlinear transform.
    """
    if not hasattr(volumeNode, "IsA") or not volumeNode.IsA("vtkMRMLVolumeNode"):
        raise InputError("The evaluated grid must be that of a volume.")
    name, image = volumeNode.GetName(), volumeNode.GetImageData()
    if image is None:
        raise InputError(f"{name} has no voxels.")
    linear = linearMatrix(worldTransform(volumeNode))
    if linear is None:
        raise InputError(f"{name} is bent by a transform, so it has no grid.")
    matrix = vtkMatrix4x4()
    volumeNode.GetIJKToRASMatrix(matrix)
    size = image.GetDimensions()
    return Grid(size, RAS_FROM_LPS @ linear @ matrixArray(matrix), planar=size.count(1) == 1)


def doseOf(volumeNode) -> Dose:
    """Return the dose in a volume node, with its parent transforms applied.

    Parameters
    ----------
    volumeNode
        A vtkMRMLScalarVolumeNode: a dose that SlicerRT loaded, or another volume, whose values are taken to be in Gy.

    Returns
    -------
    Dose

    Raises
    ------
    ValueError
        For a node that is not a scalar volume, has no voxels, is bent by a transform, or has another unit, and for
        values that are not a dose.
    """
    if not hasattr(volumeNode, "IsA") or not volumeNode.IsA("vtkMRMLScalarVolumeNode"):
        raise InputError("The dose must be a scalar volume.")
    name, grid = volumeNode.GetName(), gridOf(volumeNode)
    scalars = volumeNode.GetImageData().GetPointData().GetScalars()
    if scalars is None or scalars.GetNumberOfComponents() != 1:
        raise InputError(f"{name} does not have one number per voxel, so it is not a dose.")
    said = volumeNode.GetAttribute(UNIT) or ""
    unit = UNITS.get(said.strip().upper()) if said else 1.0
    if unit is None:
        raise InputError(f"{name} is in the unit {said}, and Gy are needed.")
    values = vtk_to_numpy(scalars).reshape(grid.size[::-1]) * unit
    try:
        return Dose(values, grid, name, remarks=() if said else (IN_GY.format(name=name),))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def isDose(volumeNode) -> bool:
    """Return whether SlicerRT loaded a volume as a dose."""
    return volumeNode is not None and volumeNode.GetAttribute(IS_DOSE) == "1"


def worldTransform(node) -> vtkGeneralTransform:
    """Return the transform from a node's coordinates to world coordinates (RAS mm); it may be nonlinear."""
    import slicer

    transform = vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(node.GetParentTransformNode(), None, transform)
    return transform


def linearMatrix(transform: vtkGeneralTransform) -> np.ndarray | None:
    """Return the 4x4 matrix of a transform, or None if it is not linear."""
    import slicer

    linear = vtkTransform()
    if not slicer.vtkMRMLTransformNode.IsGeneralTransformLinear(transform, linear):
        return None
    return matrixArray(linear.GetMatrix())


def moveLps(points: np.ndarray, transform: vtkGeneralTransform) -> np.ndarray:
    """Return LPS points (n, 3) moved by a transform, which is in RAS."""
    flip, there = np.diag(RAS_FROM_LPS)[:3], vtkPoints()
    there.SetDataTypeToDouble()
    transform.TransformPoints(doublePoints(points * flip), there)
    return vtk_to_numpy(there.GetData()) * flip


def asDisplayed(structure: Structure) -> Structure:
    """Return a copy of a structure with voxels that is measured on the surface that Slicer shows by default."""
    if problem := whyUnavailable():
        raise InputError(f"Displayed surfaces are made by Slicer's own conversion, but {problem}")
    surface = meshing.fromPolyData(toRas(displayedSurface(structure)))
    return replace(structure, givenSurface=surface, surfaceKind="displayed")
