"""The differences slice by slice: a plot and a table; clicking a point or a row moves the slice views there."""

from dataclasses import dataclass

import slicer

from SegmentMetricsLib.metrics.slices import SliceRow
from SegmentMetricsLib.mrml import navigation, showSlices
from SegmentMetricsLib.mrml.folders import ComparedPair

from ..contents import slices
from .plots import PlotView
from .tables import SortableTable
from .view import View


@dataclass(frozen=True)
class ProfiledPair(ComparedPair):
    """A pair with its per-slice profile, which is all that a chart of slices needs."""

    slices: tuple[SliceRow, ...]


class SlicesView(View):
    """Shows the per-slice profile of the shown pair, or nothing if it was not measured."""

    def __init__(self, panel):
        super().__init__(panel)
        self.rows = ()
        self.table = SortableTable(self.ui.slicesTable, self.jump)
        self.plot = PlotView(self.ui.slicesPlotFrame.layout(), self.onSelected, height=132)  # with a table below it

    def wanted(self) -> tuple | None:
        return (*self.pair, self.model.parameters.sliceQuantity) if self.plot.isIntact else None

    def draw(self) -> None:
        outcome, number, record = self.model.outcome, self.model.number(), self.model.record()
        chart = None
        self._list(record.slices if record else ())
        if self.rows:
            pair, key = outcome.pair(number), slices.keyOf(self.model.parameters.sliceQuantity, self.rows)
            chart = outcome.mark(showSlices(ProfiledPair(pair.reference, pair.test, self.rows), quantity=key))
        self.plot.draw(chart)

    def release(self) -> None:
        super().release()
        self.plot.draw(None)
        self._list(())

    def _list(self, rows) -> None:
        """List the slices; without any, show that there are none."""
        if rows is not self.rows:  # the table keeps its selection
            self.rows = rows
            self.table.show(slices.slices(rows))
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
