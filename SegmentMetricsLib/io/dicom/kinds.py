"""What a DICOM file holds, and its structures, of whatever kind it is."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from ...base.errors import InputError
from ...model.structureset import StructureSet
from .opening import DAMAGED, MAGIC_END, headerOf, isDicom, read


class FileKind(Enum):
    """What a DICOM file holds. UNREAD: structures in a form that is not supported; UNTOLD: the file does not say."""

    STRUCTURE_SET = "structure set"
    SEGMENTATION = "segmentation"
    UNREAD = "unread"
    NO_STRUCTURES = "no structures"
    UNTOLD = "untold"


STORAGE = "1.2.840.10008.5.1.4.1.1."
# Kinds by SOP class.
CLASSES = {
    f"{STORAGE}481.3": FileKind.STRUCTURE_SET,
    f"{STORAGE}66.4": FileKind.SEGMENTATION,
    f"{STORAGE}66.7": FileKind.SEGMENTATION,
    # segmentations as surfaces and as height maps, and annotations of radiotherapy that refer to others
    f"{STORAGE}66.5": FileKind.UNREAD,
    f"{STORAGE}66.8": FileKind.UNREAD,
    f"{STORAGE}481.11": FileKind.UNREAD,
}
MODALITIES = {"RTSTRUCT": FileKind.STRUCTURE_SET, "SEG": FileKind.SEGMENTATION}
# Kinds by the element that only they have, in the order of their tags.
CONTENTS = {"StructureSetROISequence": FileKind.STRUCTURE_SET, "SegmentSequence": FileKind.SEGMENTATION}


def kindOf(path: Path) -> FileKind:
    """Return what a DICOM file holds: by its SOP class, else by its modality, else by the elements that it has.

    Raises InputError when it is damaged, and without pydicom.
    """
    header = headerOf(path)
    storage = _storageOf(header)
    if storage in CLASSES:
        return CLASSES[storage]
    modality = str(header.get("Modality", None) or "").strip().upper()
    if modality in MODALITIES:
        return MODALITIES[modality]
    if storage.name != storage:  # a class of the standard
        return FileKind.NO_STRUCTURES
    found = read(path, specific_tags=list(CONTENTS), stop_before_pixels=True)
    told = FileKind.NO_STRUCTURES if modality else FileKind.UNTOLD
    return next((kind for name, kind in CONTENTS.items() if name in found), told)


def _storageOf(header):
    """Return the SOP class of a file as a pydicom UID, "" if unknown."""
    from pydicom.uid import UID

    told = header.get("SOPClassUID", None) or header.file_meta.get("MediaStorageSOPClassUID", None)
    return UID(str(told or "").strip())


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
    header = headerOf(path)
    storage, modality = _storageOf(header), str(header.get("Modality", None) or "")
    if kind is FileKind.UNTOLD:
        raise InputError(
            "this is DICOM that says neither its SOP class nor its modality, and it has no contours and no segments."
        )
    if kind is FileKind.UNREAD:
        raise InputError(f"this is DICOM of the kind {storage.name}, which is not supported; use RTSTRUCT or SEG.")
    what = f"the modality {modality}" if modality else f"the kind {storage.name}"
    raise InputError(f"this is DICOM of {what}, which holds no contours; use RTSTRUCT or SEG.")
