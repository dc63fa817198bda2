"""NIfTI files: their header is checked before and after an image reader reads the file.

NIfTI files hold two descriptions of the position of their voxels, in addition to the voxel size. Readers use one of
them and fill in missing information. Source of the fields: nifti1.h, the official definition, by R. W. Cox, NIMH.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from vtkmodules.vtkCommonCore import vtkMath

from ...base.errors import InputError
from ...geometry.grids import RAS_FROM_LPS, Grid, affine
from .bytecounts import GZIP, decompressedSize, promisedSum, remaining
from .headers import NO_PLACE, NO_VOLUME, normal, spansSpace

LENGTH = 348
# The fields of a header that determine how its voxels are read and where they lie: type and offset.
FIELDS = {
    "sizeof_hdr": ("i4", 0),
    "dim": ("8i2", 40),
    "datatype": ("i2", 70),
    "bitpix": ("i2", 72),
    "pixdim": ("8f4", 76),
    "vox_offset": ("f4", 108),
    "scl_slope": ("f4", 112),
    "scl_inter": ("f4", 116),
    "xyzt_units": ("u1", 123),
    "qform_code": ("i2", 252),
    "sform_code": ("i2", 254),
    "quatern": ("3f4", 256),
    "qoffset": ("3f4", 268),
    "srow": ("(3,4)f4", 280),
}
# Minimum offset of the first voxel in the file, in bytes.
FIRST_VOXEL = 352
# The element with names of labels in a header extension, and most bytes that are searched for it.
LABEL_TABLE, MOST_EXTENSIONS = b"<LabelTable", 1 << 24
# Tolerances: the difference of two descriptions of an image's position, as a fraction of the smallest voxel size, and
# the displacement of the far corner due to rounded voxel sizes, as a fraction of the image's size.
ROUNDING, TRUNCATION = 0.1, 0.01
# numpy types of floating-point numbers by their codes.
FLOATING = {16: "f4", 64: "f8"}
# Meters and micrometers in mm by their codes.
UNITS = {1: 1e3, 3: 1e-3}


class Header:
    """A header; lengths are in the unit of the file. data: its 348 bytes. order: of bytes, "<" or ">".

    given: the values of FIELDS by name. kind: numpy type of the values, "" if they are not floating-point numbers.
    slope, intercept: of their scaling.
    """

    def __init__(self, data: bytes, order: str):
        kinds, offsets = zip(*FIELDS.values())
        layout: Any = {"names": list(FIELDS), "formats": kinds, "offsets": offsets, "itemsize": LENGTH}
        record = np.frombuffer(data, np.dtype(layout).newbyteorder(order), 1)[0]
        self.given: dict = {name: record[name].tolist() for name in FIELDS}
        self.order, self.slope, self.intercept = order, self.given["scl_slope"], self.given["scl_inter"]
        floating = FLOATING.get(self.given["datatype"])
        self.kind = order + floating if floating else ""
        count, *sizes = self.given["dim"]
        self.sizes = tuple(sizes[: max(0, min(count, 7))])
        self.hasQform, self.hasSform = self.given["qform_code"] > 0, self.given["sform_code"] > 0

    @property
    def start(self) -> int:
        """The offset of the voxels in bytes."""
        return int(self.given["vox_offset"]) if math.isfinite(self.given["vox_offset"]) else 0

    @property
    def wholeSize(self) -> int:
        """The minimum size of the file in bytes."""
        voxels = math.prod(max(size, 1) for size in self.sizes)
        return self.start + (voxels * self.given["bitpix"] + 7) // 8

    @property
    def isScaled(self) -> bool:
        """Whether the values are to be multiplied by the slope: one of 0 means that they are not, nor moved."""
        return math.isfinite(self.slope) and self.slope != 0

    @property
    def whyFractional(self) -> str:
        """A sentence on the scale factor that makes fractions of the whole numbers in the file, "" if there is none."""
        areWhole = not self.kind and self.isScaled
        if not areWhole or (self.slope.is_integer() and self.intercept.is_integer()):
            return ""
        added = f", adding {self.intercept:.7g} (scl_inter)" if self.intercept else ""
        return (
            f"The file holds whole numbers, which its header multiplies by {self.slope:.7g} (scl_slope){added}: "
            "if they are labels, that made them fractional; save them without a scale factor."
        )

    @property
    def places(self) -> dict[str, np.ndarray]:
        """The matrices from voxel indices to LPS mm in the header, by name: "sform", "qform"."""
        found, unit = {}, UNITS.get(self.given["xyzt_units"] & 7, 1.0)
        if self.hasSform:
            found["sform"] = np.vstack([np.array(self.given["srow"]) * unit, (0, 0, 0, 1)])
        if self.hasQform:
            b, c, d = self.given["quatern"]
            rotation: Any = np.eye(3).tolist()
            vtkMath.QuaternionToMatrix3x3([math.sqrt(max(0.0, 1 - b * b - c * c - d * d)), b, c, d], rotation)
            turned, *lengths = self.given["pixdim"][:4]
            axes = np.array(rotation) * lengths * (1, 1, 1 if turned >= 0 else -1) * unit
            found["qform"] = affine(axes, np.array(self.given["qoffset"]) * unit)
        return {name: RAS_FROM_LPS @ matrix for name, matrix in found.items()}


def _beginning(path: Path, count: int = -1) -> tuple[bool, bytes]:
    """Return whether a file is compressed, and its first bytes, or all of them, unpacked."""
    with path.open("rb") as file:
        isCompressed = file.read(2) == GZIP
        file.seek(0)
        return isCompressed, (gzip.GzipFile(fileobj=file) if isCompressed else file).read(count)


def check(path: Path) -> Header | None:
    """Return the header of a file, or None if it is not NIfTI-1.

    Raises InputError for invalid headers that readers would silently replace by made-up values.
    """
    isCompressed, data = _beginning(path, LENGTH)
    if isCompressed and path.suffix.lower() != ".gz":
        raise InputError("it is compressed; rename it so that it ends in .nii.gz.")
    found = [Header(data, order) for order in "<>"] if data[344:347] == b"n+1" else []
    header = next((one for one in found if one.given["sizeof_hdr"] == LENGTH), None)
    if header is None:
        if data[4:7] == b"n+2":
            raise InputError("it is in the format NIfTI-2, which is not supported; save it as NIfTI-1.")
        if len(data) == LENGTH and LENGTH in (struct.unpack_from(f"{order}i", data)[0] for order in "<>"):
            raise InputError("its header is not that of a NIfTI file with voxels.")
        return None
    if not header.given["vox_offset"] >= FIRST_VOXEL:
        raise InputError("its header puts the voxels into the header itself.")
    lengths = header.given["pixdim"][1 : 1 + min(len(header.sizes), 3)]
    if not all(math.isfinite(length) and length > 0 for length in lengths):
        shown = " x ".join(f"{length:g}" for length in lengths)
        raise InputError(f"its header has a voxel size of {shown} mm.")
    rows = np.array(header.given["srow"])
    if len(header.sizes) == 2:  # whatever the header has for the direction across a flat image
        rows[:, 2] = np.cross(rows[:, 0], rows[:, 1])
    if header.hasSform and not (np.isfinite(rows).all() and spansSpace(rows[:, :3].T)):
        raise InputError(NO_VOLUME)
    quaternion, isDecisive = header.given["quatern"], header.hasQform and not header.hasSform
    areFinite = np.isfinite([*quaternion, *header.given["qoffset"]]).all()
    if isDecisive and not (areFinite and np.linalg.norm(quaternion) <= 1 + ROUNDING):
        raise InputError("the orientation or the place in its header makes no sense.")
    return header


def labelTable(path: Path, header: Header) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return the names of labels, by number from 1, in the extensions of a header, and remarks.

    Programs write them as the label table of Connectome Workbench, which is XML: <Label Key="1">liver</Label>. A table
    that cannot be understood is not taken, and a remark says so.
    """
    _, data = _beginning(path, min(header.start, MOST_EXTENSIONS))
    for text in _extensions(data, header.order):
        if LABEL_TABLE in text:
            try:
                return _labelsIn(text), ()
            except InputError as error:
                return {}, (f"the names of labels in the header were ignored, because {error}",)
    return {}, ()


