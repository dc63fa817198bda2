"""The command line: what it prints and writes, and the one line that it says when it cannot."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import shapes
import SimpleITK

import SegmentMetricsLib
from SegmentMetricsLib import __main__, commands, comparison
from SegmentMetricsLib.commands import pairwork
from SegmentMetricsLib.settings import FAMILIES
from SegmentMetricsLib.tables import sideOf

ROOT = Path(__file__).resolve().parent.parent
BOX, SHIFTED = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))
NOISE = np.random.default_rng(0).integers(-1000, 2000, (16, 16, 16)).astype(np.int16)


def save(image, path) -> Path:
    SimpleITK.WriteImage(image, str(path), True)
    return path


@pytest.fixture
def quick(monkeypatch):
    """Leave the pictures out; test_writing looks at them."""
    monkeypatch.setattr(pairwork.Overlays, "write", lambda *given: None)
    # other processes would draw them
    monkeypatch.setattr(pairwork, "WORTH_WORKERS", float("inf"))


@pytest.fixture
def run(quick, capfd, monkeypatch, tmp_path):
    """A function that runs a command in a fresh folder and returns status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def runMain(*arguments):
        capfd.readouterr()
        try:
            status = __main__.main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
        return status, *capfd.readouterr()

    return runMain


@pytest.fixture
def pair(tmp_path):
    return save(BOX, tmp_path / "ref.nrrd"), save(SHIFTED, tmp_path / "test.nrrd")


def metrics(folder) -> dict:
    return json.loads((Path(folder) / "metrics.json").read_text(encoding="utf-8"))


def valuesOf(folder) -> dict:
    (only,) = metrics(folder)["pairs"]
    return {key: measurement["value"] for key, measurement in only["measurements"].items()}


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    line = [sys.executable, "-m", "SegmentMetricsLib", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=120, check=False, **options)


# What is printed


def testOnePair(run, pair):
    status, out, err = run("compare", *pair, "--output", "out")
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["HD"][-6:] == ["2.00", "mm"] * 3  # value and both directions
    assert rows["DSC"][-1] == "0.800" and rows["VoxelVolumeTest"][-2:] == ["0.72", "cm3"]
    # the sides of the patient have a table of their own
    assert [key for key in valuesOf("out") if not sideOf(key)] == [key for key in rows if key in valuesOf("out")]
    assert out.endswith(f"\nResults are in out{os.sep}\n")
    assert "lies exactly 2 mm away" in out
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "distances_Label_1.vtp", "metrics.csv", "metrics.json", "metrics.schema.csv"
    ]  # fmt: skip


def testSeveralPairs(run, tmp_path):
    boxes = {1: ((2, 2, 2), (5, 5, 5)), 2: ((9, 9, 9), (12, 12, 12)), 5: ((15, 15, 15), (18, 18, 18))}
    first = save(shapes.labelImage(boxes), tmp_path / "1.nii.gz")
    second = save(shapes.labelImage({1: boxes[1], 2: ((10, 9, 9), (13, 12, 12)), 7: boxes[5]}), tmp_path / "2.nii.gz")
    status, out, err = run("compare", first, second, "--output", "out")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["Structure", "HD", "HD95"]
    assert lines[2].startswith("Label 1") and "1.000" in lines[2]
    assert lines[3].startswith("Label 2") and "0.750" in lines[3]
    assert "Only in the reference: Label 5" in lines and "Only in the test: Label 7" in lines
    assert metrics("out")["unmatched"] == {"reference": ["Label 5"], "test": ["Label 7"]}


def testOnlySomeStructures(run, tmp_path):
    boxes = {n: ((2 * n, 2 * n, 2 * n),) * 2 for n in (1, 2, 3, 4)}
    image = save(shapes.labelImage(boxes), tmp_path / "1.nrrd")
    other = save(shapes.labelImage({n: boxes[n] for n in (1, 2, 3)}), tmp_path / "2.nrrd")
    chosen = ["--structure", "Label 3", "--structure", "Label 1", "--structure", "Label 4"]
    assert run("compare", image, other, "--output", "out", *chosen)[0] == 0
    document = metrics("out")
    assert [given["reference"]["name"] for given in document["pairs"]] == ["Label 1", "Label 3"]
    assert document["unmatched"] == {"reference": ["Label 4"], "test": []}


def testAbsentInBoth(run, tmp_path):
    empty = save(shapes.imageOf(np.zeros((8, 8, 8), np.uint8)), tmp_path / "none.nrrd")
    status, out, err = run("compare", empty, empty, "--output", "out")
    assert (status, err) == (0, "")
    assert "Absent in both: neither observer drew this structure." in out and out.count("undefined") > 9
    assert set(Path("out").iterdir()) == {Path("out") / f"metrics.{end}" for end in ("csv", "json", "schema.csv")}


