"""The table of numbers, copied and exported."""

import math
import re
from pathlib import Path

import qt
import slicer
from slicer.i18n import tr as _

from SegmentMetricsLib import explanations, tables, writing


class SortableTable:
    """A QTableWidget that sorts texts by the values behind them: a click on a heading sorts, the third one undoes it.

    onRow: called with the number of the row, as it was given, that the user clicked.
    """

    def __init__(self, table, onRow=None):
        self.table, self.onRow = table, onRow
        self.rows: list[list[tuple]] = []
        self.order: list[int] = []
        self.selected: int | None = None
        self.sortedBy: tuple[int, bool] | None = None
        header = table.horizontalHeader()
        header.setSectionsClickable(True)
        header.connect("sectionClicked(int)", self.onHeading)
        table.connect("cellClicked(int,int)", self.onCell)

    def show(self, headings, rows, tips=(), stretched: int | None = None) -> None:
        """Show rows of (text, value, tool tip); values decide the order: texts, numbers, or None, which comes last.

        stretched: number of the column that takes all the room that is left; without one the table may scroll.
        """
        self.rows = [list(row) for row in rows]
        self.selected = None
        self.table.setColumnCount(len(headings))
        for column, heading in enumerate(headings):
            item = qt.QTableWidgetItem(heading)
            if column < len(tips):
                item.setToolTip(tips[column])
            self.table.setHorizontalHeaderItem(column, item)
            mode = qt.QHeaderView.Stretch if column == stretched else qt.QHeaderView.ResizeToContents
            self.table.horizontalHeader().setSectionResizeMode(column, mode)
        if self.sortedBy and self.sortedBy[0] >= len(headings):
            self.sortedBy = None
        self._fill()

    def select(self, number: int) -> None:
        """Mark the row of that number."""
        self.selected = number
        if number in self.order:
            self.table.selectRow(self.order.index(number))
        else:
            self.table.clearSelection()

    def texts(self) -> list[list[str]]:
        """Return headings and rows as they are shown."""
        columns = range(self.table.columnCount)
        headings = [self.table.horizontalHeaderItem(column).text() for column in columns]
        return [headings] + [[cell[0] for cell in self.rows[number]] for number in self.order]

    def onHeading(self, column: int) -> None:
        if self.sortedBy is None or self.sortedBy[0] != column:
            self.sortedBy = (column, False)
        else:
            self.sortedBy = (column, True) if not self.sortedBy[1] else None
        self._fill()

    def onCell(self, row: int, _column: int) -> None:
        if row < len(self.order):
            self.selected = self.order[row]
            if self.onRow:
                self.onRow(self.selected)

    def _fill(self) -> None:
        self.order = list(range(len(self.rows)))
        header = self.table.horizontalHeader()
        header.setSortIndicatorShown(self.sortedBy is not None)
        if self.sortedBy:
            column, descending = self.sortedBy
            header.setSortIndicator(column, qt.Qt.DescendingOrder if descending else qt.Qt.AscendingOrder)
            known = [n for n in self.order if self.rows[n][column][1] is not None]
            known.sort(key=lambda n: self.rows[n][column][1], reverse=descending)
            self.order = known + [n for n in self.order if self.rows[n][column][1] is None]
        self.table.setRowCount(len(self.rows))
        for row, number in enumerate(self.order):
            for column, (text, value, tip) in enumerate(self.rows[number]):
                item = qt.QTableWidgetItem(text)
                item.setToolTip(tip)
                if not isinstance(value, str):
                    item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
                self.table.setItem(row, column, item)
        self.table.resizeRowsToContents()
        self.select(self.selected)


