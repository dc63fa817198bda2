"""Pairs in several processes: the same results, errors and interruptions as in one, and no more memory than needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from batchruns import inProcesses as inProcesses  # the fixtures
from commandruns import ROOT, contents, metrics
from commandruns import files as files
from sayings import says

from SegmentMetricsLib import __main__
from SegmentMetricsLib.base import parallel
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case import casework
from SegmentMetricsLib.commands import comparing
from SegmentMetricsLib.show import writing

pytestmark = pytest.mark.usefixtures("inProcesses")


@pytest.mark.nightly
def testProcessesWriteTheSameFiles(files, capfd):
    said, more = [], ("--metrics", "all", "--critical", "Label 2")
    for workers in (1, 3):  # this process, and two others that take the largest pairs
        output = f"out{workers}"
        assert __main__.main(["compare", *files, "--output", output, "--workers", str(workers), *more]) == 0
        said.append(capfd.readouterr().out.replace(output, "out"))
    assert said[0] == said[1] and "test: Label 4" in said[0]
    one, two = contents("out1"), contents("out3")
    assert len(one) > 6 and one.keys() == two.keys()
    # a picture may depend on the process that draws it
    assert [name for name in one if one[name] != two[name] and not name.endswith(".png")] == []


def testAFileThatCannotBeMade(files, capfd, monkeypatch):
    """The others are compared; nothing is left of it but the reason."""
    write = writing.writeSurfaces

    def failing(result, path):
        write(result, path)
        if result.reference.name == "Label 2":
            raise InputError("It is too odd.")

    monkeypatch.setattr(writing, "writeSurfaces", failing)
    assert __main__.main(["compare", *files, "--output", "out", "--workers", "1"]) == 1
    said = capfd.readouterr()
    assert said.err == "segment-metrics: Label 2: It is too odd.\n" and said.out.endswith(f" out{os.sep}\n")
    content = metrics("out")
    assert [pair["reference"]["name"] for pair in content["pairs"]] == ["Label 1", "Label 3"]
    assert content["failures"] == {"Label 2": "It is too odd."}
    assert Path("out/distances_Label_1.vtp").exists() and not Path("out/distances_Label_2.vtp").exists()


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are looked at as Linux shows them")
def testInterruptionEndsTheWorkers(files):
    code = (  # a test runner in the background may have told its children to ignore the signal
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from SegmentMetricsLib.__main__ import main; from SegmentMetricsLib.case import casework; casework.SMALL = 0;"
        "sys.exit(main(['compare', 'ref.nrrd', 'test.nrrd', '--output', 'out', '--workers', '2']))"
    )
    before = sorted(Path().iterdir())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes)
    end = time.monotonic() + 120

    def children() -> list[str]:
        return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    while len(children()) < 2:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    workers = children()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "") and says(err).count("\n") == 1
    assert sorted(Path().iterdir()) == before
    while any(Path("/proc", worker).exists() for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.05)


KILLING = "SEGMENT_METRICS_TEST_KILLS"


def killing(work, pack):
    """What stands for a worker's comparison of pairs: it is killed by one of them, as for want of memory."""
    if any(os.environ[KILLING] == work.names[number] for number, _ in pack):
        os._exit(9)
    return work(pack)


@pytest.mark.nightly
@pytest.mark.parametrize("killer", ["Label_1", "Label_3"])
def testAPairThatKillsItsProcessFailsAlone(files, capfd, monkeypatch, killer):
    """The others are compared, also those that are measured together with it; it is named, and nobody waits forever."""
    monkeypatch.setenv(KILLING, killer)

    def apart(work, items, cost, workers):
        # this process takes part, and would compare the pair itself
        return parallel.spread(partial(killing, work), items, cost, workers, takesPart=False)

    monkeypatch.setattr(comparing, "spread", apart)
    assert __main__.main(["compare", *files, "-o", "out", "--workers", "2", "--numbers-only"]) == 1
    name = killer.replace("_", " ")
    assert capfd.readouterr().err == f"segment-metrics: {name} and {name}: {parallel.DIED}\n"
    document = json.loads(Path("out/metrics.json").read_text())
    assert document["failures"] == {name: parallel.DIED} and len(document["pairs"]) == 2


def testSurfacesDoNotOutliveTheirPair(files):
    """Meshes are many times larger than masks: those of all structures together must not be kept."""
    import weakref

    from SegmentMetricsLib.geometry import meshing

    made = []
    original = meshing.fromMask

    def watched(mask):
        surface = original(mask)
        made.append(weakref.ref(surface))
        assert sum(one() is not None for one in made) <= 2
        return surface

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meshing, "fromMask", watched)
        patch.setattr(casework, "SMALL", 0)  # what is measured together is small
        assert __main__.main(["compare", *files, "--output", "out", "--workers", "1", "--metrics", "boundary"]) == 0
    assert len(made) == 6
