"""The conventions against the tools themselves, as far as they are installed: pip install -e .[peers]."""

from __future__ import annotations

import importlib.resources
import json
import math
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
import shapes
from batchruns import rowsOf
from imagefiles import save

from SegmentMetricsLib import Settings, compare

pytestmark = pytest.mark.nightly

# names that these tools use and newer versions of numpy no longer have
for name, meaning in (("in1d", np.isin), ("Inf", np.inf), ("NaN", np.nan)):
    if not hasattr(np, name):
        setattr(np, name, meaning)

SETTINGS = Settings(tolerances=(1.5,), percentiles=(90, 95), families=("overlap",))
NSD, BIOU = "NSD_1.5mm", "BIoU_1.5mm"


def imagesOf(spacing, *arrays):
    return [shapes.imageOf(array.astype(np.uint8), spacing[::-1]) for array in arrays]


PEERS: dict[str, Callable] = {}


def peer(key: str, module: str) -> Callable:
    """Return a decorator of a function of a module, arrays and spacing, which returns a tool's numbers, or calls."""

    def register(numbersOf: Callable) -> Callable:
        def measure(*given):
            return numbersOf(pytest.importorskip(module, reason=f"{module} is not installed"), *given)

        PEERS[key] = measure
        return measure

    return register


@peer("DeepMind", "surface_distance")
def deepMind(tool, reference, test, spacing):
    distances = tool.compute_surface_distances(reference, test, spacing)
    areas = distances["surfel_areas_gt"], distances["surfel_areas_pred"]
    sums = distances["distances_gt_to_pred"] @ areas[0] + distances["distances_pred_to_gt"] @ areas[1]
    return {
        "HD": tool.compute_robust_hausdorff(distances, 100),
        "HD90": tool.compute_robust_hausdorff(distances, 90),
        "MASD": sum(tool.compute_average_surface_distance(distances)) / 2,
        "ASSD": sums / sum(map(np.sum, areas)),
        NSD: tool.compute_surface_dice_at_tolerance(distances, 1.5),
        "DSC": tool.compute_dice_coefficient(reference, test),
    }


@peer("MONAI", "monai.metrics")
def monai(tool, reference, test, spacing):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    y, given = (torch.from_numpy(array.copy())[None, None] for array in (reference, test))
    both = {"y_pred": given, "y": y, "include_background": True, "spacing": list(spacing)}
    values = {
        "HD": tool.compute_hausdorff_distance(**both),
        "HD90": tool.compute_hausdorff_distance(**both, percentile=90),
        "MASD": tool.compute_average_surface_distance(**both),
        "ASSD": tool.compute_average_surface_distance(**both, symmetric=True),
        NSD: tool.compute_surface_dice(**both, class_thresholds=[1.5]),
        "IoU": tool.compute_iou(given.float(), y.float()),
        "DSC": tool.compute_dice(given.float(), y.float()),
    }
    return {key: float(value) for key, value in values.items()}


@peer("MedPy", "medpy.metric.binary")
def medpy(tool, reference, test, spacing):
    names = {"HD": tool.hd, "HD95": tool.hd95, "MASD": tool.asd, "ASSD": tool.assd}
    found = {key: partial(name, test, reference, spacing) for key, name in names.items()}
    return {**found, "DSC": lambda: tool.dc(test, reference), "IoU": lambda: tool.jc(test, reference)}


@peer("seg-metrics", "seg_metrics.seg_metrics")
def segMetrics(tool, reference, test, spacing):
    found = tool.computeQualityMeasures(test.astype(np.uint8), reference.astype(np.uint8), spacing[::-1])
    names = {"HD": "hd", "HD95": "hd95", "ASSD": "msd", "DSC": "dice", "IoU": "jaccard"}
    return {key: found[name] for key, name in names.items()}


@peer("pymia", "pymia.evaluation.metric")
def pymia(tool, reference, test, spacing):
    base, values = pytest.importorskip("pymia.evaluation.metric.base"), {}
    given = {
        "distances": base.Distances(test, reference, spacing),
        "confusion_matrix": base.ConfusionMatrix(test, reference),
        **{"prediction": test.astype(np.uint8), "reference": reference.astype(np.uint8), "spacing": spacing},
    }
    for key, metric in (
        ("HD", tool.HausdorffDistance()),
        ("HD90", tool.HausdorffDistance(percentile=90)),
        (NSD, tool.SurfaceDiceOverlap(1.5)),
        ("DSC", tool.DiceCoefficient()),
        ("IoU", tool.JaccardCoefficient()),
        ("MASD", tool.AverageDistance()),
    ):
        vars(metric).update(given)
        values[key] = metric.calculate()
    return values


