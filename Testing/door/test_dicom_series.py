"""The slices that a structure set names are its slices, whatever else lies nearby, and however far apart they are."""

from __future__ import annotations

import shutil

import dicomfiles
import numpy as np
import pydicom
import pytest
from dicomfiles import GRID, circle, cylinder, edited
from sayings import says
from tiers import rarely

from SegmentMetricsLib import Grid, Settings, compare, readStructures

HEIGHTS = np.arange(0, 60, 3.0)
ROD = cylinder(HEIGHTS[3:17])
# of the polygon of circle(10, ...)
AREA = 30 * 10**2 * np.sin(2 * np.pi / 60)


def at(heights, x=-32.0, y=-32.0):
    return [(x, y, float(height)) for height in heights]


def imageAt(folder, heights, **elements):
    """Write slices at heights in mm, and return them."""
    return dicomfiles.writeSeries(folder, Grid((64, 64, len(heights)), GRID.matrix), heights=heights, **elements)


def structuresOf(folder, regions, slices):
    dicomfiles.writeStructureSet(folder / "set.dcm", regions, slices)
    return readStructures(folder / "set.dcm")


SCOUT = {"ImageOrientationPatient": [0, 1, 0, 0, 0, -1]}
FINER = {"PixelSpacing": [0.5, 0.5], "Rows": 128, "Columns": 128}


@pytest.mark.parametrize(
    ("positions", "elements"),
    [
        ([(0, -32, 60 + n) for n in range(30)], SCOUT),
        (at(HEIGHTS[5:6]), {}),
        (at(HEIGHTS), {}),
        (at(HEIGHTS + 1.5), {}),
        (at(HEIGHTS, 5), {}),
        (at(np.arange(0, 60, 0.5)), {}),
        (at(HEIGHTS + 1.5, -16, -16), {"PixelSpacing": [0.5, 0.5]}),
        (at(np.arange(-20, 80, 1.0)), FINER),
    ],
)
def testWhatElseIsInTheSeriesDoesNotMatter(tmp_path, positions, elements):
    """A scout, a repeated slice, a second phase, a second reconstruction."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    dicomfiles.writeSlices(tmp_path / "ct" / "other", positions, slices[0], **elements)
    (rod,) = structuresOf(tmp_path, {"Rod": ROD}, slices)
    assert rod.mask.grid == GRID and rod.notes == ()
    assert rod.mask.count == pytest.approx(14 * AREA, rel=0.02)


@pytest.mark.parametrize("isNamed", [True, False])
def testScoutsAndRepeatsThatAreNamedToo(tmp_path, isNamed):
    """Or none is, as all were copied under other numbers: the slices are those on which the contours lie."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    scout = dicomfiles.writeSlices(tmp_path / "scout", [(0, -32, 60 + n) for n in range(30)], slices[0], **SCOUT)
    again = dicomfiles.writeSlices(tmp_path / "again", at(HEIGHTS[4:9]), slices[0])
    named = [*scout, *slices, *again]
    if not isNamed:
        for image in named:
            image.SOPInstanceUID = dicomfiles.generate_uid()
    (rod,) = structuresOf(tmp_path, {"Rod": ROD}, named)
    assert rod.mask.grid == GRID and rod.notes == ()


def testASliceBesideTheSetAndTheImageElsewhere(tmp_path):
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    dicomfiles.writeStructureSet(tmp_path / "rs" / "set.dcm", {"Rod": ROD}, slices)
    shutil.copy(tmp_path / "ct" / "slice19", tmp_path / "rs" / "copy")
    (tmp_path / "ct" / "a damaged one").write_bytes(b"\0" * 128 + b"DICM" + b"\1\2\3")
    (rod,) = readStructures(tmp_path / "rs" / "set.dcm")
    assert rod.mask.grid == GRID and rod.notes == ()


