"""DICOM: contours are filled on the slices that they were drawn on."""

from __future__ import annotations

import os
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
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import Settings, compare, readStructures
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.cases import _filesReadWith
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.dicom import neighbors
from SegmentMetricsLib.io.reading import readAll
from SegmentMetricsLib.model.structures import unusableOf

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")
pytest.importorskip("highdicom", reason="highdicom is not installed (extra dicom)")


TILTED = np.eye(4)
TILTED[:3, :3] = Rotation.from_euler("xyz", (20, -15, 30), degrees=True).as_matrix() * (1.0, 1.5, 2.5)
TILTED[:3, 3] = (-12, 30, 100)
GRIDS = {"axial": Grid((30, 26, 12), np.diag([1.0, 1.5, 2.5, 1.0])), "tilted": Grid((30, 26, 12), TILTED)}


def rectangle(low, high, k):
    """Return the corners, in voxel index, of a rectangle whose sides lie between pixels."""
    (a, b), (c, d) = low, high
    return np.array([(a - 0.5, b - 0.5, k), (c + 0.5, b - 0.5, k), (c + 0.5, d + 0.5, k), (a - 0.5, d + 0.5, k)])


def inWorld(grid, loops):
    return [grid.toWorld(loop) for loop in loops]


def voxelsOf(structure):
    """Return the mask on its whole grid, [k, j, i]."""
    return structure.mask.block((0, 0, 0), np.array(structure.mask.grid.size) - 1)


@pytest.mark.parametrize("name", GRIDS)
def testContoursAreFilledOnTheSlicesOfTheImage(tmp_path, name):
    grid = GRIDS[name]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    loops = [rectangle((5, 6), (14, 15), k) for k in range(3, 8)]
    dicomfiles.writeStructureSet(tmp_path / "rt" / "set.dcm", {"Box": inWorld(grid, loops), "None": []}, slices)
    box, nothing = readStructures(tmp_path / "rt" / "set.dcm")
    expected = np.zeros(grid.size[::-1], np.uint8)
    expected[3:8, 6:16, 5:15] = 1
    np.testing.assert_array_equal(voxelsOf(box), expected)
    np.testing.assert_allclose(box.mask.grid.matrix, grid.matrix, atol=1e-5)
    assert box.mask.grid.size == grid.size
    assert (box.name, box.color, box.frameOfReference) == ("Box", (1.0, 0.0, 0.2), "1.2.3")
    assert nothing.isEmpty and not box.notes


def rods(grid):
    """Return squares of 100 pixels on five slices, in world coordinates."""
    return inWorld(grid, [rectangle((5, 6), (14, 15), k) for k in range(3, 8)])


@pytest.mark.parametrize(("images", "contours"), [("ct", "RS"), ("study/ct", "study/rt/1.2.3")])
def testAPatientsFolder(tmp_path, images, contours):
    """With all files in it, or a folder for every series, as an archive exports it; images alone are told."""
    grid = GRIDS["axial"]
    slices = dicomfiles.writeSeries(tmp_path / images, grid)
    with pytest.raises(InputError, match="no files that can be compared"):
        readStructures(tmp_path)
    dicomfiles.writeStructureSet(tmp_path / contours, {"Box": rods(grid)}, slices)
    (box,) = readStructures(tmp_path)
    assert box.name == "Box" and voxelsOf(box).sum() == 500 == readStructures(tmp_path / contours)[0].mask.count


def testHolesAndKeyholesAndIslands(tmp_path):
    """A hole as a contour of its own, joined by a channel, or drawn as XOR gives the same voxels; islands are kept."""
    grid = GRIDS["axial"]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    outer, hole, island = (rectangle((a, a), (b, b), 4) for a, b in ((3, 20), (7, 16), (10, 12)))
    # from the outer contour's first corner to the hole's, around it, and the same way back
    keyhole = np.concatenate([outer, outer[:1], hole[:1], hole[::-1], outer[:1]])
    regions = {"Own": [outer, hole], "Keyhole": [keyhole], "Xor": [hole, outer], "Island": [island, hole, outer]}
    kinds = {("Xor", 0): "CLOSEDPLANAR_XOR", ("Xor", 1): "CLOSEDPLANAR_XOR"}
    world = {name: inWorld(grid, loops) for name, loops in regions.items()}
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", world, slices, kinds=kinds)
    own, key, xor, withIsland = readStructures(tmp_path / "set.dcm")
    assert own.mask.count == 18 * 18 - 10 * 10
    for other in (key, xor):
        np.testing.assert_array_equal(voxelsOf(other), voxelsOf(own))
    assert withIsland.mask.count == own.mask.count + 9


