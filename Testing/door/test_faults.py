"""What fails, and what is said then: missing packages and terminals, memory, disks, headers, cases, samples."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import shapes
import SimpleITK
from commandruns import pair as pair  # the fixtures
from commandruns import run as run
from sayings import says

from SegmentMetricsLib import readStructures


@pytest.mark.parametrize(
    ("package", "arguments", "needs", "extra"),
    [
        ("pydicom", ("compare", "any.dcm", "any.dcm"), ("pydicom", "highdicom"), "dicom"),
        ("highdicom", ("compare", "any.dcm", "any.dcm", "--sr", "out.dcm"), ("pydicom", "highdicom"), "dicom"),
        ("distributed", ("batch", "cases.csv", "-o", "out", "--scheduler", "tcp://127.0.0.1:1"), ("Dask",), "cluster"),
        ("matplotlib", ("batch", "cases.csv", "-o", "out", "--plots"), ("matplotlib", "pandas"), "plots"),
    ],
)
def testWhatIsMissingIsNamedWithItsExtra(run, monkeypatch, package, arguments, needs, extra):
    monkeypatch.setitem(sys.modules, package, None)
    Path("any.dcm").write_bytes(bytes(128) + b"DICM")
    Path("cases.csv").write_text("case,reference,test\na,any.dcm,any.dcm\n")
    status, _, said = run(*arguments)
    assert status == 2 and not Path("out").exists()
    says(said, *needs, f'pip install "segment-metrics[{extra}]"')
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\n{extra} = [" in project.partition("[project.optional-dependencies]")[2]


@pytest.fixture
def compared(run, pair):
    """A function that compares two boxes where Ctrl-C interrupts; a test runner in the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda *options: run("compare", *pair, "--metrics", "overlap", "--output", "out", *options)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def testCommandsRunWhereSignalsDoNotArrive(compared):
    handler = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(compared).result()[0] == 0
    assert Path("out/metrics.json").is_file() and signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "segment-metrics: "),
        (OSError(28, "No space left on device"), "segment-metrics: out: No space left on device\n"),
        (OSError(28, "No space left on device", "x.csv"), "segment-metrics: x.csv: No space left on device\n"),
        (OSError("The disk is gone."), "segment-metrics: The disk is gone.\n"),
    ],
)
def testWhatStopsACommandIsSaidInOneLine(compared, monkeypatch, error, told):
    def stopped(*given, **options):
        raise error

    monkeypatch.setattr("unicodedata.category", stopped)
    status, out, err = compared()
    assert (status, out, err.count("\n")) == (2, "", 1) and not Path("out").exists()
    says(err, told)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def testASignalWhileSlicerLoadsStopsTheCommand(compared, tmp_path, monkeypatch, number, status):
    """Extension modules that import others say that these cannot be loaded, whatever a handler raised meanwhile."""
    Path("slicer.py").write_text(
        "import signal\n"
        "try:\n"
        f"    signal.raise_signal({int(number)})\n"
        "except BaseException as error:\n"
        "    raise ImportError('Failed to load another') from error\n"
    )
    # what is imported instead is forgotten afterwards, too
    monkeypatch.setitem(sys.modules, "slicer", None)
    monkeypatch.delitem(sys.modules, "slicer")
    monkeypatch.syspath_prepend(tmp_path)
    stopped, _, err = compared("--surface", "displayed")
    assert stopped == status and "slicer" not in err


@pytest.mark.parametrize("function", ["argparse.ArgumentParser.parse_known_args", "json.dumps"])
def testCtrlCStopsACommandAtAnyTime(compared, monkeypatch, function):
    """Some senders send the signal twice: the second one does not stop what tidies up."""
    tidied = []

    def stopped(*given, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            tidied.append(True)

    monkeypatch.setattr(function, stopped)
    status, out, err = compared()
    assert (status, out, says(err, "segment-metrics: ").count("\n")) == (130, "", 1) and tidied


def testFilesAreReadWithoutATerminal(tmp_path, monkeypatch):
    path = tmp_path / "box.nrrd"
    SimpleITK.WriteImage(shapes.box((2, 2, 2), (5, 6, 7)), str(path))

    def closed(descriptor):
        raise OSError(9, "Bad file descriptor")

    shown = SimpleITK.ProcessObject.GetGlobalWarningDisplay()
    with monkeypatch.context() as patch:
        patch.setattr(os, "dup", closed)
        patch.setattr(sys, "stderr", None)
        (structure,) = readStructures(path)
    assert structure.mask.size == 4 * 5 * 6
    assert SimpleITK.ProcessObject.GetGlobalWarningDisplay() == shown
