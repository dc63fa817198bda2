"""Reading PLY meshes. VTK's own reader is not used because it crashes on some damaged files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .headers import refuseDamage
from .polydata import NO_CELLS, Cells, ReadMesh, polyDataOf

TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
BYTE_ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
# More points than any mesh has; comparing with it also rejects NaN.
MOST_POINTS = 2**40
CORNERS = ("vertex_indices", "vertex_index")


@dataclass
class Element:
    """A kind of rows in a file. properties: (name, type) or, for lists, (name, type, type of the length)."""

    name: str
    count: int
    properties: list[tuple[str, ...]] = field(default_factory=list)

    def rowType(self, lengths: dict[str, int]) -> np.dtype:
        """Return the numpy type of a row whose lists have these lengths."""
        fields = []
        for name, kind, *lengthKind in self.properties:
            if lengthKind:
                fields += [(f"{name} length", lengthKind[0]), (name, kind, (lengths[name],))]
            else:
                fields.append((name, kind))
        return np.dtype(fields)


@refuseDamage("the file is damaged or incomplete.")
def read(path: Path) -> ReadMesh:
    """Return the points, polygons and comments of a PLY file, ASCII or binary. Raises InputError for a damaged one."""
    data = path.read_bytes()
    elements, comments, isText, start = _headerOf(data)
    body = data[start:]
    if isText:
        # convert numbers in text to binary numbers, all of one type
        body = np.array(body.split(), float).tobytes()
        for element in elements:
            element.properties = [(name, *["=f8"] * len(kinds)) for name, *kinds in element.properties]
    points, polygons, start = np.zeros((0, 3)), NO_CELLS, 0
    for element in elements:
        blocks, start = _rows(element, body, start)
        if element.name == "vertex":
            points = np.concatenate([np.stack([block[axis] for axis in "xyz"], axis=1) for block in blocks])
        elif element.name == "face":
            polygons = _polygons(element, blocks)
    return polyDataOf(points, polygons), "\n".join(comments), ()


def _headerOf(data: bytes) -> tuple[list[Element], list[str], bool, int]:
    """Return the elements and comments of a header, whether the numbers are text, and where they begin.

    Raises ValueError or LookupError for a header that is damaged.
    """
    end = re.search(rb"(?m)^end_header[ \t]*\r?\n", data)
    header = [line.split() for line in data[: end.start() if end else 0].decode("latin-1").splitlines()]
    if end is None or not header or header[0] != ["ply"]:
        raise ValueError("This is not a PLY file.")
    elements: list[Element] = []
    comments: list[str] = []
    order, isText = "=", False
    for words in header[1:]:
        match words:
            case ["format", name, *_]:
                order, isText = BYTE_ORDERS[name], name == "ascii"
            case ["comment", *text]:
                comments.append(" ".join(text))
            case ["element", name, count]:
                elements.append(Element(name, int(count)))
            case ["property", "list", lengthKind, kind, name]:
                elements[-1].properties.append((name, order + TYPES[kind], order + TYPES[lengthKind]))
            case ["property", kind, name]:
                elements[-1].properties.append((name, order + TYPES[kind]))
    return elements, comments, isText, end.end()


def _polygons(element: Element, blocks: Sequence[np.ndarray]) -> Cells:
    """Return the polygons. Raises ValueError for a corner that no point can be."""
    name = [name for name, *_ in element.properties if name in CORNERS][0]  # noqa: RUF015
    lengths = np.concatenate([np.full(len(block), block[name].shape[1]) for block in blocks])
    corners = np.concatenate([block[name].ravel() for block in blocks])
    if not (np.abs(corners) < MOST_POINTS).all() or (corners != np.rint(corners)).any():
        raise ValueError("A point number is invalid.")
    return np.concatenate([[0], np.cumsum(lengths)]), corners


def _rows(element: Element, body: bytes, start: int) -> tuple[list[np.ndarray], int]:
    """Return the rows of an element as blocks of rows with equal list lengths, and the offset of the next element."""
    blocks, missing, most = [], element.count, 64
    while missing > 0:
        lengths, end = {}, start
        for name, kind, *lengthKind in element.properties:
            if lengthKind:
                length = np.frombuffer(body, lengthKind[0], 1, end)[0]
                if length != int(length) or length < 0:
                    raise ValueError("A list cannot have this length.")
                lengths[name] = int(length)
                end += np.dtype(lengthKind[0]).itemsize
            end += np.dtype(kind).itemsize * lengths.get(name, 1)
        # the following rows usually have lists of the same lengths
        rowType = element.rowType(lengths)
        rows = np.frombuffer(body, rowType, min(missing, most, (len(body) - start) // rowType.itemsize), start)
        alike = np.ones(len(rows), bool)
        for name, length in lengths.items():
            alike &= rows[f"{name} length"] == length
        count = len(rows) if alike.all() else int(alike.argmin())
        if count == 0:
            raise ValueError("The file ends too early.")
        blocks.append(rows[:count])
        missing, start = missing - count, start + count * rowType.itemsize
        most = 4 * most if count == len(rows) else 64
    return blocks or [np.zeros(0, element.rowType({p[0]: 0 for p in element.properties}))], start
