"""Parallel work: in threads on the cores that this process may use, and the one pool of processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial, wraps
from threading import Event, Lock
from typing import Any, TypeVar, cast

from .allocation import giveBackLargeArrays
from .errors import InputError
from .progress import Cancelled, checkpoint, stoppable

S = TypeVar("S")
T = TypeVar("T")

DIED = "the process that worked on it died: it crashed, or the computer ran out of memory."
# Seconds of work above which several processes are worth starting: each takes one or two to import what it needs.
WORTH_WORKERS = 5.0
MOST_WORKERS = 1024
# Tasks queued for each worker, so that it never waits.
QUEUED = 2
# Workers are replaced after this many tasks or seconds, which frees memory that libraries leak: VTK 9.6 leaks 8 bytes
# per point of every boundary that distances are measured to. With max_tasks_per_child, Python 3.11 can wait forever for
# processes that have ended, if tasks are queued.
RENEWED_AFTER, RENEWED_AFTER_SECONDS = 500, 900.0
# Seconds between checks for cancellation while waiting for other threads, and until a process that was told to end is
# no longer waited for.
PATIENCE, LAST_PATIENCE = 0.02, 5.0
# Whether onOneThread() is active.
_isOnOneThread = False
# Its isCrowded: whether this thread works on one of so many tasks that they keep all processors busy.
_here = threading.local()


class Died(InputError):
    """The process that worked on something died."""


def availableProcessors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads for long work.

    One inside onOneThread(), in a task of sideBySide() whose others keep all processors busy, and if the environment
    limits VTK to one.
    """
    isOne = _isOnOneThread or getattr(_here, "isCrowded", False) or os.environ.get("VTK_SMP_MAX_THREADS") == "1"
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
    """Return the results of tasks in order; they run in several threads if several cores are available.

    isLong: whether the tasks take so long that the cost of starting threads is negligible. NumPy releases Python's lock
    while it works on arrays, so tasks do run in parallel if their arrays are long. With fewer than about 10,000
    numbers, waiting for the lock between steps takes longer than the steps. Stopping the surrounding work stops all
    tasks, and so does an error in one of them.
    """
    tasks, isStopped = list(tasks), Event()

    def begin(task: Callable[[], T]) -> T:
        checkpoint()
        return task()

    if not isLong or len(tasks) < 2 or threads() == 1:
        return list(map(begin, tasks))

    # threads of threads would only wait for each other
    isCrowded = len(tasks) >= threads()

    def run(task: Callable[[], T]) -> T:
        _here.isCrowded = isCrowded
        try:
            with stoppable(isStopped.is_set):
                return begin(task)
        except BaseException:
            isStopped.set()  # the results of the other tasks are no longer needed
            raise

    with ThreadPoolExecutor(min(threads(), len(tasks))) as pool:
        futures = [pool.submit(run, task) for task in tasks]
        try:
            while wait(futures, PATIENCE).not_done:
                checkpoint()
        finally:
            isStopped.set()
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:  # the one that stopped the others, not their cancellation
        raise min(errors, key=lambda error: isinstance(error, Cancelled))
    return [future.result() for future in futures]


def eachSideBySide(function: Callable[[S], T], values: Iterable[S], isLong: bool = True) -> list[T]:
    """Return the results of a function for each value, in order, as sideBySide() computes them."""
    return sideBySide([partial(function, value) for value in values], isLong)


