"""The files near a structure set, which are searched for the slices of its image."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ...base.errors import InputError
from ...base.progress import checkpoint
from .images import imagesNamedIn
from .opening import isDicom, read, readable

# Most files of a folder that are searched for the slices of an image.
MOST_FILES = 20_000
# Folders without regular files, reading from which may block forever. In containers they are next to mounted folders.
SYSTEM = ("/dev/", "/proc/", "/sys/")
SERIES, INSTANCE, POSITION = "SeriesInstanceUID", "SOPInstanceUID", "ImagePositionPatient"
# The part of an image with several slices in one file that says where each of them lies.
FRAMES = "PerFrameFunctionalGroupsSequence"
# The sequences in which a file refers to series.
REFERENCES = ["ReferencedFrameOfReferenceSequence", "ReferencedSeriesSequence"]


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
    # lazily, as a walk through everything may take long
    count = 0
    for parent, folders, names in os.walk(folder):
        checkpoint()
        if count == MOST_FILES:
            return
        if f"{os.path.realpath(parent)}/".startswith(SYSTEM):
            folders.clear()
            continue
        folders.sort()
        for name in sorted(names):
            # unlike Path.is_file(), os.path.isfile() raises no error for inaccessible files
            if count < MOST_FILES and os.path.isfile(os.path.join(parent, name)):
                count += 1
                yield Path(parent, name)


def sliceOf(file: Path, tags: Iterable[str]):
    """Return a Dataset with some tags of a slice, or of an image with several in one file; None if it is neither."""
    try:
        if isDicom(file):
            header = read(file, specific_tags=[POSITION, FRAMES, *tags], stop_before_pixels=True)
            return header if POSITION in header or FRAMES in header else None
    except (InputError, OSError):  # a neighbor that cannot be read is not a slice of the image
        pass
    return None


def areEnough(found: Collection[str], wanted: Collection[str]) -> bool:
    """Return whether slices that were found make it unnecessary to search for the image in other folders.

    A few slices may be copies beside the structure set, with the image elsewhere; a few missing ones need not be
    anywhere. found, wanted: SOP instance UIDs.
    """
    return len(wanted) <= 2 * len(set(wanted).intersection(found))


def holdsWhatItNames(path: Path, files: Iterable[Path]) -> bool:
    """Return whether files contain enough slices of all series that a structure set or segmentation refers to, if any.

    If the files in its own folder and below do, no others need to be searched.
    """
    try:
        with readable():
            wanted, found = defaultdict[str, set](set), defaultdict[str, set](set)
            for image in imagesNamedIn(read(path, specific_tags=REFERENCES, stop_before_pixels=True)):
                wanted[image.series] |= image.instances
            wanted.pop("", None)
            for file in files if wanted else ():
                checkpoint()
                if (header := sliceOf(file, [SERIES, INSTANCE])) is not None:
                    found[str(header.get(SERIES, ""))].add(str(header.get(INSTANCE, "")))
                    if all(uid in found and areEnough(found[uid], named) for uid, named in wanted.items()):
                        return True
    except (InputError, OSError):  # reported when the file is read
        pass
    return False
