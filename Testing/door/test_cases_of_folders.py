"""What lies in two folders: cases that are there twice or not at all, and structures that are no cases."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import run as run
from sayings import refused, says

from SegmentMetricsLib import Settings, compareBatch

BOX = shapes.box((4, 4, 4), (14, 14, 14))


def save(path: str, shift: int = 0, image=BOX) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(SimpleITK.CyclicShift(image, (shift, 0, 0)), path)


def statusOf(folder: str) -> dict[tuple[str, str], str]:
    """Return the status of each case and method."""
    return {(row["Case"], row["Method"]): row["Status"] for row in rowsOf(f"{folder}/results.csv")}


BATCH = ("batch", "--reference-dir", "labels", "--test-dir", "pred", "--metrics", "DSC", "--workers", "1")


@pytest.mark.parametrize(
    ("folder", "names", "twice"),
    [
        ("pred", "case_1.nrrd case_1.nii.gz", "case_1.nii.gz, case_1.nrrd"),
        ("labels", "case_1.nrrd case_1.mha", "case_1.mha, case_1.nrrd"),
        ("pred", "case_1_seg.nrrd case_1_pred.mha", "case_1_pred.mha, case_1_seg.nrrd"),
        ("pred", "case_1/a.nrrd case_1.nrrd", "case_1.nrrd, case_1"),
        ("pred", "case_1_net.nrrd case_1_old.nrrd", "case_1_net.nrrd, case_1_old.nrrd"),
    ],
)
def testACaseThatAFolderHasTwiceFails(run, folder, names, twice):
    """It has a row and a reason, is not said to be missing, and the status is 1; the other case is compared."""
    for one in ("labels", "pred"):
        for name in (*(names.split() if one == folder else ["case_1.nrrd"]), "case_2.nrrd"):
            save(f"{one}/{name}", one == "pred")
    status, _, err = run(*BATCH, "-o", "out")
    assert status == 1
    assert statusOf("out") == {("case_1", ""): "failed", ("case_2", ""): "ok"}
    assert "case_2" not in says(err, folder, twice)
    results = compareBatch("labels", Settings(metrics="DSC"), tests="pred", output="again")
    assert list(results.failures()) == ["case_1"] and statusOf("again") == statusOf("out")
    says("\n".join(results.remarks), "case_1")


def testAFurtherFileOfACaseIsSaidToBeOne(run):
    """An equal name decides; what else belongs to the case is not said to be missing from the other folder.

    A folder with the results of a batch is no case.
    """
    Path("pred/results").mkdir(parents=True)
    Path("pred/results/results.jsonl").touch()
    for name in ("labels/c1.nrrd", "pred/c1.nrrd", "pred/c1_prediction.nrrd", "pred/c9.nrrd"):
        save(name)
    status, _, err = run(*BATCH, "-o", "out")
    assert status == 0 and statusOf("out") == {("c1", ""): "ok"}
    assert "results" not in says(err, "c1_prediction.nrrd", "c9.nrrd")


def testACaseThatAMethodLacks(run):
    """It is named under the table, in summary.json and on the page, which has Friedman's test, too."""
    random = np.random.default_rng(0)
    for case in range(7):
        for place, folder in enumerate(("labels", "A", "B", "C")):
            if (folder, case) != ("C", 3):
                save(f"{folder}/case_{case}.nrrd", place and place + int(random.integers(0, 2)))
    methods = [part for name in "ABC" for part in ("--test-dir", f"{name}={name}")]
    status, out, _ = run(*BATCH[:3], *methods, *BATCH[5:], "--report", "-o", "out")
    assert status == 0 and "case_3" in out and re.search(r"\b6 .* 7\b", out)
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["lacking"] == [{"method": "C", "cases": ["case_3"]}] and "case_3" in summary["ofLacking"]
    page = Path("out/reports/index.html").read_text(encoding="utf-8")
    # without running its scripts
    text = " ".join(part.partition("</script>")[2] for part in f"</script>{page}".split("<script"))
    assert "case_3" in text and "Friedman" in page
    (test, *_) = [one for one in summary["pairedTests"] if one["measurement"] == "DSC"]
    assert test["friedmanCases"] == 6 and f'"friedmanP":{test["friedmanP"]:.4g}'[:14] in page
    # a list of cases, and a single method with a case that only the references have
    with open("list.csv", "w") as file:
        file.write("case,reference,test,method\n")
        file.writelines(f"{n},labels/case_{n}.nrrd,{m}/case_{n}.nrrd,{m}\n" for n in (1, 2) for m in "AB"[: 3 - n])
    results = compareBatch("list.csv", Settings(metrics="DSC"), output="listed")
    assert " B " in results.remarks[0] and "2" in results.remarks[0] and not results.failures()
    with open("list.csv", "a") as file:
        file.write(",labels/case_1.nrrd,A/case_1.nrrd,A\n")
    again = compareBatch("list.csv", Settings(metrics="DSC"), output="again")
    # a line that names no case fails, and no method lacks it
    assert again.remarks == results.remarks and len(again.failures()) == 1
    status, out, _ = run(*BATCH[:3], "--test-dir", "C", *BATCH[5:], "-o", "alone")
    assert status == 0 and "case_3" in out


