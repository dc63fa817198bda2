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


# What compare() imports only when it needs it: starting up is measured apart.
LAZY = ("SegmentMetricsLib.case.comparison", "scipy.ndimage", "vtkmodules.vtkFiltersGeneral")


@dataclass(frozen=True)
class Tool:
    """One tool: load() imports it and returns the function that measures a pair.

    isOnMeshes: whether it measures smoothed surfaces, which are made before the clock starts. isLong: it takes so long
    that cases of more than MOST_FOR_LONG triangles are left out.
    """

    measure: Measure
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

    def load(self) -> Measure:
        for module in (self.module, *(() if self.distribution else LAZY)):
            importlib.import_module(module)
        return self.measure


def ours(settings: Settings, pair: Pair, onMeshes: bool = False) -> Values:
    """compare(), on SimpleITK images or on smoothed meshes; where hazard is measured, of the reference itself."""
    criticals = {"Reference": pair.reference} if "hazard" in settings.families else None
    return compare(*(pair.smoothed if onMeshes else pair.images), settings, criticals=criticals).numbers


def allConventions(pair: Pair) -> Values:
    """What all other tools would report, beside the default comparison; the values are those of MeshMetrics-0.1."""
    found = compare(*pair.images).conventions()
    return {key: number.value for key, number in found["MeshMetrics-0.1"].items()}


def withoutBands(pair: Pair) -> Values:
    """What compare() calls for the boundary metrics other than BIoU, to compare with tools that have no BIoU."""
    settings = Settings(tolerances=(TOLERANCE,), percentiles=(PERCENTILE,))
    distances = quantities.Pair(*pair.structures, settings).distances
    return {
        "HD": float(boundary.hausdorff(distances)),
        "HD95": float(boundary.percentileHausdorff(distances, PERCENTILE)),
        "MASD": float(boundary.meanAverageSurfaceDistance(distances)),
        "ASSD": float(boundary.averageSymmetricSurfaceDistance(distances)),
        "NSD_2mm": float(boundary.normalizedSurfaceDistance(distances, TOLERANCE)),
    }


def pymeshmetrics(pair: Pair, onMeshes: bool = False) -> Values:
    import meshmetrics

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


def surfaceDistance(pair: Pair) -> Values:
    import surface_distance

    distances = surface_distance.compute_surface_distances(*pair.arrays, pair.spacing)
    return {
        "HD": surface_distance.compute_robust_hausdorff(distances, 100),
        "HD95": surface_distance.compute_robust_hausdorff(distances, PERCENTILE),
        "MASD": sum(surface_distance.compute_average_surface_distance(distances)) / 2,
        "NSD_2mm": surface_distance.compute_surface_dice_at_tolerance(distances, TOLERANCE),
    }


def monai(pair: Pair) -> Values:
    import torch
    from monai import metrics

    # it warns of calls that it makes itself
    warnings.filterwarnings("ignore", "monai.metrics", FutureWarning)
    reference, test = (torch.from_numpy(array)[None, None] for array in pair.arrays)
    given = {"y_pred": test, "y": reference, "include_background": True, "spacing": pair.spacing}
    values = {
        "HD": metrics.compute_hausdorff_distance(**given),
        "HD95": metrics.compute_hausdorff_distance(**given, percentile=PERCENTILE),
        "ASSD": metrics.compute_average_surface_distance(**given, symmetric=True),
        "NSD_2mm": metrics.compute_surface_dice(**given, class_thresholds=[TOLERANCE]),
    }
    return {key: float(value) for key, value in values.items()}


def medpy(pair: Pair) -> Values:
    from medpy.metric import binary

    reference, test = pair.arrays
    functions = {"HD": binary.hd, "HD95": binary.hd95, "ASSD": binary.assd}
    return {key: function(test, reference, pair.spacing) for key, function in functions.items()}


OURS, OURS_WITHOUT_BANDS = "SegmentMetrics", "SegmentMetrics without BIoU"
# The same triangles for both: what neither can do by lookup.
ON_MESHES = ("SegmentMetrics, smoothed meshes", "pymeshmetrics, smoothed meshes")
# The same numbers from both.
SAME_NUMBERS = ("SegmentMetrics, preset MeshMetrics-1.4.1", "pymeshmetrics")
BOUNDARY = Settings(families=("boundary", "overlap"))
# What the other tools have nothing like.
OURS_OF_MORE = {
    "SegmentMetrics, default families": Tool(partial(ours, Settings())),
    "SegmentMetrics, all families": Tool(partial(ours, Settings(families="all")), isLong=True),
    "SegmentMetrics, all conventions": Tool(allConventions, isLong=True),
    **{
        f"SegmentMetrics, preset {name}": Tool(partial(ours, Settings.preset(name, families=BOUNDARY.families)))
        for name in ("MeshMetrics-1.4.1", "MeshMetrics-0.1")
    },
}
MESH_METRICS = ("meshmetrics", "pymeshmetrics")
TOOLS = {
    OURS: Tool(partial(ours, BOUNDARY)),
    OURS_WITHOUT_BANDS: Tool(withoutBands),
    **OURS_OF_MORE,
    "pymeshmetrics": Tool(pymeshmetrics, *MESH_METRICS),
    "surface-distance": Tool(surfaceDistance, "surface_distance", "surface-distance-based-measures"),
    "MONAI": Tool(monai, "monai", "monai"),
    "MedPy": Tool(medpy, "medpy", "medpy"),
    ON_MESHES[0]: Tool(partial(ours, BOUNDARY, onMeshes=True), isOnMeshes=True, isLong=True),
    ON_MESHES[1]: Tool(partial(pymeshmetrics, onMeshes=True), *MESH_METRICS, isOnMeshes=True, isLong=True),
}
