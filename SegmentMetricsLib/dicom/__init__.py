"""DICOM structure sets (RTSTRUCT) and segmentations (SEG) as structures.

Needs the extra `dicom`: pydicom, and highdicom for SEG.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError, installing
from ..progress import Cancelled
from ..structures import Structure

# The bytes at offset 128 of a DICOM file.
MAGIC = b"DICM"
DAMAGED = "the DICOM file is damaged or incomplete."
MODALITY = 0x0008_0060
# The length of elements that end with a delimiter.
UNDEFINED = 0xFFFF_FFFF


def isDicom(path: Path) -> bool:
    """Return whether a file has the signature of DICOM. Raises OSError when it cannot be opened."""
    with path.open("rb") as file:
        return file.read(132)[128:] == MAGIC


def readStructures(path: Path, threshold: float | None = None, title: str = "") -> list[Structure]:
    """Return the structures of an RTSTRUCT or SEG file.

    threshold: membership in (0, 1] at or above which a voxel of a fractional SEG belongs to its structure; see
    Settings. title: name of the file in remarks, its own if "". Raises InputError for other DICOM files, for files that
    cannot be read, and without pydicom.
    """
    header = headerOf(path)
    modality = str(header.get("Modality", ""))
    if modality == "RTSTRUCT":
        from .structureset import readStructureSet

        return readStructureSet(path, title or path.name)
    if modality == "SEG":
        from .segmentation import readSegmentation

        return readSegmentation(path, threshold)
    raise InputError(
        f"this is DICOM of the modality {modality or 'unknown'}, which holds no contours; use RTSTRUCT or SEG."
    )


def holdsStructures(path: Path) -> bool:
    """Return whether a DICOM file is an RTSTRUCT or SEG, not one of the images beside it."""
    return str(headerOf(path).get("Modality", "")) in ("RTSTRUCT", "SEG")


def headerOf(path: Path):
    """Return the beginning of a DICOM file as a pydicom Dataset, up to the modality. Errors as for read()."""
    requirePydicom()
    from pydicom.filereader import read_partial

    with readable(), warnings.catch_warnings(), path.open("rb") as file:
        warnings.simplefilter("ignore")  # reported when the whole file is read
        return read_partial(file, stop_when=lambda tag, *_: tag > MODALITY)


def read(path: Path, **options):
    """Return a DICOM file as a pydicom Dataset. Raises InputError when it is damaged, and without pydicom.

    Values are decoded on access, which must therefore be within readable().
    """
    requirePydicom()
    from pydicom import dcmread

    # pydicom only warns about a file that ends too early
    with readable(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = dcmread(path, **options)
    if any("end of file" in str(warning.message).lower() for warning in caught) or _endsEarly(dataset):
        raise InputError(DAMAGED)
    return dataset


def requirePydicom() -> None:
    """Raise InputError if pydicom is not installed."""
    try:
        import pydicom  # noqa: F401
    except ImportError as error:
        raise InputError(f"reading DICOM needs pydicom and highdicom: {installing('dicom')}.") from error


@contextmanager
def readable() -> Iterator[None]:
    """Raise InputError in place of any error from reading or decoding damaged bytes inside the block."""
    try:
        yield
    except (InputError, MemoryError, Cancelled):
        raise
    except Exception as error:
        raise InputError(DAMAGED) from error


def _endsEarly(dataset) -> bool:
    """Return whether the file ends within an element; sequences of known length would silently lose items."""
    elements = map(dataset.get_item, dataset.keys())
    raw = [e for e in elements if getattr(e, "is_raw", False) and isinstance(e.value, bytes) and e.length != UNDEFINED]
    return any(len(element.value) < element.length for element in raw)


def textOf(dataset, name: str) -> str:
    """Return the text of an element, "" without it. Backslashes, which separate values in DICOM, are kept as text."""
    value = dataset.get(name, None)
    return "\\".join(map(str, value)) if isinstance(value, MutableSequence) else str(value or "")


def patientOf(dataset) -> str:
    """Return a hash of the patient's ID, "" without one: enough to detect that two files differ in it."""
    import hashlib

    identifier = textOf(dataset, "PatientID").strip()
    return hashlib.sha256(identifier.encode()).hexdigest() if identifier else ""
