"""The differences slice by slice."""

from __future__ import annotations

import math

from SegmentMetricsLib.metrics.slices import axisOfRows, columnOf, positionText

from ..model.enumerations import SliceQuantity
from ..translation import _
from .table import TableContents


def slices(rows) -> TableContents:
    """Return the table of the slices of a pair, empty if there are none."""
    return TableContents.of(*listed(rows)) if rows else TableContents()


def keyOf(quantity: SliceQuantity, rows) -> str:
    """Return the key of a quantity in the values of a slice; for added path lengths, that of the first tolerance."""
    return next(key for key in rows[0].values if key.partition("_")[0] == quantity.name)


def listed(rows) -> tuple:
    """Return headings, rows and heading tips of the table of slices."""
    names = [_("Slice"), *headings().values()]
    axis = axisOfRows(rows)
    tips = [
        _("Position of the slice along its normal in mm, toward left, posterior, superior.")
        if axis is None
        else _("Position of the slice in mm.")
    ]
    for quantity in headings():
        title, unit, description = columnOf(keyOf(quantity, rows))
        shownUnit = f" ({unit.replace('mm2', 'cm²')})" if unit else ""
        tips.append(f"{title}{shownUnit}\n{description}.")
    result = []
    for row in rows:
        tip = _("Slice {index} of the reference's image. Click to go there.").format(index=row.index)
        if row.only:
            only = _("Only the reference has it.") if row.only == "reference" else _("Only the test has it.")
            tip = f"{tip}\n{only}"
        cells = [(positionText(row.position, axis), row.position, tip)]
        for quantity in headings():
            value = row.values[keyOf(quantity, rows)]
            cells.append((written(quantity, value), value if math.isfinite(value) else None, tip))
        result.append(cells)
    return names, result, tips


def headings() -> dict[SliceQuantity, str]:
    """Return short names of the quantities in the current language."""
    return {
        SliceQuantity.HD: _("HD"),
        SliceQuantity.MASD: _("MASD"),
        SliceQuantity.DSC: _("DSC"),
        SliceQuantity.AreaDifference: _("± cm²"),
        SliceQuantity.APL: _("APL"),
    }


def written(quantity: SliceQuantity, value: float) -> str:
    """Return a value of a slice as short text, without its unit."""
    if not math.isfinite(value):
        return "-"
    if quantity == SliceQuantity.AreaDifference:
        return f"{value / 100:+.2f}"
    return f"{value:.2f}" if quantity == SliceQuantity.DSC else f"{value:.1f}"
