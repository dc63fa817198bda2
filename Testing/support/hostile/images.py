"""Images: wrong types, damage, geometry that makes no sense, and voxels that are no labels."""

from __future__ import annotations

import gzip
from math import inf, nan

import numpy as np
import shapes
import SimpleITK

from . import Measured, Refused, Row
from .builders import MOVED, cut, image, meta, nifti, nrrd, save, using, voxels, written

GRAY = np.random.default_rng(0).integers(0, 2000, (24, 24, 24)).astype(np.int16)
COLORS = SimpleITK.GetImageFromArray(np.zeros((4, 4, 4, 3), np.uint8), isVector=True)
NOISE = np.random.default_rng(0).bytes(5000)
DAMAGED = Refused("damaged or incomplete.")
NO_NUMBER = Refused("its header has a place or a voxel size that is not a number.")
NO_VOLUME = Refused("the axes in its header do not span space.")
NO_SIZE = Measured(MOVED, "Of the test, the file does not say how large its voxels are")
NO_SENSE = Refused("the orientation or the place in its header makes no sense.")
SURPLUS = "Of the test, the file holds more data than its header describes"
QUICKLY = ("--metrics", "overlap")
UNSCALED = "check the header, or the unit of lengths."


def ofNrrd(**fields):
    return using(nrrd, "odd.nrrd", **fields)


def ofMeta(**fields):
    return using(meta, "odd.mha", **fields)


def ofNifti(**fields):
    return using(nifti, "odd.nii", **fields)


def scaled(length: str) -> dict:
    return {"space_directions": f"({length},0,0) (0,{length},0) (0,0,{length})"}


def blank(**fields) -> dict:
    """Return NRRD fields of a file that says nothing of where it is."""
    return {"space": None, "space_directions": None, "space_origin": None, **fields}


WRONG_TYPE = [
    Row(
        "a web page saved as .nii.gz",
        written("odd.nii.gz", "<html>Please log in</html>"),
        Refused("its content is not"),
    ),
    Row("a ZIP archive called .nii.gz", written("odd.nii.gz", b"PK\3\4" + NOISE), Refused("its content is not")),
    Row(
        "a picture called .nrrd",
        written("odd.nrrd", b"\x89PNG\r\n\x1a\n" + NOISE),
        Refused("cannot be read as an image"),
    ),
    Row("noise called .nrrd", written("odd.nrrd", NOISE), Refused("its content is not that of a .nrrd file")),
    Row("noise called .nii", written("odd.nii", NOISE), Refused("its content is not that of a .nii file")),
    Row("noise called .mha", written("odd.mha", NOISE), Refused("its content is not that of a .mha file")),
    Row("compressed noise", written("odd.nii.gz", gzip.compress(NOISE)), Refused("its content is not that of")),
    Row("zeros called .nii", written("odd.nii", bytes(5000)), Refused("its content is not that of a .nii file")),
    Row("an empty file", written("odd.nrrd", b""), Refused("odd.nrrd: the file is empty.")),
    Row("text", written("odd.txt", "hello"), Refused("this kind of file is not supported; use .seg.nrrd, .nrrd,")),
]

TRUNCATED = [
    Row("NRRD without its end", cut("odd.nrrd", 0.9), DAMAGED),
    Row("NRRD without compression, without its end", cut("odd.nrrd", 0.9, False), DAMAGED),
    Row("NIfTI without its end", cut("odd.nii", 0.9, False), DAMAGED),
    Row("compressed NIfTI without its end", cut("odd.nii.gz", 0.9), DAMAGED),
    Row("MetaImage without its end", cut("odd.mha", 0.9), DAMAGED),
    Row("a header and no voxels", cut("odd.mha", 0.02, False), DAMAGED),
]

