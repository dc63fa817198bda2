"""The files of a comparison: numbers, their description, measured surfaces and pictures."""

from __future__ import annotations

import csv
import json
import math
import shutil
from html import escape
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK
from commandruns import BOX, metrics
from commandruns import run as run
from imagefiles import save
from sayings import says
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Comparison, Measurement, Settings, compare, readStructures
from SegmentMetricsLib.__main__ import main

# Both axes point as in most NIfTI files, so that a mix-up of LPS and RAS would show.
GEOMETRY = {"origin": (100.0, 80.0, -50.0), "direction": (-1, 0, 0, 0, -1, 0, 0, 0, 1)}
# name: reference box, test box (voxel indices, both ends included); None: not in the file; (): listed, but empty
ORGANS = {
    "Liver": (((6, 6, 6), (15, 14, 13)), ((8, 6, 6), (17, 14, 13))),
    "liver": (((2, 2, 2), (4, 4, 4)), ((2, 2, 2), (4, 4, 4))),
    "Gone": (((19, 2, 2), (21, 4, 4)), ()),
    "Nowhere": ((), ()),
    "=1+1": (((18, 18, 18), (21, 21, 21)), ((18, 18, 18), (21, 21, 22))),
    "../Niere/左": (((2, 18, 2), (4, 20, 4)), ((2, 18, 2), (4, 20, 4))),
    "Spleen": (((2, 2, 18), (4, 4, 20)), None),
    "Kidney": (None, ((2, 2, 18), (4, 4, 20))),
}

PAIRS = ["Liver", "liver", "Gone", "Nowhere", "=1+1", "../Niere/左"]
FILE_NAMES = {"Liver": "Liver", "liver": "liver_2", "=1+1": "1_1", "../Niere/左": "Niere_左"}
TOLERANCES, PERCENTILES = (2.0, 0.5), (95.0, 97.5, 100.0)


def writeOrgans(path, side):
    """Write one observer's side of ORGANS as Slicer stores segmentations."""
    array, segments = np.zeros((24, 24, 24), np.uint8), []
    for label, (name, boxes) in enumerate(ORGANS.items(), start=1):
        if boxes[side] is None:
            continue
        if boxes[side]:
            low, high = boxes[side]
            array[tuple(slice(a, b + 1) for a, b in zip(low[::-1], high[::-1], strict=True))] = label
        segments.append({"ID": f"S{label}", "Name": name, "LabelValue": label, "Layer": 0})
    SimpleITK.WriteImage(shapes.segmentation([array], segments, **GEOMETRY), str(path), True)
    return path


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    return [writeOrgans(folder / f"{which}.seg.nrrd", side) for side, which in enumerate(("reference", "test"))]


@pytest.fixture(scope="module")
def results(inputs, tmp_path_factory):
    """The output folder of one run."""
    output = tmp_path_factory.mktemp("results") / "new" / "folder"
    choices = [f"--tolerance={t:g}" for t in TOLERANCES] + [f"--percentile={p:g}" for p in PERCENTILES]
    assert main(["compare", *map(str, inputs), "--output", str(output), *choices]) == 0
    return output


