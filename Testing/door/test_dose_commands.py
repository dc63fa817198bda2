"""The dose of a plan along its whole road: compare, batch, protocols and reports."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import metrics, valuesOf
from commandruns import run as run  # the fixture
from imagefiles import save
from sayings import says
from vtkmodules.util.numpy_support import vtk_to_numpy

SIZE = (20, 20, 24)


@pytest.fixture
def dosed(tmp_path):
    """Return the paths of two boxes, one 2 mm above the other, and of a dose that rises upward by 2 Gy per mm."""
    boxes = [shapes.box((5, 5, z), (14, 14, z + 9), SIZE) for z in (5, 7)]
    doses = SimpleITK.GetImageFromArray(2.0 * np.indices(SIZE[::-1], np.float32)[0])
    names = ("ref.nrrd", "test.nrrd", "gray.nii.gz")
    return [str(save(image, tmp_path / name)) for image, name in zip((*boxes, doses), names, strict=True)]


def testCompare(run, dosed, tmp_path):
    *both, dose = dosed
    given = ("--dose", dose, "--set", "doseLevels=30", "--tolerance", 1, "--set", "placesBy=dose")
    status, said, problem = run("compare", *both, *given, "--output", "out", "--report", isDrawn=True)
    assert (status, problem) == (0, "")
    values = valuesOf("out")
    # from 4.5 to 14.5 mm, and from 6.5 to 16.5 mm
    expected = {"DmeanReference": 19, "D95Test": 14, "D50Difference": 4, "DmeanOver": 31, "DmaxUnder": 13}
    assert {key: values[key] for key in expected} == pytest.approx(expected, abs=0.02)
    # of 1 cm3
    assert [values["V30GyTest"], values["V30GyccTest"]] == pytest.approx([0.15, 0.15], abs=0.001)
    row = next(line for line in said.splitlines() if line.startswith("Dmean "))
    assert row.split() == ["Dmean", "19.00", "Gy", "23.00", "Gy", "4.00", "Gy"]
    pair = metrics("out")["pairs"][0]
    told = {one["kind"]: one["text"] for one in pair["findings"]}
    assert "DSC" in values and says(told["remark"], "gray.nii.gz") in said
    curves = pair["doseCurves"]
    assert np.interp(19, curves["doses"], curves["reference"]) == pytest.approx(0.5, abs=0.01)
    assert np.interp(14, curves["doses"], curves["test"]) == pytest.approx(0.95, abs=0.01)
    doses = [place["dose"] for place in pair["worstPlaces"]]
    assert len(doses) > 1 and doses == sorted(doses, reverse=True)
    assert doses[0] == pytest.approx(2 * pair["worstPlaces"][0]["position"][2], abs=1e-4)
    alone = run("compare", *both, "--set", "placesBy=dose", "--metrics", "dose", "--json")[1]
    says("\n".join(one["text"] for one in json.loads(alone)["pairs"][0]["findings"]))
    assert float(rowsOf("out/metrics.csv")[0]["DmeanTest"]) == pytest.approx(23, abs=0.02)
    surfaces = shapes.readMesh(f"out/{pair['files']['distances']}")
    heights = vtk_to_numpy(surfaces.GetPoints().GetData())[:, 2]
    assert vtk_to_numpy(surfaces.GetPointData().GetArray("Dose")) == pytest.approx(2 * heights, abs=1e-4)
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    caveat = told["plan-of-one"]
    assert caveat in said and report.count(caveat) >= 2
    says(", ".join(re.findall("<h3>([^<]*)</h3>", report)))
    assert "<span>Dose: <b>gray.nii.gz</b></span>" in report and re.search(r"<title>[\d.]+ Gy: [\d.]+ %", report)
    files = report.partition("<th>SHA-256</th>")[2].partition("</table>")[0]
    assert "gray.nii.gz" in files and "dose" in files


def testHazardKernel(run, dosed):
    *both, dose = dosed
    given = ("--kernel", "dose", "--set", "prescription=100", "--output", "out")
    assert run("compare", *both, "--dose", dose, *given)[0] == 0
    # as many voxels in every layer: 10 and 12 Gy are missed of 10, 12, ... 28, and 30 and 32 Gy are added
    of = [sum(range(10, 30, 2)) * 100, 400 * sum(range(0, 48, 2)) - sum(range(10, 30, 2)) * 100]
    expected = {"RFN": 2200 / of[0], "RFP": 6200 / of[1], "wDice": 2 * 16800 / (19000 + 23000)}
    values = valuesOf("out")
    assert {key: values[key] for key in expected} == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("limit", "verdict"), [(5, "pass"), (3, "fail")])
def testProtocol(run, dosed, tmp_path, limit, verdict):
    *both, dose = dosed
    rules = f"Structure,Measurement,Relation,Pass\n*,D95Difference,within,{limit}\n*,V20GyTest,>=,0.5\n"
    (tmp_path / "rules.csv").write_text(rules)
    given = ("compare", *both, "--protocol", "rules.csv", "--metrics", "DSC", "--output", "out")
    assert run(*given, "--dose", dose)[0] == 0
    judged = metrics("out")["protocol"]
    assert judged["verdict"] == verdict and valuesOf("out")["V20GyTest"] == pytest.approx(0.65, abs=0.001)
    assert run(*given)[0] == 0 and metrics("out")["protocol"]["verdict"] == "not evaluable"


def testBatch(run, dosed, tmp_path):
    dose = dosed[-1]
    lines = [f"{case},ref.nrrd,test.nrrd,{plan}" for case, plan in (("a", "gray.nii.gz"), ("b", ""), ("c", "no.dcm"))]
    (tmp_path / "cases.csv").write_text("\n".join(["case,reference,test,dose", *lines]))
    status, said, problem = run("batch", "cases.csv", "-o", "out", "--metrics", "DSC,dose", "--report")
    record = json.loads((tmp_path / "out" / "results.jsonl").read_text("utf-8").splitlines()[0])
    texts = {one["kind"]: one["text"] for one in record["pairs"][0]["findings"]}
    assert status == 1 and "c: " in problem and "no.dcm" in problem and texts["plan-of-one"] in said
    found = {row["Case"]: row for row in rowsOf("out/results.csv")}
    assert float(found["a"]["DmeanDifference"]) == pytest.approx(4, abs=0.02) and found["b"]["DmeanDifference"] == ""
    assert re.search(r"<title>[\d.]+ Gy: [\d.]+ %", (tmp_path / "out/reports/a.html").read_text(encoding="utf-8"))
    # what goes beyond the grid of the dose is among the alarms of the batch
    small = SimpleITK.ReadImage("gray.nii.gz")[:, :, :12]
    SimpleITK.WriteImage(small, "small.nii.gz")
    (tmp_path / "short.csv").write_text("case,reference,test,dose\na,ref.nrrd,test.nrrd,small.nii.gz")
    _, said, _ = run("batch", "short.csv", "-o", "short", "--metrics", "DSC")
    assert says(rowsOf("short/results.csv")[0]["Alarms"]) in said
    # one for all that have none of their own
    (tmp_path / "cases.csv").write_text("\n".join(["case,reference,test,dose", *lines[:2]]))
    assert run("batch", "cases.csv", "-o", "out", "--metrics", "DSC,dose", "--dose", dose)[0] == 0
    assert all(float(row["DmeanDifference"]) == pytest.approx(4, abs=0.02) for row in rowsOf("out/results.csv"))


@pytest.mark.parametrize("given", ["nothing.dcm", "cases.csv"])
def testRefused(run, dosed, tmp_path, given):
    (tmp_path / "cases.csv").write_text("no image")
    status, _, problem = run("compare", *dosed[:2], "--dose", given)
    assert status == 2 and problem.count("\n") == 1
    says(problem.partition(" (")[0], given)  # without the words of the operating system
