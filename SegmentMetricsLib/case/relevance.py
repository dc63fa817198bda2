"""The families of metrics that each setting affects, so that users see only settings that have an effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..comparison.definitions import PARAMETERS, Definition
from ..families.registry import REGISTRY

# The parameter of keys whose values are in a field of Settings.
PARAMETER_OF = {field: parameter for parameter, field in PARAMETERS.items()}
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

    setting: a field of Settings, or a parameter of keys such as "percentile". Raises KeyError for unknown settings.
    """
    return not familiesUsing(setting).isdisjoint(families)


def familiesUsing(setting: str) -> set[str]:
    """Return the families whose numbers a setting affects; setting and errors as for isRelevant()."""
    parameter = PARAMETER_OF.get(setting, setting)
    if parameter in PARAMETERS or setting == "grid":
        return {definition.family for definition in REGISTRY if _uses(definition, parameter)}
    return set(FAMILIES_OF[setting])


def isUsed(setting: str, definitions: Iterable[Definition]) -> bool:
    """Return whether a setting affects one of these measurements; setting and errors as for isRelevant()."""
    parameter = PARAMETER_OF.get(setting, setting)
    if parameter in PARAMETERS or setting == "grid":
        return any(_uses(definition, parameter) for definition in definitions)
    return isRelevant(setting, {definition.family for definition in definitions})


def _uses(definition: Definition, parameter: str) -> bool:
    return definition.dependsOnGrid if parameter == "grid" else f"{{{parameter}}}" in definition.key
