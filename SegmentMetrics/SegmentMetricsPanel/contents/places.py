"""The worst places."""

from __future__ import annotations

from SegmentMetricsLib.base.coordinates import positionText
from SegmentMetricsLib.metrics.signed import SIDES
from SegmentMetricsLib.show.explanations import ofPlace

from ..translation import _
from .table import TableContents

# Before the rank of a place that is corrected.
CORRECTED = "✓"


def places(outcome, number: int, edit=None) -> TableContents:
    """Return the list of the worst places of a pair of an outcome, empty if there are none.

    edit: the Edit of the pair; its places are listed then, and those that are corrected are ticked off.
    """
    record = outcome.records[number] if outcome is not None and outcome.records else None
    listed = record.worstPlaces if record else ()
    if edit is not None:
        listed = edit.places
    headings, lines, tips = rows(listed, record is None or record.hasSides)
    for line, isDone in zip(lines, edit.isDone if edit is not None else ()):
        if isDone:
            text, rank, tip = line[0]
            line[0] = f"{CORRECTED} {text}", rank, _("Corrected.") + " " + tip
    return TableContents.of(headings, lines, tips, stretched=[3])


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


def rows(places, signed: bool) -> tuple:
    """Return headings, rows and heading tips of the list of places. signed: whether inside and outside are known."""
    headings = [_("#"), _("mm"), _("cm²"), _("Where")]
    tips = [
        _("Rank, the worst first."),
        _("Largest distance there in mm: + where the test lies outside the reference, - where inside."),
        _("Area of the connected patch in cm²."),
        _("The side of the structure on which it lies, and its coordinates in mm."),
    ]
    listed = []
    for place in places:
        where = f"{SIDES[place.direction]}, {positionText(place.position)}"
        tip = ofPlace(place, signed)
        listed.append(
            [
                (str(place.rank), place.rank, tip),
                (f"{place.value:+.1f}" if signed else f"{place.value:.1f}", place.value, tip),
                (f"{place.area / 100:.2f}", place.area, tip),
                (where, where, tip),
            ]
        )
    return headings, listed, tips
