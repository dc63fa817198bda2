"""Cohort statistics against numbers worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from batchruns import rowsOf

from SegmentMetricsLib import readBatch
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.statistics import OVERALL, Cohort, box, compareMethods, meanInterval, summarize
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.batch.summarywriting import summaryTable, writeSummary


def outcome(case: str, values: dict, method: str = "", name: str = "Lens", diagonal=100.0) -> dict:
    measurements = {}
    for key, value in values.items():
        status = "undefined" if math.isnan(value) else "infinite" if math.isinf(value) else "ok"
        measurements[key] = {
            "value": value if status == "ok" else None,
            "unit": "" if key in ("DSC", "PBD") else "mm",
            "status": status,
            "reason": "" if status == "ok" else "made up",
        }
        if value == -math.inf:
            measurements[key]["sign"] = -1
    names = {"reference": {"name": name}, "test": {"name": name}}
    pair = {"structure": name, **names, "measurements": measurements, "diagonal": diagonal}
    return {"case": case, "method": method, "pairs": [pair]}


def cohortOf(values, key: str = "HD95", **options) -> Cohort:
    return Cohort(outcome(f"case {n}", {key: value}, **options) for n, value in enumerate(values))


def overview(cohort: Cohort, **options) -> str:
    return summaryTable(summarize(cohort, Options(**options)), cohort, Options(**options))


def only(cohort: Cohort, **options):
    (summary,) = summarize(cohort, Options(**options))
    return summary


# Numbers


def testByHand():
    found = only(cohortOf([2, 4, 4, 5, 10]))
    # sum 25; deviations -3 -1 -1 0 5, squares 9 + 1 + 1 + 0 + 25 = 36, 36 / 4 = 9
    assert (found.cases, found.used, found.mean, found.sd, found.median) == (5, 5, 5, 3, 4)
    assert (found.q1, found.q3, found.iqr, found.minimum, found.maximum) == (4, 5, 1, 2, 10)
    assert (found.structure, found.method, found.measurement, found.unit) == ("Lens", "", "HD95", "mm")
    # four values: the quartiles lie a quarter and three quarters of the way along 1, 2, 3, 4
    found = only(cohortOf([4, 1, 3, 2]))
    assert (found.q1, found.median, found.q3) == (1.75, 2.5, 3.25)


def testOneValueHasNoSpread():
    found = only(cohortOf([3]))
    assert (found.mean, found.median, found.iqr, found.sd, found.meanLow, found.meanHigh) == (3, 3, 0, None, None, None)


def testTheBootstrapInterval():
    # of 0 and 1, two are drawn: their mean is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4; 95 % need all
    assert meanInterval(np.array([0.0, 1.0])) == (0, 1)
    assert meanInterval(np.array([2.0, 2.0, 2.0])) == (2, 2)
    assert meanInterval(np.array([2.0])) == (None, None)
    # for many values it is that of the central limit theorem: mean +- 1.96 SD / sqrt(n)
    values = np.random.default_rng(1).normal(10, 2, 400)
    low, high = meanInterval(values, resamples=4000)
    half = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.03)
    assert meanInterval(values, resamples=4000) == (low, high) != meanInterval(values, resamples=4000, seed=1)


@pytest.mark.parametrize(
    "treatment, used, replaced, mean",
    [("leave-out", 2, 0, 2), ("image-diagonal", 3, 1, (1 + 3 + 100) / 3), ("cohort-maximum", 3, 1, (1 + 3 + 3) / 3)],
)
def testInfiniteValues(treatment, used, replaced, mean):
    """The treatment is that of means: in the order, infinite is larger than all others."""
    found = only(cohortOf([1, 3, math.inf, math.nan]), treatment=treatment)
    assert (found.cases, found.used, found.infinite, found.undefined) == (4, used, 1, 1)
    assert found.replaced == replaced and found.mean == pytest.approx(mean)
    assert (found.ranked, found.minimum, found.median, found.maximum) == (3, 1, 3, math.inf)


def testInfiniteValuesOfOtherKinds():
    # negative ones keep their sign; without an image there is no diagonal; a ratio has no length
    assert only(cohortOf([1, -math.inf], "SignedMean"), treatment="image-diagonal").mean == -99 / 2
    assert only(cohortOf([1, -math.inf], "SignedMean"), treatment="cohort-maximum").mean == 0
    assert only(cohortOf([1, math.inf], diagonal=None), treatment="image-diagonal").used == 1
    assert only(cohortOf([1, math.inf], "PBD"), treatment="image-diagonal").used == 1
    assert only(cohortOf([1, math.inf], "PBD"), treatment="cohort-maximum").used == 2
    nothing = only(cohortOf([math.inf, math.nan]), treatment="cohort-maximum")
    assert (nothing.cases, nothing.used, nothing.mean, nothing.median) == (2, 0, None, math.inf)


def testQuartilesAreInfiniteWhereInfiniteValuesReach():
    # positions 1, 2 and 3 of 0..4
    found = only(cohortOf([4, math.inf, 2, math.inf, 3]))
    assert (found.q1, found.median, found.q3, found.iqr) == (3, 4, math.inf, math.inf)
    # position 1.5 lies between a finite and an infinite value
    assert only(cohortOf([1, 2, math.inf, math.inf])).median == math.inf
    assert only(cohortOf([1, 2, 3, math.inf])).median == 2.5
    # the distance between two infinite quartiles is unknown
    found = only(cohortOf([math.inf] * 3))
    assert (found.q1, found.q3, found.iqr, found.minimum, found.mean) == (math.inf, math.inf, None, math.inf, None)


def testInfiniteIsTheWorstWhateverItsSign():
    """Some tools report an empty test as a distance of -inf, which is smaller than all others but not better."""
    assert only(cohortOf([1, -math.inf])).maximum == math.inf
    assert only(cohortOf([0.5, math.inf], "DSC")).minimum == -math.inf


def testWithoutABetterDirectionInfiniteIsLeftOut():
    found = only(cohortOf([1, 3, -math.inf, math.inf], "SignedMean"))
    assert (found.cases, found.ranked, found.infinite, found.minimum, found.maximum) == (4, 2, 2, 1, 3)


@pytest.mark.parametrize(
    "key, value, worst", [("HD95", math.inf, math.inf), ("PPV", math.nan, 0), ("OverMax", 0, math.inf), ("FPR", 0, 1)]
)
def testWhatATestLeavesEmptyHasTheWorstValue(key, value, worst):
    """By its formula, nothing is too much of a structure that is not there; that must not look good."""
    cases = [outcome(f"case {n}", {key: value if n < 2 else 0.5}) for n in range(3)]
    for case in cases[:2]:
        case["pairs"][0]["measurements"][key]["empty"] = "the test is empty"
    found = only(Cohort(cases))
    assert (found.median, found.ranked, found.cases, found.emptyTest) == (worst, 3, 3, 2)
    # the mean is that of the values that were measured
    assert found.mean == pytest.approx(np.mean([v for v in (value, value, 0.5) if math.isfinite(v)]))


def testTheMaximumInMeansIsThatOfTheWholeCohort():
    cohort = cohortOf([1, math.inf])
    cohort.add(outcome("case 1", {"HD95": 7.0}, name="Brain"))
    lens, brain = summarize(cohort, Options(treatment="cohort-maximum"))
    assert (lens.mean, brain.mean) == ((1 + 7) / 2, 7)


def testStructuresInDifferentSpellings():
    both = outcome("1", {"DSC": 0.5}, name="Parotid_L")
    both["pairs"] += outcome("1", {"DSC": 0.7}, name="Parotid L")["pairs"]
    assert [(s.structure, s.mean) for s in summarize(Cohort([both]))] == [("Parotid_L", 0.5), ("Parotid L", 0.7)]
    # whichever of the two an earlier case has
    earlier = outcome("0", {"DSC": 0.9}, name="Parotid L")
    found = summarize(Cohort([earlier, both]))
    assert [(s.structure, s.cases, s.mean) for s in found] == [("Parotid L", 2, 0.8), ("Parotid_L", 1, 0.5)]


# Methods against each other


def methods(first, second, name="Lens", key="DSC") -> list[dict]:
    return [
        outcome(f"case {n}", {key: value}, method, name)
        for method, values in (("A", first), ("B", second))
        for n, value in enumerate(values)
    ]


def testWilcoxonByHand():
    # B is better by 1, 2, 3, 4, 5: of the 2^5 choices of signs only all or none are as extreme, 2 / 32
    cohort = Cohort(methods([10, 10, 10, 10, 10], [11, 12, 13, 14, 15]))
    (found,) = compareMethods(cohort)
    assert (found.first, found.second, found.cases, found.medianDifference) == ("A", "B", 5, 3)
    assert found.p == pytest.approx(2 / 32) and found.corrected == found.p and found.tests == 1
    # with one sign turned, the smallest: sums of ranks 14 and 1; as extreme are none, {1} and their mirrors: 4 / 32
    (found,) = compareMethods(Cohort(methods([10] * 5, [9, 12, 13, 14, 15])))
    assert found.p == pytest.approx(4 / 32)


def testBonferroni():
    same = [10, 10, 10, 10, 10]
    better = [11, 12, 13, 14, 15]
    given = methods(same, better) + methods(same, better, "Brain") + methods(same, same, "Cord")
    lens, brain, cord = compareMethods(Cohort(given))
    assert lens.corrected == brain.corrected == pytest.approx(2 * 2 / 32)  # two tests: the third cannot be made
    assert (cord.p, cord.corrected, cord.reason) == (None, None, "the methods do not differ in any case")


def testPairsAreOfTheSameCase():
    given = methods([10, 20, 30], [11, 22, math.nan])
    given += [outcome("case 9", {"DSC": 5}, "B")]
    given.reverse()
    (found,) = compareMethods(Cohort(given))
    assert found.cases == 2 and found.medianDifference == -1.5 and found.direction == "A minus B"
    assert found.leftOut == 2  # one is undefined, the other has no counterpart
    (found,) = compareMethods(Cohort([outcome("1", {"DSC": 1}, "A"), outcome("2", {"DSC": 1}, "B")]))
    assert (found.cases, found.p, found.reason) == (0, None, "no case has both")
    assert compareMethods(cohortOf([1, 2, 3])) == []


def missing(first, second, key, value, lacking) -> list[dict]:
    """Return outcomes of two methods, where the second misses the cases `lacking`, with a value there."""
    given = methods(first, second, key=key)
    for case in given[len(first) :]:
        if int(case["case"].split()[1]) in lacking:
            case["pairs"][0] |= outcome("", {key: value})["pairs"][0] | {"missing": "test"}
    return given


@pytest.mark.parametrize(
    ("key", "value", "isLower"),
    [
        ("HD95", math.inf, True), ("NSD_2mm", 0.0, False), ("PPV", math.nan, False), ("OverMax", 0.0, True),
        ("OverVolume", 0.0, True), ("FPR", 0.0, True), ("TNR", 1.0, False), ("ACC", 0.999, False),
    ],
)  # fmt: skip
def testAMethodThatMissesAStructureIsNotBetter(key, value, isLower):
    """Whatever the formula says of an empty test. Where both have it, they are the same."""
    finite = [0.5 + n / 100 for n in range(10)]
    cohort = Cohort(missing(finite, finite, key, value, range(6)))
    (found,) = compareMethods(cohort)
    assert (found.cases, found.missingFirst, found.missingSecond, found.leftOut) == (10, 0, 6, 0)
    # six differences in one direction
    assert found.favors == "A" and found.p == pytest.approx(2 / 2**6)
    assert found.rankBiserial == (1 if isLower else -1) and found.better == ("lower" if isLower else "higher")
    first, second = summarize(cohort)
    assert second.median > first.median if isLower else second.median < first.median


def testInfiniteDifferencesDecideByTheirNumber():
    """Ten cases, of which B misses three and is a little better in seven: the worst ranks are A's favor."""
    cohort = Cohort(methods([5.0] * 10, [math.inf] * 3 + [4.9, 4.8, 4.7, 4.6, 4.5, 4.4, 4.3], key="HD95"))
    (found,) = compareMethods(cohort)
    # ranks 1 to 7 for B, and 8, 9, 10, shared, for A: 28 and 27
    assert found.rankBiserial == pytest.approx(-1 / 55) and found.p > 0.9
    assert (found.infiniteFirst, found.infiniteSecond, found.cases, found.favors) == (0, 3, 10, "B")


