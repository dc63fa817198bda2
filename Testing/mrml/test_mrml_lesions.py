"""Lesions as nodes: surfaces colored by what happened to each, and the list as a table."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from scenework import segmentation
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.base.palettes import EVENTS, rgb
from SegmentMetricsLib.mrml import colors


def cubes(*places: int):
    array = np.zeros((12, 12, 60), np.uint8)
    for place in places:
        array[3:8, 3:8, place : place + 5] = 1
    return shapes.imageOf(array)


def compared(**settings):
    """Return a comparison in which one lesion is found, one missed and one invented."""
    return compare(cubes(4, 20), cubes(5, 40), Settings(metrics="instances", **settings))


def testColors(scene):
    model = mrml.showLesions(compared())
    polyData = model.GetPolyData()
    points = vtk_to_numpy(polyData.GetPoints().GetData())
    events = vtk_to_numpy(polyData.GetPointData().GetArray("Event"))
    display, table = model.GetDisplayNode(), model.GetDisplayNode().GetColorNode()
    names = [table.GetColorName(n) for n in range(table.GetNumberOfColors())]
    assert names == ["missed", "invented (test)", "found"]
    # RAS: to the left is negative
    for event, low, high in ((0, 19, 25), (1, 39, 45), (2, 3, 9)):
        x = -points[events == event][:, 0]
        assert len(x) and low < x.min() and x.max() < high
    color = [0.0] * 4
    table.GetColor(0, color)
    assert color[:3] == pytest.approx(rgb(EVENTS["missed"]), abs=0.01)
    assert display.GetVisibility2D() and display.GetActiveScalarName() == "Event"
    legend = colors.legendOf(model)
    assert (legend.GetTitleText(), bool(legend.GetUseColorNamesForLabels())) == ("Lesions", True)


def testTableLeadsToEachLesion(scene):
    found = compared()
    node = mrml.showLesionsTable(found)
    table = node.GetTable()
    assert [table.GetValueByName(row, "Event").ToString() for row in range(3)] == ["missed", "invented", "found"]
    for row, lesion in enumerate(found.lesions):
        assert mrml.jumpToSlice(node, row) == pytest.approx(lesion.position)


def testWithoutLesions(scene):
    with pytest.raises(ValueError, match="measure the family instances"):
        mrml.showLesions(compare(cubes(4), cubes(4), Settings(metrics="DSC")))
    nothing = cubes()
    with pytest.raises(ValueError, match="neither structure has one"):
        mrml.showLesionsTable(compare(nothing, nothing, Settings(metrics="instances")))
    with pytest.raises(ValueError, match="no surfaces"):
        mrml.showLesions(compared().record())


def testSegmentsAreLesions(scene):
    """Two that touch are two lesions of one structure."""
    nodes = [segmentation(which, **{f"Lesion {n}": cubes(n) for n in places})
             for which, places in (("First", (4, 9, 30)), ("Second", (4, 9)))]  # fmt: skip
    (found,) = mrml.compareSegmentations(*nodes, Settings(metrics="instances", instanceMaps=True))
    assert [found[key].value for key in ("LesionsReference", "LesionsFound", "LesionsMissed")] == [3, 2, 1]
