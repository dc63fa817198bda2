"""The list of which structures are compared with each other."""

from functools import partial

import qt
from slicer.i18n import tr as _

from ..markup import breakableInColumn
from ..model import editedpairs
from .tables import WIDEST, itemOf
from .view import ChoiceList, View, say


class PairsView(View):
    """The table that shows the counterpart of every reference structure and lets the user change it."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui = self.ui
        self.lists = {}  # by the name of the row
        ui.proposePairsButton.connect("clicked(bool)", lambda _checked=False: panel.attempts.propose())
        reset = lambda _checked=False: editedpairs.reset(self.model.parameters, self.model.scene)  # noqa: E731
        ui.resetPairsButton.connect("clicked(bool)", reset)
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
            self.ui.pairsTable.setItem(number, 2, itemOf(how, tip))
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
            table.setItem(row, 0, itemOf(breakableInColumn(name), name))
            box = qt.QComboBox()
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(qt.QComboBox.AdjustToContents)
            table.setCellWidget(row, 1, box)
            self.lists[name] = ChoiceList(box, partial(self.take, name))
        table.setColumnWidth(0, min(table.sizeHintForColumn(0), WIDEST * table.fontMetrics().averageCharWidth()))

    def take(self, name: str, test: str) -> None:
        editedpairs.choose(self.model.parameters, [(name, test, editedpairs.CHOSEN)])
