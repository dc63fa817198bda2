"""The stand-in for Slicer's Qt half behaves as PythonQt, ctk and Slicer do where the module depends on it."""

from __future__ import annotations

import enum
import sys
from typing import Annotated

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer
from slicer import vtkMRMLSegmentationNode, vtkMRMLTableNode

NO_WINDOW = pytest.mark.parametrize("desktop", [{"mainWindow": False}], indirect=True)
TESTING = pytest.mark.parametrize("desktop", [{"testing": True}], indirect=True)
DEVELOPER = pytest.mark.parametrize("desktop", [{"developerMode": True}], indirect=True)

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

MODULE = """
import qt, slicer
from slicer.ScriptedLoadableModule import *
VERSION = 1
class Tiny(ScriptedLoadableModule):
    def __init__(self, parent):
        super().__init__(parent)
        parent.title = "Tiny module"
class TinyWidget(ScriptedLoadableModuleWidget):
    def setup(self):
        super().setup()
        self.calls = []
        self.version = VERSION
        self.button = qt.QPushButton("Go")
        self.layout.addWidget(self.button)
        self.logic = TinyLogic()
    def enter(self): self.calls.append("enter")
    def exit(self): self.calls.append("exit")
    def cleanup(self): CLEANED.append(self)
CLEANED = []
class TinyLogic(ScriptedLoadableModuleLogic): pass
class TinyTest(ScriptedLoadableModuleTest):
    def test_one(self): slicer.tested = True
"""


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


@pytest.fixture
def tinyModule(desktop, tmp_path):
    (tmp_path / "Tiny.py").write_text(MODULE)
    return desktop.loadModule(tmp_path / "Tiny.py")


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


def test_enumerators_are_numbers(desktop):
    import qt

    right = qt.Qt.AlignRight | qt.Qt.AlignVCenter
    assert right == 0x82 and isinstance(right, int)
    item = qt.QTableWidgetItem("x")
    item.setTextAlignment(right)
    assert item.textAlignment() == right
    item.setFlags(item.flags() & ~qt.Qt.ItemIsEditable)
    assert not item.flags() & qt.Qt.ItemIsEditable
    item.setData(qt.Qt.UserRole + 1, [1, "two"])
    assert item.data(qt.Qt.UserRole + 1) == (1, "two")
    item.setData(qt.Qt.DisplayRole, 1.5)
    assert item.text() == "1.5"
    label = qt.QLabel()
    label.setSizePolicy(qt.QSizePolicy.Ignored, qt.QSizePolicy.Preferred)
    assert label.sizePolicy.horizontalPolicy() == qt.QSizePolicy.Ignored == 13
    label.alignment = qt.Qt.AlignRight
    assert label.alignment & qt.Qt.AlignRight


def test_table(desktop):
    import qt

    table = qt.QTableWidget(3, 2)
    assert (table.rowCount, table.columnCount) == (3, 2)
    table.rowCount = 4
    table.setRowCount(3)
    for row, value in enumerate((10.0, 9.0, 100.0)):
        item = qt.QTableWidgetItem()
        item.setData(qt.Qt.DisplayRole, value)
        item.setData(qt.Qt.UserRole, row)
        table.setItem(row, 0, item)
    table.sortItems(0, qt.Qt.AscendingOrder)
    assert [table.item(row, 0).data(qt.Qt.UserRole) for row in range(3)] == [1, 0, 2]
    assert table.item(0, 1) is None
    clicks = []
    table.cellClicked.connect(lambda row, column: clicks.append((row, column)))
    table.connect("cellClicked(int,int)", lambda row: clicks.append(row))
    table.cellClicked(2, 1)
    assert clicks == [(2, 1), 2]
    table.setCurrentCell(1, 0)
    assert table.currentRow() == 1
    assert table.horizontalHeader().className() == "QHeaderView"
    assert table.horizontalHeader() is table.horizontalHeader()


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


