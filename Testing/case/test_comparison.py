"""compare(): what it takes, what empty structures give, what a result says about itself."""

from __future__ import annotations

import gc
import math
import pickle
import weakref
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from vtkmodules.vtkCommonDataModel import vtkPolyData

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.metrics.registry import REGISTRY
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

BOX = shapes.box((6, 6, 6), (15, 14, 13))
OTHER = shapes.box((7, 6, 6), (17, 14, 14))
EMPTY = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))


# Empty structures: Metrics Revolutions, Table A3.

INFINITE = ("HD", "HD95", "MASD", "ASSD")
ZERO = ("NSD_2mm", "BIoU_2mm", "DSC", "IoU", "TPR", "PPV")


@pytest.mark.parametrize("emptyInput", [EMPTY, vtkPolyData()], ids=["mask", "mesh"])
@pytest.mark.parametrize("which", ["reference", "test"])
def testOneEmpty(emptyInput, which):
    inputs = (emptyInput, BOX) if which == "reference" else (BOX, emptyInput)
    comparison = compare(*inputs)
    for key in INFINITE:
        assert comparison[key].value == math.inf and comparison[key].status == "infinite", key
    for key in ZERO:
        assert comparison[key].value == 0 and comparison[key].status == "ok", key
    for key in (*INFINITE, *ZERO):
        assert comparison[key].reason == f"the {which} is empty"
    assert comparison["SignedMean"].value == (math.inf if which == "reference" else -math.inf)
    over, under = (1, 0) if which == "reference" else (0, 1)
    assert comparison["OverFraction_2mm"].value == over and comparison["UnderFraction_2mm"].value == under
    volumes = comparison["VoxelVolumeReference"].value, comparison["VoxelVolumeTest"].value
    assert volumes == ((0, 720) if which == "reference" else (720, 0))
    assert comparison.distances is None
    assert f"Only one contour exists: the {which} is empty." in comparison.findings


# What compare() takes.


def testLabelsHaveToBeNamed():
    labels = SimpleITK.GetArrayFromImage(BOX)
    labels[20:, 20:, 20:] = 5
    image = shapes.imageOf(labels)
    with pytest.raises(ValueError, match=r"2 labels \(1, 5\)"):
        compare(image, BOX)
    assert compare(image, image, label=5)["VoxelVolumeTest"].value == 64
    # a label that the other image does not have is an empty structure
    comparison = compare(image, BOX, label=5)
    assert comparison["HD"].reason == "the test is empty"
    assert "Label 5 does not occur in the test, which has label 1." in comparison.findings


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (shapes.imageOf(np.full((3, 3, 3), -1000, np.int16)), "negative"),
        (shapes.imageOf(np.arange(27000, dtype=np.uint16).reshape(30, 30, 30)), "change from voxel to voxel"),
        (shapes.imageOf(np.linspace(0, 300, 27).reshape(3, 3, 3)), "neither a label map nor a map of memberships"),
        (shapes.imageOf(np.full((3, 3, 3), np.nan)), "not numbers"),
        (SimpleITK.Image([3, 3, 3], SimpleITK.sitkVectorUInt8, 3), "several values per voxel"),
        (["liver.nii.gz"], r"a Structure or the path of a file, not list\.$"),
    ],
)
def testWhatIsNoSegmentation(image, message):
    with pytest.raises(ValueError, match=message):
        compare(image, BOX)


@pytest.mark.parametrize("kind", [SimpleITK.sitkUInt8, SimpleITK.sitkFloat32, SimpleITK.sitkInt16])
@pytest.mark.parametrize("options", [{}, {"label": 1}, {"settings": Settings(membershipMaximum=255)}], ids=str)
def testImagesWithoutVoxels(kind, options):
    ball = shapes.ball(3)
    if "settings" in options:
        ball *= 255
    message = r"^The test cannot be compared\. The image has no voxels: its size is 0 x 0 x 0\.$"
    with pytest.raises(ValueError, match=message):
        compare(ball, SimpleITK.Image([0, 0, 0], kind), **options)


def testSpaceAndPlaneDoNotMix():
    flat = shapes.imageOf(np.ones((1, 9, 9), bool))
    with pytest.raises(ValueError, match="one slice"):
        compare(flat, BOX)
    with pytest.raises(ValueError, match="different planes"):
        compare(shapes.loops([(0, 0), (4, 0), (4, 4)]), shapes.loops([(0, 0), (4, 0), (4, 4)], z=7))


def testPlanarMasksAndContours():
    first, second = np.zeros((1, 30, 30), bool), np.zeros((1, 30, 30), bool)
    first[0, 5:20, 6:21], second[0, 5:20, 9:24] = True, True
    masks = compare(shapes.imageOf(first), shapes.imageOf(second))
    assert masks["HD"].value == pytest.approx(3, abs=0.05)
    assert masks["DSC"].value == pytest.approx(2 * 12 / 30)
    assert masks["VoxelVolumeTest"].value == 225 and masks["VoxelVolumeTest"].unit == "mm2"
    assert masks["VolumeTest"].title == "Area of the test" and "volume" not in masks["OverVolume"].description.lower()
    twoD = compare(*(shapes.imageOf(a[0], (1.0, 1.0), (0.0, 0.0)) for a in (first, second)))
    for key in ("HD", "HD95", "MASD", "NSD_2mm", "BIoU_2mm", "DSC"):
        assert twoD[key].value == pytest.approx(masks[key].value, abs=1e-9), key
    square = shapes.loops([(8.5, 4.5), (23.5, 4.5), (23.5, 19.5), (8.5, 19.5)])
    mixed = compare(shapes.imageOf(first), square)
    assert mixed["DSC"].value == pytest.approx(masks["DSC"].value)
    assert mixed["HD"].value == pytest.approx(3, abs=0.05)