def lockedCache(count: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the latest results of a function like lru_cache(count), but compute each of them in one thread only.

    Other threads wait for it; otherwise two of them could compute the same result twice.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        cached, lock = lru_cache(count)(function), Lock()

        @wraps(function)
        def call(*arguments: Hashable) -> T:
            with lock:
                return cached(*arguments)

        return call

    return decorate


@contextmanager
def allCores() -> Iterator[None]:
    """Let VTK use all cores inside the block; applications start it with one.

    Does nothing if only one thread is allowed, as every change of VTK's backend leaks some memory, nor outside of
    the main thread: the backend is that of the whole process, which may be drawing.
    """
    if threads() == 1 or threading.current_thread() is not threading.main_thread():
        yield
        return
    from vtkmodules.vtkCommonCore import vtkSMPTools

    before = vtkSMPTools.GetBackend()
    vtkSMPTools.SetBackend("STDThread")
    try:
        yield
    finally:
        vtkSMPTools.SetBackend(before)


def requireWorkers(number: int | None) -> None:
    """Raise InputError for an invalid number of workers; None means as many as there are processors."""
    if number is not None and not 1 <= number <= MOST_WORKERS:
        raise InputError(f"The number of workers must be from 1 to {MOST_WORKERS}, not {number}.")


# What a worker process does with a task; _startWorker() sets it.
_work: Callable[[Any], Any]


def _startWorker(work: Callable[[Any], Any]) -> None:
    """Prepare a worker process, which leaves Ctrl-C to its parent and ends when the parent does."""
    global _work
    _work = work
    from multiprocessing import connection, parent_process

    from vtkmodules.vtkCommonCore import vtkSMPTools

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    giveBackLargeArrays()
    # there are as many workers as processors, so more threads would only compete
    os.environ["VTK_SMP_MAX_THREADS"] = "1"
    vtkSMPTools.Initialize(1)
    parent = cast(Any, parent_process())

    def endWithParent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=endWithParent, daemon=True).start()


def _doWork(item: Any) -> Any:
    return _work(item)


