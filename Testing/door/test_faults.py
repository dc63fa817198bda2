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

from SegmentMetricsLib import __main__, readStructures


@pytest.mark.parametrize(
    ("package", "arguments", "needs", "extra"),
    [
        ("pydicom", ("compare", "any.dcm", "any.dcm"), "pydicom and highdicom", "dicom"),
        ("highdicom", ("compare", "any.dcm", "any.dcm", "--sr", "out.dcm"), "pydicom and highdicom", "dicom"),
        ("distributed", ("batch", "cases.csv", "-o", "out", "--scheduler", "tcp://127.0.0.1:1"), "Dask", "cluster"),
        ("matplotlib", ("batch", "cases.csv", "-o", "out", "--plots"), "matplotlib and pandas", "plots"),
    ],
)
def testWhatIsMissingIsNamedWithItsExtra(tmp_path, monkeypatch, capsys, package, arguments, needs, extra):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.chdir(tmp_path)
    Path("any.dcm").write_bytes(bytes(128) + b"DICM")
    Path("cases.csv").write_text("case,reference,test\na,any.dcm,any.dcm\n")
    assert __main__.main(arguments) == 2 and not Path("out").exists()
    said = capsys.readouterr().err
    assert f'need {needs}: pip install "segment-metrics[{extra}]".' in said.replace("needs", "need")
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\n{extra} = [" in project.partition("[project.optional-dependencies]")[2]


def command(folder: Path) -> list[str]:
    """Write a box into a folder and return a command that compares it with itself."""
    path = str(folder / "box.nrrd")
    SimpleITK.WriteImage(shapes.box((2, 2, 2), (5, 6, 7)), path)
    return ["compare", path, path, "--metrics", "overlap", "--output", str(folder / "out")]


def testCommandsRunWhereSignalsDoNotArrive(tmp_path):
    handler = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(__main__.main, command(tmp_path)).result() == 0
    assert (tmp_path / "out" / "metrics.json").is_file()
    assert signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (MemoryError(), 2, "The input is too large for the memory of this computer."),
        (OSError(28, "No space left on device"), 2, "OUTPUT: No space left on device"),
        (OSError(28, "No space left on device", "x.csv"), 2, "x.csv: No space left on device"),
        (OSError("The disk is gone."), 2, "The disk is gone."),
    ],
)
def testWhatStopsACommandIsSaidInOneLine(tmp_path, monkeypatch, capsys, error, status, says):
    def stopped(options):
        raise error

    monkeypatch.setattr("SegmentMetricsLib.commands.compare.run", stopped)
    assert __main__.main(command(tmp_path)) == status
    assert capsys.readouterr().err == f"segment-metrics: {says.replace('OUTPUT', str(tmp_path / 'out'))}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def testASignalWhileSlicerLoadsStopsTheCommand(tmp_path, monkeypatch, capsys, number, status):
    """Extension modules that import others say that these cannot be loaded, whatever a handler raised meanwhile."""
    (tmp_path / "slicer.py").write_text(
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
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        stopped = __main__.main([*command(tmp_path), "--surface", "displayed"])
    except SystemExit as ended:
        stopped = ended.code
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped == status
    assert "slicer" not in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("function", ["fill", "run"])
def testCtrlCStopsACommandAtAnyTime(tmp_path, monkeypatch, capsys, function):
    """Some senders send the signal twice: the second one does not stop what tidies up."""
    tidied = []

    def stopped(*given):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            tidied.append(True)

    monkeypatch.setattr(f"SegmentMetricsLib.commands.compare.{function}", stopped)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert __main__.main(command(tmp_path)) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert tidied and capsys.readouterr().err == "segment-metrics: interrupted\n"


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
