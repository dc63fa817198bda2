"""The files near a structure set, which are searched for the slices of its image."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import InputError
from ..progress import checkpoint
from . import isDicom, read, readable

# Most files of a folder that are searched for the slices of an image.
MOST_FILES = 20_000
# Folders without regular files, reading from which may block forever. In containers they are next to mounted folders.
SYSTEM = ("/dev/", "/proc/", "/sys/")
SERIES, POSITION = "SeriesInstanceUID", "ImagePositionPatient"
# The sequences in which an object refers to series, and the sequences that contain these.
SEQUENCES = (
    "ReferencedFrameOfReferenceSequence",
    "RTReferencedStudySequence",
    "RTReferencedSeriesSequence",
    "ReferencedSeriesSequence",
)


def filesNear(path: Path) -> Iterator[Iterator[Path]]:
    """Yield the files to search for the slices of a file's image, folder by folder, at most MOST_FILES of each.

    First those in the file's own folder and below, then those of the folders beside its own.
    """
    home = path.absolute().parent
    yield _filesBelow(home)
    try:
        others = sorted(folder for folder in home.parent.iterdir() if folder != home)
    except OSError:  # a folder may be accessible but not listable
        return
    for folder in others:
        if os.path.isdir(folder):
            yield _filesBelow(folder)


def _filesBelow(folder: Path) -> Iterator[Path]:
    return itertools.islice(_everyFileBelow(folder), MOST_FILES)


def _everyFileBelow(folder: Path) -> Iterator[Path]:
    # lazily, as a walk through everything may take long
    for parent, folders, names in os.walk(folder):
        checkpoint()
        if f"{os.path.realpath(parent)}/".startswith(SYSTEM):
            folders.clear()
            continue
        folders.sort()
        # unlike Path.is_file(), os.path.isfile() raises no error for inaccessible files
        yield from (Path(parent, name) for name in sorted(names) if os.path.isfile(os.path.join(parent, name)))


def sliceOf(file: Path, tags: Iterable[str]):
    """Return a pydicom Dataset with some tags of a slice of an image; None if the file is not a slice."""
    try:
        if isDicom(file):
            header = read(file, specific_tags=[POSITION, *tags], stop_before_pixels=True)
            return header if POSITION in header else None
    except (InputError, OSError):  # a neighbor that cannot be read is not a slice of the image
        pass
    return None


def holdsWhatItNames(path: Path, files: Iterable[Path]) -> bool:
    """Return whether files contain slices of all series that a structure set or segmentation refers to, if any.

    If the files in its own folder and below do, no others need to be searched.
    """
    try:
        with readable():
            missing = _seriesNamedBy(read(path, specific_tags=list(SEQUENCES), stop_before_pixels=True))
            isNamed = bool(missing)
            for file in files if isNamed else ():
                checkpoint()
                found = sliceOf(file, [SERIES])
                missing.discard(found and str(found.get(SERIES, "")))
                if not missing:
                    break
    except (InputError, OSError):  # reported when the file is read
        return False
    return isNamed and not missing


def _seriesNamedBy(dataset) -> set[str]:
    items = [item for name in SEQUENCES for item in dataset.get(name, None) or ()]
    return {str(item[SERIES].value) for item in items if SERIES in item}.union(*map(_seriesNamedBy, items))
