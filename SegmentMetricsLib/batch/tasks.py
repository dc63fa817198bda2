"""Execution of many cases: each is a task that any executor can run, on this computer or on a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import closing, contextmanager

from ..base.errors import InputError, installing
from ..base.parallel import DIED, QUEUED, localExecutor, runEach
from ..base.texts import oneLine
from .cases import FAILED, OK, Task

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
    tasks: Sequence[Task], makeExecutor: Callable[[int | None], Executor] | None, window: int
) -> Generator[tuple[Task, dict], None, None]:
    """Run tasks on an executor and yield each with its outcome as it is completed.

    When a worker process dies, the tasks that may have killed it are run again, each alone; one that kills its worker
    again fails. makeExecutor: returns an executor with the given number of workers, or with all available ones for
    None; it is called again when an executor breaks. Without it, all tasks are run in this process. window: number of
    tasks submitted at a time. Raises InputError when no worker can be started.
    """
    if makeExecutor is None:
        yield from ((task, runCase(task)) for task in tasks)
        return
    with closing(runEach(tasks, runCase, makeExecutor, window)) as outcomes:
        for task, outcome in outcomes:
            yield task, _outcome(task, _problem(outcome)) if isinstance(outcome, Exception) else outcome


def _problem(error: Exception) -> str:
    """Return a message for a task whose execution raised an error, such as what a cluster raises for a lost worker."""
    if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
        return DIED
    return f"The worker could not run it: {type(error).__name__}: {error}"


@contextmanager
def cluster(address: str) -> Iterator[tuple[Callable[[int | None], Executor], int]]:
    """Yield a factory of executors on a Dask cluster, and the number of cases to submit at a time.

    address: of the scheduler. Raises InputError when Dask is not installed or there is no scheduler.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
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
