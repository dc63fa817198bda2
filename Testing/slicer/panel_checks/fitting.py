"""What is in sight without scrolling, the pages, and whether everything can be read in a narrow panel."""

from __future__ import annotations

import re
from itertools import pairwise

import slicer

from .session import Session

LAYOUTS = slicer.vtkMRMLLayoutNode
PAGES = ("numbers", "plot", "map", "places", "slices", "tools")
# Width and height of the window and pixels of the letters: 1080p at 96 and 100 dpi, a small screen, 1080p at 150 %.
SIZES = ((1920, 1080, 12), (1920, 1080, 13), (1366, 740, 12), (1280, 707, 12))
NARROW = 300  # pixels
AT_THE_START, ON_A_PAGE = 8, 12  # controls in sight
ROWS = 3  # of the main numbers, at least
# All that is in sight on some pages; the rest is under More, or comes with what is asked for.
ON_PAGES = {
    "map": {
        *("showMapCheckBox", "focusCheckBox", "mapSideComboBox", "mapKindComboBox"),
        *("sliceContourCheckBox", "legendCheckBox"),
    },
    "slices": set(),
    "tools": {"conventionsButton", "numberEdit"},
}


def checkFirstScreen(session: Session) -> None:
    """On a usual screen everything down to the main numbers is in sight, on a small one the first of these."""
    ui = session.ui
    for size, isAll in (((1366, 768), False), ((1920, 1080), True)):
        resize(session, *size)
        session.apply()
        assert session.isShown(ui.mainFrame) and not session.isShown(ui.measureSection)
        for widget in (ui.referenceSelector, ui.testSelector, ui.settingsButton, ui.applyButton, ui.summaryLabel):
            assert bottomOf(widget) <= heightOf(session), (size, widget.objectName)
        table = ui.mainTable
        last = table.visualItemRect(table.item(ROWS - 1, 0))
        assert bottomOf(ui.mainFrame) - table.viewport().height + last.bottom() <= heightOf(session), size
        assert last.bottom() <= table.viewport().height
        if isAll:
            assert bottomOf(ui.pagesFrame) <= heightOf(session)
            assert table.verticalScrollBar().maximum == 0, "all main numbers are seen"
    assert [row[0] for row in session.texts(ui.mainTable)][:ROWS] == ["DSC", "HD95", "NSD 2 mm"]
    assert re.fullmatch("τ 2 mm · 95 % · boundary, .*", ui.settingsButton.text)
    assert not ui.practiceCheckBox.isVisible()
    session.click(ui.settingsButton)
    assert session.isShown(ui.measureSection) and ui.practiceCheckBox.isVisible()
    seen = [box.text for box in session.panel.settings.boxes.values() if box.isVisible()]
    assert sorted(seen) == ["Dose", "Lesions", "Vessels"], "the rest is under Advanced"
    session.click(ui.settingsButton)


def checkLittle(session: Session) -> None:
    """At most 8 controls in sight at the start, 12 on any page; each of the rest is a click away."""
    ui = session.ui
    for name in PAGES:
        session.panel.pages.open(name)
        session.settle(0.1)
        found = controls(session.panel.pages.frame(name))
        assert len(found) <= ON_A_PAGE and set(found) == ON_PAGES.get(name, set(found)), (name, found)
    start = [one for one in controls(panelOf(session)) if one not in controls(ui.pagesFrame)]
    ofPage = controls(session.panel.pages.frame(name))
    found = [one for one in start if one not in ofPage and one != "followCheckBox"]  # it appears with the results
    assert len(found) <= AT_THE_START, found
    session.panel.pages.open("numbers")
    manager = slicer.app.layoutManager()
    before = manager.layout
    session.click(ui.allNumbersButton, seconds=0.2)
    assert manager.layout == LAYOUTS.SlicerLayoutFourUpTableView and ui.allNumbersButton.checked
    assertAllNumbers(session)
    ui.allNumbersButton.click()
    assert manager.layout == before and not ui.allNumbersButton.checked
    assert not slicer.util.getNodesByClass("vtkMRMLTableNode")[-1].GetName().startswith("Segment Metrics: numbers")


def assertAllNumbers(session: Session) -> None:
    """The layout's table shows all numbers as people read them, and nothing where there is none."""
    (table,) = {node.GetTableNode() for node in slicer.util.getNodesByClass("vtkMRMLTableViewNode")}
    result, measurements = session.parameters.result, session.panel.outcome.records[0].measurements
    assert table.GetNumberOfRows() == result.GetNumberOfRows() and not table.GetSaveWithScene()
    columns = {table.GetColumnName(n): n for n in range(table.GetNumberOfColumns())}
    texts = [[table.GetCellText(row, n) for n in columns.values()] for row in range(table.GetNumberOfRows())]
    row = dict(zip(columns, next(row for row in texts if row[0] == "DSC"), strict=True))
    assert row["Value"] == measurements["DSC"].text() and row["ReferenceToTest"] == ""
    assert "nan" not in {text for row in texts for text in row}


