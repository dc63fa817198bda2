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
from sayings import says

from SegmentMetricsLib import __main__

HELP = "segment-metrics compare --help"


def testAFileThatCannotBeOpened(run, pair, monkeypatch):
    """As without the right to, which root does not need."""
    pair[0].chmod(0)

    def refuse(*given, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    status, out, err = run("compare", *pair, "--output", "out")
    assert (status, out, Path("out").exists()) == (2, "", False)
    assert says(err, f"segment-metrics: {pair[0]}: ", "(Permission denied)").count("\n") == 1


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
    status, out, err = run(*arguments)
    assert (status, out, everything()) == (2, "", {})
    says(err, f" {which}: ", f"segment-metrics {arguments[0]} --help)\n")


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        (["--structure", "Liver"], ["'Liver'", "Label 1"]),
        (["--structure", "Labl 1"], ["Label 1?"]),
        (["--pair", "Label 1=Labl 1"], ["Label 1?"]),
        (["--percentile", "0"], ["percentile", "100", " 0."]),
        (["--metrics", "boundary,beauty"], ["'beauty'", "boundary, signed, overlap,"]),
        (["--metrics", ","], ["boundary, signed, overlap,"]),
        (["--metrics", "overlap,HD95x"], ["HD95?"]),
        (["--metrics", "Hausdorff"], ["HD?"]),
        (["--convention", "monia"], ["MONAI?"]),
        (["--preset", "MeshMetrics-0.1", "--surface", "displayed"], ["MeshMetrics-0.1", "surface"]),
        (["--set", "hazardreech=3"], ["'hazardreech'", "--help-settings", "hazardReach?"]),
        (["--set", "hazardReach"], ["NAME=VALUE", "'hazardReach'"]),
        (["--set", "hazard-reach=far"], ["hazardReach", "'far'"]),
        (["--set", "split_contours=maybe"], ["splitContours", "yes", "'maybe'"]),
        (["--workers", "0"], ["1024", " 0."]),
        (["--workers", "2000"], ["1024", " 2000."]),
        (["--set", "threshold=2"], ["threshold", " 1, ", " 2."]),
        # the option that is wrong is named, rather than one that is missing because of it, and the command's own help
        (["--structures", "X"], [HELP]),
        (["--Percentiles", "95"], ["--percentile", HELP]),
        (["-t", "3"], ["-t 3", HELP]),
        (["--surface", "displaid"], ["'displaid'", HELP]),
        (["--preset", "meshmetrics-1.4"], ["MeshMetrics-1.4.1", HELP]),
    ],
)
def testChoicesThatCannotBeUsed(run, pair, choices, names):
    says(refusal(run, "compare", *pair, *choices), *names)


@pytest.mark.parametrize("option", ["--protocol", "--label-names", "--settings", "cases"])
def testAFolderInPlaceOfAFile(run, pair, option):
    Path("folder").mkdir()
    arguments = ("batch", "folder") if option == "cases" else ("compare", *pair, option, "folder")
    says(refusal(run, *arguments), "folder: ", "metrics.json" if option == "--settings" else "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device is always full")
def testStandardOutputIsFull(pair, monkeypatch, capsys):
    with suppress(OSError), Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert __main__.main(["compare", *map(str, pair), "--metrics", "overlap"]) == 2
    assert capsys.readouterr().err == "segment-metrics: No space left on device\n"


def testCommandsThatWereMeant(run):
    for arguments in (["compre", "a", "b", "--structures", "X"], ["Compare"]):
        says(run(*arguments)[2], "compare? (")
    says(run("--verison")[2], "--version")
    other = ["conventions", "a", "b", "--output", "c", "--tool"]
    says(run(*other, "MedPy", "d")[2], ": d (", "segment-metrics conventions --help)")


def testWhatLooksLikeAnOptionAndIsNone(run, pair):
    """As before: beginnings of options, texts with dashes and spaces, and what comes after two dashes."""
    given = ["--out", "out", "--numbers", "--metrics=overlap", "--pair", "--my gland=", "--", *pair]
    says(run("compare", *given)[2], "reference", "'--my gland'")
    says(run("compare", "--output", "out", "--", pair[0], "--odd.nrrd")[2], "metrics: --odd.nrrd: ")


def testOutputFoldersThatRefuse(run, pair, monkeypatch):
    """As on a file system that is full or cannot be written, whoever asks."""

    def full(*given, **options):
        raise OSError(28, "No space left on device", "/somewhere/.segment-metrics-x")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    says(refusal(run, "compare", *pair), "out: ", "(No space left on device)")
    monkeypatch.setattr("os.access", lambda *given: False)
    says(refusal(run, "compare", *pair), "out: ")


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
