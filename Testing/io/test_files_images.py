"""Images of every kind in: label maps, memberships, grids and frames; and what is no segmentation."""

from __future__ import annotations

import gzip
import itertools
import struct

import numpy as np
import pytest
import samplefiles
import shapes
import SimpleITK
from hostile.builders import cut, nrrd
from imagefiles import BOXES, LABELS, SIZE, middleOf, read, refusal, save

from SegmentMetricsLib import Settings, compare, readStructures
from SegmentMetricsLib.io import reading as files
from SegmentMetricsLib.metrics.findings import Kind
from SegmentMetricsLib.model import inputs


@pytest.mark.parametrize(
    "suffix", [".nrrd", ".nhdr", ".nii", ".nii.gz", ".mha", ".mhd", ".seg.nrrd", ".NRRD", ".Seg.Nrrd"]
)
@pytest.mark.parametrize("compressed", [True, False])
def testImagesOfEveryKind(tmp_path, suffix, compressed):
    found = read(save(LABELS, tmp_path / f"organs{suffix}", compressed))
    assert list(found) == ["Label 1", "Label 5"]
    for label, (low, high) in BOXES.items():
        structure = found[f"Label {label}"]
        assert structure.mask.count == np.prod(np.array(high) - low + 1)
        middle = LABELS.TransformContinuousIndexToPhysicalPoint(((np.array(low) + high) / 2).tolist())
        assert middleOf(structure) == pytest.approx(middle, abs=1e-4)
        assert structure.mask.grid.size == SIZE
        assert structure.file == str(tmp_path / f"organs{suffix}")
        assert structure.surfaceKind == "unsmoothed"


def testNrrdInRasIsTurned(tmp_path):
    path = save(shapes.labelImage(BOXES, SIZE), tmp_path / "lps.nrrd", compressed=False)
    ras = tmp_path / "ras.nrrd"
    ras.write_bytes(path.read_bytes().replace(b"left-posterior-superior", b"right-anterior-superior"))
    for name, structure in read(path).items():
        assert middleOf(read(ras)[name]) == pytest.approx(middleOf(structure) * (-1, -1, 1))


def testAnImageWithoutLabelsIsOneEmptyStructure(tmp_path):
    (structure,) = readStructures(save(shapes.labelImage({}), tmp_path / "Spleen.nii.gz"))
    assert (structure.name, structure.isEmpty, structure.mask.grid.size) == ("Spleen", True, (24, 24, 24))


