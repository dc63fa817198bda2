"""What tests of the panel rely on in the stand-in: it is as strict as Slicer, notes what happens, and leaves no trace.

How its widgets, views and parameters behave is seen in the tests of the panel, which would fail without.
"""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer


def test_messages_are_recorded_instead_of_waiting(desktop):
    import qt

    with pytest.raises(ValueError, match="inside"), slicer.util.tryWithErrorDisplay("Failed.", waitCursor=True):
        raise ValueError("inside")
    assert desktop.shown[0][:2] == ("Critical", "Failed.\n\ninside") and "Traceback" in desktop.shown[0][2]
    assert slicer.util.confirmOkCancelDisplay("Sure?") is True
    desktop.answers.append(qt.QMessageBox.Cancel)
    assert slicer.util.confirmOkCancelDisplay("Really?") is False
    assert [text for _, text, _ in desktop.shown[1:]] == ["Sure?", "Really?"]
    desktop.answers.append("/somewhere/a.csv")
    assert qt.QFileDialog.getSaveFileName(None, "Export", "a.csv", "*.csv") == "/somewhere/a.csv"  # no tuple
    assert qt.QFileDialog.getSaveFileName(None, "Export", "a.csv") == ""
    assert qt.QApplication.overrideCursor() is None


def test_exceptions_in_slots_are_recorded(desktop):
    import qt

    def fail():
        raise KeyError("slot")

    def failInObserver(caller, event):
        raise KeyError("observer")

    button = qt.QPushButton()
    button.clicked.connect(fail)
    button.clicked.connect(lambda one, two, three: None)  # more than the signal has
    button.click()
    qt.QTimer.singleShot(0, fail)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    node.AddObserver("ModifiedEvent", failInObserver)
    node.Modified()
    desktop.processEvents(20)
    assert [type(error) for error in desktop.exceptions] == [KeyError, TypeError, KeyError, KeyError]
    desktop.forget()


def test_properties_are_attributes(desktop):
    import qt

    label, spin = qt.QLabel("first"), qt.QSpinBox()
    assert label.text == "first" and label.enabled is True and label.isVisible() is False
    with pytest.raises(TypeError, match="'str' object is not callable"):
        label.text()
    label.text, label.enabled, spin.value = 5, 0, 2.9
    # the floor, as PythonQt takes it
    assert (label.text, label.enabled, spin.value) == ("5", False, 2)
    spin.value = np.float64(3.0)
    assert spin.value == 3
    for value in (None, "many"):
        with pytest.raises(AttributeError, match="does not accept"):
            spin.value = value
    with pytest.raises(AttributeError, match="not writable"):
        label.minimumSizeHint = 3
    with pytest.raises(AttributeError, match="creating new attributes on C\\+\\+ objects is not allowed"):
        label.remark = 1
    with pytest.raises(AttributeError, match="can not be overwritten"):
        label.setText = 1
    label.setProperty("remark", "dynamic")
    assert label.remark == label.property("remark") == "dynamic"


def test_names_that_slicer_does_not_have(desktop):
    import ctk
    import qt

    for owner, name in (
        *((qt, name) for name in ("QRadioButton", "QtWidgets", "Signal", "QThread")),
        (ctk, "ctkPathLineEdit"),  # Slicer has it; the stand-in has only what is used
        (slicer.util, "notThere"),
        (slicer.app, "exec_once"),
        (ctk.ctkSliderWidget(), "setMinimum"),  # only slots and properties of ctk's classes are visible
    ):
        assert not hasattr(owner, name), name
    assert not isinstance(qt.QLabel(), qt.QWidget)  # PythonQt's classes do not derive from each other
    assert qt.QLabel().inherits("QWidget")
    table = qt.QTableWidget(0, 2)
    with pytest.raises(IndexError, match="2 sections"):  # Qt 5 crashes there, and Qt 6 does not mind
        table.horizontalHeader().setSectionResizeMode(2, qt.QHeaderView.Stretch)


def test_connections(desktop, capfd):
    import qt

    calls, button = [], qt.QPushButton()

    class Receiver:
        def withDefault(self, quiet=None):
            calls.append(quiet)

        def withAll(self, *arguments):
            calls.append(arguments)

    receiver = Receiver()
    for slot in (lambda: calls.append("nothing"), receiver.withDefault, receiver.withAll):
        assert button.clicked.connect(slot)
    assert button.connect("clicked()", receiver.withDefault)
    button.click()
    assert calls == ["nothing", False, (False,), None]
    assert button.clicked.disconnect(receiver.withDefault) and button.disconnect("clicked()", receiver.withDefault)
    assert not button.clicked.disconnect(receiver.withDefault)
    calls.clear()
    button.click()
    assert calls == ["nothing", (False,)]
    assert button.connect("clicked", receiver.withAll) is False  # PythonQt wants the signature
    assert button.connect("cliked(bool)", receiver.withAll) is False
    assert "signal 'cliked(bool)' does not exist on QPushButton" in capfd.readouterr().err
    assert len(desktop.messages) == 2


def test_nothing_is_left_behind(desktop):
    desktop.close()
    assert not hasattr(slicer, "app") and not hasattr(slicer, "modules") and "qt" not in sys.modules
    assert not hasattr(slicer, "qMRMLWidget") and "slicer.i18n" not in sys.modules


MODULE = """
from slicer.ScriptedLoadableModule import *
class Tiny(ScriptedLoadableModule): pass
class TinyWidget(ScriptedLoadableModuleWidget): pass
"""


@pytest.mark.parametrize("isReloaded", [False, True])
def test_libraries_stay_what_they_were(tmp_path, monkeypatch, isReloaded):
    """With all that was imported meanwhile: two copies of a part would not know each other's classes."""
    from desktop import Desktop

    for folder, file, text in (("Tiny", "Tiny.py", MODULE), ("TinyLib", "__init__.py", ""), ("TinyLib", "part.py", "")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    names = "TinyLib", "TinyLib.part"
    library = importlib.import_module("TinyLib")
    with Desktop() as desktop:
        desktop.loadModule(tmp_path / "Tiny" / "Tiny.py")
        part = importlib.import_module("TinyLib.part")
        if isReloaded:
            for name in names:
                del sys.modules[name]
            assert importlib.import_module("TinyLib.part") is not part
    assert [sys.modules.pop(name) for name in names] == [library, part] and library.part is part
