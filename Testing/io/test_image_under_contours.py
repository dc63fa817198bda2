"""The image under the contours: what can be shown lies where it is, and what cannot ends no comparison."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import metrics, save
from commandruns import pair as pair
from commandruns import run as run

from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.grayimages import readGrayImage

NOT_SHOWN = "The image under the contours is not shown: "


def findingsOf(folder) -> list[str]:
    return [one["text"] for one in metrics(folder)["pairing"]["findings"]]


def testWhatCannotBeShownIsAFinding(run, pair, tmp_path):
    """Each of these ended the comparison, or would as well."""
    color = SimpleITK.GetImageFromArray(np.zeros((3, 4, 5, 3), np.uint8), isVector=True)
    unknown = tmp_path / "image.xyz"
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged.nii.gz").write_bytes(b"\x1f\x8b damaged")
    unknown.write_text("no image")
    images = save(color, tmp_path / "color.nrrd"), unknown, tmp_path / "empty", tmp_path / "no.nrrd"
    for image in (*images, tmp_path / "damaged.nii.gz", save(shapes.imageOf(np.zeros((3, 4))), tmp_path / "flat.mha")):
        given = ("compare", *pair, "--metrics", "DSC", "--image", image, "--report", "--output", "out")
        status, _, err = run(*given)
        assert (status, err) == (0, ""), image
        told = findingsOf("out")
        assert image.name == "flat.mha" or any(one.startswith(f"{NOT_SHOWN}{image}: ") for one in told)
        shutil.rmtree("out")


@pytest.mark.parametrize("name", ["mr.nrrd", "mr.mha", "mr.nii", "mr.nii.gz"])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def testWhatIsNoNumberIsShownAsTheLowest(run, tmp_path, name, odd):
    """From every format, as around a masked patient; a segmentation with such values is refused from every format."""
    k, j, i = np.indices((10, 12, 14))
    gray = (50.0 + k + 2 * j + 3 * i).astype(np.float32)
    values = gray.copy()
    values[:4, :, 1:] = odd
    image = readGrayImage(save(shapes.imageOf(values, (1, 1, 3)), tmp_path / name))
    np.testing.assert_array_equal(image.values, np.where(np.isfinite(values), gray, values[np.isfinite(values)].min()))
    box = shapes.box((4, 4, 4), (8, 8, 8), (14, 12, 10), (1.0, 1.0, 3.0))
    mask = save(box, tmp_path / "mask.nrrd")
    assert run("compare", mask, mask, "--metrics", "DSC", "--image", tmp_path / name)[0] == 0
    status, _, err = run("compare", tmp_path / name, mask)
    assert status == 2 and "The image has values that are not numbers." in err


def writeSeries(folder, grid, heights=None, **elements):
    """Write a series whose values are 10 times the height of the slice plus the column; return its slices."""
    import dicomfiles

    heights = grid.origin[2] + grid.spacing[2] * np.arange(grid.size[2]) if heights is None else np.array(heights)
    slices = dicomfiles.writeSeries(folder, grid)
    for file, one, height in zip((folder / f"slice{s.InstanceNumber - 1}" for s in slices), slices, slices):
        height = float(heights[one.InstanceNumber - 1])
        one.ImagePositionPatient = [*one.ImagePositionPatient[:2], height]
        values = 10 * height + np.arange(grid.size[0]) + np.zeros((grid.size[1], 1))
        one.PixelData = np.rint(values).astype(np.uint16).tobytes()
        one.save_as(file, enforce_file_format=True)
    return sorted(slices, key=lambda one: one.InstanceNumber)


def testASeriesAsItLies(run, pair, tmp_path):
    """Uneven slices, missing ones, copies, and what else is in the series."""
    pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    import dicomfiles

    grid = Grid((9, 8, 10), np.diag([1.0, 1, 3, 1]))

    def requireValues(image, heights):
        for height in heights:
            place = np.array([4.0, 3, height])
            found = image.sampled(place, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), (2, 1))
            assert found.ravel().tolist() == [10 * height + 4, 10 * height + 5]

    even = [3.0 * k for k in range(10)]
    uneven = [0.0, 3, 6, 9, 12, 18, 24, 30, 36, 42]
    writeSeries(tmp_path / "uneven", grid, uneven)
    image = readGrayImage(tmp_path / "uneven")
    requireValues(image, uneven)
    (said,) = image.remarks
    assert said == (
        "The slices under the contours are not equally spaced: they are shown 3 to 6 mm thick, half the way to both "
        "neighbors."
    )
    # halfway to the neighbors the next slice begins
    low, high = (image.sampled(np.array([4.0, 3, z]), np.eye(3)[0], np.eye(3)[1], (1, 1))[0, 0] for z in (13.9, 16.1))
    assert low == 124 and high == 184
    slices = writeSeries(tmp_path / "plain", grid)
    whole = readGrayImage(tmp_path / "plain")
    requireValues(whole, even)
    assert whole.remarks == () and whole.grid.size == grid.size
    shutil.copy(tmp_path / "plain" / "slice3", tmp_path / "plain" / "copy")
    image = readGrayImage(tmp_path / "plain")
    assert image.remarks == () and image.grid == whole.grid and (image.values == whole.values).all()
    # a scout, another image of the same place, and one that does not say where it lies
    scout = dicomfiles.writeSlices(
        tmp_path / "more", [(0, 0, 40)], slices[0], ImageOrientationPatient=[0, 1, 0, 0, 0, -1]
    )
    dicomfiles.writeSlices(tmp_path / "again", [(0, 0, 6)], slices[0])
    lost = dicomfiles.writeSlices(tmp_path / "lost", [(0, 0, 6)], slices[0])[0]
    del lost.ImagePositionPatient
    lost.save_as(tmp_path / "lost" / "other0")
    assert len(scout) == 1
    for number, folder in enumerate(("more", "again", "lost")):
        shutil.move(tmp_path / folder / "other0", tmp_path / "plain" / f"other{number}")
    image = readGrayImage(tmp_path / "plain")
    requireValues(image, [z for z in even if z != 6])
    assert image.remarks == (
        "Of the series under the contours, 3 images are not shown: only 10 slices lie in one row, each at a place of "
        "its own.",
    )
    (tmp_path / "uneven" / "slice2").unlink()
    requireValues(readGrayImage(tmp_path / "uneven"), [z for z in uneven if z != 6])
    given = ("compare", *pair, "--metrics", "DSC", "--image", tmp_path / "uneven", "--report", "-o", "out")
    assert run(*given)[0] == 0 and any("not equally spaced" in one for one in findingsOf("out"))
