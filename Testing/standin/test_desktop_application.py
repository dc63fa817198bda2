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