HUGE = [
    Row("NRRD of 600^3 voxels", ofNrrd(sizes="600 600 600"), DAMAGED),
    Row("NRRD of no voxels", ofNrrd(sizes="0 24 24"), DAMAGED),
    Row("NRRD of two sizes for three axes", ofNrrd(sizes="24 24"), DAMAGED),
    Row("MetaImage of 600^3 voxels", ofMeta(DimSize="600 600 600"), DAMAGED),
    Row("MetaImage of no voxels", ofMeta(DimSize="0 24 24"), Refused("at least one voxel along each axis")),
    Row("NIfTI of 600^3 voxels", ofNifti(dim=(3, 600, 600, 600, 1, 1, 1, 1)), DAMAGED),
    Row("5 axes", ofMeta(NDims=5), Refused("Images of 2 or 3 dimensions can be compared; this one has 5.")),
    Row("no axes", ofMeta(NDims=0), Refused("Images of 2 or 3 dimensions can be compared; this one has 0.")),
    Row("a hundred values per voxel", ofMeta(ElementNumberOfChannels=100), DAMAGED),
    Row("a long header field", ofNrrd(kinds="x" * 501), DAMAGED),
    Row("a header field that there is not", ofNrrd(nosuchfield="x"), DAMAGED),
    Row("a long name", ofMeta(Name="x" * 251), DAMAGED),
    Row("a header of 2 MB", ofNrrd(content="x" * 2_000_000), Measured(MOVED)),
    Row("a data file called by a format", using(meta, "odd.mhd", ElementDataFile="%d.raw 1"), DAMAGED),
    Row("a data file elsewhere", using(meta, "odd.mhd", ElementDataFile="/etc/hostname"), Refused("is missing.")),
    Row("voxels as one word of text", ofNrrd(encoding="ascii", data=b"1" * 1000), DAMAGED),
    Row("more voxels than the header says", ofNrrd(sizes="24 24 12"), Measured({"VoxelVolumeTest": 540}, SURPLUS)),
    Row("the same in NIfTI", ofNifti(dim=(3, 24, 24, 12, 1, 1, 1, 1)), Measured({"VoxelVolumeTest": 540}, SURPLUS)),
    Row("the same in MetaImage", ofMeta(DimSize="24 24 12"), Measured({"VoxelVolumeTest": 540}, SURPLUS)),
]

SPACING = [
    Row("NaN spacing", ofNrrd(space_directions="(nan,0,0) (0,1,0) (0,0,1)"), NO_NUMBER),
    Row("infinite spacing", ofNrrd(space_directions="(inf,0,0) (0,1,0) (0,0,1)"), NO_NUMBER),
    Row("zero spacing", ofNrrd(space_directions="(0,0,0) (0,1,0) (0,0,1)"), Refused("a voxel that is 0 mm long.")),
    Row("spacing of 1e200 mm", ofNrrd(**scaled("1e200")), Refused(UNSCALED)),
    Row("spacing of 1e30 mm", ofNrrd(**scaled("1e30")), Refused(UNSCALED)),
    Row("spacing of 1e-30 mm", ofNrrd(**scaled("1e-30")), Refused(UNSCALED)),
    Row(
        "lengths in cm", ofNrrd(space_units='"cm" "cm" "cm"'), Refused("its header gives lengths in cm instead of mm.")
    ),
    Row("lengths in mm", ofNrrd(space_units='"mm" "mm" "mm"'), Measured(MOVED)),
    Row("no geometry at all", ofNrrd(**blank()), NO_SIZE),
    Row("spacings that are unknown", ofNrrd(**blank(spacings="nan nan nan")), NO_SIZE),
    Row("MetaImage, NaN spacing", ofMeta(ElementSpacing="nan 1 1"), NO_NUMBER),
    Row("MetaImage, infinite spacing", ofMeta(ElementSpacing="inf 1 1"), NO_NUMBER),
    Row("MetaImage, zero spacing", ofMeta(ElementSpacing="0 1 1"), Refused("a voxel that is 0 mm long.")),
    Row("MetaImage, spacing in words", ofMeta(ElementSpacing="one by one"), NO_NUMBER),
    Row("MetaImage, no spacing", ofMeta(ElementSpacing=None), NO_SIZE),
    Row("MetaImage in cm", ofMeta(DistanceUnits="cm"), Refused("its header gives lengths in cm instead of mm.")),
    Row("NIfTI, NaN spacing", ofNifti(pixdim=(1, nan, 1, 1, 1, 1, 1, 1)), Refused("voxel size of nan x 1 x 1 mm.")),
    Row("NIfTI, zero spacing", ofNifti(pixdim=(1, 0, 1, 1, 1, 1, 1, 1)), Refused("voxel size of 0 x 1 x 1 mm.")),
    Row("NIfTI, negative spacing", ofNifti(pixdim=(1, -1, 1, 1, 1, 1, 1, 1)), Refused("voxel size of -1 x 1 x 1 mm.")),
    Row("NIfTI in meters", ofNifti(xyzt_units=1), Refused("would match the other contour")),
    Row("NIfTI in no unit", ofNifti(xyzt_units=0), Measured(MOVED)),
    Row(
        "NIfTI, two voxel sizes",
        ofNifti(srow_x=(-2, 0, 0, 0), qform_code=0),
        Refused("its header contradicts itself about the size and the place of its voxels."),
    ),
]

