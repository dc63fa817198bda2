"""What one side of a case lacks: the same in every form of input, in the statistics and in all tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import batch, records, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study
from inline import Inline

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.batch.missing import emptyBeside
from SegmentMetricsLib.batch.statistics import Cohort, compareMethods, summarize
from SegmentMetricsLib.batch.summaryoptions import Options
from SegmentMetricsLib.model.inputs import structureFromImage, structureFromPolyData
from SegmentMetricsLib.model.structureset import LeftOut, StructureSet

ORGANS = {"Liver": ((3, 3, 3), (9, 9, 9)), "Spleen": ((14, 14, 14), (20, 19, 18))}


def labelMap(path: str, *labels: int) -> None:
    """Write a label map of the liver as 1, the spleen as 2, and any other label in the place of the liver."""
    boxes = {label: ORGANS["Spleen" if label == 2 else "Liver"] for label in labels}
    SimpleITK.WriteImage(shapes.labelImage(boxes), f"data/{path}.nrrd")


def folder(path: str, *names: str, empty=()) -> None:
    """Write a folder with a mask for every organ; empty: those without a voxel."""
    Path("data", path).mkdir()
    for name in names:
        mask = shapes.box(*ORGANS[name])
        SimpleITK.WriteImage(mask * 0 if name in empty else mask, f"data/{path}/{name}.nrrd")


def summary(structure: str, measurement: str, method: str = "") -> dict:
    (row,) = [
        row
        for row in table("summary")
        if (row["Structure"], row["Measurement"], row["Method"]) == (structure, measurement, method)
    ]
    return row


# The same event in every form of input


@pytest.fixture
def missed(study):
    """Two cases whose tests have both organs; five others miss the spleen or all in some form."""
    labelMap("r", 1, 2)
    for name, labels in {"one": (1,), "unknown": (7,), "nothing": ()}.items():
        labelMap(name, *labels)
    folder("set", "Liver", "Spleen")
    folder("absent", "Liver")
    folder("empty", "Liver", "Spleen", empty=["Spleen"])
    return study


@pytest.mark.parametrize("test", ["one", "unknown", "nothing"])
def testLabelMaps(missed, inline, test):
    write("whole,r.nrrd,r.nrrd", f"missed,r.nrrd,{test}.nrrd")
    assert batch("--metrics", "boundary,overlap") == 0
    dice, distance = (summary("Label 2", key) for key in ("DSC", "HD95"))
    assert (dice["Cases"], dice["Used"], dice["Mean"]) == ("2", "2", "0.5")
    assert (distance["Cases"], distance["Used"], distance["Infinite"]) == ("2", "1", "1")
    assert (dice["MissingTest"], dice["MissingReference"]) == ("1", "0")
    # the order needs no penalty; means do, on request
    assert batch("--metrics", "boundary,overlap", "--infinite", "cohort-maximum") == 0
    distance = summary("Label 2", "HD95")
    assert (distance["Used"], distance["Replaced"], distance["Mean"], distance["Maximum"]) == ("2", "1", "0.0", "inf")
    row = table()[-1]
    assert (row["Case"], row["Status"], row["Reference"]) == ("missed", "missing in the test", "Label 2")
    assert (row["DSC"], row["HD95"], row["Reason"]) == ("0.0", "inf", "Only the reference has Label 2.")


def testTheyAreAsComparedWithAnEmptyStructure(missed, inline):
    write("missed,r.nrrd,one.nrrd", "too much,one.nrrd,r.nrrd", "whole,r.nrrd,r.nrrd")
    assert batch("--metrics", "boundary,signed,overlap,agreement,effort") == 0
    image = SimpleITK.ReadImage("data/r.nrrd") == 2
    settings = Settings(families=("boundary", "signed", "overlap", "agreement", "effort"))
    for record, pair in zip(records(), ((image, image * 0), (image * 0, image)), strict=False):
        (found,) = record["missing"]
        expected = compare(*pair, settings)
        assert set(found["measurements"]) == set(expected) and len(expected) > 40
        for key, measurement in expected.items():
            assert found["measurements"][key]["status"] == measurement.status, key
            if measurement.status == "ok":
                assert found["measurements"][key]["value"] == pytest.approx(measurement.value), key


def testMeshesAndContours(study):
    """A set of meshes has no image on which it would be empty."""
    for mesh in (shapes.ballMesh(5, resolution=24), shapes.loops([(0, 0), (4, 0), (4, 4), (0, 4)])):
        whole = structureFromPolyData(mesh, "a")
        nothing = emptyBeside(whole, [])
        assert nothing.isEmpty and nothing.dimension == whole.dimension
        for pair in ((whole, nothing), (nothing, whole)):
            assert compare(*pair)["HD95"].value == math.inf and compare(*pair)["DSC"].value == 0


# What counts


def testLeftOutOnRequest(missed, inline, capsys):
    write("whole,r.nrrd,r.nrrd", *(f"{test},r.nrrd,{test}.nrrd" for test in ("one", "unknown", "nothing")))
    assert batch("--metrics", "overlap", "--missing", "leave-out") == 0 and Inline.count == 4
    dice = summary("Label 2", "DSC")
    assert (dice["Cases"], dice["Mean"], dice["MissingTest"]) == ("1", "1.0", "3")
    assert "left out" in json.loads(Path("out/summary.json").read_text())["treatment"]["missing"]
    assert "1.000 (0.000)*" in capsys.readouterr().out
    # another way to count is no reason to compare again
    assert batch("--metrics", "overlap") == 0 and Inline.count == 4
    assert summary("Label 2", "DSC")["Mean"] == "0.25"
    assert "overlap of 0" in json.loads(Path("out/summary.json").read_text())["treatment"]["missing"]


def testWhatOnlyTestsHaveIsListed(missed, inline, capsys):
    """A tool that draws a hundred organs is not asked for those that no reference has."""
    folder("other", "Liver")
    write("a,absent,set", "b,other,other")
    assert batch("--metrics", "overlap") == 0
    assert {row["Structure"] for row in table("summary")} == {"Liver"}
    assert "Not in any reference, so not in the statistics: Spleen." in capsys.readouterr().out
    assert [row["Reference"] for row in table()] == ["Liver", "Liver"]
    assert records()[0]["unmatched"]["test"] == ["Spleen"]
    assert json.loads(Path("out/summary.json").read_text())["onlyInTests"] == [{"structure": "Spleen", "cases": 1}]
    # but once a reference has it, the other one lacks it
    write("a,absent,set", "b,other,other", "c,set,set")
    assert batch("--metrics", "overlap") == 0 and Inline.count == 3
    dice = summary("Spleen", "DSC")
    assert (dice["Cases"], dice["Mean"], dice["MissingReference"]) == ("2", "0.5", "1")
    assert [row["Status"] for row in table()] == ["ok", "missing in the reference", "ok", "ok", "ok"]
    assert table()[1]["Reason"] == "Only the test has Spleen."


def testWhatNoTestHasIsNotInTheTable(missed, inline, capsys):
    write("a,r.nrrd,one.nrrd")
    assert batch("--metrics", "overlap") == 0
    out = capsys.readouterr().out
    assert "Not in any test, so listed in summary.csv only: Label 2." in out and "\nLabel 2" not in out
    # nor is there a column to explain
    assert "Missing" not in out
    assert summary("Label 2", "DSC")["Mean"] == "0.0" and summary("Label 1", "DSC")["Mean"] == "1.0"
    # where nothing has the same name
    write("a,r.nrrd,unknown.nrrd")
    assert batch("--overwrite", "--metrics", "overlap") == 2
    assert "no case has a structure with the same name in both" in capsys.readouterr().err


def testTheTableSaysHowManyAreMissing(missed, inline, capsys):
    write("a,r.nrrd,one.nrrd", "b,r.nrrd,r.nrrd", "c,one.nrrd,r.nrrd")
    assert batch("--metrics", "boundary,overlap") == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("Label 2")]
    assert "1 test, 1 reference" in line and line.count("inf (-)") == 2 and "*" not in line
    assert "Missing: in how many cases only one side has the structure" in out
    # not a word where there is nothing to say
    write("b,r.nrrd,r.nrrd")
    assert batch("--output", "whole") == 0 and "issing" not in capsys.readouterr().out


def testCriticalStructuresThatNoTestHas(missed, inline):
    """They say where errors do harm; only where tests have them is one missed."""
    options = ("--metrics", "overlap,hazard", "--critical", "Spleen")
    write("a,set,absent", "b,set,absent")
    assert batch(*options) == 0
    assert {row["Structure"] for row in table("summary")} == {"Liver"} == {row["Reference"] for row in table()}
    write("a,set,absent", "b,set,absent", "c,set,set")
    assert batch(*options) == 0 and summary("Spleen", "DSC")["Cases"] == "3"


def testTheOnlyStructures(study, inline, capsys):
    """Labels that overlap are a pair whatever their numbers, with an alarm; others are two structures."""
    for label, low in ((1, (6, 6, 6)), (2, (6, 6, 6)), (255, (6, 6, 6)), (3, (0, 18, 18))):
        high = [step + size for step, size in zip(low, (9, 3, 3), strict=True)]
        SimpleITK.WriteImage(shapes.box(low, high, value=label), f"data/label{label}.nrrd")
    rows = [f"{n},ref.nrrd,label{n}.nrrd" for n in (1, 2, 255, 3)]
    write(*rows, "4,ref.nrrd,none.nrrd", "5,none.nrrd,ref.nrrd", "6,none.nrrd,none.nrrd")
    assert batch() == 0
    assert {row["Structure"] for row in table("summary")} == {"Label 1"}
    dice = summary("Label 1", "DSC")
    counts = [dice[key] for key in ("Cases", "MissingTest", "MissingReference")]
    assert counts == ["6", "2", "1"] and float(dice["Mean"]) > 0.4
    found = {row["Case"]: row for row in table()}
    assert found["6"]["Status"] == "missing in both"
    alarm = "different labels, the only ones of their images"
    assert [alarm in found[case]["Alarms"] for case in ("1", "2", "255")] == [False, True, False]
    assert found["1"]["DSC"] == found["2"]["DSC"] == found["255"]["DSC"]
    assert alarm in capsys.readouterr().out
    assert batch("--overwrite", "--pair", "Label 1=Label 9") == 0
    assert batch("--pair", "Label 1=") == 2


def testMeshFilesOfCasesHaveOneName(study, inline):
    """Also if both sides call them alike: that is the name of the case."""
    for side, radius in (("r", 5), ("t", 6)):
        Path("data", side).mkdir()
        for case in ("case1", "case2"):
            shapes.writeMesh(shapes.ballMesh(radius, resolution=8), Path(f"data/{side}/{case}.stl"))
        shapes.writeMesh(shapes.ballMesh(radius, resolution=8), Path(f"data/{side}/Heart.stl"))
    write("1,r/case1.stl,t/case1.stl", "2,r/case2.stl,t/case2.stl", "3,r/Heart.stl,t/Heart.stl")
    assert batch("--metrics", "HD") == 0
    assert (summary("the only structure", "HD")["Cases"], summary("Heart", "HD")["Cases"]) == ("2", "1")


# Names


def outcome(case: str, pairs=(), onlyReference=(), onlyTest=(), method: str = "") -> dict:
    """Return an outcome with a Dice of 1 for pairs and of 0 for the others; pairs: names of reference and test."""

    def record(reference: str, test: str, dice: float, **more) -> dict:
        measurements = {"DSC": {"value": dice, "unit": "", "status": "ok"}}
        names = {"reference": {"name": reference}, "test": {"name": test}, "structure": reference}
        return {**names, "measurements": measurements, **more}

    return {
        "case": case,
        "method": method,
        "pairs": [record(*names, 1) for names in pairs],
        "missing": [record(name, name, 0, missing="test") for name in onlyReference]
        + [record(name, name, 0, missing="reference") for name in onlyTest],
    }


def means(*outcomes: dict) -> dict:
    return {found.structure: (found.cases, found.mean) for found in summarize(Cohort(outcomes))}


def testSpellings():
    whole = outcome("1", [("Parotid_L", "Parotid_L")])
    assert means(whole, outcome("2", onlyReference=["left parotid"])) == {"Parotid_L": (2, 0.5)}
    assert means(whole, outcome("2", onlyTest=["LT PAROTID"])) == {"Parotid_L": (2, 0.5)}
    assert means(whole, outcome("2", onlyTest=["Parotid_R"])) == {"Parotid_L": (1, 1)}
    # of healthy people, whatever the tests have is too much
    assert means(outcome("1", onlyTest=["Lesion"]), outcome("2", onlyTest=["Lesion"])) == {"Lesion": (2, 0)}


def testCounterpartsOfOtherCases():
    """A test calls the spleen something else, which terminology codes tell where both have it."""
    whole = outcome("1", [("Spleen", "Milz")])
    assert means(whole, outcome("2", onlyTest=["milz"])) == {"Spleen": (2, 0.5)}
    assert means(outcome("2", onlyTest=["milz"]), whole) == {"Spleen": (2, 0.5)}


def testACaseThatHasItTwice():
    """What the test has once more, in another spelling, is not missing in the reference."""
    assert means(outcome("1", [("Lens_L", "Lens_L")], onlyTest=["left lens", "LENS L"])) == {"Lens_L": (1, 1)}
    assert means(outcome("1", onlyReference=["Lens_L"], onlyTest=["left lens", "LENS L"])) == {"Lens_L": (1, 0)}


def testMissingInEitherMethod():
    given = [outcome("1", [("A", "A")]), outcome("2", onlyTest=["A"]), outcome("3", onlyReference=["A"])]
    cohort = Cohort([{**one, "method": method} for method in "XY" for one in given])
    (test,) = compareMethods(cohort)
    assert (test.cases, test.missingReference, test.missingFirst, test.missingSecond) == (3, 1, 1, 1)
    (test,) = compareMethods(cohort, Options(missing="leave-out"))
    assert (test.cases, test.missingReference, test.missingFirst, test.missingSecond) == (1, 1, 1, 1)
    with pytest.raises(InputError, match="empty, leave-out"):
        Options(missing="zero")


def testWhatCannotBeUsedIsNotMissing(study, inline, monkeypatch):
    """Contours that do not run along the slices are there, so nobody has missed them."""
    from SegmentMetricsLib.case import casework

    def readAll(paths, *_):
        whole = [structureFromImage(shapes.box(*ORGANS[name]), name, None, None) for name in ORGANS]
        leftOut = (LeftOut("SPLEEN", "Spleen cannot be filled."),)
        return [StructureSet(tuple(whole)), StructureSet((whole[0],), leftOut=leftOut)]

    monkeypatch.setattr(casework, "readAll", readAll)
    write("a,ref.nrrd,t1.nrrd")
    assert batch("--metrics", "overlap") == 1
    assert {row["Structure"] for row in table("summary")} == {"Liver"}
    row = table()[1]
    assert (row["Status"], row["Reason"], row["DSC"]) == ("could not be used", "Spleen cannot be filled.", "")
    # and nobody says that only one side has it
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,DSC,>=,0.1\n")
    assert batch("--metrics", "overlap", "--protocol", "limits.csv") == 1
    assert [(row["Verdict"], row["Reason"]) for row in table("verdicts")] == [
        ("pass", "DSC 1.000 is at least 0.1."), ("not evaluable", "Spleen cannot be filled.")
    ]  # fmt: skip
