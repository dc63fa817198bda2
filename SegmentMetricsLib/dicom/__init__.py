"""DICOM structure sets (RTSTRUCT) and segmentations (SEG) as structures.

Needs the extra `dicom`: pydicom, and highdicom for SEG.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from ..errors import InputError
from ..structures import Structure

# What a DICOM file has at byte 128.
MAGIC = b"DICM"
DAMAGED = "the DICOM file is damaged or incomplete."


def isDicom(path: Path) -> bool:
    """Return whether a file says that it is DICOM. Raises OSError when it cannot be opened."""
    with path.open("rb") as file:
        return file.read(132)[128:] == MAGIC


def readStructures(path: Path, threshold: float | None = None) -> list[Structure]:
    """Return the structures of an RTSTRUCT or SEG file.

    threshold: membership in (0, 1] from which a voxel of a fractional SEG belongs to its structure; see Settings.
    Raises InputError for other DICOM files, for files that cannot be read, and without pydicom.
    """
    header = headerOf(path)
    modality = str(header.get("Modality", ""))
    if modality == "RTSTRUCT":
        from .structureset import readStructureSet

        return readStructureSet(path)
    if modality == "SEG":
        from .segmentation import readSegmentation

        return readSegmentation(path, threshold)
    raise InputError(
        f"this is DICOM of the modality {modality or 'unknown'}, which holds no contours; use RTSTRUCT or SEG."
    )


def holdsStructures(path: Path) -> bool:
    """Return whether a DICOM file is an RTSTRUCT or SEG, not one of the images that lie beside it."""
    return str(headerOf(path).get("Modality", "")) in ("RTSTRUCT", "SEG")


def headerOf(path: Path):
    """Return what a DICOM file says of itself, a pydicom Dataset with the modality only."""
    return read(path, specific_tags=["Modality", "SOPClassUID"], stop_before_pixels=True)


def read(path: Path, **options):
    """Return a DICOM file as a pydicom Dataset. Raises InputError when it cannot be read, and without pydicom."""
    try:
        import pydicom
    except ImportError as error:
        raise InputError(
            "reading DICOM needs pydicom and highdicom: install segment-metrics with the extra dicom."
        ) from error
    try:
        # a file that ends too early is worth no more than a warning to pydicom
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            dataset = pydicom.dcmread(path, **options)
    except (pydicom.errors.InvalidDicomError, ValueError, EOFError, KeyError) as error:
        raise InputError(DAMAGED) from error
    if any("end of file" in str(warning.message).lower() for warning in caught):
        raise InputError(DAMAGED)
    return dataset


def patientOf(dataset) -> str:
    """Return a fingerprint of the patient's ID, "" without one: enough to see that two files differ in it."""
    import hashlib

    identifier = str(dataset.get("PatientID", "") or "").strip()
    return hashlib.sha256(identifier.encode()).hexdigest() if identifier else ""
