"""Maps and plots of the panel beside what the user does with them elsewhere, and beside those of others."""

from __future__ import annotations

import pytest
import slicer
from scenework import choose, observers, saveToFolder, twoBoxes


def testChartsOfOthersStayWhenASceneIsAdded(session, tmp_path):
    view = slicer.vtkMRMLPlotViewNode()
    view.SetLayoutName("Mine")
    view = slicer.mrmlScene.AddNode(view)
    chart = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLPlotChartNode", "My chart")
    view.SetPlotChartNodeID(chart.GetID())
    other = slicer.vtkMRMLScene()
    other.AddNewNodeByClass("vtkMRMLTextNode", "Note")
    other.SetURL(str(tmp_path / "other.mrml"))
    other.Commit()
    slicer.mrmlScene.SetURL(str(tmp_path / "other.mrml"))
    slicer.mrmlScene.Import()
    session.settle(0.1)
    assert slicer.util.getNodesByClass("vtkMRMLTextNode") and view.GetPlotChartNode() is chart


def testChartsOfOthersStayOutOfThePanel(desktop, session):
    """What other modules show in all plot views is not shown in the panel's, and what gets there does not stay."""
    session.chooseFamilies("boundary", "overlap", "slices")
    choose(session, *twoBoxes())
    session.apply()
    plots = [session.panel.plot.plot, session.panel.slices.plot]
    own = [plot.chart for plot in plots]
    foreign = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLPlotChartNode", "Foreign")
    slicer.mrmlScene.GetNodeByID("vtkMRMLSelectionNodeSingleton").SetActivePlotChartID(foreign.GetID())
    desktop.applicationLogic.PropagatePlotChartSelection()
    assert None not in own and [plot.chart for plot in plots] == own
    for plot in plots:
        plot.viewNode.SetPlotChartNodeID(foreign.GetID())
    session.widget.exit()
    session.widget.enter()
    session.settle(0.1)
    assert [plot.chart for plot in plots] == own
    session.chooseFamilies("boundary", "signed", "overlap")


def drawn(chart) -> list[int]:
    """Return how many values each series of a chart has."""
    series = [chart.GetNthPlotSeriesNode(n) for n in range(chart.GetNumberOfPlotSeriesNodes())]
    tables = [one.GetTableNode() for one in series]
    return [table.GetTable().GetNumberOfRows() if table is not None else 0 for table in tables]


def removeChartTables() -> None:
    """Remove what all charts show of the chosen pair, as a user does who tidies up the Data module."""
    for node in slicer.util.getNodesByClass("vtkMRMLPlotSeriesNode"):
        if node.GetTableNode() is not None:
            slicer.mrmlScene.RemoveNode(node.GetTableNode())


@pytest.mark.parametrize("how", ["files missing", "deleted before", "deleted after"])
def testChartsThatCameWithoutTheirTables(session, tmp_path, how):
    """The numbers come back, the chart of slices is made of them, and it is said what has to be drawn."""
    session.chooseFamilies("boundary", "overlap", "slices")
    choose(session, *twoBoxes())
    session.apply()
    session.panel.compareTools()
    rows = drawn(session.panel.slices.plot.chart)
    if how == "deleted before":  # while the module does not look
        session.widget.exit()
        removeChartTables()
    saveToFolder(tmp_path, ("vtkMRMLTableNode",) if how == "files missing" else ())
    if how == "files missing":
        with pytest.raises(RuntimeError, match="Failed to load"):
            slicer.util.loadScene(str(tmp_path / "scene.mrml"), {"clear": True})
    else:
        slicer.util.loadScene(str(tmp_path / "scene.mrml"), {"clear": True})
    session.widget.enter()
    session.settle(0.1)
    if how == "deleted after":
        assert not session.ui.messageLabel.text and min(drawn(session.panel.plot.chart)) > 0
        removeChartTables()
        session.settle(0.1)
    assert session.ui.mainTable.rowCount
    assert session.panel.plot.chart is None
    assert session.ui.messageLabel.text == "This plot is not in the scene. Press Apply again to draw it."
    assert drawn(session.panel.slices.plot.chart) == rows
    session.apply()
    assert not session.ui.messageLabel.text and min(drawn(session.panel.plot.chart)) > 0
    session.chooseFamilies("boundary", "signed", "overlap")