def testOneIsEmpty(run, tmp_path, pair):
    empty = save(shapes.imageOf(np.zeros((24, 24, 24), np.uint8)), tmp_path / "none.nrrd")
    status, out, _ = run("compare", pair[0], empty, "--output", "out")
    assert status == 0 and "Only one contour exists: the test is empty." in out
    measurement = metrics("out")["pairs"][0]["measurements"]["HD95"]
    assert measurement == {"value": None, "unit": "mm", "status": "infinite", "reason": "the test is empty"}


# Choices


def testAgainstAnImageWithoutLabels(run, tmp_path):
    boxes = {1: ((2, 2, 2), (5, 5, 5)), 2: ((9, 9, 9), (12, 12, 12))}
    two = save(shapes.labelImage(boxes), tmp_path / "two.nii.gz")
    zero = save(shapes.labelImage({}), tmp_path / "zero.nii.gz")
    assert run("compare", two, zero, "--output", "out")[0] == 0
    pairs = metrics("out")["pairs"]
    assert [pair["reference"]["name"] for pair in pairs] == ["Label 1", "Label 2"]
    assert all(pair["findings"] == ["Only one contour exists: the test is empty."] for pair in pairs)
    assert all(pair["measurements"]["HD"]["status"] == "infinite" for pair in pairs)


def testChosenStructuresThatOnlyOneHas(run, tmp_path):
    boxes = {1: ((2, 2, 2), (5, 5, 5)), 2: ((9, 9, 9), (12, 12, 12)), 3: ((15, 15, 15), (16, 16, 16))}
    three = save(shapes.labelImage(boxes), tmp_path / "three.nrrd")
    two = save(shapes.labelImage({n: boxes[n] for n in (1, 2)}), tmp_path / "two.nrrd")
    status, out, err = run("compare", three, two, "--output", "out", "--structure", "Label 3")
    assert (status, err) == (0, "")
    assert "None of the chosen structures is in both." in out and "Only in the reference: Label 3" in out
    assert metrics("out")["pairs"] == [] and metrics("out")["unmatched"] == {"reference": ["Label 3"], "test": []}
    status, out, err = run("compare", three, two, "--output", "other", "--structure", "Label 4")
    assert status == 2 and "no structure named 'Label 4'" in err and not Path("other").exists()


@pytest.mark.parametrize("kind", ["flat", "doubled", "speck"])
def testMeshesThatEncloseNoVoxel(run, tmp_path, kind):
    from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkReverseSense

    mesh = {"flat": shapes.boxMesh((0, 0, 0), (9, 0, 9)), "speck": shapes.boxMesh((0, 0, 0), (1e-3, 1e-3, 1e-3))}.get(
        kind
    )
    if kind == "doubled":
        both, back = vtkAppendPolyData(), vtkReverseSense()
        back.SetInputData(shapes.ballMesh(5))
        back.Update()
        both.AddInputData(shapes.ballMesh(5))
        both.AddInputData(back.GetOutput())
        both.Update()
        mesh = both.GetOutput()
    ball, other = (shapes.writeMesh(m, tmp_path / f"{n}.vtp") for n, m in (("a", shapes.ballMesh(8)), ("b", mesh)))
    status, _, err = run("compare", ball, other, "--output", "out")
    assert (status, err) == (0, "")
    precision = metrics("out")["pairs"][0]["measurements"]["PPV"]
    assert precision["status"] == "undefined" and "encloses no" in precision["reason"]


def testTolerancesAndPercentiles(run, pair):
    choices = ["--tolerance", "1.5", "--tolerance", "2.50", "--percentile", "50", "--percentile", "97.5"]
    assert run("compare", *pair, "--output", "out", *choices)[0] == 0
    values = valuesOf("out")
    assert {"HD", "HD50", "HD97.5", "NSD_1.5mm", "NSD_2.5mm", "BIoU_1.5mm", "OverFraction_2.5mm"} <= set(values)
    assert not {"HD95", "NSD_2mm"} & set(values)
    assert values["NSD_1.5mm"] < values["NSD_2.5mm"] == 1 and values["HD50"] < values["HD97.5"] <= 2 + 1e-9


AGREEMENT = ["TNR", "FPR", "FNR", "FMS", "ACC", "GCE", "VS", "RI", "ARI", "MI", "VOI", "ICC", "PBD", "KAP", "AUC"]


