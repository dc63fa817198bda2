"""Labels keep their numbers, their voxels and their place, whatever type and header the file has."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
import shapes
import SimpleITK
from imagefiles import read, refusal, save
from sayings import says

from SegmentMetricsLib import Grid, compare, readStructures

# Types of numbers in files, and labels near the ends of smaller types.
NUMBERS = {
    np.uint8: (1, 255),
    np.int16: (1, 257, 32767),
    np.uint16: (1, 257, 300, 65535),
    np.int32: (1, 257, 65537, 70000),
    np.uint32: (2, 65538, 2**32 - 1),
    np.int64: (1, 2**32 + 1),
    np.float32: (1, 257, 70000),
    np.float64: (1, 2**33 + 1),
}


def labeled(numbers, kind) -> np.ndarray:
    """Return a label map with as many voxels of a label as its place among the numbers, times 12."""
    array = np.zeros((len(numbers) + 2, 12, 14), kind)
    for place, number in enumerate(numbers, start=1):
        array[place, 3:6, 2 : 2 + 4 * 1] = number
        array[place, 7 : 7 + 3 * (place > 1), 2 : 2 + 4 * (place - 1)] = number
    return array


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
def testLabelsOfAnySize(tmp_path, kind, suffix):
    array = labeled(NUMBERS[kind], kind)
    image = shapes.imageOf(array)
    if suffix == ".seg.nrrd":
        for place, number in enumerate(NUMBERS[kind]):
            for name, value in {"ID": f"s{place}", "Name": f"Label {number}", "LabelValue": number, "Layer": 0}.items():
                image.SetMetaData(f"Segment{place}_{name}", str(value))
    path = save(image, tmp_path / f"labels{suffix}")
    found = {name: structure.mask.count for name, structure in read(path).items()}
    assert found == {f"Label {number}": np.count_nonzero(array == number) for number in NUMBERS[kind]}
    # a negative number is not taken for another label, nor for the background
    if np.dtype(kind).kind != "u":
        negative = SimpleITK.GetImageFromArray(np.where(array == 1, -3, array).astype(kind))
        for key in image.GetMetaDataKeys():
            negative.SetMetaData(key, image.GetMetaData(key))
        says(refusal(save(negative, path)), " -3 ", max(NUMBERS[kind]))


def testLabelMapsOfDicomInSixteenBits(tmp_path):
    """Structures whose numbers differ by 256 stay apart; what has no description is left out, and that is said."""
    import dicomfiles

    grid = Grid((24, 20, 6), np.diag([1.0, 1, 3, 1]))
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    labels, names = np.zeros((6, 20, 24), np.uint16), {1: "a", 44: "b", 257: "c", 300: "d", 65535: "e"}
    for place, number in enumerate(names):
        labels[1:4, 2 : 4 + place, 2 + 4 * place : 5 + 4 * place] = number
    path = tmp_path / "seg.dcm"
    dicomfiles.writeLabelMap(path, slices, labels, names)
    expected = {name: labels == number for number, name in names.items()}
    for structure in readStructures(path):
        voxels = structure.mask.on(grid).block((0, 0, 0), (23, 19, 5))
        np.testing.assert_array_equal(voxels, expected.pop(structure.name))
        assert structure.notes == ()
    assert not expected
    with dicomfiles.edited(path) as content:
        content.SegmentSequence = [one for one in content.SegmentSequence if one.SegmentNumber != 300]
    found = {one.name: one for one in readStructures(path)}
    assert {name: one.mask.count for name, one in found.items()} == {"a": 18, "b": 27, "c": 36, "e": 54}
    ((note,),) = {one.notes for one in found.values()}
    says(note, "300")


def scaled(path, slope: float, intercept: float):
    """Write other scale factors into the header of a NIfTI file."""
    data = bytearray(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    struct.pack_into("<2f", data, 112, slope, intercept)
    path.write_bytes(gzip.compress(bytes(data)) if path.suffix == ".gz" else bytes(data))
    return path


@pytest.mark.parametrize("name", ["labels.nii", "labels.nii.gz"])
def testScaleFactorsOfNifti(tmp_path, name):
    """A slope of 0, or none, means no scaling: the intercept does not count either. Others make labels fractional."""
    array = labeled((1, 2, 3), np.int16)
    path = save(shapes.imageOf(array), tmp_path / name)
    plain = {name: one.mask.count for name, one in read(path).items()}
    for slope, intercept in ((0, 7), (0, 0), (np.nan, 7), (np.inf, 0), (1, 0)):
        found = read(scaled(path, slope, intercept))
        assert {name: one.mask.count for name, one in found.items()} == plain
        assert compare(SimpleITK.GetImageFromArray(array), path, label=2)["DSC"].value == 1
    assert list(read(scaled(path, 1, 7))) == ["Label 7", "Label 8", "Label 9", "Label 10"]
    for slope, intercept, names in (
        (0.99999333, 0, ["0.9999933 (scl_slope)"]),
        (1, 0.25, ["1 (scl_slope)", "0.25 (scl_inter)"]),
    ):
        says(refusal(scaled(path, slope, intercept)), *names)
    # fractions that the file itself holds have nothing to do with a factor
    assert "scl_" not in says(refusal(scaled(save(shapes.imageOf(array + np.float32(0.5)), path), 0.5, 0)))


def testVoxelSizeInTheEndsOfAxes(tmp_path):
    """NRRD: cells reach half a voxel beyond the first and the last center, nodes do not."""
    array = np.zeros((4, 5, 6), np.uint8)
    array[1:3, 1:4, 2:5] = 1
    ends = "axis mins: 10 20 30\naxis maxs: {}\n"
    cells, nodes = ends.format("22 40 42"), f"centers: node node node\n{ends.format('20 36 39')}"
    size, known = (2, 4, 3), (11, 22, 31.5)
    for fields, origin, magic in (
        (cells, known, "NRRD0001"),
        (f'spacings: nan nan nan\nunits: "mm" "mm" "mm"\n{cells}', known, "NRRD0004"),
        (f"space: left-posterior-superior\n{cells}", known, "NRRD0004"),
        (f"space: right-anterior-superior\n{cells}", (-11, -22, 31.5), "NRRD0004"),
        (nodes, (10, 20, 30), "NRRD0004"),
        (f"spacings: 2 4 3\n{ends.format('0 0 0')}", known, "NRRD0004"),
    ):
        head = f"{magic}\n# one\ntype: uchar\ndimension: 3\nsizes: 6 5 4\nencoding: raw\n{fields}"
        (tmp_path / "one.nrrd").write_bytes(f"{head}\n".encode() + array.tobytes())
        files = [tmp_path / "one.nrrd"]
        # the same with the voxels in other files
        layers = [f"layer{number}.raw" for number in range(4)]
        for name, layer in zip(layers, array, strict=True):
            (tmp_path / name).write_bytes(layer.tobytes())
        for number, where in enumerate((f"LIST\n{chr(10).join(layers)}", "layer%d.raw 0 3 1")):
            files.append(tmp_path / f"other{number}.nhdr")
            files[-1].write_text(f"{head}data file: {where}\n")
        for path in files:
            (structure,) = readStructures(path)
            grid = structure.mask.grid
            assert structure.mask.count == 18 and structure.notes == ()
            assert (grid.spacing == size).all() and grid.origin == pytest.approx(origin)
    for fields in ("axis mins: 10 20 30\n", "axis mins: nan 20 30\naxis maxs: nan 40 42\n"):
        head = f"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 6 5 4\nencoding: raw\n{fields}"
        (tmp_path / "one.nrrd").write_bytes(f"{head}\n".encode() + array.tobytes())
        (structure,) = readStructures(tmp_path / "one.nrrd")
        size, place = structure.notes
        says(size)
        says(place)


def testExtentsThatSegmentsHaveLeft(tmp_path):
    """Slicer reads of each segment only the box that the header states; the files are read as their voxels are."""
    array = np.zeros((20, 20, 20), np.uint8)
    array[3:9, 3:9, 3:9], array[12:16, 12:16, 12:16] = 1, 2

    def written(extents):
        segments = [
            {"ID": f"s{label}", "Name": name, "LabelValue": label, "Layer": 0, "Extent": extent}
            for label, name, extent in zip((1, 2, 3), ("Cube", "Other", "Gone"), extents, strict=True)
        ]
        return read(save(shapes.segmentation([array], segments), tmp_path / "a.seg.nrrd"))

    right = "3 8 3 8 3 8", "0 19 12 15 12 15", "0 -1 0 -1 0 -1"
    assert [one.notes for one in written(right).values()] == [(), (), ()]
    assert [one.notes for one in written(("", "all of it", "1 2 3")).values()] == [(), (), ()]
    for extent, beyond in (("4 8 3 8 3 8", 36), ("3 8 3 8 3 6", 72), ("12 17 3 8 3 8", 216), ("0 -1 0 -1 0 -1", 216)):
        found = written((extent, *right[1:]))
        (note,) = found["Cube"].notes
        says(note, "'Cube'", beyond, 216)
        assert found["Cube"].mask.count == 216 and found["Other"].notes == ()
        assert any("'Cube'" in finding for finding in compare(found["Cube"], found["Other"]).findings)
