"""The pages below the main numbers, of which one is shown at a time.

A page is added here, with a frame NAMEPage in SegmentMetrics.ui and Resources/Icons/NAME.png; its view fills the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from SegmentMetricsLib.show.resulttables import doseTable

from ..translation import _

if TYPE_CHECKING:
    from ..model.panelmodel import PanelModel

# So many buttons fit beside each other; more of them take a second row.
BUTTONS_IN_A_ROW = 6


class Page(NamedTuple):
    """A page: the name of its frame and icon, what its button says, and whether to offer it."""

    name: str
    title: str
    tip: str
    hasContent: Callable[[PanelModel], bool]


def allPages() -> list[Page]:
    """Return the pages in the order of their buttons, in the current language."""

    def isCompared(model: PanelModel) -> bool:
        return model.record() is not None

    def isMeasured(model: PanelModel) -> bool:
        return model.outcome is not None

    def isOfObservers(model: PanelModel) -> bool:
        return model.observers.isShown

    def hasLesions(model: PanelModel) -> bool:
        record = model.record()
        return record is not None and (record.lesions is not None or record.gaps is not None)

    def hasDose(model: PanelModel) -> bool:
        return model.record() is not None and doseTable(model.record()) is not None

    return [
        Page("observers", _("Observers"), _("How all observers agree, and who differs where."), isOfObservers),
        Page("numbers", _("Numbers"), _("All measurements and verdicts, to copy, export and report."), isMeasured),
        Page("plot", _("Plot"), _("How the distances are distributed."), isCompared),
        Page("map", _("Map"), _("How the surfaces are colored by their distance."), isCompared),
        Page("places", _("Places"), _("Where the contours lie farthest apart."), isCompared),
        Page("lesions", _("Lesions"), _("What happened to each lesion, and gaps of vessels."), hasLesions),
        Page("slices", _("Slices"), _("The differences slice by slice."), isCompared),
        Page("dose", _("Dose"), _("What dose the two receive."), hasDose),
        Page("tools", _("Tools"), _("What other tools would report."), isCompared),
    ]


def rowsOf(count: int) -> list[range]:
    """Return the indices of the buttons in each row; rows are about equally long."""
    rows = -(-count // BUTTONS_IN_A_ROW)
    length = -(-count // max(rows, 1))
    return [range(begin, min(begin + length, count)) for begin in range(0, count, max(length, 1))]
