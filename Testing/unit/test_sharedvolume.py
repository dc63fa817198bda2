"""The overlap of masks on different grids, held against the same shapes on a grid that both grids divide."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from shapes import maskOf
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.sharedvolume import sharedVolume

OVERLAP = Settings(families=("overlap", "agreement"))
# mm
STEP = 0.25


def onSteps(array: np.ndarray, spacing, origin) -> np.ndarray:
    """Return an array [k, j, i] on cubes as long as a step, from a corner at -10 mm, of which voxels are multiples."""
    for axis, length in enumerate(reversed(spacing)):
        array = np.repeat(array, round(length / STEP), axis)
    first = [round((start - length / 2 + 10) / STEP) for start, length in zip(reversed(origin), reversed(spacing))]
    result = np.zeros((240,) * 3, bool)
    result[tuple(slice(a, a + n) for a, n in zip(first, array.shape))] = array
    return result


@pytest.mark.parametrize(
    ("spacing", "origin"),
    [
        ((1, 1, 1), (0.5, 0, 0)),  # half a voxel apart, where the nearest voxel is either of two
        ((2, 1.5, 1), (0.25, -0.5, 1)),
        ((3, 0.5, 2.5), (-1, 0.75, 0.25)),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def testAgainstAGridThatDividesBoth(spacing, origin, seed):
    first, second = shapes.blob(seed, (12, 10, 14)), shapes.blob(seed + 7, (6, 12, 5), smooth=1.0)
    both = onSteps(first, (1, 1, 1), (0, 0, 0)), onSteps(second, spacing, origin)
    expected = float(np.count_nonzero(both[0] & both[1])) * STEP**3
    images = shapes.imageOf(first), shapes.imageOf(second, spacing, origin)
    assert expected > 0
    for one, other in (images, images[::-1]):
        assert sharedVolume(maskOf(one), maskOf(other)) == pytest.approx(expected, rel=1e-12)
    sizes = [float(np.count_nonzero(array)) * STEP**3 for array in both]
    result, swapped = compare(*images, OVERLAP), compare(*images[::-1], OVERLAP)
    assert result["DSC"].value == pytest.approx(2 * expected / sum(sizes), rel=1e-12)
    assert result["DSC"].value == swapped["DSC"].value
    assert result["TPR"].value == pytest.approx(expected / sizes[0], rel=1e-12)
    assert result["PPV"].value == pytest.approx(expected / sizes[1], rel=1e-12)
    # of all voxels, too: both say the same of what is in both
    assert result["FMS"].value == pytest.approx(result["DSC"].value, rel=1e-12)
    assert result["FNR"].value == pytest.approx(1 - expected / sizes[0], rel=1e-9)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
@pytest.mark.parametrize("turned", [(False, False, False), (True, False, True)])
def testAxesInAnyOrder(order, turned):
    direction = shapes.rotation((1, 2, 3), 30)
    first = shapes.imageOf(shapes.blob(3), (1, 1.5, 2), (4, 5, 6), direction)
    second = shapes.imageOf(shapes.blob(4), (1.3, 1, 2.2), (4.2, 5.5, 6), direction)
    expected = sharedVolume(maskOf(first), maskOf(second))
    stored = SimpleITK.Flip(SimpleITK.PermuteAxes(second, order), turned)
    assert expected > 100
    assert sharedVolume(maskOf(first), maskOf(stored)) == pytest.approx(expected, rel=1e-9)
    assert sharedVolume(maskOf(stored), maskOf(first)) == pytest.approx(expected, rel=1e-9)


def testContoursInAPlane():
    """Pixels of 1 x 1 and of 1.5 x 0.5 mm; how thick either slice is does not matter."""
    first = shapes.box((2, 2, 0), (9, 9, 0), (20, 20, 1), (1, 1, 3))
    second = shapes.box((1, 4, 0), (6, 11, 0), (20, 20, 1), (1.5, 0.5, 5), (0.25, 1, 0))
    # from 1.5 to 9.5 along both axes, and from 1 to 10 and 2.75 to 6.75
    shared = 8 * 4
    assert sharedVolume(maskOf(first), maskOf(second)) == pytest.approx(shared, rel=1e-12)
    assert compare(first, second, OVERLAP)["DSC"].value == pytest.approx(2 * shared / (64 + 36), rel=1e-12)


def testTurnedBoxesInAPlane():
    first = shapes.imageOf(np.ones((1, 20, 20), np.uint8))
    direction = shapes.rotation((0, 0, 1), 45)
    start = np.array([9.5, 9.5, 0]) - direction @ np.array([9.5, 9.5, 0])
    second = shapes.imageOf(np.ones((1, 20, 20), np.uint8), (1, 1, 1), tuple(start), direction)
    assert sharedVolume(maskOf(first), maskOf(second)) == pytest.approx(2 * (2**0.5 - 1) * 400, rel=1e-3)


@pytest.mark.parametrize("seed", [1, *rarely((2, 3))])
def testTurnedShapesAgainstRandomPoints(seed):
    direction = shapes.rotation((1, 2, 3), 20 * seed)
    first = maskOf(shapes.imageOf(shapes.blob(seed), (1, 1.5, 2), (4, 5, 6)))
    second = maskOf(shapes.imageOf(shapes.blob(seed + 9), (1.3, 1, 2.2), (6, 5.5, 2), direction))
    random = np.random.default_rng(seed)
    voxels = np.argwhere(first.voxels)[:, ::-1] + first.low
    places = voxels[random.integers(len(voxels), size=400_000)] + random.random((400_000, 3)) - 0.5
    index = np.rint(second.grid.toIndex(first.grid.toWorld(places))).astype(int) - second.low
    isNear = ((index >= 0) & (index < second.voxels.shape[::-1])).all(axis=1)
    hits = np.count_nonzero(second.voxels[tuple(index[isNear].T[::-1])])
    share, error = hits / len(places), np.sqrt(hits) / len(places)
    assert share > 0.05
    for one, other in ((first, second), (second, first)):
        assert abs(sharedVolume(one, other) / first.size - share) < 4 * error
