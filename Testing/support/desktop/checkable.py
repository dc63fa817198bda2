"""Stand-in for ctkCheckableComboBox: a combo box with check boxes in its list, which shows what is checked.

Read in its source: every item that is added gets a check box, not checked; the box shows "None", "All", or the names of
those that are checked; the signal comes with every change of what is checked, also by setItemData.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter

_ROLE = Qt.ItemDataRole.CheckStateRole


class ctkCheckableComboBox(QComboBox):
    checkedIndexesChanged = Signal()
    exposed = frozenset({"checkedIndexesChanged"})

    def __init__(self, parent=None):
        super().__init__(parent)
        self._checked = []
        self.model().rowsInserted.connect(self._makeCheckable)
        self.model().dataChanged.connect(self._update)

    def _makeCheckable(self, _parent, first: int, last: int) -> None:
        for row in range(first, last + 1):
            self.model().item(row).setData(0, _ROLE)
            self.model().item(row).setCheckable(True)

    def _rows(self) -> list[int]:
        checked = Qt.CheckState.Checked.value
        return [row for row in range(self.count()) if _number(self.itemData(row, _ROLE)) == checked]

    def _update(self) -> None:
        if self._rows() != self._checked:
            self._checked = self._rows()
            self.checkedIndexesChanged.emit()
        self.update()

    def shownText(self) -> str:
        if not self._rows():
            return "None"
        return "All" if len(self._rows()) == self.count() else ", ".join(self.itemText(row) for row in self._rows())

    def paintEvent(self, event):
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shownText()
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


def _number(state) -> int:
    return getattr(state, "value", state) or 0
