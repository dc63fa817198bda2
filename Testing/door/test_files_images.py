"""Images of every kind in: label maps, memberships, grids and frames; and what is no segmentation."""

from __future__ import annotations

import gzip
import itertools
import struct
import time
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import metrics
from commandruns import pair as pair
from commandruns import run as run
from hostile.builders import cut, nrrd
from imagefiles import BOXES, LABELS, SIZE, middleOf, read, refusal, save
from sayings import refused, says
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import Grid, Settings, compare, compareCase, readDose, readStructures, samples

BALL = SimpleITK.GetArrayFromImage(shapes.ball(8, size=(24, 24, 24), origin=(-12, -12, -12)))


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


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz", ".mha"])
def testASinglePointInTimeIsAnImage(tmp_path, suffix):
    series = SimpleITK.JoinSeries([LABELS])
    path = save(series, tmp_path / f"series{suffix}")
    for given in (series, path):
        assert compare(LABELS, given, label=5)["HD95"].value == 0
    assert readDose(path).grid.size == SIZE
    with refused("4"):
        readStructures(save(SimpleITK.JoinSeries([LABELS, LABELS]), path))


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
    says(refusal(percent, maximum=50), "50", "75")
    (tmp_path / "folder").mkdir()
    percent.rename(tmp_path / "folder" / "Spleen.nrrd")
    assert readStructures(tmp_path / "folder", maximum=100)[0].memberships is not None


def testGridsOfFiles(run, pair, tmp_path):
    """The voxels are not looked at; a segmentation stands for the image that it was drawn on."""
    mask = samples.FOLDER / samples.FILES[0]
    (tmp_path / "bad.nrrd").write_text("nothing")
    nrrd(tmp_path / "lengths.nrrd", space_units='"cm" "cm" "cm"')
    given = {mask: readStructures(mask)[0].mask.grid, cut("cut.nii.gz", 0.9)(tmp_path): Grid((24, 24, 24), np.eye(4))}
    given |= {tmp_path / name: "" for name in ("gone.nrrd", "bad.nrrd", "mesh.stl")} | {tmp_path / "lengths.nrrd": "cm"}
    for path, expected in given.items():
        status, _, err = run("compare", *pair, "--metrics", "agreement", "--set", f"grid={path}", "-o", "out")
        if isinstance(expected, str):
            assert status == 2 and says(err, path, expected)
        else:
            assert (status, err) == (0, "") and Settings(**metrics("out")["settings"]).grid == expected


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


@pytest.mark.parametrize(
    ("qform", "sform", "isQform", "frame"),
    [
        *((code, code, True, frame) for code, frame in ((1, "scanner"), (2, ""), (3, "Talairach"), (4, "MNI 152"))),
        *((1, 4, True, "scanner"), (0, 4, False, "MNI 152"), (1, 0, True, "scanner"), (3, 1, False, "scanner")),
    ],
)
def testTheFrameIsThatOfThePlaceThatWasTaken(tmp_path, qform, sform, isQform, frame):
    """Whatever space the other place in the header is in."""
    path = save(shapes.imageOf(BALL, origin=(-10, -20, 30)), tmp_path / "x.nii", False)
    data = bytearray(path.read_bytes())
    struct.pack_into("<2h", data, 252, 1, 0)
    path.write_bytes(data)
    (other,) = readStructures(path)
    struct.pack_into("<2h", data, 252, qform, sform)
    if qform != sform:
        struct.pack_into("<12f", data, 280, *(0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 1))
    path.write_bytes(data)
    (structure,) = readStructures(path)
    assert np.allclose(structure.mask.grid.origin, (-10, -20, 30)) == isQform and structure.frameOfReference == frame
    kinds = [finding.kind.name for finding in compare(other, structure, Settings(families="overlap")).findings]
    assert ("OTHER_FRAMES" in kinds) == (frame not in ("scanner", ""))


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
        says(refusal(path))


