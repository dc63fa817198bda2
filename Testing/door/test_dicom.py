"""DICOM structure sets: contours are filled on the slices that they were drawn on, and damage is told, not guessed."""

from __future__ import annotations

import re
import shutil
from copy import deepcopy
from pathlib import Path

import dicomfiles
import numpy as np
import pydicom
import pytest
import shapes
import SimpleITK
from batchruns import Inline
from commandruns import run as run
from dicomfiles import GRID, cylinder, edited, readContours, voxelsOf
from imagefiles import read
from sayings import refused, says

from SegmentMetricsLib import Grid, Settings, compare, compareCase, readStructures

AXIAL = shapes.gridOf((30, 26, 12), (1, 1.5, 2.5))
TILTED = shapes.gridOf((30, 26, 12), (1, 1.5, 2.5), (-12, 30, 100), shapes.rotation((1, -2, 3), 40))
OVERLAP = Settings(families="overlap")


def rectangle(low, high, k):
    """Return the corners, in voxel index, of a rectangle whose sides lie between pixels."""
    (a, b), (c, d) = low, high
    return np.array([(a - 0.5, b - 0.5, k), (c + 0.5, b - 0.5, k), (c + 0.5, d + 0.5, k), (a - 0.5, d + 0.5, k)])


def inWorld(grid, loops):
    return [grid.toWorld(loop) for loop in loops]


def rods(grid):
    """Return squares of 100 pixels on five slices, in world coordinates."""
    return inWorld(grid, [rectangle((5, 6), (14, 15), k) for k in range(3, 8)])


@pytest.mark.parametrize("grid", [AXIAL, TILTED])
def testContoursAreFilledOnTheSlicesOfTheImage(tmp_path, grid):
    found = readContours(tmp_path, {"Box": rods(grid), "Twice": rods(grid) * 2, "None": []}, grid)
    expected = np.zeros(grid.size[::-1], np.uint8)
    expected[3:8, 6:16, 5:15] = 1
    box = found["Box"]
    for one in (box, found["Twice"]):  # a contour that is there twice counts once
        np.testing.assert_array_equal(voxelsOf(one), expected)
        assert not one.notes
    np.testing.assert_allclose(box.mask.grid.matrix, grid.matrix, atol=1e-5)
    assert (box.color, box.frameOfReference) == ((1.0, 0.0, 0.2), "1.2.3")
    assert found["None"].isEmpty


@pytest.mark.parametrize(("images", "contours"), [("ct", "RS"), ("study/ct", "study/rt/1.2.3")])
def testAPatientsFolder(tmp_path, images, contours):
    """With all files in it, or a folder for every series, as an archive exports it; images alone are told."""
    slices = dicomfiles.writeSeries(tmp_path / images, AXIAL)
    with refused(tmp_path):
        readStructures(tmp_path)
    dicomfiles.writeStructureSet(tmp_path / contours, {"Box": rods(AXIAL)}, slices)
    (box,) = readStructures(tmp_path)
    assert box.name == "Box" and voxelsOf(box).sum() == 500 == readStructures(tmp_path / contours)[0].mask.count


def testKeyholes(tmp_path):
    """A hole that a channel joins to its contour is the same as one that is a contour of its own."""
    outer, hole = (rectangle((a, a), (b, b), 4) for a, b in ((3, 20), (7, 16)))
    # from the outer contour's first corner to the hole's, around it, and the same way back
    keyhole = np.concatenate([outer, outer[:1], hole[:1], hole[::-1], outer[:1]])
    regions = {"Own": inWorld(AXIAL, [outer, hole]), "Keyhole": inWorld(AXIAL, [keyhole])}
    own, key = readContours(tmp_path, regions, AXIAL).values()
    assert own.mask.count == 18 * 18 - 10 * 10
    np.testing.assert_array_equal(voxelsOf(key), voxelsOf(own))


def testNamesWithABackslash(tmp_path):
    """To DICOM they are several values."""
    name = "Gl.\\parotidea\\links"
    slices = dicomfiles.writeSeries(tmp_path / "ct", AXIAL)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {name: rods(AXIAL)}, slices)
    array = np.zeros(AXIAL.size[::-1], np.uint8)
    array[3:8, 6:16, 5:15] = 1
    dicomfiles.writeSegmentation(tmp_path / "seg.dcm", slices, {"Gland": array})
    with edited(tmp_path / "seg.dcm") as content:
        content.SegmentSequence[0].SegmentLabel = name
    found = [structure for file in ("set.dcm", "seg.dcm") for structure in readStructures(tmp_path / file)]
    assert [structure.name for structure in found] == [name, name] and compare(*found)["DSC"].value == 1


