"""Segments of segmentation nodes: the same numbers as from images, and the node stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import refused, says
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare, readStructures, samples

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer
from segmentnodes import (
    boxesNode,
    breakSegment,
    fractionalSegment,
    move,
    segmentationOf,
    setGeometry,
    spline,
    volumeNode,
)

from SegmentMetricsLib import mrml

DSC = Settings(metrics="DSC")


@pytest.fixture(scope="module")
def images():
    direction = shapes.rotation((1, 1, 3), 20)
    arrays = [shapes.blob(seed, (24, 22, 16), 0.4, 2.5) for seed in (11, 12)]
    return [shapes.imageOf(a, (0.9, 1.0, 2.0), (20, -10, 5), direction) for a in arrays]


def structureOf(node, segment: str, by: str = "any"):
    """Return a segment as a comparison takes it."""
    return mrml.openCase((node, segment), (node, segment), DSC, by=by).pairing.pairs[0].reference


def testSegmentsAreFoundInAnySpelling(scene):
    """A name means the same to scripts as on the command line; one that nothing has is told what is like it."""
    box, other = shapes.box((4, 4, 4), (9, 9, 9)), shapes.box((12, 4, 4), (16, 9, 9))
    node = segmentationOf(scene, Parotid_L=box, SpinalCord=other)
    for name in ("Parotid_L", "left parotid", "PAROTID LT", "parotid-l"):
        assert mrml.compareSegments(node, name, node, "Parotid_L", DSC).reference.name == "Parotid_L"
    hazard = Settings(families=("overlap", "hazard"), critical="spinal cord")
    (critical,) = mrml.compareSegments(node, "Parotid_L", node, "Parotid_L", hazard).criticals
    assert critical.mask.count == 180
    (one,) = mrml.compareSegmentations(node, node, choices={"spinal cord": None}, settings=hazard)
    assert one.reference.name == "Parotid_L"
    assert not mrml.proposePairs(node, node, choices={"spinal cord": None})
    for given in ("Parotid_LL", "Parotid_R"):
        with refused(f"'{given}'", "Parotid_L, SpinalCord"):
            mrml.compareSegments(node, given, node, "Parotid_L")
    with refused("int"):
        mrml.compareSegments(node, 5, node, "Parotid_L")
    with refused("'left parotid'"):
        mrml.compareSegments(node, "left parotid", node, "Parotid_L", by="ID")
    node = segmentationOf(scene, Parotid_L=box, **{"Left Parotid": box})
    assert mrml.compareSegments(node, "Left Parotid", node, "Parotid_L", DSC).reference.name == "Left Parotid"
    with refused("'parotid l'", "Parotid_L, Left Parotid"):
        mrml.compareSegments(node, "parotid l", node, "Parotid_L", DSC)


def testWrongKindsOfArgumentsAreRefusedInASentence(scene):
    box = shapes.box((4, 4, 4), (9, 9, 9))
    node = segmentationOf(scene, Liver=box)
    table = scene.AddNewNodeByClass("vtkMRMLTableNode", "Limits")
    comparison = compare(box, box, Settings(families=("boundary", "slices")))
    for call, *names in (
        (lambda: mrml.compareSegments(node, "Liver", node, "Liver", {"tolerances": 3}), "Settings", "dict"),
        (lambda: mrml.compareSegments(node, "Liver", node, "Liver", run=5), "int"),
        (lambda: mrml.compareSegmentations(node, table), "Limits"),
        (lambda: mrml.compareSegmentations(node, node, protocol=5), "Protocol", "int"),
        (lambda: mrml.compareSegmentations(node, node, choices=["Liver"]), "list"),
        (lambda: mrml.compareSegments("Liver", "Liver", node, "Liver"),),
        (lambda: mrml.proposePairs(node, node, surface="smooth"), "unsmoothed, displayed", "'smooth'"),
        (lambda: mrml.showTable("HD95"), "str"),
        (lambda: mrml.showTable([comparison]), "showComparisonsTable"),
        (lambda: mrml.showTable(comparison, tableNode=node), "vtkMRMLTableNode", "vtkMRMLSegmentationNode"),
        (lambda: mrml.showTable(comparison, scene="scene"), "vtkMRMLScene", "str"),
        (lambda: mrml.showComparisonsTable(comparison), "Comparison"),
        (lambda: mrml.showDistanceMap(comparison, range="wide"), "range", "str"),
        (lambda: mrml.showHistogram(comparison, tolerance="2 mm"), "tolerance", "str"),
        (lambda: mrml.showCumulative(5), "int"),
        (lambda: mrml.showMarkers(comparison, places=5), "Places", "int"),
        (lambda: mrml.showMarkers(comparison, places=[(1, 2, 3)]), "Place", "tuple"),
        (lambda: mrml.showHistogram(comparison.record()),),
        (lambda: mrml.showDistanceMap(comparison.record()),),
        (lambda: mrml.showConventionsTable(comparison, conventions=["MedPy"]), "comparison.conventions()", "list"),
        (lambda: mrml.jumpTo("liver"), "'liver'"),
        (lambda: mrml.jumpToSlice("rows", 1), "str"),
        (lambda: mrml.jumpToSlice(mrml.showSlices(comparison).GetNthPlotSeriesNode(0), "first"), "'first'", "6"),
        (lambda: mrml.gridOf("CT"),),
        (lambda: mrml.protocolFromTable("limits.csv"),),
        (lambda: mrml.tableFromProtocol("limits.csv"), "readProtocol()", "str"),
        (lambda: mrml.recallConventions("table"), "str"),
    ):
        with refused(*names) as told:
            call()
        assert "\n" not in str(told.value)


def testCriticalStructuresAreSegmentsOfTheReference(scene):
    """They are found by name only."""
    node, other, left, right = exchangedNames(scene)
    settings = Settings(families="hazard", critical=left)
    for found in (
        mrml.compareSegments(node, "Organ", other, "Organ", settings),
        mrml.compareSegmentations(node, other, settings)[0],
    ):
        assert [(s.name, s.segmentID) for s in found.criticals] == [(left, right)] and found["STAR"].status == "ok"
    node.GetSegmentation().GetSegment(left).SetName(left)
    with refused(f"'{left}'"):
        mrml.compareSegments(node, "Organ", other, "Organ", settings)
    with refused(f"'{right}'"):
        mrml.compareSegments(node, "Organ", other, "Organ", Settings(families="hazard", critical=right))
    missing = mrml.compareSegments(node, "Organ", other, "Organ", Settings(families="hazard"))
    says(missing["SIS"].reason)


def exchangedNames(scene):
    """Return a node with an organ and two others whose IDs are each other's names, and one with another organ."""
    first, second, far = shapes.box((8, 5, 5), (12, 9, 9)), shapes.box((7, 5, 5), (11, 9, 9)), (2, 20, 20)
    others = {"Left": shapes.box((2, 0, 0), (4, 23, 23)), "Right": shapes.box(far, (3, 22, 22))}
    node = segmentationOf(scene, Organ=first, **others)
    segmentation = node.GetSegmentation()
    _, left, right = segmentation.GetSegmentIDs()
    segmentation.GetSegment(left).SetName(right)
    segmentation.GetSegment(right).SetName(left)
    return node, segmentationOf(scene, Organ=second), left, right


