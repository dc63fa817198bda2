"""DICOM structure sets of which a part is damaged: the rest is as usable as ever, and says what is missing."""

from __future__ import annotations

import re
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from SegmentMetricsLib import compare, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.reading import readAll

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

import dicomfiles

# slices every 3 mm from 0 to 57 mm, and a square on each of 16 of them
GRID = Grid((64, 64, 20), np.array([[1.0, 0, 0, -32], [0, 1, 0, -32], [0, 0, 3, 0], [0, 0, 0, 1]]))
ROD = [np.array([(-8.5, -8.5, z), (7.5, -8.5, z), (7.5, 7.5, z), (-8.5, 7.5, z)]) for z in range(6, 54, 3)]


def edited(folder, edit, names=("Rod", "Bad")):
    """Return a structure set with rods of these names beside its image, changed before it is written."""
    slices = dicomfiles.writeSeries(folder / "ct", GRID)
    regions = dict.fromkeys(names, ROD)
    content = dicomfiles.writeStructureSet(folder / "set.dcm", regions, slices)
    edit(content)
    content.save_as(folder / "set.dcm")
    return folder / "set.dcm"


def fewerPoints(content):
    content.ROIContourSequence[1].ContourSequence[3].NumberOfContourPoints = 3


def noNumber(content):
    contour = content.ROIContourSequence[1].ContourSequence[3]
    contour.ContourData = ["nan", *contour.ContourData[1:]]


def unknownSlice(content):
    from pydicom.dataset import Dataset

    content.ROIContourSequence[1].ContourSequence[3].ContourImageSequence = [Dataset()]


def twoLists(content):
    content.ROIContourSequence.append(deepcopy(content.ROIContourSequence[1]))


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (fewerPoints, "a contour does not have as many points as it says."),
        (noNumber, "a contour has coordinates that are not positions in space."),
        (unknownSlice, "the DICOM file is damaged or incomplete."),
        (
            twoLists,
            "the file has 2 lists of contours for it, and does not say which of them is the right one.",
        ),
    ],
)
def testADamagedStructureLeavesTheOthersAsTheyAre(tmp_path, edit, why):
    said = f"The structure 'Bad' of set.dcm was left out: {why}"
    path = edited(tmp_path / "odd", edit)
    (rod,) = readStructures(path)
    good = {s.name: s for s in readStructures(edited(tmp_path / "good", lambda content: None))}
    assert rod.name == "Rod" and rod.mask.count == good["Rod"].mask.count and said in rod.notes
    assert said in compare(rod, good["Rod"]).findings
    assert [s.name for s in readStructures(path, name="rod")] == ["Rod"]
    for name in ("Bad", "bad"):
        with pytest.raises(InputError, match=re.escape(said)):
            readStructures(path, name=name)


def testFilesOfOneNameAreToldApart(tmp_path):
    """Both observers' files are often called alike."""
    paths = [edited(tmp_path / which / "series", fewerPoints) for which in ("first", "second")]
    for given in (paths, [path.parent for path in paths]):
        found = [rod.notes[0] for (rod,) in readAll(given)]
        assert [re.search(r" of (.*) was left out", note)[1] for note in found] == [
            str(Path("first", "series", "set.dcm")), str(Path("second", "series", "set.dcm"))
        ]  # fmt: skip


@pytest.mark.parametrize("withImage", [True, False])
def testADamagedStructureBesideAnEmptyOne(tmp_path, withImage):
    """Without any contour there is no grid if the image is not there: then the damage is what is told."""

    def edit(content):
        fewerPoints(content)
        content.ROIContourSequence[0].ContourSequence = []

    path = edited(tmp_path, edit)
    if withImage:
        (rod,) = readStructures(path)
        assert rod.isEmpty and "The structure 'Bad' of set.dcm was left out" in rod.notes[0]
    else:
        shutil.rmtree(tmp_path / "ct")
        with pytest.raises(InputError, match="the structure 'Bad' cannot be used: a contour does not have as many"):
            readStructures(path)


@pytest.mark.parametrize(("number", "which"), [(77, "number 77"), (None, "without a number")])
def testContoursOfNobody(tmp_path, number, which):
    def edit(content):
        if number is None:
            del content.ROIContourSequence[1].ReferencedROINumber
        else:
            content.ROIContourSequence[1].ReferencedROINumber = number

    said = (
        f"Contours in set.dcm belong to a region of interest that the file does not list ({which}): they were left out."
    )
    rod, empty = readStructures(edited(tmp_path, edit))
    assert not rod.isEmpty and empty.isEmpty and rod.notes == empty.notes == (said,)


def testAListOfNobodyWithoutContoursIsNothingToTalkAbout(tmp_path):
    def edit(content):
        content.ROIContourSequence[1].ReferencedROINumber = 77
        content.ROIContourSequence[1].ContourSequence = []

    assert [s.notes for s in readStructures(edited(tmp_path, edit))] == [(), ()]


def testADamagedContourNamesItsStructure(tmp_path):
    content = dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Rod": ROD[:1]})
    contour = content.ROIContourSequence[0].ContourSequence[0]
    contour.ContourData = contour.ContourData[:9]
    content.save_as(tmp_path / "set.dcm")
    with pytest.raises(InputError, match="the structure 'Rod' cannot be used: a contour does not have as many"):
        readStructures(tmp_path / "set.dcm")
