"""The stand-in's combo box with check boxes, and the points of its plots."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer


def test_a_combo_box_with_check_boxes(desktop):
    import ctk
    import qt

    box, told = ctk.ctkCheckableComboBox(), []
    box.connect("checkedIndexesChanged()", lambda: told.append(box.count))
    box.addItems(["Brain", "Cord", "Eye"])
    role = qt.Qt.CheckStateRole
    assert [box.itemData(row, role) for row in range(3)] == [0, 0, 0] and told == []
    assert box.noneChecked() and box._native.shownText() == "None"
    box.setItemData(1, int(qt.Qt.Checked), role)
    assert told == [3] and box.itemData(1, role) == qt.Qt.Checked and box._native.shownText() == "Cord"
    box.setItemData(1, int(qt.Qt.Checked), role)
    assert told == [3], "nothing has changed"
    for row in (0, 2):
        box.setItemData(row, int(qt.Qt.Checked), role)
    assert box.allChecked() and box._native.shownText() == "All"
    box.setItemData(0, int(qt.Qt.Unchecked), role)
    assert box._native.shownText() == "Cord, Eye" and len(told) == 4
    box.clear()
    assert box.count == 0 and box.noneChecked()


def test_a_click_into_the_list_of_a_combo_box_checks(desktop):
    import ctk
    import qt
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest

    box = ctk.ctkCheckableComboBox()
    box.addItems(["Brain", "Cord", "Eye"])
    native = box._native
    native.show()
    native.showPopup()
    desktop.processEvents(50)
    view = native.view()
    place = view.visualRect(native.model().index(2, 0)).center()
    QTest.mouseMove(view.viewport(), QPoint(place))
    view.setCurrentIndex(native.model().index(2, 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert box.itemData(2, qt.Qt.CheckStateRole) == qt.Qt.Checked and view.isVisible(), "it stays open for more"
    native.hidePopup()


def test_points_of_a_plot_are_selected(desktop):
    import vtk

    view, told = slicer.qMRMLPlotView(), []
    view.connect("dataSelected(vtkStringArray*,vtkCollection*)", lambda series, points: told.append((series, points)))
    series, points = vtk.vtkStringArray(), vtk.vtkCollection()
    view._native.dataSelected.emit(series, points)
    assert told == [(series, points)]
