"""The map, the plot, the worst places and the slices."""

from __future__ import annotations

import math

import numpy as np
import slicer
import vtk
from vtk.util.numpy_support import vtk_to_numpy

from .fitting import assertFits
from .session import STRUCTURE, Session


def checkMap(session: Session) -> None:
    """The map is there, finite, with a legend, in place of the segments; one check box takes all of it back."""
    (model,) = session.maps().values()
    values = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("SignedDistance"))
    assert np.isfinite(values).all() and values.min() < -2 and len(values) > 1000
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "SignedDistance" and display.GetScalarVisibility()
    low, high = display.GetScalarRange()
    assert low == -high and high == session.ui.rangeSpinBox.value
    assert display.GetVisibility2D() and display.GetSliceIntersectionThickness() >= 4
    legend = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(model)
    assert legend.GetVisibility() and "mm" in legend.GetTitleText()
    assert np.allclose(legend.GetSize(), (0.09, 0.4)), "with small letters"
    assert session.visibleInThreeD() == [False, False]
    session.click(session.ui.showMapCheckBox)
    assert not session.maps() and session.visibleInThreeD() == [True, True] and not legend.GetVisibility()
    session.click(session.ui.showMapCheckBox)
    assert session.maps() and session.visibleInThreeD() == [False, False]
    for isVisible in (False, True):  # by the eye in the module Data
        display.SetVisibility(isVisible)
        assert session.visibleInThreeD() == [not isVisible] * 2 and session.parameters.showMap == isVisible
    session.settle(0.1)
    slicer.mrmlScene.RemoveNode(model)
    session.settle(0.2)
    assert session.visibleInThreeD() == [True, True] and not session.ui.showMapCheckBox.checked
    session.click(session.ui.showMapCheckBox)
    assert session.maps() and session.visibleInThreeD() == [False, False], "a deleted map is drawn again"


def checkMapOptions(session: Session) -> None:
    """Side, kind, surface, range, opacity, slices and legend do what they say, with one model per side."""
    ui = session.ui
    session.set(ui.mapSideComboBox, currentIndex=2)
    assert set(session.maps()) == {"reference", "test"} and legendsOf(session) == ["reference"]
    hidden = session.maps()["reference"].GetDisplayNode()
    hidden.SetVisibility(False)
    assert legendsOf(session) == ["test"], "one for both, also when one is hidden elsewhere"
    hidden.SetVisibility(True)
    session.set(ui.mapSideComboBox, currentIndex=1)
    assert set(session.maps()) == {"test"} and session.visibleInThreeD() == [False, False]
    ui.mapSideComboBox.currentIndex = 2
    session.set(ui.mapKindComboBox, currentIndex=1)
    for model in session.maps().values():
        assert model.GetDisplayNode().GetActiveScalarName() == "Distance"
        assert model.GetDisplayNode().GetScalarRange()[0] == 0
    session.set(ui.mapKindComboBox, currentIndex=2)
    assert np.allclose(session.maps()["test"].GetDisplayNode().GetScalarRange(), (-6, 6), rtol=1e-4)
    session.set(ui.mapKindComboBox, currentIndex=4)
    assert session.maps()["test"].GetDisplayNode().GetActiveScalarName() == "BLD" and ui.rangeLabel.enabled
    session.set(ui.mapKindComboBox, currentIndex=0)
    automatic = ui.rangeSpinBox.value
    session.parameters.range = automatic + 1  # of a script, for later
    session.settle(0.1)
    assert ui.rangeSpinBox.value == automatic and not ui.rangeSpinBox.enabled, "the automatic one is only shown"
    session.click(ui.automaticRangeCheckBox)
    assert session.parameters.range == ui.rangeSpinBox.value == automatic, "who wants another begins with it"
    ui.rangeSpinBox.value = 4
    ui.opacitySlider.value = 0.5
    ui.sliceContourCheckBox.click()
    session.click(ui.legendCheckBox)
    display = session.maps()["reference"].GetDisplayNode()
    assert display.GetScalarRange() == (-4, 4) and math.isclose(display.GetOpacity(), 0.5)
    assert not display.GetVisibility2D()
    legend = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode(session.maps()["reference"])
    assert not legend.GetVisibility()
    session.set(ui.mapSurfaceComboBox, currentIndex=1)
    measured = session.panel.outcome.comparisons[0].reference.surface
    assert session.maps()["reference"].GetPolyData().GetNumberOfPoints() == len(measured.points)
    ui.mapSurfaceComboBox.currentIndex = 0
    for box in (ui.automaticRangeCheckBox, ui.sliceContourCheckBox, ui.legendCheckBox):
        box.click()
    ui.opacitySlider.value = 1
    session.set(ui.mapSideComboBox, currentIndex=0)
    assert set(session.maps()) == {"reference"}


def legendsOf(session: Session) -> list[str]:
    """The sides of the maps whose legend can be seen."""
    found = slicer.vtkSlicerColorLogic.GetColorLegendDisplayNode
    return [side for side, model in session.maps().items() if found(model).GetVisibility()]


def checkPlot(session: Session) -> None:
    """The plot shows the histogram, or the cumulative curve, with the tolerance marked."""
    plot = session.panel.plot
    histogram = plot.chart
    assert histogram.GetAttribute("SegmentMetrics.Role") == "histogram"
    series = [histogram.GetNthPlotSeriesNode(n) for n in range(histogram.GetNumberOfPlotSeriesNodes())]
    shares = vtk_to_numpy(series[0].GetTableNode().GetTable().GetColumnByName(series[0].GetYColumnName()))
    assert math.isclose(shares.sum(), 100, abs_tol=1e-6)
    lines = [s for s in series if "Tolerance" in s.GetName()]
    at = [s.GetTableNode().GetTable().GetColumnByName(s.GetXColumnName()).GetValue(0) for s in lines]
    assert sorted(at) == [-2, 2]
    session.set(session.ui.plotComboBox, currentIndex=1)
    assert plot.chart.GetAttribute("SegmentMetrics.Role") == "cumulative"
    assert plot.view.chart().GetNumberOfPlots() == plot.chart.GetNumberOfPlotSeriesNodes()
    session.set(session.ui.plotComboBox, currentIndex=0)
    assert plot.chart is histogram


