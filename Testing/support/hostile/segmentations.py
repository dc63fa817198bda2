"""Segmentations of Slicer with odd metadata, DICOM structure sets, and paths that are no files."""

from __future__ import annotations

import os
from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np

from . import Measured, Row
from .builders import MOVED, SEGMENT, SHIFTED, save, segments, using, voxels

WHOLE = "Segmentation_ConversionParameters"
PLACE = "Reference image geometry|-1;0;0;0;0;-1;0;0;0;0;1;0;0;0;0;1;{}|x"
FRACTIONAL = {"Segmentation_MasterRepresentation": "Fractional labelmap"}


def segment(**fields):
    """Return what writes the moved box as one segment whose header has these fields."""
    return using(segments, "odd.seg.nrrd", {**SEGMENT, **fields})


def header(**fields):
    """Return what writes the moved box, or another array, as one segment in a file with these fields in its header."""
    return using(segments, "odd.seg.nrrd", SEGMENT, **fields)


SLICER = [
    Row("two of one name", using(segments, "odd.seg.nrrd", SEGMENT, {**SEGMENT, "ID": "S2"}), ("'Organ'",)),
    Row("a label of 30 digits", segment(LabelValue="9" * 30), Measured(MOVED)),
    Row("a label of 5000 digits", segment(LabelValue="9" * 5000), ("'" + "9" * 40 + "'",)),
    Row("half a layer", segment(Layer="0.5"), ("'0.5'",)),
    Row("a layer before the first", segment(Layer=-1), ("'Organ'",)),
    Row("label 0", segment(LabelValue=0), ("'Organ'", "0")),
    Row("a layer that is not there", segment(Layer=2**70), ("'Organ'",)),
    Row("a color that is none", segment(Color="1e400 nan red"), Measured(MOVED)),
    Row("100,000 parts of a code", segment(Tags="TerminologyEntry:" + "~" * 100_000), Measured(MOVED)),
    Row("an extent that is none", segment(Extent="99 -5 a b"), Measured(MOVED)),
    Row("no name and no ID", segment(ID="", Name=""), Measured(MOVED)),
    Row("a whole image of 10^27 voxels", header(**{WHOLE: PLACE.format("0;999999999;" * 3)}), Measured(MOVED)),
    Row("negative voxels", header(array=voxels(np.int16, 1, -1)), ("-1",)),
    Row("voxels that are not whole", header(array=voxels(np.float32, 1.5))),
    Row("no fractions", header(array=voxels(np.float32, nan), **FRACTIONAL), ("1",)),
    Row("large fractions", header(array=voxels(np.uint8, 217), **FRACTIONAL), ("216",)),
]


def square(z: float, start: float = 2.0, size: float = 10.0) -> list[tuple]:
    return [(start, 0, z), (start + size, 0, z), (start + size, size, z), (start, size, z)]


def structureSet(
    regions: dict | None = None, edit=None, replaced: tuple[bytes, bytes] | None = None, share=1.0, **more
):
    """Return what writes an RTSTRUCT of a box 2 mm beside the reference's, changed by a function or byte by byte."""

    def make(folder: Path) -> Path:
        import dicomfiles

        path = folder / "odd" / "odd.dcm"
        given = regions or {"Organ": [square(z) for z in range(10)]}
        dataset = dicomfiles.writeStructureSet(path, given, **more)
        if edit is not None:
            edit(dataset)
            dataset.save_as(path, enforce_file_format=True)
        data = path.read_bytes()
        if replaced is not None:
            data = data.replace(*replaced, 1)
        path.write_bytes(data[: int(share * len(data))])
        return path

    return make


def reference(folder: Path) -> Path:
    import dicomfiles

    path = folder / "reference" / "reference.dcm"
    dicomfiles.writeStructureSet(path, {"Organ": [square(z, 0.0) for z in range(10)]})
    return path


def twoOfOneNumber(dataset) -> None:
    dataset.StructureSetROISequence[1].ROINumber = 1


DICOM = [
    Row("contours as they should be", structureSet(), Measured(MOVED, ("remark", "1 mm", "0.5 mm"))),
    Row("without its end", structureSet(share=0.7)),
    Row("one number twice", structureSet({n: [square(0)] for n in "AB"}, twoOfOneNumber)),
    Row("a word for a coordinate", structureSet(replaced=(b"12.000000", b"twelve---")), ("'Organ'",)),
    Row("a coordinate of 1e30", structureSet(replaced=(b"12.000000", b"1.000e+30")), ("'Organ'", "1e+30 mm")),
    Row("a contour of 1000 km", structureSet({"Organ": [square(z, 2, 1e6) for z in range(3)]}), ("'Organ'",)),
    Row("points only", structureSet({"Organ": [[(0, 0, 0)]]}, kinds={("Organ", 0): "POINT"})),
    Row("nothing behind the first word", structureSet(replaced=(b"DICM", b"DICM"), share=0.05)),
]


def folder(name: str):
    def make(inside: Path) -> Path:
        (inside / name).mkdir()
        return inside / name

    return make


def pipe(inside: Path) -> Path:
    os.mkfifo(inside / "odd.nrrd")
    return inside / "odd.nrrd"


def link(target: str, name: str = "odd.nrrd"):
    """Return what writes the moved box as box.nrrd, and beside it a link to something."""

    def make(inside: Path) -> Path:
        save(SHIFTED, inside / "box.nrrd")
        (inside / name).symlink_to(target)
        return inside / name

    return make


PATHS = [
    Row("nothing", lambda inside: inside / "gone.nrrd"),
    Row("a name of two lines", lambda inside: inside / "a\nb.nrrd", file="in/a b.nrrd"),
    Row("a name that is no Unicode", lambda inside: inside / "a\udcff.stl", file=r"in/a\udcff.stl"),
    Row("a name of 5000 letters", lambda inside: inside / f"{'x' * 5000}.nrrd"),
    Row("an empty folder", folder("odd")),
    Row("a folder called as an image", folder("odd.nrrd")),
    Row("a link to a file", link("box.nrrd"), Measured(MOVED)),
    Row("a link to nothing", link("gone.nrrd")),
    Row("a link to itself", link("odd.nrrd")),
    Row("a named pipe", pipe),
    Row("a device", lambda inside: Path("/dev/zero")),
]

ROWS = [
    *(replace(row, given=f"a segmentation: {row.given}") for row in SLICER),
    *(replace(row, given=f"a structure set: {row.given}", against=reference) for row in DICOM),
    *(replace(row, given=f"a path: {row.given}") for row in PATHS),
]
