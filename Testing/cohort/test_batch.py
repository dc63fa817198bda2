"""Many cases: rows for whatever happens to them, going on where a run ended, workers that die, a cluster."""

from __future__ import annotations

import csv
import json
import os
import pickle
import threading
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, __main__
from SegmentMetricsLib.cohort import tasks as cohort
from SegmentMetricsLib.cohort.cases import Task, readCases
from SegmentMetricsLib.cohort.resultfiles import CohortFiles
from SegmentMetricsLib.cohort.tasks import runCase

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = "Structure,Measurement,Relation,Pass,Warn\n*,DSC,>=,0.85,0.75\nLabel 1,NSD_1mm,>=,0.5\n"


class Inline(Executor):
    """Runs tasks where they are submitted; counts them."""

    count = 0

    def submit(self, function, *arguments):
        Inline.count += 1
        future: Future = Future()
        future.set_result(function(*arguments))
        return future


@pytest.fixture
def inline(monkeypatch):
    @contextmanager
    def processes(workers):
        yield lambda number: Inline(), 4

    Inline.count = 0
    monkeypatch.setattr(cohort, "processes", processes)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A folder with images, in which the test runs; ref.nrrd and t1.nrrd ... that are shifted by so many voxels."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 9, 9)), "data/ref.nrrd")
    for shift in range(6):
        SimpleITK.WriteImage(shapes.box((6 + shift, 6, 6), (15 + shift, 9, 9)), f"data/t{shift}.nrrd")
    SimpleITK.WriteImage(shapes.imageOf(shapes.np.zeros((24, 24, 24), shapes.np.uint8)), "data/none.nrrd")
    return tmp_path


def write(*rows: str, heading: str = "case,reference,test,protocol,method") -> str:
    Path("data/cases.csv").write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return "data/cases.csv"


def batch(*options) -> int:
    return __main__.main(["batch", "data/cases.csv", "--output", "out", *map(str, options)])


def records() -> list[dict]:
    return [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]