@pytest.mark.parametrize(
    ("names", "isAsked"),
    [
        ("Brainstem Parotid_L Parotid_R SpinalCord Chiasm", True),
        ("optic_nerve_left optic_nerve_right lung_upper_lobe_left vertebrae_L1 rib_left_1", True),
        ("PTV_High Bladder Rectum", True),
        ("brain_01 brain_02 brain_03", False),
        ("anna_liver ben_liver", False),
        ("smith jones miller", False),
    ],
)
def testStructuresOfOnePatientAreNoCases(run, names, isAsked):
    for name in names.split():
        save(f"labels/{name}.nrrd")
        save(f"pred/{name}.nrrd", 1)
    status, _, err = run(*BATCH, "-o", "out")
    if isAsked:
        assert status == 2 and not Path("out").exists() and says(err, "segment-metrics compare labels pred")
        with refused("segment-metrics compare labels pred"):
            compareBatch("labels", tests="pred", output="out")
        # the answers that the question names
        assert run("compare", "labels", "pred", "--metrics", "DSC")[0] == 0
        lines = "\n".join(f"{name},labels/{name}.nrrd,pred/{name}.nrrd" for name in names.split())
        Path("list.csv").write_text(f"case,reference,test\n{lines}\n")
        assert len(compareBatch("list.csv", Settings(metrics="DSC"), output="listed").outcomes) == len(names.split())
    else:
        # files stand for cases, and their structure has the same name in all of them
        assert status == 0 and list(statusOf("out")) == [(name, "") for name in sorted(names.split())]
        assert {row["Structure"] for row in rowsOf("out/results.csv")} == {"Label 1"}


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
        ("07 11", "patient_07 patient_11", "07=patient_07 11=patient_11"),
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
def testNamesSayWhatBelongsTogether(run, references, tests, pairs):
    """Files that cannot be read are listed as well."""
    for folder, names in (("labels", references), ("nnunet", tests)):
        Path(folder).mkdir()
        for name in names.split():
            Path(folder, f"{name}.nrrd").touch()
    try:
        outcomes = compareBatch("labels", tests={"nnunet": "nnunet"}, output="out").outcomes
    except ValueError as error:
        says(str(error), "labels", "nnunet")
        outcomes = []
    clear = [one for one in outcomes if one["reference"] in one["reason"]]
    found = {Path(one["reference"]).stem: Path(one["test"]).stem for one in clear}
    assert found == dict(pair.split("=") for pair in pairs.split())


SMALL = (12, 12, 12)
LABELS = {1: ((2, 2, 2), (5, 5, 5)), 2: ((7, 7, 7), (10, 10, 10))}
BOTH, FIRST = shapes.labelImage(LABELS, SMALL), shapes.labelImage({1: LABELS[1]}, SMALL)
MOVED = shapes.labelImage({**LABELS, 1: ((3, 2, 2), (6, 5, 5))}, SMALL)


@pytest.fixture
def folders(run):
    """References of three cases, tests of two methods, one of which lacks a case and a structure."""
    for case in ("a1", "a2", "a10"):
        save(f"labelsTs/{case}.nii.gz", image=BOTH)
        save(f"pred1/{case}.nii.gz", image=MOVED)
    for path, image in {"a1_seg": BOTH, "a2_seg": FIRST, "b7": FIRST}.items():
        save(f"pred2/{path}.nrrd", image=image)
    Path("pred1/plans.json").write_text("{}")
    Path("dataset.json").write_text(json.dumps({"labels": {"background": 0, "both": [1, 2], "first": 1}}))
    return lambda *arguments: run("batch", *arguments, "-o", "out", "--metrics", "DSC,HD")


