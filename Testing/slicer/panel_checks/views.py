"""Views that go to the difference, and only the compared two in them until all is put back."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import slicer
from sayings import says
from vtk.util.numpy_support import vtk_to_numpy

from .session import SMALL, STRUCTURE, Session

# What a user can set of how a node is shown, of segmentations and of models.
PROPERTIES = (
    "Visibility",
    "Visibility2D",
    "Visibility3D",
    "Opacity",
    "Color",
    "SliceIntersectionThickness",
    "SliceIntersectionOpacity",
    "ViewNodeIDs",
)
# What there is nothing to be seen in before anything was measured.
OF_RESULTS = (
    "allNumbersButton",
    "copyButton",
    "exportButton",
    "reportButton",
    "plotLabel",
    "plotComboBox",
    "mainFrame",
    "notesButton",
    "sidesTable",
    "alarmsLabel",
    "findingsLabel",
    "placesTable",
    "pagesFrame",
    "numbersPage",
    "mapPage",
)
OF_SEGMENTS = ("Visibility", "Visibility2DFill", "Visibility2DOutline", "Opacity3D", "Opacity2DFill")


def displayed(node) -> list:
    """How a node is shown, except for what its distance map covers."""
    found = []
    for number in range(node.GetNumberOfDisplayNodes()):
        display = node.GetNthDisplayNode(number)
        found.append([getattr(display, f"Get{name}")() for name in PROPERTIES])
        found.append(sorted(name for name in display.GetAttributeNames() if "Covered" not in name))
        for segment in node.GetSegmentation().GetSegmentIDs() if hasattr(node, "GetSegmentation") else ():
            found.append([getattr(display, f"GetSegment{name}")(segment) for name in OF_SEGMENTS])
    return found


def drawn(session: Session) -> dict:
    """The models that are drawn besides the user's, by what they are: map or line, and side."""
    from SegmentMetricsLib.mrml import focus

    models = [n for n in slicer.util.getNodesByClass("vtkMRMLModelNode") if n.GetAttribute(focus.SIDE_ATTRIBUTE)]
    lines = {("line", n.GetAttribute(focus.SIDE_ATTRIBUTE)): n for n in models}
    return {("map", side): model for side, model in session.maps().items()} | lines


def checkBefore(session: Session) -> None:
    """Nothing is drawn and no view moves before Apply."""
    from SegmentMetricsLib.mrml import navigation

    ui = session.ui
    assert not any(session.isShown(getattr(ui, name)) for name in OF_RESULTS)
    says(ui.summaryLabel.text)
    families = session.families
    session.chooseFamilies("hazard")
    assert says(ui.messageLabel.text) and ui.summaryLabel.text == "", "one message about what to choose"
    session.chooseFamilies(*families)
    assert drawn(session) == {} and all(node.GetDisplayNode().GetVisibility() for node in session.nodes)
    session.remembered["displayed"] = [displayed(node) for node in session.nodes]
    session.remembered["views"] = navigation.viewState(slicer.mrmlScene)


def checkFocus(session: Session) -> None:
    """Only the compared two are drawn, the reference colored and the test as a line; one box puts all back exactly."""
    from SegmentMetricsLib.mrml import removeResults

    nodes, versions = session.nodes, [node.GetSegmentation().GetMTime() for node in session.nodes]
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    line = drawn(session)["line", "test"]
    display, polyData = line.GetDisplayNode(), line.GetPolyData()
    assert polyData.GetNumberOfPolys() > 1000 and display.GetVisibility() and display.GetVisibility2D()
    assert not display.GetVisibility3D() and line.GetHideFromEditors() and not line.GetSaveWithScene()
    assert not any(node.GetDisplayNode().GetVisibility() for node in nodes)
    session.set(session.ui.mapSideComboBox, currentIndex=2)
    assert set(drawn(session)) == {("map", "reference"), ("map", "test")}
    session.set(session.ui.mapSideComboBox, currentIndex=1)
    assert set(drawn(session)) == {("map", "test"), ("line", "reference")}
    session.ui.mapSideComboBox.currentIndex = 0
    session.click(session.ui.showMapCheckBox)
    lines = drawn(session)
    assert set(lines) == {("line", "reference"), ("line", "test")}
    assert all(model.GetDisplayNode().GetVisibility3D() for model in lines.values()), "they come back to the 3D view"
    colors = {model.GetDisplayNode().GetColor() for model in lines.values()}
    assert len(colors) == 2, "each has a color of its own"
    session.ui.showMapCheckBox.click()
    session.click(session.ui.focusCheckBox)
    assert set(drawn(session)) == {("map", "reference")}
    assert [displayed(node) for node in nodes] == session.remembered["displayed"]
    session.click(session.ui.focusCheckBox)
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    assert [node.GetSegmentation().GetMTime() for node in nodes] == versions
    nodes[0].GetDisplayNode().SetVisibility(True)
    session.apply()
    assert nodes[0].GetDisplayNode().GetVisibility(), "what is shown in spite of it stays beside this pair"
    nodes[0].GetDisplayNode().SetVisibility(False)
    nodes[0].GetDisplayNode().SetVisibility(True)
    session.choose(SMALL)
    session.apply()
    assert not nodes[0].GetDisplayNode().GetVisibility(), "until another one is compared"
    removeResults(session.panel.outcome.comparisons[0])
    session.choose(STRUCTURE)
    session.apply()


