"""Files of a folder that are not read although they may hold a structure: it must not seem to be missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from ..base.texts import commaSeparated
from .formats.table import dataFileOf

# Files without structures, by what their names end with: texts, tables, documents, programs, transforms, scenes ...
HARMLESS_SUFFIXES = (
    *(".json", ".jsonl", ".csv", ".tsv", ".txt", ".md", ".rst", ".log", ".yml", ".yaml", ".toml", ".ini", ".cfg"),
    *(".conf", ".html", ".htm", ".css", ".js", ".svg", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".bib"),
    *(".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".py", ".pyc", ".ipynb", ".sh", ".bat", ".ps1", ".m", ".r"),
    *(".ctbl", ".lut", ".mtl", ".tfm", ".mrml", ".fcsv", ".bval", ".bvec", ".parquet", ".db", ".lnk", ".url"),
    *(".md5", ".sha1", ".sha256"),
)
# The same for names without a suffix, as far as they are known.
HARMLESS_NAMES = {
    *("readme", "license", "licence", "copying", "notice", "authors", "changelog", "citation", "contributing"),
    *("makefile", "version", "manifest", "checksums", "md5sums", "sha256sums", "dicomdir", "icon\r", "desktop.ini"),
}
# Suffixes behind that of the kind: of compressed files, of copies, and of downloads that were interrupted.
WRAPPINGS = {
    *(".gz", ".bz2", ".xz", ".zst", ".zip", ".7z", ".bak", ".old", ".orig"),
    *(".tmp", ".temp", ".part", ".partial", ".filepart", ".crdownload", ".download"),
}
# The pictures that SegmentMetrics writes beside this file.
METRICS_FILE, PICTURE = "metrics.json", "overlay_*.png"
# Headers whose voxels may be in other files, and what such a file says instead of a name, followed by the names.
HEADERS, LISTED = (".nhdr", ".mhd", ".nrrd", ".mha"), "list"
NOT_READ = "this kind of file is not read."
# Most files with the same reason that have a remark of their own, and most that are named in a common one.
MOST_ALONE, MOST_NAMED = 3, 8


def mayHoldStructures(path: Path) -> bool:
    """Return whether a file that is neither read nor DICOM may hold a structure, judging by its name."""
    name = path.name.casefold()
    if name in HARMLESS_NAMES or name.endswith(HARMLESS_SUFFIXES):
        return False
    return not (fnmatchcase(name, PICTURE) and (path.parent / METRICS_FILE).exists())


def dataFiles(members: Sequence[Path]) -> set[Path]:
    """Return those files of a folder that hold the voxels of headers in it."""
    found = set()
    for header in members:
        if header.suffix.lower() in HEADERS and header.is_file():
            with suppress(OSError, ValueError):  # reported when the header is read
                patterns = [Path(name).name for name in _dataFilesOf(header)]
                wild = [pattern for pattern in patterns if "*" in pattern]
                found |= {p for p in members if p.name in patterns or any(fnmatchcase(p.name, one) for one in wild)}
    return found


def _dataFilesOf(header: Path) -> list[str]:
    """Return the names of a header's data files, or patterns of such names."""
    entry = dataFileOf(header)
    if entry.split()[:1] and entry.split()[0].lower() == LISTED:
        lines = header.read_text(encoding="latin-1").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return [re.sub(r"%0?\d*d", "*", entry.split()[0])] if "%" in entry else [entry]


def unwrap(path: Path) -> Path:
    """Return the path of a file of an unknown kind without what hides the kind: Tumor.nrrd for Tumor.nrrd.part."""
    found = Path(path.name.rstrip("~"))
    while found.suffix.lower() in WRAPPINGS and Path(found.stem).suffix:
        found = Path(found.stem)
    return found


def remarksOn(reasons: Mapping[Path, str], folder: Path) -> list[str]:
    """Return a remark on each of some files that were left out, one for several with the same reason if these are many.

    reasons: why, by file. folder: that is read; files deeper in it are named with their own folders.
    """
    groups: dict[str, list[Path]] = {}
    for path, why in reasons.items():
        groups.setdefault(why, []).append(path)
    found = []
    for why, paths in groups.items():
        if len(paths) <= MOST_ALONE:
            found += [remarkOn(path, why, folder) for path in paths]
        else:
            names = (str(path.relative_to(folder)) for path in paths)
            found.append(f"{commaSeparated(names, MOST_NAMED)} were left out: {why}")
    return found


def remarkOn(path: Path, why: str, folder: Path) -> str:
    """Return the remark on a file that was left out. folder: as for remarksOn()."""
    return f"{path.relative_to(folder)} was left out: {why}"
