"""MetaImage files: their header and their size are checked before an image reader reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...base.errors import InputError
from . import headers
from .bytecounts import CHUNK, decompressedSize, remaining

TEXTS = ("Name", "Comment", "ObjectType", "ObjectSubType", "TransformType")
LONGEST_TEXT = 250
# Sizes in bytes of the types in MetaImage files.
TYPES = {
    **dict.fromkeys(("MET_CHAR", "MET_UCHAR"), 1),
    **dict.fromkeys(("MET_SHORT", "MET_USHORT"), 2),
    **dict.fromkeys(("MET_INT", "MET_UINT", "MET_FLOAT"), 4),
    **dict.fromkeys(("MET_LONG_LONG", "MET_ULONG_LONG", "MET_DOUBLE"), 8),
}


def fieldsOf(file: BinaryIO) -> dict[str, str]:
    """Return the fields of a MetaImage header; leaves the file at its end. Raises ValueError if damaged."""
    fields: dict[str, str] = {}
    while line := file.readline(headers.LONGEST_HEADER):
        name, _, value = line.decode("latin-1").partition("=")
        name, value = name.strip(), value.strip()
        if name in TEXTS and len(value) > LONGEST_TEXT:
            raise ValueError("This is not a MetaImage header.")
        fields[name] = value
        if name == "ElementDataFile":
            break
    return fields


def inspect(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    """Return remarks, and how many bytes the header promises and the file holds; see table.ImageFormat."""
    with path.open("rb") as file:
        fields = fieldsOf(file)
        if "NDims" not in fields or "ElementDataFile" not in fields:
            file.seek(0)
            if b"NDims" in file.read(CHUNK):  # the reader would take this for a MetaImage
                raise ValueError("The header is incomplete.")
            return (), 0, 0
        sizes, remarks = _sizesAndRemarks(fields)
        if not withVoxels or fields["ElementDataFile"] != "LOCAL":
            return remarks, 0, 0
        values = math.prod(sizes) * int(fields.get("ElementNumberOfChannels", "1"))
        known = values * TYPES.get(fields.get("ElementType", ""), 0)
        if fields.get("CompressedData", "").lower() == "true":
            return remarks, known, decompressedSize(file, known)
        if fields.get("BinaryData", "True").lower() != "true" or "HeaderSize" in fields:
            return remarks, 0, 0
        return remarks, known, remaining(file)


def _sizesAndRemarks(fields: Mapping[str, str]) -> tuple[list[int], tuple[str, ...]]:
    """Return the number of voxels along each axis, and remarks on a header. Raises InputError for an invalid one."""
    headers.requireDataFile(fields.get("ElementDataFile", ""))
    headers.requireMillimeters(fields.get("DistanceUnits", ""))
    dimension = int(fields.get("NDims", "0"))
    if not 2 <= dimension <= 4:
        raise InputError(f"Images of 2 or 3 dimensions can be compared; this one has {dimension}.")
    sizes = [int(size) for size in fields.get("DimSize", "").split()]
    if len(sizes) != dimension:
        raise ValueError("There are more or fewer sizes than axes.")
    if min(sizes) < 1:
        raise InputError(f"An image grid needs at least one voxel along each axis, not {tuple(sizes)}.")
    names = (
        ("ElementSpacing", "ElementSize"),
        ("Offset", "Position", "Origin"),
        ("TransformMatrix", "Orientation", "Rotation"),
    )
    # the first of these fields that exists
    spacing, origin, matrix = (next((headers.numbers(fields[n]) for n in some if n in fields), []) for some in names)
    for given, count in ((spacing, dimension), (origin, dimension), (matrix, dimension**2)):
        if given and len(given) < count:
            raise InputError(headers.NO_NUMBER)
    headers.requirePlace([*spacing, *origin, *matrix], [abs(length) for length in spacing])
    if matrix and not headers.spansSpace(np.reshape(matrix[: dimension**2], (dimension, dimension))):
        raise InputError(headers.NO_VOLUME)
    return sizes, headers.tellMissing(bool(spacing), bool(origin))