def test_timers(desktop):
    import qt

    calls = []
    timer = qt.QTimer()
    timer.setSingleShot(True)
    timer.interval = 1
    timer.timeout.connect(lambda: calls.append("timeout"))
    timer.start()
    assert timer.active and timer.isActive()
    desktop.processEvents(40)
    assert calls == ["timeout"] and not timer.active
    qt.QTimer.singleShot(0, lambda: calls.append("single"))
    desktop.processEvents(20)
    assert calls == ["timeout", "single"]


def test_a_deleted_widget(desktop):
    import qt

    parent = qt.QWidget()
    child = qt.QLabel("child", parent)
    assert parent.children()[0] is child
    parent.delete()
    assert not child and child == None  # noqa: E711
    with pytest.raises(ValueError, match="destroyed QLabel object"):
        child.text  # noqa: B018


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


class Kind(enum.Enum):
    SIGNED = "signed"
    ABSOLUTE = "absolute"

    def label(self) -> str:
        return f"The {self.value} one"


def makeParameters():
    from slicer.parameterNodeWrapper import Choice, WithinRange, parameterNodeWrapper

    class Parameters:
        name, tolerance, free, count, surface = "nobody", 2.0, 1.0, 1, "smooth"

    Parameters.__annotations__ = {  # written so because this file's own annotations are strings
        "node": vtkMRMLSegmentationNode,
        "table": vtkMRMLTableNode,
        "name": str,
        "enabled": bool,
        "tolerance": Annotated[float, WithinRange(0.1, 10)],
        "free": float,
        "count": Annotated[int, WithinRange(0, 5)],
        "surface": Annotated[str, Choice(["raw", "smooth"])],
        "kind": Kind,
        "names": list[str],
    }
    return parameterNodeWrapper(Parameters)


@pytest.fixture
def parameters(desktop):
    from slicer.ScriptedLoadableModule import ScriptedLoadableModuleLogic

    class TinyLogic(ScriptedLoadableModuleLogic):
        pass

    return makeParameters()(TinyLogic().getParameterNode())


def test_parameters_are_stored_as_slicer_stores_them(desktop, parameters):
    node = parameters.parameterNode
    assert node.GetSingletonTag() == "Tiny" and node.GetAttribute("ModuleName") == "Tiny"
    assert (parameters.name, parameters.enabled, parameters.kind) == ("nobody", False, Kind.SIGNED)
    assert parameters.node is None
    segmentation = addSegmentation("First", "A")
    parameters.node, parameters.enabled, parameters.kind = segmentation, True, Kind.ABSOLUTE
    parameters.names = ["a", "b"]
    parameters.names.append("c")
    stored = {name: node.GetParameter(name) for name in node.GetParameterNames()}
    assert stored == {
        **{"node": "", "table": "", "name": "nobody", "enabled": "True", "tolerance": "2.0", "free": "1.0"},
        **{"count": "1", "surface": "smooth", "kind": "ABSOLUTE"},
        **{"names.len": "3", "names.0": "a", "names.1": "b", "names.2": "c"},
    }
    assert node.GetNodeReferenceID("node") == segmentation.GetID()
    assert parameters.names == ["a", "b", "c"] and not isinstance(parameters.names, list)
    parameters.names = ["z"]
    assert node.GetParameter("names.1") == ""
    assert makeParameters()(node).names == ["z"]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("tolerance", 11.0, ValueError),
        ("count", -1, ValueError),
        ("surface", "other", ValueError),
        ("name", None, ValueError),
        ("name", 5, TypeError),
        ("count", 1.5, TypeError),
        ("node", "First", TypeError),
        ("names", [1], TypeError),
    ],
)
def test_wrong_values_are_refused(parameters, name, value, error):
    before = getattr(parameters, name)
    with pytest.raises(error):
        setattr(parameters, name, value)
    assert getattr(parameters, name) == before


def test_events_of_parameters(parameters):
    events = []
    parameters.AddObserver("ModifiedEvent", lambda caller, event: events.append(parameters.tolerance))
    parameters.tolerance = 3.0
    parameters.tolerance = 3.0  # the same value: nothing
    with slicer.util.NodeModify(parameters):
        parameters.tolerance = 4.0
        parameters.name = "somebody"
    assert events == [3.0, 4.0]


