"""Bad and odd inputs, row by row: refused in one sentence, or right; never a wrong number, never half a result."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from pathlib import Path

import pytest
import shapes
import SimpleITK
from hostile import Measured, images, meshes, segmentations, tables
from hostile.builders import REFERENCE, SHIFTED, save

from SegmentMetricsLib import __main__
from SegmentMetricsLib.base import parallel

# What belongs to the inner life of programs.
INTERNALS = re.compile(r"0x|\bitk|\bvtk|Traceback|Exception|Errno|np\.|\.cxx|\.hxx|nan mm|array", re.IGNORECASE)


def contents(folder: Path) -> dict:
    """Return all files below a folder with their content, and its folders and links."""
    return {path: path.read_bytes() if path.is_file() and not path.is_symlink() else None for path in folder.rglob("*")}


class World:
    """A folder with the inputs, an empty one to work in, and the one for the results, which is not there yet."""

    def __init__(self, folder: Path, capsys):
        self.folder, self.inputs, self.output, self.capsys = folder, folder / "in", folder / "out", capsys
        self.inputs.mkdir()
        (folder / "here").mkdir()

    def run(self, *arguments) -> tuple[int, str, str]:
        """Run a command and return status, standard output and standard error; nothing but the output may change."""
        before = {path: content for path, content in contents(self.folder).items() if self.output not in path.parents}
        self.capsys.readouterr()
        try:
            status = __main__.main([*map(str, arguments), "--output", str(self.output)])
        except SystemExit as end:
            status = end.code
        out, err = self.capsys.readouterr()
        after = {path: content for path, content in contents(self.folder).items() if self.output not in path.parents}
        after.pop(self.output, None)
        before.pop(self.output, None)
        assert after == before
        return status, out, err

    def refusal(self, *arguments) -> str:
        """Return the one line with which a command is refused, without its beginning; the output folder stays."""
        self.output.mkdir(exist_ok=True)
        (self.output / "metrics.json").write_text("of an earlier run")
        status, out, err = self.run(*arguments)
        assert (status, out) == (2, ""), err
        assert err.startswith("segment-metrics: ") and err.endswith("\n") and len(err.splitlines()) == 1
        assert [path.name for path in self.output.iterdir()] == ["metrics.json"]
        assert (self.output / "metrics.json").read_text() == "of an earlier run"
        said = err[len("segment-metrics: ") : -1]
        assert not INTERNALS.search(re.sub(r"\S*/\S*", "", said).replace(".vtp", "")), said
        return said

    def pairs(self, *arguments) -> list[dict]:
        """Return the pairs that a command measures; its folder holds all files that belong to them, and no other."""
        status, _, err = self.run(*arguments)
        assert (status, err) == (0, "")
        document = json.loads(
            (self.output / "metrics.json").read_text("utf-8"), parse_constant=lambda token: pytest.fail(token)
        )
        named = {name for pair in document["pairs"] for name in pair["files"].values()}
        tables = {"metrics.json", "metrics.csv", "metrics.schema.csv"}
        assert {path.name for path in self.output.iterdir()} - {"verdicts.csv", "report.html"} == named | tables
        return document["pairs"]


@pytest.fixture
def world(withoutPictures, tmp_path, capsys, monkeypatch):
    world = World(tmp_path, capsys)
    monkeypatch.chdir(tmp_path / "here")
    return world


def requireValues(pair: dict, expected: Measured) -> None:
    for key, value in expected.values.items():
        measurement = pair["measurements"][key]
        if isinstance(value, str):
            assert measurement["status"] == value and measurement["reason"], key
        else:
            near = 0.01 if key == "HD" else 1e-6
            assert measurement["status"] == "ok" and math.isclose(measurement["value"], value, abs_tol=near), key
    assert expected.finding in " ".join(finding["text"] for finding in pair["findings"])


# Windows allows no such names.
CODE_AS_FILE = "b.seg.nrrd" if os.name == "nt" else "<b onclick=ran=4>b.seg.nrrd"

ROWS = [*images.ROWS, *meshes.ROWS, *segmentations.ROWS, *tables.ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.given.replace(" ", "-"))
def testWhatGoesIn(world, row):
    if row.given.startswith("a path") and os.name == "nt":
        pytest.skip("paths of Unix")
    if row.given.startswith("a structure set"):
        pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    against = save(REFERENCE, world.inputs / "reference.nrrd") if row.against == "mask" else row.against(world.inputs)
    given = row.make(world.inputs)
    if isinstance(row.outcome, str):
        for pair in ((against, given), (given, against)):
            assert row.outcome in world.refusal("compare", *pair, *row.options)
        return
    (pair,) = world.pairs("compare", against, given, *row.options)
    requireValues(pair, row.outcome)


@pytest.mark.parametrize("kind", tables.CASES)
def testListsOfCases(world, kind):
    content, expected, says = tables.CASES[kind]
    save(REFERENCE, world.inputs / "ref.nrrd"), save(SHIFTED, world.inputs / "odd.nrrd")
    path = world.inputs / "cases.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, _, err = world.run("batch", path, "--metrics", "overlap", "--report", "--workers", 1)
    assert status == expected and says in err and "Traceback" not in err
    assert err.count("\n") == (expected > 0)
    if expected < 2:
        assert '"DSC"' in (world.output / "summary.json").read_text("utf-8")
        pages = list(world.output.rglob("*.html"))
        # one about a case, and one about all
        assert len(pages) == 2 and {path.parent for path in pages} == {world.output / "reports"}
        with (world.output / "results.csv").open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)


# Names


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The results about structures of all names."""
    folder = tmp_path_factory.mktemp("names")
    path = compareNames(folder, list(tables.NAMES))
    assert {found.name for found in folder.iterdir()} == {path.name, "out"}
    return folder / "out"


