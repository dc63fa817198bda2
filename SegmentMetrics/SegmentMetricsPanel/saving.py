"""File dialogs for saving and opening files."""

from __future__ import annotations

from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

# The folder last used for files in this session, by the folder of the scene that was open.
_folders: dict[str, Path] = {}


def firstFolder() -> Path:
    """Return the first folder of a dialog, as Slicer's own: the last one used with this scene, else the scene's."""
    scene = slicer.mrmlScene.GetRootDirectory()
    known = (folder for folder in (_folders.get(scene), Path(scene)) if folder is not None)
    return next((each for each in known if each.is_absolute() and each.is_dir()), Path())


def _ask(dialog, widget, title: str, start: Path | str, kinds: str) -> Path | None:
    """Ask for a file and return its path, or None if canceled; the next dialog for this scene starts in its folder."""
    chosen = dialog(widget, title, str(start), kinds)
    if not chosen:
        return None
    _folders[slicer.mrmlScene.GetRootDirectory()] = Path(chosen).parent
    return Path(chosen)


def askForFile(widget, title: str, kinds: str) -> Path | None:
    """Ask for a file to read and return its path, or None if canceled. kinds: filters in the format of Qt's dialogs."""
    folder = firstFolder()
    return _ask(qt.QFileDialog.getOpenFileName, widget, title, folder if folder.is_absolute() else "", kinds)


def askForPath(button, title: str, suggestion: str, kind: str) -> Path | None:
    """Ask for a file to save and return its path, or None if canceled.

    suggestion: a file name, whose suffix is added to names that do not end with it, even if they contain a dot. kind: a
    filter in the format of Qt's file dialogs.
    """
    path = _ask(qt.QFileDialog.getSaveFileName, button, title, firstFolder() / suggestion, kind)
    suffix = Path(suggestion).suffix
    if path is None or path.name.lower().endswith(suffix):
        return path
    path = path.with_name(path.name + suffix)
    # the dialog has only checked the name as it was typed
    question = _("{name} exists already. Overwrite it?").format(name=path.name)
    return path if not path.exists() or slicer.util.confirmOkCancelDisplay(question, title) else None
