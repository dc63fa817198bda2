"""Batches that go on where an earlier run has ended: what is done again, what stays, and what is put aside."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import Inline, batch, records, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study
from sayings import says

quick = partial(batch, "--metrics", "overlap")
ROWS = ("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd", "c,ref.nrrd,t3.nrrd", "d,ref.nrrd,t4.nrrd")


def testGoingOn(study, inline, capsys):
    rows = [f"case {n},ref.nrrd,t{n}.nrrd" for n in range(4)]
    write(*rows[:3], "late,ref.nrrd,late.nrrd")
    Path("out/plots").mkdir(parents=True)
    Path("out/plots/HD95.svg").write_text("drawn with other options")
    Path("out/plots/plots.json").write_text('{"schema": "segment-metrics-plots/1", "files": ["HD95.svg"]}')
    assert quick() == 1 and Inline.count == 4 and not Path("out/plots").exists()
    first = [line for line in Path("out/results.jsonl").read_bytes().splitlines() if b'"status": "ok"' in line]
    # nothing new: only what failed is tried again
    assert quick() == 1 and Inline.count == 5
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 9, 9)), "data/late.nrrd")
    capsys.readouterr()
    assert quick() == 0 and Inline.count == 6
    assert re.search(r"\b4 .* 4\b", capsys.readouterr().out)
    assert Path("out/results.jsonl").read_bytes().splitlines()[:3] == first
    # another case is one more, another image or setting another outcome
    write(*rows, "late,ref.nrrd,late.nrrd")
    assert quick() == 0 and Inline.count == 7
    SimpleITK.WriteImage(shapes.box((7, 6, 6), (16, 9, 9)), "data/t0.nrrd")
    os.utime("data/t0.nrrd", (1, 1))
    assert quick() == 0 and Inline.count == 8
    assert [row["DSC"] for row in table() if row["Case"] == "case 0"] == ["0.9"]
    assert quick("--overwrite", "--percentile", "99") == 0 and Inline.count == 13
    assert sorted(record["case"] for record in records()) == [*(f"case {n}" for n in range(4)), "late"]


def reports() -> set[str]:
    """Return the names of the reports; the page about all cases is there, too."""
    names = {path.name for path in Path("out/reports").glob("*")}
    assert "index.html" in names
    return names - {"index.html", "plotly.min.js"}


def testReportsOfOtherDataGo(study, inline):
    """A page whose case has changed, or is no longer in the list, is not about these results; those of others stay."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    write(*ROWS[:3])
    assert quick("--report") == 0 and reports() == {"a.html", "b.html", "c.html"}
    Path("out/reports/mine.html").write_text("mine")
    # the cases are done without a report, too
    assert quick() == 0 and Inline.count == 3 and reports() == {"a.html", "b.html", "c.html", "mine.html"}
    SimpleITK.WriteImage(shapes.box((7, 6, 6), (16, 9, 9)), "data/t2.nrrd")
    os.utime("data/t2.nrrd", (1, 1))
    assert quick() == 0 and Inline.count == 4 and reports() == {"a.html", "c.html", "mine.html"}
    # what goes on with reports makes the one that is not there
    assert quick("--report") == 0 and Inline.count == 5 and reports() == {"a.html", "b.html", "c.html", "mine.html"}
    Path("out/reports/mine.html").unlink()
    assert quick("--overwrite", "--percentile", 99) == 0 and not Path("out/reports").exists()


