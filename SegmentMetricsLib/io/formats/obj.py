"""Reading OBJ meshes. VTK's own reader is not used because it crashes on some files."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...base.errors import InputError
from .headers import refuseDamage
from .polydata import NO_MESH, ReadMesh, polyDataOf

# Keywords of surfaces that are not made of polygons.
CURVED = frozenset((b"curv", b"curv2", b"surf", b"bzp", b"bsp", b"cdc", b"cdp", b"res"))
# Keywords with one letter, besides those of points and cells; longer ones that nobody knows are ignored.
LETTERS = frozenset((b"s", b"p"))
SEVERAL = (
    "the file holds {} groups, such as the segments that Slicer writes into one file: they were read as one structure"
)
# Least number of points of a face and of a line.
FEWEST = {b"f": 3, b"fo": 3, b"l": 2}


@refuseDamage(NO_MESH)
def read(path: Path) -> ReadMesh:
    """Return the points, polygons and lines of an OBJ file, its comments, and a remark on several groups.

    Textures, normals, groups and materials are ignored. Raises InputError for a file that is damaged, and for curved
    surfaces.
    """
    points: list[Sequence[float]] = []
    cells: dict[bytes, list[list[int]]] = {b"f": [], b"l": []}
    comments: list[str] = []
    group, groups = b"", set()
    data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    for line in re.sub(rb"\\[ \t]*\r?\n", b" ", data).splitlines():  # a backslash at the end continues a line
        content, mark, comment = line.partition(b"#")
        if mark:
            comments.append(comment.decode("latin-1").strip())
        if not (words := content.split()):
            continue
        keyword, *given = words
        if keyword == b"v":
            if not 3 <= len(given) <= 8:
                raise ValueError("A point has three coordinates, and may have a weight or a color.")
            points.append([float(word) for word in given[:3]])
        elif keyword in FEWEST:
            # "fo" is an old name of faces
            groups.add(group)
            cells[keyword[:1]].append([_pointNumber(word, len(points)) for word in given])
            if len(given) < FEWEST[keyword]:
                raise ValueError("A face needs three points, a line two.")
        elif keyword in (b"g", b"o"):
            group = b" ".join(given)
        elif keyword in CURVED:
            raise InputError("the file holds curved surfaces, which are not supported; save it as triangles.")
        elif not keyword.isalnum() or (len(keyword) == 1 and keyword not in LETTERS):
            raise ValueError("There is no such keyword.")
    found = []
    for several in cells.values():  # numbers beyond the last point are left as they are, unless they are too large
        offsets = np.concatenate([[0], np.cumsum([len(cell) for cell in several], dtype=np.int64)])
        found.append((offsets, np.array([number for cell in several for number in cell], np.int64)))
    remarks = (SEVERAL.format(len(groups)),) if len(groups) > 1 else ()
    return polyDataOf(np.array(points, float).reshape(-1, 3), *found), "\n".join(comments), remarks


def _pointNumber(word: bytes, count: int) -> int:
    """Return the number of a point, from 0, in 5, 5/1, 5//2, 5/1/2, or -1 for the last of the `count` points so far."""
    number, *others = word.split(b"/")
    if len(others) > 2 or not all(other.lstrip(b"-").isdigit() for other in others if other):
        raise ValueError("This is not a corner of a face.")
    found = int(number)
    if found == 0 or found < -count:
        raise ValueError("There is no such point.")
    return found - 1 if found > 0 else count + found
