"""The image under the contours: what can be shown lies where it is, and what cannot ends no comparison."""

from __future__ import annotations

import shutil

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import metrics, save
from commandruns import pair as pair
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Grid
from SegmentMetricsLib.io.grayimages import readGrayImage
from SegmentMetricsLib.model.grayimages import GrayImage

SLOPE = np.array([2.0, -3.0, 5.0])
TILTED = shapes.rotation((1, 0, 0), 17) @ shapes.rotation((0, 0, 1), 5)


def ramp(direction=None, dtype=np.float32) -> SimpleITK.Image:
    """Return an image whose values are a linear function of the place."""
    image = shapes.imageOf(np.zeros((7, 9, 11), dtype), (1.5, 0.8, 2.5), (10, -20, 30), direction)
    grid = Grid.fromImage(image)
    k, j, i = np.indices((7, 9, 11)).reshape(3, -1)
    values = (grid.toWorld(np.column_stack([i, j, k])) @ SLOPE).reshape(7, 9, 11)
    copied = SimpleITK.GetImageFromArray(values.astype(dtype))
    copied.CopyInformation(image)
    return copied


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz", ".mha"])
@pytest.mark.parametrize("direction", [None, TILTED], ids=["straight", "tilted"])
def testValuesAreThoseOfThePlace(tmp_path, suffix, direction):
    path = tmp_path / f"Jürgens CT{suffix}"
    SimpleITK.WriteImage(ramp(direction), str(path))
    image = readGrayImage(path)
    middle = image.grid.toWorld([[5, 4, 3]])[0]
    corner, right, down = middle - (2, 1, 0), np.array([0.7, 0, 0]), np.array([0.1, 0.5, 0.2])
    found = image.sample(corner, right, down, (5, 4))
    u, v = np.meshgrid(np.arange(5), np.arange(4))
    expected = (corner + u[..., None] * right + v[..., None] * down) @ SLOPE
    np.testing.assert_allclose(found, expected, atol=1e-2)
    assert image.name == path.name and not image.isHounsfield
    # beyond the voxels there is nothing, and up to their edges the nearest value
    edge = image.grid.toWorld([[-0.4, 4, 3], [-0.6, 4, 3]])
    inside, outside = (float(image.sample(at, right, down, (1, 1))[0, 0]) for at in edge)
    assert np.isfinite(inside) and np.isnan(outside)
    part = image.crop(middle - 1, middle + 1, 2.0)
    np.testing.assert_allclose(part.sample(middle, right, down, (2, 2)), image.sample(middle, right, down, (2, 2)))
    assert part.values.size < image.values.size and part.whole is image.grid


def testASeriesLiesWhereItsSlicesDoAlsoOfATiltedGantry(tmp_path):
    matrix = np.diag([0.9, 1.1, 3.0, 1.0])
    matrix[:3, 3] = 5, -7, 11
    matrix[1, 2] = 0.8  # each slice a little behind the one below
    dicomfiles.writeSeries(tmp_path / "CT", Grid((6, 5, 4), matrix), "Müller", SeriesInstanceUID="1.1")
    for given in (tmp_path / "CT", tmp_path / "CT" / "slice2"):
        image = readGrayImage(given)
        np.testing.assert_allclose(image.grid.matrix, matrix, atol=1e-5)
        assert image.grid.size == (6, 5, 4) and image.modality == "CT" and image.isHounsfield
        assert image.frameOfReference == "1.2.3" and len(image.patient) == 64
    # a structure set beside it is no second image
    plan = dicomfiles.dataset(tmp_path / "CT" / "plan.dcm", dicomfiles.RTStructureSetStorage, "RTSTRUCT", "A", "1.2.3")
    plan.save_as(tmp_path / "CT" / "plan.dcm", enforce_file_format=True)
    assert readGrayImage(tmp_path / "CT").grid.size == (6, 5, 4)
    dicomfiles.writeSeries(tmp_path / "MR", Grid((6, 5, 3), matrix), SeriesInstanceUID="1.2")
    for file in (tmp_path / "MR").iterdir():
        file.rename(tmp_path / "CT" / f"other {file.name}")
    with refused("2 ", "(4 ", " slice0)", "(3 ", " other slice0)"):
        readGrayImage(tmp_path / "CT")
    assert readGrayImage(tmp_path / "CT" / "other slice0").grid.size[2] == 3


def testWhatCannotBeShownIsAFinding(run, pair, tmp_path):
    """One sentence, and the comparison is made all the same."""
    segments = shapes.segmentation([np.ones((4, 4, 4), np.uint8)], [{"ID": "a", "Name": "A", "LabelValue": 1}])
    (tmp_path / "empty").mkdir()
    colors = SimpleITK.Image([4] * 3, SimpleITK.sitkVectorUInt8, 3)
    for name, content, number in (
        ("color.nrrd", colors, "3"),
        ("four.nii.gz", SimpleITK.Image([5, 4, 3, 2], SimpleITK.sitkInt16), "4"),
        ("segments.seg.nrrd", segments, ""),
        ("nan.mha", shapes.imageOf(np.full((3, 4, 5), np.nan, np.float32)), ""),
        ("missing.nrrd", None, ""),
        ("mesh.stl", b"solid", ""),
        ("empty", None, ""),
        ("damaged.nii.gz", b"\x1f\x8b damaged", ""),
        ("image.xyz", b"no image", ""),
    ):
        path = tmp_path / name
        if isinstance(content, SimpleITK.Image):
            save(content, path)
        elif content is not None:
            path.write_bytes(content)
        with refused(f"{path}: ", number) as raised:
            readGrayImage(path)
        assert "\n" not in str(raised.value)
    status, _, err = run("compare", *pair, "--metrics", "DSC", "--image", path, "--report", "--output", "out")
    assert (status, err) == (0, "")
    (finding,) = findingsOf("out")
    says(finding, raised.value)
    flat = save(shapes.imageOf(np.zeros((3, 4))), tmp_path / "flat.mha")
    assert run("compare", *pair, "--metrics", "DSC", "--image", flat, "--report", "--output", "out")[::2] == (0, "")


