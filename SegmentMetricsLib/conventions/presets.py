"""Presets: settings with a name, and the functions that they replace, for lesions as BraTS 2023 and panoptica do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..metrics.instances import (
    PERCENTILE,
    Lesions,
    Matches,
    Overlaps,
    Scored,
    innerPair,
    matched,
    meanDice,
    meanHausdorff,
    recognitionQuality,
    scoredLesions,
    segmentationQuality,
)
from ..metrics.metric import Empty, Metric
from ..metrics.pair import Pair
from ..metrics.registry import metricOf
from ..model.structures import Structure
from . import find
from .convention import HDP, OWN_CONVENTION
from .evaluation import Source

# Presets of the family instances: the rules of BraTS 2023, with variants for its tasks, and those of panoptica.
BRATS, PANOPTICA = "BraTS 2023", "panoptica"
BRATS_2023 = {"lesionConnectivity": 26, "lesionPenalty": 374.0}
# Named ways to measure whose numbers never change; agreement with the tool of the same name is tested.
PRESETS: dict[str, dict[str, Any]] = {
    OWN_CONVENTION: {},
    # for the tasks GLI, SSA and PED; the others differ in the dilation and the smallest lesion
    BRATS: {**BRATS_2023, "lesionDilation": 3, "lesionMinimum": 50.0},
    f"{BRATS} MEN": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 50.0},
    f"{BRATS} MET": {**BRATS_2023, "lesionDilation": 1, "lesionMinimum": 2.0},
    PANOPTICA: {},
}
# Neighbors of a voxel in panoptica's lesions of a flat image, which SciPy finds: with a common face, in the plane 4.
PANOPTICA_IN_2D = 6


def allOfBrats(allLesions: tuple[Lesions, Lesions]) -> tuple[Lesions, Lesions]:
    """Return the lesions of both; BraTS leaves out small ones later."""
    return allLesions


def scoredByBrats(
    lesions: tuple[Lesions, Lesions], lesionOverlaps: Overlaps, lesionDilation: int, lesionMinimum: float
) -> tuple[tuple[Scored, ...], int]:
    """Return the lesions of the reference that BraTS scores, the larger ones, and how many of the test are invented."""
    scored, invented = scoredLesions(lesions, lesionOverlaps, lesionDilation)
    reference, _ = lesions
    largest = lesionMinimum / reference.grid.voxelSize
    return tuple(one for one in scored if len(reference.voxelsOf(one.reference)) > largest), invented


def hausdorffByBrats(pair: Pair, ofReference: tuple[int, ...], ofTest: tuple[int, ...]) -> float:
    """Return the HD95 in mm of a lesion that is found, as DeepMind's surface-distance reports it."""
    convention, source = find("DeepMind"), Source(innerPair(pair, ofReference, ofTest))
    return source.reportOne(convention, convention.numbers[HDP], metricOf(HDP), {"percentile": PERCENTILE}, {}).value


def meanDiceOfBrats(dicesOfLesions: list[float], inventedLesions: int) -> float:
    """Return LesionDSC in [0, 1], which is 1 if there is no lesion on either side."""
    return meanDice(dicesOfLesions, inventedLesions) if dicesOfLesions or inventedLesions else 1.0


def meanHausdorffOfBrats(hausdorffsOfLesions: list[float], inventedLesions: int, distanceOfMissed: float) -> float:
    """Return LesionHD95 in mm, which is 0 if there is no lesion on either side."""
    isNone = not hausdorffsOfLesions and not inventedLesions
    return 0.0 if isNone else meanHausdorff(hausdorffsOfLesions, inventedLesions, distanceOfMissed)


def neighborsOfPanoptica(structures: tuple[Structure, Structure], lesionConnectivity: int) -> tuple[int, ...]:
    """Return how many neighbors of a voxel belong to one lesion with it, for the reference and for the test."""
    areFlat = (one.samplingGrid is not None and one.samplingGrid.isImage2D for one in structures)
    return tuple(min(lesionConnectivity, PANOPTICA_IN_2D) if isFlat else lesionConnectivity for isFlat in areFlat)


def matchesOfPanoptica(lesionOverlaps: Overlaps, panopticOverlap: float) -> Matches:
    """Return which lesions match for the panoptic quality: for panoptica an IoU that equals the threshold is enough."""
    return matched(lesionOverlaps, panopticOverlap, isAtLeast=True)


def segmentationOfPanoptica(panopticMatches: Matches) -> float:
    """Return SQ in [0, 1], which is 0 without a match."""
    return recognitionQuality(panopticMatches) and segmentationQuality(panopticMatches)


# The quantities that a preset, or a group of them, replaces, by the beginning of its name.
QUANTITIES: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    BRATS: {"lesions": allOfBrats, "scoredLesions": scoredByBrats, "hausdorffOfLesion": hausdorffByBrats},
    PANOPTICA: {"connectivities": neighborsOfPanoptica, "panopticMatches": matchesOfPanoptica},
}
# And the functions of metrics, by key.
METRICS: Mapping[str, Mapping[str, Callable[..., float]]] = {
    BRATS: {"LesionDSC": meanDiceOfBrats, "LesionHD95": meanHausdorffOfBrats},
    PANOPTICA: {"SQ": segmentationOfPanoptica},
}


def changesOf(preset: str, metric: Metric) -> dict[str, Any]:
    """Return what a preset changes of a metric whose function it replaces."""
    if not preset.startswith(BRATS):
        return {}
    texts = {"title": f"{metric.title} ({BRATS})", "description": f"{metric.description} As {BRATS} does it."}
    return {**texts, "empty": Empty.COMPUTED}
