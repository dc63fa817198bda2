"""Files of a folder that cannot be read, or are of kinds that are not: their structures must not seem to be missing."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import dicomfiles
import numpy as np
import pytest
import SimpleITK
from commandruns import BOX, SHIFTED, metrics
from commandruns import run as run  # the fixture
from imagefiles import read, refusal, save

from SegmentMetricsLib import readStructures
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.model.structures import remarksOnLeftOut, unusableOf

DAMAGED = "the file is damaged or incomplete."
NOT_READ = "this kind of file is not read."


def folder(path, **images) -> Path:
    Path(path).mkdir()
    for name, image in images.items():
        save(image, Path(path) / f"{name}.nrrd")
    return Path(path)


def damage(path) -> None:
    path = Path(path)
    path.write_bytes(path.read_bytes()[:-30])


def rows(path="out/results.csv") -> dict[str, dict[str, str]]:
    """Return the rows of a table of results by the name of the structure."""
    with Path(path).open(newline="") as file:
        return {row["Reference"] or row["Test"]: row for row in csv.DictReader(file)}


UNKNOWN = (
    *("Tumor.gipl", "Tumor.mgz", "Tumor.mgh", "Tumor.img", "Tumor.vtk", "Tumor.png", "Tumor.npy", "Tumor.npz"),
    *("Tumor.mat", "Tumor.stl.gz", "Tumor.gipl.gz", "Tumor.xyz", "Tumor", "Tumor.nrrd.part", "Tumor.zip"),
    *("Tumor.nii.gz.part", "Tumor.nrrd~", "Tumor.nii.gz.crdownload", "Tumor.seg.nrrd.bak"),
)


@pytest.mark.parametrize("name", UNKNOWN)
def testFilesOfUnknownKindsAreNamed(tmp_path, name):
    here = folder(tmp_path / "case", Heart=BOX)
    (here / name).write_bytes(b"something that nobody knows")
    found = readStructures(here)
    (heart,) = found
    assert heart.name == "Heart" and heart.notes == (f"{name} was left out: {NOT_READ}",)
    # it fails only where there is such a structure
    assert unusableOf(found) == {}
    assert unusableOf(found, [heart.named("tumor")]) == {"Tumor": f"{name} was left out: {NOT_READ}"}
    assert found.whyLost("tumor") == found.whyLost("Tumor GTV") == f"{name} was left out: {NOT_READ}"
    assert found.whyLost("Tumors") == found.whyLost("Liver") == ""


HARMLESS = ("README", "LICENSE", "a.json", "b.csv", "c.txt", ".DS_Store", ".hidden.gipl", "d.MD", "e.yaml", "f.ctbl")


def testHarmlessFilesAreNot(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    for name in HARMLESS:
        (here / name).write_text("words")
    # the voxels of headers, one and several files
    SimpleITK.WriteImage(BOX, str(here / "Liver.mhd"))
    header, voxels = (here / "Liver.mhd").read_text(), (here / "Liver.raw").read_bytes()
    (here / "Lung.mhd").write_text(header.replace("Liver.raw", "lung%02d.bin 0 23 1"))
    (here / "Eye.mhd").write_text(
        header.replace("Liver.raw", "LIST") + "\n".join(f"eye{k}.part" for k in range(24)) + "\n"
    )
    for k in range(24):
        for name in (f"lung{k:02d}.bin", f"eye{k}.part"):
            (here / name).write_bytes(voxels[576 * k : 576 * (k + 1)])
    found = readStructures(here)
    assert [s.name for s in found] == ["Eye", "Heart", "Liver", "Lung"] and remarksOnLeftOut(found) == []
    assert not any("left out" in note for s in found for note in s.notes)
    assert len({s.mask.count for s in found}) == 1


def testOurOwnPicturesAreHarmless(run, tmp_path):
    folder("ref", Heart=BOX)
    folder("test", Heart=SHIFTED)
    assert run("compare", "ref", "test", "-o", "ref")[0] == 0
    Path("ref/overlay_Heart.png").write_bytes(b"a picture")
    (heart,) = readStructures("ref")
    assert not heart.notes
    Path("ref/metrics.json").unlink()
    (heart,) = readStructures("ref")
    assert heart.notes == (f"overlay_Heart.png was left out: {NOT_READ}",)


def testNamesInSmallLettersMakeSentences(run, tmp_path):
    for side in ("reference", "test"):
        folder(tmp_path / side, Heart=BOX)
        (tmp_path / side / f"tumor of {side}.gipl").write_bytes(b"something that nobody knows")
    run("compare", "reference", "test", "--metrics", "DSC", "-o", "out")
    (comparison,) = metrics("out")["pairs"]
    told = [f["text"] for f in comparison["findings"] if "tumor" in f["text"]]
    assert told == [f"Of the {side}, tumor of {side}.gipl was left out: {NOT_READ}" for side in ("reference", "test")]


def testManyHaveOneRemark(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    for number in range(40):
        (here / f"organ{number:02d}.mgz").write_bytes(b"x")
    found = readStructures(here)
    ((remark,),) = (heart.notes for heart in found)
    assert remark.startswith("organ00.mgz, organ01.mgz, ") and remark.endswith(
        f" and 32 more were left out: {NOT_READ}"
    )
    # a message about all of them is short, too
    assert len(remarksOnLeftOut(found)) == 9 and remarksOnLeftOut(found)[-1] == "And 32 more were left out."
    assert found.whyLost("organ39") == f"organ39.mgz was left out: {NOT_READ}"


def testNothingElseIsThere(tmp_path):
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "Tumor.gipl").write_bytes(b"x")
    said = refusal(tmp_path / "case")
    assert said.startswith("the folder holds no files that can be compared")
    assert said.endswith(f" Tumor.gipl was left out: {NOT_READ}")
    save(BOX, tmp_path / "case" / "Heart.nrrd")
    damage(tmp_path / "case" / "Heart.nrrd")
    assert refusal(tmp_path / "case").endswith(f"Heart.nrrd: {DAMAGED}")


def testDamagedFiles(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX, Liver=SHIFTED)
    damage(here / "Heart.nrrd")
    (here / "Eye.stl").write_bytes(b"")
    (here / "Lung.nii.gz").symlink_to(here / "nowhere.nii.gz")
    found = readStructures(here)
    (liver,) = found
    said = {
        "Eye": "Eye.stl was left out: the file is empty.",
        "Heart": f"Heart.nrrd was left out: {DAMAGED}",
        "Lung": "Lung.nii.gz was left out: there is no such file.",
    }
    assert liver.name == "Liver" and unusableOf(found) == said and liver.notes == tuple(said.values())
    assert [s.name for s in readStructures(here, name="Liver")] == ["Liver"]
    with pytest.raises(ValueError, match=f"Heart.nrrd was left out: {DAMAGED}"):
        readStructures(here, name="heart")


def testCompareGoesOnWithoutDamagedFiles(run, tmp_path):
    folder("ref", Heart=BOX, Liver=BOX, Lung=BOX)
    folder("test", Heart=SHIFTED, Liver=BOX, Lung=BOX)
    damage("test/Heart.nrrd")
    status, out, err = run("compare", "ref", "test", "-o", "out", "--metrics", "overlap")
    assert (status, err) == (1, f"segment-metrics: Heart.nrrd was left out: {DAMAGED}\n")
    assert "Only in the" not in out and [pair["reference"]["name"] for pair in metrics("out")["pairs"]] == [
        "Liver",
        "Lung",
    ]
    assert metrics("out")["failures"] == {"Heart": f"Heart.nrrd was left out: {DAMAGED}"}
    # a damaged file of another structure does not matter
    assert run("compare", "ref", "test", "--structure", "Liver", "--metrics", "overlap")[::2] == (0, "")
    status, _, err = run("compare", "ref", "test", "--structure", "Heart", "--metrics", "overlap")
    assert (status, err) == (2, f"segment-metrics: Heart.nrrd was left out: {DAMAGED}\n")


@pytest.mark.parametrize("command", [("compare",), ("conventions", "--tool", "MedPy")])
@pytest.mark.parametrize("unread", ["Heart.gipl", "HEART.mgz", "damaged"])
def testSomeOfTheChosenStructures(run, tmp_path, command, unread):
    """The others that were chosen are compared all the same, and the status says that one was not."""
    folder("ref", Heart=BOX, Liver=BOX, Lung=BOX)
    folder("test", Heart=BOX, Liver=SHIFTED, Lung=BOX)
    if unread == "damaged":
        damage("test/Heart.nrrd")
    else:
        Path("test/Heart.nrrd").rename(f"test/{unread}")
    name, *options = command
    chosen = ("--structure", "heart", "--structure", "Liver")
    status, out, err = run(name, "ref", "test", *chosen, *options, "-o", "out")
    file, why = ("Heart.nrrd", DAMAGED) if unread == "damaged" else (unread, NOT_READ)
    assert (status, err) == (1, f"segment-metrics: {file} was left out: {why}\n")
    assert "Liver" in out and "Only in the" not in out and "Lung" not in out
    # without another one there is nothing to compare
    status, out, err = run(name, "ref", "test", "--structure", "heart", *options, "-o", "out")
    assert status == 2 and f"{file} was left out: {why}" in err and not out


def testAFolderOfFoldersSaysWhere(tmp_path):
    (tmp_path / "study" / "patient 1").mkdir(parents=True)
    folder(tmp_path / "study" / "patient 1" / "masks", Heart=BOX)
    said = refusal(tmp_path / "study")
    where = str(Path("patient 1", "masks"))
    assert (
        f" Its folders have some, such as {where}: compare one of them, or list them for segment-metrics batch" in said
    )


def testBatchHasARowForEach(run, tmp_path):
    folder("ref", Heart=BOX, Liver=BOX, Tumor=BOX, Eye=BOX)
    folder("test", Heart=SHIFTED, Liver=BOX)
    damage("test/Heart.nrrd")
    Path("test/Tumor.gipl").write_bytes(b"x")
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")
    status, _, err = run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")
    assert (
        status == 1 and f"Heart.nrrd was left out: {DAMAGED}" in err and f"Tumor.gipl was left out: {NOT_READ}" in err
    )
    found = rows()
    assert found["Liver"]["Status"] == "ok" and float(found["Liver"]["DSC"]) == 1
    # what nobody could read has not been missed, what is not there has
    for name, why in {
        "Heart": f"Heart.nrrd was left out: {DAMAGED}",
        "Tumor": f"Tumor.gipl was left out: {NOT_READ}",
    }.items():
        assert (found[name]["Status"], found[name]["Reason"], found[name]["DSC"]) == ("could not be used", why, "")
    assert (found["Eye"]["Status"], float(found["Eye"]["DSC"])) == ("missing in the test", 0)


def testAReferenceThatCannotBeRead(run, tmp_path):
    folder("ref", Heart=BOX)
    Path("ref/Tumor.mgz").write_bytes(b"x")
    folder("test", Heart=BOX, Tumor=BOX)
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")
    assert run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")[0] == 1
    assert (rows()["Tumor"]["Status"], rows()["Tumor"]["DSC"]) == ("could not be used", "")


def structureSet(path: Path, *names: str) -> None:
    grid = Grid((30, 26, 10), np.diag([1.0, 1.5, 2.5, 1.0]))
    corners = np.array([(5, 6), (14, 6), (14, 15), (5, 15)], float)
    loops = [np.column_stack([corners * (1, 1.5), np.full(4, 2.5 * k)]) for k in range(3, 8)]
    slices = dicomfiles.writeSeries(path.parent.parent / "series", grid)
    dicomfiles.writeStructureSet(path, dict.fromkeys(names, loops), slices)


@pytest.mark.parametrize("how", ["cut off early", "cut off late", "empty"])
def testADamagedStructureSetMayHoldAnything(run, tmp_path, how):
    """Nobody knows which structures it has, so no structure of the other side counts as missed."""
    folder("ref", Tumor=BOX)
    folder("test", Tumor=BOX)
    structureSet(Path("ref/set.dcm"), "Heart", "Liver")
    data = Path("ref/set.dcm").read_bytes()
    Path("test/plan.dcm").write_bytes({"cut off early": data[:100], "cut off late": data[:-200], "empty": b""}[how])
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")
    assert run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")[0] == 1
    found = rows()
    assert found["Tumor"]["Status"] == "ok"
    for name in ("set Heart", "set Liver"):
        assert found[name]["Status"] == "could not be used" and found[name]["DSC"] == ""
        assert found[name]["Reason"].startswith("plan.dcm was left out: the ")
    status, out, _ = run("compare", "ref", "test", "--metrics", "overlap")
    assert status == 1 and "Only in" not in out


def testAStructureSetWithoutModality(run, tmp_path):
    import pydicom

    for side in ("ref", "test"):
        folder(side, Tumor=BOX)
        structureSet(Path(side, "set.dcm"), "Heart")
    given = pydicom.dcmread("test/set.dcm")
    given.Modality = ""
    given.save_as("test/set.dcm")
    assert list(read("test")) == ["Tumor", "Heart"]
    # without anything that tells what it is
    for name in ("SOPClassUID", "ROIContourSequence", "StructureSetROISequence"):
        delattr(given, name)
    given.file_meta.MediaStorageSOPClassUID = "1.2.3.4"
    given.save_as("test/set.dcm")
    (tumor,) = readStructures("test")
    assert tumor.notes == ("set.dcm was left out: it is DICOM that does not say what it holds.",)
    status, _, err = run("compare", "ref", "test", "--metrics", "overlap")
    assert status == 1 and err.startswith("segment-metrics: set.dcm was left out: ")


def testDicomImagesAreNotNamed(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    dicomfiles.writeSeries(here, Grid((30, 26, 4), np.eye(4)))
    for path in here.glob("slice*"):
        shutil.copy(path, path.with_suffix(".IMA"))
    (heart,) = readStructures(here)
    assert not heart.notes


def testAnUnreadFileBesideTheOnlyStructureSet(tmp_path):
    """Its structures keep their names, as beside a CT."""
    structureSet(tmp_path / "case" / "set.dcm", "Heart", "Liver")
    assert list(read(tmp_path / "case")) == ["Heart", "Liver"]
    (tmp_path / "case" / "shot.png").write_bytes(b"x")
    found = readStructures(tmp_path / "case")
    assert [s.name for s in found] == ["Heart", "Liver"] and remarksOnLeftOut(found) == [
        f"shot.png was left out: {NOT_READ}"
    ]


def testADiskThatFails(tmp_path, monkeypatch):
    """An error of the disk or the network while a file is read is that of the file."""
    from SegmentMetricsLib.io import reading

    here = folder(tmp_path / "case", Heart=BOX, Liver=BOX)

    def failing(path, *given):
        if path.name == "Heart.nrrd":
            raise OSError(5, "Input/output error")
        return real(path, *given)

    real = reading._readImage
    monkeypatch.setattr(reading, "_readImage", failing)
    found = readStructures(here)
    assert [s.name for s in found] == ["Liver"]
    assert unusableOf(found) == {"Heart": "Heart.nrrd was left out: the file cannot be read (Input/output error)."}


def testJsonSaysWhy(run, tmp_path):
    folder("ref", Heart=BOX, Liver=BOX)
    folder("test", Liver=BOX)
    Path("test/Heart.hdr").write_bytes(b"x")
    Path("test/Heart.img").write_bytes(b"x")
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")
    assert run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")[0] == 1
    (outcome,) = map(json.loads, Path("out/results.jsonl").read_text().splitlines())
    assert outcome["status"] == "failed" and list(outcome["failures"]) == ["Heart"]
    assert "Heart.img was left out" in outcome["reason"] or "Heart.hdr was left out" in outcome["reason"]


def testConventionsTellWhatWasLeftOut(run, tmp_path):
    folder("ref", Heart=BOX, Liver=BOX, Tumor=BOX)
    folder("test", Heart=SHIFTED, Liver=BOX)
    damage("test/Heart.nrrd")
    Path("test/Tumor.vtk").write_bytes(b"x")
    command = ("conventions", "ref", "test", "-o", "out", "--tool", "MedPy")
    status, out, err = run(*command)
    said = {"Heart": f"Heart.nrrd was left out: {DAMAGED}", "Tumor": f"Tumor.vtk was left out: {NOT_READ}"}
    assert (
        status == 1
        and "Only in" not in out
        and sorted(err.splitlines()) == [f"segment-metrics: {why}" for why in said.values()]
    )
    assert json.loads(Path("out/conventions.json").read_text())["failures"] == said
    assert run(*command, "--structure", "Liver")[::2] == (0, "")
