"""The structures of a DICOM file, of whatever kind it is."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InputError
from ...model.structureset import StructureSet
from .kinds import FileKind, kindOf, whyNotRead
from .opening import DAMAGED, MAGIC_END, isDicom


def readStructures(path: Path, threshold: float | None = None, title: str = "") -> StructureSet:
    """Return the structures of an RTSTRUCT or SEG file.

    threshold: membership in (0, 1] at or above which a voxel of a fractional SEG belongs to its structure; see
    Settings. title: name of the file in remarks, its own if "". Raises InputError for other DICOM files, for files that
    cannot be read, and without pydicom.
    """
    if not isDicom(path):
        start = path.read_bytes()[:MAGIC_END] if path.stat().st_size < MAGIC_END else b""
        # of a copy that was interrupted there is the preamble, which is no text
        raise InputError(DAMAGED if b"\0" in start else "its content is not that of a DICOM file.")
    kind = kindOf(path)
    if kind is FileKind.STRUCTURE_SET:
        from .rtstruct import readStructureSet

        return readStructureSet(path, title or path.name)
    if kind is FileKind.SEGMENTATION:
        from .segmentation import readSegmentation

        return readSegmentation(path, threshold)
    raise InputError(whyNotRead(path, kind))
