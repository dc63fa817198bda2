"""What is drawn: maps and plots beside what the user does with them elsewhere, odd pairs, and odd input."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import shapes
import slicer
from panel_checks.views import drawn, shownIn
from sayings import says
from scenework import choose, observers, saveToFolder, segmentation, twoBoxes

from SegmentMetricsLib.mrml import navigation


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
    plots = [session.panel.plot, session.panel.slices]
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


def valuesDrawn(chart) -> list[int]:
    """Return how many values each series of a chart has."""
    series = [chart.GetNthPlotSeriesNode(n) for n in range(chart.GetNumberOfPlotSeriesNodes())]
    tables = [one.GetTableNode() for one in series]
    return [table.GetTable().GetNumberOfRows() if table is not None else 0 for table in tables]


@pytest.mark.parametrize("areMissing", [True, False])
def testChartsThatLackTheirTables(session, tmp_path, areMissing):
    """The numbers come back, the chart of slices is made of them, and it is said what has to be drawn."""
    session.chooseFamilies("boundary", "overlap", "slices")
    choose(session, *twoBoxes())
    session.apply()
    rows = valuesDrawn(session.panel.slices.chart)
    saveToFolder(tmp_path, ("vtkMRMLTableNode",) if areMissing else ())
    with pytest.raises(RuntimeError, match="Failed to load") if areMissing else nullcontext():
        slicer.util.loadScene(str(tmp_path / "scene.mrml"), {"clear": True})
    session.settle(0.1)
    if not areMissing:
        assert not session.ui.messageLabel.text and min(valuesDrawn(session.panel.plot.chart)) > 0
        for node in slicer.util.getNodesByClass("vtkMRMLPlotSeriesNode"):
            if node.GetTableNode() is not None:
                slicer.mrmlScene.RemoveNode(node.GetTableNode())
        session.settle(0.1)
    assert session.ui.mainTable.rowCount and session.panel.plot.chart is None
    says(session.ui.messageLabel.text)
    assert valuesDrawn(session.panel.slices.chart) == rows
    session.apply()
    assert not session.ui.messageLabel.text and min(valuesDrawn(session.panel.plot.chart)) > 0


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
    session.set(session.ui.toleranceSpinBox, value=1.5)
    session.apply()
    composite = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")[0]
    composite.SetForegroundVolumeID(copies[2].GetID())
    session.parameters.showMap = session.parameters.showMarkers = session.parameters.showHazard = False
    session.settle(0.1)
    assert not results[roles[0]].GetDisplayNode().GetVisibility()
    assert [bool(copy.GetDisplayNode().GetVisibility()) for copy in copies[:2]] == [True, True]
    assert composite.GetForegroundVolumeID() == copies[2].GetID()
    assert session.visibleInThreeD() == [True, True]
    session.set(session.parameters, showMap=True)
    slicer.mrmlScene.RemoveNode(copies[0])
    session.settle(0.1)
    assert session.parameters.showMap and session.visibleInThreeD() == [False, False]


@pytest.mark.parametrize("which", ["identical", "empty test", "one segmentation"])
def testPairsWithoutAWorstPlace(session, which):
    """The views go to the structure all the same, and what there is of the pair is drawn."""
    far, other = (shapes.box((x, 18, 20), (22, 22, 22)) for x in (18, 19))
    first, second = segmentation("First", Far=far, Other=other), segmentation("Second", Far=far)
    middle = np.array([(-20, -20, 21)])  # RAS, of voxels of 1 mm
    if which == "empty test":
        second.GetSegmentation().RemoveSegment(second.GetSegmentation().GetSegmentIdBySegmentName("Far"))
        second.GetSegmentation().AddEmptySegment("", "Far")
    choose(session, first, first if which == "one segmentation" else second, "Far")
    if which == "one segmentation":
        session.set(session.parameters, testSegment=first.GetSegmentation().GetSegmentIdBySegmentName("Other"))
    nodes = navigation.sliceNodesOf(slicer.mrmlScene)
    for node in nodes:
        node.JumpSliceByCentering(77, 77, 77)
    session.apply()
    for node in nodes:
        place = shownIn(node, middle)[0]
        assert np.abs(place[:2]).max() < 0.1 and abs(place[2]) < 4
    found = {("line", "reference")} if which == "empty test" else {("map", "reference"), ("line", "test")}
    assert set(drawn(session)) == found
    assert not first.GetDisplayNode().GetVisibility()


def testNumbersAreTypedInPeace(session):
    ui = session.ui
    assert not any(box.keyboardTracking for box in (ui.toleranceSpinBox, ui.percentileSpinBox, ui.rangeSpinBox))
    assert ui.rangeSpinBox.maximum > 1000, "surfaces may lie far apart"
