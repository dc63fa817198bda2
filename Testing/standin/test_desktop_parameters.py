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
    from slicer.parameterNodeWrapper import WithinRange, parameterNodeWrapper

    class Parameters:
        name, tolerance, free, count = "nobody", 2.0, 1.0, 1

    Parameters.__annotations__ = {  # written so because this file's own annotations are strings
        "node": vtkMRMLSegmentationNode,
        "table": vtkMRMLTableNode,
        "name": str,
        "enabled": bool,
        "tolerance": Annotated[float, WithinRange(0.1, 10)],
        "free": float,
        "count": Annotated[int, WithinRange(0, 5)],
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
        **{"count": "1", "kind": "ABSOLUTE"},
        **{"names.len": "3", "names.0": "a", "names.1": "b", "names.2": "c"},
    }
    assert node.GetNodeReferenceID("node") == segmentation.GetID()
    assert parameters.names == ["a", "b", "c"] and not isinstance(parameters.names, list)
    parameters.names = ["z"]
    assert node.GetParameter("names.1") == ""
    assert makeParameters()(node).names == ["z"]


def test_events_of_parameters(parameters):
    events = []
    parameters.AddObserver("ModifiedEvent", lambda caller, event: events.append(parameters.tolerance))
    parameters.tolerance = 3.0
    parameters.tolerance = 3.0  # the same value: nothing
    with slicer.util.NodeModify(parameters):
        parameters.tolerance = 4.0
        parameters.name = "somebody"
    assert events == [3.0, 4.0]


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