def checkFocusElsewhere(session: Session) -> None:
    """What was hidden comes back with another module, a loaded scene, and a closed one."""
    cube = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLModelNode", "Cube")
    cube.CreateDefaultDisplayNodes()
    others = [*session.nodes, cube]
    session.panel.focus.end()
    before = [displayed(node) for node in others]
    session.panel.refresh()
    assert not any(node.GetDisplayNode().GetVisibility() for node in others)
    for isVisible in (True, False):
        cube.GetDisplayNode().SetVisibility(isVisible)
    session.panel.focus.end()
    assert not cube.GetDisplayNode().GetVisibility(), "what the user has shown and hidden stays hidden"
    assert [displayed(node) for node in session.nodes] == before[:-1]
    cube.GetDisplayNode().SetVisibility(True)
    session.panel.refresh()
    assert not any(node.GetDisplayNode().GetVisibility() for node in others)
    session.widget.exit()
    assert [displayed(node) for node in others] == before
    session.widget.enter()
    session.settle(0.1)
    assert not any(node.GetDisplayNode().GetVisibility() for node in others)
    path = str(Path(session.folder.name) / "focus.mrb")
    assert slicer.util.saveScene(path)
    names = [node.GetName() for node in others]
    for isOpen in (True, False):
        if not isOpen:
            session.widget.exit()
        slicer.mrmlScene.Clear(0)
        session.settle(0.1)
        slicer.util.loadScene(path)
        session.settle(0.3)
        loaded = [slicer.util.getNode(name) for name in names]
        assert [bool(node.GetDisplayNode().GetVisibility()) for node in loaded] == [not isOpen] * 3
        assert len(drawn(session)) == (2 if isOpen else 1), "only the map is saved"
        session.widget.exit()
        assert [displayed(node) for node in loaded] == before
        session.widget.enter()
        session.settle(0.1)
    slicer.mrmlScene.RemoveNode(slicer.util.getNode("Cube"))


def checkOutlinesElsewhere(session: Session) -> None:
    """Outlines of observers become what they were with another module, deleted results, and a scene that was saved."""
    import qt

    ui, scene, path = session.ui, slicer.mrmlScene, str(Path(session.folder.name) / "outlines.mrb")
    session.widget.exit()
    before, names = [displayed(node) for node in session.nodes], [node.GetName() for node in session.nodes]
    session.widget.enter()
    session.set(ui.modeComboBox, currentIndex=2)
    for row in range(ui.observersTable.rowCount):
        ui.observersTable.item(row, 0).setCheckState(qt.Qt.Checked)
        session.settle(0.1)
    session.set(ui.observedOnlyComboBox, currentIndex=ui.observedOnlyComboBox.findText(STRUCTURE))
    session.apply()
    assert not any(node.GetDisplayNode().GetVisibility2DFill() for node in session.nodes)
    assert slicer.util.saveScene(path)
    session.widget.exit()
    assert [displayed(node) for node in session.nodes] == before
    session.widget.enter()
    scene.RemoveNode(session.parameters.observersResult)
    session.settle(0.2)
    assert [displayed(node) for node in session.nodes] == before
    scene.Clear(0)
    session.settle(0.1)
    slicer.util.loadScene(path)
    session.settle(0.3)
    loaded = [slicer.util.getNode(name) for name in names]
    assert not any(node.GetDisplayNode().GetVisibility2DFill() for node in loaded)
    session.widget.exit()
    assert [displayed(node) for node in loaded] == before
    session.widget.enter()
    session.settle(0.1)
    session.set(ui.observedOnlyComboBox, currentIndex=0)
    session.set(ui.modeComboBox, currentIndex=0)
    session.apply()


def shownIn(node, points: np.ndarray) -> np.ndarray:
    """Where RAS points (n, 3) lie in a slice view: (n, 3), in [-0.5, 0.5] of its width and height where visible; mm."""
    matrix = node.GetSliceToRAS()
    toRas = np.array([[matrix.GetElement(row, column) for column in range(4)] for row in range(4)])
    local = np.linalg.solve(toRas, np.column_stack([points, np.ones(len(points))]).T).T[:, :3]
    local[:, :2] = (local[:, :2] - node.GetXYZOrigin()[:2]) / node.GetFieldOfView()[:2]
    return local