def findingsOf(folder) -> list[str]:
    return [one["text"] for one in metrics(folder)["pairing"]["findings"]]


@pytest.mark.parametrize("name", ["mr.nrrd", "mr.mha", "mr.nii", "mr.nii.gz"])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def testWhatIsNoNumberIsShownAsTheLowest(tmp_path, name, odd):
    """From every format, as around a masked patient."""
    k, j, i = np.indices((10, 12, 14))
    gray = (50.0 + k + 2 * j + 3 * i).astype(np.float32)
    values = gray.copy()
    values[:4, :, 1:] = odd
    image = readGrayImage(save(shapes.imageOf(values, (1, 1, 3)), tmp_path / name))
    np.testing.assert_array_equal(image.values, np.where(np.isfinite(values), gray, values[np.isfinite(values)].min()))


def writeSeries(folder, grid, heights=None, **elements):
    """Write a series whose values are 10 times the height of the slice plus the column; return its slices."""
    slices = dicomfiles.writeSeries(folder, grid, heights=heights)
    for one in slices:
        values = 10 * one.ImagePositionPatient[2] + np.arange(grid.size[0]) + np.zeros((grid.size[1], 1))
        one.PixelData = np.rint(values).astype(np.uint16).tobytes()
        one.save_as(one.filename, enforce_file_format=True)
    return slices


def testASeriesAsItLies(run, pair, tmp_path):
    """Uneven slices, missing ones, copies, and what else is in the series."""
    grid = Grid((9, 8, 10), np.diag([1.0, 1, 3, 1]))

    def requireValues(image, heights):
        for height in heights:
            place = np.array([4.0, 3, height])
            found = image.sample(place, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), (2, 1))
            assert found.ravel().tolist() == [10 * height + 4, 10 * height + 5]

    even = [3.0 * k for k in range(10)]
    uneven = [0.0, 3, 6, 9, 12, 18, 24, 30, 36, 42]
    writeSeries(tmp_path / "uneven", grid, uneven)
    image = readGrayImage(tmp_path / "uneven")
    requireValues(image, uneven)
    (remark,) = image.remarks
    says(remark, " 3 to 6 mm")
    # halfway to the neighbors the next slice begins
    low, high = (image.sample(np.array([4.0, 3, z]), np.eye(3)[0], np.eye(3)[1], (1, 1))[0, 0] for z in (13.9, 16.1))
    assert low == 124 and high == 184
    slices = writeSeries(tmp_path / "plain", grid)
    whole = readGrayImage(tmp_path / "plain")
    requireValues(whole, even)
    assert whole.remarks == () and whole.grid.size == grid.size
    shutil.copy(tmp_path / "plain" / "slice3", tmp_path / "plain" / "copy")
    image = readGrayImage(tmp_path / "plain")
    assert image.remarks == () and image.grid == whole.grid and (image.values == whole.values).all()
    # a scout, another image of the same place, and one that does not say where it lies
    dicomfiles.writeSlices(tmp_path / "more", [(0, 0, 40)], slices[0], ImageOrientationPatient=[0, 1, 0, 0, 0, -1])
    dicomfiles.writeSlices(tmp_path / "again", [(0, 0, 6)], slices[0])
    lost = dicomfiles.writeSlices(tmp_path / "lost", [(0, 0, 6)], slices[0])[0]
    del lost.ImagePositionPatient
    lost.save_as(tmp_path / "lost" / "other0")
    for number, folder in enumerate(("more", "again", "lost")):
        shutil.move(tmp_path / folder / "other0", tmp_path / "plain" / f"other{number}")
    image = readGrayImage(tmp_path / "plain")
    requireValues(image, [z for z in even if z != 6])
    (remark,) = image.remarks
    says(remark, " 3 ", " 10 ")
    (tmp_path / "uneven" / "slice2").unlink()
    requireValues(readGrayImage(tmp_path / "uneven"), [z for z in uneven if z != 6])
    given = ("compare", *pair, "--metrics", "DSC", "--image", tmp_path / "uneven", "--report", "-o", "out")
    assert run(*given)[0] == 0 and any(" 3 to 6 mm" in one for one in findingsOf("out"))


def testOnlyHounsfieldUnitsHaveTheirWindows():
    grid = Grid((2, 1, 1), np.eye(4))
    for values, modality, isSo in (([-1000, 40], "", True), ([0, 900], "", False), ([-1000, 40], "PT", False)):
        assert GrayImage(np.array([[values]]), grid, modality=modality).isHounsfield == isSo
