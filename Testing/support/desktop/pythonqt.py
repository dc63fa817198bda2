"""Qt objects as PythonQt shows them to Slicer's Python, on top of PySide6.

Every Qt object is handed out as a Wrapper: Qt properties are attributes, signals connect by name or by signature,
enumerators are numbers, lists come back as tuples, and nothing but properties can be set on a C++ object. Stricter than
PythonQt in one point: a plain number is not taken where Qt wants an enumerator.
"""

from __future__ import annotations

import enum
import math
import sys
import weakref
from functools import cache
from pathlib import Path

import shiboken6
from PySide6 import QtCore, QtGui, QtWidgets

from . import signals

# the classes that the stand-in shows; only their members and those of their bases are visible
CLASSES = """
QAbstractItemView QAction QApplication QBrush QButtonGroup QByteArray QCheckBox QClipboard QColor QComboBox QCursor
QDesktopServices QDialog QDockWidget QDoubleSpinBox QEventLoop QFile QFileDialog QFont QFontMetrics QFormLayout QFrame
QGridLayout QGroupBox QHBoxLayout QHeaderView QIcon QImage QInputDialog QItemSelectionModel QKeySequence QLabel
QLineEdit QListWidget QListWidgetItem QMainWindow QMenu QMessageBox QModelIndex QObject QPainter QPalette QPen QPixmap
QPoint QProgressBar QProgressDialog QPushButton QRect QScrollArea QScrollBar QSettings QShortcut QSignalBlocker QSize
QSizePolicy QSlider QSpacerItem QSpinBox QSplitter QStackedWidget QStyle QTabWidget QTableView QTableWidget
QTableWidgetItem QTextDocument QTextEdit QTimer QToolButton QUrl QVBoxLayout QWidget Qt
"""

# the module and the checks that drive it, and what they use of these classes: a class and a member of it in each line,
# seen in a running Slicer
ROOT = Path(__file__).parents[3]
USERS = str(ROOT / "SegmentMetrics"), str(ROOT / "Testing" / "slicer" / "panel_checks")
LISTED = frozenset((Path(__file__).parent / "names.txt").read_text(encoding="utf-8").split())

# properties of Qt 6 that are methods in Slicer; singleShot is the static function there
METHODS_NOT_PROPERTIES = {"QLayout": {"contentsMargins"}, "QTimer": {"singleShot"}}


def setSectionResizeMode(header, *arguments) -> None:
    """Refuse a section that a header does not have, which Qt 6 ignores and Qt 5 does not check."""
    if len(arguments) == 2 and not 0 <= arguments[0] < header.count():
        raise IndexError(f"the header has {header.count()} sections, so there is no section {arguments[0]}")
    header.setSectionResizeMode(*arguments)


# (class, method) -> function(native object, *arguments), for what would end an application on Qt 5
FATAL_IN_QT5 = {("QHeaderView", "setSectionResizeMode"): setSectionResizeMode}

# (class, method) -> function(native object or class, *arguments)
overrides: dict[tuple[str, str], object] = dict(FATAL_IN_QT5)

_wrapperClasses: dict[type, type] = {}
_wrappers: weakref.WeakValueDictionary[int, Wrapper] = weakref.WeakValueDictionary()
_properties: dict[tuple[type, str], QtCore.QMetaProperty | None] = {}  # what findProperty() found
_PYTHON_WORDS = {"raise": "raise_", "exec_": "exec"}  # as Slicer writes them -> as PySide6 does


def nativeClass(name: str) -> type:
    """PySide6's class of a name."""
    return next(getattr(module, name) for module in (QtWidgets, QtGui, QtCore) if hasattr(module, name))


# the classes whose members are compared with Slicer's; other classes of PySide6 show nothing
_VISIBLE = {base for name in CLASSES.split() for base in nativeClass(name).__mro__}


class Enumerator(int):
    """An enumerator or a combination of flags: a number that remembers which Qt type it has."""

    native: enum.Enum

    def __new__(cls, native: enum.Enum):
        self = super().__new__(cls, native.value)
        self.native = native
        return self

    def __or__(self, other):
        return Enumerator(type(self.native)(int(self) | int(other)))

    __ror__ = __or__


