"""What nobody annotated: the evaluation of nnU-Net, derived from its rule on plain arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf
from commandruns import metrics
from commandruns import run as run
from sayings import refused, says
from tiers import rarely

from SegmentMetricsLib import Settings, compare, compareCase, compareLabels, readStructures

IGNORE = 3
KEYS = ("TP", "FP", "FN", "TN", "DSC", "IoU")
COUNTED = Settings(metrics=KEYS)
NAMES = {1: "organ", 2: "tumor", IGNORE: "ignore"}


def maps(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two label maps; of the reference, a part is not annotated."""
    shape = (12, 14, 16)
    first, second = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    for labels, more in ((first, 0), (second, 50)):
        labels[shapes.blob(seed, shape[::-1], 0.4) ^ shapes.blob(seed + 7 + more, shape[::-1], 0.05, 0.6)] = 1
        labels[shapes.blob(seed + 1 + more, shape[::-1], 0.1)] = 2
    first[shapes.blob(seed + 2, shape[::-1], 0.35, 2.0)] = IGNORE
    return first, second


def ruleOf(reference: np.ndarray, test: np.ndarray, label: int) -> dict[str, float]:
    """Return what nnU-Net counts for a label: where the reference has the ignore label, voxels are in none of them."""
    use = reference != IGNORE
    truth, given = reference == label, test == label
    tp, fp = np.sum(truth & given & use), np.sum(~truth & given & use)
    fn, tn = np.sum(truth & ~given & use), np.sum(~truth & ~given & use)
    return dict(zip(KEYS, map(float, (tp, fp, fn, tn, 2 * tp / (2 * tp + fp + fn), tp / (tp + fp + fn)))))


def valuesOf(comparison) -> dict[str, float]:
    return {key: comparison[key].value for key in KEYS}


@pytest.mark.parametrize("seed", [0, 1, *rarely(range(2, 6))])
def testAsNnunetCounts(seed, tmp_path):
    """In whatever the maps are given as."""
    reference, test = maps(seed)
    images = [shapes.imageOf(array, (0.7, 0.7, 2.0)) for array in (reference, test)]
    paths = [str(tmp_path / name) for name in ("a.nii.gz", "b.nii.gz")]
    for image, path in zip(images, paths):
        SimpleITK.WriteImage(image, path)
    expected = {label: ruleOf(reference, test, label) for label in (1, 2)}
    for given in ((reference, test), images, paths):
        more = {"spacing": (0.7, 0.7, 2.0)} if given[0] is reference else {}
        for label, values in expected.items():
            assert valuesOf(compare(*given, COUNTED, label=label, ignore=IGNORE, **more)) == pytest.approx(values)
    read = [readStructures(path) for path in paths]
    for case, called in (
        (compareCase(*paths, COUNTED, labelNames=NAMES), " ignore "),  # as nnU-Net calls it
        (compareCase(*paths, COUNTED, ignore=IGNORE), " Label 3 "),
        (compareCase(*read, COUNTED.replace(ignore="label 3")), " Label 3 "),
    ):
        assert len(case) == 2 and case.unmatched == {"reference": [], "test": []}
        for one, values in zip(case, expected.values()):
            assert valuesOf(one) == pytest.approx(values)
            assert len([finding for finding in one.findings if called in finding]) == 1
    shares = compareLabels(*paths, COUNTED.replace(ignore=IGNORE))["JACml"].value
    both, either = (sum(sum(one[key] for key in keys) for one in expected.values()) for keys in (KEYS[:1], KEYS[:3]))
    assert shares == pytest.approx(both / either)


