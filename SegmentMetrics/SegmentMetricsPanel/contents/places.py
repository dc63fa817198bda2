"""The worst places."""

from __future__ import annotations

from SegmentMetricsLib.base.texts import positionText
from SegmentMetricsLib.metrics.signed import SIDES
from SegmentMetricsLib.show.explanations import ofPlace

from ..translation import _
from .table import TableContents

# Before the rank of a place that is corrected.
CORRECTED = "✓"


def places(outcome, number: int, edit=None) -> TableContents:
    """Return the list of the worst places of a pair, or those of its Edit, with the corrected ones ticked off."""
    record = outcome.records[number] if outcome is not None and outcome.records else None
    isSigned = record is None or record.hasSides
    if edit is not None:
        return table(edit.places, isSigned, edit.isDone)
    return table(record.worstPlaces if record else (), isSigned)


def about(outcome, number: int) -> str:
    """Return a sentence about the list of the worst places."""
    if outcome is None or not outcome.records:
        return _("Where the contours lie farther apart than the tolerance. Click to go there.")
    record = outcome.records[number]
    if record.worstPlaces:
        text = _("Where the contours lie more than {tolerance} mm apart. Click to go there.")
    elif not record.method:
        text = _("No distances were measured.")
    else:
        text = _("The contours are nowhere more than {tolerance} mm apart.")
    return text.format(tolerance=f"{outcome.settings.tolerances[0]:g}")


def table(places, signed: bool, isDone=()) -> TableContents:
    """Return the list of places. signed: whether inside and outside are known. isDone: which ones are corrected."""
    headings = [
        (_("#"), _("Rank, the worst first.")),
        (_("mm"), _("Largest distance there in mm: + where the test lies outside the reference, - where inside.")),
        (_("cm²"), _("Area of the connected patch in cm².")),
        (_("Where"), _("The side of the structure on which it lies, and its coordinates in mm.")),
    ]
    rows = []
    for number, place in enumerate(places):
        where = f"{SIDES[place.direction]}, {positionText(place.position)}"
        tip, rank = ofPlace(place, signed), str(place.rank)
        value = f"{place.value:+.1f}" if signed else f"{place.value:.1f}"
        first = rank, place.rank, tip
        if number < len(isDone) and isDone[number]:
            first = f"{CORRECTED} {rank}", place.rank, _("Corrected.") + " " + tip
        area = f"{place.area / 100:.2f}"
        rows.append([first, (value, place.value, tip), (area, place.area, tip), (where, where, tip)])
    return TableContents.of(headings, rows, stretched=[3])
