"""VTP meshes: their XML is checked before VTK's reader reads it, which crashes on some invalid contents."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData

from ...base.errors import InputError
from .polydata import NO_MESH, readBy

# Maximum nesting of elements: a mesh has at most seven levels, and VTK's reader is recursive.
DEEPEST = 30
# Maximum number of points, cells or values per byte of a file, which may be compressed.
MOST_PER_BYTE = 2000
# Maximum size of values per byte of their compressed form, and any block may have a little more. LZMA packs closest.
MOST_PACKED, MOST_PACKED_LZMA, LITTLE = 1200, 20_000, 4096
# More than the sizes at the beginning of any array take, in bytes.
LONGEST_SIZES = 1 << 20
# The elements with cells, and types of whole numbers.
CELLS = ("Verts", "Lines", "Strips", "Polys")
OFFSET_TYPES = {"Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8"}
COUNTS = ("NumberOfPoints", "NumberOfVerts", "NumberOfLines", "NumberOfStrips", "NumberOfPolys", "NumberOfTuples")
MOST_COMPONENTS = 100

# Number of bytes at the beginning of a file that contain the names of its field data.
BEGINNING = 2000


class _Enough(Exception):
    """Stops the parser at the end of the XML part of a file."""


@dataclass
class _Array:
    """An array of a file. place: the element that it is in. given: its attributes. text: its content, if not apart."""

    place: str
    given: Mapping[str, str]
    text: list[str] = field(default_factory=list)

    @property
    def isOffsets(self) -> bool:
        """Whether the array says where the cells begin in the list of their points."""
        return self.place in CELLS and self.given.get("Name") == "offsets"


def check(path: Path) -> None:
    """Raise InputError if a file is not a VTP mesh, or has impossible values in its header or in its arrays."""
    size = path.stat().st_size
    parser = expat.ParserCreate()
    elements: list[str] = []
    arrays: list[_Array] = []
    whole: Mapping[str, str] = {}  # the attributes of the file
    appended = (0, "")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal whole, appended
        elements.append(name)
        if len(elements) > DEEPEST:
            raise ValueError("The elements are nested too deeply.")
        if len(elements) == 1:
            whole = attributes
            if name != "VTKFile" or attributes.get("type", "") != "PolyData":
                raise InputError("the file holds something other than a surface.")
        for count in COUNTS:
            if not 0 <= int(attributes.get(count) or 0) <= MOST_PER_BYTE * size:
                raise ValueError("The file cannot hold that much.")
        if not 1 <= int(attributes.get("NumberOfComponents") or 1) <= MOST_COMPONENTS:
            raise ValueError("No point has that many values.")
        if name in ("DataArray", "Array"):
            arrays.append(_Array(elements[-2] if len(elements) > 1 else "", attributes))
        if name == "AppendedData":  # the rest may be binary
            appended = (parser.CurrentByteIndex, attributes.get("encoding", ""))
            raise _Enough

    def characters(data: str) -> None:
        if arrays and elements[-1] in ("DataArray", "Array"):
            arrays[-1].text.append(data)

    def end(name: str) -> None:
        elements.pop()

    def noDocumentType(*_) -> None:
        raise ValueError("A mesh file needs no document type, so none is read.")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = noDocumentType
    try:
        apart = b""
        with path.open("rb") as file:
            try:
                parser.ParseFile(file)
            except _Enough:
                file.seek(appended[0])
                apart = file.read()
                apart = apart[apart.index(b"_", apart.index(b">")) + 1 :]
        for array in arrays:
            _checkArray(array, apart, appended[1] == "base64", whole, size)
    except InputError:
        raise
    except (ValueError, LookupError, OverflowError, struct.error, zlib.error, expat.ExpatError) as error:
        raise InputError(NO_MESH) from error


def _checkArray(array: _Array, apart: bytes, isApartText: bool, whole: Mapping[str, str], size: int) -> None:
    """Raise ValueError or struct.error if an array cannot be as large as it says; VTK reserves memory for it untested.

    apart: what is behind the XML part, in base64 or not. whole: the attributes of the file. size: of the file in bytes.
    """
    form = array.given.get("format", "")
    if form == "ascii":
        values = np.array("".join(array.text).split(), float) if array.isOffsets else np.zeros(0)
    else:
        isText = form != "appended" or isApartText
        data = "".join("".join(array.text).split()).encode()
        if form == "appended":
            offset = int(array.given.get("offset") or 0)
            if not 0 <= offset <= len(apart):
                raise ValueError("The file ends before this array.")
            data = apart[offset:] if array.isOffsets else apart[offset : offset + LONGEST_SIZES]
        content = _contentOf(data, isText, whole, size, array.isOffsets)
        order = ">" if whole.get("byte_order") == "BigEndian" else "<"
        kind = np.dtype(order + OFFSET_TYPES.get(array.given.get("type", ""), "i8"))
        values = np.frombuffer(content[: len(content) // kind.itemsize * kind.itemsize], kind)
    # a cell has a point for each place in the list of all cells' points, which the file must hold, too
    most = size * (MOST_PACKED if whole.get("compressor") else 1)
    if array.isOffsets and values.size and not 0 <= values.min() <= values.max() <= most:
        raise ValueError("The file cannot hold that many cells.")


def _contentOf(data: bytes, isText: bool, whole: Mapping[str, str], size: int, isWanted: bool) -> bytes:
    """Return the values of an array as bytes if they are wanted and packed in a way that Python knows, else b"".

    data: sizes and values. isText: whether they are in base64. whole: the attributes of the file. size: of the file.
    """
    order = ">" if whole.get("byte_order") == "BigEndian" else "<"
    kind = "Q" if whole.get("header_type") == "UInt64" else "I"
    length = struct.calcsize(kind)

    def part(begin: int, count: int) -> bytes:
        """Return bytes from a place in the data where an encoded part begins."""
        if not isText:
            return data[begin : begin + count]
        return base64.b64decode(data[begin : begin + _encoded(count)], validate=True)[:count]

    def words(count: int) -> tuple[int, ...]:
        return struct.unpack(f"{order}{count}{kind}", part(0, count * length))

    compressor = whole.get("compressor", "")
    (first,) = words(1)
    if first > size:
        raise ValueError("The file cannot hold that much.")
    if not compressor:
        return part(0, length + first)[length:] if isWanted else b""
    if first == 0:
        return b""
    _, block, last, *packed = words(3 + first)
    most = MOST_PACKED_LZMA if "LZMA" in compressor else MOST_PACKED
    # the last block has another size, unless that is 0
    unpacked = (first - (last > 0)) * block + last
    if sum(packed) > size or unpacked > most * sum(packed) + LITTLE * first:
        raise ValueError("The file cannot hold that much.")
    if not isWanted or "ZLib" not in compressor:
        return b""
    head = (3 + first) * length
    values, content = part(_encoded(head) if isText else head, sum(packed)), []
    for count in packed:
        content.append(zlib.decompressobj().decompress(values[:count], max(block, last)))
        values = values[count:]
    return b"".join(content)


def _encoded(count: int) -> int:
    """Return the number of characters of some bytes in base64."""
    return -(-count // 3) * 4


def read(path: Path) -> tuple[vtkPolyData, str]:
    """Return a mesh, and the note on its coordinate system in the field data. Raises InputError as check() does."""
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    check(path)
    polyData = readBy(vtkXMLPolyDataReader(), path)
    space = polyData.GetFieldData().GetAbstractArray("SPACE")
    return polyData, f"SPACE={space.GetValue(0)}" if space is not None and space.GetNumberOfValues() else ""


def isResult(path: Path) -> bool:
    """Return whether a file was written by writing.writeSurfaces, with both surfaces of a comparison."""
    with path.open("rb") as file:
        data, _, _ = file.read(BEGINNING).partition(b"</FieldData>")
    return b"<FieldData>" in data and b'type="String" Name="Side"' in data