def testFrameOfReferenceOfDicomOrigin(tmp_path):
    image = SimpleITK.Image(LABELS)
    image.SetMetaData("0020|0052", "1.2.840.1 ")
    assert readStructures(save(image, tmp_path / "x.mha"))[0].frameOfReference == "1.2.840.1"


def testSeveralGzipMembers(tmp_path):
    whole = save(LABELS, tmp_path / "whole.nii", False).read_bytes()
    nifti, nrrd = tmp_path / "members.nii.gz", save(LABELS, tmp_path / "members.nrrd")
    header, packed = nrrd.read_bytes().split(b"\n\n", 1)
    for path, head, voxels in ((nifti, b"", whole), (nrrd, header + b"\n\n", gzip.decompress(packed))):
        first, second = (gzip.compress(part) for part in (voxels[:1000], voxels[1000:]))
        path.write_bytes(head + first + second)
        assert set(read(path)) == {"Label 1", "Label 5"}
        for content in (first, first + b"x" * len(voxels)):
            path.write_bytes(head + content)
            says(refusal(path))


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
    says(refusal(path))
    floats = np.where(values > 0, 1.0, np.nan).astype(f"{order}f4")
    struct.pack_into(f"{order}2h", header := bytearray(header), 70, 16, 32)
    path.write_bytes(header.ljust(344, b"\0") + b"n+1\0" + bytes(4) + floats.tobytes())
    says(refusal(path))


def testEndingsInCapitals(tmp_path, capfd):
    path = save(LABELS, tmp_path / "x.nii.gz").rename(tmp_path / "x.NII.GZ")
    assert set(read(path)) == {"Label 1", "Label 5"}
    for name, odd in (("x.mha", "x.MHA"), ("x.nii.gz", "x.Nii.Gz")):
        path = save(LABELS, tmp_path / name).rename(tmp_path / odd)
        says(refusal(path), name[1:])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "name", ["Leber ä.nrrd", "肝臓.nii.gz", "a b;c'd.mha", "🫀.stl", "😀.ply", "ü.vtp", "é.obj", "=1+1.nrrd"]
)
def testNamesOfFiles(tmp_path, name):
    path = tmp_path / name
    if path.suffix in (".nrrd", ".gz", ".mha"):
        structure = readStructures(save(LABELS, path))[0]
    else:
        (structure,) = readStructures(shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), path))
        assert structure.name == path.stem
    assert structure.file == str(path)


def testManyLabelsAreStillALabelMap(tmp_path):
    k, j, i = np.indices((30, 30, 30)) // 3
    cubes = (1 + i + 10 * j + 100 * k).astype(np.uint16)  # a thousand cubes of 27 voxels
    assert len(read(save(shapes.imageOf(cubes), tmp_path / "cubes.nrrd"))) == 1000
    # single voxels far from each other
    spots = np.zeros((40, 40, 40), np.uint16)
    spots[::5, ::5, ::5] = np.arange(1, 513).reshape(8, 8, 8)
    assert len(read(save(shapes.imageOf(spots), tmp_path / "spots.nrrd"))) == 512


# Images that are cut off, flipped or promise too much: one sentence with the name of the file


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 1.0])
def testImagesCutOff(tmp_path, capfd, suffix, compressed, share):
    path = save(LABELS, tmp_path / f"cut{suffix}", compressed)
    data = path.read_bytes()
    header = data.index(b"\n\n") + 2 if suffix.endswith("nrrd") else 0
    path.write_bytes(data[: max(header, min(int(len(data) * share), len(data) - 1))])
    says(refusal(path))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz", ".mha"])
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def testFlippedBitsInCompressedImages(tmp_path, suffix, share):
    array = shapes.blob(1, (40, 40, 40)).astype(np.uint8)
    path = save(shapes.imageOf(array), tmp_path / f"flipped{suffix}")
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x55
    path.write_bytes(data)
    says(refusal(path))


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("tail", [b"<html>", b"\0" * 512, gzip.compress(b"more"), b"\x1f"], ids=range(4))
def testWhatComesBehindTheLastVoxelIsTold(tmp_path, suffix, compressed, tail):
    """The image is whole, but somebody should look at the file."""
    path = save(LABELS, tmp_path / f"long{suffix}", compressed)
    before = readStructures(path)
    path.write_bytes(path.read_bytes() + tail)
    after = readStructures(path)
    assert [s.mask.count for s in after] == [s.mask.count for s in before]
    ((note,),) = {s.notes for s in after}
    assert says(note) and not any(s.notes for s in before)


