"""The command compare with the numbers alone: the same ones, without what surfaces and pictures need."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import BOX, ROOT, command, contents, metrics
from commandruns import files as files  # the fixtures
from commandruns import run as run
from sayings import says

# A stand-in for Slicer's classes that notes who imports it.
NOTING = "open('imported', 'a').close(); raise ImportError('they are not there')"


def testTheNumbersAreTheSame(run, files):
    measured = ("--metrics", "boundary,slices,hazard", "--critical", "Label 2")
    given = ("compare", *files, *measured, "--protocol", "rules.csv")
    Path("rules.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.5\n")
    status, out, err = run(*given, "-o", "out", isDrawn=True)
    assert (status, err) == (0, "")
    assert "distances_Label_1.vtp" in contents("out")
    expected = {name: content for name, content in contents("out").items() if not name.endswith((".vtp", ".png"))}
    # in place of the others, which go
    assert run(*given, "--numbers-only", "-o", "out") == (0, out, "")
    kept = contents("out")
    document, whole = (json.loads(found.pop("metrics.json")) for found in (kept, expected))
    # worst places are looked for only where something shows them
    for pair in whole["pairs"]:
        del pair["worstPlaces"], pair["files"]["distances"], pair["files"]["overlay"]
    assert (kept, document) == (expected, whole)
    assert {kind for pair in document["pairs"] for kind in pair["files"]} == {"slices"}


def testAReportIsTheSame(run, files):
    """It was asked for by name, and draws its distance maps itself, without Slicer."""
    pages = []
    for more in ((), ("--numbers-only",)):
        assert run("compare", *files, "--structure=2", "--report", *more, "-o", "out", isDrawn=True)[0] == 0
        assert metrics("out")["report"] == "report.html" and "slices_Label_2.csv" in contents("out")
        pages.append(re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "now", Path("out/report.html").read_text("utf-8")))
    assert pages[0] == pages[1] and 'id="map0"' in pages[1]
    assert "distances_Label_2.vtp" not in contents("out")


def testWithoutAFolderTheSameIsPrinted(run, files, tmp_path):
    given = ("compare", *files, "--metrics", "all", "--critical", "Label 2")
    status, out, err = run(*given, "--numbers-only", "-o", "out")
    before = sorted(tmp_path.rglob("*"))
    found = run(*given)
    assert (found[0], found[2]) == (status, err) == (0, "") and out.splitlines()[-1].endswith(f"out{os.sep}")
    assert found[1].splitlines()[:-1] == out.splitlines()[:-1] and "--output DIR" in found[1].splitlines()[-1]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 2])
def testWithoutAFolderSlicerIsNotImported(files, tmp_path, workers):
    (tmp_path / "slicer.py").write_text(NOTING)
    folder = tmp_path / "read only"
    folder.mkdir(mode=0o500)
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    paths = [tmp_path / name for name in files]
    done = command("compare", *paths, "--workers", workers, "--metrics", "all", cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "") and "--output DIR" in done.stdout.splitlines()[-1]
    assert not (tmp_path / "imported").exists() and not list(folder.iterdir())


def testWithoutAFolderPairsThatFailAreTold(run):
    planar = shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), 4))
    names = [f"structure {number:02}" for number in range(15)]
    for which, second in (("a", BOX), ("b", planar)):
        Path(which).mkdir()
        for name, image in (("good", BOX), *((name, second) for name in names)):
            SimpleITK.WriteImage(image, f"{which}/{name}.nrrd")
    status, out, err = run("compare", "a", "b", "--metrics", "overlap")
    assert status == 1 and out.startswith(" ") and "good" in out.splitlines()[0]
    says(err.splitlines()[-1], " 3 ", "metrics.json", "--output DIR")
    status, out, err = run("compare", "a", "b", "--report-patient=Doe")
    assert (status, out) == (2, "") and says(err, "--report-patient", "--output DIR").count("\n") == 1
