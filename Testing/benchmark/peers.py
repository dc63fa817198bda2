"""The tools that are measured side by side, each through its own documented calls.

A peer is imported only here, only when it is installed, and before the clock starts. All but MONAI come with
`pip install -e ".[peers]"`; MONAI needs PyTorch, some gigabytes: `pip install monai`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pairs import Pair

TOLERANCE, PERCENTILE = 2.0, 95.0
MOST_FOR_LONG = 1_000_000

Values = dict[str, float]
Measure = Callable[[Pair], Values]


@dataclass(frozen=True)
class Tool:
    """One tool: load() imports it and returns the function that measures a pair.

    does: what that function computes. prepare: makes what it is given, before the clock starts. isLong: it takes so
    long that cases of more than MOST_FOR_LONG triangles are left out.
    """

    name: str
    module: str
    distribution: str
    does: str
    load: Callable[[], Measure]
    prepare: Callable[[Pair], object] = lambda pair: None
    isLong: bool = False

    @property
    def isInstalled(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        if self.module == "SegmentMetricsLib":  # also without being installed
            return importlib.import_module(self.module).__version__
        return importlib.metadata.version(self.distribution)


def boundaryAndOverlap(onMeshes: bool = False) -> Measure:
    """compare() with the two families that the others have metrics of, on SimpleITK images or on smoothed meshes."""
    return _compared(("boundary", "overlap"), onMeshes)


def defaultFamilies() -> Measure:
    """compare() with its default settings."""
    _importOurs()
    from SegmentMetricsLib import Settings

    return _compared(Settings().families)


def preset(name: str) -> Measure:
    """compare() as a version of MeshMetrics measures, digit for digit: samples without refinement."""
    return _compared(("boundary", "overlap"), convention=name)


def _compared(families: tuple[str, ...], onMeshes: bool = False, convention: str | None = None) -> Measure:
    _importOurs()
    from SegmentMetricsLib import Settings, compare

    settings = Settings.preset(convention, families=families) if convention else Settings(families=families)

    def measure(pair: Pair) -> Values:
        comparison = compare(*(pair.smoothed if onMeshes else pair.images), settings)
        return {key: measurement.value for key, measurement in comparison.items()}

    return measure


def allFamilies() -> Measure:
    """compare() with all families; the reference itself is the critical structure of the hazard family."""
    _importOurs()
    from SegmentMetricsLib import Settings, compare

    settings = Settings(families="all")

    def measure(pair: Pair) -> Values:
        comparison = compare(pair.reference, pair.test, settings, criticals={"Reference": pair.reference})
        return {key: measurement.value for key, measurement in comparison.items()}

    return measure


def allConventions() -> Measure:
    """What all other tools would report, beside the default comparison; the values are those of MeshMetrics-0.1."""
    _importOurs()
    from SegmentMetricsLib import compare

    def measure(pair: Pair) -> Values:
        found = compare(pair.reference, pair.test).conventions()
        return {key: number.value for key, number in found["MeshMetrics-0.1"].items()}

    return measure


def withoutBands() -> Measure:
    """What compare() calls for the boundary metrics other than BIoU, to compare with tools that have no BIoU."""
    _importOurs()
    from SegmentMetricsLib import Settings
    from SegmentMetricsLib.metrics import boundary
    from SegmentMetricsLib.metrics.pair import Pair
    from SegmentMetricsLib.model import inputs

    settings = Settings(tolerances=(TOLERANCE,), percentiles=(PERCENTILE,))

    def measure(pair: Pair) -> Values:
        structures = (inputs.structureFromImage(image, "", None, settings.threshold) for image in pair.images)
        distances = Pair(*structures, settings).distances
        return {
            "HD": float(boundary.hausdorff(distances)),
            "HD95": float(boundary.percentileHausdorff(distances, PERCENTILE)),
            "MASD": float(boundary.meanAverageSurfaceDistance(distances)),
            "ASSD": float(boundary.averageSymmetricSurfaceDistance(distances)),
            "NSD_2mm": float(boundary.normalizedSurfaceDistance(distances, TOLERANCE)),
        }

    return measure


def _importOurs() -> None:
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
OURS_OF_MORE = (
    "SegmentMetrics, default families",
    "SegmentMetrics, all families",
    "SegmentMetrics, all conventions",
    SAME_NUMBERS[0],
    "SegmentMetrics, preset MeshMetrics-0.1",
)
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            OURS,
            "SegmentMetricsLib",
            "segment-metrics",
            "HD, HD95, MASD, ASSD, NSD, BIoU, DSC, IoU and the rest of the families boundary and overlap, findings",
            boundaryAndOverlap,
        ),
        Tool(
            OURS_WITHOUT_BANDS,
            "SegmentMetricsLib",
            "segment-metrics",
            "HD, HD95, MASD, ASSD, NSD",
            withoutBands,
        ),
        Tool(
            OURS_OF_MORE[0],
            "SegmentMetricsLib",
            "segment-metrics",
            "the same and the family signed: what compare() measures by default",
            defaultFamilies,
        ),
        *(
            Tool(name, "SegmentMetricsLib", "segment-metrics", does, load, isLong=True)
            for name, does, load in (
                (OURS_OF_MORE[1], "all metrics of all families", allFamilies),
                (OURS_OF_MORE[2], "all conventions", allConventions),
            )
        ),
        *(
            Tool(name, "SegmentMetricsLib", "segment-metrics", does, partial(preset, name.rpartition(" ")[2]))
            for name, does in (
                (OURS_OF_MORE[3], "the numbers of pymeshmetrics 1.4.1"),
                (OURS_OF_MORE[4], "the numbers of the paper's MeshMetrics, with five sub-voxels along each voxel"),
            )
        ),
        Tool(
            "pymeshmetrics",
            "meshmetrics",
            "pymeshmetrics",
            "HD, HD95, MASD, ASSD, NSD, BIoU, DSC, IoU",
            pymeshmetrics,
        ),
        Tool(
            "surface-distance",
            "surface_distance",
            "surface-distance-based-measures",
            "HD, HD95, both means, NSD",
            surfaceDistance,
        ),
        Tool("MONAI", "monai", "monai", "HD, HD95, ASSD, NSD", monai),
        Tool("MedPy", "medpy", "medpy", "HD, HD95, ASSD", medpy),
        Tool(
            ON_MESHES[0],
            "SegmentMetricsLib",
            "segment-metrics",
            "boundary and overlap of the smoothed surfaces",
            partial(boundaryAndOverlap, True),
            lambda pair: pair.smoothed,
            isLong=True,
        ),
        Tool(
            ON_MESHES[1],
            "meshmetrics",
            "pymeshmetrics",
            "the same as pymeshmetrics, of the smoothed surfaces",
            partial(pymeshmetrics, True),
            lambda pair: pair.smoothed,
            isLong=True,
        ),
    )
}