def compareNames(folder: Path, names: list[str], *options) -> Path:
    """Compare a segmentation of squares that are called so with itself, and return its path."""
    boxes = {label: ((2, 3 * label, 0), (4, 3 * label + 1, 0)) for label in range(1, len(names) + 1)}
    array = SimpleITK.GetArrayFromImage(shapes.labelImage(boxes, (8, 3 * len(boxes) + 6, 1)))
    fields = [{"ID": f"S{n}", "Name": name, "LabelValue": n, "Layer": 0} for n, name in enumerate(names, 1)]
    path = save(shapes.segmentation([array], fields), folder / CODE_AS_FILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("SegmentMetricsLib.show.pictures.overlay.drawOverlay", lambda *given, **options: None)
        patch.setattr(parallel, "WORTH_WORKERS", math.inf)
        given = ("compare", path, path, "--output", folder / "out", "--metrics", "boundary,overlap", *options)
        assert __main__.main(list(map(str, given))) == 0
    return path


def testNamesOfStructures(named):
    """Whatever structures are called: each has a file of its own in the folder, and spreadsheets run nothing."""
    pairs = json.loads((named / "metrics.json").read_text("utf-8"))["pairs"]
    with (named / "metrics.csv").open(encoding="utf-8", newline="") as given:
        cells = [row[:2] for row in csv.reader(given)][1:]
    for (name, (file, cell)), pair, found in zip(tables.NAMES.items(), pairs, cells, strict=True):
        assert pair["reference"]["name"] == name and pair["files"]["distances"] == file and (named / file).is_file()
        assert found == [cell, cell]
    assert len({file.casefold() for file, _ in tables.NAMES.values()}) == len(tables.NAMES)


def testNothingInAReportRuns(browser, tmp_path):
    """In a real browser, with names of structures, files and protocols that are code."""
    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    protocol = tmp_path / CODE_AS_FILE.replace("b.seg.nrrd", "i.csv")
    heading = "# <img src=x onerror=ran=6>\nStructure,Measurement,Relation,Pass,Source\n"
    protocol.write_text(f"{heading}*,DSC,>=,0.9,<u onclick=ran=7>")
    names = [name for name in tables.NAMES if "<" in name or "&" in name]
    compareNames(tmp_path, names, "--report", "--protocol", protocol)
    page, problems = browser.new_page(), []
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or problems.append(asked.url))
    page.goto((tmp_path / "out" / "report.html").as_uri())
    text = page.locator("body").inner_text()
    for selector in ("img[src=x]", "[onerror]", "[onload]", "[onclick]"):
        assert page.locator(selector).count() == 0
    assert page.evaluate("typeof ran") == "undefined" and problems == []
    for name in (*names, CODE_AS_FILE, protocol.name):
        assert name in text
    page.close()


# Places


def aFile(folder: Path) -> Path:
    (folder / "file").write_text("mine")
    return folder / "file"


def aLinkToNothing(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "gone")
    return folder / "link"


