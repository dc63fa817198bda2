"""Maps and pictures of the bidirectional local distance."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare, mrml
from SegmentMetricsLib.mrml import colors, maps


def moved(**settings):
    """Return the comparison of a box with itself 3 voxels to one side."""
    boxes = shapes.box((5, 5, 5), (14, 14, 12)), shapes.box((8, 5, 5), (17, 14, 12))
    return compare(*boxes, Settings(**settings))


def local(model) -> np.ndarray:
    return vtk_to_numpy(model.GetPolyData().GetPointData().GetArray("BLD"))


@pytest.mark.parametrize("side", ["reference", "test"])
@pytest.mark.parametrize("surface", ["measured", "displayed"])
def testEveryPointHasMoved(scene, side, surface):
    model = mrml.showDistanceMap(moved(), side=side, kind="bld", surface=surface)
    assert local(model) == pytest.approx(3, abs=1e-6)
    display = model.GetDisplayNode()
    assert display.GetActiveScalarName() == "BLD" and display.GetScalarRange()[0] == 0
    assert colors.legendOf(model).GetTitleText() == "Local (mm)"


def testRecolored(scene):
    """A map made for another kind has these distances only if the similarity family was measured."""
    model = mrml.showDistanceMap(moved(), kind="signed")
    assert not maps.hasLocalDistances(model)
    with pytest.raises(ValueError, match="no bidirectional local distance"):
        maps.recolor(model, "bld")
    assert model.GetDisplayNode().GetActiveScalarName() == "SignedDistance"
    model = mrml.showDistanceMap(moved(families=("boundary", "similarity")), kind="absolute")
    maps.recolor(model, "bld")
    assert model.GetDisplayNode().GetActiveScalarName() == "BLD"
    maps.recolor(model, "tolerance")
    assert model.GetDisplayNode().GetActiveScalarName() == "SignedDistance"
