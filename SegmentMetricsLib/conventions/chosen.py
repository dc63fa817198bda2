"""Comparisons that report the numbers of another tool, because a study or a protocol requires it.

Boundary and overlap measurements are then the tool's, as their titles say.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..base.errors import Undefined
from ..comparison.definitions import Definition, Empty
from ..comparison.values import Remarked
from ..comparison.workspace import Workspace
from ..families.registry import REGISTRY
from ..settings.names import PRESETS
from . import find
from .convention import DSC, IOU, KEYS, Convention
from .evaluation import Source


@lru_cache
def definitionsOf(key: str) -> dict[str, Definition]:
    """Return the definitions of all measurements by their keys, those of a convention for the ones that it decides."""
    convention = None if key in PRESETS else find(key)
    return {one.key: _asOf(convention, one) if convention and one.key in KEYS else one for one in REGISTRY}


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
