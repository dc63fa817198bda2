"""Stand-in for slicer.parameterNodeWrapper: typed parameters in a real vtkMRMLScriptedModuleNode, bound to widgets.

Values are stored as Slicer stores them and cached as Slicer caches them: a value that was read before a scene was
loaded can be out of date in the same way. Types: int, float, str, bool, MRML nodes, Enum and lists of these; widgets
are bound by exact class, as by the real one. What the module does not use is missing.
"""

from __future__ import annotations

import enum
import typing
import weakref

SlicerParameterNamePropertyName = "SlicerParameterName"


class WithinRange:
    def __init__(self, minimum, maximum):
        self.minimum, self.maximum = minimum, maximum


class Default:
    def __init__(self, value=None, *, generator=None):
        self.make = generator or (lambda: value)


class _Text:
    """How a value of a simple type is written to and read from a parameter node."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def default(self):
        return next(iter(self.kind)) if issubclass(self.kind, enum.Enum) else "" if self.kind is str else self.kind(0)

    def check(self, value) -> None:
        if not isinstance(value, (int, float) if self.kind is float else self.kind):
            raise TypeError(f"Value must be of type '{self.kind}', is type '{type(value)}' value '{value}'")

    def isIn(self, node, name: str) -> bool:
        return node.HasParameter(name)

    def write(self, node, name: str, value) -> None:
        node.SetParameter(name, value.name if issubclass(self.kind, enum.Enum) else str(value))

    def read(self, node, name: str):
        text = node.GetParameter(name)
        if issubclass(self.kind, enum.Enum):
            if text not in self.kind.__members__:
                raise ValueError(f"Found {text!r} in parameter node but it is not a name in {self.kind!r}")
            return self.kind[text]
        return text == "True" if self.kind is bool else self.kind(text)

    def remove(self, node, name: str) -> None:
        node.UnsetParameter(name)


class _Reference(_Text):
    """A node reference; the parameter of the same name only says that there is one."""

    def default(self):
        return None

    def check(self, value) -> None:
        if value is not None:
            super().check(value)

    def write(self, node, name: str, value) -> None:
        node.SetParameter(name, "")
        node.SetNodeReferenceID(name, value.GetID() if value is not None else None)

    def read(self, node, name: str):
        return node.GetNodeReference(name)

    def remove(self, node, name: str) -> None:
        node.UnsetParameter(name)
        node.RemoveNodeReferenceIDs(name)


class _List:
    """Elements are parameters of their own: name.0, name.1 ... and name.len."""

    def __init__(self, element) -> None:
        self.element = _storage(element)

    def default(self):
        return []

    def check(self, values) -> None:
        for value in values:
            self.element.check(value)

    def isIn(self, node, name: str) -> bool:
        return node.HasParameter(f"{name}.len")

    def _length(self, node, name: str) -> int:
        return int(node.GetParameter(f"{name}.len")) if self.isIn(node, name) else 0

    def write(self, node, name: str, values) -> None:
        import slicer

        with slicer.util.NodeModify(node):
            for index, value in enumerate(values):
                self.element.write(node, f"{name}.{index}", value)
            for index in range(len(values), self._length(node, name)):
                self.element.remove(node, f"{name}.{index}")
            node.SetParameter(f"{name}.len", str(len(values)))

    def read(self, node, name: str):
        """Return a tuple; in Slicer it is no list, either, but one of which each change is written to the node."""
        return tuple(self.element.read(node, f"{name}.{i}") for i in range(self._length(node, name)))


def _storage(kind):
    import slicer

    if typing.get_origin(kind) is list:
        return _List(*typing.get_args(kind))
    if issubclass(kind, slicer.vtkMRMLNode):
        return _Reference(kind)
    if kind in (int, float, str, bool) or issubclass(kind, enum.Enum):
        return _Text(kind)
    raise TypeError(f"the stand-in has no parameters of type {kind}")


class _Parameter:
    """The declaration of one parameter of a wrapper class."""

    def __init__(self, name: str, annotated, default: Default | None) -> None:
        isAnnotated = typing.get_origin(annotated) is typing.Annotated
        self.kind, *annotations = typing.get_args(annotated) if isAnnotated else [annotated]
        self.name, self.storage = name, _storage(self.kind)
        declared = [one for one in annotations if isinstance(one, Default)]
        self.default = default or (declared[0] if declared else Default(generator=self.storage.default))
        self.limits = next((one for one in annotations if isinstance(one, WithinRange)), None)

    def write(self, node, value) -> None:
        self.storage.check(value)
        if self.limits is not None and not self.limits.minimum <= value <= self.limits.maximum:
            low, high = self.limits.minimum, self.limits.maximum
            raise ValueError(f"Value must be within range [{low}, {high}], is {value}")
        self.storage.write(node, self.name, value)

    def read(self, node):
        return self.storage.read(node, self.name)


class _CachedValue:
    """One parameter of one wrapper: read when the wrapper is made and whenever the node says that it was modified."""

    def __init__(self, parameter: _Parameter, node) -> None:
        self.parameter, self.node, self._writing = parameter, node, False
        if not parameter.storage.isIn(node, parameter.name):
            parameter.write(node, parameter.default.make())
        self.value = parameter.read(node)
        reference = weakref.ref(self)
        self._tag = node.AddObserver("ModifiedEvent", lambda *event: reference()._onModified())

    def __del__(self) -> None:
        self.node.RemoveObserver(self._tag)

    def _onModified(self) -> None:
        if not self._writing:
            if not self.parameter.storage.isIn(self.node, self.parameter.name):
                self.parameter.write(self.node, self.parameter.default.make())
            self.value = self.parameter.read(self.node)

    def write(self, value) -> None:
        import slicer

        self._writing = True
        try:
            with slicer.util.NodeModify(self.node):
                self.parameter.write(self.node, value)
                self.value = self.parameter.read(self.node)
        finally:
            self._writing = False


class _Connector:
    """A property of a widget and the signal that tells its change; values are converted to those of the property."""

    def __init__(self, widget, name: str, signal: str, toWidget=lambda value: value, fromWidget=lambda value: value):
        self.widget, self.name, self.signal = widget, name, getattr(widget, signal)
        self.toWidget, self.fromWidget, self.slot = toWidget, fromWidget, None

    def onChanged(self, callback) -> None:
        if callback is None:
            self.signal.disconnect(self.slot)
            self.slot = None  # which would keep the wrapper
        else:
            self.slot = lambda: callback(self.fromWidget(getattr(self.widget, self.name)))
            self.signal.connect(self.slot)

    def write(self, value) -> None:
        setattr(self.widget, self.name, self.toWidget(value))


def _connectorOf(widget, parameter: _Parameter) -> _Connector:
    """The connector of a widget and a parameter; RuntimeError where the real one has none."""
    kind, name = parameter.kind, widget.className()
    if kind is bool and name == "QCheckBox":
        return _Connector(widget, "checked", "stateChanged")
    if (kind, name) == (int, "QSpinBox") or (kind is float and name in ("QDoubleSpinBox", "ctkSliderWidget")):
        widget.minimum, widget.maximum = parameter.limits.minimum, parameter.limits.maximum
        return _Connector(widget, "value", "valueChanged", fromWidget=kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and name == "QComboBox":
        members = list(kind)
        widget.clear()
        for member in members:
            widget.addItem(member.label())
        return _Connector(widget, "currentIndex", "currentIndexChanged", members.index, members.__getitem__)
    raise RuntimeError(f"Unable to create GUI connector from datatype '{kind}' to widget type '{name}'.")


class _Wrapper:
    """What the decorator adds to a class."""

    def __init__(self, parameterNode) -> None:
        self.parameterNode = parameterNode
        self._guis, self._nextTag, self._updatingGui = {}, 0, False
        self._values = {name: _CachedValue(p, parameterNode) for name, p in self.allParameters.items()}

    def connectGui(self, gui) -> int:
        children = gui.__dict__.values()
        named = {child.property(SlicerParameterNamePropertyName): child for child in children}
        connectors = {name: _connectorOf(named[name], self.allParameters[name]) for name in named if name}
        tag, self._nextTag = self._nextTag, self._nextTag + 1
        for name, connector in connectors.items():
            connector.write(self._values[name].value)
            connector.onChanged(self._makeCallback(name))
        self._guis[tag] = connectors
        # Slicer 5.10 forgets about it; 5.12 removes it when the widgets are disconnected
        self.AddObserver("ModifiedEvent", lambda *event: self._updateGui())
        return tag

    def disconnectGui(self, tag: int) -> None:
        for connector in self._guis.pop(tag, {}).values():
            connector.onChanged(None)

    def _makeCallback(self, name: str):
        import slicer

        def callback(value):
            with slicer.util.NodeModify(self):
                if not self._updatingGui:
                    self._values[name].write(value)

        return callback

    def _updateGui(self) -> None:
        import slicer

        if self._updatingGui:
            return
        self._updatingGui = True
        try:
            with slicer.util.NodeModify(self):
                for connectors in list(self._guis.values()):
                    for name, connector in connectors.items():
                        connector.write(self._values[name].value)
        finally:
            self._updatingGui = False

    def StartModify(self):
        return self.parameterNode.StartModify()

    def EndModify(self, wasModified):
        return self.parameterNode.EndModify(wasModified)

    def AddObserver(self, event, callback, priority=0.0):
        return self.parameterNode.AddObserver(event, callback, priority)


def parameterNodeWrapper(kind):
    """Class decorator: annotations become typed parameters of the node that an instance is made with."""
    kind.allParameters = {}
    for name, annotated in typing.get_type_hints(kind, include_extras=True).items():
        default = Default(getattr(kind, name)) if hasattr(kind, name) else None
        kind.allParameters[name] = _Parameter(name, annotated, default)
        read, write = (
            lambda self, n=name: self._values[n].value,
            lambda self, value, n=name: self._values[n].write(value),
        )
        setattr(kind, name, property(read, write))
    for name, member in vars(_Wrapper).items():
        if not name.startswith("__") or name == "__init__":
            setattr(kind, name, member)
    return kind
