"""Output streams that their reader may close early, as in `segment-metrics batch ... | head`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress


class TolerantStream:
    """A stream that discards output after its reader is gone, so that the work continues and keeps its exit status.

    Everything else is delegated to the wrapped stream.
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
        """Redirect the stream to nowhere; otherwise flushing its buffer at exit would report another error."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        with suppress(OSError):
            self._stream.flush()


@contextmanager
def closedWithoutComplaint() -> Iterator[None]:
    """Tolerate that the readers of standard output and standard error close them inside the block.

    Other broken pipes, such as to a process that has ended, remain errors.
    """
    with (
        redirect_stdout(sys.stdout and TolerantStream(sys.stdout)),
        redirect_stderr(sys.stderr and TolerantStream(sys.stderr)),
    ):
        try:
            yield
        finally:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
