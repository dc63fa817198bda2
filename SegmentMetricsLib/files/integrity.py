"""Whether an image file is whole and its header makes sense.

The readers fill what is missing or damaged with zeros, leave out what the header does not mention, and say nothing.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..errors import InputError
from ..inputs import NO_NUMBERS
from . import niftiheaders, textheaders

CHUNK = 1 << 20
# What NRRD files call it.
GZIP = ("gz", "gzip")
DAMAGED = "the file is damaged or incomplete."
SURPLUS = "the file holds more data than its header describes, and the rest was left out"
# Bytes of the types that MetaImage files name.
META_TYPES = {
    **dict.fromkeys(("MET_CHAR", "MET_UCHAR"), 1),
    **dict.fromkeys(("MET_SHORT", "MET_USHORT"), 2),
    **dict.fromkeys(("MET_INT", "MET_UINT", "MET_FLOAT"), 4),
    **dict.fromkeys(("MET_LONG_LONG", "MET_ULONG_LONG", "MET_DOUBLE"), 8),
}
# Bytes of the types that NRRD files name, which may say "signed", "unsigned", "int" and "_t", too.
NRRD_TYPES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("longlong", "ulonglong", "int64", "uint64", "double"), 8),
}


def inspect(path: Path, suffix: str, withVoxels: bool = True) -> tuple[str, ...]:
    """Return what a reader of the numbers should know of an image file, in half sentences.

    withVoxels: whether its voxels are needed, not only its header. Raises InputError when the file was cut off, when
    its compressed part is damaged, and for a header that no image can have. What other readers notice themselves, such
    as too few uncompressed values in a NRRD file, is left to them.
    """
    try:
        if suffix in (".nii", ".nii.gz"):
            remarks, known, there = _nifti(path, withVoxels)
        elif suffix in (".nrrd", ".seg.nrrd", ".nhdr"):
            remarks, known, there = _nrrd(path, withVoxels)
        else:
            remarks, known, there = _metaImage(path, withVoxels)
    except InputError:
        raise
    except (EOFError, ValueError, zlib.error) as error:
        raise InputError(DAMAGED) from error
    if there < known:
        raise InputError(DAMAGED)
    return (*remarks, SURPLUS) if known and there > known else remarks


# Each of these returns remarks, how many bytes the header tells of (0 if that is not known), and how many there are.


def _nifti(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    header = niftiheaders.check(path)
    if not withVoxels:
        return (), 0, 0
    with path.open("rb") as file:
        isCompressed = file.read(2) == niftiheaders.GZIP
        file.seek(0)
        if isCompressed:
            size = _niftiSize(_decompressed(file), header)
        elif header is not None and header.kind:
            size = _niftiSize(iter(lambda: file.read(CHUNK), b""), header)
        else:
            size = file.seek(0, 2)
        known = header.wholeSize if header else 0
        return (), known, _withRest(size, known, file)


def _niftiSize(blocks: Iterable[bytes], header: niftiheaders.Header | None) -> int:
    """Return how many bytes the blocks of a NIfTI file hold.

    Raises InputError for voxels that are not numbers: the reader would take them for background.
    """
    size, rest = 0, b""
    kind = np.dtype(header.kind) if header is not None and header.kind else None
    for block in blocks:
        if kind is not None:
            first, last = (max(end - size, 0) for end in (header.start, header.wholeSize))
            rest += block[first:last]
            whole = len(rest) - len(rest) % kind.itemsize
            if not np.isfinite(np.frombuffer(rest[:whole], kind)).all():
                raise InputError(NO_NUMBERS)
            rest = rest[whole:]
        size += len(block)
    return size


def _nrrd(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    with path.open("rb") as file:
        if file.read(4) != b"NRRD":
            return (), 0, 0
        fields = textheaders.nrrdFields(file)
        remarks = textheaders.checkNrrd(path, fields)
        if withVoxels and fields.get("encoding") in ("bz2", "bzip2"):
            raise InputError("its voxels are compressed with bzip2, which is not supported; save it with gzip.")
        if not withVoxels or fields.keys() & {"datafile", "lineskip", "byteskip"}:
            return remarks, 0, 0
        known = _nrrdSize(fields)
        if fields.get("encoding") == "raw":
            # too few are noticed by whoever reads them
            return remarks, known, max(_remaining(file), known)
        if fields.get("encoding") in GZIP:
            return remarks, known, _decompressedSize(file, known)
    return remarks, 0, 0


def promisedSum(path: Path) -> int | None:
    """Return the CRC-32 that a gzip file ends with, of the voxels of a NRRD file whose header has been inspected.

    What a reader got out of the file is all of it, undamaged, if it has that sum. None where the sum is of something
    else: of other files, and where the file ends with another length than the header tells of.
    """
    with path.open("rb") as file:
        if file.read(4) != b"NRRD":
            return None
        fields = textheaders.nrrdFields(file)
        if fields.get("encoding") not in GZIP or fields.keys() & {"datafile", "lineskip", "byteskip"}:
            return None
        if _remaining(file) < 8:
            return None
        file.seek(-8, 2)
        found, size = struct.unpack("<II", file.read())
    return found if size == _nrrdSize(fields) % 2**32 else None


def _nrrdSize(fields: Mapping[str, str]) -> int:
    """Return how many bytes of voxels a NRRD header tells of, 0 if that is not known."""
    return math.prod(int(size) for size in fields.get("sizes", "0").split()) * nrrdTypeSize(fields)


def nrrdTypeSize(fields: Mapping[str, str]) -> int:
    """Return how many bytes a value of a NRRD file has, 0 for types without a size of their own."""
    words = fields.get("type", "").replace("_t", "").replace("unsigned ", "u").replace("signed ", "").split()
    # "long long int" is "longlong", "short int" is "short"
    joined = "".join(words)
    return NRRD_TYPES.get(joined, NRRD_TYPES.get(joined.removesuffix("int"), 0))


def _metaImage(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    with path.open("rb") as file:
        fields = textheaders.metaFields(file)
        if "NDims" not in fields or "ElementDataFile" not in fields:
            return (), 0, 0
        remarks = textheaders.checkMeta(path, fields)
        if not withVoxels or fields["ElementDataFile"] != "LOCAL":
            return remarks, 0, 0
        values = math.prod(textheaders.metaSizes(fields)) * int(fields.get("ElementNumberOfChannels", "1"))
        known = values * META_TYPES.get(fields.get("ElementType", ""), 0)
        if fields.get("CompressedData", "").lower() == "true":
            return remarks, known, _decompressedSize(file, known)
        if fields.get("BinaryData", "True").lower() != "true" or "HeaderSize" in fields:
            return remarks, 0, 0
        return remarks, known, _remaining(file)


def _remaining(file: BinaryIO) -> int:
    start = file.tell()
    return file.seek(0, 2) - start


def _decompressedSize(file: BinaryIO, known: int) -> int:
    """Return how many bytes the rest of a compressed file holds, with what lies behind."""
    return _withRest(sum(map(len, _decompressed(file))), known, file)


def _withRest(size: int, known: int, file: BinaryIO) -> int:
    """Return a number of bytes with those of the file that were not read: surplus, if the header tells of no more."""
    return size if size < known else size + _remaining(file)


def _decompressed(file: BinaryIO) -> Iterator[bytes]:
    """Yield what the rest of a file holds, block by block: a zlib stream, or gzip streams one behind the other.

    The file is then behind the last one, where nothing should be. Raises zlib.error when they are damaged, EOFError
    when they were cut off.
    """
    data = file.read(CHUNK)
    while True:
        decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # also compares the checksum
        while not decompressor.eof:
            data = data or file.read(CHUNK)
            if not data:
                raise EOFError
            yield decompressor.decompress(data, CHUNK)
            data = decompressor.unconsumed_tail
        data = decompressor.unused_data + file.read(CHUNK)
        if not data.startswith(niftiheaders.GZIP):
            file.seek(-len(data), 1)
            return