def testMetrics(run, pair):
    keys = {}
    for families in (*FAMILIES, "signed,overlap", "all"):
        assert run("compare", *pair, "--output", families, "--metrics", families)[0] == 0
        keys[families] = list(valuesOf(families))
    assert keys["boundary"] == ["HD", "HD95", "MASD", "ASSD", "NSD_2mm", "BIoU_2mm"]
    assert keys["signed"][:4] == ["SignedMean", "OverFraction_2mm", "UnderFraction_2mm", "OverMax"]
    assert keys["overlap"][:4] == ["DSC", "IoU", "TPR", "PPV"] and "VoxelVolumeTest" in keys["overlap"]
    assert keys["signed,overlap"] == keys["signed"] + keys["overlap"]
    assert keys["agreement"] == AGREEMENT
    assert keys["voxel"] == ["AVD", "HDvox", "MHD"]
    assert keys["hazard"] == ["RFN", "RFP", "SIS", "STAR", "wDice"]
    assert keys["similarity"] == ["MSI", "MSIPaired", "PairedDistance", "MSI3D"]
    assert keys["effort"][:2] == ["APL_2mm", "RelativeAPL_2mm"]
    assert keys["all"] == [key for family in FAMILIES for key in keys[family]]


def testMetricsCriticalStructures(run, tmp_path):
    boxes = {1: ((8, 6, 6), (15, 14, 13)), 2: ((2, 0, 0), (4, 23, 23))}
    reference = save(shapes.labelImage(boxes), tmp_path / "ref.nrrd")
    test = save(shapes.labelImage({1: ((7, 6, 6), (15, 14, 13))}), tmp_path / "test.nrrd")
    given = ("compare", reference, test, "--structure", "Label 1", "--output")
    assert run(*given, "one", "--critical", "Label 2")[0] == 0
    assert run(*given, "half", "--critical", "Label 2=0.5", "--metrics", "hazard")[0] == 0
    assert run(*given, "slow", "--critical", "Label 2", "--kernel", "exponential", "--metrics", "all")[0] == 0
    # the added layer lies 3 mm from label 2
    assert valuesOf("one")["STAR"] == pytest.approx(0.3 * 0.91) == pytest.approx(2 * valuesOf("half")["STAR"])
    assert valuesOf("slow")["STAR"] == pytest.approx(0.3 * np.exp(-3 / 8))
    assert "DSC" in valuesOf("one") and "DSC" not in valuesOf("half")
    assert metrics("half")["settings"]["critical"] == {"Label 2": 0.5}
    assert metrics("one")["pairs"][0]["grid"]["evaluated"]["voxels"] == 24**3
    for arguments, message in (
        (("--critical", "Cord"), "The reference has no critical structure named 'Cord'; it has Label 1, Label 2."),
        (("--critical", "Label 2=2"), "The weight of the critical structure 'Label 2' must be greater than 0"),
        (("--critical", "Label 2", "--metrics", "overlap"), "Critical structures serve the hazard family"),
    ):
        status, _, problem = run(*given, "refused", *arguments)
        assert status == 2 and problem.startswith(f"segment-metrics: {message}") and problem.count("\n") == 1
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(("preset", "subdivisions"), [("MeshMetrics-0.1", 1), ("MeshMetrics-1.4.1", 0)])
def testPresets(run, pair, preset, subdivisions):
    assert run("compare", *pair, "--output", "out", "--preset", preset)[0] == 0
    assert metrics("out")["settings"]["convention"] == preset
    (only,) = metrics("out")["pairs"]
    assert (only["convention"], only["subdivisions"]) == (preset, subdivisions)
    assert only["measurements"]["HD"]["value"] == pytest.approx(2)


def testOptionsOfAgreementAndVoxels(run, pair):
    families = ["--metrics", "agreement,voxel"]
    options = ["--grid", "union", "--beta", "1", "--beta", "0.5", "--quantile", "0.95", "--voxel-unit", "voxel"]
    assert run("compare", *pair, "--output", "own", *families)[0] == 0
    assert run("compare", *pair, "--output", "out", *families, *options)[0] == 0
    values = valuesOf("out")
    assert {"FMS", "FMS_0.5", "HDvox_0.95"} <= set(values) and "HDvox" not in values
    grids = [metrics(name)["pairs"][0]["grid"]["evaluated"] for name in ("own", "out")]
    assert grids[0]["voxels"] > grids[1]["voxels"] and values["ACC"] < valuesOf("own")["ACC"]
    assert metrics("out")["pairs"][0]["measurements"]["AVD"]["unit"] == "voxel"


