"""Checking that an image file is complete and its header is valid.

The readers silently fill missing or damaged parts with zeros, and ignore data that the header does not mention.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..base.errors import InputError
from ..model.inputs import NO_NUMBERS
from . import niftiheaders, textheaders

CHUNK = 1 << 20
# Names of gzip compression in NRRD files.
GZIP = ("gz", "gzip")
DAMAGED = "the file is damaged or incomplete."
SURPLUS = "the file holds more data than its header describes, and the rest was left out"
# Sizes in bytes of the types in MetaImage files.
META_TYPES = {
    **dict.fromkeys(("MET_CHAR", "MET_UCHAR"), 1),
    **dict.fromkeys(("MET_SHORT", "MET_USHORT"), 2),
    **dict.fromkeys(("MET_INT", "MET_UINT", "MET_FLOAT"), 4),
    **dict.fromkeys(("MET_LONG_LONG", "MET_ULONG_LONG", "MET_DOUBLE"), 8),
}
# Sizes in bytes of the types in NRRD files, whose names may also contain "signed", "unsigned", "int" and "_t".
NRRD_TYPES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("longlong", "ulonglong", "int64", "uint64", "double"), 8),
}


def inspect(path: Path, suffix: str, withVoxels: bool = True) -> tuple[str, ...]:
    """Return remarks on an image file for readers of the results, as clauses.

    withVoxels: whether to check its voxels, not only its header. Raises InputError if the file is truncated, if its
    compressed part is damaged, and for an invalid header. Problems that the image readers detect themselves, such as
    too few uncompressed values in an NRRD file, are left to them.
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
    except (EOFError, ValueError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(DAMAGED) from error
    if there < known:
        raise InputError(DAMAGED)
    return (*remarks, SURPLUS) if known and there > known else remarks


# Each of these returns remarks, the number of bytes expected from the header (0 if unknown), and the number found.


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
    """Return the total size of the blocks of a NIfTI file in bytes.

    Raises InputError for voxels that are not finite numbers: the reader would treat them as background.
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
            # too few are detected by the reader
            return remarks, known, max(_remaining(file), known)
        if fields.get("encoding") in GZIP:
            return remarks, known, _decompressedSize(file, known)
    return remarks, 0, 0


def promisedSum(path: Path) -> int | None:
    """Return the CRC-32 of the voxels at the end of a gzip-compressed NRRD file whose header has been inspected.

    Voxels with this checksum are complete and undamaged. Returns None if there is no such checksum: for other files,
    and if the length at the end of the file differs from that expected from the header.
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
    """Return the size of the voxels in bytes according to an NRRD header, 0 if unknown."""
    return math.prod(int(size) for size in fields.get("sizes", "0").split()) * nrrdTypeSize(fields)


def nrrdTypeSize(fields: Mapping[str, str]) -> int:
    """Return the size in bytes of a value of an NRRD file, 0 for types without a fixed size."""
    words = fields.get("type", "").replace("_t", "").replace("unsigned ", "u").replace("signed ", "").split()
    # "long long int" is "longlong", "short int" is "short"
    joined = "".join(words)
    return NRRD_TYPES.get(joined, NRRD_TYPES.get(joined.removesuffix("int"), 0))


def _metaImage(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    with path.open("rb") as file:
        fields = textheaders.metaFields(file)
        if "NDims" not in fields or "ElementDataFile" not in fields:
            file.seek(0)
            if b"NDims" in file.read(CHUNK):  # the reader takes this for a MetaImage, and crashes on some parts of one
                raise ValueError("The header is incomplete.")
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
    """Return the decompressed size of the rest of a file in bytes, plus any surplus bytes after it."""
    return _withRest(sum(map(len, _decompressed(file))), known, file)


def _withRest(size: int, known: int, file: BinaryIO) -> int:
    """Return a size plus the unread bytes of the file, which are a surplus if the size has reached the expected one."""
    return size if size < known else size + _remaining(file)


def _decompressed(file: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed rest of a file in blocks; it is a zlib stream or a sequence of gzip streams.

    Afterwards the file is positioned behind the last stream. Raises zlib.error if a stream is damaged, EOFError if it
    is truncated.
    """
    data = file.read(CHUNK)
    while True:
        decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # also verifies the checksum
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
