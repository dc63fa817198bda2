"""Segmentation nodes whose segments share labelmaps."""

from __future__ import annotations

import numpy as np
import shapes
import slicer
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

BINARY = slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName()
SURFACE = slicer.vtkSegmentationConverter.GetSegmentationClosedSurfaceRepresentationName()
# in RAS, and turned against the axes of the patient
OBLIQUE = np.eye(4)
OBLIQUE[:3, :3] = shapes.rotation((1, 2, 3), 25) @ np.diag([0.9, 1.1, 2.0])
OBLIQUE[:3, 3] = (12, -7, 30)


def labelmap(labels: np.ndarray, matrix=OBLIQUE, low=(0, 0, 0)):
    """Return a vtkOrientedImageData of an array [k, j, i] whose first voxel is `low` (i, j, k)."""
    image = slicer.vtkOrientedImageData()
    high = np.array(low) + labels.shape[::-1] - 1
    image.SetExtent(*np.stack([low, high], axis=1).ravel().tolist())
    scalars = numpy_to_vtk(labels.ravel(), deep=True)
    scalars.SetName("ImageScalars")
    image.GetPointData().SetScalars(scalars)
    ijkToRas = vtkMatrix4x4()
    ijkToRas.DeepCopy(np.ravel(matrix))
    image.SetImageToWorldMatrix(ijkToRas)
    return image


def nodeOf(scene, *layers: tuple):
    """Return a segmentation node. layers: an image each with the labels of its segments, which are called L0V1 etc."""
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Segmentation")
    node.CreateDefaultDisplayNodes()
    for number, (image, labels) in enumerate(layers):
        for label in labels:
            segment = slicer.vtkSegment()
            segment.SetName(f"L{number}V{label}")
            segment.SetLabelValue(label)
            segment.AddRepresentation(BINARY, image)
            node.GetSegmentation().AddSegment(segment, segment.GetName())
    return node


def boxesOf(*labels, dtype=np.uint8, size=(20, 18, 16)) -> np.ndarray:
    """Return an array [k, j, i] with a small block of every label, one beside the other."""
    array = np.zeros(size[::-1], dtype)
    for number, label in enumerate(labels):
        array[2 : 5 + number % 3, 3 + number % 4 : 9, 1 + 3 * number : 3 + 3 * number] = label
    return array


def arrayOf(node, segmentID: str) -> np.ndarray:
    """Return the numbers [k, j, i] of the labelmap of a segment, which it may share, to be changed in place."""
    image = node.GetBinaryLabelmapInternalRepresentation(segmentID)
    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])
