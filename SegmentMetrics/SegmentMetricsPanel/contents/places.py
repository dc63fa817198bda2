"""The worst places, what happened to each lesion, and the gaps and spurs of vessels."""

from __future__ import annotations

from SegmentMetricsLib.base.texts import positionText
from SegmentMetricsLib.metrics.measurement import typeset, withUnit
from SegmentMetricsLib.metrics.metric import AREA, VOLUME
from SegmentMetricsLib.metrics.signed import SIDES
from SegmentMetricsLib.show.explanations import ofPlace
from SegmentMetricsLib.show.resulttables import lesionsSentence

from ..translation import _
from .table import TableContents

# Before the rank of a place that is corrected.
CORRECTED = "✓"


def places(record, edit=None) -> TableContents:
    """Return the list of the worst places of a record, or those of its Edit, with the corrected ones ticked off."""
    isSigned = record is None or record.hasSides
    if edit is not None:
        return table(edit.places, isSigned, edit.isDone)
    return table(record.worstPlaces if record else (), isSigned)


def about(record, outcome) -> str:
    """Return a sentence about the list of the worst places of a record of an outcome, None without any."""
    if record is None:
        return _("Where the contours lie farther apart than the tolerance. Click to go there.")
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


def lesions(record) -> TableContents:
    """Return the list of the lesions, gaps and spurs of a record, in this order; empty for None."""
    if record is None:
        return TableContents()
    rows = []
    for one in record.lesions or ():
        size = max(one.volumeReference, one.volumeTest) if one.side == "test" else one.volumeReference
        tip = _("Lesion {number} of the {side}.").format(number=one.number, side=one.side)
        if one.clearance is not None:
            nearest = _("The nearest one of the other side is {mm} mm away.")
            tip = " ".join((tip, nearest.format(mm=f"{one.clearance:.1f}")))
        volume = typeset(withUnit(size, AREA if record.dimension == 2 else VOLUME))
        dice, where = "" if one.dice is None else f"{one.dice:.2f}", positionText(one.position)
        rows.append([(one.event, one.event, tip), (volume, size, tip), (dice, one.dice, tip), (where, where, tip)])
    for kind, runs, tip in (
        (_("gap"), record.gaps, _("The test lacks the center line here.")),
        (_("spur"), record.spurs, _("Only the test has a center line here.")),
    ):
        for one in runs or ():
            size, where = f"{one.length:.1f} mm", positionText(one.position)
            rows.append([(kind, kind, tip), (size, one.length, tip), ("", None, tip), (where, where, tip)])
    headings = [
        (_("What"), _("What happened to the lesion, or whether it is a gap or a spur of a vessel.")),
        (_("Size"), _("Volume of the lesion, or length of the gap or spur.")),
        (_("DSC"), _("Dice of the lesion and those of the test that overlap it.")),
        (_("Where"), _("The center in mm.")),
    ]
    return TableContents.of(headings, rows, stretched=[3]) if rows else TableContents()


def aboutLesions(record) -> str:
    """Return a sentence about the list of lesions; "" for None."""
    if record is None:
        return ""
    if record.lesions:
        return " ".join((lesionsSentence(record.lesions), _("Click to go there.")))
    if record.gaps or record.spurs:
        return _("Gaps and spurs of the center line. Click to go there.")
    return _("There are no lesions.") if record.lesions is not None else _("There are neither gaps nor spurs.")
