"""The files among which the image of a structure set is looked for.

Whoever keeps a folder for every patient has those of all others beside each of them. So a folder beside a file's own is
searched only if it may hold something of the same patient, as a few of its files tell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import InputError
from . import isDicom, read, readable, textOf

# More files than this are not searched for the slices of an image.
MOST_FILES = 20_000
# What these hold are no files, and who reads them may wait forever. They lie beside what is mounted into a container.
SYSTEM = ("/dev", "/proc", "/sys")
# So many files of a folder, spread over their names, tell whose it is.
SAMPLES = 5
# What an object says of the patient and of what it belongs to, and where it says which images it was made from.
OWN = ("PatientID", "StudyInstanceUID", "SeriesInstanceUID", "FrameOfReferenceUID")
SEQUENCES = (
    "ReferencedFrameOfReferenceSequence",
    "RTReferencedStudySequence",
    "RTReferencedSeriesSequence",
    "ReferencedSeriesSequence",
)


def filesNear(path: Path, identifiers: frozenset[str] = frozenset()) -> Iterator[Iterator[Path]]:
    """Yield the files among which the slices of a file's image are looked for, folder by folder, not too many.

    First those beside the file and below, then those of the folders beside its own. identifiers: of the file, as
    identifiersOf() tells them; with any, folders that hold only what belongs to others are left out there.
    """
    home = path.absolute().parent
    yield _filesBelow(home, iter(range(MOST_FILES)))
    allowed = iter(range(MOST_FILES))  # of all folders together
    for folder in sorted(folder for folder in home.parent.iterdir() if folder.is_dir() and folder != home):
        yield _filesBelow(folder, allowed, identifiers)


def identifiersOf(dataset) -> frozenset[str]:
    """Return what tells to whom a DICOM object belongs: the IDs of its patient, study, images and frames."""
    found = {textOf(dataset, name).strip() for name in OWN}
    for name in SEQUENCES:
        found = found.union(*map(identifiersOf, dataset.get(name, None) or ()))
    return frozenset(found) - {""}


def identifiersIn(path: Path) -> frozenset[str]:
    """Return those of a DICOM file. Raises InputError when it cannot be read."""
    with readable():
        return identifiersOf(read(path, specific_tags=[*OWN, *SEQUENCES], stop_before_pixels=True))


def _filesBelow(folder: Path, allowed: Iterator, identifiers: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Yield the files in a folder and below, but for those of others, as long as one more is allowed."""
    # as it goes: nobody waits for a walk through all that somebody keeps
    for parent, folders, names in os.walk(folder):
        if parent in SYSTEM:
            folders.clear()
            continue
        folders.sort()
        if identifiers and _isOfOthers(Path(parent), identifiers):
            continue
        for name, _ in zip(sorted(names), allowed):
            file = Path(parent, name)
            if file.is_file():
                yield file


def _isOfOthers(folder: Path, identifiers: frozenset[str]) -> bool:
    """Return whether a folder, without those in it, holds DICOM files that all belong to one and the same other."""
    samples = _samplesOf(folder, folder.stat().st_mtime_ns)
    if not samples:
        return False
    # a folder of several patients is searched, as ours may be between those that were looked at
    return bool(frozenset.intersection(*samples)) and identifiers.isdisjoint(frozenset.union(*samples))


@lru_cache(1 << 14)  # all files of a study ask about the same folders
def _samplesOf(folder: Path, changed: int) -> tuple[frozenset[str], ...]:
    """Return what a few files of a folder tell of whom they belong to. changed: when anything in it did, in ns."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    places = np.unique(np.linspace(0, len(files) - 1, SAMPLES).astype(int)) if files else ()
    return tuple(found for found in (_identifiersOrNone(files[place]) for place in places) if found)


def _identifiersOrNone(file: Path) -> frozenset[str] | None:
    try:
        return identifiersIn(file) if isDicom(file) else None
    except (InputError, OSError):  # whoever needs this file says what is wrong with it
        return None
