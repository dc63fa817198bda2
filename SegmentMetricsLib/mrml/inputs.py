"""From a user's segmentation node to structures. Nodes are only read, never changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import reference, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkCommonTransforms import vtkGeneralTransform, vtkTransform

from ..errors import InputError
from ..files import fractional
from ..geometry import meshing
from ..geometry.grids import RAS_FROM_LPS, Grid
from ..geometry.masks import Mask
from ..inputs import HALF, emptyMask
from ..structures import Structure, codeSource
from .conversion import closedSurface, displayedSurface, toRas


def segmentationOf(node):
    """Return the vtkSegmentation of a segmentation node. Raises ValueError when the node is none or something else."""
    if not hasattr(node, "IsA"):
        raise InputError("There is no segmentation." if node is None else "A segmentation is given as its node.")
    segmentation = node.GetSegmentation() if node.IsA("vtkMRMLSegmentationNode") else None
    if segmentation is None:
        raise InputError(f"{node.GetName()} is not a segmentation; import it into one first.")
    return segmentation


def findSegment(segmentationNode, segment: str, by: str = "any") -> str:
    """Return the ID of a segment given by ID or by name. Raises ValueError unless there is exactly one.

    by: "ID", "name", or "any" of the two; then what is the ID of one segment and the name of another is refused.
    """
    if by not in ("any", "ID", "name"):
        raise InputError(f"A segment is given by ID, name or any of them, not by {by!r}.")
    segmentation = segmentationOf(segmentationNode)
    identifiers = segmentation.GetSegmentIDs()
    named = [i for i in identifiers if by != "ID" and segmentation.GetSegment(i).GetName() == segment]
    isIdentifier = by != "name" and segment in identifiers
    found = {*named, segment} if isIdentifier else set(named)
    if len(found) == 1:
        return found.pop()
    node = segmentationNode.GetName()
    if found and isIdentifier:
        raise InputError(
            f"{node} has a segment named {segment!r} and another one whose ID is {segment!r}; "
            "say whether it is given by='name' or by='ID'."
        )
    if found:
        way = "give them different names" if by == "name" else "use the segment ID"
        raise InputError(f"{node} has {len(found)} segments named {segment!r}; {way}.")
    names = ", ".join(segmentation.GetSegment(i).GetName() for i in identifiers[:10]) or "none"
    raise InputError(f"{node} has no segment {segment!r}; it has {names}.")


def tagOf(segment, name: str) -> str:
    """Return one of the tags of a vtkSegment, "" if it does not have it."""
    value = reference("")
    return str(value.get()) if segment.GetTag(name, value) else ""


def structureFromSegment(segmentationNode, segment: str, surface: str = "unsmoothed", by: str = "any") -> Structure:
    """Return a segment, where its node's parent transforms put it, as a structure in LPS mm.

    segment, by: as for findSegment. surface: "unsmoothed" measures the boundary of the voxels, the same as Slicer's
    closed surface with smoothing factor 0; "displayed" the closed surface that Slicer shows. Segments without voxels
    (surfaces, planar contours) are measured on their closed surface either way. Raises ValueError for an unknown or
    ambiguous segment and for one that has no closed surface.
    """
    identifier = findSegment(segmentationNode, segment, by)
    segmentation = segmentationNode.GetSegmentation()
    node = segmentation.GetSegment(identifier)
    common = {
        "name": node.GetName(),
        "color": tuple(node.GetColor()),
        "source": {
            "nodeID": segmentationNode.GetID(),
            "segmentID": identifier,
            **codeSource(tagOf(node, node.GetTerminologyEntryTagName())),
        },
    }
    toWorld = worldTransform(segmentationNode)
    linear = linearMatrix(toWorld)
    mask, memberships = storedVoxels(segmentationNode, identifier)
    if mask is not None:
        if linear is not None:
            mask = moved(mask, linear)
            common["memberships"] = None if memberships is None else moved(memberships, linear)
            if surface == "unsmoothed" or mask.isEmpty:
                return Structure(mask=mask, **common)
        elif surface == "unsmoothed" or mask.isEmpty:
            # bent voxels are no image grid, so the surface is all there is
            bent = meshing.transformed(meshing.fromMask(mask), lambda points: moveLps(points, toWorld))
            return Structure(givenSurface=bent, **common)
    polyData = shownSurface(segmentationNode, identifier)
    world = vtkPolyData()
    world.ShallowCopy(polyData)
    if polyData.GetNumberOfPoints():
        points = vtk_to_numpy(polyData.GetPoints().GetData()).astype(float) @ RAS_FROM_LPS[:3, :3]
        placed = vtkPoints()
        placed.SetDataTypeToDouble()
        placed.SetData(numpy_to_vtk(moveLps(points, toWorld), deep=True))
        world.SetPoints(placed)
    boundary = meshing.fromPolyData(world)
    if mask is not None and linear is not None:
        return Structure(mask=mask, givenSurface=boundary, surfaceKind="displayed", **common)
    return Structure(givenSurface=boundary, surfaceKind="imported" if mask is None else "displayed", **common)


def storedVoxels(segmentationNode, identifier: str) -> tuple[Mask | None, Mask | None]:
    """Return the voxels of a segment and their memberships, in the coordinates of its node (LPS mm).

    No voxels where the segment is stored otherwise, no memberships where it takes every voxel wholly or not at all.
    """
    import slicer

    source = segmentationNode.GetSegmentation().GetSourceRepresentationName()
    if source == fractional.REPRESENTATION:
        memberships = membershipsOfSegment(segmentationNode, identifier)
        return memberships.cut(HALF), memberships
    if source == slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName():
        return maskOfSegment(segmentationNode, identifier), None
    return None, None


def maskOfSegment(segmentationNode, identifier: str) -> Mask:
    """Return the voxels of a segment in the coordinates of its node (LPS mm), on the image that it was drawn on."""
    import slicer

    image = slicer.vtkOrientedImageData()
    segmentationNode.GetBinaryLabelmapRepresentation(identifier, image)
    voxels, grid, low = voxelsOf(image, segmentationNode.GetSegmentation())
    return emptyMask(grid) if voxels is None else Mask.fromArray(voxels, grid, low)


def membershipsOfSegment(segmentationNode, identifier: str) -> Mask:
    """Return how much of each voxel a fractional segment takes, in the coordinates of its node (LPS mm)."""
    import slicer

    segmentation = segmentationNode.GetSegmentation()
    segment = segmentation.GetSegment(identifier)
    image = segment.GetRepresentation(fractional.REPRESENTATION)
    field = image.GetFieldData().GetArray(slicer.vtkSegmentationConverter.GetScalarRangeFieldName())
    # what Slicer takes where nothing is said
    limits = (0.0, 1.0) if field is None else (field.GetTuple1(0), field.GetTuple1(1))
    voxels, grid, low = voxelsOf(image, segmentation)
    if voxels is None:
        return emptyMask(grid)
    try:
        return Mask.ofMemberships(fractional.memberships(voxels, limits), grid, low)
    except InputError as error:
        raise InputError(f"{segment.GetName()}: {error}") from error


def moved(mask: Mask, linear: np.ndarray) -> Mask:
    """Return a mask where a 4x4 matrix that works in RAS puts it."""
    matrix = RAS_FROM_LPS @ linear @ RAS_FROM_LPS
    return Mask(mask.voxels, mask.offset, Grid(mask.grid.size, matrix @ mask.grid.matrix, mask.grid.planar))


def gridOf(volumeNode) -> Grid:
    """Return the grid of a volume node where its parent transforms put it, in LPS mm, for Settings.grid.

    Raises ValueError for a node that is no volume, has no voxels, or is bent by a transform.
    """
    if volumeNode is None or not volumeNode.IsA("vtkMRMLVolumeNode"):
        raise InputError("The evaluated grid is that of a volume.")
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


def voxelsOf(image, segmentation) -> tuple[np.ndarray | None, Grid, np.ndarray]:
    """Return the numbers [k, j, i] of a vtkOrientedImageData, the image that it was drawn on and its first voxel there.

    None instead of the numbers when there are none.
    """
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
    if shift is not None:
        grid = Grid(geometry.size, geometry.matrix, planar=geometry.size.count(1) == 1)
        low, high = low + shift, high + shift
    elif isEmpty:
        grid = stored
    else:
        # how far the image went is not known: one voxel more, so that no edge is found where there may be none
        grid = stored.resized(low - 1, high + 1)
        low, high = np.ones(3, int), high - low + 1
    if isEmpty:
        return None, grid, low
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape((high - low + 1)[::-1]), grid, low


def shownSurface(segmentationNode, identifier: str) -> vtkPolyData:
    """Return the closed surface that the user sees of a segment, in RAS of its node; made privately if need be."""
    import slicer

    name = slicer.vtkSegmentationConverter.GetSegmentationClosedSurfaceRepresentationName()
    segmentation = segmentationNode.GetSegmentation()
    if segmentation.ContainsRepresentation(name):
        polyData = vtkPolyData()
        segmentationNode.GetClosedSurfaceRepresentation(identifier, polyData)
        return polyData
    return closedSurface(segmentation, identifier)


def worldTransform(node) -> vtkGeneralTransform:
    """Return the transform from the coordinates of a node to the world, RAS mm, linear or not."""
    import slicer

    transform = vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(node.GetParentTransformNode(), None, transform)
    return transform


def linearMatrix(transform: vtkGeneralTransform) -> np.ndarray | None:
    """Return the 4x4 matrix of a transform, None when it is not linear."""
    import slicer

    linear = vtkTransform()
    if not slicer.vtkMRMLTransformNode.IsGeneralTransformLinear(transform, linear):
        return None
    return matrixArray(linear.GetMatrix())


def matrixArray(matrix: vtkMatrix4x4) -> np.ndarray:
    """Return a VTK matrix as (4, 4) array."""
    return np.array([[matrix.GetElement(row, column) for column in range(4)] for row in range(4)])


def moveLps(points: np.ndarray, transform: vtkGeneralTransform) -> np.ndarray:
    """Return LPS points (n, 3) moved by a transform that works in RAS."""
    given, moved = vtkPoints(), vtkPoints()
    for container in (given, moved):
        container.SetDataTypeToDouble()
    flip = np.diag(RAS_FROM_LPS)[:3]
    given.SetData(numpy_to_vtk(np.ascontiguousarray(points * flip), deep=True))
    transform.TransformPoints(given, moved)
    return vtk_to_numpy(moved.GetData()) * flip


def displayed(structure: Structure) -> Structure:
    """Return a structure that has voxels with the surface that Slicer would show of it by default."""
    surface = meshing.fromPolyData(toRas(displayedSurface(structure)))
    return replace(structure, givenSurface=surface, surfaceKind="displayed")
