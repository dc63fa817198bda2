"""The stress test over many cases: settings, statistics against SciPy and by hand, and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from scipy.stats import wilcoxon

from SegmentMetricsLib import Settings, __main__, stressTest
from SegmentMetricsLib.batch import stresscases
from SegmentMetricsLib.batch.ranks import MOST_EXACT_GREATER, signedRankGreater
from SegmentMetricsLib.batch.stresscases import ALL, StressOutcome, differences, readStressCases
from SegmentMetricsLib.metrics.measurement import Measurement

# Statistics


def testOneSidedByHand():
    # all ten cases worse: one of 2^10 choices of signs, half of the two-sided p
    assert signedRankGreater(np.arange(1.0, 11)) == 2.0**-10
    assert signedRankGreater(-np.arange(1.0, 11)) == 1
    # ranks 1.5, 1.5 and 3: of the eight choices three reach the 4.5 of those above 0
    assert signedRankGreater(np.array([2.0, -2, 0, 5])) == 3 / 8
    assert signedRankGreater(np.zeros(4)) is None and signedRankGreater(np.zeros(0)) is None


@pytest.mark.parametrize("size", [20, 50, 400])
def testOneSidedAgainstScipy(size):
    values = np.random.default_rng(size).normal(0.05, 1, size)
    expected = wilcoxon(values, alternative="greater", method="exact" if size <= MOST_EXACT_GREATER else "approx")
    tolerance = 1e-9 if size <= MOST_EXACT_GREATER else 1e-3
    assert signedRankGreater(values) == pytest.approx(expected.pvalue, abs=tolerance)


def measured(key: str, value: float) -> dict[str, Measurement]:
    status = "ok" if np.isfinite(value) else "infinite"
    data = {"value": value if status == "ok" else None, "unit": "mm" if key == "HD95" else "", "status": status}
    return {key: Measurement.fromDictionary(key, data)}


def outcomesOf(key: str, pairs, structure: str = "Cube") -> list[StressOutcome]:
    return [
        StressOutcome(f"case {n}", "", structure, measured(key, risky), measured(key, neutral))
        for n, (risky, neutral) in enumerate(pairs)
    ]


def testDifferences():
    (found,) = differences(outcomesOf("STAR", [(0.8, 0.3), (0.6, 0.4), (0.9, 0.2)]))
    assert (found.structure, found.measurement, found.cases, found.leftOut) == ("Cube", "STAR", 3, 0)
    means = found.meanRisky, found.meanNeutral, found.meanDifference
    assert means == pytest.approx((2.3 / 3, 0.3, (0.5 + 0.2 + 0.7) / 3))
    assert 0.2 - 1e-12 <= found.low < found.meanDifference < found.high <= 0.7 + 1e-12
    assert (found.alternative, found.p) == ("greater", 1 / 8)
    # where higher is better, the risky variant is worse if it is lower
    (found,) = differences(outcomesOf("wDice", [(0.3, 0.8), (0.4, 0.6), (0.5, 0.9)]))
    assert (found.alternative, found.p) == ("less", 1 / 8) and found.meanDifference < 0
    # the other way round there is no evidence at all
    (found,) = differences(outcomesOf("STAR", [(0.3, 0.8), (0.4, 0.6), (0.2, 0.9)]))
    assert found.p == 1
    (found,) = differences(outcomesOf("DSC", [(0.9, 0.9), (0.8, 0.8 + 1e-12)]))
    assert (found.meanDifference, found.p) == (0, None) and "do not differ" in found.reason
    (found,) = differences(outcomesOf("HD95", [(np.inf, 3), (2, 1), (3, 1)]))
    assert (found.cases, found.leftOut, found.meanDifference, found.p) == (2, 1, 1.5, 1 / 4)
    (found,) = differences(outcomesOf("HD95", [(np.inf, 3)]))
    assert (found.cases, found.meanRisky, found.p) == (0, None, None) and "no case" in found.reason
    assert differences(outcomesOf("VolumeTest", [(1, 2)])) == [], "it has no better direction"


def testSeveralStructuresOfACaseCountOnce():
    """They are not independent: three patients with two organs each are three values."""
    first = outcomesOf("STAR", [(0.8, 0.3), (0.6, 0.4), (0.9, 0.2)])
    second = outcomesOf("STAR", [(0.5, 0.4), (0.5, 0.4), (0.5, 0.4)], "Ball")
    found = differences([*first, *second])
    assert [one.structure for one in found] == ["Cube", "Ball", ALL]
    assert found[2].cases == 3 and found[2].p == 1 / 8
    assert found[2].meanDifference == pytest.approx(((0.5 + 0.1) / 2 + (0.2 + 0.1) / 2 + (0.7 + 0.1) / 2) / 3)
    failed = StressOutcome("case 9", "", "Cube", reason="none")
    assert differences([*first, failed]) == differences(first)


# The command


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Five patients with a cube at different distances from a wall, and a list of them."""
    monkeypatch.chdir(tmp_path)
    lines = ["case,reference,test,method"]
    for number in range(5):
        first = 6 + number
        boxes = {
            1: ((first, 5, 5), (first + 4, 9, 9)),
            2: ((2, 0, 0), (4, 23, 23)),
            3: ((first, 14, 14), (first + 4, 18, 18)),
        }
        SimpleITK.WriteImage(shapes.labelImage(boxes), f"{number}.nrrd")
        # a list for batch, with two methods on the same reference
        lines += [f"{number},{number}.nrrd,x.nrrd,{method}" for method in "AB"]
    Path("cases.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


CHOSEN = ("--structure", "Label 1", "--critical", "Label 2", "--resamples", "200")


def run(*arguments, source: str = "cases.csv") -> int:
    try:
        return __main__.main(["stress", source, *arguments, "--output", "out"])
    except SystemExit as end:
        return end.code


def testListOfCases(study, capsys):
    assert run(*CHOSEN) == 0
    out, err = capsys.readouterr()
    assert err == "" and "5 cases tested." in out
    head, _, *lines = out.splitlines()
    assert " ".join(head.split()) == "Structure Measurement Cases Risky Neutral Difference 95 % interval p (one-sided)"
    assert [line.split()[2] for line in lines[:5]] == ["HD95", "DSC", "SIS", "STAR", "wDice"]
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "stress.csv", "stress.json", "stress.schema.csv", "stress.summary.csv", "stress.summary.schema.csv",
    ]  # fmt: skip
    rows = rowsOf("out/stress.csv")
    assert [(row["Case"], row["Variant"]) for row in rows[:3]] == [("0", "risky"), ("0", "neutral"), ("1", "risky")]
    assert len(rows) == 10 and {row["Status"] for row in rows} == {"ok"}
    # every number is that of the test of the one case
    image = SimpleITK.ReadImage("3.nrrd")
    alone = stressTest(image == 1, {"Wall": image == 2}, Settings(families=("overlap", "hazard")))
    for key in ("STAR", "SIS", "wDice", "DSC", "RFN"):
        for row, comparison in zip(rows[6:8], (alone.risky, alone.neutral), strict=True):
            assert float(row[key]) == pytest.approx(comparison[key].value, rel=1e-12)
    summary = {row["Measurement"]: row for row in rowsOf("out/stress.summary.csv")}
    for key in ("SIS", "STAR", "wDice", "RFN", "RFP"):
        change = [float(risky[key]) - float(neutral[key]) for risky, neutral in zip(rows[::2], rows[1::2], strict=True)]
        assert float(summary[key]["MeanDifference"]) == pytest.approx(np.mean(change), rel=1e-9)
        assert float(summary[key]["Low"]) <= np.mean(change) <= float(summary[key]["High"])
        # five of five
        worse = "less" if key == "wDice" else "greater"
        assert float(summary[key]["P"]) == 1 / 32 and summary[key]["Alternative"] == worse
    assert summary["DSC"]["P"] == "" and float(summary["DSC"]["MeanDifference"]) == 0
    document = json.loads(Path("out/stress.json").read_text(), parse_constant=pytest.fail)
    assert document["schema"] == "segment-metrics-stress-cases/1" and document["resamples"] == 200
    assert len(document["tests"]) == 5 and len(document["differences"]) == len(summary)
    for name in ("stress", "stress.summary"):
        assert list(rowsOf(f"out/{name}.csv")[0]) == [row["key"] for row in rowsOf(f"out/{name}.schema.csv")]


