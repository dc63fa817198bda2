"""What the only structure of a file is called: like the file, or, where files stand for cases, like its label."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import shapes
import SimpleITK

from SegmentMetricsLib import __main__, readStructures
from SegmentMetricsLib.io.structurenames import commonName, namesOfFiles

BOX, MOVED = ((2, 2, 2), (9, 9, 9)), ((3, 2, 2), (10, 9, 9))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two folders with a mask per structure, of 1 in one and of 255 in the other."""
    monkeypatch.chdir(tmp_path)
    for folder, value, box in (("ref", 1, BOX), ("test", 255, MOVED)):
        Path(folder).mkdir()
        for name in ("Brainstem", "Parotid_L"):
            write(f"{folder}/{name}.nrrd", value, box)
    return tmp_path


def write(path: str, value: int = 1, box=BOX) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(shapes.box(*box, value=value), path)


def compared(*arguments: str) -> list[tuple[str, str]]:
    assert __main__.main(["compare", *arguments, "--metrics", "overlap", "--numbers-only", "--output", "out"]) == 0
    document = json.loads(Path("out/metrics.json").read_text())
    return [(pair["reference"]["name"], pair["test"]["name"]) for pair in document["pairs"]]


def cohort(*rows: str) -> list[dict]:
    """Run a batch and return the rows of results.csv."""
    Path("cases.csv").write_text("case,reference,test\n" + "\n".join(rows) + "\n")
    assert __main__.main(["batch", "cases.csv", "--metrics", "overlap", "--workers", "1", "--output", "all"]) == 0
    with open("all/results.csv", newline="") as file:
        return list(csv.DictReader(file))


# One file, and a folder


def testAloneAndInAFolder(files):
    (alone,) = readStructures("ref/Brainstem.nrrd")
    assert alone.name == "Brainstem" == readStructures("ref")[0].name
    for name in ("Brainstem", "brain stem", "Label 1", "1", 1):
        assert readStructures("ref/Brainstem.nrrd", name=name)[0].name == "Brainstem"
    with pytest.raises(ValueError, match="there is no structure named 2; it has Brainstem"):
        readStructures("ref/Brainstem.nrrd", name=2)
    # names of labels come first
    assert readStructures("ref/Brainstem.nrrd", labelNames={1: "stem"})[0].name == "stem"


def testMembershipsAreCalledByTheirFile(files):
    image = SimpleITK.Cast(shapes.box(*BOX), SimpleITK.sitkFloat32) * 0.7
    SimpleITK.WriteImage(image, "Heart.nrrd")
    assert readStructures("Heart.nrrd")[0].name == "Heart"
    assert readStructures("Heart.nrrd", labelNames={1: "cor"})[0].name == "cor"


# Two files or folders


@pytest.mark.parametrize(
    ("pair", "names"),
    [
        (("ref", "test/Brainstem.nrrd"), [("Brainstem", "Brainstem")]),
        (("ref/Brainstem.nrrd", "test"), [("Brainstem", "Brainstem")]),
        (("ref/Brainstem.nrrd", "test/Brainstem.nrrd"), [("Brainstem", "Brainstem")]),
        (("ref/Brainstem.nrrd", "test/Parotid_L.nrrd"), [("Brainstem", "Parotid_L")]),
        (("ref/Brainstem.nrrd", "brain_stem_ai.nrrd"), [("Brainstem", "Brainstem")]),
        (("ref/Brainstem.nrrd", "prediction.nrrd"), [("Brainstem", "Brainstem")]),
        (("ref/Brainstem.nrrd", "labels.nrrd"), [("Label 1", "Label 1")]),
        (("case1_gt.nrrd", "case1_pred.nrrd"), [("Label 1", "Label 1")]),
        (("reference.nrrd", "prediction.nrrd"), [("Label 1", "Label 1")]),
    ],
)
def testPairs(files, pair, names):
    for name in ("Brainstem_ai", "prediction", "case1_gt", "case1_pred", "reference"):
        write(f"{name}.nrrd")
    Path("Brainstem_ai.nrrd").rename("brain_stem_ai.nrrd")
    SimpleITK.WriteImage(shapes.labelImage({1: BOX, 2: ((12, 2, 2), (15, 9, 9))}), "labels.nrrd")
    if "brain_stem_ai.nrrd" in pair:  # three words, of which the reference's name is none
        names = [("Brainstem", "brain_stem_ai")]
    assert compared(*pair) == names


@pytest.mark.parametrize(
    "options",
    [
        ("--structure", "1"),
        ("--structure", "Label 255"),
        ("--structure", "brainstem"),
        ("--pair", "1=255"),
        ("--pair", "Label 1=Brainstem"),
    ],
)
def testLabelsStillFindThem(files, options):
    assert compared("ref/Brainstem.nrrd", "test/Brainstem.nrrd", *options) == [("Brainstem", "Brainstem")]


