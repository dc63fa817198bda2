"""Agreement and distances of voxels: known numbers, the source's own program, its slips, and the limits of size."""

from __future__ import annotations

import math
import resource
import time
from fractions import Fraction

import numpy as np
import pytest
import shapes
import SimpleITK
from scipy import ndimage
from test_parity import FOLDER, SOURCES, pairs

from SegmentMetricsLib import Settings, Structure, compare, inputs
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import agreement, overlap
from SegmentMetricsLib.metrics.agreement import Table
from SegmentMetricsLib.metrics.overlap import Counts

BOTH = Settings(families=("overlap", "agreement", "voxel"))
needsReference = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs the reference pairs: set SEGMENTMETRICS_REFERENCE to their folder"
)

# A liver on a grid of 122 x 101 x 30.
LIVER = Table.of(Counts(38265, 1085, 369), 122 * 101 * 30)
LIVER_VALUES = {
    "AUC": 0.993586, "KAP": 0.979157, "RI": 0.992164, "ARI": 0.974410, "VS": 0.990819, "MI": 0.452529, "VOI": 0.067192,
    "GCE": 0.007785, "TNR": 0.996722, "ACC": 0.996067, "PBD": 0.018999, "ICC": 0.979157,
}  # fmt: skip
FUNCTIONS = {
    "AUC": agreement.areaUnderCurve, "KAP": agreement.kappa, "RI": agreement.randIndex,
    "ARI": agreement.adjustedRandIndex, "VS": agreement.volumetricSimilarity, "MI": agreement.mutualInformation,
    "VOI": agreement.variationOfInformation, "GCE": agreement.globalConsistencyError, "TNR": agreement.specificity,
    "ACC": agreement.accuracy, "PBD": agreement.probabilisticDistance, "ICC": agreement.interclassCorrelation,
}  # fmt: skip
# The names in the source's own program, where it computes what the source says; FACTORS where it does not.
THEIRS = {
    "DICE": "DSC", "JACRD": "IoU", "AUC": "AUC", "KAPPA": "KAP", "RNDIND": "RI", "ADJRIND": "ARI", "VOLSMTY": "VS",
    "MUTINF": "MI", "HDRFDST": "HDvox", "MAHLNBS": "MHD", "VARINFO": "VOI", "GCOERR": "GCE", "SNSVTY": "TPR",
    "SPCFTY": "TNR", "PRCISON": "PPV", "FMEASR": "FMS", "ACURCY": "ACC", "FALLOUT": "FPR",
}  # fmt: skip


@pytest.mark.parametrize("key", LIVER_VALUES)
def testLiverByCounts(key):
    assert FUNCTIONS[key](LIVER) == pytest.approx(LIVER_VALUES[key], abs=5.1e-7)


@needsReference
def testLiverByImages():
    images = [SimpleITK.ReadImage(str(FOLDER / "data" / f"organs_{side}.nii.gz")) for side in ("reference", "test")]
    comparison = compare(*images, BOTH, label=5)
    expected = {**LIVER_VALUES, "DSC": 0.981355, "IoU": 0.963393, "TPR": 0.990449, "PPV": 0.972427, "MHD": 0.014202}
    for key, value in expected.items():
        assert comparison[key].value == pytest.approx(value, abs=5.1e-7), key
    evaluated = comparison.grid["evaluated"]
    assert (evaluated["size"], evaluated["voxels"]) == ([122, 101, 30], 369660)
    assert evaluated["choice"] == "the reference's image"


def cropped(reference: Structure, test: Structure, whole: bool) -> list[Structure]:
    """Return two structures on the box around both, or their whole image, and two voxels of background."""
    low = np.minimum(reference.mask.low, test.mask.low) - 2
    high = np.maximum(reference.mask.high, test.mask.high) + 2
    if whole:
        low, high = np.full(3, -2), np.array(reference.mask.grid.size) + 1
    grid = reference.mask.grid.resized(low, high)
    return [
        Structure(s.name, Mask(s.mask.voxels, tuple(int(n) for n in s.mask.low - low), grid)) for s in (reference, test)
    ]


