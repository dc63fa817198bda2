"""The files near a structure set, among which the slices of its image are looked for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import InputError
from ..progress import checkpoint
from . import isDicom, read, readable

# More files of a folder than this are not searched for the slices of an image.
MOST_FILES = 20_000
# What these hold are no files, and who reads them may wait forever. They lie beside what is mounted into a container.
SYSTEM = ("/dev/", "/proc/", "/sys/")
SERIES, POSITION = "SeriesInstanceUID", "ImagePositionPatient"
# Where an object names series, and in what.
SEQUENCES = (
    "ReferencedFrameOfReferenceSequence",
    "RTReferencedStudySequence",
    "RTReferencedSeriesSequence",
    "ReferencedSeriesSequence",
)


def filesNear(path: Path) -> Iterator[Iterator[Path]]:
    """Yield the files among which the slices of a file's image are looked for, folder by folder, not too many of each.

    First those beside the file and below, then those of the folders beside its own.
    """
    home = path.absolute().parent
    yield _filesBelow(home)
    try:
        others = sorted(folder for folder in home.parent.iterdir() if folder != home)
    except OSError:  # one may enter a folder and not list it
        return
    for folder in others:
        if os.path.isdir(folder):
            yield _filesBelow(folder)


def _filesBelow(folder: Path) -> Iterator[Path]:
    return itertools.islice(_everyFileBelow(folder), MOST_FILES)


def _everyFileBelow(folder: Path) -> Iterator[Path]:
    # as it goes: nobody waits for a walk through all that somebody keeps
    for parent, folders, names in os.walk(folder):
        checkpoint()
        if f"{os.path.realpath(parent)}/".startswith(SYSTEM):
            folders.clear()
            continue
        folders.sort()
        # unlike Path.is_file() that of os.path answers for what cannot be looked at, too
        yield from (Path(parent, name) for name in sorted(names) if os.path.isfile(os.path.join(parent, name)))


def sliceOf(file: Path, tags: Iterable[str]):
    """Return what a file tells of a slice of an image, a pydicom Dataset with these tags; None if it is none."""
    try:
        if isDicom(file):
            header = read(file, specific_tags=[POSITION, *tags], stop_before_pixels=True)
            return header if POSITION in header else None
    except (InputError, OSError):  # a neighbor that cannot be read is no slice of the image
        pass
    return None


def holdsWhatItNames(path: Path, files: Iterable[Path]) -> bool:
    """Return whether files hold slices of all series that a structure set or segmentation names, if it names any.

    Where that holds of the files beside it and below, no others are looked at.
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
    except (InputError, OSError):  # whoever reads it says what is wrong
        return False
    return isNamed and not missing


def _seriesNamedBy(dataset) -> set[str]:
    items = [item for name in SEQUENCES for item in dataset.get(name, None) or ()]
    return {str(item[SERIES].value) for item in items if SERIES in item}.union(*map(_seriesNamedBy, items))
