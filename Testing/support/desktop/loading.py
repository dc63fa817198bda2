"""Loads .ui files with Qt's own loader, and answers the dialogs that would wait for a user."""

from __future__ import annotations

from xml.etree import ElementTree

from PySide6.QtCore import QBuffer, QObject
from PySide6.QtUiTools import QUiLoader as NativeLoader
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox

from . import plotview, pythonqt, selectors, widgets

STANDINS = {
    kind.__name__: kind
    for kind in (
        widgets.ctkCheckableComboBox,
        widgets.ctkCollapsibleGroupBox,
        widgets.ctkMessageBox,
        widgets.ctkSliderWidget,
        widgets.qMRMLWidget,
        selectors.qMRMLSegmentSelectorWidget,
        plotview.qMRMLPlotView,
    )
}

# dialogs that were shown: (class, text, detailed text) of message boxes, (function, directory) of file dialogs
shown: list[tuple] = []
answers: list = []  # what the next dialogs answer: a button of a message box, a file name of a file dialog


class QUiLoader(NativeLoader):
    """Makes the stand-ins for ctk's and Slicer's widgets; connects mrmlSceneChanged() as the .ui file says."""

    exposed = frozenset({"load"})

    def __init__(self, parent=None):
        super().__init__(parent)

    def createWidget(self, className, parent=None, name=""):
        if className in STANDINS:
            widget = STANDINS[className](parent)
            widget.setObjectName(name)
            return widget
        if className.startswith(("ctk", "qMRML", "qSlicer")):
            raise RuntimeError(f"the stand-in has no {className}")
        return super().createWidget(className, parent, name)

    def load(self, device, parent=None):
        root = ElementTree.fromstring(bytes(device.readAll().data()))
        connections = root.find("connections")
        own = [c for c in connections or () if "vtkMRML" in c.findtext("signal")]
        for connection in own:
            connections.remove(connection)
        buffer = QBuffer()
        buffer.setData(ElementTree.tostring(root))
        buffer.open(QBuffer.OpenModeFlag.ReadOnly)
        widget = super().load(buffer, parent)
        for connection in own:
            _connect(widget, *(connection.findtext(part) for part in ("sender", "signal", "receiver", "slot")))
        return widget


def _connect(top, senderName: str, signal: str, receiverName: str, slot: str) -> None:
    names = (senderName, receiverName)
    sender, receiver = (top if top.objectName() == name else top.findChild(QObject, name) for name in names)
    getattr(sender, signal.split("(")[0]).connect(getattr(receiver, slot.split("(")[0]))


def _nextAnswer(default):
    return answers.pop(0) if answers else default


def _showDialog(dialog: QDialog):
    """What exec() of a message box answers without waiting: the next of answers, else OK, Yes or Retry."""
    shown.append((dialog.icon().name, dialog.text(), dialog.detailedText()))
    button = QMessageBox.StandardButton
    accepting = [b for b in (button.Ok, button.Yes, button.Retry) if b in dialog.standardButtons()]
    return _nextAnswer((accepting or [button.Ok])[0].value)


def _askForFile(function: str):
    """PythonQt's file dialogs answer with the file name alone, "" when the user cancels."""

    def ask(native, parent=None, title="", directory="", *others):
        shown.append((function, directory))
        return _nextAnswer("")

    return ask


def pipEnsure(requirements, requester=None) -> None:
    """Ask to install packages; RuntimeError, as in Slicer, if the answer is not True, or the error that it is."""
    shown.append(("pip_ensure", requirements))
    answer = _nextAnswer(False)
    if isinstance(answer, Exception):
        raise answer
    if not answer:
        raise RuntimeError(f"{requirements} is not installed")


def install() -> None:
    """Put the answers in the place of the dialogs."""
    overrides = pythonqt.overrides
    overrides["QDialog", "exec"] = _showDialog
    for function in ("getSaveFileName", "getOpenFileName"):
        overrides[QFileDialog.__name__, function] = _askForFile(function)
