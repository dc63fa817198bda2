"""Places for results that take none, and disks that are full."""

from __future__ import annotations

from pathlib import Path


def aFile(folder: Path) -> Path:
    (folder / "file").write_text("mine")
    return folder / "file"


def belowAFile(folder: Path) -> Path:
    return aFile(folder) / "deep" / "out"


def aLinkToNothing(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "gone")
    return folder / "link"


def folderInTheWay(folder: Path) -> Path:
    (folder / "out" / "metrics.json").mkdir(parents=True)
    return folder / "out"


def readOnly(folder: Path) -> Path:
    (folder / "archive").mkdir(mode=0o555)
    return folder / "archive"


# Where results are to go, and what is said about it.
OUTPUTS = {
    "a file": (aFile, "file: this is not a folder, so results cannot be written into it."),
    "a folder below a file": (belowAFile, "file: this is not a folder, so results cannot be written into it."),
    "a link to nothing": (aLinkToNothing, "link: this is not a folder, so results cannot be written into it."),
    "a folder where a file must be": (folderInTheWay, "metrics.json: this is a folder"),
    "a read-only folder": (readOnly, "archive: results cannot be written into this folder"),
    "a name that is no Unicode": (lambda folder: folder / "o\udcff", "not valid Unicode; choose another one."),
    "a name of 300 letters": (lambda folder: folder / ("x" * 300), "this name is too long for a folder."),
    "a folder of the system": (lambda folder: Path("/proc/results"), "results cannot be written into this folder"),
}

# After so many bytes in a file the disk is full: within the surfaces, at once, and within the report.
FULL = (0, 100, 3_000, 100_000, 1_000_000)
