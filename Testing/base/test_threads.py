"""Work side by side: its results, its errors, and that it can be stopped."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base import parallel, progress
from SegmentMetricsLib.metrics import pair
from SegmentMetricsLib.metrics.bands import lookup as bandlookup

SECONDS = 20


@pytest.fixture(autouse=True)
def twoCores(monkeypatch):
    monkeypatch.delenv("VTK_SMP_MAX_THREADS", raising=False)
    monkeypatch.setattr(parallel, "availableProcessors", lambda: 2)


def testResultsKeepTheirOrder():
    # the first one waits for the second: they do run side by side
    isSecondDone = threading.Event()

    def first():
        assert isSecondDone.wait(SECONDS)
        return "first", threading.get_ident()

    def second():
        isSecondDone.set()
        return "second", threading.get_ident()

    (one, thread), (other, otherThread) = parallel.sideBySide([first, second])
    assert (one, other) == ("first", "second")
    assert thread != otherThread


def testAnErrorStopsBeforeTheNextValue():
    done = []

    def work(value):
        time.sleep(0.02)
        if value == 0:
            raise ZeroDivisionError
        done.append(value)

    with pytest.raises(ZeroDivisionError):
        parallel.eachSideBySide(work, range(200))
    assert len(done) < 50


def testOneThreadWhereTheEnvironmentSaysSo(monkeypatch):
    monkeypatch.setenv("VTK_SMP_MAX_THREADS", "1")
    assert set(parallel.eachSideBySide(lambda _: threading.get_ident(), range(4))) == {threading.get_ident()}


def testStoppingReachesAllThreads():
    wereStopped = []

    def endless(name):
        try:
            while True:
                progress.checkpoint()
                time.sleep(0.001)
        except progress.Cancelled:
            wereStopped.append(name)
            raise

    # only the thread of the work is asked whether somebody stopped it
    asking = set()

    def isStopped():
        asking.add(threading.get_ident())
        return time.monotonic() > end

    end = time.monotonic() + 0.1
    with progress.stoppable(isStopped), pytest.raises(progress.Cancelled):
        parallel.sideBySide([lambda: endless("first"), lambda: endless("second")])
    assert sorted(wereStopped) == ["first", "second"]
    assert asking == {threading.get_ident()}


def testThreadsDoNotChangeNumbers(monkeypatch):
    monkeypatch.setattr(pair, "FEW_TO_SHARE", 0)
    # cells of bands in many parts
    monkeypatch.setattr(bandlookup, "CELLS", 1000)
    masks = [shapes.imageOf(shapes.blob(seed, (24, 25, 26), 0.4, 2.0), (1.0, 1.2, 2.5)) for seed in (1, 2)]
    settings = Settings(families=("boundary", "signed", "overlap"))
    side = compare(*masks, settings)
    monkeypatch.setenv("VTK_SMP_MAX_THREADS", "1")
    monkeypatch.setattr(bandlookup, "CELLS", 1 << 20)
    alone = compare(*masks, settings)
    for key, measurement in alone.measurements.items():
        assert np.array_equal(measurement.value, side[key].value, equal_nan=True), key
        assert (measurement.lower, measurement.upper) == (side[key].lower, side[key].upper), key


def untilStopped():
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        progress.checkpoint()
        time.sleep(0.01)


@pytest.mark.parametrize("other", [lambda: None, untilStopped])
@pytest.mark.parametrize("isFirst", [True, False])
def testAnErrorKeepsItsCause(other, isFirst):
    def fail():
        try:
            raise KeyError("deep")
        except KeyError as error:
            raise ValueError("told") from error

    with pytest.raises(ValueError, match="told") as caught:
        parallel.sideBySide([fail, other] if isFirst else [other, fail])
    assert isinstance(caught.value.__cause__, KeyError)
