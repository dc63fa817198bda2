"""Numbers that geometry knows: worked examples, balls, boxes; and what is compared with itself differs by nothing."""

from __future__ import annotations

import math

import numpy as np
import promises
import pytest
import shapes
import SimpleITK
from segmentnodes import segmentationOf
from tiers import rarely

from SegmentMetricsLib import Settings, compare


def values(comparison, *keys):
    return [comparison[key].value for key in keys]


# Worked examples of Metrics Revolutions, Fig. A1.


def triangle(apex: float):
    base = np.linspace(-2, 2, 102)
    return shapes.loops([*((x, 0.0) for x in base), (0.0, apex)])


def testTrianglesWithFinelySplitBase():
    """By the middle of every side, as in the paper."""
    comparison = compare(triangle(6), triangle(2))
    paper = comparison.conventions(["MeshMetrics-1.4.1"])["MeshMetrics-1.4.1"]
    # sides of A: midpoints (+-1, 3); nearest place of B is its side x + y = 2, sqrt(2) away
    assert paper["HD95"].value == pytest.approx(math.sqrt(2), abs=1e-9)
    sideA, sideB = math.hypot(2, 6), math.hypot(2, 2)
    toTest = 2 * sideA * math.sqrt(2) / (2 * sideA + 4)
    # midpoints (+-1, 1) of B's sides lie 1 mm above the base, the side of A is farther off
    toSideOfA = abs(6 * -1 - 2 * 1 + 12) / math.hypot(6, 2)
    toReference = 2 * sideB * min(1, toSideOfA) / (2 * sideB + 4)
    assert paper["MASD"].value == pytest.approx((toTest + toReference) / 2, abs=1e-9)
    assert paper["MASD"].value == pytest.approx(0.72, abs=0.005)
    assert paper["ASSD"].value == pytest.approx(0.82, abs=0.005)
    # and by all places: from one apex to the other, (0, 6) and (0, 2)
    assert comparison["HD"].value == pytest.approx(4, abs=1e-9)
    assert values(comparison, "DSC", "TPR", "PPV") == pytest.approx([0.5, 1 / 3, 1], abs=1e-9)
    assert values(comparison, "VolumeReference", "VolumeTest") == pytest.approx([12, 4])
    assert comparison["VolumeReference"].unit == "mm2"


# Balls, of which every number has a formula.


def testShiftedBalls():
    comparison = compare(shapes.ballMesh(20, resolution=64), shapes.ballMesh(20, (4, 0, 0), 64))
    assert comparison["HD"].value == pytest.approx(4, abs=0.03)
    # a point of the sphere at angle t to the shift is |sqrt(20^2 + 4^2 - 2 20 4 cos t) - 20| away from the other
    cosine = np.linspace(-1, 1, 200001)
    truth = np.abs(np.sqrt(400 + 16 - 160 * cosine) - 20)
    assert comparison["MASD"].value == pytest.approx(truth.mean(), abs=0.01)
    assert comparison["HD95"].value == pytest.approx(np.quantile(truth, 0.95), abs=0.03)
    assert comparison["NSD_2mm"].value == pytest.approx((truth <= 2).mean(), abs=0.01)
    assert comparison["SignedMean"].value == pytest.approx(0, abs=0.01)
    # two spherical caps of height h = R - d/2
    height = 20 - 2
    shared = 2 * math.pi * height**2 * (3 * 20 - height) / 3
    assert comparison["DSC"].value == pytest.approx(shared / (4 / 3 * math.pi * 20**3), abs=2e-3)


# The same stored in another way, displayed, or turned; test_registry.py says so of the shared pairs.


SPACING = (0.977, 0.977, 3.3)
ORIGIN = (-103.3, 55.17, 12.9)


def ball(angle: float, spacing=SPACING) -> SimpleITK.Image:
    z, y, x = np.mgrid[:16, :16, :16] - 7.7
    direction = shapes.rotation((1, -1, 0.5), np.degrees(angle))
    return shapes.imageOf((x / 1.3) ** 2 + y**2 + (1.2 * z) ** 2 < 24, spacing, ORIGIN, direction)


def requireNothing(comparison) -> None:
    assert sum(measurement.status == "ok" for measurement in comparison.values()) > 30
    for key, measurement in comparison.items():
        promises.requireNoDifference(key, measurement)


@pytest.mark.parametrize("angle", [0.4, *rarely((0,))])
def testTheSameMaskStoredInAnotherWay(angle):
    one = ball(angle)
    part = one[8:, 8:, 8:]
    for mine, its in ((one, SimpleITK.ConstantPad(one, (3, 4, 5), (1, 2, 6))), (part, shapes.surfaceOf(part))):
        requireNothing(compare(mine, its, Settings(families="all")))
    # the cells of a flipped mask are cut into other triangles, whose centers MSI3D compares, and where the volume
    # between the surfaces is counted
    for other in (SimpleITK.Flip(one, (True, False, True)), SimpleITK.PermuteAxes(one, (2, 0, 1))):
        found = compare(one, other, Settings(families=("boundary", "overlap", "effort", "voxel")))
        for key in ("HD95", "CentroidShiftR", "CentroidShiftA", "CentroidShiftS", "VolumeDifference"):
            assert found[key].value == pytest.approx(0, abs=1e-9), key
        assert found["CentroidShiftS"].value == found["CentroidShiftR"].value == 0 and found["DSC"].value == 1


@pytest.mark.parametrize("angle", [0, 0.4])
def testDisplayedSurfaces(scene, angle):
    from SegmentMetricsLib import mrml

    one, other = (segmentationOf(scene, A=ball(angle)) for _ in range(2))
    requireNothing(mrml.compareSegments(one, "A", other, "A", Settings(families="all", surface="displayed")))


def testADistanceIsNotRoundedAway():
    """A shift of a hundred thousandth of a millimeter is one; of masks, it is the rounding of an origin in a header."""
    corners = np.array([(-103.3, 55.17, 12.9), (-90.1, 61.0, 20.2)])
    one, moved = shapes.boxMesh(*corners), shapes.boxMesh(*np.add(corners, (0, 1e-5, 0)))
    assert compare(one, moved, Settings(families="boundary"))["HD"].value == pytest.approx(1e-5, rel=1e-3)
