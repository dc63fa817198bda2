"""What is compared with itself differs by exactly nothing, also stored in another way, displayed, or turned.

test_registry.py says so of the shared pairs.
"""

from __future__ import annotations

import numpy as np
import promises
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.casework import Case
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.model.structures import Match, Pairing

SPACING = (0.977, 0.977, 3.3)
ORIGIN = (-103.3, 55.17, 12.9)


def ball(angle: float, spacing=SPACING) -> SimpleITK.Image:
    z, y, x = np.mgrid[:20, :20, :20] - 9.7
    direction = shapes.rotation((1, -1, 0.5), np.degrees(angle))
    return shapes.imageOf((x / 1.3) ** 2 + y**2 + (1.2 * z) ** 2 < 36, spacing, ORIGIN, direction)


def requireNothing(comparison) -> None:
    assert sum(measurement.status == "ok" for measurement in comparison.values()) > 30
    for key, measurement in comparison.items():
        promises.requireNoDifference(key, measurement)


@pytest.mark.parametrize("angle", [0, 0.4])
def testTheSameMaskStoredInAnotherWay(angle):
    one = ball(angle)
    padded = SimpleITK.ConstantPad(one, (3, 4, 5), (1, 2, 6))
    requireNothing(compare(one, padded, Settings(families="all")))
    # the cells of a flipped mask are cut into other triangles, whose centers MSI3D compares, and where the volume
    # between the surfaces is counted
    for other in (SimpleITK.Flip(one, (True, False, True)), SimpleITK.PermuteAxes(one, (2, 0, 1))):
        found = compare(one, other, Settings(families=("boundary", "overlap", "effort", "voxel")))
        for key in ("HD95", "CentroidShiftR", "CentroidShiftA", "CentroidShiftS", "VolumeDifference"):
            assert found[key].value == pytest.approx(0, abs=1e-9), key
        assert found["CentroidShiftS"].value == found["CentroidShiftR"].value == 0 and found["DSC"].value == 1


@pytest.mark.parametrize("angle", [0, 0.4])
def testDisplayedSurfaces(scene, angle):
    from SegmentMetricsLib.mrml.inputs import asDisplayed

    both = [structureFromImage(ball(angle), "A", None, None) for _ in range(2)]
    settings = Settings(families="all", surface="displayed")
    case = Case(Pairing((), (), ()), settings, displayed=asDisplayed)
    requireNothing(next(case.pairs([Match(*both)])))


def testADistanceIsNotRoundedAway():
    """A shift of a hundred thousandth of a millimeter is one; of masks, it is the rounding of an origin in a header."""
    corners = np.array([(-103.3, 55.17, 12.9), (-90.1, 61.0, 20.2)])
    one, moved = shapes.boxMesh(*corners), shapes.boxMesh(*np.add(corners, (0, 1e-5, 0)))
    assert compare(one, moved, Settings(families="boundary"))["HD"].value == pytest.approx(1e-5, rel=1e-3)
