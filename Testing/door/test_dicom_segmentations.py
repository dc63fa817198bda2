"""DICOM SEG: segmentations keep their voxels, however many of their slices are stored."""

from __future__ import annotations

import shutil

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from dicomfiles import edited, voxelsOf
from imagefiles import refusal
from sayings import says

from SegmentMetricsLib import Grid, Settings, compare, readStructures

AXIAL = Grid((30, 26, 12), np.diag([1.0, 1.5, 2.5, 1.0]))


def measuresOf(content):
    return content.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0]


@pytest.mark.parametrize("fractional", [False, True])
def testSegmentation(tmp_path, fractional):
    slices = dicomfiles.writeSeries(tmp_path, AXIAL)
    arrays = {name: shapes.blob(seed, AXIAL.size, 0.2) for seed, name in enumerate(("Liver", "Other"))}
    if fractional:
        arrays = {name: np.where(array, 0.8, 0.2) for name, array in arrays.items()}
        arrays["Liver"][0] = arrays["Other"][0] = 0
    dicomfiles.writeSegmentation(tmp_path / "seg.dcm", slices, arrays, fractional)
    structures = readStructures(tmp_path)
    assert [s.name for s in structures] == ["Liver", "Other"]
    last = np.array(AXIAL.size) - 1
    for structure, array in zip(structures, arrays.values(), strict=True):
        np.testing.assert_array_equal(structure.mask.on(AXIAL).block((0, 0, 0), last), array > 0.5)
        assert structure.frameOfReference == "1.2.3" and structure.color is None
        assert (structure.memberships is not None) == fractional
        if fractional:
            memberships = structure.memberships.on(AXIAL).block((0, 0, 0), last)
            np.testing.assert_allclose(memberships, array, atol=1 / 255)


