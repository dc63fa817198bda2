"""Bad and odd objects in memory: what Python and Slicer hand over is refused in one sentence, or measured right."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
import shapes
import SimpleITK
from hostile import REMARK, Measured
from hostile.builders import REFERENCE, SHIFTED
from sayings import refused
from segmentnodes import voxelsOf
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, compare

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


def moved(spacing=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0)) -> SimpleITK.Image:
    image = SimpleITK.Image(SHIFTED)
    image.SetSpacing(spacing)
    image.SetOrigin(origin)
    return image


def require(outcome: tuple[str, ...] | Measured, measure) -> None:
    """Fail unless what measures is refused, telling this, or returns the comparison, as is stated."""
    if not isinstance(outcome, Measured):
        with refused(*outcome) as told:
            measure()
        assert "\n" not in str(told.value)
        return
    comparison = measure()
    for key, value in outcome.values.items():
        measurement = comparison[key]
        expected = value if isinstance(value, str) else pytest.approx(value, abs=1e-6)
        assert (measurement.status if isinstance(value, str) else measurement.value) == expected, key
    outcome.requireFinding([finding.toDictionary() for finding in comparison.findings])


# What compare() gets as the test, made when it is needed.
OBJECTS = {
    "nothing": (lambda: None, ("test", "vtkPolyData", "Structure", "NoneType")),
    "a path": (lambda: "liver.nrrd", ("test", "liver.nrrd: ")),
    "a list": (lambda: ["liver.nii.gz"], ("test", "Structure", "list")),
    "structures": (lambda: [compare(SHIFTED, SHIFTED).reference], ("test", "structures[0]")),
    "an image without voxels": (SimpleITK.Image, ("test",)),
    "NaN spacing": (lambda: moved(spacing=(nan, 1, 1)), ("test",)),
    "infinite spacing": (lambda: moved(spacing=(inf, 1, 1)), ("test",)),
    "voxels a million times as thick": (lambda: moved(spacing=(1, 1, 1e6)), ("1.35e+07 mm",)),
    "voxels a millionth as thick": (lambda: moved(spacing=(1, 1, 1e-6)), ("1e-06 mm",)),
    "NaN origin": (lambda: moved(origin=(nan, 0, 0)), ("test",)),
    "an origin at 1e300 mm": (lambda: moved(origin=(1e300, 0, 0)), ("test", "1e+300 mm")),
    "a mesh without points": (vtkPolyData, Measured({"HD": "infinite", "DSC": 0}, ("one-empty", "test"))),
    "a mesh without area": (lambda: shapes.meshOf(CORNERS, [(0, 1, 1)]), ("test",)),
    "a line there and back": (lambda: shapes.loops([(0, 0), (1, 0), (2, 0)]), ("test",)),
    "an open line": (lambda: shapes.meshOf(CORNERS, [], [(0, 1, 2)]), ("test",)),
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
        require((str(label),), lambda label=label: compare(REFERENCE, SHIFTED, label=label))
    require((str(10**30),), lambda: compare(REFERENCE, SHIFTED, label=10**30))


@pytest.mark.nightly
def testAMillionSpecks():
    """No voxel touches another one; each is a part of its own."""
    array = np.zeros((202,) * 3, np.uint8)
    array[::2, ::2, ::2] = 1
    require(
        Measured({"VoxelVolumeTest": 101**3}, (*REMARK, "1030301")),
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


OF_TEST = ("test", "Organ", "Observer")
# What mrml.compareSegments gets as the test's node, made in the scene.
NODES = {
    "a segment without anything": (organ(lambda: None), Measured({"DSC": 0, "HD": "infinite"}, ("one-empty", "test"))),
    "an empty surface": (organ(vtkPolyData), Measured({"DSC": 0, "HD": "infinite"}, ("one-empty", "test"))),
    "a NaN point": (organ(lambda: shapes.meshOf([*CORNERS, (nan, 0, 0)], [(0, 1, 3)])), OF_TEST),
    "a point at 1e30 mm": (organ(lambda: shapes.meshOf([*CORNERS, (1e30, 0, 0)], [(0, 1, 3)])), (*OF_TEST, "1e+30 mm")),
    "a point that is not there": (organ(lambda: shapes.meshOf(CORNERS, [(0, 1, 3)])), OF_TEST),
    "voxels in a plane": (organ(lambda: voxels({(0, 0): 0.0})), OF_TEST),
    "voxels at no place": (organ(lambda: voxels({(0, 0): nan})), OF_TEST),
    "a transform into a plane": (organ(voxels, {(0, 0): 0.0}), OF_TEST),
    "a transform that is no number": (organ(voxels, {(0, 3): nan}), OF_TEST),
    "a transform to infinity": (organ(voxels, {(0, 3): inf}), OF_TEST),
    "a transform that enlarges": (organ(voxels, {(n, n): 1e30 for n in range(3)}), (*OF_TEST, "7e+30 mm")),
}


@pytest.mark.parametrize("kind", NODES)
def testSegments(scene, kind):
    from SegmentMetricsLib import mrml

    make, outcome = NODES[kind]
    reference, test = segmentation(scene, Organ=voxels(image=REFERENCE)), make(scene)
    before = scene.GetNumberOfNodes()
    require(outcome, lambda: mrml.compareSegments(reference, "Organ", test, "Organ", Settings()))
    assert scene.GetNumberOfNodes() == before