def controls(top) -> list[str]:
    """The names of what can be clicked or typed in and is in sight within a widget; a list of choices is one."""
    kinds = ("QAbstractButton", "QComboBox", "QAbstractSpinBox", "QLineEdit", "ctkSliderWidget")
    widgets = [one for one in slicer.util.findChildren(top) if hasattr(one, "isVisible") and one.isVisible()]
    widgets = [one for one in widgets if one.width > 0 and any(map(one.inherits, kinds))]
    parts = (*kinds, "QAbstractItemView")
    return [one.objectName for one in widgets if not any(map(one.parent().inherits, parts))]


def checkPages(session: Session) -> None:
    """A button for every page; each fills what is left of a usual screen, without a scroll bar around it."""
    pages = session.panel.pages
    assert pages.offered == list(PAGES)
    for name in PAGES:
        pages.buttons[name].click()
        session.settle(0.1)
        assert [n for n in PAGES if session.isShown(pages.frame(n))] == [name]
        assertFits(session, name)
    pages.open("numbers")


def assertFits(session: Session, name: str) -> None:
    """A page is seen as a whole on a usual screen, and nothing in it is cut off."""
    session.panel.pages.open(name)
    session.settle(0.1)
    assert scrollArea(session).verticalScrollBar().maximum == 0, name
    found = cutOff(session.panel.pages.frame(name))
    assert not found, (name, found)


def checkCovered(session: Session) -> None:
    """Nothing is covered at any size, with seven pages, a protocol and open settings; a page comes into sight."""
    import qt

    ui, families, before = session.ui, session.families, qt.QApplication.font()
    session.chooseFamilies(*families, "instances")
    box = ui.protocolComboBox
    session.set(box, currentIndex=1)
    session.apply()
    pages = session.panel.pages
    assert len(pages.offered) == len(PAGES) + 1 and session.isShown(ui.judgmentLabel)
    try:
        for width, height, pixels in SIZES:
            font = qt.QFont(before)
            font.setPixelSize(pixels)
            qt.QApplication.setFont(font)
            resize(session, width, height)
            session.apply()
            for isOpen in (False, True):
                if bool(ui.settingsButton.checked) != isOpen:
                    ui.settingsButton.click()
                for name in pages.offered:
                    pages.buttons[name].click()
                    session.settle(0.1)
                    found = covered(panelOf(session)) + covered(pages.frame(name))
                    assert not found, (width, height, pixels, isOpen, name, found)
                    widest = scrollArea(session).viewport().width
                    assert panelOf(session).width <= widest, (width, height, pixels, name, "is cut at its sides")
                    assert topOf(ui.pagesFrame) >= 0 and topOf(pages.frame(name)) < heightOf(session) - 20, name
                    isWhole = pages.frame(name).height + ui.pagesFrame.height <= heightOf(session)
                    end = bottomOf(pages.frame(name))
                    assert not isWhole or end <= heightOf(session) + 1, (width, height, pixels, isOpen, name)
    finally:
        qt.QApplication.setFont(before)
        ui.settingsButton.checked = False
        resize(session, 1920, 1080)
    box.currentIndex = 0
    session.chooseFamilies(*families)
    session.apply()
    pages.open("numbers")


def covered(top) -> list[str]:
    """The widgets directly within another one that lie on each other, and texts that are lower than they need."""
    widgets = [w for w in top.children() if hasattr(w, "isVisible") and w.isVisible() and w.height > 0]
    widgets.sort(key=lambda widget: widget.y)
    found = []
    for above, below in pairwise(widgets):
        isBeside = above.x + above.width <= below.x or below.x + below.width <= above.x
        if above.y + above.height > below.y + 1 and not isBeside:
            found.append(f"{above.objectName} covers {below.objectName}")
    for widget in widgets:
        if widget.inherits("QLabel") and widget.wordWrap:
            least = widget.minimumHeight
            widget.setMinimumHeight(0)  # which would count
            if widget.height < widget.heightForWidth(widget.width):
                found.append(f"{widget.objectName} has no room")
            widget.setMinimumHeight(least)
    return found


def topOf(widget) -> int:
    """Where a widget begins, in pixels below the top of the panel's part that is in sight."""
    return bottomOf(widget) - widget.height


def checkNarrow(session: Session) -> None:
    """Nothing is wider than a narrow panel, and nothing that is to be read is cut off in it."""
    ui, dock = session.ui, ancestor(session.ui.pagesFrame, "QDockWidget")
    dock.setFixedWidth(NARROW)
    try:
        for name in PAGES:
            session.panel.pages.open(name)
            session.settle(0.1)
            assert panelOf(session).minimumSizeHint.width() <= NARROW, name
            found = cutOff(panelOf(session))
            assert not found, (name, found)
        ui.settingsButton.click()
        ui.advancedGroupBox.collapsed = False
        session.chooseFamilies("boundary", "signed", "overlap", "voxel", "hazard")
        found = cutOff(ui.measureSection)
        assert panelOf(session).minimumSizeHint.width() <= NARROW and not found, found
        session.chooseFamilies("boundary", "signed", "overlap")
        ui.advancedGroupBox.collapsed = True
        ui.settingsButton.click()
    finally:
        dock.setMinimumWidth(0)
        dock.setMaximumWidth(16777215)
        session.panel.pages.open("numbers")
        session.settle(0.1)