def testANameThatIsTheIDOfAnotherSegment(scene):
    """It means neither by itself, and what says which is meant gets that one."""
    node, _, left, right = exchangedNames(scene)
    with refused(f"'{left}'", "by='name'", "by='ID'"):
        mrml.compareSegments(node, "Organ", node, left)
    assert mrml.compareSegments(node, left, node, right, DSC, by="name").reference.segmentID == right
    assert mrml.compareSegments(node, left, node, right, DSC, by="ID").reference.segmentID == left
    # one whose name is its own ID is no other
    node.GetSegmentation().GetSegment(right).SetName(right)
    node.GetSegmentation().GetSegment(left).SetName(left)
    assert structureOf(node, left).segmentID == left
    with refused("'by'", "'number'"):
        structureOf(node, left, by="number")


def testUnsmoothedIsSlicersOwnSurfaceWithoutSmoothing(scene, images):
    node = segmentationOf(scene, Organ=images[0])
    ours = structureOf(node, "Organ").surface
    for name in ("Smoothing factor", "Decimation factor", "Compute surface normals"):
        node.GetSegmentation().SetConversionParameter(name, "0.0")
    node.CreateClosedSurfaceRepresentation()
    slicers = node.GetClosedSurfaceInternalRepresentation(node.GetSegmentation().GetNthSegmentID(0))
    points = vtk_to_numpy(slicers.GetPoints().GetData()) * (-1, -1, 1)
    assert slicers.GetNumberOfPolys() == len(ours.cells)
    order = [np.lexsort(np.round(p, 3).T) for p in (points, ours.points)]
    assert points[order[0]] == pytest.approx(ours.points[order[1]], abs=1e-4)


