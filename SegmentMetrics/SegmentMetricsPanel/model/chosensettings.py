"""The chosen settings, and which of the panel's controls have an effect on them."""

from __future__ import annotations

from SegmentMetricsLib.base.errors import InputError
from SegmentMetricsLib.conventions.convention import OWN_CONVENTION
from SegmentMetricsLib.conventions.presets import BRATS, PANOPTICA, PRESETS
from SegmentMetricsLib.settings.names import familyTitle
from SegmentMetricsLib.settings.settings import DECLARED, Settings
from SegmentMetricsLib.show.explanations import isRelevant

from ..translation import _
from .enumerations import Mode

# The settings that the panel offers, by name.
IN_PANEL = {name: one.panel for name, one in DECLARED.items() if one.panel}


def settingsOf(parameters, scene) -> Settings:
    """Return the chosen settings, with defaults for those without an effect, and the family of a dose.

    Raises ValueError if no family is chosen, the dose family without a dose, or hazard without critical structures.
    """
    families, chosen = list(parameters.families), offeredSettings(parameters)
    if "critical" in chosen:
        chosen["critical"] = tuple(criticalNames(parameters, scene))
        if not chosen["critical"] and chosen["hazardKernel"] != "dose":
            raise InputError(_("Choose critical structures, or turn off the hazard metrics."))
    convention = chosen.pop("convention", OWN_CONVENTION)
    if parameters.dose is not None:
        families.append("dose")
    elif "dose" in families:
        raise InputError(_("Choose a dose, or turn off the dose metrics."))
    return Settings.preset(convention, families=tuple(families), **chosen)


def offeredSettings(parameters) -> dict[str, object]:
    """Return what is chosen, as Settings take it, for the settings that have an effect, which the panel shows."""
    values = {}
    for name, panel in IN_PANEL.items():
        value = getattr(parameters, panel.name)
        isUnset = panel.isAutomatic and value == panel.low
        values[name] = None if isUnset else value.name if panel.words else value
    convention, families, offered = conventionOf(parameters), list(parameters.families), {}
    for name, value in values.items():
        one = DECLARED[name]
        isDecided = name in PRESETS.get(convention, {}) or (one.isDecidedByTools and convention != OWN_CONVENTION)
        hasEffect = one.onlyIf is None or values[one.onlyIf[0]] == one.onlyIf[1]
        isForThese = one.affectsAll or one.panel.isAlwaysShown or isRelevant(name, families)
        if hasEffect and isForThese and not isDecided:
            offered[name] = value
    return offered


def conventionOf(parameters) -> str:
    """Return the chosen convention if it affects any chosen family, otherwise SegmentMetrics' own."""
    families, chosen = list(parameters.families), parameters.convention
    isOfLesions = chosen.startswith((BRATS, PANOPTICA)) and "instances" in families
    return chosen if isOfLesions or isRelevant("convention", families) else OWN_CONVENTION


def possibleCriticals(parameters, scene) -> list[str]:
    """Return the names of the reference's segments that can be critical structures: all but the compared one."""
    names = scene.segments(parameters.reference)
    compared = names.get(parameters.referenceSegment) if parameters.mode == Mode.onePair else None
    return [name for name in dict.fromkeys(names.values()) if name != compared]


def criticalNames(parameters, scene) -> list[str]:
    """Return the names of the chosen critical structures that exist in the reference."""
    return [name for name in possibleCriticals(parameters, scene) if name in list(parameters.critical)]


# So many families are named in one line; of more of them it says how many there are.
NAMED_FAMILIES = 3


def inOneLine(parameters, protocol: str) -> str:
    """Return the settings that matter most, short enough for one line of the panel. protocol: its name, "" for none."""
    families = list(parameters.families)
    named = ", ".join(familyTitle(family).lower() for family in families) if families else _("no metrics")
    if len(families) > NAMED_FAMILIES:
        named = _("{count} families").format(count=len(families))
    isShown = [IN_PANEL[name].name for name in offeredSettings(parameters)]
    texts = [
        f"τ {parameters.tolerance:g} mm" if "tolerance" in isShown else "",
        f"{parameters.percentile:g} %" if "percentile" in isShown else "",
        named,
        protocol,
    ]
    return " · ".join(filter(None, texts))


def inFull(parameters, protocol: str) -> str:
    """Return the settings of the line above with all names, one to a line. protocol: its name, "" for none."""
    families = ", ".join(map(familyTitle, parameters.families))
    convention = conventionOf(parameters)
    lines = [
        _("Metrics: {names}").format(names=families) if families else "",
        _("Report as: {tool}").format(tool=convention) if convention != OWN_CONVENTION else "",
        _("Protocol: {name}").format(name=protocol) if protocol else "",
        _("Click to change what is measured and how."),
    ]
    return "\n".join(filter(None, lines))
