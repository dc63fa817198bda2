"""How many of the computer's cores this process may use, and work on several of them side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from threading import Event, Lock
from typing import TypeVar

from .progress import Cancelled, alsoStoppable, checkpoint, stoppable

S, T = TypeVar("S"), TypeVar("T")

# Seconds between two looks whether the work in other threads is still wanted.
PATIENCE = 0.02
# Whether onOneThread() is in force.
_isOnOneThread = False


def availableProcessors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return how many threads long work shall have: one where the environment says so, as in worker processes."""
    isOne = _isOnOneThread or os.environ.get("VTK_SMP_MAX_THREADS") == "1"
    return 1 if isOne else availableProcessors()


@contextmanager
def onOneThread() -> Iterator[None]:
    """Let long work inside the block have one thread, as other processes work beside this one."""
    global _isOnOneThread
    before, _isOnOneThread = _isOnOneThread, True
    try:
        yield
    finally:
        _isOnOneThread = before


def sideBySide(tasks: Iterable[Callable[[], T]], isLong: bool = True) -> list[T]:
    """Return the results of tasks, in their order, each done in a thread of its own where there are cores.

    isLong: whether the tasks take so long that starting threads does not matter. Arrays of numbers are worked on
    without Python's lock, so such tasks do proceed side by side, if the arrays are long: with less than some 10,000
    numbers, waiting for the lock between two steps takes longer than the steps. Stopping the work around stops all.
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
            isStopped.set()  # what the others find is not wanted any more
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
            # of those that stopped because another one failed, nobody wants to hear
            for error in (future.exception() for future in futures) if isinstance(stopped, Cancelled) else ():
                if error is not None and not isinstance(error, Cancelled):
                    raise error from error.__cause__
            raise
        return [result, *(future.result() for future in futures)]


def eachSideBySide(function: Callable[[S], T], values: Iterable[S], isLong: bool = True) -> list[T]:
    """Return what a function returns for each of some values, several at a time where there are cores.

    isLong: as for sideBySide().
    """
    values = list(values)
    if not isLong or len(values) < 2:
        return _each(function, values)
    count = min(threads(), len(values))
    shares = sideBySide([partial(_each, function, values[n::count]) for n in range(count)])
    return [shares[n % count][n // count] for n in range(len(values))]


def evenParts(length: int, most: int) -> list[slice]:
    """Return the parts into which to cut what is that long, none longer than `most`, for eachSideBySide().

    They are equally long, and if it takes several, as many for every thread: all are done at about the same time.
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
    """Keep the latest results of a function, so many, as lru_cache does, and make each for one thread only.

    The others wait for it: two of them would each get a result of their own, and work twice.
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

    Not where the environment allows one only: every change of VTK's threads leaves some memory behind.
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
