"""Worker processes of this computer, for work of which there is much."""

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
# Seconds that a worker has to end before it is left to itself.
PATIENCE = 5.0


def requireWorkers(number: int | None) -> None:
    """Raise InputError for a number of workers that cannot be; None stands for as many as there are processors."""
    if number is not None and not 1 <= number <= MOST_WORKERS:
        raise InputError(f"The number of workers must be from 1 to {MOST_WORKERS}, not {number}.")


def localExecutor(workers: int, prepare: Callable | None = None, arguments: tuple = ()) -> ProcessPoolExecutor:
    """Return an executor of so many processes of this computer, one thread each.

    prepare: a function of a module, called with the arguments in every process before it works. Raises InputError when
    the system does not allow it.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    with starting():
        return ProcessPoolExecutor(workers, context, _startWorker, (prepare, arguments))


@contextmanager
def starting() -> Iterator[None]:
    """Raise InputError where the system refuses, inside the block, what it takes to start workers."""
    try:
        yield
    except OSError as error:  # no more processes or files for this user, say, or no semaphores
        raise InputError(f"No process can be started to do the work ({error.strerror or error}).") from error


def _startWorker(prepare: Callable | None, arguments: tuple) -> None:
    """Prepare a worker process: Ctrl-C is for whoever started it, and it ends when that one does."""
    from multiprocessing import connection, parent_process

    from vtkmodules.vtkCommonCore import vtkSMPTools

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    giveBackLargeArrays()
    # there are as many workers as processors, so more threads only get in each other's way
    os.environ["VTK_SMP_MAX_THREADS"] = "1"
    vtkSMPTools.Initialize(1)
    parent = parent_process()

    def endWithParent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    if parent is not None:
        threading.Thread(target=endWithParent, daemon=True).start()
    if prepare is not None:
        prepare(*arguments)


@contextmanager
def signalsLater(*numbers: int) -> Iterator[None]:
    """Hear these signals at the end of the block, not inside of it, as far as Python handles them here.

    An extension module that imports others, such as VTK's, loses what a handler raises meanwhile, or crashes.
    """
    handlers = {}
    if threading.current_thread() is threading.main_thread():  # elsewhere signals do not arrive
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
    """Start processes inside the block, which then never hear Ctrl-C, not even while they import.

    This process hears it at the end of the block, so that no process is left half started.
    """
    if threading.current_thread() is not threading.main_thread():  # where signals do not arrive
        yield
        return
    with signalsLater(signal.SIGINT):
        # what is blocked here stays so in processes started here
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
        try:
            yield
        finally:
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def stop(executor: Executor) -> None:
    """Give up an executor without waiting for what it still does; its processes write nothing afterwards.

    Its futures must not be cancelled before. Those of processes break, and a cluster cancels its own.
    """
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(PATIENCE)
