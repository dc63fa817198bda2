"""Labelmaps that segments share, and what was read of them before: nothing is missed, nothing is read twice."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer
from segmentnodes import boxesNode, fractionalSegment, setGeometry, spline
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings, mrml
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.surfaces import doublePoints
from SegmentMetricsLib.mrml import inputs, outcomes
from SegmentMetricsLib.mrml.contents import ContentHashes, modificationKeys
from SegmentMetricsLib.mrml.inputs import SegmentReader, voxelsOf

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


SEGMENT = "L0V2"


class Watched:
    """A node whose segments are looked at again and again."""

    def __init__(self, scene, node, surface: str = "unsmoothed"):
        self.scene, self.node, self.surface = scene, node, surface
        self.hashes = ContentHashes()

    @property
    def segment(self):
        return self.node.GetSegmentation().GetSegment(SEGMENT)

    @property
    def image(self):
        return self.node.GetBinaryLabelmapInternalRepresentation(SEGMENT)

    def look(self) -> dict[str, str]:
        """Return the content hashes, which have to be those of somebody who never looked before."""
        identifiers = self.node.GetSegmentation().GetSegmentIDs()
        found, fresh = (
            dict(hashes.current(self.node, identifiers, self.surface)) for hashes in (self.hashes, ContentHashes())
        )
        assert found == fresh
        return found

    def transform(self, kind: str = "vtkMRMLLinearTransformNode"):
        """Return a new transform node that moves the node and what moves it already."""
        transform = self.scene.AddNewNodeByClass(kind)
        top = self.node
        while top.GetParentTransformNode() is not None:
            top = top.GetParentTransformNode()
        top.SetAndObserveTransformNodeID(transform.GetID())
        return transform

    def edit(self, reporting) -> None:
        """Remove some voxels of the segment in place, of which an object tells."""
        array = arrayOf(self.node, SEGMENT)
        first = np.argwhere(array == 2)[0][0]
        array[first][array[first] == 2] = 0
        reporting.Modified()


@pytest.fixture
def watched(scene):
    return Watched(scene, nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3)), (labelmap(boxesOf(4)), (4,))))


@pytest.fixture
def reads(monkeypatch):
    """The segments that are read, by ID."""
    seen: list[str] = []
    read = inputs.SegmentReader.structure

    def counted(reader, segment, *more, **options):
        seen.append(segment)
        return read(reader, segment, *more, **options)

    monkeypatch.setattr(inputs.SegmentReader, "structure", counted)
    return seen


def setByTheEditor(watched):
    image = labelmap(boxesOf(0, 0, 0, 0, 1))
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, watched.node, SEGMENT)


def undone(watched):
    history = slicer.vtkSegmentationHistory()
    history.SetSegmentation(watched.node.GetSegmentation())
    before = watched.look()
    assert history.SaveState()
    setByTheEditor(watched)
    assert watched.look() != before
    assert history.RestorePreviousState()
    assert watched.look() == before
    assert history.RestoreNextState()


def transformed(watched):
    matrix = vtkMatrix4x4()
    matrix.SetElement(1, 3, 0.001)
    watched.transform().SetMatrixTransformToParent(matrix)


def hardened(watched):
    transformed(watched)
    watched.look()
    watched.node.HardenTransform()


def replacedSegment(watched):
    """Another one with the same ID."""
    segmentation = watched.node.GetSegmentation()
    segmentation.RemoveSegment(SEGMENT)
    segment = slicer.vtkSegment()
    segment.AddRepresentation(BINARY, labelmap(boxesOf(1)))
    segmentation.AddSegment(segment, SEGMENT)


def replacedSegmentation(watched):
    other = nodeOf(watched.scene, (labelmap(boxesOf(2, 4, 3, 1)), (1, 2, 3, 4)))
    segmentation = slicer.vtkSegmentation()
    segmentation.DeepCopy(other.GetSegmentation())
    watched.node.SetAndObserveSegmentation(segmentation)


def otherSource(watched):
    assert watched.node.CreateClosedSurfaceRepresentation()
    watched.look()
    watched.node.GetSegmentation().SetSourceRepresentationName(SURFACE)


def bent(watched):
    """Bend everything around the labelmap, and return what bends it."""
    corners = np.array([(x, y, z) for x in (-60, 60) for y in (-60, 60) for z in (-60, 90)], float)
    bending = spline(corners, corners * np.where(corners[:, 2:] > 0, (1.2, 1, 1), (1, 1, 1)))
    watched.transform("vtkMRMLTransformNode").SetAndObserveTransformToParent(bending)
    return bending


def bentOtherwise(watched):
    bending = bent(watched)
    watched.look()
    bending.SetTargetLandmarks(doublePoints(np.random.default_rng(1).normal(size=(8, 3)) * 50))


OTHER = boxesOf(2, 5)
CHANGES = {
    "edited in place": lambda watched: watched.edit(watched.image),
    "edited scalars": lambda watched: watched.edit(watched.image.GetPointData().GetScalars()),
    # as the documentation of arrayFromSegmentInternalBinaryLabelmap has it
    "edited as Slicer says": lambda watched: watched.edit(watched.segment),
    # several segments of a labelmap, of which only one is said to have changed
    "edited together": lambda watched: watched.edit(watched.node.GetSegmentation().GetSegment("L0V1")),
    "other label": lambda watched: watched.segment.SetLabelValue(3),
    "other labelmap": lambda watched: watched.segment.AddRepresentation(BINARY, labelmap(OTHER)),
    "other scalars": lambda watched: watched.image.GetPointData().SetScalars(numpy_to_vtk(OTHER.ravel(), deep=True)),
    "set by the editor": setByTheEditor,
    "undone": undone,
    "moved labelmap": lambda watched: watched.image.SetOrigin(0, 0, 0),
    "scaled labelmap": lambda watched: watched.image.SetSpacing(1, 1, 1.5),
    "turned labelmap": lambda watched: watched.image.SetDirections(*np.eye(3)[:, [1, 0, 2]].ravel()),
    "transformed": transformed,
    "transformed twice": lambda watched: (watched.transform(), watched.look(), transformed(watched)),
    "hardened": hardened,
    "replaced segment": replacedSegment,
    "replaced segmentation": replacedSegmentation,
    "other source": otherSource,
    "bent": bent,
    "bent otherwise": bentOtherwise,
    "edited while bent": lambda watched: (bent(watched), watched.look(), watched.edit(watched.image)),
}


@pytest.mark.parametrize("change", CHANGES)
def testNoChangeIsMissed(watched, change):
    watched.surface = "displayed"
    before = watched.look()
    assert watched.look() == before
    CHANGES[change](watched)
    assert watched.look()[SEGMENT] != before[SEGMENT]


@pytest.mark.parametrize(("name", "value"), [("Smoothing factor", "0.2"), ("Decimation factor", "0.5")])
def testHowSurfacesAreMadeCountsWhereTheyAreMeasured(watched, name, value):
    for prepare in (lambda watched: None, bent):
        prepare(watched)
        for surface, isOther in (("unsmoothed", False), ("displayed", True)):
            watched.surface = surface
            watched.node.GetSegmentation().SetConversionParameter(name, "0.0")
            before = watched.look()
            watched.node.GetSegmentation().SetConversionParameter(name, value)
            assert (watched.look() != before) == isOther


def testTheImageThatASegmentWasDrawnOn(watched):
    """What was read with another one is read again; the place of the voxels is the same in either."""
    before, keys = watched.look(), modificationKeys(watched.node)
    setGeometry(watched.node, labelmap(np.zeros((40, 40, 40), np.uint8)))
    assert watched.look() == before
    assert all(key != keys[identifier] for identifier, key in modificationKeys(watched.node).items())


def testMembershipsCount(scene):
    watched = Watched(scene, fractionalSegment(scene, boxesOf(100, 216) / 216, 0, 216, np.uint8, name=SEGMENT))
    image = watched.segment.GetRepresentation("Fractional labelmap")
    seen = [watched.look()[SEGMENT]]
    numbers = vtk_to_numpy(image.GetPointData().GetScalars())
    numbers[numbers == 100] = 101
    image.Modified()
    seen.append(watched.look()[SEGMENT])
    limits = image.GetFieldData().GetArray("ScalarRange")
    limits.SetTuple1(1, 250.0)
    limits.Modified()
    seen.append(watched.look()[SEGMENT])
    image.GetFieldData().RemoveArray("ScalarRange")
    with pytest.raises(ValueError, match="beyond its range from 0 to 1"):
        list(watched.hashes.current(watched.node, [SEGMENT]))
    assert len(set(seen)) == len(seen)


def testImportedSurfacesCount(scene):
    node = boxesNode(scene, SEGMENT)
    watched = Watched(scene, node)
    seen = [watched.look()[SEGMENT]]
    surface = watched.segment.GetRepresentation(SURFACE)
    points = vtk_to_numpy(surface.GetPoints().GetData())
    for modified in (surface, surface.GetPoints(), surface.GetPoints().GetData(), watched.segment):
        points[points[:, 2] > 4] += 1
        modified.Modified()
        seen.append(watched.look()[SEGMENT])
    surface.GetPolys().DeepCopy(shapes.boxMesh((0, 0, 0), (5, 6, 7)).GetPolys())
    surface.GetPolys().Modified()
    watched.look()
    watched.segment.AddRepresentation(SURFACE, shapes.ballMesh(9))
    seen.append(watched.look()[SEGMENT])
    assert len(set(seen)) == len(seen)


def testWhatIsTheSameIsNotReadAgain(watched, reads):
    """Whatever Slicer reports; of a change, only segments in the same labelmap are read."""
    for expected in (["L0V1", "L0V2", "L0V3", "L1V4"], []):
        list(watched.hashes.current(watched.node, watched.node.GetSegmentation().GetSegmentIDs()))
        assert reads == expected
        reads.clear()
    identity = watched.transform()
    watched.node.Modified()
    watched.look()
    reads.clear()
    identity.Modified()
    watched.node.InvokeEvent(slicer.vtkSegmentation.SegmentModified)
    identifiers = watched.node.GetSegmentation().GetSegmentIDs()
    list(watched.hashes.current(watched.node, identifiers))
    assert reads == []
    watched.edit(watched.image)
    list(watched.hashes.current(watched.node, identifiers))
    assert reads == ["L0V1", "L0V2", "L0V3"]


def testOutcomesNoticeWhatHappensAfterALook(scene, reads):
    """Also what happens twice, what is undone, and what was drawn between measuring and keeping."""
    nodes = [nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3))) for _ in range(2)]
    request = mrml.Request([(node, "") for node in nodes], Settings(families="overlap"))
    outcome = outcomes.measure(request)
    assert outcome.change() == "" and outcomes.recall(outcome.table).change() == ""
    array, image = arrayOf(nodes[1], SEGMENT), nodes[1].GetBinaryLabelmapInternalRepresentation(SEGMENT)
    before = array.copy()
    for _ in range(2):
        array[array == 2] = 0
        image.Modified()
        for suspects in ({SEGMENT}, None):
            assert outcome.change(suspects) == "L0V2 of the test has changed."
        reads.clear()
        assert outcome.change() == "L0V2 of the test has changed." and reads == []
        array[...] = before
        image.Modified()
        assert outcome.change() == ""
    result = outcomes.compare(request)
    Watched(scene, nodes[0]).edit(nodes[0].GetSegmentation().GetSegment(SEGMENT))
    assert outcomes.keep(request, result).change() == "L0V2 of the reference has changed."


def slicersMask(node, segmentID: str) -> Mask:
    """Return the mask of the labelmap that Slicer makes of a segment."""
    image = slicer.vtkOrientedImageData()
    node.GetBinaryLabelmapRepresentation(segmentID, image)
    array, grid, low = voxelsOf(image, node.GetSegmentation())
    return Mask.empty(grid) if array is None else Mask.fromArray(array, grid, low)


def assertAsSlicersOwn(node) -> None:
    """All segments are what Slicer makes of them, whether they are read one by one or together, in any order."""
    identifiers = node.GetSegmentation().GetSegmentIDs()
    reader = SegmentReader(node)
    expected = {identifier: slicersMask(node, identifier) for identifier in identifiers}
    for identifier in (*reversed(identifiers), *identifiers):
        for mask in (reader.mask(identifier), SegmentReader(node).mask(identifier)):
            np.testing.assert_array_equal(mask.voxels, expected[identifier].voxels, identifier)
            assert mask.voxels.dtype == np.uint8 and mask.voxels.flags.c_contiguous
            assert mask.offset == expected[identifier].offset, identifier
            assert mask.grid == expected[identifier].grid, identifier


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
    counts = {i: SegmentReader(node).mask(i).count for i in node.GetSegmentation().GetSegmentIDs()}
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
    reader = SegmentReader(node)
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
