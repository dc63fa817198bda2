"""What works in one place works in those like it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import run as run
from sayings import refused, says

import SegmentMetricsLib
from SegmentMetricsLib import Settings, compareBatch, compareCase, compareObservers, readBatch, readStructures

A, B = shapes.box((4, 4, 4), (14, 14, 14)), shapes.box((5, 4, 4), (15, 14, 14))
FAR = shapes.box((16, 16, 16), (20, 20, 20))
DSC = Settings(metrics="DSC")


@pytest.fixture
def here(run):
    """The function that runs a command where there are masks, and a label map on either side."""
    for name, image in (("a", A), ("b", B), ("far", FAR)):
        SimpleITK.WriteImage(image, f"{name}.nrrd")
    for side, shift in (("ours", 0), ("theirs", 1)):
        for name, image in (("Brainstem", A), ("Lens_L", FAR)):
            Path(side).mkdir(exist_ok=True)
            SimpleITK.WriteImage(SimpleITK.CyclicShift(image, (shift, 0, 0)), f"{side}/{name}.nrrd")
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.9\n")
    return run


def testAResultByTheNameOfAStructure(here):
    case = compareCase("ours", "theirs", DSC, protocol="limits.csv")
    assert case["Brainstem"] is case["brain stem"] is case[0] and case["Lens_L"] is case["lens left"] is case[1]
    assert case[:1]["Brainstem"] is case[0] and readStructures("ours")["lens l"].name == "Lens_L"
    with refused("'Cord'", "Brainstem, Lens_L", error=KeyError):
        case["Cord"]
    pair = compareCase("ours", "theirs", DSC, choices={"Brainstem": "Lens_L"}, names=["Brainstem"])
    assert pair["Brainstem / Lens_L"] is pair["Brainstem"] is pair["Lens_L"] is pair[0]


def testObserversByTheirNames(here):
    study = compareObservers({"Anna": "a.nrrd", "Ben": B}, DSC, tests={"AI": "far.nrrd"})
    assert (study.observers, study.testNames) == (("Anna", "Ben"), ("AI",))
    listed = compareObservers(["a.nrrd", B], DSC, names=["Anna", "Ben"], tests=["far.nrrd"])
    np.testing.assert_array_equal(study[0].matrix["DSC"], listed[0].matrix["DSC"])
    assert compareObservers(["a.nrrd", "b.nrrd"], DSC, tests={"AI": "far.nrrd"}).testNames == ("AI",)
    with refused():
        compareObservers({"Anna": A, "Ben": B}, DSC, names=["x", "y"])


def testAStudyAsAFrame(here):
    pytest.importorskip("pandas")
    study = compareObservers({"Anna": "ours", "Ben": "theirs"}, Settings(metrics="DSC, HD95"))
    frame = study.toFrame()
    assert frame.index.names == ["structure", "reference", "test", "key"] and len(frame) == 2 * 2 * 2
    assert frame.loc[("Brainstem", "Anna", "Ben", "DSC"), "value"] == study["Brainstem"].matrix["DSC"][0, 1]
    assert list(frame.columns) == list(compareCase("ours", "theirs", DSC).toFrame().columns)


def testObserversWithoutAFolderArePrinted(here):
    given = ("observers", "a.nrrd", "b.nrrd", "--metrics", "DSC")
    before = sorted(Path().iterdir())
    status, out, _ = here(*given)
    assert status == 0 and "DSC 0.909" in out
    assert sorted(Path().iterdir()) == before
    assert here(*given, "-o", "out")[1].splitlines()[:4] == out.splitlines()[:4] and Path("out/observers.json").exists()
    says(here(*given, "--report")[2], "--report")


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.html", "X.XLSX"])
def testAFileForTheFolderOfTheResultsIsAskedAbout(here, name):
    for command in ("compare", "observers", "which 1"):
        status, out, err = here(*command.split(), "a.nrrd", "b.nrrd", "-o", name)
        assert status == 2 and not out and not Path(name).exists() and says(err, f"{name}: ")
    Path(name).mkdir()
    assert here("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC", "--numbers-only", "-o", name)[0] == 0


def testInputsAreCheckedBeforeTheFolderIsAskedFor(here):
    """Whatever is wrong with the inputs is told; if nothing is, the folder is asked for, where files are needed."""
    for command, name in (
        (("observers", "a.nrrd", "nothing.nrrd"), "nothing.nrrd: "),
        (("batch", "nothing.csv"), "nothing.csv: "),
        (("batch", "--reference-dir", "nowhere", "--test-dir", "theirs"), "nowhere: "),
        (("conventions", "a.nrrd", "nothing.nrrd"), "nothing.nrrd: "),
        (("stress", "nothing.nrrd", "--structure", "1", "--critical", "1"), "nothing.nrrd: "),
        (("conventions", "a.nrrd", "b.nrrd"), "--output DIR"),
    ):
        status, _, err = here(*command)
        assert status == 2 and says(err, name)
    Path("list.csv").write_text("case,reference,test\n1,a.nrrd,b.nrrd\n")
    says(here("batch", "list.csv", "--metrics", "DSC")[2], "--output DIR")


def testAComparisonAsJson(here):
    status, out, err = here("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC", "--json")
    assert status == 0 and not err
    here("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC", "--numbers-only", "-o", "out")
    printed, written = json.loads(out), json.loads(Path("out/metrics.json").read_text())
    assert printed["pairs"][0]["measurements"] == written["pairs"][0]["measurements"]
    status, out, err = here("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC", "--json", "-o", "out")
    assert json.loads(out)["schema"] and "out" in err


def testWordsInAnyCase(here):
    for word, method in (("STAPLE", "staple"), ("Mean Surface", "mean-surface")):
        assert compareObservers([A, B, FAR], DSC, consensus=word)[0].method == method
    assert Settings.preset("brats2023") == Settings.preset("BraTS 2023") == Settings.preset("BRATS-2023")
    assert Settings.preset("meshmetrics 1.4.1").convention == "MeshMetrics-1.4.1"
    words = {"surface": "displayed", "extent": "common", "grid": "union"}
    assert Settings(surface="Displayed", extent="COMMON", grid="Union") == Settings(**words)
    pair = ("compare", "a.nrrd", "b.nrrd", "--metrics", "DSC,LesionDSC")
    for option in ("preset=brats2023", "preset=Panoptica", "convention=monai", "extent=Common", "set=grid=UNION"):
        assert here(*pair, f"--{option}")[0] == 0
    assert here("observers", "a.nrrd", "b.nrrd", "far.nrrd", "--metrics", "DSC", "--consensus", "STAPLE")[0] == 0
    assert here(*pair, "--protocol", "limits.csv", "--fail-on", "FAIL")[0] in (0, 3)
    says(here("observers", "a.nrrd", "b.nrrd", "--consensus", "stable")[2], "--consensus", "'stable'")


def testObserversWithoutACommonVoxelDoNotAgree(here):
    """Two or several; and an observer who left the structure empty takes nothing from the agreement of the others."""
    says(compareObservers([A, FAR], Settings(metrics="DSC, HD95"))[0].sentence, "DSC 0.000")
    says(compareObservers([A, B, FAR], DSC)[0].sentence)
    says(compareObservers([A, B, A, SimpleITK.Multiply(A, 0)], DSC)[0].sentence)
    status, out, _ = here("observers", "a.nrrd", "far.nrrd", "--metrics", "DSC")
    assert status == 0 and says(compareObservers([A, FAR], DSC)[0].sentence) in out


def testABatchFromPython(here):
    """It writes what the command writes, goes on where it was, and its results are those of readBatch()."""
    for case in ("c1", "c2", "c3"):
        for folder, image in (("labels", A), ("net", B), ("other", A)):
            Path(folder).mkdir(exist_ok=True)
            if (case, folder) != ("c3", "other"):
                SimpleITK.WriteImage(image, f"{folder}/{case}.nrrd")
    given = {"tests": {"net": "net", "other": "other"}, "output": "python", "protocol": "limits.csv"}
    results = compareBatch("labels", DSC, **given)
    command = ("--test-dir", "net=net", "--test-dir", "other=other", "--metrics", "DSC", "--workers", "1")
    status, _, _ = here("batch", "--reference-dir", "labels", *command, "--protocol", "limits.csv", "-o", "command")
    assert status == 0
    for name in ("results.csv", "summary.csv", "tests.csv", "verdicts.csv", "schema.json"):
        assert Path("python", name).read_bytes() == Path("command", name).read_bytes(), name
    assert {path.name for path in Path("python").iterdir()} == {path.name for path in Path("command").iterdir()}
    assert results.cohort.lacking == {"other": ["c3"]} and any("c3" in one for one in results.remarks)
    assert results.cohort.values == readBatch("python").cohort.values
    before = Path("python/results.jsonl").read_bytes()
    compareBatch("labels", DSC, **given)
    assert Path("python/results.jsonl").read_bytes() == before
    assert "compareBatch" in SegmentMetricsLib.__all__ and "compareBatch" in dir(SegmentMetricsLib)
    reported = compareBatch("labels", DSC, tests="net", output="reported", isReported=True, names="1")
    assert Path("reported/reports/index.html").exists() and len(reported.outcomes) == 3
    with refused("x.csv"):
        compareBatch("labels", DSC, tests="net", output="x.csv")


def testAFileDeeperInAFolderIsNamedWithItsFolder(tmp_path):
    """A patient has a folder for each series, whose files are often called alike."""
    for series in ("one", "two"):
        path = tmp_path / series / "1.dcm"
        path.parent.mkdir()
        path.write_bytes(b"\0" * 128 + b"DICM" + b"\1" * 64)
    with refused(Path("one/1.dcm"), Path("two/1.dcm")):
        readStructures(tmp_path)