def testNamesWithABackslash(tmp_path):
    """To DICOM they are several values."""
    name, grid = "Gl.\\parotidea\\links", GRIDS["axial"]
    slices = sorted(dicomfiles.writeSeries(tmp_path / "ct", grid), key=lambda s: s.InstanceNumber)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {name: rods(grid)}, slices)
    array = np.zeros(grid.size[::-1], np.uint8)
    array[3:8, 6:16, 5:15] = 1
    dicomfiles.writeSegmentation(tmp_path / "seg.dcm", slices, {"Gland": array})
    content = pydicom.dcmread(tmp_path / "seg.dcm")
    content.SegmentSequence[0].SegmentLabel = name
    content.save_as(tmp_path / "seg.dcm")
    found = [structure for file in ("set.dcm", "seg.dcm") for structure in readStructures(tmp_path / file)]
    assert [structure.name for structure in found] == [name, name] and compare(*found)["DSC"].value == 1


def testWhatReadingHasToSay(tmp_path):
    grid = GRIDS["axial"]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    regions = {
        "Gap": [rectangle((5, 5), (9, 9), k) for k in (2, 3, 6)],
        "Between": [rectangle((5, 5), (9, 9), 4.4)],
        "Crossing": [rectangle((5, 5), (9, 9), 4), rectangle((8, 8), (12, 12), 4)],
        "Twice": [rectangle((5, 5), (9, 9), 4)] * 2,
        "Point": [rectangle((5, 5), (9, 9), 4), rectangle((5, 5), (9, 9), 5)],
    }
    world = {name: inWorld(grid, loops) for name, loops in regions.items()}
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", world, slices, kinds={("Point", 1): "OPEN_PLANAR"})
    found = {s.name: s for s in readStructures(tmp_path / "set.dcm")}
    notes = {name: s.notes for name, s in found.items()}
    assert notes["Gap"] == ("it has no contour on 2 slices between its first and its last one",)
    assert notes["Between"] == ("1 of its contours lies between slices and was filled on the nearest one",)
    assert notes["Crossing"][0].startswith("its contours cross each other on 1 slice;")
    assert found["Crossing"].mask.count == 25 + 25 - 4
    assert notes["Twice"] == () and found["Twice"].mask.count == 25
    assert notes["Point"] == ("1 of its contours is an open line or point and was left out",)
    comparison = compare(found["Twice"], found["Gap"], Settings(families="overlap"))
    assert "The test has no contour on 2 slices between its first and its last one." in comparison.findings


def testWithoutTheImage(tmp_path):
    """Contours whose image is not at hand are filled finely on planes of their own, and that is said once."""
    grid = GRIDS["axial"]
    loops = rods(grid)
    paths = [tmp_path / name / "set.dcm" for name in "ab"]
    for path, patient in zip(paths, "AB", strict=True):
        dicomfiles.writeStructureSet(path, {"Box": loops}, patient=patient)
    reference, test = (readStructures(path)[0] for path in paths)
    assert reference.mask.size == pytest.approx(10 * 10 * 1.5 * 5 * 2.5, rel=0.02)
    comparison = compare(reference, test)
    assert comparison["HD"].value == 0
    assert sum("pixels of 0.5 mm" in finding for finding in comparison.findings) == 1
    assert "The files belong to different patients: their patient IDs differ." in comparison.findings


