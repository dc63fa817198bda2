"""Views that show a box as a whole from any side, in windows of any shape, and go back; and that go to a place."""

from __future__ import annotations

import numpy as np
import pytest
import slicer

from SegmentMetricsLib.mrml import headless, navigation

BOX = (-10.0, 20.0, -40.0), (30.0, 40.0, 20.0)  # LPS
CORNERS = np.stack(np.meshgrid(*zip(*BOX)), axis=-1).reshape(-1, 3) * (-1, -1, 1)  # RAS


@pytest.fixture
def scene():
    headless.ensureScene()
    return slicer.vtkMRMLScene()


def sliceNode(scene, orientation: str, size=(600, 200)):
    node = scene.AddNewNodeByClass("vtkMRMLSliceNode", orientation)
    node.SetLayoutName(orientation)
    if orientation == "oblique":  # rotated about two axes, panned and zoomed
        node.SetSliceToRASByNTP(0.48, 0.6, 0.64, 0.8, 0, -0.6, 3, 7, 9, 0)
        node.SetXYZOrigin(15, -8, 0)
    node.SetDimensions(*size, 1)
    node.SetFieldOfView(300, 100, 2.5)
    return node


def inView(node, points: np.ndarray) -> np.ndarray:
    """Where RAS points (n, 3) are drawn: pixels and distance from the slice, as Slicer computes them."""
    toRas = np.reshape(node.GetXYToRAS().GetData(), (4, 4))
    return np.linalg.solve(toRas, np.column_stack([points, np.ones(len(points))]).T).T[:, :3]


