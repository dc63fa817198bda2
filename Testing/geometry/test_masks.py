"""Grids and masks: geometry, cropping, resampling, common grids."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.geometry import masks
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Labels, Mask, commonGrid, fromLabels
from SegmentMetricsLib.geometry.meshing import fromMask, fromPolyData
from SegmentMetricsLib.geometry.surfaces import Surface, empty
from SegmentMetricsLib.geometry.voxelization import maskOf
from SegmentMetricsLib.metrics import overlap
from SegmentMetricsLib.metrics.overlap import count
from SegmentMetricsLib.model.inputs import labelMask, labelMasks


def maskOfImage(image) -> Mask:
    return labelMasks(image, 0.5)[1]


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


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.diag([1, 1, 0, 1.0]), "degenerate"),
        (np.diag([1, np.nan, 1, 1.0]), "not numbers"),
        (np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]), "degenerate"),
    ],
)
def testUnusableGeometry(matrix, message):
    with pytest.raises(ValueError, match=message):
        Grid((3, 3, 3), matrix)


def testCropsOfOneImageShareALattice():
    grid = Grid((50, 40, 30), np.diag([0.9765625, 0.9765625, 2.5, 1]))
    crop = grid.resized((7, 9, 11), (20, 21, 22))
    assert crop.size == (14, 13, 12)
    assert crop.offsetOn(grid) == (7, 9, 11)
    assert grid.offsetOn(crop) == (-7, -9, -11)
    shifted = Grid(crop.size, crop.matrix + np.array([[0, 0, 0, 0.01]] + [[0] * 4] * 3))
    assert shifted.offsetOn(grid) is None
    # what single precision in a header does to the numbers is no difference
    assert Grid(grid.size, np.float32(grid.matrix).astype(float)).offsetOn(grid) == (0, 0, 0)


def testMaskIsCroppedAndKnowsWhereItIs():
    mask = maskOfImage(shapes.box((3, 4, 5), (6, 8, 10)))
    assert mask.offset == (3, 4, 5) and mask.voxels.shape == (6, 5, 4) and mask.count == 4 * 5 * 6
    assert mask.low.tolist() == [3, 4, 5] and mask.high.tolist() == [6, 8, 10]
    block = mask.block((2, 4, 4), (7, 12, 5))
    assert block.shape == (2, 9, 6) and block.sum() == 4 * 5 * 1
    assert block[1, 0, 1] == 1 and block[0].sum() == 0


@pytest.mark.parametrize(
    ("low", "high", "touches"),
    [((0, 5, 5), (5, 9, 9), True), ((5, 5, 5), (9, 23, 9), True), ((1, 1, 1), (22, 22, 22), False)],
)
def testTouchingTheEdge(low, high, touches):
    assert maskOfImage(shapes.box(low, high)).touchesEdge is touches


def testOneSliceDoesNotTouchItsOwnPlane():
    flat = np.zeros((1, 9, 9), bool)
    flat[0, 2:6, 2:6] = True
    assert not maskOfImage(shapes.imageOf(flat)).touchesEdge


def testLabels():
    labels = np.zeros((4, 5, 6), np.int64)
    labels[1:3, 1:3, 1:3] = 7
    labels[3, 4, 5] = 2**31 + 5
    labels[0, 0, 0] = 70000
    found = fromLabels(labels, Grid((6, 5, 4), np.eye(4)))
    assert {label: mask.count for label, mask in found.items()} == {7: 8, 70000: 1, 2**31 + 5: 1}
    assert found[7].offset == (1, 1, 1) and found[2**31 + 5].offset == (5, 4, 3)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def testLabelsOneByOne(dtype):
    """The same masks as all at once: small, large and negative ones, and the background; none of what is not there."""
    limits = np.iinfo(dtype)
    labels = np.random.default_rng(3).choice(np.array([0, 0, 0, 1, 2, 9, limits.max, limits.min], dtype), (4, 5, 6))
    labels[0], labels[:, :, 5] = 0, 0
    grid = Grid((6, 5, 4), np.eye(4))
    reader, together = Labels(labels), fromLabels(labels, grid)
    assert set(together) == set(np.unique(labels).tolist()) - {0}
    for label in (9, limits.max, 1, limits.min, 2, 0, 7):
        mask, expected = reader.mask(label, grid, (10, 20, 30)), Mask.fromArray(labels == label, grid)
        np.testing.assert_array_equal(mask.voxels, expected.voxels)
        assert mask.isEmpty or mask.offset == tuple(np.add(expected.offset, (10, 20, 30)))
        assert mask.isEmpty == (label == 7)
        if label in together:
            np.testing.assert_array_equal(together[label].voxels, expected.voxels)
            assert together[label].offset == expected.offset


@pytest.mark.parametrize("block", [1, 50, 2**20])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.float32])
def testOneLabelOfAnImage(dtype, block, monkeypatch):
    """The same mask as with all others, however few voxels are looked at together."""
    monkeypatch.setattr(masks, "BLOCK", block)
    array = np.zeros((7, 6, 5), dtype)
    array[1:4, 2:5, 1:3], array[4:6, :, 4], array[3, 0, 0], array[6, 5, 0] = 2, 3, 120, 1
    for image in (shapes.imageOf(array), shapes.imageOf(array[3])):
        together = labelMasks(image, 0.5)
        for label in (1, 2, 3, 4, 120, 121):
            (mask, others), expected = labelMask(image, label, 0.5), together.get(label)
            assert mask.isEmpty == (expected is None)
            assert set(others) == (set(together) if mask.isEmpty else set())
            if expected is not None:
                np.testing.assert_array_equal(mask.voxels, expected.voxels)
                assert mask.offset == expected.offset and mask.grid == expected.grid


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def testOneLabelOfAMask(dtype):
    array = np.zeros((7, 6, 5), dtype)
    array[1:4, 2:5, 1:3] = 1
    mask, _ = labelMask(shapes.imageOf(array), 1, 0.5)
    assert mask.count == 18 and mask.offset == (1, 2, 1) and mask.voxels.shape == (3, 3, 2)
    for label in (2, 255, 256, 70_000):
        mask, others = labelMask(shapes.imageOf(array), label, 0.5)
        assert mask.isEmpty and others == (1,)
    mask, others = labelMask(shapes.imageOf(np.zeros((2, 3, 4), dtype)), 1, 0.5)
    assert mask.isEmpty and not others


def testResamplingToAnotherGrid():
    ball = maskOfImage(shapes.ball(10, (0.2, 0.1, -0.3)))
    turned = np.eye(4)
    turned[:3, :3] = shapes.rotation((0, 1, 1), 40) * 0.7
    turned[:3, 3] = (5, -3, 2)
    moved = ball.on(Grid((4, 4, 4), turned))
    # the grid is far smaller than the ball; nothing is lost
    assert moved.count * 0.7**3 == pytest.approx(ball.count, rel=0.01)
    center = moved.grid.toWorld(np.argwhere(moved.voxels)[:, ::-1] + moved.low).mean(axis=0)
    assert center == pytest.approx((0.2, 0.1, -0.3), abs=0.1)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def testArraysOfAnyKindAreCroppedAndCopied(kind, order):
    whole = np.full((4, 5, 6), 3, kind, order=order)
    padded = np.zeros((9, 9, 9), kind, order=order)
    padded[1:5, 2:7, 3:9] = whole
    grid = Grid((9, 9, 9), np.eye(4))
    for array, offset in ((whole, (10, 20, 30)), (padded, (13, 22, 31))):
        mask = Mask.fromArray(array, grid, (10, 20, 30))
        array[...] = 0
        assert mask.offset == offset and mask.voxels.dtype == np.uint8 and mask.voxels.flags.c_contiguous
        assert mask.voxels.shape == (4, 5, 6) and (mask.voxels == 1).all()
        assert Mask.fromArray(array, grid).isEmpty


def testShiftOnTheSameLatticeCopiesNothing():
    mask = maskOfImage(shapes.box((3, 4, 5), (6, 8, 10)))
    other = mask.grid.resized((2, 2, 2), (9, 9, 11))
    moved = mask.on(other)
    assert moved.voxels is mask.voxels and moved.offset == (1, 2, 3)


def testCommonGridContainsBothAtTheFinerSpacing():
    first = maskOfImage(shapes.ball(8, (-5, 0, 0), (1, 1, 3), (-20, -15, -15), (30, 30, 10)))
    second = maskOfImage(shapes.ball(8, (6, 0, 0), (2, 2, 1), (-10, -15, -15), (15, 15, 30)))
    for pair in ((first, second), (second, first)):
        grid, resampled = commonGrid(*pair)
        assert resampled
        assert grid.spacing == pytest.approx([1, 1, 1])
        assert grid.grownTo(np.concatenate([first.corners(), second.corners()])) == grid
    same, resampled = commonGrid(first, first)
    assert same is first.grid and not resampled


def testCommonGridOfPermutedAxes():
    first = maskOfImage(shapes.ball(8, spacing=(1, 1, 3), origin=(-15, -15, -15), size=(30, 30, 10)))
    image = shapes.ball(8, spacing=(2, 1, 1), origin=(-15, -15, -15), size=(15, 30, 30))
    image.SetDirection([0, 1, 0, 0, 0, 1, 1, 0, 0])  # i runs along z, j along x, k along y
    second = maskOfImage(image)
    grid, _ = commonGrid(first, second)
    assert sorted(grid.spacing) == pytest.approx([1, 1, 2])
    counts = count(first.on(grid), second.on(grid))
    assert overlap.dice(counts) > 0.9


@pytest.mark.nightly
def testVoxelsStoredInAnotherOrderAreTheSame():
    """Turned and exchanged axes with the same voxel centers: nothing is resampled."""
    first = shapes.imageOf(shapes.blob(3), (1, 1.5, 2), (4, 5, 6), shapes.rotation((1, 2, 3), 30))
    for order in ((2, 0, 1), (1, 0, 2)):
        for turned in ((True, False, False), (False, True, True), (False, False, False)):
            image = SimpleITK.Flip(SimpleITK.PermuteAxes(first, order), turned)
            mask, other = maskOfImage(first), maskOfImage(image)
            for pair in ((mask, other), (other, mask)):
                grid, resampled = commonGrid(*pair)
                assert not resampled
                assert overlap.dice(count(*(m.on(grid) for m in pair))) == 1
            result = compare(first, image, Settings(families=("boundary", "overlap")))
            assert result["DSC"].value == 1 and result["BIoU_2mm"].value == pytest.approx(1, abs=0.01)
            assert not [finding for finding in result.findings if "grid" in finding]


def onGrids(direction, pad=(0, 0), turn=None):
    """Return two images of one shape on grids turned against each other, padded and both turned together."""
    turn = np.eye(3) if turn is None else turn
    images = []
    for own, center, extra in zip((np.eye(3), direction), ((14, 12, 9), (15, 13, 9)), pad, strict=True):
        image = shapes.imageOf(np.pad(shapes.blob(4, (25, 21, 9), 0.4, 2.5), 2), (1, 1, 2))
        image = SimpleITK.ConstantPad(image, [extra] * 3, [extra] * 3)
        own = turn @ own
        image.SetDirection(own.ravel().tolist())
        image.SetOrigin((turn @ center - own @ (np.array([14, 12, 9]) + extra * np.array([1, 1, 2]))).tolist())
        images.append(image)
    return images


def testPaddingAndTurningBothChangesNothing():
    # their voxels have the same size but for rounding
    direction = Rotation.from_euler("xyz", [20, 10, 5], degrees=True).as_matrix()
    settings, keys = Settings(families="overlap"), ("DSC", "IoU", "TPR", "PPV")

    def measured(*images):
        result = compare(*images, settings)
        return [result[key].value for key in keys]

    expected = measured(*onGrids(direction))
    assert 0.5 < expected[0] < 0.95
    for pad in ((0, 3), (2, 0)):
        assert measured(*onGrids(direction, pad)) == pytest.approx(expected, abs=1e-12)
    for degrees in (15, 45, 75):
        turn = Rotation.from_euler("xyz", [degrees, degrees / 3, 0], degrees=True).as_matrix()
        assert measured(*onGrids(direction, turn=turn)) == pytest.approx(expected, abs=1e-3)
    dice, iou, sensitivity, precision = expected
    swapped = measured(*reversed(onGrids(direction)))
    assert swapped == pytest.approx([dice, iou, precision, sensitivity], abs=1e-12)


def testPaddingKeepsTheBands():
    direction = Rotation.from_euler("xyz", [20, 10, 5], degrees=True).as_matrix()
    first, second = (compare(*onGrids(direction, pad))["BIoU_2mm"].value for pad in ((0, 0), (1, 2)))
    assert first == pytest.approx(second, abs=1e-12)


def testFillingAClosedSurface():
    ball = maskOfImage(shapes.ball(9.5, (0.3, 0.2, 0.1), (1, 0.8, 1.3), (-15, -15, -15), (30, 38, 24)))
    # the boundary runs half-way between voxel centers, so that filling gives the voxels back
    filled = maskOf(fromMask(ball), ball.grid)
    assert overlap.dice(count(ball, filled)) == 1


def testFillingContours():
    flat = np.zeros((1, 20, 20), bool)
    flat[0, 3:15, 4:12] = True
    flat[0, 6:9, 6:10] = False
    mask = maskOfImage(shapes.imageOf(flat, (0.7, 1.2, 5.0), (3, 4, 5)))
    filled = maskOf(fromMask(mask), mask.grid)
    assert overlap.dice(count(mask, filled)) == 1


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
        world = np.eye(4)
        world[:3, :3], world[:3, 3] = Rotation.random(random_state=random).as_matrix(), random.normal(0, 200, 3)
        fine = Grid((16, 14, 12), world @ np.diag([0.5, 0.5, 0.5, 1]))
        mask = Mask.fromArray(voxels, Grid((8, 7, 6), world)).on(fine)
        found.add((mask.offset, mask.voxels.tobytes()))
    assert len(found) == 1


def testMasksOfNothing():
    assert maskOf(empty(), Grid((5, 5, 5), np.eye(4))).isEmpty


def testContoursOnAGridOfSlices():
    corners = np.array([(1, 1, 2), (3, 1, 2), (3, 3, 2), (1, 3, 2)], float)
    square = Surface(corners, np.array([(0, 1), (1, 2), (2, 3), (3, 0)]), normal=np.array([0.0, 0.0, 1.0]))
    with pytest.raises(InputError, match="can only be drawn on a grid of one slice"):
        maskOf(square, Grid((5, 5, 5), np.eye(4)))


@pytest.mark.parametrize("isOwn", [True, False])
def testWhatIsGivenAwayIsNotCopiedUnlessItHasMargins(isOwn):
    grid, voxels = Grid((9, 9, 9), np.eye(4)), np.zeros((5, 4, 3), bool)
    voxels[1:4, ::3, ::2] = True
    mask = Mask.fromArray(voxels, grid, (1, 2, 3), isOwn=isOwn)
    assert np.shares_memory(mask.voxels, voxels) == isOwn
    assert (mask.offset, mask.voxels.dtype, mask.count) == ((1, 2, 4), np.uint8, 12)
    assert np.array_equal(mask.voxels, voxels[1:4])
    voxels[:, :, 0] = False
    cropped = Mask.fromArray(voxels, grid, isOwn=isOwn)
    assert not np.shares_memory(cropped.voxels, voxels) and cropped.voxels.shape == (3, 4, 1)


@pytest.mark.parametrize("axis", range(3))
def testASurfaceBetweenCentersHasNoVoxels(axis):
    low, high = np.full(3, 2.0), np.full(3, 6.0)
    low[axis], high[axis] = 3.2, 3.8
    mask = maskOf(fromPolyData(shapes.boxMesh(tuple(low), tuple(high))), Grid((9, 9, 9), np.eye(4)))
    assert mask.isEmpty and mask.count == 0


def testAPointAmongOthersGetsTheSameDigitsAsAlone():
    random = np.random.default_rng(0)
    matrix = np.eye(4)
    matrix[:3, :3] = np.linalg.qr(random.normal(size=(3, 3)))[0]
    matrix[:3, 3] = (30.3, -20.7, 1e3)
    grid = Grid((9, 9, 9), matrix)
    index = random.integers(0, 999, (1000, 3)) / 2
    together = grid.toWorld(index)
    assert np.array_equal(together, np.concatenate([grid.toWorld([one]) for one in index]))
    assert together == pytest.approx(index @ matrix[:3, :3].T + matrix[:3, 3], abs=1e-9)
    assert together.flags["C_CONTIGUOUS"] and grid.toWorld(np.zeros((0, 3))).shape == (0, 3)


def testSlicesOfAnArray():
    from SegmentMetricsLib.geometry.masks import slicesOf

    array = np.arange(60).reshape(3, 4, 5)
    part = array[slicesOf(np.array([1, 2, 0]), (4, 3, 1))]
    assert part.shape == (2, 2, 4) and part[0, 0, 0] == array[0, 2, 1] and part[-1, -1, -1] == array[1, 3, 4]