PLACE = [
    Row("singular direction", ofNrrd(space_directions="(1,0,0) (1,0,0) (0,0,1)"), NO_VOLUME),
    Row("MetaImage, singular direction", ofMeta(TransformMatrix="1 0 0 1 0 0 0 0 1"), NO_VOLUME),
    Row("MetaImage, direction of zeros", ofMeta(TransformMatrix="0 0 0 0 0 0 0 0 0"), NO_VOLUME),
    Row("MetaImage, direction that is no number", ofMeta(TransformMatrix="nan 0 0 0 1 0 0 0 1"), NO_NUMBER),
    Row("origin that is no number", ofNrrd(space_origin="(nan,0,0)"), NO_NUMBER),
    Row("MetaImage, origin that is no number", ofMeta(Offset="nan 0 0"), NO_NUMBER),
    Row("origin at 1e300 mm", ofNrrd(space_origin="(1e300,0,0)"), Refused(UNSCALED)),
    Row("a space that there is not", ofNrrd(space="upside-down"), DAMAGED),
    Row(
        "a mirrored axis, with its origin",
        ofNrrd(space_directions="(-1,0,0) (0,1,0) (0,0,1)", space_origin="(23,0,0)"),
        Measured({"DSC": 1, "HD": 0}),
    ),
    Row("in RAS", ofNrrd(space="RAS"), Measured({"DSC": 0}, "The two contours do not overlap at all")),
    Row("NIfTI without a place", ofNifti(qform_code=0, sform_code=0), Measured(MOVED, "not say where in the patient")),
    Row("NIfTI, qform that is no number", ofNifti(quatern=(nan, 0, 0), sform_code=0), NO_SENSE),
    Row("NIfTI, qform that is no rotation", ofNifti(quatern=(5, 5, 5), sform_code=0), NO_SENSE),
    Row("NIfTI, qform at infinity", ofNifti(qoffset=(inf, 0, 0), sform_code=0), NO_SENSE),
    Row(
        "NIfTI, bad qform beside a good sform", ofNifti(quatern=(nan, 0, 0)), Measured(MOVED, "the qform in the header")
    ),
    Row("NIfTI, qform elsewhere", ofNifti(qoffset=(50, 0, 0)), Measured(MOVED, "puts the image elsewhere")),
    Row("NIfTI, sheared sform beside a qform", ofNifti(srow_x=(-1, -0.5, 0, 0)), Measured(MOVED, "the sform in")),
    Row("NIfTI, sheared sform", ofNifti(srow_x=(-1, -0.5, 0, 0), qform_code=0), Refused("not at right angles")),
    Row("NIfTI, sform that is no number", ofNifti(srow_x=(nan, 0, 0, 0)), NO_VOLUME),
    Row("NIfTI, sform of zeros", ofNifti(srow_x=(0, 0, 0, 0)), NO_VOLUME),
    Row("NIfTI, voxels inside the header", ofNifti(vox_offset=0), Refused("puts the voxels into the header itself.")),
    Row("NIfTI, voxels nowhere", ofNifti(vox_offset=nan), Refused("puts the voxels into the header itself.")),
    Row("NIfTI, header of a pair of files", ofNifti(magic=b"ni1\0"), Refused("not that of a NIfTI file with voxels")),
    Row("NIfTI, one point in time", ofNifti(dim=(4, 24, 24, 24, 1, 1, 1, 1)), Measured(MOVED)),
    Row(
        "an image of one plane", image(np.ones((24, 24), np.uint8)), Refused("cannot be compared with contours in one")
    ),
]