def isSame(before: dict) -> bool:
    """Whether all views look where they did."""
    from SegmentMetricsLib.mrml import navigation

    return navigation.isSameView(navigation.viewState(slicer.mrmlScene), before)


def assertSameSlices(before: dict, nodes) -> None:
    """The slice views look where they did, whatever rounding does."""
    from SegmentMetricsLib.mrml import navigation

    now = navigation.viewState(slicer.mrmlScene)
    for node in nodes:
        for values, expected in zip(now[node.GetID()][0], before[node.GetID()][0], strict=True):
            np.testing.assert_allclose(values, expected, atol=1e-6)


def checkViews(session: Session) -> None:
    """All views go to the largest difference of a new pair and show all of it; another run leaves them alone."""
    from SegmentMetricsLib.mrml import navigation, removeResults

    worst = session.panel.outcome.records[0].worstPlaces[0]
    place, radius = np.array(worst.position) * (-1, -1, 1), math.sqrt(worst.area / math.pi)
    surface = vtk_to_numpy(session.maps()["reference"].GetPolyData().GetPoints().GetData())
    (model,) = session.maps().values()
    bounds = [0.0] * 6
    model.GetRASBounds(bounds)
    corners = np.stack(np.meshgrid(*np.reshape(bounds, (3, 2))), axis=-1).reshape(-1, 3)
    nodes = navigation.sliceNodesOf(slicer.mrmlScene)
    assert nodes and navigation.camerasOf(slicer.mrmlScene)
    for node in nodes:
        assert abs(shownIn(node, place[None])[0, 2]) < radius, "the slice goes through the worst patch"
        beside = shownIn(node, surface)[:, 2]
        assert beside.min() < -0.5 and beside.max() > 0.5, "it shows a contour"
        local = shownIn(node, corners)[:, :2]
        assert np.abs(local).max() < 0.45 and np.ptp(local, axis=0).max() > 0.5, "all of it, and as large as it can be"
    for camera in navigation.camerasOf(slicer.mrmlScene):
        away = np.array(camera.GetPosition()) - camera.GetFocalPoint()
        across = 2 * np.linalg.norm(away) * math.sin(math.radians(camera.GetViewAngle() / 2))
        assert 1 < across / np.linalg.norm(corners[-1] - corners[0]) < 1.6
    (mark,) = [
        node for node in slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode") if not node.GetSaveWithScene()
    ]
    np.testing.assert_allclose(mark.GetNthControlPointPosition(0), place, atol=1e-6)
    manager, before = slicer.app.layoutManager(), navigation.viewState(slicer.mrmlScene)
    usual = manager.layout
    manager.setLayout(slicer.vtkMRMLLayoutNode.SlicerLayoutTwoOverTwoView)
    session.settle()
    more = navigation.sliceNodesOf(slicer.mrmlScene)
    assert len(more) > len(nodes), "there is a view that was not there"
    for node in more:
        assert abs(shownIn(node, place[None])[0, 2]) < radius, "views of another layout go there, too"
    manager.setLayout(usual)
    session.settle()
    session.apply()
    assert isSame(before), "the same pair moves nothing"
    session.choose(SMALL)
    session.apply()
    eye, there = session.panel.outcome.comparisons[0], navigation.viewState(slicer.mrmlScene)
    assert not isSame(before)
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    images = [node.GetBackgroundVolumeID() for node in composites]
    for node in composites:
        node.SetBackgroundVolumeID(None)
    session.panel.focus.end()
    session.panel.refresh()
    labels = {node.GetLabelVolumeID() for node in composites}
    extent = slicer.mrmlScene.GetNodeByID(labels.pop())
    assert not labels and not extent.GetSaveWithScene(), "without an image, sliders know the extent"
    session.panel.focus.end()
    assert {node.GetLabelVolumeID() for node in composites} == {None}
    for node, image in zip(composites, images, strict=True):
        node.SetBackgroundVolumeID(image)
    session.panel.refresh()
    session.click(session.ui.focusCheckBox)
    assert isSame(session.remembered["views"]), "as before the first pair"
    session.click(session.ui.focusCheckBox)
    assertSameSlices(there, nodes)
    for node in nodes:
        node.JumpSliceByCentering(5, 5, 5)
    moved = navigation.viewState(slicer.mrmlScene)
    for _time in range(2):
        session.click(session.ui.focusCheckBox)
        assert isSame(moved), "who has moved a view keeps it"
    session.choose(STRUCTURE)
    session.apply()
    assertSameSlices(before, nodes)
    removeResults(eye)
    session.settle(0.1)