def note(kind: type, name: str) -> None:
    """Complain about a member that one of these uses and that names.txt lacks: does a running Slicer have it?"""
    if isLacking(kind, name) and sys._getframe(2).f_code.co_filename.startswith(USERS):
        public = next(base.__name__ for base in kind.__mro__ if not base.__name__.startswith("_"))
        signals.complain(f"names.txt lacks {public}.{name}")


@cache
def isLacking(kind: type, name: str) -> bool:
    """Whether names.txt lacks a member; it may be listed as that of a base class."""
    return LISTED.isdisjoint(f"{base.__name__}.{name}" for base in kind.__mro__)


class WrapperClass(type):
    """The type of the classes in the qt module: their attributes are enumerators and static functions."""

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        found, owner = findMember(cls._nativeClass, name)
        if owner is None:
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        note(cls._nativeClass, name)
        return _present(cls._nativeClass, owner, found)


class Wrapper(metaclass=WrapperClass):
    """A Qt object or value. As in PythonQt, qt.QLabel does not derive from qt.QWidget: use inherits()."""

    _nativeClass: type = object
    _native = None

    def __init__(self, *arguments):
        native = self._nativeClass(*[toNative(argument) for argument in arguments])
        object.__setattr__(self, "_native", native)
        _wrappers[id(native)] = self

    # what every wrapper in PythonQt has
    def className(self) -> str:
        return type(self).__name__

    def inherits(self, name: str) -> bool:
        return any(base.__name__ == name for base in self._nativeClass.__mro__)

    def _alive(self, name: str):
        native = self._native
        if native is None or not shiboken6.isValid(native):
            message = f"Trying to read property '{name}' from a destroyed {type(self).__name__} object"
            raise ValueError(message)
        return native

    def __bool__(self) -> bool:
        return self._native is not None and shiboken6.isValid(self._native)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        native = self._alive(name)
        isObject, known = isinstance(native, QtCore.QObject), "objectName" if name == "name" else name
        if isObject and findProperty(native, known) is not None:
            note(type(native), known)
            return toPython(native.property(known))
        found, owner = findMember(type(native), name)
        if owner is not None:
            note(type(native), name)
            return _present(native, owner, found)
        raise AttributeError(f"{type(self).__name__} has no attribute named '{name}'")

    def __setattr__(self, name, value):
        native, kind = self._alive(name), type(self).__name__
        prop = findProperty(native, name) if isinstance(native, QtCore.QObject) else None
        if prop is not None:
            note(type(native), name)
            if not prop.isWritable():
                raise AttributeError(f"Property '{name}' of {kind} object is not writable")
            if not native.setProperty(name, _propertyValue(prop, name, value)):
                raise AttributeError(f"Property '{name}' of type '{prop.typeName()}' does not accept {value!r}")
        elif findMember(type(native), name)[1] is not None:
            raise AttributeError(f"Slot '{name}' can not be overwritten on {kind} object")
        else:
            message = f"'{name}' does not exist on {kind} and creating new attributes on C++ objects is not allowed"
            raise AttributeError(message)


class ObjectWrapper(Wrapper):
    """What PythonQt adds to every QObject."""

    def connect(self, signal: str, target) -> bool:
        """Connect a signal with what can be called; False, and a message, for an unknown one."""
        signature = self._signature("connect", signal)
        return signature is not None and signals.connect(self._native, signature, target, toPython)

    def disconnect(self, signal: str, target=None) -> bool:
        signature = self._signature("disconnect", signal)
        return signature is not None and signals.disconnect(self._native, signature, target)

    def _signature(self, action: str, signal: str) -> str | None:
        signature = signals.findSignature(self._alive(action), signal)
        if signature is None:
            kind = type(self).__name__
            signals.complain(f"PythonQt: QObject::{action}() signal '{signal}' does not exist on {kind}")
        return signature

    def property(self, name: str):
        return toPython(self._alive(name).property(name))

    def setProperty(self, name: str, value) -> bool:
        return self._alive(name).setProperty(name, toNative(value))


class Signal:
    """A signal of one object: connect(), disconnect(), emit(); calling it emits, too."""

    def __init__(self, native, name: str) -> None:
        self._native, self._name = native, name

    def connect(self, target) -> bool:
        return signals.connect(self._native, signals.firstSignature(self._native, self._name), target, toPython)

    def disconnect(self, target=None) -> bool:
        return signals.disconnect(self._native, signals.firstSignature(self._native, self._name), target)

    def emit(self, *arguments) -> None:
        getattr(self._native, self._name).emit(*[toNative(argument) for argument in arguments])

    __call__ = emit


