"""Choosing the dose of a plan, and what the two structures receive of it."""

from __future__ import annotations

from dataclasses import dataclass

from SegmentMetricsLib.case import explanations
from SegmentMetricsLib.metrics.dose import DoseCurves
from SegmentMetricsLib.mrml import showDoseVolume
from SegmentMetricsLib.mrml.charts import isDrawn
from SegmentMetricsLib.mrml.folders import ComparedPair

from ..contents import doses
from ..markup import explain
from .lists import widen
from .plots import PlotView
from .tables import SortableTable


class DoseChoiceView:
    """The list of volumes that may be the dose."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.isShowing = False
        self.listed = []
        for widget in (ui.doseLabel, ui.doseComboBox):
            explain(widget, explanations.DOSE)
        ui.doseComboBox.connect("currentIndexChanged(int)", self.take)

    def show(self) -> None:
        """List the volumes and show the chosen one."""
        choices = self.model.doseChoices()
        self.listed, texts = list(choices), list(choices.values())
        self.isShowing = True
        try:
            box = self.ui.doseComboBox
            if texts != [box.itemText(n) for n in range(box.count)]:
                box.clear()
                box.addItems(texts)
                widen(box)
            box.currentIndex = self.listed.index(self.model.parameters.dose)
        finally:
            self.isShowing = False

    def take(self, index: int) -> None:
        if self.model.parameters is not None and not self.isShowing and index >= 0:
            self.model.chooseDose(self.listed[index])


@dataclass(frozen=True)
class DosedPair(ComparedPair):
    """A pair with its dose-volume histograms, which are all that a chart of them needs."""

    doseCurves: DoseCurves


class DoseView:
    """The dose-volume histograms of the shown pair, and the table of its doses."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.table = SortableTable(ui.doseTable)
        self.plot = PlotView(ui.dosePlotFrame.layout())
        self.shown, self.chart = None, None
        ui.doseCaveatLabel.text = doses.CAVEAT

    def show(self) -> None:
        """Show the doses; does nothing if nothing has changed."""
        outcome, number, record = self.model.outcome, self.model.number(), self.model.record()
        curves = record.doseCurves if record is not None else None
        isIntact = self.chart is not None and self.plot.chart is self.chart and isDrawn(self.chart)
        if (outcome, number) == self.shown and (isIntact or curves is None):
            return
        self.shown, self.chart = (outcome, number), None
        self.table.show(doses.table(record))
        if curves is not None:
            pair = outcome.pair(number)
            self.chart = outcome.mark(showDoseVolume(DosedPair(pair.reference, pair.test, curves)))
        self.plot.draw(self.chart)
        self.ui.dosePlotFrame.visible = curves is not None

    def release(self) -> None:
        """Show nothing, while no scene is available."""
        self.shown, self.chart = None, None
        self.table.show(doses.table(None))
