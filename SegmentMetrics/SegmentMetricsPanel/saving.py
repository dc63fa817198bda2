"""Asking where to save a file."""

from __future__ import annotations

from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

# Where files were saved last in this session, by the folder of the scene that was open.
_folders: dict[str, Path] = {}


def askForPath(button, title: str, suggestion: str, kind: str) -> Path | None:
    """Return where the user wants to save, None if nowhere.

    The dialog begins where files were saved last for this scene, else where the scene is saved, as Slicer's own does: a
    name without a folder would begin in Slicer's program folder each time.
    suggestion: a file name, whose suffix is added to a name that ends otherwise; a dot within a name is no suffix.
    kind: of file, as file dialogs list them.
    """
    scene = slicer.mrmlScene.GetRootDirectory()
    known = (folder for folder in (_folders.get(scene), Path(scene)) if folder is not None)
    folder = next((each for each in known if each.is_absolute() and each.is_dir()), Path())
    start = str(folder / suggestion)
    chosen = qt.QFileDialog.getSaveFileName(button, title, start, kind)
    if not chosen:
        return None
    path, suffix = Path(chosen), Path(suggestion).suffix
    _folders[scene] = path.parent
    if path.name.lower().endswith(suffix):
        return path
    path = path.with_name(path.name + suffix)
    # the dialog has asked about the name that was typed, not about this one
    question = _("{name} exists already. Overwrite it?").format(name=path.name)
    return path if not path.exists() or slicer.util.confirmOkCancelDisplay(question, title) else None