class Method:
    """A method of one Qt object, or a static one."""

    def __init__(self, function, owner: str, name: str, native) -> None:
        self._function, self._key, self._native = function, (owner, name), native

    def __call__(self, *arguments):
        arguments = [toNative(argument) for argument in arguments]
        override = overrides.get(self._key)
        if override is not None:
            return toPython(override(self._native, *arguments))
        return toPython(self._function(*arguments))


@cache
def findMember(kind: type, name: str) -> tuple[str, type | None]:
    """PySide6's name of a member and the class that declares it; None as the latter where Slicer has no such name."""
    found = _PYTHON_WORDS.get(name, name)
    for base in kind.__mro__:
        if base is object or found not in vars(base):
            continue
        if not base.__module__.startswith("PySide6."):  # a stand-in says itself what it shows beside Qt's own members
            if name in vars(base).get("exposed", ()):
                return found, base
            continue
        return found, base if base in _VISIBLE else None
    isEnumerator = isinstance(getattr(kind, found, None), enum.Enum)  # as qt.Qt.AlignRight
    return found, kind if isEnumerator else None


def _present(native, owner: type, name: str):
    """How a member of a PySide6 object or class looks in PythonQt."""
    value = getattr(native, name)
    if isinstance(value, QtCore.SignalInstance):
        return Signal(native, name)
    if isinstance(value, enum.EnumMeta):
        return lambda number: Enumerator(value(int(number)))
    if isinstance(value, enum.Enum):
        return Enumerator(value)
    if isinstance(value, type):
        return wrapperClass(value)
    return Method(value, owner.__name__, name, native) if callable(value) else toPython(value)


def findProperty(native: QtCore.QObject, name: str) -> QtCore.QMetaProperty | None:
    """The QMetaProperty of a Qt property, None where Slicer shows no such property."""
    key = type(native), name
    if key not in _properties:
        metaObject = declaring = native.metaObject()
        index = metaObject.indexOfProperty(name)
        while 0 <= index < declaring.propertyOffset():
            declaring = declaring.superClass()
        isMethod = index < 0 or name in METHODS_NOT_PROPERTIES.get(declaring.className(), ())
        _properties[key] = None if isMethod else metaObject.property(index)
    return _properties[key]


def _propertyValue(prop: QtCore.QMetaProperty, name: str, value):
    """Convert as PythonQt does: numbers to the property's type, anything to text, None to nothing at all."""
    kind = prop.typeName()
    try:
        if kind in ("int", "uint"):
            return math.floor(value) if isinstance(value, float) else int(value)
        if kind == "double":
            return float(value)
        if kind == "bool":
            return bool(int(value))
        if kind == "QString" and value is not None:
            return value if isinstance(value, str) else str(value)
    except (TypeError, ValueError):
        value = None
    if value is None and kind != "PyObject":
        message = f"Property '{name}' of type '{kind}' does not accept an object of type NoneType or a wrong one"
        raise AttributeError(message)
    return toNative(value)


def wrapperClass(kind: type) -> type:
    if kind not in _wrapperClasses:
        base = ObjectWrapper if issubclass(kind, QtCore.QObject) else Wrapper
        _wrapperClasses[kind] = WrapperClass(kind.__name__, (base,), {"_nativeClass": kind})
    return _wrapperClasses[kind]


def wrap(native):
    """The wrapper of a PySide6 object; the same one as long as anybody holds it."""
    wrapper = _wrappers.get(id(native))
    if wrapper is None or wrapper._native is not native:
        kind = wrapperClass(type(native))
        wrapper = kind.__new__(kind)
        object.__setattr__(wrapper, "_native", native)
        _wrappers[id(native)] = wrapper
    return wrapper


def toPython(value):
    if isinstance(value, shiboken6.Object):
        return wrap(value)
    if isinstance(value, enum.Enum):
        return Enumerator(value)
    if isinstance(value, (list, tuple)):
        return tuple(toPython(item) for item in value)
    return value


def toNative(value):
    if isinstance(value, Wrapper):
        return value._alive("argument")
    if isinstance(value, Enumerator):
        return value.native
    if isinstance(value, WrapperClass):
        return value._nativeClass
    if isinstance(value, (list, tuple)):
        return [toNative(item) for item in value]
    return value
