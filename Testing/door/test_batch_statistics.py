"""The statistics of a batch: worked out by hand, by SciPy, and as the literature has them."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from batchruns import outcome
from sayings import refused, says

from SegmentMetricsLib import BatchResults, readBatch

pytest.importorskip("pandas", reason="pandas is not installed")

INF, NAN = math.inf, math.nan
OVERALL = "Mean of structures"


def rowsOf(frame) -> list[SimpleNamespace]:
    """Return the rows of a frame with its columns and the levels of its index as attributes."""
    names = [dict(zip(frame.index.names, name, strict=True)) for name in frame.index]
    return [SimpleNamespace(**name, **row) for name, row in zip(names, frame.to_dict("records"), strict=True)]


def summarize(*outcomes: dict) -> list[SimpleNamespace]:
    return rowsOf(BatchResults(outcomes).summary())


def only(*values: float, key: str = "HD95") -> SimpleNamespace:
    """Return the summary of the values of some cases."""
    (row,) = summarize(*(outcome(f"case {n}", {key: value}) for n, value in enumerate(values)))
    return row


def methods(columns: dict, key: str = "HD95", name: str = "Lens") -> list[dict]:
    """Return a case for each value of every method."""
    return [outcome(f"case {n}", {key: v}, m, name) for m, values in columns.items() for n, v in enumerate(values)]


def compare(*outcomes: dict) -> list[SimpleNamespace]:
    return rowsOf(BatchResults(outcomes).tests())


def compared(first, second, key: str = "HD95") -> SimpleNamespace:
    """Return the test between two methods with these values."""
    (row,) = compare(*methods({"A": first, "B": second}, key))
    return row


def differing(*differences: float) -> SimpleNamespace:
    return compared([100.0] * len(differences), [100 + one for one in differences])


# One method


def testByHand():
    found = only(2, 4, 4, 5, 10)
    # sum 25; deviations -3 -1 -1 0 5, squares 9 + 1 + 1 + 0 + 25 = 36, 36 / 4 = 9
    assert (found.cases, found.used, found.mean, found.sd, found.median) == (5, 5, 5, 3, 4)
    assert (found.q1, found.q3, found.iqr, found.minimum, found.maximum) == (4, 5, 1, 2, 10)
    assert (found.structure, found.method, found.measurement, found.unit) == ("Lens", "", "HD95", "mm")
    # four values: the quartiles lie a quarter and three quarters of the way along 1, 2, 3, 4
    found = only(4, 1, 3, 2)
    assert (found.q1, found.median, found.q3) == (1.75, 2.5, 3.25)
    found = only(3)
    assert (found.mean, found.median, found.iqr) == (3, 3, 0)
    assert all(math.isnan(one) for one in (found.sd, found.meanLow, found.meanHigh))


def testTheBootstrapInterval():
    # of 0 and 1, two are drawn: their mean is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4; 95 % need all
    found = only(0, 1)
    assert (found.meanLow, found.meanHigh) == (0, 1)
    found = only(2, 2, 2)
    assert (found.meanLow, found.meanHigh) == (2, 2)
    # for many values it is that of the central limit theorem: mean +- 1.96 SD / sqrt(n)
    values = np.random.default_rng(1).normal(10, 2, 400)
    found, half = only(*values), 1.96 * values.std() / 20
    assert (found.meanLow, found.meanHigh) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.06)


def testInfiniteValues():
    """In the order they are worse than all others, whatever their sign; means leave them out."""
    found = only(1, 3, INF, NAN)
    assert (found.cases, found.used, found.infinite, found.undefined, found.replaced) == (4, 2, 1, 1, 0)
    assert (found.mean, found.ranked, found.minimum, found.median, found.maximum) == (2, 3, 1, 3, INF)
    # positions 1, 2 and 3 of 0..4
    found = only(4, INF, 2, INF, 3)
    assert (found.q1, found.median, found.q3, found.iqr) == (3, 4, INF, INF)
    # position 1.5 lies between a finite and an infinite value
    assert only(1, 2, INF, INF).median == INF and only(1, 2, 3, INF).median == 2.5
    # the distance between two infinite quartiles is unknown
    found = only(INF, INF, INF)
    assert (found.q1, found.q3, found.minimum) == (INF, INF, INF) and math.isnan(found.iqr) and math.isnan(found.mean)
    # some tools report an empty test as -inf, which is smaller than all others but not better
    assert only(1, -INF).maximum == INF and only(0.5, INF, key="DSC").minimum == -INF
    # without a better direction there is no worst
    found = only(1, 3, -INF, INF, key="SignedMean")
    assert (found.cases, found.ranked, found.infinite, found.minimum, found.maximum) == (4, 2, 2, 1, 3)


@pytest.mark.parametrize("key, value, worst", [("HD95", INF, INF), ("PPV", NAN, 0), ("OverMax", 0, INF), ("FPR", 0, 1)])
def testWhatATestLeavesEmptyHasTheWorstValue(key, value, worst):
    """By its formula, nothing is too much of a structure that is not there; that must not look good."""
    cases = [outcome(f"case {n}", {key: value if n < 2 else 0.5}) for n in range(3)]
    for case in cases[:2]:
        case["pairs"][0]["measurements"][key]["empty"] = "the test is empty"
    (found,) = summarize(*cases)
    assert (found.median, found.ranked, found.cases, found.emptyTest) == (worst, 3, 3, 2)
    # the mean is that of the values that were measured
    assert found.mean == pytest.approx(np.mean([v for v in (value, value, 0.5) if math.isfinite(v)]))
    assert math.isnan(summarize(*cases[:2])[0].median) == math.isnan(value)  # as of a tool that does not report it


def testTheMeanOverStructuresCountsWhatIsMissed():
    """A method that misses a structure must not look better for it."""
    cases = []
    for case, first, second in (("1", (0.8, 2.0), (0.4, 4.0)), ("2", (0.6, 1.0), (0.0, INF))):
        one, two = (outcome(case, {"DSC": d, "HD": far}, name=n) for n, (d, far) in (("a", first), ("b", second)))
        cases.append(one | {"pairs": one["pairs"] + two["pairs"]})
    dice, far = sorted((one for one in summarize(*cases) if one.structure == OVERALL), key=lambda one: one.measurement)
    assert (dice.mean, dice.minimum, dice.cases) == pytest.approx((0.45, 0.3, 2))
    assert (far.minimum, far.maximum, far.infinite, far.mean) == (3, INF, 1, 3)
    assert OVERALL not in {one.structure for one in summarize(outcome("1", {"DSC": 0.8}))}


# Which structures are the same


def case(name: str, pairs=(), onlyReference=(), onlyTest=(), method: str = "") -> dict:
    """Return a case with a Dice of 1 for pairs and of 0 for the others. pairs: names of reference and test."""

    def record(reference: str, test: str, dice: float, **more) -> dict:
        names = {"reference": {"name": reference}, "test": {"name": test}, "structure": reference}
        return {**outcome("", {"DSC": dice})["pairs"][0], **names, **more}

    missing = [record(one, one, 0, missing="test") for one in onlyReference]
    missing += [record(one, one, 0, missing="reference") for one in onlyTest]
    return {"case": name, "method": method, "pairs": [record(*names, 1) for names in pairs], "missing": missing}


WHOLE, SPLEEN = case("1", [("Parotid_L", "Parotid_L")]), case("1", [("Spleen", "Milz")])


@pytest.mark.parametrize(
    ("cases", "means"),
    [
        ([WHOLE, case("2", onlyReference=["left parotid"])], {"Parotid_L": (2, 0.5)}),
        ([WHOLE, case("2", onlyTest=["LT PAROTID"])], {"Parotid_L": (2, 0.5)}),
        ([WHOLE, case("2", onlyTest=["Parotid_R"])], {"Parotid_L": (1, 1)}),
        # of healthy people, whatever the tests have is too much
        ([case("1", onlyTest=["Lesion"]), case("2", onlyTest=["Lesion"])], {"Lesion": (2, 0)}),
        # a test calls the spleen something else, which terminology codes tell where both have it
        ([SPLEEN, case("2", onlyTest=["milz"])], {"Spleen": (2, 0.5)}),
        ([case("2", onlyTest=["milz"]), SPLEEN], {"Spleen": (2, 0.5)}),
        # what the test has once more, in another spelling, is not missing in the reference
        ([case("1", [("Lens_L", "Lens_L")], onlyTest=["left lens", "LENS L"])], {"Lens_L": (1, 1)}),
        ([case("1", onlyReference=["Lens_L"], onlyTest=["left lens", "LENS L"])], {"Lens_L": (1, 0)}),
        # two spellings in one case are two structures, whichever of them an earlier case has
        ([case("1", [("Eye_L", "Eye_L"), ("Eye L", "Eye L")])], {"Eye_L": (1, 1), "Eye L": (1, 1)}),
        (
            [case("0", [("Eye L", "Eye L")]), case("1", [("Eye_L", "Eye_L"), ("Eye L", "Eye L")])],
            {"Eye L": (2, 1), "Eye_L": (1, 1)},
        ),
    ],
)
def testWhichStructuresAreTheSame(cases, means):
    found = [one for one in summarize(*cases) if one.structure != OVERALL]
    assert {one.structure: (one.cases, one.mean) for one in found} == means


# Methods against each other


def testWilcoxonByHand():
    # B is larger by 1, 2, 3, 4, 5: of the 2^5 choices of signs only all or none are as extreme, 2 / 32
    found = differing(1, 2, 3, 4, 5)
    assert (found.first, found.second, found.cases, found.medianDifference) == ("A", "B", 5, 3)
    assert found.p == pytest.approx(2 / 32) and found.corrected == found.p and found.tests == 1
    # with one sign turned, the smallest: sums of ranks 14 and 1; as extreme are none, {1} and their mirrors: 4 / 32
    assert differing(-1, 2, 3, 4, 5).p == pytest.approx(4 / 32)
    # Kerby 2014, doi:10.2466/11.IT.3.1: favorable minus unfavorable share of the sum of ranks
    assert differing(1, 2, -3, 4).rankBiserial == pytest.approx((1 + 2 + 4 - 3) / 10)
    assert differing(-1, -2, 0).rankBiserial == -1


def testPIsSciPysWithAStandInForInfinity():
    """Ranks do not care how large the largest number is."""
    generator = np.random.default_rng(3)
    for count in (6, 11, 14, 80):
        first, second = generator.integers(0, 12, (2, count)).astype(float)
        second[:2], first[2] = INF, INF
        stood = [np.where(np.isinf(values), 1e6, values) for values in (first, second)]
        isInfinite = np.isinf(first) | np.isinf(second)
        differences = np.where(isInfinite, np.round(stood[1] - stood[0], -6), stood[1] - stood[0])
        differences[np.isinf(first) & np.isinf(second)] = 0
        exact = {} if count > 13 else {"method": scipy.stats.PermutationMethod(n_resamples=np.inf)}
        expected = scipy.stats.wilcoxon(differences[differences != 0] if exact else differences, **exact)
        assert compared(first, second).p == pytest.approx(expected.pvalue, rel=1e-12)


def testTies():
    """Differences that differ by rounding must not decide on ranks; nor is a chain of near numbers one tie."""
    first, second = np.array([0.8, 0.7, 0.5, 0.5]), np.array([0.9, 0.8, 0.4, 0.9])
    assert len(set(np.abs(second - first))) == 3
    # ranks 2, 2, -2 and 4: no more than the 2 of the negative one in 4 of 16 choices, and as many mirrored
    found = compared(first, second)
    assert (found.p, found.rankBiserial) == (8 / 16, pytest.approx(6 / 10))
    # ranks 1.5, -1.5 and 3
    assert compared([0, 1 + 8e-10, 0], [1, 0, 1 + 1.6e-9]).rankBiserial == pytest.approx(3 / 6)
    # contours that are moved have a signed mean of 0 but for its rounding
    same = compared([-1.2e-17] * 8, [6.4e-17] * 8)
    assert same.medianDifference == 0 and math.isnan(same.p) and math.isnan(same.rankBiserial)
    says(same.reason)
    # small values that are not rests do decide
    assert compared([0] * 8, [1e-8] * 8).p == 2 / 2**8
    # and infinite against infinite is a tie
    found = compared([INF, 1, 2, 3], [INF, 2, 4, 6])
    assert (found.cases, found.p, found.rankBiserial, found.medianDifference) == (4, 2 / 8, 1, 1.5)
    assert compared([INF, 2], [INF, 2]).reason == same.reason


def testTheIntervalOfTheEffectSize():
    # Wilson's interval of 5 of 5 is from 0.5655 to 1 (Newcombe 1998); ten differences count as five
    found = differing(*range(1, 11))
    assert (found.rankBiserialLow, found.rankBiserialHigh) == pytest.approx((2 * 0.5655 - 1, 1), abs=1e-4)
    # five differences in one direction do not show one: p is 0.06
    found = differing(1, 2, 3, 4, 5)
    assert found.rankBiserialLow < 0 < found.rankBiserialHigh == 1
    found, mirrored = differing(1, -2, 3, -4, -5), differing(-1, 2, -3, 4, 5)
    assert found.rankBiserialLow == pytest.approx(-mirrored.rankBiserialHigh)


def testTheShift():
    # of 1, 2 and 6 the means of two are 1, 1.5, 2, 3.5, 4, 6
    found = differing(1, 2, 6)
    assert (found.shift, found.shiftLow, found.shiftHigh) == (2.75, -INF, INF)
    # six cases: only the smallest of 64 sums is rejected, so the interval goes from the smallest to the largest
    found = differing(1, 2, 3, 4, 5, 6)
    assert (found.shift, found.shiftLow, found.shiftHigh) == (3.5, 1, 6)
    assert compared([0] * 6, [1, 2, 3, 4, 5, INF]).shiftHigh == INF


@pytest.mark.parametrize("count", [7, 15, 60])
def testTheIntervalOfTheShiftIsWhatTheTestDoesNotReject(count):
    differences = np.random.default_rng(count).normal(0.4, 1, count)
    found = compared([0] * count, differences)
    assert found.shiftLow < found.shift < found.shiftHigh
    for end, inward in ((found.shiftLow, 1e-6), (found.shiftHigh, -1e-6)):
        p = [scipy.stats.wilcoxon(differences - end - step).pvalue for step in (inward, -inward)]
        assert p[0] > 0.05 >= p[1]


def testCorrectionForTheNumberOfTests():
    same, larger = [10] * 5, [11, 12, 13, 14, 15]
    both = [one for name in ("Lens", "Brain") for one in methods({"A": same, "B": larger}, name=name)]
    lens, brain, cord = compare(*both, *methods({"A": same, "B": same}, name="Cord"))
    # two tests: the third cannot be made
    assert lens.corrected == brain.corrected == pytest.approx(2 * 2 / 32) and lens.tests == 2
    assert math.isnan(cord.p) and math.isnan(cord.corrected)


def testPairsAreOfTheSameCase():
    given = [*methods({"A": [10, 20, 30], "B": [11, 22, NAN]}), outcome("case 9", {"HD95": 5}, "B")]
    (found,) = compare(*reversed(given))
    assert found.cases == 2 and found.medianDifference == -1.5 and found.direction == "A minus B"
    assert found.leftOut == 2  # one is undefined, the other has no counterpart
    (found,) = compare(outcome("1", {"DSC": 1}, "A"), outcome("2", {"DSC": 1}, "B"))
    assert found.cases == 0 and says(found.reason) and math.isnan(found.p)
    assert compare(outcome("1", {"DSC": 1})) == []


@pytest.mark.parametrize(
    ("key", "value", "isLower"),
    [
        *((key, value, True) for key, value in (("HD95", INF), ("OverMax", 0.0), ("OverVolume", 0.0), ("FPR", 0.0))),
        *((key, value, False) for key, value in (("NSD_2mm", 0.0), ("PPV", NAN), ("TNR", 1.0), ("ACC", 0.999))),
    ],
)
def testAMethodThatMissesAStructureIsNotBetter(key, value, isLower):
    """Whatever the formula says of an empty test. Where both have it, they are the same."""
    finite = [0.5 + n / 100 for n in range(10)]
    given = methods({"A": finite, "B": finite}, key)
    for one in given[10:16]:
        one["pairs"][0] |= outcome("", {key: value})["pairs"][0] | {"missing": "test"}
    (found,) = compare(*given)
    assert (found.cases, found.missingFirst, found.missingSecond, found.leftOut) == (10, 0, 6, 0)
    # six differences in one direction
    assert found.favors == "A" and found.p == pytest.approx(2 / 2**6)
    assert found.rankBiserial == (1 if isLower else -1) and found.better == ("lower" if isLower else "higher")
    first, second = summarize(*given)
    assert second.median > first.median if isLower else second.median < first.median


def testWhatIsMissingOrInfiniteInEitherMethod():
    given = [case("1", [("A", "A")]), case("2", onlyTest=["A"]), case("3", onlyReference=["A"])]
    (found,) = compare(*({**one, "method": method} for method in "XY" for one in given))
    assert (found.cases, found.missingReference, found.missingFirst, found.missingSecond) == (3, 1, 1, 1)
    # ten cases, of which B misses three and is a little better in seven: ranks 1 to 7 for B; 8, 9, 10, shared, for A
    found = compared([5.0] * 10, [INF] * 3 + [4.9, 4.8, 4.7, 4.6, 4.5, 4.4, 4.3])
    assert found.rankBiserial == pytest.approx(-1 / 55) and found.p > 0.9
    assert (found.infiniteFirst, found.infiniteSecond, found.cases, found.favors) == (0, 3, 10, "B")
    found = compared([1, 2, 3, INF], [2, 4, INF, INF], "SignedMean")
    assert (found.cases, found.leftOut, found.infiniteFirst, found.infiniteSecond) == (2, 2, 1, 2)
    assert (found.favors, found.better, found.medianDifference) == ("", "", 1.5)


def testFriedmanIsSciPys():
    """It is of all methods; the pairs are its post-hoc tests, corrected for all pairs."""
    generator = np.random.default_rng(5)
    for values in (generator.normal(size=(8, 3)), generator.integers(0, 3, (12, 4)).astype(float)):
        found, expected = compare(*methods(dict(zip("ABCD", values.T)))), scipy.stats.friedmanchisquare(*values.T)
        assert len(found) == found[0].tests == math.comb(values.shape[1], 2)
        for one in found:
            assert (one.friedmanStatistic, one.friedmanP) == pytest.approx((expected.statistic, expected.pvalue))
            assert (one.friedmanMethods, one.friedmanCases) == values.shape[::-1]
    # infinite values of a case are a tie, and so are those that differ by rounding
    found, *_ = compare(*methods({"A": [1, 1], "B": [INF, 2], "C": [INF, 2 * (1 + 1e-8)]}))
    assert found.friedmanStatistic == pytest.approx(scipy.stats.friedmanchisquare([1, 1], [2, 2], [2, 2]).statistic)
    alike, *_ = compare(*methods({"A": [1, 1], "B": [1, 1], "C": [1, 1]}))
    assert alike.friedmanCases == 2 and math.isnan(alike.friedmanP) and math.isnan(differing(1, 2).friedmanMethods)


# The results of a batch as data frames


def testFrames(tmp_path):
    """Of three cases and two methods, in the order of completion, with a torn line."""
    rows = []
    done = [("=3", "b", 0.7, 3.0), ("1", "a", 0.9, 1.0), ("1", "b", 0.8, 2.0), ("=3", "a", 0.6, 1.5)]
    for name, method, dice, far in (*done, ("2", "a", 0.5, NAN), ("2", "b", 0.0, INF)):
        one, two = (outcome(name, {"DSC": dice, "HD95": far}, method, organ) for organ in ("Lens", "Eye"))
        isOdd = (name, method) == ("2", "b")
        given = {"status": "ok", "fingerprint": "x", "reason": "Odd." if name == "2" else ""}
        given["missing"] = [{**two["pairs"][0], "missing": "test"}] if isOdd else []
        rows.append(json.dumps({**one, "pairs": one["pairs"] + two["pairs"] * (not isOdd), **given}))
    (tmp_path / "results.jsonl").write_text("\n".join([*rows, rows[0][:30]]))
    order = "Case,Method,Structure\n1,a,Lens\n1,a,Eye\n1,b,Lens\n2,a,Lens\n2,b,Lens\n'=3,a,Lens\n'=3,b,Lens\n"
    (tmp_path / "results.csv").write_text(order)
    batch = readBatch(tmp_path)
    frame = batch.toFrame()
    assert list(frame.columns) == ["Missing", "HD95", "DSC"] and len(frame) == 12
    # in the order of the cases, so that the second method is b as in the other tables
    assert list(dict.fromkeys(frame.index.get_level_values("Case"))) == ["1", "2", "=3"]
    assert frame.loc[("2", "b", "Eye"), "Missing"] == "test" and math.isinf(frame.loc[("2", "b", "Eye"), "HD95"])
    assert math.isnan(frame.loc[("2", "a", "Lens"), "HD95"])
    assert frame.loc[("=3", "b", "Lens"), "DSC"] == 0.7
    summary = batch.summary()
    assert summary.loc[("Lens", "a", "DSC"), "mean"] == pytest.approx((0.9 + 0.5 + 0.6) / 3)
    assert list(dict.fromkeys(summary.index.get_level_values("structure"))) == ["Lens", "Eye", OVERALL]
    assert batch.tests().loc[("Lens", "DSC", "a", "b"), "medianDifference"] == pytest.approx(-0.1)
    assert batch.failures() == {"2 (a)": "Odd.", "2 (b)": "Odd."}
    assert says(repr(batch), "BatchResults: 6 ", ": 2, ", ": 2>") and "<table" in batch._repr_html_()
    for nothing, name in ((tmp_path / "data", tmp_path / "data"), (3, "int")):
        with refused(name):
            readBatch(nothing)
