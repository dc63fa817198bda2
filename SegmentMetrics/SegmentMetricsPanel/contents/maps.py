"""What a distance map can show, and what is said about it."""

from __future__ import annotations

from ..translation import _


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


def farthest(record, sides) -> str:
    """Return a note if the largest distance, by 0.1 mm or more, is on the side that the map is not on, or ""."""
    largest = record.measurements.get("HD")
    if len(sides) > 1 or largest is None or largest.referenceToTest is None:
        return ""
    found = {"reference": largest.referenceToTest, "test": largest.testToReference}
    (other,) = found.keys() - set(sides)
    if not round(found[other], 1) > round(found[sides[0]], 1):
        return ""
    sentences = {
        "reference": _("The largest distance is on the reference: {distance} mm."),
        "test": _("The largest distance is on the test: {distance} mm."),
    }
    return sentences[other].format(distance=f"{found[other]:.1f}")
