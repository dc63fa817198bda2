"""VTP meshes: their XML is checked before VTK's reader reads it, which crashes on some files."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import numpy as np

from ...base.errors import InputError
from .headers import refuseDamage
from .polydata import NO_MESH, ReadMesh, readBy

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
ARRAYS = ("DataArray", "Array")

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


class _Content:
    """What the XML part of a file says. size: of the file in bytes.

    arrays: those of the file. whole: the file's own attributes. isApartText: whether what is behind the XML part is in
    base64.
    """

    def __init__(self, size: int):
        self.size = size
        self.arrays: list[_Array] = []
        self.whole: Mapping[str, str] = {}
        self.isApartText = False
        self._elements: list[str] = []
        self._endOfXml = 0

    def read(self, file: BinaryIO) -> bytes:
        """Read the XML part, and return what is behind it. Raises ValueError or InputError for impossible values."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = partial(self._begin, parser)
        parser.EndElementHandler = lambda _name: self._elements.pop()
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self._characters, self._documentType
        try:
            parser.ParseFile(file)
        except _Enough:
            file.seek(self._endOfXml)
            apart = file.read()
            return apart[apart.index(b"_", apart.index(b">")) + 1 :]
        return b""

    def _begin(self, parser: expat.XMLParserType, name: str, attributes: dict[str, str]) -> None:
        around = self._elements[-1] if self._elements else ""
        self._elements.append(name)
        if len(self._elements) > DEEPEST:
            raise ValueError("The elements are nested too deeply.")
        if not around:
            self.whole = attributes
            if name != "VTKFile" or attributes.get("type", "") != "PolyData":
                raise InputError("the file holds something other than a surface.")
        for count in COUNTS:
            if not 0 <= int(attributes.get(count) or 0) <= MOST_PER_BYTE * self.size:
                raise ValueError("The file cannot hold that much.")
        if not 1 <= int(attributes.get("NumberOfComponents") or 1) <= MOST_COMPONENTS:
            raise ValueError("No point has that many values.")
        if name in ARRAYS:
            self.arrays.append(_Array(around, attributes))
        if name == "AppendedData":  # the rest may be binary
            self._endOfXml, self.isApartText = parser.CurrentByteIndex, attributes.get("encoding", "") == "base64"
            raise _Enough

    def _characters(self, data: str) -> None:
        if self._elements[-1] in ARRAYS:
            self.arrays[-1].text.append(data)

    @staticmethod
    def _documentType(*_) -> None:
        raise ValueError("A mesh file needs no document type, so none is read.")

    def check(self, array: _Array, apart: bytes) -> None:
        """Raise ValueError or struct.error if an array cannot be as large as it says, which VTK does not test.

        apart: what is behind the XML part, in base64 or not.
        """
        form = array.given.get("format", "")
        if form == "ascii":
            values = np.array("".join(array.text).split(), float) if array.isOffsets else np.zeros(0)
        else:
            isText = form != "appended" or self.isApartText
            data = "".join("".join(array.text).split()).encode()
            if form == "appended":
                offset = int(array.given.get("offset") or 0)
                if not 0 <= offset <= len(apart):
                    raise ValueError("The file ends before this array.")
                data = apart[offset:] if array.isOffsets else apart[offset : offset + LONGEST_SIZES]
            content = self._unpack(data, isText, array.isOffsets)
            kind = np.dtype(self._order + OFFSET_TYPES.get(array.given.get("type", ""), "i8"))
            values = np.frombuffer(content[: len(content) // kind.itemsize * kind.itemsize], kind)
        # a cell has a point for each place in the list of all cells' points, which the file must hold, too
        most = self.size * (MOST_PACKED if self.whole.get("compressor") else 1)
        if array.isOffsets and values.size and not 0 <= values.min() <= values.max() <= most:
            raise ValueError("The file cannot hold that many cells.")

    @property
    def _order(self) -> str:
        return ">" if self.whole.get("byte_order") == "BigEndian" else "<"

    def _unpack(self, data: bytes, isText: bool, isWanted: bool) -> bytes:
        """Return the values of an array as bytes if they are wanted and packed in a way that Python knows, else b"".

        data: sizes and values. isText: whether they are in base64.
        """
        kind = "Q" if self.whole.get("header_type") == "UInt64" else "I"
        length = struct.calcsize(kind)

        def part(begin: int, count: int) -> bytes:
            """Return bytes from a place in the data where an encoded part begins."""
            if not isText:
                return data[begin : begin + count]
            return base64.b64decode(data[begin : begin + _lengthInBase64(count)], validate=True)[:count]

        def words(count: int) -> tuple[int, ...]:
            return struct.unpack(f"{self._order}{count}{kind}", part(0, count * length))

        compressor = self.whole.get("compressor", "")
        (first,) = words(1)
        if first > self.size:
            raise ValueError("The file cannot hold that much.")
        if not compressor:
            return part(0, length + first)[length:] if isWanted else b""
        if first == 0:
            return b""
        _, block, last, *packed = words(3 + first)
        most = MOST_PACKED_LZMA if "LZMA" in compressor else MOST_PACKED
        # the last block has another size, unless that is 0
        unpacked = (first - (last > 0)) * block + last
        if sum(packed) > self.size or unpacked > most * sum(packed) + LITTLE * first:
            raise ValueError("The file cannot hold that much.")
        if not isWanted or "ZLib" not in compressor:
            return b""
        head = (3 + first) * length
        values, content = part(_lengthInBase64(head) if isText else head, sum(packed)), []
        for count in packed:
            content.append(zlib.decompressobj().decompress(values[:count], max(block, last)))
            values = values[count:]
        return b"".join(content)


def _lengthInBase64(count: int) -> int:
    """Return the number of characters of some bytes in base64."""
    return -(-count // 3) * 4


def read(path: Path) -> ReadMesh:
    """Return a mesh, and the note on its coordinate system in the field data.

    Raises InputError if a file is not a VTP mesh, or has impossible values in its header or in its arrays.
    """
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    content = _Content(path.stat().st_size)
    with refuseDamage(NO_MESH):
        with path.open("rb") as file:
            apart = content.read(file)
        for array in content.arrays:
            content.check(array, apart)
    polyData = readBy(vtkXMLPolyDataReader(), path)
    fields = polyData.GetFieldData()
    space = fields.GetAbstractArray("SPACE")
    if space is not None and space.GetNumberOfValues():
        return polyData, f"SPACE={space.GetValue(0)}", ()
    # Slicer writes the surfaces of a segmentation (.seg.vtm) in RAS, without a note.
    return polyData, "SPACE=RAS" if fields.HasArray("Segment_ID") else "", ()


def holdsResult(path: Path) -> bool:
    """Return whether a file was written by writing.writeSurfaces, with both surfaces of a comparison."""
    if path.suffix.lower() != ".vtp" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            data, _, _ = file.read(BEGINNING).partition(b"</FieldData>")
    except OSError:  # reading the file will raise the error
        return False
    return b"<FieldData>" in data and b'type="String" Name="Side"' in data
