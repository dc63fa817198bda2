"""Images: wrong types, damage, geometry that makes no sense, and voxels that are no labels."""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from math import inf, nan

import numpy as np
import SimpleITK

from . import REMARK, Measured, Row
from .builders import MOVED, SHIFTED, image, meta, nifti, nrrd, save, using, voxels, written

GRAY = np.random.default_rng(0).integers(0, 2000, (24, 24, 24)).astype(np.int16)
HALF = (np.random.default_rng(0).random((24, 24, 24)) < 0.5).astype(np.uint8)
COLORS = SimpleITK.GetImageFromArray(np.zeros((4, 4, 4, 3), np.uint8), isVector=True)
TIMES = SimpleITK.JoinSeries([SHIFTED] * 2)
NOISE = np.random.default_rng(0).bytes(5000)
QUICKLY = ("--metrics", "overlap")


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


NEWER = struct.pack("<i8s", 540, b"n+2\0\r\n\x1a\n").ljust(700, b"\0")
SHORT = zlib.compress(b"x" * 10)
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
    Row("a web page saved as .nii.gz", written("odd.nii.gz", "<html>Please log in</html>")),
    Row("a ZIP archive called .nii.gz", written("odd.nii.gz", b"PK\3\4" + NOISE)),
    Row("a picture called .nrrd", written("odd.nrrd", b"\x89PNG\r\n\x1a\n" + NOISE)),
    Row("noise called .nrrd", written("odd.nrrd", NOISE)),
    Row("noise called .nii", written("odd.nii", NOISE)),
    Row("noise called .mha", written("odd.mha", NOISE)),
    Row("compressed noise", written("odd.nii.gz", gzip.compress(NOISE))),
    Row("zeros called .nii", written("odd.nii", bytes(5000))),
    Row("an empty file", written("odd.nrrd", b"")),
    Row("NIfTI-2", written("odd.nii", NEWER), ("NIfTI-2",)),
    Row("compressed NIfTI-2", written("odd.nii.gz", gzip.compress(NEWER)), ("NIfTI-2",)),
    Row("compressed NIfTI called .nii", packed, (".nii.gz",)),
    Row("text", written("odd.txt", "hello"), (".seg.nrrd", ".nii.gz")),
]

HUGE = [
    Row("NRRD of 600^3 voxels", ofNrrd(sizes="600 600 600")),
    Row("NRRD of no voxels", ofNrrd(sizes="0 24 24")),
    Row("NRRD of two sizes for three axes", ofNrrd(sizes="24 24")),
    Row("MetaImage of 600^3 voxels", ofMeta(DimSize="600 600 600")),
    Row("MetaImage of no voxels", ofMeta(DimSize="0 24 24"), ("(0, 24, 24)",)),
    Row("MetaImage of two sizes", ofMeta(DimSize="24 24")),
    Row("NIfTI of 600^3 voxels", ofNifti(dim=(3, 600, 600, 600, 1, 1, 1, 1))),
    Row("NIfTI of -12 voxels", ofNifti(dim=(3, -12, 10, 14, 1, 1, 1, 1))),
    Row("compressed NRRD of 10 bytes", ofNrrd(encoding="gzip", data=gzip.compress(b"x" * 10))),
    Row("compressed MetaImage of 10 bytes", ofMeta(**COMPRESSED, data=SHORT)),
    *(Row(f"NRRD packed by {name}", ofNrrd(encoding=name, data=BZ2), ("bzip2",)) for name in ("bzip2", "bz2")),
    *(Row(f"MetaImage, header only {n}", written("odd.mha", text)) for n, text in enumerate(META_HEADS)),
    Row("MetaImage apart, header only", written("odd.mhd", META_HEAD)),
    Row("no data file", using(nrrd, "odd.nhdr", b"", data_file="gone.raw")),
    Row("5 axes", ofMeta(NDims=5), ("5",)),
    Row("no axes", ofMeta(NDims=0), ("0",)),
    Row("a hundred values per voxel", ofMeta(ElementNumberOfChannels=100)),
    Row("a long header field", ofNrrd(kinds="x" * 501)),
    Row("a header field that there is not", ofNrrd(nosuchfield="x")),
    Row("a size that is not whole", ofNrrd(sizes="24.5 24 24")),
    Row("a long name", ofMeta(Name="x" * 251)),
    Row("a header of 2 MB", ofNrrd(content="x" * 2_000_000), Measured(MOVED)),
    Row("a data file called by a format", using(meta, "odd.mhd", ElementDataFile="%d.raw 1")),
    Row("a data file elsewhere", using(meta, "odd.mhd", ElementDataFile="/etc/hostname")),
    Row("voxels as one word of text", ofNrrd(encoding="ascii", data=b"1" * 1000)),
    Row("more voxels than the header says", ofNrrd(sizes="24 24 15"), Measured(MOVED, REMARK)),
]