class Gui:
    """Widgets as slicer.util.childWidgetVariables gives them."""

    def __init__(self, **widgets) -> None:
        self.__dict__.update(widgets)
        for name, widget in widgets.items():
            widget.setProperty("SlicerParameterName", name)


def test_widgets_follow_parameters_and_back(desktop, parameters):
    import ctk
    import qt

    gui = Gui(
        **{"name": qt.QLineEdit(), "enabled": qt.QCheckBox(), "tolerance": ctk.ctkSliderWidget()},
        **{"count": qt.QSpinBox(), "surface": qt.QComboBox(), "kind": qt.QComboBox()},
    )
    tag = parameters.connectGui(gui)
    assert (gui.tolerance.minimum, gui.tolerance.maximum, gui.tolerance.value) == (0.1, 10.0, 2.0)
    assert (gui.count.maximum, gui.surface.currentText, gui.name.text) == (5, "smooth", "nobody")
    assert [gui.kind.itemText(index) for index in range(2)] == ["The signed one", "The absolute one"]
    gui.name.text, gui.enabled.checked, gui.tolerance.value = "somebody", True, 2.5
    gui.count.value, gui.surface.currentIndex, gui.kind.currentIndex = 4, 0, 1
    values = (parameters.name, parameters.enabled, parameters.tolerance, parameters.count, parameters.surface)
    assert values == ("somebody", True, 2.5, 4, "raw") and parameters.kind is Kind.ABSOLUTE
    parameters.tolerance, parameters.kind = 1.0, Kind.SIGNED
    assert gui.tolerance.value == 1.0 and gui.kind.currentIndex == 0
    parameters.disconnectGui(tag)
    gui.name.text = "nobody else"
    parameters.tolerance = 9.0
    assert parameters.name == "somebody" and gui.tolerance.value == 1.0


def test_what_has_no_connector(desktop, parameters, ui):
    import ctk
    import qt

    for name, widget, message in (
        ("free", ctk.ctkSliderWidget(), "unbounded"),
        ("name", qt.QComboBox(), "Choice"),
        ("node", ui.selector, "Unable to create GUI connector"),
        ("enabled", ui.radio, "Unable to create GUI connector"),
    ):
        with pytest.raises(RuntimeError, match=message):
            parameters.connectGui(Gui(**{name: widget}))
    with pytest.raises(ValueError, match="Cannot find a param"):
        parameters.connectGui(Gui(nothing=qt.QLineEdit()))
    with pytest.raises(AttributeError):
        parameters.connectGui({"name": qt.QLineEdit()})


def sceneEvents() -> list[str]:
    names = ("StartBatchProcess", "StartClose", "EndClose", "StartImport", "NewScene", "EndImport", "EndBatchProcess")
    events: list[str] = []
    for name in names:
        number = getattr(slicer.vtkMRMLScene, f"{name}Event")
        slicer.mrmlScene.AddObserver(number, lambda caller, event, name=name: events.append(name))
    return events


def test_closing_and_loading_a_scene(desktop, parameters, ui, tmp_path):
    ui.top.setMRMLScene(slicer.mrmlScene)
    parameters.node, parameters.tolerance = addSegmentation("First", "A"), 5.0
    ui.selector.setCurrentNode(parameters.node)
    path = tmp_path / "scene.mrb"
    assert slicer.util.saveScene(str(path))
    events = sceneEvents()
    slicer.mrmlScene.Clear()
    assert events == ["StartBatchProcess", "StartClose", "EndClose", "EndBatchProcess"]
    assert parameters.parameterNode.GetScene() is slicer.mrmlScene  # the singleton stays, with nothing in it
    afterClose = makeParameters()(parameters.parameterNode)
    assert afterClose.node is None and afterClose.tolerance == 2.0
    assert ui.selector.currentNode() is None
    events.clear()
    slicer.util.loadScene(str(path))
    assert [e for e in events if "Batch" not in e] == ["StartImport", "NewScene", "EndImport"]
    assert afterClose.tolerance == 5.0
    assert afterClose.node is None  # a value cached while the node was not there yet
    afresh = makeParameters()(parameters.parameterNode)
    assert afresh.node is not None and afresh.node.GetName() == "First"
    assert ui.selector.currentNode() is None and len(slicer.util.getNodesByClass("vtkMRMLSegmentationNode")) == 1


