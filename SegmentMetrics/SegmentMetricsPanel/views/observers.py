"""Choosing observers and tests, and the page that shows how they agree."""

import qt
import slicer

from SegmentMetricsLib.case.observers.limits import protocolFrom
from SegmentMetricsLib.mrml import navigation
from SegmentMetricsLib.show.writing import writeProtocol

from ..contents import observers
from ..markup import asTip, explain
from ..saving import askForPath
from ..translation import _
from .buttons import ExplainedButton
from .lists import widen
from .places import cameras
from .tables import SortableTable, heightOf

# Rows of the list of candidates that are seen at least, and at most.
LEAST_ROWS, MOST_ROWS = 3, 8
# Height of the matrix in rows, at most; it scrolls beyond.
MATRIX_ROWS = 10


class ObserverChoiceView:
    """The list of segmentations, or of the segments of one, with boxes for who is included and who is a test."""

    def __init__(self, ui, model):
        self.ui, self.model, self.observers = ui, model, model.observers
        self.sources, self.shown, self.isShowing = [], None, False
        # what is for two only
        self.ofTwo = (ui.referenceLabel, ui.testLabel, ui.swapButton)
        ui.observersOfComboBox.connect("currentIndexChanged(int)", self.onSource)
        ui.observersTable.connect("itemChanged(QTableWidgetItem*)", self.onItem)

    def show(self) -> None:
        """Show the choice."""
        ui, isChosen = self.ui, self.observers.isChosen
        for widget in self.ofTwo:
            widget.visible = not isChosen
        widgets = (ui.observersOfLabel, ui.observersOfComboBox, ui.observersTable, ui.consensusLabel)
        for widget in (*widgets, ui.consensusComboBox):
            widget.visible = isChosen
        if isChosen:
            self.isShowing = True
            try:
                self._showSources()
                self._fill()
            finally:
                self.isShowing = False

    def _showSources(self) -> None:
        scene, box = self.model.scene, self.ui.observersOfComboBox
        nodes = [node for node in scene.segmentations() if len(scene.segments(node)) > 1]
        chosen = self.model.parameters.observersOf
        if chosen is not None and chosen not in nodes:
            nodes.append(chosen)
        sources = [
            (None, _("Segmentations")),
            *((n, _("Segments of {name}").format(name=scene.name(n))) for n in nodes),
        ]
        if sources != self.sources:
            self.sources = sources
            box.clear()
            box.addItems([text for _node, text in sources])
            widen(box)
        box.currentIndex = [node for node, _text in sources].index(chosen)

    def _fill(self) -> None:
        candidates, table = self.observers.candidates(), self.ui.observersTable
        if candidates == self.shown:
            return
        self.shown = candidates
        table.setColumnCount(2)
        table.setHorizontalHeaderLabels([_("Observer"), _("Is a test")])
        table.setRowCount(len(candidates))
        for row, one in enumerate(candidates):
            for column, isChecked in enumerate((bool(one.role), one.role == "test")):
                item = qt.QTableWidgetItem("" if column else one.title)
                item.setFlags(qt.Qt.ItemIsEnabled | qt.Qt.ItemIsUserCheckable)
                item.setCheckState(qt.Qt.Checked if isChecked else qt.Qt.Unchecked)
                tip = _("A test is compared with the observers, but is none itself, such as an automatic contour.")
                item.setToolTip(asTip(tip if column else one.title))
                table.setItem(row, column, item)
        table.resizeRowsToContents()
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, qt.QHeaderView.Stretch)
        header.setSectionResizeMode(1, qt.QHeaderView.ResizeToContents)
        table.setFixedHeight(heightOf(table, max(LEAST_ROWS, min(MOST_ROWS, len(candidates)))))

    def onSource(self, index: int) -> None:
        if not self.isShowing and self.model.parameters is not None and 0 <= index < len(self.sources):
            self.observers.chooseSource(self.sources[index][0])

    def onItem(self, item) -> None:
        """Take over a box that the user checked or unchecked."""
        if self.isShowing or self.model.parameters is None:
            return
        row, isChecked = item.row(), item.checkState() == qt.Qt.Checked
        unchecked, checked = [("", "observer"), ("observer", "test")][item.column()]
        self.shown = None  # the other box of the row may have to change, too
        self.observers.setRole(row, checked if isChecked else unchecked)