@pytest.mark.parametrize("numbers", [range(3, 17), (5,), (4, 14), (3, 4, 5, 12, 13)])
def testASetThatNamesOnlySlicesWithContours(tmp_path, numbers):
    """The image is all of the series."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    (rod,) = structuresOf(tmp_path, {"Rod": cylinder(HEIGHTS[list(numbers)])}, [slices[n] for n in numbers])
    assert rod.mask.grid == GRID
    assert rod.mask.count == pytest.approx(len(numbers) * AREA, rel=0.02)


def testEverySecondSliceIsNamed(tmp_path):
    """A plan on every second slice of a series: its slices are 6 mm apart."""
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID)
    (rod,) = structuresOf(tmp_path, {"Rod": cylinder(HEIGHTS[4:15:2])}, slices[::2])
    assert rod.mask.grid.spacing[2] == 6 and rod.mask.size == pytest.approx(6 * 6 * AREA, rel=0.02)


# Uneven slices


def slabVolume(heights):
    """Return the volume of the rod in slabs of half the way to both neighbors; at the ends both halves are alike."""
    steps = np.diff(heights)
    return AREA * (steps.sum() + (steps[0] + steps[-1]) / 2)


UNEVEN = [
    [*np.arange(0, 30, 3.0), *np.arange(33, 60, 6.0)],
    [0, 2.5, 5, 6.4, 10, 12.5],
    [0, 3, 6, 9, 15, 21, 27],
    [*np.arange(0, 50, 2.5), *np.arange(50, 100, 2.6)],
    [0, 5, 10, 12, 14, 16, 20, 24, 28],
    [0, 1.25, 2.5, 3.75, 8.75, 13.75, 18.75],
    [-7, -3, 0.2, 1.9, 5],
]


@pytest.mark.parametrize("isImageThere", [True, False])
@pytest.mark.parametrize("heights", [*UNEVEN[:2], *UNEVEN[4:], *rarely(UNEVEN[2:4])])
def testUnevenSlicesHaveTheirOwnThickness(tmp_path, heights, isImageThere):
    heights, regions = np.array(heights, float), {name: cylinder(heights) for name in ("Rod", "Other")}
    rod, other = structuresOf(tmp_path, regions, imageAt(tmp_path / "ct", heights))
    if not isImageThere:
        shutil.rmtree(tmp_path / "ct")
        rod, other = readStructures(tmp_path / "set.dcm")
    assert rod.mask.size == pytest.approx(slabVolume(heights), rel=0.025)
    low, high = rod.mask.corners()[:, 2].min(), rod.mask.corners()[:, 2].max()
    ends = heights[0] - (heights[1] - heights[0]) / 2, heights[-1] + (heights[-1] - heights[-2]) / 2
    # to half a layer, as not all slices end where layers do
    assert (low, high) == pytest.approx(ends, abs=0.12)
    assert rod.mask.voxels.any(axis=(1, 2)).all()
    (note,) = rod.notes
    says(note)
    assert rod.mask.touchesEdge == isImageThere
    result = compare(rod, other, Settings(families="overlap"))
    assert result["DSC"].value == 1 and result.findings.count(note) == 1


def testVolumesOfUnevenSlicesToTheDigit(tmp_path):
    """Where layers fit, a square of whole pixels has its volume exactly: 3 mm up to 27 mm, then 6 mm."""
    heights = np.array(UNEVEN[0])
    slices = imageAt(tmp_path / "ct", heights)
    square = np.array([(-10.5, -10.5, 0), (9.5, -10.5, 0), (9.5, 9.5, 0), (-10.5, 9.5, 0)])
    loops = [square + np.array([0, 0, height]) for height in heights]
    (whole, part, upper) = structuresOf(tmp_path, {"A": loops, "B": loops[8:12], "C": loops[11:14]}, slices)
    assert whole.mask.size == pytest.approx(400 * (9 * 3 + 4.5 + 5 * 6))
    # within the image, an end reaches half the way to the next slice, too
    assert part.mask.size == pytest.approx(400 * (3 + 4.5 + 6 + 6))
    assert upper.mask.size == pytest.approx(400 * 18)
    assert whole.mask.grid == part.mask.grid
    shutil.rmtree(tmp_path / "ct")
    # together the contours show the slices: those of the upper part do not lie on every second one
    for structure, size in zip(readStructures(tmp_path / "set.dcm"), (61.5, 19.5, 18), strict=True):
        assert structure.mask.size == pytest.approx(400 * size, rel=0.01)


def testASliceThatNeverWas(tmp_path):
    """Where all that the set names are there, the slice beside a wide step is thicker."""
    heights = np.delete(HEIGHTS, 9)
    (whole,) = structuresOf(tmp_path, {"Rod": cylinder(heights[3:16])}, imageAt(tmp_path / "ct", heights))
    assert whole.mask.size == pytest.approx(AREA * 42, rel=0.02)


@pytest.mark.parametrize("isImageThere", [True, False])
def testAGapIsNoThickSlice(tmp_path, isImageThere):
    heights = np.array([0, 3, 6, 9, 40, 43, 47, 50])
    (rod,) = structuresOf(tmp_path, {"Rod": cylinder(heights)}, imageAt(tmp_path / "ct", heights))
    if not isImageThere:
        shutil.rmtree(tmp_path / "ct")
        (rod,) = readStructures(tmp_path / "set.dcm")
    # 40 mm begins 1.5 mm below, as 43 mm is 3 mm away
    assert rod.mask.size == pytest.approx(AREA * (12 + 3 + 3.5 + 3.5 + 3), rel=0.02)
    says("\n".join(rod.notes))


def testAContourBetweenUnevenSlices(tmp_path):
    """It goes to the slice in whose half it lies, and beyond the image the slices go on."""
    heights = np.array(UNEVEN[0])
    slices = imageAt(tmp_path / "ct", heights)
    regions = {"Between": cylinder([29.0]), "Above": cylinder([30.4]), "Beyond": cylinder([-3.0, 63.0])}
    between, above, beyond = structuresOf(tmp_path, regions, slices)
    assert between.mask.size == pytest.approx(4.5 * AREA, rel=0.02)
    assert above.mask.size == pytest.approx(6 * AREA, rel=0.02)
    assert beyond.mask.size == pytest.approx(9 * AREA, rel=0.02)
    says("\n".join(between.notes))


# Images of other kinds


@pytest.mark.parametrize("heights", [HEIGHTS, np.array(UNEVEN[0])])
def testATiltedGantry(tmp_path, heights):
    """The way of the table, not the normal of the slices, leads from one slice to the next; both give the volume."""
    down = np.array([0, np.cos(np.radians(20)), -np.sin(np.radians(20))])
    slices = imageAt(tmp_path / "ct", heights, ImageOrientationPatient=[1, 0, 0, *down.tolist()])
    u, v, _ = circle(10, 0.0, (32.3, 31.2)).T
    loops = [position + u[:, None] * (1, 0, 0) + v[:, None] * down for position in at(heights)]
    (rod,) = structuresOf(tmp_path, {"Rod": loops}, slices)
    # slices are closer together along their normal than along the table
    assert rod.mask.size == pytest.approx(slabVolume(heights) * np.cos(np.radians(20)), rel=0.02)
    assert rod.mask.grid.axes[:2, 2] == pytest.approx([0, 0], abs=1e-6)
    result = compare(rod, rod.rename("Other"), Settings(families=("overlap", "boundary")))
    assert result["HD"].value == pytest.approx(0, abs=1e-9) and result["DSC"].value == 1


@pytest.mark.parametrize("heights", [HEIGHTS, np.array(UNEVEN[0])])
def testAllSlicesInOneFile(tmp_path, heights):
    """In no special order."""
    item = dicomfiles.item
    (image,) = imageAt(tmp_path / "ct", [0.0])
    measures = item(PixelSpacing=image.PixelSpacing, SliceThickness=image.SliceThickness)
    orientation = item(ImageOrientationPatient=image.ImageOrientationPatient)
    shared = item(PixelMeasuresSequence=[measures], PlaneOrientationSequence=[orientation])
    image.SharedFunctionalGroupsSequence = [shared]
    places = [item(ImagePositionPatient=one.tolist()) for one in np.random.default_rng(1).permutation(at(heights))]
    image.PerFrameFunctionalGroupsSequence = [item(PlanePositionSequence=[place]) for place in places]
    for name in ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing", "SliceThickness"):
        delattr(image, name)
    image.SOPClassUID = image.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2.1"
    image.NumberOfFrames = len(heights)
    image.PixelData = bytes(2 * 64 * 64 * len(heights))
    image.save_as(tmp_path / "ct" / "slice0", enforce_file_format=True)
    (rod,) = structuresOf(tmp_path, {"Rod": cylinder(heights)}, [image])
    assert rod.mask.size == pytest.approx(slabVolume(heights), rel=0.02)
    assert rod.mask.grid.size[:2] == (64, 64) and len(rod.notes) == (heights is not HEIGHTS)
    if heights is HEIGHTS:
        assert rod.mask.grid == GRID


def testSlicesOfTwoSeries(tmp_path):
    """The head every 3 mm and the chest below it every 5 mm, with other pixels: each slice has its own thickness."""
    head = imageAt(tmp_path / "head", HEIGHTS)
    lower = np.arange(-50, 0, 5.0)
    chest = imageAt(tmp_path / "chest", lower, PixelSpacing=[1.5, 1.5], SeriesInstanceUID=dicomfiles.generate_uid())
    regions = {"Brain": ROD, "Lung": cylinder(lower[2:8]), "Cord": cylinder([*lower, *HEIGHTS])}
    found = {s.name: s for s in structuresOf(tmp_path, regions, [*head, *chest])}
    assert found["Brain"].mask.grid == GRID and found["Brain"].mask.size == pytest.approx(14 * 3 * AREA, rel=0.02)
    assert found["Lung"].mask.grid.spacing == pytest.approx((1.5, 1.5, 5))
    assert found["Lung"].mask.size == pytest.approx(6 * 5 * AREA, rel=0.04)
    assert found["Cord"].mask.size == pytest.approx(slabVolume([*lower, *HEIGHTS]), rel=0.02)


def testOfTwoImagesThatTheSetListsItIsTheOneWithTheContours(tmp_path):
    """Two series of one frame of reference, and contours that name none."""
    early = imageAt(tmp_path / "early", HEIGHTS + 1.5, SeriesInstanceUID=dicomfiles.generate_uid())
    late = imageAt(tmp_path / "late", HEIGHTS, SeriesInstanceUID=dicomfiles.generate_uid())
    other = dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Rod": ROD}, early)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Rod": ROD}, late)
    with edited(tmp_path / "set.dcm") as content:
        frames = (*other.ReferencedFrameOfReferenceSequence, *content.ReferencedFrameOfReferenceSequence)
        content.ReferencedFrameOfReferenceSequence = pydicom.Sequence(frames)
    (rod,) = readStructures(tmp_path / "set.dcm")
    assert rod.mask.grid == GRID and rod.notes == ()
