"""Where the slices of an image are looked for: not in all that somebody keeps, and not in folders of the system."""

from __future__ import annotations

import os

import pytest

from SegmentMetricsLib.io.dicom import neighbors


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
