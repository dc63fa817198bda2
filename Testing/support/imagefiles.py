"""Files of images and segmentations for tests, and what is read from them."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import readStructures

# A label map in an oblique, left-handed place of the patient.
BOXES = {1: ((2, 3, 4), (5, 7, 9)), 5: ((7, 3, 4), (10, 4, 5))}
DIRECTION = shapes.rotation((1, 2, 3), 30) @ np.diag([-1, 1, 1])
GEOMETRY = {"spacing": (1.5, 0.75, 2.5), "origin": (-100.25, 50.5, 12.0), "direction": DIRECTION}
SIZE = (12, 10, 14)
LABELS = shapes.labelImage(BOXES, SIZE, **GEOMETRY)


def save(image: SimpleITK.Image, path, compressed=True):
    SimpleITK.WriteImage(image, str(path), compressed)
    return path


def read(path, **options):
    return {structure.name: structure for structure in readStructures(path, **options)}


def middleOf(structure) -> np.ndarray:
    """Return the LPS middle of a structure's bounding box in voxel axes, or of its points."""
    if structure.mask is not None:
        return structure.mask.corners().mean(axis=0)
    points = structure.surface.points
    return (points.min(axis=0) + points.max(axis=0)) / 2


def refusal(path, **options) -> str:
    """Return the sentence with which a file is refused, without the file's name, with which it must begin."""
    with pytest.raises(ValueError) as caught:
        readStructures(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}")
    # nothing of the readers' inner life
    for word in ("0x", "itk", "ITK", "Exception", ".cxx", ".hxx", "vtk"):
        assert word not in message.replace(str(path), "")
    return message[len(str(path)) :].lstrip(": ")


def layer(*boxes, size=(10, 10, 10)):
    array = np.zeros(size, np.uint8)
    for label, box in enumerate(boxes, start=1):
        array[box] = label
    return array


# Two layers, and what a header says of their segments.
OVERLAPPING = (layer(np.s_[1:5, 1:5, 1:5], np.s_[6:8, 6:8, 6:8]), layer(np.s_[3:9, 3:9, 3:9]))
SEGMENTS = [
    {"ID": "a", "Name": "Tumor, left", "LabelValue": 1, "Layer": 0, "Color": "1 0.5 0"},
    {"ID": "b", "Name": "Node", "LabelValue": 2, "Layer": 0, "Color": "red"},
    {"ID": "c", "Name": "Margin", "LabelValue": 1, "Layer": 1},
    {"ID": "d", "Name": "Nothing drawn", "LabelValue": 7, "Layer": 1, "Color": "nan 2 0"},
    {"ID": "e", "LabelValue": 9, "Layer": 0},
]
