"""A short run of the fuzz command, and what it would report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import fuzz
import pytest
from wholefiles import KINDS

WHOLE = {"structures": 2, "size": 100.0, "remarks": []}
COMMAND = Path(fuzz.__file__)
CHILD = """import json, os, sys, time
for line in sys.stdin:
    if 'odd1.' in line: os.abort()
    if 'odd2.' in line: time.sleep(60)
    print(json.dumps({'structures': 1, 'size': 1.0, 'remarks': []}), flush=True)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def testDamagedFilesAreRefusedOrRead(tmp_path, kind):
    if kind in ("structureset", "segmentation"):
        pytest.importorskip("highdicom", reason="highdicom is not installed")
    assert list(map(str, fuzz.fuzz(kind, 40, 7, tmp_path))) == []


def testTheSameSeedMakesTheSameFiles():
    made = {n: fuzz.damaged(bytes(range(200)), Random(f"x {n}"), [b"another"])[0] for n in range(50)}
    assert made[1] == fuzz.damaged(bytes(range(200)), Random("x 1"), [b"another"])[0] and len({*made.values()}) > 40


def testWhatCountsAsAProblem():
    for found, damage, what in (
        ("hang", "append", "hang"),
        ("crash (status -11)", "append", "crash"),
        ({"error": "KeyError: 1"}, "append", "internal error"),
        ({"refused": "/a/x.obj: itk::ERROR"}, "append", "message"),
        ({"refused": "elsewhere: damaged"}, "append", "message"),
        ({"refused": "/a/x.obj: two\nlines"}, "append", "message"),
        ({"refused": "/a/x.obj: the file is damaged."}, "cutOff", None),
        ({"structures": 1, "size": 100.0, "remarks": []}, "cutOff", "silent loss"),
        ({"structures": 2, "size": 90.0, "remarks": []}, "cutOffTheEnd", "silent loss"),
        ({"structures": 2, "size": 90.0, "remarks": ["3 open edges"]}, "cutOff", None),
        ({"structures": 2, "size": 100.0, "remarks": []}, "cutOff", None),
    ):
        problem = fuzz.problemOf(WHOLE, found, damage, Path("/a/x.obj"))
        assert (problem and problem[0]) == what


@pytest.mark.nightly
def testACrashAndAHangAreReported(tmp_path, monkeypatch):
    """A child that dies at one file, and one that does not answer, are replaced for the next file."""
    (tmp_path / "child.py").write_text(CHILD)
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **more: real([command[0], tmp_path / "child.py"], **more))
    monkeypatch.setattr(fuzz, "LONGEST", 5.0)
    found = list(fuzz.fuzz("obj", 4, 0, tmp_path / "files"))
    assert [(problem.number, problem.what) for problem in found] == [(1, "crash"), (2, "hang")]


@pytest.mark.nightly
def testTheCommand():
    done = subprocess.run([sys.executable, COMMAND, "--kind", "ply", "--count", "10"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("ply: ") and done.stdout.count("\n") == 1