class ObserversView:
    """The page of several observers: the matrix of a measurement, how they agree, and the outlier's worst places.

    onPair: called with the row and the column of a cell that the user chose.
    """

    def __init__(self, ui, model, onPair):
        self.ui, self.model, self.observers, self.onPair = ui, model, model.observers, onPair
        self.places = SortableTable(ui.outlierTable, self.jump)
        self.shown, self.isShowing = None, False
        self.keys, self.names = [], []
        ui.matrixTable.connect("cellClicked(int,int)", self.onCell)
        ui.observedStructureComboBox.connect("currentIndexChanged(int)", self.onStructure)
        ui.observedKeyComboBox.connect("currentIndexChanged(int)", self.onKey)
        ui.allObserversButton.connect("clicked(bool)", lambda _checked=False: self.observers.leavePair())

    def wanted(self) -> tuple | None:
        """Return what tells one state of the page from another, None if there is nothing on it."""
        if not self.observers.isShown:
            return None
        found = self.observers.structure()
        return self.observers.outcome.run, found and found["name"], self.observers.key(), self.model.observedPair()

    def show(self) -> None:
        """Show what was found of the observers, or nothing; does nothing if nothing has changed."""
        wanted, isPair = self.wanted(), self.model.outcome is not None
        self.ui.allObserversButton.visible = isPair
        if wanted == self.shown:
            return
        self.shown = wanted
        found, ui = (self.observers.structure() if wanted else None), self.ui
        content = self.observers.outcome.content if wanted else {"structures": (), "remarks": ()}
        self.isShowing = True
        try:
            self.names = [one["name"] for one in content["structures"]]
            self.keys = list(found["matrix"]) if found else []
            _list(ui.observedStructureComboBox, self.names, self.names.index(found["name"]) if found else -1)
            key = self.observers.key() if found else ""
            _list(ui.observedKeyComboBox, [*map(observers.keyTitle, self.keys)], self.keys.index(key) if key else -1)
        finally:
            self.isShowing = False
        ui.observedStructureComboBox.visible = len(self.names) > 1
        self._fill(found)
        for label, text in (
            (ui.observersLabel, observers.about(found) if found else ""),
            (ui.outlierLabel, observers.aboutPlaces(found)),
            (ui.observersRemarksLabel, observers.remarks(content, found)),
        ):
            label.text, label.visible = text, bool(text)
        self.places.show(observers.placesTable(found))
        ui.outlierTable.visible = bool(self.places.rows)
        ui.showVariationCheckBox.visible = bool(found and found["variation"]) and not isPair

    def _fill(self, found) -> None:
        """Fill the matrix; its header says who the rows and columns are."""
        table = self.ui.matrixTable
        names = self.observers.outcome.names if found else []
        pair = self.model.observedPair()
        cells = observers.matrix(found, names, self.observers.key()) if found and self.keys else []
        table.setRowCount(len(cells))
        table.setColumnCount(len(cells))
        for headerItem, kind in (
            (table.setHorizontalHeaderItem, _("Test")),
            (table.setVerticalHeaderItem, _("Reference")),
        ):
            for number, name in enumerate(names if cells else ()):
                item = qt.QTableWidgetItem(observers.short(name))
                item.setToolTip(asTip(f"{kind}: {name}"))
                headerItem(number, item)
        for row, line in enumerate(cells):
            for column, cell in enumerate(line):
                item = qt.QTableWidgetItem(cell.text)
                item.setToolTip(asTip(cell.tip))
                item.setTextAlignment(qt.Qt.AlignCenter)
                item.setFlags(qt.Qt.ItemIsEnabled)  # the color of a selected cell would cover its own
                if (row, column) == pair:
                    font = item.font()
                    font.setBold(True)
                    font.setUnderline(True)
                    item.setFont(font)
                if cell.share is not None:
                    item.setBackground(qt.QBrush(qt.QColor(*observers.colorOf(cell.share))))
                    item.setForeground(qt.QBrush(qt.QColor("black")))  # a dark theme would use white
                table.setItem(row, column, item)
        table.resizeColumnsToContents()
        table.resizeRowsToContents()
        table.setFixedHeight(heightOf(table, MATRIX_ROWS, hasBar=True))
        table.visible = bool(cells)

    def onCell(self, row: int, column: int) -> None:
        self.onPair(row, column)

    def onStructure(self, index: int) -> None:
        if not self.isShowing and self.model.parameters is not None and 0 <= index < len(self.names):
            self.model.parameters.observedStructure = self.names[index]

    def onKey(self, index: int) -> None:
        if not self.isShowing and self.model.parameters is not None and 0 <= index < len(self.keys):
            self.model.parameters.observedKey = self.keys[index]

    def jump(self, number: int) -> None:
        """Move all views to one of the outlier's places."""
        place = observers.outlierPlaces(self.observers.structure())[number]
        navigation.jumpTo(place.position, normal=place.normal, scene=slicer.mrmlScene, cameras=cameras())


class ObserverFilesView:
    """The buttons for a report and a protocol of several observers.

    write: called with the path of the report; returns True on success.
    """

    def __init__(self, ui, model, write):
        self.ui, self.model, self.write = ui, model, write
        self.buttons = [ExplainedButton(ui.observersReportButton), ExplainedButton(ui.observersProtocolButton)]
        ui.observersReportButton.connect("clicked(bool)", self.onReport)
        ui.observersProtocolButton.connect("clicked(bool)", self.onProtocol)

    def enable(self) -> None:
        """Enable the buttons, or disable them and show the problem in their tool tips."""
        problem = self.model.whyNotObserverFiles()
        for button in self.buttons:
            button.enable(problem)

    def onReport(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The report could not be written.")):
            kind = _("Page (*.html)")
            path = askForPath(self.ui.observersReportButton, _("Write report"), "observers.html", kind)
            if path:
                self.write(path)

    def onProtocol(self, _checked=False) -> None:
        with slicer.util.tryWithErrorDisplay(_("The protocol could not be written.")):
            protocol = protocolFrom(self.model.observers.outcome.study)
            kind = _("Protocol (*.csv)")
            path = askForPath(self.ui.observersProtocolButton, _("Save protocol"), "observers.csv", kind)
            if path:
                writeProtocol(protocol, path)


def _list(box, texts, index: int) -> None:
    """List texts in a combo box and choose one."""
    box.clear()
    box.addItems(texts)
    box.currentIndex = index
    widen(box)
    explain(box, texts[index] if index >= 0 else "")
