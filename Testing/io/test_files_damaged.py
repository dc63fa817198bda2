"""Images that are cut off, flipped or promise too much: one sentence with the name of the file."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator

import numpy as np
import pytest
import shapes
from imagefiles import LABELS, refusal, save

from SegmentMetricsLib.base import parallel
from SegmentMetricsLib.io import reading
from SegmentMetricsLib.io.formats import nrrd, table
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


def withEveryByteChanged(path) -> Iterator[str]:
    """Change each byte behind the header of a file in turn, and tell where it is."""
    data = path.read_bytes()
    for place in range(data.index(b"\n\n") + 2, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        yield f"byte {place}"
    for name, more in (("nothing", b""), ("surplus", b"x" * 9), ("another", gzip.compress(b"x")), ("again", data[-8:])):
        path.write_bytes(data + more)
        yield name


@pytest.mark.parametrize("kind", ["<u2", ">u2", "<f4"])
def testTheSumAtTheEndTellsAsMuchAsDecompressing(tmp_path, monkeypatch, kind):
    """Intact files are not decompressed once more, and no other voxels are taken than that would find."""
    header = f"NRRD0004\ntype: {'float' if 'f' in kind else 'uint16'}\ndimension: 3\nspace: left-posterior-superior\n"
    header += "sizes: 7 6 5\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\n"
    header += f"endian: {'big' if '>' in kind else 'little'}\nencoding: gzip\n\n"
    array = np.zeros((5, 6, 7), kind)
    array[1:4, 2:5, 3:6] = 1
    path = tmp_path / "x.nrrd"
    path.write_bytes(header.encode() + gzip.compress(array.tobytes(), mtime=0))

    def found() -> str:
        try:
            (structure,) = reading.readStructures(path)
        except reading.UnusableFile as error:
            return str(error)
        return f"{structure.mask.offset} {structure.mask.voxels.tolist()} {structure.notes}"

    def everything() -> list[tuple[str, str]]:
        path.write_bytes(header.encode() + gzip.compress(array.tobytes(), mtime=0))
        return [(name, found()) for name in withEveryByteChanged(path)]

    quick = everything()
    path.write_bytes(header.encode() + gzip.compress(array.tobytes(), mtime=0))
    intact = found()
    if ">" not in kind:  # those have another order in memory than in the file
        with monkeypatch.context() as patch:
            patch.setattr(nrrd, "decompressedSize", None)
            assert found() == intact and intact.startswith("(3, 2, 1) ")
    monkeypatch.setattr(nrrd, "promisedSum", lambda path: None)
    # what is damaged behind the last voxel only is no loss
    assert [one for one, other in zip(quick, everything(), strict=True) if one != other and one[1] != intact] == []
    assert sum("damaged" in said for _, said in quick) > 20
