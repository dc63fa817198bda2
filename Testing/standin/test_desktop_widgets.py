"""The stand-in's widgets of ctk and of Slicer behave as the real ones do where the module depends on them."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer
from tinywidget import addSegmentation
from tinywidget import ui as ui  # the fixture


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
