"""What fails, and what is said then: missing packages and terminals, memory, disks, headers, cases, samples."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import __main__, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.parallel import DIED, spread
from SegmentMetricsLib.batch import tasks
from SegmentMetricsLib.batch.cases import Task
from SegmentMetricsLib.io.dicom import opening, segmentation
from SegmentMetricsLib.io.formats import mha, nrrd
from SegmentMetricsLib.io.messages import quiet
from SegmentMetricsLib.mrml import headless


@pytest.mark.parametrize(
    ("package", "work", "needs", "extra"),
    [
        ("pydicom", lambda: opening.read(Path("any.dcm")), "pydicom and highdicom", "dicom"),
        ("highdicom", lambda: segmentation.readSegmentation(Path("any.dcm")), "highdicom", "dicom"),
        ("distributed", lambda: tasks.cluster("tcp://127.0.0.1:1").__enter__(), "Dask", "cluster"),
    ],
)
def testWhatIsMissingIsNamedWithItsExtra(monkeypatch, package, work, needs, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as raised:
        work()
    assert str(raised.value).endswith(f'needs {needs}: pip install "segment-metrics[{extra}]".')
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\n{extra} = [" in project.partition("[project.optional-dependencies]")[2]


def testWhatAClusterSaysAboutAWorkerThatWasKilled(monkeypatch):
    monkeypatch.setattr(tasks, "spread", spread)

    class KilledWorker(Exception):
        pass

    class Lost(Executor):
        def submit(self, function, task):
            future = Future()
            future.set_exception(KilledWorker("10.0.0.1") if task.case == "one" else RuntimeError("gone"))
            return future

    given = [Task(case, "", "r", "t") for case in ("one", "two")]
    reasons = {task.case: (one["status"], one["reason"]) for task, one in tasks.runAll(given, 1, Lost())}
    assert reasons["one"] == ("failed", DIED)
    assert reasons["two"] == ("failed", "The worker could not run it: RuntimeError: gone")


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
        (KeyboardInterrupt(), 130, "interrupted"),
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
    monkeypatch.setattr("SegmentMetricsLib.commands.compare.run", lambda options: len(headless.whyUnavailable()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        stopped = __main__.main(command(tmp_path))
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
        with quiet():
            assert not SimpleITK.ProcessObject.GetGlobalWarningDisplay()
    assert structure.mask.size == 4 * 5 * 6
    assert SimpleITK.ProcessObject.GetGlobalWarningDisplay() == shown


def testASampleThatCannotBeLoadedLeavesNothingInTheScene(scene, monkeypatch, tmp_path):
    from SegmentMetricsLib.mrml import sample

    (tmp_path / "observer1.seg.nrrd").write_text("no segmentation")
    monkeypatch.setattr(sample, "FOLDER", tmp_path)
    before = {node.GetID() for node in scene.GetNodes()}
    with quiet(), pytest.raises(InputError, match=r"The sample could not be loaded\."):
        sample.loadSample(scene=scene)
    assert {node.GetID() for node in scene.GetNodes()} == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DimSize = 4 5", "more or fewer sizes than axes"),
        ("DimSize = 4 5 0", "at least one voxel along each axis"),
        ("ElementSpacing = 1 1", "a place or a voxel size that is not a number"),
        ("TransformMatrix = 1 0 0 0 1 0 0 0", "a place or a voxel size that is not a number"),
    ],
)
def testMetaImagesWhoseHeadersAreTooShort(tmp_path, change, says):
    header = "NDims = 3\nOffset = 0 0 0\nDimSize = 4 5 6\nElementSpacing = 1 1 2\n"
    (tmp_path / "a.mha").write_text(f"{header}{change}\nElementDataFile = LOCAL\n")
    with pytest.raises(ValueError, match=says):
        mha.inspect(tmp_path / "a.mha", False)


def testVoxelsAsTextInAFileOfTheirOwn(tmp_path):
    path = tmp_path / "a.nhdr"
    path.write_text("NRRD0004\nencoding: ascii\ndata file: a.txt\nsizes: 4 5 6\nspacings: 1 1 2\n\n")
    with pytest.raises(InputError, match="written as text in a file of its own; save it in binary"):
        nrrd.inspect(path, True)