@pytest.mark.parametrize("size", [(600, 200), (200, 500)])
def testABoxFillsASliceView(scene, size):
    node, place = sliceNode(scene, "oblique", size), np.array([25.0, 22, -30])
    before = navigation.viewState(scene)
    navigation.frame(BOX, place, scene=scene)
    drawn = inView(node, CORNERS)
    low, high = drawn[:, :2].min(axis=0), drawn[:, :2].max(axis=0)
    np.testing.assert_allclose((low + high) / 2, np.array(size) / 2, atol=1)
    assert ((high - low) / size).max() == pytest.approx(1 / navigation.MARGIN, abs=0.01)
    assert inView(node, place[None] * (-1, -1, 1))[0, 2] == pytest.approx(0, abs=1e-6)
    columns, rows, _depth = node.GetFieldOfView()
    assert columns / rows == pytest.approx(size[0] / size[1]), "pixels are square"
    navigation.setViewState(before, scene)
    assert navigation.viewState(scene) == before
    node.SetDimensions(size[0] // 2, size[1], 1)  # the window has another shape
    node.SetFieldOfView(77, 77 * size[1] / (size[0] // 2), 2.5)
    assert navigation.isSameView(navigation.viewState(scene), before)
    navigation.setViewState(before, scene)
    columns, rows, _depth = node.GetFieldOfView()
    assert columns / rows == pytest.approx(size[0] // 2 / size[1]) and columns >= 300 and rows >= 100


def addThreeDView(scene, name="1"):
    view = scene.CreateNodeByClass("vtkMRMLViewNode")
    view.UnRegister(None)
    view.SetLayoutName(name)
    view.SetSingletonTag(name)
    scene.AddNode(view)
    camera = scene.AddNewNodeByClass("vtkMRMLCameraNode")
    camera.SetLayoutName(name)
    return camera


def look(camera, position=(0, 200, 0)) -> None:
    camera.SetFocalPoint(0, 0, 0)
    camera.SetPosition(*position)
    camera.SetViewUp(0, 0, 1)


@pytest.mark.parametrize("isParallel", [False, True])
def testABoxFillsA3DView(scene, isParallel):
    camera = addThreeDView(scene)
    camera.SetParallelProjection(isParallel)
    before = navigation.viewState(scene)
    navigation.frame(BOX, normal=(0, -1, 0), scene=scene)
    away = np.array(camera.GetPosition()) - camera.GetFocalPoint()
    np.testing.assert_allclose(camera.GetFocalPoint(), CORNERS.mean(axis=0))
    np.testing.assert_allclose(away / np.linalg.norm(away), (0, 1, 0), atol=1e-9)
    radius = np.linalg.norm(np.ptp(CORNERS, axis=0)) / 2
    assert camera.GetParallelScale() == pytest.approx(radius)
    assert np.linalg.norm(away) * np.sin(np.radians(camera.GetViewAngle() / 2)) == pytest.approx(radius)
    navigation.setViewState({**before, "gone": ((), ())}, scene)
    assert navigation.viewState(scene) == before


def testASliceThatWouldBeEmptyMovesToTheContours(scene):
    """By half a millimeter into what is drawn, which may be less than what was measured; others stay at the place."""
    node = sliceNode(scene, "oblique")
    normal = np.reshape(node.GetSliceToRAS().GetData(), (4, 4))[:3, 2]
    drawn = CORNERS * 0.9 * (-1, -1, 1)
    along = drawn * (-1, -1, 1) @ normal
    for position, expected in ((along.max() + 2, along.max() - 0.5), (along.min(), along.min() + 0.5), (3, 3)):
        navigation.frame(BOX, position * normal * (-1, -1, 1), drawn=drawn, scene=scene)
        assert inView(node, (expected * normal)[None])[0, 2] == pytest.approx(0, abs=1e-6)
    navigation.frame(((0, 0, 0), (1, 1, 1)), scene=scene)
    assert node.GetFieldOfView()[1] >= 2 * navigation.SMALLEST, "a voxel is not magnified without limit"


def testAPlaceOutOfSightIsCentered(scene):
    """Otherwise the user's pan and zoom stay."""
    node = sliceNode(scene, "Axial")
    for place, isPanned in (((20, 10, 5), True), ((500, 0, 5), False)):
        node.SetXYZOrigin(30, 0, 0)
        navigation.jumpTo(place, scene=scene, cameras=())
        assert (node.GetXYZOrigin()[0] == 30) == isPanned and node.GetSliceOffset() == 5
        column, row, _depth = inView(node, np.array([place]) * (-1, -1, 1))[0]
        assert 0 <= column <= 600 and 0 <= row <= 200
        assert node.GetFieldOfView() == (300, 100, 2.5)


def testCamerasLookFromOutside(scene):
    """As far as before, but neither too near nor too far; from above the front is up; only given ones move."""
    camera, unbound = addThreeDView(scene), scene.AddNewNodeByClass("vtkMRMLCameraNode")
    untouched = unbound.GetPosition()
    for before, normal, away, up in (
        ((0, 200, 0), (2.0, 0.0, 0.0), (-200, 0, 0), (0, 0, 1)),  # from the patient's left
        ((0, 200, 0), (0.0, 0.0, 1.0), (0, 0, 200), (0, 1, 0)),
        *(((0, 200, 0), normal, (0, 200, 0), (0, 0, 1)) for normal in (None, (0.0, 0.0, 0.0))),
        *(((0, far, 0), (0.0, -1.0, 0.0), (0, to, 0), (0, 0, 1)) for far, to in ((5, 40), (150, 150), (2000, 350))),
    ):
        look(camera, before)
        navigation.jumpTo((10.0, -20.0, 30.0), normal=normal, scene=scene)
        assert camera.GetFocalPoint() == pytest.approx((-10, 20, 30)) and camera.GetViewUp() == pytest.approx(up)
        assert np.subtract(camera.GetPosition(), camera.GetFocalPoint()) == pytest.approx(away)
    assert unbound.GetPosition() == untouched
    other = addThreeDView(scene, "2")
    look(other)
    other.SetParallelProjection(True)
    other.SetParallelScale(900)
    navigation.jumpTo((1.0, 2.0, 3.0), scene=scene, cameras=[other])
    for one, focus in ((camera, (-10, 20, 30)), (other, (-1, -2, 3))):
        assert one.GetFocalPoint() == pytest.approx(focus)
    assert other.GetParallelScale() == pytest.approx(350 * np.tan(np.radians(15)))
