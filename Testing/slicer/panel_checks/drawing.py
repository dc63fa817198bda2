"""Drawing in Segment Editor while edits are followed."""

from __future__ import annotations

import time

import slicer

from .session import Session, edit
from .views import displayed, drawn


def checkDrawing(session: Session) -> None:
    """Segment Editor opens on the test, an outline beside the colored reference; nothing asks, colors hold still."""
    from SegmentMetricsLib.mrml import maps

    ui, p, nodes = session.ui, session.parameters, session.nodes
    session.click(ui.followCheckBox)
    assert session.isShown(ui.editButton)
    session.click(ui.editButton, seconds=0.3)
    assertEditorsChoice(p.test, p.testSegment)
    display = p.test.GetDisplayNode()
    assert display.GetVisibility() and display.GetSegmentVisibility(p.testSegment), "else the editor would ask"
    assert list(display.GetVisibleSegmentIDs()) == [p.testSegment] and not display.GetVisibility2DFill()
    assert not p.reference.GetDisplayNode().GetVisibility() and set(drawn(session)) == {("map", "reference")}
    (model,) = session.maps().values()
    before = model.GetDisplayNode().GetScalarRange()
    image = slicer.vtkOrientedImageData()
    p.test.GetBinaryLabelmapRepresentation(p.testSegment, image)
    whole = slicer.vtkOrientedImageData()
    whole.DeepCopy(image)
    run = session.panel.outcome.run
    with session.isAlive():
        edit(p.test, p.testSegment, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
        waitFor(session, lambda: session.panel.outcome.run != run)
    (model,) = session.maps().values()
    assert maps.mapInformation(model)["limit"] > before[1], "half of it is missing"
    assert model.GetDisplayNode().GetScalarRange() == before, "the colors hold still"
    texts = cornerTexts()
    # the last line tells the size of a brush
    assert texts and all("NSD 2 mm 0." in text and text.endswith(" mm") for text, _opacity in texts), texts
    assert all(opacity > 0 for _text, opacity in texts), "a box to be read over bone"
    run = session.panel.outcome.run
    assert slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(whole, p.test, p.testSegment)
    waitFor(session, lambda: session.panel.outcome.run != run)
    slicer.util.selectModule("SegmentMetrics")
    session.settle(0.3)
    assert not any(node.GetDisplayNode().GetVisibility() for node in nodes), "only the two, as before"
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    session.set(ui.toleranceSpinBox, value=1)
    waitFor(session, lambda: not session.panel.staleness())
    assert "NSD_1mm" in session.panel.outcome.records[0].measurements, "what is set is measured, too"
    session.set(ui.toleranceSpinBox, value=2)
    session.click(ui.followCheckBox)
    slicer.util.selectModule("Data")
    session.settle(0.1)
    assert [displayed(node) for node in nodes] == session.remembered["displayed"], "all is put back exactly"
    slicer.util.selectModule("SegmentMetrics")
    session.settle(0.1)
    session.apply()


def checkPractice(session: Session) -> None:
    """While the reference is hidden, Segment Editor opens on the test, with Focus and without; Reveal is in sight."""
    ui, p = session.ui, session.parameters
    session.click(ui.practiceCheckBox)
    assert ui.revealButton.isVisible() and not ui.practiceCheckBox.isVisible(), "the switch is in the settings"
    for _time in range(2):
        slicer.util.selectModule("SegmentEditor")
        session.settle(0.1)
        assertEditorsChoice(p.test, p.testSegment).SetAndObserveSegmentationNode(p.reference)
        assert p.test.GetDisplayNode().GetVisibility() and not p.reference.GetDisplayNode().GetVisibility()
        slicer.util.selectModule("SegmentMetrics")
        session.click(ui.focusCheckBox)
    session.click(ui.practiceCheckBox)
    assert p.reference.GetDisplayNode().GetVisibility()
    session.apply()


def assertEditorsChoice(node, segment: str):
    """Segment Editor opens on this segment; return the node that says so."""
    editor = slicer.mrmlScene.GetSingletonNode("SegmentEditor", "vtkMRMLSegmentEditorNode")
    assert editor.GetSegmentationNode() is node and editor.GetSelectedSegmentID() == segment
    return editor


def cornerTexts() -> list[tuple]:
    """The texts in the corners of all views, and the opacity of the box behind each."""
    from SegmentMetricsPanel.views.corners import views

    found = [(view.cornerAnnotation(), position) for view, position in views()]
    return [(one.GetText(position) or "", one.GetTextProperty().GetBackgroundOpacity()) for one, position in found]


def waitFor(session: Session, isDone) -> None:
    deadline = time.monotonic() + 30
    while not isDone() and time.monotonic() < deadline:
        session.settle(0.2)
    assert isDone()
    session.settle(0.2)
