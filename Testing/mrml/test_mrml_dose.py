"""The dose of a plan in a scene: a volume in, a chart, a table and the colors of surfaces out."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from segmentnodes import move, segmentationOf, volumeNode
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.mrml import colors, doses, maps

SIZE, STEP = (12, 14, 16), 2.0
FAMILIES = Settings(metrics=("boundary", "dose"))


def volumeOf(scene, name="Plan", components=1, **attributes):
    """Return a volume whose values are 2 Gy per mm of the LPS axis z, with voxels in the order of RAS."""
    values = 2 * STEP * np.indices(SIZE[::-1], np.float32)[0]
    matrix = np.diag([-STEP, -STEP, STEP, 1])
    return volumeNode(scene, values, matrix, name, components=components, **attributes)


def boxes():
    return [shapes.box((5, 5, z), (14, 14, z + 9), (20, 20, 28)) for z in (5, 7)]


@pytest.fixture
def comparison(scene):
    return compare(*boxes(), FAMILIES, dose=mrml.doseOf(volumeOf(scene)))


class TestVolume:
    def testItIsWhereItIs(self, scene):
        node = volumeOf(scene, **{doses.IS_DOSE: "1", doses.UNIT: "GY"})
        move(scene, node, shift=(0, 0, 5))
        dose = mrml.doseOf(node)
        assert dose.at(np.array([[4.0, 6, 5 + 7.5]]))[0] == pytest.approx(15) and dose.remarks == ()
        assert doses.isDose(node) and not doses.isDose(volumeOf(scene))

    def testUnits(self, scene):
        assert "taken to be in Gy" in mrml.doseOf(volumeOf(scene)).remarks[0]
        hundredths = volumeOf(scene, **{doses.UNIT: "cGy"})
        assert mrml.doseOf(hundredths).at(np.array([[4.0, 6, 10]]))[0] == pytest.approx(0.2)
        with pytest.raises(ValueError, match="Plan is in the unit RELATIVE"):
            mrml.doseOf(volumeOf(scene, **{doses.UNIT: "RELATIVE"}))

    def testRefused(self, scene):
        with pytest.raises(ValueError, match="must be a scalar volume"):
            mrml.doseOf(scene.AddNewNodeByClass("vtkMRMLModelNode"))
        with pytest.raises(ValueError, match="no voxels"):
            mrml.doseOf(scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode"))
        colors = volumeOf(scene, "Colors", 3)
        with pytest.raises(ValueError, match="Colors does not have one number per voxel"):
            mrml.doseOf(colors)
        difference = volumeOf(scene, "Difference")
        vtk_to_numpy(difference.GetImageData().GetPointData().GetScalars())[0] = -1
        with pytest.raises(ValueError, match="Difference: The dose has negative values"):
            mrml.doseOf(difference)


def testSegments(scene):
    reference, test = (segmentationOf(scene, Organ=image) for image in boxes())
    one = mrml.compareSegments(reference, "Organ", test, "Organ", FAMILIES, dose=volumeOf(scene))
    (other,) = mrml.compareSegmentations(reference, test, Settings(metrics="DSC"), dose=volumeOf(scene))
    for found in (one, other):
        assert found["DmeanDifference"].value == pytest.approx(4, abs=0.02)
    keys = mrml.showTable(one).GetTable().GetColumnByName("Measurement")
    assert "DmeanDifference" in [keys.GetValue(n) for n in range(keys.GetNumberOfValues())]


def testChart(scene, comparison):
    chart = mrml.showDoseVolume(comparison)
    assert (chart.GetXAxisTitle(), chart.GetYAxisTitle()) == ("Dose (Gy)", "Volume (%)") and chart.GetLegendVisibility()
    for number, mean in enumerate((19, 23)):
        series = chart.GetNthPlotSeriesNode(number)
        table = series.GetTableNode().GetTable()
        x, y = (vtk_to_numpy(table.GetColumnByName(c)) for c in (series.GetXColumnName(), series.GetYColumnName()))
        assert np.interp(mean, x, y) == pytest.approx(50, abs=1)
    with pytest.raises(ValueError, match="no dose"):
        mrml.showDoseVolume(compare(*boxes()))


@pytest.mark.parametrize("surface", ["displayed", "measured"])
def testMap(scene, comparison, surface):
    model = mrml.showDistanceMap(comparison, kind="dose", surface=surface)
    points = vtk_to_numpy(model.GetPolyData().GetPoints().GetData())
    found = vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("Dose"))
    assert found == pytest.approx(2 * points[:, 2], abs=1e-4)
    display = model.GetDisplayNode()
    # 33 Gy at the top of the test
    assert display.GetActiveScalarName() == "Dose" and display.GetScalarRange() == (0, 40)
    assert colors.legendOf(model).GetTitleText() == "Dose (Gy)"
    maps.recolor(model, "signed")
    assert display.GetActiveScalarName() == "SignedDistance"
    maps.recolor(model, "dose")
    assert display.GetScalarRange() == (0, 40)
    plain = mrml.showDistanceMap(compare(*boxes()), side="test")
    with pytest.raises(ValueError, match="no dose to show"):
        maps.recolor(plain, "dose")
    with pytest.raises(ValueError, match="no dose to show"):
        mrml.showDistanceMap(compare(*boxes()), kind="dose")
