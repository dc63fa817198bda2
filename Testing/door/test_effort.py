"""Effort measurements against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
from sayings import says

from SegmentMetricsLib import Settings, compare

EFFORT = Settings(families="effort", tolerances=(1, 2))
SQUARE = shapes.loops([(0, 0), (10, 0), (10, 10), (0, 10)])
MOVED = shapes.loops([(-2, 0), (8, 0), (8, 10), (-2, 10)])
# the contour of 10 x 10 pixels of 1 mm runs half a pixel outside their centers and cuts the corners
OUTLINE = 4 * 9 + 4 * math.sqrt(0.5)


def testSquareMovedToTheRight():
    """A square of 10 mm is drawn 2 mm too far toward R (-x).

    Of the reference lie farther than 1 mm from the test: its R side but for 1 mm at either end, where the
    test's flanks are nearer; its L side; the last 1 mm of each flank.
    """
    found = compare(SQUARE, MOVED, EFFORT).numbers
    length = (10 - 2 * 1) + 10 + 2 * 1
    assert found["APL_1mm"] == pytest.approx(length, abs=0.05)
    assert found["RelativeAPL_1mm"] == pytest.approx(length / 40, abs=0.002)
    # nothing lies farther than 2 mm, and exactly 2 mm is within
    assert found["APL_2mm"] == 0 == found["RelativeAPL_2mm"]
    assert [found[f"CentroidShift{side}"] for side in "RAS"] == pytest.approx([2, 0, 0], abs=1e-12)


def testOnlyAPartOfALongSideIsFar():
    """A corner is drawn 4 mm too far: near are the side's start, up to 1 mm, and 1 mm next to what both have."""
    square, drawn = (shapes.loops([(0, 0), (40, -far), (40, 40), (0, 40)]) for far in (0, 4))
    found = compare(square, drawn, EFFORT)["APL_1mm"].value
    assert found == pytest.approx(40 - 1 - math.hypot(40, 4) / 4, abs=0.005)


@pytest.mark.parametrize("thickness", [1.0, 3.0])
def testSlicesThatTheTestLacksCountInFull(thickness):
    spacing = (1, 1, thickness)
    reference = shapes.box((5, 5, 5), (14, 14, 14), spacing=spacing)
    test = shapes.box((5, 5, 5), (14, 14, 10), spacing=spacing)
    found = compare(reference, test, EFFORT).numbers
    assert found["APL_2mm"] == pytest.approx(4 * OUTLINE)
    assert found["RelativeAPL_2mm"] == pytest.approx(4 / 10)
    # the center of slices 5 to 14 is 9.5, that of 5 to 10 is 7.5
    assert found["CentroidShiftS"] == pytest.approx(-2 * thickness)
    # nothing of the smaller one is missing when it is the reference
    assert compare(test, reference, EFFORT).numbers["APL_2mm"] == 0


def testSmallVoxelsFarFromTheOrigin():
    masks = np.zeros((2, 5, 9, 9), bool)
    masks[0, 1:3, 2:6, 2:6] = masks[1, 1:3, 3:7, 4:8] = True
    found = compare(*masks, Settings(metrics="APL", tolerances=1e-6), spacing=1e-6, origin=(1e6,) * 3)
    assert found["APL_1e-06mm"].value == pytest.approx(18.2135e-6, abs=3e-9)


def testCentersByHand():
    """Boxes of unequal sides, an L of 4 x 1 and 1 x 2 mm, a pyramid of 4 mm height on a square of 2 mm."""
    boxes = shapes.box((5, 5, 5), (14, 14, 14)), shapes.box((6, 3, 7), (9, 12, 20))
    found = compare(*boxes, EFFORT).numbers
    assert [found[f"CentroidShift{side}"] for side in "RAS"] == pytest.approx([9.5 - 7.5, 9.5 - 7.5, 13.5 - 9.5])
    bent = shapes.loops([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)])
    found = compare(SQUARE, bent, EFFORT).numbers
    x, y = (4 * 2 + 2 * 0.5) / 6, (4 * 0.5 + 2 * 2) / 6
    assert [found[f"CentroidShift{side}"] for side in "RAS"] == pytest.approx([5 - x, 5 - y, 0], abs=1e-12)
    base = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, 4)]
    sides = [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    found = compare(shapes.boxMesh((0, 0, 0), (6, 8, 10)), shapes.meshOf(base, sides), EFFORT).numbers
    assert [found[f"CentroidShift{side}"] for side in "RAS"] == pytest.approx([3 - 1, 4 - 1, 1 - 5])


def testCenterOfMaskAndItsOwnMesh():
    """A thick part and one that is a voxel thin, which weighs less by its surface: of both structures or of neither."""
    voxels = np.zeros((12, 12, 24), np.uint8)
    voxels[2:8, 2:8, 2:8] = voxels[4, 4, 8:22] = 1
    mask, moved = (shapes.imageOf(np.roll(voxels, steps, 1), (1, 1, 2)) for steps in (0, 3))
    meshes = [shapes.surfaceOf(image) for image in (mask, moved)]
    for pair in ((mask, moved), (meshes[0], moved), (mask, meshes[1]), meshes):
        found = compare(*pair, EFFORT).numbers
        assert [found[f"CentroidShift{side}"] for side in "RAS"] == pytest.approx([0, -3, 0], abs=1e-9)


def testEmptyStructures():
    box, empty = shapes.box((5, 5, 5), (14, 14, 14)), shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
    missed, invented, absent = compare(box, empty, EFFORT), compare(empty, box, EFFORT), compare(empty, empty, EFFORT)
    assert missed["APL_2mm"].value == pytest.approx(10 * OUTLINE) and missed["RelativeAPL_2mm"].value == 1
    assert invented["APL_2mm"].value == 0 and says(invented["RelativeAPL_2mm"].reason, "reference")
    says(missed["CentroidShiftR"].reason, "test")
    assert {measurement.reason for measurement in absent.values()} == {says(absent["APL_2mm"].reason)}
