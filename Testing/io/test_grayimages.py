"""The image under the contours: from every kind of file it lies where its header says, or a sentence says why not."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.grayimages import readGrayImage
from SegmentMetricsLib.io.reading import UnusableFile
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
    found = image.sampled(corner, right, down, (5, 4))
    u, v = np.meshgrid(np.arange(5), np.arange(4))
    expected = (corner + u[..., None] * right + v[..., None] * down) @ SLOPE
    np.testing.assert_allclose(found, expected, atol=1e-2)
    assert image.name == path.name and not image.isHounsfield
    # beyond the voxels there is nothing, and up to their edges the nearest value
    edge = image.grid.toWorld([[-0.4, 4, 3], [-0.6, 4, 3]])
    inside, outside = (float(image.sampled(at, right, down, (1, 1))[0, 0]) for at in edge)
    assert np.isfinite(inside) and np.isnan(outside)
    part = image.cropped(middle - 1, middle + 1, 2.0)
    np.testing.assert_allclose(part.sampled(middle, right, down, (2, 2)), image.sampled(middle, right, down, (2, 2)))
    assert part.values.size < image.values.size and part.whole is image.grid


def testASeriesLiesWhereItsSlicesDoAlsoOfATiltedGantry(tmp_path):
    pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
    import dicomfiles

    matrix = np.diag([0.9, 1.1, 3.0, 1.0])
    matrix[:3, 3] = 5, -7, 11
    matrix[1, 2] = 0.8  # each slice a little behind the one below
    dicomfiles.writeSeries(tmp_path / "CT", Grid((6, 5, 4), matrix), "Müller")
    for given in (tmp_path / "CT", tmp_path / "CT" / "slice2"):
        image = readGrayImage(given)
        np.testing.assert_allclose(image.grid.matrix, matrix, atol=1e-5)
        assert image.grid.size == (6, 5, 4) and image.modality == "CT" and image.isHounsfield
        assert image.frameOfReference == "1.2.3" and len(image.patient) == 64
    # a structure set beside it is no second image
    plan = dicomfiles.dataset(tmp_path / "CT" / "plan.dcm", dicomfiles.RTStructureSetStorage, "RTSTRUCT", "A", "1.2.3")
    plan.save_as(tmp_path / "CT" / "plan.dcm", enforce_file_format=True)
    assert readGrayImage(tmp_path / "CT").grid.size == (6, 5, 4)
    dicomfiles.writeSeries(tmp_path / "MR", Grid((6, 5, 3), matrix))
    for file in (tmp_path / "MR").iterdir():
        file.rename(tmp_path / "CT" / f"other {file.name}")
    told = r"2 series of images: .*CT \(4 files, such as slice\d\).*give a file of the"
    with pytest.raises(UnusableFile, match=told):
        readGrayImage(tmp_path / "CT")
    assert readGrayImage(tmp_path / "CT" / "other slice0").grid.size[2] == 3


def refused() -> dict:
    color = SimpleITK.GetImageFromArray(np.zeros((3, 4, 5, 3), np.uint8), isVector=True)
    segments = shapes.segmentation([np.ones((4, 4, 4), np.uint8)], [{"ID": "a", "Name": "A", "LabelValue": 1}])
    nothing = SimpleITK.GetImageFromArray(np.full((3, 4, 5), np.nan, np.float32))
    return {
        "color.nrrd": (color, "3 values per voxel, as color images have"),
        "four.nii.gz": (SimpleITK.Image([5, 4, 3, 2], SimpleITK.sitkInt16), "4 dimensions"),
        "segments.seg.nrrd": (segments, "this is a segmentation, not the image"),
        "nan.mha": (nothing, "none of its values is a number"),
        "missing.nrrd": (None, "there is no such file or folder"),
        "mesh.stl": ("solid", "this is not an image that can be shown"),
        "empty": ("folder", "this holds no DICOM image"),
    }


@pytest.mark.parametrize("name", list(refused()))
def testWhatCannotBeShownIsRefusedInASentence(tmp_path, name):
    content, said = refused()[name]
    path = tmp_path / name
    if isinstance(content, SimpleITK.Image):
        SimpleITK.WriteImage(content, str(path))
    elif content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    with pytest.raises(UnusableFile) as raised:
        readGrayImage(path)
    assert str(raised.value).startswith(f"{path}: ") and said in str(raised.value)
    assert "\n" not in str(raised.value)


def testOnlyHounsfieldUnitsHaveTheirWindows():
    grid = Grid((2, 1, 1), np.eye(4))
    for values, modality, isSo in (([-1000, 40], "", True), ([0, 900], "", False), ([-1000, 40], "PT", False)):
        assert GrayImage(np.array([[values]]), grid, modality=modality).isHounsfield == isSo