def testUnusable(tmp_path):
    grid = GRIDS["axial"]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    (tmp_path / "text.dcm").write_text("no DICOM")
    dicomfiles.writeStructureSet(tmp_path / "none.dcm", {}, slices)
    partly = dicomfiles.writeStructureSet(tmp_path / "partly.dcm", {"Box": rods(grid)})
    del partly.ROIContourSequence
    partly.save_as(tmp_path / "partly.dcm")
    for name, said in (
        ("ct/slice0", "this is DICOM of the modality CT, which holds no contours"),
        ("text.dcm", "its content is not that of a DICOM file."),
        ("none.dcm", "no regions of interest"),
        ("partly.dcm", "holds the contours of its regions of interest is missing"),
    ):
        with pytest.raises(ValueError, match=f"{name}: .*{said}"):
            readStructures(tmp_path / name)


@pytest.mark.parametrize("areLengthsKnown", [False, True])
def testWhatEndsTooEarly(tmp_path, areLengthsKnown):
    """Wherever a structure set was cut off, in a sequence that ends with a mark or in one whose length is told."""
    grid = GRIDS["axial"]
    regions = {name: inWorld(grid, [rectangle((5, 6), (14, 15), k) for k in (3, 4)]) for name in ("One", "Two")}
    whole = dicomfiles.writeStructureSet(tmp_path / "whole.dcm", regions)
    for name in ("StructureSetROISequence", "ROIContourSequence"):
        whole[name].is_undefined_length = not areLengthsKnown
    whole.save_as(tmp_path / "whole.dcm")
    assert [s.mask.count for s in readStructures(tmp_path / "whole.dcm")] > [0, 0]
    content = (tmp_path / "whole.dcm").read_bytes()
    path = tmp_path / "short.dcm"
    for size in range(200, len(content), 47):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"short\.dcm: ") as caught:
            readStructures(path)
        assert "\n" not in str(caught.value)


def testDamagedNeighbors(tmp_path):
    """Beside a file that can be compared, a cut image does not matter; a cut structure set is named."""
    grid = GRIDS["axial"]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    loops = inWorld(grid, [rectangle((5, 6), (14, 15), 3)])
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Box": loops}, slices)
    folder = tmp_path / "folder"
    folder.mkdir()
    SimpleITK.WriteImage(shapes.box((5, 5, 5), (9, 9, 9)), folder / "Liver.nrrd")
    (folder / "slice").write_bytes((tmp_path / "ct" / "slice0").read_bytes()[:-100])
    assert [s.name for s in readStructures(folder)] == ["Liver"]
    (folder / "set.dcm").write_bytes((tmp_path / "set.dcm").read_bytes()[:-100])
    found = readStructures(folder)
    assert [s.name for s in found] == ["Liver"]
    assert unusableOf(found) == {"set": "set.dcm was left out: the DICOM file is damaged or incomplete."}


def seriesAt(folder, heights):
    """Write the slices of a CT at heights in mm, and a structure set with a square on each; return what it holds."""
    grid = Grid((30, 26, len(heights)), np.diag([1.0, 1.5, 1.25, 1.0]))
    slices = sorted(dicomfiles.writeSeries(folder / "ct", grid), key=lambda s: s.InstanceNumber)
    for image, height in zip(slices, heights, strict=True):
        image.ImagePositionPatient = [0, 0, float(height)]
        image.save_as(image.filename)
    square = grid.toWorld(rectangle((5, 6), (14, 15), 0))
    loops = [square + np.array([0, 0, height]) for height in heights]
    dicomfiles.writeStructureSet(folder / "set.dcm", {"Box": loops}, slices)
    (structure,) = readStructures(folder / "set.dcm")
    return structure


@pytest.mark.parametrize(("first", "distance"), [(0.0, 1.25), (0.04, 0.625), (7.3, 3.333)])
def testPositionsRoundedToTenths(tmp_path, distance, first):
    """Steps of 1.2 and 1.3 mm are slices 1.25 mm apart."""
    structure = seriesAt(tmp_path, np.round(first + distance * np.arange(20), 1))
    grid = structure.mask.grid
    assert grid.size[2] == 20 and grid.spacing[2] == pytest.approx(distance, abs=0.1 / 19)
    assert voxelsOf(structure).sum() == 20 * 100 and structure.notes == ()