def readJson(folder) -> dict:
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def readCsv(path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def document(results):
    return readJson(results)


def testFilesOfARun(results):
    tables = {"metrics.json", "metrics.csv", "metrics.schema.csv"}
    shown = {name for stem in FILE_NAMES.values() for name in (f"distances_{stem}.vtp", f"overlay_{stem}.png")}
    assert {path.name for path in results.iterdir()} == tables | shown  # and nothing hidden
    assert [path.name for path in results.parent.iterdir()] == [results.name]


# metrics.json


def requireMeasurement(measurement: dict) -> None:
    known = {"value", "unit", "status", "reason", "referenceToTest", "testToReference", "lower", "upper", "sign"}
    assert {"value", "unit", "status"} <= set(measurement) <= known | {"position", "empty", "cause"}
    if measurement["status"] == "ok":
        assert math.isfinite(measurement["value"])
    else:
        assert measurement["status"] in ("infinite", "undefined")
        assert measurement["value"] is None and measurement["reason"]
    assert ("referenceToTest" in measurement) == ("testToReference" in measurement)
    assert measurement["unit"] in ("mm", "mm2", "mm3", "")


def testJsonOfARun(document, inputs, results):
    """It names what was compared, and holds the numbers and findings of compare(); keys may be added."""
    assert document["schema"] == "segment-metrics/2" and set(document["pairing"])
    assert {"SegmentMetrics", "Python", "numpy", "SimpleITK", "VTK"} <= set(document["software"])
    assert document["unmatched"] == {"reference": ["Spleen"], "test": ["Kidney"]}
    assert Settings(**document["settings"]) == Settings(tolerances=TOLERANCES, percentiles=PERCENTILES)
    reference, test = ({s.name: s for s in readStructures(path)} for path in inputs)
    assert [pair["reference"]["name"] for pair in document["pairs"]] == PAIRS
    for name, pair in zip(PAIRS, document["pairs"]):
        assert [pair[side]["file"] for side in ("reference", "test")] == list(map(str, inputs))
        assert pair["surface"] == "unsmoothed" and pair["convention"] == "SegmentMetrics"
        assert pair["grid"] is None or {"size", "spacing", "origin", "direction"} <= set(pair["grid"])
        result = compare(reference[name], test[name], Settings(tolerances=TOLERANCES, percentiles=PERCENTILES))
        assert pair["measurements"] == {key: measurement.toDictionary() for key, measurement in result.items()}
        for measurement in pair["measurements"].values():
            requireMeasurement(measurement)
        assert pair["findings"] == [finding.toDictionary() for finding in result.findings]
        for rank, place in enumerate(pair["worstPlaces"], start=1):
            assert set(place) >= {"rank", "value", "area", "position", "direction"}
            assert place["rank"] == rank and len(place["position"]) == 3 and place["direction"] in tuple("RLAPSI")
        stem = FILE_NAMES.get(name)
        assert pair["files"] == (
            {"distances": f"distances_{stem}.vtp", "overlay": f"overlay_{stem}.png"} if stem else {}
        )
        assert all((results / file).exists() for file in pair["files"].values())


def testJsonOfEmptyStructures(document):
    pairs = {pair["reference"]["name"]: pair for pair in document["pairs"]}
    gone = pairs["Gone"]["measurements"]
    empty = says(gone["HD"]["reason"], "test")
    why = {"reason": empty, "empty": empty}
    assert gone["HD"] == {"value": None, "unit": "mm", "status": "infinite", **why}
    assert gone["SignedMean"] == {"value": None, "unit": "mm", "status": "infinite", "sign": -1, **why}
    for key, value in (("HD", math.inf), ("SignedMean", -math.inf)):
        assert Measurement.fromDictionary(key, gone[key]).value == value
    assert gone["DSC"] == {"value": 0, "unit": "", "status": "ok", **why}
    assert gone["OverFraction_2mm"] == {"value": 0, "unit": "", "status": "ok", "empty": empty}
    assert Measurement.fromDictionary("DSC", gone["DSC"]).empty == empty
    assert pairs["Gone"]["test"]["volumeMm3"] == 0
    both = dict.fromkeys(("reason", "empty"), says(pairs["Nowhere"]["measurements"]["NSD_2mm"]["reason"]))
    assert pairs["Nowhere"]["measurements"]["NSD_2mm"] == {"value": None, "unit": "", "status": "undefined", **both}
    says(pairs["Nowhere"]["findings"][0]["text"])


def testJsonOfPlanarAndOpenStructures(run, tmp_path):
    def stored(*inputs, isDrawn: bool = False) -> dict:
        assert run("compare", *inputs, "-o", "out", isDrawn=isDrawn)[0] == 0
        (pair,) = readJson(tmp_path / "out")["pairs"]
        for measurement in pair["measurements"].values():
            requireMeasurement(measurement)
        return pair

    square = save(shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), 4)), tmp_path / "square.nrrd")
    planar = stored(square, square, isDrawn=True)
    surfaces = shapes.readMesh(tmp_path / "out" / planar["files"]["distances"])
    assert surfaces.GetNumberOfPolys() == 0 and surfaces.GetNumberOfLines() > 0
    assert not arrays(surfaces)["Distance"].any()
    # the corners of a mask's contour are cut
    assert planar["reference"]["areaMm2"] == planar["measurements"]["VolumeReference"]["value"] == 29.5
    assert planar["measurements"]["VoxelVolumeTest"] == {"value": 30, "unit": "mm2", "status": "ok"}
    meshes = {"box.vtp": shapes.openBox(), "box_2.vtp": shapes.boxMesh((0, 0, 0), (10, 10, 11))}
    pair = stored(*(shapes.writeMesh(mesh, tmp_path / name) for name, mesh in meshes.items()))
    assert pair["reference"]["volumeMm3"] is None and pair["test"]["volumeMm3"] == pytest.approx(1100)
    assert pair["measurements"]["HD"]["status"] == "ok"
    dice = pair["measurements"]["DSC"]
    assert dice["status"] == "undefined"
    assert dice["cause"] == {"kind": "not-closed", "values": {"which": "reference"}}
    again = Comparison.fromDictionary(pair)
    assert again.toDictionary()["measurements"] == pair["measurements"]
    assert again.measurements["DSC"].cause.name == "NOT_CLOSED"


