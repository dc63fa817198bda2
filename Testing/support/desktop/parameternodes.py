"""Stand-in for slicer.parameterNodeWrapper: typed parameters in a real vtkMRMLScriptedModuleNode, bound to widgets.

Values are stored as Slicer stores them and cached as Slicer caches them: a value that was read before a scene was
loaded can be out of date in the same way. Types: int, float, str, bool, MRML nodes, Enum and lists of these; others and
parameter packs raise TypeError.
"""

from __future__ import annotations

import enum
import typing
import weakref
from collections.abc import MutableSequence

from .connectors import SlicerParameterNamePropertyName, makeConnector
from .validators import Default, NotNone, OfType, Validator, splitAnnotated

_RESERVED = (
    *("allParameters", "default", "isCached", "dataType", "getValue", "setValue", "connectGui", "disconnectGui"),
    *("connectParametersToGui", "StartModify", "EndModify", "AddObserver", "RemoveObserver", "Modified"),
)


class _Text:
    """How a value of a simple type is written to and read from a parameter node."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def default(self):
        return next(iter(self.kind)) if issubclass(self.kind, enum.Enum) else "" if self.kind is str else self.kind(0)

    def validators(self) -> list:
        kinds = (int, float) if self.kind is float else self.kind
        return [OfType(kinds)] if issubclass(self.kind, enum.Enum) else [NotNone(), OfType(kinds)]

    def isIn(self, node, name: str) -> bool:
        return node.HasParameter(name)

    def write(self, node, name: str, value) -> None:
        if issubclass(self.kind, enum.Enum):
            node.SetParameter(name, value.name)
        elif self.kind is bool:
            node.SetParameter(name, "True" if value else "False")
        else:
            node.SetParameter(name, str(value))

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

    def validators(self) -> list:
        return [OfType(self.kind)]

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
        self.element = _Parameter("", element)

    def default(self):
        return []

    def validators(self) -> list:
        return []

    def isIn(self, node, name: str) -> bool:
        return node.HasParameter(f"{name}.len")

    def _length(self, node, name: str) -> int:
        return int(node.GetParameter(f"{name}.len")) if self.isIn(node, name) else 0

    def write(self, node, name: str, values) -> None:
        import slicer

        for value in values:
            self.element.validate(value)
        with slicer.util.NodeModify(node):
            for index, value in enumerate(values):
                self.element.storage.write(node, f"{name}.{index}", value)
            for index in range(len(values), self._length(node, name)):
                self.element.storage.remove(node, f"{name}.{index}")
            node.SetParameter(f"{name}.len", str(len(values)))

    def read(self, node, name: str):
        values = [self.element.storage.read(node, f"{name}.{i}") for i in range(self._length(node, name))]
        return ObservedList(values, lambda changed: self.write(node, name, changed))


class ObservedList(MutableSequence):
    """What a list parameter reads as: not a list, and every change of it is written to the node."""

    def __init__(self, values: list, save) -> None:
        self._values, self._save = values, save

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):
        return self._values[index]

    def __setitem__(self, index, value) -> None:
        self._values[index] = value
        self._save(self._values)

    def __delitem__(self, index) -> None:
        del self._values[index]
        self._save(self._values)

    def insert(self, index, value) -> None:
        self._values.insert(index, value)
        self._save(self._values)

    def __eq__(self, other) -> bool:
        return self._values == (other._values if isinstance(other, ObservedList) else other)

    def __repr__(self) -> str:
        return f"ObservedList({self._values})"

    __hash__ = None


def _storage(kind):
    import slicer

    if kind is list or typing.get_origin(kind) is list:
        return _List(*typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, slicer.vtkMRMLNode):
        return _Reference(kind)
    if isinstance(kind, type) and (kind in (int, float, str, bool) or issubclass(kind, enum.Enum)):
        return _Text(kind)
    raise TypeError(f"the stand-in has no parameters of type {kind}")


class _Parameter:
    """The declaration of one parameter of a wrapper class."""

    def __init__(self, name: str, annotated, default: Default | None = None) -> None:
        kind, annotations = splitAnnotated(annotated)
        self.name, self.annotated = name, annotated
        self.storage = _storage(kind)
        declared = [a for a in annotations if isinstance(a, Default)]
        self.default = default or (declared[0] if declared else Default(generator=self.storage.default))
        self.validators = self.storage.validators() + [a for a in annotations if isinstance(a, Validator)]

    def validate(self, value) -> None:
        for validator in self.validators:
            validator.validate(value)

    def write(self, node, value) -> None:
        self.validate(value)
        self.storage.write(node, self.name, value)

    def read(self, node):
        return self.storage.read(node, self.name)


class _CachedValue:
    """One parameter of one wrapper: read when the wrapper is made and whenever the node says that it was modified."""

    def __init__(self, parameter: _Parameter, node) -> None:
        self.parameter, self.node, self._writing = parameter, node, False
        if not parameter.storage.isIn(node, parameter.name):
            parameter.write(node, parameter.default.value)
        self.value = parameter.read(node)
        reference = weakref.ref(self)
        self._tag = node.AddObserver("ModifiedEvent", lambda *event: reference()._onModified())

    def __del__(self) -> None:
        self.node.RemoveObserver(self._tag)

    def _onModified(self) -> None:
        if not self._writing:
            if not self.parameter.storage.isIn(self.node, self.parameter.name):
                self.parameter.write(self.node, self.parameter.default.value)
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


class _Wrapper:
    """What the decorator adds to a class."""

    def __init__(self, parameterNode, prefix: str | None = None) -> None:
        if prefix:
            raise TypeError("the stand-in has no parameter names with a prefix")
        self.parameterNode = parameterNode
        self._guis, self._nextTag, self._updatingGui = {}, 0, False
        self._values = {name: _CachedValue(p, parameterNode) for name, p in self.allParameters.items()}

    def getValue(self, name: str):
        return self._value(name).value

    def setValue(self, name: str, value) -> None:
        self._value(name).write(value)

    def dataType(self, name: str):
        return self._value(name).parameter.annotated

    def _value(self, name: str) -> _CachedValue:
        if name not in self._values:
            raise ValueError(f"Cannot find a param with the given name: {name}")
        return self._values[name]

    def connectGui(self, gui) -> int:
        children = gui.__dict__.values()
        named = [(child.property(SlicerParameterNamePropertyName), child) for child in children]
        mapping = {name: child for name, child in named if name}
        for name in mapping:
            self._value(name)
        connectors = {name: makeConnector(widget, self.dataType(name)) for name, widget in mapping.items()}
        tag, self._nextTag = self._nextTag, self._nextTag + 1
        for name, connector in connectors.items():
            connector.write(self.getValue(name))
            connector.onChanged(self._makeCallback(name, connector))
        self._guis[tag] = connectors
        # Slicer 5.10 forgets about it; 5.12 removes it when the widgets are disconnected
        self.AddObserver("ModifiedEvent", lambda *event: self._updateGui())
        return tag

    def disconnectGui(self, tag: int) -> None:
        for connector in self._guis.pop(tag, {}).values():
            connector.onChanged(None)

    def _makeCallback(self, name: str, connector):
        import slicer

        def callback():
            with slicer.util.NodeModify(self):
                if not self._updatingGui:
                    self.setValue(name, connector.read())

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
                        connector.write(self.getValue(name))
        finally:
            self._updatingGui = False

    def StartModify(self):
        return self.parameterNode.StartModify()

    def EndModify(self, wasModified):
        return self.parameterNode.EndModify(wasModified)

    def AddObserver(self, event, callback, priority=0.0):
        return self.parameterNode.AddObserver(event, callback, priority)


def _property(name: str) -> property:
    return property(lambda self: self.getValue(name), lambda self, value: self.setValue(name, value))


def parameterNodeWrapper(classtype=None):
    """Class decorator: annotations become typed parameters of the node that an instance is made with."""
    if classtype is None:
        return parameterNodeWrapper
    for name in _RESERVED:
        if hasattr(classtype, name):
            raise ValueError(f"Cannot use reserved name '{name}' in a parameterNodeWrapper")
    parameters = {}
    for name, annotated in typing.get_type_hints(classtype, include_extras=True).items():
        default = Default(getattr(classtype, name)) if hasattr(classtype, name) else None
        parameters[name] = _Parameter(name, annotated, default)
        setattr(classtype, name, _property(name))
    for name, member in vars(_Wrapper).items():
        if not name.startswith("__") or name == "__init__":
            setattr(classtype, name, member)
    classtype.allParameters = parameters
    return classtype