@needsReference
@pytest.mark.parametrize("source", SOURCES)
def testTheSourcesOwnProgram(source):
    failures, seen, odd = [], 0, 0
    for name, reference, test, tools in pairs(source):
        theirs = tools.get("EvaluateSegmentation")
        if not theirs:
            continue
        seen += 1
        comparison = compare(*cropped(reference, test, source == "examples.json"), BOTH)
        ours = {key: comparison[key].value for key in comparison}
        # what it takes for the average distance is the mean of both directions, not their maximum
        average = comparison["AVD"]
        pairsOfValues = {their: (theirs[their], ours[key]) for their, key in THEIRS.items()}
        pairsOfValues["AVGDIST"] = (theirs["AVGDIST"], (average.referenceToTest + average.testToReference) / 2)
        # it takes the products of memberships up to 255
        pairsOfValues["PROBDST"] = (theirs["PROBDST"], ours["PBD"] / 255)
        # where voxels are no cubes of 1 mm it does not always find the nearest one (see the next test), which ours is
        # (testDistancesAgainstDistanceMaps): its average distance is then longer, never shorter
        if np.ptp(reference.mask.grid.spacing) > 1e-6:
            their, our = pairsOfValues.pop("AVGDIST")
            if float(their) < our - 2e-6:
                failures.append(f"{name} AVGDIST: {our}, more than {their}")
        for key, (their, our) in pairsOfValues.items():
            if not math.isclose(float(their), our, rel_tol=2e-6, abs_tol=2e-6):
                failures.append(f"{name} {key}: {our} instead of {their}")
        odd += abs(float(theirs["ICCORR"]) - ours["ICC"]) > 1e-4
    assert seen
    assert not failures, "\n".join(failures)
    assert odd > seen / 2, "its interclass correlation mixes two scales"


