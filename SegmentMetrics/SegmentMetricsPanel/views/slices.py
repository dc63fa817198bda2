"""The differences slice by slice: a plot and a table; clicking a point or a row moves the slice views there."""

from dataclasses import dataclass

import slicer

from SegmentMetricsLib.metrics.slices import SliceRow
from SegmentMetricsLib.mrml import navigation, showSlices
from SegmentMetricsLib.mrml.charts import isDrawn
from SegmentMetricsLib.mrml.folders import ComparedPair

from ..contents import slices
from .plots import PlotView
from .tables import SortableTable


@dataclass(frozen=True)
class ProfiledPair(ComparedPair):
    """A pair with its per-slice profile, which is all that a chart of slices needs."""

    slices: tuple[SliceRow, ...]


class SlicesView:
    """Shows the per-slice profile of the shown pair, or nothing if it was not measured."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.rows = ()
        self.table = SortableTable(ui.slicesTable, self.jump)
        self.plot = PlotView(ui.slicesPlotFrame.layout(), self.onSelected, height=132)  # with a table below it
        self.shown = None
        self.chart = None

    def show(self) -> None:
        """Show the profile; does nothing if nothing has changed."""
        outcome, number, record = self.model.outcome, self.model.number(), self.model.record()
        quantity = self.model.parameters.sliceQuantity
        wanted, before = (outcome, number, quantity), self.shown
        isIntact = self.chart is not None and self.plot.chart is self.chart and isDrawn(self.chart)
        if wanted == before and (isIntact or not self.rows):
            return
        self.shown = wanted
        self.rows = record.slices if record else ()
        self._showWidgets()
        if before is None or wanted[:2] != before[:2]:
            self.table.show(slices.slices(self.rows))
        self.chart = None
        if self.rows:
            pair = outcome.pair(number)
            profiled = ProfiledPair(pair.reference, pair.test, self.rows)
            self.chart = outcome.mark(showSlices(profiled, quantity=slices.keyOf(quantity, self.rows)))
        self.plot.draw(self.chart)

    def release(self) -> None:
        """Show nothing, while no scene is available."""
        self.shown, self.rows, self.chart = None, (), None
        self.table.show(slices.slices(()))
        self._showWidgets()

    def _showWidgets(self) -> None:
        """Show plot and table, or that there are none."""
        ui = self.ui
        for widget in (ui.sliceQuantityLabel, ui.sliceQuantityComboBox, ui.slicesPlotFrame, ui.slicesTable):
            widget.visible = bool(self.rows)
        ui.slicesLabel.visible = not self.rows

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