@peer("SimpleITK", "SimpleITK")
def simpleItk(tool, reference, test, spacing):
    images = imagesOf(spacing, reference, test)
    distance, overlap = tool.HausdorffDistanceImageFilter(), tool.LabelOverlapMeasuresImageFilter()

    def run(of, name):
        of.Execute(*images)
        return getattr(of, name)()

    return {
        "HD": partial(run, distance, "GetHausdorffDistance"),
        "MASD": partial(run, distance, "GetAverageHausdorffDistance"),
        "DSC": partial(run, overlap, "GetDiceCoefficient"),
        "IoU": partial(run, overlap, "GetJaccardCoefficient"),
    }


@peer("MISeval", "miseval")
def miseval(tool, reference, test, spacing):
    given, names = (reference.astype(np.uint8), test.astype(np.uint8)), {"HD": "AHD", "DSC": "DSC", "IoU": "IoU"}
    return {key: partial(tool.evaluate, *given, metric=name, multi_class=False) for key, name in names.items()}


@peer("MeshMetrics-1.4.1", "meshmetrics")
def meshMetrics(tool, reference, test, spacing):
    metrics = tool.DistanceMetrics(verbose=False)
    metrics.set_input(*imagesOf(spacing, reference, test))
    values = {"HD": metrics.hd(), "HD90": metrics.hd(90), "MASD": metrics.masd(), "ASSD": metrics.assd()}
    # distances that equal the tolerance count by rounding there
    values |= {NSD: metrics.nsd(1.5 + 1e-4), BIOU: metrics.biou(1.5)}
    return {**values, "DSC": metrics.dsc(), "IoU": metrics.iou()}


@peer("grand-challenge-metrics", "grand_challenge_metrics.stats")
def grandChallenge(tool, reference, test, spacing):
    table = tool.calculate_confusion_matrix(reference.astype(int), test.astype(int), [0, 1])
    both = reference, test, spacing
    return {
        "HD": lambda: tool.hausdorff_distance(*both),
        "HD90": lambda: tool.percentile_hausdorff_distance(reference, test, 0.9, spacing),
        "MASD": lambda: tool.mean_contour_distance(*both),
        "ASSD": lambda: tool.modified_hausdorff_distance(*both),
        "DSC": lambda: tool.dice_from_confusion_matrix(table)[1],
        "IoU": lambda: tool.jaccard_from_confusion_matrix(table)[1],
    }


@peer("platipy", "platipy.imaging.label.comparison")
def platipy(tool, reference, test, spacing):
    images = imagesOf(spacing, reference, test)
    return {
        "HD": lambda: tool.compute_surface_metrics(*images)["hausdorffDistance"],
        "HD95": lambda: tool.compute_surface_metrics(*images)["hausdorffDistance95"],
        "MASD": lambda: tool.compute_metric_masd(*images),
        "ASSD": lambda: tool.compute_surface_metrics(*images)["meanSurfaceDistance"],
        NSD: lambda: tool.compute_surface_dsc(*images, tau=1.5),
        "DSC": lambda: tool.compute_volume_metrics(*images)["DSC"],
        "IoU": lambda: tool.compute_volume_metrics(*images)["fractionOverlap"],
    }


@peer("panoptica-distances", "panoptica")
def panoptica(tool, reference, test, spacing):
    names = {"HD": "sq_hd", "HD95": "sq_hd95", "ASSD": "sq_assd", NSD: "sq_nsd", "DSC": "sq_dsc", "IoU": "sq"}

    def run(key, name):
        metric = getattr(tool.Metric, {NSD: "NSD", "IoU": "IOU"}.get(key, key))
        kind = tool.InputType.MATCHED_INSTANCE
        evaluator = tool.Panoptica_Evaluator(kind, instance_metrics=[metric], global_metrics=[])
        given = test.astype(np.uint8), reference.astype(np.uint8)
        (result,) = evaluator.evaluate(*given, voxelspacing=spacing, verbose=False).values()
        return getattr(result, name)

    return {key: partial(run, key, name) for key, name in names.items()}