def testFoldersOfCases(files, capsys):
    advice = "to compare many cases, list them for segment-metrics batch"
    for number in range(1, 5):
        write(f"labelsTs/case_{number:03d}.nrrd")
        write(f"predictions/case_{number:03d}_0000.nrrd")
        image = shapes.labelImage({1: BOX, 2: ((12, 2, 2), (15, 9, 9))})
        for folder, suffix in (("many", ""), ("others", "_0000")):
            Path(folder).mkdir(exist_ok=True)
            SimpleITK.WriteImage(image, f"{folder}/p{number}{suffix}.nrrd")
    for pair in (("labelsTs", "predictions"), ("many", "others")):
        assert __main__.main(["compare", *pair]) == 2
        error = capsys.readouterr().err
        assert advice in error and len(error) < 2000 and "There is 1 more" not in error
    assert __main__.main(["compare", "many", "many", "--metrics", "overlap"]) == 0
    assert advice in capsys.readouterr().out
    # a file per structure
    assert __main__.main(["compare", "ref", "test", "--metrics", "overlap"]) == 0
    assert "batch" not in capsys.readouterr().out


# A list of cases


def testAListOfStructures(files):
    rows = cohort("p1,ref/Brainstem.nrrd,test/Brainstem.nrrd", "p2,ref/Parotid_L.nrrd,test/Parotid_L.nrrd")
    assert [row["Reference"] for row in rows] == ["Brainstem", "Parotid_L"]
    assert all(0.5 < float(row["DSC"]) < 1 for row in rows)


def testAListOfCases(files):
    for number in (1, 2):
        write(f"gt/case_{number}.nrrd")
        write(f"ai/case_{number}_0000.nrrd", 255, MOVED)
    rows = cohort(*(f"{number},gt/case_{number}.nrrd,ai/case_{number}_0000.nrrd" for number in (1, 2)))
    assert [(row["Reference"], row["Test"]) for row in rows] == [("Label 1", "Label 255")] * 2


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        # the case, and both files
        ("1 a/Brainstem b/Brainstem; 2 a/Brainstem b/Brainstem", "Brainstem Brainstem"),
        ("1 Brainstem brainstem; 2 BRAINSTEM brainstem", "Brainstem Brainstem"),
        ("1 rib_1 rib_1; 1b rib_2 rib_2; 2 rib_1 rib_1; 2b rib_2 rib_2", "rib_1 rib_2 rib_1 rib_2"),
        ("case1 case1 case1; case2 case2 case2", "- -"),
        ("1 LIDC-0001 LIDC-0001_pred; 2 LIDC-0002 LIDC-0002_pred", "- -"),
        ("1 A_001 A_001; 2 B_002 B_002", "- -"),
        ("1 ref test; 2 ref test", "- -"),
        ("1 Liver prediction; 2 Liver prediction", "- -"),
        ("1 p1_Liver p1_Liver_ai; 2 p1_Lung p1_Lung_ai", "Liver Lung"),
        ("1 p1_Liver p1_Liver; 2 p2_Liver p2_Liver", "- -"),
        ("1 Liver Spleen; 2 - Spleen", "- -"),
    ],
)
def testNamesInLists(lines, names):
    given = [line.replace("a/", "").replace("b/", "").replace(" - ", "  ").split(" ") for line in lines.split("; ")]
    assert namesOfFiles(map(tuple, given)) == [name.replace("-", "") for name in names.split(" ")]


def testSharedNames():
    assert commonName("Brainstem", "gt_brainstem") == "Brainstem" == commonName("Brainstem_ai_2", "Brainstem")
    # in any spelling
    assert commonName("Brain Stem", "brainstem") == "brainstem" and commonName("BrainStem", "brain_stem") == "BrainStem"
    assert commonName("Parotid_L", "left parotid") == "Parotid_L"
    assert commonName("Pred", "pred") == commonName("Parotid_L", "right parotid") == ""
    assert commonName("Parotid_L", "Parotid_R") == commonName("001", "1") == commonName("", "Liver_1") == ""


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 255), (255, 1), (1, 2), (1, 3)])
def testOneRuleForCompareAndBatch(files, first, second):
    """Also where the only structures do not overlap: then two different labels are two structures in both."""
    write("r.nrrd", first)
    for box, arePair in ((MOVED, True), (((14, 14, 14), (16, 16, 16)), first == second or 255 in (first, second))):
        write("t.nrrd", second, box)
        status = __main__.main(["compare", "r.nrrd", "t.nrrd", "--metrics", "overlap", "--output", "two"])
        assert status == (0 if arePair else 2)
        Path("cases.csv").write_text("case,reference,test\n1,r.nrrd,t.nrrd\n")
        arguments = ["batch", "cases.csv", "--metrics", "overlap", "--workers", "1", "--output", "all"]
        assert __main__.main(arguments) == status
        (record,) = map(json.loads, Path("all/results.jsonl").read_text().splitlines())
        assert len(record["pairs"]) == int(arePair)
        if arePair:
            (pair,) = json.loads(Path("two/metrics.json").read_text())["pairs"]
            assert pair["measurements"]["DSC"]["value"] == record["pairs"][0]["measurements"]["DSC"]["value"]
            assert [one["name"] for one in (pair["reference"], pair["test"])] == [
                record["pairs"][0][side]["name"] for side in ("reference", "test")
            ]