def _extensions(data: bytes, order: str) -> Iterator[bytes]:
    """Yield the contents of the extensions of a header. data: everything before the voxels. order: of bytes."""
    if len(data) <= FIRST_VOXEL or not data[LENGTH]:
        return
    start = FIRST_VOXEL
    while start + 8 <= len(data):
        (size,) = struct.unpack_from(f"{order}i", data, start)
        if size <= 8 or start + size > len(data):
            return
        yield data[start + 8 : start + size]
        start += size


def _labelsIn(text: bytes) -> dict[int, str]:
    """Return the names in a label table by number. Raises InputError, with the reason, for names that are no help."""
    from xml.etree import ElementTree

    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise InputError("their table is not plain XML")
    try:
        labels = list(ElementTree.fromstring(text.strip(b"\0 \t\r\n")).iter("Label"))  # noqa: S314 - no entities
        named = [(int(label.get("Key", "")), " ".join("".join(label.itertext()).split())) for label in labels]
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError("their table is damaged") from error
    found: dict[int, str] = {}
    for number, name in named:
        if number > 0 and name and found.setdefault(number, name) != name:
            raise InputError(f"label {number} has two of them")
    if len(set(found.values())) < len(found):
        raise InputError("several labels have the same one")
    return found


def _gapsTo(header: Header, grid: Grid) -> dict[str, float]:
    """Return the largest distance in mm between each header matrix's voxels and those of the grid of a reader."""
    corners = np.ones((8, 4))
    corners[:, :3] = np.indices((2, 2, 2)).reshape(3, -1).T * (np.array(grid.size) - 1)
    there = corners @ grid.matrix.T
    apart = {}
    for name, matrix in header.places.items():
        gap = np.linalg.norm((corners @ matrix.T - there)[:, :3], axis=1).max()
        apart[name] = float(gap) if np.isfinite(gap) else math.inf
    return apart