def table(name: str = "results") -> list[dict]:
    with Path(f"out/{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# What is written


def testABatch(study, inline, capsys):
    Path("data/limits.csv").write_text(PROTOCOL)
    rows = [f"case {n},ref.nrrd,t{n + k}.nrrd,limits.csv,{m}" for k, m in enumerate("AB") for n in range(3)]
    write(*rows, "bare,ref.nrrd,t1.nrrd")
    assert batch() == 0
    out, err = capsys.readouterr()
    assert "7 of 7 cases compared." in out and err == ""
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
    assert {path.name for path in Path("out").iterdir()} - {"results.parquet"} == {
        "results.jsonl", "results.csv", "results.schema.csv", "verdicts.csv", "summary.csv", "summary.json",
        "tests.csv", "boxplots",
    }  # fmt: skip
    schema = {row["key"] for row in table("results.schema")}
    assert set(found[0]) == schema
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["cases"] == {"given": 7, "ok": 7, "failed": 0, "repeated": 0}
    (dice,) = [
        t for t in summary["pairedTests"] if t["measurement"] == "DSC" and (t["first"], t["second"]) == ("A", "B")
    ]
    assert dice["cases"] == 3 and dice["medianDifference"] == pytest.approx(-0.1)


@pytest.mark.parametrize("named", ["limits.csv", ""])
def testTheProtocolAddsToTheTolerances(study, inline, named):
    """What the settings ask for is measured, too, whether cases name the protocol or the command does."""
    Path("data/limits.csv").write_text(PROTOCOL)
    write(f"a,ref.nrrd,t1.nrrd,{named}")
    options = () if named else ("--protocol", "data/limits.csv")
    assert batch(*options) == 0
    assert table()[0]["NSD_1mm"] == "1.0" and table()[0]["NSD_2mm"] == "1.0"
    assert batch(*options, "--tolerance", 3) == 0 and Inline.count == 2
    assert table()[0]["NSD_1mm"] == "1.0" and table()[0]["NSD_3mm"] == "1.0" and "NSD_2mm" not in table()[0]


def testOtherColumnsAreIgnored(study, inline, capsys):
    """Lists of cases have notes; a column that looks mistyped is refused."""
    write("a,ref.nrrd,t1.nrrd,m,61,fine", heading="case,reference,test,method,age,Notes")
    assert batch("--metrics", "overlap") == 0
    assert capsys.readouterr().err == "segment-metrics: data/cases.csv: ignored columns: age, Notes\n"
    write("a,ref.nrrd,t1.nrrd,m", heading="case,reference,test,methods")
    assert batch() == 2 and "no column 'methods'; is it method?" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only Unix has named pipes")
def testTheListIsReadOnce(study, inline, capsys):
    """It may come from another program, as of <(...) of a shell."""
    write("a,ref.nrrd,t1.nrrd,61", heading="case,reference,test,age")
    content = Path("data/cases.csv").read_text()
    Path("data/cases.csv").unlink()
    os.mkfifo("data/cases.csv")
    writer = threading.Thread(target=Path("data/cases.csv").write_text, args=[content], daemon=True)
    writer.start()
    assert batch("--metrics", "overlap") == 0
    assert capsys.readouterr().err == "segment-metrics: data/cases.csv: ignored columns: age\n"


def testNoInputIsOverwritten(study, inline, capsys):
    """A list that is called like a file of results stays as it is."""
    write("a,ref.nrrd,t1.nrrd")
    for name in ("results.csv", "summary.csv", "tests.csv"):
        kept = Path("data/cases.csv").read_text()
        Path("data", name).write_text(kept)
        assert __main__.main(["batch", f"data/{name}", "--output", "data", "--metrics", "overlap"]) == 2
        assert "would overwrite it" in capsys.readouterr().err and Path("data", name).read_text() == kept
    Path("data/verdicts.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    assert __main__.main(["batch", "data/cases.csv", "-o", "data", "--protocol", "data/verdicts.csv"]) == 2
    assert not Path("data/results.jsonl").exists()


def testAMistypedPairIsMentioned(study, inline, capsys):
    write("a,ref.nrrd,t1.nrrd")
    assert batch("--metrics", "overlap", "--pair", "Foo=Bar", "--pair", "label 1=Label_1") == 0
    assert capsys.readouterr().out.count("--pair ") == 1


def testVerdictsDecideTheStatusOnRequest(study, inline, capsys):
    """Those of all cases, also of an earlier run, and whatever failed beside them."""
    Path("data/limits.csv").write_text(PROTOCOL)
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t2.nrrd,limits.csv", "c,ref.nrrd,t1.nrrd")
    assert batch() == 0
    assert [batch("--fail-on", verdict) for verdict in ("fail", "not-evaluable", "warn")] == [0, 0, 3]
    assert "the verdict is warn" in capsys.readouterr().err and Inline.count == 3
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t3.nrrd,limits.csv", "c,ref.nrrd,nowhere.nrrd,limits.csv")
    assert [batch("--fail-on", verdict) for verdict in ("fail", "warn")] == [3, 3] and batch() == 1
    assert "the verdict is fail" in capsys.readouterr().err
    write("a,ref.nrrd,t0.nrrd")
    assert batch("--fail-on", "warn") == 2 and "No case has a protocol" in capsys.readouterr().err


def testStructuresWithoutLimitsAreTold(study, inline, capsys):
    Path("data/limits.csv").write_text("Structure,Measurement,Relation,Pass\nChiasm,DSC,>=,0.9\n")
    write("a,ref.nrrd,t0.nrrd,limits.csv", "b,ref.nrrd,t2.nrrd,limits.csv", "c,ref.nrrd,t1.nrrd")
    assert batch("--metrics", "overlap") == 0
    assert "  not evaluable: a, b\nNo limits for: Label 1\n" in capsys.readouterr().out


def testParquet(study, inline):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,none.nrrd")
    assert batch() == 0
    columns = parquet.read_table("out/results.parquet").to_pydict()
    assert columns["Case"] == ["a", "b"] and columns["DSC"] == pytest.approx([0.9, 0])
    assert columns["HD95"][1] == float("inf")


def testNamesOfNumbersAreTextInParquet(study, inline):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    write("001,ref.nrrd,t1.nrrd", "002,ref.nrrd,t2.nrrd")
    assert batch() == 0
    found = parquet.read_table("out/results.parquet")
    assert found.column("Case").to_pylist() == ["001", "002"]
    assert (str(found.schema.field("Method").type), str(found.schema.field("DSC").type)) == ("string", "double")


def testStructureSets(study, inline):
    for side, names in (("r", ("Parotid_L", "Lens_R")), ("t", ("left parotid", "Lens_L"))):
        Path("data", side).mkdir()
        for n, name in enumerate(names):
            SimpleITK.WriteImage(shapes.box((2, 2, 2 + 9 * n), (9, 9, 5 + 9 * n)), f"data/{side}/{name}.nrrd")
    write("a,r,t")
    assert batch() == 0
    (record,) = records()
    assert [(p["reference"]["name"], p["pairing"]["how"]) for p in record["pairs"]] == [("Parotid_L", "spelling")]
    assert record["unmatched"] == {"reference": ["Lens_R"], "test": ["Lens_L"]}
    assert len(record["pairing"]["proposals"]) == 1 and "different sides" in record["pairing"]["findings"][0]


def testInfiniteValuesAndTheirTreatment(study, inline):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,none.nrrd")
    assert batch("--infinite", "image-diagonal", "--metrics", "boundary") == 0
    (found,) = [row for row in table("summary") if row["Measurement"] == "HD"]
    # 24 voxels of 1 mm along each axis
    assert (found["Infinite"], found["Replaced"]) == ("1", "1")
    assert float(found["Maximum"]) == pytest.approx(24 * 3**0.5)


# Files of cases that are none


def testAllTablesStateTheConvention(study, inline, capsys):
    write("a,ref.nrrd,t1.nrrd,,", "b,ref.nrrd,none.nrrd,,", "c,nothing.nrrd,t1.nrrd,,")
    assert batch("--convention", "MedPy") == 1
    assert "in the convention MedPy" in capsys.readouterr().out
    for name in ("results.csv", "summary.csv"):
        with open(f"out/{name}", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows and {row["Convention"] for row in rows if row.get("Status", "ok") == "ok"} == {"MedPy"}
        assert all(None not in row for row in rows), "every row has as many cells as the heading"
    assert json.loads(Path("out/summary.json").read_text())["convention"] == "MedPy"
    assert "convention MedPy" in Path("out/boxplots/HD95.svg").read_text()
    assert batch("--convention", "SegmentMetrics", "--output", "plain") == 1
    assert "Convention" not in Path("plain/summary.csv").read_text().splitlines()[0]


@pytest.mark.parametrize(
    "content, message",
    [
        ("case,reference\na,b\n", "line 1: the column test is missing"),
        ("case,reference,test\n", "there are no cases"),
        ("", "the file is empty"),
        ('case,reference,test\na,"b,c\n', "line 2: the quotation marks are wrong"),
        ('case,reference,test\na,b,c\nd,"e"f,g\n', "line 3: the quotation marks are wrong"),
        ("case,reference,test\na,b,c,d\n", "line 2: there are 4 cells, but the heading has 3 columns."),
        ("case,reference,test,metod\na,b,c,d\n", "there is no column 'metod'; is it method?"),
        ("case,reference,test\na,b\0,c\n", "holds zero bytes"),
    ],
)
def testUnusableFiles(study, inline, capsys, content, message):
    Path("data/cases.csv").write_text(content)
    assert batch() == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1 and "cases.csv" in err and not Path("out").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--workers", "0"], "number of workers"),
        (["--seed", "-1"], "seed"),
        (["--resamples", "0"], "bootstrap"),
        (["--protocol", "nothing.csv"], "nothing.csv"),
        (["--tolerance", "-1"], "tolerance"),
        (["--workers", "2", "--scheduler", "x"], "not allowed with"),
        (["--infinite", "zero"], "invalid choice"),
    ],
)
def testWrongOptions(study, inline, capsys, options, message):
    write("a,ref.nrrd,t1.nrrd")
    try:
        status = batch(*options)
    except SystemExit as end:
        status = end.code
    assert status == 2 and message in capsys.readouterr().err and not Path("out").exists()


def testAFileInPlaceOfTheFolder(study, inline, capsys):
    write("a,ref.nrrd,t1.nrrd")
    Path("out").write_text("mine")
    assert batch() == 2 and Path("out").read_text() == "mine" and "not a folder" in capsys.readouterr().err


# Cases that fail


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
    assert "there is no such file" in reasons["gone"] and "nowhere.nrrd" in reasons["gone"]
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
    assert "3 of 10 cases compared." in out and err.count("segment-metrics: ") == 7


def testNothingCouldBeRun(study, inline):
    write("a,ref.nrrd,nowhere.nrrd", "b,ref.nrrd,nowhere.nrrd")
    assert batch() == 2
    assert [row["Status"] for row in table()] == ["failed", "failed"]


def testAStructureThatTheProtocolMisses(study, inline):
    Path("data/limits.csv").write_text(PROTOCOL + "Chiasm,DSC,>=,0.9\n")
    write("a,ref.nrrd,t1.nrrd")
    assert batch("--protocol", "data/limits.csv") == 0
    assert table("verdicts")[-1]["Verdict"] == "not evaluable"
    assert table("verdicts")[-1]["Reason"] == "There is no structure Chiasm."


def testWhatShouldNotHappenIsARowToo(study, monkeypatch):
    def broken(*given):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("SegmentMetricsLib.cohort.caseoutcomes.compared", broken)
    outcome = runCase(Task("a", "", "r", "t"))
    assert (outcome["status"], outcome["reason"]) == ("failed", "This should not happen: ZeroDivisionError: by nothing")


def testTasksAreSmallAndPlain(study):
    write("a,ref.nrrd,t1.nrrd")
    (task,) = readCases("data/cases.csv", Settings())
    again = pickle.loads(pickle.dumps(task))
    assert again == task and len(pickle.dumps(task)) < 2000
    json.dumps(runCase(again), allow_nan=False)
    assert Path(task.reference).is_absolute()


# Going on


def testGoingOn(study, inline, capsys):
    rows = [f"case {n},ref.nrrd,t{n}.nrrd" for n in range(4)]
    write(*rows[:3], "late,ref.nrrd,late.nrrd")
    assert batch() == 1 and Inline.count == 4
    first = [line for line in Path("out/results.jsonl").read_bytes().splitlines() if b'"status": "ok"' in line]
    # nothing new: only what failed is tried again
    assert batch() == 1 and Inline.count == 5
    SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 9, 9)), "data/late.nrrd")
    capsys.readouterr()
    assert batch() == 0 and Inline.count == 6
    assert "4 of 4 cases compared, 3 of them in an earlier run." in capsys.readouterr().out
    assert Path("out/results.jsonl").read_bytes().splitlines()[:3] == first
    # another case is one more, another image or setting another outcome
    write(*rows, "late,ref.nrrd,late.nrrd")
    assert batch() == 0 and Inline.count == 7
    SimpleITK.WriteImage(shapes.box((7, 6, 6), (16, 9, 9)), "data/t0.nrrd")
    os.utime("data/t0.nrrd", (1, 1))
    assert batch() == 0 and Inline.count == 8
    assert [row["DSC"] for row in table() if row["Case"] == "case 0"] == ["0.9"]
    assert batch("--percentile", "99") == 0 and Inline.count == 13
    assert sorted(record["case"] for record in records()) == [*(f"case {n}" for n in range(4)), "late"]