def checkBesideViews(session: Session) -> None:
    """Table and plot are shown beside the map at a click, follow the results, and go at another layout."""
    manager, scene = slicer.app.layoutManager(), slicer.mrmlScene
    before, button = manager.layout, session.ui.layoutButton
    layouts, both = scene.GetFirstNodeByClass("vtkMRMLLayoutNode"), LAYOUTS.SlicerLayoutFourUpPlotTableView
    usual, own = layouts.GetLayoutDescription(both), scene.AddNewNodeByClass("vtkMRMLTableNode", "Own")
    manager.setLayout(both)
    session.settle(0.2)
    (view,) = slicer.util.getNodesByClass("vtkMRMLTableViewNode")
    view.SetTableNodeID(own.GetID())
    manager.setLayout(before)
    session.settle(0.2)
    session.click(button, seconds=0.2)
    assert manager.layout == both
    plots = slicer.util.getNodesByClass("vtkMRMLPlotViewNode")
    shown = [*plots, view, *slicer.util.getNodesByClass("vtkMRMLViewNode")]
    assert len(shown) > 2 and all(node.IsMappedInLayout() for node in shown), "the map stays in sight"
    assertAllNumbers(session)
    assert plots and {node.GetPlotChartNodeID() for node in plots} == {session.panel.plot.chart.GetID()}
    session.set(session.ui.plotComboBox, currentIndex=1)
    assert {node.GetPlotChartNodeID() for node in plots} == {session.panel.plot.chart.GetID()}
    session.set(session.ui.plotComboBox, currentIndex=0)
    session.click(button, seconds=0.2)
    assert manager.layout == before and view.GetTableNode() is own
    session.click(button, seconds=0.2)
    manager.setLayout(before)  # by the menu
    session.settle(0.2)
    assert session.panel.layout.before is None and view.GetTableNode() is own, "views show what they did before"
    assert layouts.GetLayoutDescription(both) == usual and {node.GetPlotChartNodeID() for node in plots} == {None}
    scene.RemoveNode(own)


def resize(session: Session, width: int, height: int) -> None:
    """Give the main window a size, as on a screen of that size."""
    slicer.util.mainWindow().showNormal()
    slicer.util.mainWindow().resize(width, height)
    session.settle(0.5)
    scrollArea(session).verticalScrollBar().value = 0


def ancestor(widget, kind: str):
    """The nearest widget of a class that a widget is in."""
    while not widget.inherits(kind):
        widget = widget.parent()
    return widget


def scrollArea(session: Session):
    return ancestor(session.ui.pagesFrame, "QScrollArea")


def heightOf(session: Session) -> int:
    """Pixels of the panel that are in sight."""
    return scrollArea(session).viewport().height


def panelOf(session: Session):
    return session.ui.pagesFrame.parent()


def bottomOf(widget) -> int:
    """Where a widget ends, in pixels below the top of the panel's part that is in sight."""
    import qt

    viewport = ancestor(widget, "QScrollArea").viewport()
    return widget.mapTo(viewport, qt.QPoint(0, widget.height)).y()


def cutOff(top) -> list[str]:
    """The texts within a widget that have less room than they need."""
    found = []
    for widget in slicer.util.findChildren(top):
        if not hasattr(widget, "isVisible") or not widget.isVisible() or widget.maximumWidth == 0:
            continue
        if widget.inherits("QTableWidget"):
            found += cutOffIn(widget)
        elif widget.inherits("QComboBox"):
            found += tooWide(widget, widget.currentText, 20)
        elif widget.inherits("QAbstractButton") or (widget.inherits("QLabel") and not widget.wordWrap):
            found += tooWide(widget, re.sub("<[^>]*>", "", widget.text), 0)
    return found


def tooWide(widget, text: str, around: int) -> list[str]:
    """The text of a widget if it needs more room, with so many pixels around it, than there is."""
    lines = text.split("\n")
    needed = max(widget.fontMetrics().horizontalAdvance(line) for line in lines) + around
    return [f"{widget.objectName}: {text}"] if needed > widget.width else []


def cutOffIn(table) -> list[str]:
    """The cells of a table in which a word has less room than it needs, or a line."""
    found, metrics = [], table.fontMetrics()
    for row in range(table.rowCount):
        if table.rowHeight(row) < table.sizeHintForRow(row):
            found.append(f"{table.objectName}, row {row}")
        for column in range(table.columnCount):
            item = table.item(row, column)
            isAlone = item is not None and table.columnSpan(row, column) == 1
            words = re.split("[ \\n\u200b]", item.text()) if isAlone else []
            found += [word for word in words if metrics.horizontalAdvance(word) > table.columnWidth(column)]
    return found
