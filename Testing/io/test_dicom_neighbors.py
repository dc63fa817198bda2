"""Where the image of a structure set is looked for, and what a case of a batch depends on."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

import dicomfiles

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.batch.cases import _filesReadWith
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.dicom import neighbors

GRID = Grid((12, 12, 6), np.diag([1.0, 1.0, 3.0, 1.0]))
SQUARE = [np.array([(2.5, 2.5, z), (7.5, 2.5, z), (7.5, 7.5, z), (2.5, 7.5, z)]) for z in (3.0, 6.0, 9.0)]


def study(folder, patient: str, images: str = ""):
    """Write a structure set into a folder, and its image into a folder "ct" below or into another one; its path."""
    frame = f"1.2.{ord(patient)}"
    slices = dicomfiles.writeSeries(folder.parent / images if images else folder / "ct", GRID, patient, frame)
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
    assert gridOf(path) == GRID
    list_ = type(path).iterdir

    def refusing(folder):
        if folder == tmp_path:
            raise PermissionError(13, "Permission denied")
        return list_(folder)

    monkeypatch.setattr(type(path), "iterdir", refusing)
    (structure,) = readStructures(path)
    assert structure.mask.grid != GRID and not structure.isEmpty


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
    dicomfiles.writeSeries(tmp_path / "A" / "ct", GRID, "A")
    dicomfiles.writeStructureSet(path, {"Box": SQUARE}, (), "A")
    study(tmp_path / "B", "B")
    assert {"A", "B"} <= {file.parent.name for file in _filesReadWith(path)}
    assert not neighbors.holdsWhatItNames(path, _filesReadWith(path))
    assert not neighbors.holdsWhatItNames(tmp_path / "gone.dcm", [])
