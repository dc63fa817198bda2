"""What other tools would have reported: small masks whose numbers can be told by hand, empty ones, a chosen tool."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
import shapes
from batchruns import rowsOf
from imagefiles import save
from sayings import refused, says

from SegmentMetricsLib import Comparison, Settings, compare
from SegmentMetricsLib.__main__ import main


def table(reference, test, settings=None, **options):
    return compare(reference, test, settings).conventions(**options)


# Two voxels 3 mm apart along i, and two rods: everything can be told by hand.
POINT, FAR = shapes.box((10, 10, 10), (10, 10, 10)), shapes.box((13, 10, 10), (13, 10, 10))
ROD, LONGER = shapes.box((5, 5, 5), (9, 5, 5)), shapes.box((5, 5, 5), (12, 5, 5))
BALLS = shapes.ball(6), shapes.ball(7, (1, 0, 0))
NOTHING = 0 * BALLS[0]


@pytest.fixture(scope="module")
def rods():
    return table(ROD, LONGER)


@pytest.fixture(scope="module")
def balls():
    """The comparison, and what the tools report."""
    comparison = compare(*BALLS)
    return comparison, comparison.conventions()


def testOneVoxelEachIsAsFarAsTheVoxels():
    # corners of voxels: the far ones are 3 mm away, the near ones 2 mm; Plastimatch has no percentile of one
    corners = {"MASD": 2.5, "ASSD": 2.5, "NSD_2mm": 0.5}
    others = {"DeepMind": corners, "pymia": {**corners, "MASD": 3}, "Plastimatch": {"HD95": 0}}
    for tool, numbers in table(POINT, FAR).items():
        expected = {**dict.fromkeys(("HD", "HD95", "MASD", "ASSD"), 3), "NSD_2mm": 0, "DSC": 0, **others.get(tool, {})}
        if not tool.startswith("MeshMetrics"):
            found = {key: numbers[key].value for key in expected if key in numbers}
            assert found == pytest.approx({key: expected[key] for key in found}, abs=1e-6) and found, tool


def testMeansOfDirections(rods):
    # all voxels are border voxels: five of them coincide, three lie 1, 2 and 3 mm beyond the end
    toReference, pooled = (1 + 2 + 3) / 8, 6 / 13
    expected = {
        **{tool: {"MASD": toReference, "ASSD": pooled} for tool in ("MedPy", "MONAI")},
        "MetricsReloaded": {"MASD": toReference / 2, "ASSD": pooled},
        **{tool: {"MASD": toReference / 2} for tool in ("SimpleITK", "Plastimatch", "EvaluateSegmentation")},
        "Anima": {"HD": 3, "MASD": toReference, "ASSD": pooled},
        "seg-metrics": {"ASSD": pooled},
    }
    for tool, numbers in expected.items():
        assert {key: rods[tool][key].value for key in numbers} == pytest.approx(numbers), tool
    assert table(LONGER, ROD, keys="MedPy")["MedPy"]["MASD"].value == 0


def testPercentilesOfDirections():
    found = table(ROD, LONGER, Settings(percentiles=(50, 80, 100)))
    distances = [0, 0, 0, 0, 0, 1, 2, 3]
    larger = np.percentile(distances, (50, 80, 100))
    # the mean of both directions, of which one is 0; ranks floor(p 8 - 1), counted from 0: 3, 5, 7
    expected = {"MONAI": larger, "MetricsReloaded": larger, "Plastimatch": (0, 0.5, 1.5)}
    expected["MedPy"] = np.percentile([*distances, 0, 0, 0, 0, 0], (50, 80, 100))
    for tool, numbers in expected.items():
        assert [found[tool][f"HD{n}"].value for n in (50, 80, 100)] == pytest.approx(numbers, abs=1e-6), tool


def testSpacingIsIgnoredByThoseThatIgnoreIt():
    reference, test = (shapes.box((2, 2, 2), (9, 9, k), (12, 12, 16), (1.0, 1.0, 2.0)) for k in (9, 11))
    found = table(reference, test, Settings(tolerances=1))
    assert (found["MISeval"]["HD"].value, found["MISeval"]["HD"].unit, found["MONAI"]["HD"].value) == (2, "voxel", 4)
    # of either cube one layer of voxels on every side, and of both the part that they share
    shells, shared = 8 * 8 * 8 - 6**3 + 8 * 8 * 10 - 6 * 6 * 8, 28 * 7 + 64
    assert found["MetricsReloaded"]["BIoU_1mm"].value == pytest.approx(shared / (shells - shared))


def testSurfaceNetsMeasureFromVoxelFaces():
    # cubes of 4 and 6 mm with a common center: every face of the larger one is 1 mm outside
    inner, outer = shapes.box((10, 10, 10), (13, 13, 13)), shapes.box((9, 9, 9), (14, 14, 14))
    tool = "MeshMetrics-surfacenets"
    numbers = table(inner, outer, Settings(tolerances=1), keys=tool)[tool]
    hd, masd, nsd, biou = (numbers[key].value for key in ("HD", "MASD", "NSD_1mm", "BIoU_1mm"))
    # centers of the triangles at a corner of the larger cube's faces: 2/3 mm beyond the smaller one's edges
    assert hd == pytest.approx(math.sqrt(1 + 2 * (2 / 3) ** 2)) and 1 < masd < 1.15
    # all of the smaller cube's faces; of the larger one those that lie above it
    assert nsd == pytest.approx((6 * 16 + 6 * 16) / (6 * 16 + 6 * 36))
    # one layer of voxels inside either, and none in common
    assert biou == 0


def testToolsThatTakeASliceForAVolume():
    """A slice is a volume 1 mm thick for pymia, its two faces are boundary: all of what both have is at distance 0."""
    y, x = np.mgrid[:32, :32]
    discs = [shapes.imageOf((x - at) ** 2 + (y - 16) ** 2 <= radius**2) for at, radius in ((15, 10), (17, 7))]
    found = table(*discs, Settings(tolerances=1.5, percentiles=(95, 50)), keys=["pymia", "Plastimatch"])
    expected = {"HD": 26**0.5, "HD95": 4, "HD50": 0, "NSD_1.5mm": 0.8159}
    assert {key: found["pymia"][key].value for key in expected} == pytest.approx(expected, abs=1e-4)
    # Plastimatch measures between the border pixels of the slice
    assert found["Plastimatch"]["HD95"].value == pytest.approx(5)
    assert found["Plastimatch"]["MASD"].value == pytest.approx(2.9441, abs=1e-4)


def testWhatAToolDoesNotReport(rods):
    """The key is missing, and the error says why and what there is instead."""
    found = rods["Anima"]
    assert found.get("HD95") is None and str(found["HD"]).startswith(f"HD: {found['HD'].text()} (")
    for numbers in (found, pickle.loads(pickle.dumps(found))):
        assert list(numbers) == ["HD", "MASD", "ASSD"]
        with refused("Anima", "'HD95'", ", ".join(found), error=KeyError):
            numbers["HD95"]


def testLeaning():
    comparison = compare(shapes.ball(10), shapes.ball(11, (1, 0, 0)))
    found = comparison.conventions()
    for numbers in found.values():
        for key, number in numbers.items():
            assert number.reference == comparison[key].value
            assert number.difference == pytest.approx(number.value - comparison[key].value)
    assert found["SimpleITK"]["MASD"].leaning == "over-optimistic"
    assert found["MONAI"]["NSD_2mm"].leaning == "over-pessimistic"
    assert found["MedPy"]["DSC"].leaning == ""
    assert found["SimpleITK"]["MASD"].differenceText() == "-0.79 mm"


def testLeaningSaysHowMuch(rods):
    """-0.03 mm is not called what -1.83 mm is called; within the bounds of the reference value both are the same."""
    numbers = rods["MONAI"]
    distance = replace(numbers["HD"], reference=4.59, lower=None, upper=None)
    share = replace(numbers["DSC"], value=0.9, reference=0.905, lower=None, upper=None)
    for leaning, values in {
        "over-optimistic": (2.76, 4.48),
        "slightly over-optimistic": (4.56,),
        "": (4.587, 4.59, math.nan),
        "slightly over-pessimistic": (4.68,),
        "over-pessimistic": (4.70, math.inf),
    }.items():
        assert {replace(distance, value=value).leaning for value in values} == {leaning}
    for low, value, high, leaning in (
        (4.55, 4.56, 4.6, ""),
        (4.55, 4.54, 4.6, "slightly over-optimistic"),
        (1.5, 2, 6, ""),
    ):
        assert replace(distance, value=value, lower=low, upper=high).leaning == leaning, value
    assert share.leaning == "slightly over-pessimistic" and replace(share, lower=0.89, upper=0.91).leaning == ""


LARGEST = float(np.finfo(np.float32).max)
# What tools report for empty masks: the test is empty, both are. A number, or None for none, and its leaning.
FOR_EMPTY = {
    ("DeepMind", "HD"): ((math.inf, "same"), (math.inf, "over-pessimistic")),
    ("DeepMind", "MASD"): ((None, "undefined"), (None, "same")),
    ("MONAI", "HD"): ((math.inf, "same"), (None, "same")),
    ("MONAI", "HD95"): ((None, "undefined"), (None, "same")),
    ("MetricsReloaded", "NSD_2mm"): ((None, "undefined"), (1, "over-optimistic")),
    ("MedPy", "IoU"): ((0, "same"), (1, "over-optimistic")),
    ("seg-metrics", "ASSD"): ((0, "over-optimistic"), (0, "over-optimistic")),
    ("pymia", "MASD"): ((math.inf, "same"), (math.inf, "over-pessimistic")),
    ("pymia", "NSD_2mm"): ((0, "same"), (-math.inf, "over-pessimistic")),
    ("MetricsReloaded", "MASD"): ((None, "undefined"), (0, "over-optimistic")),
    ("Plastimatch", "HD"): ((LARGEST, "same"), (None, "same")),
    ("MeshMetrics-surfacenets", "HD"): ((math.inf, "same"), (0, "over-optimistic")),
    ("SimpleITK", "DSC"): ((0, "same"), (math.inf, "over-optimistic")),
    ("EvaluateSegmentation", "MASD"): ((None, "undefined"), (None, "same")),
    ("MISeval", "IoU"): ((0, "same"), (0, "over-pessimistic")),
    ("Anima", "HD"): ((None, "undefined"), (None, "same")),
    ("grand-challenge-metrics", "MASD"): ((None, "undefined"), (None, "same")),
    ("panoptica-distances", "ASSD"): ((math.inf, "same"), (None, "same")),
    ("platipy", "MASD"): ((None, "undefined"), (None, "same")),
    ("torchmetrics", "IoU"): ((0, "same"), (-1, "over-pessimistic")),
    ("MeshMetrics-0.1", "HD"): ((math.inf, "same"), (None, "same")),
    ("MeshMetrics-1.4.1", "DSC"): ((0, "same"), (1, "over-optimistic")),
}


@pytest.mark.parametrize("empty", ["test", "reference", "both"])
def testLeaningForEmptyMasks(empty):
    """The best score for two empty masks praises nothing; no number at all is not the same number."""
    solid = BALLS[0]
    found = table(NOTHING if empty != "test" else solid, NOTHING if empty != "reference" else solid)
    for (tool, key), expected in FOR_EMPTY.items():
        value, leaning = expected[empty == "both"]
        reported = found[tool][key]
        assert reported.leaningText == reported.toDictionary()["leaning"] == leaning, (tool, key)
        assert reported.value == value if value is not None else math.isnan(reported.value), (tool, key)
        assert (reported.leaning or "same") == leaning.replace("undefined", "same")
        says(f"{tool} {key}: {reported.reason}")
    if empty != "both":
        assert found["Plastimatch"]["HD"].text() == "3.4e+38 mm"


def testWhatCannotBeReproducedSaysSo(rods):
    marked = {(tool, key) for tool in rods for key, number in rods[tool].items() if not number.isReproducible}
    assert marked == {("EvaluateSegmentation", "HD95"), ("Anima", "ASSD"), ("MeshMetrics-0.1", "BIoU_2mm")}
    says(rods["Anima"]["ASSD"].reason)
    assert rods["Anima"]["ASSD"].toDictionary()["reproducible"] is False


def testSettingsOfTheComparisonDoNotChangeTheReferenceValue():
    every = None, Settings(families="voxel"), Settings.preset("MeshMetrics-1.4.1"), Settings(convention="MedPy")
    assert len({table(*BALLS, one, keys="MONAI")["MONAI"]["HD"].reference for one in every}) == 1


def testEdgeOfTheImage():
    """Background continues beyond it, unless the image as it is stored is asked for."""
    array = np.zeros((6, 6, 6), bool)
    array[:4] = True
    solid, wider = shapes.imageOf(array), shapes.imageOf(array | np.roll(array, 1, 0))
    beyond, stored = (table(solid, wider, atEdge=isKept) for isKept in (False, True))
    # at the stored edge only the two inner faces are border
    assert beyond["seg-metrics"]["ASSD"].value < 1 == stored["seg-metrics"]["ASSD"].value
    says(beyond["seg-metrics"]["HD"].reason)
    assert stored["MedPy"]["ASSD"].value == beyond["MedPy"]["ASSD"].value
    full = shapes.imageOf(np.ones((6, 6, 6), np.uint8))
    for test in (full, shapes.box((2, 2, 2), (3, 3, 3), (6, 6, 6))):
        reported = table(full, test, atEdge=True)
        assert math.isnan(reported["Anima"]["ASSD"].value) and says(reported["Anima"]["ASSD"].reason)
        assert math.isfinite(reported["MedPy"]["HD"].value)
    apart = (shapes.imageOf(np.ones((1, 3, 3)), origin=(x, 0.0, 0.0)) for x in (0.0, 40.0))
    assert table(*apart, atEdge=True)["MedPy"]["HD"].value == 40


def testMembershipsAreWholeForAllTools():
    whole = np.pad(np.ones((4, 4, 4)), 3)
    comparison = compare(shapes.imageOf(whole), shapes.imageOf(0.8 * whole))
    assert comparison["DSC"].value == pytest.approx(2 * 0.8 / (1 + 0.8))
    number = comparison.conventions()["MedPy"]["DSC"]
    assert (number.value, number.reference) == (1, 1)


def testToolsSeeTheCommonExtentAlone():
    long, short = shapes.box((8, 8, 2), (12, 12, 12)), shapes.box((8, 8, 6), (12, 13, 16))
    common = compare(long, short, Settings(extent="common"))
    number = common.conventions("MedPy")["MedPy"]["HD"]
    assert common["HD"].value == number.value == number.reference == 1
    assert compare(long, short, Settings(extent="common", convention="MedPy"))["HD"].value == 1
    apart = table(long, shapes.box((8, 8, 15), (12, 12, 20)), Settings(extent="common"))["MedPy"]["HD"]
    assert math.isnan(apart.value) and says(apart.reason)


@pytest.mark.parametrize("axis", [0, 1, 2])
def testSliceInAnyPosition(axis):
    arrays = [shapes.blob(seed, (9, 11, 13))[4] for seed in (1, 2)]
    spacing = np.insert([2.0, 1.0], 2 - axis, 5.0).tolist()
    found = table(*(shapes.imageOf(np.expand_dims(array, axis), spacing) for array in arrays))
    flat = table(*(shapes.imageOf(array, [2.0, 1.0]) for array in arrays))
    for tool in found:
        for key in found[tool]:
            # the reference value of BIoU is sampled
            exact = 2e-3 if (tool, key) == ("MeshMetrics-0.1", "BIoU_2mm") else 1e-5
            assert found[tool][key].value == pytest.approx(flat[tool][key].value, abs=exact), (tool, key)
            assert math.isfinite(found[tool][key].value)


@pytest.mark.parametrize(
    ("radius", "spacing", "expected"),
    [(8, 2.0, 1.6), (2, 1.0, 0.4), pytest.param(8, 1.0, 1.0, marks=pytest.mark.nightly)],
)
def testMeshesAreFilledOnVoxelsAsTheyWouldBeExported(radius, spacing, expected):
    """On voxels of the chosen size, of which ten at least lie across the smaller one; tools see what images hold."""
    meshes = (shapes.ballMesh(one, resolution=32) for one in (radius, radius + 1))
    comparison = compare(*meshes, Settings(meshSpacing=spacing))
    tools = comparison.conventions(["MedPy", "MeshMetrics-1.4.1"])
    found, ofMeshes = tools["MedPy"]["HD"], tools["MeshMetrics-1.4.1"]["HD"]
    assert ofMeshes.value == pytest.approx(1, abs=0.05) and says(ofMeshes.reason)
    voxels = float(re.search("([0-9.]+) mm", says(found.reason))[1])
    assert voxels == pytest.approx(expected, rel=0.01)
    # between voxel centers, and so no part of a voxel
    assert (found.value / voxels) ** 2 == pytest.approx(round((found.value / voxels) ** 2), abs=0.05)
    assert comparison["DSC"].value == pytest.approx(2 * radius**3 / (radius**3 + (radius + 1) ** 3), abs=0.003)


# A convention chosen for a comparison.


def testChosenConvention(balls):
    reasons = set()
    for tool, expected in balls[1].items():
        if tool in ("MeshMetrics-0.1", "MeshMetrics-1.4.1"):
            continue
        comparison = compare(*BALLS, Settings(convention=tool))
        for key in ("HD", "HD95", "MASD", "ASSD", "NSD_2mm", "BIoU_2mm", "DSC", "IoU"):
            found = comparison[key]
            if key in expected:
                assert found.value == expected[key].value, (tool, key)
            else:
                assert found.status == "undefined", (tool, key)
                reasons.add(found.reason.replace(expected.tool, "TOOL"))
            assert expected.tool in found.title
        assert comparison["SignedMean"].title == "Signed mean distance" and comparison.summary
        assert any(expected.tool in finding for finding in comparison.findings)
        first = next(iter(expected))
        assert comparison[first].description.endswith(f" {expected[first].reason}.")
        stored = json.loads(json.dumps(comparison.toDictionary()))
        assert stored["convention"] == tool
        restored = Comparison.fromDictionary(stored)["HD"]
        assert (restored.title, restored.description) == (comparison["HD"].title, comparison["HD"].description)
    says("\n".join(sorted(reasons)), "TOOL")


@pytest.mark.parametrize("pair", [(NOTHING, NOTHING), (NOTHING, BALLS[0]), (BALLS[0], NOTHING)])
def testChosenConventionOfEmptyMasks(pair):
    for tool, expected in table(*pair).items():
        comparison = compare(*pair, Settings.preset(tool))
        found = comparison["HD"]
        assert comparison.summary
        assert found.status == "ok" or "HD" not in expected or found.reason == expected["HD"].reason, tool


# As commands and the scene show it.


@pytest.fixture
def files(tmp_path):
    return [str(save(ball, tmp_path / f"{n}.nrrd")) for n, ball in enumerate(BALLS)]


def testCommand(files, tmp_path, capsys):
    assert main(["conventions", *files, "--output", str(tmp_path / "out"), "--reasons", "--percentile", "90"]) == 0
    printed = capsys.readouterr().out
    assert "\033[" not in printed
    content = json.loads((tmp_path / "out" / "conventions.json").read_text("utf-8"))
    assert content["schema"] == "segment-metrics-conventions/1"
    pair = content["pairs"][0]
    found = compare(*BALLS, Settings(percentiles=90)).conventions()
    assert list(pair["conventions"]) == list(found)
    for tool, numbers in pair["conventions"].items():
        assert set(numbers) == set(found[tool])
        for key, number in numbers.items():
            assert number["value"] == pytest.approx(found[tool][key].value) and number["status"] == "ok"
            assert found[tool][key].reason in printed
    rows = rowsOf(tmp_path / "out" / "conventions.csv")
    assert len(rows) == sum(map(len, found.values()))
    assert {row["Convention"] for row in rows} == set(found)


def testFilesOfEmptyMasks(tmp_path, capsys):
    """Minus infinity is one in the table and the files, and the files tell infinite from undefined reference values."""
    given, out = str(save(0 * BALLS[0], tmp_path / "empty.nrrd")), tmp_path / "out"
    assert main(["conventions", given, given, "--output", str(out), "--tool", "pymia", "--reasons"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^pymia .* -inf ", printed, re.MULTILINE)
    pair = json.loads((out / "conventions.json").read_text("utf-8"))["pairs"][0]
    number = pair["conventions"]["pymia"]["NSD_2mm"]
    assert (number["value"], number["sign"], number["leaning"]) == (None, -1, "over-pessimistic")
    assert says(number["reason"], "-inf") in printed
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


def testTableInTheScene(scene, savedAndLoaded, balls):
    from SegmentMetricsLib import mrml

    comparison, found = balls
    node = mrml.showConventionsTable(comparison, scene=scene)
    assert mrml.showConventionsTable(comparison, scene=scene) is node
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
    with refused(node.GetName()):
        mrml.recallConventions(node)
