"""Stand-ins for the ctk widgets and for qMRMLWidget: their looks, properties, signals and the slots that Python sees.

Only the members of each class that are named in "exposed", its Qt properties and what its Qt base class has are visible
through PythonQt. signatures: a signal as Slicer declares it -> as PySide6 does.
"""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Property, QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGroupBox, QHBoxLayout, QMessageBox, QSlider, QWidget


class ctkCollapsibleGroupBox(QGroupBox):
    """Its children disappear with its contents, and stay hidden later if somebody hid them meanwhile."""

    exposed = frozenset()
    _forcing = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._maximumHeight = self.maximumHeight()
        self.setProperty("collapsedHeight", 14)
        self.setCheckable(True)
        self.toggled.connect(self._expand)

    def _setChildVisibility(self, child) -> None:
        if not self.testAttribute(Qt.WidgetAttribute.WA_WState_Created):
            return
        hiddenByUser = child.property("visibilityToParent") is False
        visible = self.isChecked() and not hiddenByUser
        self._forcing = True
        if child.testAttribute(Qt.WidgetAttribute.WA_WState_Created) or not visible:
            child.setVisible(visible)
        if not hiddenByUser:
            child.setAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide, False)
        self._forcing = False

    def _setChildrenVisibility(self) -> None:
        for child in self.children():
            if child.isWidgetType():
                self._setChildVisibility(child)

    def childEvent(self, event):
        child = event.child()
        if event.type() == QEvent.Type.ChildAdded and child.isWidgetType():
            explicit = child.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
            if explicit and child.testAttribute(Qt.WidgetAttribute.WA_WState_Hidden):
                child.setProperty("visibilityToParent", False)
            child.installEventFilter(self)
            self._setChildVisibility(child)
        super().childEvent(event)

    def eventFilter(self, child, event):
        if not self._forcing and event.type() == QEvent.Type.ShowToParent:
            child.setProperty("visibilityToParent", True)
            self._setChildVisibility(child)
        elif not self._forcing and event.type() == QEvent.Type.HideToParent:
            child.setProperty("visibilityToParent", False)
        return super().eventFilter(child, event)

    def setVisible(self, visible):
        wasCreated = self.testAttribute(Qt.WidgetAttribute.WA_WState_Created)
        self._forcing = True
        super().setVisible(visible)
        self._forcing = False
        if not wasCreated and self.testAttribute(Qt.WidgetAttribute.WA_WState_Created):
            self._setChildrenVisibility()

    def _expand(self, expanded) -> None:
        self._setChildrenVisibility()
        if expanded:
            self.setMaximumHeight(self._maximumHeight)
        else:
            self._maximumHeight = self.maximumHeight()
            self.setMaximumHeight(self.fontMetrics().height() + self.property("collapsedHeight"))

    collapsed = Property(bool, lambda self: not self.isChecked(), lambda self, value: self.setChecked(not value))


def _ofBox(name: str, kind: type) -> Property:
    """A property of the spin box that decides the range and the steps of the slider."""
    setter = f"set{name[0].upper()}{name[1:]}"

    def write(self, value) -> None:
        getattr(self._box, setter)(value)
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, round((self._box.maximum() - self._box.minimum()) / self._box.singleStep()))
        self.setValue(self._value)

    return Property(kind, lambda self: getattr(self._box, name)(), write)


class ctkSliderWidget(QWidget):
    """A slider with a spin box. The value is kept as it was set; only the spin box shows it rounded."""

    valueChanged = Signal(float)
    exposed = frozenset({"valueChanged", "setValue"})

    def __init__(self, parent=None):
        super().__init__(parent)
        self._value, self._slider, self._box = 0.0, QSlider(Qt.Orientation.Horizontal, self), QDoubleSpinBox(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._slider)
        layout.addWidget(self._box)
        choose = lambda position: self.setValue(self._box.minimum() + position * self._box.singleStep())  # noqa: E731
        self._slider.valueChanged.connect(choose)
        self._box.valueChanged.connect(self.setValue)

    def setValue(self, value):
        value = min(max(value, self._box.minimum()), self._box.maximum())
        changed, self._value = value != self._value, value
        with QSignalBlocker(self._slider), QSignalBlocker(self._box):
            self._slider.setValue(round((value - self._box.minimum()) / self._box.singleStep()))
            self._box.setValue(value)
        if changed:
            self.valueChanged.emit(value)

    value = Property(float, lambda self: self._value, setValue)
    decimals, singleStep = _ofBox("decimals", int), _ofBox("singleStep", float)
    minimum, maximum = _ofBox("minimum", float), _ofBox("maximum", float)


class ctkMessageBox(QMessageBox):
    exposed = frozenset()


class qMRMLWidget(QWidget):
    """Tells its children the scene."""

    mrmlSceneChanged = Signal(object)
    exposed = frozenset({"mrmlSceneChanged", "setMRMLScene"})
    signatures: ClassVar[dict[str, str]] = {"mrmlSceneChanged(vtkMRMLScene*)": "mrmlSceneChanged(PyObject)"}

    def __init__(self, parent=None):
        super().__init__(parent)
        self._scene = None

    def setMRMLScene(self, scene):
        if scene is not self._scene:
            self._scene = scene
            self.mrmlSceneChanged.emit(scene)


_ROLE = Qt.ItemDataRole.CheckStateRole


class ctkCheckableComboBox(QComboBox):
    """Read in its source: every item that is added gets a check box, not checked; the signal comes with every change.

    The real one shows the names of those that are checked.
    """

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
        states, checked = [self.itemData(row, _ROLE) for row in range(self.count())], Qt.CheckState.Checked.value
        return [row for row, state in enumerate(states) if getattr(state, "value", state) == checked]

    def _update(self) -> None:
        if self._rows() != self._checked:
            self._checked = self._rows()
            self.checkedIndexesChanged.emit()