def formsTaken(header: Header, grid: Grid) -> tuple[str, ...]:
    """Return the names of the matrices in the header that agree with a reader. grid: as returned by the reader."""
    apart = _gapsTo(header, grid)
    least = max(ROUNDING * float(grid.spacing.min()), min(apart.values(), default=0.0))
    return tuple(name for name, gap in apart.items() if gap <= least)


def remarkOnPosition(header: Header, grid: Grid) -> tuple[str, ...]:
    """Return remarks on the position of the voxels as returned by a reader. grid: the grid returned by the reader.

    Raises InputError if no matrix in the header agrees with the reader.
    """
    apart = _gapsTo(header, grid)
    if not apart:
        return (NO_PLACE,)
    nearest = min(apart.values())
    voxel = float(grid.spacing.min())
    extent = float(np.linalg.norm((np.array(grid.size) - 1) @ np.abs(grid.axes).T))
    if nearest > max(ROUNDING * voxel, TRUNCATION * extent):
        raise InputError("its header contradicts itself about the size and the place of its voxels.")
    if nearest > ROUNDING * voxel:
        return (f"the header gives two voxel sizes, which move the far corner by {nearest:.3g} mm",)
    if max(apart.values()) > ROUNDING * voxel:
        name = max(apart, key=lambda one: apart[one])
        return (f"the {name} in the header puts the image elsewhere and was ignored",)
    return ()


def inspect(path: Path, withVoxels: bool) -> tuple[tuple[str, ...], int, int]:
    """Return no remarks, and how many bytes the header promises and the file holds; see table.ImageFormat."""
    header = check(path)
    if header is None or not withVoxels:
        return (), 0, 0
    with path.open("rb") as file:
        isCompressed = file.read(2) == GZIP
        file.seek(0)
        size = decompressedSize(file, header.wholeSize) if isCompressed else remaining(file)
    return (), header.wholeSize, size


def checkSums(path: Path) -> tuple[int, int] | None:
    """Return the CRC-32 of what is before the voxels of a compressed file, and that of all; see table.ImageFormat."""
    header = check(path)
    isCompressed, before = _beginning(path, header.start if header else 0)
    if header is None or not isCompressed:
        return None
    with path.open("rb") as file:
        promised = promisedSum(file, header.wholeSize)
    return None if promised is None else (zlib.crc32(before), promised)


def areFinite(path: Path, header: Header) -> np.ndarray:
    """Return whether each value (n,) of an inspected file of floating-point numbers is finite, in the stored order."""
    _, data = _beginning(path)
    values = math.prod(max(size, 1) for size in header.sizes)
    return np.isfinite(np.frombuffer(data, header.kind, values, header.start))


def mend(path: Path) -> bytes | None:
    """Return the content of a file that ITK would read wrongly in a form that it reads rightly, None for any other.

    A flat image becomes a volume of one slice. ITK adds the intercept although a slope of 0 says that values are not
    scaled. Of liver.nii.gz beside liver.nii, it reads the voxels of the latter.
    """
    header = check(path)
    if header is None:
        return None
    isFlat, isMoved = len(header.sizes) == 2, not header.isScaled and header.intercept != 0
    isTakenForAnother = path.name.lower().endswith(".nii.gz") and path.with_suffix("").exists()
    if not (isFlat or isMoved or isTakenForAnother):
        return None
    data, order = bytearray(_beginning(path)[1]), header.order
    if isMoved:
        struct.pack_into(f"{order}2f", data, FIELDS["scl_slope"][1], 0.0, 0.0)
    if isFlat:
        struct.pack_into(f"{order}4h", data, FIELDS["dim"][1], 3, *header.sizes, 1)
        thickness = header.given["pixdim"][3]
        if not (np.isfinite(thickness) and thickness > 0):
            struct.pack_into(f"{order}f", data, FIELDS["pixdim"][1] + 12, 1.0)
        rows = np.array(header.given["srow"])
        if header.hasSform and not spansSpace(rows[:, :3].T):
            rows[:, 2] = normal(rows[:, 0], rows[:, 1])
            struct.pack_into(f"{order}12f", data, FIELDS["srow"][1], *rows.ravel())
    return bytes(data)
