"""Images of two dimensions that lie anywhere in space, and images that do not say where they lie."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import save

from SegmentMetricsLib import compare, readStructures
from SegmentMetricsLib.io.formats.headers import NO_PLACE, NO_VOXEL_SIZE
from SegmentMetricsLib.io.reading import readGrid

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


def quaternionOf(turn) -> tuple[float, ...]:
    from scipy.spatial.transform import Rotation

    *others, real = Rotation.from_matrix(turn).as_quat()
    return tuple(float(x) * (-1 if real < 0 else 1) for x in others)


def writeNifti(path: Path, turn, form: str, order: str = "<", third: bool = True) -> Path:
    """Write a flat image, by the definition of the format; third: whether the matrix has a third column."""
    head = bytearray(352)
    struct.pack_into(f"{order}i", head, 0, 348)
    struct.pack_into(f"{order}8h", head, 40, 2, 12, 10, 1, 1, 1, 1, 1)
    struct.pack_into(f"{order}2h", head, 70, 2, 8)
    isMirrored = np.linalg.det(turn) < 0
    struct.pack_into(f"{order}8f", head, 76, -1 if isMirrored else 1, *LENGTHS, 1.0 * third, 0, 0, 0, 0)
    struct.pack_into(f"{order}f", head, 108, 352)
    head[123] = 2
    struct.pack_into(f"{order}2h", head, 252, form == "qform", form == "sform")
    struct.pack_into(f"{order}6f", head, 256, *quaternionOf(turn * (1, 1, -1 if isMirrored else 1)), *ORIGIN)
    rows = np.column_stack([turn * (*LENGTHS, 1.0 * third), ORIGIN])
    struct.pack_into(f"{order}12f", head, 280, *rows.ravel())
    head[344:348] = b"n+1\0"
    data = bytes(head) + ARRAY.tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def place(turn) -> np.ndarray:
    """Return the LPS places of the first voxel and its neighbors along a row and a column."""
    steps = turn[:, :2] * LENGTHS
    return np.array([ORIGIN, ORIGIN + steps[:, 0], ORIGIN + steps[:, 1]]) * (-1, -1, 1)


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("form", "third"), [("sform", True), ("sform", False), ("qform", True), ("qform", False)])
@pytest.mark.parametrize(("suffix", "order"), [(".nii", "<"), (".nii.gz", ">")])
def testNiftiAnywhere(tmp_path, turn, form, third, suffix, order):
    path = writeNifti(tmp_path / f"slice{suffix}", TURNS[turn], form, order, third)
    (structure,) = readStructures(path)
    grid = structure.mask.grid
    np.testing.assert_allclose(grid.toWorld([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), place(TURNS[turn]), atol=1e-4)
    assert grid.size == (12, 10, 1) and structure.mask.count == 25 and structure.dimension == 2
    assert not structure.notes
    np.testing.assert_allclose(readGrid(path).matrix, grid.matrix)


def testFlatNiftiAgreesWithAVolumeOfOneSlice(tmp_path):
    image = SimpleITK.GetImageFromArray(ARRAY[None])
    image.SetSpacing((*LENGTHS, 1))
    image.SetOrigin([float(x) for x in ORIGIN * np.array([-1, -1, 1])])
    image.SetDirection((np.diag([-1, -1, 1]) @ TURNS["sagittal"]).ravel().tolist())
    (volume,) = readStructures(save(image, tmp_path / "volume.nii.gz"))
    (flat,) = readStructures(writeNifti(tmp_path / "flat.nii", TURNS["sagittal"], "sform"))
    found = compare(volume, flat)
    assert found["DSC"].value == 1 and found["HD"].value == pytest.approx(0, abs=1e-6)


def writeNrrd(path: Path, turn, voxels: str = "raw", more: str = "") -> Path:
    vectors = " ".join("({})".format(",".join(map(str, column))) for column in (turn[:, :2] * LENGTHS).T)
    origin = ",".join(map(str, ORIGIN))
    fields = f"type: uint8\ndimension: 2\nspace: RAS\nsizes: 12 10\nspace directions: {vectors}\n{more}"
    data = gzip.compress(ARRAY.tobytes()) if voxels == "gzip" else ARRAY.tobytes()
    head = f"NRRD0005\n# a comment\n{fields}encoding: {voxels}\nspace origin: ({origin})\n"
    if path.suffix == ".nhdr":
        (path.parent / "voxels.raw").write_bytes(data)
        path.write_text(f"{head}data file: voxels.raw\n")
    else:
        path.write_bytes(f"{head}\n".encode() + data)
    return path


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("name", "voxels"), [("slice.nrrd", "gzip"), ("slice.nrrd", "raw"), ("slice.nhdr", "raw")])
def testNrrdAnywhere(tmp_path, turn, name, voxels):
    more = 'kinds: domain domain\ncenters: cell cell\nunits: "mm" "mm"\n'
    path = writeNrrd(tmp_path / name, TURNS[turn], voxels, more)
    (structure,) = readStructures(path)
    grid = structure.mask.grid
    np.testing.assert_allclose(grid.toWorld([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), place(TURNS[turn]), atol=1e-6)
    assert grid.size == (12, 10, 1) and structure.mask.count == 25 and not structure.notes
    np.testing.assert_allclose(readGrid(path).matrix, grid.matrix)


def testNrrdWhoseAxesAreParallel(tmp_path):
    path = writeNrrd(tmp_path / "slice.nrrd", np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0.0]]))
    with pytest.raises(ValueError, match="the axes in its header do not span space"):
        readStructures(path)


CUBE = np.pad(np.ones((4, 4, 4), np.uint8), 2)
NRRD = "NRRD0005\ntype: uint8\ndimension: 3\nsizes: 8 8 8\n{}encoding: raw\n\n"
MHA = "ObjectType = Image\nNDims = 3\nDimSize = 8 8 8\n{}ElementType = MET_UCHAR\nElementDataFile = LOCAL\n"


@pytest.mark.parametrize(
    ("name", "header", "remarks"),
    [
        ("x.nrrd", NRRD.format("spacings: 1 1 2\n"), (NO_PLACE,)),
        ("x.nrrd", NRRD.format(""), (NO_VOXEL_SIZE, NO_PLACE)),
        ("x.nrrd", NRRD.format("space: LPS\nspace directions: (1,0,0) (0,1,0) (0,0,2)\n"), (NO_PLACE,)),
        ("x.nrrd", NRRD.format("spacings: 1 1 2\naxis mins: 5 6 7\n"), ()),
        ("x.nrrd", NRRD.format("space: LPS\nspace directions: (1,0,0) (0,1,0) (0,0,2)\nspace origin: (0,0,0)\n"), ()),
        ("x.mha", MHA.format("ElementSpacing = 1 1 2\n"), (NO_PLACE,)),
        ("x.mha", MHA.format(""), (NO_VOXEL_SIZE, NO_PLACE)),
        ("x.mha", MHA.format("Offset = 0 0 0\nElementSpacing = 1 1 2\n"), ()),
        ("x.mha", MHA.format("Position = 0 0 0\nElementSpacing = 1 1 2\n"), ()),
    ],
)
def testAMissingPlaceIsTold(tmp_path, name, header, remarks):
    """NIfTI files say so in the same words."""
    path = tmp_path / name
    path.write_bytes(header.encode() + CUBE.tobytes())
    (structure,) = readStructures(path)
    assert structure.notes == remarks and structure.mask.count == 64
