"""The stand-in keeps parameters as Slicer does, connects them with widgets and outlives a scene."""

from __future__ import annotations

import enum
from typing import Annotated

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer
from slicer import vtkMRMLSegmentationNode, vtkMRMLTableNode
from tinywidget import addSegmentation
from tinywidget import ui as ui  # the fixture


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
