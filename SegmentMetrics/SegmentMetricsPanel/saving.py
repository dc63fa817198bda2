"""Asking where to save a file, and where one is to be read."""

from __future__ import annotations

from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

# Where files were saved or read last in this session, by the folder of the scene that was open.
_folders: dict[str, Path] = {}


def firstFolder() -> Path:
    """Return where a file dialog begins: where files were last for this scene, else where the scene is saved.

    So does Slicer's own; a name without a folder would begin in Slicer's program folder each time.
    """
    scene = slicer.mrmlScene.GetRootDirectory()
    known = (folder for folder in (_folders.get(scene), Path(scene)) if folder is not None)
    return next((each for each in known if each.is_absolute() and each.is_dir()), Path())


def remember(path: Path) -> None:
    """Let the next file dialog for this scene begin in the folder of a file."""
    _folders[slicer.mrmlScene.GetRootDirectory()] = path.parent


def askForFile(widget, title: str, kinds: str) -> Path | None:
    """Return which file the user wants to read, None for none. kinds: of files, as file dialogs list them."""
    folder = firstFolder()
    start = str(folder) if folder.is_absolute() else ""
    chosen = qt.QFileDialog.getOpenFileName(widget, title, start, kinds)
    if not chosen:
        return None
    remember(Path(chosen))
    return Path(chosen)


def askForPath(button, title: str, suggestion: str, kind: str) -> Path | None:
    """Return where the user wants to save, None if nowhere.

    suggestion: a file name, whose suffix is added to a name that ends otherwise; a dot within a name is no suffix.
    kind: of file, as file dialogs list them.
    """
    chosen = qt.QFileDialog.getSaveFileName(button, title, str(firstFolder() / suggestion), kind)
    if not chosen:
        return None
    path, suffix = Path(chosen), Path(suggestion).suffix
    remember(path)
    if path.name.lower().endswith(suffix):
        return path
    path = path.with_name(path.name + suffix)
    # the dialog has asked about the name that was typed, not about this one
    question = _("{name} exists already. Overwrite it?").format(name=path.name)
    return path if not path.exists() or slicer.util.confirmOkCancelDisplay(question, title) else None
