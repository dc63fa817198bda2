"""Markers at the worst places, and bringing a place into view."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare

slicer = pytest.importorskip("slicer", reason="needs the slicer-core package")
from SegmentMetricsLib.mrml import folders, markers, navigation  # noqa: E402

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

    def testAnotherRunReplaces(self, scene, comparison):
        node = markers.showMarkers(comparison)
        node.GetDisplayNode().SetGlyphScale(7)
        before = {n.GetID() for n in scene.GetNodes()}
        assert markers.showMarkers(comparison, places=comparison.worstPlaces[:1]) is node
        assert node.GetNumberOfControlPoints() == 1 and node.GetDisplayNode().GetGlyphScale() == 7
        assert {n.GetID() for n in scene.GetNodes()} == before

    def testWithoutPlacesNothingIsShown(self, scene, comparison):
        node = markers.showMarkers(comparison)
        assert markers.showMarkers(comparison, places=()) is node
        assert node.GetNumberOfControlPoints() == 0 and not node.GetDisplayNode().GetVisibility()
        markers.showMarkers(comparison)
        assert node.GetNumberOfControlPoints() == 2 and node.GetDisplayNode().GetVisibility()

    def testTheyGoWithTheResults(self, scene, comparison):
        before = {n.GetID() for n in scene.GetNodes()}
        node = markers.showMarkers(comparison)
        hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(scene)
        folder = hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node))
        assert hierarchy.GetItemName(folder) == folders.folderName(comparison, scene)
        folders.removeResults(comparison)
        assert {n.GetID() for n in scene.GetNodes()} == before

    def testWithoutSidesTheyDoNotNameAny(self, comparison):
        assert markers.ofPlace(comparison.worstPlaces[0], signed=False).endswith("mm apart, left")

    def testAPairWithoutDistances(self, scene):
        body = shapes.box((8, 8, 8), (19, 19, 19), SIZE)
        node = markers.showMarkers(compare(body, body, Settings(families="overlap")))
        assert node.GetNumberOfControlPoints() == 0


def addSliceView(scene, name, orientation):
    node = scene.CreateNodeByClass("vtkMRMLSliceNode")
    node.UnRegister(None)
    node.SetLayoutName(name)
    node.SetSingletonTag(name)
    node.SetName(name)
    node.SetFieldOfView(80, 60, 1)
    node.SetDimensions(400, 300, 1)
    scene.AddNode(node)
    slicer.vtkMRMLSliceNode.AddDefaultSliceOrientationPresets(scene)
    node.SetOrientation(orientation)
    return node


def addThreeDView(scene, name="1"):
    view = scene.CreateNodeByClass("vtkMRMLViewNode")
    view.UnRegister(None)
    view.SetLayoutName(name)
    view.SetSingletonTag(name)
    scene.AddNode(view)
    camera = scene.AddNewNodeByClass("vtkMRMLCameraNode")
    camera.SetLayoutName(name)
    camera.SetFocalPoint(0, 0, 0)
    camera.SetPosition(0, 200, 0)
    camera.SetViewUp(0, 0, 1)
    return camera


class TestJump:
    @pytest.mark.parametrize(("orientation", "axis"), [("Axial", 2), ("Sagittal", 0), ("Coronal", 1)])
    def testSlicesCutThePlaceAndKeepTheirZoom(self, scene, orientation, axis):
        node = addSliceView(scene, "Jump", orientation)
        before = node.GetFieldOfView()
        navigation.jumpTo((10.0, -20.0, 30.0), scene=scene)
        matrix = node.GetSliceToRAS()
        normal = np.array([matrix.GetElement(row, 2) for row in range(3)])
        origin = np.array([matrix.GetElement(row, 3) for row in range(3)])
        assert (np.array([-10, 20, 30]) - origin) @ normal == pytest.approx(0, abs=1e-6)
        assert np.abs(normal).argmax() == axis and np.count_nonzero(origin) == 1  # moved, but not panned
        assert node.GetFieldOfView() == before

    def testCamerasLookFromOutside(self, scene):
        camera = addThreeDView(scene)
        unbound = scene.AddNewNodeByClass("vtkMRMLCameraNode")
        untouched = unbound.GetPosition()
        navigation.jumpTo((10.0, -20.0, 30.0), normal=(2.0, 0.0, 0.0), scene=scene)
        assert camera.GetFocalPoint() == pytest.approx((-10, 20, 30))
        assert camera.GetPosition() == pytest.approx((-210, 20, 30))  # from the patient's left, as far as before
        assert camera.GetViewUp() == pytest.approx((0, 0, 1))
        assert unbound.GetPosition() == untouched

    def testFromAboveTheFrontIsUp(self, scene):
        camera = addThreeDView(scene)
        navigation.jumpTo((0.0, 0.0, 50.0), normal=(0.0, 0.0, 1.0), scene=scene)
        assert camera.GetPosition() == pytest.approx((0, 0, 250))
        assert camera.GetViewUp() == pytest.approx((0, 1, 0))

    def testWithoutANormalTheDirectionStays(self, scene):
        camera = addThreeDView(scene)
        for normal in (None, (0.0, 0.0, 0.0)):
            navigation.jumpTo((10.0, -20.0, 30.0), normal=normal, scene=scene)
            assert camera.GetPosition() == pytest.approx((-10, 220, 30))

    @pytest.mark.parametrize(("distance", "expected"), [(5, 40), (150, 150), (2000, 350)])
    def testNeitherTooNearNorTooFar(self, scene, distance, expected):
        camera = addThreeDView(scene)
        camera.SetPosition(0, distance, 0)
        navigation.jumpTo((0.0, 0.0, 0.0), normal=(0.0, -1.0, 0.0), scene=scene)
        assert camera.GetPosition() == pytest.approx((0, expected, 0))

    def testParallelProjectionZooms(self, scene):
        camera = addThreeDView(scene)
        camera.SetParallelProjection(True)
        camera.SetParallelScale(900)
        navigation.jumpTo((0.0, 0.0, 0.0), scene=scene)
        assert camera.GetParallelScale() == pytest.approx(350 * np.tan(np.radians(15)))

    def testOnlyTheGivenCameras(self, scene):
        one, other = addThreeDView(scene, "1"), addThreeDView(scene, "2")
        navigation.jumpTo((1.0, 2.0, 3.0), scene=scene, cameras=[other])
        assert one.GetFocalPoint() == (0, 0, 0)
        assert other.GetFocalPoint() == pytest.approx((-1, -2, 3))
        assert navigation.camerasOf(scene) == [one, other]
