"""Agreement of voxels: known numbers, slips of the source in print, and what is exact."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import shapes
from sayings import refused, says

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Cause, Undefined
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import agreement, overlap
from SegmentMetricsLib.metrics import voxel as voxels
from SegmentMetricsLib.metrics.overlap import Counts, ratio

COUNTS = Settings(metrics=("TP", "FP", "FN", "TN"))


def testCounts():
    """In voxels, and none of contours that have no voxels."""
    pair = shapes.box((2, 2, 2), (5, 5, 5)), shapes.box((3, 2, 2), (7, 5, 5))
    counts = compare(*pair, COUNTS)
    assert {key: one.value for key, one in counts.items()} == {"TP": 48, "FP": 32, "FN": 16, "TN": 24**3 - 96}
    assert counts["TP"].text() == "48 voxels" and counts["TN"].unit == "voxels"
    assert counts.grid["evaluated"]["voxels"] == 24**3, "which says where they are counted"
    empty = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
    alone = compare(pair[0], empty, COUNTS)
    assert [one.value for one in alone.values()] == [0, 0, 64, 24**3 - 64]
    (why,) = {one.empty for one in alone.values()}
    says(why, "test")
    assert [one.value for one in compare(empty, empty, COUNTS).values()] == [0, 0, 0, 24**3]
    squares = [shapes.loops([(x, 0), (x + 4, 0), (x + 4, 4), (x, 4)]) for x in (0, 1)]
    for one in compare(*squares, Settings(metrics=("TP", "TN", "KAP"))).values():
        assert one.status == "undefined" and says(one.reason)


@pytest.mark.parametrize(
    ("reference", "test", "expected"),
    [
        ([1], [1], {"RI": None, "ARI": None, "ICC": None}),
        # of two voxels there is one pair, which the reference parts; the test joins it, or not
        ([1, 0], [1, 0], {"RI": 1, "ARI": None, "ICC": 1}),
        # the voxels' means are 1 and 1/2, so MSb = 2 (1/16 + 1/16), MSw = (1/4 + 1/4) / 2
        ([1, 0], [1, 1], {"RI": 0, "ARI": 0, "ICC": 0}),
        ([1, 1], [1, 1], {"RI": 1, "ACC": 1, **dict.fromkeys(("ARI", "ICC", "KAP"))}),
    ],
)
def testGridsOfOneAndTwoVoxels(reference, test, expected):
    images = (shapes.imageOf(np.array([[row]], np.uint8)) for row in (reference, test))
    found = compare(*images, Settings(metrics=tuple(expected)))
    for key, value in expected.items():
        if value is None:
            assert found[key].status == "undefined" and says(found[key].reason)
        else:
            assert found[key].value == value


# The evaluated grid, on which true negatives are counted


BOTH = Settings(families=("overlap", "agreement", "voxel"))


def testTheEvaluatedGrid():
    reference = shapes.box((6, 6, 6), (15, 14, 13))
    test = shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(5, 0, 0))
    own = compare(reference, test, BOTH).grid["evaluated"]
    assert own["size"] == [24, 24, 24] and own["voxels"] == 24**3
    far = compare(reference, shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(15, -8, 0)), BOTH)
    evaluated = far.grid["evaluated"]
    assert evaluated["size"] == [31, 26, 24] and evaluated["origin"] == [0, -2, 0]
    says(evaluated["choice"], "reference")
    union = compare(reference, test, Settings(families="agreement", grid="union")).grid["evaluated"]
    assert union["size"] == [15, 11, 8] and says(union["choice"])
    # the image's size counts in mm where the masks are resampled
    coarse = shapes.box((3, 3, 3), (7, 7, 7), (12, 12, 12), (2, 2, 2), (0.5, 0.5, 0.5))
    resampled = compare(coarse, reference, BOTH).grid["evaluated"]
    assert resampled["size"] == [24, 24, 24]
    assert "evaluated" not in compare(reference, test, Settings(families="overlap")).grid


def testTheEvaluatedGridOfAVolume():
    reference, test = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((7, 6, 6), (15, 14, 13))

    def evaluated(*geometry, **more):
        volume = shapes.imageOf(np.zeros(geometry[0][::-1], np.uint8), *geometry[1:], **more)
        settings = Settings(families=("agreement", "hazard"), grid=volume)
        comparison = compare(reference, test, settings, criticals=wall)
        grid = comparison.grid["evaluated"]
        outside = grid["voxels"] - 10 * 9 * 8
        assert comparison["TNR"].value == 1 and comparison["ACC"].value == (grid["voxels"] - 72) / grid["voxels"]
        assert outside > 0
        return grid, comparison, compare(test, reference, settings, criticals=wall)

    wall = {"Wall": shapes.box((0, 0, 0), (3, 23, 23))}
    # of the same lattice
    grid, *_ = evaluated((30, 24, 20), (1, 1, 1), (-3, 0, 0))
    assert (grid["size"], grid["voxels"]) == ([30, 24, 20], 14400) and says(grid["choice"])
    # extended
    grid, *_ = evaluated((10, 24, 20), (1, 1, 1), (0, 0, 0))
    assert grid["size"] == [16, 24, 20] and says(grid["choice"])
    # of another size of voxels: so many of ours fill it
    grid, *_ = evaluated((10, 12, 14), (3, 2, 2), (1, 0.5, 0.5))
    assert (grid["size"], grid["voxels"]) == ([30, 24, 28], 20160) and says(grid["choice"])
    # turned: its own box counts, not the box around it
    turned = shapes.rotation((0, 0, 1), 45)
    middle = np.array([11.5, 11.5, 11.5]) - turned @ (np.array([39, 39, 23]) / 2)
    grid, comparison, swapped = evaluated((40, 40, 24), (1, 1, 1), tuple(middle), direction=turned)
    assert grid["voxels"] == 40 * 40 * 24 and grid["size"] == [40, 40, 24]
    # what of the wall's hazard lies outside the reference in it, voxel by voxel
    k, j, i = np.meshgrid(*[np.arange(-20, 45)] * 3, indexing="ij")
    place = (np.stack([i, j, k], axis=-1) - middle) @ turned
    within = ((place >= -0.5) & (place < np.array([40, 40, 24]) - 0.5)).all(axis=-1)
    gap = [np.maximum(np.maximum(low - n, n - high), 0) for n, low, high in ((i, 0, 3), (j, 0, 23), (k, 0, 23))]
    weight = np.maximum(0, 1 - sum(g.astype(float) ** 2 for g in gap) / 100) * within
    inReference = (i >= 6) & (i <= 15) & (j >= 6) & (j <= 14) & (k >= 6) & (k <= 13)
    missed = weight[inReference & (i == 6)].sum() / weight[inReference].sum()
    assert comparison["RFN"].value == pytest.approx(missed, rel=1e-6)
    inTest = inReference & (i >= 7)
    assert swapped["RFP"].value == pytest.approx(weight[inReference & ~inTest].sum() / weight[~inTest].sum(), rel=1e-6)


@pytest.mark.parametrize("grid", ["union", "reference"])
def testVoxelsOfDifferentSizesFillTheGridExactly(grid):
    """What is counted in parts of voxels is counted in a grid that ends where the images and structures end."""
    # from 2.5 to 8.5, 5 to 10 and 2 to 6 mm, and from 0.25 to 5.25, 4.25 to 12.25 and 3.5 to 7 mm
    reference = shapes.box((3, 2, 1), (8, 3, 2), (12, 6, 5), (1, 2.5, 2), (0, 1.25, 1))
    test = shapes.box((0, 3, 4), (3, 6, 8), (10, 12, 14), (1.25, 2, 0.7), (0.875, -0.75, 1.05))
    size, other, both = 6 * 5 * 4, 5 * 8 * 3.5, 2.75 * 5 * 2.5
    # the image ends at -0.5 and 11.5, 0 and 15, 0 and 10 mm
    volume = 8.25 * 8 * 5 if grid == "union" else 12 * 15 * 10
    found = compare(reference, test, Settings(families=("overlap", "agreement"), grid=grid))
    assert found["TNR"].value == pytest.approx(1 - (other - both) / (volume - size), rel=1e-9)
    assert found["ACC"].value == pytest.approx(1 - (size + other - 2 * both) / volume, rel=1e-9)
    chance = size * other + (volume - size) * (volume - other)
    agreed = (volume - size - other + 2 * both) * volume
    assert found["KAP"].value == pytest.approx((agreed - chance) / (volume**2 - chance), rel=1e-9)
    assert found.grid["evaluated"]["voxels"] == round(volume / (1 * 2 * 0.7))


@pytest.mark.parametrize("direction", [np.eye(3), shapes.rotation((1, 2, 3), 30)])
@pytest.mark.parametrize("grid", ["union", "reference"])
def testAStructureThatFillsTheGrid(direction, grid):
    """Nothing is outside the reference, and rounding must not invent a little of it."""
    whole = shapes.imageOf(np.ones((6, 5, 4), np.uint8), (0.7, 1.1, 3), (7, -20.3, 41), direction)
    lengths = np.array([0.7 / 3, 0.55, 1])
    start = np.array([7, -20.3, 41]) + direction @ (-np.array([0.7, 1.1, 3]) / 2 + lengths / 2)
    array = np.ones((18, 10, 12), np.uint8)
    array[3:, 4:] = 0
    part = shapes.imageOf(array, tuple(lengths), tuple(start), direction)
    found = compare(whole, part, Settings(families=("overlap", "agreement"), grid=grid))
    for key in ("TNR", "FPR", "AUC", "GCE"):
        assert found[key].status == "undefined" and says(found[key].reason)
    assert found["PPV"].value == 1 and found["ACC"].value == pytest.approx(found["TPR"].value, rel=1e-12)
    swapped = compare(part, whole, Settings(families=("overlap", "agreement"), grid=grid))
    assert (swapped["TNR"].value, swapped["FPR"].value, swapped["TPR"].value) == (0, 1, 1)


def testMasksThatOnlyTouchShareNothing():
    turned, origin = shapes.rotation((1, 2, 3), 30), np.array([7.1, -20.3, 41.7])
    whole = np.ones((6, 5, 4), np.uint8)
    first = shapes.imageOf(whole, (1.3, 1.1, 3), tuple(origin), turned)
    # the last voxel of the first ends where the first voxel of the second begins
    beside = origin + turned @ np.array([3.5 * 1.3 + 0.35 / 2, 0, 0])
    second = shapes.imageOf(whole, (0.35, 1.1, 3), tuple(beside), turned)
    found = compare(first, second, BOTH)
    assert (found["DSC"].value, found["PBD"].status) == (0, "infinite")


def testTheEvaluatedGridOfPlanarAndOfMeshes():
    contours = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0], (1, 2)) for seed in (3, 4)]
    volume = shapes.imageOf(np.zeros((9, 40, 50), np.uint8), (1, 2, 1), (-5, -10, -4))
    grid = compare(*contours, Settings(families="agreement", grid=volume)).grid["evaluated"]
    assert grid["size"] == [50, 40, 1] and grid["voxels"] == 2000
    meshes = shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((1, 0, 0), (11, 10, 10))
    around = shapes.imageOf(np.zeros((20, 20, 20), np.uint8), origin=(-4.5, -4.5, -4.5))
    comparison = compare(*meshes, Settings(families="agreement", grid=around))
    # a tenth of a millimeter is the step for meshes of a centimeter
    assert comparison.grid["evaluated"]["voxels"] == 200**3
    alone = compare(*meshes, Settings(families="agreement")).grid["evaluated"]
    says(alone["choice"])
    assert comparison["TNR"].value == pytest.approx(1 - 100 / (8000 - 1000), rel=1e-3)


# Overlap: what is undefined without any voxel or area


@pytest.mark.parametrize(
    ("function", "counts", "names"),
    [
        (overlap.dice, Counts(0, 0, 0), []),
        (overlap.intersectionOverUnion, Counts(0, 0, 0, "area"), []),
        (partial(overlap.shareOf, whole="reference"), Counts(0, 1, 0), ["reference"]),
        (partial(overlap.shareOf, whole="test"), Counts(0, 0, 1), ["test"]),
        (agreement.volumetricSimilarity, Counts(0, 0, 0).exactly(8), []),
        (agreement.probabilisticDistance, Counts(0, 0, 0, "area").exactly(8), []),
        (agreement.missRate, Counts(0, 0, 0).exactly(8), ["reference"]),
        # a formula of its own, whose denominator is 0 where nothing is empty
        (lambda counts: ratio(1, counts.test - counts.reference, counts), Counts(1, 1, 1), []),
    ],
)
def testUndefinedWithoutAny(function, counts, names):
    with refused(*names, error=Undefined):
        function(counts)


@pytest.mark.parametrize(("reference", "test"), [(1e9, 1e9 + 1), (0.0, 0.0), (0.0, 1e-30)])
def testAVoxelIsADifferenceOfVolumes(reference, test):
    structures = (SimpleNamespace(surface=SimpleNamespace(volume=volume)) for volume in (reference, test))
    assert overlap.volumeDifference(*structures) == test - reference


def testOpenSurfacesHaveNoVolume():
    settings = Settings(metrics=("VolumeDifference", "VolumeTest"))
    found = compare(shapes.openBox(), shapes.boxMesh((3, 3, -1), (8, 8, 11)), settings)
    assert found["VolumeDifference"].cause is Cause.NOT_CLOSED
    assert found["VolumeTest"].value == pytest.approx(5 * 5 * 12)


def testAreasOfContoursAndOfNothing():
    """A mesh without points is empty whatever it would have been."""
    contour, nothing = shapes.loops([(0, 0), (5, 0), (5, 5)]), shapes.meshOf([])
    for pair in ((contour, nothing), (nothing, contour)):
        result = compare(*pair, Settings(families=("overlap", "agreement")))
        assert result["DSC"].value == 0 and result["DSC"].reason
        assert result["VolumeReference"].value + result["VolumeTest"].value == pytest.approx(12.5)


# Distances between voxels: against all voxels, against distance maps, and between clouds


def testFlatCloudsAreFlatInAnyDirection():
    """In an oblique plane rounding leaves a variance across it that is not quite 0."""
    for size in (20, 40, 60):
        k, j, i = np.indices((size, size, size))
        plane = i + j + k == size
        masks = [Mask.fromArray(part, Grid((size,) * 3, np.eye(4))) for part in (plane, plane & (i > size // 3))]
        with refused(error=Undefined):
            voxels.mahalanobis(*masks)


def testNearestVoxelOnAShearedLattice():
    """The nearest voxel need not be at the rim in voxel indices: against all voxels, one by one."""
    axes = np.array([[1, 2.4, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    grid = Grid((16, 18, 14), axes)
    masks = [Mask.fromArray(shapes.blob(seed, share=0.3), grid) for seed in (1, 2)]
    points = [grid.toWorld(np.argwhere(m.voxels)[:, ::-1] + m.low) for m in masks]
    for found, start, goal in zip(voxels.measureCenters(*masks, "mm"), points, points[::-1], strict=True):
        exact = np.concatenate([np.linalg.norm(goal - point, axis=1).min(keepdims=True) for point in start])
        assert found.mean == pytest.approx(exact.mean())
        assert found.quantile(0.9) == pytest.approx(np.quantile(exact, 0.9))


@pytest.mark.parametrize("unit", ["mm", "voxel"])
@pytest.mark.parametrize("shape", [(30, 40, 45), (1, 80, 90)])
def testDistancesOfMeshesAreTheSameFromAMap(monkeypatch, unit, shape):
    """One by one the search finds the same, in space and in a plane, for structures that are apart in part."""
    grid = Grid(shape[::-1], np.diag([0.5, 0.5, 0.5, 1]), planar=shape[0] == 1)
    masks = [Mask.fromArray(shapes.blob(seed, shape[::-1], share), grid) for seed, share in ((1, 0.3), (2, 0.1))]
    searched = voxels.measureCenters(*masks, unit, areMeshes=True)
    monkeypatch.setattr(voxels, "MOST_SEARCHED", 10)
    for found, expected in zip(voxels.measureCenters(*masks, unit, areMeshes=True), searched, strict=True):
        assert found.shared == expected.shared and len(found.distances) > 10
        assert found.distances == pytest.approx(expected.distances, rel=1e-12)
