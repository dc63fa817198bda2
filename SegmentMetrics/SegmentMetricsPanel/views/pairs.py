"""The list of which structures are compared with each other."""

import qt
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import proposePairs

from .. import editedpairs
from ..markup import asTip, breakableInColumn
from .lists import widen
from .tables import WIDEST


class PairsView:
    """The table that shows the counterpart of every reference structure and lets the user change it.

    propose: called with a function that takes a LongWork; returns the function's result, or None if it was stopped.
    """

    def __init__(self, ui, model, propose):
        self.ui, self.model, self.propose = ui, model, propose
        self.isShowing = False
        self.boxes = []
        self.listed = ()  # names of the rows, and the choices offered in each
        ui.proposePairsButton.connect("clicked(bool)", self.onPropose)
        ui.resetPairsButton.connect("clicked(bool)", self.onReset)
        header = ui.pairsTable.horizontalHeader()
        ui.pairsTable.setColumnCount(3)
        for column, heading in enumerate((_("Reference"), _("Test"), _("Found by"))):
            ui.pairsTable.setHorizontalHeaderItem(column, qt.QTableWidgetItem(heading))
            # long names of the reference take several lines, and lists are as wide as those of the test
            header.setSectionResizeMode(column, qt.QHeaderView.ResizeToContents if column else qt.QHeaderView.Fixed)
        header.setStretchLastSection(True)
        ui.pairsTable.verticalHeader().setSectionResizeMode(qt.QHeaderView.ResizeToContents)

    def show(self) -> None:
        shown = editedpairs.shownPairs(self.model.parameters, self.model.scene)
        self.ui.pairsGroupBox.visible = shown is not None
        shown = shown or editedpairs.ShownPairs()
        self._list(tuple(row[0] for row in shown.rows), shown.possible)
        self.isShowing = True
        try:
            for number, (_name, index, how, tip) in enumerate(shown.rows):
                self.boxes[number].currentIndex = index
                item = self.ui.pairsTable.item(number, 2)
                item.setText(how)
                item.setToolTip(asTip(tip))
        finally:
            self.isShowing = False
        self.ui.pairsGroupBox.title = shown.title
        self.ui.unpairedLabel.text = shown.unpaired
        self.ui.unpairedLabel.visible = bool(shown.unpaired)
        self.ui.proposePairsButton.enabled = shown.canPropose
        self.ui.resetPairsButton.enabled = shown.canReset

    def _list(self, names: tuple, possible: tuple) -> None:
        """Create one row per name, each with a list of choices; does nothing if neither has changed."""
        if (names, possible) == self.listed:
            return
        table = self.ui.pairsTable
        self.boxes = []
        table.setRowCount(0)
        table.setRowCount(len(names))
        texts = [_("None"), *possible[1:]]
        for row, name in enumerate(names):
            item = qt.QTableWidgetItem(breakableInColumn(name))
            item.setToolTip(asTip(name))
            table.setItem(row, 0, item)
            table.setItem(row, 2, qt.QTableWidgetItem(""))
            box = qt.QComboBox()
            box.addItems(texts)
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(qt.QComboBox.AdjustToContents)
            box.connect("currentIndexChanged(int)", lambda index, row=row: self.take(row, index))
            table.setCellWidget(row, 1, box)
            widen(box)
            self.boxes.append(box)
        table.setColumnWidth(0, min(table.sizeHintForColumn(0), WIDEST * table.fontMetrics().averageCharWidth()))
        self.listed = (names, possible)

    def take(self, row: int, index: int) -> None:
        """Store the choice made in a row."""
        if self.model.parameters is not None and not self.isShowing and index >= 0:
            names, possible = self.listed
            editedpairs.choose(self.model.parameters, [(names[row], possible[index], editedpairs.CHOSEN)])

    def onReset(self, _checked=False) -> None:
        if self.model.parameters is not None:
            editedpairs.reset(self.model.parameters, self.model.scene)

    def onPropose(self, _checked=False) -> None:
        """Pair the remaining structures by their overlap."""
        p = self.model.parameters
        if p is None:
            return
        choices = editedpairs.choicesOf(p, self.model.scene)
        found = self.propose(
            lambda work: proposePairs(p.reference, p.test, choices=choices, surface=p.surface.name, run=work.run)
        )
        if found and self.model.parameters is p:
            editedpairs.accept(p, found)
