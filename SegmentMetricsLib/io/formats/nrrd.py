"""NRRD files: their header and their size are checked before an image reader reads them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...base.errors import InputError
from . import headers
from .bytecounts import decompressedSize, promisedSum, remaining

# All fields of the NRRD format, in lower case: https://teem.sourceforge.net/nrrd/format.html
FIELD = re.compile(
    "content|number|type|block ?size|dimension|space|space (dimension|directions|units|origin)|sizes|spacings|"
    "thicknesses|axis ?(mins|maxs)|centers|centerings|kinds|labels|units|min|max|old ?(min|max)|endian|encoding|"
    "line ?skip|byte ?skip|sample ?units|measurement frame|data ?file"
)
# The readers fail on longer values.
LONGEST_VALUE = 500
GZIP_NAMES = ("gz", "gzip")
# Sizes in bytes of the types in NRRD files, whose names may also contain "signed", "unsigned", "int" and "_t".
TYPES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("longlong", "ulonglong", "int64", "uint64", "double"), 8),
}
DATA_FILE = re.compile(rb"data ?file *:(?!=)", re.IGNORECASE)
# Fields of an NRRD header that have an entry for every axis and are not needed.
OF_AXES = re.compile(
    rb"(spacings|thicknesses|axis ?mins|axis ?maxs|centers|centerings|kinds|labels|units) *:(?!=)", re.IGNORECASE
)


def fieldsOf(file: BinaryIO) -> dict[str, str]:
    """Return the fields of an NRRD header in lower case; leaves the file at its end. Raises ValueError if damaged."""
    fields: dict[str, str] = {}
    file.readline(headers.LONGEST_HEADER)
    while (line := file.readline(headers.LONGEST_HEADER)).strip():
        name, colon, value = line.decode("latin-1").partition(":")
        if line.startswith(b"#") or not colon or value.startswith("="):
            continue
        name, value = name.strip().lower(), value.strip()
        if not FIELD.fullmatch(name) or (name != "content" and len(value) > LONGEST_VALUE):
            raise ValueError("This is not an NRRD header.")
        fields[name.replace(" ", "")] = value.lower() if name not in ("data file", "datafile") else value
    return fields


def vectorsOf(text: str) -> list[list[float]]:
    """Return the vectors in an entry of an NRRD header. Raises InputError for what is no number."""
    return [headers.numbers(part) for part in re.findall(r"\(([^)]*)\)", text)]


def inspect(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    """Return remarks, and how many bytes the header promises and the file holds; see table.ImageFormat."""
    with path.open("rb") as file:
        if file.read(4) != b"NRRD":
            return (), 0, 0
        fields = fieldsOf(file)
        encoding = fields.get("encoding")
        headers.requireDataFile(fields.get("datafile", ""))
        if encoding in ("ascii", "text", "txt"):
            if "datafile" in fields:
                raise InputError("its voxels are written as text in a file of its own; save it in binary.")
            if any(len(word) > 100 for word in file.read().split()):
                raise ValueError("No number is that long.")
        remarks = _remarks(fields)
        if withVoxels and encoding in ("bz2", "bzip2"):
            raise InputError("its voxels are compressed with bzip2, which is not supported; save it with gzip.")
        if not withVoxels or fields.keys() & {"datafile", "lineskip", "byteskip"}:
            return remarks, 0, 0
        known = _sizeOf(fields)
        if encoding == "raw":
            # too few are detected by the reader
            return remarks, known, max(remaining(file), known)
        if encoding in GZIP_NAMES:
            return remarks, known, decompressedSize(file, known)
    return remarks, 0, 0


def checkSums(path: Path) -> tuple[int, int] | None:
    """Return the CRC-32 of nothing, and that of the gzip-compressed voxels; see table.ImageFormat."""
    with path.open("rb") as file:
        fields = fieldsOf(file) if file.read(4) == b"NRRD" else {}
        if fields.get("encoding") not in GZIP_NAMES or fields.keys() & {"datafile", "lineskip", "byteskip"}:
            return None
        promised = promisedSum(file, _sizeOf(fields))
    return None if promised is None else (0, promised)


def _sizeOf(fields: Mapping[str, str]) -> int:
    """Return the size of the voxels in bytes according to a header, 0 if unknown or of no fixed size."""
    words = fields.get("type", "").replace("_t", "").replace("unsigned ", "u").replace("signed ", "").split()
    # "long long int" is "longlong", "short int" is "short"
    joined = "".join(words)
    each = TYPES.get(joined, TYPES.get(joined.removesuffix("int"), 0))
    return math.prod(int(size) for size in fields.get("sizes", "0").split()) * each


def _remarks(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return remarks on a header. Raises InputError for lengths in other units than mm, and for an invalid place."""
    for unit in re.findall(r'"([^"]*)"', f"{fields.get('spaceunits', '')} {fields.get('units', '')}"):
        headers.requireMillimeters(unit)
    sizes = [int(size) for size in fields.get("sizes", "").split()]
    if any(size < 1 for size in sizes):
        raise ValueError("There is no such image.")
    vectors = vectorsOf(fields.get("spacedirections", ""))
    spacings = [float(text) for text in fields.get("spacings", "").split()]
    origin = [number for vector in vectorsOf(fields.get("spaceorigin", "")) for number in vector]
    lengths = [math.hypot(*vector) for vector in vectors] or [abs(s) for s in spacings if not math.isnan(s)]
    lengths = lengths or [abs(step) for _, step in _spansOf(fields)]
    headers.requirePlace([*lengths, *origin], lengths)
    if len(vectors) in (2, 3) and all(len(vector) == 3 for vector in vectors):
        axes = np.array(vectors) / np.array(lengths)[:, None]
        # an image of two dimensions may lie anywhere in space
        if not headers.spansSpace(axes if len(axes) == 3 else np.vstack([axes, np.cross(*axes)])):
            raise InputError(headers.NO_VOLUME)
    # without the length of voxels, ITK ignores the ends of axes
    return headers.tellMissing(bool(lengths), bool(origin) or (bool(lengths) and "axismins" in fields))