def folderInTheWay(folder: Path) -> Path:
    (folder / "out" / "metrics.json").mkdir(parents=True)
    return folder / "out"


def readOnly(folder: Path) -> Path:
    (folder / "archive").mkdir(mode=0o555)
    return folder / "archive"


NO_FOLDER, NO_RESULTS = (
    "this is not a folder, so results cannot be written into it.",
    "results cannot be written into this",
)
# Where results are to go, and what is said about it.
OUTPUTS = {
    "a file": (aFile, f"file: {NO_FOLDER}"),
    "a folder below a file": (lambda folder: aFile(folder) / "deep" / "out", f"file: {NO_FOLDER}"),
    "a link to nothing": (aLinkToNothing, f"link: {NO_FOLDER}"),
    "a folder where a file must be": (folderInTheWay, "metrics.json: this is a folder"),
    "a read-only folder": (readOnly, f"archive: {NO_RESULTS} folder"),
    "a name that is no Unicode": (lambda folder: folder / "o\udcff", "not valid Unicode; choose another one."),
    "a name of 300 letters": (lambda folder: folder / ("x" * 300), "this name is too long for a folder."),
    "a folder of the system": (lambda folder: Path("/proc/results"), f"{NO_RESULTS} folder"),
}
# After so many bytes in a file the disk is full: at once, within the surfaces, and within the report.
FULL = (0, 3_000, 100_000, 1_000_000)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def arguments(world):
    return ["compare", save(REFERENCE, world.inputs / "a.nrrd"), save(SHIFTED, world.inputs / "b.nrrd")]


@pytest.mark.parametrize("kind", OUTPUTS)
def testWhereResultsCannotGo(world, arguments, kind):
    make, says = OUTPUTS[kind]
    if make is aLinkToNothing and os.name == "nt":
        pytest.skip("only administrators make links on Windows")
    world.output = make(world.folder)
    if make is readOnly and os.access(world.output, os.W_OK):
        pytest.skip("whoever runs this may write into every folder")
    if world.output.parts[1] == "proc" and not Path("/proc/self").exists():
        pytest.skip("needs a folder that refuses even the superuser")
    before = names(world.folder)
    for given in (arguments, ["demo"]) if make is not folderInTheWay else (arguments,):
        status, out, err = world.run(*given)
        assert (status, out) == (2, "") and says in err and err.count("\n") == 1
        assert names(world.folder) == before


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
@pytest.mark.parametrize("size", FULL)
@pytest.mark.parametrize("earlier", [False, True], ids=["", "after-an-earlier-run"])
def testFullDisks(world, arguments, size, earlier):
    """Wherever in the files the disk becomes full: one sentence, and what was there before is still there."""
    import resource

    pytest.importorskip("plotly", reason="plotly is not installed (extra report)")
    if earlier:
        world.output.mkdir()
        (world.output / "metrics.json").write_text("of an earlier run")
    before = contents(world.folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        status, out, err = world.run(*arguments, "--report")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"segment-metrics: {world.output}: the results cannot be written into this folder (")
    assert contents(world.folder) == before


DISK_FULL, STOPPED = OSError(28, "No space left on device"), KeyboardInterrupt()


@pytest.mark.parametrize("earlier", [False, True], ids=["", "after-an-earlier-run"])
@pytest.mark.parametrize(
    ("calls", "error"),
    [*((n, DISK_FULL) for n in range(1, 8)), (1, OSError(30, "Read-only file system")), (5, STOPPED)],
    ids=str,
)
def testADiskThatTakesNoMoreFromACertainFileOn(world, arguments, monkeypatch, calls, error, earlier):
    """At each of the three tables as it is written, and as it is moved into the folder; an old one makes room first."""
    if calls > 6 and not earlier:
        pytest.skip("there is no old file that makes room")
    if earlier:
        world.output.mkdir()
        for name in ("metrics.json", "notes.txt"):
            (world.output / name).write_text("of an earlier run")
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
    before = contents(world.folder)
    status, _, err = world.run(*arguments, "--metrics", "overlap")
    monkeypatch.undo()
    assert len(done) >= calls and contents(world.folder) == before
    if error is STOPPED:
        assert status == 130
    else:
        said = f"{world.output}: the results cannot be written into this folder ({error.strerror})."
        assert (status, err) == (2, f"segment-metrics: {said}\n")
