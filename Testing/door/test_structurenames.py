"""What the only structure of a file is called: like the file, or, where files stand for cases, like its label."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import metrics
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, compareCase, readStructures

BOX, MOVED = ((2, 2, 2), (9, 9, 9)), ((3, 2, 2), (10, 9, 9))
OVERLAP = Settings(families="overlap")


def write(path: str, value: int = 1, box=BOX) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(shapes.box(*box, value=value), path)


def writeTwo(path: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(shapes.labelImage({1: BOX, 2: ((12, 2, 2), (15, 9, 9))}), path)


@pytest.fixture
def folders(run):
    """Two folders with a mask per structure, of 1 in one and of 255 in the other."""
    for folder, value, box in (("ref", 1, BOX), ("test", 255, MOVED)):
        for name in ("Brainstem", "Parotid_L"):
            write(f"{folder}/{name}.nrrd", value, box)
    return run


def runBatch(run, *rows: str) -> int:
    Path("cases.csv").write_text("case,reference,test\n" + "\n".join(rows) + "\n")
    return run("batch", "cases.csv", "--metrics", "overlap", "--workers", "1", "-o", "all")[0]


def testAloneAndInAFolder(folders):
    (alone,) = readStructures("ref/Brainstem.nrrd")
    assert alone.name == "Brainstem" == readStructures("ref")[0].name
    for name in ("Brainstem", "brain stem", "Label 1", "1", 1):
        assert readStructures("ref/Brainstem.nrrd", name=name)[0].name == "Brainstem"
    with refused("'2'", "Brainstem"):
        readStructures("ref/Brainstem.nrrd", name=2)
    # beside names it stands for a structure, too
    write("Liver.nrrd")
    assert compareCase("Liver.nrrd", "test", OVERLAP).unmatched["reference"] == ["Liver"]
    # names of labels come first, also for memberships
    assert readStructures("ref/Brainstem.nrrd", labelNames={1: "stem"})[0].name == "stem"
    SimpleITK.WriteImage(SimpleITK.Cast(shapes.box(*BOX), SimpleITK.sitkFloat32) * 0.7, "Heart.nrrd")
    assert readStructures("Heart.nrrd")[0].name == "Heart"
    assert readStructures("Heart.nrrd", labelNames={1: "cor"})[0].name == "cor"


@pytest.mark.parametrize(
    ("reference", "test", "names"),
    [
        ("ref", "test/Brainstem.nrrd", ["Brainstem"]),
        ("ref/Brainstem.nrrd", "test", ["Brainstem"]),
        ("ref/Brainstem.nrrd", "test/Brainstem.nrrd", ["Brainstem"]),
        # two structures, in whatever spelling
        ("ref/Brainstem.nrrd", "test/Parotid_L.nrrd", ["Brainstem", "Parotid_L"]),
        ("Parotid_L", "right parotid", ["Parotid_L", "right parotid"]),
        ("Parotid_L", "Parotid_R", ["Parotid_L", "Parotid_R"]),
        ("Brainstem", "gt_brainstem", ["Brainstem"]),
        ("Brainstem_ai_2", "Brainstem", ["Brainstem"]),
        ("Brain Stem", "brainstem", ["brainstem"]),
        ("BrainStem", "brain_stem", ["BrainStem"]),
        ("Brainstem", "brain_stem_ai", ["Brainstem", "brain_stem_ai"]),  # three words, of which the other is none
        ("Parotid_L", "left parotid", ["Parotid_L"]),
        # a word that says who drew it is no name
        ("Brainstem", "prediction", ["Brainstem"]),
        ("reference", "prediction", ["Label 1"]),
        ("Pred", "pred", ["Label 1"]),
        # cases, and other labels beside it
        ("case1_gt", "case1_pred", ["Label 1"]),
        ("001", "1", ["Label 1"]),
        ("ref/Brainstem.nrrd", "labels", ["Label 1"]),
    ],
)
def testPairs(folders, reference, test, names):
    """Of two files, or of a file and a folder."""
    given = []
    for side, name in (("a", reference), ("b", test)):
        isThere = Path(name).exists()
        given.append(name if isThere else f"{side}/{name}.nrrd")
        if not isThere:
            (writeTwo if name == "labels" else write)(given[-1])
    (comparison,) = compareCase(*given, OVERLAP)
    assert [comparison.reference.name, comparison.test.name] == [names[0], names[-1]]


@pytest.mark.parametrize(
    "options",
    [("--structure", name) for name in ("1", "Label 255", "brainstem")]
    + [("--pair", "1=255"), ("--pair", "Label 1=Brainstem")],
)
def testLabelsStillFindThem(folders, options):
    pair = ("ref/Brainstem.nrrd", "test/Brainstem.nrrd")
    assert folders("compare", *pair, "--metrics", "overlap", "--output", "out", *options)[0] == 0
    assert [pair["reference"]["name"] for pair in metrics("out")["pairs"]] == ["Brainstem"]


def testFoldersOfCases(folders):
    for number in range(1, 5):
        write(f"labelsTs/case_{number:03d}.nrrd")
        write(f"predictions/case_{number:03d}_0000.nrrd")
        for path in (f"many/p{number}.nrrd", f"others/p{number}_0000.nrrd"):
            writeTwo(path)
    for pair in (("labelsTs", "predictions"), ("many", "others")):
        status, _, error = folders("compare", *pair)
        assert status == 2 and len(says(error, "segment-metrics batch")) < 2000
    # a file per structure is no case
    for pair, isTold in ((("many", "many"), True), (("ref", "test"), False)):
        status, out, _ = folders("compare", *pair, "--metrics", "overlap")
        assert status == 0 and ("segment-metrics batch" in out) == isTold


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        # the case, and both files; - stands for the name of the label
        ("1 Brainstem Brainstem", "Brainstem"),
        ("1 Brainstem Brainstem; 2 Parotid_L Parotid_L", "Brainstem Parotid_L"),
        ("1 Brainstem brainstem; 2 BRAINSTEM brainstem", "Brainstem Brainstem"),
        ("1 rib_1 rib_1; 1b rib_2 rib_2; 2 rib_1 rib_1; 2b rib_2 rib_2", "rib_1 rib_2 rib_1 rib_2"),
        ("case1 case1 case1; case2 case2 case2", "- -"),
        ("1 LIDC-0001 LIDC-0001_pred; 2 LIDC-0002 LIDC-0002_pred", "- -"),
        ("1 A_001 A_001; 2 B_002 B_002", "- -"),
        ("1 ref test; 2 ref test", "- -"),
        ("1 Liver prediction; 2 Liver prediction", "- -"),
        ("1 p1_Liver p1_Liver_ai; 2 p1_Lung p1_Lung_ai", "Liver Lung"),
        ("1 p1_Liver p1_Liver; 2 p2_Liver p2_Liver", "- -"),
    ],
)
def testNamesInLists(run, lines, names):
    rows = []
    for line in lines.split("; "):
        case, *stems = line.split(" ")
        paths = [f"{folder}{case}/{stem}.nrrd" for folder, stem in zip(("gt", "ai"), stems, strict=True)]
        write(paths[0])
        write(paths[1], 255, MOVED)
        rows.append(",".join((case, *paths)))
    assert runBatch(run, *rows) == 0
    found = rowsOf("all/results.csv")
    assert [(row["Reference"], row["Test"]) for row in found] == [
        ("Label 1", "Label 255") if name == "-" else (name, name) for name in names.split(" ")
    ]
    assert all(0.5 < float(row["DSC"]) < 1 for row in found)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 255), (255, 1), (1, 2), (1, 3)])
def testOneRuleForCompareAndBatch(run, first, second):
    """Also where the only structures do not overlap: then two different labels are two structures in both."""
    write("r.nrrd", first)
    for box, arePair in ((MOVED, True), (((14, 14, 14), (16, 16, 16)), first == second or 255 in (first, second))):
        write("t.nrrd", second, box)
        status = run("compare", "r.nrrd", "t.nrrd", "--metrics", "overlap", "--output", "two")[0]
        assert status == (0 if arePair else 2) == runBatch(run, "1,r.nrrd,t.nrrd")
        (record,) = map(json.loads, Path("all/results.jsonl").read_text().splitlines())
        assert len(record["pairs"]) == int(arePair)
        for own, pair in zip(record["pairs"], metrics("two")["pairs"]):
            assert pair["measurements"]["DSC"]["value"] == own["measurements"]["DSC"]["value"]
            assert all(pair[side]["name"] == own[side]["name"] for side in ("reference", "test"))
