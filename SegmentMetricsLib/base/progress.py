"""Cancellation of long work, which checks every few milliseconds whether its result is still wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_isStopped: ContextVar[Callable[[], bool] | None] = ContextVar("isStopped", default=None)


class Cancelled(Exception):
    """The work was stopped before it was done."""


@contextmanager
def stoppable(isStopped: Callable[[], bool]) -> Iterator[None]:
    """Stop the work inside the block, by raising Cancelled there, as soon as isStopped() returns True.

    isStopped is called often, in the thread of the work, and must be fast.

        with progress.stoppable(lambda: dialog.wasCanceled):
            comparison = compare(reference, test)
    """
    token = _isStopped.set(isStopped)
    try:
        yield
    finally:
        _isStopped.reset(token)


def checkpoint() -> None:
    """Raise Cancelled if the surrounding work has been stopped; called in every loop that may take long."""
    isStopped = _isStopped.get()
    if isStopped is not None and isStopped():
        raise Cancelled("The comparison was stopped.")


def chunks(count: int, size: int = 1 << 13) -> Iterator[slice]:
    """Yield slices of a count of rows, whose temporary arrays stay in the processor's cache; each is a checkpoint()."""
    for first in range(0, count, size):
        checkpoint()
        yield slice(first, first + size)
