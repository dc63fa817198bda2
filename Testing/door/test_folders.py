"""Folders that hold more than structures: images that are none, damaged files and unread kinds are left out, and told.

A structure that was left out must not seem to be missing.
"""

from __future__ import annotations

import csv
import json
import pickle
import shutil
from pathlib import Path

import dicomfiles
import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import BOX, SHIFTED, metrics
from commandruns import run as run  # the fixture
from imagefiles import BOXES, LABELS, OVERLAPPING, SEGMENTS, read, refusal, save
from sayings import says

from SegmentMetricsLib import Grid, Settings, Structure, StructureSet, compareCase, readStructures

CT = SimpleITK.GetImageFromArray(np.random.default_rng(1).integers(-1000, 2000, (24, 24, 24)).astype(np.int16))
CT.CopyInformation(BOX)
LOWEST = " -1000 "


def folder(path, **images) -> Path:
    Path(path).mkdir(parents=True)
    for name, image in images.items():
        save(image, Path(path) / f"{name}.nrrd")
    return Path(path)


def damage(path) -> None:
    path = Path(path)
    path.write_bytes(path.read_bytes()[:-30])


def rows(case: str = "1") -> dict[str, dict[str, str]]:
    """Return the rows of a case in the table of results by the name of the structure."""
    with Path("out/results.csv").open(newline="") as file:
        return {row["Reference"] or row["Test"]: row for row in csv.DictReader(file) if row["Case"] == case}


def testEveryKindOfFile(tmp_path):
    save(shapes.labelImage({4: BOXES[1]}), tmp_path / "Liver.nii.gz")
    save(LABELS, tmp_path / "many.nrrd")
    save(shapes.labelImage({}), tmp_path / "Spleen.seg.nrrd")
    shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), tmp_path / "Heart.stl")
    save(shapes.segmentation(OVERLAPPING, SEGMENTS[:3]), tmp_path / "slicer.seg.nrrd")
    for name in ("notes.txt", ".hidden.nrrd"):
        (tmp_path / name).write_text("not a structure")
    (tmp_path / "folder.nrrd").mkdir()
    found = read(tmp_path)
    many = ["many Label 1", "many Label 5", *(f"slicer {name}" for name in ("Tumor, left", "Node", "Margin"))]
    assert list(found) == ["Heart", "Liver", "Spleen", *many]
    assert found["Spleen"].isEmpty and found["Liver"].mask.count == 120


def testACtBesideTheMasks(tmp_path):
    found = readStructures(folder(tmp_path / "case", CT=CT, Heart=BOX, Liver=SHIFTED))
    assert [s.name for s in found] == ["Heart", "Liver"]
    ((name, remark, isOptional),) = found.leftOut
    says(remark, "CT.nrrd", LOWEST)
    # it is no structure that failed, unless another one is called like it
    assert name == "CT" and isOptional and all(s.notes == (remark,) for s in found)
    assert [s.name for s in readStructures(tmp_path / "case", name="Liver")] == ["Liver"]
    assert refusal(tmp_path / "case", name="CT") == remark
    # a file that was given by its name stays an error
    assert remark.endswith(says(refusal(tmp_path / "case" / "CT.nrrd"), LOWEST))


