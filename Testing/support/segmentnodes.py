"""Segmentation nodes in any scene, and segments that cannot be read."""

from __future__ import annotations

import numpy as np
import shapes

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.model.inputs import labelMasks


def segmentationOf(scene, **segments):
    """Return a segmentation node with a segment for every image."""
    import slicer

    from SegmentMetricsLib.mrml.conversion import orientedImage

    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Segmentation")
    node.CreateDefaultDisplayNodes()
    for name, image in segments.items():
        segment = slicer.vtkSegment()
        segment.SetName(name)
        representation = slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName()
        segment.AddRepresentation(representation, orientedImage(labelMasks(image, 0.5)[1]))
        node.GetSegmentation().AddSegment(segment)
    return node


def boxesNode(scene, *names: str):
    """Return a segmentation node with boxes one above the other, by these names."""
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    node.SetSourceRepresentationToClosedSurface()
    for n, name in enumerate(names):
        node.AddSegmentFromClosedSurfaceRepresentation(shapes.boxMesh((0, 0, 9 * n), (5, 5, 9 * n + 5)), name)
    return node


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

    from SegmentMetricsLib.geometry.surfaces import doublePoints

    bending = vtkThinPlateSplineTransform()
    bending.SetSourceLandmarks(doublePoints(source))
    bending.SetTargetLandmarks(doublePoints(target))
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


def breakSegment(monkeypatch, name: str) -> None:
    """Let the segment of this name be one that cannot be read."""
    from SegmentMetricsLib.mrml.inputs import SegmentReader

    read = SegmentReader.structure

    def unreadable(reader, segment, surface, **options):
        structure = read(reader, segment, surface, **options)
        if structure.name == name:
            raise InputError(f"{name} is broken.")
        return structure

    monkeypatch.setattr(SegmentReader, "structure", unreadable)