SPACING = [
    Row("NaN spacing", ofNrrd(space_directions="(nan,0,0) (0,1,0) (0,0,1)")),
    Row("infinite spacing", ofNrrd(space_directions="(inf,0,0) (0,1,0) (0,0,1)")),
    Row("zero spacing", ofNrrd(space_directions="(0,0,0) (0,1,0) (0,0,1)"), ("0 mm",)),
    Row("spacing of 1e30 mm", ofNrrd(**scaled("1e30")), ("1e+30 mm",)),
    Row("spacing of 1e-30 mm", ofNrrd(**scaled("1e-30")), ("1e-30 mm",)),
    Row("lengths in cm", ofNrrd(space_units='"cm" "cm" "cm"'), ("cm",)),
    Row("lengths in mm", ofNrrd(space_units='"mm" "mm" "mm"'), Measured(MOVED)),
    Row("spacings that are unknown", ofNrrd(**blank(spacings="nan nan nan")), Measured(MOVED, (*REMARK, "1 mm"))),
    Row("MetaImage, NaN spacing", ofMeta(ElementSpacing="nan 1 1")),
    Row("MetaImage, zero spacing", ofMeta(ElementSpacing="0 1 1"), ("0 mm",)),
    Row("MetaImage, spacing in words", ofMeta(ElementSpacing="one by one")),
    Row("MetaImage, spacing of two axes", ofMeta(ElementSpacing="1 1")),
    Row("MetaImage, direction of eight numbers", ofMeta(TransformMatrix="1 0 0 0 1 0 0 0")),
    Row("voxels as text in a file of their own", written("odd.nhdr", NRRD_TEXT)),
    Row("MetaImage in cm", ofMeta(DistanceUnits="cm"), ("cm",)),
    Row("NIfTI, NaN spacing", ofNifti(pixdim=(1, nan, 1, 1, 1, 1, 1, 1)), ("nan x 1 x 1 mm",)),
    Row("NIfTI, zero spacing", ofNifti(pixdim=(1, 0, 1, 1, 1, 1, 1, 1)), ("0 x 1 x 1 mm",)),
    Row("NIfTI, negative spacing", ofNifti(pixdim=(1, -1, 1, 1, 1, 1, 1, 1)), ("-1 x 1 x 1 mm",)),
    Row("NIfTI in meters", ofNifti(xyzt_units=1), ("1000", "(m ")),
    Row("NIfTI in no unit", ofNifti(xyzt_units=0), Measured(MOVED)),
    Row("NIfTI, two voxel sizes", ofNifti(srow_x=(-2, 0, 0, 0), qform_code=0)),
]

PLACE = [
    Row("singular direction", ofNrrd(space_directions="(1,0,0) (1,0,0) (0,0,1)")),
    Row("MetaImage, singular direction", ofMeta(TransformMatrix="1 0 0 1 0 0 0 0 1")),
    Row("MetaImage, direction that is no number", ofMeta(TransformMatrix="nan 0 0 0 1 0 0 0 1")),
    Row("origin that is no number", ofNrrd(space_origin="(nan,0,0)")),
    Row("MetaImage, origin that is no number", ofMeta(Offset="nan 0 0")),
    Row("origin at 1e300 mm", ofNrrd(space_origin="(1e300,0,0)"), ("1e+300 mm",)),
    Row("a space that there is not", ofNrrd(space="upside-down")),
    Row(
        "a mirrored axis, with its origin",
        ofNrrd(space_directions="(-1,0,0) (0,1,0) (0,0,1)", space_origin="(23,0,0)"),
        Measured({"DSC": 1, "HD": 0}),
    ),
    Row("in RAS", ofNrrd(space="RAS"), Measured({"DSC": 0}, ("no-overlap",))),
    Row("NIfTI without a place", ofNifti(qform_code=0, sform_code=0), Measured(MOVED, REMARK)),
    Row("NIfTI, qform that is no number", ofNifti(quatern=(nan, 0, 0), sform_code=0)),
    Row("NIfTI, qform that is no rotation", ofNifti(quatern=(5, 5, 5), sform_code=0)),
    Row("NIfTI, qform at infinity", ofNifti(qoffset=(inf, 0, 0), sform_code=0)),
    Row("NIfTI, bad qform beside a good sform", ofNifti(quatern=(nan, 0, 0)), Measured(MOVED, (*REMARK, "qform"))),
    Row("NIfTI, qform elsewhere", ofNifti(qoffset=(50, 0, 0)), Measured(MOVED, (*REMARK, "qform"))),
    Row("NIfTI, sheared sform beside a qform", ofNifti(srow_x=(-1, -0.5, 0, 0)), Measured(MOVED, (*REMARK, "sform"))),
    Row("NIfTI, sheared sform", ofNifti(srow_x=(-1, -0.5, 0, 0), qform_code=0)),
    Row("NIfTI, sform that is no number", ofNifti(srow_x=(nan, 0, 0, 0))),
    Row("NIfTI, sform of zeros", ofNifti(srow_x=(0, 0, 0, 0))),
    Row("NIfTI, voxels inside the header", ofNifti(vox_offset=0)),
    Row("NIfTI, voxels nowhere", ofNifti(vox_offset=nan)),
    Row("NIfTI, header of a pair of files", ofNifti(magic=b"ni1\0"), ("NIfTI",)),
    Row("NIfTI, one point in time", ofNifti(dim=(4, 24, 24, 24, 1, 1, 1, 1)), Measured(MOVED)),
    Row("an image of one plane", image(np.ones((24, 24), np.uint8))),
]

