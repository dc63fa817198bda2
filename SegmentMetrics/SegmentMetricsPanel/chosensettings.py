"""The chosen settings, and which of the panel's controls have an effect on them."""

from __future__ import annotations

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.case.relevance import isRelevant
from SegmentMetricsLib.settings.settings import DECIDED_BY_TOOLS, OWN_CONVENTION, Settings

from .enumerations import HazardKernel, Mode
from .translation import _

# The lowest values of the spin boxes, displayed as "Automatic".
AUTOMATIC_SUBDIVISIONS, AUTOMATIC_OVERSAMPLING = -1, 0
# settings whose controls are hidden while no chosen family uses them
OPTIONAL = ("percentile", "critical", "subdivisions", "oversampling", "grid", "beta", "quantile", "voxelUnit",
            "hazardKernel", "hazardReach", "hazardDecay", "il", "ol", "convention")  # fmt: skip


def settingsOf(parameters, scene) -> Settings:
    """Return the chosen settings, with defaults for those that no chosen family of metrics uses. scene: a model.Scene.

    Raises ValueError if no family is chosen, or the hazard family without any critical structure.
    """
    p = parameters
    families = list(p.families)
    convention = conventionOf(parameters)
    chosen = {
        "percentiles": ("percentile", p.percentile),
        "subdivisions": ("subdivisions", None if p.subdivisions == AUTOMATIC_SUBDIVISIONS else p.subdivisions),
        "oversampling": ("oversampling", None if p.oversampling == AUTOMATIC_OVERSAMPLING else p.oversampling),
        "grid": ("grid", p.grid.name),
        "betas": ("beta", p.beta),
        "quantiles": ("quantile", p.quantile),
        "voxelUnit": ("voxelUnit", p.voxelUnit.name),
        "critical": ("critical", criticalNames(p, scene)),
        "hazardKernel": ("hazardKernel", p.hazardKernel.name),
        "hazardReach": ("hazardReach", p.hazardReach),
        "hazardDecay": ("hazardDecay", p.hazardDecay),
        "il": ("il", p.il),
        "ol": ("ol", p.ol),
    }
    relevant = {field: value for field, (setting, value) in chosen.items() if isRelevant(setting, families)}
    relevant["surface"] = p.surface.name
    if convention != OWN_CONVENTION:
        relevant = {field: value for field, value in relevant.items() if field not in DECIDED_BY_TOOLS}
    if not relevant.get("critical", True):
        raise InputError(_("Choose critical structures, or turn off the hazard metrics."))
    return Settings.preset(convention, tolerances=(p.tolerance,), extent=p.extent.name, families=families, **relevant)


def conventionOf(parameters) -> str:
    """Return the chosen convention if it affects any chosen family, otherwise SegmentMetrics' own."""
    return parameters.convention if isRelevant("convention", list(parameters.families)) else OWN_CONVENTION


def possibleCriticals(parameters, scene) -> list[str]:
    """Return the names of the reference's segments that can be critical structures: all but the compared one."""
    names = scene.segments(parameters.reference)
    compared = names.get(parameters.referenceSegment) if parameters.mode == Mode.onePair else None
    return [name for name in dict.fromkeys(names.values()) if name != compared]


def criticalNames(parameters, scene) -> list[str]:
    """Return the names of the chosen critical structures that exist in the reference."""
    return [name for name in possibleCriticals(parameters, scene) if name in list(parameters.critical)]


def shownSettings(parameters) -> dict[str, bool]:
    """Return of every setting that may have no effect whether the panel shows it."""
    families = list(parameters.families)
    hidden = {HazardKernel.polynomial: "hazardDecay", HazardKernel.exponential: "hazardReach"}
    isOwn = conventionOf(parameters) == OWN_CONVENTION
    return {
        name: (name == "surface" or isRelevant(name, families))
        and name != hidden[parameters.hazardKernel]
        and (isOwn or name not in DECIDED_BY_TOOLS)
        for name in (*OPTIONAL, "surface")
    }
