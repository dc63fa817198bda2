"""Opening DICOM files: whether a file is one, and what it says, or that it is damaged."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator, Mapping, MutableSequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from ...base.errors import InputError, installing
from ...base.progress import Cancelled
from ...base.texts import oneLine

# The bytes at offset 128 of a DICOM file.
MAGIC, MAGIC_END = b"DICM", 132
READING, WRITING = (f"{doing} DICOM needs pydicom and highdicom" for doing in ("reading", "writing"))
DAMAGED = "the DICOM file is damaged or incomplete."
MODALITY = 0x0008_0060
# The length of elements that end with a delimiter.
UNDEFINED = 0xFFFF_FFFF
# Files without the preamble begin with an element of one of these groups, shorter than this number of bytes.
FIRST_GROUPS, FIRST_LENGTH = (0x0002, 0x0008), 256
# The last element of all, and the types of elements with a longer head.
LAST, LONG = (0xFFFC, 0xFFFC), (b"OB", b"SQ", b"UN", b"UT", b"OW")


def isDicom(path: Path) -> bool:
    """Return whether a file begins as DICOM does, with or without the preamble. Raises OSError if it cannot be opened.

    Planning systems export structure sets without the preamble and without the information about the file behind it.
    """
    with path.open("rb") as file:
        start = file.read(2 * FIRST_LENGTH)
    return start[MAGIC_END - len(MAGIC) : MAGIC_END] == MAGIC or any(_areElements(start, order) for order in "<>")


def _areElements(start: bytes, order: str) -> bool:
    """Return whether a file begins with two elements. order: of bytes, "<" or ">"."""
    try:
        group, element, kind, short = struct.unpack_from(f"{order}HH2sH", start)
        if kind in LONG:
            begin, (length,) = 12, struct.unpack_from(f"{order}I", start, 8)
        elif kind.isalpha() and kind.isupper():
            begin, length = 8, short
        else:  # without a type, the length has four bytes
            begin, (length,) = 8, struct.unpack_from(f"{order}I", start, 4)
        if group not in FIRST_GROUPS or length > FIRST_LENGTH:
            return False
        following = struct.unpack_from(f"{order}HH", start, begin + length)
    except struct.error:  # it ends before
        return False
    return (group, element) < following <= LAST


def headerOf(path: Path):
    """Return the beginning of a DICOM file as a pydicom Dataset, up to the modality. Errors as for read()."""
    requireInstalled("pydicom")
    from pydicom.filereader import read_partial

    with readable(), warnings.catch_warnings(), path.open("rb") as file:
        warnings.simplefilter("ignore")  # reported when the whole file is read
        return read_partial(file, stop_when=lambda tag, *_: tag > MODALITY, force=True)


def read(path: Path, **options):
    """Return a DICOM file as a pydicom Dataset. Raises InputError when it is damaged, and without pydicom.

    Whether it is DICOM at all must have been checked with isDicom(). Values are decoded on access, within readable().
    """
    requireInstalled("pydicom")
    from pydicom import dcmread
    from pydicom.uid import ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian

    # pydicom only warns about a file that ends too early
    with readable(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = dcmread(path, force=True, **options)
    # sequences of known length would silently lose items
    elements: list = [dataset.get_item(key) for key in list(dataset.keys())]
    raw = [e for e in elements if getattr(e, "is_raw", False) and isinstance(e.value, bytes) and e.length != UNDEFINED]
    endsEarly = any(len(element.value) < element.length for element in raw)
    if endsEarly or any("end of file" in str(warning.message).lower() for warning in caught):
        raise InputError(DAMAGED)
    if "TransferSyntaxUID" not in dataset.file_meta:  # without the preamble; what decodes pixels needs it
        isImplicit, isLittle = dataset.original_encoding
        uncompressed = ImplicitVRLittleEndian if isImplicit else ExplicitVRLittleEndian
        dataset.file_meta.TransferSyntaxUID = uncompressed if isLittle else ExplicitVRBigEndian
    return dataset


def readNamed(path: Path, **options):
    """Do as read(), with errors that name the file."""
    try:
        return read(path, **options)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def requireInstalled(module: str, what: str = READING) -> None:
    """Raise InputError if pydicom or highdicom is not installed. what: what needs it, for the sentence."""
    try:
        import_module(module)
    except ImportError as error:
        raise InputError(f"{what}: {installing('dicom')}.") from error


@contextmanager
def readable() -> Iterator[None]:
    """Raise InputError in place of any error from reading or decoding damaged bytes inside the block."""
    try:
        yield
    except (InputError, MemoryError, Cancelled):
        raise
    except Exception as error:
        raise InputError(DAMAGED) from error


def canDecode(syntax) -> bool:
    """Return whether pixels can be decoded that are stored with a transfer syntax."""
    from pydicom.pixels.decoders.base import get_decoder

    try:
        return get_decoder(syntax).is_available
    except NotImplementedError:
        return False


def textOf(dataset, name: str) -> str:
    """Return the text of an element, "" without it. Backslashes, which separate values in DICOM, are kept as text."""
    value = dataset.get(name, None)
    return "\\".join(map(str, value)) if isinstance(value, MutableSequence) else str(value or "")


def fieldOf(text: str) -> str:
    """Return a text as the value of an element, at most 64 characters, without a backslash and without controls."""
    return oneLine(text).replace("\\", "/")[:64]


def requireAllowed(values: Mapping[str, str]) -> None:
    """Raise InputError if an element cannot have its value. values: by keyword."""
    from pydicom import config, datadict, valuerep

    for name, value in values.items():
        with suppress(ValueError):
            valuerep.validate_value(datadict.dictionary_VR(name), value, config.RAISE)
            if "\\" not in str(value) and str(value).isprintable():
                continue
        raise InputError(f"DICOM does not allow the {name} {value!r}.")


def hashOf(patient: str) -> str:
    """Return a hash of a patient's ID, "" without one: enough to detect that two files differ in it."""
    import hashlib

    return hashlib.sha256(patient.strip().encode()).hexdigest() if patient.strip() else ""


def patientOf(dataset) -> str:
    """Return the hash of the ID of a file's patient."""
    return hashOf(textOf(dataset, "PatientID"))
