"""Checking the headers of NRRD and MetaImage files before an image reader reads them.

The readers silently ignore what they do not understand (a position that is not a number becomes 0, a length in cm is
taken as mm), and certain headers cause buffer overflows. Neither must affect a patient.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..base.errors import InputError
from ..geometry.grids import requireScale
from .niftiheaders import NO_PLACE

# All fields of the NRRD format, in lower case: https://teem.sourceforge.net/nrrd/format.html
NRRD_FIELD = re.compile(
    "content|number|type|block ?size|dimension|space|space (dimension|directions|units|origin)|sizes|spacings|"
    "thicknesses|axis ?(mins|maxs)|centers|centerings|kinds|labels|units|min|max|old ?(min|max)|endian|encoding|"
    "line ?skip|byte ?skip|sample ?units|measurement frame|data ?file"
)
# Longer values overflow the readers' buffers.
LONGEST_VALUE = 500
META_TEXTS = ("Name", "Comment", "ObjectType", "ObjectSubType", "TransformType")
LONGEST_TEXT = 250
# Longer than any header, in bytes.
LONGEST_HEADER = 100_000_000
# A numbered series of data files: a name with one number format, then first, last and step.
SERIES = re.compile(r"[^%]*%0?\d{0,2}d[^%]*( -?\d+){3,4}")
MILLIMETERS = frozenset({"", "mm", "millimeter", "millimeters", "millimetre", "millimetres", "?", "???"})
NO_VOXEL_SIZE = "the file does not say how large its voxels are: they were taken to be 1 mm along each axis"
NO_NUMBER = "its header has a place or a voxel size that is not a number."
NO_SIZE = "its header has a voxel that is 0 mm long."
NO_VOLUME = "the axes in its header do not span space."


def nrrdFields(file: BinaryIO) -> dict[str, str]:
    """Return the fields of an NRRD header in lower case; leaves the file at its end. Raises ValueError if damaged."""
    fields: dict[str, str] = {}
    file.readline(LONGEST_HEADER)
    while (line := file.readline(LONGEST_HEADER)).strip():
        name, colon, value = line.decode("latin-1").partition(":")
        if line.startswith(b"#") or not colon or value.startswith("="):
            continue
        name, value = name.strip().lower(), value.strip()
        if not NRRD_FIELD.fullmatch(name) or (name != "content" and len(value) > LONGEST_VALUE):
            raise ValueError("This is not an NRRD header.")
        fields[name.replace(" ", "")] = value.lower() if name not in ("data file", "datafile") else value
    return fields


def metaFields(file: BinaryIO) -> dict[str, str]:
    """Return the fields of a MetaImage header; leaves the file at its end. Raises ValueError if damaged."""
    fields: dict[str, str] = {}
    while line := file.readline(LONGEST_HEADER):
        name, _, value = line.decode("latin-1").partition("=")
        name, value = name.strip(), value.strip()
        if name in META_TEXTS and len(value) > LONGEST_TEXT:
            raise ValueError("This is not a MetaImage header.")
        fields[name] = value
        if name == "ElementDataFile":
            break
    return fields


def dataFileOf(path: Path) -> str:
    """Return the data file entry of an NRRD or MetaImage header, or "" if the values are in the same file.

    The entry is a file name, or a notation for several files. Raises ValueError if the header is damaged.
    """
    with path.open("rb") as file:
        if path.suffix.lower() in (".nrrd", ".nhdr"):
            return nrrdFields(file).get("datafile", "")
        name = metaFields(file).get("ElementDataFile", "")
        return "" if name == "LOCAL" else name


def checkNrrd(path: Path, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return remarks on the header of an NRRD file for readers of the results.

    Raises InputError for lengths in units other than mm, and for invalid positions and voxel sizes.
    """
    _requireDataFile(fields.get("datafile", ""))
    if fields.get("encoding") in ("ascii", "text", "txt"):
        _requireShortWords(path, fields)
    for unit in re.findall(r'"([^"]*)"', f"{fields.get('spaceunits', '')} {fields.get('units', '')}"):
        _requireMillimeters(unit)
    sizes = [int(size) for size in fields.get("sizes", "").split()]
    if any(size < 1 for size in sizes):
        raise ValueError("There is no such image.")
    vectors = vectorsOf(fields.get("spacedirections", ""))
    spacings = [float(text) for text in fields.get("spacings", "").split()]
    origin = [number for vector in vectorsOf(fields.get("spaceorigin", "")) for number in vector]
    lengths = [math.hypot(*vector) for vector in vectors] or [abs(s) for s in spacings if not math.isnan(s)]
    _requirePlace([*lengths, *origin], lengths)
    if len(vectors) in (2, 3) and all(len(vector) == 3 for vector in vectors):
        axes = np.array(vectors) / np.array(lengths)[:, None]
        # an image of two dimensions may lie anywhere in space
        _requireVolume(axes if len(axes) == 3 else np.vstack([axes, np.cross(*axes)]))
    return _unsaid(bool(lengths), bool(origin) or "axismins" in fields)