def testDisplayedSurfaceIsTheUsersOwn(scene, images):
    node, few = segmentationOf(scene, A=images[0], B=images[1]), Settings(metrics=("HD", "DSC", "VolumeReference"))
    displayed = few.replace(surface="displayed")
    made = mrml.compareSegments(node, "A", node, "B", displayed)
    node.CreateClosedSurfaceRepresentation()
    shown = mrml.compareSegments(node, "A", node, "B", displayed)
    assert made.numbers == pytest.approx(shown.numbers, abs=1e-6)
    unsmoothed = mrml.compareSegments(node, "A", node, "B", few)
    assert shown.record().surface == "displayed" and unsmoothed.record().surface == "unsmoothed"
    # smoothing changes distances and surface volumes, not the voxels that overlap is counted on
    assert shown["DSC"].value == unsmoothed["DSC"].value
    assert abs(shown["VolumeReference"].value / unsmoothed["VolumeReference"].value - 1) > 1e-4
    assert shown["HD"].value != pytest.approx(unsmoothed["HD"].value, abs=1e-3)


def testLinearParentTransforms(scene):
    """One in the other, with scale and shear, and of one node alone."""
    ball = shapes.ball(8, size=(24, 24, 24), origin=(-12, -12, -12))
    first, second = segmentationOf(scene, Ball=ball), segmentationOf(scene, Ball=ball)
    inner = move(scene, first, second, matrix=(2, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1))
    move(scene, inner, shift=(100, 0, 0))
    few = Settings(metrics=("HD", "DSC", "VoxelVolumeTest"))
    both = mrml.compareSegments(first, "Ball", second, "Ball", few)
    assert both["HD"].value == pytest.approx(0, abs=1e-6) and both["DSC"].value == 1
    assert both["VoxelVolumeTest"].value == pytest.approx(2 * SimpleITK.GetArrayViewFromImage(ball).sum())
    assert both.reference.mask.corners().mean(axis=0)[0] == pytest.approx(-100, abs=2)
    second.SetAndObserveTransformNodeID(None)
    assert mrml.compareSegments(first, "Ball", second, "Ball", few)["HD"].value > 80


def testNonLinearParentTransform(scene):
    """Where a segment was drawn says nothing about where the transform puts it."""
    images = [shapes.ball(8, (x, 0, 0), size=(24, 24, 24), origin=(x - 12, -12, -12)) for x in (2000, 2000, 0)]
    first, second, still = (segmentationOf(scene, Ball=image) for image in images)
    corners = np.array([(x, y, z) for x in (-15, 15) for y in (-15, 15) for z in (-15, 15)], float)
    # the upper half is stretched: x grows with z
    target = corners * np.where(corners[:, 2:] > 0, (1.4, 1, 1), (1, 1, 1))
    transform = scene.AddNewNodeByClass("vtkMRMLTransformNode")
    transform.SetAndObserveTransformToParent(spline(corners - (2000, 0, 0), target))
    for node in (first, second):
        node.SetAndObserveTransformNodeID(transform.GetID())
    for surface in ("unsmoothed", "displayed"):
        settings = Settings(families=("boundary", "overlap"), surface=surface)
        comparison = mrml.compareSegments(first, "Ball", still, "Ball", settings)
        assert comparison["VolumeReference"].value > 1.1 * comparison["VolumeTest"].value
        assert 1 < comparison["HD"].value < 4 and 0.8 < comparison["DSC"].value < 0.97
        assert not {one.kind.name for one in comparison.findings} & {"IMAGES_APART", "MIRRORED"}
    again = mrml.compareSegments(first, "Ball", second, "Ball", Settings(metrics="HD"))
    assert again["HD"].value == pytest.approx(0, abs=1e-6)


