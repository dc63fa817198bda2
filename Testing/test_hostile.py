"""Bad and odd inputs, row by row: refused in one sentence, or right; never a wrong number, never half a result."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import shapes
import SimpleITK
from hostile import Measured, Refused, images, meshes, segmentations
from hostile.builders import REFERENCE, save

from SegmentMetricsLib import __main__, commands

# What belongs to the inner life of programs.
INTERNALS = re.compile(r"0x|itk|vtk|Traceback|Exception|Errno|np\.|\.cxx|\.hxx|nan mm|array", re.IGNORECASE)


def contents(folder: Path) -> dict:
    """Return all files below a folder with their content, and its folders and links."""
    return {
        path: path.read_bytes() if path.is_file() and not path.is_symlink() else None for path in folder.rglob("*")
    }


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
        self.output.mkdir()
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
def world(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands.compare.Overlays, "write", lambda *given: None)  # test_writing looks at the pictures
    world = World(tmp_path, capsys)
    monkeypatch.chdir(tmp_path / "here")
    return world


def requireValues(pair: dict, expected: Measured) -> None:
    for key, value in expected.values.items():
        measurement = pair["measurements"][key]
        if isinstance(value, str):
            assert measurement["status"] == value and measurement["reason"], key
        else:
            assert measurement["status"] == "ok" and math.isclose(measurement["value"], value, abs_tol=1e-6), key
    assert expected.finding in " ".join(pair["findings"])


ROWS = [*images.ROWS, *meshes.ROWS, *segmentations.ROWS]


def testTheTableIsLong():
    assert len(ROWS) >= 60 and len({row.given for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.given.replace(" ", "-"))
def testWhatGoesIn(world, row):
    if row.given.startswith("a structure set"):
        pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    against = save(REFERENCE, world.inputs / "reference.nrrd") if row.against == "mask" else row.against(world.inputs)
    given = row.make(world.inputs)
    if isinstance(row.outcome, Refused):
        assert row.outcome.says in world.refusal("compare", against, given, *row.options)
        return
    (pair,) = world.pairs("compare", against, given, *row.options)
    requireValues(pair, row.outcome)
