"""Asking where to save a file."""

from __future__ import annotations

from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _


def askForPath(button, title: str, suggestion: str, kind: str) -> Path | None:
    """Return where the user wants to save, None if nowhere.

    suggestion: a file name, whose suffix is added to a name that ends otherwise; a dot within a name is no suffix.
    kind: of file, as file dialogs list them.
    """
    chosen = qt.QFileDialog.getSaveFileName(button, title, suggestion, kind)
    if not chosen:
        return None
    path, suffix = Path(chosen), Path(suggestion).suffix
    if path.name.lower().endswith(suffix):
        return path
    path = path.with_name(path.name + suffix)
    # the dialog has asked about the name that was typed, not about this one
    question = _("{name} exists already. Overwrite it?").format(name=path.name)
    return path if not path.exists() or slicer.util.confirmOkCancelDisplay(question, title) else None
