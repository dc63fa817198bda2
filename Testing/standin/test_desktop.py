"""What tests of the panel rely on in the stand-in: it is as strict as Slicer, notes what happens, and leaves no trace.

How its widgets, views and parameters behave is seen in the tests of the panel, which would fail without.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer


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
    import ctk
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
    with pytest.raises(AttributeError, match="creating new attributes on C\\+\\+ objects is not allowed"):
        label.remark = 1
    assert not hasattr(qt, "QRadioButton") and not hasattr(ctk.ctkSliderWidget(), "setMinimum")
    table = qt.QTableWidget(0, 2)
    with pytest.raises(IndexError, match="2 sections"):
        table.horizontalHeader().setSectionResizeMode(2, qt.QHeaderView.Stretch)
    assert label.connect("cliked(bool)", print) is False and len(desktop.messages) == 1


def test_nothing_is_left_behind(desktop):
    desktop.close()
    assert not hasattr(slicer, "app") and not hasattr(slicer, "modules") and "qt" not in sys.modules
    assert not hasattr(slicer, "qMRMLWidget") and "slicer.i18n" not in sys.modules
