"""The command line: the one line that it says when it cannot; interruption, and machines without pictures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from commandruns import ROOT, everything, refusal, valuesOf
from commandruns import pair as pair  # the fixtures
from commandruns import run as run

from SegmentMetricsLib import __main__

HELP = "(see segment-metrics compare --help)"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is open to root")
def testFilesThatCannotBeOpened(run, pair):
    pair[1].chmod(0)
    assert "the file cannot be opened (Permission denied)" in refusal(run, "compare", *pair)


@pytest.mark.parametrize(
    ("arguments", "which"),
    [
        (("compare", "", "b.nrrd", "--output", "out"), "REFERENCE"),
        (("compare", "a.nrrd", "b.nrrd", "--output", ""), "-o/--output"),
        (("batch", "", "--output", "out"), "CASES.csv"),
    ],
)
def testAVariableOfAScriptThatIsNotSet(run, arguments, which):
    """An empty path is the current folder to the system: nobody means to write there, or to read all that is there."""
    said = f"segment-metrics: argument {which}: the name is empty (see segment-metrics {arguments[0]} --help)\n"
    assert run(*arguments) == (2, "", said)
    assert everything() == {}


@pytest.mark.parametrize(
    ("choices", "parts"),
    [
        (["--structure", "Liver"], ["There is no structure named 'Liver'", "Label 1"]),
        (["--structure", "Labl 1"], ["Label 1?"]),
        (["--pair", "Label 1=Labl 1"], ["Label 1?"]),
        (["--percentile", "0"], ["percentile must be greater than 0 and at most 100", "not 0"]),
        (["--metrics", "boundary,beauty"], ["no metric family 'beauty'", "choose from boundary, signed, overlap,"]),
        (["--metrics", ","], ["No metric family is chosen"]),
        (["--metrics", "overlap,HD95x"], ["HD95?"]),
        (["--metrics", "Hausdorff"], ["HD?"]),
        (["--convention", "monia"], ["MONAI?"]),
        (["--preset", "MeshMetrics-0.1", "--surface", "displayed"], ["MeshMetrics-0.1 fixes the surface"]),
        (["--set", "hazardreech=3"], ["no setting 'hazardreech'; --help-settings lists", "hazardReach?"]),
        (["--set", "hazardReach"], ["A setting is given as NAME=VALUE, not as 'hazardReach'."]),
        (["--set", "hazard-reach=far"], ["The setting hazardReach: 'far' is not a number."]),
        (["--set", "split_contours=maybe"], ["The setting splitContours: it is yes or no, not 'maybe'."]),
        (["--workers", "0"], ["The number of workers must be from 1 to 1024"]),
        (["--workers", "2000"], ["The number of workers must be from 1 to 1024"]),
        (["--set", "threshold=2"], ["threshold must be greater than 0 and at most 1, not 2"]),
        # the option that is wrong is named, rather than one that is missing because of it, and the command's own help
        (["--structures", "X"], ["--structure?", HELP]),
        (["--Percentiles", "95"], ["--percentile?", HELP]),
        (["-t", "3"], ["unrecognized arguments: -t 3", HELP]),
        (["--surface", "displaid"], ["'displaid'", HELP]),
        (["--preset", "meshmetrics-1.4"], ["MeshMetrics-1.4.1?", HELP]),
    ],
)
def testChoicesThatCannotBeUsed(run, pair, choices, parts):
    said = refusal(run, "compare", *pair, *choices)
    for part in parts:
        assert part in said


@pytest.mark.parametrize("option", ["--protocol", "--label-names", "--settings", "cases"])
def testAFolderInPlaceOfAFile(run, pair, option):
    Path("folder").mkdir()
    arguments = ("batch", "folder") if option == "cases" else ("compare", *pair, option, "folder")
    meant = "; settings are in the metrics.json of a comparison." if option == "--settings" else ", not a file."
    assert refusal(run, *arguments) == f"folder: this is a folder{meant}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device is always full")
def testStandardOutputIsFull(pair, monkeypatch, capsys):
    with suppress(OSError), Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert __main__.main(["compare", *map(str, pair), "--metrics", "overlap"]) == 2
    assert capsys.readouterr().err == "segment-metrics: No space left on device\n"


def testCommandsThatWereMeant(run):
    for arguments in (["compre", "a", "b", "--structures", "X"], ["Compare"]):
        _, _, err = run(*arguments)
        assert "compare? (" in err, err
    assert "--version?" in run("--verison")[2]
    other = ["conventions", "a", "b", "--output", "c", "--tool"]
    assert "unrecognized arguments: d (see segment-metrics conventions --help)" in run(*other, "MedPy", "d")[2]


def testWhatLooksLikeAnOptionAndIsNone(run, pair):
    """As before: beginnings of options, texts with dashes and spaces, and what comes after two dashes."""
    given = ["--out", "out", "--numbers", "--metrics=overlap", "--pair", "--my gland=", "--", *pair]
    assert "The reference has no structure named '--my gland'" in run("compare", *given)[2]
    assert "metrics: --odd.nrrd: " in run("compare", "--output", "out", "--", pair[0], "--odd.nrrd")[2]


def testOutputFoldersThatRefuse(run, pair, monkeypatch):
    """As on a file system that is full or cannot be written, whoever asks."""

    def full(*given, **options):
        raise OSError(28, "No space left on device", "/somewhere/.segment-metrics-x")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    said = "results cannot be written into this folder"
    assert refusal(run, "compare", *pair).endswith(f"{said} (No space left on device).")
    monkeypatch.setattr("os.access", lambda *given: False)
    assert refusal(run, "compare", *pair).endswith(f"{said}.")


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def testTermination(run, pair, monkeypatch):
    """As a batch system ends it: nothing is left, and the handler that was there before is back."""
    stopping = lambda *given, **options: signal.raise_signal(signal.SIGTERM)  # noqa: E731
    monkeypatch.setattr("json.dumps", stopping)
    before, handler = sorted(Path().rglob("*")), signal.getsignal(signal.SIGTERM)
    assert run("compare", *pair, "--output", "out") == (143, "", "")
    assert sorted(Path().rglob("*")) == before
    assert signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def testBrokenPipe(pair, tmp_path):
    """Who has seen enough of a table has its results all the same."""
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "SegmentMetricsLib", "compare", *map(str, pair), "--output", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, env=environment, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")
    assert valuesOf(tmp_path / "out")["DSC"] == pytest.approx(0.8)
