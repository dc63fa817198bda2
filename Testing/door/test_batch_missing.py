"""What one side of a case lacks: the same in every form of input, in the statistics and in all tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapes
import SimpleITK
from batchruns import Inline, batch, records, table, write
from batchruns import inline as inline  # the fixtures
from batchruns import study as study
from sayings import says

from SegmentMetricsLib import Settings, compare

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
    wanted = (structure, measurement, method)
    (row,) = [row for row in table("summary") if (row["Structure"], row["Measurement"], row["Method"]) == wanted]
    return row


def document() -> dict:
    return json.loads(Path("out/summary.json").read_text())


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


def testLabelMaps(missed, inline, capsys):
    """The order needs no penalty; means do, on request. Another way to count is no reason to compare again."""
    forms = ("one", "unknown", "nothing")
    write(*(row for form in forms for row in (f"whole,r.nrrd,r.nrrd,,{form}", f"missed,r.nrrd,{form}.nrrd,,{form}")))
    metrics = ("--metrics", "boundary,overlap")
    assert batch(*metrics) == 0
    for form in forms:
        dice, distance = (summary("Label 2", key, form) for key in ("DSC", "HD95"))
        assert (dice["Cases"], dice["Used"], dice["Mean"]) == ("2", "2", "0.5")
        assert (distance["Cases"], distance["Used"], distance["Infinite"]) == ("2", "1", "1")
        assert (dice["MissingTest"], dice["MissingReference"]) == ("1", "0")
        rows = {(one["Case"], one["Method"], one["Structure"]): one for one in table()}
        row = rows["missed", form, "Label 2"]
        assert (row["Status"], row["Reference"]) == ("missing in the test", "Label 2")
        assert (row["DSC"], row["HD95"]) == ("0.0", "inf") and says(row["Reason"], "reference", "Label 2")
    says(document()["treatment"]["missing"])
    assert batch(*metrics, "--infinite", "cohort-maximum") == 0
    distance = summary("Label 2", "HD95", "one")
    assert (distance["Used"], distance["Replaced"], distance["Mean"], distance["Maximum"]) == ("2", "1", "0.0", "inf")
    capsys.readouterr()
    assert batch(*metrics, "--missing", "leave-out") == 0 and Inline.count == 6
    dice = summary("Label 2", "DSC", "one")
    assert (dice["Cases"], dice["Mean"], dice["MissingTest"]) == ("1", "1.0", "1")
    assert says(document()["treatment"]["missing"]) and "1.000 (0.000)*" in capsys.readouterr().out


def testTheyAreAsComparedWithAnEmptyStructure(missed):
    write("missed,r.nrrd,one.nrrd", "too much,one.nrrd,r.nrrd", "whole,r.nrrd,r.nrrd")
    assert batch("--metrics", "boundary,signed,overlap,agreement,effort") == 0
    found = {row["Case"]: row["SignedMean"] for row in table() if row["Status"].startswith("missing")}
    assert found == {"missed": "-inf", "too much": "inf"}
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


def testSetsOfMeshes(study):
    """They have no image on which a structure would be empty; what a folder has, but damaged, nobody has missed."""
    for side, names in (("r", ("Heart", "Liver", "Lung")), ("t", ("Heart", "Lung", "Cord")), ("damaged", ("Heart",))):
        Path("data", side).mkdir()
        for name in names:
            shapes.writeMesh(shapes.boxMesh((0, 0, 0), (5, 6, 7)), Path(f"data/{side}/{name}.stl"))
    Path("data/damaged/Liver.stl").write_text("solid")
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\nLiver,DSC,>=,0.1\n")
    write("a,r,t", "b,t,r")
    assert batch("--metrics", "HD95,DSC") == 0
    found = {(row["Case"], row["Structure"]): (row["Status"], row["HD95"], row["DSC"]) for row in table()}
    assert found["a", "Liver"] == ("missing in the test", "inf", "0.0")
    assert found["b", "Liver"] == ("missing in the reference", "inf", "0.0")
    assert found["b", "Cord"][0] == "missing in the test"
    write("c,r,damaged")
    assert batch("--overwrite", "--metrics", "HD95,DSC", "--protocol", "limits.csv") == 1
    assert "Liver" not in {one["Structure"] for one in table("summary")}
    (verdict,) = table("verdicts")
    assert verdict["Verdict"] == "not evaluable" and "Liver.stl" in verdict["Reason"]


def testWhatOnlyTestsHaveIsListed(missed, inline, capsys):
    """A tool that draws a hundred organs is not asked for those that no reference has."""
    folder("other", "Liver")
    write("a,absent,set", "b,other,other")
    assert batch("--metrics", "overlap") == 0
    assert {row["Structure"] for row in table("summary")} == {"Liver"}
    (told,) = [line for line in capsys.readouterr().out.splitlines() if "Spleen" in line]
    says(told, "reference", ": Spleen")
    assert [row["Reference"] for row in table()] == ["Liver", "Liver"]
    assert records()[0]["unmatched"]["test"] == ["Spleen"]
    assert document()["onlyInTests"] == [{"structure": "Spleen", "cases": 1}]
    # but once a reference has it, the other one lacks it
    write("a,absent,set", "b,other,other", "c,set,set")
    assert batch("--metrics", "overlap") == 0 and Inline.count == 3
    dice = summary("Spleen", "DSC")
    assert (dice["Cases"], dice["Mean"], dice["MissingReference"]) == ("2", "0.5", "1")
    assert [row["Status"] for row in table()] == ["ok", "missing in the reference", "ok", "ok", "ok"]
    says(table()[1]["Reason"], "test", "Spleen")
    assert Path(table()[1]["ReferenceFile"]).name == "absent"  # not the liver's file


def testTheTableSaysHowManyAreMissing(missed, capsys):
    write("a,r.nrrd,one.nrrd", "b,r.nrrd,r.nrrd", "c,one.nrrd,r.nrrd")
    assert batch("--metrics", "boundary,overlap") == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("Label 2")]
    assert "1 test, 1 reference" in line and line.count("inf (-)") == 2 and "*" not in line
    assert [says(line) for line in out.splitlines() if "--missing" in line]
    # not a word where there is nothing to say
    write("b,r.nrrd,r.nrrd")
    assert batch("--output", "whole") == 0 and "Missing" not in capsys.readouterr().out
    # what no test has is not in the table
    write("a,r.nrrd,one.nrrd")
    assert batch("--overwrite", "--metrics", "overlap") == 0
    out = capsys.readouterr().out
    (told,) = [line for line in out.splitlines() if "Label 2" in line]
    assert says(told, "test", "summary.csv", ": Label 2") and "Missing" not in out
    assert summary("Label 2", "DSC")["Mean"] == "0.0" and summary("Label 1", "DSC")["Mean"] == "1.0"
    # where nothing has the same name
    write("a,r.nrrd,unknown.nrrd")
    assert batch("--overwrite", "--metrics", "overlap") == 2
    says(capsys.readouterr().err)


def testCriticalStructuresThatNoTestHas(missed):
    """They say where errors do harm; only where tests have them is one missed."""
    options = ("--metrics", "overlap,hazard", "--critical", "Spleen")
    write("a,set,absent", "b,set,absent")
    assert batch(*options) == 0
    assert {row["Structure"] for row in table("summary")} == {"Liver"} == {row["Reference"] for row in table()}
    write("a,set,absent", "b,set,absent", "c,set,set")
    assert batch(*options) == 0 and summary("Spleen", "DSC")["Cases"] == "3"


def testTheOnlyStructures(study, capsys):
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
    alarm = says(found["2"]["Alarms"])
    assert found["1"]["Alarms"] == found["255"]["Alarms"] == ""
    assert found["1"]["DSC"] == found["2"]["DSC"] == found["255"]["DSC"]
    assert alarm in capsys.readouterr().out
    assert batch("--overwrite", "--pair", "Label 1=Label 9", "--metrics", "DSC") == 0
    assert batch("--pair", "Label 1=") == 2


def testMeshFilesOfCasesHaveOneName(study):
    """Also if both sides call them alike: that is the name of the case."""
    for side, radius in (("r", 5), ("t", 6)):
        Path("data", side).mkdir()
        for name in ("case1", "case2", "Heart"):
            size = 5 if name == "Heart" else radius
            shapes.writeMesh(shapes.boxMesh((0, 0, 0), (size, 6, 7)), Path(f"data/{side}/{name}.stl"))
    write("1,r/case1.stl,t/case1.stl", "2,r/case2.stl,t/case2.stl", "3,r/Heart.stl,t/Heart.stl")
    assert batch("--metrics", "HD") == 0
    assert (summary("the only structure", "HD")["Cases"], summary("Heart", "HD")["Cases"]) == ("2", "1")