def testTheFirstOfDamagedFilesIsNamed(tmp_path, capfd, monkeypatch):
    """Files are read several at a time; which of them is done first must not matter, nor does it in a folder."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(3), raising=False)
    for number in range(9):
        path = save(LABELS, tmp_path / f"{number}.nrrd")
        if number in (4, 5, 7):
            path.write_bytes(path.read_bytes()[:-30])
    real = SimpleITK.ReadImage
    monkeypatch.setattr(SimpleITK, "ReadImage", lambda path: time.sleep(0.1 * ("4.nrrd" in path)) or real(path))
    with refused("4.nrrd: "):
        compareCase(tmp_path / "4.nrrd", tmp_path / "5.nrrd")
    found = readStructures(tmp_path)
    assert [s.name for s in found[::2]] == [f"{number} Label 1" for number in (0, 1, 2, 3, 6, 8)]
    told = [says(one.remark, f"{number}.nrrd") for number, one in zip((4, 5, 7), found.leftOut, strict=True)]
    assert all(list(s.notes) == told for s in found)
    assert capfd.readouterr() == ("", "")


def testAnImageThatIsTooLargeForTheMemory(tmp_path, monkeypatch):
    def fail(*given):
        raise MemoryError

    monkeypatch.setattr(SimpleITK, "ReadImage", fail)
    says(refusal(save(LABELS, tmp_path / "x.nrrd")))


# Images of two dimensions that lie anywhere in space, and images that do not say where they lie


ARRAY = np.zeros((10, 12), np.uint8)
ARRAY[2:7, 3:8] = 1
TURNS = {
    "axial": np.eye(3),
    "patient": np.diag([-1.0, -1.0, 1.0]),
    "sagittal": np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]]),
    "coronal": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]]),
    "oblique": shapes.rotation((1, 2, 3), 40),
}
# Voxel sizes in mm and the place of the first voxel, RAS.
LENGTHS, ORIGIN = (1.5, 2.0), (5.0, -6.0, 50.0)


def writeNifti(path: Path, turn, form: str, order: str = "<", third: bool = True) -> Path:
    """Write a flat image, by the definition of the format; third: whether the matrix has a third column."""
    head = bytearray(352)
    struct.pack_into(f"{order}i", head, 0, 348)
    struct.pack_into(f"{order}8h", head, 40, 2, 12, 10, 1, 1, 1, 1, 1)
    struct.pack_into(f"{order}2h", head, 70, 2, 8)
    isMirrored = np.linalg.det(turn) < 0
    turned = Rotation.from_matrix(turn * (1, 1, -1 if isMirrored else 1)).as_quat(canonical=True)
    struct.pack_into(f"{order}8f", head, 76, -1 if isMirrored else 1, *LENGTHS, 1.0 * third, 0, 0, 0, 0)
    struct.pack_into(f"{order}f", head, 108, 352)
    head[123] = 2
    struct.pack_into(f"{order}2h", head, 252, form == "qform", form == "sform")
    struct.pack_into(f"{order}6f", head, 256, *turned[:3], *ORIGIN)
    rows = np.column_stack([turn * (*LENGTHS, 1.0 * third), ORIGIN])
    struct.pack_into(f"{order}12f", head, 280, *rows.ravel())
    head[344:348] = b"n+1\0"
    data = bytes(head) + ARRAY.tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def writeNrrd(path: Path, turn, voxels: str = "raw", **fields) -> Path:
    vectors = " ".join("({})".format(",".join(map(str, column))) for column in (turn[:, :2] * LENGTHS).T)
    fields |= {"space_directions": vectors, "space_origin": f"({','.join(map(str, ORIGIN))})", "encoding": voxels}
    fields |= {"dimension": 2, "space": "RAS", "sizes": "12 10", "kinds": "domain domain"}
    data = gzip.compress(ARRAY.tobytes()) if voxels == "gzip" else ARRAY.tobytes()
    if path.suffix == ".nhdr":
        (path.parent / "voxels.raw").write_bytes(data)
        fields, data = {**fields, "data_file": "voxels.raw"}, b""
    return nrrd(path, data, **fields)


@pytest.mark.parametrize("turn", TURNS)
def testFlatImagesAnywhere(tmp_path, turn):
    forms = [*((form, isThere) for form in ("sform", "qform") for isThere in (True, False))]
    made = [
        writeNifti(tmp_path / f"{form}{isThere}{suffix}", TURNS[turn], form, order, isThere)
        for form, isThere in forms
        for suffix, order in ((".nii", "<"), (".nii.gz", ">"))
    ]
    for name, voxels in (("gzip.nrrd", "gzip"), ("raw.nrrd", "raw"), ("raw.nhdr", "raw")):
        made.append(writeNrrd(tmp_path / name, TURNS[turn], voxels, centers="cell cell", units='"mm" "mm"'))
    # the first voxel, and its neighbors along a row and a column, LPS
    places = (ORIGIN + np.vstack([np.zeros(3), (TURNS[turn][:, :2] * LENGTHS).T])) * (-1, -1, 1)
    for path in made:
        (structure,) = readStructures(path)
        grid = structure.mask.grid
        np.testing.assert_allclose(grid.toWorld([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), places, atol=1e-4)
        assert grid.size == (12, 10, 1) and structure.mask.count == 25 and structure.dimension == 2
        assert not structure.notes


def testNrrdWhoseAxesAreParallel(tmp_path):
    path = writeNrrd(tmp_path / "slice.nrrd", np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0.0]]))
    says(refusal(path))


CUBE = np.pad(np.ones((4, 4, 4), np.uint8), 2)
NRRD = "NRRD0005\ntype: uint8\ndimension: 3\nsizes: 8 8 8\n{}encoding: raw\n\n"
MHA = "ObjectType = Image\nNDims = 3\nDimSize = 8 8 8\n{}ElementType = MET_UCHAR\nElementDataFile = LOCAL\n"


@pytest.mark.parametrize(
    ("name", "header", "remarks"),
    [
        ("x.nrrd", NRRD.format("spacings: 1 1 2\n"), 1),
        ("x.nrrd", NRRD.format(""), 2),
        ("x.nrrd", NRRD.format("space: LPS\nspace directions: (1,0,0) (0,1,0) (0,0,2)\n"), 1),
        ("x.nrrd", NRRD.format("spacings: 1 1 2\naxis mins: 5 6 7\n"), 0),
        ("x.nrrd", NRRD.format("space: LPS\nspace directions: (1,0,0) (0,1,0) (0,0,2)\nspace origin: (0,0,0)\n"), 0),
        ("x.mha", MHA.format("ElementSpacing = 1 1 2\n"), 1),
        ("x.mha", MHA.format(""), 2),
        ("x.mha", MHA.format("Offset = 0 0 0\nElementSpacing = 1 1 2\n"), 0),
        ("x.mha", MHA.format("Position = 0 0 0\nElementSpacing = 1 1 2\n"), 0),
    ],
)
def testAMissingPlaceIsTold(tmp_path, name, header, remarks):
    path = tmp_path / name
    path.write_bytes(header.encode() + CUBE.tobytes())
    (structure,) = readStructures(path)
    assert len([says(note) for note in structure.notes]) == remarks
    assert structure.mask.count == 64
