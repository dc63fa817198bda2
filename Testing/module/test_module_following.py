"""The panel follows edits while somebody draws, on the stand-in for Slicer's application."""

from __future__ import annotations

import time

import numpy as np
import pytest
import shapes
import slicer
from panel_checks.drawing import cornerTexts
from sayings import says
from scenework import choose, observedNow, segmentation
from tiers import rarely
from vtk.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import mrml
from SegmentMetricsLib.base import progress
from SegmentMetricsLib.case import comparison as comparing
from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml import practice
from SegmentMetricsLib.mrml.conversion import orientedImage

MAY_GO = ("test", "map", "parameters", "pair")  # much as others do
BOX, SMALL, ALMOST = ((5, 5, 5), (14, 14, 14)), ((5, 5, 5), (9, 14, 14)), ((5, 5, 5), (13, 14, 14))


def draw(session, low, high, name: str = "Box") -> None:
    """Replace a segment of the test by a box, as a stroke does."""
    node = session.parameters.test
    mask = orientedImage(structureFromImage(shapes.box(low, high), name, None, 0.5).mask)
    segment = node.GetSegmentation().GetSegmentIdBySegmentName(name)
    slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(mask, node, segment)


def await_(session) -> None:
    """Let the panel notice an edit and measure it."""
    session.settle(0.1)
    while session.panel.follower.isBusy:
        slicer.app.processEvents()
        time.sleep(0.002)
    session.settle(0.05)


def corners() -> list[str]:
    """Return what the corners of all views say."""
    return [text for text, _opacity in cornerTexts()]


@pytest.fixture
def following(session):
    """The session with two boxes that were compared and are followed while another module is open."""
    choose(session, *[segmentation(n, Box=shapes.box(*box)) for n, box in (("First", BOX), ("Second", SMALL))], "Box")
    session.apply()
    session.click(session.ui.followCheckBox)
    session.widget.exit()
    yield session
    session.widget.enter()
    session.set(session.parameters, follow=False)


def testTextsOfOtherModulesStayInTheCorners(session):
    from SegmentMetricsPanel.views.corners import views

    for view, position in views():
        view.cornerAnnotation().SetText(position, "Another module")
    choose(session, *[segmentation(n, Box=shapes.box(*box)) for n, box in (("First", BOX), ("Second", SMALL))], "Box")
    session.apply()
    assert set(corners()) == {"Another module"}


def assertFull(session) -> None:
    """What is shown is what a full comparison of what is chosen finds."""
    p, found = session.parameters, session.panel.outcome.comparisons[0].numbers
    full = mrml.compareSegments(p.reference, p.referenceSegment, p.test, p.testSegment, by="ID").numbers
    assert found == pytest.approx(full, rel=0, abs=0, nan_ok=True)


def testNumbersFollowWhileAnotherModuleIsOpen(following):
    session, panel = following, following.panel
    before, (model,) = panel.outcome, following.maps().values()
    places = panel.places.places
    (said,) = set(corners())
    *numbers, brush = said.splitlines()
    assert places and numbers == ["DSC 0.667 (+0.000)", "HD95 5.00 mm (+0.00)", "NSD 2 mm 0.740 (+0.000)"]
    says(brush, "1", "5 mm")
    draw(session, *ALMOST)
    await_(session)
    assert panel.outcome is not before and not panel.isActive and not panel.staleness()
    assertFull(session)
    assert session.maps() == {"reference": model} and panel.outcome.shows(model), "the same node, filled anew"
    assert corners() == ["DSC 0.947 (+0.281)\nHD95 1.00 mm (-4.00)\nNSD 2 mm 1.000 (+0.260)"] * 4
    rows = session.ui.mainTable.rowCount
    session.widget.enter()
    session.settle(0.05)
    says(session.ui.progressLabel.text, f"{len(places)} of {len(places)}", "2 mm")
    assert session.texts(session.ui.placesTable)[0][0] == "✓ 1" and session.ui.mainTable.rowCount == rows
    assert session.texts(session.ui.mainTable)[0][1] in corners()[0], "the panel has caught up"
    session.widget.exit()
    draw(session, *SMALL)
    await_(session)
    assert not any(panel.model.edit().isDone) and panel.outcome.records[0].measurements["HD95"].value == 5
    session.parameters.follow = False
    session.widget.enter()
    session.settle(0.05)
    assert set(corners()) == {""} and not session.parameters.edit


def testAMovedTransformAndAnUndoAreFollowed(following):
    session = following
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    session.parameters.test.SetAndObserveTransformNodeID(transform.GetID())
    await_(session)
    before = session.panel.outcome
    matrix = transform.GetMatrixTransformToParent()
    matrix.SetElement(0, 3, 2.0)
    transform.SetMatrixTransformToParent(matrix)
    await_(session)
    moved = session.panel.outcome
    assert moved is not before
    assertFull(session)
    kept = moved.comparisons[0].reference
    assert kept is before.comparisons[0].reference, "what did not change keeps its surface"
    session.parameters.test.GetSegmentation().InvokeEvent(slicer.vtkSegmentation.SegmentModified)
    await_(session)
    assert session.panel.outcome is moved, "an undo that changes nothing is not measured"
    history, before = slicer.vtkSegmentationHistory(), moved.records[0].numbers
    history.SetSegmentation(session.parameters.test.GetSegmentation())
    assert history.SaveState()
    for change in (lambda: draw(session, *ALMOST), history.RestorePreviousState, history.RestoreNextState):
        change()
        await_(session)
        assertFull(session)
        assert (session.panel.outcome.records[0].numbers == before) == (change == history.RestorePreviousState)
    session.set(session.parameters, follow=False)
    session.widget.enter()
    assert history.RestorePreviousState()
    session.settle(0.3)
    says(session.panel.staleness(), "Box of the test")