def testSegmentsOfALabelMapHaveAnyNumbers(tmp_path):
    """And colors: a recommended one is CIELab of D65; pure red is L* 53.24, a* 80.09, b* 67.20."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", AXIAL)
    labels = np.zeros(AXIAL.size[::-1], np.uint8)
    labels[2:5, 3:6, 3:6], labels[2:5, 8:10, 3:6] = 3, 7
    path = tmp_path / "seg.dcm"
    dicomfiles.writeLabelMap(path, slices, labels, {3: "Liver", 7: "Kidney"})
    with edited(path) as content:
        encoded = [53.24 / 100, (80.09 + 128) / 255, (67.20 + 128) / 255]
        content.SegmentSequence[-1].RecommendedDisplayCIELabValue = [round(65535 * part) for part in encoded]
    found = {s.name: s for s in readStructures(path)}
    assert {name: s.mask.count for name, s in found.items()} == {"Liver": 27, "Kidney": 18}
    assert found["Liver"].color is None and found["Kidney"].color == pytest.approx((1, 0, 0), abs=0.02)
    content = path.read_bytes()
    for size in range(200, len(content), 197):
        path.write_bytes(content[:size])
        refusal(path)


def segmented(folder, kept, isImageThere=True, fractional=False):
    """Return a segment with a square on the kept slices of 12, read from a file without others, and its array."""
    slices = dicomfiles.writeSeries(folder / "ct", AXIAL)
    array = np.zeros(AXIAL.size[::-1])
    array[kept, 6:16, 5:15] = 0.8 if fractional else 1
    dicomfiles.writeSegmentation(folder / "seg.dcm", slices, {"Box": array}, fractional)
    if not isImageThere:
        shutil.rmtree(folder / "ct")
    (structure,) = readStructures(folder / "seg.dcm")
    return structure, array


def testFramesThatMakeNoVolume(tmp_path):
    segmented(tmp_path, [3, 4, 5])
    path = tmp_path / "seg.dcm"
    for moved in ([4, 0, 10], [4, 0, 10.4]):  # beside each other
        with edited(path) as content:
            frame = content.PerFrameFunctionalGroupsSequence[1]
            frame.PlanePositionSequence[0].ImagePositionPatient = moved
        says(refusal(path).partition(" (")[0])
    for count in (1, 5):
        with edited(path) as content:
            content.NumberOfFrames = count
        says(refusal(path), count)


@pytest.mark.parametrize(
    ("kept", "fractional", "isImageThere"), [([4], True, False), ([4, 5], False, True), ([3, 4, 5, 8], True, True)]
)
def testStoredFramesAreAPartOfAnImage(tmp_path, kept, fractional, isImageThere):
    """One frame is as much a structure in space as several, and where frames end the image need not."""
    structure, array = segmented(tmp_path, kept, isImageThere, fractional)
    assert structure.dimension == 3 and not structure.mask.touchesEdge
    image = SimpleITK.GetImageFromArray((array > 0).astype(np.uint8))
    image.SetSpacing(AXIAL.spacing.tolist())
    result = compare(image, structure, Settings(metrics=("HD", "DSC", "VolumeTest"), threshold=0.5))
    assert result["HD"].value == pytest.approx(0, abs=1e-9) and result["DSC"].value == 1
    assert result["VolumeTest"].value == pytest.approx(100 * 1.5 * 2.5 * len(kept), rel=0.12)
    if isImageThere:
        assert structure.mask.grid.size == AXIAL.size
        assert not fractional or structure.memberships.grid == structure.mask.grid


def testSegmentsAtTheEdgeOfTheImage(tmp_path):
    """What reaches the first slice of the image does, whether or not the slices beyond are stored."""
    assert segmented(tmp_path, [0, 1, 2])[0].mask.touchesEdge
    whole, _ = segmented(tmp_path / "whole", list(range(12)), False)
    assert whole.mask.touchesEdge and whole.mask.grid.size == AXIAL.size


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
    told, array = segmented(tmp_path / "told", kept)
    structure = withoutDistance(tmp_path, kept, True, thickness)
    np.testing.assert_array_equal(voxelsOf(structure), array)
    np.testing.assert_allclose(structure.mask.grid.matrix, AXIAL.matrix)
    assert not structure.notes and not told.notes and told.mask.isSameAs(structure.mask)


DISTANCES = [
    # kept slices, told thickness, distance by which each frame counts, and whether it is assumed
    *((kept, 2.5, 2.5, True) for kept in SKIPPING[2:4]),
    *((kept, 2.5, 2.5, False) for kept in ([4], [3, 4, 5, 8])),
    *((kept, t, d, True) for kept, t, d in ((SKIPPING[0], 2.5, 5), (SKIPPING[0], None, 5), (SKIPPING[1], 4, 7.5))),
    *(([3, 4, 5, 8], t, 2.5, True) for t in (4, None)),
    ([4], None, 1, True),
]


@pytest.mark.parametrize(("kept", "thickness", "distance", "isAssumed"), DISTANCES)
def testWithoutTheImageFramesTellHowFarApartTheyAre(tmp_path, kept, thickness, distance, isAssumed):
    """As far as they are thick; or as they lie, where they are even, overlap, or do not say how thick they are."""
    structure = withoutDistance(tmp_path, kept, False, thickness)
    assert structure.mask.size == pytest.approx(len(kept) * 100 * 1.5 * distance)
    assert not structure.mask.touchesEdge
    findings = compare(structure, structure, Settings(families="overlap")).findings
    assert len(structure.notes) == isAssumed
    for note in structure.notes:
        says(note, f"{distance:g} mm")
        assert findings.count(note) == 1


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
    for number, height in enumerate(heights):
        with edited(tmp_path / "ct" / f"slice{number}") as image:
            image.ImagePositionPatient = [0, 0, height]
    order = [3, 0, 6, 1, 5, 2, 4]
    with edited(tmp_path / "seg.dcm") as content:
        measuresOf(content).pop("SpacingBetweenSlices", None)
        frames, pixels = content.PerFrameFunctionalGroupsSequence, content.pixel_array
        for number, frame in enumerate(frames):
            frame.PlanePositionSequence[0].ImagePositionPatient = [0, 0, heights[2 + number]]
        content.PerFrameFunctionalGroupsSequence = [frames[n] for n in order]
        if fractional:
            content.PixelData = pixels[order].tobytes()
    if not isImageThere:
        shutil.rmtree(tmp_path / "ct")
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.size == pytest.approx(100 * 1.5 * (3 * 3 + 4.5 + 3 * 6))
    ends = structure.mask.corners()[:, 2]
    assert (ends.min(), ends.max()) == pytest.approx((4.5, 36))
    assert (structure.memberships is not None) == fractional and not structure.mask.touchesEdge
    says(structure.notes[0], 3, "6 mm")


def testFramesAtRoundedPositions(tmp_path):
    """Those of slices 1.25 mm apart, as files with a digit behind the point have them."""
    heights, kept = np.round(1.25 * np.arange(12), 1).tolist(), [1, 2, 3, 8]
    alone = withoutDistance(tmp_path, kept, False, 1.25, [heights[k] for k in kept])
    assert alone.mask.size == pytest.approx(4 * 100 * 1.5 * 1.25)
    slices = dicomfiles.writeSeries(tmp_path / "near" / "ct", AXIAL, heights=heights)
    with edited(tmp_path / "seg.dcm") as content:
        content.ReferencedSeriesSequence[0].SeriesInstanceUID = slices[0].SeriesInstanceUID
    shutil.move(tmp_path / "seg.dcm", tmp_path / "near")
    (near,) = readStructures(tmp_path / "near" / "seg.dcm")
    assert near.mask.grid.size == AXIAL.size
    assert near.mask.grid.spacing[2] == pytest.approx((heights[-1] - heights[0]) / 11)
    assert np.flatnonzero(voxelsOf(near).any(axis=(1, 2))).tolist() == kept


@pytest.mark.parametrize(("kept", "depthAlone"), [([3, 4, 8], 8), ([3, 4, 5], 3)])
def testFilesThatListOnlyTheSlicesWithFrames(tmp_path, kept, depthAlone):
    """What lies beyond their frames was left out, as by dcmqi; without the image, only a gap between them tells so."""
    segmented(tmp_path, kept)
    with edited(tmp_path / "seg.dcm") as content:
        series = content.ReferencedSeriesSequence[0]
        series.ReferencedInstanceSequence = [series.ReferencedInstanceSequence[k] for k in kept]
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.grid.size == AXIAL.size
    for number in range(12):  # as good as without the image if one slice of it is left
        if number != 4:
            (tmp_path / "ct" / f"slice{number}").unlink()
    (structure,) = readStructures(tmp_path / "seg.dcm")
    assert structure.mask.grid.size[2] == depthAlone and structure.mask.touchesEdge == (depthAlone == 3)
