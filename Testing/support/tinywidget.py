"""A small panel for tests of the stand-in, and what is chosen in it."""

from __future__ import annotations

import pytest
import slicer

UI = """<?xml version="1.0" encoding="UTF-8"?>
<ui version="4.0"><class>Tiny</class>
<widget class="qMRMLWidget" name="Tiny"><layout class="QVBoxLayout" name="verticalLayout">
 <item><widget class="ctkCollapsibleButton" name="inputs"><property name="text"><string>Inputs</string></property>
  <layout class="QFormLayout" name="form">
   <item row="0" column="1"><widget class="qMRMLSegmentSelectorWidget" name="selector"/></item>
   <item row="1" column="1"><widget class="QDoubleSpinBox" name="spin">
     <property name="SlicerParameterName" stdset="0"><string>tolerance</string></property></widget></item>
   <item row="2" column="1"><widget class="ctkSliderWidget" name="slider">
     <property name="decimals"><number>1</number></property><property name="maximum"><double>5</double></property>
     </widget></item>
   <item row="3" column="1"><widget class="QRadioButton" name="radio"/></item>
  </layout></widget></item>
</layout></widget>
<connections><connection><sender>Tiny</sender><signal>mrmlSceneChanged(vtkMRMLScene*)</signal>
 <receiver>selector</receiver><slot>setMRMLScene(vtkMRMLScene*)</slot></connection></connections>
</ui>"""


def addSegmentation(name: str, *segments: str):
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    for segment in segments:
        node.GetSegmentation().AddEmptySegment(segment, segment)
    return node


@pytest.fixture
def ui(desktop, tmp_path):
    (tmp_path / "Tiny.ui").write_text(UI)
    widget = slicer.util.loadUI(str(tmp_path / "Tiny.ui"))
    children = slicer.util.childWidgetVariables(widget)
    children.top = widget
    yield children
    widget.delete()
