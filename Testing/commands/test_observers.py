"""Whole structure sets of two observers, from the command line: paired, judged and reported."""

from __future__ import annotations

import csv
import importlib.util
import json
import time
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from reference import HEAD_AND_NECK, OBSERVERS, needsReference

from SegmentMetricsLib import __main__

CASE = HEAD_AND_NECK / "0522c0017"
pytestmark = [needsReference, pytest.mark.nightly]
# Processor seconds for a case of 21 structures with its report: 30 s on two processors are at most 60.
MOST_SECONDS = 60.0


def merged(folder: Path, path: Path) -> Path:
    """Write the masks of a folder as the segments of one file, those that overlap in layers of their own."""
    layers, segments, template = [], [], None
    for number, file in enumerate(sorted(folder.glob("*.nrrd")), 1):
        template = SimpleITK.ReadImage(str(file))
        mask = SimpleITK.GetArrayViewFromImage(template) > 0
        layer = next((n for n, voxels in enumerate(layers) if not voxels[mask].any()), len(layers))
        if layer == len(layers):
            layers.append(np.zeros(mask.shape, np.uint8))
        layers[layer][mask] = number
        segments.append({"ID": f"S{number}", "Name": file.stem, "LabelValue": number, "Layer": layer})
    image = shapes.segmentation(layers, segments)
    image.CopyInformation(template)
    SimpleITK.WriteImage(image, str(path), True)
    assert len(layers) > 1, "the cord is within its canal"
    return path


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
    with (folder / "files" / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
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


def testOneFileForAllStructures(ofFiles, folder):
    """The same numbers to the last digit."""
    files = [merged(CASE / observer, folder / f"{observer}.seg.nrrd") for observer in OBSERVERS]
    document = compare(*files, folder / "merged", "--protocol", "head-and-neck-tolerances")
    assert len(document["pairs"]) == 21 and document["unmatched"] == ofFiles["unmatched"]
    for ours, theirs in zip(document["pairs"], ofFiles["pairs"], strict=True):
        assert ours["reference"]["name"] == theirs["reference"]["name"]
        assert ours["measurements"] == theirs["measurements"], ours["reference"]["name"]
    verdicts = [(folder / run / "verdicts.csv").read_text(encoding="utf-8") for run in ("files", "merged")]
    assert verdicts[0] == verdicts[1]