def testLostReportsAreMadeAgain(study, inline):
    pytest.importorskip("plotly", reason="plotly is not installed")
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    assert batch("--report") == 0 and Inline.count == 2
    Path("out/reports/a.html").unlink()
    assert batch("--report") == 0 and Inline.count == 3 and Path("out/reports/a.html").exists()


def reports() -> set[str]:
    """Return the names of the reports; the page about all cases is there, too."""
    names = {path.name for path in Path("out/reports").glob("*")}
    assert "index.html" in names
    return names - {"index.html"}


def testReportsOfOtherDataGo(study, inline):
    """A page whose case has changed, or is no longer in the list, is not about these results; those of others stay."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    rows = ["a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd", "c,ref.nrrd,t3.nrrd"]
    write(*rows)
    assert batch("--report") == 0 and reports() == {"a.html", "b.html", "c.html"}
    Path("out/reports/mine.html").write_text("mine")
    # the cases are done without a report, too
    assert batch() == 0 and Inline.count == 3 and reports() == {"a.html", "b.html", "c.html", "mine.html"}
    SimpleITK.WriteImage(shapes.box((7, 6, 6), (16, 9, 9)), "data/t2.nrrd")
    os.utime("data/t2.nrrd", (1, 1))
    write(*rows[:2])
    assert batch() == 0 and Inline.count == 4 and reports() == {"a.html", "mine.html"}
    # what goes on with reports makes the one that is not there
    assert batch("--report") == 0 and Inline.count == 5 and reports() == {"a.html", "b.html", "mine.html"}
    Path("out/reports/mine.html").unlink()
    assert batch("--percentile", 99) == 0 and not Path("out/reports").exists()


def testReportsWhoseNamesAreTaken(study, inline):
    """Names that differ in characters that no file may have are numbered in the order of the list."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    write("a:b,ref.nrrd,t1.nrrd", "a/b,ref.nrrd,t2.nrrd")
    assert batch("--report") == 0 and reports() == {"a_b.html", "a_b_2.html"}
    write("a/b,ref.nrrd,t2.nrrd")
    assert batch("--report") == 0 and reports() == {"a_b.html"}
    assert "a/b" in Path("out/reports/a_b.html").read_text()


