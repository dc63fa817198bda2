"""The number of cores that this process may use, and parallel work in threads on several of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from threading import Event, Lock
from typing import TypeVar

from .progress import Cancelled, alsoStoppable, checkpoint, stoppable

S = TypeVar("S")
T = TypeVar("T")

# Seconds between checks for cancellation while waiting for other threads.
PATIENCE = 0.02
# Whether onOneThread() is active.
_isOnOneThread = False


def availableProcessors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads for long work: one inside onOneThread() or if the environment limits VTK to one."""
    isOne = _isOnOneThread or os.environ.get("VTK_SMP_MAX_THREADS") == "1"
    return 1 if isOne else availableProcessors()


@contextmanager
def onOneThread() -> Iterator[None]:
    """Use one thread for long work inside the block, because other processes work at the same time."""
    global _isOnOneThread
    before, _isOnOneThread = _isOnOneThread, True
    try:
        yield
    finally:
        _isOnOneThread = before


def sideBySide(tasks: Iterable[Callable[[], T]], isLong: bool = True) -> list[T]:
    """Return the results of tasks in order; each runs in its own thread if several cores are available.

    isLong: whether the tasks take so long that the cost of starting threads is negligible. NumPy releases Python's lock
    while it works on arrays, so tasks do run in parallel if their arrays are long. With fewer than about 10,000
    numbers, waiting for the lock between steps takes longer than the steps. Stopping the surrounding work stops all
    tasks.
    """
    tasks = list(tasks)
    if not isLong or len(tasks) < 2 or threads() == 1:
        return [task() for task in tasks]
    first, *others = tasks
    isStopped = Event()

    def run(task: Callable[[], T]) -> T:
        try:
            with stoppable(isStopped.is_set):
                return task()
        except BaseException:
            isStopped.set()  # the results of the other tasks are no longer needed
            raise

    with ThreadPoolExecutor(len(others)) as pool:
        futures = [pool.submit(run, task) for task in others]
        try:
            with alsoStoppable(isStopped.is_set):
                result = first()
                while wait(futures, PATIENCE).not_done:
                    checkpoint()
        except BaseException as stopped:
            isStopped.set()
            # report the error that stopped the others, not their cancellation
            for error in (future.exception() for future in futures) if isinstance(stopped, Cancelled) else ():
                if error is not None and not isinstance(error, Cancelled):
                    raise error from error.__cause__
            raise
        return [result, *(future.result() for future in futures)]


def eachSideBySide(function: Callable[[S], T], values: Iterable[S], isLong: bool = True) -> list[T]:
    """Return the results of a function for each value, in order, computed in parallel if several cores are available.

    isLong: as for sideBySide().
    """
    values = list(values)
    if not isLong or len(values) < 2:
        return _each(function, values)
    count = min(threads(), len(values))
    shares = sideBySide([partial(_each, function, values[n::count]) for n in range(count)])
    return [shares[n % count][n // count] for n in range(len(values))]


def evenParts(length: int, most: int) -> list[slice]:
    """Return slices that divide a length into parts no longer than `most`, for eachSideBySide().

    They are equally long. If there are several, each thread gets the same number, so that all finish at about the same
    time.
    """
    count = -(-length // most)
    if count > 1:
        count = -(-count // threads()) * threads()
    size = -(-length // max(1, count))
    return [slice(first, min(first + size, length)) for first in range(0, length, max(1, size))]


def _each(function: Callable[[S], T], values: list[S]) -> list[T]:
    results = []
    for value in values:
        checkpoint()
        results.append(function(value))
    return results


def lockedCache(count: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the latest results of a function like lru_cache(count), but compute each of them in one thread only.

    Other threads wait for it; otherwise two of them could compute the same result twice.
    """

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        cached, lock = lru_cache(count)(function), Lock()

        @wraps(function)
        def asked(*arguments: Hashable) -> T:
            with lock:
                return cached(*arguments)

        return asked

    return decorated


@contextmanager
def allCores() -> Iterator[None]:
    """Let VTK use all cores inside the block; applications start it with one.

    Does nothing if only one thread is allowed, as every change of VTK's backend leaks some memory.
    """
    if threads() == 1:
        yield
        return
    from vtkmodules.vtkCommonCore import vtkSMPTools

    before = vtkSMPTools.GetBackend()
    vtkSMPTools.SetBackend("STDThread")
    try:
        yield
    finally:
        vtkSMPTools.SetBackend(before)
