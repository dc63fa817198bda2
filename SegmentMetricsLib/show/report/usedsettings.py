"""The settings of a report in words, limited to those that affect its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.texts import shortest
from ...case.comparison import Comparison
from ...case.relevance import isRelevant
from ...metrics.registry import findMetric
from ...settings.settings import DECLARED, Settings, isInEffect

# Settings that are listed first.
FIRST = ("convention", "families")


def usedSettings(settings: Settings, records: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Return labels and values of the settings that affected a number or differ from the defaults.

    Rare ones, which the panel does not offer, are listed only if they differ. records: of the report; measurements
    required by a protocol may have parameters of their own, which are included.
    """
    usual = Settings()
    families = {measurement.family for record in records for measurement in record.measurements.values()}
    rows = []
    for name in sorted(DECLARED, key=lambda name: (*FIRST, name).index(name)):
        declaration, value = DECLARED[name], getattr(settings, name)
        if declaration.parameter is not None:
            value = _withMeasured(value, declaration.parameter.name, records)
        isUsual = value == getattr(usual, name)
        isMain = declaration.isAlwaysTold or (declaration.panel is not None and isRelevant(name, families))
        if isInEffect(name, settings) and (isMain or not isUsual):
            rows.append((declaration.label, _text(value, declaration.unit)))
    return [(label, text) for label, text in rows if text]


def _withMeasured(values: Sequence[float], parameter: str, records: Sequence[Comparison]) -> tuple[float, ...]:
    """Return the values of a parameter: first those in the settings, then others that occur in the measurements."""
    found = [findMetric(key) for key in dict.fromkeys(key for record in records for key in record.measurements)]
    measured = sorted({float(given.words[parameter]) for given in found if given and parameter in given.words})
    return tuple(dict.fromkeys((*values, *measured)))


def _text(value, unit: str) -> str:
    """Return a value as readable text; "" for an automatic (None) or empty value."""
    if isinstance(value, tuple):
        return ", ".join(
            f"{part[0]} ({shortest(part[1])})" if isinstance(part, tuple) else _text(part, unit) for part in value
        )
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{shortest(value)} {unit}".rstrip() if isinstance(value, (int, float)) else str(value)