@pytest.mark.parametrize("name", ["../../data/cases.csv", "../mine.html", 5, ""])
def testNothingOutsideTheFolderOfReportsGoes(study, inline, name):
    write("a,ref.nrrd,t1.nrrd")
    assert batch() == 0
    Path("out/mine.html").write_text("mine")
    Path("out/reports").mkdir()
    (record,) = records()
    Path("out/results.jsonl").write_text(json.dumps({**record, "status": "failed", "report": name}) + "\n")
    assert batch() == 0 and Inline.count == 2
    assert Path("out/mine.html").exists() and Path("data/cases.csv").exists()


def testOutcomesOfOtherCasesArePutAside(study, inline):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    assert batch() == 0
    write("b,ref.nrrd,t2.nrrd")
    assert batch() == 0 and Inline.count == 2
    assert [record["case"] for record in records()] == ["b"] and [row["Case"] for row in table()] == ["b"]
    assert json.loads(Path("out/results.earlier.jsonl").read_text())["case"] == "a"


def aside() -> list[dict]:
    return [json.loads(line) for line in Path("out/results.earlier.jsonl").read_text().splitlines()]


@pytest.fixture
def interrupted(inline, monkeypatch):
    """A function that runs a batch until so many more outcomes are written, and then is interrupted."""
    original = CohortFiles.add

    def run(cases, *options):
        written = []

        def add(self, outcome):
            if len(written) == cases:
                raise KeyboardInterrupt
            written.append(outcome)
            original(self, outcome)

        with monkeypatch.context() as patched:
            patched.setattr(CohortFiles, "add", add)
            return batch(*options)

    return run


