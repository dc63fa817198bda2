"""Images: wrong types, damage, geometry that makes no sense, and voxels that are no labels."""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from math import inf, nan

import numpy as np
import SimpleITK

from . import Measured, Row
from .builders import MOVED, SHIFTED, image, meta, nifti, nrrd, save, using, voxels, written

GRAY = np.random.default_rng(0).integers(0, 2000, (24, 24, 24)).astype(np.int16)
HALF = (np.random.default_rng(0).random((24, 24, 24)) < 0.5).astype(np.uint8)
COLORS = SimpleITK.GetImageFromArray(np.zeros((4, 4, 4, 3), np.uint8), isVector=True)
TIMES = SimpleITK.JoinSeries([SHIFTED] * 2)
NOISE = np.random.default_rng(0).bytes(5000)
DAMAGED = "damaged or incomplete."
NO_NUMBER = "its header has a place or a voxel size that is not a number."
NO_VOLUME = "the axes in its header do not span space."
NO_SIZE = Measured(MOVED, "Of the test, the file does not say how large its voxels are")
NO_SENSE = "the orientation or the place in its header makes no sense."
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


NIFTI_2, NEWER = "it is in the format NIfTI-2", struct.pack("<i8s", 540, b"n+2\0\r\n\x1a\n").ljust(700, b"\0")
SHORT = zlib.compress(b"x" * 10)
BZIP2 = "its voxels are compressed with bzip2, which is not supported; save it with gzip."
COMPRESSED, BZ2 = {"CompressedData": "True", "CompressedDataSize": len(SHORT)}, bz2.compress(voxels().tobytes())
NRRD_TEXT = "NRRD0004\nencoding: ascii\ndata file: a.txt\nsizes: 4 5 6\nspacings: 1 1 2\n\n"
META_HEAD = "ObjectType = Image\nNDims = 3\nDimSize = 8 8 8\n"
META_HEADS = META_HEAD, "NDims = 3\n", "ObjectType = Image\nx NDims = 3\nElementDataFile = LOCAL\n"


def saved(path, given):
    return save(given, path)


