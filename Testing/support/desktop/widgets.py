"""Stand-ins for the ctk widgets and for qMRMLWidget: their looks, properties, signals and the slots that Python sees.

Only the members of each class that are named in "exposed", its Qt properties and what its Qt base class has are visible
through PythonQt. signatures: a signal as Slicer declares it -> as PySide6 does.
"""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Property, QEvent, Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGroupBox,
    QHBoxLayout,
    QMessageBox,
    QSlider,
    QWidget,
)


class ctkCollapsibleGroupBox(QGroupBox):
    """Its children disappear with its contents, and stay hidden later if somebody hid them meanwhile."""

    exposed = frozenset()
    _forcing = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._collapsedHeight, self._maximumHeight = 14, self.maximumHeight()
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
            self.setMaximumHeight(self.fontMetrics().height() + self._collapsedHeight)

    def _setCollapsedHeight(self, height) -> None:
        self._collapsedHeight = height

    collapsed = Property(bool, lambda self: not self.isChecked(), lambda self, value: self.setChecked(not value))
    collapsedHeight = Property(int, lambda self: self._collapsedHeight, _setCollapsedHeight)


def _forward(name: str, kind: type, partName: str) -> Property:
    """A property that a part of the widget has, too."""
    setter = f"set{name[0].upper()}{name[1:]}"
    return Property(
        kind,
        lambda self: getattr(getattr(self, partName), name)(),
        lambda self, value: getattr(getattr(self, partName), setter)(value),
    )


class ctkSliderWidget(QWidget):
    """A slider with a spin box. The value is kept as it was set; only the spin box shows it rounded."""

    valueChanged = Signal(float)
    exposed = frozenset({"valueChanged", "setValue"})

    def __init__(self, parent=None):
        super().__init__(parent)
        self._value, self._minimum, self._maximum, self._step, self._tracking = 0.0, 0.0, 99.0, 1.0, True
        self._updating = False
        self._slider, self._box = QSlider(Qt.Orientation.Horizontal, self), QDoubleSpinBox(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._slider)
        layout.addWidget(self._box)
        self._slider.valueChanged.connect(lambda position: self._choose(self._minimum + position * self._step))
        self._box.valueChanged.connect(self._choose)
        self._show()

    def _choose(self, value) -> None:
        """What the user chose in one of the two parts."""
        if not self._updating:
            self.setValue(value)

    def _show(self) -> None:
        self._updating = True
        self._slider.setRange(0, round((self._maximum - self._minimum) / self._step))
        self._slider.setValue(round((self._value - self._minimum) / self._step))
        self._box.setRange(self._minimum, self._maximum)
        self._box.setSingleStep(self._step)
        self._box.setValue(self._value)
        self._updating = False

    def setValue(self, value):
        value = min(max(value, self._minimum), self._maximum)
        changed, self._value = value != self._value, value
        self._show()
        if changed:
            self.valueChanged.emit(value)

    def _setDecimals(self, decimals) -> None:
        self._updating = True
        self._box.setDecimals(decimals)
        self._updating = False
        self._show()

    def _setLimit(self, name, limit) -> None:
        setattr(self, name, limit)
        self._minimum, self._maximum = sorted((self._minimum, self._maximum))
        self.setValue(self._value)

    def _setStep(self, step) -> None:
        self._step = step
        self._show()

    value = Property(float, lambda self: self._value, setValue)
    decimals = Property(int, lambda self: self._box.decimals(), _setDecimals)
    minimum = Property(float, lambda self: self._minimum, lambda self, value: self._setLimit("_minimum", value))
    maximum = Property(float, lambda self: self._maximum, lambda self, value: self._setLimit("_maximum", value))
    singleStep = Property(float, lambda self: self._step, _setStep)
    prefix, suffix = _forward("prefix", str, "_box"), _forward("suffix", str, "_box")


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