def testSimilarity(run, pair):
    assert run("compare", *pair, "--output", "own", "--metrics", "similarity")[0] == 0
    options = ["--il", "3", "--ol", "4", "--msi-unit", "pixel", "--split-contours"]
    assert run("compare", *pair, "--output", "out", "--metrics", "similarity", *options)[0] == 0
    assert valuesOf("out")["MSI3D"] < valuesOf("own")["MSI3D"]
    own, out = (metrics(name)["pairs"][0] for name in ("own", "out"))
    assert (own["similarity"]["unit"], out["similarity"]["unit"]) == ("mm", "pixel")
    assert out["measurements"]["PairedDistance"]["unit"] == "pixel"
    assert metrics("out")["settings"]["il"] == 3 and metrics("out")["settings"]["splitContours"] is True
    scores = sorted(one["score"] for one in own["similarity"]["slices"])
    assert valuesOf("own")["MSI"] == pytest.approx(np.median(scores))
    assert run("compare", *pair, "--output", "published", "--metrics", "similarity", "--as-published")[0] == 0
    assert valuesOf("published")["MSI"] != valuesOf("own")["MSI"]
    status, _, problem = run("compare", *pair, "--output", "refused", "--il", "0")
    assert status == 2 and problem.startswith("segment-metrics: The inside level must be greater than 0")


def testFuzzy(run, tmp_path):
    first, second = np.zeros((8, 8, 8), np.float32), np.zeros((8, 8, 8), np.float32)
    first[2:6, 2:6, 2:6], second[2:6, 2:6, 2:6] = 1, 0.75
    images = [save(shapes.imageOf(array), tmp_path / f"{n}.nrrd") for n, array in enumerate((first, second))]
    values = {}
    for name, options in (("crisp", ["--threshold", "0.5"]), ("fuzzy", []), ("cuts", ["--cuts", "2"])):
        assert run("compare", *images, "--output", name, "--metrics", "overlap,agreement,voxel", *options)[0] == 0
        values[name] = valuesOf(name)
    assert values["crisp"]["DSC"] == values["crisp"]["FMS"] == 1
    assert values["fuzzy"]["DSC"] == values["fuzzy"]["FMS"] == pytest.approx(2 * 0.75 / 1.75)
    measurement = metrics("cuts")["pairs"][0]["measurements"]["AVD"]
    assert (measurement["status"], measurement["reason"]) == (
        "infinite",
        "the test is empty in a cut of the memberships",
    )


def testMembershipMaximum(run, tmp_path):
    array = np.zeros((8, 8, 8), np.uint8)
    array[2:6, 2:6, 2:6] = 51
    full = save(shapes.imageOf((array > 0).astype(np.uint8)), tmp_path / "full.nrrd")
    image = save(shapes.imageOf(array), tmp_path / "fifth.nrrd")
    assert run("compare", full, image, "--output", "out", "--membership-maximum", "255")[0] == 0
    assert valuesOf("out")["DSC"] == pytest.approx(2 * 0.2 / 1.2, rel=1e-6)
    assert any("count in part" in finding for finding in metrics("out")["pairs"][0]["findings"])


def testGridOfAFile(run, pair, tmp_path):
    volume = save(shapes.imageOf(NOISE, (2, 2, 2), (-4, -4, -4)), tmp_path / "ct.nrrd")
    status, out, _ = run("compare", *pair, "--output", "out", "--metrics", "agreement", "--grid", volume)
    evaluated = metrics("out")["pairs"][0]["grid"]["evaluated"]
    assert status == 0 and evaluated["voxels"] == 32**3
    assert evaluated["choice"] == "the given volume, counted in voxels of the size in which overlap is counted"
    assert f"True negatives are counted in {evaluated['choice']}: 32 x 32 x 32, 32768 voxels." in out
    grid = SegmentMetricsLib.Settings(**metrics("out")["settings"]).grid
    assert grid.size == (16, 16, 16)
    status, out, err = run("compare", *pair, "--output", "out2", "--grid", "everything")
    assert status == 2 and "everything: this is no image" in err and err.count("\n") == 1


def testSubdivisions(run, pair):
    for number in (0, 3):
        assert run("compare", *pair, "--output", str(number), "--subdivisions", number)[0] == 0
        assert metrics(str(number))["pairs"][0]["subdivisions"] == number
    assert valuesOf("0")["MASD"] != valuesOf("3")["MASD"] == pytest.approx(valuesOf("0")["MASD"], abs=0.05)


def testThresholdOfMemberships(run, tmp_path):
    array = np.zeros((12, 12, 12), np.float32)
    array[3:9, 3:9, 3:9], array[4:8, 4:8, 4:8] = 0.4, 0.9
    image = save(shapes.imageOf(array), tmp_path / "soft.nrrd")
    for threshold, voxels in (("0.3", 216), ("0.5", 64)):
        assert run("compare", image, image, "--output", threshold, "--threshold", threshold)[0] == 0
        assert valuesOf(threshold)["VoxelVolumeReference"] == voxels


