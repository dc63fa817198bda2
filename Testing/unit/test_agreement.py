"""Agreement of voxels: known numbers, slips of the source in print, and what is exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, Structure, compare
from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import agreement
from SegmentMetricsLib.metrics.overlap import Counts

BOTH = Settings(families=("overlap", "agreement", "voxel"))
FUZZY = Settings(families=("overlap", "agreement"))


def testCounts():
    """In voxels, of memberships in part, and none of contours that have no voxels."""
    pair = shapes.box((2, 2, 2), (5, 5, 5)), shapes.box((3, 2, 2), (7, 5, 5))
    counts = compare(*pair, Settings(metrics=("TP", "FP", "FN", "TN")))
    assert {key: one.value for key, one in counts.items()} == {"TP": 48, "FP": 32, "FN": 16, "TN": 24**3 - 96}
    assert counts["TP"].text() == "48 voxels" and counts["TN"].unit == "voxels"
    assert counts.grid["evaluated"]["voxels"] == 24**3, "which says where they are counted"
    union = compare(*pair, Settings(metrics=("TP", "TN"), grid="union"))
    assert union["TN"].value == 0 and union["TP"].value == 48
    soft = np.zeros((2, 6, 6, 6))
    soft[0, 1:4, 1:4, 1:4], soft[1, 2:5, 1:4, 1:4] = 0.75, 0.5
    found = compare(*map(shapes.imageOf, soft), Settings(metrics=("TP", "FP", "FN", "TN")))
    expected = {"TP": 18 * 0.5, "FP": 9 * 0.5, "FN": 18 * 0.25 + 9 * 0.75, "TN": 216 - 18 * 0.75 - 9 * 0.75 - 9 * 0.5}
    assert {key: one.value for key, one in found.items()} == pytest.approx(expected)
    empty = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
    alone = compare(pair[0], empty, Settings(metrics=("TP", "FP", "FN", "TN")))
    assert [one.value for one in alone.values()] == [0, 0, 64, 24**3 - 64]
    assert all(one.empty == "the test is empty" for one in alone.values())
    neither = compare(empty, empty, Settings(metrics=("TP", "FP", "FN", "TN")))
    assert [one.value for one in neither.values()] == [0, 0, 0, 24**3]
    squares = [shapes.loops([(x, 0), (x + 4, 0), (x + 4, 4), (x, 4)]) for x in (0, 1)]
    for one in compare(*squares, Settings(metrics=("TP", "TN"))).values():
        assert one.status == "undefined" and "without an image" in one.reason


def testErratumOfTheRandIndex():
    # three voxels, the last one in the test only: 01, 02, 12 are joined by the reference, 01 only by the test
    table = Counts(0, 1, 0).exactly(3)
    together, inReference, inTest, apart = agreement.pairsOfVoxels(table)
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
    assert agreement.variationOfInformation(Counts(tp, fp, fn).exactly(n)) == pytest.approx(right, abs=1e-12)
    # as printed, the voxels inside and outside one structure are not all voxels
    assert (tp + fn) + (tn + fp) == (tp + fp) + (tn + fn) == n != (tp + fn) + (tn + fn)
    # what is printed for the reference belongs to the test: either entropy is wrong, their sum is not
    printed = entropy(tp + fn, tn + fn), entropy(tp + fp, tn + fp)
    assert abs(printed[0] - entropy(tp + fn, tn + fp)) > 0.1
    assert sum(printed) == pytest.approx(entropy(tp + fn, tn + fp) + entropy(tp + fp, tn + fn))


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


@pytest.mark.parametrize(("beta", "value"), [(2, Fraction(5, 8)), (1, Fraction(2, 3)), (0.5, Fraction(5, 7))])
def testFMeasureByHand(beta, value):
    """3 in both, 1 in the test only, 2 in the reference only: precision 3/4, sensitivity 3/5."""
    assert agreement.fMeasure(Counts(3, 1, 2).exactly(None), beta) == float(value)


def testGridsOfOneAndTwoVoxels():
    single = Counts(1, 0, 0).exactly(1)
    for function in (agreement.randIndex, agreement.adjustedRandIndex):
        with pytest.raises(Undefined, match="one voxel, so there are no pairs"):
            function(single)
    with pytest.raises(Undefined, match="one voxel, so nothing varies"):
        agreement.interclassCorrelation(single)
    # of two voxels there is one pair, which the reference parts; the test joins it, or not
    same, full = Counts(1, 0, 0).exactly(2), Counts(1, 1, 0).exactly(2)
    assert (agreement.randIndex(same), agreement.randIndex(full)) == (1, 0)
    assert agreement.adjustedRandIndex(full) == 0
    with pytest.raises(Undefined, match="both structures part the two voxels"):
        agreement.adjustedRandIndex(same)
    with pytest.raises(Undefined, match="both structures fill the whole"):
        agreement.adjustedRandIndex(Counts(2, 0, 0).exactly(2))
    # memberships 1, 1 and 0, 1: the voxels' means are 1 and 1/2, so MSb = 2 (1/16 + 1/16), MSw = (1/4 + 1/4) / 2
    assert (agreement.interclassCorrelation(same), agreement.interclassCorrelation(full)) == (1, 0)


@pytest.mark.parametrize(("unit", "what"), [("voxel", "no voxel"), ("area", "no area")])
def testMeasuresOfNothing(unit, what):
    nothing = Counts(0, 0, 0, unit).exactly(8)
    for function in (agreement.volumetricSimilarity, agreement.probabilisticDistance):
        with pytest.raises(Undefined, match=f"both structures enclose {what}"):
            function(nothing)
    with pytest.raises(Undefined, match=f"the reference encloses {what}"):
        agreement.missRate(nothing)
    apart = Counts(0, 1, 2, unit).exactly(8)
    assert agreement.probabilisticDistance(apart) == math.inf
