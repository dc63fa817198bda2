"""Images that are cut off, flipped or promise too much: one sentence with the name of the file."""

from __future__ import annotations

import gzip
import time

import numpy as np
import pytest
import shapes
from imagefiles import LABELS, refusal, save

from SegmentMetricsLib.base import parallel
from SegmentMetricsLib.io import reading
from SegmentMetricsLib.io.formats import table
from SegmentMetricsLib.model.structures import remarksOnLeftOut


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def testImagesCutOff(tmp_path, capfd, suffix, compressed, share):
    path = save(LABELS, tmp_path / f"cut{suffix}", compressed)
    data = path.read_bytes()
    header = data.index(b"\n\n") + 2 if suffix.endswith("nrrd") else 0
    path.write_bytes(data[: max(header, min(int(len(data) * share), len(data) - 1))])
    message = refusal(path)
    assert "damaged or incomplete" in message or "its content is not that of" in message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".nrrd", ".nii.gz", ".mha"])
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def testFlippedBitsInCompressedImages(tmp_path, suffix, share):
    array = shapes.blob(1, (40, 40, 40)).astype(np.uint8)
    path = save(shapes.imageOf(array), tmp_path / f"flipped{suffix}")
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x55
    path.write_bytes(data)
    assert "damaged" in refusal(path)


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("tail", [b"<html>", b"\0" * 512, gzip.compress(b"more", mtime=0), b"\x1f"])
def testWhatComesBehindTheLastVoxelIsTold(tmp_path, suffix, compressed, tail):
    """The image is whole, but somebody should look at the file."""
    path = save(LABELS, tmp_path / f"long{suffix}", compressed)
    before = reading.readStructures(path)
    path.write_bytes(path.read_bytes() + tail)
    after = reading.readStructures(path)
    assert [s.mask.count for s in after] == [s.mask.count for s in before]
    assert all(table.SURPLUS in s.notes for s in after) and not any(s.notes for s in before)


def testNrrdInSeveralGzipMembers(tmp_path):
    path = save(LABELS, tmp_path / "members.nrrd")
    header, voxels = path.read_bytes().split(b"\n\n", 1)
    voxels = gzip.decompress(voxels)
    path.write_bytes(header + b"\n\n" + gzip.compress(voxels[:300]) + gzip.compress(voxels[300:]))
    assert len(reading.readStructures(path)) == len(reading.readStructures(save(LABELS, tmp_path / "one.nrrd")))
    path.write_bytes(header + b"\n\n" + gzip.compress(voxels[:300]) + b"x" * len(voxels))
    assert "damaged or incomplete" in refusal(path)


def testTheFirstOfDamagedFilesIsNamed(tmp_path, capfd, monkeypatch):
    """Files are read several at a time; which of them is done first must not matter, nor does it in a folder."""
    monkeypatch.setattr(parallel, "availableProcessors", lambda: 3)
    for number in range(9):
        path = save(LABELS, tmp_path / f"{number}.nrrd")
        if number in (4, 5, 7):
            path.write_bytes(path.read_bytes()[:-30])
    slow = reading._readImage
    monkeypatch.setattr(
        reading, "_readImage", lambda path, *given: time.sleep(0.1 * ("4" in path.name)) or slow(path, *given)
    )
    for _ in range(3):
        with pytest.raises(ValueError, match=r"4\.nrrd: the file is damaged or incomplete\."):
            reading.readAll([tmp_path / f"{number}.nrrd" for number in range(9)])
        found = reading.readStructures(tmp_path)
        assert [s.name for s in found[::2]] == [f"{number} Label 1" for number in (0, 1, 2, 3, 6, 8)]
        told = [f"{number}.nrrd was left out: the file is damaged or incomplete." for number in (4, 5, 7)]
        assert remarksOnLeftOut(found) == told and all(list(s.notes) == told for s in found)
    for number in (4, 5, 7):
        save(LABELS, tmp_path / f"{number}.nrrd")
    names = [structure.name for structure in reading.readStructures(tmp_path)]
    assert names == sorted(names) and names[0].startswith("0 ") and names[-1].startswith("8 ")
    assert capfd.readouterr() == ("", "")


def testAnImageThatIsTooLargeForTheMemory(tmp_path, monkeypatch):
    def fail(*given):
        raise MemoryError

    monkeypatch.setattr(reading, "_readImage", fail)
    assert "too large for the memory" in refusal(save(LABELS, tmp_path / "x.nrrd"))
