"""Many cases: rows for whatever happens to them."""

from __future__ import annotations

import json
import os
import re
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import Inline, batch, records, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study
from sayings import says

PROTOCOL = "Structure,Measurement,Relation,Pass,Warn\n*,DSC,>=,0.85,0.75\nLabel 1,NSD_1mm,>=,0.5\n"


def testABatch(study, inline, capsys):
    Path("data/limits.csv").write_text(PROTOCOL)
    rows = [f"case {n},ref.nrrd,t{n + k}.nrrd,limits.csv,{m}" for k, m in enumerate("AB") for n in range(3)]
    write(*rows, "bare,ref.nrrd,t1.nrrd")
    assert batch() == 0
    out, err = capsys.readouterr()
    assert re.search(r"\b7 .* 7\b", out) and err == ""
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
    says(capsys.readouterr().err, "data/cases.csv: ", ": age, Notes\n")
    Path("data/cases.csv").unlink()
    write("a,ref.nrrd,t1.nrrd,m", heading="case,reference,test,methods")
    assert batch() == 2 and says(capsys.readouterr().err, "data/cases.csv", "'methods'")


def testNoInputIsOverwritten(study, inline, capsys):
    """A list that is called like a file of results stays as it is."""
    kept = Path(write("a,ref.nrrd,t1.nrrd")).rename("data/summary.csv").read_text()
    assert batch("-o", "data", cases="data/summary.csv") == 2
    assert says(capsys.readouterr().err, "data/summary.csv") and Path("data/summary.csv").read_text() == kept
    write("a,ref.nrrd,t1.nrrd")
    Path("data/verdicts.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    assert batch("-o", "data", "--protocol", "data/verdicts.csv") == 2 and not Path("data/results.jsonl").exists()


def testVerdictsDecideTheStatusOnRequest(study, inline, capsys):
    """Those of all cases, also of an earlier run, and whatever failed beside them."""
    Path("data/limits.csv").write_text(PROTOCOL)
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t2.nrrd,limits.csv", "c,ref.nrrd,t1.nrrd")
    assert [batch("--fail-on", verdict) for verdict in ("fail", "not-evaluable", "warn")] == [0, 0, 3]
    assert says(capsys.readouterr().err, "warn", "--fail-on") and Inline.count == 3
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t3.nrrd,limits.csv", "c,ref.nrrd,nowhere.nrrd,limits.csv")
    assert batch("--overwrite", "--fail-on", "warn") == 3 and batch() == 1
    says(capsys.readouterr().err, "fail", "nowhere.nrrd")
    write("a,ref.nrrd,t0.nrrd")
    assert batch("--fail-on", "warn") == 2 and says(capsys.readouterr().err, "--fail-on")


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
    says(record["pairing"]["findings"][0]["text"], "Lens_R", "Lens_L")
    (told,) = [line for line in capsys.readouterr().out.splitlines() if "--pair" in line]
    says(told, '"Lens_R=Lens_L"')


def testFailedCasesAreRows(study, inline, capsys):
    Path("data/bad.csv").write_text(PROTOCOL.replace("DSC", "Dyce"))
    Path("data/broken.nrrd").write_text("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 9 9 9\nencoding: raw\n\n")
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
    says(reasons["gone"], "nowhere.nrrd: ")
    says(reasons["broken"], "broken.nrrd")
    says(reasons["metric"], "bad.csv, ", " 2, ", " Measurement: ", "'Dyce'")
    says(reasons["limits"], "none.csv")
    says(reasons["good"], " 7, ", " case: ", " 2)")
    says(reasons["data/cases.csv, line 8"], " 8, ", " case: ")
    says(reasons["empty"], " 9, ", " reference: ")
    ok = [row["Case"] for row in table() if row["Status"] == "ok"]
    assert ok == ["good", "../../evil", "'=1+1"]
    assert next(row["DSC"] for row in table() if row["Case"] == "good") == "0.9"
    # a name is no path
    assert {path for path in set(study.rglob("*")) - before if study / "out" not in path.parents} == {study / "out"}
    out, err = capsys.readouterr()
    assert re.search(r"\b3 .* 10\b", out) and err.count("segment-metrics: ") == 7


@pytest.mark.parametrize(
    ("function", "error", "reason"),
    [
        ("SimpleITK.GetArrayViewFromImage", ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing"),
        ("base64.b64encode", MemoryError(), ""),
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
    assert row["Status"] == "failed" and says(row["Reason"], reason)


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
        fine, apart, twice = (row["Alarms"] for row in table())
        about, _, rest = capsys.readouterr().out.partition(f"\n  {says(apart)} (1): Label 1 of b (new)\n")
        assert rest.startswith(f"  {says(twice)} (1): Label 1 of c\n") and not fine
        says(about.splitlines()[-1], 2, 3, "results.csv")
    assert [record["pairs"][0]["findings"][0]["kind"] for record in records()[1:]] == ["no-overlap", "same"]
    alarms = {one["alarm"]: one["pairs"] for one in json.loads(Path("out/summary.json").read_text())["alarms"]}
    assert list(alarms) == [apart, twice]
    assert alarms[apart] == [{"case": "b", "method": "new", "structure": "Label 1"}]
    for number in (0, 1, 7):
        write(*(f"{n},ref.nrrd,far.nrrd" for n in range(number)), *["a,ref.nrrd,t1.nrrd"] * (not number))
        assert batch("--metrics", "overlap", "--overwrite") == 0
        about, _, rest = capsys.readouterr().out.partition(f"\n  {apart} ({number}): ")
        if number:
            says(about.splitlines()[-1], f"{number} of {number}")
            says(rest.splitlines()[0], ", ".join(f"Label 1 of {n}" for n in range(min(number, 5))))
        else:
            assert apart not in about