def vectorsOf(text: str) -> list[list[float]]:
    """Return the vectors in an entry of an NRRD header. Raises InputError for what is no number."""
    return [_numbers(part) for part in re.findall(r"\(([^)]*)\)", text)]


def _unsaid(isVoxelKnown: bool, isPlaceKnown: bool) -> tuple[str, ...]:
    """Return remarks on what a header does not say."""
    return (() if isVoxelKnown else (NO_VOXEL_SIZE,)) + (() if isPlaceKnown else (NO_PLACE,))


def checkMeta(path: Path, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return remarks on the header of a MetaImage file for readers of the results; raises as checkNrrd."""
    _requireDataFile(fields.get("ElementDataFile", ""))
    _requireMillimeters(fields.get("DistanceUnits", ""))
    dimension = int(fields.get("NDims", "0"))
    if not 2 <= dimension <= 4:
        raise InputError(f"Images of 2 or 3 dimensions can be compared; this one has {dimension}.")
    sizes = metaSizes(fields)
    if len(sizes) != dimension:
        raise ValueError("There are more or fewer sizes than axes.")
    if min(sizes) < 1:
        raise InputError(f"An image grid needs at least one voxel along each axis, not {tuple(sizes)}.")
    spacing = _field(fields, "ElementSpacing", "ElementSize")
    origin = _field(fields, "Offset", "Position", "Origin")
    matrix = _field(fields, "TransformMatrix", "Orientation", "Rotation")
    for given, count in ((spacing, dimension), (origin, dimension), (matrix, dimension**2)):
        if given and len(given) < count:
            raise InputError(NO_NUMBER)
    _requirePlace([*spacing, *origin, *matrix], [abs(length) for length in spacing])
    if matrix:
        _requireVolume(np.reshape(matrix[: dimension**2], (dimension, dimension)))
    return _unsaid(bool(spacing), bool(origin))


def metaSizes(fields: Mapping[str, str]) -> list[int]:
    """Return the number of voxels along each axis of a MetaImage."""
    return [int(size) for size in fields.get("DimSize", "").split()]


def _field(fields: Mapping[str, str], *names: str) -> list[float]:
    """Return the numbers in the first of these fields that exists, or [] if none does."""
    return next((_numbers(fields[name]) for name in names if name in fields), [])


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(NO_NUMBER) from None


def _requirePlace(places: list[float], lengths: list[float]) -> None:
    if not all(map(math.isfinite, places)):
        raise InputError(NO_NUMBER)
    if 0 in lengths:
        raise InputError(NO_SIZE)
    requireScale(max(map(abs, places), default=0.0), min(lengths, default=1.0))


def _requireVolume(axes: np.ndarray) -> None:
    """Raise InputError if axes (n, n) of similar lengths are linearly dependent."""
    if abs(np.linalg.det(axes)) < 1e-6 * np.linalg.norm(axes, axis=1).prod() or not axes.any(axis=1).all():
        raise InputError(NO_VOLUME)


def _requireMillimeters(unit: str) -> None:
    if unit.strip().lower() not in MILLIMETERS:
        raise InputError(f"its header gives lengths in {unit.strip()[:20]} instead of mm.")


def _requireDataFile(name: str) -> None:
    """Raise ValueError for a data file name that the readers would use as a number format although it is not one."""
    if "%" in name and not SERIES.fullmatch(name):
        raise ValueError("The name of the data file is wrong.")


def _requireShortWords(path: Path, fields: Mapping[str, str]) -> None:
    """Raise if voxels are written as text with a word that is longer than any number, or as text in a separate file."""
    if "datafile" in fields:
        raise InputError("its voxels are written as text in a file of its own; save it in binary.")
    with path.open("rb") as file:
        while file.readline(LONGEST_HEADER).strip():
            pass
        rest = b""
        while block := file.read(1 << 20):
            words = (rest + block).split()
            if any(len(word) > 100 for word in words):
                raise ValueError("No number is that long.")
            rest = words[-1] if words and not block[-1:].isspace() else b""


def unicodeText(value: str) -> str:
    """Return a header's text; text that is not UTF-8 is decoded as Latin-1, the most common alternative."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value