def testARunWithOtherSettingsThatIsInterrupted(study, interrupted, capsys):
    """What was done before is kept aside, and nothing that follows from it lies beside the new results."""
    write(*(f"case {n},ref.nrrd,t{n}.nrrd,,{m}" for n in range(4) for m in "AB"))
    assert batch("--metrics", "boundary") == 0
    before = records()
    Path("out/results.parquet").write_text("where pyarrow is not installed, too")
    Path("out/boxplots/mine.svg").write_text("mine")
    capsys.readouterr()
    assert interrupted(0, "--metrics", "boundary,overlap") == 130
    said = "segment-metrics: 8 results were made with other settings, files or software: they are in results.earlier"
    assert capsys.readouterr().err == f"{said}.jsonl\nsegment-metrics: interrupted\n"
    assert aside() == before and records() == [] and table() == []
    assert {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()} == {
        "results.jsonl", "results.earlier.jsonl", "results.csv", "results.schema.csv", "boxplots/mine.svg",
    }  # fmt: skip
    # going on says nothing more; the way back does, and what is aside is not put there twice
    assert batch("--metrics", "boundary,overlap") == 0 and "results.earlier" not in capsys.readouterr().err
    assert len(records()) == 8 and table("summary") and table("tests")
    for metrics in ("boundary", "boundary,overlap") * 2:
        assert interrupted(2, "--metrics", metrics) == 130
        assert batch("--metrics", metrics) == 0
    assert [record["fingerprint"] for record in aside()[:8]] == [record["fingerprint"] for record in before]
    assert len(aside()) == len({(record["case"], record["method"], record["fingerprint"]) for record in aside()}) == 16


