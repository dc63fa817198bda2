"""The command line: what each option changes in the results."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import shapes
from batchruns import rowsOf
from commandruns import BOX, SHIFTED, command, metrics, valuesOf
from commandruns import pair as pair  # the fixtures
from commandruns import run as run
from imagefiles import save
from sayings import says

from SegmentMetricsLib import Settings, compare

NOISE = np.random.default_rng(0).integers(-1000, 2000, (16, 16, 16)).astype(np.int16)
BOXES = {1: ((2, 2, 2), (5, 5, 5)), 2: ((9, 9, 9), (12, 12, 12)), 3: ((15, 15, 15), (16, 16, 16))}


def testChosenStructuresThatOnlyOneHas(run, tmp_path):
    three = save(shapes.labelImage(BOXES), tmp_path / "three.nrrd")
    two = save(shapes.labelImage({n: BOXES[n] for n in (1, 2)}), tmp_path / "two.nrrd")
    status, out, err = run("compare", two, three, "--output", "out", "--structure", "Label 3")
    assert (status, out) == (2, "") and not Path("out").exists()
    says(err, "Label 3", "Label 1, Label 2")
    # beside one that both have, it is listed
    status, out, err = run("compare", three, two, "--output", "out", "--structure", "1", "--structure", "3")
    assert (status, err) == (0, "") and says(*(one for one in out.splitlines() if "Label 3" in one), "reference")
    assert len(metrics("out")["pairs"]) == 1
    assert metrics("out")["unmatched"] == {"reference": ["Label 3"], "test": []}


def testPairsBesideChosenStructures(run, tmp_path):
    """Whoever gives a pair wants it compared, whatever else is chosen."""
    three = save(shapes.labelImage(BOXES), tmp_path / "three.nrrd")
    chosen = ("--structure", "1", "--pair", "2=3", "--output", "out")
    for verb, more in (("compare", "--numbers-only"), ("conventions", "--tool=MedPy")):
        assert run(verb, three, three, more, *chosen)[0] == 0
        name = "metrics" if verb == "compare" else verb
        pairs = json.loads(Path(f"out/{name}.json").read_text())["pairs"]
        found = [(one["reference"]["name"], one["test"]["name"]) for one in pairs]
        assert found == [("Label 1", "Label 1"), ("Label 2", "Label 3")]


# Keys that protocols and scripts know, in the order of tables; a family may get others beside them.
KEYS = {
    "boundary": "HD HD95 MASD ASSD NSD_2mm BIoU_2mm",
    "signed": "SignedMean OverFraction_2mm UnderFraction_2mm OverMax",
    "overlap": "DSC IoU TPR PPV VoxelVolumeTest",
    "agreement": "TNR FPR FNR FMS ACC GCE VS RI ARI MI VOI ICC PBD KAP AUC",
    "voxel": "AVD HDvox MHD",
    "hazard": "RFN RFP SIS STAR wDice",
    "similarity": "MSI MSIPaired PairedDistance MeanBLD MSI3D",
    "effort": "APL_2mm RelativeAPL_2mm",
}


def testMetrics(run, pair):
    assert run("compare", *pair, "--output", "out", "--metrics", "all")[0] == 0
    measured = metrics("out")["pairs"][0]["measurements"]
    # nothing is said of a dose that is not given, unless somebody asks for it
    assert "Gy" not in json.dumps({**metrics("out"), "settings": None})
    known = {key: one.family for key, one in compare(BOX, SHIFTED, Settings(metrics=("all", "dose"))).items()}
    families = [family for family in dict.fromkeys(known.values()) if family != "dose"]
    assert [family for family, _ in groupby(map(known.get, measured))] == families
    for keys in map(str.split, KEYS.values()):
        assert [key for key in measured if key in keys] == keys
    assert run("compare", *pair, "--output", "out", "--metrics", "dose,signed,NSD")[0] == 0
    measured = metrics("out")["pairs"][0]["measurements"]
    assert set(map(known.get, measured)) == {"dose", "signed", "boundary"}
    assert says(measured["DmeanTest"]["reason"]) and "HD" not in measured


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
    for arguments, names in (
        (("--critical", "Cord"), ["reference", "'Cord'", "Label 1, Label 2."]),
        (("--critical", "Label 2=2"), ["'Label 2'", " 2."]),
        (("--critical", "Label 2", "--metrics", "overlap"), ["--metrics"]),
    ):
        status, _, problem = run(*given, "refused", *arguments)
        assert status == 2 and says(problem, *names).count("\n") == 1
    assert not (tmp_path / "refused").exists()


def testGridOfAFile(run, pair, tmp_path):
    volume = save(shapes.imageOf(NOISE, (2, 2, 2), (-4, -4, -4)), tmp_path / "ct.nrrd")
    status, out, _ = run("compare", *pair, "--output", "out", "--metrics", "agreement", "--set", f"grid={volume}")
    evaluated = metrics("out")["pairs"][0]["grid"]["evaluated"]
    assert status == 0 and evaluated["voxels"] == 32**3
    (told,) = [line for line in out.splitlines() if "32768" in line]
    says(told, evaluated["choice"], "32 x 32 x 32")


@pytest.mark.parametrize("isFresh", [False, pytest.param(True, marks=pytest.mark.nightly)])
def testDisplayedSurface(run, isFresh):
    """Also in a process of its own, where Slicer has to register its converters in time."""
    pytest.importorskip("slicer", reason="needs Slicer's classes (extra slicer)")
    for folder, x in (("a", 0), ("b", 1)):
        Path(folder).mkdir()
        save(shapes.ball(10, (x, 0, 0)), f"{folder}/Ball.nrrd")
    save(shapes.ball(10), "a/Mixed.nrrd")
    shapes.writeMesh(shapes.ballMesh(10, resolution=24), Path("b/Mixed.stl"))
    given = ("compare", "a", "b", "--metrics", "MASD,DSC,VolumeReference", "--numbers-only", "-o")
    assert run(*given, "steps")[0] == 0
    given += ("smooth", "--surface", "displayed", "--workers", "1")
    if isFresh:
        done = command(*given)
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert run(*given)[::2] == (0, "")
    steps, smooth = (metrics(folder)["pairs"] for folder in ("steps", "smooth"))
    assert [one["surface"] for one in steps] == ["unsmoothed", "unsmoothed and imported"]
    assert [one["surface"] for one in smooth] == ["displayed", "displayed and imported"]
    numbers = [{key: one["value"] for key, one in pairs[0]["measurements"].items()} for pairs in (steps, smooth)]
    assert numbers[1]["VolumeReference"] == pytest.approx(4 / 3 * np.pi * 1000, rel=0.03)
    assert numbers[1]["MASD"] != numbers[0]["MASD"] and numbers[1]["DSC"] == numbers[0]["DSC"]
    Path("cases.csv").write_text("case,reference,test\n1,a,b\n")
    assert run("batch", "cases.csv", "--metrics", "MASD", "--surface", "displayed", "-o", "out")[0] == 0
    assert float(rowsOf("out/results.csv")[0]["MASD"]) == numbers[1]["MASD"]


@pytest.mark.parametrize(
    ("earlier", "now", "changes"),
    [
        ([], ["--preset", "MeshMetrics-1.4.1"], {}),
        (["--preset", "MeshMetrics-0.1"], ["--convention", "MedPy"], {}),
        (["--surface", "displayed"], ["--convention", "MedPy"], {"surface": "unsmoothed"}),
    ],
)
def testWhatAnOptionDecidesIsNotTakenFromSavedSettings(run, pair, earlier, now, changes):
    """A file of settings holds all of them, so nobody could leave out those that an option beside it contradicts."""
    common = ["--metrics", "boundary"]
    assert run("compare", *pair, "--output", "earlier", "--tolerance", "1.5", *common, *earlier)[0] == 0
    status, _, err = run("compare", *pair, "--output", "now", "--settings", "earlier/metrics.json", *now)
    assert (status, err) == (0, "")
    before, after = (metrics(folder)["settings"] for folder in ("earlier", "now"))
    convention = now[1] if now[0] in ("--preset", "--convention") else "SegmentMetrics"
    expected = {**before, "convention": convention, **changes}
    assert after == expected and after["tolerances"] == [1.5]


@pytest.mark.parametrize(
    ("given", "useless"),
    [
        (["--set", "il=2", "--kernel", "exponential", "--percentile", "50"], "--kernel, --set il"),
        (["--metrics", "overlap", "--tolerance", "3", "--set", "betas=2"], "--tolerance, --set betas"),
        (["--metrics", "voxel", "--set", "cuts=4", "--threshold", "0.5"], "--set cuts (with --threshold)"),
        (["--metrics", "hazard", "--set", "prescription=50"], "--set prescription (without --kernel dose)"),
        (["--metrics", "all", "--percentile", "50", "--set", "il=2", "--set", "quantiles=0.5"], ""),
        # what a protocol asks for is measured, too
        (["--protocol", "limits.csv", "--set", "il=2", "--set", "voxelUnit=voxel"], "--set voxelUnit"),
    ],
)
def testOptionsWithoutEffectAreMentioned(run, pair, given, useless):
    Path("limits.csv").write_text("Structure,Measurement,Relation,Pass\n*,MSI,>=,0.5\n")
    status, _, said = run("compare", *pair, *given)
    assert status == 0 and (says(said, f": {useless}\n") if useless else said == "")
    Path("cases.csv").write_text("case,reference,test\n1,{},{}\n".format(*pair))
    if "all" in given:
        given, said = [*given, "--set", "labelWeights=A=2"], said or "--set labelWeights\n"
        assert run("batch", "cases.csv", "-o", "out", "--workers", "1", *given)[2].endswith(said)