def testASetIsASequenceThatKeepsWhatWasLeftOut(tmp_path):
    here = folder(tmp_path / "case", CT=CT, Eye=BOX, Heart=BOX, Parotid_L=BOX)
    damage(here / "Parotid_L.nrrd")
    found = readStructures(here)
    eye, heart = found
    assert found[-1] is heart is found["heart"] and eye in found and found.index(heart) == 1 and not StructureSet()
    with pytest.raises(IndexError):
        found[2]
    assert repr(found[:1]) == f"<StructureSet of {here}: [{eye!r}]>"
    said = {one.name: says(one.remark, f"{one.name}.nrrd") for one in found.leftOut}
    lung = Structure("Lung", mask=eye.mask)
    more = StructureSet((lung,))
    parts = (found[1:], found.having([eye]), found + more, more + found, found[:0] + found[:1])
    for part in (*parts, pickle.loads(pickle.dumps(found))):
        assert set(part.leftOut) == set(found.leftOut) and part.remarkOn("Parotid_L") == said["Parotid_L"]
        # the same in other words, and what it may hold under another name
        assert part.whyLost("Left Parotid") == part.whyLost("Parotid_L Boost") == part.remarkOn("Parotid_L")
        assert part.whyLost("Lung") == part.remarkOn("Lung") == ""
    assert StructureSet.of(found) is found and StructureSet.of(list(found)).leftOut == ()
    assert refusal(here, name="parotid l") == said["Parotid_L"]
    # what both sides have left out fails once, a CT only where a structure is called like it
    for more, failed in (((), ["Parotid_L"]), ((Structure("ct", mask=eye.mask),), ["Parotid_L", "CT"])):
        case = compareCase(found, found + more, Settings(metrics="DSC"))
        assert case.failures == {name: said[name] for name in failed}


def testImagesThatAreNoSegmentations(tmp_path):
    """Whatever a file of it alone would be refused for."""
    (heart,) = readStructures(folder(tmp_path / "case", image=SimpleITK.JoinSeries([BOX, BOX]), Heart=BOX))
    assert heart.name == "Heart" and says(heart.notes[0], "image.nrrd", "4")


def testAStructureOfTheSameNameIsNotLeftOut(tmp_path):
    folder(tmp_path / "case", Heart=CT)
    shapes.writeMesh(shapes.boxMesh((0, 0, 0), (1, 2, 3)), tmp_path / "case" / "Heart.stl")
    found = readStructures(tmp_path / "case", name="Heart")
    (heart,) = found
    assert found.leftOut == () and says(heart.notes[0], "Heart.nrrd")


UNKNOWN = (
    *("Tumor.gipl", "Tumor.mgz", "Tumor.mgh", "Tumor.img", "Tumor.vtk", "Tumor.png", "Tumor.npy", "Tumor.npz"),
    *("Tumor.mat", "Tumor.stl.gz", "Tumor.gipl.gz", "Tumor.xyz", "Tumor", "Tumor.nrrd.part", "Tumor.zip"),
    *("Tumor.nii.gz.part", "Tumor.nrrd~", "Tumor.nii.gz.crdownload", "Tumor.seg.nrrd.bak"),
)