def testReportsWhoseNamesAreTaken(study, inline):
    """Names that differ in characters that no file may have are numbered in the order of the list."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    write("a:b,ref.nrrd,t1.nrrd", "a/b,ref.nrrd,t2.nrrd")
    assert quick("--report") == 0 and reports() == {"a_b.html", "a_b_2.html"}
    write("a/b,ref.nrrd,t2.nrrd")
    assert quick("--overwrite", "--report") == 0 and reports() == {"a_b.html"}
    assert "a/b" in Path("out/reports/a_b.html").read_text()
    assert "cohort-data" not in Path("out/reports/index.html").read_text("utf-8"), "a single case has no overview"


def testNothingOutsideTheFolderOfReportsGoes(study, inline):
    write(ROWS[0])
    assert batch() == 0
    Path("out/mine.html").write_text("mine")
    Path("out/reports").mkdir()
    (record,) = records()
    edited = [{**record, "status": "failed", "report": name} for name in ("../../data/cases.csv", "../mine.html", 5)]
    Path("out/results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in edited))
    assert batch() == 0 and Inline.count == 2
    assert Path("out/mine.html").exists() and Path("data/cases.csv").exists()


@pytest.mark.parametrize(
    ("rows", "options"), [(ROWS[:2], ("--percentile", 99)), (ROWS[1:2], ())], ids=["settings", "list"]
)
def testResultsOfAnotherKindAreNotMixed(study, inline, capsys, rows, options):
    """Nothing is changed, and the sentence says what to do."""
    write(*ROWS[:2])
    assert batch() == 0
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    write(*rows)
    capsys.readouterr()
    assert batch(*options) == 2 and Inline.count == 2
    says(capsys.readouterr().err, "out: ", " a ", "--overwrite")
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before
    assert batch("--overwrite", *options) == 0 and Inline.count == 2 + len(rows) * bool(options)
    names = [row.split(",")[0] for row in rows]
    assert [record["case"] for record in records()] == [row["Case"] for row in table()] == names


@pytest.fixture
def interrupted(monkeypatch):
    """A function that runs a batch until the table has so many cases, as users can watch, and then is interrupted."""

    class Stopping(Inline):
        def submit(self, *given):
            if len(table()) == Stopping.most:
                raise KeyboardInterrupt
            return super().submit(*given)

    def run(cases, *options):
        Stopping.most = cases
        with monkeypatch.context() as patched:
            patched.setattr("concurrent.futures.ProcessPoolExecutor", Stopping)
            return batch("--workers", 1, *options)

    return run


def testARunThatOverwritesAndIsInterrupted(study, interrupted, capsys):
    """Nothing that follows from what was there lies beside the new results."""
    write(*(f"case {n},ref.nrrd,t{n}.nrrd,,{m}" for n in range(4) for m in "AB"))
    assert batch("--metrics", "boundary") == 0
    Path("out/results.parquet").write_text("where pyarrow is not installed, too")
    capsys.readouterr()
    assert interrupted(0, "--overwrite", "--metrics", "boundary,overlap") == 130
    assert says(capsys.readouterr().err, 0, 8, "out").count("\n") == 2 and records() == [] and table() == []
    left = {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()}
    assert left == {"results.jsonl", "results.csv", "results.schema.csv", "schema.json"}
    # going on needs no option
    assert batch("--metrics", "boundary,overlap") == 0
    assert len(records()) == 8 and table("summary") and table("tests")


def testALongerListThatIsInterrupted(study, interrupted):
    """What is done stays, but the summary is not of all that is there."""
    write(*ROWS[:2])
    assert batch() == 0
    write(*ROWS, "e,ref.nrrd,t5.nrrd")
    assert interrupted(4) == 130
    assert [record["case"] for record in records()] == ["a", "b", "c", "d"]
    assert not Path("out/summary.csv").exists()


def testTornRecords(study, inline):
    write(*ROWS[:2])
    assert batch() == 0
    first, _ = Path("out/results.jsonl").read_bytes().splitlines(keepends=True)
    torn = b'null\n[1]\n\xff\n{"case": 1}\n\n\n{"case": "b", "me'
    Path("out/results.jsonl").write_bytes(first + first + torn)
    assert batch() == 0 and Inline.count == 3
    assert sorted(record["case"] for record in records()) == ["a", "b"]


def testTwoRunsAtOnce(study, inline, capsys):
    fcntl = pytest.importorskip("fcntl", reason="files are locked otherwise here")
    write(ROWS[0])
    Path("out").mkdir()
    with Path("out/.segment-metrics.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert batch() == 2 and says(capsys.readouterr().err, "out: ")
    assert batch() == 0


def testFilesThatAreReadWithOthers(study, inline):
    """What a header describes is in another file: a case whose voxels have changed is compared again."""
    headers = {"a.mhd": "a.mhd", "b.nhdr": "b.nhdr", "c.mhd": "c.mha"}
    for header, name in headers.items():
        SimpleITK.WriteImage(SimpleITK.ReadImage("data/t1.nrrd"), f"data/{header}")
        Path(f"data/{header}").rename(f"data/{name}")
    write(*(f"{name},ref.nrrd,{name}" for name in headers.values()))
    assert quick() == 0 and quick() == 0 and Inline.count == 3
    for number, header in enumerate(headers, start=4):
        (data,) = (path for path in Path("data").glob(f"{header[0]}.*raw*"))
        os.utime(data, (1, 1))
        assert quick() == 0 and Inline.count == number
