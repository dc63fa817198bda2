"""What dose the two structures of a pair receive."""

from __future__ import annotations

import math

from SegmentMetricsLib.base.palettes import COMPARED
from SegmentMetricsLib.metrics.findings import Finding, Kind
from SegmentMetricsLib.show.resulttables import doseTable

from ..translation import _
from .table import TableContents

# What is said wherever there are numbers of a dose.
CAVEAT = str(Finding.of(Kind.PLAN_OF_ONE))


def legend() -> str:
    """Return which curve is which, as HTML."""
    names = {"reference": _("Reference"), "test": _("Test (dashed)")}
    return "&nbsp; ".join(f'<span style="color: {COMPARED[side]};">▬</span> {name}' for side, name in names.items())


def table(record) -> TableContents:
    """Return the table of the doses of a record, empty for None and without a dose."""
    found = doseTable(record) if record is not None else None
    if found is None:
        return TableContents()
    headings = [(_("Dose"), ""), *((column.heading.capitalize(), CAVEAT) for column in found.columns[1:])]
    rows = [[(name, name, ""), *map(_cell, measurements)] for name, *measurements in found.rows]
    return TableContents.of(headings, rows)


def _cell(measurement) -> tuple:
    if measurement is None:
        return "", None, ""
    value = measurement.value if math.isfinite(measurement.value) else None
    return measurement.text(), value, f"{measurement.description}\n{measurement.reason}".rstrip()
