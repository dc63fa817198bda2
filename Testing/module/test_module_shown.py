"""What the panel shows when, and where: alarms first, nothing without results, no number in part."""

from __future__ import annotations

import shapes
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from scenework import choose, segmentation

BOX = (6, 5, 5), (15, 11, 12)
NARROW = 304  # pixels: from here on, ordinary distances toward each side need no scrolling
# What there is nothing to be seen in before anything was measured.
OF_RESULTS = ("allNumbersButton", "copyButton", "exportButton", "reportButton", "plotLabel", "plotComboBox",
              "mainFrame", "notesButton", "sidesTable", "alarmsLabel", "findingsLabel", "placesTable", "pagesFrame",
              "numbersPage", "mapPage")  # fmt: skip


def apart(**more) -> list:
    """Return two segmentation nodes with a structure A that does not overlap, and more structures that do."""
    boxes = shapes.box((2, 2, 2), (5, 5, 5)), shapes.box((15, 15, 15), (20, 20, 20))
    return [segmentation(which, A=box, **more) for which, box in zip(("First", "Second"), boxes)]


def testTheModuleInAWindowOfItsOwn(session):
    """Without a parent Slicer's base class calls setup() before it returns: nothing may be reset after that."""
    widget = type(session.widget)()
    assert widget.panel is not None and widget.logic is not None
    widget.enter()
    assert widget.isOpen and widget.panel.parameters is not None
    widget.exit()
    widget.cleanup()
    widget.parent.deleteLater()


def testAlarmsStandDirectlyBelowTheVerdict(session):
    """With a sign and words, and in colors that are read in a dark theme, too; what is no alarm comes after them."""
    ui = session.ui
    choose(session, *apart(), "A")
    session.apply()
    assert session.isShown(ui.alarmsLabel)
    assert ui.alarmsLabel.text.startswith("<b>⚠ Check this first</b><br>• The two ")
    assert "<br>• The two contours do not overlap at all: " in ui.alarmsLabel.text
    assert "do not overlap" not in ui.findingsLabel.text
    layout = ui.summaryLabel._native.parent().layout()
    names = ("summaryLabel", "notesButton", "alarmsLabel", "findingsLabel", "mainFrame")
    first, *others = [layout.indexOf(getattr(ui, name)._native) for name in names]
    assert others == [first + 1, first + 2, first + 3, first + 4]
    assert ui.notesButton.text.startswith("⚠ Check this first: ") and ui.notesButton.checked
    ui.notesButton.click()
    assert not session.isShown(ui.alarmsLabel) and session.isShown(ui.notesButton)
    ui.notesButton.click()
    before = QApplication.palette()
    dark = QPalette(before)
    dark.setColor(QPalette.ColorRole.Window, QColor("#303030"))
    dark.setColor(QPalette.ColorRole.WindowText, QColor("white"))
    try:
        for palette in (before, dark):
            QApplication.setPalette(palette)
            QApplication.processEvents()
            image = ui.alarmsLabel._native.grab().toImage()
            lightness = sorted(
                image.pixelColor(x, y).lightnessF() for x in range(4, image.width() - 4) for y in range(4, 20)
            )
            assert lightness[-1] > 0.85 and lightness[0] < 0.35  # dark letters on a light ground
    finally:
        QApplication.setPalette(before)