def testDisplayedSurface(run, tmp_path):
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    first, second = save(shapes.ball(10), tmp_path / "1.nrrd"), save(shapes.ball(10, (1, 0, 0)), tmp_path / "2.nrrd")
    mesh = shapes.writeMesh(shapes.ballMesh(10), tmp_path / "mesh.stl")
    for output, other, surface in (("steps", second, "unsmoothed"), ("smooth", second, "displayed")):
        assert run("compare", first, other, "--output", output, "--surface", surface, "--oversampling", 1)[0] == 0
        assert metrics(output)["pairs"][0]["surface"] == surface
    sphere = 4 / 3 * np.pi * 1000
    assert valuesOf("smooth")["VolumeReference"] == pytest.approx(sphere, rel=0.03)
    assert valuesOf("smooth")["MASD"] != valuesOf("steps")["MASD"]
    assert valuesOf("smooth")["DSC"] == valuesOf("steps")["DSC"]
    choices = ["--surface", "displayed", "--metrics", "signed"]
    assert run("compare", first, mesh, "--output", "mixed", *choices)[0] == 0
    assert metrics("mixed")["pairs"][0]["surface"] == "displayed and imported"


# Kinds of input


def testMeshAgainstMask(run, tmp_path):
    image = save(shapes.ball(10), tmp_path / "mask.mha")
    mesh = shapes.writeMesh(shapes.ballMesh(10), tmp_path / "mesh.ply", space="RAS")
    assert run("compare", image, mesh, "--output", "out", "--oversampling", 1)[0] == 0
    values, (only,) = valuesOf("out"), metrics("out")["pairs"]
    assert only["surface"] == "unsmoothed and imported"
    assert (only["reference"]["name"], only["test"]["name"]) == ("Label 1", "mesh")
    assert values["HD"] < 0.8 and values["DSC"] > 0.98
    assert values["VolumeTest"] == pytest.approx(4 / 3 * np.pi * 1000, rel=0.01)


def testFolders(run, tmp_path):
    for which, high in (("r", 15), ("t", 16)):
        (tmp_path / which).mkdir()
        save(shapes.box((6, 6, 6), (high, 14, 13)), tmp_path / which / "Liver.nii.gz")
        shapes.writeMesh(shapes.boxMesh((0, 0, 0), (9, 9, high)), tmp_path / which / "Kidney.stl")
        (tmp_path / which / "notes.txt").write_text("not a segmentation")
    save(BOX, tmp_path / "t" / "Spleen.nrrd")
    status, out, _ = run("compare", "r", "t", "--output", "out", "--metrics", "overlap")
    assert status == 0 and "Only in the test: Spleen" in out
    pairs = {given["reference"]["name"]: given for given in metrics("out")["pairs"]}
    assert list(pairs) == ["Kidney", "Liver"]
    assert pairs["Liver"]["measurements"]["DSC"]["value"] == pytest.approx(20 / 21)
    assert pairs["Kidney"]["measurements"]["VolumeDifference"]["value"] == pytest.approx(81)
    assert pairs["Liver"]["test"]["file"] == str(Path("t") / "Liver.nii.gz")


def testNamesThatClashAsFileNames(run, tmp_path):
    names = ["Lung", "lung", "LUNG", "肺", "肝", "con", "a/b", "a b", "=2+3", "two\tlines"]
    boxes = {label: ((2 * label, 6, 6), (2 * label, 9, 9)) for label in range(1, len(names) + 1)}
    array = SimpleITK.GetArrayFromImage(shapes.labelImage(boxes))
    segments = [{"ID": f"S{n}", "Name": name, "LabelValue": n, "Layer": 0} for n, name in enumerate(names, 1)]
    path = save(shapes.segmentation([array], segments), tmp_path / "x.seg.nrrd")
    status, out, err = run("compare", path, path, "--output", "out")
    assert (status, err) == (0, "")
    read = [given["reference"]["name"] for given in metrics("out")["pairs"]]
    assert read[:9] == names[:9]
    written = [found.name for found in Path("out").glob("distances_*.vtp")]
    assert len(written) == len({name.lower() for name in written}) == len(names)
    assert {"distances_Lung.vtp", "distances_lung_2.vtp", "distances_LUNG_3.vtp", "distances_con.vtp"} <= set(written)
    with (Path("out") / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [row[0] for row in rows][:9] == [*names[:8], "'=2+3"]
    assert len(out.split("\n\n")[0].splitlines()) == 2 + len(names)  # one line a name


def testNamesInLatin1(run, tmp_path):
    """Some programs write segment names that are not in Unicode."""
    array = SimpleITK.GetArrayFromImage(BOX)
    image = shapes.segmentation([array], [{"ID": "S1", "Name": "Niere_X", "LabelValue": 1, "Layer": 0}])
    path = save(image, tmp_path / "x.seg.nrrd")
    path.write_bytes(path.read_bytes().replace(b"Niere_X", b"Niere_\xfc"))
    status, out, err = run("compare", path, path, "--output", "out")
    assert (status, err) == (0, "") and "Niere_ü" in out
    assert metrics("out")["pairs"][0]["reference"]["name"] == "Niere_ü"


def testASecondRunReplacesTheFirst(run, tmp_path, pair):
    other = save(shapes.labelImage({3: ((6, 6, 6), (9, 9, 9))}), tmp_path / "3.nrrd")
    assert run("compare", *pair, "--output", "out")[0] == 0
    (Path("out") / "notes.txt").write_text("mine")
    assert run("compare", other, other, "--output", "out")[0] == 0
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "distances_Label_3.vtp", "metrics.csv", "metrics.json", "metrics.schema.csv", "notes.txt"
    ]  # fmt: skip


