"""Whether an image file is whole. The readers fill what is missing or damaged with zeros, and say nothing."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError

CHUNK = 1 << 20
GZIP = b"\x1f\x8b"
NIFTI_HEADER = 348
# Bytes of the types that MetaImage files name.
META_TYPES = {
    **dict.fromkeys(("MET_SHORT", "MET_USHORT"), 2),
    **dict.fromkeys(("MET_INT", "MET_UINT", "MET_FLOAT"), 4),
    **dict.fromkeys(("MET_LONG_LONG", "MET_ULONG_LONG", "MET_DOUBLE"), 8),
}


def requireWhole(path: Path, suffix: str) -> None:
    """Raise InputError when an image file was cut off or its compressed part is damaged.

    What other readers notice themselves, such as too few uncompressed values in a NRRD file, is left to them.
    """
    try:
        with path.open("rb") as file:
            if suffix in (".nii", ".nii.gz"):
                whole = _niftiIsWhole(file)
            elif suffix in (".nrrd", ".seg.nrrd"):
                whole = _nrrdIsWhole(file)
            else:
                whole = suffix != ".mha" or _metaImageIsWhole(file)
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error):
        whole = False
    if not whole:
        raise InputError("the file is damaged or incomplete.")


def _niftiIsWhole(file: BinaryIO) -> bool:
    compressed = file.read(2) == GZIP
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if compressed else file
    header = stream.read(NIFTI_HEADER)
    if not compressed:
        return file.seek(0, 2) >= _niftiSize(header)
    size = len(header)
    while block := stream.read(CHUNK):  # also compares the checksum
        size += len(block)
    return size >= _niftiSize(header)


def _niftiSize(header: bytes) -> int:
    """Return how many bytes a NIfTI file must have at least, 0 if the header is none."""
    for order in "<>":
        if header[344:347] == b"n+1" and struct.unpack_from(f"{order}i", header)[0] == 348:
            *sizes, bits = struct.unpack_from(f"{order}8h14x2xh", header, 40)
            offset = struct.unpack_from(f"{order}f", header, 108)[0]
            voxels = math.prod(max(size, 1) for size in sizes[1 : 1 + max(0, min(sizes[0], 7))])
            return int(offset if math.isfinite(offset) else 0) + (voxels * bits + 7) // 8
    return 0


def _nrrdIsWhole(file: BinaryIO) -> bool:
    fields = {}
    for line in iter(file.readline, b""):
        if not line.strip():
            break
        name, colon, value = line.decode("latin-1").partition(":")
        if colon and not value.startswith("="):
            fields[name.strip().lower()] = value.strip().lower()
    if fields.get("encoding") not in ("gz", "gzip") or fields.keys() & {
        "data file",
        "datafile",
        "line skip",
        "byte skip",
    }:
        return True
    return _decompresses(file)


def _metaImageIsWhole(file: BinaryIO) -> bool:
    fields = {}
    for line in iter(file.readline, b""):
        name, _, value = line.decode("latin-1").partition("=")
        fields[name.strip()] = value.strip()
        if name.strip() == "ElementDataFile":
            break
    if fields.get("CompressedData", "").lower() != "true" or fields.get("ElementDataFile") != "LOCAL":
        return True
    sizes = [int(size) for size in fields.get("DimSize", "").split() if size.isdigit()]
    values = math.prod(sizes) * int(fields.get("ElementNumberOfChannels", "1"))
    return _decompresses(file, values * META_TYPES.get(fields.get("ElementType"), 1))


def _decompresses(file: BinaryIO, expected: int = 0) -> bool:
    """Return whether the rest of a file is one complete gzip or zlib stream of at least so many bytes.

    Raises zlib.error when it is damaged.
    """
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)
    data, size = b"", 0
    while not decompressor.eof:
        data = data or file.read(CHUNK)
        if not data:
            return False
        size += len(decompressor.decompress(data, 16 * CHUNK))
        data = decompressor.unconsumed_tail
    return size >= expected
