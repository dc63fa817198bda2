"""Long work can be stopped: it looks every few milliseconds whether whoever waits for it still wants the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_isStopped: ContextVar[Callable[[], bool] | None] = ContextVar("isStopped", default=None)


class Cancelled(Exception):
    """Somebody stopped the work before it was done."""


@contextmanager
def stoppable(isStopped: Callable[[], bool]) -> Iterator[None]:
    """Stop the work inside the block, by raising Cancelled there, as soon as isStopped() returns True.

    isStopped is called often, in the thread of the work, and should take no time.

        with progress.stoppable(lambda: dialog.wasCanceled):
            comparison = compare(reference, test)
    """
    token = _isStopped.set(isStopped)
    try:
        yield
    finally:
        _isStopped.reset(token)


@contextmanager
def alsoStoppable(isStopped: Callable[[], bool]) -> Iterator[None]:
    """Stop the work inside the block as soon as isStopped() returns True, or what stops the work around does."""
    around = _isStopped.get()
    with stoppable(lambda: isStopped() or (around is not None and around())):
        yield


def checkpoint() -> None:
    """Raise Cancelled if the work around has been stopped; called from within every loop that may take long."""
    isStopped = _isStopped.get()
    if isStopped is not None and isStopped():
        raise Cancelled("The comparison was stopped.")
