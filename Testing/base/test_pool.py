"""The pool: who takes which task, what becomes of tasks that kill a process, and workers that cannot be had."""

from __future__ import annotations

import errno
import os
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest

from SegmentMetricsLib.base import parallel
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.base.parallel import runEach

SECONDS = 60


class Pool:
    """Makes executors of threads, and notes for how many workers each is asked, and whether it was shut down."""

    def __init__(self, workers: int = 1):
        self.workers, self.asked, self.shut = workers, [], 0

    def __call__(self, number):
        pool = self

        class Noted(ThreadPoolExecutor):
            def shutdown(self, *given, **named):
                pool.shut += 1
                super().shutdown(*given, **named)

        self.asked.append(number)
        return Noted(number or self.workers)


def killed(task):
    """What stands for work that is done in a process, where one task is more than the memory."""
    if task == "bad":
        raise BrokenExecutor
    return task.upper()


def testThisProcessTakesTheSmallTasks():
    """It has done all the small ones while the large one is in work, and results come as they are finished."""
    isBegun, isOwnDone = Event(), Event()

    def work(task):
        isBegun.set()
        assert isOwnDone.wait(SECONDS)
        return f"other {task}"

    def own(task):
        assert isBegun.wait(SECONDS)
        if task == 3:
            isOwnDone.set()
        return f"own {task}"

    found = list(runEach([5, 4, 3, 2, 1], work, Pool(), 2, own))
    assert found[:3] == [(task, f"own {task}") for task in (1, 2, 3)]
    assert sorted(found[3:]) == [(4, "other 4"), (5, "other 5")]


def testNothingIsQueuedForOthersAtTheEnd():
    """Of two equally large tasks each process does one."""
    isBegun = Event()

    def own(task):
        assert isBegun.wait(SECONDS)
        return f"own {task}"

    def work(task):
        isBegun.set()
        return f"other {task}"

    assert sorted(runEach([2, 1], work, Pool(), 2, own)) == [(1, "own 1"), (2, "other 2")]


def testOtherProcessesDoNotWaitForThisOne():
    """The next task lies ready for them, however long this process works on its own."""
    begun = {task: Event() for task in (5, 4, 2, 1)}

    def work(task):
        begun[task].set()
        return task

    def own(task):
        assert begun[5].wait(SECONDS) and begun[4].wait(SECONDS)
        return task

    found = list(runEach([5, 4, 2, 1], work, Pool(), 2, own))
    assert sorted(found) == [(1, 1), (2, 2), (4, 4), (5, 5)]


@pytest.mark.parametrize("own", [None, killed])
def testWhatKillsAProcessIsRunAgainAloneAndOnlyOnce(own):
    tasks, pool, started = ["bad", *"abcde"], Pool(), []

    def work(task):
        started.append(task)
        return killed(task)

    found = dict(runEach(tasks, work, pool, 2, own))
    assert isinstance(found.pop("bad"), BrokenExecutor)
    assert found == {name: name.upper() for name in "abcde"}
    assert started.count("bad") == 2 and pool.asked.count(1) >= 1 and pool.shut == len(pool.asked)


def testErrorsOfATaskStopNoOther():
    def work(task):
        if task in (1, 2):
            raise InputError(str(task))
        return task

    for own in (None, work):
        found = dict(runEach([4, 3, 2, 1], work, Pool(), 2, own))
        assert found[3] == 3 and found[4] == 4 and [str(found[task]) for task in (1, 2)] == ["1", "2"]


def testWhatIsNoErrorOfATaskStopsAll():
    """As a full disk does."""

    def own(task):
        raise OSError(errno.ENOSPC, "No space left on device")

    pool = Pool()
    with pytest.raises(OSError, match="No space left"):
        list(runEach([2, 1], str, pool, 2, own))
    assert pool.shut == len(pool.asked) == 1


def testAProcessThatNeverStarts():
    """This one does all, as it does while others start."""
    makeExecutor = partial(makeKilled, os._exit, (1,))
    assert sorted(runEach([3, 2, 1], abs, makeExecutor, 2, lambda task: -task)) == [(1, -1), (2, -2), (3, -3)]


def makeKilled(prepare, arguments, number):
    return parallel.localExecutor(number or 1, prepare, arguments)


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

    def makeExecutor(number):
        return parallel.localExecutor(1)

    assert list(runEach([3, 2, 1], abs, makeExecutor, 2, lambda task: -task)) == [(1, -1), (2, -2), (3, -3)]
    with pytest.raises(InputError, match=reason):
        list(runEach([1], abs, makeExecutor, 2))


def testWorkersAreReplaced(monkeypatch):
    """So that what libraries leak is freed, also where this process takes part."""
    monkeypatch.setattr(parallel, "RENEWED_AFTER", 3)
    pool = Pool()
    assert sorted(runEach(range(10), abs, pool, 2)) == [(task, task) for task in range(10)]
    assert pool.asked == [None] * 4 and pool.shut == 4  # 3, 3, 3 and 1
    pool = Pool()
    assert sorted(runEach(range(10), abs, pool, 2, abs)) == [(task, task) for task in range(10)]
    assert pool.shut == len(pool.asked) > 0


def testARunThatIsGivenUpStopsItsWorkers():
    pool = Pool()
    running = runEach("abc", str.upper, pool, 1)
    assert next(running) == ("a", "A")
    running.close()
    assert pool.shut == 1
    assert list(runEach([], abs, lambda number: pytest.fail("nothing to run"), 1)) == []
