"""How many of the computer's cores this process may use, for itself and for its threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def availableProcessors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return how many threads long work shall have: one where the environment says so, as in worker processes."""
    return 1 if os.environ.get("VTK_SMP_MAX_THREADS") == "1" else availableProcessors()


@contextmanager
def allCores() -> Iterator[None]:
    """Let VTK use all cores inside the block; applications start it with one.

    Not where the environment allows one only: every change of VTK's threads leaves some memory behind.
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
