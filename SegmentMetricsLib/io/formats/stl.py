"""STL meshes: binary ones must be complete, as VTK's reader up to 9.5, as in Slicer 5.10, accepts truncated ones."""

from __future__ import annotations

import struct
from pathlib import Path

from ...base.errors import InputError
from .polydata import NO_MESH, ReadMesh, readBy

# Text, number of triangles, and for each triangle a normal, three corners and two more bytes.
HEADER, COUNT, TRIANGLE = 80, struct.Struct("<I"), 50
# A text file has one of these words, after the name of the mesh, in its first bytes.
WORDS, FIRST_WORD = (b"facet", b"endsolid"), 4096


def read(path: Path) -> ReadMesh:
    """Return a mesh, and the note on its coordinate system in the header.

    Raises InputError for a binary file that holds fewer triangles than its header says.
    """
    from vtkmodules.vtkIOGeometry import vtkSTLReader

    with path.open("rb") as file:
        head, size = file.read(FIRST_WORD), path.stat().st_size
    # binary files of some programs also begin with "solid"
    isText = head.lstrip()[:5].lower() == b"solid" and any(word in head.lower() for word in WORDS)
    whole = HEADER + COUNT.size
    if not isText and (size < whole or size < whole + TRIANGLE * COUNT.unpack_from(head, HEADER)[0]):
        raise InputError(NO_MESH)
    reader = vtkSTLReader()
    polyData = readBy(reader, path)
    note = reader.GetHeader() or ""
    # VTK may not have been able to decode it
    return polyData, note.decode("latin-1") if isinstance(note, bytes) else note, ()
