"""Choosing observers and tests, and the page that shows how they agree."""

import qt

from SegmentMetricsLib.mrml import navigation

from ..contents import observers, places
from ..markup import explain
from ..translation import _
from .tables import SortableTable, heightOf, itemOf
from .view import ChoiceList, View, say, silent

# Rows of the list of candidates that are seen at least, and at most.
LEAST_ROWS, MOST_ROWS = 3, 8
# Height of the matrix in rows, at most; it scrolls beyond.
MATRIX_ROWS = 10


class ObserverChoiceView(View):
    """The list of segmentations, or of the segments of one, with boxes for who is included and who is a test."""

    def __init__(self, panel):
        super().__init__(panel)
        ui, model = self.ui, self.model
        self.observers, self.listed = model.observers, None
        self.source = ChoiceList(ui.observersOfComboBox, self.observers.chooseSource)
        self.only = ChoiceList(ui.observedOnlyComboBox, lambda name: setattr(model.parameters, "observedOnly", name))
        ui.observersTable.connect("itemChanged(QTableWidgetItem*)", self.onItem)

    def draw(self) -> None:
        ui, isChosen, scene = self.ui, self.observers.isChosen, self.model.scene
        source = self.model.parameters.observersOf
        for widget in (ui.referenceLabel, ui.testLabel, ui.swapButton):  # for two only
            widget.visible = not isChosen
        for widget in (ui.observedOnlyLabel, ui.observedOnlyComboBox):
            widget.visible = isChosen and source is None
        widgets = (ui.observersOfLabel, ui.observersOfComboBox, ui.observersTable, ui.consensusLabel)
        for widget in (*widgets, ui.consensusComboBox):
            widget.visible = isChosen
        if not isChosen:
            return
        nodes = [node for node in scene.segmentations() if len(scene.segments(node)) > 1]
        nodes += [source] if source not in (None, *nodes) else []
        texts = {node: _("Segments of {name}").format(name=scene.name(node)) for node in nodes}
        self.source.show({None: _("Segmentations"), **texts}, source)
        names = self.observers.structures()
        self.only.show({"": _("All structures"), **dict(zip(names, names))}, self.model.parameters.observedOnly)
        with silent(ui.observersTable):
            self._fill()

    def _fill(self) -> None:
        candidates, table = self.observers.candidates(), self.ui.observersTable
        if candidates == self.listed:
            return
        self.listed = candidates
        table.setColumnCount(2)
        table.setHorizontalHeaderLabels([_("Observer"), _("Is a test")])
        table.setRowCount(len(candidates))
        places = [n for role in ("observer", "test") for n, one in enumerate(candidates) if one.role == role]
        for row, one in enumerate(candidates):
            for column, isChecked in enumerate((bool(one.role), one.role == "test")):
                tip = _("A test, such as an automatic contour, is compared with the observers but is not one of them.")
                item = itemOf("" if column else one.title, tip if column else one.title)
                if not column and one.role:
                    item.setIcon(iconOf(places.index(row)))
                item.setFlags(qt.Qt.ItemIsEnabled | qt.Qt.ItemIsUserCheckable)
                item.setCheckState(qt.Qt.Checked if isChecked else qt.Qt.Unchecked)
                table.setItem(row, column, item)
        table.resizeRowsToContents()
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, qt.QHeaderView.Stretch)
        header.setSectionResizeMode(1, qt.QHeaderView.ResizeToContents)
        table.setFixedHeight(heightOf(table, max(LEAST_ROWS, min(MOST_ROWS, len(candidates)))))

    def onItem(self, item) -> None:
        row, isChecked = item.row(), item.checkState() == qt.Qt.Checked
        unchecked, checked = [("", "observer"), ("observer", "test")][item.column()]
        self.listed = None  # the other box of the row may have to change, too
        self.observers.setRole(row, checked if isChecked else unchecked)


def iconOf(number: int):
    """Return an icon in the color of an observer, given by its place among all."""
    pixmap = qt.QPixmap(10, 10)
    pixmap.fill(qt.QColor(observers.colorOfObserver(number)))
    return qt.QIcon(pixmap)


