"""Many cases: rows for whatever happens to them."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import Inline, batch, records, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study

PROTOCOL = "Structure,Measurement,Relation,Pass,Warn\n*,DSC,>=,0.85,0.75\nLabel 1,NSD_1mm,>=,0.5\n"


def testABatch(study, inline, capsys):
    Path("data/limits.csv").write_text(PROTOCOL)
    rows = [f"case {n},ref.nrrd,t{n + k}.nrrd,limits.csv,{m}" for k, m in enumerate("AB") for n in range(3)]
    write(*rows, "bare,ref.nrrd,t1.nrrd")
    assert batch() == 0
    out, err = capsys.readouterr()
    assert "7 of 7 cases" in out and err == ""
    assert "Protocol: 1 fail, 2 warn, 3 pass.\n  fail: case 2 (B)\n  warn: case 2 (A), case 1 (B)\n" in out
    found = table()
    assert [(row["Case"], row["Method"]) for row in found[:2]] == [("case 0", "A"), ("case 1", "A")]
    # shifted by n of 10 voxels: (10 - n) of 10 are shared
    assert [float(row["DSC"]) for row in found] == pytest.approx([1, 0.9, 0.8, 0.9, 0.8, 0.7, 0.9])
    assert [row["Verdict"] for row in found] == ["pass", "pass", "warn", "pass", "warn", "fail", ""]
    assert [row["NSD_1mm"] for row in found[:2]] == ["1.0", "1.0"] and found[6]["NSD_1mm"] == ""
    assert all(row["NSD_2mm"] for row in found)
    judged = table("verdicts")
    assert len(judged) == 12 and judged[0]["Measurement"] == "DSC" and judged[0]["Case"] == "case 0"
    written = {path.name for path in Path("out").iterdir()} - {"results.parquet"}
    files = "results.csv results.jsonl results.schema.csv schema.json summary.csv summary.json tests.csv verdicts.csv"
    assert " ".join(sorted(written)) == files
    schema = {row["key"] for row in table("results.schema")}
    assert set(found[0]) == schema
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["cases"] == {"given": 7, "ok": 7, "failed": 0, "repeated": 0}
    assert (summary["treatment"]["resamples"], summary["treatment"]["seed"]) == (2000, 0)
    ofDice = {(one["first"], one["second"]): one for one in summary["pairedTests"] if one["measurement"] == "DSC"}
    dice = ofDice["A", "B"]
    assert dice["cases"] == 3 and dice["medianDifference"] == pytest.approx(-0.1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only Unix has named pipes")
def testTheListIsReadOnce(study, inline, capsys):
    """It may come from another program, as of <(...) of a shell; other columns are ignored, but no mistyped ones."""
    content = Path(write("a,ref.nrrd,t1.nrrd,m,61,fine", heading="case,reference,test,method,age,Notes")).read_text()
    Path("data/cases.csv").unlink()
    os.mkfifo("data/cases.csv")
    writer = threading.Thread(target=Path("data/cases.csv").write_text, args=[content], daemon=True)
    writer.start()
    assert batch("--metrics", "overlap") == 0
    assert capsys.readouterr().err == "segment-metrics: data/cases.csv: ignored columns: age, Notes\n"
    Path("data/cases.csv").unlink()
    write("a,ref.nrrd,t1.nrrd,m", heading="case,reference,test,methods")
    assert batch() == 2 and "no column 'methods'; is it method?" in capsys.readouterr().err


def testNoInputIsOverwritten(study, inline, capsys):
    """A list that is called like a file of results stays as it is."""
    kept = Path(write("a,ref.nrrd,t1.nrrd")).rename("data/summary.csv").read_text()
    assert batch("-o", "data", cases="data/summary.csv") == 2
    assert "would overwrite it" in capsys.readouterr().err and Path("data/summary.csv").read_text() == kept
    write("a,ref.nrrd,t1.nrrd")
    Path("data/verdicts.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    assert batch("-o", "data", "--protocol", "data/verdicts.csv") == 2 and not Path("data/results.jsonl").exists()


def testVerdictsDecideTheStatusOnRequest(study, inline, capsys):
    """Those of all cases, also of an earlier run, and whatever failed beside them."""
    Path("data/limits.csv").write_text(PROTOCOL)
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t2.nrrd,limits.csv", "c,ref.nrrd,t1.nrrd")
    assert [batch("--fail-on", verdict) for verdict in ("fail", "not-evaluable", "warn")] == [0, 0, 3]
    assert "the verdict is warn" in capsys.readouterr().err and Inline.count == 3
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t3.nrrd,limits.csv", "c,ref.nrrd,nowhere.nrrd,limits.csv")
    assert batch("--overwrite", "--fail-on", "warn") == 3 and batch() == 1
    assert "the verdict is fail" in capsys.readouterr().err
    write("a,ref.nrrd,t0.nrrd")
    assert batch("--fail-on", "warn") == 2 and "No case has a protocol" in capsys.readouterr().err


def testParquet(study, monkeypatch):
    """What is interrupted leaves no part of a file."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,none.nrrd")
    assert batch() == 0
    columns = parquet.read_table("out/results.parquet").to_pydict()
    assert columns["Case"] == ["a", "b"] and columns["DSC"] == pytest.approx([0.9, 0])
    assert columns["HD95"][1] == float("inf")

    def interrupt(_, path):
        Path(path).write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(parquet, "write_table", interrupt)
    assert batch() == 130 and not list(Path("out").glob("*parquet*"))