def testSegmentsWithoutVoxels(scene):
    """They are where their surfaces are, whose x and y have the other sign."""
    node = boxesNode(scene, "Organ")
    found = mrml.compareSegments(node, "Organ", segmentationOf(scene, Organ=shapes.box((1, 1, 1), (5, 5, 5))), "Organ")
    np.testing.assert_array_equal(found.reference.box, [(-5, -5, 0), (0, 0, 5)])
    assert found.record().surface == "imported and unsmoothed"


def testSharedLabelmapsAndWholeSegmentations(scene, tmp_path):
    paths = samples.writeHeadAndNeck(tmp_path)
    nodes = []
    for path in paths:
        node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        storage = scene.AddNewNodeByClass("vtkMRMLSegmentationStorageNode")
        storage.SetFileName(str(path))
        assert storage.ReadData(node)
        nodes.append(node)
    seen = []
    few = Settings(metrics=("HD95", "MASD", "DSC", "IoU", "VolumeReference"))
    comparisons = mrml.compareSegmentations(*nodes, few, progress=lambda *told: seen.append(told))
    assert [s.name for s in comparisons.unmatchedReference] == ["Submandibular_R"] and not comparisons.unmatchedTest
    segments = sum(node.GetSegmentation().GetNumberOfSegments() for node in nodes)
    assert seen[0][:2] == (0, segments) and seen[segments][:2] == (0, len(comparisons))
    assert {name for _, _, name in seen[segments:]} == {c.reference.name for c in comparisons}
    fromFiles = [{s.name: s for s in readStructures(path)} for path in paths]
    for comparison in comparisons:
        name = comparison.reference.name
        expected = compare(fromFiles[0][name], fromFiles[1][name], few)
        assert comparison.distances.method == "lattice lookup"
        assert comparison.numbers == pytest.approx(expected.numbers, abs=1e-6), name
    goesOn = lambda number, count, name: count == segments or number < 2  # noqa: E731
    stopped = mrml.compareSegmentations(*nodes, few, progress=goesOn)
    assert len(stopped) == 2 and stopped.wasStopped and not comparisons.wasStopped
    measured = [c.reference.name for c in stopped]
    assert list(stopped.failures) == [c.reference.name for c in comparisons if c.reference.name not in measured]
    says(stopped.remarks[1], 2, len(comparisons))
    assert not mrml.compareSegmentations(*nodes, few, progress=lambda number, count, name: number < 2)


def testImageEdgesAreThoseOfTheReferenceImage(scene):
    node = segmentationOf(scene, Box=shapes.box((0, 5, 5), (9, 9, 9)))
    # the segment's own labelmap is cropped to it, so its edges say nothing
    assert mrml.compareSegments(node, "Box", node, "Box", DSC).findings == ()
    whole = slicer.vtkOrientedImageData()
    whole.SetExtent(0, 23, 0, 23, 0, 23)
    whole.SetDirections(-1, 0, 0, 0, -1, 0, 0, 0, 1)
    setGeometry(node, whole)
    comparison = mrml.compareSegments(node, "Box", node, "Box", DSC)
    (finding,) = comparison.findings
    says(finding)
    assert comparison.grid["size"] == [24, 24, 24]


def testASegmentationWithoutSegments(scene, images):
    node = segmentationOf(scene, Organ=images[0])
    nothing = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Draft")
    result = mrml.compareSegmentations(node, nothing, DSC)
    assert not result and [s.name for s in result.unmatchedReference] == ["Organ"]
    assert [("Draft" in one, "Organ" in one) for one in result.remarks] == [(True, False), (False, True)]
    assert says(result.remarks[0], "Draft") in repr(result)
    assert mrml.compareSegmentations(node, node, DSC).remarks == []


