"""Comparisons that report the numbers of another tool, because a study or a protocol requires it.

Boundary and overlap measurements are then the tool's, as their titles say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..base.texts import shortest
from ..comparison.measurements import Measurement
from ..settings.settings import PRESETS
from . import find
from .convention import KEYS
from .evaluation import Source

if TYPE_CHECKING:
    from ..comparison.definitions import Definition
    from ..comparison.workspace import Pair


def covers(pair: Pair, definition: Definition) -> bool:
    """Return whether a measurement is to be reported as by another tool."""
    return pair.settings.convention not in PRESETS and definition.key in KEYS


def measure(definition: Definition, pair: Pair, parameter: Mapping[str, float]) -> Measurement:
    """Return a measurement as the tool that the settings name would have reported it."""
    convention = find(pair.settings.convention)
    words = {name: shortest(value) for name, value in parameter.items()}
    number = convention.numbers.get(definition.key)
    blank = Measurement(
        key=definition.keyFor(words),
        title=definition.title.format(**words),
        value=float("nan"),
        unit=definition.unit,
        status="undefined",
        reason=f"{convention.tool} does not report it",
        family=definition.family,
        description=definition.description.format(**words),
        source=definition.source,
        better=definition.better,
    )
    if number is not None:
        reported = pair.once(Source).reportOne(convention, number, definition, parameter, {})
        remark = "" if reported.status == "ok" and reported.isReproducible else reported.reason
        known = {"value": reported.value, "unit": reported.unit, "status": reported.status, "cause": reported.cause}
        blank = replace(blank, **known, reason=remark)
    return restated(blank, convention.key)


def restated(measurement: Measurement, key: str) -> Measurement:
    """Return a measurement with the texts of a convention, given by key, if the convention decides the measurement."""
    from ..families.registry import findDefinition

    found = findDefinition(measurement.key)
    if key in PRESETS or found is None or found.definition.key not in KEYS:
        return measurement
    definition, words = found
    convention = find(key)
    number = convention.numbers.get(definition.key)
    reason = number.reason.format(**words) if number else ""
    return replace(
        measurement,
        title=f"{definition.title.format(**words)} ({convention.label})",
        description=f"{definition.description.format(**words)} As {convention.label} does it: {reason}."
        if reason
        else measurement.description,
        source=convention.source,
    )


def finding(key: str) -> str:
    """Return a remark for readers of the numbers about their convention, "" without one."""
    if key in PRESETS:
        return ""
    label = find(key).label
    return (
        f"Boundary and overlap measurements are what {label} would report for these voxels; others are not that tool's."
    )