def foundOnItsWay(start: np.ndarray, goal: np.ndarray, spacing: np.ndarray) -> float:
    """Return the mean distance of the voxels of one mask [k, j, i] from another as the source's program finds it.

    It walks from each voxel toward the other's center, 1 mm a step, until it is inside; the number of steps, in mm, is
    as many voxels as it then looks for the nearest one, in blocks of 7: too few where voxels are finer than 1 mm. Where
    it finds none it takes the one that it found before.
    """
    last = np.array(start.shape[::-1]) - 1
    rim = np.argwhere(goal & ~ndimage.binary_erosion(goal))[:, ::-1]
    center = np.argwhere(goal)[:, ::-1].mean(axis=0)
    total, nearest = 0.0, None
    for voxel in np.argwhere(start & ~goal)[:, ::-1]:
        step = (center - voxel) / np.linalg.norm((center - voxel) * spacing)
        within, steps = np.ones(len(rim), bool), 1
        while ((place := voxel + steps * step) >= 0).all() and (place <= last).all():
            if goal[tuple(place.astype(int)[::-1])]:
                low = np.maximum((voxel - steps) / 7, 0).astype(int)
                high = np.minimum((voxel + steps) // 7, last // 7)
                within = ((rim // 7 >= low) & (rim // 7 <= high)).all(axis=1)
                break
            steps += 1
        if within.any():
            candidates = rim[within]
            nearest = candidates[np.linalg.norm((candidates - voxel) * spacing, axis=1).argmin()]
        total += np.linalg.norm((nearest - voxel) * spacing)
    return total / np.count_nonzero(start)


@needsReference
def testErratumOfTheSourcesSearch():
    """Its longer average distances come from its search, to the last digit."""
    longer = seen = 0
    for name, reference, test, tools in pairs("organs_aniso.json"):
        theirs = tools.get("EvaluateSegmentation")
        if not theirs or seen == 3 or reference.mask.count > 20_000:
            continue
        structures = cropped(reference, test, False)
        high = np.array(structures[0].mask.grid.size) - 1
        masks = [s.mask.block((0, 0, 0), high).astype(bool) for s in structures]
        if (masks[0] ^ masks[1]).sum() > 1500:
            continue
        seen += 1
        spacing = reference.mask.grid.spacing
        average = (foundOnItsWay(*masks, spacing) + foundOnItsWay(*masks[::-1], spacing)) / 2
        assert average == pytest.approx(float(theirs["AVGDIST"]), abs=2e-6), name
        ours = compare(*structures, Settings(families="voxel"))["AVD"]
        longer += average > (ours.referenceToTest + ours.testToReference) / 2 + 2e-6
    assert seen and longer


def testErratumOfTheRandIndex():
    # three voxels, the last one in the test only: 01, 02, 12 are joined by the reference, 01 only by the test
    table = Table.of(Counts(0, 1, 0), 3)
    together, inReference, inTest, apart = agreement._pairs(table)
    assert (together, inReference, inTest, apart) == (1, 2, 0, 0)
    assert agreement.randIndex(table) == pytest.approx(1 / 3)
    printed = (together + inReference) / 3
    assert printed == 1, "as printed, the Rand index of two different segmentations would be perfect"


def testErratumOfTheVariationOfInformation():
    tp, fp, fn, n = 1, 2, 0, 8
    tn = n - tp - fp - fn

    def entropy(*counts):
        return -sum(c / n * math.log2(c / n) for c in counts if c)

    right = 2 * entropy(tp, fp, fn, tn) - entropy(tp + fn, tn + fp) - entropy(tp + fp, tn + fn)
    assert agreement.variationOfInformation(Table.of(Counts(tp, fp, fn), n)) == pytest.approx(right, abs=1e-12)
    # as printed, the voxels inside and outside one structure are not all voxels
    assert (tp + fn) + (tn + fp) == (tp + fp) + (tn + fn) == n != (tp + fn) + (tn + fn)
    # what is printed for the reference belongs to the test: either entropy is wrong, their sum is not
    printed = entropy(tp + fn, tn + fn), entropy(tp + fp, tn + fp)
    assert abs(printed[0] - entropy(tp + fn, tn + fp)) > 0.1
    assert sum(printed) == pytest.approx(entropy(tp + fn, tn + fp) + entropy(tp + fp, tn + fn))


def testErratumOfTheInterclassCorrelation():
    """By the definition, voxel by voxel; the liver's value above is that of the formula, not the program's 0.981340."""
    first, second = (shapes.blob(seed, (7, 6, 5), 0.4, 1.0) for seed in (1, 2))
    f, g = first.ravel().astype(float), second.ravel().astype(float)
    middle = (f + g) / 2
    between = 2 / (f.size - 1) * ((middle - middle.mean()) ** 2).sum()
    within = ((f - middle) ** 2 + (g - middle) ** 2).sum() / f.size
    comparison = compare(shapes.imageOf(first), shapes.imageOf(second), BOTH)
    assert comparison["ICC"].value == pytest.approx((between - within) / (between + within), abs=1e-12)


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


@pytest.mark.parametrize("unit", ["mm", "voxel"])
def testDistancesAgainstDistanceMaps(unit):
    spacing = (0.7, 1.3, 2.5)
    masks = [shapes.blob(seed, (18, 16, 14), 0.2, 1.5) for seed in (5, 6)]
    settings = Settings(families="voxel", voxelUnit=unit, quantiles=(1, 0.9, 0.333))
    comparison = compare(*(shapes.imageOf(mask, spacing) for mask in masks), settings)
    sampling = spacing[::-1] if unit == "mm" else (1, 1, 1)
    maps = [ndimage.distance_transform_edt(~mask, sampling=sampling) for mask in masks]
    there, back = maps[1][masks[0]], maps[0][masks[1]]
    assert comparison["AVD"].referenceToTest == pytest.approx(there.mean(), rel=1e-12)
    assert comparison["AVD"].value == pytest.approx(max(there.mean(), back.mean()), rel=1e-12)
    for key, quantile in (("HDvox", 1), ("HDvox_0.9", 0.9), ("HDvox_0.333", 0.333)):
        expected = max(np.quantile(there, quantile), np.quantile(back, quantile))
        assert comparison[key].value == pytest.approx(expected, rel=1e-12), key


def testMahalanobis():
    spacing = (0.7, 1.3, 2.5)
    masks = [shapes.blob(seed, (18, 16, 14), 0.3, 1.5) for seed in (7, 8)]
    points = [np.argwhere(mask)[:, ::-1] * spacing for mask in masks]
    spread = sum(len(p) * np.cov(p.T, bias=True) for p in points) / sum(map(len, points))
    shift = points[0].mean(axis=0) - points[1].mean(axis=0)
    expected = math.sqrt(shift @ np.linalg.inv(spread) @ shift)
    for unit in ("mm", "voxel"):  # it has no unit
        comparison = compare(
            *(shapes.imageOf(m, spacing) for m in masks), Settings(families="voxel", voxelUnit=unit)
        )  # fmt: skip
        assert comparison["MHD"].value == pytest.approx(expected, rel=1e-10)
        assert comparison["MHD"].unit == ""


def testFlatCloudsHaveNoMahalanobisDistance():
    plates = [shapes.box((3, 3, 4), (9 + n, 9, 4)) for n in range(2)]
    distance = compare(*plates, BOTH)["MHD"]
    assert distance.status == "undefined" and "singular" in distance.reason
    # a planar image has no third direction in which they could spread
    contours = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0]) for seed in (3, 4)]
    assert compare(*contours, BOTH)["MHD"].status == "ok"


