"""The page about all cases of a batch: what must be checked comes first, says why, and leads to its report."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import batchruns
import pytest
import shapes
import SimpleITK
from sayings import says

pytest.importorskip("plotly", reason="plotly is not installed (extra report)")

PROTOCOL = """Structure,Measurement,Relation,Pass,Warn
A,HD95,<=,1.5,2.5
A,DSC,>=,0.85,0.75
B,HD95,<=,100,
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Cases of which B is fine and A is moved by so many of 10 voxels; some have no B, or have it elsewhere."""
    monkeypatch.chdir(tmp_path)
    box = shapes.box((6, 6, 6), (15, 9, 9))
    shifts = {"r": 0, "t0": 0, "t1": 1, "t2": 2, "t4": 4, "noB": 0, "farB": 4, "movedB": 0}
    for name, shift in shifts.items():
        Path(name).mkdir()
        SimpleITK.WriteImage(shapes.box((6 + shift, 6, 6), (15 + shift, 9, 9)), f"{name}/A.nrrd")
        if name == "farB":
            SimpleITK.WriteImage(shapes.box((6, 6, 6), (15, 9, 9), origin=(1e8,) * 3), f"{name}/B.nrrd")
        elif name == "movedB":
            SimpleITK.WriteImage(shapes.box((6, 20, 20), (15, 23, 23)), f"{name}/B.nrrd")
        elif name != "noB":
            SimpleITK.WriteImage(box, f"{name}/B.nrrd")
    tests = "index,t0 <i>,t1 two,t2 four,t4 noB,noB farB,farB moved,movedB gone,nowhere two,t1"
    lines = [row.replace(",", ",r,") for row in tests.split()]
    Path("my cases.csv").write_text("\n".join(["case,reference,test", *lines]) + "\n")
    Path("limits.csv").write_text(PROTOCOL)
    return tmp_path


batch = partial(batchruns.batch, cases="my cases.csv")


def rows() -> list[list[str]]:
    text = Path("out/reports/index.html").read_text("utf-8")
    body = re.search("<tbody>(.*)</tbody>", text)[1]
    return [re.findall("<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", body)]


def words(cell: str) -> str:
    return re.sub("<.*?>", "", cell)


def testTheWorstCasesComeFirst(study, capsys):
    assert batch("--report", "--protocol", "limits.csv", "--metrics", "HD95,DSC") == 1
    found = [[words(cell) for cell in row] for row in rows()]
    assert [row[:3] for row in found] == [
        ["farB", "failed to compare", "1 of 2"],
        ["gone", "failed to compare", "0"],
        ["two", "failed to compare", "0"],
        ["moved", "pass", "2"],
        ["four", "fail", "2"],
        ["noB", "not evaluable", "1"],
        ["two", "warn", "2"],
        ["index", "pass", "2"],
        ["&lt;i&gt;", "pass", "2"],
    ]
    reasons, judged = [row[3] for row in found], batchruns.rowsOf("out/verdicts.csv")
    why = {row["Case"]: row["Reason"] for row in judged if (row["Structure"], row["Measurement"]) == ("A", "HD95")}
    assert why["four"].startswith("HD95 4.00 mm ") and why["two"].startswith("HD95 2.00 mm ")
    # what is worst, of two rules that fail
    says(reasons[0], "B ", f"A: {why['four']} ")
    says(reasons[1], "nowhere: ")
    says(reasons[2], "my cases.csv, line 10", "line 4")
    # what was measured of another place means nothing, however well it keeps to the limits
    says(reasons[3], "B: ")
    says(reasons[4], f"A: {why['four']} ")
    says(reasons[5], "B: ")
    says(reasons[6], f"A: {why['two']}")
    says(reasons[7], 3)
    links = [re.search('<a href="(.*?)">', row[0]) for row in rows()]
    assert [link and unquote(link[1]) for link in links[:3]] == ["farB.html", None, None]
    assert all(Path("out/reports", unquote(link[1])).is_file() for link in links[3:])
    # the page about all is not the report of the case that is called like it
    assert "index_2.html" in {unquote(link[1]) for link in links[3:]}
    text = Path("out/reports/index.html").read_text("utf-8")
    assert "<h1>my cases</h1>" in text and says(re.search("<b>(1 .*?)</b></p>", text)[1])
    says(re.search('<p class="notice">(.*?)</p>', text)[1])
    assert '3 <span class="verdict fail">failed to compare</span>, 1 <span' in text
    # in a narrow window, where a row is no row any more
    assert '<table class="prose">' in text and 'data-head="Structures compared"' in text
    assert not re.search(r"<(script src|link|img)", text) and "<i>" not in text and str(study) not in text
    said = capsys.readouterr().out
    assert "  fail: four, farB\n  not evaluable: noB\n  warn: two\n" in said


def testCasesWithoutAVerdict(study):
    """The structure that is farthest apart is named, and what one side lacks."""
    Path("my cases.csv").write_text("case,reference,test\nfour,r,t4\nnoB,r,noB\n")
    assert batch("--report") == 0
    found = {words(row[0]): [words(cell) for cell in row[1:]] for row in rows()}
    assert found["four"][0] == "compared" and found["four"][2].startswith("A: DSC 0.60, HD95 4.0 mm, ")
    assert found["noB"][2].startswith("A: ") and found["noB"][2].endswith("reference: B.")
    Path("out/reports/four.html").unlink()
    # the other page is still there, so the list is
    assert batch() == 0 and ["four" in row[0] for row in rows()] == [True, False]
