"""Bad and odd inputs, row by row: refused in one sentence, or right; never a wrong number, never half a result."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import re
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
import shapes
import SimpleITK
from commandruns import everything, metrics, refusal
from commandruns import run as run
from hostile import Measured, images, meshes, segmentations, tables
from hostile.builders import REFERENCE, SHIFTED, save
from sayings import says

from SegmentMetricsLib import __main__

# What belongs to the inner life of programs.
INTERNALS = re.compile(r"0x|\bitk|\bvtk|Traceback|Exception|Errno|np\.|\.cxx|\.hxx|nan mm|array", re.IGNORECASE)


def ofAnySystem(text: str) -> str:
    """Return a text without the reason of the system, and with a short name in place of a long one."""
    return re.sub("x{99,}", "x", text).replace(os.strerror(errno.ENAMETOOLONG), "")


@pytest.fixture
def inputs(run):
    """The folder of the inputs, in the one in which commands run."""
    Path("in").mkdir()
    return Path("in")


# Windows allows no such names.
CODE_AS_FILE = "b.seg.nrrd" if os.name == "nt" else "<b onclick=ran=4>b.seg.nrrd"

ROWS = [*images.ROWS, *meshes.ROWS, *segmentations.ROWS, *tables.ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.given.replace(" ", "-"))
def testWhatGoesIn(run, inputs, row):
    if row.given.startswith("a path") and os.name == "nt":
        pytest.skip("paths of Unix")
    if row.given.startswith("a structure set"):
        pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    against = save(REFERENCE, inputs / "reference.nrrd") if row.against == "mask" else row.against(inputs)
    given = row.make(inputs)
    if not isinstance(row.outcome, Measured):
        Path("out").mkdir()
        pairs = (against, given), (given, against)
        for said in dict.fromkeys(refusal(run, "compare", *pair, *row.options) for pair in pairs):
            assert (row.file or str(given)) in said
            says(ofAnySystem(said), *row.outcome)
            assert not INTERNALS.search(re.sub(r"\S*/\S*", "", said).replace(".vtp", "")), said
        return
    before = everything()
    status, _, err = run("compare", against, given, *row.options, "--output", "out", isDrawn=row in meshes.ROWS)
    assert (status, err) == (0, "") and everything() == before
    (pair,) = json.loads(Path("out/metrics.json").read_text("utf-8"), parse_constant=pytest.fail)["pairs"]
    # the folder holds all files that belong to the pair, and no other
    tables = {"metrics.json", "metrics.csv", "metrics.schema.csv"}
    found = {path.name for path in Path("out").iterdir()} - {"verdicts.csv", "report.html"}
    assert found == set(pair["files"].values()) | tables
    for key, value in row.outcome.values.items():
        measurement = pair["measurements"][key]
        if isinstance(value, str):
            assert measurement["status"] == value and measurement["reason"], key
        else:
            near = 0.01 if key == "HD" else 1e-6
            assert measurement["status"] == "ok" and math.isclose(measurement["value"], value, abs_tol=near), key
    row.outcome.requireFinding(pair["findings"])


@pytest.mark.parametrize("kind", tables.CASES)
def testListsOfCases(run, inputs, kind):
    content, expected, *names = tables.CASES[kind]
    save(REFERENCE, inputs / "ref.nrrd"), save(SHIFTED, inputs / "odd.nrrd")
    path = inputs / "cases.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, _, err = run("batch", path, "--metrics", "overlap", "--report", "--workers", 1, "-o", "out")
    assert (status, err.count("\n")) == (expected, expected > 0)
    if err:
        says(ofAnySystem(err), "cases.csv" if "x.nrrd" not in names else "", *names)
    if expected < 2:
        assert '"DSC"' in Path("out/summary.json").read_text("utf-8")
        # one about a case, and one about all
        assert len(list(Path("out/reports").glob("*.html"))) == 2
        with Path("out/results.csv").open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)


def compareNames(run, names: list[str], *options, isDrawn=False) -> None:
    """Compare a segmentation of squares that are called so with itself."""
    boxes = {label: ((2, 3 * label, 0), (4, 3 * label + 1, 0)) for label in range(1, len(names) + 1)}
    array = SimpleITK.GetArrayFromImage(shapes.labelImage(boxes, (8, 3 * len(boxes) + 6, 1)))
    fields = [{"ID": f"S{n}", "Name": name, "LabelValue": n, "Layer": 0} for n, name in enumerate(names, 1)]
    path = save(shapes.segmentation([array], fields), Path(CODE_AS_FILE))
    status, out, err = run("compare", path, path, "-o", "out", "--metrics", "HD,DSC,slices", *options, isDrawn=isDrawn)
    assert (status, err) == (0, "")
    # one line a name
    assert len(out.split("\n\n")[0].splitlines()) == 2 + len(names)


def testNamesOfStructures(run):
    """Whatever structures are called: each has a file of its own in the folder, and spreadsheets run nothing."""
    compareNames(run, list(tables.NAMES))
    assert {found.name for found in Path().iterdir()} == {CODE_AS_FILE, "out"}
    with open("out/metrics.csv", encoding="utf-8", newline="") as given:
        cells = [row[:2] for row in csv.reader(given)][1:]
    for (name, (stem, cell)), pair, found in zip(tables.NAMES.items(), metrics("out")["pairs"], cells, strict=True):
        file = f"slices_{stem}.csv"
        assert pair["reference"]["name"] == name and pair["files"]["slices"] == file and Path("out", file).is_file()
        assert found == [cell, cell]
    assert len({stem.casefold() for stem, _ in tables.NAMES.values()}) == len(tables.NAMES)


def testNothingInAReportRuns(browser, run):
    """In a real browser, with names of structures, files and protocols that are code."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    protocol = Path(CODE_AS_FILE.replace("b.seg.nrrd", "i.csv"))
    heading = "# <img src=x onerror=ran=6>\nStructure,Measurement,Relation,Pass,Source\n"
    protocol.write_text(f"{heading}*,DSC,>=,0.9,<u onclick=ran=7>")
    names = [name for name in tables.NAMES if "<" in name or "&" in name]
    compareNames(run, names, "--report", "--protocol", protocol, isDrawn=True)
    page, problems = browser.new_page(), []
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or problems.append(asked.url))
    page.goto(Path("out/report.html").resolve().as_uri())
    text = page.locator("body").inner_text()
    for selector in ("img[src=x]", "[onerror]", "[onload]", "[onclick]"):
        assert page.locator(selector).count() == 0
    assert page.evaluate("typeof ran") == "undefined" and problems == []
    for name in (*names, CODE_AS_FILE, protocol.name):
        assert name in text
    page.close()


