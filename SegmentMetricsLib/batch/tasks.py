"""Execution of many cases: each is a task that any executor can run, on this computer or on a cluster."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager

from ..base.errors import InputError, installing
from ..base.texts import oneLine
from ..base.workers import DIED, localExecutor, starting, stop
from .cases import FAILED, OK, Task

# Cases queued per worker, so that it never waits.
QUEUED = 2
# The workers are replaced after this many cases or seconds, which frees memory that libraries leak: VTK 9.6 leaks 8
# bytes per point of every boundary that distances are measured to.
RENEWED_AFTER, RENEWED_AFTER_SECONDS = 500, 900.0
# Some libraries do not support several cases at once in one process, as threads of a cluster would run them.
_oneAtATime = threading.Lock()


def runCase(task: Task) -> dict:
    """Compare and judge the structures of one case, and return the outcome as plain values, strict JSON.

    Never raises for a case that cannot be run; its status is then "failed", with the reason.
    """
    started = time.perf_counter()
    outcome = _outcome(task)
    try:
        if task.problem:
            raise InputError(task.problem)
        with _oneAtATime:
            from .caseoutcomes import compared

            outcome.update(compared(task))
    except (InputError, OSError) as error:
        outcome.update(status=FAILED, reason=oneLine(str(error)))
    except MemoryError:
        outcome.update(status=FAILED, reason="This takes more memory than the computer has.")
    except Exception as error:  # one case of thousands must not stop the others; it fails and says why
        outcome.update(status=FAILED, reason=oneLine(f"This should not happen: {type(error).__name__}: {error}"))
    outcome["seconds"] = round(time.perf_counter() - started, 3)
    return outcome


def _outcome(task: Task, reason: str = "") -> dict:
    return {
        "case": task.case,
        "method": task.method,
        "status": FAILED if reason else OK,
        "reason": oneLine(reason),
        "fingerprint": task.fingerprint,
        "reference": task.reference,
        "test": task.test,
        "pairs": [],
        "unmatched": {"reference": [], "test": []},
        "missing": [],
    }


def runAll(
    tasks: Sequence[Task], makeExecutor: Callable[[int | None], Executor], window: int
) -> Iterator[tuple[Task, dict]]:
    """Run tasks on an executor and yield each with its outcome as it is completed.

    When a worker process dies, the tasks that may have killed it are run again, each alone; one that kills its worker
    again fails. makeExecutor: returns an executor with the given number of workers, or with all available ones for
    None; it is called again when an executor breaks. window: number of tasks submitted at a time. Raises InputError
    when no worker can be started.
    """
    if not tasks:
        return
    pending = deque(tasks)
    running: dict[Future, Task] = {}
    workers = _Workers(makeExecutor)
    try:
        while pending or running:
            if workers.areWorn and not running:
                workers.replace()
            isBroken = not _handOver(pending, running, workers, window)
            suspects = []
            for future in _ended(running, isBroken):
                task = running.pop(future)
                outcome = _outcomeOf(future, task)
                if outcome is None:
                    suspects.append(task)
                else:
                    yield task, outcome
            if suspects or isBroken:
                suspects += running.values()
                running.clear()
                workers.stop()
                for task in suspects:
                    yield task, _alone(task, makeExecutor)
                workers.start()
    finally:
        # do not cancel futures: a pool whose processes end sets them all, and its thread fails at a cancelled one
        workers.stop()


class _Workers:
    """An executor, with its age and the number of tasks that were submitted to it."""

    def __init__(self, makeExecutor: Callable[[int | None], Executor]):
        self._makeExecutor = makeExecutor
        self.start()

    def start(self) -> None:
        self._executor = self._makeExecutor(None)
        self._submitted, self._begun = 0, time.monotonic()

    def stop(self) -> None:
        stop(self._executor)

    def replace(self) -> None:
        self.stop()
        self.start()

    @property
    def areWorn(self) -> bool:
        """Whether the workers should be replaced; never before a task was submitted."""
        isOld = time.monotonic() > self._begun + RENEWED_AFTER_SECONDS
        return self._submitted >= RENEWED_AFTER or (isOld and self._submitted > 0)

    def run(self, task: Task) -> Future:
        """Submit a case. Raises BrokenExecutor when a worker has died, InputError when none can be started."""
        with starting():  # submitting the first cases also starts the processes
            future = self._executor.submit(runCase, task)
        self._submitted += 1
        return future


def _handOver(pending: deque[Task], running: dict[Future, Task], workers: _Workers, window: int) -> bool:
    """Submit pending tasks until a window of them is running, and return whether the workers accepted them."""
    try:
        while pending and len(running) < window and not workers.areWorn:
            future = workers.run(pending[0])
            running[future] = pending.popleft()
    except BrokenExecutor:
        return False
    return True


def _ended(running: Mapping[Future, Task], isBroken: bool) -> list[Future]:
    """Wait until a task has ended, or all if the executor is broken, and return the ended ones in order."""
    done = wait(running).done if isBroken else wait(running, return_when=FIRST_COMPLETED).done
    return [future for future in running if future in done]


def _outcomeOf(future: Future, task: Task) -> dict | None:
    """Return the outcome of a task that has ended, None when a worker died, possibly because of this task."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:  # for example, what a cluster raises when it lost a worker
        return _outcome(task, _problem(error))


def _alone(task: Task, makeExecutor: Callable[[int | None], Executor]) -> dict:
    executor = makeExecutor(1)
    try:
        with starting():
            future = executor.submit(runCase, task)
        return future.result()
    except BrokenExecutor:
        return _outcome(task, DIED)
    finally:
        stop(executor)


def _problem(error: Exception) -> str:
    """Return a message for a task whose execution raised an error."""
    if type(error).__name__ == "KilledWorker":
        return DIED
    return f"The worker could not run it: {type(error).__name__}: {error}"


@contextmanager
def cluster(address: str) -> Iterator[tuple[Callable[[int | None], Executor], int]]:
    """Yield a factory of executors on a Dask cluster, and the number of cases to submit at a time.

    address: of the scheduler. Raises InputError when Dask is not installed or there is no scheduler.
    """
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError as error:
        raise InputError(f"A cluster needs Dask: {installing('cluster')}.") from error
    try:
        # a client would try an invalid address for a long time, and report errors when the program ends
        resolve_address(address)
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"There is no Dask scheduler at {address}; an address is like tcp://HOST:8786.") from error
    with client:
        # a cluster may grow, so submit some more
        yield lambda _: client.get_executor(pure=False), max(QUEUED * sum(client.nthreads().values()), 16)


@contextmanager
def processes(workers: int) -> Iterator[tuple[Callable[[int | None], Executor], int]]:
    """Yield a factory of executors of processes on this computer, and the number of cases to submit at a time."""
    yield lambda number: localExecutor(number or workers), QUEUED * workers