VOXELS = [
    Row("labels that are not whole", image(voxels(np.float32, 1.5)), ("1.5",)),
    Row("memberships a little above 1", image(voxels(np.float64, 1 + 1e-5)), ("1.00001",)),
    Row("negative labels", image(voxels(np.int16, -1)), ("-1",)),
    Row("the lowest label of 64 bits", image(voxels(np.int64, -(2**63))), (str(-(2**63)),)),
    Row("label 2^31", image(voxels(np.uint32, 2**31)), Measured(MOVED)),
    Row("label 2^63 + 5", image(voxels(np.uint64, 2**63 + 5)), Measured(MOVED)),
    Row("label 2^31 as a float", image(voxels(np.float64, 2.0**31)), Measured(MOVED)),
    Row("label 2^60 as a float", image(voxels(np.float64, 2.0**60)), ("1.15292150461e+18",)),
    Row("a CT", image(GRAY - 1000), ("-1000", "999")),
    Row("an MR", image(GRAY), ("1999",)),
    *(Row(f"colors in {end}", using(saved, f"odd{end}", COLORS)) for end in (".nrrd", ".nii.gz", ".mha")),
    *(Row(f"time in {end}", using(saved, f"odd{end}", TIMES), ("4",)) for end in (".nrrd", ".nii.gz")),
    Row("an MR of bytes", image(gray(256).astype(np.uint8)), ("255",)),
    Row("soft edges", soft, ("162", "--set membershipMaximum=255")),
    Row("a label for every 8 voxels", image(np.arange(27000).repeat(8).reshape(60, 60, 60)), ("26999",)),
    Row("negative memberships", image(voxels(np.float32, 0.5, -0.5)), ("[0, 1]", "-0.5")),
    Row("values of -1e30", image(voxels(float, -1e30)), ("[0, 1]", "-1e+30")),
    Row("values of 1e30", image(voxels(float, 1e30)), ("[0, 1]", "1e+30")),
    Row("complex values", image(voxels() * np.complex64(1))),
    Row("scaled by 1.5", ofNifti(scl_slope=1.5), ("[0, 1]", "1.5", "scl_slope")),
    Row("less 1024", ofNifti(scl_inter=-1024), ("-1024", "-1023")),
    Row("scaled by what is no number", ofNifti(scl_slope=nan), Measured(MOVED)),
    Row("every voxel", image(voxels(np.uint8, 1, 1)), Measured({"VoxelVolumeTest": 24**3}, REMARK)),
    Row("no voxel", image(voxels(np.uint8, 0)), Measured({"DSC": 0, "HD": "infinite"}, ("one-empty", "test"))),
    Row("one voxel in all", image(np.ones((1, 1, 1), np.uint8)), Measured({"DSC": 0, "VoxelVolumeTest": 1})),
    Row("memberships too faint", image(voxels(np.float64, 5e-324)), Measured({"HD": "infinite"}, (*REMARK, "0.5"))),
    Row(
        "30,000 specks",
        image((np.indices((64,) * 3) % 2 == 0).all(axis=0).astype(np.uint8)),
        Measured({"VoxelVolumeTest": 32**3}, (*REMARK, "32768")),
        options=QUICKLY,
    ),
    Row("half of all voxels, at random", image(HALF), Measured({"VoxelVolumeReference": 720}), options=QUICKLY),
]

ROWS = [*WRONG_TYPE, *HUGE, *SPACING, *PLACE, *VOXELS]
