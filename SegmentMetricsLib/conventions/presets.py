"""Presets: settings with a name, and the functions that they replace, for lesions as BraTS 2023 and panoptica do it.

Conventions and presets are chosen for a comparison because a study or a protocol requires it. A convention, too,
replaces the functions of some metrics: boundary and overlap measurements are then the tool's, as their titles say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..base.errors import Undefined
from ..metrics import instances
from ..metrics.instances import LesionGroup, Lesions, Matches, Overlaps
from ..metrics.metric import Empty, Metric, Named, Value
from ..metrics.pair import Pair
from ..metrics.registry import REGISTRY, metricOf
from ..model.structure import Structure
from . import find
from .convention import HDP, KEYS, OWN_CONVENTION, Convention
from .evaluation import Source

# Presets of the family instances: the rules of BraTS 2023, with variants for its tasks, and those of panoptica.
BRATS, PANOPTICA = "BraTS 2023", "panoptica"
BRATS_2023 = {"lesionConnectivity": 26, "lesionPenalty": 374.0}
# Those of the two commands of the package that scores BraTS since 2026: for all tasks but one, and for metastases.
SEG, METS = "BraTS_evaluation seg", "BraTS_evaluation mets"
# Named ways to measure whose numbers never change; agreement with the tool of the same name is tested.
PRESETS: dict[str, dict[str, Any]] = {
    OWN_CONVENTION: {},
    # for the tasks GLI, SSA and PED; the others differ in the dilation and the smallest lesion
    BRATS: {**BRATS_2023, "lesionDilation": 3, "lesionMinimum": 50.0},
    f"{BRATS} MEN": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 50.0},
    f"{BRATS} MET": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 2.0},
    SEG: {"lesionConnectivity": 26, "lesionPenalty": 373.0},
    METS: {"lesionConnectivity": 26, "lesionPenalty": 373.0, "lesionMinimum": 20.0},
    PANOPTICA: {},
}
# What the presets of lesions do with those that are missed or invented.
RULES = {
    SEG: "the mean over the lesions that are FOUND, each by one of its own; missed and invented ones are forgotten.",
    METS: "missed lesions of the smallest size or more, and invented ones of any size, count 0 or the penalty; smaller "
    "ones of the reference do not.",
}
# Neighbors of a voxel in panoptica's lesions of a flat image, which SciPy finds: with a common face, in the plane 4.
PANOPTICA_IN_2D = 6


def allOfBrats(allLesions: tuple[Lesions, Lesions]) -> tuple[Lesions, Lesions]:
    """Return the lesions of both; BraTS leaves out small ones later."""
    return allLesions


def scoreByBrats(
    lesions: tuple[Lesions, Lesions], lesionOverlaps: Overlaps, lesionDilation: int, lesionMinimum: float
) -> tuple[tuple[LesionGroup, ...], int]:
    """Return the lesions of the reference that BraTS scores, the larger ones, and how many of the test are invented."""
    scored, invented = instances.scoredLesions(lesions, lesionOverlaps, lesionDilation)
    reference, _ = lesions
    largest = lesionMinimum / reference.grid.voxelSize
    return tuple(one for one in scored if reference.mask(one.reference).count > largest), invented


def matchesByDice(lesionOverlaps: Overlaps) -> Matches:
    """Return which lesions are found by BraTS_evaluation: those of the largest total Dice."""
    return instances.matchLesions(lesionOverlaps, 0.0, isByDice=True)


def scoreIfFound(lesionMatches: Matches) -> tuple[tuple[LesionGroup, ...], int]:
    """Return the lesions that are found, each by one of its own; if none is, how many there are on either side."""
    scored = tuple(LesionGroup((one,), (other,)) for one, other in lesionMatches.pairs.tolist())
    return scored, 0 if scored else lesionMatches.missed + lesionMatches.invented


def scoreIfLarge(
    lesionMatches: Matches, lesions: tuple[Lesions, Lesions], lesionMinimum: float
) -> tuple[tuple[LesionGroup, ...], int]:
    """Return the lesions of the reference that are large enough, each with one of the test at most.

    Raises Undefined without a large one.
    """
    reference, _ = lesions
    partners = {one: (other,) for one, other in lesionMatches.pairs.tolist()}
    large = np.flatnonzero(reference.sizes >= lesionMinimum / reference.grid.voxelSize).tolist()
    if not large:
        raise Undefined("the reference has no lesion of the smallest size")
    return tuple(LesionGroup((one,), partners.get(one, ())) for one in large), lesionMatches.invented


def hausdorffBy(tool: str, pair: Pair, ofReference: tuple[int, ...], ofTest: tuple[int, ...]) -> float:
    """Return the HD95 in mm of a lesion that is found, as a tool reports it."""
    inner = instances.innerPair(pair, ofReference, ofTest)
    return Source(inner).reportOne(find(tool), metricOf(HDP), {"percentile": instances.PERCENTILE}).value


def meanDiceOfBrats(dicesOfLesions: list[float]) -> float:
    """Return LesionDSC in [0, 1], which is 1 if there is no lesion on either side."""
    return instances.meanDice(dicesOfLesions) if dicesOfLesions else 1.0


def meanHausdorffOfBrats(hausdorffsOfLesions: list[float]) -> float:
    """Return LesionHD95 in mm, which is 0 if there is no lesion on either side."""
    return instances.meanHausdorff(hausdorffsOfLesions) if hausdorffsOfLesions else 0.0


def meanHausdorffIfFound(lesionMatches: Matches, hausdorffsOfLesions: list[float]) -> float:
    """Return LesionHD95 in mm, which is infinite if no lesion is found. Raises Undefined if neither side has one."""
    mean = instances.meanHausdorff(hausdorffsOfLesions)
    return mean if lesionMatches.found else math.inf


def neighborsOfPanoptica(structures: tuple[Structure, Structure], lesionConnectivity: int) -> tuple[int, ...]:
    """Return how many neighbors of a voxel belong to one lesion with it, for the reference and for the test."""
    areFlat = (one.samplingGrid is not None and one.samplingGrid.isImage2D for one in structures)
    return tuple(min(lesionConnectivity, PANOPTICA_IN_2D) if isFlat else lesionConnectivity for isFlat in areFlat)


def matchesOfPanoptica(lesionOverlaps: Overlaps, panopticOverlap: float) -> Matches:
    """Return which lesions match for the panoptic quality: for panoptica an IoU that equals the threshold is enough."""
    return instances.matchLesions(lesionOverlaps, panopticOverlap, isAtLeast=True)


def segmentationOfPanoptica(panopticMatches: Matches) -> float:
    """Return SQ in [0, 1], which is 0 without a match."""
    return instances.recognitionQuality(panopticMatches) and instances.segmentationQuality(panopticMatches)


_OF_BRATS: dict[str, Callable[..., Any]] = {
    "lesions": allOfBrats,
    "scoredLesions": scoreByBrats,
    "hausdorffOfLesion": partial(hausdorffBy, "DeepMind"),
}
_OF_EVALUATION: dict[str, Callable[..., Any]] = {
    "lesions": allOfBrats,
    "lesionMatches": matchesByDice,
    "hausdorffOfLesion": partial(hausdorffBy, "panoptica-distances"),
}
_METRICS_OF_BRATS: dict[str, Callable[..., Any]] = {"LesionDSC": meanDiceOfBrats, "LesionHD95": meanHausdorffOfBrats}
# The functions of quantities that a preset replaces, by name.
QUANTITIES: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    **{name: _OF_BRATS for name in PRESETS if name.startswith(BRATS)},
    SEG: {**_OF_EVALUATION, "scoredLesions": scoreIfFound},
    METS: {**_OF_EVALUATION, "scoredLesions": scoreIfLarge},
    PANOPTICA: {"connectivities": neighborsOfPanoptica, "panopticMatches": matchesOfPanoptica},
}
# And those of metrics, by key.
METRICS: Mapping[str, Mapping[str, Callable[..., float]]] = {
    **{name: _METRICS_OF_BRATS for name in PRESETS if name.startswith(BRATS)},
    SEG: {"LesionDSC": instances.meanDice, "LesionHD95": meanHausdorffIfFound},
    METS: {"LesionDSC": instances.meanDice, "LesionHD95": instances.meanHausdorff},
    PANOPTICA: {"SQ": segmentationOfPanoptica},
}


@lru_cache
def metricsOf(key: str) -> dict[str, Metric]:
    """Return all metrics by their keys, those of a convention or preset for the ones that it decides."""
    if key not in PRESETS:
        convention = find(key)
        return {one.key: _asOf(convention, one) if one.key in KEYS else one for one in REGISTRY}
    own = METRICS.get(key, {})
    return {one.key: _asPreset(key, one, own[one.key]) if one.key in own else one for one in REGISTRY}


def _asPreset(preset: str, metric: Metric, function: Callable[..., float]) -> Metric:
    """Return a metric whose function a preset replaces."""
    metric = replace(metric, function=function)
    if preset in RULES:
        how = f"{metric.title} as {preset} does it: {RULES[preset]}"
        return replace(metric, title=f"{metric.title} ({preset})", description=how)
    if preset.startswith(BRATS):
        title, description = f"{metric.title} ({BRATS})", f"{metric.description} As {BRATS} does it."
        return replace(metric, title=title, description=description, empty=Empty.COMPUTED)
    return metric


def _asOf(convention: Convention, metric: Metric) -> Metric:
    """Return a metric of what a tool would have reported."""
    number = convention.numbers.get(metric.key)
    unit = metric.unit if number is None or number.unit is None else number.unit

    def refuse() -> float:
        raise Undefined(f"{convention.tool} does not report it")

    def report(toolSource: Source, value: float) -> Value:
        parameters = {} if metric.parameter is None else {metric.parameter: value}
        found = toolSource.reportOne(convention, metric, parameters)
        if found.status == "undefined":
            raise Undefined(found.reason)
        return Value(found.value, remark="" if found.status == "ok" and found.isReproducible else found.reason)

    how = f" As {convention.label} does it: {number.reason}." if number else ""
    return replace(
        metric,
        function=report if number else refuse,
        given={"value": None if metric.parameter is None else Named(metric.parameter)},
        title=f"{metric.title} ({convention.label})",
        description=metric.description + how,
        source=convention.source,
        unitSetting=lambda settings: unit,
        empty=Empty.COMPUTED,
        note=None,
    )
