"""Where the slices of an image are looked for, not in all that somebody keeps; and contours with too many pixels."""

from __future__ import annotations

import os

import dicomfiles
import numpy as np
import pytest
import shapes
from sayings import says

from SegmentMetricsLib.io.dicom import filledslices, neighbors


@pytest.fixture
def near(tmp_path, monkeypatch):
    """A function that makes folders with files, and returns those in which the files of the first are looked for."""
    # a longer name is another folder
    monkeypatch.setattr(neighbors, "SYSTEM", tuple(f"{(tmp_path / name).resolve()}/" for name in ("proc", "set/sys")))

    def make(*folders: str) -> list[list[str]]:
        for folder in folders:
            (tmp_path / folder).mkdir(parents=True)
            for number in range(5):
                (tmp_path / folder / f"{number}.dcm").write_bytes(b"")
        found = neighbors.filesNear(tmp_path / folders[0] / "0.dcm")
        return [[file.parent.name for file in files] for files in found]

    return make


def testNotAllThatSomebodyKeepsIsSearched(near, monkeypatch):
    monkeypatch.setattr(neighbors, "MOST_FILES", 3)
    assert near("set", "a", "b/deep") == [["set"] * 3, ["a"] * 3, ["deep"] * 3]


@pytest.mark.skipif(os.sep != "/", reason="there are such folders on Linux")
def testFoldersOfTheSystemAreNotSearched(near, tmp_path):
    """Reading what looks like a file there may never end; a link to one is one."""
    os.symlink(tmp_path / "proc", tmp_path / "link", target_is_directory=True)
    assert near("set", "set/sys", "proc/1", "process") == [["set"] * 5, [], [], ["process"] * 5]


def testTooManyPixelsThroughTheirCenters(tmp_path, monkeypatch):
    """Contours through pixel centers that would need too much memory as parts of pixels are filled as ever."""
    grid = shapes.gridOf((20, 20, 5), (1, 1, 3))
    corners = np.array([(4, 4, 6), (9, 4, 6), (9, 9, 6), (4, 9, 6)], float)
    monkeypatch.setattr(filledslices, "MOST_VOXELS", 100)
    found = dicomfiles.readContours(tmp_path, {"Box": [corners]}, grid)["Box"]
    assert found.mask.count == 25 and found.mask.grid == grid
    (note,) = found.notes
    says(note)