DIRECTORIES = ("--reference-dir", "labelsTs", "--test-dir", "net=pred1", "--test-dir", "other=pred2")


def testMethodFoldersAreCompared(folders):
    status, out, err = folders(*DIRECTORIES)
    assert status == 0
    for line, *names in zip(
        err.splitlines(),
        ("3", "3", "2", "a10", "b7.nrrd", Path("dataset.json").resolve()),
        ("labelsTs", "pred1 (net)", "pred2 (other)", "pred2", "pred2", "."),
        strict=True,
    ):
        says(line, *names)
    assert re.search(r"\b5 .* 5\b", out) and "Mean of structures" in out
    rows = rowsOf("out/results.csv")
    found = {(row["Case"], row["Method"], row["Structure"]): float(row["DSC"]) for row in rows}
    cases = [("a1", "net"), ("a1", "other"), ("a2", "net"), ("a2", "other"), ("a10", "net")]
    assert list(dict.fromkeys(key[:2] for key in found)) == cases
    assert {key[2] for key in found} == {"both", "first"}
    # 64 voxels each, moved by one of four
    assert found["a1", "net", "both"] == pytest.approx((48 + 64) / 128)
    assert found["a2", "other", "both"] == pytest.approx(2 * 64 / (64 + 128))
    overall = [row for row in rowsOf("out/means.csv") if row["Measurement"] == "DSC"]
    assert {row["Structure"] for row in overall} == {"Mean of structures"}
    assert [float(row["Mean"]) for row in overall] == pytest.approx([(0.875 + 0.75) / 2, (1 + (2 / 3 + 1) / 2) / 2])
    # other structures are other results
    chosen = ("--structure", "FIRST", "--structure", "firts")
    status, _, err = folders(*DIRECTORIES, *chosen)
    assert status == 2 and says(err, "out: ", "--overwrite")
    _, out, _ = folders(*DIRECTORIES, *chosen, "--overwrite")
    assert "firts" in out and "first?" in out
    assert {row["Structure"] for row in rowsOf("out/results.csv")} == {"first"}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["--reference-dir", "--test-dir"]),
        (("x.csv", *DIRECTORIES), ["x.csv"]),
        (("--reference-dir", "pred1"), ["; --test-dir "]),
        (("--test-dir", "pred1"), ["; --reference-dir "]),
        (("--reference-dir", "none", "--test-dir", "pred1"), ["none: "]),
        (("--reference-dir", "pred1", "--test-dir", "x="), ["NAME=DIR", "'x='"]),
        ((*DIRECTORIES, "--test-dir", "net=pred2"), ["'net'"]),
        (("--reference-dir", "empty", "--test-dir", "pred1"), ["empty: "]),
    ],
)
def testMistakesAreTold(run, arguments, names):
    save("pred1/a.nrrd")
    Path("empty").mkdir()
    status, _, err = run("batch", *arguments, "-o", "out")
    assert status == 2 and says(err, *names)


def testAFolderPerCase(run):
    """As of TotalSegmentator, with a folder for the masks, and of BraTS, with images beside the segmentation."""
    for case in ("s1", "s2"):
        save(f"masks/{case}/segmentations/liver.nii.gz", image=FIRST)
        save(f"masks/{case}/segmentations/spleen.nii.gz", image=FIRST)
        save(f"found/{case}/liver.nii.gz", image=FIRST)
        save(f"brats/{case}/{case}-seg.nii.gz", image=BOTH)
        save(f"brats/{case}/{case}-t1c.nii.gz", image=FIRST)
    tests = {"found": "found", "brats": "brats"}
    outcomes = compareBatch("masks", Settings(metrics="DSC"), tests=tests, output="out").outcomes
    expected = [(s, *one) for s in ("s1", "s2") for one in (("found", "liver.nii.gz"), ("brats", f"{s}-seg.nii.gz"))]
    assert [(one["case"], one["method"], Path(one["test"]).name) for one in outcomes] == expected
    assert {Path(one["reference"]).name for one in outcomes} == {"segmentations"}