def testSeveralStructures(study, capsys):
    assert run(*CHOSEN, "--structure", "3", "--share", "0.3") == 0
    assert "all structures" in capsys.readouterr().out
    assert {row["Structure"] for row in rowsOf("out/stress.summary.csv")} == {"Label 1", "3", ALL}
    rows = rowsOf("out/stress.csv")
    assert len(rows) == 20 and {row["Count"] for row in rows} == {str(int(0.3 * 98))}
    assert run(*CHOSEN, "--structure", "Label 3", source="1.nrrd") == 2
    assert "give --structure once, or give a list of cases" in capsys.readouterr().err
    assert run(*CHOSEN, "--count", "4", "--share", "0.1") == 2
    assert "not allowed with argument" in capsys.readouterr().err
    assert run(*CHOSEN, "--share", "0.6", source="1.nrrd") == 2
    assert "must be greater than 0 and at most 0.5, not 0.6" in capsys.readouterr().err


def testCasesThatFail(study, capsys):
    """They are rows with their reason, and the others are tested."""
    SimpleITK.WriteImage(shapes.labelImage({2: ((2, 0, 0), (4, 23, 23))}), "3.nrrd")
    Path("4.nrrd").write_text("no image")
    with open("cases.csv", "a") as file:
        file.write("5,nowhere.nrrd,,\n0,1.nrrd,,\n")
    assert run(*CHOSEN) == 1
    out, err = capsys.readouterr()
    assert "3 cases tested." in out
    lines = err.splitlines()
    assert len(lines) == 4 and all(line.startswith("segment-metrics: ") for line in lines)
    assert "3, Label 1: " in lines[0] and "no structure named 'Label 1'" in lines[0]
    failed = {(row["Case"], row["Reason"]) for row in rowsOf("out/stress.csv") if row["Status"] == "failed"}
    assert sorted(case for case, _ in failed) == ["0", "3", "4", "5"] and all(reason for _, reason in failed)
    assert rowsOf("out/stress.summary.csv")[0]["Cases"] == "3"