def _spansOf(fields: Mapping[str, str]) -> list[tuple[float, float]]:
    """Return the place of the first voxel and the step to the next one along each axis, in mm, as its ends say it.

    [] if the header says it in another way or does not say it. Cells reach half a step beyond the centers of the first
    and the last voxel, nodes do not. Source: Teem's format definition, "axis mins", "axis maxs" and "centers".
    """
    if "spacedirections" in fields or fields.get("spacings", "nan").replace("nan", "").split():
        return []
    ends = [[float(text) for text in fields.get(name, "").split()] for name in ("axismins", "axismaxs")]
    sizes = [int(size) for size in fields.get("sizes", "").split()]
    if not len(ends[0]) == len(ends[1]) == len(sizes) or not np.isfinite(ends).all():
        return []
    centers = fields.get("centers", fields.get("centerings", "")).split() or ["cell"] * len(sizes)
    found = []
    for low, high, size, center in zip(*ends, sizes, centers, strict=True):
        isNode = center == "node"
        step = (high - low) / max(size - isNode, 1)
        found.append((low if isNode else low + step / 2, step))
    return found


def mend(path: Path) -> bytes | None:
    """Return the content of a file that ITK would read wrongly in a form that it reads rightly, None for any other.

    A flat image in space becomes a volume of one slice. The voxel size in the ends of axes, which ITK ignores, becomes
    that of directions.
    """
    with path.open("rb") as file:
        if file.read(4) != b"NRRD":
            return None
        file.seek(0)
        fields = fieldsOf(file)
        start = file.tell()
        vectors, spans = vectorsOf(fields.get("spacedirections", "")), _spansOf(fields)
        isFlat = len(vectors) == 2 and all(len(vector) == 3 for vector in vectors)
        if not isFlat and not spans:
            return None
        file.seek(0)
        lines, rest = file.read(start).splitlines(), file.read()
    added = {}
    if isFlat:
        vectors.append(headers.normal(*np.array(vectors)).tolist())
        added = {"dimension": int(fields["dimension"]) + 1, "sizes": f"{fields['sizes']} 1"}
    else:  # place voxels along the axes of space
        starts, steps = zip(*spans)
        vectors = np.diag(steps).tolist()
        if not fields.keys() & {"space", "spacedimension"}:
            added = {"space dimension": len(spans)}
        added["space origin"] = f"({','.join(map(repr, starts))})"
    added["space directions"] = " ".join(f"({','.join(map(repr, vector))})" for vector in vectors)
    end = next((n for n, line in enumerate(lines) if not line or DATA_FILE.match(line)), len(lines))
    names = [line.partition(b":")[0].decode("latin-1").strip().lower() for line in lines[:end]]
    kept = [line for name, line in zip(names, lines) if name not in added and not OF_AXES.match(line)]
    given = (f"{name}: {value}".encode() for name, value in added.items())
    return b"\n".join([*kept, *given, *_absolute(path.parent, lines[end:])]) + b"\n" + rest


def _absolute(folder: Path, lines: Sequence[bytes]) -> list[bytes]:
    """Return the last lines of a header, from that of the data file on, with the whole paths of such files."""
    first, *others = lines or [b""]
    if (found := DATA_FILE.match(first)) is None:
        return list(lines)
    name = first[found.end() :].strip()
    if name.split()[:1] == [b"LIST"]:
        return [first, *(os.fsencode(folder.resolve() / os.fsdecode(line.strip())) for line in others if line.strip())]
    return [b"data file: " + os.fsencode(folder.resolve() / os.fsdecode(name)), *others]
