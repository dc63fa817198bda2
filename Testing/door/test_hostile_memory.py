"""Bad and odd objects in memory: what Python and Slicer hand over is refused in one sentence, or measured right."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
import shapes
import SimpleITK
from hostile import Measured
from hostile.builders import REFERENCE, SHIFTED
from segmentnodes import voxelsOf
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare

UNSCALED = "check the header, or the unit of lengths."
UNREACHABLE = "too far apart or too different in size to be compared"
NO_NUMBERS = "The image geometry has values that are not numbers."
NO_POINT = "The surface has triangles or lines between points that do not exist."
NO_COORDINATE = "The surface has points whose coordinates are not numbers."
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


def moved(spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0)) -> SimpleITK.Image:
    image = SimpleITK.Image(SHIFTED)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    return image


def require(outcome: str | Measured, measure) -> None:
    """Fail unless what measures is refused, or returns the comparison, as is stated."""
    if isinstance(outcome, str):
        with pytest.raises(ValueError) as caught:
            measure()
        assert outcome in str(caught.value) and "\n" not in str(caught.value)
        return
    comparison = measure()
    for key, value in outcome.values.items():
        measurement = comparison[key]
        expected = value if isinstance(value, str) else pytest.approx(value, abs=1e-6)
        assert (measurement.status if isinstance(value, str) else measurement.value) == expected, key
    assert outcome.finding in " ".join(comparison.findings)


# What compare() gets as the test, made when it is needed.
OBJECTS = {
    "nothing": (lambda: None, "a vtkPolyData, a Structure or the path of a file, not NoneType."),
    "a path": (lambda: "liver.nrrd", "liver.nrrd: "),
    "a list": (lambda: ["liver.nii.gz"], "a Structure or the path of a file, not list."),
    "structures": (lambda: [compare(SHIFTED, SHIFTED).reference], "one of them, as in structures[0]."),
    "an image without voxels": (SimpleITK.Image, "The image has no voxels"),
    "NaN spacing": (lambda: moved(spacing=(nan, 1, 1)), NO_NUMBERS),
    "infinite spacing": (lambda: moved(spacing=(inf, 1, 1)), NO_NUMBERS),
    "voxels a million times as thick": (lambda: moved(spacing=(1, 1, 1e6)), UNREACHABLE),
    "voxels a millionth as thick": (lambda: moved(spacing=(1, 1, 1e-6)), UNREACHABLE),
    "NaN origin": (lambda: moved(origin=(nan, 0, 0)), NO_NUMBERS),
    "an origin at 1e300 mm": (lambda: moved(origin=(1e300, 0, 0)), UNSCALED),
    "a mesh without points": (vtkPolyData, Measured({"HD": "infinite", "DSC": 0}, "the test is empty")),
    "a mesh without area": (lambda: shapes.meshOf(CORNERS, [(0, 1, 1)]), "compared. The surface has no triangle with"),
    "a line there and back": (lambda: shapes.loops([(0, 0), (1, 0), (2, 0)]), "straight line"),
    "an open line": (lambda: shapes.meshOf(CORNERS, [], [(0, 1, 2)]), "compared. The contour lines are not closed."),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", OBJECTS)
def testObjects(kind, capfd):
    make, outcome = OBJECTS[kind]
    given = make()
    capfd.readouterr()
    require(outcome, lambda: compare(REFERENCE, given))
    assert capfd.readouterr() == ("", "")


def testLabelsThatAreNone():
    for label in (0, -1, 1.5, "1", nan):
        require("A label must be a whole number from 1", lambda label=label: compare(REFERENCE, SHIFTED, label=label))
    require("Neither side has the label 1000", lambda: compare(REFERENCE, SHIFTED, label=10**30))


@pytest.mark.nightly
def testAMillionSpecks():
    """No voxel touches another one; each is a part of its own."""
    array = np.zeros((202,) * 3, np.uint8)
    array[::2, ::2, ::2] = 1
    require(
        Measured({"VoxelVolumeTest": 101**3}, "Most of the 1030301 parts of the test are single voxels, as in noise"),
        lambda: compare(SHIFTED, shapes.imageOf(array), Settings(families="overlap")),
    )


# Segments of Slicer


def segmentation(scene, **segments):
    """Return a segmentation node with segments by name: voxels, a mesh, or nothing."""
    slicer = pytest.importorskip("slicer", reason="slicer-core is not installed")
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Observer")
    for name, representation in segments.items():
        segment = slicer.vtkSegment()
        segment.SetName(name)
        kind = "Closed surface" if isinstance(representation, vtkPolyData) else "Binary labelmap"
        if representation is not None:
            node.GetSegmentation().SetSourceRepresentationName(kind)
            segment.AddRepresentation(kind, representation)
        node.GetSegmentation().AddSegment(segment)
    return node


def elements(changes: dict):
    """Return a matrix with changed elements (row, column)."""
    matrix = vtkMatrix4x4()
    for place, value in changes.items():
        matrix.SetElement(*place, value)
    return matrix


def voxels(changes: dict | None = None, image=SHIFTED):
    """Return a box as Slicer keeps it; changes: of the elements of its geometry."""
    oriented = voxelsOf(image)
    if changes:
        oriented.SetImageToWorldMatrix(elements(changes))
    return oriented


def organ(make, transform: dict | None = None):
    """Return what makes a node with one segment. make: its representation. transform: elements of that of the node."""

    def makeNode(scene):
        node = segmentation(scene, Organ=make())
        if transform:
            parent = scene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
            parent.SetMatrixTransformToParent(elements(transform))
            node.SetAndObserveTransformNodeID(parent.GetID())
        return node

    return makeNode


OF_TEST = "The test, Organ of Observer, cannot be compared. "
# What mrml.compareSegments gets as the test's node, made in the scene.
NODES = {
    "a segment without anything": (organ(lambda: None), Measured({"DSC": 0, "HD": "infinite"}, "the test is empty")),
    "an empty surface": (organ(vtkPolyData), Measured({"DSC": 0, "HD": "infinite"}, "the test is empty")),
    "a NaN point": (organ(lambda: shapes.meshOf([*CORNERS, (nan, 0, 0)], [(0, 1, 3)])), OF_TEST + NO_COORDINATE),
    "a point at 1e30 mm": (organ(lambda: shapes.meshOf([*CORNERS, (1e30, 0, 0)], [(0, 1, 3)])), UNSCALED),
    "a point that is not there": (organ(lambda: shapes.meshOf(CORNERS, [(0, 1, 3)])), NO_POINT),
    "voxels in a plane": (organ(lambda: voxels({(0, 0): 0.0})), NO_NUMBERS),
    "voxels at no place": (organ(lambda: voxels({(0, 0): nan})), NO_NUMBERS),
    "a transform into a plane": (organ(voxels, {(0, 0): 0.0}), "degenerate: its axes do not span space."),
    "a transform that is no number": (organ(voxels, {(0, 3): nan}), NO_NUMBERS),
    "a transform to infinity": (organ(voxels, {(0, 3): inf}), NO_NUMBERS),
    "a transform that enlarges": (organ(voxels, {(n, n): 1e30 for n in range(3)}), UNSCALED),
}


@pytest.mark.parametrize("kind", NODES)
def testSegments(scene, kind):
    from SegmentMetricsLib import mrml

    make, outcome = NODES[kind]
    reference, test = segmentation(scene, Organ=voxels(image=REFERENCE)), make(scene)
    before = scene.GetNumberOfNodes()
    require(outcome, lambda: mrml.compareSegments(reference, "Organ", test, "Organ", Settings()))
    assert scene.GetNumberOfNodes() == before
