"""The settings of a report in words, limited to those that affect its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from ...base.texts import shortest
from ...case.records import Record
from ...case.relevance import PARAMETER_OF, isRelevant
from ...families.registry import findDefinition
from ...settings.settings import Settings

# Settings that are listed first.
FIRST = ("convention", "families")
# Settings that are always listed; the others only if they are relevant or differ from the defaults.
ALWAYS = ("convention", "families", "surface", "accuracy", "extent")
# Settings that each hazard kernel does not use.
WITHOUT = {"polynomial": ("hazardDecay",), "exponential": ("hazardReach", "hazardPower")}


def usedSettings(settings: Settings, records: Sequence[Record]) -> list[tuple[str, str]]:
    """Return labels and values of the settings that affected a number or differ from the defaults.

    records: of the report; measurements required by a protocol may have parameters of their own, which are included.
    """
    usual = Settings()
    families = {measurement.family for record in records for measurement in record.measurements.values()}
    rows = []
    for field in sorted(fields(settings), key=lambda field: (*FIRST, field.name).index(field.name)):
        name, value = field.name, getattr(settings, field.name)
        if name in PARAMETER_OF:
            value = _withMeasured(value, PARAMETER_OF[name], records)
        if name in WITHOUT[settings.hazardKernel]:
            continue
        if name in ALWAYS or _decides(name, families) or value != getattr(usual, name):
            rows.append((field.metadata.get("label", name), _text(value, field.metadata.get("unit", ""))))
    return [(label, text) for label, text in rows if text]


def _decides(name: str, families: Iterable[str]) -> bool:
    try:
        return isRelevant(name, list(families))
    except KeyError:  # rare settings, which are listed only if they differ from the defaults
        return False


def _withMeasured(values: Sequence[float], parameter: str, records: Sequence[Record]) -> tuple[float, ...]:
    """Return the values of a parameter: first those in the settings, then others that occur in the measurements."""
    found = [findDefinition(key) for key in dict.fromkeys(key for record in records for key in record.measurements)]
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
