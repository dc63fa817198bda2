"""Comparisons that report the numbers of another tool, because a study or a protocol requires it.

A convention or a preset replaces the functions of some metrics, and of quantities behind them. Boundary and overlap
measurements are then the tool's, as their titles say.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..base.errors import Undefined
from ..metrics.metric import Empty, Metric, Named, Value
from ..metrics.registry import REGISTRY
from . import find
from .convention import KEYS, Convention
from .evaluation import Source
from .presets import METRICS, PRESETS, changesOf


@lru_cache
def metricsOf(key: str) -> dict[str, Metric]:
    """Return all metrics by their keys, those of a convention or preset for the ones that it decides."""
    if key not in PRESETS:
        convention = find(key)
        return {one.key: _asOf(convention, one) if one.key in KEYS else one for one in REGISTRY}
    own = METRICS.get(key, {})
    return {
        one.key: replace(one, function=own[one.key], **changesOf(key, one)) if one.key in own else one
        for one in REGISTRY
    }


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
