"""Charts of distances in a scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes
import slicer
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersSources import vtkSphereSource

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml import charts, folders, outputs

# enough for a chart of the distances
BOUNDARY = Settings(families="boundary")


def structure(radius=12, center=(0, 0, 0), name="Liver", color=None):
    image = shapes.ball(radius, center, origin=(-20, -20, -20), size=(40, 40, 40))
    return replace(structureFromImage(image, "reference", None, 0.5), name=name, color=color)


@pytest.fixture(scope="module")
def comparison():
    return compare(structure(), structure(13, (4, 0, 0)), Settings(tolerances=(1.5,)))


def seriesOf(chart) -> list:
    return [chart.GetNthPlotSeriesNode(n) for n in range(chart.GetNumberOfPlotSeriesNodes())]


def values(series) -> tuple[np.ndarray, np.ndarray]:
    table = series.GetTableNode().GetTable()
    return tuple(vtk_to_numpy(table.GetColumnByName(c)) for c in (series.GetXColumnName(), series.GetYColumnName()))


def identifiers(scene) -> set:
    return {node.GetID() for node in scene.GetNodes()}


class TestHistogram:
    def testBarsAddUpToTheMeasurements(self, scene, comparison):
        chart = charts.showHistogram(comparison)
        bars, low, high = seriesOf(chart)
        x, y = values(bars)
        assert bars.GetPlotType() == bars.PlotTypeScatterBar
        assert y.sum() == pytest.approx(100)
        assert y[x > 1.5].sum() == pytest.approx(100 * comparison["OverFraction_1.5mm"].value)
        assert y[x < -1.5].sum() == pytest.approx(100 * comparison["UnderFraction_1.5mm"].value)
        assert chart.GetXAxisTitle() == "Signed distance (mm), + test outside"
        assert chart.GetYAxisTitle() == "Share of surfaces (%)"
        assert chart.GetTitle() == "Liver"
        assert not chart.GetXAxisRangeAuto() and not chart.GetYAxisRangeAuto() and not chart.GetLegendVisibility()
        reach = chart.GetXAxisRange()[1]
        assert chart.GetXAxisRange() == (-reach, reach) and reach >= comparison["HD"].value
        top = chart.GetYAxisRange()[1]
        assert chart.GetYAxisRange()[0] == 0 and y.max() < top < 2 * y.max()
        for line, position in ((low, -1.5), (high, 1.5)):
            assert line.GetPlotType() == line.PlotTypeScatter and line.GetLineStyle() == line.LineStyleDash
            assert line.GetMarkerStyle() == line.MarkerStyleNone
            np.testing.assert_array_equal(values(line), [[position, position], [0, top]])
        _, low, high = seriesOf(charts.showHistogram(comparison, tolerance=3))
        assert (values(low)[0][0], values(high)[0][0], high.GetName()) == (-3, 3, "Tolerance 3 mm")

    def testFarOnesAreSaid(self, scene):
        array = np.zeros((20, 20, 70), np.uint8)
        array[5:15, 5:15, 5:15] = 1
        far = array.copy()
        far[10, 10, 65] = 1
        title = charts.showHistogram(compare(shapes.imageOf(array), shapes.imageOf(far), BOUNDARY)).GetXAxisTitle()
        assert "\nouter bars: also " in title and "beyond, up to 5" in title

    def testOpenSurfacesHaveNoSides(self, scene):
        source = vtkSphereSource()
        source.SetRadius(10)
        source.SetEndPhi(90)
        source.Update()
        given, closed = shapes.ballMesh(11, resolution=24), shapes.ballMesh(12, resolution=24)
        opened, sided = compare(given, source.GetOutput(), BOUNDARY), compare(given, closed, BOUNDARY)
        chart = charts.showHistogram(opened)
        assert chart.GetXAxisRange()[0] == 0 and chart.GetXAxisTitle() == "Distance (mm)"
        bars, line = seriesOf(chart)
        assert values(bars)[1].sum() == pytest.approx(100) and values(line)[0].tolist() == [2, 2]
        # the pair now has sides, and then again none: nothing of the other chart stays
        before = identifiers(scene)
        assert charts.showHistogram(replace(opened, distances=sided.distances)) is chart
        assert len(identifiers(scene)) == len(before) + 1
        charts.showHistogram(opened)
        assert identifiers(scene) == before

    def testWhatCannotBeShown(self, scene, comparison):
        before = identifiers(scene)
        nothing = shapes.imageOf(np.zeros((40, 40, 40), np.uint8), origin=(-20, -20, -20))
        with pytest.raises(ValueError, match="no histogram because the test is empty"):
            charts.showHistogram(compare(structure(), nothing, BOUNDARY))
        for tolerance in (0, -1, np.nan, np.inf):
            with pytest.raises(ValueError, match="tolerance of a chart"):
                charts.showHistogram(comparison, tolerance=tolerance)
        with pytest.raises(ValueError, match="no pair has distances"):
            charts.showCumulative([compare(structure(), nothing, BOUNDARY)])
        with pytest.raises(ValueError, match="no curve because no measurement of distances"):
            charts.showCumulative(replace(comparison, distances=None))
        assert identifiers(scene) == before


class TestCumulative:
    def testOnePair(self, scene, comparison):
        chart = charts.showCumulative(comparison)
        curve, line = seriesOf(chart)
        x, y = values(curve)
        assert y[x == 1.5] == pytest.approx(100 * comparison["NSD_1.5mm"].value) and (np.diff(y) >= 0).all()
        assert len(x) <= 200 and values(line)[0].tolist() == [1.5, 1.5]
        assert not chart.GetLegendVisibility() and chart.GetTitle() == "Liver"
        assert chart.GetXAxisTitle() == "Distance (mm)" and chart.GetXAxisRange() == (0, x[-1])

    def testManyPairs(self, scene, comparison):
        red, again = (structure(name=name, color=(0.8, 0.1, 0.1)) for name in ("Red", "Again"))
        changed = ({}, {"reference": red}, {"distances": None}, {"reference": again})
        chart = charts.showCumulative([replace(comparison, **changes) for changes in changed])
        *curves, line = seriesOf(chart)
        assert [curve.GetName() for curve in curves] == ["Liver", "Red vs Liver", "Again vs Liver"]
        assert curves[1].GetColor() == pytest.approx((0.8, 0.1, 0.1))
        assert len({curve.GetColor() for curve in curves}) == 3
        assert len({curve.GetTableNodeID() for curve in curves}) == 1
        assert (
            chart.GetLegendVisibility() and chart.GetTitle() == "3 structures" and line.GetName() == "Tolerance 1.5 mm"
        )

    def testOneFolderForAllPairs(self, scene, comparison):
        before = identifiers(scene)
        chart = charts.showCumulative([comparison] * 3)
        table = outputs.showComparisonsTable([comparison] * 3)
        hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
        assert {hierarchy.GetItemName(folders.resultFolder(node)) for node in (chart, table)} == {
            "Segment Metrics: all pairs"
        }
        # fewer pairs: the same chart, without the curves that are not needed any more
        assert charts.showCumulative([comparison]) is chart
        assert outputs.showComparisonsTable([comparison]) is table
        assert chart.GetNumberOfPlotSeriesNodes() == 2 and chart.GetTitle() == "Liver"
        assert len([node for node in scene.GetNodes() if node.IsA("vtkMRMLPlotSeriesNode")]) == 2
        charts.showCumulative(comparison)
        folders.removeResults(comparison)
        assert chart.GetScene() is scene
        folders.removeResults(None)
        assert identifiers(scene) == before

    @pytest.mark.nightly
    def testFiveHundredPairs(self, scene):
        small = compare(*(shapes.box((i, 2, 2), (5, 5, 5), (8, 8, 8)) for i in (2, 3)), BOUNDARY)
        chart = charts.showCumulative([small] * 500)
        assert chart.GetNumberOfPlotSeriesNodes() == 501
        assert not chart.GetLegendVisibility()
        assert len({node.GetColor() for node in seriesOf(chart)}) > 400
        folders.removeResults(None)
        assert not [node for node in scene.GetNodes() if node.IsA("vtkMRMLPlotSeriesNode")]
        # hundreds of removed nodes leave no items behind
        hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
        assert hierarchy.GetNumberOfItemChildren(hierarchy.GetSceneItemID()) == 0
