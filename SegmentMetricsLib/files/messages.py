"""Keeping what VTK and ITK remark about files off the terminal: what matters becomes an exception."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import SimpleITK
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow

# What is kept quiet is the whole process: two threads would each give back what the other one had taken away.
# Nor may two of them read images side by side: ITK's readers abort the process when two damaged files fail at once.
_oneAtATime = RLock()


@contextmanager
def quiet() -> Iterator[vtkStringOutputWindow]:
    """Keep everything off the terminal inside the block, and collect what VTK would have said.

    Some of the libraries write to the process' standard error output without asking anybody. One thread at a time.
    """
    with _oneAtATime, _quiet() as messages:
        yield messages


@contextmanager
def _quiet() -> Iterator[vtkStringOutputWindow]:
    warnings = SimpleITK.ProcessObject.GetGlobalWarningDisplay()
    window, messages = vtkOutputWindow.GetInstance(), vtkStringOutputWindow()
    SimpleITK.ProcessObject.GlobalWarningDisplayOff()
    vtkOutputWindow.SetInstance(messages)
    try:
        with _standardErrorClosed():
            yield messages
    finally:
        vtkOutputWindow.SetInstance(window)
        SimpleITK.ProcessObject.SetGlobalWarningDisplay(warnings)


@contextmanager
def _standardErrorClosed() -> Iterator[None]:
    if sys.stderr is not None:
        sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # there is none, as in applications without a terminal
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
