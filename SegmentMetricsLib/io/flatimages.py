"""Images of two dimensions that lie anywhere in space, as NIfTI and NRRD files may say: they are read as volumes.

ITK reads them as images of a plane, without their place, and refuses those that are not axial.
"""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from . import niftiheaders, textheaders

# Fields of an NRRD header that have an entry for every axis and are not needed.
OF_AXES = re.compile(
    rb"(spacings|thicknesses|axis ?mins|axis ?maxs|centers|centerings|kinds|labels|units) *:(?!=)", re.IGNORECASE
)


@contextmanager
def asVolume(path: Path) -> Iterator[Path]:
    """Yield a path from which ITK reads a flat image in space as a volume of one slice; that of any other file itself.

    The file's header has been checked. Another path is that of a copy in a temporary folder.
    """
    volume = _niftiVolume(path) if path.name.lower().endswith((".nii", ".nii.gz")) else _nrrdVolume(path)
    if volume is None:
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder, "slice.nrrd" if volume.startswith(b"NRRD") else "slice.nii")
        copy.write_bytes(volume)
        yield copy


def _niftiVolume(path: Path) -> bytes | None:
    header = niftiheaders.check(path)
    if header is None or len(header.sizes) != 2:
        return None
    data = path.read_bytes()
    data = bytearray(gzip.decompress(data) if data.startswith(niftiheaders.GZIP) else data)
    order = "<" if struct.unpack_from("<i", data)[0] == niftiheaders.LENGTH else ">"
    struct.pack_into(f"{order}4h", data, 40, 3, *header.sizes, 1)
    thickness = header.pixdim[3]
    if not (np.isfinite(thickness) and thickness > 0):
        struct.pack_into(f"{order}f", data, 88, 1.0)
    rows = np.reshape(header.rows, (3, 4)).astype(float)
    if header.sform > 0 and not niftiheaders.spansSpace(rows):
        rows[:, 2] = _normal(rows[:, 0], rows[:, 1])
        struct.pack_into(f"{order}12f", data, 280, *rows.ravel())
    return bytes(data)


def _nrrdVolume(path: Path) -> bytes | None:
    with path.open("rb") as file:
        if file.read(4) != b"NRRD":
            return None
        file.seek(0)
        fields = textheaders.nrrdFields(file)
        start = file.tell()
        vectors = textheaders.vectorsOf(fields.get("spacedirections", ""))
        if len(vectors) != 2 or not all(len(vector) == 3 for vector in vectors):
            return None
        file.seek(0)
        lines, rest = file.read(start).splitlines(), file.read()
    found = []
    for line in lines:
        name = line.partition(b":")[0].strip().lower().replace(b" ", b"")
        if name == b"dimension":
            line = b"dimension: %d" % (int(fields["dimension"]) + 1)
        elif name == b"sizes":
            line += b" 1"
        elif name == b"spacedirections":
            line += b" (%s)" % ",".join(map(repr, _normal(*np.array(vectors)).tolist())).encode()
        elif name == b"datafile":
            line = b"data file: " + str((path.parent / fields["datafile"]).resolve()).encode()
        elif OF_AXES.match(line):
            continue
        found.append(line)
    return b"\n".join(found) + b"\n" + rest


def _normal(along: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return the unit vector (3,) at right angles to two vectors that are not parallel."""
    normal = np.cross(along, down)
    return normal / np.linalg.norm(normal)
