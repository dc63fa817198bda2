"""STL meshes: binary ones must be complete, as VTK's reader up to 9.5, as in Slicer 5.10, accepts truncated ones."""

from __future__ import annotations

import struct
from pathlib import Path

from vtkmodules.vtkCommonDataModel import vtkPolyData

from ...base.errors import InputError
from .polydata import NO_MESH, readBy

# Text, number of triangles, and for each triangle a normal, three corners and two more bytes.
HEADER, COUNT, TRIANGLE = 80, struct.Struct("<I"), 50
# A text file has one of these words, after the name of the mesh, in its first bytes.
WORDS, FIRST_WORD = (b"facet", b"endsolid"), 4096


def check(path: Path) -> None:
    """Raise InputError if a binary STL file holds fewer triangles than its header says; text files are not checked."""
    with path.open("rb") as file:
        head, size = file.read(FIRST_WORD), path.stat().st_size
    # binary files of some programs also begin with "solid"
    if head.lstrip()[:5].lower() == b"solid" and any(word in head.lower() for word in WORDS):
        return
    if size < HEADER + COUNT.size:
        raise InputError(NO_MESH)
    (count,) = COUNT.unpack_from(head, HEADER)
    if size < HEADER + COUNT.size + TRIANGLE * count:
        raise InputError(NO_MESH)


def read(path: Path) -> tuple[vtkPolyData, str]:
    """Return a mesh, and the note on its coordinate system in the header. Raises InputError as check() does."""
    from vtkmodules.vtkIOGeometry import vtkSTLReader

    check(path)
    reader = vtkSTLReader()
    polyData = readBy(reader, path)
    note = reader.GetHeader() or ""
    # VTK may not have been able to decode it
    return polyData, note.decode("latin-1") if isinstance(note, bytes) else note