@pytest.mark.parametrize("missing", [{5, 8, 9}, *({*range(1, 12, 2), *also} for also in ((), (4,), (10,)))], ids=str)
def testMissingSlices(tmp_path, missing):
    """Contours and the names of slices show what the distances of the rest do not; all are as good as the rest."""
    grid = GRIDS["tilted"]
    slices = dicomfiles.writeSeries(tmp_path / "ct", grid)
    dicomfiles.writeStructureSet(tmp_path / "set.dcm", {"Box": rods(grid)}, slices)
    (whole,) = readStructures(tmp_path / "set.dcm")
    for number in missing:
        (tmp_path / "ct" / f"slice{number}").unlink()
    (box,) = readStructures(tmp_path / "set.dcm")
    np.testing.assert_array_equal(voxelsOf(box), voxelsOf(whole)[: box.mask.grid.size[2]])
    np.testing.assert_allclose(box.mask.grid.matrix, grid.matrix, atol=1e-5)
    (note,) = box.notes
    assert note.startswith(f"Near the file, {len(missing)} of the 12 slices of the image") and "2.5 mm apart" in note


# DICOM structure sets of which a part is damaged: the rest is as usable as ever, and says what is missing


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


def testADamagedStructureLeavesTheOthersAsTheyAre(tmp_path):
    path = edited(tmp_path, lambda content: None)
    whole, good = pydicom.dcmread(path), readStructures(path)[0]
    damages = {
        "a contour does not have as many points as it says.": {"NumberOfContourPoints": 3},
        "a contour has coordinates that are not positions in space.": {"ContourData": ["nan", *range(11)]},
        "the DICOM file is damaged or incomplete.": {"ContourImageSequence": [pydicom.Dataset()]},
        "the file has 2 lists of contours for it, and does not say which of them is the right one.": {},
    }
    for why, elements in damages.items():
        content = deepcopy(whole)
        for name, value in elements.items():
            setattr(content.ROIContourSequence[1].ContourSequence[3], name, value)
        if not elements:
            content.ROIContourSequence.append(deepcopy(content.ROIContourSequence[1]))
        content.save_as(path)
        said = f"The structure 'Bad' of set.dcm was left out: {why}"
        (rod,) = readStructures(path)
        assert rod.name == "Rod" and rod.mask.count == good.mask.count and said in rod.notes
        assert [s.name for s in readStructures(path, name="rod")] == ["Rod"]
        with pytest.raises(InputError, match=re.escape(said)):
            readStructures(path, name="bad")
    assert said in compare(rod, good).findings


def testFilesOfOneNameAreToldApart(tmp_path):
    """Both observers' files are often called alike."""
    paths = [edited(tmp_path / which / "series", fewerPoints) for which in ("first", "second")]
    for given in (paths, [path.parent for path in paths]):
        found = [rod.notes[0] for (rod,) in readAll(given)]
        assert [re.search(r" of (.*) was left out", note)[1] for note in found] == [
            str(Path("first", "series", "set.dcm")), str(Path("second", "series", "set.dcm"))
        ]  # fmt: skip


def testADamagedStructureBesideAnEmptyOne(tmp_path):
    """Without any contour there is no grid if the image is not there: then the damage is what is told."""

    def edit(content):
        fewerPoints(content)
        content.ROIContourSequence[0].ContourSequence = []

    path = edited(tmp_path, edit)
    (rod,) = readStructures(path)
    assert rod.isEmpty and "The structure 'Bad' of set.dcm was left out" in rod.notes[0]
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
    # without contours there is nothing to talk about
    content = pydicom.dcmread(tmp_path / "set.dcm")
    content.ROIContourSequence[1].ContourSequence = []
    content.save_as(tmp_path / "set.dcm")
    assert [s.notes for s in readStructures(tmp_path / "set.dcm")] == [(), ()]


# Where the image of a structure set is looked for, and what a case of a batch depends on