@contextmanager
def signalsLater(*numbers: int) -> Iterator[None]:
    """Defer the Python handlers of these signals to the end of the block.

    Extension modules that import others, such as VTK's, lose an exception that a handler raises meanwhile, or crash.
    """
    handlers = {}
    if threading.current_thread() is threading.main_thread():  # signals arrive only there
        handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    heard: list[int] = []
    for number in handlers:
        signal.signal(number, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in heard:
        handlers[number](number, None)


def spread(
    work: Callable[[S], T],
    items: Sequence[S],
    cost: Callable[[S], float] = lambda item: 0.0,
    workers: int | None = None,
    *,
    takesPart: bool = True,
    executor: Executor | None = None,
) -> Generator[tuple[int, T | Exception], None, None]:
    """Do work on items in several processes, and yield the number of each, from 0, with its result when it is done.

    An error that the work raises is its result; in this process only an InputError, and others are raised. When a
    process dies, the items that may have killed it are done again, each in a process of its own; the result of one that
    kills it again is a Died. Raises InputError if no process can be started, unless this one takes part.

    work: sent to every process once. cost: about how many seconds an item takes; those that take longest are begun
    first. workers: number of processes; None is one per processor if all items together cost more than WORTH_WORKERS,
    else one. takesPart: whether this process does some of the work, the smallest items first. It is then one of the
    workers, and does everything if no other can be started. If not, it only waits for the others. executor: runs the
    work instead of processes on this computer, with that number of workers.
    """
    if workers is None:
        workers = availableProcessors() if sum(map(cost, items)) > WORTH_WORKERS else 1
    workers = min(workers, len(items)) if executor is None else workers
    takesPart = takesPart and executor is None
    if takesPart and workers < 2:
        for number, item in enumerate(items):
            yield number, _attempt(work, item, isAlone=True)
        return
    left = deque(sorted(range(len(items)), key=lambda number: -cost(items[number])))
    others = workers - takesPart
    window = QUEUED * others
    running: dict[Future, int] = {}
    pool = _Pool(work, others, executor)
    try:
        while left or running:
            if pool.isOld and not running:
                pool.stop()
            isBroken = False
            # nothing is queued at the end, as this process may have time for it sooner
            most = window if not takesPart or len(left) > window else min(window, others)
            try:
                while left and len(running) < most and not pool.isOld:
                    running[pool.submit(items[left[0]])] = left[0]
                    left.popleft()
            except BrokenExecutor:
                isBroken = True
            except InputError:
                if not takesPart:
                    raise
                window = 0
            isMine = takesPart and bool(left) and not isBroken
            if isMine:
                number = left.pop()
                yield number, _attempt(work, items[number])
            done = wait(running, 0 if isMine else None, ALL_COMPLETED if isBroken else FIRST_COMPLETED).done
            suspects = []
            for future in [future for future in running if future in done]:
                number = running.pop(future)
                outcome: Any = future.exception() or future.result()
                if isinstance(outcome, BrokenExecutor):
                    suspects.append(number)
                else:
                    yield number, outcome
            if suspects or isBroken:
                suspects += running.values()
                running.clear()
                pool.stop()
                for number in suspects or [left.popleft()]:
                    outcome, hasStarted = _alone(work, items[number], executor, takesPart)
                    window = window if hasStarted else 0
                    yield number, outcome
    finally:
        # do not cancel futures: a pool whose processes end sets them all, and its thread fails at a cancelled one
        pool.stop()


class _Pool:
    """Processes that do work, started when they are first needed; or another executor, None for none."""

    def __init__(self, work: Callable[[Any], Any], workers: int, executor: Executor | None):
        self._work, self._workers, self._given = work, workers, executor
        self._executor: Executor | None = None
        self._submitted, self._begun = 0, 0.0

    def submit(self, item: Any, instead: Callable[[], Any] | None = None) -> Future:
        """Submit an item, or a function instead. Raises BrokenExecutor if a process died, InputError if none starts."""
        if self._given is not None:
            return self._given.submit(self._work, item)
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # submitting the first items also starts the processes, none of which is to be left half started
        with signalsLater(signal.SIGINT):
            # they inherit the blocked signal, and so ignore Ctrl-C even while they import
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if os.name == "posix" else None
            try:
                if self._executor is None:
                    context = multiprocessing.get_context("spawn")
                    self._executor = ProcessPoolExecutor(self._workers, context, _startWorker, (self._work,))
                    self._submitted, self._begun = 0, time.monotonic()
                future = self._executor.submit(instead) if instead else self._executor.submit(_doWork, item)
            except OSError as error:  # such as no more processes or files for this user, or no semaphores
                raise InputError(f"No process can be started to do the work ({error.strerror or error}).") from error
            finally:
                if mask is not None:
                    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._submitted += 1
        return future

    def stop(self) -> None:
        """Stop the processes without waiting for what they do; they write nothing afterwards."""
        if self._executor is None:
            return
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        self._executor.shutdown(wait=False)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(LAST_PATIENCE)
        self._executor, self._submitted = None, 0

    @property
    def isOld(self) -> bool:
        """Whether the processes should be replaced; never before an item was submitted."""
        isOld = time.monotonic() > self._begun + RENEWED_AFTER_SECONDS
        return self._submitted >= RENEWED_AFTER or (isOld and self._submitted > 0)


def _alone(work: Callable[[S], T], item: S, executor: Executor | None, takesPart: bool) -> tuple[T | Exception, bool]:
    """Return the result of work in a process of its own, or its error, a Died if it died; and whether it has started.

    takesPart: whether this process does the work if no other starts; else InputError is raised.
    """
    pool, outcome = _Pool(work, 1, executor), cast(Any, None)
    try:
        if takesPart and pool.submit(None, os.getpid).exception():
            return _attempt(work, item), False
        future = pool.submit(item)
        outcome = future.exception() or future.result()
    except BrokenExecutor as error:
        outcome = error
    except InputError:
        if not takesPart:
            raise
        return _attempt(work, item), False
    finally:
        pool.stop()
    return Died(DIED) if isinstance(outcome, BrokenExecutor) else outcome, True


def _attempt(work: Callable[[S], T], item: S, isAlone: bool = False) -> T | InputError:
    """Return the result of work in this process, or an InputError it raised; on one thread if others work beside it."""
    try:
        with nullcontext() if isAlone else onOneThread():
            return work(item)
    except InputError as error:
        return error