# metrics.csv


def testCsvHasTheKeysAsColumns(results, document):
    header, *rows = readCsv(results / "metrics.csv")
    keys = list(document["pairs"][0]["measurements"])
    assert header == ["Reference", "Test", "ReferenceFile", "TestFile", *keys]
    assert {"HD", "HD95", "HD97.5", "HD100", "NSD_2mm", "NSD_0.5mm", "BIoU_2mm", "DSC"} <= set(keys)
    for row, pair in zip(rows, document["pairs"], strict=True):
        for cell, key in zip(row[4:], keys, strict=True):
            value = Measurement.fromDictionary(key, pair["measurements"][key]).value
            assert cell == "" if math.isnan(value) else float(cell) == value  # every digit, and infinite ones' sign
    gone = dict(zip(header, rows[PAIRS.index("Gone")], strict=True))
    assert (gone["HD95"], gone["SignedMean"], gone["DSC"]) == ("inf", "-inf", "0.0")


def testSchemaDescribesEveryColumn(results):
    header, *rows = readCsv(results / "metrics.schema.csv")
    assert header == ["key", "title", "unit", "description"]
    assert [row[0] for row in rows] == readCsv(results / "metrics.csv")[0]
    schema = {row[0]: row[1:] for row in rows}
    assert all(title and description for title, _, description in schema.values())
    assert schema["HD97.5"][:2] == ["Hausdorff distance, 97.5th percentile", "mm"]
    assert schema["NSD_0.5mm"][:2] == ["Normalized surface distance (surface Dice), 0.5 mm", ""]
    assert schema["VolumeTest"][1] == "mm3"
    assert "0.5 mm" in schema["NSD_0.5mm"][2]


# distances_*.vtp


def arrays(polyData):
    data = polyData.GetPointData()
    return {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)) for n in range(data.GetNumberOfArrays())}