def testTheEvaluatedGrid():
    reference = shapes.box((6, 6, 6), (15, 14, 13))
    test = shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(5, 0, 0))
    own = compare(reference, test, BOTH).grid["evaluated"]
    assert own["size"] == [24, 24, 24] and own["voxels"] == 24**3
    far = compare(reference, shapes.box((7, 6, 6), (15, 16, 13), (20, 20, 20), origin=(15, -8, 0)), BOTH)
    evaluated = far.grid["evaluated"]
    assert evaluated["size"] == [31, 26, 24] and evaluated["origin"] == [0, -2, 0]
    assert evaluated["choice"] == "the reference's image, extended to contain both structures"
    union = compare(reference, test, Settings(families="agreement", grid="union")).grid["evaluated"]
    assert union["size"] == [15, 11, 8] and union["choice"] == "the box around both structures"
    # the image's size counts in mm where the masks are resampled
    coarse = shapes.box((3, 3, 3), (7, 7, 7), (12, 12, 12), (2, 2, 2), (0.5, 0.5, 0.5))
    resampled = compare(coarse, reference, BOTH).grid["evaluated"]
    assert resampled["size"] == [24, 24, 24]
    assert "evaluated" not in compare(reference, test, Settings(families="overlap")).grid


def testTheEvaluatedGridOfAVolume():
    reference, test = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((7, 6, 6), (15, 14, 13))

    def evaluated(*geometry, **more):
        volume = shapes.imageOf(np.zeros(geometry[0][::-1], np.uint8), *geometry[1:], **more)
        comparison = compare(reference, test, Settings(families=("agreement", "hazard"), grid=volume), criticals=wall)
        grid = comparison.grid["evaluated"]
        outside = grid["voxels"] - 10 * 9 * 8
        assert comparison["TNR"].value == 1 and comparison["ACC"].value == (grid["voxels"] - 72) / grid["voxels"]
        assert outside > 0
        return grid, comparison

    wall = {"Wall": shapes.box((0, 0, 0), (3, 23, 23))}
    # of the same lattice
    grid, _ = evaluated((30, 24, 20), (1, 1, 1), (-3, 0, 0))
    assert (grid["size"], grid["voxels"], grid["choice"]) == ([30, 24, 20], 14400, "the given volume")
    # extended
    grid, _ = evaluated((10, 24, 20), (1, 1, 1), (0, 0, 0))
    assert grid["size"] == [16, 24, 20] and grid["choice"] == "the given volume, extended to contain both structures"
    # of another size of voxels: so many of ours fill it
    grid, _ = evaluated((10, 12, 14), (3, 2, 2), (1, 0.5, 0.5))
    assert (grid["size"], grid["voxels"]) == ([30, 24, 28], 20160)
    assert grid["choice"] == "the given volume, counted in voxels of the size in which overlap is counted"
    # turned: its own box counts, not the box around it
    turned = shapes.rotation((0, 0, 1), 45)
    middle = np.array([11.5, 11.5, 11.5]) - turned @ (np.array([39, 39, 23]) / 2)
    grid, comparison = evaluated((40, 40, 24), (1, 1, 1), tuple(middle), direction=turned)
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
    swapped = compare(test, reference, Settings(families="hazard", grid=compareGrid(grid)), criticals=wall)
    inTest = inReference & (i >= 7)
    assert swapped["RFP"].value == pytest.approx(weight[inReference & ~inTest].sum() / weight[~inTest].sum(), rel=1e-6)


