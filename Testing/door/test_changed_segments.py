"""Labelmaps that segments share, and what happens to them after they were measured: every change is noticed."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import says
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib import Settings

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer
from segmentnodes import boxesNode, fractionalSegment, segmentationOf, setGeometry, spline

from SegmentMetricsLib import mrml

BINARY = slicer.vtkSegmentationConverter.GetSegmentationBinaryLabelmapRepresentationName()
SURFACE = slicer.vtkSegmentationConverter.GetSegmentationClosedSurfaceRepresentationName()
# in RAS, and turned against the axes of the patient
OBLIQUE = np.eye(4)
OBLIQUE[:3, :3] = shapes.rotation((1, 2, 3), 25) @ np.diag([0.9, 1.1, 2.0])
OBLIQUE[:3, 3] = (12, -7, 30)
SEGMENT = "L0V2"


def labelmap(labels: np.ndarray, matrix=OBLIQUE, low=(0, 0, 0)):
    """Return a vtkOrientedImageData of an array [k, j, i] whose first voxel is `low` (i, j, k)."""
    image, ijkToRas = slicer.vtkOrientedImageData(), vtkMatrix4x4()
    high = np.array(low) + labels.shape[::-1] - 1
    image.SetExtent(*np.stack([low, high], axis=1).ravel().tolist())
    image.GetPointData().SetScalars(numpy_to_vtk(labels.ravel(), deep=True))
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


class Watched:
    """A node of which a segment was measured."""

    def __init__(self, scene, node):
        self.scene, self.node, self.outcome = scene, node, None
        self.other = segmentationOf(scene, Other=shapes.box((2, 2, 2), (9, 9, 9)))

    @property
    def segment(self):
        return self.node.GetSegmentation().GetSegment(SEGMENT)

    @property
    def image(self):
        return self.node.GetBinaryLabelmapInternalRepresentation(SEGMENT)

    def measure(self, surface: str = "unsmoothed") -> None:
        compared = [(self.node, SEGMENT), (self.other, self.other.GetSegmentation().GetNthSegmentID(0))]
        self.outcome = mrml.measure(mrml.Request(compared, Settings(metrics="VolumeReference", surface=surface)))
        assert self.look() == ""

    def look(self) -> str:
        """Return what has changed since it was measured."""
        return self.outcome.change()

    def requireChange(self) -> None:
        """Require that the segment is said to have changed since it was measured."""
        says(self.look(), SEGMENT, "reference")

    def transform(self, kind: str = "vtkMRMLLinearTransformNode"):
        """Return a new transform node that moves the node and what moves it already."""
        transform, top = self.scene.AddNewNodeByClass(kind), self.node
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


def setByTheEditor(watched):
    image = labelmap(boxesOf(0, 0, 0, 0, 1))
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, watched.node, SEGMENT)


def undone(watched):
    history = slicer.vtkSegmentationHistory()
    history.SetSegmentation(watched.node.GetSegmentation())
    assert history.SaveState()
    setByTheEditor(watched)
    watched.requireChange()
    assert history.RestorePreviousState()
    assert watched.look() == ""
    assert history.RestoreNextState()


def transformed(watched):
    matrix = vtkMatrix4x4()
    matrix.SetElement(1, 3, 0.001)
    watched.transform().SetMatrixTransformToParent(matrix)


def replacedSegment(watched):
    """Another one with the same ID."""
    segmentation, segment = watched.node.GetSegmentation(), slicer.vtkSegment()
    segmentation.RemoveSegment(SEGMENT)
    segment.SetName(SEGMENT)
    segment.AddRepresentation(BINARY, labelmap(boxesOf(1)))
    segmentation.AddSegment(segment, SEGMENT)


def replacedSegmentation(watched):
    other = nodeOf(watched.scene, (labelmap(boxesOf(2, 4, 3, 1)), (1, 2, 3, 4)))
    segmentation = slicer.vtkSegmentation()
    segmentation.DeepCopy(other.GetSegmentation())
    watched.node.SetAndObserveSegmentation(segmentation)


def bent(watched):
    """Bend everything around the labelmap, and return what bends it."""
    corners = np.array([(x, y, z) for x in (-60, 60) for y in (-60, 60) for z in (-60, 90)], float)
    bending = spline(corners, corners * np.where(corners[:, 2:] > 0, (1.2, 1, 1), (1, 1, 1)))
    watched.transform("vtkMRMLTransformNode").SetAndObserveTransformToParent(bending)
    return bending


def bentOtherwise(watched):
    bending, points = bent(watched), vtkPoints()
    watched.measure("displayed")
    points.SetData(numpy_to_vtk(np.random.default_rng(1).normal(size=(8, 3)) * 50, deep=True))
    bending.SetTargetLandmarks(points)


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
    "transformed": transformed,
    "transformed twice": lambda watched: (watched.transform(), watched.look(), transformed(watched)),
    "hardened": lambda watched: (transformed(watched), watched.look(), watched.node.HardenTransform()),
    "replaced segment": replacedSegment,
    "replaced segmentation": replacedSegmentation,
    "other source": lambda watched: (
        watched.node.CreateClosedSurfaceRepresentation(),
        watched.look(),
        watched.node.GetSegmentation().SetSourceRepresentationName(SURFACE),
    ),
    "bent": bent,
    "bent otherwise": bentOtherwise,
    "edited while bent": lambda watched: (bent(watched), watched.measure("displayed"), watched.edit(watched.image)),
}


@pytest.mark.parametrize("change", CHANGES)
def testNoChangeIsMissed(watched, change):
    watched.measure("displayed")
    assert watched.look() == ""
    CHANGES[change](watched)
    watched.requireChange()
    watched.requireChange()


@pytest.mark.parametrize(("name", "value"), [("Smoothing factor", "0.2"), ("Decimation factor", "0.5")])
def testHowSurfacesAreMadeCountsWhereTheyAreMeasured(watched, name, value):
    segmentation = watched.node.GetSegmentation()
    for prepare in (lambda watched: None, bent):
        prepare(watched)
        for surface in ("unsmoothed", "displayed"):
            segmentation.SetConversionParameter(name, "0.0")
            watched.measure(surface)
            segmentation.SetConversionParameter(name, value)
            if surface == "unsmoothed":
                assert watched.look() == ""
            else:
                watched.requireChange()


def testWhatDoesNotCount(watched):
    """The image that a segment was drawn on, a surface that is made of it, its name, and what moves nothing."""
    watched.measure()
    setGeometry(watched.node, labelmap(np.zeros((40, 40, 40), np.uint8)))
    assert watched.node.CreateClosedSurfaceRepresentation()
    watched.segment.SetName("Something else")
    watched.transform()
    assert watched.look() == ""


def testMembershipsCount(scene):
    watched = Watched(scene, fractionalSegment(scene, boxesOf(100, 216) / 216, 0, 216, np.uint8, name=SEGMENT))
    image = watched.segment.GetRepresentation("Fractional labelmap")
    limits, numbers = image.GetFieldData().GetArray("ScalarRange"), vtk_to_numpy(image.GetPointData().GetScalars())
    watched.measure()
    numbers[numbers == 100] = 101
    image.Modified()
    watched.requireChange()
    watched.measure()
    limits.SetTuple1(1, 250.0)
    limits.Modified()
    watched.requireChange()
    image.GetFieldData().RemoveArray("ScalarRange")
    says(watched.look(), SEGMENT, "0", "1")


def testImportedSurfacesCount(scene):
    watched = Watched(scene, boxesNode(scene, SEGMENT))
    surface = watched.segment.GetRepresentation(SURFACE)
    points = vtk_to_numpy(surface.GetPoints().GetData())
    for modified in (surface, surface.GetPoints(), surface.GetPoints().GetData(), watched.segment):
        watched.measure()
        points[points[:, 2] > 4] += 1
        modified.Modified()
        watched.requireChange()
    watched.measure()
    watched.segment.AddRepresentation(SURFACE, shapes.ballMesh(9))
    watched.requireChange()


def testWhatHappensTwiceIsUndoneOrWasDrawnMeanwhile(scene):
    nodes = [nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3))) for _ in range(2)]
    outcome = mrml.measure(mrml.Request([(node, "") for node in nodes], Settings(families="overlap")))
    array, image = arrayOf(nodes[1], SEGMENT), nodes[1].GetBinaryLabelmapInternalRepresentation(SEGMENT)
    before = array.copy()
    for _ in range(2):
        array[array == 2] = 0
        image.Modified()
        for suspects in ({SEGMENT}, None):
            says(outcome.change(suspects), SEGMENT, "test")
        array[...] = before
        image.Modified()
        assert outcome.change() == ""

    def drawAfter(work):
        result = work()
        Watched(scene, nodes[0]).edit(nodes[0].GetSegmentation().GetSegment(SEGMENT))
        return result

    outcome = mrml.measure(mrml.Request([(node, SEGMENT) for node in nodes]), run=drawAfter)
    says(outcome.change(), SEGMENT, "reference")  # between measuring and keeping


def structureOf(node, segmentID: str):
    return mrml.openCase((node, segmentID), (node, segmentID), by="ID").pairing.pairs[0].reference


def placesOf(mask) -> np.ndarray:
    """Return where the voxels of a mask are, RAS mm."""
    index = np.argwhere(mask.voxels)[:, ::-1] + mask.low if not mask.isEmpty else np.zeros((0, 3))
    return mask.grid.toWorld(index) * (-1, -1, 1)


def slicersPlaces(node, segmentID: str) -> np.ndarray:
    """Return where the voxels are of the labelmap that Slicer makes of a segment."""
    image, toRas = slicer.vtkOrientedImageData(), vtkMatrix4x4()
    node.GetBinaryLabelmapRepresentation(segmentID, image)
    if image.IsEmpty():
        return np.zeros((0, 3))
    image.GetImageToWorldMatrix(toRas)
    matrix, low = np.reshape(toRas.GetData(), (4, 4)), image.GetExtent()[::2]
    array = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])
    return (np.argwhere(array)[:, ::-1] + low) @ matrix[:3, :3].T + matrix[:3, 3]


def assertAsSlicersOwn(node, identifiers, read) -> None:
    """All segments are what Slicer makes of them, alone and among the structures that were read together."""
    for identifier in identifiers:
        expected = slicersPlaces(node, identifier)
        for structure in (read[identifier], structureOf(node, identifier)):
            found = placesOf(structure.mask)
            assert found.shape == expected.shape, identifier
            np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=identifier)


@pytest.mark.parametrize("drawnOn", ["nothing", "a larger image", "another lattice"])
def testVoxelsAreThoseOfSlicer(scene, drawnOn):
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
    read = {match.reference.segmentID: match.reference for match in mrml.openCase(node, node).pairing.pairs}
    assertAsSlicersOwn(node, node.GetSegmentation().GetSegmentIDs(), read)
    empty = {identifier for identifier, structure in read.items() if structure.isEmpty}
    assert empty == {"L0V7", "L3V1", "L4V1", "L4V2", "L5V1", "empty", "bare"}


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
    node = nodeOf(scene, (labelmap(boxesOf(*labels, dtype=dtype)), values))
    identifiers = node.GetSegmentation().GetSegmentIDs()
    assertAsSlicersOwn(node, identifiers, {each: structureOf(node, each) for each in identifiers})


def testWhatWasReadIsACopy(scene):
    """It is measured in a thread while the user goes on drawing."""
    node = nodeOf(scene, (labelmap(np.ones((3, 4, 5), np.uint8)), (1,)), (labelmap(boxesOf(1, 2)), (1, 2)))
    for identifier in ("L0V1", "L1V1", "L1V2"):
        voxels = structureOf(node, identifier).mask.voxels
        before = voxels.copy()
        arrayOf(node, identifier)[...] += 1
        np.testing.assert_array_equal(voxels, before)
        arrayOf(node, identifier)[...] -= 1


@pytest.mark.parametrize("isReplaced", [False, True])
def testEverySegmentIsReadAsItIsThen(scene, isReplaced):
    """Also where others of its labelmap were read before: what is drawn meanwhile may lie beyond them."""
    node = nodeOf(scene, (labelmap(boxesOf(1, 2, 3)), (1, 2, 3)))

    def draw(number: int, _count: int, _name: str) -> None:
        if number == 2:
            arrayOf(node, "L0V3")[15, 17, 19] = 3
            node.GetBinaryLabelmapInternalRepresentation("L0V3").Modified()
        if number == 2 and isReplaced:
            node.GetSegmentation().GetSegment("L0V3").AddRepresentation(BINARY, labelmap(boxesOf(3, 1)))

    pairs = mrml.openCase(node, node, progress=draw).pairing.pairs
    np.testing.assert_allclose(placesOf(pairs[2].reference.mask), slicersPlaces(node, "L0V3"), atol=1e-6)
