"""The tools that are measured side by side, each through its own documented calls.

A peer is imported only here, only when it is installed, and before the clock starts. All but MONAI come with
`pip install -e ".[peers]"`; MONAI needs PyTorch, some gigabytes: `pip install monai`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pairs import Pair

from SegmentMetricsLib import Settings, __version__, compare
from SegmentMetricsLib.metrics import boundary
from SegmentMetricsLib.metrics import pair as quantities

TOLERANCE, PERCENTILE = 2.0, 95.0
MOST_FOR_LONG = 1_000_000

Values = dict[str, float]
Measure = Callable[[Pair], Values]


@dataclass(frozen=True)
class Tool:
    """One tool: load() imports it and returns the function that measures a pair.

    isOnMeshes: whether it measures smoothed surfaces, which are made before the clock starts. isLong: it takes so long
    that cases of more than MOST_FOR_LONG triangles are left out.
    """

    load: Callable[[], Measure]
    module: str = "SegmentMetricsLib"
    distribution: str = ""
    isOnMeshes: bool = False
    isLong: bool = False

    @property
    def isInstalled(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.distribution) if self.distribution else __version__


def ours(families=("boundary", "overlap"), convention: str = "", onMeshes: bool = False) -> Measure:
    """compare(), on SimpleITK images or on smoothed meshes; where hazard is measured, of the reference itself."""
    importLazily()
    settings = Settings.preset(convention, families=families) if convention else Settings(families=families)

    def measure(pair: Pair) -> Values:
        criticals = {"Reference": pair.reference} if "hazard" in settings.families else None
        return compare(*(pair.smoothed if onMeshes else pair.images), settings, criticals=criticals).numbers

    return measure


def allConventions() -> Measure:
    """What all other tools would report, beside the default comparison; the values are those of MeshMetrics-0.1."""
    importLazily()

    def measure(pair: Pair) -> Values:
        found = compare(*pair.images).conventions()
        return {key: number.value for key, number in found["MeshMetrics-0.1"].items()}

    return measure


def withoutBands() -> Measure:
    """What compare() calls for the boundary metrics other than BIoU, to compare with tools that have no BIoU."""
    importLazily()
    settings = Settings(tolerances=(TOLERANCE,), percentiles=(PERCENTILE,))

    def measure(pair: Pair) -> Values:
        distances = quantities.Pair(*pair.structures, settings).distances
        return {
            "HD": float(boundary.hausdorff(distances)),
            "HD95": float(boundary.percentileHausdorff(distances, PERCENTILE)),
            "MASD": float(boundary.meanAverageSurfaceDistance(distances)),
            "ASSD": float(boundary.averageSymmetricSurfaceDistance(distances)),
            "NSD_2mm": float(boundary.normalizedSurfaceDistance(distances, TOLERANCE)),
        }

    return measure


def importLazily() -> None:
    """Import what compare() imports only when it needs it: starting up is measured apart."""
    for module in ("SegmentMetricsLib.case.comparison", "scipy.ndimage", "vtkmodules.vtkFiltersGeneral"):
        importlib.import_module(module)


def pymeshmetrics(onMeshes: bool = False) -> Measure:
    import meshmetrics

    def measure(pair: Pair) -> Values:
        metrics = meshmetrics.DistanceMetrics(verbose=False)
        if onMeshes:
            metrics.set_input(*pair.smoothed, pair.reference.GetSpacing())
        else:
            metrics.set_input(*pair.images)
        return {
            "HD": metrics.hd(),
            "HD95": metrics.hd(PERCENTILE),
            "MASD": metrics.masd(),
            "ASSD": metrics.assd(),
            "NSD_2mm": metrics.nsd(TOLERANCE),
            "BIoU_2mm": metrics.biou(TOLERANCE),
            "DSC": metrics.dsc(),
            "IoU": metrics.iou(),
        }

    return measure


def surfaceDistance() -> Measure:
    import surface_distance

    def measure(pair: Pair) -> Values:
        distances = surface_distance.compute_surface_distances(*pair.arrays, pair.spacing)
        return {
            "HD": surface_distance.compute_robust_hausdorff(distances, 100),
            "HD95": surface_distance.compute_robust_hausdorff(distances, PERCENTILE),
            "MASD": sum(surface_distance.compute_average_surface_distance(distances)) / 2,
            "NSD_2mm": surface_distance.compute_surface_dice_at_tolerance(distances, TOLERANCE),
        }

    return measure


def monai() -> Measure:
    import torch
    from monai import metrics

    # it warns of calls that it makes itself
    warnings.filterwarnings("ignore", "monai.metrics", FutureWarning)

    def measure(pair: Pair) -> Values:
        reference, test = (torch.from_numpy(array)[None, None] for array in pair.arrays)
        given = {"y_pred": test, "y": reference, "include_background": True, "spacing": pair.spacing}
        values = {
            "HD": metrics.compute_hausdorff_distance(**given),
            "HD95": metrics.compute_hausdorff_distance(**given, percentile=PERCENTILE),
            "ASSD": metrics.compute_average_surface_distance(**given, symmetric=True),
            "NSD_2mm": metrics.compute_surface_dice(**given, class_thresholds=[TOLERANCE]),
        }
        return {key: float(value) for key, value in values.items()}

    return measure


def medpy() -> Measure:
    from medpy.metric import binary

    def measure(pair: Pair) -> Values:
        reference, test = pair.arrays
        return {
            "HD": binary.hd(test, reference, pair.spacing),
            "HD95": binary.hd95(test, reference, pair.spacing),
            "ASSD": binary.assd(test, reference, pair.spacing),
        }

    return measure


OURS, OURS_WITHOUT_BANDS = "SegmentMetrics", "SegmentMetrics without BIoU"
# The same triangles for both: what neither can do by lookup.
ON_MESHES = ("SegmentMetrics, smoothed meshes", "pymeshmetrics, smoothed meshes")
# The same numbers from both.
SAME_NUMBERS = ("SegmentMetrics, preset MeshMetrics-1.4.1", "pymeshmetrics")
# What the other tools have nothing like.
OURS_OF_MORE = {
    "SegmentMetrics, default families": Tool(partial(ours, Settings().families)),
    "SegmentMetrics, all families": Tool(partial(ours, "all"), isLong=True),
    "SegmentMetrics, all conventions": Tool(allConventions, isLong=True),
    SAME_NUMBERS[0]: Tool(partial(ours, convention="MeshMetrics-1.4.1")),
    "SegmentMetrics, preset MeshMetrics-0.1": Tool(partial(ours, convention="MeshMetrics-0.1")),
}
MESH_METRICS = ("meshmetrics", "pymeshmetrics")
TOOLS = {
    OURS: Tool(ours),
    OURS_WITHOUT_BANDS: Tool(withoutBands),
    **OURS_OF_MORE,
    "pymeshmetrics": Tool(pymeshmetrics, *MESH_METRICS),
    "surface-distance": Tool(surfaceDistance, "surface_distance", "surface-distance-based-measures"),
    "MONAI": Tool(monai, "monai", "monai"),
    "MedPy": Tool(medpy, "medpy", "medpy"),
    ON_MESHES[0]: Tool(partial(ours, onMeshes=True), isOnMeshes=True, isLong=True),
    ON_MESHES[1]: Tool(partial(pymeshmetrics, True), *MESH_METRICS, isOnMeshes=True, isLong=True),
}
