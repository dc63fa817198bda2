"""Connections between Qt signals and Python as PythonQt makes them, and what it prints instead of raising it."""

from __future__ import annotations

import sys
import threading
import types
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from PySide6 import QtCore

exceptions: list[BaseException] = []  # what slots, observers and timers raised; the real Slicer only prints it
messages: list[str] = []  # what Qt and PythonQt print about wrong connections

_connections: weakref.WeakKeyDictionary[QtCore.QObject, list] = weakref.WeakKeyDictionary()
_keptAlive: dict[int, QtCore.QObject] = {}  # objects with connections that belong to a parent


class LockHolder:
    """Keeps Python's lock while no slot runs, as PythonQt's main thread does; PySide6 gives it to other threads.

    Threads that are started meanwhile stop at the next function that they enter or leave, until a slot runs. What waits
    for one of them gets it after PATIENCE seconds, as a lock does in Python.
    """

    PATIENCE = 0.1

    def __init__(self):
        self._isRunning = threading.Event()
        threading.setprofile(self._await)

    def end(self) -> None:
        threading.setprofile(None)
        self._isRunning.set()

    def _await(self, _frame, _event, _argument) -> None:
        if not self._isRunning.is_set():
            self._isRunning.wait(self.PATIENCE)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Let other threads run beside this slot, as far as it waits for something or takes longer than 5 ms."""
        isOutermost = not self._isRunning.is_set()
        self._isRunning.set()
        try:
            yield
        finally:
            if isOutermost:
                self._isRunning.clear()


holder: LockHolder | None = None  # set by Desktop


def complain(message: str) -> None:
    """Print what PythonQt prints instead of raising an exception, and remember it."""
    messages.append(message)
    print(message, file=sys.stderr)


def recordException(kind, value, traceback) -> None:
    """Print an exception that nobody catches, as Slicer does, and remember it; meant as sys.excepthook."""
    exceptions.append(value)
    sys.__excepthook__(kind, value, traceback)


def findSignature(native: QtCore.QObject, signal: str) -> str | None:
    """The signature under which PySide6 knows a signal that Slicer knows as signal; None when there is none."""
    normalized = QtCore.QMetaObject.normalizedSignature(signal).data().decode()
    normalized = getattr(type(native), "signatures", {}).get(normalized, normalized)
    return normalized if native.metaObject().indexOfSignal(normalized) >= 0 else None


def firstSignature(native: QtCore.QObject, name: str) -> str:
    """The signature of the overload of a signal that is declared first: the one that PythonQt takes."""
    metaObject = native.metaObject()
    methods = map(metaObject.method, range(metaObject.methodCount()))
    return next(one.methodSignature().data().decode() for one in methods if one.name() == name.encode())


def connect(native: QtCore.QObject, signature: str, target, convert) -> bool:
    """Call target whenever the signal comes, with the arguments that convert makes of the signal's."""
    if not callable(target):
        raise TypeError(f"{target!r} cannot be called")

    def slot(*arguments):
        callSlot(target, [convert(argument) for argument in arguments])

    connection = QtCore.QObject.connect(native, QtCore.SIGNAL(signature), slot)
    _connections.setdefault(native, []).append((signature, target, connection))
    if native.parent() is not None and id(native) not in _keptAlive:
        key = id(native)
        _keptAlive[key] = native
        QtCore.QObject.connect(native, QtCore.SIGNAL("destroyed()"), lambda: _keptAlive.pop(key, None))
    return bool(connection)


def disconnect(native: QtCore.QObject, signature: str, target=None) -> bool:
    """Undo one connection to target, or all connections of the signal; False when there was none."""
    entries = _connections.get(native, [])
    found = [entry for entry in entries if entry[0] == signature and (target is None or entry[1] == target)]
    for entry in found if target is None else found[:1]:
        QtCore.QObject.disconnect(entry[2])
        entries.remove(entry)
    return bool(found)


def callSlot(target, arguments=()) -> None:
    """Call a slot with as many of the signal's arguments as it takes; an exception is printed and recorded."""
    function = target.__func__ if isinstance(target, types.MethodType) else target
    if isinstance(function, types.FunctionType) and not function.__code__.co_flags & 0x04:  # no *arguments
        count = function.__code__.co_argcount - (function is not target)
        arguments = arguments[: max(count, 0)]
    try:
        with holder.slot() if holder is not None else nullcontext():
            target(*arguments)
    except Exception:
        recordException(*sys.exc_info())
