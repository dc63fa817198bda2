"""What a command prints to, which whoever reads it may close early, as `segment-metrics batch ... | head` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress


class _Patient:
    """A stream that drops what is written once nobody reads it, so that the work goes on and has its own exit status.

    Everything else is as of the stream that it stands for.
    """

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._leaveIt()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._leaveIt()

    def _leaveIt(self) -> None:
        """Let the stream end nowhere: what it still holds is written when the interpreter ends, which would tell."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        with suppress(OSError):
            self._stream.flush()


@contextmanager
def closedWithoutComplaint() -> Iterator[None]:
    """Let standard output and standard error be closed early by whoever reads them, inside the block.

    Every other broken pipe, such as that to a process which has ended, stays an error.
    """
    with (
        redirect_stdout(sys.stdout and _Patient(sys.stdout)),
        redirect_stderr(sys.stderr and _Patient(sys.stderr)),
    ):
        try:
            yield
        finally:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
