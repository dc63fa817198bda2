"""Distances between voxels: by hand, against distance maps, and between clouds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import voxel as voxels

BOTH = Settings(families=("overlap", "agreement", "voxel"))


def testErrataOfAverageAndProbabilisticDistance():
    # two voxels against one of them and one beside: distances 0, 1 there, 0 back
    row = np.zeros((1, 3, 6), np.uint8)
    row[0, 1, 1:4] = 1
    other = np.zeros_like(row)
    other[0, 1, 1] = 1
    comparison = compare(shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)), BOTH)
    average = comparison["AVD"]
    assert (average.referenceToTest, average.testToReference) == (2, 0)  # (0 + 2 + 4) / 3 mm
    assert average.value == 2, "the larger of the two; their mean would be 1"
    assert comparison["HDvox"].value == 4
    assert comparison["PBD"].value == 2 / (2 * 1)
    inVoxels = compare(
        shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)),
        Settings(families="voxel", voxelUnit="voxel", quantiles=(1, 0.75)),
    )  # fmt: skip
    assert (inVoxels["AVD"].value, inVoxels["HDvox"].value, inVoxels["AVD"].unit) == (1, 2, "voxel")
    assert inVoxels["AVD"].text() == "1.00 voxel"
    assert inVoxels["HDvox_0.75"].value == 1.5  # of 0, 1, 2, halfway between the last two


def testBalancedDistance():
    """Both sums of distances per voxel of the reference: a large test does not dilute its errors."""
    row, other = np.zeros((1, 3, 12), np.uint8), np.zeros((1, 3, 12), np.uint8)
    row[0, 1, 1:3], other[0, 1, 2:8] = 1, 1
    found = compare(shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)), BOTH)["bAVD"]
    # there 2 and 0 mm; back 0, 2, 4, 6, 8, 10 mm; two voxels of the reference
    assert (found.referenceToTest, found.testToReference, found.value) == (1, 15, 8)
    back = compare(shapes.imageOf(other, (2, 1, 1)), shapes.imageOf(row, (2, 1, 1)), BOTH)["bAVD"]
    assert back.value == (30 + 2) / 6 / 2
    inVoxels = Settings(metrics="bAVD", voxelUnit="voxel")
    found = compare(shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)), inVoxels)["bAVD"]
    assert (found.value, found.unit) == (4, "voxel")


@pytest.mark.parametrize("cuts", [None, 2])
def testBalancedDistanceOfMemberships(cuts):
    """The mean over the cuts, like the others."""
    soft = [np.zeros((3, 3, 12)) for _ in range(2)]
    soft[0][1, 1, 2:6], soft[0][1, 1, 3:5] = 0.5, 1
    soft[1][1, 1, 4:9], soft[1][1, 1, 4:6] = 0.5, 1
    found = compare(*map(shapes.imageOf, soft), Settings(metrics="bAVD", cuts=cuts))["bAVD"]
    # at 0.5: voxels 2 to 5 and 4 to 8, sums 2 + 1 and 1 + 2 + 3, 4 voxels; at 1: 3 to 4 and 4 to 5, sums 1 and 1
    half, whole = (3 + 6) / 8, (1 + 1) / 4
    assert found.value == pytest.approx(half if cuts is None else (half + whole) / 2)


def testFlatCloudsHaveNoMahalanobisDistance():
    plates = [shapes.box((3, 3, 4), (9 + n, 9, 4)) for n in range(2)]
    distance = compare(*plates, BOTH)["MHD"]
    assert distance.status == "undefined" and "singular" in distance.reason
    # a planar image has no third direction in which they could spread
    contours = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0]) for seed in (3, 4)]
    assert compare(*contours, BOTH)["MHD"].status == "ok"


def testFlatCloudsAreFlatInAnyDirection():
    """In an oblique plane rounding leaves a variance across it that is not quite 0."""
    for size in (20, 40, 60):
        k, j, i = np.indices((size, size, size))
        plane = i + j + k == size
        masks = [Mask.fromArray(part, Grid((size,) * 3, np.eye(4))) for part in (plane, plane & (i > size // 3))]
        with pytest.raises(Undefined, match="singular"):
            voxels.mahalanobis(*masks)


@pytest.mark.parametrize("axis", [0, 1, 2])
def testMahalanobisOfASlice(axis):
    """Squares of 3 x 3 pixels, 2 and 1 pixels apart along the two axes; variances 2/3: sqrt((4 + 1) / (2/3))."""
    first, second = np.zeros((2, 9, 8), np.uint8)
    first[2:5, 2:5] = second[3:6, 4:7] = 1
    # the grid's axis i, j, k is the array's axis 2, 1, 0
    stored = [np.expand_dims(array, 2 - axis) for array in (first, second)]
    grid = Grid(stored[0].shape[::-1], np.eye(4), planar=True)
    masks = tuple(Mask.fromArray(array, grid) for array in stored)
    assert voxels.mahalanobis(*masks) == pytest.approx(math.sqrt(5 / (2 / 3)))


@pytest.mark.parametrize(("order", "which"), [((0, 1), "test"), ((1, 0), "reference"), ((1, 1), "reference")])
def testDistancesFromNothing(order, which):
    grid = Grid((4, 4, 4), np.eye(4))
    masks = Mask(np.ones((1, 1, 1), np.uint8), (1, 1, 1), grid), Mask.empty(grid)
    pair = [masks[number] for number in order]
    with pytest.raises(Undefined, match=f"the {which} encloses no voxel"):
        voxels.measure(*pair, "mm")
    with pytest.raises(Undefined, match=f"the {which} encloses no voxel"):
        voxels.mahalanobis(*pair)


def testNearestVoxelOnAShearedLattice():
    """The nearest voxel need not be at the rim in voxel indices: against all voxels, one by one."""
    axes = np.array([[1, 2.4, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    grid = Grid((16, 18, 14), axes)
    masks = [Mask.fromArray(shapes.blob(seed, share=0.3), grid) for seed in (1, 2)]
    points = [grid.toWorld(np.argwhere(m.voxels)[:, ::-1] + m.low) for m in masks]
    for found, start, goal in zip(voxels.measure(*masks, "mm"), points, points[::-1], strict=True):
        exact = np.concatenate([np.linalg.norm(goal - point, axis=1).min(keepdims=True) for point in start])
        assert found.mean == pytest.approx(exact.mean())
        assert found.quantile(0.9) == pytest.approx(np.quantile(exact, 0.9))


@pytest.mark.parametrize("unit", ["mm", "voxel"])
@pytest.mark.parametrize("shape", [(30, 40, 45), (1, 80, 90)])
def testDistancesOfMeshesAreTheSameFromAMap(monkeypatch, unit, shape):
    """One by one the search finds the same, in space and in a plane, for structures that are apart in part."""
    grid = Grid(shape[::-1], np.diag([0.5, 0.5, 0.5, 1]), planar=shape[0] == 1)
    masks = [Mask.fromArray(shapes.blob(seed, shape[::-1], share), grid) for seed, share in ((1, 0.3), (2, 0.1))]
    searched = voxels.measure(*masks, unit, areMeshes=True)
    monkeypatch.setattr(voxels, "MOST_SEARCHED", 10)
    for found, expected in zip(voxels.measure(*masks, unit, areMeshes=True), searched, strict=True):
        assert found.shared == expected.shared and len(found.distances) > 10
        assert found.distances == pytest.approx(expected.distances, rel=1e-12)