def cloned(node):
    """Return the copy that Slicer makes of a node when the user clones it in the Data module."""
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    clone = slicer.vtkSlicerSubjectHierarchyModuleLogic.CloneSubjectHierarchyItem
    return hierarchy.GetItemDataNode(clone(hierarchy, hierarchy.GetItemByDataNode(node)))


def testCopiesAreTheUsers(session):
    """A copy of a map, of markers or of the hazard is the user's own: it stays as it is, and what it shows."""
    session.chooseFamilies("boundary", "hazard")
    session.parameters.showMarkers = session.parameters.showHazard = True
    choose(session, *observers())
    session.checkCriticals("Critical")
    session.ui.toleranceSpinBox.value = 1
    session.apply()
    roles = ("distance map on reference", "markers", "hazard")
    results = {node.GetAttribute("SegmentMetrics.Role"): node for node in session.results()}
    copies = [cloned(results[role]) for role in roles]
    for copy in copies[:2]:
        copy.GetDisplayNode().SetVisibility(True)
    session.ui.toleranceSpinBox.value = 1.5
    session.settle(0.1)
    session.apply()
    composite = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")[0]
    composite.SetForegroundVolumeID(copies[2].GetID())
    session.parameters.showMap = session.parameters.showMarkers = session.parameters.showHazard = False
    session.settle(0.1)
    assert not results[roles[0]].GetDisplayNode().GetVisibility()
    assert [bool(copy.GetDisplayNode().GetVisibility()) for copy in copies[:2]] == [True, True]
    assert composite.GetForegroundVolumeID() == copies[2].GetID()
    assert session.visibleInThreeD() == [True, True]
    session.parameters.showMap = True
    session.settle(0.1)
    slicer.mrmlScene.RemoveNode(copies[0])
    session.settle(0.1)
    assert session.parameters.showMap and session.visibleInThreeD() == [False, False]
    session.ui.toleranceSpinBox.value = 2
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")


def testAMapWhoseSegmentationsAreGone(session):
    """It is still the panel's, and makes way for another one."""
    nodes = twoBoxes()
    choose(session, *nodes)
    session.apply()
    (model,) = session.maps().values()
    for node in nodes:
        slicer.mrmlScene.RemoveNode(node)
    session.settle(0.1)
    choose(session, *twoBoxes())
    session.apply()
    assert not model.GetDisplayNode().GetVisibility() and len(session.maps()) == 1


def cursorSeen(seen: list, name: str, function):
    """Return a function as one that notes, by a name, whether the cursor says meanwhile that it takes long."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication

    def call(*arguments, **options):
        cursor = QGuiApplication.overrideCursor()
        seen.append((name, cursor is not None and cursor.shape() == Qt.CursorShape.WaitCursor))
        return function(*arguments, **options)

    return call


def testTheCursorSaysThatItTakesLong(session, monkeypatch):
    """While plots and the hazard are made, and no longer; maps are made beside the dialog, as is all that can be."""
    import threading

    from PySide6.QtGui import QGuiApplication
    from SegmentMetricsPanel.views import hazard, maps

    from SegmentMetricsLib.case.comparison import Comparison
    from SegmentMetricsLib.mrml import charts

    seen, threads = [], []
    for owner, name in ((maps, "showDistanceMap"), (hazard, "showHazard"), (charts, "showHistogram")):
        monkeypatch.setattr(owner, name, cursorSeen(seen, name, getattr(owner, name)))
    record = Comparison.record
    monkeypatch.setattr(
        Comparison, "record", lambda self: threads.append(threading.current_thread().name) or record(self)
    )
    session.chooseFamilies("boundary", "hazard")
    session.parameters.showHazard = True
    choose(session, *observers())
    session.checkCriticals("Critical")
    session.apply()
    assert sorted(seen) == [("showDistanceMap", False), ("showHazard", True), ("showHistogram", True)]
    assert threads[0] == "SegmentMetrics" and QGuiApplication.overrideCursor() is None
    session.parameters.showHazard = False
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")
