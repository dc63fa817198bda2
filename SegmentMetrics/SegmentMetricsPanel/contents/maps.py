"""What a distance map can show, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..translation import _


@dataclass(frozen=True)
class MapControls:
    """Which controls of the map can be used.

    problem: why there can be no map, or "". hasOptions: whether those of the map are enabled as a group. hasRange,
    isRangeFree: whether the range means anything, and whether the user may set it. remark: a sentence, or "".
    """

    problem: str
    hasOptions: bool
    hasRange: bool
    isRangeFree: bool
    remark: str


def kindOf(parameters, outcome) -> tuple[str, str]:
    """Return the kind of map to draw, and why it is not the chosen one, or ""."""
    if parameters.mapKind.name == "hazard" and "hazard" not in outcome.settings.families:
        return "signed", _("Hazard was not measured: the map shows signed distances.")
    if parameters.mapKind.name == "dose" and "dose" not in outcome.settings.families:
        return "signed", _("No dose was chosen: the map shows signed distances.")
    return parameters.mapKind.name, ""


def isEmpty(record) -> bool:
    """Return whether one of the structures of a pair is empty, so that there is nothing to draw."""
    return any(0 in (side.get("volumeMm3"), side.get("areaMm2")) for side in record.sides)


def controls(parameters, record) -> MapControls:
    """Return which controls the map of a record has; None is a comparison without any structure."""
    isPossible = record is None or bool(record.method)
    hasRange = isPossible and parameters.mapKind.name in ("signed", "absolute", "bld")
    isOfDistances = record is not None and parameters.mapKind.name not in ("hazard", "dose")
    return MapControls(
        problem="" if isPossible else _("No distances were measured."),
        # the check mark stays, because the next structure may have a map
        hasOptions=parameters.showMap or not isPossible,
        hasRange=hasRange,
        isRangeFree=hasRange and not parameters.automaticRange,
        remark=farthest(record, parameters.mapSide.sides) if isOfDistances else "",
    )


def farthest(record, sides) -> str:
    """Return a note if the largest distance, by 0.1 mm or more, is on the side that the map is not on, or ""."""
    largest = record.measurements.get("HD")
    if len(sides) > 1 or largest is None or largest.referenceToTest is None:
        return ""
    found = {"reference": largest.referenceToTest, "test": largest.testToReference}
    (other,) = found.keys() - set(sides)
    if not round(found[other], 1) > round(found[sides[0]], 1):
        return ""
    sentence = (
        _("The largest distance is on the test: {distance} mm.")
        if other == "test"
        else _("The largest distance is on the reference: {distance} mm.")
    )
    return sentence.format(distance=f"{found[other]:.1f}")
