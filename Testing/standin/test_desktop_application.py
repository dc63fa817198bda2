"""The stand-in loads modules, shows messages and views, draws plots, and goes without a trace."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6.QtUiTools", reason="PySide6-Essentials is not installed")

import slicer

NO_WINDOW = pytest.mark.parametrize("desktop", [{"mainWindow": False}], indirect=True)
TESTING = pytest.mark.parametrize("desktop", [{"testing": True}], indirect=True)
DEVELOPER = pytest.mark.parametrize("desktop", [{"developerMode": True}], indirect=True)

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


@pytest.fixture
def tinyModule(desktop, tmp_path):
    (tmp_path / "Tiny.py").write_text(MODULE)
    return desktop.loadModule(tmp_path / "Tiny.py")


def test_a_module_is_loaded_shown_left_and_unloaded(desktop, tinyModule):
    assert slicer.modules.tiny is tinyModule and tinyModule.title == "Tiny module"
    assert not hasattr(slicer.modules, "TinyWidget")
    slicer.util.selectModule("Tiny")
    widget = slicer.modules.TinyWidget
    assert widget is slicer.util.getModuleWidget("Tiny") is tinyModule.widgetRepresentation().self()
    assert widget.calls == ["enter"] and widget.button.visible and widget.parent.isEntered
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


def test_a_batch_ends_with_a_view_for_every_view_node(desktop):
    manager, scene = slicer.app.layoutManager(), slicer.mrmlScene
    counts = [manager.plotViewCount]
    owned, free = slicer.vtkMRMLPlotViewNode(), slicer.vtkMRMLPlotViewNode()
    owner = scene.AddNewNodeByClass("vtkMRMLScriptedModuleNode")
    for name, node in (("Owned", owned), ("Free", free)):
        node.SetLayoutName(name)
        node.SetAndObserveParentLayoutNodeID(owner.GetID() if node is owned else None)
        scene.AddNode(node)
        counts.append(manager.plotViewCount)
    scene.StartState(scene.BatchProcessState)
    scene.EndState(scene.BatchProcessState)
    counts.append(manager.plotViewCount)
    assert [count - counts[0] for count in counts] == [0, 0, 1, 2], "a parent protects only from the first view"
    assert manager.plotWidget(counts[0]).mrmlPlotViewNode() is free
    for node in (owned, free):
        scene.RemoveNode(node)
    assert manager.plotViewCount == counts[0]


def test_a_plot_of_a_view_node_in_no_scene(desktop):
    view, node, chart, other = slicer.qMRMLPlotView(), slicer.vtkMRMLPlotViewNode(), makeChart(), makeChart()
    view.setMRMLPlotViewNode(node)
    view.setMRMLScene(slicer.mrmlScene)
    node.SetPlotChartNodeID(chart.GetID())
    assert view.chart().GetNumberOfPlots() == 0, "a scene that comes later takes away a node that is not in it"
    view.setMRMLPlotViewNode(node)
    assert view.chart().GetNumberOfPlots() == 1
    color = [0.0] * 3
    chart.GetNthPlotSeriesNode(0).SetColor(0, 0, 1)
    view.chart().GetPlot(0).GetColorF(color)
    assert color == [0, 0, 1], "the chart tells of its series"
    node.SetPlotChartNodeID(other.GetID())
    view.chart().GetPlot(0).GetColorF(color)
    assert color == [1, 0, 0]
    other.SetTitle("Not heard")
    assert not view.chart().GetTitle(), "the node did not tell of its other chart"
    node.InvokeEvent(node.PlotChartNodeChangedEvent)
    other.SetTitle("Heard")
    assert view.chart().GetTitle() == "Heard"
    del node
    other.SetTitle("Too late")
    assert view.chart().GetTitle() == "Heard", "the view does not keep its node"


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


def test_nothing_is_left_behind(desktop):
    desktop.close()
    assert not hasattr(slicer, "app") and not hasattr(slicer, "modules") and "qt" not in sys.modules
    assert not hasattr(slicer, "qMRMLWidget") and "slicer.i18n" not in sys.modules


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


def test_two_desktops_are_one_too_many(desktop):
    from desktop import Desktop

    with pytest.raises(RuntimeError, match="already"):
        Desktop()