def testListsThatAreRefused(study, capsys):
    assert run("--structure", "Heart", "--critical", "Label 2") == 2
    assert capsys.readouterr().err.count("\n") == 5 and not Path("out").exists(), "none can be tested"
    for content, message in (("case,image\n1,1.nrrd\n", "reference"), ("case,reference\n", "there are no cases")):
        Path("cases.csv").write_text(content)
        assert run(*CHOSEN) == 2 and message in capsys.readouterr().err


def testOneRunReplacesTheOther(study):
    """Of one structure, with masks, and of many, with tables."""
    assert run(*CHOSEN, "--count", "4") == 0 and {row["Count"] for row in rowsOf("out/stress.csv")} == {"4"}
    many = {path.name for path in Path("out").iterdir()}
    assert run(*CHOSEN, source="1.nrrd") == 0
    one = {"stress.csv", "stress.json", "risky_Label_1.nrrd", "neutral_Label_1.nrrd"}
    assert {path.name for path in Path("out").iterdir()} == one
    assert run(*CHOSEN) == 0
    assert {path.name for path in Path("out").iterdir()} == many and "stress.summary.csv" in many


def testARunOutOfMemoryIsAReason(study, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(stresscases, "stressTest", fail)
    (case, *_) = readStressCases("cases.csv")
    (outcome,) = stresscases.stressCase(case, ["Label 1"], Settings(critical="Label 2"))
    assert "more memory than the computer has" in outcome.reason
