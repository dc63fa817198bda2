"""The stand-in's widgets of ctk and of Slicer behave as the real ones do where the module depends on them."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer
from tinywidget import addSegmentation
from tinywidget import ui as ui  # the fixture


def test_a_ui_file(desktop, ui):
    assert ui.spin.property("SlicerParameterName") == "tolerance" == ui.spin.SlicerParameterName
    assert ui.inputs.text == "Inputs" and ui.slider.decimals == 1 and ui.slider.maximum == 5
    assert ui.radio.className() == "QRadioButton" and ui.radio.checked is False
    assert ui.top.mrmlScene() is None and ui.selector.currentNode() is None
    node = addSegmentation("Reference", "Liver")
    ui.top.setMRMLScene(slicer.mrmlScene)
    assert ui.selector.currentNode() is node
    assert len(ui.top.findChildren("QComboBox")) == 2
    assert slicer.util.findChild(ui.top, "spin") is ui.spin
    with pytest.raises(RuntimeError, match="file not found"):
        slicer.util.loadUI("nowhere.ui")


def test_a_collapsible_button_hides_its_contents(desktop, ui):
    collapsed = []
    ui.inputs.contentsCollapsed.connect(collapsed.append)
    ui.top.show()
    desktop.processEvents()
    high = ui.top.sizeHint.height()
    assert ui.spin.visible
    ui.inputs.collapsed = True
    assert not ui.spin.visible and collapsed == [True] and ui.inputs.checked is False
    assert ui.top.sizeHint.height() < high
    ui.radio.visible = True  # while collapsed: later
    ui.slider.setVisible(False)
    assert not ui.radio.visible
    ui.inputs.click()
    assert ui.spin.visible and ui.radio.visible and not ui.slider.visible
    assert ui.inputs.collapsed is False


def test_a_collapsible_group_box(desktop):
    import ctk
    import qt

    box = ctk.ctkCollapsibleGroupBox()
    layout = qt.QVBoxLayout(box)
    label = qt.QLabel("contents")
    layout.addWidget(label)
    box.title = "Advanced"
    box.collapsed = True
    box.show()
    desktop.processEvents()
    assert not label.visible and box.checked is False
    box.collapsed = False
    assert label.visible


def test_numbers_of_ctk(desktop):
    import ctk

    slider, box, values = ctk.ctkSliderWidget(), ctk.ctkDoubleSpinBox(), []
    slider.connect("valueChanged(double)", values.append)
    slider.decimals, slider.minimum, slider.maximum, slider.singleStep, slider.suffix = 1, -1, 5, 0.5, " mm"
    slider.value = 1.2345
    assert slider.value == 1.2345  # not rounded to its decimals
    slider.value = 1.2345
    slider.setValue(9)
    assert slider.value == 5 and values == [1.2345, 5.0]
    box.decimals, box.maximum = 1, 5
    box.value = 1.2345
    assert box.value == 1.2
    box.setValue(7)
    assert box.value == 5


def test_the_segment_selector(desktop, ui):
    selector, seen = ui.selector, []
    first, second = addSegmentation("First", "A", "B"), addSegmentation("Second", "C", "D")
    selector.connect("currentNodeChanged(vtkMRMLNode*)", lambda node: seen.append(node and node.GetName()))
    selector.connect("currentSegmentChanged(QString)", lambda segmentID: seen.append(segmentID))
    ui.top.setMRMLScene(slicer.mrmlScene)
    assert (selector.currentNode(), selector.currentSegmentID(), seen) == (first, "A", [])
    selector.setCurrentSegmentID("B")
    selector.setCurrentNode(second)
    assert seen == ["B", "C", "Second"]  # the node's first segment comes before anybody can ask for another
    seen.clear()
    selector.setCurrentSegmentID("D")
    second.GetSegmentation().GetSegment("D").SetName("renamed")
    assert seen == ["D"] and selector.currentSegmentID() == "D"
    second.GetSegmentation().RemoveSegment("D")
    assert seen == ["D", "C"]
    assert selector.segmentIDs() == () and selector.currentNodeID() == second.GetID()
    selector.setCurrentNode(None)
    assert seen == ["D", "C", None] and selector.currentNode() is None and selector.currentSegmentID() == "C"


def test_the_segment_selector_when_nodes_go_and_come(desktop, ui):
    selector, seen = ui.selector, []
    ui.top.setMRMLScene(slicer.mrmlScene)
    first = addSegmentation("First", "A")
    assert selector.currentNode() is None
    selector.setCurrentNode(first)
    second = addSegmentation("Second", "B")
    assert selector.currentNode() is first
    selector.currentNodeChanged.connect(lambda node: seen.append(node.GetName()))
    slicer.mrmlScene.RemoveNode(first)
    assert seen == ["Second"] and selector.currentSegmentID() == "B"
    slicer.mrmlScene.RemoveNode(second)
    assert seen == ["Second"]  # no signal
    assert selector.currentNode() is None and selector.currentNodeID() == "" and selector.currentSegmentID() == "B"


def test_the_segment_selector_with_none(desktop, ui):
    addSegmentation("First", "A")
    ui.selector.noneEnabled = True
    ui.top.setMRMLScene(slicer.mrmlScene)
    assert ui.selector.currentNode() is None and ui.selector.currentSegmentID() == ""
    ui.selector.setCurrentNode(slicer.util.getNode("First"))
    assert ui.selector.currentSegmentID() == ""


def test_long_names_widen_the_segment_selector(desktop, ui):
    import qt

    ui.top.setMRMLScene(slicer.mrmlScene)
    ui.top.show()
    desktop.processEvents()
    narrow = ui.selector.minimumSizeHint.width()
    addSegmentation("n" * 80, "A")
    desktop.processEvents()
    assert ui.selector.minimumSizeHint.width() > narrow + 200
    assert ui.top.minimumSizeHint.width() > 400
    ui.selector.setSizePolicy(qt.QSizePolicy.Ignored, qt.QSizePolicy.Preferred)
    ui.selector.setMinimumWidth(150)
    desktop.processEvents()
    assert ui.top.minimumSizeHint.width() < 400


def test_larger_letters_make_larger_pictures(desktop, ui):
    from desktop import photographs

    if not photographs.hasFont():
        pytest.skip(f"{photographs.FONT} is not installed")
    sizes = []
    for scale in (1.0, 1.5):
        with photographs.fontScale(scale):
            sizes.append(photographs.photograph(ui.top, width=380).height())
    assert sizes[1] > 1.15 * sizes[0]
