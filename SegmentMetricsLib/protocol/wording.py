"""Verdicts in words: a value and its limits in one unit, and why a verdict is what it is, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

from ..measurements import LEAST_LENGTH, LEAST_VOLUME, ROUNDING, SMALLEST_VOLUME, Measurement, rounded, significant
from ..registry import findDefinition
from ..settings import shortest
from ..tables import heading
from .protocol import ROUNDING_OF_ZERO, Rule

# What is said of a value that keeps a limit, of one that does not, and between that limit and another one.
PHRASES = {
    "<=": ("is at most", "exceeds", " and"),
    "<": ("is below", "is not below", ", nor is it below"),
    ">=": ("is at least", "is below", " and"),
    ">": ("is above", "is not above", ", nor is it above"),
    "within": ("is within", "exceeds", " and"),
}
SIGNS = {"<=": "≤ ", "<": "< ", ">=": "≥ ", ">": "> ", "within": ""}
# Of these units a table shows two digits behind the point, of others three; and the larger ones of areas and volumes.
TWO_DIGITS = ("mm", "voxel", "pixel", "cm2", "cm3", "mm2", "mm3")
LARGER = {"mm2": ("cm2", 100), "mm3": ("cm3", 1000)}
# From this limit on, in the larger unit, all is shown in it.
LEAST_LARGER = 0.1
# What has a unit that depends on the settings.
UNIT_BY_SETTINGS = ("voxel", "similarity")


def named(rule: Rule) -> str:
    """Return what a rule is about as a sentence names it, with the convention that it demands."""
    name, _, parameter = rule.measurement.partition("_")
    short = heading(name)
    definition = (findDefinition(rule.measurement) or (None,))[0]
    if short[-1] in ".>" and definition is not None:  # what is cut short for a column is not said in a sentence
        short = definition.title.partition(",")[0]
    with_ = f" ({parameter.replace('mm', ' mm')})" if parameter else ""
    return f"{short}{with_}{f' as by {rule.convention}' if rule.convention else ''}"


def unitOf(rule: Rule, measurement: Measurement | None) -> str:
    """Return the unit of a rule's limits: that of the measurement, as far as known where there is none."""
    if measurement is not None:
        return measurement.unit
    definition = (findDefinition(rule.measurement) or (None,))[0]
    return "" if definition is None or definition.family in UNIT_BY_SETTINGS else definition.unit


def valueText(rule: Rule, value: float, unit: str) -> str:
    """Return a value as people read it, in the unit of its rule's limits.

    It has more digits than usual only where it would look equal to a limit that it is not equal to.
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    shown, factor = _scale(rule, value, unit)
    known = _sides(rule, value)
    text = next((t for t in _texts(value / factor, shown) if _sides(rule, float(t) * factor) == known), repr(value))
    return f"{text} {shown}".rstrip()


def limitText(rule: Rule, limit: float, value: float, unit: str) -> str:
    """Return a limit in the unit in which valueText() shows a value, which may be NaN."""
    shown, factor = _scale(rule, value, unit)
    sign = "±" if rule.relation == "within" else ""
    return f"{sign}{(Decimal(shortest(limit)) / factor).normalize():f} {shown}".rstrip()


def limitsText(rule: Rule, value: float, unit: str) -> str:
    """Return both limits of a rule for a table: "≤ 3 mm (warn 5 mm)". value, unit: as for limitText()."""
    text = SIGNS[rule.relation] + limitText(rule, rule.limit, value, unit)
    return text if rule.warning is None else f"{text} (warn {limitText(rule, rule.warning, value, unit)})"


def reason(rule: Rule, measurement: Measurement, isKept: bool, isWarning: bool) -> str:
    """Return in a sentence how a value lies to its limits. isWarning: whether it keeps the laxer one only."""
    value, unit = measurement.value, measurement.unit
    limit = limitText(rule, rule.limit, value, unit)
    laxer = None if rule.warning is None or isKept else limitText(rule, rule.warning, value, unit)
    if math.isinf(value):
        cause = measurement.empty or measurement.reason
        because = f" because {cause}" if cause else ""
        size = "minus infinite" if value < 0 else "infinite"
        return f"{named(rule)} is {size}{because}; the limit is {limit}."
    keeps, breaks, also = PHRASES[rule.relation]
    text = f"{named(rule)} {valueText(rule, value, unit)} {keeps if isKept else breaks} {limit}"
    if laxer is not None:
        text += f"; the warning limit is {laxer}" if isWarning else f"{also} the warning limit of {laxer}"
    return f"{text} because {measurement.empty}." if measurement.empty else f"{text}."


def _scale(rule: Rule, value: float, unit: str) -> tuple[str, int]:
    """Return the unit in which a value and its limits are shown, and how many of the unit given it is."""
    limits = [abs(limit) for limit in (rule.limit, rule.warning) if limit]
    larger, factor = LARGER.get(unit, (unit, 1))
    # who writes a limit of 5 mm3 thinks in mm3
    isLarge = all(limit >= LEAST_LARGER * factor for limit in limits)
    isTiny = LEAST_VOLUME < abs(value) < SMALLEST_VOLUME
    return (larger, factor) if isLarge and not isTiny else (unit, 1)


def _sides(rule: Rule, value: float) -> list[tuple[bool, bool]]:
    """Return of every limit of a rule whether a value keeps it, and whether it is equal to it but for rounding."""
    size = abs(value) if rule.relation == "within" else value
    limits = [limit for limit in (rule.limit, rule.warning) if limit is not None]
    return [(rule.keeps(value, n), math.isclose(size, n, rel_tol=ROUNDING, abs_tol=ROUNDING_OF_ZERO)) for n in limits]


def _texts(value: float, unit: str) -> Iterator[str]:
    """Yield a number as Measurement.text() writes it, then with ever more digits."""
    digits = 2 if unit in TWO_DIGITS else 3
    least, small = (LEAST_VOLUME, 0.1) if unit[-1:] in "23" else (LEAST_LENGTH, 0.01)
    if unit in TWO_DIGITS and least < abs(value) < small:
        yield significant(value, 2)
    for number in range(digits, 18):
        yield rounded(value, number)
