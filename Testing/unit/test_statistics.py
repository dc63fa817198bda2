"""What the options of a summary change, boxes, and the overview on the terminal, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from batchruns import outcome

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.alarms import SHORT
from SegmentMetricsLib.batch.ranks import correctAll
from SegmentMetricsLib.batch.statistics import Cohort, box, compareMethods, meanInterval, summarize, summarizeOverall
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.batch.summarywriting import summaryTable
from SegmentMetricsLib.metrics.findings import Kind, Severity


def cohortOf(values, key: str = "HD95", **options) -> Cohort:
    return Cohort(outcome(f"case {n}", {key: value}, **options) for n, value in enumerate(values))


def overview(cohort: Cohort, **options) -> str:
    return summaryTable(summarize(cohort, Options(**options)), cohort, Options(**options))


@pytest.mark.parametrize(
    ("treatment", "values", "key", "more", "used", "mean"),
    [
        ("image-diagonal", [1, 3, math.inf, math.nan], "HD95", {}, 3, (1 + 3 + 100) / 3),
        ("cohort-maximum", [1, 3, math.inf, math.nan], "HD95", {}, 3, (1 + 3 + 3) / 3),
        # negative ones keep their sign; without an image there is no diagonal; a ratio has no length
        ("image-diagonal", [1, -math.inf], "SignedMean", {}, 2, -99 / 2),
        ("cohort-maximum", [1, -math.inf], "SignedMean", {}, 2, 0),
        ("image-diagonal", [1, math.inf], "HD95", {"diagonal": None}, 1, 1),
        ("image-diagonal", [1, math.inf], "PBD", {}, 1, 1),
        ("cohort-maximum", [1, math.inf], "PBD", {}, 2, 1),
        ("cohort-maximum", [math.inf, math.nan], "HD95", {}, 0, None),
    ],
)
def testInfiniteValuesInMeans(treatment, values, key, more, used, mean):
    """In the order, infinite is larger than all others in any case."""
    cohort = cohortOf(values, key, **more)
    (found,) = summarize(cohort, Options(treatment=treatment))
    assert found.used == used and found.replaced == used - sum(map(math.isfinite, values))
    assert found.mean == pytest.approx(mean) if used else found.mean is None
    if treatment == "cohort-maximum" and used:  # of all structures
        cohort.add(outcome("case 1", {key: 7.0}, name="Brain"))
        assert summarize(cohort, Options(treatment=treatment))[0].mean * used == pytest.approx(
            sum(value if math.isfinite(value) else math.copysign(7, value) for value in values if value == value)
        )


def testOptionsForStructuresThatAreMissingAndForCorrections():
    given = [outcome(f"case {n}", {"DSC": n / 10}, method) for method in "XY" for n in range(3)]
    given[1]["pairs"][0]["missing"] = given[4]["pairs"][0]["missing"] = "reference"
    given[2]["pairs"][0]["missing"] = given[5]["pairs"][0]["missing"] = "test"
    (test,) = compareMethods(Cohort(given), Options(missing="leave-out"))
    assert (test.cases, test.missingReference, test.missingFirst, test.missingSecond) == (1, 1, 1, 1)
    given = [
        outcome(f"case {n}", {"DSC": 10 + (n + 1) * by, "HD95": 10 + ((n + 1) * by if n else -by)}, method)
        for method, by in (("A", 0), ("B", 1))
        for n in range(5)
    ]
    for correction, expected in {
        "bonferroni": (1, 2 / 32, 4 / 32),
        "bonferroni-all": (2, 4 / 32, 8 / 32),
        "holm": (1, 2 / 32, 4 / 32),
        "holm-all": (2, 4 / 32, 4 / 32),
    }.items():
        distance, dice = compareMethods(Cohort(given), Options(correction=correction))
        assert (dice.measurement, distance.measurement, dice.correction) == ("DSC", "HD95", correction)
        assert (dice.tests, dice.corrected, distance.corrected) == pytest.approx(expected)
    # 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which must not be less than the one before
    corrected = correctAll({"a": 0.01, "b": 0.04, "none": None, "c": 0.03, "d": 0.005}, isStepwise=True)
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "none": None, "c": 0.06, "d": 0.02})
    # the mean of the structures of a case with an image, and of one without
    images, values = {"1": 100.0, "2": None}, {"Lens": 3.0, "Eye": math.inf}
    given = [outcome(case, {"HD95": values[name]}, "", name, images[case]) for case in images for name in values]
    (found,) = summarizeOverall(Cohort(given), Options(treatment="image-diagonal"))
    assert (found.mean, found.median, found.used, found.replaced) == ((3 + 100) / 2, math.inf, 1, 1)
    for wrong in ({"missing": "zero"}, {"treatment": "zero"}, {"correction": "none"}, {"resamples": 0}, {"seed": -1}):
        with pytest.raises(InputError):
            Options(**wrong)
    values = np.random.default_rng(1).normal(10, 2, 400)
    assert meanInterval(values) == meanInterval(values) != meanInterval(values, seed=1)


def testBoxes():
    # quartiles of 1..9 and 30: positions 2.25 and 6.75 of 0..9; reach 1.5 * 4.5 = 6.75 above 7.75
    assert box([*range(1, 10), 30]) == (1, 3.25, 5.5, 7.75, 9, (30,))
    assert box([4]) == box([4, 4, 4]) and box([4]).outliers == ()
    # quartiles 1.75 and 12.25, reach 15.75: 3 is the last inside, below the quartile
    assert box([1, 2, 3, 40]) == (1, 1.75, 2.5, 12.25, 12.25, (40,))
    assert box([1, 2, 3, 4, math.inf]) == (1, 2, 3, 4, 4, (math.inf,))
    assert box([math.inf, math.inf]) == box([math.inf])


def testTheOverviewOfCasesThatAreMeasuredDifferently():
    """As with a protocol for each case: all cases count, and numbers of fewer have a star that says why."""
    cases = [outcome("1", {"DSC": 0.5}), outcome("2", {"DSC": 0.7}), outcome("3", {"HD95": 2.0})]
    _, _, row, _, note = overview(Cohort(cases)).splitlines()
    assert row.split() == ["Lens", "3", "2.00", "(0.00)*", "0.600", "(0.100)*"]
    assert "the others are not measured;" in note
    cases[0]["pairs"][0]["missing"] = "test"
    heading, _, row, *_ = overview(Cohort(cases)).splitlines()
    assert "Missing" in heading and row.split()[:4] == ["Lens", "3", "1", "test"]
    _, _, row, _, note = overview(Cohort(cases), missing="leave-out").splitlines()
    assert row.split()[:5] == ["Lens", "2", "1", "test", "2.00"] and "0.700" in row
    assert "the others are missing or not measured;" in note
    signed = overview(cohortOf([1, math.inf, math.nan], "SignedMean"))
    assert "the others are infinite or undefined;" in signed
    # the second method has the lens of case 2, but it cannot be used; nor is the eye of case 2 expected of the first
    both = [outcome(n, {"DSC": 1}, m, name) for n, m, name in ("1AL", "2AL", "1BL", "2BE")]
    assert [line.split()[:4] for line in overview(Cohort(both)).splitlines()[3:4]] == [["L", "B", "1", "of"]]
    # what is not among the main measurements is shown where there is nothing else
    assert overview(cohortOf([1, 2], "SIS")).splitlines()[0].split()[:3] == ["Structure", "Cases", "SIS"]


def testEveryAlarmHasAFewWords():
    assert set(SHORT) == {kind for kind in Kind if kind.severity == Severity.ALARM}
