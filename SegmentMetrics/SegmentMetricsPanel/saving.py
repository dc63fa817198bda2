"""Asking where to save a file."""

from __future__ import annotations

from pathlib import Path

import qt


def askForPath(button, title: str, suggestion: str, kind: str) -> Path | None:
    """Return where the user wants to save, None if nowhere.

    suggestion: a file name, whose suffix is added where the user gives none. kind: of file, as file dialogs list them.
    """
    path = qt.QFileDialog.getSaveFileName(button, title, suggestion, kind)
    if not path:
        return None
    return Path(path) if Path(path).suffix else Path(f"{path}{Path(suggestion).suffix}")
