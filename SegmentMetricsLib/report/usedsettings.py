"""The settings of a report in words: what its numbers depend on, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from ..records import Record
from ..registry import findDefinition
from ..relevance import isRelevant
from ..settings import Settings, shortest

# What the numbers are comes before how they are made.
FIRST = ("convention", "families")
# That always say something, and by what relevance knows the others.
ALWAYS = ("convention", "families", "surface", "accuracy", "extent")
# What each way in which hazard falls does without.
WITHOUT = {"polynomial": ("hazardDecay",), "exponential": ("hazardReach", "hazardPower")}
KNOWN_AS = {"tolerances": "tolerance", "percentiles": "percentile", "betas": "beta", "quantiles": "quantile"}


def usedSettings(settings: Settings, records: Sequence[Record]) -> list[tuple[str, str]]:
    """Return what was set, in words, and its values: what decided a number, and what is not as usual.

    records: of the report; those that a protocol asked for may have parameters of their own, which are told too.
    """
    usual = Settings()
    families = {measurement.family for record in records for measurement in record.measurements.values()}
    rows = []
    for field in sorted(fields(settings), key=lambda field: (*FIRST, field.name).index(field.name)):
        name, value = field.name, getattr(settings, field.name)
        if name in KNOWN_AS:
            value = _withMeasured(value, KNOWN_AS[name], records)
        if name in WITHOUT[settings.hazardKernel]:
            continue
        if name in ALWAYS or _decides(name, families) or value != getattr(usual, name):
            rows.append((field.metadata.get("label", name), _text(value, field.metadata.get("unit", ""))))
    return [(label, text) for label, text in rows if text]


def _decides(name: str, families: Iterable[str]) -> bool:
    try:
        return isRelevant(KNOWN_AS.get(name, name), list(families))
    except KeyError:  # rare ones: told where they are not as usual
        return False


def _withMeasured(values: Sequence[float], parameter: str, records: Sequence[Record]) -> tuple[float, ...]:
    """Return the values of a parameter, those that were set first, with those of what was measured."""
    found = [findDefinition(key) for key in dict.fromkeys(key for record in records for key in record.measurements)]
    measured = sorted({float(given[1][parameter]) for given in found if given and parameter in given[1]})
    return tuple(dict.fromkeys((*values, *measured)))


def _text(value, unit: str) -> str:
    """Return a value as people write it; "" for one that is found automatically, or empty."""
    if isinstance(value, tuple):
        return ", ".join(
            f"{part[0]} ({shortest(part[1])})" if isinstance(part, tuple) else _text(part, unit) for part in value
        )
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{shortest(value)} {unit}".rstrip() if isinstance(value, (int, float)) else str(value)
