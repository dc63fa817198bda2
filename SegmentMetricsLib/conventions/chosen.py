"""Comparisons that report the numbers of another tool, because a study or a protocol requires it.

Boundary and overlap measurements are then the tool's, as their titles say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial

from ..base.errors import Undefined
from ..metrics.instances import (
    PERCENTILE,
    Scored,
    detectionOf,
    innerPair,
    meanDice,
    meanHausdorff,
    panopticOf,
    recognitionQuality,
    segmentationQuality,
)
from ..metrics.metric import Definition, Empty
from ..metrics.pair import Workspace
from ..metrics.registry import REGISTRY
from ..metrics.values import Remarked
from ..settings.names import BRATS, BRATS_EVALUATION, METS, PANOPTICA, PRESETS, SEG
from . import find
from .convention import DSC, HDP, IOU, KEYS, Convention
from .evaluation import Source

RULES = {
    SEG: "the mean over the lesions that are FOUND, each by one of its own; missed and invented ones are forgotten.",
    METS: "missed lesions of the smallest size or more, and invented ones of any size, count 0 or the penalty; smaller "
    "ones of the reference do not.",
}


@lru_cache
def definitionsOf(key: str) -> dict[str, Definition]:
    """Return the definitions of all measurements by their keys, those of a convention for the ones that it decides."""
    convention = None if key in PRESETS else find(key)
    found = {one.key: _asOf(convention, one) if convention and one.key in KEYS else one for one in REGISTRY}
    if key.startswith((BRATS, BRATS_EVALUATION)):
        found |= {one.key: one for one in _ofBrats(key, found)}
    elif key == PANOPTICA:
        found["SQ"] = replace(found["SQ"], compute=_segmentationQuality)
    return found


def _ofBrats(preset: str, definitions: Mapping[str, Definition]) -> Iterator[Definition]:
    """Yield the definitions that differ for BraTS.

    In 2023 nothing on both sides is all right, and distances are DeepMind's. BraTS_evaluation's are panoptica's.
    """
    isOf2023 = preset.startswith(BRATS)
    name, tool = (BRATS, "DeepMind") if isOf2023 else (preset, "panoptica-distances")
    for key in ("LesionDSC", "LesionHD95"):
        one = definitions[key]
        how = f"{one.description} As {name} does it." if isOf2023 else f"{one.title} as {name} does it: {RULES[preset]}"
        compute = partial(_meanHausdorff, tool) if key == "LesionHD95" else one.compute
        empty = Empty.COMPUTED if isOf2023 else one.empty
        yield replace(one, title=f"{one.title} ({name})", description=how, empty=empty, compute=compute)


def _segmentationQuality(pair: Workspace) -> float:
    """Return SQ in [0, 1] as panoptica reports it: 0 without a match."""
    matches = pair.once(panopticOf)
    return recognitionQuality(matches) and segmentationQuality(matches)


def _meanHausdorff(tool: str, pair: Workspace) -> float:
    """Return LesionHD95 in mm, where the HD95 of a lesion that is found is that of another tool."""
    if pair.settings.convention == SEG and not pair.once(detectionOf).found:
        meanDice(pair)  # undefined where neither has a lesion
        return math.inf
    return meanHausdorff(pair, partial(_hausdorffOf, find(tool)))


def _hausdorffOf(convention: Convention, pair: Workspace, lesion: Scored) -> float:
    """Return the HD95 in mm of a lesion that is found, as a convention has it."""
    definition = next(one for one in REGISTRY if one.key == HDP)
    source = Source(innerPair(pair, lesion.reference, lesion.test))
    return source.reportOne(convention, convention.numbers[HDP], definition, {"percentile": PERCENTILE}, {}).value


def _asOf(convention: Convention, definition: Definition) -> Definition:
    """Return a definition of what a tool would have reported."""
    number = convention.numbers.get(definition.key)
    unit = definition.unit if number is None or number.unit is None else number.unit

    def compute(pair: Workspace, **parameter: float) -> Remarked:
        if number is None:
            raise Undefined(f"{convention.tool} does not report it")
        reported = pair.once(Source).reportOne(convention, number, definition, parameter, {})
        if reported.status == "undefined":
            raise Undefined(reported.reason)
        return Remarked(reported.value, "" if reported.status == "ok" and reported.isReproducible else reported.reason)

    how = f" As {convention.label} does it: {number.reason}." if number else ""
    return replace(
        definition,
        title=f"{definition.title} ({convention.label})",
        description=definition.description + how,
        source=convention.source,
        unitSetting=lambda settings: unit,
        empty=Empty.COMPUTED,
        compute=compute,
        needs=() if number is None else (Workspace.crispCounts if definition.key in (DSC, IOU) else Workspace.masks,),
        note=lambda pair: "",
    )


def finding(key: str) -> str:
    """Return a remark for readers of the numbers about their convention, "" without one."""
    if key in PRESETS:
        return ""
    label = find(key).label
    return (
        f"Boundary and overlap measurements are what {label} would report for these voxels; all others are "
        "SegmentMetrics' own."
    )