class Results:
    """The verdict, the table and what is to be said about the comparison."""

    def __init__(self, ui, onPair):
        self.ui, self.onPair = ui, onPair
        self.table = SortableTable(ui.resultsTable, self.onRow)
        self.outcome = None
        ui.copyButton.connect("clicked(bool)", self.copy)
        ui.exportButton.connect("clicked(bool)", self.onExport)

    def show(self, outcome, number: int) -> None:
        """Show an outcome, of many pairs with one of them in detail; or nothing when it is None."""
        self.outcome = outcome
        for button in (self.ui.copyButton, self.ui.exportButton):
            button.enabled = outcome is not None and bool(outcome.records)
        if outcome is None:
            self.ui.verdictLabel.text = _("Choose a reference and a test segment, then Apply.")
            self.ui.findingsLabel.visible = False
            self.table.show([], [])
            return
        remarks = []
        if outcome.isOfAll:
            self.table.show(*overview(outcome.records))
            self.table.select(number)
            remarks += notCompared(outcome)
        if outcome.records:
            record = outcome.records[number]
            self.ui.verdictLabel.text = f"<b>{escaped(record.name)}</b>: {escaped(typeset(record.summary))}"
            remarks += record.findings
            if not outcome.isOfAll:
                self.table.show(*details(record), stretched=0)
        else:
            self.ui.verdictLabel.text = _("There is no structure that both segmentations have.")
        self.ui.findingsLabel.text = "<br>".join(f"• {escaped(remark)}" for remark in remarks)
        self.ui.findingsLabel.visible = bool(remarks)

    def onRow(self, number: int) -> None:
        if self.outcome and self.outcome.isOfAll:
            self.onPair(number)

    def copy(self, _checked=False) -> None:
        """Copy the table as it is shown, for a spreadsheet."""
        rows = [[writing.harmless(row[0]), *row[1:]] for row in self.table.texts()]
        qt.QApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    def onExport(self, _checked=False) -> None:
        path = qt.QFileDialog.getSaveFileName(
            self.ui.exportButton, _("Export measurements"), "metrics.csv", _("Table (*.csv)")
        )
        if path:
            path = path if Path(path).suffix else f"{path}.csv"
            with slicer.util.tryWithErrorDisplay(_("The measurements could not be written.")):
                self.export(Path(path))

    def export(self, path: Path) -> None:
        """Write all measurements with all digits as CSV, and beside it what the columns mean."""
        writing.writeCsv(self.outcome.records, path)
        writing.writeCsvSchema(self.outcome.records, path.with_suffix(".schema.csv"))


def details(record) -> tuple:
    """Return headings, rows and heading tips of the table of one pair."""
    headings = [_("Metric"), _("Value"), _("→ test"), _("→ ref.")]
    tips = [
        _("Short name; hover over a row for its meaning and source."),
        _("The value, and its unit if it has one."),
        _("Reference to test: measured from the reference's surface to the test's only."),
        _("Test to reference: measured from the test's surface to the reference's only."),
    ]
    rows = []
    for measurement in record.measurements.values():
        tip = explanations.ofMeasurement(measurement)
        directed = (measurement.referenceToTest, measurement.testToReference)
        rows.append(
            [
                (tables.heading(measurement.key), measurement.key, tip),
                (typeset(measurement.text()), sortable(measurement.value), tip),
                *((tables.number(value, measurement), sortable(value), tip) for value in directed),
            ]
        )
    return headings, rows, tips


def overview(records) -> tuple:
    """Return headings, rows and heading tips of the table of many pairs."""
    if not records:
        return [], [], []
    measurements = {key: m for record in records for key, m in record.measurements.items()}
    # what tells most comes first: a narrow panel shows three or four of them
    keys = sorted((key for key in measurements if key.startswith(tables.OVERVIEW)), key=importance)
    headings = [_("Structure"), *(tables.heading(key) for key in keys)]
    tips = [_("Click a structure to see it."), *(explanations.ofMeasurement(measurements[key]) for key in keys)]
    rows = []
    for record in records:
        row = [(record.name, record.name.lower(), record.summary)]
        for key in keys:
            measurement = record.measurements.get(key)
            if measurement is None:
                row.append(("", None, ""))
            else:
                row.append((typeset(measurement.text()), sortable(measurement.value), measurement.reason))
        rows.append(row)
    return headings, rows, tips


def importance(key: str) -> int:
    """Return the place of a measurement among the columns of the overview."""
    name = "HD percentile" if key.startswith("HD") and key != "HD" else key.partition("_")[0]
    return {"HD percentile": 0, "NSD": 1, "DSC": 2, "HD": 3}.get(name, 4)


def notCompared(outcome) -> list[str]:
    """Return what is to be said about structures that were not compared."""
    remarks = []
    for side, sentence in (
        ("reference", _("Only in the reference: {names}.")),
        ("test", _("Only in the test: {names}.")),
    ):
        if outcome.unmatched.get(side):
            remarks.append(sentence.format(names=", ".join(outcome.unmatched[side])))
    return remarks + [f"{name}: {reason}" for name, reason in outcome.failures.items()]


def sortable(value: float | None) -> float | None:
    """Return a value by which rows can be sorted, None for none or undefined."""
    return None if value is None or math.isnan(value) else value


def typeset(text: str) -> str:
    """Return a text with proper exponents: the terminal has to do without."""
    return re.sub(r"\b([mc]m)([23])\b", lambda found: found[1] + "²³"[int(found[2]) - 2], text)


def escaped(text: str) -> str:
    """Return a text that a label does not take for markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
