"""What lies in two folders: cases that are there twice or not at all, and structures that are no cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import run as run

from SegmentMetricsLib import Settings, compareBatch

BOX = shapes.box((4, 4, 4), (14, 14, 14))


def save(path: str, shift: int = 0, image=BOX) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    SimpleITK.WriteImage(SimpleITK.CyclicShift(image, (shift, 0, 0)), path)


def statusOf(folder: str) -> dict[tuple[str, str], str]:
    """Return the status of each case and method."""
    return {(row["Case"], row["Method"]): row["Status"] for row in rowsOf(f"{folder}/results.csv")}


def textOf(page: str) -> str:
    """Return what a page says without running its scripts."""
    return " ".join(part.partition("</script>")[2] for part in f"</script>{page}".split("<script"))


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
    assert f"{folder} has {twice}" in err and "case_2" not in err
    results = compareBatch("labels", Settings(metrics="DSC"), tests="pred", output="again")
    assert list(results.failures()) == ["case_1"] and statusOf("again") == statusOf("out")
    assert any("case_1" in remark for remark in results.remarks)


def testAFurtherFileOfACaseIsSaidToBeOne(run):
    """An equal name decides; what else belongs to the case is not said to be missing from the other folder."""
    for name in ("labels/c1.nrrd", "pred/c1.nrrd", "pred/c1_prediction.nrrd", "pred/c9.nrrd"):
        save(name)
    status, _, err = run(*BATCH, "-o", "out")
    assert status == 0 and statusOf("out") == {("c1", ""): "ok"}
    assert "c1_prediction.nrrd" in err
    assert "c9.nrrd" in err


def testACaseThatAMethodLacks(run):
    """It is named under the table, in summary.json and on the page, which has Friedman's test, too."""
    random = np.random.default_rng(0)
    for case in range(7):
        for place, folder in enumerate(("labels", "A", "B", "C")):
            if (folder, case) != ("C", 3):
                save(f"{folder}/case_{case}.nrrd", place and place + int(random.integers(0, 2)))
    methods = [part for name in "ABC" for part in ("--test-dir", f"{name}={name}")]
    status, out, _ = run(*BATCH[:3], *methods, *BATCH[5:], "--report", "-o", "out")
    assert status == 0 and "case_3" in out and "6 of 7" in out
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["lacking"] == [{"method": "C", "cases": ["case_3"]}] and "case_3" in summary["ofLacking"]
    page = Path("out/reports/index.html").read_text(encoding="utf-8")
    assert "case_3" in textOf(page) and "Friedman" in page
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
        assert status == 2 and not Path("out").exists()
        assert "segment-metrics compare labels pred" in err
        with pytest.raises(ValueError, match="segment-metrics compare labels pred"):
            compareBatch("labels", tests="pred", output="out")
        # the answers that the question names
        assert run("compare", "labels", "pred", "--metrics", "DSC")[0] == 0
        lines = "\n".join(f"{name},labels/{name}.nrrd,pred/{name}.nrrd" for name in names.split())
        Path("list.csv").write_text(f"case,reference,test\n{lines}\n")
        assert len(compareBatch("list.csv", Settings(metrics="DSC"), output="listed").outcomes) == len(names.split())
    else:
        assert status == 0 and len(statusOf("out")) == len(names.split())
