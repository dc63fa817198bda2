"""Segmentations of Slicer with odd metadata, DICOM structure sets, and paths that are no files."""

from __future__ import annotations

import os
from math import nan
from pathlib import Path

import numpy as np

from . import Measured, Row
from .builders import MOVED, SEGMENT, SHIFTED, save, segments, using, voxels

WHOLE = "Segmentation_ConversionParameters"
PLACE = "Reference image geometry|-1;0;0;0;0;-1;0;0;0;0;1;0;0;0;0;1;{}|x"
FRACTIONAL = {"Segmentation_MasterRepresentation": "Fractional labelmap"}
DAMAGED = "the DICOM file is damaged or incomplete."


def segment(**fields):
    """Return what writes the moved box as one segment whose header has these fields."""
    return using(segments, "odd.seg.nrrd", {**SEGMENT, **fields})


def header(**fields):
    """Return what writes the moved box, or another array, as one segment in a file with these fields in its header."""
    return using(segments, "odd.seg.nrrd", SEGMENT, **fields)


SLICER = [
    Row(
        "two of one name", using(segments, "odd.seg.nrrd", SEGMENT, {**SEGMENT, "ID": "S2"}), "more than one structure"
    ),
    Row("a label of 30 digits", segment(LabelValue="9" * 30), Measured(MOVED)),
    Row("a label of 5000 digits", segment(LabelValue="9" * 5000), "where a segment's label or layer should be."),
    Row("half a layer", segment(Layer="0.5"), "the header has '0.5' where a segment's label or layer should be."),
    Row("a layer before the first", segment(Layer=-1), "'Organ' into a layer that the file does not have."),
    Row("label 0", segment(LabelValue=0), "gives segment 'Organ' the label 0, which is the background."),
    Row("a layer that is not there", segment(Layer=2**70), "a layer that the file does not have."),
    Row("a color that is none", segment(Color="1e400 nan red"), Measured(MOVED)),
    Row("100,000 parts of a code", segment(Tags="TerminologyEntry:" + "~" * 100_000), Measured(MOVED)),
    Row("an extent that is none", segment(Extent="99 -5 a b"), Measured(MOVED)),
    Row("no name and no ID", segment(ID="", Name=""), Measured(MOVED)),
    Row("a whole image of 10^27 voxels", header(**{WHOLE: PLACE.format("0;999999999;" * 3)}), Measured(MOVED)),
    Row("negative voxels", header(array=voxels(np.int16, 1, -1)), "negative values, from -1 to 1."),
    Row("voxels that are not whole", header(array=voxels(np.float32, 1.5)), "not whole numbers."),
    Row("no fractions", header(array=voxels(np.float32, nan), **FRACTIONAL), "beyond its range from 0 to 1."),
    Row("large fractions", header(array=voxels(np.uint8, 217), **FRACTIONAL), "beyond its range from 0 to 216."),
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
    Row("contours as they should be", structureSet(), Measured(MOVED, "drawn on was not found near the file")),
    Row("without its end", structureSet(share=0.7), DAMAGED),
    Row("one number twice", structureSet({n: [square(0)] for n in "AB"}, twoOfOneNumber), "have the same number"),
    Row("a word for a coordinate", structureSet(replaced=(b"12.000000", b"twelve---")), "not positions in space."),
    Row("a coordinate of 1e30", structureSet(replaced=(b"12.000000", b"1.000e+30")), "the unit of lengths."),
    Row("a contour of 1000 km", structureSet({"Organ": [square(z, 2, 1e6) for z in range(3)]}), "image of a patient."),
    Row("points only", structureSet({"Organ": [[(0, 0, 0)]]}, kinds={("Organ", 0): "POINT"}), "has no contours"),
    Row("nothing behind the first word", structureSet(replaced=(b"DICM", b"DICM"), share=0.05), DAMAGED),
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
    Row("nothing", lambda inside: inside / "gone.nrrd", "gone.nrrd: "),
    Row("a name of two lines", lambda inside: inside / "a\nb.nrrd", "a b.nrrd: "),
    Row("a name that is no Unicode", lambda inside: inside / "a\udcff.stl", "not valid Unicode; choose another"),
    Row("a name of 5000 letters", lambda inside: inside / f"{'x' * 5000}.nrrd", "cannot be opened (File name too"),
    Row("an empty folder", folder("odd"), "the folder holds no files that can be compared"),
    Row("a folder called as an image", folder("odd.nrrd"), "the folder holds no files that can be compared"),
    Row("a link to a file", link("box.nrrd"), Measured(MOVED)),
    Row("a link to nothing", link("gone.nrrd"), ".nrrd: "),
    Row("a link to itself", link("odd.nrrd"), "odd.nrrd: "),
    Row("a named pipe", pipe, "this is neither a file nor a folder."),
    Row("a device", lambda inside: Path("/dev/zero"), "this kind of file is not supported"),
]

ROWS = [
    *(Row(f"a segmentation: {row.given}", row.make, row.outcome) for row in SLICER),
    *(Row(f"a structure set: {row.given}", row.make, row.outcome, reference) for row in DICOM),
    *(Row(f"a path: {row.given}", row.make, row.outcome) for row in PATHS),
]
