"""Parallel work: in threads on the cores that this process may use, and the one pool of processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from .allocation import giveBackLargeArrays
from .errors import InputError
from .progress import Cancelled, alsoStoppable, checkpoint, stoppable

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

S = TypeVar("S")
T = TypeVar("T")

DIED = "the process that worked on it died: it crashed, or the computer ran out of memory."
MOST_WORKERS = 1024
# Tasks in the hands of every worker, so that it never waits.
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


def requireWorkers(number: int | None) -> None:
    """Raise InputError for an invalid number of workers; None means as many as there are processors."""
    if number is not None and not 1 <= number <= MOST_WORKERS:
        raise InputError(f"The number of workers must be from 1 to {MOST_WORKERS}, not {number}.")


def localExecutor(workers: int, prepare: Callable | None = None, arguments: tuple = ()) -> ProcessPoolExecutor:
    """Return an executor with a number of processes on this computer, one thread each.

    prepare: a module-level function, called with the arguments in every process before it starts work. Raises
    InputError when the system does not allow it.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with starting():
        return ProcessPoolExecutor(workers, context, _startWorker, (prepare, arguments))


@contextmanager
def starting() -> Iterator[None]:
    """Raise InputError when the system refuses, inside the block, the resources to start workers."""
    try:
        yield
    except OSError as error:  # such as no more processes or files for this user, or no semaphores
        raise InputError(f"No process can be started to do the work ({error.strerror or error}).") from error


