"""Work that is spread: who takes which item, what becomes of items that kill a process, and what cannot be had."""

from __future__ import annotations

import errno
import os
import threading
import time
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from threading import Event

import pytest
from batchruns import inProcesses as inProcesses  # the fixture
from sayings import refused

from SegmentMetricsLib.base import parallel
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.parallel import Died, spread

SECONDS = 60


@pytest.fixture
def pool(monkeypatch):
    """Threads in place of processes; notes how many each pool is asked for, and how many pools were shut down."""

    class Pool(ThreadPoolExecutor):
        asked, shut = [], 0

        def __init__(self, workers, context, prepare, arguments):
            Pool.asked.append(workers)
            parallel._work = arguments[0]
            super().__init__(workers)

        def shutdown(self, *given, **named):
            Pool.shut += 1
            super().shutdown(*given, **named)

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Pool)
    return Pool


def itself(item):
    return float(item)


def isHere() -> bool:
    return threading.current_thread() is threading.main_thread()


def testOthersDoNotWaitForThisProcess(pool):
    """The next item lies ready for them, however long this process works on its own."""
    begun = {item: Event() for item in (5, 4, 2, 1)}

    def work(item):
        begun[item].set()
        if isHere():
            assert begun[5].wait(SECONDS) and begun[4].wait(SECONDS)
        return item

    assert sorted(spread(work, [5, 4, 2, 1], itself, 2)) == [(0, 5), (1, 4), (2, 2), (3, 1)]


@pytest.mark.parametrize("takesPart", [True, False])
def testWhatKillsAProcessIsDoneAgainAloneAndOnlyOnce(pool, takesPart):
    started = []

    def work(item):
        if item == "bad" and not isHere():
            started.append(item)
            raise BrokenExecutor
        return item.upper()

    found = dict(spread(work, ["bad", *"abcde"], lambda item: len(item), 2, takesPart=takesPart))
    assert isinstance(found.pop(0), Died)
    assert found == dict(enumerate("ABCDE", 1))
    assert len(started) == 2 and 1 in pool.asked and pool.shut == len(pool.asked)


def testErrorsOfAnItemStopNoOther(pool):
    def work(item):
        if item in (1, 2):
            raise InputError(str(item))
        return item

    for given in ({"workers": 1}, {"workers": 2}, {"workers": 2, "takesPart": False}):
        found = dict(spread(work, [4, 3, 2, 1], itself, **given))
        assert (found[0], found[1], str(found[2]), str(found[3])) == (4, 3, "2", "1")


def testWhatIsNoErrorOfAnItemStopsAll(pool):
    """As a full disk does."""

    def work(item):
        if isHere():
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        list(spread(work, [2, 1], itself, 2))
    assert pool.shut == len(pool.asked) == 1


class Deadly:
    """Work that kills every other process while it is sent there."""

    def __call__(self, item):
        return -item

    def __reduce__(self):
        return os._exit, (1,)


def testAProcessThatNeverStarts(inProcesses):
    """This one does all, as it does while others start."""
    assert sorted(spread(Deadly(), [3, 2, 1], itself, 2)) == [(0, -3), (1, -2), (2, -1)]


class Refusing(ThreadPoolExecutor):
    """What there is where the system lets no process start."""

    def submit(self, *given):
        raise BlockingIOError(errno.EAGAIN, "None left")


def refuse(*given):
    raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.mark.parametrize(("make", "reason"), [(refuse, "Broken pipe"), (lambda *given: Refusing(1), "None left")])
def testNoProcessesAtAll(monkeypatch, make, reason):
    """The system may refuse processes, or what they are told by."""
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", make)
    assert list(spread(str, [3, 2, 1], itself, 2)) == [(2, "1"), (1, "2"), (0, "3")]
    with refused(reason, error=InputError):
        list(spread(str, [1], workers=1, takesPart=False))


@pytest.mark.parametrize("takesPart", [True, False])
def testProcessesAreReplaced(pool, monkeypatch, takesPart):
    """So that what libraries leak is freed, also where this process takes part."""
    monkeypatch.setattr(parallel, "RENEWED_AFTER", 3)
    found = sorted(spread(abs, range(10), workers=1 + takesPart, takesPart=takesPart))
    assert found == [(item, item) for item in range(10)]
    assert pool.shut == len(pool.asked) > 0 and (takesPart or len(pool.asked) == 4)  # 3, 3, 3 and 1
    monkeypatch.setattr(parallel, "RENEWED_AFTER_SECONDS", 0.0)
    assert len(list(spread(abs, range(4), workers=1, takesPart=False))) == 4, "although the time is always up"


def testHowManyProcesses(pool, monkeypatch):
    monkeypatch.setattr(parallel, "availableProcessors", lambda: 3)
    for cost, asked in ((1.0, []), (2.0, [2])):
        pool.asked.clear()
        assert len(list(spread(str, range(4), lambda item, cost=cost: cost))) == 4
        assert pool.asked == asked
    assert len(list(spread(str, [1, 2], lambda item: 100.0, 9))) == 2 and pool.asked[-1] == 1
    assert list(spread(str, [])) == []


def doze(item):
    """What stands for work that is not done when the run is given up."""
    time.sleep(0 if item == 0 else 60)
    return item


def testARunThatIsGivenUpStopsItsProcessesAndSaysNothing(inProcesses, monkeypatch):
    """Most items wait in this process, where they could be cancelled; the thread of the pool must not fail at them."""
    said = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    running = spread(doze, range(9), workers=1, takesPart=False)
    assert next(running) == (0, 0)
    begun = time.monotonic()
    running.close()
    assert time.monotonic() - begun < SECONDS / 2 and [error.exc_value for error in said] == []
