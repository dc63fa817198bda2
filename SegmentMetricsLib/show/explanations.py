"""Explanations of measurements and settings for tool tips, made from the registry."""

from __future__ import annotations

from ..case.relevance import affects
from ..metrics.measurement import Measurement, roundText
from ..metrics.metric import EXAMPLES, Metric
from ..metrics.registry import PURPOSES, REGISTRY, findMetric
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