def testAnEvaluatedGridOfAVolumeNode(scene, images):
    nodes = [segmentationOf(scene, Organ=image) for image in images]
    volume = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "CT")
    with refused("CT"):
        mrml.gridOf(volume)
    with refused():
        mrml.gridOf(nodes[0])
    grid = structureOf(nodes[0], "Organ").mask.grid.resize((-10, -9, -8), (40, 39, 38))
    volume = volumeNode(scene, np.zeros(grid.size[::-1], np.uint8), np.diag([-1, -1, 1, 1]) @ grid.matrix)
    assert mrml.gridOf(volume).offsetOn(grid) == (0, 0, 0) and mrml.gridOf(volume).size == grid.size
    settings = Settings(families="agreement", grid=mrml.gridOf(volume))
    evaluated = mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", settings).grid["evaluated"]
    assert (evaluated["size"], evaluated["choice"]) == ([51, 49, 47], "the given volume")


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
    assert "COUNTED_IN_PART" in [one.kind.name for one in found.findings]
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
    structure = structureOf(node, "Ball")
    # the numbers have the range that they say: the parts of voxels add up to the ball
    volume = float(structure.memberships.voxels.sum()) * 8
    assert volume == pytest.approx(4 / 3 * np.pi * 1000, rel=0.02)
    assert len(np.unique(structure.memberships.voxels)) > 10 and structure.memberships.voxels.max() == 1


def testFractionalSegmentsThatAreMovedBentOrWrong(scene):
    node = fractionalSegment(scene, ramp())
    still = structureOf(node, "Organ")
    move(scene, node, shift=(5, 0, 0))
    moved = structureOf(node, "Organ")
    for first, second in ((moved.memberships, still.memberships), (moved.mask, still.mask)):
        assert first.corners() - second.corners() == pytest.approx(np.tile([-5, 0, 0], (8, 1)))
    wrong = fractionalSegment(scene, 1.5 * ramp())
    wrong.SetName("Wrong")
    with refused("Organ", "Wrong", "0", "1"):
        structureOf(wrong, "Organ")


def testPairsBeforeAnythingIsMeasured(scene):
    reference = boxesNode(scene, "Parotid_L", "Druse", "Brain")
    test = boxesNode(scene, "left parotid", "Gland", "Brain")
    pairing = mrml.pairSegments(reference, test)
    found = [(m.reference.name, m.test.name, m.how) for m in pairing.pairs]
    assert found == [("Parotid_L", "left parotid", "spelling"), ("Brain", "Brain", "name")]
    assert [s.name for s in pairing.unmatchedReference] == ["Druse"] and pairing.proposals == ()
    (proposal,) = mrml.proposePairs(reference, test)
    assert (proposal.reference.name, proposal.test.name, proposal.how) == ("Druse", "Gland", "overlap")
    assert proposal.confidence == pytest.approx(1)
    assert mrml.proposePairs(reference, test, choices={"Druse": None}) == []
    accepted = mrml.compareSegmentations(reference, test, DSC, choices={"Druse": "Gland"})
    assert len(accepted) == 3 and accepted.proposals == ()
    with refused("'Nothing'", "left parotid, Gland, Brain"):
        mrml.pairSegments(reference, test, choices={"Druse": "Nothing"})
    with refused():
        mrml.pairSegments(reference, None)


def testWhatCannotBeMeasuredIsPairedAllTheSame(scene):
    """Else the structures that are left could be taken for each other: one on each side is a pair by itself."""
    reference, test = boxesNode(scene, "Liver", "Kidney", "A", "B"), boxesNode(scene, "LIVER", "X", "A", "C")
    assert [match.test.name for match in mrml.proposePairs(reference, test)] == ["X", "C"]
    breakSegment(reference, "Liver")
    breakSegment(test, "X")
    assert [match.test.name for match in mrml.proposePairs(reference, test)] == ["C"]
    found = mrml.compareSegmentations(reference, test, DSC)
    assert [one.name for one in found] == ["A"] and found.unmatched == {"reference": ["Kidney", "B"], "test": ["C"]}
    assert list(found.failures) == ["Liver / LIVER", "X"]
    # what one of them was to be compared with is neither unmatched nor taken for another one
    found = mrml.compareSegmentations(reference, test, DSC, choices={"Kidney": "X", "B": "C"})
    assert list(found.failures) == ["Liver / LIVER", "Kidney / X"]
    assert [one.name for one in found] == ["A", "B / C"] and found.unmatched == {"reference": [], "test": []}
    # some of them keep what is known about all, also in notebooks
    part = found[:1]
    assert type(part) is type(found) and part[0] is found[0] and part.remarks == found.remarks
    assert ">A</td>" in part._repr_html_() and found.failures["Kidney / X"] in part._repr_html_()
