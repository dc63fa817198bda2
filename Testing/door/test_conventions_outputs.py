"""What other tools would have reported, as commands and the scene show it."""

from __future__ import annotations

import json
import re

import pytest
import shapes
from batchruns import rowsOf
from imagefiles import save

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.__main__ import main

BALLS = shapes.ball(6), shapes.ball(7, (1, 0, 0))


@pytest.fixture
def files(tmp_path):
    return [str(save(ball, tmp_path / f"{n}.nrrd")) for n, ball in enumerate(BALLS)]


def testCommand(files, tmp_path, capsys):
    assert main(["conventions", *files, "--output", str(tmp_path / "out"), "--reasons", "--percentile", "90"]) == 0
    printed = capsys.readouterr().out
    assert "\033[" not in printed
    assert "percentile over the pooled distances of both directions" in printed
    content = json.loads((tmp_path / "out" / "conventions.json").read_text("utf-8"))
    assert content["schema"] == "segment-metrics-conventions/1"
    pair = content["pairs"][0]
    found = compare(*BALLS, Settings(percentiles=90)).conventions()
    assert list(pair["conventions"]) == list(found)
    for tool, numbers in pair["conventions"].items():
        assert set(numbers) == set(found[tool])
        for key, number in numbers.items():
            assert number["value"] == pytest.approx(found[tool][key].value) and number["status"] == "ok"
    rows = rowsOf(tmp_path / "out" / "conventions.csv")
    assert len(rows) == sum(map(len, found.values()))
    assert {row["Convention"] for row in rows} == set(found)


def testFilesOfEmptyMasks(tmp_path, capsys):
    """Minus infinity is one in the table and the files, and the files tell infinite from undefined reference values."""
    given, out = str(save(0 * BALLS[0], tmp_path / "empty.nrrd")), tmp_path / "out"
    assert main(["conventions", given, given, "--output", str(out), "--tool", "pymia", "--reasons"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^pymia .* -inf ", printed, re.MULTILINE) and "the tool reports -inf" in printed
    pair = json.loads((out / "conventions.json").read_text("utf-8"))["pairs"][0]
    number = pair["conventions"]["pymia"]["NSD_2mm"]
    assert (number["value"], number["sign"], number["leaning"]) == (None, -1, "over-pessimistic")
    assert pair["referenceValues"]["NSD_2mm"] == {"value": None, "status": "undefined"}
    rows = {row["Key"]: row for row in rowsOf(out / "conventions.csv")}
    assert (rows["NSD_2mm"]["Value"], rows["HD"]["Value"]) == ("-inf", "inf")
    assert (rows["NSD_2mm"]["Leaning"], rows["DSC"]["Leaning"]) == ("over-pessimistic", "over-optimistic")


def testCompareCommandWithConvention(files, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["compare", *files, "--output", str(out), "--convention", "MedPy"]) == 0
    assert "MedPy 0.5.2" in capsys.readouterr().out
    assert rowsOf(out / "metrics.csv")[0]["Convention"] == "MedPy"
    assert "MedPy" in (out / "metrics.schema.csv").read_text("utf-8")
    assert json.loads((out / "metrics.json").read_text("utf-8"))["pairs"][0]["convention"] == "MedPy"
    assert main(["compare", *files, "--output", str(out), "--convention", "MedPy", "--preset", "MeshMetrics-0.1"]) == 2


def testTableInTheScene(scene, savedAndLoaded):
    from SegmentMetricsLib import mrml

    comparison = compare(*BALLS)
    node = mrml.showConventionsTable(comparison, scene=scene)
    assert mrml.showConventionsTable(comparison, scene=scene) is node
    found = comparison.conventions()
    columns = {node.GetColumnName(n): n for n in range(node.GetNumberOfColumns())}
    rows = range(node.GetNumberOfRows())
    places = {(node.GetCellText(row, 0), node.GetCellText(row, columns["Measurement"])): row for row in rows}
    assert len(places) == len(rows) == sum(map(len, found.values()))
    row = places["SimpleITK", "MASD"]
    assert node.GetCellText(row, columns["Leaning"]) == "over-optimistic"
    number = node.GetTable().GetValue(row, columns["Difference"]).ToDouble()
    assert number == pytest.approx(found["SimpleITK"]["MASD"].difference)
    recalled = mrml.recallConventions(savedAndLoaded(scene).GetFirstNodeByName(node.GetName()))
    assert recalled == found and list(recalled) == list(found)


def testTableOfEmptyMasksIsRecalled(scene):
    from SegmentMetricsLib import mrml

    comparison = compare(BALLS[0], 0 * BALLS[0])
    node = mrml.showConventionsTable(comparison, scene=scene)
    found, recalled = comparison.conventions(), mrml.recallConventions(node)
    assert repr(found["MONAI"]) == repr(recalled["MONAI"])
    node.SetAttribute("SegmentMetrics.Conventions", '{"MedPy": {"HD": {}}}')
    with pytest.raises(ValueError, match=r"cannot be read from .*\. Another version of SegmentMetrics may have"):
        mrml.recallConventions(node)
