"""Images that are cut off, flipped or promise too much: one sentence with the name of the file."""

from __future__ import annotations

import gzip
import struct
import time
import zlib

import numpy as np
import pytest
import shapes
from imagefiles import LABELS, refusal, save

from SegmentMetricsLib import cores
from SegmentMetricsLib.files import reading


@pytest.mark.parametrize("suffix", [".nrrd", ".nii", ".nii.gz", ".mha", ".seg.nrrd"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def testImagesCutOff(tmp_path, capfd, suffix, compressed, share):
    path = save(LABELS, tmp_path / f"cut{suffix}", compressed)
    data = path.read_bytes()
    path.write_bytes(data[: min(int(len(data) * share), len(data) - 1)])
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


def testTheFirstOfDamagedFilesIsNamed(tmp_path, capfd, monkeypatch):
    """Files are read several at a time; which of them is done first must not matter."""
    monkeypatch.setattr(cores, "availableProcessors", lambda: 3)
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
            reading.readStructures(tmp_path)
    for number in (4, 5, 7):
        save(LABELS, tmp_path / f"{number}.nrrd")
    names = [structure.name for structure in reading.readStructures(tmp_path)]
    assert names == sorted(names) and names[0].startswith("0 ") and names[-1].startswith("8 ")
    assert capfd.readouterr() == ("", "")


def testHeadersThatPromiseTooMuch(tmp_path, capfd):
    nrrd = tmp_path / "x.nrrd"
    nrrd.write_bytes(b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1000000 1000000 1000000\nencoding: raw\n\nabc")
    assert "too large for the memory" in refusal(nrrd)
    nrrd.write_bytes(
        b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 9 9 9\nencoding: gzip\n\n" + gzip.compress(b"x" * 10)
    )
    assert "damaged or incomplete" in refusal(nrrd)
    meta = tmp_path / "x.mha"
    header = "ObjectType = Image\nNDims = 3\nDimSize = {}\nElementType = MET_UCHAR\n{}ElementDataFile = LOCAL\n"
    meta.write_bytes(header.format("0 10 10", "").encode())
    assert "at least one voxel along each axis" in refusal(meta)
    compressed = zlib.compress(b"x" * 10)
    extra = f"CompressedData = True\nCompressedDataSize = {len(compressed)}\n"
    meta.write_bytes(header.format("9 9 9", extra).encode() + compressed)
    assert "damaged or incomplete" in refusal(meta)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [".mhd", ".nhdr"])
def testDataFileMissing(tmp_path, capfd, suffix):
    path = save(LABELS, tmp_path / f"organs{suffix}")
    for data in tmp_path.glob("organs.*raw*"):
        data.unlink()
    assert "the data file that belongs to it is missing" in refusal(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("offset", "format", "values", "message"),
    [
        (40, "<8h", (3, -12, 10, 14, 1, 1, 1, 1), "its content is not that of a .nii file"),
        (
            252,
            "<2h26x12f",
            (0, 1, 1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0),
            "the axes in its header do not span space",
        ),
        (252, "<2h26x12f", (0, 1, *[0.0] * 12), "the axes in its header do not span space"),
        (
            112,
            "<2f",
            (0.7, 0.0),
            "neither a label map nor a map of memberships in [0, 1]: it has values from 0 to 3.5.",
        ),
        (112, "<2f", (1.0, -1024.0), "The image is not a label map: it has negative values, from -1024 to -1019."),
    ],
)
def testStrangeNiftiHeaders(tmp_path, capfd, offset, format, values, message):
    path = save(LABELS, tmp_path / "x.nii", False)
    data = bytearray(path.read_bytes())
    struct.pack_into(format, data, offset, *values)
    path.write_bytes(data)
    assert message in refusal(path)
    assert capfd.readouterr() == ("", "")
