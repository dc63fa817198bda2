"""The correlation of the rankings of a cohort's measurements: against SciPy, by hand, and as files."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
import shapes
import SimpleITK
from scipy.stats import spearmanr
from test_statistics import outcome

from SegmentMetricsLib.__main__ import main
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch import correlations
from SegmentMetricsLib.batch.correlations import correlate, writeCorrelations
from SegmentMetricsLib.batch.statistics import Cohort
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.batch.summarywriting import removeSummary


def cohortOf(columns: dict, **options) -> Cohort:
    rows = zip(*columns.values(), strict=True)
    return Cohort(outcome(f"case {n}", dict(zip(columns, row, strict=True)), **options) for n, row in enumerate(rows))


def of(cohort: Cohort, first: str, second: str, **options) -> float | None:
    found = correlate(cohort, keys=[first, second], **options)
    assert found.values[0][1] == found.values[1][0]
    return found.values[0][1]


def testAgainstScipy():
    """Where a higher value of one and a lower one of the other is better, the sign is turned; ties share their rank."""
    random = np.random.default_rng(1)
    dice = random.random(40).round(1)
    columns = {"DSC": dice, "IoU": dice / (2 - dice), "HD95": (9 - 8 * dice + random.random(40)).round(1)}
    columns["AVD"] = dice
    cohort = cohortOf(columns)
    assert of(cohort, "DSC", "IoU") == pytest.approx(1, abs=1e-12)
    assert of(cohort, "DSC", "HD95") == pytest.approx(-spearmanr(dice, columns["HD95"]).statistic, abs=1e-12)
    assert of(cohort, "HD95", "AVD") == pytest.approx(spearmanr(columns["HD95"], dice).statistic, abs=1e-12)
    assert of(cohort, "DSC", "DSC") == pytest.approx(1) and of(cohort, "DSC", "AVD") == pytest.approx(-1)


def testByHand():
    # HD95 from the best: 1 2 3 4; DSC from the best: 2 1 4 3; differences of ranks 1 1 1 1: 1 - 6 * 4 / (4 * 15)
    assert of(cohortOf({"HD95": [1, 2, 3, 4], "DSC": [0.8, 0.9, 0.6, 0.7]}), "HD95", "DSC") == pytest.approx(0.6)


def testInfiniteIsTheWorst():
    """As a larger number would be, several of them alike; undefined ones are left out for that pair only."""
    cohort = cohortOf({"HD95": [1, 2, math.inf, math.inf], "DSC": [0.9, 0.8, 0, 0], "MASD": [1, math.nan, 2, 3]})
    assert of(cohort, "HD95", "DSC") == pytest.approx(1)
    assert of(cohort, "HD95", "MASD") == pytest.approx(spearmanr([1, 9, 9], [1, 2, 3]).statistic)
    found = correlate(cohort, keys=["HD95", "DSC", "MASD"])
    assert found.cases == ((4, 4, 3), (4, 4, 3), (3, 3, 3))
    # so it is in both directions of a number with a sign
    signed = cohortOf({"SignedMean": [-math.inf, -1, 0, math.inf], "HD95": [1, 2, 3, 4]})
    assert of(signed, "SignedMean", "HD95") == pytest.approx(1)


def testRoundingDoesNotRank():
    noise = cohortOf({"HD95": [3, 3 + 1e-7, 3 - 1e-7, 5], "MASD": [3, 2, 1, 4]})
    assert of(noise, "HD95", "MASD") == pytest.approx(spearmanr([3, 3, 3, 5], [3, 2, 1, 4]).statistic)


def testNoCorrelation():
    """Of too few contours, or where all are alike."""
    assert of(cohortOf({"HD95": [1, 2], "DSC": [0, 1]}), "HD95", "DSC") is None
    assert of(cohortOf({"HD95": [1, 2, 3], "DSC": [1, 1, 1]}), "HD95", "DSC") is None
    assert of(cohortOf({"HD95": [1, 2, 3], "DSC": [0.9, 0.8, 0.7]}), "HD95", "MASD") is None


def testWhatIsCorrelated():
    """What has a better direction; cases, methods and structures are taken together unless one is chosen."""
    columns = {"DSC": [0.9, 0.8, 0.7], "VolumeTest": [1, 2, 3], "HD95": [1, 2, 3]}
    assert correlate(cohortOf(columns)).keys == ("HD95", "DSC")
    other = [outcome(f"case {n}", {"HD95": n, "DSC": n / 9}, "second", "Eye") for n in range(4)]
    rows = [outcome(f"case {n}", {"HD95": n, "DSC": 1 - n / 9}, "first") for n in range(3)]
    together = Cohort([*rows, *other])
    assert correlate(together).cases[0][1] == 7
    assert of(together, "HD95", "DSC", structure="Eye") == pytest.approx(-1)
    assert of(together, "HD95", "DSC", structure="Lens") == pytest.approx(1)


def testStructuresThatAreMissing():
    rows = [outcome(f"case {n}", {"HD95": n + 1, "DSC": 1 - n / 9}) for n in range(3)]
    lacking = outcome("case 3", {})
    record = outcome("case 3", {"HD95": math.inf, "DSC": 0})["pairs"][0]
    lacking = {**lacking, "pairs": [], "missing": [{**record, "missing": "test"}]}
    cohort = Cohort([*rows, lacking])
    assert correlate(cohort).cases[0][1] == 4
    assert correlate(cohort, Options(missing="leave-out")).cases[0][1] == 3


def table(path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Measurement"]: row for row in csv.DictReader(file)}


def testFiles(tmp_path):
    rows = [
        outcome(f"case {n}", {"HD95": n, "DSC": 1 - (n % 3) / 9, "PBD": 1}, name=name)
        for name in ("Lens <L>", "all") for n in range(5)
    ]  # fmt: skip
    cohort = Cohort(rows)
    files = writeCorrelations(cohort, Options(), tmp_path)
    assert files[0] == tmp_path / "correlations/all.csv"
    assert len(files) == len(set(files)) == 4 and all(path.exists() for path in files)
    whole = table(tmp_path / "correlations/all.csv")
    assert list(whole) == ["HD95", "DSC", "PBD"] and float(whole["HD95"]["HD95"]) == 1
    assert float(whole["HD95"]["DSC"]) == pytest.approx(correlate(cohort).values[0][1])
    assert whole["PBD"]["DSC"] == "", "all are alike"
    document = json.loads((tmp_path / "correlations.json").read_text())
    assert document["schema"] == "segment-metrics-correlations/1" and document["measurements"] == list(whole)
    assert [entry["structure"] for entry in document["correlations"]] == [None, "Lens <L>", "all"]
    assert document["correlations"][0]["cases"][0][1] == 10 and document["correlations"][0]["values"][2][1] is None
    (tmp_path / "correlations/mine.csv").write_text("")
    removeSummary(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine.csv"]


def testNamesInFilesThatWereEdited(tmp_path):
    """Nothing outside the folder is removed."""
    (tmp_path / "other.csv").write_text("")
    entry = {"files": ["../other.csv", "/etc/x.csv", "a.txt"]}
    content = {"schema": correlations.SCHEMA, "correlations": [entry]}
    (tmp_path / "correlations.json").write_text(json.dumps(content))
    correlations.removeCorrelations(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]
    (tmp_path / "correlations.json").write_text('{"schema": "of somebody else"}')
    correlations.removeCorrelations(tmp_path)
    assert (tmp_path / "correlations.json").exists()


def testChosenMeasurements():
    keys = ["HD95", "NSD_1mm", "NSD_2mm", "DSC", "IoU", "VolumeTest"]
    assert correlations.chosenKeys(["nsd", "VolumeTest"], keys) == ["NSD_1mm", "NSD_2mm", "VolumeTest"]
    assert correlations.chosenKeys(["overlap", "HD95"], keys) == ["HD95", "DSC", "IoU", "VolumeTest"]
    with pytest.raises(InputError, match="MASD is not measured, so it cannot be correlated"):
        correlations.chosenKeys(["MASD"], keys)
    with pytest.raises(InputError, match="Did you mean DSC"):
        correlations.chosenKeys(["DCS"], keys)


def testInABatch(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    SimpleITK.WriteImage(shapes.ball(8), "reference.nrrd")
    lines = ["case,reference,test"]
    for number in range(4):
        SimpleITK.WriteImage(shapes.ball(8, (number, 0, 0)), f"{number}.nrrd")
        lines.append(f"{number},reference.nrrd,{number}.nrrd")
    (tmp_path / "cases.csv").write_text("\n".join(lines) + "\n")
    command = ["batch", "cases.csv", "--workers", "1", "--output", "out", "--metrics", "DSC,HD95,MASD,VolumeTest"]
    assert main(command) == 0
    whole = table(tmp_path / "out/correlations/all.csv")
    assert list(whole) == ["HD95", "MASD", "DSC"]
    assert {row[key] for row in whole.values() for key in whole} == {"1.0"}, "the farther, the worse"
    assert main([*command, "--correlate", "DSC,VolumeTest"]) == 0
    assert list(table(tmp_path / "out/correlations/all.csv")) == ["DSC", "VolumeTest"]
    capsys.readouterr()
    assert main([*command, "--correlate", "IoU"]) != 0
    assert "IoU is not measured, so it cannot be correlated: add it to --metrics." in capsys.readouterr().err
