"""The formats of images and meshes: a new one is a file beside this one, and a row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from ...base.errors import InputError
from . import mha, nifti, nrrd, obj, ply, stl, vtp
from .headers import refuseDamage
from .polydata import ReadMesh

DAMAGED = "the file is damaged or incomplete."
SURPLUS = "the file holds more data than its header describes, and the rest was left out"


@dataclass(frozen=True)
class ImageFormat:
    """A format of images, which ITK reads.

    suffixes: what the names of its files end with, in lower case. inspect: returns remarks on a file for readers of the
    results, and the number of bytes expected from the header (0 if unknown) and the number found; with False, without
    looking at the voxels. It raises InputError for an invalid header, and others of DAMAGES for what is damaged. mend:
    returns the content of a file that ITK would read wrongly in a form that it reads rightly, None for any other.
    fieldsOf: returns the fields of the header of an opened file that may name another one. checkSums: returns the
    CRC-32 of what is packed before the voxels of an intact header, and the one of all that is packed, as the end of the
    file says it; None if it does not.
    """

    suffixes: tuple[str, ...]
    inspect: Callable[[Path, bool], tuple[tuple[str, ...], int, int]]
    mend: Callable[[Path], bytes | None] = lambda _path: None
    fieldsOf: Callable[[BinaryIO], dict[str, str]] = lambda _file: {}
    checkSums: Callable[[Path], tuple[int, int] | None] = lambda _path: None


IMAGES = (
    ImageFormat((".nrrd", ".nhdr"), nrrd.inspect, nrrd.mend, nrrd.fieldsOf, nrrd.checkSums),
    ImageFormat((".nii", ".nii.gz"), nifti.inspect, nifti.mend, checkSums=nifti.checkSums),
    ImageFormat((".mha", ".mhd"), mha.inspect, fieldsOf=mha.fieldsOf),
)
# By what the names of files end with, in lower case: what reads the mesh of a file, or raises InputError if it is none.
MESHES: dict[str, Callable[[Path], ReadMesh]] = {
    ".stl": stl.read,
    ".obj": obj.read,
    ".ply": ply.read,
    ".vtp": vtp.read,
}
IMAGE_SUFFIXES = tuple(suffix for one in IMAGES for suffix in one.suffixes)
MESH_SUFFIXES = tuple(MESHES)


def imageFormat(path: Path) -> ImageFormat:
    """Return the format of an image file."""
    return next(one for one in IMAGES if path.name.lower().endswith(one.suffixes))


def inspect(path: Path, withVoxels: bool = True) -> tuple[str, ...]:
    """Return remarks on an image file for readers of the results, as clauses.

    ITK silently fills missing or damaged parts with zeros, and ignores data that the header does not mention.
    withVoxels: whether to check the voxels, not only the header. Raises InputError if the file is truncated, if its
    compressed part is damaged, and for an invalid header. Problems that the image readers detect themselves, such as
    too few uncompressed values in an NRRD file, are left to them.
    """
    with refuseDamage(DAMAGED):
        remarks, known, there = imageFormat(path).inspect(path, withVoxels)
    if there < known:
        raise InputError(DAMAGED)
    return (*remarks, SURPLUS) if known and there > known else remarks


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Yield a path from which ITK reads an image file correctly; it may be that of a copy in a temporary folder.

    Images of two dimensions may lie anywhere in space: ITK reads them as images of a plane, without their place, and
    refuses those that are not axial. They are read as volumes of one slice. The header has been checked.
    """
    content = imageFormat(path).mend(path)
    if content is None:
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder, "image.nrrd" if content.startswith(b"NRRD") else "image.nii")
        copy.write_bytes(content)
        yield copy


def dataFileOf(path: Path) -> str:
    """Return the data file entry of the header of an image; "" if the values are in the same file, or it is no image.

    The entry is a file name, or a notation for several files. Raises ValueError if the header is damaged.
    """
    if not path.name.lower().endswith(IMAGE_SUFFIXES):
        return ""
    with path.open("rb") as file:
        fields = imageFormat(path).fieldsOf(file)
    name = fields.get("datafile", fields.get("ElementDataFile", ""))
    return "" if name == "LOCAL" else name
