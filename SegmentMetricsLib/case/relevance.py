"""The numbers that each setting affects, so that users see only settings that have an effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from ..metrics.metric import Metric
from ..metrics.registry import FAMILIES, REGISTRY
from ..settings.settings import DECLARED


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
