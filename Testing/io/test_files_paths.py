"""Paths, folders and names of files, and one sentence for every one that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import shapes
from imagefiles import BOXES, LABELS, OVERLAPPING, SEGMENTS, read, refusal, save

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.base.texts import tellingApart
from SegmentMetricsLib.io import reading as files


@pytest.mark.parametrize(
    "paths, titles",
    [
        (["a/rs.dcm", "b/test.dcm"], ["rs.dcm", "test.dcm"]),
        (["/x/a/rs.dcm", "/x/b/rs.dcm"], ["a/rs.dcm", "b/rs.dcm"]),
        (["/a/case/rs.dcm", "/b/case/rs.dcm"], ["a/case/rs.dcm", "b/case/rs.dcm"]),
        (["rs.dcm", "b/rs.dcm"], ["rs.dcm", "b/rs.dcm"]),
        (["a/rs.dcm", "a/rs.dcm"], ["rs.dcm", "rs.dcm"]),
        (["two/", "three"], ["two", "three"]),
    ],
)
def testNamesThatTellPathsApart(paths, titles):
    found = tellingApart(paths)
    assert [found[path] for path in paths] == [str(Path(title)) for title in titles]


def testEndingsInCapitals(tmp_path, capfd):
    path = save(LABELS, tmp_path / "x.nii.gz").rename(tmp_path / "x.NII.GZ")
    assert set(read(path)) == {"Label 1", "Label 5"}
    path = save(LABELS, tmp_path / "x.mha").rename(tmp_path / "x.MHA")
    assert refusal(path).endswith("rename it so that it ends in .mha, in small letters.")
    path = save(LABELS, tmp_path / "x.nii.gz").rename(tmp_path / "x.Nii.Gz")
    assert refusal(path).endswith("rename it so that it ends in .nii.gz, in small letters.")
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is open to root")
def testUnreadableFile(tmp_path):
    path = save(LABELS, tmp_path / "secret.nrrd")
    path.chmod(0)
    assert refusal(path) == "the file cannot be opened (Permission denied)."


@pytest.mark.parametrize(
    "name", ["Leber ä.nrrd", "肝臓.nii.gz", "a b;c'd.mha", "🫀.stl", "😀.ply", "ü.vtp", "é.obj", "=1+1.nrrd"]
)
def testNamesOfFiles(tmp_path, name):
    path = tmp_path / name
    if files.suffixOf(path) in files.MESH_SUFFIXES:
        shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), path)
        (structure,) = readStructures(path)
        assert structure.name == files.stemOf(path)
    else:
        structure = readStructures(save(LABELS, path))[0]
    assert structure.file == str(path)


def testFolders(tmp_path):
    save(shapes.labelImage({4: BOXES[1]}), tmp_path / "Liver.nii.gz")
    save(LABELS, tmp_path / "many.nrrd")
    save(shapes.labelImage({}), tmp_path / "Spleen.seg.nrrd")
    shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), tmp_path / "Heart.stl")
    save(shapes.segmentation(OVERLAPPING, SEGMENTS[:3]), tmp_path / "slicer.seg.nrrd")
    (tmp_path / "notes.txt").write_text("not a structure")
    (tmp_path / ".hidden.nrrd").write_text("not a structure")
    (tmp_path / "folder.nrrd").mkdir()
    found = read(tmp_path)
    assert list(found) == [
        "Heart",
        "Liver",
        "Spleen",
        "many Label 1",
        "many Label 5",
        "slicer Tumor, left",
        "slicer Node",
        "slicer Margin",
    ]
    assert found["Spleen"].isEmpty and found["Liver"].mask.count == 120