def _startWorker(prepare: Callable | None, arguments: tuple) -> None:
    """Prepare a worker process, which leaves Ctrl-C to its parent and ends when the parent does."""
    from multiprocessing import connection, parent_process

    from vtkmodules.vtkCommonCore import vtkSMPTools

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    giveBackLargeArrays()
    # there are as many workers as processors, so more threads would only compete
    os.environ["VTK_SMP_MAX_THREADS"] = "1"
    vtkSMPTools.Initialize(1)
    parent = parent_process()

    def endWithParent() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
        os._exit(1)

    if parent is not None:
        threading.Thread(target=endWithParent, daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


@contextmanager
def signalsLater(*numbers: int) -> Iterator[None]:
    """Defer the Python handlers of these signals to the end of the block.

    Extension modules that import others, such as VTK's, lose an exception that a handler raises meanwhile, or crash.
    """
    handlers = {}
    if threading.current_thread() is threading.main_thread():  # signals arrive only there
        handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    heard = []
    for number in handlers:
        signal.signal(number, lambda *given: heard.append(given))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for given in heard:
        handlers[given[0]](*given)


@contextmanager
def ignoringInterrupts() -> Iterator[None]:
    """Make processes that are started inside the block ignore Ctrl-C, even while they import.

    This process handles it at the end of the block, so that no process is left half started.
    """
    if threading.current_thread() is not threading.main_thread():  # signals do not arrive here
        yield
        return
    with signalsLater(signal.SIGINT):
        # started processes inherit the blocked signals
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
        try:
            yield
        finally:
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def stop(executor: Executor) -> None:
    """Shut down an executor without waiting for its tasks; its processes write nothing afterwards.

    Its futures must not be cancelled before. Those of local processes break; a cluster cancels its own.
    """
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(LAST_PATIENCE)


def runEach(
    tasks: Iterable[S],
    work: Callable[[S], T],
    makeExecutor: Callable[[int | None], Executor],
    window: int,
    own: Callable[[S], T] | None = None,
) -> Generator[tuple[S, T | Exception], None, None]:
    """Do work on tasks with an executor, and yield each with its result, or the error that it raised, when it is done.

    When a worker process dies, the tasks that may have killed it are run again, each alone; the result of one that
    kills its worker again is a BrokenExecutor. tasks: in the order in which they are begun: the largest first, if this
    is known, so that those left at the end are small. makeExecutor: returns an executor with the given number of
    workers, or with all available ones for None; it is called again when an executor breaks or its workers are to be
    replaced. window: number of tasks submitted at a time. own: does the work in this process, which then takes part
    with the smallest tasks and does everything if no worker can be started; what it raises is raised, unless it is an
    InputError. Otherwise InputError is raised when no worker can be started.
    """
    left = deque(tasks)
    running: dict[Future, S] = {}
    workers = _Workers(makeExecutor)
    try:
        while left or running:
            if workers.isDueForRenewal and not running:
                workers.stop()
            isBroken = False
            try:
                # nothing is queued at the end, as this process may have time for it sooner
                while left and len(running) < (window if own is None or len(left) > window else -(-window // QUEUED)):
                    if workers.isDueForRenewal:
                        break
                    future = workers.submit(work, left[0])
                    running[future] = left.popleft()
            except BrokenExecutor:
                isBroken = True
            except InputError:
                if own is None:
                    raise
                window = 0
            mine = own if left and not isBroken else None
            if mine is not None:
                task = left.pop()
                yield task, _attempt(mine, task)
            done = wait(running, None if mine is None else 0, ALL_COMPLETED if isBroken else FIRST_COMPLETED).done
            suspects = []
            for future in [future for future in running if future in done]:
                task, outcome = running.pop(future), _outcomeOf(future)
                if isinstance(outcome, BrokenExecutor):
                    suspects.append(task)
                else:
                    yield task, outcome
            if suspects or isBroken:
                suspects += running.values()
                running.clear()
                workers.stop()
                for task in suspects or [left.popleft()]:
                    try:
                        outcome = _alone(task, work, makeExecutor, isOptional=own is not None)
                    except InputError:
                        if own is None:
                            raise
                        window, outcome = 0, _attempt(own, task)
                    yield task, outcome
    finally:
        # do not cancel futures: a pool whose processes end sets them all, and its thread fails at a cancelled one
        workers.stop()


class _Workers:
    """An executor that is made when it is first needed, with its age and the number of tasks submitted to it."""

    def __init__(self, makeExecutor: Callable[[int | None], Executor]):
        self._makeExecutor = makeExecutor
        self._executor: Executor | None = None
        self._submitted, self._begun = 0, 0.0

    def submit(self, work: Callable[..., T], *task) -> Future[T]:
        """Submit work on a task. Raises BrokenExecutor when a worker has died, InputError when none can be started."""
        with ignoringInterrupts(), starting():  # submitting the first tasks also starts the processes
            if self._executor is None:
                self._executor = self._makeExecutor(None)
                self._submitted, self._begun = 0, time.monotonic()
            future = self._executor.submit(work, *task)
        self._submitted += 1
        return future

    def stop(self) -> None:
        if self._executor is not None:
            stop(self._executor)
        self._executor, self._submitted = None, 0

    @property
    def isDueForRenewal(self) -> bool:
        """Whether the workers should be replaced; never before a task was submitted."""
        isOld = time.monotonic() > self._begun + RENEWED_AFTER_SECONDS
        return self._submitted >= RENEWED_AFTER or (isOld and self._submitted > 0)


def _attempt(work: Callable[[S], T], task: S) -> T | InputError:
    """Return the result of work in this process, on one thread as others work beside it, or an InputError it raised."""
    try:
        with onOneThread():
            return work(task)
    except InputError as error:
        return error


def _alone(
    task: S, work: Callable[[S], T], makeExecutor: Callable[[int | None], Executor], isOptional: bool
) -> T | Exception:
    """Return the result of work in a process of its own, or its error: BrokenExecutor if the process died.

    isOptional: whether to raise InputError when the process does not even start.
    """
    workers = _Workers(lambda _: makeExecutor(1))
    try:
        if isOptional and isinstance(_outcomeOf(workers.submit(os.getpid)), Exception):
            raise InputError("No process can be started to do the work.")
        return _outcomeOf(workers.submit(work, task))
    except BrokenExecutor as error:
        return error
    finally:
        workers.stop()


def _outcomeOf(future: Future):
    """Return the result of a future, or its error."""
    try:
        return future.result()
    except Exception as error:
        return error
