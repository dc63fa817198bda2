"""The differences slice by slice."""

from __future__ import annotations

import math

from SegmentMetricsLib.metrics.slices import axisOfRows, columnOf, positionText

from ..model.enumerations import SliceQuantity
from ..translation import _
from .table import TableContents


def keyOf(quantity: SliceQuantity, rows) -> str:
    """Return the key of a quantity in the values of a slice; for added path lengths, that of the first tolerance."""
    return next(key for key in rows[0].values if key.partition("_")[0] == quantity.name)


def slices(rows) -> TableContents:
    """Return the table of the slices of a pair, empty if there are none."""
    if not rows:
        return TableContents()
    axis, keys = axisOfRows(rows), {quantity: keyOf(quantity, rows) for quantity in headings()}
    where = _("Position of the slice along its normal in mm, toward left, posterior, superior.")
    columns = [(_("Slice"), where if axis is None else _("Position of the slice in mm."))]
    for quantity, name in headings().items():
        title, unit, description = columnOf(keys[quantity])
        shownUnit = f" ({unit.replace('mm2', 'cm²')})" if unit else ""
        columns.append((name, f"{title}{shownUnit}\n{description}."))
    lines = []
    for row in rows:
        tip = _("Slice {index} of the reference's image. Click to go there.").format(index=row.index)
        if row.only:
            only = _("Only the reference has it.") if row.only == "reference" else _("Only the test has it.")
            tip = f"{tip}\n{only}"
        cells = [(positionText(row.position, axis), row.position, tip)]
        for quantity, key in keys.items():
            value, text = row.values[key], "-"
            if math.isfinite(value) and quantity == SliceQuantity.AreaDifference:
                text = f"{value / 100:+.2f}"
            elif math.isfinite(value):
                text = f"{value:.2f}" if quantity == SliceQuantity.DSC else f"{value:.1f}"
            cells.append((text, value if math.isfinite(value) else None, tip))
        lines.append(cells)
    return TableContents.of(columns, lines)


def headings() -> dict[SliceQuantity, str]:
    """Return short names of the quantities in the current language."""
    return {
        SliceQuantity.HD: _("HD"),
        SliceQuantity.MASD: _("MASD"),
        SliceQuantity.DSC: _("DSC"),
        SliceQuantity.AreaDifference: _("± cm²"),
        SliceQuantity.APL: _("APL"),
    }
