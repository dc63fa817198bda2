"""The differences slice by slice: a plot and a table; clicking a point or a row moves the slice views there."""

import math
from dataclasses import dataclass

import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.families.slices.formulas import SliceRow, axisOfRows, columnOf, positionText
from SegmentMetricsLib.mrml import navigation, showSlices
from SegmentMetricsLib.mrml.charts import isDrawn
from SegmentMetricsLib.mrml.folders import ComparedPair

from .enumerations import SliceQuantity
from .plots import PlotView
from .sorting import SortableTable


@dataclass(frozen=True)
class ProfiledPair(ComparedPair):
    """A pair with its per-slice profile, which is all that a chart of slices needs."""

    slices: tuple[SliceRow, ...]


class Slices:
    """Shows the per-slice profile of a pair, or nothing if it was not measured."""

    def __init__(self, ui):
        self.ui = ui
        self.rows = ()
        self.table = SortableTable(ui.slicesTable, self.jump)
        self.plot = PlotView(ui.slicesPlotFrame.layout(), self.onSelected)
        self.shown = None
        self.chart = None

    def show(self, parameters, outcome, number: int) -> None:
        """Show the profile of a pair of an outcome, or nothing if it is None."""
        wanted, before = (outcome, number, parameters.sliceQuantity), self.shown
        isIntact = self.chart is not None and self.plot.chart is self.chart and isDrawn(self.chart)
        if wanted == before and (isIntact or not self.rows):
            return
        self.shown = wanted
        self.rows = outcome.records[number].slices if outcome is not None and outcome.records else ()
        self.ui.slicesSection.visible = bool(self.rows)
        if before is None or wanted[:2] != before[:2]:
            self.table.show(*(listed(self.rows) if self.rows else ([], [])), stretched=range(6))
        self.chart = None
        if self.rows:
            pair = outcome.pair(number)
            profiled = ProfiledPair(pair.reference, pair.test, self.rows)
            self.chart = outcome.mark(showSlices(profiled, quantity=keyOf(parameters.sliceQuantity, self.rows)))
        self.plot.show(self.chart)

    def clear(self) -> None:
        """Show nothing, while no scene is available."""
        self.shown, self.rows, self.chart = None, (), None
        self.table.show([], [])
        self.ui.slicesSection.visible = False

    def jump(self, number: int) -> None:
        """Move all slice views to the place in a slice where the contours differ most."""
        navigation.jumpTo(self.rows[number].place, scene=slicer.mrmlScene, cameras=())

    def onSelected(self, _series, selections) -> None:
        """Go to the slice of the point clicked in the plot; clearing a selection is reported as an empty selection."""
        for index in range(selections.GetNumberOfItems()):
            points = selections.GetItemAsObject(index)
            if points.GetNumberOfValues() and 0 <= points.GetValue(0) < len(self.rows):
                self.table.select(points.GetValue(0))
                self.jump(points.GetValue(0))
                return


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
