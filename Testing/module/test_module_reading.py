"""What the panel says to those who read it: names as they are, alarms first, on screen and to screen readers."""

from __future__ import annotations

import shapes
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLabel, QTableWidget, QWidget
from sayings import says
from scenework import choose, segmentation

from SegmentMetricsLib.metrics.registry import FAMILIES

MARKED = "<u>Bar</u> & more"
SHOWN = "&lt;u&gt;Bar&lt;/u&gt; &amp; more"


def twoMarked(name: str = MARKED) -> list:
    """Return two segmentation nodes with structures that have that name and another one."""
    boxes = shapes.box((6, 5, 5), (15, 11, 12)), shapes.box((7, 5, 5), (15, 11, 12))
    return [segmentation(f"<i>{n}</i>", **{name: box, "Other": box}) for n, box in enumerate(boxes)]


def native(ui, kind) -> list:
    """Return the PySide6 widgets of a kind in the panel."""
    return ui.inputsSection.parent()._native.findChildren(kind)


def tips(table) -> set[str]:
    items = [table.item(row, column) for row in range(table.rowCount) for column in range(table.columnCount)]
    items += [table.horizontalHeaderItem(column) for column in range(table.columnCount)]
    return {item.toolTip() for item in items if item is not None}


def paragraph(text: str) -> str:
    """Return a line of a tool tip."""
    return f'<p style="margin: 0">{text}</p>'


def testToolTipsAreWrapped(session):
    """Qt wraps only those that are markup. Who is read to hears none of it."""
    choose(session, *twoMarked(), MARKED)
    session.apply()
    session.askTools()
    ui = session.ui
    found = {w.objectName(): w.toolTip() for w in native(ui, QWidget) if len(w.toolTip()) > 40}
    assert len(found) > 40 and [name for name, tip in found.items() if not tip.startswith("<p")] == []
    for name in found:
        described = getattr(ui, name, None) and getattr(ui, name).accessibleDescription
        assert described is None or (described and "<p" not in described and "&lt;" not in described), name
    for table in (ui.mainTable, ui.sidesTable, ui.placesTable, ui.conventionsTable):
        assert [tip for tip in tips(table) if tip and not tip.startswith("<p")] == []


def testKindsOfMapsAreExplainedInTheirOrder(session):
    box = session.ui.mapKindComboBox
    lines = box.accessibleDescription.split("\n")
    assert [line.partition(": ")[0] for line in lines] == [box.itemText(n) for n in range(box.count)]
    assert all(line.partition(": ")[2] for line in lines)


def testNamesAreNoMarkup(session):
    ui = session.ui
    choose(session, *twoMarked(), MARKED)
    assert ui.referenceSelector.toolTip == paragraph(f"&lt;i&gt;0&lt;/i&gt;: {SHOWN}")
    assert ui.referenceSelector.accessibleDescription == f"<i>0</i>: {MARKED}"
    session.apply()
    (about,) = (tip for tip in tips(ui.sidesTable) if SHOWN in tip)
    says(about)
    session.set(ui.modeComboBox, currentIndex=1)
    session.apply()
    assert paragraph(SHOWN) in tips(ui.pairsTable)
    for name in (SHOWN, "Other"):
        assert any(tip.startswith(paragraph(name) + paragraph("DSC ")[:-4]) for tip in tips(ui.mainTable))
    segment = session.nodes[1].GetSegmentation().GetNthSegment(1)
    segment.SetName(MARKED)
    session.settle(0.5)
    session.apply()
    for label in (ui.unpairedLabel, ui.messageLabel):
        assert MARKED in label.text and label.textFormat == Qt.TextFormat.PlainText.value
    session.nodes[1].GetSegmentation().RemoveAllSegments()
    session.settle(0.5)
    says(ui.applyButton.accessibleDescription, "<i>1</i>")


def testEveryControlHasAName(session):
    """A screen reader says it; the segment selectors' own boxes are Slicer's."""
    ui = session.ui
    choose(session, *twoMarked(), "Other")
    session.chooseFamilies(*FAMILIES)
    session.set(ui.modeComboBox, currentIndex=1)
    nameless = []
    for widget in native(ui, QComboBox) + native(ui, QAbstractSpinBox) + native(ui, QTableWidget):
        parents = [widget.parent(), widget.parent().parent(), widget.parent().parent().parent()]
        if any(type(parent).__name__ in ("qMRMLSegmentSelectorWidget", "ctkSliderWidget") for parent in parents):
            continue
        if not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name):
            nameless.append(widget.objectName() or type(widget).__name__)
    assert nameless == []
    assert len(session.panel.pairs.boxes) == 2
    buddies = {label.objectName(): label.buddy().objectName() for label in native(ui, QLabel) if label.buddy()}
    assert len(buddies) > 25
    assert all(buddy.startswith(label.removesuffix("Label")) for label, buddy in buddies.items())


def testTheModuleInAWindowOfItsOwn(session):
    """Without a parent Slicer's base class calls setup() before it returns: nothing may be reset after that."""
    widget = type(session.widget)()
    assert widget.panel is not None and widget.logic is not None
    widget.enter()
    assert widget.isOpen and widget.panel.parameters is not None
    widget.exit()
    widget.cleanup()
    widget.parent.deleteLater()