def checkPlaces(session: Session) -> None:
    """A click on a worst place brings the slice views and the camera there; markers come and go."""
    from SegmentMetricsLib.mrml import navigation

    places = session.panel.outcome.records[0].worstPlaces
    rows = session.texts(session.ui.placesTable)
    assert len(rows) == len(places) and rows[0][0] == "1" and rows[0][1] == f"{places[0].value:+.1f}"
    before, label = session.parameters.mapSide, session.ui.placesLabel.text
    for place, number in {place.side: (place, number) for number, place in enumerate(places)}.values():
        session.panel.places.table.onCell(number, 0)
        assert session.parameters.mapSide == before, "looking changes nothing"
        text = session.ui.placesLabel.text
        assert text == label if place.side in before.sides else place.side in text
    session.panel.places.table.onCell(0, 0)
    session.settle(0.1)
    ras = np.array(places[0].position) * (-1, -1, 1)
    for node in slicer.util.getNodesByClass("vtkMRMLSliceNode"):
        normal = [node.GetSliceToRAS().GetElement(row, 2) for row in range(3)]
        assert math.isclose(np.dot(normal, ras), node.GetSliceOffset(), abs_tol=1e-3), node.GetName()
    for camera in navigation.camerasOf(slicer.mrmlScene):
        assert np.allclose(camera.GetFocalPoint(), ras)
    assert not markersOf(session)
    session.panel.places.table.onCell(1, 0)
    session.panel.places.table.select(1)
    text = session.ui.placesLabel.text
    session.click(session.ui.showMarkersCheckBox)
    assert (session.ui.placesTable.currentRow(), session.ui.placesLabel.text) == (1, text), "the place stays chosen"
    (markers,) = markersOf(session)
    assert markers.GetNumberOfControlPoints() == len(places) and markers.GetLocked()
    assert markers.GetNthControlPointLabel(0) == "1" and np.allclose(markers.GetNthControlPointPosition(0), ras)
    session.click(session.ui.showMarkersCheckBox)
    assert not markersOf(session)


def markersOf(session: Session) -> list:
    nodes = slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")
    return [node for node in nodes if node.GetDisplayNode().GetVisibility() and node.GetSaveWithScene()]


def checkSlices(session: Session) -> None:
    """Slices are listed and plotted; a click on a row or a point brings the slice views there."""
    from SegmentMetricsLib import Settings, mrml

    ui, slices = session.ui, session.panel.slices
    assert not session.isShown(ui.slicesTable) and session.isShown(ui.slicesLabel), "it says how to get them"
    session.chooseFamilies("boundary", "signed", "overlap", "slices")
    session.apply()
    assert session.isShown(ui.slicesTable) and not session.isShown(ui.slicesLabel)
    assertFits(session, "slices")
    session.panel.pages.open("numbers")
    settings = Settings(families=("boundary", "slices"))
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings).slices
    rows = session.texts(ui.slicesTable)
    assert len(rows) == len(expected) and rows[3][0] == f"I {-expected[3].position:.1f}"
    assert rows[3][1:4] == [f"{expected[3]['HD']:.1f}", f"{expected[3]['MASD']:.1f}", f"{expected[3]['DSC']:.2f}"]
    series = slices.chart.GetNthPlotSeriesNode(0)
    assert series.GetYColumnName() == "HD" and series.GetTableNode().GetNumberOfRows() == len(expected)
    session.set(ui.sliceQuantityComboBox, currentIndex=2)
    assert slices.chart.GetNthPlotSeriesNode(0).GetYColumnName() == "DSC"
    session.set(ui.sliceQuantityComboBox, currentIndex=0)
    assert slices.viewNode.GetInteractionMode() == slices.viewNode.InteractionModeSelectPoints
    red = next(n for n in slicer.util.getNodesByClass("vtkMRMLSliceNode") if n.GetName() == "Red")
    slices.table.onCell(3, 0)
    assert math.isclose(red.GetSliceOffset(), expected[3].place[2], abs_tol=1e-3)
    series, points = vtk.vtkStringArray(), vtk.vtkCollection()
    slices.onSelected(series, points)  # one that is gone
    assert math.isclose(red.GetSliceOffset(), expected[3].place[2], abs_tol=1e-3)
    chosen = vtk.vtkIdTypeArray()
    chosen.InsertNextValue(7)
    points.AddItem(chosen)
    slices.onSelected(series, points)
    assert math.isclose(red.GetSliceOffset(), expected[7].place[2], abs_tol=1e-3)
    assert ui.slicesTable.currentRow() == 7, "the point's row is marked"


def checkPlotViews(session: Session) -> None:
    """The layout makes no view of its own for a plot of the panel, also not when a batch process ends."""
    manager, scene = slicer.app.layoutManager(), slicer.mrmlScene
    before = manager.plotViewCount
    scene.StartState(scene.BatchProcessState)
    scene.EndState(scene.BatchProcessState)
    session.settle(0.1)
    own = [view.viewNode for view in (session.panel.plot, session.panel.slices)]
    views = [manager.plotWidget(number).mrmlPlotViewNode() for number in range(manager.plotViewCount)]
    assert manager.plotViewCount == before and not any(view is node for view in views for node in own)