# The demonstration


def testDemo(run):
    status, out, err = run("demo", "--tolerance", "3", "--oversampling", 1)
    assert (status, err) == (0, "")
    folder = Path("segment-metrics-demo")
    document = metrics(folder)
    assert len(document["pairs"]) == 8 and document["unmatched"] == {"reference": ["Submandibular_R"], "test": []}
    assert "Only in the reference: Submandibular_R" in out and "NSD 3 mm" in out
    for given in document["pairs"]:
        assert 0.6 < given["measurements"]["DSC"]["value"] < 1
        # the files that the results name are there
        assert given["reference"]["file"] == str(folder / "observer1.seg.nrrd")
        assert Path(given["reference"]["file"]).is_file() and Path(given["test"]["file"]).is_file()
    # what the demonstration shows can be made again from its files
    files = [folder / f"observer{n}.seg.nrrd" for n in (1, 2)]
    assert run("compare", *files, "--output", "again", "--tolerance", "3", "--oversampling", 1)[0] == 0
    assert metrics("again") == document


# What cannot be used


def contents() -> dict:
    """Return all files of the current folder with their content, and its folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


def refusal(run, *arguments, output="out") -> str:
    """Return the one line with which a command is refused, with and without an output folder; nothing is written."""
    before = contents()
    status, out, err = run(*arguments, "--output", output)
    assert (status, out) == (2, "")
    assert err.startswith("segment-metrics: ") and err.endswith("\n") and len(err.splitlines()) == 1
    assert contents() == before
    if not Path(output).exists():
        Path(output).mkdir(parents=True)
        (Path(output) / "metrics.json").write_text("of an earlier run")
        refusal(run, *arguments, output=output)
    return err[len("segment-metrics: ") : -1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is open to root")
def testFilesThatCannotBeOpened(run, pair):
    pair[1].chmod(0)
    assert "the file cannot be opened (Permission denied)" in refusal(run, "compare", *pair)


def testFilesThatAreTooLarge(run, pair, monkeypatch):
    from SegmentMetricsLib import inputs

    def tooLarge(*given):
        raise MemoryError

    monkeypatch.setattr(inputs, "labelMasks", tooLarge)
    said = refusal(run, "compare", *pair)
    assert said == f"{pair[0]}: it is too large for the memory of this computer."


@pytest.mark.parametrize(
    ("choices", "parts"),
    [
        (["--structure", "Liver"], ["There is no structure named 'Liver'", "Label 1"]),
        (["--structure", "Label 1", "--structure", "Label 9"], ["'Label 9'"]),
        (["--tolerance", "-1"], ["tolerance must be greater than 0", "-1"]),
        (["--tolerance", "2", "--tolerance", "0"], ["tolerance must be greater than 0", "not 0"]),
        (["--tolerance", "nan"], ["tolerance", "nan"]),
        (["--tolerance", "inf"], ["tolerance", "inf"]),
        (["--tolerance", "two"], ["--tolerance", "two"]),
        (["--percentile", "0"], ["percentile must be greater than 0 and at most 100", "not 0"]),
        (["--percentile", "-5"], ["percentile", "-5"]),
        (["--percentile", "100.5"], ["percentile", "100.5"]),
        (["--percentile", "nan"], ["percentile", "nan"]),
        (
            ["--metrics", "boundary,beauty"],
            ["no metric family 'beauty'", "choose from boundary, signed, overlap, agree"],
        ),
        (["--metrics", ","], ["No metric family is chosen"]),
        (["--threshold", "0"], ["threshold", "not 0"]),
        (["--threshold", "1.5"], ["threshold", "1.5"]),
        (["--subdivisions", "-1"], ["subdivisions", "-1"]),
        (["--subdivisions", "9"], ["subdivisions", "9"]),
        (["--subdivisions", "1.5"], ["--subdivisions", "1.5"]),
        (["--oversampling", "0"], ["oversampling", "0"]),
        (["--surface", "rough"], ["--surface", "rough"]),
        (["--preset", "MedPy"], ["--preset", "MedPy"]),
        (["--preset", "MeshMetrics-1.4.1", "--subdivisions", "2"], ["MeshMetrics-1.4.1 fixes the subdivisions"]),
        (["--preset", "MeshMetrics-0.1", "--surface", "displayed"], ["MeshMetrics-0.1 fixes the surface"]),
        (["--beautiful"], ["--beautiful"]),
    ],
)
def testChoicesThatCannotBeUsed(run, pair, choices, parts):
    said = refusal(run, "compare", *pair, *choices)
    for part in parts:
        assert part in said


@pytest.mark.parametrize(
    ("arguments", "part"),
    [([], "COMMAND"), (["paint"], "paint"), (["compare"], "REFERENCE"), (["compare", "a", "b"], "--output")],
)
def testCommandsThatCannotBeUsed(run, arguments, part):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "") and err.count("\n") == 1 and part in err


def testPairsThatCannotBeCompared(run, pair, tmp_path):
    planar = save(shapes.imageOf(np.pad(np.ones((6, 5), np.uint8), 4)), tmp_path / "planar.nrrd")
    said = refusal(run, "compare", pair[0], planar, output="out1")
    assert f"Label 1 of {pair[0]} and Label 1 of {planar}: A structure in space cannot be compared" in said
    two = save(shapes.labelImage({4: ((1, 1, 1),) * 2, 5: ((3, 3, 3),) * 2}), tmp_path / "two.nrrd")
    said = refusal(run, "compare", pair[0], two, output="out2")
    assert "No structure has the same name in both" in said and f"{two} has Label 4, Label 5" in said
    far = save(shapes.box((6, 6, 6), (15, 14, 13), origin=(1e6, 1e6, 1e6)), tmp_path / "far.nrrd")
    assert "too far apart" in refusal(run, "compare", pair[0], far, output="out3")
    (tmp_path / "twice").mkdir()
    save(BOX, tmp_path / "twice" / "Liver.nrrd")
    shapes.writeMesh(shapes.ballMesh(5), tmp_path / "twice" / "Liver.stl")
    save(BOX, tmp_path / "twice" / "Kidney.nrrd")
    assert "more than one structure named 'Liver'" in refusal(run, "compare", "twice", "twice", output="out4")


def testALaterPairThatFailsLeavesNothing(run, tmp_path, monkeypatch):
    image = save(shapes.labelImage({1: ((2, 2, 2),) * 2, 2: ((5, 5, 5),) * 2}), tmp_path / "1.nrrd")
    compare = comparison.compare

    def failing(reference, *rest, **criticals):
        if reference.name == "Label 2":
            raise SegmentMetricsLib.errors.InputError("It is too odd.")
        return compare(reference, *rest)

    monkeypatch.setattr(comparison, "compare", failing)
    said = refusal(run, "compare", image, image)
    assert said == f"Label 2 of {image} and Label 2 of {image}: It is too odd."


def testOutputFoldersThatRefuse(run, pair, monkeypatch):
    """As on a file system that is full or cannot be written, whoever asks."""

    def full(*given, **options):
        raise OSError(28, "No space left on device", "/somewhere/.segment-metrics-x")

    monkeypatch.setattr(commands.results.tempfile, "mkdtemp", full)
    assert refusal(run, "compare", *pair).endswith(
        "results cannot be written into this folder (No space left on device)."
    )
    monkeypatch.setattr(commands.options.os, "access", lambda *given: False)
    assert refusal(run, "compare", *pair).endswith("results cannot be written into this folder.")


# Interruption and broken pipes


def testInterruption(run, pair, monkeypatch):
    def interrupted(*given, **criticals):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "compare", interrupted)
    before = sorted(Path().rglob("*"))
    assert run("compare", *pair, "--output", "out") == (130, "", "segment-metrics: interrupted\n")
    assert sorted(Path().rglob("*")) == before


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def testInterruptionFromTheKeyboard(tmp_path):
    code = (  # a test runner in the background may have told its children to ignore the signal
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from SegmentMetricsLib.__main__ import main; sys.exit(main(['demo', '--output', 'out']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, text=True, **pipes)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".segment-metrics-*/distances_*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "segment-metrics: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def testTermination(run, pair, monkeypatch):
    """As a batch system ends it: nothing is left, and the handler that was there before is back."""
    monkeypatch.setattr(comparison, "compare", lambda *given, **criticals: os.kill(os.getpid(), signal.SIGTERM))
    before, handler = sorted(Path().rglob("*")), signal.getsignal(signal.SIGTERM)
    assert run("compare", *pair, "--output", "out") == (143, "", "")
    assert sorted(Path().rglob("*")) == before
    assert signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that refuses even the superuser")
def testTheFolderThatWasAskedForIsNamed(run, pair):
    status, _, err = run("compare", *pair, "--output", "/proc/results/here")
    assert status == 2 and err.startswith("segment-metrics: /proc/results/here: results cannot be written")


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def testBrokenPipe(pair, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "SegmentMetricsLib", "compare", *map(str, pair), "--output", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*line, "--metrics", "overlap"], cwd=tmp_path, env=environment, stdout=writing, stderr=subprocess.PIPE,
        timeout=60, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert valuesOf(tmp_path / "out")["DSC"] == pytest.approx(0.8)


# Without pictures


def testWithoutOpenGL(capfd, pair, tmp_path, monkeypatch):
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    from SegmentMetricsLib.mrml import views

    def none():
        raise views.NoOpenGLError("Pictures cannot be drawn because this machine has no working OpenGL.")

    monkeypatch.setattr(views, "requireOpenGL", none)
    two = save(shapes.labelImage({1: ((2, 2, 2), (5, 5, 5)), 2: ((9, 9, 9), (12, 12, 12))}), tmp_path / "two.nrrd")
    for given, pairs in ((pair, 1), ((two, two), 2)):
        output = tmp_path / f"out{pairs}"
        assert __main__.main(["compare", *map(str, given), "--output", str(output)]) == 0
        out, err = capfd.readouterr()
        assert err == ("No overlay pictures: Pictures cannot be drawn because this machine has no working OpenGL.\n")
        assert out.endswith(f"Results are in {output}{os.sep}\n")
        assert len(metrics(output)["pairs"]) == len(list(output.glob("distances_*.vtp"))) == pairs
        assert not list(output.glob("*.png"))
    assert valuesOf(tmp_path / "out1")["HD"] == pytest.approx(2)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="hides the drivers of Linux")
def testOnAMachineWithoutDrivers(pair, tmp_path):
    pytest.importorskip("slicer", reason="needs Slicer's classes: pip install slicer-core")
    hidden = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent", "LIBGL_DRIVERS_PATH": "/nonexistent", "DISPLAY": ""}
    done = command("compare", *pair, "--output", tmp_path / "out", env=hidden)
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("No overlay pictures: Pictures cannot be drawn because this machine has no working")
    assert "2.00 mm" in done.stdout and valuesOf(tmp_path / "out")["DSC"] == pytest.approx(0.8)


def testWithoutSlicer(capfd, pair, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "slicer", None)  # importing it fails from now on
    output = tmp_path / "out"
    assert __main__.main(["compare", *map(str, pair), "--output", str(output)]) == 0
    err = capfd.readouterr().err
    assert err.startswith("No overlay pictures: the package slicer-core is missing") and err.count("\n") == 1
    assert valuesOf(output)["HD"] == pytest.approx(2) and (output / "distances_Label_1.vtp").is_file()
    # what needs it is refused
    displayed = ["compare", *map(str, pair), "--output", str(tmp_path / "displayed"), "--surface", "displayed"]
    assert __main__.main(displayed) == 2
    err = capfd.readouterr().err
    assert "Displayed surfaces are made by Slicer" in err and "slicer-core" in err and err.count("\n") == 1
    assert not (tmp_path / "displayed").exists()


# As a program


def testStatusOfTheProgram(pair, tmp_path):
    done = command("compare", pair[0], tmp_path / "gone.nrrd", "--output", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"segment-metrics: {tmp_path / 'gone.nrrd'}: there is no such file.\n"
    assert not (tmp_path / "out").exists()


def testHelpAndVersion(run):
    status, out, err = run("--version")
    assert (status, out, err) == (0, f"SegmentMetrics {SegmentMetricsLib.__version__}\n", "")
    status, out, err = run("compare", "--help")
    assert (status, err) == (0, "")
    options = "--output DIR,--structure NAME,--tolerance MM,--percentile P,--surface,--subdivisions N,--metrics FAMILY"
    for option in (*options.split(","), "--threshold T", "--preset"):
        assert option in out
    assert "demo" in run("--help")[1]


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import SegmentMetricsLib", ("slicer", "qt", "ctk", "vtk", "vtkmodules", "SimpleITK", "scipy", "numpy")),
        (
            "from SegmentMetricsLib import __main__; __main__.makeParser().format_help()",
            ("slicer", "qt", "ctk", "vtk", "vtkmodules", "SimpleITK", "scipy", "numpy", "tqdm"),
        ),
        ("from SegmentMetricsLib import *", ("slicer", "qt", "ctk", "vtk")),
    ],
)
def testWhatIsImported(code, forbidden):
    code += "; import sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not set(forbidden) & set(done.stdout.split())
