"""The conventions against the tools themselves, as far as they are installed: pip install -e .[peers]."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import re
import subprocess
import tempfile
import warnings

import numpy as np
import pytest
import shapes
import SimpleITK
from batchruns import rowsOf

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


def deepMind(reference, test, spacing):
    surface = pytest.importorskip("surface_distance", reason="surface-distance is not installed")
    distances = surface.compute_surface_distances(reference, test, spacing)
    areas = distances["surfel_areas_gt"], distances["surfel_areas_pred"]
    sums = [
        np.sum(d * a)
        for d, a in zip((distances["distances_gt_to_pred"], distances["distances_pred_to_gt"]), areas, strict=True)
    ]
    return {
        "HD": surface.compute_robust_hausdorff(distances, 100),
        "HD90": surface.compute_robust_hausdorff(distances, 90),
        "MASD": sum(surface.compute_average_surface_distance(distances)) / 2,
        "ASSD": sum(sums) / sum(map(np.sum, areas)),
        NSD: surface.compute_surface_dice_at_tolerance(distances, 1.5),
        "DSC": surface.compute_dice_coefficient(reference, test),
    }


def monai(reference, test, spacing):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    metrics = pytest.importorskip("monai.metrics", reason="MONAI is not installed")
    y, given = (torch.from_numpy(array.copy())[None, None] for array in (reference, test))
    both = {"y_pred": given, "y": y, "include_background": True, "spacing": list(spacing)}
    dice = metrics.compute_dice if hasattr(metrics, "compute_dice") else None
    values = {
        "HD": metrics.compute_hausdorff_distance(**both),
        "HD90": metrics.compute_hausdorff_distance(**both, percentile=90),
        "MASD": metrics.compute_average_surface_distance(**both),
        "ASSD": metrics.compute_average_surface_distance(**both, symmetric=True),
        NSD: metrics.compute_surface_dice(**both, class_thresholds=[1.5]),
        "IoU": metrics.compute_iou(given.float(), y.float()),
    }
    if dice is not None:
        values["DSC"] = dice(given.float(), y.float())
    return {key: float(value) for key, value in values.items()}


def medpy(reference, test, spacing):
    binary = pytest.importorskip("medpy.metric.binary", reason="MedPy is not installed")
    return {
        "HD": lambda: binary.hd(test, reference, spacing),
        "HD95": lambda: binary.hd95(test, reference, spacing),
        "MASD": lambda: binary.asd(test, reference, spacing),
        "ASSD": lambda: binary.assd(test, reference, spacing),
        "DSC": lambda: binary.dc(test, reference),
        "IoU": lambda: binary.jc(test, reference),
    }


def segMetrics(reference, test, spacing):
    tool = pytest.importorskip("seg_metrics.seg_metrics", reason="seg-metrics is not installed")
    found = tool.computeQualityMeasures(test.astype(np.uint8), reference.astype(np.uint8), spacing[::-1])
    return {
        "HD": found["hd"],
        "HD95": found["hd95"],
        "ASSD": found["msd"],
        "DSC": found["dice"],
        "IoU": found["jaccard"],
    }


def pymia(reference, test, spacing):
    tool = pytest.importorskip("pymia.evaluation.metric", reason="pymia is not installed")
    base = pytest.importorskip("pymia.evaluation.metric.base")
    distances = base.Distances(test, reference, spacing)
    matrix = base.ConfusionMatrix(test, reference)
    values = {}
    for key, metric in (
        ("HD", tool.HausdorffDistance()),
        ("HD90", tool.HausdorffDistance(percentile=90)),
        (NSD, tool.SurfaceDiceOverlap(1.5)),
    ):
        metric.distances = distances
        values[key] = metric.calculate()
    for key, metric in (("DSC", tool.DiceCoefficient()), ("IoU", tool.JaccardCoefficient())):
        metric.confusion_matrix = matrix
        values[key] = metric.calculate()
    average = tool.AverageDistance()
    average.prediction, average.reference = test.astype(np.uint8), reference.astype(np.uint8)
    average.spacing = spacing
    values["MASD"] = average.calculate()
    return values


def simpleItk(reference, test, spacing):
    images = imagesOf(spacing, reference, test)
    distance, overlap = SimpleITK.HausdorffDistanceImageFilter(), SimpleITK.LabelOverlapMeasuresImageFilter()

    def of(tool, name):
        def run():
            tool.Execute(*images)
            return getattr(tool, name)()

        return run

    return {
        "HD": of(distance, "GetHausdorffDistance"),
        "MASD": of(distance, "GetAverageHausdorffDistance"),
        "DSC": of(overlap, "GetDiceCoefficient"),
        "IoU": of(overlap, "GetJaccardCoefficient"),
    }


def miseval(reference, test, spacing):
    tool = pytest.importorskip("miseval", reason="MISeval is not installed")
    given = reference.astype(np.uint8), test.astype(np.uint8)
    names = {"HD": "AHD", "DSC": "DSC", "IoU": "IoU"}
    return {key: lambda n=name: tool.evaluate(*given, metric=n, multi_class=False) for key, name in names.items()}


def meshMetrics(reference, test, spacing):
    tool = pytest.importorskip("meshmetrics", reason="pymeshmetrics is not installed")
    images = imagesOf(spacing, reference, test)
    metrics = tool.DistanceMetrics(verbose=False)
    metrics.set_input(*images)
    return {
        "HD": metrics.hd(),
        "HD90": metrics.hd(90),
        "MASD": metrics.masd(),
        "ASSD": metrics.assd(),
        # distances that equal the tolerance count by rounding there
        NSD: metrics.nsd(1.5 + 1e-4),
        BIOU: metrics.biou(1.5),
        "DSC": metrics.dsc(),
        "IoU": metrics.iou(),
    }


def grandChallenge(reference, test, spacing):
    tool = pytest.importorskip("grand_challenge_metrics.stats", reason="grand-challenge-metrics is not installed")
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


def platipy(reference, test, spacing):
    tool = pytest.importorskip("platipy.imaging.label.comparison", reason="platipy is not installed")
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


def panoptica(reference, test, spacing):
    tool = pytest.importorskip("panoptica", reason="panoptica is not installed")
    metrics = {
        "HD": (tool.Metric.HD, "sq_hd"),
        "HD95": (tool.Metric.HD95, "sq_hd95"),
        "ASSD": (tool.Metric.ASSD, "sq_assd"),
        NSD: (tool.Metric.NSD, "sq_nsd"),
        "DSC": (tool.Metric.DSC, "sq_dsc"),
        "IoU": (tool.Metric.IOU, "sq"),
    }

    def of(metric, name):
        def run():
            evaluator = tool.Panoptica_Evaluator(
                tool.InputType.MATCHED_INSTANCE, instance_metrics=[metric], global_metrics=[]
            )
            given = test.astype(np.uint8), reference.astype(np.uint8)
            (result,) = evaluator.evaluate(*given, voxelspacing=spacing, verbose=False).values()
            return getattr(result, name)

        return run

    return {key: of(*one) for key, one in metrics.items()}


def torchMetrics(reference, test, spacing):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tool = pytest.importorskip("torchmetrics.functional.segmentation", reason="torchmetrics is not installed")
    side = max(reference.shape)  # the distances of another image than a square one are wrong, as its reason says
    padded = (np.pad(array, [(0, side - n) for n in array.shape]) for array in (test, reference))
    given = [torch.from_numpy(np.stack([~array, array])[None].astype(np.int64)) for array in padded]
    foreground = {"num_classes": 2, "include_background": False}
    return {
        "HD": lambda: tool.hausdorff_distance(*given, **foreground, spacing=list(spacing)),
        "DSC": lambda: tool.dice_score(*given, **foreground, average="none"),
        "IoU": lambda: tool.mean_iou(*given, **foreground, per_class=True),
    }


def plastimatch(reference, test, spacing):
    tool = pytest.importorskip("plastimatch", reason="Plastimatch is not installed")

    @functools.cache
    def printed():
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{name}.mha" for name in ("reference", "test")]
            for image, path in zip(imagesOf(spacing, reference, test), paths):
                SimpleITK.WriteImage(image, path)
            command = [str(tool._lookup("plastimatch")), "dice", "--all", *paths]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    names = {
        "HD": r"\nHausdorff distance \(boundary\)",
        "HD95": r"Percent \(0.95\) Hausdorff distance \(boundary\)",
        "MASD": r"Avg average Hausdorff distance \(boundary\)",
        "DSC": r"DICE",
    }
    return {
        key: lambda name=name: float(re.search(name + r"\s*=?:?\s*([-\d.e+]+)", printed()).group(1))
        for key, name in names.items()
    }


PEERS = {
    "DeepMind": deepMind,
    "MONAI": monai,
    "MedPy": medpy,
    "seg-metrics": segMetrics,
    "pymia": pymia,
    "SimpleITK": simpleItk,
    "MISeval": miseval,
    "MeshMetrics-1.4.1": meshMetrics,
    "grand-challenge-metrics": grandChallenge,
    "platipy": platipy,
    "panoptica-distances": panoptica,
    "torchmetrics": torchMetrics,
    "Plastimatch": plastimatch,
}
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
        given = [
            nibabel.Nifti1Image(4 * one.T.astype(np.uint8), np.diag([*spacing[::-1], 1])) for one in (test, reference)
        ]
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
