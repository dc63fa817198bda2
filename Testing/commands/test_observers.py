"""Whole structure sets of two observers, from the command line: paired, judged and reported."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path

import pytest
from batchruns import rowsOf
from reference import HEAD_AND_NECK, OBSERVERS, needsReference

from SegmentMetricsLib import __main__

CASE = HEAD_AND_NECK / "0522c0017"
pytestmark = [needsReference, pytest.mark.nightly]
# Processor seconds for a case of 21 structures with its report: 30 s on two processors are at most 60.
MOST_SECONDS = 60.0


def compare(reference: Path, test: Path, output: Path, *options: str) -> dict:
    """Run the command line and return metrics.json."""
    given = ["compare", str(reference), str(test), "--output", str(output), *options]
    assert __main__.main(given) == 0
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("observers")


@pytest.fixture(scope="module")
def ofFiles(folder) -> dict:
    """What the command line says of one file per structure."""
    options = ["--protocol", "head-and-neck-tolerances"]
    options += ["--report"] if importlib.util.find_spec("plotly") else []
    begin = time.process_time()
    document = compare(*(CASE / observer for observer in OBSERVERS), folder / "files", *options)
    document["seconds"] = time.process_time() - begin
    return document


def testAllArePairedAndJudged(ofFiles, folder):
    assert [pair["reference"]["name"] for pair in ofFiles["pairs"]] == [p.stem for p in sorted(CASE.glob("*/*"))[:21]]
    assert all(pair["pairing"] == {"how": "name", "confidence": 1.0} for pair in ofFiles["pairs"])
    assert ofFiles["unmatched"] == {"reference": [], "test": []}
    rows = rowsOf(folder / "files" / "verdicts.csv")
    # the protocol's names are those of TG-263, the files have others
    assert {"Parotid-Lt", "Optic-Nerve-Rt", "Spinal-Cord"} <= {row["Structure"] for row in rows}
    for row in rows:
        pair = next(p for p in ofFiles["pairs"] if p["reference"]["name"] == row["Structure"])
        value = pair["measurements"][row["Measurement"]]["value"]
        assert float(row["Value"]) == value and (row["Verdict"] == "pass") == (value >= float(row["Pass"]))
    assert len(rows) == 14


def testTheReport(ofFiles, folder):
    pytest.importorskip("plotly", reason="plotly is not installed")
    page = (folder / "files" / "report.html").read_text(encoding="utf-8")
    assert all(f"<summary>{pair['reference']['name']} " in page for pair in ofFiles["pairs"])
    assert str(CASE) not in page and str(folder) not in page
    assert ofFiles["seconds"] < MOST_SECONDS