def testANewerEditStopsTheRunBefore(following, monkeypatch):
    session, compared, ended = following, comparing.comparePair, []

    def slow(pair):
        if not ended:  # the first run goes on until it is stopped
            ended.append("begun")
            try:
                while True:
                    progress.checkpoint()
                    time.sleep(0.002)
            finally:
                ended.append("stopped")
        return compared(pair)

    monkeypatch.setattr(comparing, "comparePair", slow)
    draw(session, (5, 5, 5), (11, 14, 14))
    session.settle(0.1)
    assert session.panel.follower.isBusy and ended == ["begun"]
    draw(session, *ALMOST)
    await_(session)
    assert ended == ["begun", "stopped"] and not session.panel.staleness()
    assertFull(session)


@pytest.mark.parametrize("what", ["segment", "reference", "table", "scene", "off", *rarely(MAY_GO)])
def testAnythingMayGoWhileAnEditIsMeasured(following, monkeypatch, what):
    """What belongs to a run that has not ended is deleted, and nothing is left of it."""
    session, isWaiting = following, [True]
    compared, p, panel = comparing.comparePair, following.parameters, following.panel

    def slow(pair):
        while isWaiting:
            progress.checkpoint()
            time.sleep(0.001)
        return compared(pair)

    monkeypatch.setattr(comparing, "comparePair", slow)
    draw(session, *ALMOST)
    session.settle(0.1)
    assert panel.follower.isBusy
    before = panel.outcome
    if what == "segment":
        p.test.GetSegmentation().RemoveSegment(p.testSegment)
    elif what == "pair":
        p.testSegment = p.test.GetSegmentation().AddEmptySegment("Other")
    elif what == "off":
        p.follow = False
    elif what == "scene":
        slicer.mrmlScene.Clear(0)
    else:
        found = {"test": p.test, "reference": p.reference, "table": p.result, "parameters": p.parameterNode}
        slicer.mrmlScene.RemoveNode(found[what] if what in found else next(iter(session.maps().values())))
    isWaiting.clear()
    await_(session)
    if what in ("segment", "test", "reference", "pair"):
        assert panel.outcome is before
    if what in ("table", "map"):
        assert panel.outcome is not before and not panel.staleness()
    if what in ("scene", "parameters"):
        assert panel.outcome is None
    if what not in ("table", "map"):
        assert set(corners()) == {""}, "no number of what is gone"
    if what in ("segment", "test", "reference", "off"):
        assert all(node.GetDisplayNode().GetVisibility() for node in panel.model.scene.segmentations())


def testAllStructures(session):
    """Only the shown pair is measured again; the others keep their numbers."""
    boxes = {"Box": shapes.box(*SMALL), "Other": shapes.box((16, 5, 5), (18, 9, 9))}
    choose(session, *[segmentation(name, **boxes) for name in ("First", "Second")], "Box")
    session.set(session.ui.modeComboBox, currentIndex=1)
    session.apply()
    session.panel.model.showPair(0)
    session.click(session.ui.followCheckBox)
    before = session.panel.outcome
    draw(session, *ALMOST)
    await_(session)
    after = session.panel.outcome
    assert after is not before and after.isOfAll and not session.panel.staleness()
    assert after.comparisons[1] is before.comparisons[1] and after.comparisons[0] is not before.comparisons[0]
    draw(session, (16, 5, 5), (17, 9, 9), "Other")
    await_(session)
    assert session.panel.outcome is after and "Other" in session.panel.staleness()


def testNextPlace(following):
    """Next goes round the places that are not corrected, and says which brush suits them."""
    session, panel = following, following.panel
    session.widget.enter()
    two = [shapes.box((5, 5, 5), (14, 14, 14)), shapes.box((8, 5, 5), (11, 14, 14))]
    choose(session, *[segmentation(n, Box=box) for n, box in zip(("Third", "Fourth"), two)], "Box")
    session.apply()
    assert len(panel.places.places) == 2 and not session.ui.progressLabel.isHidden()
    seen = []
    for button in (session.ui.nextPlaceButton, session.ui.nextPlaceButton, session.ui.previousPlaceButton):
        session.click(button)
        seen.append(panel.model.edit().current)
    assert seen == [0, 1, 0]
    node = slicer.mrmlScene.GetNodeByID("vtkMRMLSliceNodeRed")
    assert node.GetSliceToRAS().GetElement(2, 3) == pytest.approx(panel.places.places[0].position[2], abs=1)
    says(session.ui.progressLabel.text, "0 of 2", "2 mm", "1", "3 mm")
    first = panel.places.places[0].position[0]
    draw(session, *(((5, 5, 5), (11, 14, 14)) if first < 9 else ((8, 5, 5), (14, 14, 14))))
    await_(session)
    says(session.ui.progressLabel.text, "1 of 2", "2 mm")
    for _ in range(2):
        session.ui.nextPlaceButton.click()
        assert panel.model.edit().current == 1
    panel.places.shortcuts[0].activated.emit()
    assert panel.places.shortcuts[0].enabled


