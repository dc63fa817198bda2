"""The families of metrics that each setting affects, so that users see only settings that have an effect."""

from __future__ import annotations

from collections.abc import Collection

from .definitions import PARAMETERS
from .registry import REGISTRY

# Families affected by settings that are in no key or definition of the registry.
FAMILIES_OF = {
    "convention": ("boundary", "overlap"),
    "subdivisions": ("boundary", "signed"),
    "oversampling": ("boundary",),
    "voxelUnit": ("voxel",),
    "critical": ("hazard",),
    "hazardKernel": ("hazard",),
    "hazardReach": ("hazard",),
    "hazardDecay": ("hazard",),
    "il": ("similarity",),
    "ol": ("similarity",),
}


def isRelevant(setting: str, families: Collection[str]) -> bool:
    """Return whether a setting affects numbers of any of these families.

    setting: "percentile", "tolerance", "beta" or "quantile" for the parameter of that name, else a field of Settings.
    Raises KeyError for unknown settings.
    """
    return not familiesUsing(setting).isdisjoint(families)


def familiesUsing(setting: str) -> set[str]:
    """Return the families whose numbers a setting affects; setting and errors as for isRelevant()."""
    if setting in PARAMETERS:
        return {definition.family for definition in REGISTRY if f"{{{setting}}}" in definition.key}
    if setting == "grid":
        return {definition.family for definition in REGISTRY if definition.dependsOnGrid}
    return set(FAMILIES_OF[setting])