def testUnusable(tmp_path):
    readContours(tmp_path, {"Box": rods(AXIAL)}, AXIAL)
    dicomfiles.writeStructureSet(tmp_path / "none.dcm", {})
    with edited(tmp_path / "set.dcm") as partly:
        del partly.ROIContourSequence
    for name in ("none.dcm", "set.dcm"):
        with refused(name):
            readStructures(tmp_path / name)


@pytest.mark.parametrize("areLengthsKnown", [False, True])
def testWhatEndsTooEarly(tmp_path, areLengthsKnown):
    """Wherever a structure set was cut off, in a sequence that ends with a mark or in one whose length is told."""
    loops = inWorld(AXIAL, [rectangle((5, 6), (14, 15), k) for k in (3, 4)])
    path = tmp_path / "set.dcm"
    dicomfiles.writeStructureSet(path, {"One": loops, "Two": loops})
    with edited(path) as whole:
        for name in ("StructureSetROISequence", "ROIContourSequence"):
            whole[name].is_undefined_length = not areLengthsKnown
    assert all(s.mask.count for s in readStructures(path))
    content = path.read_bytes()
    for size in range(200, len(content), 47):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"set\.dcm: [^\n]*$"):
            readStructures(path)


def testDamagedNeighbors(tmp_path):
    """Beside a file that can be compared, a cut image does not matter; a cut structure set is named."""
    readContours(tmp_path, {"Box": rods(AXIAL)}, AXIAL)
    folder = tmp_path / "folder"
    folder.mkdir()
    SimpleITK.WriteImage(shapes.box((5, 5, 5), (9, 9, 9)), folder / "Liver.nrrd")
    (folder / "slice").write_bytes((tmp_path / "ct" / "slice0").read_bytes()[:-100])
    assert list(read(folder)) == ["Liver"] and readStructures(folder).leftOut == ()
    (folder / "set.dcm").write_bytes((tmp_path / "set.dcm").read_bytes()[:-100])
    found = readStructures(folder)
    assert [s.name for s in found] == ["Liver"]
    ((name, why, isOptional),) = found.leftOut
    assert (name, isOptional) == ("set", False)
    says(why, "set.dcm")


@pytest.mark.parametrize(("first", "distance"), [(0.0, 1.25), (0.04, 0.625), (7.3, 3.333)])
def testPositionsRoundedToTenths(tmp_path, distance, first):
    """Steps of 1.2 and 1.3 mm are slices 1.25 mm apart."""
    heights = np.round(first + distance * np.arange(20), 1)
    slices = dicomfiles.writeSeries(tmp_path / "ct", GRID, heights=heights)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Rod": cylinder(heights)}, slices)
    (rod,) = readStructures(tmp_path / "set.dcm")
    grid = rod.mask.grid
    assert grid.size[2] == 20 and grid.spacing[2] == pytest.approx(distance, abs=0.1 / 19)
    counts = voxelsOf(rod).sum(axis=(1, 2))
    assert counts.min() == counts.max() > 300 and rod.notes == ()


@pytest.mark.parametrize("missing", [{5, 8, 9}, *({*range(1, 12, 2), *also} for also in ((), (4,), (10,)))], ids=str)
def testMissingSlices(tmp_path, missing):
    """Contours and the names of slices show what the distances of the rest do not; all are as good as the rest."""
    whole = readContours(tmp_path, {"Box": rods(TILTED)}, TILTED)["Box"]
    for number in missing:
        (tmp_path / "ct" / f"slice{number}").unlink()
    (box,) = readStructures(tmp_path / "set.dcm")
    np.testing.assert_array_equal(voxelsOf(box), voxelsOf(whole)[: box.mask.grid.size[2]])
    np.testing.assert_allclose(box.mask.grid.matrix, TILTED.matrix, atol=1e-5)
    (note,) = box.notes
    says(note, len(missing), "12", "2.5 mm")


# Structure sets of which a part is damaged: the rest is as usable as ever, and says what is missing


ROD = cylinder(range(6, 54, 3))


def damaged(folder, edit, names=("Rod", "Bad")) -> Path:
    """Return a structure set with rods of these names beside its image, changed before it is written."""
    readContours(folder, dict.fromkeys(names, ROD))
    with edited(folder / "set.dcm") as content:
        edit(content)
    return folder / "set.dcm"


def fewerPoints(content):
    content.ROIContourSequence[1].ContourSequence[3].NumberOfContourPoints = 3


