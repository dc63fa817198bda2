"""The stand-in's Qt behaves as PythonQt does where the module depends on it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer
from tinywidget import addSegmentation


def test_properties_are_attributes(desktop):
    import qt

    label = qt.QLabel("first")
    assert label.text == "first"
    label.text = "second"
    assert label.text == "second"
    label.setText("third")
    assert label.text == "third"
    with pytest.raises(TypeError, match="'str' object is not callable"):
        label.text()
    label.text = 5
    assert label.text == "5"
    assert label.visible is False and label.isVisible() is False
    label.enabled = 0
    assert label.enabled is False
    assert label.font.pointSize() == label.font.pointSize() > 0
    assert label.parent() is None
    label.name = "myLabel"
    assert label.objectName == "myLabel"
    spin = qt.QSpinBox()
    spin.value = 2.9  # the floor, as PythonQt takes it
    assert spin.value == 2
    spin.value = np.float64(3.0)
    assert spin.value == 3
    for value in (None, "many"):
        with pytest.raises(AttributeError, match="does not accept"):
            spin.value = value
    with pytest.raises(AttributeError, match="not writable"):
        label.minimumSizeHint = 3


def test_nothing_but_properties_can_be_set(desktop):
    import qt

    label = qt.QLabel()
    with pytest.raises(AttributeError, match="creating new attributes on C\\+\\+ objects is not allowed"):
        label.remark = 1
    with pytest.raises(AttributeError, match="can not be overwritten"):
        label.setText = 1
    label.setProperty("remark", "dynamic")
    assert label.remark == label.property("remark") == "dynamic"
    label.remark = "changed"
    assert label.property("remark") == "changed"
    assert label.property("other") is None


def test_names_that_slicer_does_not_have(desktop):
    import ctk
    import qt

    for name in ("QRadioButton", "QtWidgets", "Signal", "QThread"):
        assert not hasattr(qt, name)
    assert not hasattr(ctk, "ctkPathLineEdit")  # Slicer has it; the stand-in has only what is used
    assert not hasattr(slicer.util, "notThere")
    assert not hasattr(slicer.app, "exec_once")
    assert not hasattr(qt.QCheckBox(), "checkStateChanged")  # Qt 6
    assert not hasattr(ctk.ctkSliderWidget(), "setMinimum")  # only slots and properties of ctk's classes are visible
    assert not hasattr(ctk.ctkCollapsibleButton(), "setCollapsed")
    assert not isinstance(qt.QLabel(), qt.QWidget)  # PythonQt's classes do not derive from each other
    assert qt.QLabel().inherits("QWidget")


def test_connections(desktop, capfd):
    import qt

    calls = []

    class Receiver:
        def withNothing(self):
            calls.append("nothing")

        def withDefault(self, quiet=None):
            calls.append(("default", quiet))

        def withAll(self, *arguments):
            calls.append(("all", arguments))

    receiver, button = Receiver(), qt.QPushButton()
    for slot in (receiver.withNothing, receiver.withDefault, receiver.withAll):
        assert button.clicked.connect(slot)
    assert button.connect("clicked()", receiver.withDefault)
    button.click()
    assert calls == ["nothing", ("default", False), ("all", (False,)), ("default", None)]
    assert button.clicked.disconnect(receiver.withDefault)
    assert not button.clicked.disconnect(receiver.withDefault)
    assert button.disconnect("clicked()", receiver.withDefault)
    button.blockSignals(True)
    button.click()
    button.blockSignals(False)
    calls.clear()
    button.click()
    assert calls == ["nothing", ("all", (False,))]
    assert button.connect("clicked", receiver.withAll) is False  # PythonQt wants the signature
    assert button.connect("cliked(bool)", receiver.withAll) is False
    assert "signal 'cliked(bool)' does not exist on QPushButton" in capfd.readouterr().err
    assert len(desktop.messages) == 2


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
    node = addSegmentation("Node")
    node.AddObserver("ModifiedEvent", failInObserver)
    node.Modified()
    desktop.processEvents(20)
    assert [type(error) for error in desktop.exceptions] == [KeyError, TypeError, KeyError, KeyError]
    desktop.forget()


def test_a_section_that_a_header_does_not_have(desktop):
    """Qt 5 crashes there, and Qt 6 does not mind."""
    import qt

    table = qt.QTableWidget(0, 2)
    table.horizontalHeader().setSectionResizeMode(1, qt.QHeaderView.Stretch)
    table.horizontalHeader().setSectionResizeMode(qt.QHeaderView.Stretch)
    with pytest.raises(IndexError, match="2 sections"):
        table.horizontalHeader().setSectionResizeMode(2, qt.QHeaderView.Stretch)