@peer("torchmetrics", "torchmetrics.functional.segmentation")
def torchMetrics(tool, reference, test, spacing):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    side = max(reference.shape)  # the distances of another image than a square one are wrong, as its reason says
    padded = (np.pad(array, [(0, side - n) for n in array.shape]) for array in (test, reference))
    given = [torch.from_numpy(np.stack([~array, array])[None].astype(np.int64)) for array in padded]
    foreground = {"num_classes": 2, "include_background": False}
    return {
        "HD": lambda: tool.hausdorff_distance(*given, **foreground, spacing=list(spacing)),
        "DSC": lambda: tool.dice_score(*given, **foreground, average="none"),
        "IoU": lambda: tool.mean_iou(*given, **foreground, per_class=True),
    }


@peer("Plastimatch", "plastimatch")
def plastimatch(tool, reference, test, spacing):
    @cache
    def printed():
        with tempfile.TemporaryDirectory() as folder:
            paths = [save(image, f"{folder}/{n}.mha") for n, image in enumerate(imagesOf(spacing, reference, test))]
            command = [str(tool._lookup("plastimatch")), "dice", "--all", *paths]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def find(name):
        return float(re.search(name + r"\s*=?:?\s*([-\d.e+]+)", printed()).group(1))

    names = {
        "HD": r"\nHausdorff distance \(boundary\)",
        "HD95": r"Percent \(0.95\) Hausdorff distance \(boundary\)",
        "MASD": r"Avg average Hausdorff distance \(boundary\)",
        "DSC": r"DICE",
    }
    return {key: partial(find, name) for key, name in names.items()}


NEWER = ("grand-challenge-metrics", "platipy", "panoptica-distances", "torchmetrics")
# platipy measures in single precision, which can cost a bit more on small masks
SINGLE = {"rel": 3e-6, "abs": 1e-9}


