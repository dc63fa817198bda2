"""Pictures of widgets, drawn without a screen."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontDatabase, QImage
from PySide6.QtWidgets import QApplication, QWidget

from .pythonqt import Wrapper

FONT = "DejaVu Sans"  # Debian's fonts-dejavu-core; none comes with PySide6


def hasFont() -> bool:
    """Whether letters can be drawn at all; without a font there are only boxes."""
    return FONT in QFontDatabase.families()


@contextlib.contextmanager
def fontScale(scale: float = 1.0):
    """Everything that is made or shown within has letters of 9 points times scale, as on a desktop set up so."""
    before = QApplication.font()
    font = QFont(FONT)
    font.setPointSizeF(9 * scale)
    QApplication.setFont(font)
    try:
        yield
    finally:
        QApplication.setFont(before)


def photograph(widget, width: int = 380, height: int | None = None) -> QImage:
    """Draw a widget at a width in pixels, as high as it wants to be.

    A widget that needs more than the width is drawn as wide as it needs: compare image.width() with the width.
    """
    native = widget._native if isinstance(widget, Wrapper) else widget
    size = native.size()
    native.show()
    QApplication.processEvents()
    width = max(width, native.minimumSizeHint().width())
    for _ in range(2):  # tables that need no scroll bar at this width take less height the second time
        tall = native.heightForWidth(width) if native.hasHeightForWidth() else native.sizeHint().height()
        native.resize(width, height or tall)  # no events in between: the window around it would resize it again
        image = native.grab().toImage()
        for inner in native.findChildren(QWidget):
            QApplication.sendPostedEvents(inner, QEvent.Type.LayoutRequest)
    native.resize(size)
    return image