def testLabelsOfOneSignedByte(tmp_path):
    found = read(save(SimpleITK.Cast(LABELS, SimpleITK.sitkInt8), tmp_path / "organs.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"Label 1": 120, "Label 5": 16}


def testMembershipsCountInPartWithoutAThreshold(tmp_path):
    """A voxel at the threshold belongs to the structure."""
    array = np.zeros((8, 8, 8), np.float32)
    array[2:4, 2:4, 2], array[2:4, 2:4, 3] = 0.25, 0.75
    path = save(shapes.imageOf(array), tmp_path / "liver.nii.gz")
    (structure,) = readStructures(path)
    assert structure.mask.count == 4 and structure.memberships.voxels.sum() == 4
    for threshold, voxels in ((0.2, 8), (0.25, 8), (0.25001, 4), (0.75, 4), (0.9, 0), (1.0, 0)):
        (structure,) = readStructures(path, threshold=threshold)
        assert structure.mask.count == voxels and structure.memberships is None
    percent = save(shapes.imageOf((100 * array).astype(np.uint8)), tmp_path / "percent.nrrd")
    assert set(read(percent)) == {"Label 25", "Label 75"}
    (structure,) = readStructures(percent, maximum=100)
    assert structure.mask.count == 4 and structure.memberships.voxels.sum() == 4
    assert readStructures(percent, threshold=0.2, maximum=100)[0].mask.count == 8
    said = "The image is not a map of memberships from 0 to 50: it has values from 0 to 75."
    assert refusal(percent, maximum=50) == said
    folder = tmp_path / "folder"
    folder.mkdir()
    save(shapes.imageOf((100 * array).astype(np.uint8)), folder / "Spleen.nrrd")
    assert readStructures(folder, maximum=100)[0].memberships is not None


def testGridsOfFiles(tmp_path):
    image = shapes.imageOf(np.random.default_rng(0).normal(size=(4, 5, 6)), (1, 2, 3), (7, 8, 9))
    grid = files.readGrid(save(image, tmp_path / "ct.nii.gz"))
    assert grid.size == (6, 5, 4) and grid.offsetOn(inputs.Grid.fromImage(image)) == (0, 0, 0)
    # a segmentation stands for the image that it was drawn on
    mask = samplefiles.writeHeadAndNeck(tmp_path)[0]
    assert files.readGrid(mask).offsetOn(readStructures(mask)[0].mask.grid) == (0, 0, 0)
    assert files.readGrid(mask).size == readStructures(mask)[0].mask.grid.size
    (tmp_path / "bad.nrrd").write_text("nothing")
    nrrd(tmp_path / "cm.nrrd", space_units='"cm" "cm" "cm"')
    # the voxels are not looked at
    assert files.readGrid(cut("cut.nii.gz", 0.9)(tmp_path)).size == (24, 24, 24)
    for name, words in (
        ("gone.nrrd", "there is no such file"),
        ("mesh.stl", "not an image whose grid can be used"),
        ("bad.nrrd", "cannot be read as an image"),
        ("cm.nrrd", "its header gives lengths in cm instead of mm"),
    ):
        with pytest.raises(files.UnusableFile, match=words) as caught:
            files.readGrid(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)


def testLabelsBeyondEveryByte(tmp_path):
    array = np.zeros((6, 6, 6), np.uint64)
    array[1:3, 1:3, 1:3], array[4, 4, 4] = 2**63 + 5, 70000
    found = read(save(shapes.imageOf(array), tmp_path / "x.nrrd"))
    assert {name: s.mask.count for name, s in found.items()} == {"Label 70000": 1, f"Label {2**63 + 5}": 8}


def testPlanarImages(tmp_path):
    array = np.zeros((20, 30), np.uint8)
    array[5:15, 5:25] = 1
    flat = save(shapes.imageOf(array, (2.0, 0.5), (0.0, 0.0)), tmp_path / "flat.nrrd")
    slice_ = save(shapes.imageOf(array[None], (2.0, 0.5, 3.0)), tmp_path / "slice.nii.gz")
    sagittal = save(shapes.imageOf(array[:, :, None], (3.0, 2.0, 0.5)), tmp_path / "sagittal.mha")
    for path in (flat, slice_, sagittal):
        (structure,) = readStructures(path)
        assert structure.dimension == 2 and structure.mask.size == pytest.approx(200)
    # the same pixels in the file of one slice and in the two-dimensional file
    comparison = compare(*(readStructures(path)[0] for path in (flat, slice_)))
    assert comparison["HD"].value == 0 and comparison["VolumeTest"].unit == "mm2"


def withForms(path, qform: int, sform: int, rows=None):
    """Write other codes into the header of a NIfTI file, and rows of the sform."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<2h", data, 252, qform, sform)
    if rows:
        struct.pack_into("<12f", data, 280, *rows)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("qform", "sform", "isQform", "frame"),
    [
        *((code, code, True, frame) for code, frame in ((1, "scanner"), (2, ""), (3, "Talairach"), (4, "MNI 152"))),
        *((1, 4, True, "scanner"), (0, 4, False, "MNI 152"), (1, 0, True, "scanner"), (3, 1, False, "scanner")),
    ],
)
def testTheFrameIsThatOfThePlaceThatWasTaken(tmp_path, qform, sform, isQform, frame):
    """Whatever space the other place in the header is in."""
    ball = shapes.imageOf(BALL, origin=(-10, -20, 30))
    rows = None if qform == sform else (0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 1)
    (structure,) = readStructures(withForms(save(ball, tmp_path / "x.nii", False), qform, sform, rows))
    assert np.allclose(structure.mask.grid.origin, (-10, -20, 30)) == isQform and structure.frameOfReference == frame
    (other,) = readStructures(withForms(save(ball, tmp_path / "y.nii", False), 1, 0))
    kinds = [finding.kind for finding in compare(other, structure, Settings(families="overlap")).findings]
    assert (Kind.OTHER_FRAMES in kinds) == (frame not in ("scanner", ""))


def testNiftiWithoutAPlaceHasNoFrame(tmp_path):
    assert readStructures(withForms(save(LABELS, tmp_path / "x.nii"), 0, 0))[0].frameOfReference == ""


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".nrrd", ".mha"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def testNumbersThatAreNoneAreRefusedInEveryFormat(tmp_path, kind, suffix):
    """One voxel of a mask, of labels or of memberships."""
    for full, wrong in itertools.product((1, 5, 0.5), (np.nan, np.inf, -np.inf)):
        array = (full * BALL).astype(kind)
        path = save(shapes.imageOf(array), tmp_path / f"x{suffix}", suffix != ".nii")
        assert readStructures(path)[0].mask.count == BALL.sum()
        array[-1, -1, -1] = wrong
        save(shapes.imageOf(array), path, suffix != ".nii")
        assert refusal(path) == "The image has values that are not numbers."


def testFrameOfReferenceOfDicomOrigin(tmp_path):
    image = SimpleITK.Image(LABELS)
    image.SetMetaData("0020|0052", "1.2.840.1 ")
    assert readStructures(save(image, tmp_path / "x.mha"))[0].frameOfReference == "1.2.840.1"


def testNiftiInSeveralGzipMembers(tmp_path):
    whole = save(LABELS, tmp_path / "whole.nii", False).read_bytes()
    path = tmp_path / "members.nii.gz"
    path.write_bytes(gzip.compress(whole[:1000]) + gzip.compress(whole[1000:]))
    assert set(read(path)) == {"Label 1", "Label 5"}
    path.write_bytes(gzip.compress(whole[:1000]))
    assert refusal(path) == "the file is damaged or incomplete."


@pytest.mark.parametrize("suffix", [".nii", ".NII"])
def testNiftiBesideAnUncompressedOneOfTheSameName(tmp_path, suffix):
    """ITK takes the voxels of the uncompressed one for both."""
    compressed = save(shapes.box((2, 2, 2), (9, 9, 9)), tmp_path / "Liver.nii.gz")
    compressed = compressed.rename(tmp_path / f"Liver{suffix}{'.gz' if suffix.islower() else '.GZ'}")
    uncompressed = save(shapes.box((2, 2, 2), (6, 6, 6)), tmp_path / "x.nii").rename(tmp_path / f"Liver{suffix}")
    assert [readStructures(path)[0].mask.count for path in (compressed, uncompressed)] == [8**3, 5**3]


def testUncompressedNiftiWithTheWrongName(tmp_path):
    path = tmp_path / "plain.nii.gz"
    path.write_bytes(save(LABELS, tmp_path / "plain.nii", False).read_bytes())
    assert set(read(path)) == {"Label 1", "Label 5"}


@pytest.mark.parametrize("order", "<>")
def testNiftiOfBothByteOrders(tmp_path, order):
    path = tmp_path / "x.nii"
    values = np.zeros(4 * 5 * 6, f"{order}i2")
    values[:24] = 3
    header = struct.pack(f"{order}i36x8h14xhh2x8fff", 348, 3, 4, 5, 6, 1, 1, 1, 1, 4, 16, *[1] * 4, *[0] * 4, 352, 1)
    path.write_bytes(header.ljust(344, b"\0") + b"n+1\0" + bytes(4) + values.tobytes())
    (structure,) = readStructures(path)
    assert (structure.label, structure.mask.count) == ("Label 3", 24)
    assert structure.mask.grid.size == (4, 5, 6)
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path) == "the file is damaged or incomplete."
    floats = np.where(values > 0, 1.0, np.nan).astype(f"{order}f4")
    struct.pack_into(f"{order}2h", header := bytearray(header), 70, 16, 32)
    path.write_bytes(header.ljust(344, b"\0") + b"n+1\0" + bytes(4) + floats.tobytes())
    assert refusal(path) == "The image has values that are not numbers."


BALL = SimpleITK.GetArrayFromImage(shapes.ball(8, size=(24, 24, 24), origin=(-12, -12, -12)))


def testManyLabelsAreStillALabelMap(tmp_path):
    k, j, i = np.indices((30, 30, 30)) // 3
    cubes = (1 + i + 10 * j + 100 * k).astype(np.uint16)  # a thousand cubes of 27 voxels
    assert len(read(save(shapes.imageOf(cubes), tmp_path / "cubes.nrrd"))) == 1000
    # single voxels far from each other
    spots = np.zeros((40, 40, 40), np.uint16)
    spots[::5, ::5, ::5] = np.arange(1, 513).reshape(8, 8, 8)
    assert len(read(save(shapes.imageOf(spots), tmp_path / "spots.nrrd"))) == 512
