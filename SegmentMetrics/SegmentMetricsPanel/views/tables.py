"""A table that users can sort."""

import qt

from ..contents.table import TableContents
from ..markup import asTip, breakableInColumn
from .view import silent

# Maximum width of a column in characters: a long name would leave no room for the numbers beside it.
WIDEST = 20


class SortableTable:
    """A QTableWidget that is sorted by values: clicking a heading cycles through three orders.

    onRow: called with the index, in the given rows, of the row that the user clicked or moved to with the keyboard.
    """

    def __init__(self, table, onRow=None):
        self.table, self.onRow = table, onRow
        self.shown = TableContents()
        self.order: list[int] = []  # the row number shown in each line
        self.selected: int | None = None
        self.sortedBy: tuple[int, bool] | None = None
        header = table.horizontalHeader()
        header.setSectionsClickable(True)
        table.verticalHeader().setSectionResizeMode(qt.QHeaderView.ResizeToContents)  # long names take several lines
        header.connect("sectionClicked(int)", self.onHeading)
        table.connect("cellClicked(int,int)", self.onCell)  # also for the row that is already selected
        table.connect("itemSelectionChanged()", self.onSelection)
        table.tabKeyNavigation = False  # arrow keys move between cells, the Tab key moves to the next widget

    def show(self, table: TableContents) -> None:
        self.shown, self.selected = table, None
        header = self.table.horizontalHeader()
        header.setMaximumSectionSize(WIDEST * self.table.fontMetrics().averageCharWidth())
        self.table.setColumnCount(len(table.columns))
        for number, column in enumerate(table.columns):
            self.table.setHorizontalHeaderItem(number, itemOf(column.heading, column.description))
            header.setSectionResizeMode(number, qt.QHeaderView.ResizeToContents)
        if self.sortedBy and self.sortedBy[0] >= len(table.columns):
            self.sortedBy = None
        self._fill()
        # a table without columns has none of them, and Qt 5 does not check
        columns = [column for column in table.stretched if column < self.table.columnCount]
        # they share the remaining width; a number is never cut off, because part of one is misleading
        header.setMinimumSectionSize(-1)  # the default of the style
        self.table.resizeColumnsToContents()
        numbers = [column for column in columns if not any(isinstance(row[column].value, str) for row in table.rows)]
        header.setMinimumSectionSize(max([header.minimumSectionSize, *map(self.table.columnWidth, numbers)]))
        for column in columns:
            header.setSectionResizeMode(column, qt.QHeaderView.Stretch)

    def select(self, number: int | None) -> None:
        """Select the row with this number, or none for None."""
        self.selected = number
        with silent(self.table):
            if number is not None and number in self.order:
                self.table.selectRow(self.order.index(number))
            else:
                self.table.setCurrentCell(-1, -1)  # so that the arrow keys start at the top of the new rows
                self.table.clearSelection()

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

    def onSelection(self) -> None:
        """Follow the keyboard, which selects rows without a click."""
        lines = [item.row() for item in self.table.selectedItems()]
        if lines and lines[0] < len(self.order) and self.order[lines[0]] != self.selected:
            self.onCell(lines[0], 0)

    def _fill(self) -> None:
        rows, header = self.shown.rows, self.table.horizontalHeader()
        self.order = list(self.shown.order) or list(range(len(rows)))
        header.setSortIndicatorShown(self.sortedBy is not None)
        if self.sortedBy:
            column, descending = self.sortedBy
            header.setSortIndicator(column, qt.Qt.DescendingOrder if descending else qt.Qt.AscendingOrder)
            known = [n for n in self.order if rows[n][column].value is not None]
            known.sort(key=lambda n: rows[n][column].value, reverse=descending)
            self.order = known + [n for n in self.order if rows[n][column].value is None]
        with silent(self.table):  # removing rows changes the selection
            self.table.setRowCount(len(self.order))
            for line, number in enumerate(self.order):
                for column, (text, value, tip, color) in enumerate(rows[number]):
                    item = itemOf(breakableInColumn(text) if isinstance(value, str) else text, tip, color)
                    if not isinstance(value, str):
                        item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
                    self.table.setItem(line, column, item)
            self.table.resizeRowsToContents()  # at once, for tables that are as high as their rows
        self.select(self.selected)


def itemOf(text: str, tip: str, color: str = ""):
    """Return a cell with a tool tip. color: of its background, "" for none."""
    item = qt.QTableWidgetItem(text)
    item.setToolTip(asTip(tip))
    if color:
        item.setBackground(qt.QBrush(qt.QColor(color)))
        item.setForeground(qt.QBrush(qt.QColor("black")))  # a dark theme would use white
        item.setFlags(qt.Qt.ItemIsEnabled)  # the color of a selected row would cover it
    return item


def heightOf(table, rows: int, hasBar: bool = False) -> int:
    """Return the height in pixels at which the first rows of a table are seen, if need be above a horizontal bar."""
    bar = table.horizontalScrollBar().sizeHint.height() if hasBar else 0
    heights = [table.rowHeight(row) for row in range(min(rows, table.rowCount))]
    return table.horizontalHeader().sizeHint.height() + sum(heights) + bar + 2 * table.frameWidth
