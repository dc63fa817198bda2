"""Execution of many cases: each is a task that any executor can run, on this computer or on a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager

from ..base.errors import InputError, installing
from ..base.parallel import DIED, Died, spread
from ..base.texts import oneLine
from .cases import FAILED, OK, Task

# Workers for which cases are submitted to a cluster, even if it has fewer.
FEWEST_OF_CLUSTER = 8
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
            from .caseoutcomes import outcomeOf

            outcome.update(outcomeOf(task))
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
    tasks: Sequence[Task], workers: int, executor: Executor | None = None, *, isHere: bool = False
) -> Generator[tuple[Task, dict], None, None]:
    """Run tasks and yield each with its outcome as it is completed.

    A task whose process dies, and dies again when it is run alone, fails. workers: number of processes. executor: runs
    the tasks instead of processes on this computer, with that number of workers. isHere: whether a single worker is
    this process itself. Raises InputError when no process can be started.
    """
    with closing(
        spread(runCase, tasks, workers=workers, takesPart=isHere and workers == 1, executor=executor)
    ) as found:
        for number, outcome in found:
            task = tasks[number]
            yield task, _outcome(task, _problem(outcome)) if isinstance(outcome, Exception) else outcome


def _problem(error: Exception) -> str:
    """Return a message for a task whose execution raised an error, such as what a cluster raises for a lost worker."""
    if isinstance(error, Died) or type(error).__name__ == "KilledWorker":
        return DIED
    return f"The worker could not run it: {type(error).__name__}: {error}"


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield an executor on a Dask cluster, and the number of its workers.

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
        # a cluster may grow
        yield client.get_executor(pure=False), max(sum(client.nthreads().values()), FEWEST_OF_CLUSTER)