def testADamagedStructureLeavesTheOthersAsTheyAre(tmp_path):
    path = damaged(tmp_path, lambda content: None)
    whole, good = pydicom.dcmread(path), readStructures(path)[0]
    # the last one: two lists of contours
    for elements in (
        {"NumberOfContourPoints": 3},
        {"ContourData": ["nan", *range(179)]},
        {"ContourImageSequence": [pydicom.Dataset()]},
        {},
    ):
        content = deepcopy(whole)
        for name, value in elements.items():
            setattr(content.ROIContourSequence[1].ContourSequence[3], name, value)
        if not elements:
            content.ROIContourSequence.append(deepcopy(content.ROIContourSequence[1]))
        content.save_as(path)
        (rod,) = readStructures(path)
        (said,) = rod.notes
        assert rod.name == "Rod" and rod.mask.count == good.mask.count
        assert [s.name for s in readStructures(path, name="rod")] == ["Rod"]
        with refused(f"{path}: {said}", "'Bad'"):
            readStructures(path, name="bad")
    assert said in compare(rod, good).findings


def testFilesOfOneNameAreToldApart(tmp_path):
    """Both observers' files are often called alike."""
    paths = [damaged(tmp_path / which / "series", fewerPoints) for which in ("first", "second")]
    for given in (paths, [path.parent for path in paths]):
        (comparison,) = compareCase(*given, OVERLAP)
        found = re.findall(r"\S*set\.dcm", "\n".join(comparison.findings))
        assert found == [str(Path(which, "series", "set.dcm")) for which in ("first", "second")]


def testADamagedStructureBesideAnEmptyOne(tmp_path):
    """Without any contour there is no grid if the image is not there: then the damage is what is told."""

    def edit(content):
        fewerPoints(content)
        content.ROIContourSequence[0].ContourSequence = []

    path = damaged(tmp_path, edit)
    (rod,) = readStructures(path)
    assert rod.isEmpty and says(rod.notes[0], "'Bad'", "set.dcm")
    shutil.rmtree(tmp_path / "ct")
    with refused("'Bad'"):
        readStructures(path)


@pytest.mark.parametrize("number", [77, None])
def testContoursOfNobody(tmp_path, number):
    def edit(content):
        if number is None:
            del content.ROIContourSequence[1].ReferencedROINumber
        else:
            content.ROIContourSequence[1].ReferencedROINumber = number

    path = damaged(tmp_path, edit)
    rod, empty = readStructures(path)
    assert not rod.isEmpty and empty.isEmpty and rod.notes == empty.notes
    (note,) = rod.notes
    says(note, number or "")
    # without contours there is nothing to talk about
    with edited(path) as content:
        content.ROIContourSequence[1].ContourSequence = []
    assert [s.notes for s in readStructures(path)] == [(), ()]


# Where the image of a structure set is looked for


SMALL = Grid((12, 12, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(2.5, 2.5, z), (7.5, 2.5, z), (7.5, 7.5, z), (2.5, 7.5, z)]) for z in (3.0, 6.0, 9.0)]


def study(folder, patient: str, images: str = "ct") -> Path:
    """Write a structure set into a folder, and its image into one below or beside it; return its path."""
    frame = f"1.2.{ord(patient)}"
    slices = dicomfiles.writeSeries(folder / images, SMALL, patient, frame)
    dicomfiles.writeStructureSet(folder / "set.dcm", {"Box": SQUARE}, slices, patient, frame)
    return folder / "set.dcm"


def testWhatMayNotBeLookedAtIsLeftOut(tmp_path, monkeypatch):
    """One may be allowed to enter the folder above and not to list it, and a folder may be gone in the meantime."""
    path = study(tmp_path / "set", "A", "../images")
    assert readStructures(path)[0].mask.grid == SMALL
    list_ = type(path).iterdir

    def refusing(folder):
        if folder == tmp_path:
            raise PermissionError(13, "Permission denied")
        return list_(folder)

    monkeypatch.setattr(type(path), "iterdir", refusing)
    (structure,) = readStructures(path)
    assert structure.mask.grid != SMALL and not structure.isEmpty


@pytest.mark.parametrize("images", ["ct", "../images", None])
def testACaseAndOtherPatients(run, tmp_path, images):
    """A case whose image is there is not measured again when another patient comes, but when its own files change.

    If the image lies elsewhere, or the set does not name its series, the other patient's files may be those of it.
    """
    path = study(tmp_path / "A", "A", images or "ct")
    if images == "../images":  # of which some slices are beside the set, too
        shutil.copy(tmp_path / "images" / "slice0", tmp_path / "A")
    if images is None:
        dicomfiles.writeStructureSet(path, {"Box": SQUARE}, (), "A")
    Path("cases.csv").write_text("case,reference,test\n1,A/set.dcm,A/set.dcm\n")

    def isKept() -> bool:
        before = Inline.count
        assert run("batch", "cases.csv", "-o", tmp_path.parent, "--metrics", "DSC", "--workers", "2")[0] == 0
        return Inline.count == before

    assert not isKept() and isKept()
    study(tmp_path / "B", "B")
    assert isKept() == (images == "ct")
    shutil.rmtree(tmp_path / "images" if images == "../images" else tmp_path / "A" / "ct")
    assert not isKept()
