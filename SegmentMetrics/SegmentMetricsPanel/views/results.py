"""The summary, the tables and the findings of a comparison."""

import qt

from SegmentMetricsLib.show import writing

from ..contents import results, verdicts
from .tables import SortableTable, heightOf
from .view import ExplainedButton, View, say

# Pixels of the panel's height from which on there is room for all main numbers of a pair, and for alarms in full.
ROOMY = 600
# Style of the line that says that there are alarms, in the colors in which they are listed.
ALARMING = "background-color: #fde3d3; color: #4d1600; border: 1px solid #b3420b; padding: 2px;"
# Rows of the main numbers that are seen at least, and of a single pair where there is room; more take what is left.
LEAST_ROWS, MOST_ROWS = 3, 10


class ResultsView(View):
    """Shows the model's outcome, with one pair in detail, and the verdicts on it; the numbers can be copied."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.main = SortableTable(ui.mainTable, self.model.showPair)
        self.sides, self.rules = SortableTable(ui.sidesTable), SortableTable(ui.protocolTable)
        self.areNotesWanted = False  # what the user chose last
        self.button = ExplainedButton(ui.copyButton)
        ui.copyButton.connect("clicked(bool)", self.copy)
        ui.notesButton.connect("clicked(bool)", self.onNotes)

    def state(self) -> tuple:
        observers = self.model.observers
        found = observers.structure()
        return *self.pair, observers.outcome, found and found["name"], observers.isChosen

    def draw(self) -> None:
        outcome, number = self.model.outcome, self.model.number()
        records = outcome.records if outcome is not None else ()
        ui = self.ui
        for widget in (ui.allNumbersButton, ui.copyButton, ui.exportButton, ui.reportButton, ui.dicomButton):
            widget.visible = bool(records)
        for widget in (ui.plotLabel, ui.plotComboBox, ui.layoutButton):
            widget.visible = any(record.method for record in records)  # of distances
        self._fillMain()
        for table, shown in (
            (self.sides, results.sidesOf(self.model.record())),
            (self.rules, verdicts.rules(outcome, number)),
        ):
            table.show(shown)
            table.table.visible = bool(shown.rows)
        ui.protocolTable.setMaximumHeight(heightOf(ui.protocolTable, len(self.rules.shown.rows)))
        say(ui.judgmentLabel, verdicts.verdict(outcome, number))
        ui.verdictsButton.visible = bool(ui.judgmentLabel.text)
        ui.alarmsLabel.text, ui.findingsLabel.text, ui.notesButton.text = results.findings(outcome, number)
        # what should be looked at first is seen at once where there is room for it
        self._openNotes(self.areNotesWanted or (self._isRoomy() and bool(self.ui.alarmsLabel.text)))

    def _isRoomy(self) -> bool:
        area = scrollAreaOf(self.ui.pagesFrame)
        return area is not None and area.viewport().height >= ROOMY

    def onNotes(self, isOpen: bool) -> None:
        self.areNotesWanted = isOpen
        self._openNotes(isOpen)

    def _openNotes(self, isOpen: bool) -> None:
        button = self.ui.notesButton
        button.visible, button.checked = bool(button.text), isOpen
        button.styleSheet = ALARMING if self.ui.alarmsLabel.text else ""
        button.arrowType = qt.Qt.DownArrow if isOpen else qt.Qt.RightArrow
        for label in (self.ui.alarmsLabel, self.ui.findingsLabel):
            label.visible = isOpen and bool(label.text)

    def enable(self) -> None:
        self.button.enable(self.model.whyNotReport())
        say(self.ui.summaryLabel, self.model.summary())

    def _fillMain(self) -> None:
        """Fill the table of the main numbers, of which the first rows are always seen."""
        table, frame, outcome = self.ui.mainTable, self.ui.mainFrame, self.model.outcome
        self.main.show(results.mainNumbers(outcome))
        frame.visible = bool(self.main.shown.rows)
        isOfAll = outcome is not None and outcome.isOfAll
        if isOfAll:
            self.main.select(self.model.number())
        bar = table.horizontalScrollBar().sizeHint.height() if isOfAll else 0
        isWhole = not isOfAll and self._isRoomy()
        frame.setMinimumHeight(heightOf(table, MOST_ROWS if isWhole else LEAST_ROWS) + bar)
        frame.setMaximumHeight(heightOf(table, len(self.main.order)) + bar)

    def copy(self, _checked=False) -> None:
        """Copy all numbers, below what was compared, for pasting into a spreadsheet."""
        outcome, record = self.model.outcome, self.model.record()
        rows = [[line] for line in results.titlesOf(outcome)]
        if outcome.isOfAll:
            rows += [*self.main.shown.texts(self.main.order), [record.name]]
        rows += results.numbers(record).texts()
        if self.sides.shown.rows:
            rows += self.sides.shown.texts(self.sides.order)
        qt.QApplication.clipboard().setText(writing.pasteable(rows))


def scrollAreaOf(widget):
    """Return the scroll area that a widget is in, or None."""
    while widget is not None and not widget.inherits("QScrollArea"):
        widget = widget.parent()
    return widget
