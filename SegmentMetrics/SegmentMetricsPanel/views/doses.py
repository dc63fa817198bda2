"""What the two structures receive of the dose of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from SegmentMetricsLib.metrics.dose import DoseCurves
from SegmentMetricsLib.mrml import showDoseVolume
from SegmentMetricsLib.mrml.folders import ComparedPair

from ..contents import doses
from .plots import PlotView
from .tables import SortableTable
from .view import View


@dataclass(frozen=True)
class DosedPair(ComparedPair):
    """A pair with its dose-volume histograms, which are all that a chart of them needs."""

    doseCurves: DoseCurves


class DoseView(View):
    """The dose-volume histograms of the shown pair, and the table of its doses."""

    def __init__(self, panel):
        super().__init__(panel)
        self.table = SortableTable(self.ui.doseTable)
        self.plot = PlotView(self.ui.dosePlotFrame.layout())
        self.ui.doseCaveatLabel.text = f"{doses.CAVEAT}<br>{doses.legend()}"

    def wanted(self) -> tuple | None:
        return self.pair if self.plot.isIntact else None

    def draw(self) -> None:
        outcome, number, record = self.model.outcome, self.model.number(), self.model.record()
        curves, chart = record.doseCurves if record is not None else None, None
        self.table.show(doses.table(record))
        if curves is not None:
            pair = outcome.pair(number)
            chart = outcome.mark(showDoseVolume(DosedPair(pair.reference, pair.test, curves)))
            chart.SetLegendVisibility(False)  # it would lie on the curves: the label above says it
        self.plot.draw(chart)
        self.ui.dosePlotFrame.visible = curves is not None

    def release(self) -> None:
        super().release()
        self.plot.draw(None)
        self.table.show(doses.table(None))
