"""Explanations of measurements, settings and places for tool tips, and which settings affect which numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from ..case.places import Place
from ..metrics.measurement import Measurement, roundText
from ..metrics.metric import EXAMPLES, Metric
from ..metrics.registry import FAMILIES, PURPOSES, REGISTRY, findMetric
from ..metrics.signed import SIDES
from ..settings.settings import DECLARED

DOSE = (
    "Dose of a plan: what the two structures receive is measured, too. A volume that SlicerRT loaded as a dose, or any "
    "other, whose values are taken to be in Gy. The plan was made for one of the two contours."
)
PROTOCOL = (
    "Limits to judge the structures by: a table of the scene, which can be edited in the module Tables, an example, or "
    "a file. What its rules need is measured, even if it is not chosen above."
)


def ofMeasurement(measurement: Measurement) -> str:
    """Return the meaning of a measurement, its bounds or the reason for a missing value, and its source."""
    better = {"lower": "Lower is better.", "higher": "Higher is better."}.get(measurement.better, "")
    lines = [measurement.title, " ".join(filter(None, (measurement.description, better)))]
    found = findMetric(measurement.key)
    if found and found.metric.hint:
        lines.append(found.metric.hint)
    if measurement.reason:
        lines.append(f"Here: {measurement.reason}.")
    if measurement.lower is not None and measurement.upper is not None and measurement.status == "ok":
        bounds = dict.fromkeys(roundText(bound, 4) for bound in (measurement.lower, measurement.upper))
        between = "between " if len(bounds) > 1 else ""
        lines.append(f"Here: {between}{' and '.join(bounds)} {measurement.unit}".rstrip() + ".")
    lines.append(f"Source: {measurement.source}")
    return "\n".join(lines)


def ofFamily(family: str) -> str:
    """Return the purpose of a family of metrics, and its metrics."""
    keys = [_keyOf(definition) for definition in REGISTRY if definition.family == family]
    return f"{PURPOSES[family]}\n{', '.join(keys)}".strip()


def ofSetting(name: str) -> str:
    """Return the effect of a setting, and the metrics that have it as a parameter, if any."""
    declaration = DECLARED[name]
    if declaration.parameter is None:
        return declaration.about
    keys = [_keyOf(definition) for definition in REGISTRY if affects(name, definition)]
    return f"{declaration.about}\nUsed by {', '.join(keys)}."


def _keyOf(definition: Metric) -> str:
    return definition.keyFor({**EXAMPLES, "tolerance": "τ"}).replace("_", " ")


def affects(setting: str, definition: Metric) -> bool:
    """Return whether a setting affects a measurement. Raises KeyError for an unknown setting."""
    declaration = DECLARED[setting]
    if declaration.parameter is not None:
        return f"{{{declaration.parameter.name}}}" in definition.key
    if declaration.entries:
        return getattr(definition, declaration.entries)
    return declaration.families is None or definition.family in declaration.families


def isUsed(setting: str, definitions: Iterable[Metric]) -> bool:
    """Return whether a setting affects one of these measurements, or everything. Raises KeyError as affects()."""
    return DECLARED[setting].affectsAll or any(affects(setting, definition) for definition in definitions)


@cache  # the panel asks for all settings whenever it refreshes
def familiesUsing(setting: str) -> frozenset[str]:
    """Return the families whose numbers a setting affects. Raises KeyError as affects()."""
    if DECLARED[setting].affectsAll:
        return frozenset(FAMILIES)
    return frozenset(definition.family for definition in REGISTRY if affects(setting, definition))


def isRelevant(setting: str, families: Collection[str]) -> bool:
    """Return whether a setting affects numbers of any of these families. Raises KeyError as affects()."""
    return not familiesUsing(setting).isdisjoint(families)


def ofPlace(place: Place, signed: bool = True) -> str:
    """Return a description of a place. signed: whether inside and outside can be told apart."""
    if signed:
        what = f"{abs(place.value):.1f} mm {'over' if place.value > 0 else 'under'}-contoured"
    else:
        what = f"{abs(place.value):.1f} mm apart"
    dose = "" if place.dose is None else f", {place.dose:.1f} Gy"
    return f"{what}, {SIDES[place.direction]}{dose}"