VOXELS = [
    Row("labels that are not whole", image(voxels(np.float32, 1.5)), Refused("it has values from 0 to 1.5.")),
    Row("memberships a little above 1", image(voxels(np.float64, 1 + 1e-5)), Refused("values from 0 to 1.00001.")),
    Row("negative labels", image(voxels(np.int16, -1)), Refused("it has negative values, from -1 to 0.")),
    Row("the lowest label of 64 bits", image(voxels(np.int64, -(2**63))), Refused("it has negative values")),
    Row("label 2^31", image(voxels(np.uint32, 2**31)), Measured(MOVED)),
    Row("label 2^63 + 5", image(voxels(np.uint64, 2**63 + 5)), Measured(MOVED)),
    Row("label 2^31 as a float", image(voxels(np.float64, 2.0**31)), Measured(MOVED)),
    Row("label 2^60 as a float", image(voxels(np.float64, 2.0**60)), Refused("neither a label map nor a map of")),
    Row("labels that are not numbers", image(voxels(np.float32, nan)), Refused("values that are not numbers.")),
    Row("background that is not a number", image(voxels(np.float32, 1, nan)), Refused("values that are not numbers.")),
    Row("a CT", image(GRAY - 1000), Refused("it has negative values, from -1000 to")),
    Row("an MR", image(GRAY), Refused("change from voxel to voxel like those of a CT or MR image.")),
    Row("an image of colors", lambda folder: save(COLORS, folder / "odd.nrrd"), Refused("several values per voxel")),
    Row("infinite labels", image(voxels(np.float32, inf)), Refused("values that are not numbers.")),
    Row("scaled by nothing", ofNifti(scl_slope=0), Measured(MOVED)),
    Row("scaled by what is no number", ofNifti(scl_slope=nan), Measured(MOVED)),
    Row(
        "background and structure exchanged",
        image(voxels(np.uint8, 0, 1)),
        Measured({"VoxelVolumeTest": 24**3 - 720}),
        options=QUICKLY,
    ),
    Row(
        "every voxel",
        image(np.ones((24, 24, 24), np.uint8)),
        Measured({"VoxelVolumeTest": 24**3}, "touches the image edge"),
        options=QUICKLY,
    ),
    Row(
        "no voxel", image(np.zeros((24, 24, 24), np.uint8)), Measured({"DSC": 0, "HD": "infinite"}, "the test is empty")
    ),
    Row("one voxel in all", image(np.ones((1, 1, 1), np.uint8)), Measured({"DSC": 0, "VoxelVolumeTest": 1})),
    Row("memberships too faint", image(voxels(np.float64, 5e-324)), Measured({"HD": "infinite"}, "membership of 0.5")),
    Row(
        "30,000 specks",
        lambda folder: save(shapes.imageOf(specks(64)), folder / "odd.nrrd"),
        Measured({"VoxelVolumeTest": 32**3}, "Most of the 32768 parts of the test are single voxels"),
        options=QUICKLY,
    ),
    Row(
        "half of all voxels, at random",
        lambda folder: save(shapes.imageOf(np.random.default_rng(0).random((24, 24, 24)) < 0.5), folder / "odd.nrrd"),
        Measured({"VoxelVolumeReference": 720}),
        options=QUICKLY,
    ),
]


def specks(size: int) -> np.ndarray:
    """Return a mask [k, j, i] of single voxels that do not touch, as many as there can be."""
    array = np.zeros((size,) * 3, np.uint8)
    array[::2, ::2, ::2] = 1
    return array


ROWS = [*WRONG_TYPE, *TRUNCATED, *HUGE, *SPACING, *PLACE, *VOXELS]
