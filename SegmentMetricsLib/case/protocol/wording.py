"""Verdicts in words: a value and its limits in the same unit, and the reason for a verdict in a sentence."""

from __future__ import annotations

import math
from decimal import Decimal

from ...base.texts import shortest
from ...metrics.measurement import (
    IN_CENTIMETERS,
    LEAST_IN_CENTIMETERS,
    ROUNDING,
    ROUNDING_OF_ZERO,
    Measurement,
    decimalsOf,
    fixDecimals,
    roundText,
)
from ...metrics.registry import findMetric
from .protocol import Rule

# Phrases for a value that keeps a limit, for one that does not, and between the latter and a second limit.
PHRASES = {
    "<=": ("is at most", "exceeds", " and"),
    "<": ("is below", "is not below", ", nor is it below"),
    ">=": ("is at least", "is below", " and"),
    ">": ("is above", "is not above", ", nor is it above"),
    "within": ("is within", "exceeds", " and"),
}
SIGNS = {"<=": "≤ ", "<": "< ", ">=": "≥ ", ">": "> ", "within": ""}
# Most decimal places used to distinguish a value from a limit.
MOST_DIGITS = 17
# Families whose units depend on the settings.
UNIT_BY_SETTINGS = ("voxel", "similarity")


def nameRule(rule: Rule) -> str:
    """Return the measurement of a rule as named in a sentence, with the convention that the rule demands."""
    name, _, parameter = rule.measurement.partition("_")
    found = findMetric(rule.measurement)
    short = (found.metric.heading if found else "") or name
    if short[-1] in ".>" and found:  # no headings in a sentence that are abbreviated for a column
        short = found.metric.title.partition(",")[0]
    with_ = f" ({parameter.replace('mm', ' mm')})" if parameter else ""
    return f"{short}{with_}{f' as by {rule.convention}' if rule.convention else ''}"


def unitOf(rule: Rule, measurement: Measurement | None) -> str:
    """Return the unit of a rule's limits: that of the measurement, or without one of the definition, "" if unknown."""
    if measurement is not None:
        return measurement.unit
    found = findMetric(rule.measurement)
    return "" if found is None or found.metric.family in UNIT_BY_SETTINGS else found.metric.unit


def valueText(rule: Rule, value: float, unit: str) -> str:
    """Return a value as text for people, in the unit of its rule's limits.

    It has more digits than usual only if it would otherwise look equal to a limit that it does not equal.
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    shown, factor = _scale(rule, unit)
    known, usual = _sides(rule, value), decimalsOf(shown)
    tellingApart = (n for n in range(usual, MOST_DIGITS) if _sides(rule, round(value / factor, n) * factor) == known)
    digits = next(tellingApart, MOST_DIGITS)
    text = fixDecimals(value / factor, shown) if digits == usual else roundText(value / factor, digits)
    return f"{text} {shown}".rstrip()


def limitText(rule: Rule, limit: float, unit: str) -> str:
    """Return a limit in the unit in which valueText() shows a value."""
    shown, factor = _scale(rule, unit)
    sign = "±" if rule.relation == "within" else ""
    return f"{sign}{(Decimal(shortest(limit)) / factor).normalize():f} {shown}".rstrip()


def limitsText(rule: Rule, unit: str) -> str:
    """Return both limits of a rule for a table: "≤ 3 mm (warn 5 mm)"."""
    text = SIGNS[rule.relation] + limitText(rule, rule.limit, unit)
    return text if rule.warning is None else f"{text} (warn {limitText(rule, rule.warning, unit)})"


def reason(rule: Rule, measurement: Measurement, isKept: bool, isWarning: bool) -> str:
    """Return a sentence that compares a value with its limits. isWarning: whether it keeps only the laxer one."""
    value, unit = measurement.value, measurement.unit
    limit = limitText(rule, rule.limit, unit)
    laxer = None if rule.warning is None or isKept else limitText(rule, rule.warning, unit)
    if math.isinf(value):
        cause = measurement.empty or measurement.reason
        because = f" because {cause}" if cause else ""
        size = "minus infinite" if value < 0 else "infinite"
        return f"{nameRule(rule)} is {size}{because}; the limit is {limit}."
    keeps, breaks, also = PHRASES[rule.relation]
    text = f"{nameRule(rule)} {valueText(rule, value, unit)} {keeps if isKept else breaks} {limit}"
    if laxer is not None:
        text += f"; the warning limit is {laxer}" if isWarning else f"{also} the warning limit of {laxer}"
    return f"{text} because {measurement.empty}." if measurement.empty else f"{text}."


def _scale(rule: Rule, unit: str) -> tuple[str, int]:
    """Return the unit in which a value and its limits are shown, and its size in the given unit."""
    limits = [abs(limit) for limit in (rule.limit, rule.warning) if limit]
    larger, factor = IN_CENTIMETERS.get(unit, (unit, 1))
    # small limits, such as 5 mm3, are shown in mm3
    return (larger, factor) if all(limit >= LEAST_IN_CENTIMETERS * factor for limit in limits) else (unit, 1)


def _sides(rule: Rule, value: float) -> list[tuple[bool, bool]]:
    """Return, for each limit of a rule, whether a value keeps it, and whether they are equal apart from rounding."""
    size = abs(value) if rule.relation == "within" else value
    limits = [limit for limit in (rule.limit, rule.warning) if limit is not None]
    return [(rule.keeps(value, n), math.isclose(size, n, rel_tol=ROUNDING, abs_tol=ROUNDING_OF_ZERO)) for n in limits]
