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
from scipy.ndimage import distance_transform_edt
from test_parity import FOLDER, SOURCES, pairs

from SegmentMetricsLib import Settings, Structure, agreement, compare, overlap
from SegmentMetricsLib.agreement import Table
from SegmentMetricsLib.grids import Grid
from SegmentMetricsLib.masks import Mask
from SegmentMetricsLib.overlap import Counts

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
        # where slices are thicker than pixels, its average distance is often longer than that to the nearest voxel,
        # which ours is (testDistancesAgainstDistanceMaps); never shorter
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
    maps = [distance_transform_edt(~mask, sampling=sampling) for mask in masks]
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


def testFuzzyOnlyOnRequest():
    f, g = (shapes.imageOf(soft(seed)) for seed in (1, 2))
    cut = [shapes.imageOf(soft(seed) >= 0.5) for seed in (1, 2)]
    crisp = compare(*cut, Settings(families="agreement"))
    assert compare(f, g, Settings(families="agreement"))["KAP"].value == crisp["KAP"].value
    assert compare(*cut, Settings(families="agreement"))["KAP"].value == crisp["KAP"].value
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
    assert compare(image, image, Settings(families="agreement"))["FMS"].status == "undefined"


def testFuzzyOnOtherGrids():
    f, g = soft(1), soft(2)
    expected = compare(shapes.imageOf(f), shapes.imageOf(g), FUZZY)
    turned = shapes.imageOf(
        g[:, ::-1, :].transpose(0, 2, 1), origin=(0, 10, 0), direction=[[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    )
    assert compare(shapes.imageOf(f), turned, FUZZY)["KAP"].value == pytest.approx(expected["KAP"].value)
    other = compare(shapes.imageOf(f), shapes.imageOf(g, origin=(0.4, 0, 0)), FUZZY)
    assert other["KAP"].status == "undefined" and "one grid only" in other["KAP"].reason
    # distances and findings go by the threshold
    other = compare(shapes.imageOf(f), shapes.imageOf(g, origin=(0.4, 0, 0)), Settings(families="all"))
    assert other["DSC"].status == "undefined" and other["BIoU_2mm"].status == other["AVD"].status == "ok"


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
    # without cuts, the threshold's
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