SMALL = Grid((12, 12, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(2.5, 2.5, z), (7.5, 2.5, z), (7.5, 7.5, z), (2.5, 7.5, z)]) for z in (3.0, 6.0, 9.0)]


def study(folder, patient: str, images: str = ""):
    """Write a structure set into a folder, and its image into a folder "ct" below or into another one; its path."""
    frame = f"1.2.{ord(patient)}"
    slices = dicomfiles.writeSeries(folder.parent / images if images else folder / "ct", SMALL, patient, frame)
    path = folder / "set.dcm"
    folder.mkdir(exist_ok=True)
    dicomfiles.writeStructureSet(path, {"Box": SQUARE}, slices, patient, frame)
    return path


def gridOf(path):
    return readStructures(path)[0].mask.grid


def foldersNear(path) -> list[list[str]]:
    return [[file.parent.name for file in files] for files in neighbors.filesNear(path)]


def testNotAllThatSomebodyKeepsIsSearched(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbors, "MOST_FILES", 3)
    for folder in ("set", "a", "b/deep"):
        (tmp_path / folder).mkdir(parents=True)
        for number in range(5):
            (tmp_path / folder / f"{number}.dcm").write_bytes(b"")
    assert foldersNear(tmp_path / "set" / "0.dcm") == [["set"] * 3, ["a"] * 3, ["deep"] * 3]


@pytest.mark.skipif(os.sep != "/", reason="there are such folders on Linux")
def testFoldersOfTheSystemAreNotSearched(tmp_path, monkeypatch):
    """Reading what looks like a file there may never end; a link to one is one, a longer name is not."""
    monkeypatch.setattr(neighbors, "SYSTEM", tuple(f"{(tmp_path / name).resolve()}/" for name in ("proc", "set/sys")))
    for folder in ("set/sys", "proc/1", "process"):
        (tmp_path / folder).mkdir(parents=True)
        for place in (tmp_path / folder, (tmp_path / folder).parent):
            (place / "0.dcm").write_bytes(b"")
    os.symlink(tmp_path / "proc", tmp_path / "link", target_is_directory=True)
    assert foldersNear(tmp_path / "set" / "0.dcm") == [["set"], [], [], ["process"]]


def testWhatMayNotBeLookedAtIsLeftOut(tmp_path, monkeypatch):
    """One may be allowed to enter the folder above and not to list it, and a folder may be gone in the meantime."""
    path = study(tmp_path / "set", "A", "images")
    assert gridOf(path) == SMALL
    list_ = type(path).iterdir

    def refusing(folder):
        if folder == tmp_path:
            raise PermissionError(13, "Permission denied")
        return list_(folder)

    monkeypatch.setattr(type(path), "iterdir", refusing)
    (structure,) = readStructures(path)
    assert structure.mask.grid != SMALL and not structure.isEmpty


@pytest.mark.parametrize("images", ["", "A images"])
def testACaseAndOtherPatients(tmp_path, images):
    """A case whose image is there is not measured again when another patient comes, but when its own files change."""
    path = study(tmp_path / "A", "A", images)
    before = _filesReadWith(path)
    assert {file.parent.name for file in before} == {"A", images or "ct"}
    study(tmp_path / "B", "B")
    assert (_filesReadWith(path) == before) == (not images)
    shutil.rmtree(tmp_path / images if images else tmp_path / "A" / "ct")
    # the image may be anywhere now
    assert {file.parent.name for file in _filesReadWith(path)} == {"A", "B", "ct"}


def testASetThatNamesNoSeries(tmp_path):
    """Its image is that of the instances that its contours name, if any, which may be elsewhere."""
    path = tmp_path / "A" / "set.dcm"
    dicomfiles.writeSeries(tmp_path / "A" / "ct", SMALL, "A")
    dicomfiles.writeStructureSet(path, {"Box": SQUARE}, (), "A")
    study(tmp_path / "B", "B")
    assert {"A", "B"} <= {file.parent.name for file in _filesReadWith(path)}
    assert not neighbors.holdsWhatItNames(path, _filesReadWith(path))
    assert not neighbors.holdsWhatItNames(tmp_path / "gone.dcm", [])
