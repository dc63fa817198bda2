"""Protocols on the command line: what is measured for them, what is written and said, and the exit status."""

from __future__ import annotations

import json

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from test_protocol import HEADING

from SegmentMetricsLib import __main__


@pytest.fixture
def case(withoutPictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, shift in (("ref", 0), ("test", 2)):
        (tmp_path / side).mkdir()
        for n, name in enumerate(("Lens_L", "Brain")):
            box = shapes.box((6 + shift * n, 6, 6), (15 + shift * n, 14, 13))
            SimpleITK.WriteImage(box, str(tmp_path / side / f"{name}.nrrd"))
    return tmp_path


@pytest.mark.parametrize("given, chosen", [((), "2"), (("--tolerance", "3"), "3")])
def testTheProtocolAddsToTheTolerances(case, capsys, given, chosen):
    """What the settings ask for is measured of every structure, so that the table and the summary can show it."""
    (case / "limits.csv").write_text(HEADING + "Brain,NSD_1.5mm,>=,0.99\n*,DSC,>=,0.1\n")
    arguments = ["--output", "out", "--protocol", "limits.csv", "--metrics", "boundary", *given]
    assert __main__.main(["compare", "ref", "test", *arguments]) == 0
    document = json.loads((case / "out" / "metrics.json").read_text())
    pairs = {pair["reference"]["name"]: pair for pair in document["pairs"]}
    found = {name: [k for k in pair["measurements"] if k.startswith("NSD_")] for name, pair in pairs.items()}
    assert found == {"Brain": [f"NSD_{chosen}mm", "NSD_1.5mm"], "Lens_L": [f"NSD_{chosen}mm"]}
    assert f"within {chosen} mm" in pairs["Brain"]["summary"]
    heading = capsys.readouterr().out.splitlines()[0]
    assert heading.split("  ")[0] == "Structure" and f"NSD {chosen} mm" in heading and "DSC" in heading
    assert "1.5" not in heading
    assert all(row[f"NSD_{chosen}mm"] for row in rowsOf(case / "out" / "metrics.csv"))


def testCommandLine(case, capsys):
    (case / "limits.csv").write_text(
        HEADING
        + "Brain,DSC,>=,0.9,0.8\nBrain,NSD_1.5mm,>=,0.99\nLens_L,HD99,<=,1,,,MeshMetrics-1.4.1,=1+1\n=Eye,HD,<=,1\n"
    )
    assert __main__.main(["compare", "ref", "test", "--output", "out", "--protocol", "limits.csv"]) == 0
    out = capsys.readouterr().out
    assert "Protocol limits.csv: fail" in out
    document = json.loads((case / "out" / "metrics.json").read_text())
    judged = document["protocol"]
    assert (judged["verdict"], judged["name"], len(judged["version"])) == ("fail", "limits.csv", 16)
    assert {s["structure"]: s["verdict"] for s in judged["structures"]} == {
        "Brain": "fail", "Lens_L": "pass", "=Eye": "not evaluable"
    }  # fmt: skip
    pairs = {pair["reference"]["name"]: pair["measurements"] for pair in document["pairs"]}
    assert "NSD_1.5mm" in pairs["Brain"] and "NSD_2mm" in pairs["Lens_L"] and "NSD_2mm" in pairs["Brain"]
    assert [pair["settings"]["tolerances"] for pair in document["pairs"]] == [[2.0, 1.5], [2.0]]
    rows = rowsOf(case / "out" / "verdicts.csv")
    assert [(row["Structure"], row["Verdict"]) for row in rows] == [
        ("Brain", "warn"), ("Brain", "fail"), ("Lens_L", "pass"), ("'=Eye", "not evaluable")
    ]  # fmt: skip
    assert rows[0]["Value"] == "0.8" and rows[2]["Source"] == "'=1+1" and rows[2]["Convention"] == "MeshMetrics-1.4.1"
    # another run without a protocol leaves no verdicts that seem to belong to it
    assert __main__.main(["compare", "ref", "test", "--output", "out"]) == 0
    assert not (case / "out" / "verdicts.csv").exists()


@pytest.mark.parametrize(
    "rule, failOn, status",
    [
        ("Brain,DSC,>=,0.9", None, 0),
        ("Brain,DSC,>=,0.9", "fail", 3),
        ("Brain,DSC,>=,0.9,0.7", "warn", 3),
        ("Chiasm,DSC,>=,0.9", "fail", 0),
        ("Chiasm,DSC,>=,0.9", "not-evaluable", 3),
    ],
)
def testVerdictsDecideTheStatusOnRequest(case, capsys, rule, failOn, status):
    (case / "limits.csv").write_text(f"{HEADING}{rule}\n")
    given = ["--protocol", "limits.csv", "--metrics", "overlap", *(("--fail-on", failOn) if failOn else ())]
    assert __main__.main(["compare", "ref", "test", "--output", "out", *given]) == status
    assert ("--fail-on" in capsys.readouterr().err) == (status == 3)
    # the results are there all the same
    assert (case / "out" / "verdicts.csv").is_file()


def testStructuresWithoutLimitsAreTold(case, capsys):
    (case / "limits.csv").write_text(HEADING + "brain,DSC,>=,0.1\n")
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 14, 13)), str(case / "ref" / "Orbit-Lt.nrrd"))
    given = ["--protocol", "limits.csv", "--metrics", "overlap", "--output", "out"]
    assert __main__.main(["compare", "ref", "test", *given]) == 0
    assert "is at least 0.1.\n\nNo limits for: Lens_L, Orbit-Lt\n" in capsys.readouterr().out
    judged = json.loads((case / "out" / "metrics.json").read_text())["protocol"]
    assert judged["withoutLimits"] == ["Lens_L", "Orbit-Lt"]
    (case / "limits.csv").write_text(HEADING + "*,DSC,>=,0.1\n")
    assert __main__.main(["compare", "ref", "test", *given]) == 0
    assert "No limits" not in capsys.readouterr().out


def testAWrongProtocolComesBeforeAnyWork(case, capsys):
    (case / "limits.csv").write_text(HEADING + "Brain,Dyce,>=,0.9\nBrain,DSC,>=,95\n")
    assert __main__.main(["compare", "ref", "test", "--output", "out", "--protocol", "limits.csv"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in told] == ["segment-metrics"] * 2 and not (case / "out").exists()
    assert "limits.csv, line 2, column Measurement" in told[0] and "limits.csv, line 3, column Pass" in told[1]
