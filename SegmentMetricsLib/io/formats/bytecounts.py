"""How many bytes a file holds, packed ones as they are unpacked."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

# The bytes that packed data begin with.
GZIP = b"\x1f\x8b"
CHUNK = 1 << 20


def remaining(file: BinaryIO) -> int:
    """Return the number of bytes from here to the end of a file, and go there."""
    start = file.tell()
    return file.seek(0, 2) - start


def decompressedSize(file: BinaryIO, known: int) -> int:
    """Return the decompressed size of the rest of a file in bytes, plus what is behind it once known is reached."""
    size = sum(map(len, decompress(file)))
    return size if size < known else size + remaining(file)


def promisedSum(file: BinaryIO, size: int) -> int | None:
    """Return the CRC-32 at the end of a gzip stream, behind whose last byte it stands; None if it is of another size.

    The stream is the rest of the file. size: of the unpacked data in bytes.
    """
    if remaining(file) < 8:
        return None
    file.seek(-8, 2)
    found, unpacked = struct.unpack("<II", file.read())
    return found if unpacked == size % 2**32 else None


def decompress(file: BinaryIO) -> Iterator[bytes]:
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
        if not data.startswith(GZIP):
            file.seek(-len(data), 1)
            return
