"""Worker processes on this computer, for large amounts of work."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from .allocation import giveBackLargeArrays
from .errors import InputError

DIED = "the process that worked on it died: it crashed, or the memory of the computer was not enough."
MOST_WORKERS = 1024
# Seconds to wait for a worker to end after it was terminated.
PATIENCE = 5.0


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
        process.join(PATIENCE)
