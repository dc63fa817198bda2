"""Which widgets slicer.parameterNodeWrapper binds to which parameters: by exact class, as the real one."""

from __future__ import annotations

import enum

from .validators import WithinRange, splitAnnotated

SlicerParameterNamePropertyName = "SlicerParameterName"
_NUMBER_WIDGETS = ("QDoubleSpinBox", "ctkSliderWidget")


class Connector:
    """A property of a widget and the signal that tells its change."""

    def __init__(self, widget, name: str, signal: str | None) -> None:
        self.widget, self.name = widget, name
        self._signal = getattr(widget, signal) if signal else None
        self._callback = None

    def onChanged(self, callback) -> None:
        self._callback = callback
        if self._signal is not None:
            self._signal.disconnect(self._changed) if callback is None else self._signal.connect(self._changed)

    def _changed(self) -> None:
        if self._callback is not None:
            self._callback()

    def read(self):
        return getattr(self.widget, self.name)

    def write(self, value) -> None:
        setattr(self.widget, self.name, value)


class NumberConnector(Connector):
    """Sets the widget's limits from the annotations."""

    def __init__(self, widget, kind: type, annotations: list) -> None:
        super().__init__(widget, "value", "valueChanged")
        self._kind = kind
        limits = next(((a.minimum, a.maximum) for a in annotations if isinstance(a, WithinRange)), None)
        if limits is None:
            raise RuntimeError("the stand-in connects only numbers with limits")
        if kind is int and widget.className() in _NUMBER_WIDGETS:
            widget.decimals = 0
        widget.minimum, widget.maximum = limits

    def read(self):
        return self._kind(self.widget.value)


class ComboBoxConnector(Connector):
    """Fills the combo box with an enum's label() or names."""

    def __init__(self, widget, choices: list, texts: list[str]) -> None:
        super().__init__(widget, "currentIndex", "currentIndexChanged")
        self._choices = choices
        widget.clear()
        for text in texts:
            widget.addItem(text)

    def read(self):
        return self._choices[self.widget.currentIndex]

    def write(self, value) -> None:
        if value not in self._choices:
            raise ValueError(f"Unable to find value {value} in choices {self._choices}")
        self.widget.currentIndex = self._choices.index(value)


def makeConnector(widget, annotated):
    """The connector of a widget and a parameter; RuntimeError where the real one has none."""
    kind, annotations = splitAnnotated(annotated)
    name = widget.className()
    if kind is bool and name == "QCheckBox":
        return Connector(widget, "checked", "stateChanged")
    if (kind is int and name == "QSpinBox") or (kind in (int, float) and name in _NUMBER_WIDGETS):
        return NumberConnector(widget, kind, annotations)
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and name == "QComboBox":
        members = list(kind)
        return ComboBoxConnector(widget, members, [m.label() if hasattr(m, "label") else m.name for m in members])
    raise RuntimeError(f"Unable to create GUI connector from datatype '{annotated}' to widget type '{name}'.")
