"""The tables beside plots: of the differences slice by slice, and of the doses that a pair receives."""

from __future__ import annotations

import math

from SegmentMetricsLib.base.palettes import COMPARED
from SegmentMetricsLib.metrics.findings import Finding, Kind
from SegmentMetricsLib.metrics.slices import axisOfRows, columnOf, slicePosition
from SegmentMetricsLib.show.resulttables import doseTable

from ..model.enumerations import SliceQuantity
from ..translation import _
from .table import TableContents

# What is said wherever there are numbers of a dose.
CAVEAT = str(Finding.of(Kind.PLAN_OF_ONE))


def keyOf(quantity: SliceQuantity, rows) -> str:
    """Return the key of a quantity in the values of a slice; for added path lengths, that of the first tolerance."""
    return next(key for key in rows[0].values if key.partition("_")[0] == quantity.name)


def slices(rows) -> TableContents:
    """Return the table of the slices of a pair, empty if there are none."""
    if not rows:
        return TableContents()
    axis, keys = axisOfRows(rows), {quantity: keyOf(quantity, rows) for quantity in SliceQuantity}
    where = _("Position of the slice along its normal in mm, toward left, posterior, superior.")
    columns = [(_("Slice"), where if axis is None else _("Position of the slice in mm."))]
    for quantity, key in keys.items():
        title, unit, description = columnOf(key)
        shownUnit = f" ({unit.replace('mm2', 'cm²')})" if unit else ""
        name = _("± cm²") if quantity == SliceQuantity.AreaDifference else quantity.name
        columns.append((name, f"{title}{shownUnit}\n{description}."))
    lines = []
    for row in rows:
        tip = _("Slice {index} of the reference's image. Click to go there.").format(index=row.index)
        if row.only:
            only = _("Only the reference has it.") if row.only == "reference" else _("Only the test has it.")
            tip = f"{tip}\n{only}"
        cells = [(slicePosition(row.position, axis), row.position, tip)]
        for quantity, key in keys.items():
            value, text = row.values[key], "-"
            if math.isfinite(value) and quantity == SliceQuantity.AreaDifference:
                text = f"{value / 100:+.2f}"
            elif math.isfinite(value):
                text = f"{value:.2f}" if quantity == SliceQuantity.DSC else f"{value:.1f}"
            cells.append((text, value if math.isfinite(value) else None, tip))
        lines.append(cells)
    return TableContents.of(columns, lines)


def doseLegend() -> str:
    """Return which curve is which, as HTML."""
    names = {"reference": _("Reference"), "test": _("Test (dashed)")}
    return "&nbsp; ".join(f'<span style="color: {COMPARED[side]};">▬</span> {name}' for side, name in names.items())


def doses(record) -> TableContents:
    """Return the table of the doses of a record, empty for None and without a dose."""
    found = doseTable(record) if record is not None else None
    if found is None:
        return TableContents()
    headings = [(_("Dose"), ""), *((column.heading.capitalize(), CAVEAT) for column in found.columns[1:])]
    rows = [[(name, name, ""), *map(_doseCell, measurements)] for name, *measurements in found.rows]
    return TableContents.of(headings, rows)


def _doseCell(measurement) -> tuple:
    if measurement is None:
        return "", None, ""
    value = measurement.value if math.isfinite(measurement.value) else None
    return measurement.text(), value, f"{measurement.description}\n{measurement.reason}".rstrip()