# Where results are to go, and what is named as it is refused.
OUTPUTS = {
    "a file": ("file", "file: "),
    "a folder below a file": ("file/deep/out", "file: "),
    "a link to nothing": ("link", "link: "),
    "a folder where a file must be": ("inTheWay", "metrics.json: "),
    "a read-only folder": ("archive", "archive: "),
    "a name that is no Unicode": ("o\udcff", r"o\udcff: "),
    "a name of 300 letters": ("x" * 300, f"{'x' * 300}: "),
    "the name of a file": ("results.csv", "results.csv: "),
    "a folder of the system": ("/proc/results", "/proc/results: "),
}


@pytest.fixture
def arguments(inputs):
    return ["compare", save(REFERENCE, inputs / "a.nrrd"), save(SHIFTED, inputs / "b.nrrd"), "-o"]


@pytest.mark.parametrize("kind", OUTPUTS)
def testWhereResultsCannotGo(run, arguments, kind):
    output, name = OUTPUTS[kind]
    if output == "link" and os.name == "nt":
        pytest.skip("only administrators make links on Windows")
    Path("file").write_text("mine")
    Path("inTheWay/metrics.json").mkdir(parents=True)
    Path("archive").mkdir(mode=0o555)
    if output == "link":
        Path("link").symlink_to("gone")
    if output == "archive" and os.access(output, os.W_OK):
        pytest.skip("whoever runs this may write into every folder")
    if output.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("needs a folder that refuses even the superuser")
    Path("cases.csv").write_text("case,reference,test\n1,{},{}\n".format(*arguments[1:3]))
    before = everything(but="")
    others = (["demo", "-o"], ["batch", "cases.csv", "-o"])
    for given in (arguments, *(others if output != "inTheWay" else ())):
        status, out, err = run(*given, output)
        assert (status, out) == (2, "") and name in err and err.count("\n") == 1
        assert everything(but="") == before
        # what is said about a folder of the system depends on the user
        if not output.startswith("/proc"):
            says(ofAnySystem(err))


def keepsAnEarlierRun() -> dict:
    """Write what an earlier run, and its user, have left in the output folder, and return all that there is."""
    Path("out").mkdir()
    for name in ("metrics.json", "notes.txt"):
        Path("out", name).write_text("of an earlier run")
    return everything(but="")


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
@pytest.mark.parametrize(("size", "earlier"), [(0, False), (3_000, True), (100_000, False), (1_000_000, True)])
def testFullDisks(run, arguments, size, earlier):
    """At once, within the surfaces, and within the report: one sentence, and what was there before is still there."""
    import resource

    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    before = keepsAnEarlierRun() if earlier else everything(but="")
    limits, said = resource.getrlimit(resource.RLIMIT_FSIZE), StringIO()
    try:
        # so many bytes are the most in a file
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        with redirect_stderr(said):
            status = __main__.main([*map(str, arguments), "out", "--report"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2 and everything(but="") == before and said.getvalue().count("\n") == 1
    # which file it is, and with which reason, depends on its length
    says(said.getvalue().partition(" (")[0], "segment-metrics: out: ")


DISK_FULL, STOPPED = OSError(28, "No space left on device"), KeyboardInterrupt()


@pytest.mark.parametrize("earlier", [False, True], ids=["", "after-an-earlier-run"])
@pytest.mark.parametrize(
    ("calls", "error"),
    [*((n, DISK_FULL) for n in range(1, 8)), (1, OSError(30, "Read-only file system")), (5, STOPPED)],
    ids=str,
)
def testADiskThatTakesNoMoreFromACertainFileOn(run, arguments, monkeypatch, calls, error, earlier):
    """At each of the three tables as it is written, and as it is moved into the folder; an old one makes room first."""
    if calls > 6 and not earlier:
        pytest.skip("there is no old file that makes room")
    before = keepsAnEarlierRun() if earlier else everything(but="")
    real, done = {"open": Path.open, "replace": os.replace}, []

    def failing(name):
        def call(path, *given, **options):
            if ".segment-metrics-" in "".join(map(str, (path, *given[: name == "replace"]))):
                done.append(path)
                if len(done) == calls:
                    raise error
            return real[name](path, *given, **options)

        return call

    monkeypatch.setattr(Path, "open", failing("open"))
    monkeypatch.setattr(os, "replace", failing("replace"))
    status, _, err = run(*arguments, "out", "--metrics", "overlap")
    monkeypatch.setattr(Path, "open", real["open"])
    monkeypatch.setattr(os, "replace", real["replace"])
    assert len(done) >= calls and everything(but="") == before
    if error is STOPPED:
        assert status == 130
    else:
        assert (status, err.count("\n")) == (2, 1)
        says(err, "segment-metrics: out: ", error.strerror)