def testStructureSets(study, inline, capsys):
    for side, names in (("r", ("Parotid_L", "Lens_R")), ("t", ("left parotid", "Lens_L"))):
        Path("data", side).mkdir()
        for n, name in enumerate(names):
            SimpleITK.WriteImage(shapes.box((2, 2, 2 + 9 * n), (9, 9, 5 + 9 * n)), f"data/{side}/{name}.nrrd")
    write("a,r,t")
    assert batch() == 0
    (record,) = records()
    assert [(p["reference"]["name"], p["pairing"]["how"]) for p in record["pairs"]] == [("Parotid_L", "spelling")]
    assert record["unmatched"] == {"reference": ["Lens_R"], "test": ["Lens_L"]}
    assert "different sides" in record["pairing"]["findings"][0]["text"]
    out = capsys.readouterr().out
    assert "Lens_R of the reference and Lens_L of the test are in the same place in 1 case; if they" in out


def testFailedCasesAreRows(study, inline, capsys):
    Path("data/bad.csv").write_text(PROTOCOL.replace("DSC", "Dyce"))
    Path("data/broken.nrrd").write_bytes(b"NRRD0004\n")
    write(
        "good,ref.nrrd,t1.nrrd",
        "gone,ref.nrrd,nowhere.nrrd",
        "broken,broken.nrrd,t1.nrrd",
        "metric,ref.nrrd,t1.nrrd,bad.csv",
        "limits,ref.nrrd,t1.nrrd,none.csv",
        "good,ref.nrrd,t2.nrrd",
        ",ref.nrrd,t1.nrrd",
        "empty,,t1.nrrd",
        "../../evil,ref.nrrd,t1.nrrd",
        "=1+1,ref.nrrd,t1.nrrd",
    )
    before = set(study.rglob("*"))
    assert batch() == 1
    rows = {(row["Case"], row["DSC"]): row for row in table()}
    reasons = {case: row["Reason"] for (case, _), row in rows.items() if row["Status"] == "failed"}
    assert "nowhere.nrrd: " in reasons["gone"]
    assert "broken.nrrd" in reasons["broken"]
    assert "bad.csv, line 2, column Measurement: there is no measurement 'Dyce'" in reasons["metric"]
    assert "none.csv" in reasons["limits"]
    assert "line 7, column case: this case is already listed" in reasons["good"] and "line 2" in reasons["good"]
    assert any("line 8, column case: it is empty." in reason for reason in reasons.values())
    assert "line 9, column reference: it is empty." in reasons["empty"]
    ok = [row["Case"] for row in table() if row["Status"] == "ok"]
    assert ok == ["good", "../../evil", "'=1+1"]
    assert next(row["DSC"] for row in table() if row["Case"] == "good") == "0.9"
    # a name is no path
    assert {path for path in set(study.rglob("*")) - before if study / "out" not in path.parents} == {study / "out"}
    out, err = capsys.readouterr()
    assert "3 of 10 cases" in out and err.count("segment-metrics: ") == 7


