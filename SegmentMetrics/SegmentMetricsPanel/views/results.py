"""The summary, the tables and the findings of a comparison."""

import re
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib.show import writing

from ..contents import results
from ..saving import askForPath
from .buttons import ExplainedButton
from .tables import SortableTable


class ResultsView:
    """Shows the model's outcome, with one pair in detail; the tables can be copied and exported."""

    def __init__(self, ui, model):
        self.ui, self.model = ui, model
        self.table = SortableTable(ui.resultsTable, model.showPair)
        self.sides = SortableTable(ui.sidesTable)
        self.families = []
        self.buttons = [ExplainedButton(button) for button in (ui.copyButton, ui.exportButton)]
        ui.copyButton.connect("clicked(bool)", self.copy)
        ui.exportButton.connect("clicked(bool)", self.onExport)
        ui.shownFamilyComboBox.connect("currentIndexChanged(int)", self.onFamily)

    @property
    def family(self) -> str:
        """The family of metrics that is shown, "" if not restricted to one."""
        index = self.ui.shownFamilyComboBox.currentIndex
        return self.families[index - 1] if 0 < index <= len(self.families) else ""

    def show(self) -> None:
        """Show the outcome, or nothing if there is none."""
        outcome, number = self.model.outcome, self.model.number()
        records = outcome.records if outcome is not None else ()
        for widget in (self.ui.resultsTable, self.ui.copyButton, self.ui.exportButton, self.ui.reportButton):
            widget.visible = bool(records)
        for widget in (self.ui.plotLabel, self.ui.plotComboBox):
            widget.visible = any(record.method for record in records)  # of distances
        self._listFamilies()
        self._fill()
        self.ui.summaryLabel.text = self.model.summary()
        for label, text in (
            (self.ui.alarmsLabel, results.alarms(outcome, number)),
            (self.ui.findingsLabel, results.remarks(outcome, number)),
        ):
            label.text, label.visible = text, bool(text)

    def enable(self) -> None:
        """Enable the buttons below the table if they make sense, and say what to do next if there is no outcome."""
        for button in self.buttons:
            button.enable(self.model.whyNotReport())
        self.ui.summaryLabel.text = self.model.summary()

    def _listFamilies(self) -> None:
        """List the measured families, and keep the current one selected if it is among them."""
        box, family, outcome = self.ui.shownFamilyComboBox, self.family, self.model.outcome
        self.families = results.familiesOf(outcome)
        wasBlocked = box.blockSignals(True)
        box.clear()
        box.addItem(_("Main metrics") if outcome and outcome.isOfAll else _("All metrics"))
        box.addItems([each.capitalize() for each in self.families])
        box.currentIndex = self.families.index(family) + 1 if family in self.families else 0
        box.blockSignals(wasBlocked)
        box.visible = self.ui.shownFamilyLabel.visible = len(self.families) > 1

    def onFamily(self, _index: int) -> None:
        self._fill()

    def _fill(self) -> None:
        """Fill the tables with the measurements of the selected family."""
        outcome, number = self.model.outcome, self.model.number()
        self.table.show(*results.numbers(outcome, self.family))
        if outcome is not None and outcome.isOfAll:
            self.table.select(number)
        sides = results.sidesOf(outcome, number, self.family)
        self.sides.show(*sides)
        self.ui.sidesTable.visible = bool(sides.rows)

    def copy(self, _checked=False) -> None:
        """Copy the tables as shown, below what was compared, for pasting into a spreadsheet."""
        outcome = self.model.outcome
        rows = [[line] for line in results.compared(outcome)] + self.table.texts()
        if self.sides.rows:
            about = [[self.model.record().name]] if outcome.isOfAll else []
            rows += about + self.sides.texts()
        qt.QApplication.clipboard().setText(writing.pasteable(rows))

    def onExport(self, _checked=False) -> None:
        suggestion = results.suggestedFile("metrics", self.model.outcome)
        path = askForPath(self.ui.exportButton, _("Export measurements"), suggestion, _("Table (*.csv)"))
        if path:
            with slicer.util.tryWithErrorDisplay(_("The measurements could not be written.")):
                self.export(path)

    def export(self, path: Path) -> None:
        """Write all measurements with all digits as CSV, and a schema that describes the columns beside it."""
        writing.writeCsv(self.model.outcome.records, path)
        name = re.sub(r"\.csv$", "", path.name, flags=re.IGNORECASE)
        writing.writeCsvSchema(self.model.outcome.records, path.with_name(f"{name}.schema.csv"))
