"""Choosing the dose of a plan, and what the two structures receive of it."""

from __future__ import annotations

from dataclasses import dataclass

from SegmentMetricsLib.metrics.dose import DoseCurves
from SegmentMetricsLib.mrml import showDoseVolume
from SegmentMetricsLib.mrml.folders import ComparedPair
from SegmentMetricsLib.show import explanations

from ..contents import doses
from ..markup import explain
from .plots import PlotView
from .tables import SortableTable
from .view import ChoiceList, View


class DoseChoiceView(View):
    """The list of volumes that may be the dose."""

    def __init__(self, ui, model):
        super().__init__(ui, model)
        self.choice = ChoiceList(ui.doseComboBox, model.chooseDose)
        for widget in (ui.doseLabel, ui.doseComboBox):
            explain(widget, explanations.DOSE)

    def draw(self) -> None:
        self.choice.show(self.model.doseChoices(), self.model.parameters.dose)


@dataclass(frozen=True)
class DosedPair(ComparedPair):
    """A pair with its dose-volume histograms, which are all that a chart of them needs."""

    doseCurves: DoseCurves


class DoseView(View):
    """The dose-volume histograms of the shown pair, and the table of its doses."""

    def __init__(self, ui, model):
        super().__init__(ui, model)
        self.table = SortableTable(ui.doseTable)
        self.plot = PlotView(ui.dosePlotFrame.layout())
        ui.doseCaveatLabel.text = f"{doses.CAVEAT}<br>{doses.legend()}"

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