def packed(folder):
    path = save(SHIFTED, folder / "odd.nii")
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def gray(levels: int) -> np.ndarray:
    """Return what a smooth MR image of so many gray values is like: structures, gradients and noise."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng(1)
    values = gaussian_filter(random.standard_normal((24, 40, 40)), 2) + 0.05 * random.standard_normal((24, 40, 40))
    return np.interp(values, (values.min(), values.max()), (0, levels - 1))


def soft(folder):
    """Write the moved box with soft edges, from 0 to 255."""
    from scipy.ndimage import gaussian_filter

    return image((255 * gaussian_filter(voxels(float), 3)).astype(np.uint8))(folder)


WRONG_TYPE = [
    Row("a web page saved as .nii.gz", written("odd.nii.gz", "<html>Please log in</html>"), "its content is not"),
    Row("a ZIP archive called .nii.gz", written("odd.nii.gz", b"PK\3\4" + NOISE), "its content is not"),
    Row("a picture called .nrrd", written("odd.nrrd", b"\x89PNG\r\n\x1a\n" + NOISE), "cannot be read as an image"),
    Row("noise called .nrrd", written("odd.nrrd", NOISE), "its content is not that of a .nrrd file"),
    Row("noise called .nii", written("odd.nii", NOISE), "its content is not that of a .nii file"),
    Row("noise called .mha", written("odd.mha", NOISE), "its content is not that of a .mha file"),
    Row("compressed noise", written("odd.nii.gz", gzip.compress(NOISE)), "its content is not that of"),
    Row("zeros called .nii", written("odd.nii", bytes(5000)), "its content is not that of a .nii file"),
    Row("an empty file", written("odd.nrrd", b""), "odd.nrrd: the file is empty."),
    Row("NIfTI-2", written("odd.nii", NEWER), f"{NIFTI_2}, which is not supported; save it as NIfTI-1."),
    Row("compressed NIfTI-2", written("odd.nii.gz", gzip.compress(NEWER)), NIFTI_2),
    Row("compressed NIfTI called .nii", packed, "it is compressed; rename it so that it ends in .nii.gz."),
    Row("text", written("odd.txt", "hello"), "this kind of file is not supported; use .seg.nrrd, .nrrd,"),
]

HUGE = [
    Row("NRRD of 600^3 voxels", ofNrrd(sizes="600 600 600"), DAMAGED),
    Row("NRRD of no voxels", ofNrrd(sizes="0 24 24"), DAMAGED),
    Row("NRRD of two sizes for three axes", ofNrrd(sizes="24 24"), DAMAGED),
    Row("MetaImage of 600^3 voxels", ofMeta(DimSize="600 600 600"), DAMAGED),
    Row("MetaImage of no voxels", ofMeta(DimSize="0 24 24"), "at least one voxel along each axis"),
    Row("MetaImage of two sizes", ofMeta(DimSize="24 24"), DAMAGED),
    Row("NIfTI of 600^3 voxels", ofNifti(dim=(3, 600, 600, 600, 1, 1, 1, 1)), DAMAGED),
    Row("NIfTI of -12 voxels", ofNifti(dim=(3, -12, 10, 14, 1, 1, 1, 1)), "its content is not that of a .nii file"),
    Row("compressed NRRD of 10 bytes", ofNrrd(encoding="gzip", data=gzip.compress(b"x" * 10)), DAMAGED),
    Row("compressed MetaImage of 10 bytes", ofMeta(**COMPRESSED, data=SHORT), DAMAGED),
    *(Row(f"NRRD packed by {name}", ofNrrd(encoding=name, data=BZ2), BZIP2) for name in ("bzip2", "bz2")),
    *(Row(f"MetaImage, header only {n}", written("odd.mha", text), DAMAGED) for n, text in enumerate(META_HEADS)),
    Row("MetaImage apart, header only", written("odd.mhd", META_HEAD), DAMAGED),
    Row("no data file", using(nrrd, "odd.nhdr", b"", data_file="gone.raw"), "belongs to it is missing"),
    Row("5 axes", ofMeta(NDims=5), "Images of 2 or 3 dimensions can be compared; this one has 5."),
    Row("no axes", ofMeta(NDims=0), "Images of 2 or 3 dimensions can be compared; this one has 0."),
    Row("a hundred values per voxel", ofMeta(ElementNumberOfChannels=100), DAMAGED),
    Row("a long header field", ofNrrd(kinds="x" * 501), DAMAGED),
    Row("a header field that there is not", ofNrrd(nosuchfield="x"), DAMAGED),
    Row("a size that is no number", ofNrrd(sizes="24 24 x"), DAMAGED),
    Row("a long name", ofMeta(Name="x" * 251), DAMAGED),
    Row("a header of 2 MB", ofNrrd(content="x" * 2_000_000), Measured(MOVED)),
    Row("a data file called by a format", using(meta, "odd.mhd", ElementDataFile="%d.raw 1"), DAMAGED),
    Row("a data file elsewhere", using(meta, "odd.mhd", ElementDataFile="/etc/hostname"), "is missing."),
    Row("voxels as one word of text", ofNrrd(encoding="ascii", data=b"1" * 1000), DAMAGED),
    Row("more voxels than the header says", ofNrrd(sizes="24 24 12"), Measured({"VoxelVolumeTest": 540}, SURPLUS)),
]

SPACING = [
    Row("NaN spacing", ofNrrd(space_directions="(nan,0,0) (0,1,0) (0,0,1)"), NO_NUMBER),
    Row("infinite spacing", ofNrrd(space_directions="(inf,0,0) (0,1,0) (0,0,1)"), NO_NUMBER),
    Row("zero spacing", ofNrrd(space_directions="(0,0,0) (0,1,0) (0,0,1)"), "a voxel that is 0 mm long."),
    Row("spacing of 1e30 mm", ofNrrd(**scaled("1e30")), UNSCALED),
    Row("spacing of 1e-30 mm", ofNrrd(**scaled("1e-30")), UNSCALED),
    Row("lengths in cm", ofNrrd(space_units='"cm" "cm" "cm"'), "its header gives lengths in cm instead of mm."),
    Row("lengths in mm", ofNrrd(space_units='"mm" "mm" "mm"'), Measured(MOVED)),
    Row("spacings that are unknown", ofNrrd(**blank(spacings="nan nan nan")), NO_SIZE),
    Row("MetaImage, NaN spacing", ofMeta(ElementSpacing="nan 1 1"), NO_NUMBER),
    Row("MetaImage, zero spacing", ofMeta(ElementSpacing="0 1 1"), "a voxel that is 0 mm long."),
    Row("MetaImage, spacing in words", ofMeta(ElementSpacing="one by one"), NO_NUMBER),
    Row("MetaImage, spacing of two axes", ofMeta(ElementSpacing="1 1"), NO_NUMBER),
    Row("MetaImage, direction of eight numbers", ofMeta(TransformMatrix="1 0 0 0 1 0 0 0"), NO_NUMBER),
    Row("voxels as text in a file of their own", written("odd.nhdr", NRRD_TEXT), "save it in binary."),
    Row("MetaImage in cm", ofMeta(DistanceUnits="cm"), "its header gives lengths in cm instead of mm."),
    Row("NIfTI, NaN spacing", ofNifti(pixdim=(1, nan, 1, 1, 1, 1, 1, 1)), "voxel size of nan x 1 x 1 mm."),
    Row("NIfTI, zero spacing", ofNifti(pixdim=(1, 0, 1, 1, 1, 1, 1, 1)), "voxel size of 0 x 1 x 1 mm."),
    Row("NIfTI, negative spacing", ofNifti(pixdim=(1, -1, 1, 1, 1, 1, 1, 1)), "voxel size of -1 x 1 x 1 mm."),
    Row("NIfTI in meters", ofNifti(xyzt_units=1), "(m instead of mm)"),
    Row("NIfTI in no unit", ofNifti(xyzt_units=0), Measured(MOVED)),
    Row("NIfTI, two voxel sizes", ofNifti(srow_x=(-2, 0, 0, 0), qform_code=0), "its header contradicts itself"),
]

PLACE = [
    Row("singular direction", ofNrrd(space_directions="(1,0,0) (1,0,0) (0,0,1)"), NO_VOLUME),
    Row("MetaImage, singular direction", ofMeta(TransformMatrix="1 0 0 1 0 0 0 0 1"), NO_VOLUME),
    Row("MetaImage, direction that is no number", ofMeta(TransformMatrix="nan 0 0 0 1 0 0 0 1"), NO_NUMBER),
    Row("origin that is no number", ofNrrd(space_origin="(nan,0,0)"), NO_NUMBER),
    Row("MetaImage, origin that is no number", ofMeta(Offset="nan 0 0"), NO_NUMBER),
    Row("origin at 1e300 mm", ofNrrd(space_origin="(1e300,0,0)"), UNSCALED),
    Row("a space that there is not", ofNrrd(space="upside-down"), DAMAGED),
    Row(
        "a mirrored axis, with its origin",
        ofNrrd(space_directions="(-1,0,0) (0,1,0) (0,0,1)", space_origin="(23,0,0)"),
        Measured({"DSC": 1, "HD": 0}),
    ),
    Row("in RAS", ofNrrd(space="RAS"), Measured({"DSC": 0}, "no-overlap")),
    Row("NIfTI without a place", ofNifti(qform_code=0, sform_code=0), Measured(MOVED, "not say where in the patient")),
    Row("NIfTI, qform that is no number", ofNifti(quatern=(nan, 0, 0), sform_code=0), NO_SENSE),
    Row("NIfTI, qform that is no rotation", ofNifti(quatern=(5, 5, 5), sform_code=0), NO_SENSE),
    Row("NIfTI, qform at infinity", ofNifti(qoffset=(inf, 0, 0), sform_code=0), NO_SENSE),
    Row("NIfTI, bad qform beside a good sform", ofNifti(quatern=(nan, 0, 0)), Measured(MOVED, "the qform in the")),
    Row("NIfTI, qform elsewhere", ofNifti(qoffset=(50, 0, 0)), Measured(MOVED, "puts the image elsewhere")),
    Row("NIfTI, sheared sform beside a qform", ofNifti(srow_x=(-1, -0.5, 0, 0)), Measured(MOVED, "the sform in")),
    Row("NIfTI, sheared sform", ofNifti(srow_x=(-1, -0.5, 0, 0), qform_code=0), "not at right angles"),
    Row("NIfTI, sform that is no number", ofNifti(srow_x=(nan, 0, 0, 0)), NO_VOLUME),
    Row("NIfTI, sform of zeros", ofNifti(srow_x=(0, 0, 0, 0)), NO_VOLUME),
    Row("NIfTI, voxels inside the header", ofNifti(vox_offset=0), "puts the voxels into the header itself."),
    Row("NIfTI, voxels nowhere", ofNifti(vox_offset=nan), "puts the voxels into the header itself."),
    Row("NIfTI, header of a pair of files", ofNifti(magic=b"ni1\0"), "not that of a NIfTI file with voxels"),
    Row("NIfTI, one point in time", ofNifti(dim=(4, 24, 24, 24, 1, 1, 1, 1)), Measured(MOVED)),
    Row("an image of one plane", image(np.ones((24, 24), np.uint8)), "cannot be compared with contours in one"),
]

VOXELS = [
    Row("labels that are not whole", image(voxels(np.float32, 1.5)), "it has values from 0 to 1.5."),
    Row("memberships a little above 1", image(voxels(np.float64, 1 + 1e-5)), "values from 0 to 1.00001."),
    Row("negative labels", image(voxels(np.int16, -1)), "it has negative values, from -1 to 0."),
    Row("the lowest label of 64 bits", image(voxels(np.int64, -(2**63))), "it has negative values"),
    Row("label 2^31", image(voxels(np.uint32, 2**31)), Measured(MOVED)),
    Row("label 2^63 + 5", image(voxels(np.uint64, 2**63 + 5)), Measured(MOVED)),
    Row("label 2^31 as a float", image(voxels(np.float64, 2.0**31)), Measured(MOVED)),
    Row("label 2^60 as a float", image(voxels(np.float64, 2.0**60)), "neither a label map nor a map of"),
    Row("a CT", image(GRAY - 1000), "it has negative values, from -1000 to"),
    Row("an MR", image(GRAY), "change from voxel to voxel like those of a CT or MR image."),
    *(
        Row(f"colors in {end}", using(saved, f"odd{end}", COLORS), "several values")
        for end in (".nrrd", ".nii.gz", ".mha")
    ),
    *(Row(f"time in {end}", using(saved, f"odd{end}", TIMES), "Images of 2 or 3") for end in (".nrrd", ".nii.gz")),
    Row("an MR of bytes", image(gray(256).astype(np.uint8)), "its values, up to 255, change from voxel"),
    Row("soft edges", soft, "If they are memberships and 255 means full membership, say so"),
    Row("a label for every 8 voxels", image(np.arange(27000).repeat(8).reshape(60, 60, 60)), "label map: "),
    Row("negative memberships", image(voxels(np.float32, 0.5, -0.5)), "in [0, 1]: it has values from -0.5 to 0.5."),
    Row("values of -1e30", image(voxels(float, -1e30)), "in [0, 1]: it has values from -1e+30 to 0."),
    Row("values of 1e30", image(voxels(float, 1e30)), "in [0, 1]: it has values from 0 to 1e+30."),
    Row("complex values", image(voxels() * np.complex64(1)), "complex values; a segmentation has labels."),
    Row("scaled by 1.5", ofNifti(scl_slope=1.5), "in [0, 1]: it has values from 0 to 1.5."),
    Row("less 1024", ofNifti(scl_inter=-1024), "it has negative values, from -1024 to -1023."),
    Row("scaled by what is no number", ofNifti(scl_slope=nan), Measured(MOVED)),
    Row("every voxel", image(voxels(np.uint8, 1, 1)), Measured({"VoxelVolumeTest": 24**3}, "touches the image edge")),
    Row("no voxel", image(voxels(np.uint8, 0)), Measured({"DSC": 0, "HD": "infinite"}, "the test is empty")),
    Row("one voxel in all", image(np.ones((1, 1, 1), np.uint8)), Measured({"DSC": 0, "VoxelVolumeTest": 1})),
    Row("memberships too faint", image(voxels(np.float64, 5e-324)), Measured({"HD": "infinite"}, "membership of 0.5")),
    Row(
        "30,000 specks",
        image((np.indices((64,) * 3) % 2 == 0).all(axis=0).astype(np.uint8)),
        Measured({"VoxelVolumeTest": 32**3}, "Most of the 32768 parts of the test are single voxels"),
        options=QUICKLY,
    ),
    Row("half of all voxels, at random", image(HALF), Measured({"VoxelVolumeReference": 720}), options=QUICKLY),
]

ROWS = [*WRONG_TYPE, *HUGE, *SPACING, *PLACE, *VOXELS]