def compareGrid(described: dict) -> Grid:
    """Return the grid that a result describes."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape(described["direction"], (3, 3)) * described["spacing"]
    matrix[:3, 3] = described["origin"]
    return Grid(tuple(described["size"]), matrix)


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
    assert comparison["TNR"].value == pytest.approx(1 - 100 / (8000 - 1000), rel=1e-3)


def testMeshesAndContours():
    meshes = shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((1, 0, 0), (11, 10, 10))
    comparison = compare(*meshes, BOTH)
    assert comparison["FMS"].value == pytest.approx(0.9, abs=0.02) and comparison["AVD"].value > 0
    assert 0 < comparison["KAP"].value < 0.9
    assert comparison.grid["evaluated"]["choice"] == "the box around both meshes"
    squares = [shapes.loops([(x, 0), (x + 2, 0), (x + 2, 2), (x, 2)]) for x in (0, 1)]
    contours = compare(*squares, Settings(families="agreement"))
    assert contours["FMS"].value == pytest.approx(0.5) and contours["VS"].value == pytest.approx(1)
    assert contours["KAP"].status == "undefined" and "no grid" in contours["KAP"].reason


def testFullGrid():
    full = shapes.imageOf(np.ones((4, 4, 4), np.uint8))
    comparison = compare(full, full, BOTH)
    for key in ("TNR", "KAP", "ARI", "ICC", "GCE"):
        assert comparison[key].status == "undefined" and "whole evaluated grid" in comparison[key].reason
    assert comparison["ACC"].value == comparison["RI"].value == 1


def testNothingIsLostOnHugeGrids():
    """5e8 voxels and structures that differ by one of them: squares of counts have 18 digits."""
    size, both = 5 * 10**8, 10**8
    one = Table.of(Counts(both, 1, 0), size)
    same = Table.of(Counts(both, 0, 0), size)
    # one voxel differs from all others in n - 1 pairs; it is wrong where they are joined by one partition only
    pairsOfVoxels = Fraction(size * (size - 1), 2)
    assert agreement.randIndex(one) == float(1 - (size - 1) / pairsOfVoxels) < 1
    for function in FUNCTIONS.values():
        assert function(one) != function(same) or function is agreement.mutualInformation
    # a single voxel: its information is small, not lost
    tiny = Table.of(Counts(1, 0, 0), size)
    share = 1 / size
    expected = share * math.log2(size) + share / math.log(2)
    assert agreement.mutualInformation(tiny) == pytest.approx(expected, rel=1e-7)
    assert agreement.variationOfInformation(tiny) == 0


def testHugeGridsAreNotCopied():
    grid = Grid((1000, 1000, 500), np.eye(4))
    voxels = np.ones((20, 20, 20), np.uint8)
    structures = [Structure("a", Mask(voxels, (400 + n, 500, 250), grid)) for n in range(2)]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    comparison = compare(*structures, BOTH)
    assert comparison.grid["evaluated"]["voxels"] == 5 * 10**8
    assert comparison["ACC"].value == (5 * 10**8 - 800) / (5 * 10**8)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kB"
    assert time.perf_counter() - start < 5


def exactly(tp: int, fp: int, fn: int, n: int) -> dict[str, Fraction]:
    """Return what the definitions give, in whole numbers and fractions of them."""
    tn = n - tp - fp - fn
    a = Fraction(tp * (tp - 1) + fp * (fp - 1) + tn * (tn - 1) + fn * (fn - 1), 2)
    squares = tp**2 + tn**2 + fp**2 + fn**2
    b = Fraction((tp + fn) ** 2 + (tn + fp) ** 2 - squares, 2)
    c = Fraction((tp + fp) ** 2 + (tn + fn) ** 2 - squares, 2)
    d = Fraction(n * (n - 1), 2) - a - b - c
    chance = Fraction((tn + fn) * (tn + fp) + (fp + tp) * (fn + tp), n)
    one = Fraction(fn * (fn + 2 * tp), tp + fn) + Fraction(fp * (fp + 2 * tn), tn + fp)
    other = Fraction(fp * (fp + 2 * tp), tp + fp) + Fraction(fn * (fn + 2 * tn), tn + fn)
    mean = Fraction(2 * tp + fp + fn, 2 * n)
    between = Fraction(2, n - 1) * (tp * (1 - mean) ** 2 + (fp + fn) * (Fraction(1, 2) - mean) ** 2 + tn * mean**2)
    within = Fraction(fp + fn, 2 * n)
    return {
        "DSC": Fraction(2 * tp, 2 * tp + fp + fn), "IoU": Fraction(tp, tp + fp + fn), "TPR": Fraction(tp, tp + fn),
        "PPV": Fraction(tp, tp + fp), "TNR": Fraction(tn, tn + fp), "FPR": Fraction(fp, tn + fp),
        "FNR": Fraction(fn, tp + fn), "FMS": Fraction(2 * tp, 2 * tp + fp + fn), "ACC": Fraction(tp + tn, n),
        "GCE": min(one, other) / n, "VS": 1 - Fraction(abs(fn - fp), 2 * tp + fp + fn), "RI": (a + d) / (a + b + c + d),
        "ARI": 2 * (a * d - b * c) / (c**2 + b**2 + 2 * a * d + (a + d) * (c + b)),
        "ICC": (between - within) / (between + within), "PBD": Fraction(fp + fn, 2 * tp),
        "KAP": (tp + tn - chance) / (n - chance), "AUC": 1 - (Fraction(fp, tn + fp) + Fraction(fn, tp + fn)) / 2,
    }  # fmt: skip


@pytest.mark.parametrize("isFuzzy", [False, True])
@pytest.mark.parametrize("shift", [1, 7])
def testHugeGridsAreExact(shift, isFuzzy):
    """A few voxels in 5e8: every measure is the float nearest to what whole numbers give."""
    size = (1000, 1000, 500)
    grid = Grid(size, np.eye(4))
    voxels = np.ones((20, 20, 20), np.uint8)
    masks = [Mask(voxels, (400 + n, 500, 250), grid) for n in (0, shift)]
    # memberships of 0 and 1, one of them everywhere halved, would take the other road
    soft = [Mask(mask.voxels.astype(float), mask.offset, grid) if isFuzzy else None for mask in masks]
    structures = [Structure("a", mask, memberships=m) for mask, m in zip(masks, soft)]
    comparison = compare(*structures, FUZZY)
    expected = exactly(400 * (20 - shift), 400 * shift, 400 * shift, 5 * 10**8)
    assert math.prod(size) == comparison.grid["evaluated"]["voxels"]
    for key, value in expected.items():
        assert comparison[key].value == pytest.approx(float(value), rel=4e-16), key


def testTableAddsUp():
    masks = [Mask.fromArray(shapes.blob(seed), Grid((16, 18, 14), np.eye(4))) for seed in (1, 2)]
    table = Table.of(overlap.count(*masks), 16 * 18 * 14)
    arrays = [shapes.blob(seed) for seed in (1, 2)]
    assert table.trueNegative == np.count_nonzero(~arrays[0] & ~arrays[1])
    assert agreement.fMeasure(table, 1) == pytest.approx(overlap.dice(overlap.count(*masks)), abs=1e-15)
    precision, recall = overlap.precision(overlap.count(*masks)), overlap.sensitivity(overlap.count(*masks))
    assert agreement.fMeasure(table, 2) == pytest.approx(5 * precision * recall / (4 * precision + recall), abs=1e-15)


# Memberships


def soft(seed: int) -> np.ndarray:
    """Return memberships that are 0 and 1 in places."""
    from scipy.ndimage import gaussian_filter

    values = np.clip(3 * gaussian_filter(np.random.default_rng(seed).standard_normal((9, 11, 10)), 1.5), 0, 1)
    return np.round(values, 3)


FUZZY = Settings(families=("overlap", "agreement"))


def testFuzzyByTheDefinitions():
    f, g = soft(1), soft(2)
    comparison = compare(shapes.imageOf(f), shapes.imageOf(g), FUZZY)
    n = f.size
    tp, fp = np.minimum(g, f).sum(), np.maximum(g - f, 0).sum()
    tn, fn = np.minimum(1 - g, 1 - f).sum(), np.maximum(f - g, 0).sum()
    assert tp + fp + tn + fn == pytest.approx(n) and 0 < tp < n
    m = (f + g) / 2
    between = 2 / (n - 1) * ((m - m.mean()) ** 2).sum()
    within = ((f - m) ** 2 + (g - m) ** 2).sum() / n
    chance = ((tn + fn) * (tn + fp) + (fp + tp) * (fn + tp)) / n
    expected = {
        "DSC": 2 * tp / (2 * tp + fp + fn), "IoU": tp / (tp + fp + fn), "TPR": tp / (tp + fn), "PPV": tp / (tp + fp),
        "FMS": 2 * tp / (2 * tp + fp + fn), "TNR": tn / (tn + fp), "ACC": (tp + tn) / n,
        "VS": 1 - abs(fn - fp) / (2 * tp + fp + fn), "KAP": (tp + tn - chance) / (n - chance),
        "PBD": np.abs(f - g).sum() / (2 * (f * g).sum()), "ICC": (between - within) / (between + within),
        "AUC": 1 - (fp / (tn + fp) + fn / (tp + fn)) / 2,
    }  # fmt: skip
    for key, value in expected.items():
        assert comparison[key].value == pytest.approx(value, rel=1e-9), key
    swapped = compare(shapes.imageOf(g), shapes.imageOf(f), FUZZY)
    for key in ("DSC", "ACC", "GCE", "VS", "RI", "ARI", "MI", "VOI", "ICC", "PBD", "KAP"):
        assert swapped[key].value == pytest.approx(comparison[key].value, rel=1e-12), key
    same = compare(shapes.imageOf(f), shapes.imageOf(f), FUZZY)
    for key in ("DSC", "ACC", "VS", "RI", "ARI", "ICC", "KAP", "AUC", "TNR"):
        assert same[key].value == pytest.approx(1, abs=1e-12), key
    for key in ("GCE", "VOI", "PBD", "FPR", "FNR"):
        assert same[key].value == pytest.approx(0, abs=1e-12), key


def testCrispIsASpecialCaseOfFuzzy():
    masks = [Mask.fromArray(shapes.blob(seed), Grid((16, 18, 14), np.eye(4))) for seed in (1, 2)]
    assert Table.ofMemberships(*masks, 5000) == Table.of(overlap.count(*masks), 5000)


def testAThresholdMakesMembershipsCrisp():
    f, g = (shapes.imageOf(soft(seed)) for seed in (1, 2))
    for threshold in (0.25, 0.5, 0.751):
        cut = [shapes.imageOf(soft(seed) >= threshold) for seed in (1, 2)]
        crisp = compare(*cut, BOTH)
        given = compare(f, g, Settings(families=BOTH.families, threshold=threshold))
        assert {key: m.value for key, m in given.items()} == {key: m.value for key, m in crisp.items()}
        assert compare(f, g, BOTH)["KAP"].value != crisp["KAP"].value
        # also structures that were read without a threshold
        structures = [inputs.structureFromImage(image, "", None, None) for image in (f, g)]
        again = compare(*structures, Settings(families=BOTH.families, threshold=threshold))
        assert again["AVD"].value == given["AVD"].value and again["DSC"].value == given["DSC"].value
    # without one, surfaces and distances go by 0.5
    cut = [shapes.imageOf(soft(seed) >= 0.5) for seed in (1, 2)]
    keys = ("HD", "MASD", "SignedMean", "AVD", "MHD", "VolumeReference")
    soft_, crisp = (compare(*pair, Settings(families="all", oversampling=1)) for pair in ((f, g), cut))
    assert [soft_[key].value for key in keys] == [crisp[key].value for key in keys]
    mixed = compare(f, cut[1], FUZZY)["FMS"].value
    both = np.minimum(soft(1), soft(2) >= 0.5).sum()
    assert mixed == pytest.approx(2 * both / (soft(1).sum() + (soft(2) >= 0.5).sum()))


def testFaintMembershipsAreNotNothing():
    faint = np.zeros((8, 8, 8))
    faint[2:5, 2:5, 2:5] = 0.25
    image, nothing = shapes.imageOf(faint), shapes.imageOf(np.zeros((8, 8, 8), np.uint8))
    assert compare(image, image, FUZZY)["FMS"].value == compare(image, image, FUZZY)["DSC"].value == 1
    alone = compare(image, nothing, FUZZY)
    assert alone["KAP"].value == 0 and alone["KAP"].reason == "the test is empty"
    assert compare(image, image, Settings(families="agreement", threshold=0.5))["FMS"].status == "undefined"


def testFuzzyOnOtherGrids():
    f, g = soft(1), soft(2)
    expected = compare(shapes.imageOf(f), shapes.imageOf(g), FUZZY)
    turned = shapes.imageOf(
        g[:, ::-1, :].transpose(0, 2, 1), origin=(0, 10, 0), direction=[[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    )
    assert compare(shapes.imageOf(f), turned, FUZZY)["KAP"].value == pytest.approx(expected["KAP"].value)


def testMembershipsOnDifferentLatticesAreInterpolated():
    """A ramp is what linear interpolation keeps; beyond the image there is nothing."""
    f, g = soft(1), soft(2)
    other = compare(shapes.imageOf(f), shapes.imageOf(g, origin=(0.4, 0, 0)), FUZZY)
    # either image may keep its voxels
    padded = [np.pad(m, ((0, 0), (0, 0), (1, 1))) for m in (f, g)]
    possible = []
    for fixed, moving, step in ((*padded, 0.4), (*padded[::-1], -0.4)):
        moved = ndimage.shift(moving, (0, 0, step), order=1)
        possible.append(2 * np.minimum(fixed, moved).sum() / (fixed.sum() + moved.sum()))
    assert min(abs(other["DSC"].value - value) for value in possible) < 1e-9
    swapped = compare(shapes.imageOf(g, origin=(0.4, 0, 0)), shapes.imageOf(f), FUZZY)
    assert swapped["DSC"].value == pytest.approx(other["DSC"].value, abs=1e-12)
    (finding,) = (text for text in other.findings if "different grids" in text)
    assert "memberships interpolated linearly" in finding
    # what is interpolated exactly stays what it is
    ramp = np.zeros((5, 5, 12))
    ramp[1:4, 1:4, :] = np.linspace(0, 1, 12)
    fine = np.zeros((5, 5, 23))
    fine[1:4, 1:4, :] = np.linspace(0, 1, 23)
    same = compare(shapes.imageOf(ramp, (2, 1, 1)), shapes.imageOf(fine), Settings(families="overlap"))
    # but for the last voxel, which fades away beyond the coarse image's edge
    assert same["DSC"].value == pytest.approx(1, abs=0.05) and same["PPV"].value == pytest.approx(1, abs=1e-7)


def testWholeNumbersAsMemberships():
    f, g = soft(1), soft(2)
    for maximum in (255, 100, 4000):
        scaled = [np.rint(m * maximum).astype(np.uint8 if maximum < 256 else np.uint16) for m in (f, g)]
        settings = Settings(families=("overlap", "agreement"), membershipMaximum=maximum)
        measured = compare(*map(shapes.imageOf, scaled), settings)
        expected = compare(*(shapes.imageOf(m / maximum) for m in scaled), FUZZY)
        for key in ("DSC", "KAP", "ICC", "PBD"):
            assert measured[key].value == pytest.approx(expected[key].value, rel=1e-6), key
    # 0.7 in percent reaches the threshold of 0.7
    seventy = np.zeros((4, 4, 4), np.uint8)
    seventy[1:3, 1:3, 1:3] = 70
    settings = Settings(families="overlap", membershipMaximum=100, threshold=0.7)
    assert compare(shapes.imageOf(seventy), shapes.imageOf(seventy), settings)["VoxelVolumeTest"].value == 8
    # masks of 0 and 1 are what they are; without the maximum the numbers are labels
    mask = shapes.imageOf((seventy > 0).astype(np.uint8))
    settings = Settings(families="overlap", membershipMaximum=100)
    assert compare(mask, shapes.imageOf(seventy), settings)["DSC"].value == pytest.approx(2 * 0.7 / 1.7)
    assert compare(mask, shapes.imageOf(seventy), Settings(families="overlap"))["DSC"].value == 1
    with pytest.raises(ValueError, match="no map of memberships from 0 to 50: it has values from 0 to 70"):
        compare(mask, shapes.imageOf(seventy), Settings(membershipMaximum=50))


def testDistancesOverCuts():
    f, g = (0.9 * np.clip(3 * soft(seed) / soft(seed).max(), 0, 1) for seed in (1, 2))
    settings = Settings(families="voxel", cuts=10, quantiles=(1, 0.9))
    comparison = compare(shapes.imageOf(f), shapes.imageOf(g), settings)
    crisp = [
        compare(*(shapes.imageOf(m >= number / 10) for m in (f, g)), Settings(families="voxel", quantiles=(1, 0.9)))
        for number in range(1, 10)
    ]
    for key in ("AVD", "HDvox", "HDvox_0.9"):
        assert comparison[key].value == pytest.approx(np.mean([cut[key].value for cut in crisp]), rel=1e-12), key
        assert comparison[key].reason == "1 of 10 cuts are empty on both sides and left out"
    assert comparison["MHD"].value == pytest.approx(np.mean([cut["MHD"].value for cut in crisp]), rel=1e-12)
    # without cuts, that of 0.5
    once = compare(shapes.imageOf(f), shapes.imageOf(g), Settings(families="voxel"))
    assert once["AVD"].value == crisp[4]["AVD"].value and not once["AVD"].reason


def testACutWithoutCounterpart():
    f = np.clip(3 * soft(1) / soft(1).max(), 0, 1)
    oneSided = compare(shapes.imageOf(f), shapes.imageOf(0.6 * f), Settings(families="voxel", cuts=4))
    assert oneSided["AVD"].status == oneSided["MHD"].status == "infinite"
    assert oneSided["AVD"].reason == "the test is empty in a cut of the memberships"
    single = compare(shapes.imageOf(f), shapes.imageOf(0.6 * f), Settings(families="voxel", cuts=1))
    assert single["AVD"].status == "infinite"
    none = compare(*[shapes.imageOf(0.6 * f)] * 2, Settings(families="voxel", cuts=1))
    assert none["AVD"].status == "undefined" and "every cut" in none["AVD"].reason
    # stored in single precision, 0.7 still reaches the cut at 7/10
    flat = np.zeros((6, 6, 6), np.float32)
    flat[1:4, 1:4, 1:4] = 0.7
    image = shapes.imageOf(flat)
    measured = compare(image, image, Settings(families="voxel", cuts=10))["AVD"]
    assert (measured.value, measured.reason) == (0, "3 of 10 cuts are empty on both sides and left out")
