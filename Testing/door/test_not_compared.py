"""Structures that could not be compared: no case passes on the others alone, and every result names them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import metrics
from commandruns import run as run
from sayings import says

from SegmentMetricsLib import Settings, compareCase

BOX = shapes.box((6, 6, 6), (15, 14, 13))
FAR = shapes.box((6, 6, 6), (15, 14, 13), origin=(1e8, 1e8, 1e8))
PROTOCOL = "Structure,Measurement,Relation,Pass\n*,HD95,<=,100\nA,DSC,>=,0.5\n"
BATCH = ("batch", "cases.csv", "--workers", "1", "--protocol", "limits.csv", "-o", "all")


@pytest.fixture
def study(run):
    """Folders r and t with a structure B that is fine and A, of which that in t lies elsewhere in the universe."""
    for side, images in (("r", {"B": BOX, "A": BOX}), ("t", {"B": BOX, "A": FAR})):
        Path(side).mkdir()
        for name, image in images.items():
            SimpleITK.WriteImage(image, f"{side}/{name}.nrrd")
    Path("limits.csv").write_text(PROTOCOL)
    Path("cases.csv").write_text("case,reference,test\nfar,r,t\ngood,r,r\n")
    return run


def requireVerdicts(folder: str, why: str) -> None:
    rows = [row for row in rowsOf(Path(folder, "verdicts.csv")) if row.get("Case", "far") == "far"]
    judged = [(row["Structure"], row["Measurement"], row["Verdict"], row["Reason"]) for row in rows]
    assert judged[0][:3] == ("B", "HD95", "pass")
    assert judged[1:] == [("A", key, "not evaluable", why) for key in ("HD95", "DSC")]


def requirePage(path: Path, why: str) -> None:
    """Require that a report says what is not in it, with no more about the files than their names."""
    text = path.read_text("utf-8")
    rest = text.partition("</h1>")[2]
    assert '<p class="headline"><span class="verdict none">not evaluable</span>: ' in rest
    assert " 1 of 2 " in rest
    block = re.search(r'<section class="failed"><h2>.*?</h2>(.*?)</section>', rest)
    assert f"<b>A</b>: {why}" in block[1]
    assert block.start() < rest.index("<table") and str(Path().resolve()) not in text
    # sections keep their numbers where an earlier pair could not be compared
    (link,) = set(re.findall(r'<a href="#(structure\d)">B</a>', text))
    assert re.search(rf'id="{link}">\s*<details', text)


def testStructuresThatCannotBeCompared(study):
    pytest.importorskip("plotly", reason="plotly is not installed")
    status, out, err = study(*BATCH, "--report")
    assert status == 1
    assert "Protocol: 1 not evaluable, 1 pass.\n  not evaluable: far\n" in out and "far: A " in err
    outcome = json.loads(Path("all/results.jsonl").read_text().splitlines()[0])
    assert list(outcome["failures"]) == ["A"] and outcome["protocol"]["verdict"] == "not evaluable"
    why = says(outcome["failures"]["A"])
    requireVerdicts("all", why)
    requirePage(Path("all/reports/far.html"), why)
    status, out, err = study("compare", "r", "t", "-o", "out", "--protocol", "limits.csv", "--report")
    assert status == 1 and err.startswith("segment-metrics: A ") and err.endswith(f": {why}\n") and err.count("\n") == 1
    assert "Protocol limits.csv: not evaluable" in out
    requireVerdicts("out", why)
    requirePage(Path("out/report.html"), why)
    content = metrics("out")
    assert content["failures"] == {"A": why} and [pair["reference"]["name"] for pair in content["pairs"]] == ["B"]
    assert study("conventions", "r", "t", "--tool", "MedPy", "-o", "tools")[0] == 1
    assert list(json.loads(Path("tools/conventions.json").read_text())["failures"]) == ["A"]
    # without failures the file is what it was
    assert study("compare", "r", "r", "-o", "out", "--report")[0] == 0
    page = Path("out/report.html").read_text("utf-8")
    assert "failures" not in metrics("out") and '<section class="failed">' not in page
    # and the overlap of all labels is undefined where there is none
    found = compareCase("r", "t", Settings(families="agreement", labelWeights={"A": 2.0}))
    assert found.multiLabel["DICEml"].status == "undefined" and says(found.multiLabel["DICEml"].reason)


def testANameThatOneSideHasTwice(study):
    """Nobody can tell which one is meant; the others are compared all the same."""
    SimpleITK.WriteImage(BOX, "t/A.nrrd")
    shapes.writeMesh(shapes.boxMesh((6, 6, 6), (15, 14, 13)), Path("t/A.stl"))
    status, out, err = study("compare", "r", "t", "-o", "out", "--protocol", "limits.csv")
    said = says(err, "test", "'A'", ", ".join(str(Path("t", name)) for name in ("A.nrrd", "A.stl")))
    assert status == 1 and said.count("\n") == 1 and "reference: A" not in out
    failures = metrics("out")["failures"]
    assert list(failures) == ["A"]
    requireVerdicts("out", says(failures["A"], "test", "'A'"))
    assert [pair["reference"]["name"] for pair in metrics("out")["pairs"]] == ["B"]
    status, _, err = study("conventions", "r", "t", "--tool", "MedPy", "-o", "tools")
    assert (status, err) == (1, said)
    assert json.loads(Path("tools/conventions.json").read_text())["failures"] == failures
    assert study(*BATCH)[0] == 1
    outcome = json.loads(Path("all/results.jsonl").read_text().splitlines()[0])
    assert outcome["status"] == "failed" and says(outcome["reason"], "'A'", "A.nrrd", "A.stl")
    assert [pair["structure"] for pair in outcome["pairs"]] == ["B"] and outcome["missing"] == []
    assert outcome["failures"] == failures
    requireVerdicts("all", failures["A"])
