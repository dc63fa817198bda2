"""The list of which structures are compared with each other."""

import qt
from slicer.i18n import tr as _

from SegmentMetricsLib.mrml import proposePairs

from ..markup import asTip, breakableInColumn
from ..model import editedpairs
from .tables import WIDEST
from .view import ChoiceList, View, say


class PairsView(View):
    """The table that shows the counterpart of every reference structure and lets the user change it."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.lists = {}  # by the name of the row
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

    @property
    def boxes(self) -> list:
        return [one.box for one in self.lists.values()]

    def draw(self) -> None:
        shown = editedpairs.shownPairs(self.model.parameters, self.model.scene)
        self.ui.pairsGroupBox.visible = shown is not None
        shown = shown or editedpairs.ShownPairs()
        self._list([row[0] for row in shown.rows])
        choices = {name: name or _("None") for name in shown.possible}
        for number, (name, index, how, tip) in enumerate(shown.rows):
            self.lists[name].show(choices, shown.possible[index])
            item = self.ui.pairsTable.item(number, 2)
            item.setText(how)
            item.setToolTip(asTip(tip))
        self.ui.pairsGroupBox.title = shown.title
        say(self.ui.unpairedLabel, shown.unpaired)
        self.ui.proposePairsButton.enabled = shown.canPropose
        self.ui.resetPairsButton.enabled = shown.canReset

    def _list(self, names) -> None:
        """Create one row per name, each with a list of choices; does nothing if they have not changed."""
        if names == list(self.lists):
            return
        table = self.ui.pairsTable
        self.lists = {}
        table.setRowCount(0)
        table.setRowCount(len(names))
        for row, name in enumerate(names):
            item = qt.QTableWidgetItem(breakableInColumn(name))
            item.setToolTip(asTip(name))
            table.setItem(row, 0, item)
            table.setItem(row, 2, qt.QTableWidgetItem(""))
            box = qt.QComboBox()
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(qt.QComboBox.AdjustToContents)
            table.setCellWidget(row, 1, box)
            self.lists[name] = ChoiceList(box, lambda test, name=name: self.take(name, test))
        table.setColumnWidth(0, min(table.sizeHintForColumn(0), WIDEST * table.fontMetrics().averageCharWidth()))

    def take(self, name: str, test: str) -> None:
        if self.model.parameters is not None:
            editedpairs.choose(self.model.parameters, [(name, test, editedpairs.CHOSEN)])

    def onReset(self, _checked=False) -> None:
        if self.model.parameters is not None:
            editedpairs.reset(self.model.parameters, self.model.scene)

    def onPropose(self, _checked=False) -> None:
        p = self.model.parameters
        if p is None:
            return
        choices = editedpairs.choicesOf(p, self.model.scene)
        found = self.panel.attempts.propose(
            lambda work: proposePairs(p.reference, p.test, choices=choices, surface=p.surface.name, run=work.run)
        )
        if found and self.model.parameters is p:
            editedpairs.accept(p, found)