def testDifferencesWithoutADirectionLeaveInfiniteOnesOut():
    (found,) = compareMethods(Cohort(methods([1, 2, 3, math.inf], [2, 4, math.inf, math.inf], key="SignedMean")))
    assert (found.cases, found.leftOut, found.infiniteFirst, found.infiniteSecond) == (2, 2, 1, 2)
    assert (found.favors, found.better, found.medianDifference) == ("", "", 1.5)


def testThreeMethods():
    """Friedman's test is of all methods; the pairs are its post-hoc tests, corrected for all pairs."""
    given = methods([1, 2, 3, 4], [2, 3, 4, 5])
    given += [outcome(f"case {n}", {"DSC": value}, "C") for n, value in enumerate([3, 4, 5, 6])]
    found = compareMethods(Cohort(given))
    assert [(one.first, one.second) for one in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    for one in found:
        assert (one.friedmanMethods, one.friedmanCases) == (3, 4)
        assert (one.friedmanStatistic, one.friedmanP) == pytest.approx((8, math.exp(-4)))
        assert one.tests == 3 and one.corrected == pytest.approx(3 * 2 / 16)
    (two,) = compareMethods(Cohort(methods([1, 2], [2, 3])))
    assert (two.friedmanMethods, two.friedmanP) == (None, None)


def testCorrectionsAcrossMeasurements():
    given = methods([10] * 5, [11, 12, 13, 14, 15])
    for case, other in zip(given, methods([10] * 5, [9, 12, 13, 14, 15], key="HD95"), strict=True):
        case["pairs"][0]["measurements"] |= other["pairs"][0]["measurements"]
    for correction, expected in {
        "bonferroni": (1, 2 / 32, 4 / 32),
        "bonferroni-all": (2, 4 / 32, 8 / 32),
        "holm": (1, 2 / 32, 4 / 32),
        "holm-all": (2, 4 / 32, 4 / 32),
    }.items():
        distance, dice = compareMethods(Cohort(given), Options(correction=correction))
        assert (dice.measurement, distance.measurement) == ("DSC", "HD95")
        assert (dice.tests, dice.corrected, distance.corrected) == pytest.approx(expected)
        assert dice.correction == correction


# Box plots


def testABox():
    # quartiles of 1..9 and 30: positions 2.25 and 6.75 of 0..9; reach 1.5 * 4.5 = 6.75 above 7.75
    found = box([*range(1, 10), 30])
    assert (found.q1, found.median, found.q3) == (3.25, 5.5, 7.75)
    assert (found.low, found.high, found.outliers) == (1, 9, (30,))
    assert box([4]) == box([4, 4, 4]) and box([4]).outliers == ()
    # quartiles 1.75 and 12.25, reach 15.75: 3 is the last inside, below the quartile
    found = box([1, 2, 3, 40])
    assert (found.low, found.q3, found.high, found.outliers) == (1, 12.25, 12.25, (40,))


def testASingleInfiniteValueIsBeyondTheWhisker():
    found = box([1, 2, 3, 4, math.inf])
    assert (found.q3, found.high, found.outliers) == (4, 4, (math.inf,))
    assert box([math.inf, math.inf]) == box([math.inf])


# Files


def testFiles(tmp_path):
    cohort = Cohort(methods([1, 2, math.inf], [2, math.nan, 5], "=cmd()"))
    options = Options(treatment="image-diagonal", seed=3)
    writeSummary(cohort, options, compareMethods(cohort, options), {"ok": 3}, tmp_path)
    content = json.loads((tmp_path / "summary.json").read_text())
    assert content["schema"] == "segment-metrics-summary/2" and content["cases"] == {"ok": 3}
    assert content["treatment"]["seed"] == 3 and "diagonal" in content["treatment"]["infinite"]
    rows = rowsOf(tmp_path / "summary.csv")
    assert [row["Structure"] for row in rows] == ["'=cmd()", "'=cmd()"]
    # a length is not put in the place of an infinite fraction
    assert (rows[0]["Used"], rows[0]["Infinite"], rows[1]["Undefined"], rows[1]["Mean"]) == ("2", "1", "1", "3.5")
    assert len(content["pairedTests"]) == 1 and (tmp_path / "tests.csv").read_text().count("\n") == 2
    assert [one["minimum"] for one in content["summaries"]] == ["-inf", 2.0]  # JSON has no infinity
    assert "3.500 (1.500)*" in overview(cohort)
    assert "HD95 (mm)" in overview(cohortOf([1, 2]))
    # what is not among the main measurements is shown where there is nothing else
    assert overview(cohortOf([1, 2], "SIS")).splitlines()[0].split()[:3] == ["Structure", "Cases", "SIS"]
    # another run leaves nothing of this one
    writeSummary(Cohort(), Options(), [], {}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["summary.csv", "summary.json"]


def testTheOverviewOfCasesThatAreMeasuredDifferently():
    """As with a protocol for each case: all cases count, and numbers of fewer have a star that says why."""
    cases = [outcome("1", {"DSC": 0.5}), outcome("2", {"DSC": 0.7}), outcome("3", {"HD95": 2.0})]
    _, _, row, _, note = overview(Cohort(cases)).splitlines()
    assert row.split() == ["Lens", "3", "2.00", "(0.00)*", "0.600", "(0.100)*"]
    assert note.startswith("* from fewer cases, because the others are not measured;")
    cases[0]["pairs"][0]["missing"] = "test"
    heading, _, row, *_ = overview(Cohort(cases)).splitlines()
    assert "Missing" in heading and row.split()[:4] == ["Lens", "3", "1", "test"]
    _, _, row, _, note = overview(Cohort(cases), missing="leave-out").splitlines()
    assert row.split()[:5] == ["Lens", "2", "1", "test", "2.00"] and "0.700" in row
    assert note.startswith("* from fewer cases, because the others are missing or not measured;")
    signed = overview(cohortOf([1, math.inf, math.nan], "SignedMean"))
    assert signed.endswith("because the others are infinite or undefined; summary.csv says how many")


# The results of a batch as data frames


@pytest.fixture
def folder(tmp_path):
    """The output of a batch of three cases and two methods, in the order of completion, with a torn line."""
    rows = []
    done = [("=3", "b", 0.7, 3.0), ("1", "a", 0.9, 1.0), ("1", "b", 0.8, 2.0), ("=3", "a", 0.6, 1.5)]
    for case, method, dice, far in (*done, ("2", "a", 0.5, math.nan), ("2", "b", 0.0, math.inf)):
        one, two = (outcome(case, {"DSC": dice, "HD95": far}, method, name) for name in ("Lens", "Eye"))
        one["pairs"] += two["pairs"]
        given = {"status": "ok", "fingerprint": "x", "reason": "Odd." if case == "2" else "", "missing": []}
        if (case, method) == ("2", "b"):
            given["missing"] = [{**one["pairs"].pop(), "missing": "test"}]
        rows.append(json.dumps({**one, **given}))
    (tmp_path / "results.jsonl").write_text("\n".join([*rows, rows[0][:30]]))
    order = "Case,Method,Structure\n1,a,Lens\n1,a,Eye\n1,b,Lens\n2,a,Lens\n2,b,Lens\n'=3,a,Lens\n'=3,b,Lens\n"
    (tmp_path / "results.csv").write_text(order)
    return tmp_path


def testFrames(folder):
    pytest.importorskip("pandas", reason="pandas is not installed")
    batch = readBatch(folder)
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
    tests = batch.tests()
    assert tests.loc[("Lens", "DSC", "a", "b"), "medianDifference"] == pytest.approx(-0.1)
    assert batch.failures() == {"2 (a)": "Odd.", "2 (b)": "Odd."}
    assert repr(batch) == "<BatchResults: 6 cases, structures: 2, methods: 2>" and "<table" in batch._repr_html_()


def testWhatIsNoBatch(tmp_path):
    with pytest.raises(InputError, match="there are no results of a batch, as there is no"):
        readBatch(tmp_path)
    with pytest.raises(InputError):
        readBatch(3)
