"""DICOM SEG: segmentations keep their voxels, however many of their slices are stored."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import numpy as np
import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import Settings, compare, readStructures

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")

import dicomfiles
import pydicom
from test_dicom import GRIDS, seriesAt, voxelsOf


@pytest.mark.parametrize("fractional", [False, True])
def testSegmentation(tmp_path, fractional):
    grid = GRIDS["axial"]
    slices = sorted(dicomfiles.writeSeries(tmp_path, grid), key=lambda s: s.InstanceNumber)
    arrays = {name: shapes.blob(seed, grid.size, 0.2) for seed, name in enumerate(("Liver", "Other"))}
    if fractional:
        arrays = {name: np.where(array, 0.8, 0.2) for name, array in arrays.items()}
        arrays["Liver"][0] = arrays["Other"][0] = 0
    dicomfiles.writeSegmentation(tmp_path / "seg.dcm", slices, arrays, fractional)
    structures = readStructures(tmp_path)
    assert [s.name for s in structures] == ["Liver", "Other"]
    for structure, array in zip(structures, arrays.values(), strict=True):
        found = structure.mask.on(grid)
        np.testing.assert_array_equal(found.block((0, 0, 0), np.array(grid.size) - 1), array > 0.5)
        assert structure.frameOfReference == "1.2.3"
        assert (structure.memberships is not None) == fractional
        if fractional:
            memberships = structure.memberships.on(grid).block((0, 0, 0), np.array(grid.size) - 1)
            np.testing.assert_allclose(memberships, array, atol=1 / 255)


def testSegmentsOfALabelMapHaveAnyNumbers(tmp_path):
    grid = GRIDS["axial"]
    slices = sorted(dicomfiles.writeSeries(tmp_path / "ct", grid), key=lambda s: s.InstanceNumber)
    labels = np.zeros(grid.size[::-1], np.uint8)
    labels[2:5, 3:6, 3:6], labels[2:5, 8:10, 3:6] = 3, 7
    dicomfiles.writeLabelMap(tmp_path / "seg.dcm", slices, labels, {3: "Liver", 7: "Kidney"})
    found = {s.name: s.mask.count for s in readStructures(tmp_path / "seg.dcm")}
    assert found == {"Liver": 27, "Kidney": 18}
    content = (tmp_path / "seg.dcm").read_bytes()
    for size in range(200, len(content), 197):
        (tmp_path / "short.dcm").write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"short.dcm: "):
            readStructures(tmp_path / "short.dcm")


@contextmanager
def edited(path):
    """Let a file be changed inside the block."""
    content = pydicom.dcmread(path)
    yield content
    content.save_as(path)


def measuresOf(content):
    return content.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0]


def liver(folder):
    """Write a SEG of one segment, and return its content."""
    grid = GRIDS["axial"]
    slices = sorted(dicomfiles.writeSeries(folder / "ct", grid), key=lambda s: s.InstanceNumber)
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, {"Liver": shapes.blob(0, grid.size, 0.2)}, False)
    return pydicom.dcmread(folder / "seg.dcm")


def segmented(folder, kept, isImageThere, fractional=False):
    """Return a segment with a square on the kept slices of 12, read from a file that stores no others."""
    grid = GRIDS["axial"]
    slices = sorted(dicomfiles.writeSeries(folder / "ct", grid), key=lambda s: s.InstanceNumber)
    array = np.zeros(grid.size[::-1])
    array[kept, 6:16, 5:15] = 0.8 if fractional else 1
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, {"Box": array}, fractional)
    if not isImageThere:
        shutil.rmtree(folder / "ct")
    (structure,) = readStructures(folder / "seg.dcm")
    return structure, array, grid


def testSegmentsHaveTheColorsOfTheFile(tmp_path):
    """A recommended color is CIELab of D65; pure red is L* 53.24, a* 80.09, b* 67.20."""
    content, encoded = liver(tmp_path), [53.24 / 100, (80.09 + 128) / 255, (67.20 + 128) / 255]
    assert readStructures(tmp_path / "seg.dcm")[0].color is None
    content.SegmentSequence[0].RecommendedDisplayCIELabValue = [round(65535 * part) for part in encoded]
    content.save_as(tmp_path / "colored.dcm")
    assert readStructures(tmp_path / "colored.dcm")[0].color == pytest.approx((1, 0, 0), abs=0.02)


def testFramesBesideEachOtherMakeNoVolume(tmp_path):
    content = liver(tmp_path)
    position = content.PerFrameFunctionalGroupsSequence[1].PlanePositionSequence[0]
    x, y, z = position.ImagePositionPatient
    for moved in ([x + 4, y, z], [x + 4, y, z + 0.4]):
        position.ImagePositionPatient = moved
        content.save_as(tmp_path / "uneven.dcm")
        said = r"uneven.dcm: the segmentation's frames make no (regular )?volume[^\n]*$"
        with pytest.raises(ValueError, match=said):
            readStructures(tmp_path / "uneven.dcm")


@pytest.mark.parametrize("count", [1, 10**8])
def testFramesThatAreCountedButNotDescribed(tmp_path, count):
    """Highdicom would go through all that are counted, for minutes."""
    content = liver(tmp_path)
    content.NumberOfFrames = count
    content.save_as(tmp_path / "odd.dcm")
    with pytest.raises(ValueError, match=rf"odd.dcm: the segmentation is damaged: it counts {count} frames and"):
        readStructures(tmp_path / "odd.dcm")


@pytest.mark.parametrize(
    ("kept", "fractional", "isImageThere"), [([4], True, False), ([4, 5], False, True), ([3, 4, 5, 8], True, True)]
)
def testStoredFramesAreAPartOfAnImage(tmp_path, kept, fractional, isImageThere):
    """One frame is as much a structure in space as several, and where frames end the image need not."""
    structure, array, grid = segmented(tmp_path, kept, isImageThere, fractional)
    assert structure.dimension == 3 and not structure.mask.touchesEdge
    image = SimpleITK.GetImageFromArray((array > 0).astype(np.uint8))
    image.SetSpacing(grid.spacing.tolist())
    result = compare(image, structure, Settings(metrics=("HD", "DSC", "VolumeTest"), threshold=0.5))
    assert result["HD"].value == pytest.approx(0, abs=1e-9) and result["DSC"].value == 1
    assert result["VolumeTest"].value == pytest.approx(100 * 1.5 * 2.5 * len(kept), rel=0.12)
    if isImageThere:
        assert structure.mask.grid.size == grid.size
        if fractional:
            assert structure.memberships.grid == structure.mask.grid


def testSegmentsAtTheEdgeOfTheImage(tmp_path):
    """What reaches the first slice of the image does, whether or not the slices beyond are stored."""
    structure, _, _ = segmented(tmp_path, [0, 1, 2], True)
    assert structure.mask.touchesEdge
    whole, _, grid = segmented(tmp_path / "whole", list(range(12)), False)
    assert whole.mask.touchesEdge and whole.mask.grid.size == grid.size


def withoutDistance(folder, kept, isImageThere, thickness=2.5, positions=None):
    """Return a segment with a square on the kept slices of 12, from a file that does not say how far apart slices are.

    thickness: that it tells, None for none. positions: heights of its frames in mm instead of those of the slices.
    """
    segmented(folder, kept, isImageThere)
    with edited(folder / "seg.dcm") as content:
        for name, value in (("SpacingBetweenSlices", None), ("SliceThickness", thickness)):
            measuresOf(content).pop(name, None)
            if value:
                setattr(measuresOf(content), name, value)
        for frame, height in zip(content.PerFrameFunctionalGroupsSequence, positions or (), strict=bool(positions)):
            frame.PlanePositionSequence[0].ImagePositionPatient = [0, 0, height]
    return readStructures(folder / "seg.dcm")[0]


SKIPPING = [[2, 4, 6, 8], [1, 4, 7], [2, 9], [2, 4, 7], [4]]


@pytest.mark.parametrize(("kept", "thickness"), list(zip(SKIPPING, (2.5, 5, None, 2.5, None))))
def testTheImageTellsHowFarApartSlicesAre(tmp_path, kept, thickness):
    """Whatever the file leaves out: the slices between two lesions, say, and how far apart slices are."""
    told, array, grid = segmented(tmp_path / "told", kept, True)
    structure = withoutDistance(tmp_path, kept, True, thickness)
    np.testing.assert_array_equal(voxelsOf(structure), array)
    np.testing.assert_allclose(structure.mask.grid.matrix, grid.matrix)
    assert not structure.notes and not told.notes
    result = compare(told, structure)
    assert result["DSC"].value == 1 and result["HD"].value == 0


@pytest.mark.parametrize("kept", [*SKIPPING[2:], [3, 4, 5, 8]])
def testFramesAreAsFarApartAsTheyAreThick(tmp_path, kept):
    """Without the image; where no slice is left out there is nothing to assume."""
    structure = withoutDistance(tmp_path, kept, False)
    assert structure.mask.size == pytest.approx(len(kept) * 100 * 1.5 * 2.5)
    expected = "The segmentation does not say how far apart its slices are: their thickness, 2.5 mm, is assumed."
    assert structure.notes == ((expected,) if kept in SKIPPING[2:4] else ())
    assert not structure.mask.touchesEdge
    findings = compare(structure, structure, Settings(families="overlap")).findings
    assert findings.count(expected) == (kept in SKIPPING[2:4])


@pytest.mark.parametrize(("kept", "thickness"), [(SKIPPING[0], 2.5), (SKIPPING[0], None), (SKIPPING[1], 4)])
def testFramesAtOneDistanceAreThatFarApart(tmp_path, kept, thickness):
    """Whatever is said of how thick they are, if the image does not say more."""
    structure = withoutDistance(tmp_path, kept, False, thickness)
    distance = 2.5 * (kept[1] - kept[0])
    assert structure.mask.size == pytest.approx(len(kept) * 100 * 1.5 * distance)
    (note,) = structure.notes
    assert note.endswith(f"its frames are evenly spaced, and their distance, {distance:g} mm, is assumed.")


def testEvenFramesOutrankAStatedDistanceThatCannotBe(tmp_path):
    segmented(tmp_path, [3, 4, 5, 6], False)
    with edited(tmp_path / "seg.dcm") as content:
        measuresOf(content).SpacingBetweenSlices = 4
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.size == pytest.approx(4 * 100 * 1.5 * 2.5)


@pytest.mark.parametrize(("fractional", "isImageThere"), [(False, False), (True, False), (True, True)])
def testFramesAtUnevenDistancesHaveTheirOwnThickness(tmp_path, fractional, isImageThere):
    """In any order; with the image, an end reaches half the way to the next slice of it."""
    heights = [0, 3, 6, 9, 12, 15, 21, 27, 33, 39, 45, 51]
    segmented(tmp_path, [2, 3, 4, 5, 6, 7, 8], True, fractional)

    files = sorted((tmp_path / "ct").iterdir(), key=lambda file: int(file.name[5:]))
    for file, height in zip(files, heights, strict=True):
        with edited(file) as image:
            image.ImagePositionPatient = [0, 0, height]
    content = pydicom.dcmread(tmp_path / "seg.dcm")
    measuresOf(content).pop("SpacingBetweenSlices", None)
    frames = content.PerFrameFunctionalGroupsSequence
    pixels = content.pixel_array
    order = [3, 0, 6, 1, 5, 2, 4]
    for number, frame in enumerate(frames):
        frame.PlanePositionSequence[0].ImagePositionPatient = [0, 0, heights[2 + number]]
    content.PerFrameFunctionalGroupsSequence = [frames[n] for n in order]
    if fractional:
        content.PixelData = pixels[order].tobytes()
    content.save_as(tmp_path / "seg.dcm")
    if not isImageThere:
        shutil.rmtree(tmp_path / "ct")
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.size == pytest.approx(100 * 1.5 * (3 * 3 + 4.5 + 3 * 6))
    assert structure.mask.corners()[:, 2].min() == pytest.approx(4.5)
    assert structure.mask.corners()[:, 2].max() == pytest.approx(36)
    assert (structure.memberships is not None) == fractional and not structure.mask.touchesEdge
    assert "not equally spaced: they are 3 to 6 mm thick" in structure.notes[0]


def testTheSmallestDistanceOfFrames(tmp_path):
    """Where frames overlap, or nothing is said of how thick they are."""
    for number, thickness in enumerate((4, None)):
        structure = withoutDistance(tmp_path / str(number), [3, 4, 5, 8], False, thickness)
        assert structure.mask.size == pytest.approx(4 * 100 * 1.5 * 2.5)
        (note,) = structure.notes
        assert note.endswith("the smallest distance between two, 2.5 mm, is assumed.")
    structure = withoutDistance(tmp_path, [4], False, None)
    assert structure.mask.grid.spacing[2] == 1
    assert structure.notes[0].endswith("nor how thick its only one is: 1 mm is assumed.")


def testFramesAtRoundedPositions(tmp_path):
    """Those of slices 1.25 mm apart, as files with a digit behind the point have them."""
    heights = np.round(1.25 * np.arange(12), 1).tolist()
    kept = [1, 2, 3, 8]
    alone = withoutDistance(tmp_path, kept, False, 1.25, [heights[k] for k in kept])
    assert alone.mask.size == pytest.approx(4 * 100 * 1.5 * 1.25)
    square = seriesAt(tmp_path / "near", heights)
    content = pydicom.dcmread(tmp_path / "seg.dcm")
    image = pydicom.dcmread(tmp_path / "near" / "ct" / "slice0")
    content.ReferencedSeriesSequence[0].SeriesInstanceUID = image.SeriesInstanceUID
    content.save_as(tmp_path / "near" / "seg.dcm")
    (near,) = readStructures(tmp_path / "near" / "seg.dcm")
    assert near.mask.grid == square.mask.grid
    assert np.flatnonzero(voxelsOf(near).any(axis=(1, 2))).tolist() == kept


def testFilesThatListOnlyTheSlicesWithFrames(tmp_path):
    """What lies between their frames was left out, so what lies beyond may have been, too."""
    segmented(tmp_path, [3, 4, 8], True)
    with edited(tmp_path / "seg.dcm") as content:
        series = content.ReferencedSeriesSequence[0]
        series.ReferencedInstanceSequence = [series.ReferencedInstanceSequence[k] for k in (3, 4, 8)]
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.grid.size == GRIDS["axial"].size
    shutil.rmtree(tmp_path / "ct")
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.grid.size[2] == 8 and not structure.mask.touchesEdge
