"""Files written byte by byte, so that they can say what no program would write."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import shapes
import SimpleITK

# What everything is compared with: a box of 720 voxels of 1 mm3. Moved by 2 mm it has Dice 0.8 and distance 2 mm.
LOW, HIGH, SIZE = (6, 6, 6), (15, 14, 13), (24, 24, 24)
REFERENCE = shapes.box(LOW, HIGH)
SHIFTED = shapes.box((8, 6, 6), (17, 14, 13))
MOVED = {"DSC": 0.8, "HD": 2.0}


def save(image: SimpleITK.Image, path: Path, compressed: bool = False) -> Path:
    SimpleITK.WriteImage(image, str(path), compressed)
    return path


def voxels(dtype=np.uint8, value=1, background=0) -> np.ndarray:
    """Return the moved box as an array [k, j, i]."""
    inside = SimpleITK.GetArrayFromImage(SHIFTED) > 0
    return np.where(inside, np.array(value, dtype), np.array(background, dtype))


NRRD = {
    "type": "uint8",
    "dimension": 3,
    "space": "left-posterior-superior",
    "sizes": "24 24 24",
    "space directions": "(1,0,0) (0,1,0) (0,0,1)",
    "kinds": "domain domain domain",
    "endian": "little",
    "encoding": "raw",
    "space origin": "(0,0,0)",
}


def nrrd(path: Path, data: bytes | None = None, **fields) -> Path:
    """Write the moved box as NRRD with other header fields; None leaves a field out, _ stands for a space."""
    header = {**NRRD, **{name.replace("_", " "): value for name, value in fields.items()}}
    lines = [f"{name}: {value}" for name, value in header.items() if value is not None]
    path.write_bytes(
        ("NRRD0005\n" + "\n".join(lines) + "\n\n").encode() + (voxels().tobytes() if data is None else data)
    )
    return path


META = {
    "ObjectType": "Image",
    "NDims": 3,
    "BinaryData": "True",
    "BinaryDataByteOrderMSB": "False",
    "CompressedData": "False",
    "TransformMatrix": "1 0 0 0 1 0 0 0 1",
    "Offset": "0 0 0",
    "ElementSpacing": "1 1 1",
    "DimSize": "24 24 24",
    "ElementType": "MET_UCHAR",
    "ElementDataFile": "LOCAL",
}


def meta(path: Path, data: bytes | None = None, **fields) -> Path:
    """Write the moved box as MetaImage with other header fields; None leaves a field out."""
    header = {**META, **fields}
    header["ElementDataFile"] = header.pop("ElementDataFile")
    lines = [f"{name} = {value}\n" for name, value in header.items() if value is not None]
    path.write_bytes("".join(lines).encode() + (voxels().tobytes() if data is None else data))
    return path


# Where the fields of a NIfTI header are, and how they are written.
NIFTI = {
    "dim": (40, "8h"),
    "datatype": (70, "h"),
    "bitpix": (72, "h"),
    "pixdim": (76, "8f"),
    "vox_offset": (108, "f"),
    "scl_slope": (112, "f"),
    "scl_inter": (116, "f"),
    "xyzt_units": (123, "B"),
    "qform_code": (252, "h"),
    "sform_code": (254, "h"),
    "quatern": (256, "3f"),
    "qoffset": (268, "3f"),
    "srow_x": (280, "4f"),
    "srow_y": (296, "4f"),
    "srow_z": (312, "4f"),
    "magic": (344, "4s"),
}


def nifti(path: Path, **fields) -> Path:
    """Write the moved box as NIfTI with other header fields."""
    plain = save(SHIFTED, path.with_name("plain.nii"))
    data = bytearray(plain.read_bytes())
    plain.unlink()
    for name, values in fields.items():
        offset, form = NIFTI[name]
        struct.pack_into(f"<{form}", data, offset, *(values if isinstance(values, tuple) else (values,)))
    path.write_bytes(gzip.compress(bytes(data)) if path.suffix == ".gz" else bytes(data))
    return path


def segments(path: Path, *fields: dict, array: np.ndarray | None = None, **header) -> Path:
    """Write the moved box as Slicer's segmentation whose header says this of its segments."""
    image = shapes.segmentation([voxels() if array is None else array], list(fields))
    for key, value in header.items():
        image.SetMetaData(key, str(value))
    return save(image, path)


SEGMENT = {"ID": "S1", "Name": "Organ", "LabelValue": 1, "Layer": 0}


def written(name: str, data: bytes | str):
    """Return what writes a file of this name and content."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return make


def using(builder, name: str, *arguments, **fields):
    """Return what calls a builder for a file of this name."""
    return lambda folder: builder(folder / name, *arguments, **fields)


def image(array, name: str = "odd.nrrd"):
    """Return what writes an array [k, j, i] as an image with voxels of 1 mm."""
    return lambda folder: save(shapes.imageOf(array), folder / name)


def cut(name: str, share: float, compressed: bool = True):
    """Return what writes the moved box and leaves only a share of the file."""

    def make(folder: Path) -> Path:
        path = save(SHIFTED, folder / name, compressed)
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        return path

    return make
