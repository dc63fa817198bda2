"""Markers at the worst places, and bringing a place into view."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
import slicer

from SegmentMetricsLib import compare
from SegmentMetricsLib.mrml import markers

SIZE = (32, 32, 32)
RAS = np.array([-1, -1, 1])


@pytest.fixture(scope="module")
def comparison():
    """5 mm too much at the patient's left, 4 mm too little at the head."""
    body = shapes.box((8, 8, 8), (19, 19, 19), SIZE)
    over = body | shapes.box((20, 12, 12), (24, 15, 15), SIZE)
    return compare(body | shapes.box((12, 12, 20), (15, 15, 23), SIZE), over)


class TestMarkers:
    def testNumberedLockedAndColored(self, scene, comparison):
        node = markers.showMarkers(comparison)
        over, under = comparison.worstPlaces
        assert (over.direction, under.direction) == ("L", "S")
        assert node.GetNumberOfControlPoints() == 2 and node.GetLocked()
        for index, place in enumerate((over, under)):
            assert node.GetNthControlPointLabel(index) == str(place.rank)
            assert node.GetNthControlPointPosition(index) == pytest.approx(RAS * place.position)
            assert node.GetNthControlPointLocked(index)
            assert node.GetNthControlPointSelected(index) == (place.value > 0)
        assert node.GetNthControlPointDescription(0) == f"{over.value:.1f} mm over-contoured, left"
        assert node.GetNthControlPointDescription(1) == f"{-under.value:.1f} mm under-contoured, superior"
        display = node.GetDisplayNode()
        assert np.argmax(display.GetSelectedColor()) == 0  # red
        assert np.argmax(display.GetColor()) == 2  # blue
        assert display.GetVisibility() and display.GetPointLabelsVisibility()

    def testPlacingGoesOnAsBefore(self, scene, comparison):
        logic = slicer.vtkSlicerMarkupsLogic()
        logic.SetMRMLScene(scene)
        selection = scene.GetNodeByID("vtkMRMLSelectionNodeSingleton")
        mine = scene.AddNewNodeByClass("vtkMRMLMarkupsLineNode")
        before = (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID())
        assert before == ("vtkMRMLMarkupsLineNode", mine.GetID())
        node = markers.showMarkers(comparison)
        assert (selection.GetActivePlaceNodeClassName(), selection.GetActivePlaceNodeID()) == before
        assert node.GetNumberOfDisplayNodes() == 1
        logic.SetMRMLScene(None)

    def testWithoutPlacesNothingIsShown(self, scene, comparison):
        node = markers.showMarkers(comparison)
        assert markers.showMarkers(comparison, places=()) is node
        assert node.GetNumberOfControlPoints() == 0 and not node.GetDisplayNode().GetVisibility()
        markers.showMarkers(comparison)
        assert node.GetNumberOfControlPoints() == 2 and node.GetDisplayNode().GetVisibility()

    def testWithoutSidesTheyDoNotNameAny(self, comparison):
        assert markers.ofPlace(comparison.worstPlaces[0], signed=False).endswith("mm apart, left")
