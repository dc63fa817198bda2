"""Pictures of widgets, drawn without a screen."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontDatabase, QImage
from PySide6.QtWidgets import QApplication, QWidget

FONT = "DejaVu Sans"  # Debian's fonts-dejavu-core; none comes with PySide6


def hasFont() -> bool:
    """Whether letters can be drawn at all; without a font there are only boxes."""
    return FONT in QFontDatabase.families()


@contextlib.contextmanager
def usualFont():
    """Everything that is made or shown within has letters of 9 points, as on a usual desktop."""
    before = QApplication.font()
    QApplication.setFont(QFont(FONT, 9))
    try:
        yield
    finally:
        QApplication.setFont(before)


def photograph(widget, width: int, height: int) -> QImage:
    """Draw a widget at a size in pixels; one that needs more than the width is drawn as wide as it needs."""
    native = widget._native
    size = native.size()
    native.show()
    QApplication.processEvents()
    for _ in range(2):  # tables that need no scroll bar at this width take less height the second time
        # no events in between: the window around it would resize it again
        native.resize(max(width, native.minimumSizeHint().width()), height)
        image = native.grab().toImage()
        for inner in native.findChildren(QWidget):
            QApplication.sendPostedEvents(inner, QEvent.Type.LayoutRequest)
    native.resize(size)
    return image