def testAFileThatHasChangedAndACaseThatIsGone(study, inline, capsys):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd", "c,ref.nrrd,t3.nrrd")
    assert batch() == 0
    os.utime("data/t1.nrrd", (1, 1))
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    capsys.readouterr()
    assert batch() == 0 and Inline.count == 4
    assert capsys.readouterr().err == (
        "segment-metrics: 1 result was made with other settings, files or software, and 1 more is of a case that is "
        "no longer in the list: they are in results.earlier.jsonl\n"
    )
    assert [record["case"] for record in aside()] == ["a", "c"]


def testALongerListThatIsInterrupted(study, interrupted):
    """What is done stays, but the summary is not of all that is there."""
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    assert batch() == 0
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd", "c,ref.nrrd,t3.nrrd", "d,ref.nrrd,t4.nrrd")
    assert interrupted(1) == 130
    assert [record["case"] for record in records()] == ["a", "b", "c"]
    assert not Path("out/results.earlier.jsonl").exists()
    assert not Path("out/summary.csv").exists() and not Path("out/boxplots").exists()


def testNothingToDoLeavesTheSummary(study, inline, monkeypatch):
    write("a,ref.nrrd,t1.nrrd")
    assert batch() == 0

    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(cohort, "runAll", interrupt)
    assert batch() == 130 and table("summary")


def testATornRecordAside(study, inline):
    """A run that was killed while it put records aside loses nothing of what comes after."""
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    assert batch() == 0
    Path("out/results.earlier.jsonl").write_bytes(Path("out/results.jsonl").read_bytes()[:-20])
    assert batch("--percentile", 99) == 0
    lines = Path("out/results.earlier.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["case"] for line in (lines[0], lines[2])] == ["a", "b"] and len(lines) == 3


@pytest.mark.parametrize("rest", [b'{"case": "b", "me', b"null\n", b"[1]\n", b"\xff\n", b'{"case": 1}\n', b"\n\n"])
def testTornRecords(study, inline, rest):
    write("a,ref.nrrd,t1.nrrd", "b,ref.nrrd,t2.nrrd")
    assert batch() == 0
    first, _ = Path("out/results.jsonl").read_bytes().splitlines(keepends=True)
    Path("out/results.jsonl").write_bytes(first + first + rest)
    assert batch() == 0 and Inline.count == 3
    assert sorted(record["case"] for record in records()) == ["a", "b"]


def testTwoRunsAtOnce(study, inline, capsys):
    pytest.importorskip("fcntl", reason="files are locked otherwise here")
    import fcntl

    write("a,ref.nrrd,t1.nrrd")
    Path("out").mkdir()
    with Path("out/.segment-metrics.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert batch() == 2 and "another run" in capsys.readouterr().err
    assert batch() == 0


def testFailuresAreListedInTheOrderOfTheCases(study, inline, monkeypatch, capsys):
    """Whichever process is done first, another run says the same."""
    original = cohort.runAll

    def lastFirst(*given):
        yield from reversed(list(original(*given)))

    monkeypatch.setattr(cohort, "runAll", lastFirst)
    cases = write("a,gone.nrrd,t1.nrrd,,", "b,ref.nrrd,t1.nrrd,,", "c,away.nrrd,t1.nrrd,,")
    assert __main__.main(["batch", cases, "--output", "out", "--metrics", "overlap"]) == 1
    failed = [line for line in capsys.readouterr().err.splitlines() if "there is no such file" in line]
    assert [line.split(":")[1] for line in failed] == [" a", " c"]