def testTwoFoldersAndTheCommands(run, tmp_path):
    """As nnU-Net has them."""
    labels, predictions = tmp_path / "labels", tmp_path / "predictions"
    for folder in (labels, predictions):
        folder.mkdir()
    for number in range(3):
        for folder, array in zip((labels, predictions), maps(number)):
            SimpleITK.WriteImage(shapes.imageOf(array, (0.7, 0.7, 2.0)), str(folder / f"case{number}.nii.gz"))
    content = {"labels": {"background": 0, **{name: number for number, name in NAMES.items()}}}
    (labels / "dataset.json").write_text(json.dumps(content))
    given = ("--metrics", ",".join(KEYS), "--workers", "1")
    status, _, error = run("batch", "--reference-dir", labels, "--test-dir", predictions, *given, "-o", "out")
    assert status == 0 and says(error, "ignore")
    (tmp_path / "cases.csv").write_text("case,reference,test\ncase0,labels/case0.nii.gz,predictions/case0.nii.gz\n")
    assert run("batch", "cases.csv", *given, "--ignore", "3", "-o", "one")[0] == 0
    for folder in ("out", "one"):
        rows = rowsOf(tmp_path / folder / "results.csv")
        assert len(rows) == (6 if folder == "out" else 2)
        for row in rows:
            expected = ruleOf(*maps(int(row["Case"][-1])), 1 if row["Structure"] in ("organ", "Label 1") else 2)
            assert {key: float(row[key]) for key in KEYS} == pytest.approx(expected)
    # what a reference lacks is compared with nothing
    array = maps(0)[0]
    SimpleITK.WriteImage(shapes.imageOf(np.where(array == 1, 0, array), (0.7, 0.7, 2.0)), str(labels / "case0.nii.gz"))
    assert run("batch", "cases.csv", *given, "--ignore", "3", "-o", "lacking")[0] == 0
    (outcome,) = map(json.loads, (tmp_path / "lacking" / "results.jsonl").read_text().splitlines())
    dice = [one["measurements"]["DSC"]["value"] for one in (*outcome["missing"], *outcome["pairs"])]
    assert dice == [0, ruleOf(*maps(0), 2)["DSC"]]
    pair = (labels / "case1.nii.gz", predictions / "case1.nii.gz")
    ignoring = (("--label-names", labels / "dataset.json"), ("--ignore", "3"), ("--ignore", "Label 3"))
    for ignored, called in zip(ignoring, (" ignore ", " Label 3 ", " Label 3 ")):
        status, out, _ = run("compare", *pair, *given[:2], *ignored, "-o", "compared", "--numbers-only")
        assert status == 0 and called in out
        values = {key: one["value"] for key, one in metrics("compared")["pairs"][0]["measurements"].items()}
        assert values == pytest.approx(ruleOf(*maps(1), 1))
    assert " 9 " in run("compare", *pair, *given[:2], "--ignore", "9")[1]


def testContoursEndAtItsBorder():
    """Of a rod that runs into what nobody annotated, the numbers are those of the part before it."""
    reference, test = np.zeros((2, 16, 16, 30), np.uint8)
    reference[5:10, 5:10, 3:20], test[5:10, 6:11, 3:28] = 1, 1
    reference[:, :, 20:] = IGNORE
    settings = Settings(metrics=("boundary", "signed", "overlap", "agreement"))
    found = compare(reference, test, settings, ignore=IGNORE, spacing=1)
    cut = [np.where(reference == IGNORE, 0, array) for array in (reference, test)]
    expected = compare(*cut, settings, spacing=1)
    outside = {"TN", "TNR", "FPR", "ACC", "GCE", "RI", "ARI", "MI", "VOI", "ICC", "KAP", "AUC"}
    assert {key for key in found if found[key].value != expected[key].value} == outside & set(found)
    assert found["HD"].value == pytest.approx(1) and found["TN"].value == 20 * 256 - 17 * (25 + 5)
    # nothing is dangerous there, either: the field of hazard ends at its border
    near = np.zeros_like(reference)
    near[5:10, 5:10, 25:27] = 1
    hazard = Settings(metrics="hazard", hazardReach=30.0)
    sis = compare(reference, test, hazard, criticals={"Cord": near}, ignore=IGNORE, spacing=1)
    k, j, i = np.indices(reference.shape)
    away = (np.maximum(np.maximum(low - x, x - high), 0) for x, low, high in ((k, 5, 9), (j, 5, 9), (i, 25, 26)))
    weights = np.where(reference == IGNORE, 0, np.maximum(1 - sum(x**2 for x in away) / 30**2, 0))
    wrong = weights[(cut[0] == 0) & (cut[1] == 1)].sum() / (weights[cut[0] == 0].sum() + 1e-8)
    assert sis["RFP"].value == pytest.approx(wrong)


