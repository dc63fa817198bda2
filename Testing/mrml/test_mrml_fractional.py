"""Fractional segments of segmentation nodes: voxels that belong to a structure in part."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer
from segmentnodes import move
from vtkmodules.util.numpy_support import numpy_to_vtk

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.mrml.inputs import structureFromSegment


def fractionalSegment(scene, memberships, low=0.0, high=1.0, dtype=np.float32, said=True):
    """Return a node with a fractional segment, numbers from low to high, one voxel outside the origin."""
    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Fractional")
    image = slicer.vtkOrientedImageData()
    size = memberships.shape[::-1]
    image.SetExtent(1, size[0], 1, size[1], 1, size[2])
    image.SetSpacing(1, 2, 3)
    numbers = (low + memberships * (high - low)).astype(dtype)
    image.GetPointData().SetScalars(numpy_to_vtk(numbers.ravel(), deep=True))
    if said:
        limits = numpy_to_vtk(np.array([low, high], float), deep=True)
        limits.SetName("ScalarRange")
        image.GetFieldData().AddArray(limits)
    segment = slicer.vtkSegment()
    segment.SetName("Organ")
    segment.AddRepresentation("Fractional labelmap", image)
    node.GetSegmentation().SetSourceRepresentationName("Fractional labelmap")
    node.GetSegmentation().AddSegment(segment)
    return node


def ramp(step: int = 0) -> np.ndarray:
    memberships = np.zeros((6, 7, 9))
    memberships[1:5, 1:6, 1 + step : 7 + step] = np.linspace(1, 6, 6) / 6
    return memberships


@pytest.mark.parametrize(
    ("low", "high", "dtype", "said"), [(-108, 108, np.int8, True), (0, 216, np.uint8, True), (0, 1, np.float32, False)]
)
def testFractionalSegmentsCountInPart(scene, low, high, dtype, said):
    nodes = [fractionalSegment(scene, ramp(step), low, high, dtype, said) for step in (0, 1)]
    settings = Settings(families=("overlap", "agreement", "boundary"))
    found = mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", settings)
    f, g = ramp(0), ramp(1)
    assert found["DSC"].value == pytest.approx(2 * np.minimum(f, g).sum() / (f.sum() + g.sum()), rel=1e-6)
    assert any("count in part" in finding for finding in found.findings)
    # RAS becomes LPS; surfaces go by 0.5
    crisp = [shapes.imageOf(m >= 0.5, (1, 2, 3), (-1, -2, 3), np.diag([-1, -1, 1])) for m in (f, g)]
    assert found["HD"].value == compare(*crisp)["HD"].value
    assert found["VolumeReference"].value == pytest.approx(compare(*crisp)["VolumeReference"].value)
    low = found.reference.mask.corners().min(axis=0)
    assert low == pytest.approx(compare(*crisp).reference.mask.corners().min(axis=0))
    whole = mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", Settings(threshold=0.4))
    assert whole["DSC"].value == compare(*(shapes.imageOf(m >= 0.4) for m in (f, g)))["DSC"].value


def testFractionalSegmentsOfSlicersOwnConversion(scene):
    factory = slicer.vtkSegmentationConverterFactory.GetInstance()
    rule = slicer.vtkClosedSurfaceToFractionalLabelmapConversionRule()
    factory.RegisterConverterRule(rule)
    try:
        node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Ball")
        segmentation = node.GetSegmentation()
        segmentation.SetConversionParameter(
            "Reference image geometry", "2;0;0;-15;0;2;0;-15;0;0;2;-15;0;0;0;1;0;15;0;15;0;15;"
        )
        node.AddSegmentFromClosedSurfaceRepresentation(shapes.ballMesh(10), "Ball", [1, 0, 0])
        assert segmentation.CreateRepresentation("Fractional labelmap", True)
        segmentation.SetSourceRepresentationName("Fractional labelmap")
    finally:
        factory.UnregisterConverterRule(rule)
    structure = structureFromSegment(node, "Ball")
    # the numbers have the range that they say: the parts of voxels add up to the ball
    volume = float(structure.memberships.voxels.sum()) * 8
    assert volume == pytest.approx(4 / 3 * np.pi * 1000, rel=0.02)
    assert len(np.unique(structure.memberships.voxels)) > 10 and structure.memberships.voxels.max() == 1


def testFractionalSegmentsThatAreMovedBentOrWrong(scene):
    node = fractionalSegment(scene, ramp())
    still = structureFromSegment(node, "Organ")
    move(scene, node, shift=(5, 0, 0))
    moved = structureFromSegment(node, "Organ")
    for first, second in ((moved.memberships, still.memberships), (moved.mask, still.mask)):
        assert first.corners() - second.corners() == pytest.approx(np.tile([-5, 0, 0], (8, 1)))
    wrong = fractionalSegment(scene, 1.5 * ramp())
    with pytest.raises(ValueError, match="Organ: the fractional label map has values beyond its range from 0 to 1"):
        structureFromSegment(wrong, "Organ")
