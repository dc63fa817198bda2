"""What the XML of a VTP mesh says, looked at before VTK's reader sees it, which ends the program over some of it."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ..errors import InputError

# Elements inside each other: a mesh has no more than seven, and VTK's reader calls itself for each.
DEEPEST = 30
# Points, cells and bytes that a file can hold in each of its own bytes: what is compressed takes less.
MOST_PER_BYTE = 2000
COUNTS = ("NumberOfPoints", "NumberOfVerts", "NumberOfLines", "NumberOfStrips", "NumberOfPolys", "NumberOfTuples")
MOST_COMPONENTS = 100
NO_MESH = "the file cannot be read as a mesh: it is damaged, or of a different kind than its name says."

# Bytes at the beginning of a file in which the names of its field data are.
BEGINNING = 2000


class _Enough(Exception):
    """All of a file that is XML was looked at."""


def check(path: Path) -> None:
    """Raise InputError when a file is no VTP mesh, or says of itself what cannot be."""
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
        if name == "AppendedData":  # what follows need not be XML
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
    """Return whether a file holds both surfaces of a comparison with their distances, as writing.writeSurfaces does."""
    with path.open("rb") as file:
        data, _, _ = file.read(BEGINNING).partition(b"</FieldData>")
    return b"<FieldData>" in data and b'type="String" Name="Side"' in data
