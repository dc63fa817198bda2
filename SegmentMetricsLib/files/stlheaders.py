"""Whether a binary STL mesh is whole: VTK's readers up to 9.5, which Slicer 5.10 has, take what is left of one."""

from __future__ import annotations

import struct
from pathlib import Path

from ..errors import InputError
from .vtpheaders import NO_MESH

# A text, a number of triangles, and for each triangle a normal, three corners and two more bytes.
HEADER, COUNT, TRIANGLE = 80, struct.Struct("<I"), 50
# One of these comes within so many bytes of a file that is written as text; the name of the mesh comes before.
WORDS, FIRST_WORD = (b"facet", b"endsolid"), 4096


def check(path: Path) -> None:
    """Raise InputError when a binary STL file holds fewer triangles than it says; those written as text may pass."""
    with path.open("rb") as file:
        head, size = file.read(FIRST_WORD), path.stat().st_size
    # binary files of some programs begin with "solid", too
    if head.lstrip()[:5].lower() == b"solid" and any(word in head.lower() for word in WORDS):
        return
    if size < HEADER + COUNT.size:
        raise InputError(NO_MESH)
    (count,) = COUNT.unpack_from(head, HEADER)
    if size < HEADER + COUNT.size + TRIANGLE * count:
        raise InputError(NO_MESH)