def masks(kind: str, seed: int):
    """Return a random reference, test and spacing along the arrays' axes."""
    random = np.random.default_rng(seed)
    size = random.integers(8, 15, 3)
    reference, test = (shapes.blob(10 * seed + n, size, share=0.3, smooth=1.2) for n in (0, 1))
    test = np.where(random.random() < 0.7, reference ^ (test & (random.random(test.shape) < 0.3)), test)
    spacing = [float(np.round(s, 3)) for s in random.uniform(0.3, 3, 3)]
    if kind == "inside":
        reference, test = (np.pad(mask, 2) for mask in (reference, test))
    elif kind == "voxel":
        reference = np.zeros(size[::-1], bool)
        reference[tuple(n // 2 for n in reference.shape)] = True
    elif kind == "slice":
        middle = reference.shape[0] // 2
        reference, test, spacing = reference[middle], test[middle], spacing[1:]
    return reference.astype(bool), test.astype(bool), spacing


def ours(key, reference, test, spacing, settings=SETTINGS):
    images = [shapes.imageOf(mask, spacing[::-1]) for mask in (reference, test)]
    return compare(*images, settings).conventions([key], atEdge=True)[key]


def requireEqual(tool, theirs, mine, accuracy):
    """accuracy: absolute, or relative and absolute by name."""
    within = accuracy if isinstance(accuracy, dict) else {"abs": accuracy}
    for key, value in theirs.items():
        if key not in mine:  # of volumes or of slices alone
            with pytest.raises((IndexError, RuntimeError, ValueError)):
                value()
            continue
        if callable(value):
            try:
                value = value()
            except pytest.skip.Exception:
                raise
            except Exception:
                value = math.nan  # the tool stops, which ours says
        assert mine[key].value == pytest.approx(float(value), **within, nan_ok=True), (tool, key)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["inside", "edge", "voxel", "slice"])
@pytest.mark.parametrize("tool", PEERS)
def testRandomMasks(tool, kind, seed):
    reference, test, spacing = masks(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = PEERS[tool](reference, test, tuple(spacing))
    accuracy = 1e-3 if tool.startswith(("MeshMetrics", "Plastimatch")) else SINGLE if tool in NEWER else 1e-4
    requireEqual(tool, theirs, ours(tool, reference, test, spacing), accuracy)


@pytest.mark.parametrize("empty", ["reference", "test", "both"])
@pytest.mark.parametrize("tool", PEERS)
def testEmptyMasks(tool, empty):
    reference, test, spacing = masks("slice" if tool == "torchmetrics" else "inside", 1)
    if empty in ("reference", "both"):
        reference = np.zeros_like(reference)
    if empty in ("test", "both"):
        test = np.zeros_like(test)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        theirs = PEERS[tool](reference, test, tuple(spacing))
    if tool == "MISeval" and empty != "both":
        del theirs["HD"]  # a number without meaning
    if tool == "grand-challenge-metrics" and empty == "test":
        del theirs["MASD"], theirs["ASSD"]  # numbers that grow with the background
    requireEqual(tool, theirs, ours(tool, reference, test, spacing), {"rel": 1e-6, "abs": 1e-4})


@pytest.mark.parametrize("tool", ["DeepMind", "pymia"])
def testTiesOfToolsThatGoByVoxels(tool):
    """Distances of two or three voxels equal the tolerance; they count here as they do in the tool."""
    spacing = (2.5, 0.5, 0.75)
    reference, test = (np.pad(shapes.blob(seed, (14, 14, 8), share=0.3, smooth=1.2), 2).astype(bool) for seed in (1, 2))
    theirs = PEERS[tool](reference, test, spacing)
    requireEqual(tool, {NSD: theirs[NSD]}, ours(tool, reference, test, spacing), 1e-6)


def lesionCases():
    """Yield a name, and lesions of a reference and a test."""
    for seed in range(6):
        reference = shapes.blob(seed, (22, 24, 26), share=0.06, smooth=1.3).astype(bool)
        lost = np.random.default_rng(seed).random(reference.shape) > 0.85
        invented = shapes.blob(seed + 100, (22, 24, 26), share=0.02, smooth=1.3).astype(bool)
        yield f"random {seed}", reference & ~lost | invented, reference
    nothing, one, other, tiny = np.zeros((4, 22, 24, 26), bool)
    one[3:8, 3:8, 3:8], other[13:18, 13:18, 13:18], tiny[3:5, 3:5, 3:5] = True, True, True
    yield from (("both empty", nothing, nothing), ("reference empty", nothing, one), ("test empty", one, nothing))
    yield from (("apart", one, other), ("tiny", tiny, tiny), ("tiny and invented", tiny, other))


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (3.0, 0.8, 0.5)])
def testBratsEvaluation(spacing, tmp_path):
    """Its commands seg and mets, whose columns bear the same names, to six digits."""
    tool = pytest.importorskip("brats_evaluation.evaluation", reason="BraTS_evaluation is not installed")
    parser = pytest.importorskip("brats_evaluation.metrics_parser")
    nibabel, panopticaPackage = pytest.importorskip("nibabel"), pytest.importorskip("panoptica")
    config = importlib.resources.files("brats_evaluation").joinpath("configs", "config_mets.yaml")
    evaluator = panopticaPackage.Panoptica_Evaluator.load_from_config(str(config))
    columns = {
        "LesionDSC": "lesionwise_dsc_mean_rc",
        "LesionHD95": "lesionwise_hd95_mean_rc",
        "LesionSensitivity": "all_instance_rec_rc",
        "LesionPrecision": "all_instance_prec_rc",
        "LesionF1": "all_instance_f1_rc",
    }
    results, table = str(tmp_path / "results.json"), str(tmp_path / "table.csv")
    for name, reference, test in lesionCases():
        arrays, affine = (4 * one.T.astype(np.uint8) for one in (test, reference)), np.diag([*spacing[::-1], 1])
        given = [nibabel.Nifti1Image(array, affine) for array in arrays]
        found = tool.evaluate_single_exam(*given, "case", evaluator)
        with open(results, "w") as file:
            json.dump({"metrics": [found], "missings": []}, file)
        images = [shapes.imageOf(one, spacing[::-1]) for one in (reference, test)]
        for command, parse in (("seg", [parser.parse_seg_results]), ("mets", [parser.parse_mets_results, 20.0, 0.1])):
            parse[0](results, *parse[1:], table)
            theirs = rowsOf(table)[0]
            mine = compare(*images, Settings.preset(f"BraTS_evaluation {command}", metrics=tuple(columns)))
            for key, column in columns.items():
                value = float(theirs[column] or math.nan)
                assert mine[key].value == pytest.approx(value, rel=1e-6, nan_ok=True), (name, command, key)