def testFilesOfUnknownKindsAreNamed(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    for name in UNKNOWN:
        (here / name).write_bytes(b"something that nobody knows")
        (heart,) = found = readStructures(here)
        said = says(found.whyLost("tumor"), name)
        # it fails only where there is such a structure
        assert heart.name == "Heart" and heart.notes == (said,) and found.leftOut == (("Tumor", said, True),)
        assert found.whyLost("Tumor GTV") == said
        assert found.whyLost("Tumors") == found.whyLost("Liver") == ""
        (here / name).unlink()


HARMLESS = ("README", "LICENSE", "a.json", "b.csv", "c.txt", ".DS_Store", ".hidden.gipl", "d.MD", "e.yaml", "f.ctbl")


def testHarmlessFilesAreNot(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    for name in HARMLESS:
        (here / name).write_text("words")
    # the voxels of headers, one and several files
    SimpleITK.WriteImage(BOX, str(here / "Liver.mhd"))
    header, voxels = (here / "Liver.mhd").read_text(), (here / "Liver.raw").read_bytes()
    (here / "Lung.mhd").write_text(header.replace("Liver.raw", "lung%02d.bin 0 23 1"))
    (here / "Eye.mhd").write_text(header.replace("Liver.raw", "LIST") + "".join(f"eye{k}.part\n" for k in range(24)))
    for k in range(24):
        for name in (f"lung{k:02d}.bin", f"eye{k}.part"):
            (here / name).write_bytes(voxels[576 * k : 576 * (k + 1)])
    found = readStructures(here)
    assert [s.name for s in found] == ["Eye", "Heart", "Liver", "Lung"] and found.leftOut == ()
    SimpleITK.WriteImage(BOX, str(here / "Spleen.mha"))  # whose voxels are in itself, which is called LOCAL
    (here / "LOCAL").write_bytes(b"x")
    assert [one.name for one in readStructures(here).leftOut] == ["LOCAL"]
    assert not any(s.notes for s in found)
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
    (note,) = heart.notes
    says(note, "overlay_Heart.png")


def testNamesInSmallLettersMakeSentences(run, tmp_path):
    for side in ("reference", "test"):
        folder(tmp_path / side, Heart=BOX)
        (tmp_path / side / f"tumor of {side}.gipl").write_bytes(b"something that nobody knows")
    run("compare", "reference", "test", "--metrics", "DSC", "-o", "out")
    (comparison,) = metrics("out")["pairs"]
    told = [f["text"] for f in comparison["findings"] if "tumor" in f["text"]]
    for side, text in zip(("reference", "test"), told, strict=True):
        says(text, f"tumor of {side}.gipl")


def testManyHaveOneRemark(run, tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    for number in range(40):
        (here / f"organ{number:02d}.mgz").write_bytes(b"x")
    found = readStructures(here)
    ((remark,),) = (heart.notes for heart in found)
    says(remark, "organ00.mgz, ", " 32 ")
    says(found.whyLost("organ39"), "organ39.mgz")
    # a message about all of them is short, too
    folder(tmp_path / "other", Liver=BOX, Lung=BOX)
    status, _, err = run("compare", "case", "other")
    assert status == 2 and "organ03" not in says(err, "organ02.mgz", " 37 ")


def testNothingUsableIsLeft(tmp_path):
    folder(tmp_path / "one", CT=CT)
    says(refusal(tmp_path / "one"), "/CT.nrrd: ", LOWEST)
    folder(tmp_path / "two", CT=CT, Dose=CT)
    says(refusal(tmp_path / "two"), "2", "CT.nrrd: ", LOWEST)
    here = folder(tmp_path / "three")
    (here / "Tumor.gipl").write_bytes(b"x")
    says(refusal(here), "Tumor.gipl")
    for more in ({}, {"CT": CT}):
        for name, image in {"Heart": BOX, **more}.items():
            save(image, here / f"{name}.nrrd")
        damage(here / "Heart.nrrd")
        says(refusal(here), "Heart.nrrd: ")
    masks = folder(tmp_path / "study" / "patient 1" / "masks", Heart=BOX)
    says(refusal(tmp_path / "study"), masks.relative_to(tmp_path / "study"))


def testDamagedFiles(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX, Liver=SHIFTED)
    damage(here / "Heart.nrrd")
    (here / "Eye.stl").write_bytes(b"")
    (here / "Lung.nii.gz").symlink_to(here / "nowhere.nii.gz")
    found = readStructures(here)
    (liver,) = found
    said = {name: says(found.remarkOn(name), f"{name}.") for name in ("Eye", "Heart", "Lung")}
    assert found.leftOut == tuple((name, why, False) for name, why in said.items())
    assert liver.name == "Liver" and liver.notes == tuple(said.values())
    assert [s.name for s in readStructures(here, name="Liver")] == ["Liver"]
    assert refusal(here, name="heart") == said["Heart"]


def testComparingFoldersWithImages(run, tmp_path):
    folder("ref", CT=CT, Heart=BOX, Liver=BOX)
    folder("test", CT=CT, Heart=SHIFTED, Liver=BOX)
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    status, out, err = run("compare", "ref", "test", "-o", "out", "--protocol", "limits.csv")
    assert (status, err) == (0, "") and out.count("CT.nrrd") == 1
    document = metrics("out")
    assert "failures" not in document and document["protocol"]["verdict"] == "pass"
    remark = readStructures("ref").remarkOn("CT")
    assert all(any(remark in f["text"] for f in pair["findings"]) for pair in document["pairs"])
    status, _, err = run("compare", "ref", "test", "-o", "other", "--structure", "CT")
    assert status == 2 and says(err, remark) and not Path("other").exists()


def testTheOnlyOnesAreAPair(run, tmp_path):
    """A case with its image, and a result that is called otherwise; but not where the name says that it is another."""
    folder("ref", CT=CT, mask=BOX)
    save(SHIFTED, Path("result.nrrd"))
    assert run("compare", "ref", "result.nrrd", "-o", "out")[0] == 0
    folder("heart", Heart=BOX)
    folder("other", Heart=CT, Liver=BOX)
    status, _, err = run("compare", "heart", "other", "-o", "none")
    assert status == 2 and says(err, "heart ", "other ", "Liver", "Heart.nrrd")


@pytest.mark.parametrize(
    ("command", "unread"),
    [
        *((("compare",), how) for how in ("HEART.mgz", "damaged", "a CT")),
        (("conventions", "--tool", "MedPy"), "damaged"),
    ],
)
def testSomeStructuresCannotBeRead(run, tmp_path, command, unread):
    """The others are compared all the same, and the status says that one was not; it is not said to be missing."""
    name, *options = command
    folder("ref", Heart=BOX, Liver=BOX, Lung=BOX)
    folder("test", Heart=CT if unread == "a CT" else BOX, Liver=SHIFTED, Lung=BOX)
    if unread == "damaged":
        damage("test/Heart.nrrd")
    elif unread != "a CT":
        Path("test/Heart.nrrd").rename(f"test/{unread}")
    file = "HEART.mgz" if unread == "HEART.mgz" else "Heart.nrrd"
    for chosen in ((), ("--structure", "heart", "--structure", "Liver")):
        status, out, err = run(name, "ref", "test", *chosen, *options, "-o", "out")
        assert status == 1 and says(err, file).count("\n") == 1
        assert "Liver" in out and "Heart" not in out.replace(file, "") and ("Lung" in out) == (not chosen)
    document = json.loads(Path(f"out/{'metrics' if name == 'compare' else name}.json").read_text())
    assert [one.casefold() for one in document["failures"]] == ["heart"]
    # a damaged file of another structure does not matter, and without another one there is nothing to compare
    assert run(name, "ref", "test", "--structure", "Liver", *options, "-o", "again")[::2] == (0, "")
    status, out, err = run(name, "ref", "test", "--structure", "heart", *options, "-o", "other")
    assert status == 2 and says(err, file) and not out and not Path("other").exists()


def testBatchHasARowForEach(run, tmp_path):
    """What nobody could read has not been missed, what is not there has."""
    organs = dict.fromkeys(("Heart", "Liver", "Tumor", "Eye", "Lung"), BOX)
    folder("ref", CT=CT, **organs)
    folder("whole", CT=CT, **{**organs, "Heart": SHIFTED})
    folder("part", Heart=SHIFTED, Liver=BOX, Lung=CT)
    damage("part/Heart.nrrd")
    Path("part/Tumor.img").write_bytes(b"x")
    folder("none", CT=CT)
    Path("cases.csv").write_text("case,reference,test\na,ref,whole\nb,ref,part\nc,ref,none\nd,part,ref\n")
    status, _, err = run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")
    assert status == 1 and says(err, "CT.nrrd: ", "b: Heart.nrrd")
    whole, part, *_ = map(json.loads, Path("out/results.jsonl").read_text().splitlines())
    assert whole["status"] == "ok" and "failures" not in whole and len(whole["pairs"]) == len(organs)
    assert any("CT.nrrd" in finding["text"] for finding in whole["pairs"][0]["findings"])
    assert part["status"] == "failed" and sorted(part["failures"]) == ["Heart", "Lung", "Tumor"]
    lost = {name: says(part["failures"][name], f"{name}.") for name in ("Heart", "Tumor")}
    assert lost["Heart"] in part["reason"]
    for case in "bd":
        found = rows(case=case)
        assert found["Liver"]["Status"] == "ok" and float(found["Liver"]["DSC"]) == 1
        for name, why in lost.items():
            assert (found[name]["Status"], found[name]["Reason"], found[name]["DSC"]) == ("could not be used", why, "")
        assert found["Lung"]["Status"] == "could not be used"
    found = rows(case="b")["Eye"]
    assert (found["Status"], float(found["DSC"])) == ("missing in the test", 0)


def structureSet(path: Path, *names: str) -> None:
    grid = Grid((30, 26, 10), np.diag([1.0, 1.5, 2.5, 1.0]))
    corners = np.array([(5, 6), (14, 6), (14, 15), (5, 15)], float)
    loops = [np.column_stack([corners * (1, 1.5), np.full(4, 2.5 * k)]) for k in range(3, 8)]
    slices = dicomfiles.writeSeries(path.parent.parent / "series", grid)
    dicomfiles.writeStructureSet(path, dict.fromkeys(names, loops), slices)


@pytest.mark.parametrize("how", ["cut off late", "empty"])
def testADamagedStructureSetMayHoldAnything(run, tmp_path, how):
    """Nobody knows which structures it has, so no structure of the other side counts as missed."""
    folder("ref", Tumor=BOX)
    folder("test", Tumor=BOX)
    structureSet(Path("ref/set.dcm"), "Heart", "Liver")
    data = Path("ref/set.dcm").read_bytes()
    Path("test/plan.dcm").write_bytes(b"" if how == "empty" else data[:-200])
    Path("cases.csv").write_text("case,reference,test\n1,ref,test\n")
    assert run("batch", "cases.csv", "-o", "out", "--metrics", "overlap", "--workers", "1")[0] == 1
    found = rows()
    assert found["Tumor"]["Status"] == "ok"
    for name in ("set Heart", "set Liver"):
        assert found[name]["Status"] == "could not be used" and found[name]["DSC"] == ""
        says(found[name]["Reason"], "plan.dcm")
    status, out, _ = run("compare", "ref", "test", "--metrics", "overlap")
    assert status == 1 and "Heart" not in out


def testDicomThatDoesNotSayWhatItHolds(run, tmp_path):
    for side in ("ref", "test"):
        folder(side, Tumor=BOX)
        structureSet(Path(side, "set.dcm"), "Heart")
    with dicomfiles.edited(Path("test/set.dcm")) as given:  # without anything that tells what it is
        given.Modality = ""
        for name in ("SOPClassUID", "ROIContourSequence", "StructureSetROISequence"):
            delattr(given, name)
        given.file_meta.MediaStorageSOPClassUID = "1.2.3.4"
    (tumor,) = readStructures("test")
    (note,) = tumor.notes
    status, _, err = run("compare", "ref", "test", "--metrics", "overlap")
    assert status == 1 and note in says(err, "set.dcm")


def testDicomImagesAreNotNamed(tmp_path):
    here = folder(tmp_path / "case", Heart=BOX)
    dicomfiles.writeSeries(here, Grid((30, 26, 4), np.eye(4)))
    for path in here.glob("slice*"):
        shutil.copy(path, path.with_suffix(".IMA"))
    (heart,) = readStructures(here)
    assert not heart.notes


def testWhatLiesBesideTheOnlyStructureSet(tmp_path):
    """Its structures keep their names beside images and unread files; two sets are told apart by theirs."""
    here = tmp_path / "case"
    for names in (["Heart", "Liver"], ["Heart"]):
        structureSet(here / "set.dcm", *names)
        assert list(read(here)) == names
        (here / "shot.png").write_bytes(b"x")
        save(CT, here / "CT.nii.gz")
        found = readStructures(here)
        assert [s.name for s in found] == names
        assert [one.name for one in found.leftOut] == ["CT", "shot"]
    save(BOX, here / "Eye.nrrd")
    assert list(read(here)) == ["Eye", "Heart"]
    structureSet(here / "zweite.dcm", "Heart")
    assert list(read(here)) == ["Eye", "set", "zweite"]


def testADiskThatFails(tmp_path, monkeypatch):
    """An error of the disk or the network while a file is read is that of the file."""
    here, real = folder(tmp_path / "case", Heart=BOX, Liver=BOX), SimpleITK.ReadImage

    def failing(path):
        if path.endswith("Heart.nrrd"):
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(SimpleITK, "ReadImage", failing)
    found = readStructures(here)
    assert [s.name for s in found] == ["Liver"] and says(found.remarkOn("Heart"), "Heart.nrrd", "(Input/output error)")