def testPractice(session, tmp_path):
    """Until Reveal nothing of the reference is shown, but what is drawn is recorded, also across a saved scene."""
    nodes = [segmentation(n, Box=shapes.box(*box)) for n, box in (("First", BOX), ("Second", SMALL))]
    choose(session, *nodes, "Box")
    session.apply()
    session.parameters.showMarkers = True
    session.ui.practiceCheckBox.click()
    await_(session)
    panel, ui = session.panel, session.ui
    assert not nodes[0].GetDisplayNode().GetVisibility() and nodes[1].GetDisplayNode().GetVisibility()
    assert panel.outcome is None and not session.maps() and set(corners()) == {""} and not ui.applyButton.enabled
    markers = slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")
    assert not any(node.GetDisplayNode().GetVisibility() for node in markers)
    assert not panel.apply() and panel.outcome is None
    session.widget.exit()
    draw(session, (5, 5, 5), (11, 14, 14))
    await_(session)
    assert panel.outcome is None and not session.maps() and set(corners()) == {""}
    slicer.util.saveScene(str(tmp_path / "practice.mrb"))
    slicer.mrmlScene.Clear(0)
    slicer.util.loadScene(str(tmp_path / "practice.mrb"))
    session.widget.enter()
    await_(session)
    reference = session.parameters.reference
    assert practice.practiceState(reference) == "hidden" and not reference.GetDisplayNode().GetVisibility()
    draw(session, *ALMOST)
    await_(session)
    assert panel.outcome is None
    session.click(ui.revealButton)
    assert practice.practiceState(reference) == "revealed" and session.maps() and panel.outcome is not None
    rows = practice.readSession(session.parameters.session)
    assert rows[0][1] == 0 and rows[-1][1] == 2, "the first row is what was there"
    assert [row[0] for row in rows] == sorted(row[0] for row in rows) and rows[-1][4] == 1
    assert panel.plot.chart is not None and says(panel.plot.chart.GetTitle(), "2")
    panel.files.writers["session"](tmp_path / "session.csv")
    assert (tmp_path / "session.csv").read_text("utf-8").splitlines()[0] == "Time,Strokes,DSC,HD,NSD"
    session.widget.exit()
    assert reference.GetDisplayNode().GetVisibility(), "which the module hides beside its own lines"
    session.widget.enter()
    session.click(ui.practiceCheckBox)
    assert practice.practiceState(reference) == "" and not ui.revealButton.visible


def testTheTaskOfTheSample(session):
    """The sample's task hides its reference at once; an empty contour can be practiced with."""
    from SegmentMetrics import SegmentMetricsLogic

    reference, trainee = SegmentMetricsLogic.loadSample("practice")
    await_(session)
    assert session.nodes == [reference, trainee] and session.ui.revealButton.visible
    assert not reference.GetDisplayNode().GetVisibility() and session.parameters.session is not None
    session.click(session.ui.revealButton)
    assert session.panel.outcome.records[0].measurements["DSC"].value == 0


def testWhenNobodyCanPractice(session):
    node = segmentation("First", Box=shapes.box(*BOX), Other=shapes.box(*SMALL))
    choose(session, node, node, "Box")
    session.set(session.parameters, testSegment=node.GetSegmentation().GetSegmentIdBySegmentName("Other"))
    assert not session.ui.practiceCheckBox.enabled
    says(session.ui.practiceCheckBox.accessibleDescription)


@pytest.mark.parametrize("strokes", [20, pytest.param(1000, marks=pytest.mark.nightly)])
def testStrokes(following, strokes):
    """Random strokes and undos leave no node and no observer behind, and the numbers are those of a full run."""
    session, random = following, np.random.default_rng(strokes)
    p, image = session.parameters, slicer.vtkOrientedImageData()
    p.test.GetBinaryLabelmapRepresentation(p.testSegment, image)
    voxels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])
    history, before = [voxels.copy()], None
    for number in range(strokes):
        if number % 7 == 6:
            voxels[...] = history.pop()
        else:
            history.append(voxels.copy())
            low = [random.integers(0, size) for size in voxels.shape]
            voxels[tuple(slice(one, one + 3) for one in low)] = random.integers(0, 2)
        image.Modified()
        slicer.vtkSlicerSegmentationsModuleLogic.SetBinaryLabelmapToSegment(image, p.test, p.testSegment)
        slicer.app.processEvents()
        if number % 10 == 9:
            await_(session)
            assertFull(session)
            now = slicer.mrmlScene.GetNumberOfNodes(), observedNow(session)
            assert before in (None, now)
            before = now
