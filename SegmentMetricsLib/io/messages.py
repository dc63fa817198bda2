"""Silencing VTK's and ITK's messages about files on the terminal: those that matter become exceptions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock

import SimpleITK
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow

# Output is silenced for the whole process, so two threads would restore each other's changes. Besides, ITK's
# readers are not made for damaged files in parallel threads.
_oneAtATime = RLock()
_isQuiet = False


@contextmanager
def quiet() -> Iterator[vtkStringOutputWindow]:
    """Suppress all output to the terminal inside the block, and collect VTK's messages.

    Some libraries write directly to the standard error of the process. Only one thread at a time can be in the block.
    """
    global _isQuiet
    with _oneAtATime:
        warnings = SimpleITK.ProcessObject.GetGlobalWarningDisplay()
        window, messages = vtkOutputWindow.GetInstance(), vtkStringOutputWindow()
        SimpleITK.ProcessObject.GlobalWarningDisplayOff()
        vtkOutputWindow.SetInstance(messages)
        if sys.stderr is not None:
            sys.stderr.flush()
        # a block inside another one that Ctrl-C ends must not restore what is closed here
        kept, isOutermost, _isQuiet = None, not _isQuiet, True
        with suppress(OSError):  # in applications without a terminal there is no standard error
            kept = os.dup(2) if isOutermost else None
        try:
            if kept is not None:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 2)
                os.close(nowhere)
            yield messages
        finally:
            _isQuiet = not isOutermost
            if kept is not None:
                os.dup2(kept, 2)
                os.close(kept)
            vtkOutputWindow.SetInstance(window)
            SimpleITK.ProcessObject.SetGlobalWarningDisplay(warnings)