def test_a_module_is_loaded_shown_left_and_unloaded(desktop, tinyModule):
    assert slicer.modules.tiny is tinyModule and tinyModule.title == "Tiny module"
    assert not hasattr(slicer.modules, "TinyWidget")
    slicer.util.selectModule("Tiny")
    widget = slicer.modules.TinyWidget
    assert widget is slicer.util.getModuleWidget("Tiny") is tinyModule.widgetRepresentation().self()
    assert widget.calls == ["enter"] and widget.button.visible and widget.parent.isEntered()
    assert slicer.util.selectedModule() == "Tiny"
    assert slicer.util.getModuleLogic("Tiny") is widget.logic
    assert not hasattr(widget, "reloadButton")
    slicer.util.selectModule("Data")
    assert widget.calls == ["enter", "exit"]
    slicer.selfTests["Tiny"]()
    assert slicer.__dict__.pop("tested")
    cleaned = sys.modules["Tiny"].CLEANED
    desktop.unloadModule("Tiny")
    assert cleaned == [widget] and not hasattr(slicer.modules, "TinyWidget")


@DEVELOPER
def test_reload(desktop, tinyModule):
    from pathlib import Path

    slicer.util.selectModule("Tiny")
    old = slicer.modules.TinyWidget
    path = Path(tinyModule.path)
    path.write_text(path.read_text().replace("VERSION = 1", "VERSION = 22"))
    cleaned = sys.modules["Tiny"].CLEANED
    old.reloadButton.click()
    desktop.processEvents()
    new = slicer.modules.TinyWidget
    assert new is not old and (old.version, new.version) == (1, 22) and cleaned == [old]
    assert new.parent == old.parent and not old.button.visible and new.button.visible
    slicer.modules.TinyWidget.onReloadAndTest()
    assert slicer.__dict__.pop("tested")


@NO_WINDOW
def test_without_a_main_window(desktop, tinyModule):
    assert slicer.util.mainWindow() is None and slicer.app.layoutManager() is None
    with pytest.raises(RuntimeError, match="Could not find main window"):
        slicer.util.selectModule("Tiny")
    assert tinyModule.widgetRepresentation().self().version == 1
    slicer.util.errorDisplay("not shown")
    assert desktop.shown == []


def test_messages_are_recorded_instead_of_waiting(desktop):
    import qt

    with pytest.raises(ValueError, match="inside"), slicer.util.tryWithErrorDisplay("Failed.", waitCursor=True):
        raise ValueError("inside")
    assert desktop.shown[0][:2] == ("Critical", "Failed.\n\ninside") and "Traceback" in desktop.shown[0][2]
    assert slicer.util.confirmOkCancelDisplay("Sure?") is True
    desktop.answers.append(qt.QMessageBox.Cancel)
    assert slicer.util.confirmOkCancelDisplay("Really?") is False
    slicer.util.infoDisplay("Well")
    assert [text for _, text, _ in desktop.shown[1:]] == ["Sure?", "Really?", "Well"]
    desktop.answers.append("/somewhere/a.csv")
    assert qt.QFileDialog.getSaveFileName(None, "Export", "a.csv", "*.csv") == "/somewhere/a.csv"  # no tuple
    assert qt.QFileDialog.getSaveFileName(None, "Export", "a.csv") == ""
    assert qt.QApplication.overrideCursor() is None


@TESTING
def test_testing_mode_shows_no_messages(desktop):
    with pytest.raises(ValueError, match="inside"), slicer.util.tryWithErrorDisplay("Failed."):
        raise ValueError("inside")
    slicer.util.errorDisplay("Failed.")
    assert desktop.shown == []


