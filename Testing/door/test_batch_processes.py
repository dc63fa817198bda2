"""Many cases on processes: runs and workers that are killed, and schedulers that are not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from batchruns import batch, records, table, write
from batchruns import inProcesses as inProcesses  # the fixtures
from batchruns import study as study
from commandruns import ROOT
from sayings import says

HAS_PROC = Path("/proc/self/task").is_dir()
COMMAND = [sys.executable, "-m", "SegmentMetricsLib", "batch", "data/cases.csv", "--output", "out", "--workers", "2"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def testProcesses(study, inProcesses):
    write(*(f"case {n},ref.nrrd,t{n}.nrrd" for n in range(3)))
    assert batch("--workers", 1, "--metrics", "overlap") == 0
    assert [float(row["DSC"]) for row in table()] == pytest.approx([1, 0.9, 0.8])


def isRunning(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.smoke
@pytest.mark.nightly
@pytest.mark.skipif(not HAS_PROC, reason="processes are looked at as Linux shows them")
def testKilledAndRunAgain(study):
    """First a worker, whose cases are run again, then all: nothing is lost or doubled, and nobody is left behind."""
    cases = [f"case {n:02}" for n in range(40)]
    write(*(f"{case},ref.nrrd,t{n % 6}.nrrd" for n, case in enumerate(cases)))
    process = subprocess.Popen(COMMAND, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results, end = Path("out/results.jsonl"), time.monotonic() + 120

    def waitFor(number: int) -> None:
        while not results.exists() or results.read_bytes().count(b"\n") < number:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)

    waitFor(3)
    children = [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    workers = [c for c in children if "multiprocessing.spawn" in Path(f"/proc/{c}/cmdline").read_text()]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    waitFor(8)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while any(map(isRunning, children)):
        assert time.monotonic() < end
        time.sleep(0.05)
    whole = [line for line in results.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    assert 8 <= len(whole) < 40
    assert subprocess.run(COMMAND, env=ENVIRONMENT, stdout=subprocess.DEVNULL, timeout=300, check=False).returncode == 0
    assert results.read_bytes().startswith(b"".join(whole))
    assert sorted(record["case"] for record in records()) == cases == [row["Case"] for row in table()]


def testNoScheduler(study, capsys):
    pytest.importorskip("distributed", reason="Dask is not installed")
    write("a,ref.nrrd,t1.nrrd")
    # the last two would be tried for long, were they taken for addresses
    for address in ("nonsense://here", "here", "tcp://name.invalid:8786"):
        assert batch("--scheduler", address) == 2
        assert says(capsys.readouterr().err, f" {address}; ").count("\n") == 1 and not Path("out").exists()
