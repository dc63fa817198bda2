"""Where the image of a structure set is looked for: near it, and not in what belongs to others."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

import dicomfiles

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.cohort.cases import _filesReadWith
from SegmentMetricsLib.dicom import neighbors, series
from SegmentMetricsLib.geometry.grids import Grid

GRID = Grid((12, 12, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(3, 3, z), (8, 3, z), (8, 8, z), (3, 8, z)], float) for z in (3.0, 6.0, 9.0)]


def study(folder, patient: str, images: str = ""):
    """Write a structure set into a folder, and its image into a folder "ct" below or into another one; its path."""
    frame = f"1.2.{ord(patient)}"
    slices = dicomfiles.writeSeries(folder.parent / images if images else folder / "ct", GRID, patient, frame)
    path = folder / "set.dcm"
    folder.mkdir(exist_ok=True)
    dicomfiles.writeStructureSet(path, {"Box": SQUARE}, slices, patient, frame)
    return path


@pytest.fixture
def opened(monkeypatch):
    """The folders whose files were opened to see whether they are the slices that are looked for."""
    folders, read = [], series._geometryOf
    monkeypatch.setattr(series, "_geometryOf", lambda file: (folders.append(file.parent.name), read(file))[1])
    return folders


def gridOf(path):
    return readStructures(path)[0].mask.grid


def testNotAllThatSomebodyKeepsIsSearched(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbors, "MOST_FILES", 6)
    for folder in ("set", "set/more", "a", "b/deep", "c"):
        (tmp_path / folder).mkdir(parents=True)
        for number in range(4):
            (tmp_path / folder / f"{number}.dcm").write_bytes(b"")
    found = [[file.parent.name for file in files] for files in neighbors.filesNear(tmp_path / "set" / "0.dcm")]
    assert found == [["set"] * 4 + ["more"] * 2, ["a"] * 4, ["deep"] * 2, []]


def testFoldersOfTheSystemAreNotSearched(tmp_path, monkeypatch):
    """Reading what looks like a file there may never end."""
    monkeypatch.setattr(neighbors, "SYSTEM", tuple(str(tmp_path / name) for name in ("proc", "set/sys")))
    for folder in ("set/sys", "proc/1", "other/deep"):
        (tmp_path / folder).mkdir(parents=True)
        for place in (tmp_path / folder, (tmp_path / folder).parent):
            (place / "0.dcm").write_bytes(b"")
    found = [[file.parent.name for file in files] for files in neighbors.filesNear(tmp_path / "set" / "0.dcm")]
    assert found == [["set"], ["other", "deep"], []]


def testFoldersOfOtherPatientsAreNotSearched(tmp_path, opened):
    """Of a set whose image is not there, among those of others that have theirs."""
    paths = [study(tmp_path / f"patient {name}", name) for name in "ABC"]
    assert gridOf(paths[0]) == GRID and set(opened) == {"ct", "patient A"}
    shutil.rmtree(tmp_path / "patient A" / "ct")
    opened.clear()
    assert gridOf(paths[0]) != GRID
    assert opened == ["patient A"]


@pytest.mark.parametrize("names", ["by patient", "any"])
def testAFolderWithTheImagesOfAll(tmp_path, names):
    """Ours may be between those of others, whatever the files are called."""
    paths = [study(tmp_path / f"patient {name}", name, f"image {name}") for name in "ABC"]
    (tmp_path / "images").mkdir()
    for folder in sorted(tmp_path.glob("image ?")):
        for file in folder.iterdir():
            name = f"{folder.name} {file.name}" if names == "by patient" else f"{file.name} {folder.name}"
            file.rename(tmp_path / "images" / name)
        folder.rmdir()
    assert [gridOf(path) for path in paths] == [GRID] * 3


def testImagesWithTheNameOfAnotherPatient(tmp_path):
    """As after names were replaced in some files only: they are of the series, or in the frame, that the set names."""
    path = study(tmp_path / "set", "A", "images")
    for file in (tmp_path / "images").iterdir():
        content = neighbors.read(file)
        content.PatientID = "B"
        content.save_as(file)
    assert gridOf(path) == GRID


def testFilesOfNobodyInParticular(tmp_path, opened):
    """What does not say to whom it belongs is looked at."""
    path = study(tmp_path / "set", "A", "images")
    for name in ("a note", "damaged"):
        (tmp_path / name).mkdir()
    (tmp_path / "a note" / "note.txt").write_text("to be drawn again")
    (tmp_path / "damaged" / "1.dcm").write_bytes(b"\0" * 128 + b"DICM" + b"\1\2\3")
    assert gridOf(path) == GRID and {"a note", "damaged"} <= set(opened)


def testACaseDoesNotDependOnOtherPatients(tmp_path):
    """So it is not measured again when another one comes, but it is when its own image changes."""
    path = study(tmp_path / "A", "A", "A images")
    before = _filesReadWith(path)
    assert {file.parent.name for file in before} == {"A", "A images"}
    study(tmp_path / "B", "B")
    assert _filesReadWith(path) == before
    next((tmp_path / "A images").iterdir()).unlink()
    assert len(_filesReadWith(path)) == len(before) - 1