class ObserversView(View):
    """The page of several observers: the matrix of a measurement, how they agree, and the outlier's worst places."""

    isDrawnEmpty = True

    def __init__(self, panel):
        super().__init__(panel)
        ui, model = self.ui, self.model
        self.observers = model.observers
        self.places = SortableTable(ui.outlierTable, self.jump)
        choose = lambda name: lambda chosen: setattr(model.parameters, name, chosen)  # noqa: E731
        self.structure = ChoiceList(ui.observedStructureComboBox, choose("observedStructure"))
        self.key = ChoiceList(ui.observedKeyComboBox, choose("observedKey"))
        ui.matrixTable.connect("cellClicked(int,int)", panel.onObservedPair)
        ui.allObserversButton.connect("clicked(bool)", lambda _checked=False: choose("result")(None))

    def state(self) -> tuple:
        """Return what tells one state of the page from another, an empty tuple if there is nothing on it."""
        if not self.observers.isShown:
            return ()
        found, isPair = self.observers.structure(), self.model.outcome is not None
        pair = self.model.observedPair()
        return self.observers.outcome.run, found and found["name"], self.observers.key(), pair, isPair

    def draw(self) -> None:
        isPair, isShown, ui = self.model.outcome is not None, self.observers.isShown, self.ui
        ui.allObserversButton.visible = isPair
        found = self.observers.structure() if isShown else None
        content = self.observers.outcome.content if isShown else {"structures": (), "remarks": ()}
        names = [one["name"] for one in content["structures"]]
        keys = observers.choices(found["matrix"] if found else ())
        self.structure.show(dict(zip(names, names)), found and found["name"])
        self.key.show(keys, self.observers.key() if found else "")
        for box in (ui.observedStructureComboBox, ui.observedKeyComboBox):
            explain(box, box.currentText)
        ui.observedStructureComboBox.visible = len(names) > 1
        self._fill(found)
        say(ui.observersLabel, observers.about(found) if found else "")
        say(ui.outlierLabel, observers.aboutPlaces(found))
        say(ui.observersRemarksLabel, "\n".join([*(found["remarks"] if found else ()), *content["remarks"]]))
        self.places.show(places.table(observers.outlierPlaces(found), True))
        ui.outlierTable.visible = bool(self.places.shown.rows)
        ui.showVariationCheckBox.visible = bool(found and found["variation"]) and not isPair

    def _fill(self, found) -> None:
        """Fill the matrix; its header says who the rows and columns are."""
        table = self.ui.matrixTable
        names = self.observers.outcome.names if found else []
        pair = self.model.observedPair()
        count = len(self.observers.outcome.content["observers"]) if found else 0
        cells = observers.matrix(found, names, self.observers.key(), count) if found and found["matrix"] else []
        table.setRowCount(len(cells))
        table.setColumnCount(len(names) if cells else 0)
        for headerItem, kind, shown in (
            (table.setHorizontalHeaderItem, _("Test"), names if cells else ()),
            (table.setVerticalHeaderItem, _("Reference"), names[: len(cells)]),
        ):
            for number, name in enumerate(shown):
                item = itemOf(observers.short(name), f"{kind}: {name}")
                item.setIcon(iconOf(number))
                headerItem(number, item)
        for row, line in enumerate(cells):
            for column, cell in enumerate(line):
                item = itemOf(cell.words, cell.tip, cell.color)
                item.setTextAlignment(qt.Qt.AlignCenter)
                item.setFlags(qt.Qt.ItemIsEnabled)  # the color of a selected cell would cover its own
                if (row, column) == pair:
                    font = item.font()
                    font.setBold(True)
                    font.setUnderline(True)
                    item.setFont(font)
                table.setItem(row, column, item)
        table.resizeColumnsToContents()
        table.resizeRowsToContents()
        table.setFixedHeight(heightOf(table, MATRIX_ROWS, hasBar=True))
        table.visible = bool(cells)

    def jump(self, number: int) -> None:
        place = observers.outlierPlaces(self.observers.structure())[number]
        navigation.jumpTo(place.position, normal=place.normal)
