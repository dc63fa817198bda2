"""Segmentation nodes in any scene, and segments that cannot be read."""

from __future__ import annotations

import numpy as np
import shapes


def voxelsOf(image):
    """Return the voxels of an image that are not 0 as Slicer keeps them: cropped, and in RAS."""
    import slicer
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonMath import vtkMatrix4x4

    mask, result, toRas = shapes.maskOf(image), slicer.vtkOrientedImageData(), vtkMatrix4x4()
    result.SetExtent(*np.stack([mask.low, mask.high], axis=1).ravel().tolist())
    result.GetPointData().SetScalars(numpy_to_vtk(mask.voxels.ravel(), deep=True))
    toRas.DeepCopy((np.diag([-1, -1, 1, 1]) @ mask.grid.matrix).ravel())
    result.SetImageToWorldMatrix(toRas)
    return result


def segmentationOf(scene, name: str = "Segmentation", /, **segments):
    """Return a segmentation node of that name with a segment for every image."""
    import slicer

    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    for segment, image in segments.items():
        identifier = node.GetSegmentation().AddEmptySegment(f"S_{segment}", segment)
        slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(voxelsOf(image), node, identifier)
    return node


def boxesNode(scene, *names: str):
    """Return a segmentation node with boxes one above the other, by these names."""
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    node.SetSourceRepresentationToClosedSurface()
    for n, name in enumerate(names):
        mesh = shapes.boxMesh((0, 0, 9 * n), (5, 5, 9 * n + 5))
        node.AddSegmentFromClosedSurfaceRepresentation(mesh, name, [1, 0, 0], name)
    return node


def fractionalSegment(
    scene, memberships: np.ndarray, low=0.0, high=1.0, dtype=np.float32, isRangeSaid=True, name="Organ"
):
    """Return a node with a fractional segment, numbers [k, j, i] from low to high, one voxel outside the origin."""
    import slicer
    from vtkmodules.util.numpy_support import numpy_to_vtk

    node, image = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Fractions"), slicer.vtkOrientedImageData()
    size = memberships.shape[::-1]
    image.SetExtent(1, size[0], 1, size[1], 1, size[2])
    image.SetSpacing(1, 2, 3)
    numbers = low + memberships * (high - low)
    numbers = numbers if dtype == np.float32 else np.rint(numbers)
    image.GetPointData().SetScalars(numpy_to_vtk(numbers.astype(dtype).ravel(), deep=True))
    if isRangeSaid:
        limits = numpy_to_vtk(np.array([low, high], float), deep=True)
        limits.SetName("ScalarRange")
        image.GetFieldData().AddArray(limits)
    segment = slicer.vtkSegment()
    segment.SetName(name)
    segment.AddRepresentation("Fractional labelmap", image)
    node.GetSegmentation().SetSourceRepresentationName("Fractional labelmap")
    node.GetSegmentation().AddSegment(segment, name)
    return node


def setGeometry(node, image) -> None:
    """Say that a segmentation was drawn on a vtkOrientedImageData."""
    import slicer

    converter = slicer.vtkSegmentationConverter
    name = converter.GetReferenceImageGeometryParameterName()
    node.GetSegmentation().SetConversionParameter(name, converter.SerializeImageGeometry(image))


def move(scene, *nodes, matrix=None, shift=(0, 0, 0)):
    """Put nodes under a new linear transform, which is returned. matrix: (4, 4) in RAS, moved by the shift."""
    from vtkmodules.vtkCommonMath import vtkMatrix4x4

    matrix = np.eye(4) if matrix is None else np.array(matrix, float).reshape(4, 4)
    matrix[:3, 3] += shift
    toParent, transform = vtkMatrix4x4(), scene.AddNewNodeByClass("vtkMRMLLinearTransformNode", "Move")
    toParent.DeepCopy(matrix.ravel())
    transform.SetMatrixTransformToParent(toParent)
    for node in nodes:
        node.SetAndObserveTransformNodeID(transform.GetID())
    return transform


def spline(source: np.ndarray, target: np.ndarray):
    """Return what bends space so that some places (n, 3) come to others."""
    from vtkmodules.vtkCommonTransforms import vtkThinPlateSplineTransform

    bending = vtkThinPlateSplineTransform()
    bending.SetSourceLandmarks(shapes.pointsOf(source))
    bending.SetTargetLandmarks(shapes.pointsOf(target))
    bending.SetBasisToR()
    return bending


def volumeNode(scene, values, matrix, name="Volume", kind="vtkMRMLScalarVolumeNode", components=1, **attributes):
    """Return a volume node with values [k, j, i] and a matrix (4, 4) from voxels to RAS."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkCommonMath import vtkMatrix4x4

    image, toRas = vtkImageData(), vtkMatrix4x4()
    image.SetDimensions(values.shape[::-1])
    image.GetPointData().SetScalars(numpy_to_vtk(np.repeat(values.reshape(-1, 1), components, axis=1), deep=True))
    toRas.DeepCopy(np.ravel(matrix))
    node = scene.AddNewNodeByClass(kind, name)
    node.SetAndObserveImageData(image)
    node.SetIJKToRASMatrix(toRas)
    for key, value in attributes.items():
        node.SetAttribute(key, value)
    return node


def breakSegment(node, name: str) -> None:
    """Let the segment of this name, of a node of boxes, be one that cannot be read: a corner is too far away."""
    segment = node.GetSegmentation().GetSegment(node.GetSegmentation().GetSegmentIdBySegmentName(name))
    segment.GetRepresentation("Closed surface").GetPoints().SetPoint(0, (1e12, 0, 0))
