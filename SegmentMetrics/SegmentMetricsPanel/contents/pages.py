"""The pages below the main numbers, of which one is shown at a time.

A page is added here, with a frame NAMEPage in SegmentMetrics.ui and Resources/Icons/NAME.png; its view fills the frame.
"""

from __future__ import annotations

from SegmentMetricsLib.show.resulttables import doseTable

from ..translation import _

# So many buttons fit beside each other; more of them take a second row.
BUTTONS_IN_A_ROW = 6


def allPages() -> dict[str, tuple[str, str]]:
    """Return what the button of each page says and its tool tip, by the name of its frame and icon, in their order."""
    return {
        "observers": (_("Observers"), _("How all observers agree, and who differs where.")),
        "numbers": (_("Numbers"), _("All measurements and verdicts, to copy, export and report.")),
        "plot": (_("Plot"), _("How the distances are distributed.")),
        "map": (_("Map"), _("How the surfaces are colored by their distance.")),
        "places": (_("Places"), _("Where the contours lie farthest apart.")),
        "lesions": (_("Lesions"), _("What happened to each lesion, and gaps of vessels.")),
        "slices": (_("Slices"), _("The differences slice by slice.")),
        "dose": (_("Dose"), _("What dose the two receive.")),
        "tools": (_("Tools"), _("What other tools would report.")),
    }


def pagesFor(model) -> list[str]:
    """Return the names of the pages that have something in them. model: a PanelModel."""
    record = model.record()
    hasContent = {
        "observers": model.observers.isShown,
        "numbers": model.outcome is not None,
        "lesions": record is not None and (record.lesions is not None or record.gaps is not None),
        "dose": record is not None and doseTable(record) is not None,
    }
    return [name for name in allPages() if hasContent.get(name, record is not None)]


def rowsOf(count: int) -> list[range]:
    """Return the indices of the buttons in each row; rows are about equally long."""
    rows = -(-count // BUTTONS_IN_A_ROW)
    length = -(-count // max(rows, 1))
    return [range(begin, min(begin + length, count)) for begin in range(0, count, max(length, 1))]
