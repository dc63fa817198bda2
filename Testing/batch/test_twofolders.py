"""Cases as they lie in folders, one of references and one of tests for each method."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from test_statistics import outcome

from SegmentMetricsLib import __main__
from SegmentMetricsLib.batch.casefolders import Entry, casesIn, match, methodFolders
from SegmentMetricsLib.batch.statistics import OVERALL, Cohort, summarizeOverall
from SegmentMetricsLib.batch.summaryoptions import Options


def entries(*names: str) -> list[Entry]:
    return [Entry(name, Path(name), True) for name in names]


@pytest.mark.parametrize(
    ("references", "tests", "pairs"),
    [
        ("case_1 case_2", "case_2 case_1", "case_1=case_1 case_2=case_2"),
        ("Case_1 case_2", "case_1_pred case_2-Seg", "Case_1=case_1_pred case_2=case_2-Seg"),
        ("a_gt b_gt", "seg_a prediction.b", "a_gt=seg_a b_gt=prediction.b"),
        # of a name and the same with a suffix, the equal one
        ("a", "a a_seg", "a=a"),
        # what several are called says nothing
        ("a", "a_seg a_pred", ""),
        # what all names of a folder end with, and what all names of one folder begin with
        ("p1_expert p2_expert", "p1_net_3 p2_net_3", "p1_expert=p1_net_3 p2_expert=p2_net_3"),
        ("patient_07 patient_11", "07 11", "patient_07=07 patient_11=11"),
        ("liver_1 liver_2", "spleen_1 spleen_2", ""),
        ("x", "x_nnunet", "x=x_nnunet"),
        ("case_0001 case_0000", "case_0000 case_0001", "case_0001=case_0001 case_0000=case_0000"),
        ("Müller", "müller_label", "Müller=müller_label"),
        ("M\u00fcller", "Mu\u0308ller", "M\u00fcller=Mu\u0308ller"),
        # a name that goes on where another one ends, but not with the number of another case
        ("case1", "case1_auto_v2", "case1=case1_auto_v2"),
        ("p1_expert p2", "p1 p2-unet", "p1_expert=p1 p2=p2-unet"),
        ("s1 s1_2", "s1_2 s1_3", "s1_2=s1_2"),
        ("case1", "case10_net case1-a case1-b", ""),
    ],
)
def testNamesSayWhatBelongsTogether(references, tests, pairs):
    found = match(entries(*references.split()), entries(*tests.split()), "nnunet")
    clear = {ours[0].name: theirs[0].name for ours, theirs in found if len(ours) == len(theirs) == 1}
    assert clear == dict(pair.split("=") for pair in pairs.split())


def save(path: str, *boxes) -> None:
    """Write a label map with a box for each label."""
    array = shapes.np.zeros((12, 12, 12), shapes.np.uint8)
    for label, (low, high) in enumerate(boxes, start=1):
        array[tuple(slice(a, b) for a, b in zip(low[::-1], high[::-1]))] = label
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(shapes.imageOf(array), path)


BOX, MOVED, OTHER = ((2, 2, 2), (6, 6, 6)), ((3, 2, 2), (7, 6, 6)), ((7, 7, 7), (11, 11, 11))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folders(here):
    """References of three cases, tests of two methods, one of which lacks a case and a structure."""
    for case in ("a1", "a2", "a10"):
        save(f"labelsTs/{case}.nii.gz", BOX, OTHER)
        save(f"pred1/{case}.nii.gz", MOVED, OTHER)
    save("pred2/a1_seg.nrrd", BOX, OTHER)
    save("pred2/a2_seg.nrrd", BOX)
    save("pred2/b7.nrrd", BOX)
    Path("pred1/plans.json").write_text("{}")
    Path("dataset.json").write_text(json.dumps({"labels": {"background": 0, "both": [1, 2], "first": 1}}))
    return here


def run(*arguments: str) -> int:
    return __main__.main(["batch", *arguments, "-o", "out", "--metrics", "DSC,HD"])


DIRECTORIES = ("--reference-dir", "labelsTs", "--test-dir", "net=pred1", "--test-dir", "other=pred2")


def testMethodFoldersAreCompared(folders, capsys):
    assert run(*DIRECTORIES) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "segment-metrics: 3 cases in labelsTs.",
        "segment-metrics: 3 tests in pred1 (net).",
        "segment-metrics: 2 tests in pred2 (other).",
        "segment-metrics: Only in labelsTs, not in pred2: a10.",
        "segment-metrics: Only in pred2, not in labelsTs: b7.nrrd.",
        f"segment-metrics: The names of the labels are those of {(folders / 'dataset.json')}.",
    ]
    assert "5 of 5 cases compared." in out and OVERALL in out
    rows = rowsOf("out/results.csv")
    found = {(row["Case"], row["Method"], row["Structure"]): float(row["DSC"]) for row in rows}
    cases = [("a1", "net"), ("a1", "other"), ("a2", "net"), ("a2", "other"), ("a10", "net")]
    assert list(dict.fromkeys(key[:2] for key in found)) == cases
    assert {key[2] for key in found} == {"both", "first"}
    # 64 voxels each, moved by one of four
    assert found["a1", "net", "both"] == pytest.approx((48 + 64) / 128)
    assert found["a2", "other", "both"] == pytest.approx(2 * 64 / (64 + 128))
    overall = [row for row in rowsOf("out/means.csv") if row["Measurement"] == "DSC"]
    assert {row["Structure"] for row in overall} == {OVERALL}
    assert [float(row["Mean"]) for row in overall] == pytest.approx([(0.875 + 0.75) / 2, (1 + (2 / 3 + 1) / 2) / 2])


def testStructuresAreChosen(folders, capsys):
    assert run(*DIRECTORIES, "--structure", "FIRST", "--structure", "firts") == 0
    out = capsys.readouterr().out
    assert "--structure firts: no case has such a structure. Did you mean first?" in out
    assert {row["Structure"] for row in rowsOf("out/results.csv")} == {"first"}
    # all of them are something else
    assert run(*DIRECTORIES) == 2 and "give --overwrite to remove them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Cases are given as a table, or as folders with --reference-dir and --test-dir."),
        (("x.csv", *DIRECTORIES), "Cases are given as a table or as folders, not as both: leave out x.csv."),
        (("--reference-dir", "labelsTs"), "Folders are compared with --reference-dir and --test-dir; --test-dir is"),
        (("--test-dir", "pred1"), "Folders are compared with --reference-dir and --test-dir; --reference-dir is"),
        (("--reference-dir", "none", "--test-dir", "pred1"), "none: there is no such folder."),
        (("--reference-dir", "labelsTs", "--test-dir", "x="), "The folder of tests is given as NAME=DIR or DIR, not"),
        ((*DIRECTORIES, "--test-dir", "net=pred2"), "Two folders of tests are called 'net': name them, as in"),
        (
            ("--reference-dir", "labelsTs", "--test-dir", "far"),
            "No file of labelsTs has a counterpart of the same name",
        ),
        (("--reference-dir", "empty", "--test-dir", "pred1"), "empty: there is no case, neither a file that can be"),
    ],
)
def testMistakesAreTold(folders, capsys, arguments, message):
    save("far/elsewhere.nii.gz", BOX)
    Path("empty").mkdir()
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err


def testAFolderPerCase(here):
    """As of TotalSegmentator, with a folder for the masks, and of BraTS, with images beside the segmentation."""
    for case in ("s1", "s2"):
        save(f"masks/{case}/segmentations/liver.nii.gz", BOX)
        save(f"masks/{case}/segmentations/spleen.nii.gz", OTHER)
        save(f"found/{case}/liver.nii.gz", BOX)
        save(f"brats/{case}/{case}-seg.nii.gz", BOX, OTHER)
        save(f"brats/{case}/{case}-t1c.nii.gz", BOX)
    tests = methodFolders(["found", "brats"])
    cases = casesIn(Path("masks"), tests)
    assert [name for name, _ in tests] == ["found", "brats"]
    lines = [line.cells for line in cases.sheet.lines]
    assert [(cells["case"], cells["method"]) for cells in lines] == [
        ("s1", "found"), ("s1", "brats"), ("s2", "found"), ("s2", "brats"),
    ]  # fmt: skip
    assert [Path(cells["test"]).name for cells in lines] == [
        "liver.nii.gz", "s1-seg.nii.gz", "liver.nii.gz", "s2-seg.nii.gz",
    ]  # fmt: skip
    assert {Path(cells["reference"]).name for cells in lines} == {"segmentations"}


def testFilesStandForCases(here):
    """Whatever they are called: their structure has the same name in all of them."""
    for name in ("anna", "bert"):
        save(f"r/{name}.nrrd", BOX)
        save(f"t/{name}.nrrd", MOVED)
    assert run("--reference-dir", "r", "--test-dir", "t") == 0
    found = [(row["Case"], row["Method"], row["Structure"]) for row in rowsOf("out/results.csv")]
    assert found == [("anna", "", "Label 1"), ("bert", "", "Label 1")]


def testTheMeanOverStructuresCountsWhatIsMissed():
    """A method that misses a structure must not look better for it."""

    def case(name: str, **values) -> dict:
        """Return a case with the Dice and the largest distance of some structures."""
        cases = [outcome(name, {"DSC": dice, "HD": far}, name=one) for one, (dice, far) in values.items()]
        return cases[0] | {"pairs": [pair for one in cases for pair in one["pairs"]]}

    cohort = Cohort([case("1", a=(0.8, 2.0), b=(0.4, 4.0)), case("2", a=(0.6, 1.0), b=(0.0, math.inf))])
    dice, far = summarizeOverall(cohort, Options())
    if dice.measurement != "DSC":
        dice, far = far, dice
    assert (dice.mean, dice.minimum, dice.cases) == pytest.approx((0.45, 0.3, 2))
    assert (far.minimum, far.maximum, far.infinite, far.mean) == (3.0, float("inf"), 1, 3.0)
    assert not summarizeOverall(Cohort([case("1", a=(0.8, 2.0))]))