@pytest.mark.parametrize(
    ("function", "error", "reason"),
    [
        ("SimpleITK.GetArrayViewFromImage", ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing"),
        ("base64.b64encode", MemoryError(), "more memory than the computer has"),
    ],
)
def testWhatShouldNotHappenIsARowToo(study, monkeypatch, function, error, reason):
    """Whether in reading or in drawing a report."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

    def broken(*given):
        raise error

    monkeypatch.setattr(function, broken)
    write("a,ref.nrrd,t1.nrrd")
    assert batch("--report") == 2
    (row,) = table()
    assert row["Status"] == "failed" and reason in row["Reason"]


def testFailuresAreListedInTheOrderOfTheCases(study, inline, monkeypatch, capsys):
    """Whichever process is done first, another run says the same."""

    class LastFirst(Inline):
        def submit(self, *given):
            late, done = Future(), super().submit(*given)
            threading.Timer(0.6 / Inline.count, lambda: late.set_result(done.result())).start()
            return late

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", LastFirst)
    write("a,gone.nrrd,t1.nrrd,,", "b,ref.nrrd,t1.nrrd,,", "c,away.nrrd,t1.nrrd,,")
    assert batch("--metrics", "overlap", "--workers", "2") == 1
    failed = [line for line in capsys.readouterr().err.splitlines() if ".nrrd" in line]
    assert [line.split(":")[1] for line in failed] == [" a", " c"]
    assert [one["case"] for one in records()] == ["c", "b", "a"]


def testABatchTellsOfPairsThatDoNotOverlap(study, capsys):
    """Those that must be checked before their numbers can be used, also of an earlier run; the first ones by name."""
    SimpleITK.WriteImage(shapes.box((6, 14, 14), (15, 17, 17)), "data/far.nrrd")
    write("a,ref.nrrd,t1.nrrd,,", "b,ref.nrrd,far.nrrd,,new", "c,ref.nrrd,ref.nrrd,,")
    for _ in range(2):
        assert batch("--metrics", "overlap") == 0
        out = capsys.readouterr().out
        assert (
            "\n\nAlarms: 2 of 3 pairs must be checked before their numbers can be used; results.csv lists all alarms.\n"
            "  no overlap at all (1): Label 1 of b (new)\n"
            "  the same structure of the same file twice (1): Label 1 of c\n"
        ) in out
    rows = table()
    assert [row["Alarms"] for row in rows] == ["", "no overlap at all", "the same structure of the same file twice"]
    alarms = {one["alarm"]: one["pairs"] for one in json.loads(Path("out/summary.json").read_text())["alarms"]}
    assert list(alarms) == ["no overlap at all", "the same structure of the same file twice"]
    assert alarms["no overlap at all"] == [{"case": "b", "method": "new", "structure": "Label 1"}]
    for number in (0, 1, 7):
        write(*(f"{n},ref.nrrd,far.nrrd" for n in range(number)), *["a,ref.nrrd,t1.nrrd"] * (not number))
        assert batch("--metrics", "overlap", "--overwrite") == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if "Alarms: " in line or "no overlap at" in line]
        if number:
            their = " must be checked before its" if number == 1 else "s must be checked before their"
            assert lines[0].startswith(f"Alarms: {number} of {number} pair{their} numbers can be used;")
            named = ", ".join(f"Label 1 of {n}" for n in range(min(number, 5))) + " and 2 more" * (number > 5)
            assert lines[1] == f"  no overlap at all ({number}): {named}"
        else:
            assert lines == []
