"""Slicer's 3D view: the legends of maps in it, and the stand-in's view, in which they are looked at."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import compare
from SegmentMetricsLib.model.structures import REFERENCE_AND_TEST

pytest.importorskip("PySide6", reason="PySide6 is not installed")
from desktop import threedview as views

from SegmentMetricsLib.mrml import colors, outputs

pytestmark = pytest.mark.opengl


@pytest.fixture(scope="module", autouse=True)
def openGL():
    try:
        views.requireOpenGL()
    except views.NoOpenGLError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def comparison():
    return compare(shapes.ball(9), shapes.ball(9, (7, 0, 0)))


def testLegendsOfDifferentMapsDoNotMeet(comparison):
    scene = views.privateScene()
    with views.ThreeDView(scene, (500, 400), ((0, 0, 0), (0, 0, 0))) as view:
        kinds = {"reference": "signed", "test": "tolerance"}
        models = [outputs.showDistanceMap(comparison, side=s, kind=k, scene=scene) for s, k in kinds.items()]
        legends, places = [colors.legendOf(model) for model in models], []
        assert all(legend.GetVisibility() for legend in legends)
        for legend, model in zip(legends, models):
            legend.SetVisibility(False)
            model.GetDisplayNode().SetOpacity(0)
        for legend in legends:
            legend.SetVisibility(True)
            places.append((view.image() > 30).any(axis=2))
            legend.SetVisibility(False)
    assert places[0].any() and places[1].any() and not (places[0] & places[1]).any()


@pytest.mark.parametrize("size", [(400, 240), (900, 600)])
@pytest.mark.parametrize("kind", ["signed", "tolerance", *rarely(["absolute"])])
def testOneLegendForBothSidesIsLegible(comparison, kind, size):
    """It is whole, leaves the middle of the view free, and its letters are neither tiny nor giant."""
    scene = views.privateScene()
    with views.ThreeDView(scene, size, ((0, 0, 0), (0, 0, 0))) as view:
        for side in REFERENCE_AND_TEST:
            outputs.showDistanceMap(comparison, side=side, kind=kind, scene=scene).GetDisplayNode().SetOpacity(0)
        legends = [n for n in scene.GetNodes() if n.IsA("vtkMRMLColorLegendDisplayNode") and n.GetVisibility()]
        assert len(legends) == 1
        view.image()
        legends[0].Modified()
        drawn = (view.image() > 100).any(axis=2)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert rows[0] > 0 and rows[-1] < size[1] - 1 and columns[-1] < size[0] - 1
    assert columns[0] > 0.6 * size[0] and np.ptp(rows) > 0.37 * size[1]
    title = np.flatnonzero(~drawn.any(axis=1)[rows[0] :])[0]  # pixel rows of its letters
    assert 7 <= title <= 0.06 * size[1]
