"""Many cases on the workers of a cluster, which may be lost."""

from __future__ import annotations

from concurrent.futures import Executor, Future

import pytest
from batchruns import batch, table, write
from batchruns import study as study  # the fixture
from sayings import says

from SegmentMetricsLib.base.parallel import DIED
from SegmentMetricsLib.batch.cases import Task
from SegmentMetricsLib.batch.tasks import runAll


@pytest.fixture(scope="module")
def scheduler():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"dashboard_address": ":0", "host": "127.0.0.1", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, **options) as running:
        yield running.scheduler_address


@pytest.mark.nightly
def testACluster(study, scheduler):
    write(*(f"case {n},ref.nrrd,t{n}.nrrd" for n in range(6)), "gone,ref.nrrd,nowhere.nrrd")
    assert batch("--scheduler", scheduler) == 1
    assert [float(row["DSC"]) for row in table()[:6]] == pytest.approx([1 - n / 10 for n in range(6)])
    assert "nowhere.nrrd: " in table()[6]["Reason"]
    # what it raises for workers that are lost, as the next test has it
    assert pytest.importorskip("distributed.scheduler").KilledWorker.__name__ == "KilledWorker"


def testAWorkerThatIsLost():
    class KilledWorker(Exception):
        pass

    class Lost(Executor):
        def submit(self, function, task):
            future = Future()
            future.set_exception(KilledWorker("one") if task.case == "one" else RuntimeError("gone"))
            return future

    found = runAll([Task(case, "", "r", "t") for case in ("one", "two")], 1, Lost())
    reasons = {task.case: (one["status"], one["reason"]) for task, one in found}
    assert reasons["one"] == ("failed", DIED)
    assert reasons["two"][0] == "failed" and says(reasons["two"][1], "RuntimeError: gone")
