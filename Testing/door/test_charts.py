"""Charts of distances in a scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes
from sayings import refused, says
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare

pytest.importorskip("slicer", reason="needs the slicer-core package")
import slicer

from SegmentMetricsLib import mrml

# enough for a chart of the distances
BOUNDARY = Settings(families="boundary")


def ball(radius=12, center=(0, 0, 0)):
    return shapes.ball(radius, center, origin=(-20, -20, -20), size=(40, 40, 40))


@pytest.fixture(scope="module")
def comparison():
    found = compare(ball(), ball(13, (4, 0, 0)), Settings(tolerances=(1.5,)))
    return replace(found, reference=replace(found.reference, name="Liver"), test=replace(found.test, name="Liver"))


@pytest.fixture(scope="module")
def opened():
    """A ball whose test is open, without sides."""
    return compare(shapes.ballMesh(11, resolution=24), shapes.openBox(), BOUNDARY)


def seriesOf(chart) -> list:
    return [chart.GetNthPlotSeriesNode(n) for n in range(chart.GetNumberOfPlotSeriesNodes())]


def values(series) -> tuple[np.ndarray, np.ndarray]:
    table = series.GetTableNode().GetTable()
    return tuple(vtk_to_numpy(table.GetColumnByName(c)) for c in (series.GetXColumnName(), series.GetYColumnName()))


def identifiers(scene) -> set:
    return {node.GetID() for node in scene.GetNodes()}


def testBarsAddUpToTheMeasurements(scene, comparison):
    chart = mrml.showHistogram(comparison)
    bars, low, high = seriesOf(chart)
    x, y = values(bars)
    assert bars.GetPlotType() == bars.PlotTypeScatterBar and y.sum() == pytest.approx(100)
    assert y[x > 1.5].sum() == pytest.approx(100 * comparison["OverFraction_1.5mm"].value)
    assert y[x < -1.5].sum() == pytest.approx(100 * comparison["UnderFraction_1.5mm"].value)
    says(f"{chart.GetXAxisTitle()}; {chart.GetYAxisTitle()}", "mm", "test", "%")
    assert chart.GetTitle() == "Liver"
    assert not chart.GetXAxisRangeAuto() and not chart.GetYAxisRangeAuto() and not chart.GetLegendVisibility()
    (left, reach), (bottom, top) = chart.GetXAxisRange(), chart.GetYAxisRange()
    assert left == -reach and reach >= comparison["HD"].value and bottom == 0 and y.max() < top < 2 * y.max()
    for line, position in ((low, -1.5), (high, 1.5)):
        assert line.GetPlotType() == line.PlotTypeScatter and line.GetLineStyle() == line.LineStyleDash
        assert line.GetMarkerStyle() == line.MarkerStyleNone
        np.testing.assert_array_equal(values(line), [[position, position], [0, top]])
    _, low, high = seriesOf(mrml.showHistogram(comparison, tolerance=3))
    assert (values(low)[0][0], values(high)[0][0], high.GetName()) == (-3, 3, "Tolerance 3 mm")


def testFarOnesAreSaid(scene):
    near, far = (shapes.box(low, high, (70, 20, 20)) for low, high in (((5,) * 3, (14,) * 3), ((65, 10, 10),) * 2))
    title = mrml.showHistogram(compare(near, near | far, BOUNDARY)).GetXAxisTitle()
    says(title, " 5")


def testOpenSurfacesHaveNoSides(scene, opened):
    chart = mrml.showHistogram(opened)
    assert chart.GetXAxisRange()[0] == 0 and chart.GetXAxisTitle() == "Distance (mm)"
    bars, line = seriesOf(chart)
    assert values(bars)[1].sum() == pytest.approx(100) and values(line)[0].tolist() == [2, 2]
    # the pair now has sides, and then again none: nothing of the other chart stays
    before = identifiers(scene)
    sided = compare(*(shapes.ballMesh(radius, resolution=24) for radius in (11, 12)), BOUNDARY)
    assert mrml.showHistogram(replace(opened, distances=sided.distances)) is chart
    assert len(identifiers(scene)) == len(before) + 1
    mrml.showHistogram(opened)
    assert identifiers(scene) == before


def testWhatCannotBeShown(scene, comparison):
    before = identifiers(scene)
    nothing = compare(ball(), shapes.imageOf(np.zeros((40, 40, 40), np.uint8), origin=(-20, -20, -20)), BOUNDARY)
    for show, *names in (
        (lambda: mrml.showHistogram(nothing), "test"),
        *((lambda t=t: mrml.showHistogram(comparison, tolerance=t), "tolerance", t) for t in (0, -1, np.nan, np.inf)),
        (lambda: mrml.showCumulative([nothing]),),
        (lambda: mrml.showCumulative(replace(comparison, distances=None)),),
    ):
        with refused(*names):
            show()
    assert identifiers(scene) == before


def testTheCurveOfAPair(scene, comparison):
    chart = mrml.showCumulative(comparison)
    curve, line = seriesOf(chart)
    x, y = values(curve)
    assert y[x == 1.5] == pytest.approx(100 * comparison["NSD_1.5mm"].value) and (np.diff(y) >= 0).all()
    assert len(x) <= 200 and values(line)[0].tolist() == [1.5, 1.5]
    assert not chart.GetLegendVisibility() and chart.GetTitle() == "Liver"
    assert chart.GetXAxisTitle() == "Distance (mm)" and chart.GetXAxisRange() == (0, x[-1])


def testCurvesOfManyPairs(scene, comparison):
    red, again = (replace(comparison.reference, name=name, color=(0.8, 0.1, 0.1)) for name in ("Red", "Again"))
    changed = ({}, {"reference": red}, {"distances": None}, {"reference": again})
    chart = mrml.showCumulative([replace(comparison, **changes) for changes in changed])
    *curves, line = seriesOf(chart)
    assert [curve.GetName() for curve in curves] == ["Liver", "Red vs Liver", "Again vs Liver"]
    assert curves[1].GetColor() == pytest.approx((0.8, 0.1, 0.1))
    assert len({curve.GetColor() for curve in curves}) == 3 and len({curve.GetTableNodeID() for curve in curves}) == 1
    assert chart.GetLegendVisibility() and chart.GetTitle() == "3 structures"
    assert line.GetName() == "Tolerance 1.5 mm"


def testOneFolderForAllPairs(scene, comparison):
    before = identifiers(scene)
    chart, table = mrml.showCumulative([comparison] * 17), mrml.showComparisonsTable([comparison] * 3)
    assert not chart.GetLegendVisibility(), "more names would leave no room for the curves"
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
    (folder,) = {hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) for node in (chart, table)}
    says(hierarchy.GetItemName(folder))
    # fewer pairs: the same chart, without the curves that are not needed any more
    assert mrml.showCumulative([comparison]) is chart and mrml.showComparisonsTable([comparison]) is table
    assert chart.GetNumberOfPlotSeriesNodes() == 2 and chart.GetTitle() == "Liver"
    assert len([node for node in scene.GetNodes() if node.IsA("vtkMRMLPlotSeriesNode")]) == 2
    mrml.showCumulative(comparison)
    mrml.removeResults(comparison)
    assert chart.GetScene() is scene
    mrml.removeResults(None)
    assert identifiers(scene) == before
