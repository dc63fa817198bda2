"""Which widgets slicer.parameterNodeWrapper binds to which parameters: by exact class, as the real one."""

from __future__ import annotations

import enum

from .validators import Choice, Decimals, Maximum, Minimum, SingleStep, WithinRange, splitAnnotated

SlicerParameterNamePropertyName = "SlicerParameterName"
_NUMBER_WIDGETS = ("QDoubleSpinBox", "ctkSliderWidget", "ctkDoubleSpinBox")


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
    """Sets the widget's limits from the annotations; without them it has none."""

    def __init__(self, widget, kind: type, annotations: list) -> None:
        super().__init__(widget, "value", "valueChanged")
        self._kind = kind
        limits = _limits(annotations)
        if None in limits and widget.className() in ("ctkSliderWidget", "QSlider"):
            raise RuntimeError("Cannot have a connection to ctkSliderWidget where the float types is unbounded.")
        unlimited = 2**31 - 1 if widget.className() in ("QSlider", "QSpinBox") else 1e300
        if widget.className() in _NUMBER_WIDGETS:
            decimals = [a.value for a in annotations if isinstance(a, Decimals)]
            if kind is int or decimals:
                widget.decimals = 0 if kind is int else decimals[0]
        for annotation in annotations:
            if isinstance(annotation, SingleStep):
                widget.singleStep = annotation.value
        widget.minimum = limits[0] if limits[0] is not None else -unlimited
        widget.maximum = limits[1] if limits[1] is not None else unlimited

    def read(self):
        return self._kind(self.widget.value)


class LineEditConnector(Connector):
    def write(self, value) -> None:
        if value != self.widget.text:
            self.widget.text = value


class TextEditConnector(Connector):
    def read(self):
        return self.widget.toPlainText()

    def write(self, value) -> None:
        self.widget.setPlainText(value)


class ComboBoxConnector(Connector):
    """Fills the combo box with the choices, or with an enum's label() or names."""

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


def _limits(annotations: list) -> tuple:
    low = high = None
    for annotation in annotations:
        if isinstance(annotation, (WithinRange, Minimum)):
            low = annotation.minimum
        if isinstance(annotation, (WithinRange, Maximum)):
            high = annotation.maximum
    return low, high


def makeConnector(widget, annotated):
    """The connector of a widget and a parameter; RuntimeError where the real one has none."""
    kind, annotations = splitAnnotated(annotated)
    name = widget.className()
    if kind is bool and name == "QCheckBox":
        return Connector(widget, "checked", "stateChanged")
    if kind is bool and name == "QPushButton":
        widget.checkable = True
        return Connector(widget, "checked", "toggled")
    if (kind is int and name in ("QSlider", "QSpinBox")) or (kind in (int, float) and name in _NUMBER_WIDGETS):
        return NumberConnector(widget, kind, annotations)
    if kind in (int, float, str, bool) and name == "QComboBox":
        choices = [annotation.choices for annotation in annotations if isinstance(annotation, Choice)]
        if not choices:
            raise RuntimeError("ComboBoxToStringableConnector requires the Choice annotation to be used.")
        return ComboBoxConnector(widget, list(choices[0]), [str(choice) for choice in choices[0]])
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and name == "QComboBox":
        members = list(kind)
        return ComboBoxConnector(widget, members, [m.label() if hasattr(m, "label") else m.name for m in members])
    if kind is str and name == "QLineEdit":
        return LineEditConnector(widget, "text", "textChanged")
    if kind is str and name == "QLabel":
        return Connector(widget, "text", None)
    if kind is str and name == "QTextEdit":
        return TextEditConnector(widget, "plainText", "textChanged")
    raise RuntimeError(f"Unable to create GUI connector from datatype '{annotated}' to widget type '{name}'.")
