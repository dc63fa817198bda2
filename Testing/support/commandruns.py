"""Runs of the command line for tests, in this process and as a program, and what they write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import shapes
import SimpleITK
from imagefiles import save

from SegmentMetricsLib import __main__

ROOT = Path(__file__).resolve().parents[2]
BOX, SHIFTED = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))

# Labels of two label maps that have three in common, with the corners of their boxes.
LABELS = {1: ((2, 2, 2), (9, 9, 9)), 2: ((12, 2, 2), (14, 5, 9)), 3: ((3, 12, 3), (10, 15, 6)), 5: ((13, 13, 2),) * 2}
OTHERS = {1: ((3, 2, 2), (9, 9, 8)), 2: ((12, 3, 2), (14, 6, 9)), 3: ((3, 12, 2), (10, 16, 6)), 4: ((14, 14, 14),) * 2}


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """A function that runs a command in a fresh folder and returns status, standard output and standard error.

    It draws no pictures, which take most of the time, unless these are wanted.
    """
    monkeypatch.chdir(tmp_path)

    def runMain(*arguments, isDrawn=False):
        given = [str(argument) for argument in arguments]
        if not isDrawn and given[:1] in (["compare"], ["observers"]) and {"-o", "--output"} & set(given):
            given.insert(1, "--numbers-only")
        capfd.readouterr()
        try:
            status = __main__.main(given)
        except SystemExit as end:
            status = end.code
        return status, *capfd.readouterr()

    return runMain


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two label maps with three structures in both, and one in each alone, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, labels in (("ref.nrrd", LABELS), ("test.nrrd", OTHERS)):
        SimpleITK.WriteImage(shapes.labelImage(labels), name, True)
    return "ref.nrrd", "test.nrrd"


@pytest.fixture
def pair(tmp_path):
    return save(BOX, tmp_path / "ref.nrrd"), save(SHIFTED, tmp_path / "test.nrrd")


def everything(but="out") -> dict:
    """Return all files of the current folder with their content, and its folders and links, but for one folder."""
    found = [path for path in sorted(Path().rglob("*")) if path.parts[:1] != (but,)]
    return {path: path.read_bytes() if path.is_file() and not path.is_symlink() else None for path in found}


def refusal(run, *arguments) -> str:
    """Return the one line with which a command is refused, with and without an output folder; nothing is written."""
    for isFirst in (True, False)[Path("out").exists() :]:
        if not isFirst:
            Path("out").mkdir(exist_ok=True)
            Path("out/metrics.json").write_text("of an earlier run")
        before = everything(but="")
        status, out, err = run(*arguments, "--output", "out")
        assert (status, out) == (2, "")
        assert err.startswith("segment-metrics: ") and err.endswith("\n") and len(err.splitlines()) == 1
        assert everything(but="") == before
    return err[len("segment-metrics: ") : -1]


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def metrics(folder) -> dict:
    return json.loads((Path(folder) / "metrics.json").read_text(encoding="utf-8"))


def valuesOf(folder) -> dict:
    (only,) = metrics(folder)["pairs"]
    return {key: measurement["value"] for key, measurement in only["measurements"].items()}


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    line = [sys.executable, "-m", "SegmentMetricsLib", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=120, check=False, **options)