def testSurfacesCarryTheirDistances(results):
    """They are in LPS, and name their sides."""
    surfaces = shapes.readMesh(results / "distances_Liver.vtp")
    values, fields = arrays(surfaces), surfaces.GetFieldData()
    assert set(values) == {"Distance", "SignedDistance", "Side"}
    assert values["Distance"].dtype == values["SignedDistance"].dtype == float
    assert np.array_equal(values["Distance"], np.abs(values["SignedDistance"]))
    assert surfaces.GetPointData().GetScalars().GetName() == "SignedDistance"
    names = fields.GetAbstractArray("Side")
    assert [names.GetValue(n) for n in range(names.GetNumberOfValues())] == ["reference", "test"]
    cells = vtk_to_numpy(surfaces.GetCellData().GetArray("Side"))
    corners = vtk_to_numpy(surfaces.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    assert set(cells) == {0, 1} and (values["Side"][corners] == cells[:, None]).all()
    assert fields.GetAbstractArray("SPACE").GetValue(0) == "LPS"
    points = vtk_to_numpy(surfaces.GetPoints().GetData())
    reference, test = (points[values["Side"] == side] for side in (0, 1))
    assert np.allclose([reference.min(axis=0), reference.max(axis=0)], [[84.5, 65.5, -44.5], [94.5, 74.5, -36.5]])
    assert np.allclose([test.min(axis=0), test.max(axis=0)], [[82.5, 65.5, -44.5], [92.5, 74.5, -36.5]])
    # the test sticks out of the reference at low x, on both surfaces, and falls short of it at high x
    over, under = values["SignedDistance"] > 1.99, values["SignedDistance"] < -1.99
    assert set(np.round(points[over][:, 0], 6)) == {82.5, 84.5}
    assert set(np.round(points[under][:, 0], 6)) == {92.5, 94.5}
    # and are read back
    (structure,) = readStructures(results / "distances_liver_2.vtp")
    assert structure.name == "distances_liver_2"
    assert np.allclose(structure.surface.points.min(axis=0), [95.5, 75.5, -48.5])


def testResultsAmongStructuresAreNone(results, tmp_path):
    """Who writes results where the structures are can measure these again."""
    shutil.copytree(results, tmp_path / "case")
    SimpleITK.WriteImage(shapes.box((2, 2, 2), (5, 5, 5)), str(tmp_path / "case" / "Heart.nrrd"))
    assert [structure.name for structure in readStructures(tmp_path / "case")] == ["Heart"]


# Names of files, what replaces an earlier run, and texts that spreadsheets and JSON take


# As a list of names may have them: what breaks lines or moves the cursor, half of a pair of surrogates, paths, markup.
ODD = {
    **{"a\nb": "a_b", "tab\tand\rreturn": "tab_and_return", "half \ud800": "half", "\x07\x1b[31mred": "31mred"},
    **{"../up": "up", "/etc/x\\y": "etc_x_y", "<b>&\"'": "b", "a\x00b": "a_b_2"},
}


def testNamesOfAnyCharacters(run, tmp_path):
    """They stay what they are in JSON and CSV, are text on pages, and are no paths."""
    boxes = {n: ((2 * n, 2, 2), (2 * n + 1, 8, 8)) for n in range(1, len(ODD) + 1)}
    images = [save(shapes.labelImage(boxes), tmp_path / name) for name in ("r.nrrd", "t.nrrd")]
    one = save(shapes.labelImage({1: boxes[1]}), tmp_path / "1.nrrd")
    (tmp_path / "names.json").write_text(json.dumps(dict(enumerate(ODD, 1))))
    options = ("--label-names", "names.json", "--metrics", "HD")
    status, out, _ = run("compare", *images, *options, "-o", "out", isDrawn=True)
    assert status == 0 and not any(ord(character) < 32 for line in out.splitlines() for character in line)
    found = {pair["reference"]["name"]: pair["files"]["distances"] for pair in metrics("out")["pairs"]}
    assert found == {name: f"distances_{file}.vtp" for name, file in ODD.items()}
    with (tmp_path / "cases.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("case", "reference", "test"), ("../1\n", *images), ("1\t/.", one, one)])
    assert run("batch", "cases.csv", *options, "--report", "--workers", 1, "-o", "all")[0] == 0
    shown = [name.encode("utf-8", "backslashreplace").decode() for name in ODD]
    assert [row[0] for row in readCsv(tmp_path / "out" / "metrics.csv")[1:]] == shown
    assert [row[2] for row in readCsv(tmp_path / "all" / "results.csv")[1:]] == [*shown, shown[0]]
    for folder, pages in (("out", set()), ("all/reports", {"index", "1", "1_2"})):
        files = list((tmp_path / folder).iterdir())
        assert {path.stem for path in files if path.suffix == ".html"} == pages and all(map(Path.is_file, files))
    text = (tmp_path / "all/reports/1.html").read_bytes().decode()
    assert all(escape(name) in text for name in shown) and "<b>&" not in text


OTHERS = (
    *("", "no JSON", "[]", "{}", "3", '{"schema": "segment-metrics/2"}', '{"schema": "segment-metrics/2", "pairs": 5}'),
    '{"schema": "another/1", "pairs": [{"files": {"overlay": "overlay_Liver.png"}}]}',
    '{"schema": "segment-metrics/2", "pairs": [{"files": 5}]}',
    '{"schema": "segment-metrics/2", "pairs": [{"files": {"overlay": 5, "distances": "notes.txt"}}]}',
    '{"schema": "segment-metrics/2", "pairs": [{"files": {"overlay": "overlay_/../../Liver.png"}}]}',
    '{"schema": "segment-metrics/2", "pairs": [], "report": "../report.html"}',
)


def testFilesOfOthersAreNoEarlierResults(run, tmp_path):
    """Whatever they say; those of an earlier run are replaced."""
    path = save(BOX, tmp_path / "box.nrrd")
    pairs = [{"files": {"overlay": "overlay_Liver.png"}}]
    ours = json.dumps({"schema": "segment-metrics/2", "pairs": pairs, "report": "report.html"})
    for text in (*OTHERS, ours):
        (tmp_path / "out").mkdir(exist_ok=True)
        names = ("metrics.json", "overlay_Liver.png", "report.html", "notes.txt", "../report.html")
        for name in names:
            (tmp_path / "out" / name).write_text(text if name == "metrics.json" else "mine")
        assert run("compare", path, path, "--metrics", "DSC", "-o", "out")[0] == 0
        kept = [name for name in names[1:] if (tmp_path / "out" / name).exists()]
        assert kept == list(names[1:] if text != ours else names[3:]), text
