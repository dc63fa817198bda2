"""The common extent: tubes of different lengths, of which only what both contours cover is compared."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import shapes
from findingwork import ofKind
from sayings import says
from tiers import rarely

from SegmentMetricsLib import Comparison, Settings, compare

COMMON = Settings(extent="common")
BOUNDARY = replace(COMMON, families="boundary", tolerances=())
# 10 x 10 mm across and 2 mm apart toward L; slices 2 to 14 and 5 to 20
TUBES = shapes.box((5, 5, 2), (14, 14, 14)), shapes.box((7, 5, 5), (16, 14, 20))
LONG = (40, 40, 60)


def tubeMesh(side: float, low: float, high: float):
    """Return a box around the z axis."""
    return shapes.boxMesh((-side / 2, -side / 2, low), (side / 2, side / 2, high))


def testHausdorffIsTheLateralDistance():
    whole, common = (compare(*TUBES, replace(COMMON, extent=extent)) for extent in ("whole", "common"))
    # the test goes on for 6 mm, 2 mm beside the reference
    assert whole["HD"].value == pytest.approx(math.hypot(6, 2), abs=0.1) and common["HD"].value == pytest.approx(2)
    assert (common["OverMax"].value, common["UnderMax"].value) == pytest.approx((2, 2))
    # bands between two squares, 10 and 6 mm wide, without four corners each
    assert common["BIoU_2mm"].value == pytest.approx(31.5 / (2 * 63.5 - 31.5), abs=0.001)
    # of 10 slices of 10 x 10 pixels each 8 x 10 are shared
    assert common["DSC"].value == pytest.approx(0.8)
    assert common["VoxelVolumeReference"].value == common["VoxelVolumeTest"].value == 1000
    # the contours cut four corners of half a pixel by half a pixel
    assert common["VolumeReference"].value == pytest.approx(10 * (100 - 4 * 0.125))
    assert common["OverVolume"].value == common["UnderVolume"].value == 200
    covered = {"choice": "common", "normal": [0, 0, 1], "low": 5, "high": 14, "slices": 10}
    assert common.extent == {**covered, "beyond": {"reference": [3, 0], "test": [0, 6]}}
    again = Comparison.fromDictionary(json.loads(json.dumps(common.record().toDictionary())))
    # the structures themselves are described as they are
    assert again.extent == common.extent and again.sides[0]["volumeMm3"] > 1200
    # no boundary faces the ends
    assert common["MeanS"].cause.name == "NO_BOUNDARY"
    for direction in common.distances.directions:
        # 9 mm between the first and the last slice plane, and the contour of one slice
        assert direction.totalSize == pytest.approx(9 * (4 * 9 + 4 * math.sqrt(0.5)))
        heights = direction.surface.points[:, 2]
        assert (heights.min(), heights.max()) == (5, 14)


def testCapsAreNotTheNearestPlace():
    """The test lies 2 mm inside the reference, and ends where the reference ends, too."""
    outer, inner = shapes.box((3, 3, 5), (16, 16, 14)), shapes.box((5, 5, 5), (14, 14, 14))
    for pair in ((outer, inner), (inner, outer)):
        distances = compare(*pair, BOUNDARY).distances
        assert min(d.distances.min() for d in distances.directions) == pytest.approx(2)
        # toward the corners that the contours cut
        assert max(d.distances.max() for d in distances.directions) == pytest.approx(2 * math.sqrt(2), abs=1e-6)
    # with its caps the inner one is as near as they are to each other
    whole = compare(outer, inner, replace(BOUNDARY, extent="whole"))
    assert all(direction.sizeWithin(0.0) > 0 for direction in whole.distances.directions)


def testWhatIsCountedIsThatOfTheCroppedImages():
    rng = np.random.default_rng(3)
    arrays = [np.pad(shapes.blob(seed, (20, 18, 14), 0.4, 2.0), 2) for seed in (5, 6)]
    arrays[0][:6], arrays[1][13:] = 0, 0
    weights = [array * rng.uniform(0.2, 1, array.shape).astype(np.float32) for array in arrays]
    slices = [np.flatnonzero((array >= 0.5).any(axis=(1, 2))) for array in weights]
    first, last = max(s[0] for s in slices), min(s[-1] for s in slices)
    spacing = (1, 1.5, 2)
    families = ("overlap", "agreement", "voxel", "effort", "slices", "hazard")
    # of the second pair voxels count in part
    for given in (arrays, weights):
        settings = Settings(families=families, extent="common")
        images = [shapes.imageOf(array, spacing) for array in given]
        cropped = [shapes.imageOf(array[first : last + 1], spacing, (0, 0, 2.0 * first)) for array in given]
        critical = np.zeros(arrays[0].shape, np.uint8)
        critical[:, :, :3] = 1
        wall = {"Wall": shapes.imageOf(critical, spacing)}
        found = compare(*images, settings, criticals=wall)
        expected = compare(*cropped, replace(settings, extent="whole"), criticals=wall)
        closed = ("VolumeReference", "VolumeTest", "VolumeDifference")
        for key in found:
            if key not in closed:
                assert found[key].value == pytest.approx(expected[key].value, rel=1e-9, nan_ok=True), key
        assert [row.values for row in found.slices] == [row.values for row in expected.slices]
        assert [row.index - first for row in found.slices] == [row.index for row in expected.slices]
    assert found.grid["evaluated"]["voxels"] == (last - first + 1) * arrays[0][0].size


def testOneSliceInCommonIsThatSlice():
    arrays = [np.pad(shapes.blob(seed, (22, 20, 6), 0.4, 2.0), 2) for seed in (1, 2)]
    middle = 4
    arrays[0][middle + 1 :], arrays[1][:middle] = 0, 0
    settings = Settings(families=("boundary", "overlap"), tolerances=(2,), extent="common")
    found = compare(*(shapes.imageOf(array, (1, 1.5, 3)) for array in arrays), settings)
    single = compare(*(shapes.imageOf(array[middle], (1, 1.5)) for array in arrays), settings)
    assert found.extent["slices"] == 1
    assert found["DSC"].value == single["DSC"].value
    assert found["HD"].value == pytest.approx(single["HD"].value, abs=0.2)
    assert found["MASD"].value == pytest.approx(single["MASD"].value, abs=0.02)
    assert found["BIoU_2mm"].value == pytest.approx(single["BIoU_2mm"].value, abs=0.01)


@pytest.mark.parametrize("angle", [10, 40, *rarely([20, 30, 50])])
def testRoundingDoesNotPartOneSliceInCommon(angle):
    direction, arrays = shapes.rotation((1, 2, 3), angle), np.zeros((2, 12, 12, 12), np.uint8)
    arrays[0, 2:6, 1:5, 2:9] = arrays[1, 5:9, 3:10, 4:11] = 1
    pair = [shapes.imageOf(array, (1, 1, 2.3), (7.1, -20.3, 41.7), direction) for array in arrays]
    for found in (compare(*both, replace(COMMON, families="overlap")) for both in (pair, pair[::-1])):
        # 4 x 7 and 7 x 7 pixels, of which 2 x 5 are shared
        assert (found["DSC"].value, found.extent["slices"]) == (20 / 77, 1)


def testNoCommonExtent():
    boxes = (shapes.box((5, 5, low), (14, 14, high)) for low, high in ((2, 8), (10, 20)))
    apart = compare(*boxes, replace(COMMON, families="all"))
    reason = says(apart["HD"].reason)
    assert {measurement.reason for measurement in apart.values()} == {reason} and apart.slices == ()
    assert apart.extent["reason"] == reason and [one.reason for one in ofKind(apart, "nothing-compared")] == [reason]
    assert compare(tubeMesh(10, 0, 8), tubeMesh(10, 8, 20), BOUNDARY)["HD"].reason == reason


def testStructuresWithoutEnds():
    empty = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
    missed = compare(TUBES[0], empty, COMMON)
    assert missed["HD"].value == math.inf and missed["DSC"].value == 0
    assert missed.extent["choice"] == "whole"
    says(missed.extent["reason"])
    squares = shapes.loops([(0, 0), (9, 0), (9, 9), (0, 9)]), shapes.loops([(1, 0), (9, 0), (9, 9), (1, 9)])
    plane = compare(*squares, BOUNDARY)
    assert plane["HD"].value == pytest.approx(1) and plane.extent["choice"] == "whole"
    assert compare(*TUBES, Settings(metrics="DSC")).extent is None


class TestMeshes:
    def testTubesOfDifferentLength(self):
        outer, inner = tubeMesh(20, 0, 100), tubeMesh(16, 30, 130)
        found = compare(outer, inner, replace(COMMON, tolerances=(1, 3)))
        assert (found.extent["low"], found.extent["high"], found.extent["slices"]) == (30, 100, None)
        # the farthest places are the edges of the outer one, off those of the inner one
        assert 2 < found["HD"].value <= 2 * math.sqrt(2) + 1e-9
        assert min(d.distances.min() for d in found.distances.directions) == pytest.approx(2)
        assert found["VolumeReference"].value == pytest.approx(70 * 400)
        # counted on a grid of 0.16 mm, whose voxel centers lie in the faces of the inner one
        assert found["DSC"].value == pytest.approx(2 * 256 / (256 + 400), abs=0.015)
        assert found["SignedMean"].value < -2
        # the bands across the axis reach from 20 to 14 mm and from 16 to 10 mm
        assert found["BIoU_3mm"].value == pytest.approx((256 - 196) / (400 - 100), abs=0.005)
        assert found["BIoU_1mm"].value == 0

    def testWhereCapsBegin(self):
        """What faces the ends of a ball within 60 degrees of the axis is above half its radius."""
        extent = compare(shapes.ballMesh(10, resolution=180), tubeMesh(10, -30, 30), BOUNDARY).extent
        assert (extent["low"], extent["high"]) == pytest.approx((-5, 5), abs=0.2)

    def testOpenSurfaces(self):
        says(compare(shapes.openBox(), tubeMesh(1, -1, 1), BOUNDARY)["HD"].reason, "reference")

    @pytest.mark.parametrize("isReference", [True, False])
    def testWithAMask(self, isReference):
        """Slices 5 to 14 of the mask lie within the mesh, which ends at 4.5 and 20.5 mm."""
        pair = [TUBES[0], shapes.boxMesh((6.5, 4.5, 4.5), (16.5, 14.5, 20.5))]
        found = compare(*(pair if isReference else pair[::-1]), replace(BOUNDARY, families=("boundary", "overlap")))
        assert (found.extent["low"], found.extent["high"], found.extent["slices"]) == (5, 14, 10)
        assert found["DSC"].value == pytest.approx(0.8)
        # off the corners that the mask's contour cuts the mesh's edges are a little farther
        assert 2 <= found["HD"].value <= math.hypot(2, 0.5) + 1e-9
        assert found["VolumeTest" if isReference else "VolumeReference"].value == pytest.approx(1000)


def testSlicesOfDifferentThickness():
    """The test has slices of 1 mm, from 4 to 20 mm, the reference of 2 mm, from 2 to 14 mm."""
    reference = shapes.box((5, 5, 1), (14, 14, 7), spacing=(1, 1, 2))
    found = compare(reference, shapes.box((7, 5, 4), (16, 14, 20)), replace(BOUNDARY, families=("boundary", "overlap")))
    assert (found.extent["low"], found.extent["high"], found.extent["slices"]) == (4, 14, 6)
    assert found["HD"].value == pytest.approx(2, abs=0.1)
    # the reference fills its slices from 3 to 15 mm, the test those from 3.5 to 14.5 mm
    assert found["DSC"].value == pytest.approx(2 * 8 * 10 * 11 / (100 * 12 + 100 * 11))
    assert found["VoxelVolumeReference"].value == 6 * 200


class TestFinding:
    def testEndsThatDecide(self):
        tubes = shapes.box((5, 5, 5), (14, 14, 50), LONG), shapes.box((6, 5, 5), (15, 14, 38), LONG)
        whole = replace(BOUNDARY, extent="whole")
        (finding,) = ofKind(compare(*tubes, whole), "ends-decide")
        assert {"distance": "12.0", "end": "upper", "within": "1.0"}.items() <= finding.values.items()
        # a gland or a lens tapers off: where it ends is not arbitrary
        z, y, x = np.mgrid[-28:32, -15:15, -15:15]
        around = (x**2 + y**2) / 8**2
        glands = [shapes.imageOf((z / np.where(z > 0, end, 25.0)) ** 2 + around < 1) for end in (25.0, 18.0)]
        assert "where" not in ofKind(compare(*glands, whole), "ends-decide")[0].values
        says(finding, "--extent common", 'extent="common"', "Advanced > Extent")
        reduced = compare(*tubes, BOUNDARY)
        assert reduced["HD"].value == pytest.approx(1)
        says(reduced.findings[0], "34", "33.0 mm", "12.0 mm", "0.0 mm")

    def testEndsThatDoNot(self):
        # as long as each other; a little longer, but far apart sideways, or almost as far; longer, but as wide as long
        for high, low in (((15, 14, 50), 7), ((26, 14, 46), 7), ((24, 14, 38), 6), ((15, 14, 16), 5)):
            size = (45, 40, 60)
            one = shapes.box((5, 5, low), (14, 14, high[2] if low == 5 else 50), size)
            pair = one, shapes.box((6, 5, low), high, size)
            assert not ofKind(compare(*pair, replace(BOUNDARY, extent="whole")), "ends-decide")
