"""Labelmaps that segments share: masks are those that Slicer would show, and nothing is looked at more than needed."""

from __future__ import annotations

import numpy as np
import pytest
import slicer
from labelmaps import BINARY, OBLIQUE, arrayOf, boxesOf, labelmap, nodeOf

from SegmentMetricsLib import mrml
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.mrml.inputs import SegmentReader
from SegmentMetricsLib.mrml.voxels import VoxelReader, voxelsOf


def slicersMask(node, segmentID: str) -> Mask:
    """Return the mask of the labelmap that Slicer makes of a segment."""
    image = slicer.vtkOrientedImageData()
    node.GetBinaryLabelmapRepresentation(segmentID, image)
    array, grid, low = voxelsOf(image, node.GetSegmentation())
    return Mask.empty(grid) if array is None else Mask.fromArray(array, grid, low)


def assertAsSlicersOwn(node) -> None:
    """All segments are what Slicer makes of them, whether they are read one by one or together, in any order."""
    identifiers = node.GetSegmentation().GetSegmentIDs()
    reader = VoxelReader(node)
    expected = {identifier: slicersMask(node, identifier) for identifier in identifiers}
    for identifier in (*reversed(identifiers), *identifiers):
        for mask in (reader.mask(identifier), VoxelReader(node).mask(identifier)):
            np.testing.assert_array_equal(mask.voxels, expected[identifier].voxels, identifier)
            assert mask.voxels.dtype == np.uint8 and mask.voxels.flags.c_contiguous
            assert mask.offset == expected[identifier].offset, identifier
            assert mask.grid == expected[identifier].grid, identifier


def setGeometry(node, image) -> None:
    """Say that a segmentation was drawn on an image."""
    converter = slicer.vtkSegmentationConverter
    node.GetSegmentation().SetConversionParameter(
        converter.GetReferenceImageGeometryParameterName(), converter.SerializeImageGeometry(image)
    )


@pytest.mark.parametrize("drawnOn", ["nothing", "a larger image", "another lattice"])
def testMasksAreThoseOfSlicer(scene, drawnOn):
    """In layers with one segment and with many, with segments that overlap, are empty, or whose label is not there."""
    node = nodeOf(
        scene,
        (labelmap(boxesOf(1, 2, 3, 9), low=(5, -3, 2)), (1, 2, 3, 7, 9)),
        (labelmap(boxesOf(3, 3, 5, dtype=np.int16), low=(6, -2, 3)), (3, 5)),
        (labelmap(boxesOf(1)), (1,)),
        (labelmap(boxesOf(2)), (1,)),
        (labelmap(np.zeros((3, 4, 5), np.uint8)), (1, 2)),
        (slicer.vtkOrientedImageData(), (1,)),
    )
    node.GetSegmentation().AddEmptySegment("empty", "Empty")
    node.GetSegmentation().AddSegment(slicer.vtkSegment(), "bare")
    node.GetSegmentation().GetSegment("bare").RemoveAllRepresentations()
    if drawnOn != "nothing":
        lattice = OBLIQUE if drawnOn == "a larger image" else np.diag([-1.0, -1, 1, 1])
        setGeometry(node, labelmap(np.zeros((40, 50, 60), np.uint8), lattice, (-20, -15, -10)))
    assertAsSlicersOwn(node)
    counts = {i: VoxelReader(node).mask(i).count for i in node.GetSegmentation().GetSegmentIDs()}
    assert min(counts[i] for i in ("L0V1", "L0V9", "L1V3", "L1V5", "L2V1")) > 0
    assert {i for i, count in counts.items() if not count} == {"L0V7", "L3V1", "L4V1", "L4V2", "L5V1", "empty", "bare"}


@pytest.mark.parametrize(
    ("dtype", "labels", "values"),
    [
        (np.int16, (1, -5, 300, -200), (1, -5, 300, -200, 7, 40000, -40000)),
        (np.int32, (1, 70000, 2**31 - 1, -(2**31)), (70000, 2**31 - 1, -(2**31), 5, 1)),
        (np.uint8, (1, 255, 3), (300, -1, 1, 0, 3, 255)),
        (np.uint16, (1, 65535), (1, 65535, 70000, 0)),
        (np.int64, (7, 2**40), (7, 8)),
        (np.float32, (1.5, 2, 3), (1, 2, 3)),
        (np.float64, (1.5, 2, 2**31 - 1), (2, 2**31 - 1, 0)),
    ],
)
def testLabelsOfAnyKind(scene, dtype, labels, values):
    """Large, negative, fractional, beyond what the labelmap can hold, and the background."""
    assertAsSlicersOwn(nodeOf(scene, (labelmap(boxesOf(*labels, dtype=dtype)), values)))


def testMasksAreCopies(scene):
    """They are measured in a thread while the user goes on drawing."""
    node = nodeOf(scene, (labelmap(np.ones((3, 4, 5), np.uint8)), (1,)), (labelmap(boxesOf(1, 2)), (1, 2)))
    reader = VoxelReader(node)
    for identifier in ("L0V1", "L1V1", "L1V2"):
        mask = reader.mask(identifier)
        before = mask.voxels.copy()
        arrayOf(node, identifier)[...] += 1
        np.testing.assert_array_equal(mask.voxels, before)
        arrayOf(node, identifier)[...] -= 1


def testEverySegmentIsAsItIsWhenAskedFor(scene):
    """Also with boxes found already: what is drawn meanwhile may lie beyond them."""
    node = nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3)))
    reader = SegmentReader(node)
    for identifier in ("L0V1", "L0V2"):
        assert not reader.structure(identifier).isEmpty
    image = node.GetBinaryLabelmapInternalRepresentation("L0V3")
    arrayOf(node, "L0V3")[15, 17, 19] = 3
    image.Modified()
    np.testing.assert_array_equal(reader.structure("L0V3").mask.high, slicersMask(node, "L0V3").high)
    replaced = labelmap(boxesOf(3, 1))
    node.GetSegmentation().GetSegment("L0V3").AddRepresentation(BINARY, replaced)
    np.testing.assert_array_equal(reader.structure("L0V3").mask.low, slicersMask(node, "L0V3").low)


def testStoppingWhileSegmentsAreRead(scene):
    """There is a way out before every segment, also where all share a labelmap."""
    node, seen = nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3))), []

    def progress(number, count, name):
        seen.append((number, count, name))
        return number < 4

    assert not mrml.compareSegmentations(node, node, progress=progress)
    assert seen == [(n, 6, f"L0V{n % 3 + 1}") for n in range(5)]