def testOtherGridsAndWhatCannotBeCut():
    reference, test = np.zeros((2, 12, 12, 12), np.uint8)
    reference[2:8, 2:8, 2:6], reference[:, :, 8:], test[2:8, 2:8, 2:12] = 1, IGNORE, 1
    fine = shapes.imageOf(test.repeat(2, 0).repeat(2, 1).repeat(2, 2), [0.5] * 3, [-0.25] * 3)
    found = compare(shapes.imageOf(reference), fine, Settings(metrics="DSC"), ignore=IGNORE)
    assert found["DSC"].value == pytest.approx(2 * 4 / (4 + 6))
    mesh = shapes.boxMesh((1.5, 1.5, 1.5), (11.5, 7.5, 7.5))
    whole = compare(shapes.imageOf(reference), mesh, Settings(metrics="DSC"), ignore=IGNORE)
    assert whole["DSC"].value == pytest.approx(2 * 4 / (4 + 10)) and says("\n".join(whole.findings), "test")
    with refused("reference"):
        compare(mesh, shapes.imageOf(test), ignore=IGNORE)
    with refused(" 0"):
        Settings(ignore=0)


def testNothingIsAnnotatedOrDrawnElsewhere(tmp_path):
    """A reference without any other label has no structure, and what the test only has there is none."""
    reference, test = np.zeros((2, 8, 8, 8), np.uint8)
    reference[:, :, 4:], test[2:5, 2:5, 1:3], test[2:5, 2:5, 5:7] = IGNORE, 1, 2
    paths = [str(tmp_path / name) for name in ("case1.nrrd", "case2.nrrd")]
    for array, path in zip((reference, test), paths):
        SimpleITK.WriteImage(shapes.imageOf(array), path)
    (found,) = compareCase(*paths, COUNTED, labelNames=NAMES)
    assert (found.test.name, found["DSC"].value, found["FP"].value) == ("organ", 0, 18)
    SimpleITK.WriteImage(shapes.imageOf(np.where(test == 2, test, 0)), paths[1])
    (found,) = compareCase(*paths, COUNTED, labelNames=NAMES)
    assert found["DSC"].status == "undefined"  # as nnU-Net's is not a number
    # lesions that are numbered in the map are cut as well
    lesions = Settings(metrics="instances", instanceMaps=True, ignore=IGNORE)
    SimpleITK.WriteImage(shapes.imageOf(test), paths[1])
    for found in (compare(reference, test, lesions, spacing=1), *compareCase(*paths, lesions)):
        assert (found["LesionsInvented"].value, found["LesionsTest"].value) == (1, 1)
        assert "18.0 mm3" in found.findings[-1]


@pytest.mark.parametrize("surface", ["unsmoothed", "displayed"])
def testSegmentsOfSlicer(surface, request):
    pytest.importorskip("slicer", reason="needs the slicer-core package")
    from segmentnodes import segmentationOf

    from SegmentMetricsLib import mrml

    scene = request.getfixturevalue("scene")
    reference, test = np.zeros((2, 20, 20, 30), np.uint8)
    reference[5:15, 5:15, 3:20], test[5:15, 6:16, 3:28] = 1, 1
    reference[:, :, 20:] = IGNORE
    organ, ignore = (shapes.imageOf((reference == label).astype(np.uint8)) for label in (1, IGNORE))
    first = segmentationOf(scene, "First", Organ=organ, Ignore=ignore)
    nodes = first, segmentationOf(scene, "Second", Organ=shapes.imageOf(test))
    settings = Settings(metrics=("DSC", "HD"), surface=surface, ignore="ignore")
    (found,) = mrml.compareSegmentations(*nodes, settings)
    single = mrml.compareSegments(nodes[0], "Organ", nodes[1], "Organ", settings)
    for one in (found, single):
        assert one["DSC"].value == ruleOf(reference, test, 1)["DSC"] and one["HD"].value < 2
        assert one.test.surfaceKind == surface