def test_a_progress_dialog(desktop):
    import qt

    dialog = slicer.util.createProgressDialog(
        maximum=3, labelText="Wait", windowModality=qt.Qt.WindowModal, autoClose=False, autoReset=False
    )
    dialog.value = 2
    slicer.app.processEvents()
    assert dialog.value == 2 and dialog.wasCanceled is False
    dialog.cancel()
    assert dialog.wasCanceled is True
    dialog.close()
    dialog.deleteLater()


def test_views(desktop):
    manager = slicer.app.layoutManager()
    assert manager.threeDViewCount == 1 and manager.sliceViewNames() == ("Red", "Green", "Yellow")
    viewNode = manager.threeDWidget(0).mrmlViewNode()
    camera = slicer.modules.cameras.logic().GetViewActiveCameraNode(viewNode)
    assert camera is manager.threeDWidget(0).threeDView().cameraNode()
    slicer.vtkMRMLSliceNode.JumpAllSlices(slicer.mrmlScene, 1, 2, 3, slicer.vtkMRMLSliceNode.OffsetJumpSlice)
    offsets = [manager.sliceWidget(name).mrmlSliceNode().GetSliceOffset() for name in ("Red", "Green", "Yellow")]
    assert [abs(offset) for offset in offsets] == [3, 2, 1]
    manager.setLayout(slicer.vtkMRMLLayoutNode.SlicerLayoutConventionalPlotView)
    assert manager.layout == slicer.vtkMRMLLayoutNode.SlicerLayoutConventionalPlotView and manager.plotViewCount == 1
    slicer.mrmlScene.Clear()
    assert slicer.modules.cameras.logic().GetViewActiveCameraNode(viewNode) is not None


def test_the_subject_hierarchy_gets_items_by_itself(desktop):
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    table = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLTableNode")
    assert hierarchy.GetItemByDataNode(table)
    color = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLProceduralColorNode")
    assert not hierarchy.GetItemByDataNode(color)


def makeChart():
    table = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLTableNode")
    slicer.util.updateTableFromArray(table, [np.arange(5.0), np.array([1.0, 4, 2, 3, 1])], ["x", "y"])
    chart = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLPlotChartNode")
    series = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLPlotSeriesNode")
    series.SetAndObserveTableNodeID(table.GetID())
    series.SetXColumnName("x")
    series.SetYColumnName("y")
    series.SetPlotType(series.PlotTypeScatterBar)
    series.SetColor(1, 0, 0)
    chart.AddAndObservePlotSeriesNodeID(series.GetID())
    return chart


def test_a_plot_and_its_picture(desktop, tmp_path):
    from desktop import photographs

    view = slicer.qMRMLPlotView()
    view.setMRMLScene(slicer.mrmlScene)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLPlotViewNode")
    view.setMRMLPlotViewNode(node)
    view.minimumHeight = 200

    def redPixels() -> int:
        image = photographs.photograph(view, tmp_path / "plot.png", width=300, height=200)
        assert (image.width(), image.height()) == (300, 200)
        grid = [(x, y) for x in range(0, 300, 3) for y in range(0, 200, 3)]
        return sum(image.pixelColor(*position).getRgb()[:3] == (255, 0, 0) for position in grid)

    assert redPixels() == 0
    node.SetPlotChartNodeID(makeChart().GetID())
    assert redPixels() > 200
    slicer.mrmlScene.Clear()
    assert redPixels() == 0


def test_larger_letters_make_larger_pictures(desktop, ui):
    from desktop import photographs

    if not photographs.hasFont():
        pytest.skip(f"{photographs.FONT} is not installed")
    sizes = []
    for scale in (1.0, 1.5):
        with photographs.fontScale(scale):
            sizes.append(photographs.photograph(ui.top, width=380).height())
    assert sizes[1] > 1.15 * sizes[0]


def test_nothing_is_left_behind(desktop):
    desktop.close()
    assert not hasattr(slicer, "app") and not hasattr(slicer, "modules") and "qt" not in sys.modules
    assert not hasattr(slicer, "qMRMLWidget") and "slicer.i18n" not in sys.modules


def test_two_desktops_are_one_too_many(desktop):
    from desktop import Desktop

    with pytest.raises(RuntimeError, match="already"):
        Desktop()