def testOpenSurfacesHaveDistancesButNoInside():
    from SegmentMetricsLib.geometry.meshing import fromPolyData

    whole = fromPolyData(shapes.boxMesh((0, 0, 0), (10, 10, 10)))
    opened = shapes.meshOf(whole.points, whole.cells[:-1].tolist())
    comparison = compare(shapes.boxMesh((0, 0, 0), (10, 10, 12)), opened)
    assert comparison["HD"].status == "ok" and comparison["HD"].value > 1
    for key in (
        "DSC",
        "BIoU_2mm",
        "SignedMean",
        "OverFraction_2mm",
        "VolumeTest",
        "VolumeDifference",
        "VoxelVolumeTest",
    ):
        assert comparison[key].status == "undefined", key
        assert "test is not closed" in comparison[key].reason
    assert comparison["VolumeReference"].value == pytest.approx(1200)
    assert any("3 open edges" in finding for finding in comparison.findings)


# What a result says about itself.


def testAResultIsAMapping():
    comparison = compare(BOX, OTHER)
    expected = sum(definition.family in DEFAULT_FAMILIES for definition in REGISTRY)
    assert "HD95" in comparison and len(comparison) == len(list(comparison)) == expected
    assert comparison["hd95"] is comparison["Hausdorff distance, 95th percentile"] is comparison["HD95"]
    with pytest.raises(KeyError, match="There are HD, HD95"):
        comparison["?"]
    assert "HD95 2.00 mm" in repr(comparison)


def testRecordsArePlainAndSmall():
    record = compare(BOX, OTHER).record()
    assert len(pickle.dumps(record)) < 20_000
    values = record.toDictionary()
    assert values["convention"] == "SegmentMetrics" and values["surface"] == "unsmoothed"
    assert values["method"] == "lattice lookup"
    assert values["reference"]["volumeMm3"] == pytest.approx(compare(BOX, OTHER)["VolumeReference"].value)


def testComparisonsGoToOtherProcesses():
    comparison = compare(BOX, shapes.ball(7))
    again = pickle.loads(pickle.dumps(comparison))
    assert again.toDictionary() == comparison.toDictionary()
    for one, other in zip(again.distances.directions, comparison.distances.directions, strict=True):
        # what searches is made anew
        assert one.percentile(80) == other.percentile(80)
        assert np.array_equal(one.atPoints, other.atPoints)


# The registry keeps its own promises; what holds for every entry is tested in test_registry.py.


def testNothingIsLeftForTheGarbageCollector():
    """Which may come by late: a cohort would pile up what its comparisons have needed."""
    gc.collect()
    gc.disable()
    try:
        pairs = [shapes.ball(6, (shift, 0.3, 0.1)) for shift in (0.0, 2.0)], [shapes.ballMesh(6), shapes.ballMesh(5)]
        for pair in pairs:
            comparison = compare(*pair)
            comparison.record()
            kept = [weakref.ref(comparison), *map(weakref.ref, comparison.distances.directions)]
            kept += [weakref.ref(direction.field) for direction in comparison.distances.directions]
            kept += [weakref.ref(direction.field.sampler) for direction in comparison.distances.directions]
            del comparison
            assert [reference() for reference in kept] == [None] * len(kept)
    finally:
        gc.enable()


def testThinVoxelsOfALargeImage():
    """Of a long vessel in an image of 0.005 x 0.005 x 0.2 mm: many voxels, were they cubes, but they are not."""
    tube = np.zeros((270, 40, 40), bool)
    tube[:, 8:30, 8:30] = True
    images = [shapes.imageOf(np.roll(tube, n, 2), (0.0005, 0.0005, 20.0)) for n in (0, 3)]
    found = compare(*images, Settings(families="overlap"))
    assert found["DSC"].value == pytest.approx(19 / 22)


def testMeasurementsArePrintedShort():
    box = shapes.box((5, 5, 5), (14, 14, 14))
    assert f"{compare(box, box)['HD95']}" == "HD95: 0.00 mm"
    nothing = shapes.imageOf(shapes.blob(0) * 0)
    assert str(compare(box, nothing)["HD95"]) == "HD95: inf (the test is empty)"
    assert str(compare(nothing, nothing)["HD95"]) == "HD95: undefined (both structures are empty)"
    shown = repr(compare(box, box)["HD95"])
    assert shown.startswith("Measurement(key='HD95', value=0.0, unit='mm', status='ok', referenceToTest=0.0, ")
    assert "description" not in shown and "reason" not in shown


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("a.nrrd", r"The reference cannot be compared\. a\.nrrd: there is no such file\.$"),
        (Path("a.nrrd"), r"a\.nrrd: there is no such file\.$"),
        (np.zeros((2, 2, 2)), r"does not say how large its voxels are: give the spacing along i, j, k in mm\.$"),
        ([inputs.structureFromImage(shapes.ball(1), "A", None, None)], r"choose one of them, as in structures\[0\]\.$"),
        (5, "int."),
    ],
)
def testWhatIsNoStructureIsToldHowToBecomeOne(given, hint):
    with pytest.raises(ValueError, match=hint):
        compare(given, shapes.ball(5))
