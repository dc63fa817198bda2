"""Structures that could not be compared: no case passes on the others alone, and every result names them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf

from SegmentMetricsLib import Settings, __main__
from SegmentMetricsLib.case.multilabel import Share, combine
from SegmentMetricsLib.model.structures import Pairing

BOX = shapes.box((6, 6, 6), (15, 14, 13))
FAR = shapes.box((6, 6, 6), (15, 14, 13), origin=(1e8, 1e8, 1e8))
PROTOCOL = "Structure,Measurement,Relation,Pass\n*,HD95,<=,100\nA,DSC,>=,0.5\n"


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Folders r and t with a structure B that is fine and A, of which that in t lies elsewhere in the universe."""
    monkeypatch.chdir(tmp_path)
    for side, images in (("r", {"B": BOX, "A": BOX}), ("t", {"B": BOX, "A": FAR})):
        Path(side).mkdir()
        for name, image in images.items():
            SimpleITK.WriteImage(image, f"{side}/{name}.nrrd")
    Path("limits.csv").write_text(PROTOCOL)
    Path("cases.csv").write_text("case,reference,test\nfar,r,t\ngood,r,r\n")
    return tmp_path


def verdicts(folder: str) -> list[tuple[str, ...]]:
    rows = [row for row in rowsOf(Path(folder, "verdicts.csv")) if row.get("Case", "far") == "far"]
    return [(row["Structure"], row["Measurement"], row["Verdict"], row["Reason"][:40]) for row in rows]


JUDGED = [
    ("B", "HD95", "pass", "HD95 0.00 mm is at most 100 mm."),
    ("A", "HD95", "not evaluable", "The two structures are too far apart or "),
    ("A", "DSC", "not evaluable", "The two structures are too far apart or "),
]


def requirePage(path: Path, folder: Path) -> None:
    """Require that a report says what is not in it, with no more about the files than their names."""
    text = path.read_text("utf-8")
    rest = text.partition("</h1>")[2]
    assert '<p class="headline"><span class="verdict none">not evaluable</span>: ' in rest
    assert "1 of 2 structures compared" in rest
    block = re.search(r'<section class="failed"><h2>Not compared</h2>(.*?)</section>', rest)
    assert "<b>A</b>: The two structures are too far apart" in block[1]
    assert block.start() < rest.index("<h2>Overview</h2>") and str(folder) not in text
    # sections keep their numbers where an earlier pair could not be compared
    (link,) = set(re.findall(r'<a href="#(structure\d)">B</a>', text))
    assert re.search(rf'id="{link}">\s*<details', text)


def testABatch(study, capsys):
    pytest.importorskip("plotly", reason="plotly is not installed")
    given = ["batch", "cases.csv", "--output", "out", "--protocol", "limits.csv", "--report", "--workers", "1"]
    assert __main__.main(given) == 1
    said = capsys.readouterr()
    assert "Protocol: 1 not evaluable, 1 pass.\n  not evaluable: far\n" in said.out and "far: A of" in said.err
    assert verdicts("out") == JUDGED
    requirePage(study / "out/reports/far.html", study)
    outcome = json.loads(Path("out/results.jsonl").read_text().splitlines()[0])
    assert list(outcome["failures"]) == ["A"] and outcome["protocol"]["verdict"] == "not evaluable"


def testACompareGoesOn(study, capsys):
    pytest.importorskip("plotly", reason="plotly is not installed")
    assert __main__.main(["compare", "r", "t", "--output", "out", "--protocol", "limits.csv", "--report"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("segment-metrics: A of ") and said.err.count("\n") == 1
    assert "Protocol limits.csv: not evaluable" in said.out
    assert verdicts("out") == JUDGED
    requirePage(study / "out/report.html", study)
    content = json.loads(Path("out/metrics.json").read_text())
    assert list(content["failures"]) == ["A"] and [pair["reference"]["name"] for pair in content["pairs"]] == ["B"]
    # without failures the file is what it was
    assert __main__.main(["compare", "r", "r", "--output", "out", "--report"]) == 0
    assert "failures" not in json.loads(Path("out/metrics.json").read_text())
    assert "Not compared" not in Path("out/report.html").read_text("utf-8")


@pytest.fixture
def twice(study):
    """The same folders where t has two structures called A, either of which is where it belongs."""
    SimpleITK.WriteImage(BOX, "t/A.nrrd")
    shapes.writeMesh(shapes.boxMesh((6, 6, 6), (15, 14, 13)), Path("t/A.stl"))
    return study


SEVERAL = "The test has more than one structure named 'A'"
JUDGED_TWICE = [
    ("B", "HD95", "pass", "HD95 0.00 mm is at most 100 mm."),
    ("A", "HD95", "not evaluable", SEVERAL[:40]),
    ("A", "DSC", "not evaluable", SEVERAL[:40]),
]


def testANameThatOneSideHasTwice(twice, capsys):
    """Nobody can tell which one is meant; the others are compared all the same."""
    assert __main__.main(["compare", "r", "t", "--output", "out", "--protocol", "limits.csv"]) == 1
    said = capsys.readouterr()
    files = ", ".join(str(Path("t", name)) for name in ("A.nrrd", "A.stl"))
    assert said.err == f"segment-metrics: {SEVERAL} ({files}). Rename all but the one that is meant.\n"
    assert verdicts("out") == JUDGED_TWICE and "Only in" not in said.out
    content = json.loads(Path("out/metrics.json").read_text())
    assert content["failures"] == {"A": f"{SEVERAL}. Rename all but the one that is meant."}
    assert [pair["reference"]["name"] for pair in content["pairs"]] == ["B"]
    assert __main__.main(["conventions", "r", "t", "--tool", "MedPy", "--output", "tools"]) == 1
    assert capsys.readouterr().err == said.err
    assert json.loads(Path("tools/conventions.json").read_text())["failures"] == content["failures"]


def testANameThatOneSideHasTwiceInABatch(twice, capsys):
    given = ["batch", "cases.csv", "--output", "out", "--protocol", "limits.csv", "--workers", "1"]
    assert __main__.main(given) == 1
    outcome = json.loads(Path("out/results.jsonl").read_text().splitlines()[0])
    assert outcome["status"] == "failed" and outcome["reason"].startswith(SEVERAL)
    assert [pair["structure"] for pair in outcome["pairs"]] == ["B"] and outcome["missing"] == []
    assert outcome["failures"] == {"A": f"{SEVERAL}. Rename all but the one that is meant."}
    assert verdicts("out") == JUDGED_TWICE


def testOverlapOfAllLabelsIsUndefinedWithoutOne():
    settings = Settings(families="agreement", labelWeights={"A": 2.0})
    whole = Share("B", 1, 1, 1)
    found = combine([whole], Pairing((), (), ()), settings, {"A": "it is too far off"})
    assert found["DICEml"].status == "undefined" and "too far off" in found["DICEml"].reason
