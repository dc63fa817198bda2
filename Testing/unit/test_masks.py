"""Grids and masks: geometry, cropping, resampling, common grids."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from sayings import refused
from scipy import ndimage
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.geometry import masks
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask, commonGrid
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.geometry.parts import partSizes, partsOf
from SegmentMetricsLib.geometry.surfaces import Surface
from SegmentMetricsLib.geometry.voxelization import maskOf
from SegmentMetricsLib.model.inputs import labelMask, labelMasks


def testGridOfAnObliqueImage():
    image = shapes.box((1, 2, 3), (4, 5, 6), (9, 8, 7), (0.5, 0.75, 2.0), (10, 20, 30))
    image.SetDirection(shapes.rotation((1, 1, 0), 25).ravel().tolist())
    grid = Grid.fromImage(image)
    for index in ((0, 0, 0), (8, 7, 6), (3, 1, 5)):
        assert grid.toWorld([index])[0] == pytest.approx(image.TransformIndexToPhysicalPoint(index))
        assert grid.toIndex(grid.toWorld([index]))[0] == pytest.approx(index, abs=1e-12)
    assert grid.spacing == pytest.approx([0.5, 0.75, 2.0])
    assert grid.voxelSize == pytest.approx(0.75)
    assert not grid.planar and grid.isRectangular


def testPlanarGrids():
    flat = shapes.imageOf(np.ones((1, 4, 5), bool), (0.5, 2.0, 7.0))
    grid = Grid.fromImage(flat)
    assert grid.planar and grid.flatAxis == 2 and grid.voxelSize == pytest.approx(1.0)
    twoD = Grid.fromImage(shapes.imageOf(np.ones((4, 5), bool), (0.5, 2.0), (0.0, 0.0)))
    assert twoD.planar and twoD.size == (5, 4, 1)
    # one voxel, and a row of voxels, are small volumes
    assert not Grid.fromImage(shapes.imageOf(np.ones((1, 1, 5), bool))).planar


def testCropsOfOneImageShareALattice():
    grid = Grid((50, 40, 30), np.diag([0.9765625, 0.9765625, 2.5, 1]))
    crop = grid.resize((7, 9, 11), (20, 21, 22))
    assert crop.size == (14, 13, 12)
    assert crop.offsetOn(grid) == (7, 9, 11)
    assert grid.offsetOn(crop) == (-7, -9, -11)
    shifted = Grid(crop.size, crop.matrix + np.array([[0, 0, 0, 0.01]] + [[0] * 4] * 3))
    assert shifted.offsetOn(grid) is None
    # what single precision in a header does to the numbers is no difference
    assert Grid(grid.size, np.float32(grid.matrix).astype(float)).offsetOn(grid) == (0, 0, 0)


@pytest.mark.parametrize("block", [1, 50, 2**20])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.float32])
def testLabels(dtype, block, monkeypatch):
    """Alone and with all others, however few voxels are looked at together."""
    monkeypatch.setattr(masks, "BLOCK", block)
    array, large = np.zeros((7, 6, 5), dtype), 2**31 + 5 if dtype == np.uint64 else 120
    array[1:4, 2:5, 1:3], array[4:6, :, 4], array[3, 0, 0], array[6, 5, 0] = 2, 3, large, 1
    for given in (array, array[3]):
        image = shapes.imageOf(given)
        together = labelMasks(image, 0.5)
        assert sorted(together) == np.unique(given)[1:].tolist()
        for label in (1, 2, 3, 4, large, 121):
            mask, others = labelMask(image, label, 0.5)
            assert set(others) == (set(together) if mask.isEmpty else set())
            for found in (mask, together.get(label, mask)):
                assert found.grid == Grid.fromImage(image)
                block = found.block((0, 0, 0), np.array(found.grid.size) - 1)
                np.testing.assert_array_equal(block > 0, (given == label).reshape(block.shape))


def testResamplingToAnotherGrid():
    ball = shapes.maskOf(shapes.ball(10, (0.2, 0.1, -0.3)))
    moved = ball.on(shapes.gridOf((4, 4, 4), 0.7, (5, -3, 2), shapes.rotation((0, 1, 1), 40)))
    # the grid is far smaller than the ball; nothing is lost
    assert moved.count * 0.7**3 == pytest.approx(ball.count, rel=0.01)
    center = moved.grid.toWorld(np.argwhere(moved.voxels)[:, ::-1] + moved.low).mean(axis=0)
    assert center == pytest.approx((0.2, 0.1, -0.3), abs=0.1)


def testCommonGridContainsBothAtTheFinerSpacing():
    first = shapes.maskOf(shapes.ball(8, (-5, 0, 0), (1, 1, 3), (-20, -15, -15), (30, 30, 10)))
    second = shapes.maskOf(shapes.ball(8, (6, 0, 0), (2, 2, 1), (-10, -15, -15), (15, 15, 30)))
    for pair in ((first, second), (second, first)):
        grid, resampled = commonGrid(*pair)
        assert resampled
        assert grid.spacing == pytest.approx([1, 1, 1])
        assert grid.growTo(np.concatenate([first.corners(), second.corners()])) == grid
    same, resampled = commonGrid(first, first)
    assert same is first.grid and not resampled


def disk(spacing, thickness=None, shift=0.0):
    """Return a disk of radius 15 mm in a slice; without a thickness as a 2D image."""
    size = round(40 / spacing)
    y, x = (np.indices((size, size)) + 0.5) * spacing - 20
    array = ((x - shift) ** 2 + y**2 <= 15**2).astype(np.uint8)
    image = SimpleITK.GetImageFromArray(array if thickness is None else array[None])
    image.SetSpacing((spacing, spacing) if thickness is None else (spacing, spacing, thickness))
    image.SetOrigin([spacing / 2] * 2 + ([] if thickness is None else [0]))
    return image


@pytest.mark.parametrize("first, second", [(3, 1), (1, 3), (3, 2), (None, 3), (3, None)])
def testThicknessOfSlicesMeansNothingInAPlane(first, second):
    same = compare(disk(0.5, first), disk(0.5, second))
    assert (same["HD"].value, same["DSC"].value, same["BIoU_2mm"].value) == (0, 1, 1)
    moved, expected = (compare(disk(0.5, one), disk(0.5, other, 1.0)) for one, other in ((first, second), (3, 3)))
    for key in ("HD", "MASD", "NSD_2mm", "DSC", "PPV", "VolumeTest", "VoxelVolumeTest"):
        assert moved[key].value == pytest.approx(expected[key].value, abs=1e-9), key
    assert moved["BIoU_2mm"].value == pytest.approx(expected["BIoU_2mm"].value, abs=0.003)


@pytest.mark.parametrize("first, second", [(3, 3), (0.5, 1), (None, None)])
def testDifferentPixelsInAPlane(first, second):
    result = compare(disk(0.5, first), disk(1.0, second))
    assert result["DSC"].value == pytest.approx(0.985, abs=0.015) and result.grid["size"].count(1) == 1
    assert result["BIoU_2mm"].value == pytest.approx(compare(disk(0.5), disk(1.0))["BIoU_2mm"].value, abs=0.02)


def testWhichVoxelAPlaceBetweenTwoBelongsToDoesNotDependOnRounding():
    """Every second center of the finer grid lies exactly between two voxels, wherever in the world both lie."""
    random = np.random.default_rng(1)
    voxels, found = random.random((6, 7, 8)) < 0.5, set()
    for _ in range(20):
        axes, origin = Rotation.random(random_state=random).as_matrix(), random.normal(0, 200, 3)
        fine, grid = shapes.gridOf((16, 14, 12), 0.5, origin, axes), shapes.gridOf((8, 7, 6), 1, origin, axes)
        mask = Mask.fromArray(voxels, grid).on(fine)
        found.add((mask.offset, mask.voxels.tobytes()))
    assert len(found) == 1


def testContoursOnAGridOfSlices():
    corners = np.array([(1, 1, 2), (3, 1, 2), (3, 3, 2), (1, 3, 2)], float)
    square = Surface(corners, np.array([(0, 1), (1, 2), (2, 3), (3, 0)]), normal=np.array([0.0, 0.0, 1.0]))
    with refused(error=InputError):
        maskOf(square, shapes.gridOf())


@pytest.mark.parametrize("axis", range(3))
def testASurfaceBetweenCentersHasNoVoxels(axis):
    low, high = np.full(3, 2.0), np.full(3, 6.0)
    low[axis], high[axis] = 3.2, 3.8
    mask = maskOf(fromPolyData(shapes.boxMesh(tuple(low), tuple(high))), shapes.gridOf())
    assert mask.isEmpty and mask.count == 0


# Separate parts of masks: the same as those that scipy finds voxel by voxel


@pytest.mark.parametrize(("connectivity", "rank"), [(6, 1), (18, 2), (26, 3)])
@pytest.mark.parametrize("shape", [(7, 9, 11), (1, 20, 20), (40, 3, 2), (5, 1, 1)])
def testParts(connectivity, rank, shape):
    for seed in range(8):
        array = np.random.default_rng(seed).random(shape) < 0.05 * (1 + seed)
        mask = Mask.fromArray(array, Grid(shape[::-1], np.eye(4)))
        expected, count = ndimage.label(array, ndimage.generate_binary_structure(3, rank))
        parts = partsOf(mask, connectivity)
        i, j, k = parts.voxels.T
        assert parts.count == count and len(parts.voxels) == array.sum()
        # both number the same voxels alike, whatever the numbers are
        assert len(set(zip(parts.numbers.tolist(), expected[k, j, i].tolist()))) == count
        if connectivity == 26:
            assert partSizes(mask) == sorted(np.bincount(expected.ravel())[1:].tolist(), reverse=True)
