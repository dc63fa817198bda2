"""Checking the XML of a VTP mesh before VTK's reader reads it, which crashes on some invalid contents."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ..errors import InputError

# Maximum nesting of elements: a mesh has at most seven levels, and VTK's reader is recursive.
DEEPEST = 30
# Maximum number of points, cells or values per byte of a file, which may be compressed.
MOST_PER_BYTE = 2000
COUNTS = ("NumberOfPoints", "NumberOfVerts", "NumberOfLines", "NumberOfStrips", "NumberOfPolys", "NumberOfTuples")
MOST_COMPONENTS = 100
NO_MESH = "the file cannot be read as a mesh: it is damaged, or of a different kind than its name says."

# Number of bytes at the beginning of a file that contain the names of its field data.
BEGINNING = 2000


class _Enough(Exception):
    """Stops the parser at the end of the XML part of a file."""


def check(path: Path) -> None:
    """Raise InputError if a file is not a VTP mesh, or has impossible values in its header."""
    largest = MOST_PER_BYTE * path.stat().st_size
    parser, depth = expat.ParserCreate(), 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        kind = attributes.get("type", "")
        if depth > DEEPEST:
            raise ValueError("The elements are nested too deeply.")
        if depth == 1 and (name != "VTKFile" or kind != "PolyData"):
            raise InputError("the file holds something other than a surface.")
        for count in COUNTS:
            if not 0 <= int(attributes.get(count) or 0) <= largest:
                raise ValueError("The file cannot hold that much.")
        if not 1 <= int(attributes.get("NumberOfComponents") or 1) <= MOST_COMPONENTS:
            raise ValueError("No point has that many values.")
        if name == "AppendedData":  # the rest may be binary
            raise _Enough

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def noDocumentType(*_) -> None:
        raise ValueError("A mesh has no document type, and nothing is to be read in its name.")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = noDocumentType
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except _Enough:
        return
    except InputError:
        raise
    except (ValueError, expat.ExpatError) as error:
        raise InputError(NO_MESH) from error


def isResult(path: Path) -> bool:
    """Return whether a file was written by writing.writeSurfaces, with both surfaces of a comparison."""
    with path.open("rb") as file:
        data, _, _ = file.read(BEGINNING).partition(b"</FieldData>")
    return b"<FieldData>" in data and b'type="String" Name="Side"' in data
