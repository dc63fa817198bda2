"""Folders that hold more than structures: images that are no segmentations are left out, and told."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import BOX, SHIFTED, metrics
from commandruns import run as run  # the fixture
from imagefiles import read, refusal, save

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.io.reading import UnusableFile
from SegmentMetricsLib.model.structures import remarksOnLeftOut, unusableOf

CT = SimpleITK.GetImageFromArray(np.random.default_rng(1).integers(-1000, 2000, (24, 24, 24)).astype(np.int16))
CT.CopyInformation(BOX)
WHY = "The image is not a label map: it has negative values, from "
TOLD = "CT.nrrd was left out: " + WHY


def folder(path, **images) -> Path:
    Path(path).mkdir()
    for name, image in images.items():
        save(image, Path(path) / f"{name}.nrrd")
    return Path(path)


def testACtBesideTheMasks(tmp_path):
    found = readStructures(folder(tmp_path / "case", CT=CT, Heart=BOX, Liver=SHIFTED))
    assert [s.name for s in found] == ["Heart", "Liver"]
    (remark,) = remarksOnLeftOut(found)
    assert remark.startswith(TOLD) and all(s.notes == (remark,) for s in found)
    # it is no structure that failed, unless another one is called like it
    assert unusableOf(found) == {} and unusableOf(found, [found[0].named("ct")]) == {"CT": remark}
    assert [s.name for s in readStructures(tmp_path / "case", name="Liver")] == ["Liver"]
    with pytest.raises(UnusableFile, match=r"case: CT\.nrrd was left out: The image is not a label map"):
        readStructures(tmp_path / "case", name="CT")
    # a file that was given by its name stays an error
    assert refusal(tmp_path / "case" / "CT.nrrd").startswith(WHY)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (SimpleITK.Cast(CT, SimpleITK.sitkFloat32) * 0.1, "neither a label map nor a map of memberships"),
        (SimpleITK.Compose(BOX, BOX, BOX), "several values per voxel"),
        (SimpleITK.JoinSeries([BOX, BOX]), "this one has 4"),
        (SimpleITK.Cast(CT + 1000, SimpleITK.sitkUInt16), "change from voxel to voxel like those of a CT"),
    ],
)
def testImagesThatAreNoSegmentations(tmp_path, image, why):
    (heart,) = readStructures(folder(tmp_path / "case", image=image, Heart=BOX))
    assert heart.name == "Heart" and why in heart.notes[0]


def testNothingUsableIsLeft(tmp_path):
    folder(tmp_path / "one", CT=CT)
    assert refusal(tmp_path / "one").startswith("/CT.nrrd: " + WHY)
    folder(tmp_path / "two", CT=CT, Dose=CT)
    assert refusal(tmp_path / "two").startswith("none of its 2 files is a segmentation. CT.nrrd: " + WHY)


def testDamagedFilesStayErrors(tmp_path):
    path = folder(tmp_path / "case", CT=CT, Heart=BOX) / "Heart.nrrd"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UnusableFile, match=r"Heart\.nrrd: the file is damaged or incomplete"):
        readStructures(tmp_path / "case")


def testAStructureOfTheSameNameIsNotLeftOut(tmp_path):
    folder(tmp_path / "case", Heart=CT)
    shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), tmp_path / "case" / "Heart.stl")
    found = readStructures(tmp_path / "case", name="Heart")
    (heart,) = found
    assert found.leftOut == () and heart.notes[0].startswith("Heart.nrrd was left out: ")


def testAStructureSetBesideACt(tmp_path):
    """Its structures keep their names, as they do where no image lies beside it."""
    pytest.importorskip("pydicom", reason="pydicom is not installed")
    grid = Grid((30, 26, 10), np.diag([1.0, 1.5, 2.5, 1.0]))
    slices = dicomfiles.writeSeries(tmp_path / "case" / "series", grid)
    corners = np.array([(5, 6), (14, 6), (14, 15), (5, 15)], float)
    loops = [np.column_stack([corners * (1, 1.5), np.full(4, 2.5 * k)]) for k in range(3, 8)]
    dicomfiles.writeStructureSet(tmp_path / "case" / "set.dcm", {"Box": loops}, slices)
    save(CT, tmp_path / "case" / "CT.nii.gz")
    found = readStructures(tmp_path / "case")
    assert [s.name for s in found] == ["Box"] and remarksOnLeftOut(found)[0].startswith("CT.nii.gz was left out: ")
    save(BOX, tmp_path / "case" / "Heart.nrrd")
    assert list(read(tmp_path / "case")) == ["Heart", "Box"], "a region has a name"
    dicomfiles.writeStructureSet(tmp_path / "case" / "zweite.dcm", {"Box": loops}, slices)
    assert list(read(tmp_path / "case")) == ["Heart", "set", "zweite"], "which does not tell two of them apart"


def testCompare(run, tmp_path):
    folder("ref", CT=CT, Heart=BOX, Liver=BOX)
    folder("test", CT=CT, Heart=SHIFTED, Liver=BOX)
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    for more in ((), ("--structure", "Heart")):
        status, out, err = run("compare", "ref", "test", "-o", "out", "--protocol", "limits.csv", *more)
        assert (status, err) == (0, "") and out.count(TOLD) == 1
        document = metrics("out")
        assert "failures" not in document and document["protocol"]["verdict"] == "pass"
        assert all(any(f["text"].startswith(TOLD) for f in pair["findings"]) for pair in document["pairs"])
    status, _, err = run("compare", "ref", "test", "-o", "other", "--structure", "CT")
    assert status == 2 and err.startswith(f"segment-metrics: {TOLD}") and not Path("other").exists()
    status, _, err = run("compare", "ref/CT.nrrd", "test", "-o", "other")
    assert status == 2 and err.startswith(f"segment-metrics: ref/CT.nrrd: {WHY}")


def testTheOnlyOnesAreAPair(run, tmp_path):
    """A case with its image, and a result that is called otherwise; but not where the name says that it is another."""
    folder("ref", CT=CT, mask=BOX)
    save(SHIFTED, Path("result.nrrd"))
    assert run("compare", "ref", "result.nrrd", "-o", "out")[0] == 0
    folder("heart", Heart=BOX)
    folder("other", Heart=CT, Liver=BOX)
    status, _, err = run("compare", "heart", "other", "-o", "none")
    assert status == 2 and "No structure has the same name" in err and "Heart.nrrd was left out: " in err


def testACounterpartThatIsNoSegmentationFails(run, tmp_path):
    folder("ref", Heart=BOX, Liver=BOX)
    folder("test", Heart=CT, Liver=BOX)
    status, out, err = run("compare", "ref", "test", "-o", "out")
    assert status == 1 and err.startswith("segment-metrics: Heart.nrrd was left out: ") and err.count("\n") == 1
    # the test has it, though damaged
    assert "Only in the" not in out and list(metrics("out")["failures"]) == ["Heart"]
    status, _, err = run("compare", "ref", "test", "-o", "other", "--structure", "Heart")
    assert status == 2 and err.startswith("segment-metrics: Heart.nrrd was left out: ")


def testBatch(run, tmp_path):
    folder("ref", CT=CT, Heart=BOX, Liver=BOX)
    folder("whole", CT=CT, Heart=SHIFTED, Liver=BOX)
    folder("part", Heart=CT, Liver=BOX)
    folder("none", CT=CT)
    Path("cases.csv").write_text("case,reference,test\na,ref,whole\nb,ref,part\nc,ref,none\n")
    status, _, err = run("batch", "cases.csv", "-o", "out", "--workers", "1")
    assert status == 1 and err.count("\n") == 2 and f"CT.nrrd: {WHY}" in err
    assert "segment-metrics: b: Heart.nrrd was left out: " in err
    whole, part, _ = map(json.loads, Path("out/results.jsonl").read_text().splitlines())
    assert whole["status"] == "ok" and "failures" not in whole and len(whole["pairs"]) == 2
    assert any(finding["text"].startswith(TOLD) for finding in whole["pairs"][0]["findings"])
    # a heart that nobody could read has not been missed
    assert (
        part["status"] == "failed"
        and list(part["failures"]) == ["Heart"]
        and part["missing"][0]["structure"] == "Heart"
    )
    with Path("out/results.csv").open(newline="") as file:
        rows = {(row["Case"], row["Reference"]): row["Status"] for row in csv.DictReader(file)}
    assert rows["b", "Heart"] == "could not be used"
