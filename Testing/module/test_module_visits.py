"""The panel while other modules are open, while nodes come, change and go, and while work is stopped."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from pathlib import Path

import pytest
import shapes
import slicer
from panel_checks.session import edit, isStale
from sayings import says
from scenework import choose, segmentation, twoBoxes

from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml.conversion import orientedImage


@pytest.fixture(autouse=True)
def back(session):
    """The module is open again after every test."""
    yield
    session.widget.enter()


def shrink(node, segment: str) -> None:
    """Leave half of a segment, as an editor does."""
    image = slicer.vtkOrientedImageData()
    node.GetBinaryLabelmapRepresentation(segment, image)
    edit(node, segment, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))


def testVisitsDoNotSlowChangesDown(session, monkeypatch):
    """They leave nothing behind: what an ended connection leaves on the parameter node goes with it."""
    updates, parameters = [], session.parameters
    kind = type(parameters)
    update = kind._updateGui
    monkeypatch.setattr(kind, "_updateGui", lambda self: updates.append(self) or update(self))

    def updatesOfAChange(tolerance: float) -> int:
        updates.clear()
        session.parameters.tolerance = tolerance
        assert session.ui.toleranceSpinBox.value == tolerance
        return len(updates)

    before = updatesOfAChange(3)
    for _ in range(5):
        session.widget.exit()
        session.widget.enter()
    assert updatesOfAChange(4) == before >= 1
    assert session.parameters is parameters and len(session.panel.Observations) <= 4


def testAScriptsResultsAreShownButNotFollowed(session):
    """While another module is open, the panel shows what a script measures, and then leaves the scene alone again."""
    choose(session, *twoBoxes(), "Box")
    session.widget.exit()
    assert session.panel.apply() and not session.panel.isActive
    (model,) = session.maps().values()
    outcome, plot, path = session.panel.outcome, session.panel.plot.chart, Path(session.folder.name) / "hidden.html"
    assert session.ui.mainTable.rowCount > 0 and plot is not None and outcome.shows(model)
    assert session.panel.compareTools() and session.ui.conventionsTable.rowCount > 1 and not session.panel.isActive
    assert session.panel.report(path) and path.exists() and not session.panel.isActive
    path.unlink()
    session.parameters.tolerance = 4
    shrink(session.nodes[1], session.parameters.testSegment)
    assert not session.panel.report(path) and not path.exists(), "the edit that the hidden panel has only remembered"
    session.settle(0.6)
    slicer.mrmlScene.RemoveNode(plot)
    session.settle(0.1)
    assert session.panel.outcome is outcome and session.panel.plot.chart is None
    assert not session.panel.isActive and session.ui.toleranceSpinBox.value == 2
    session.widget.enter()
    session.settle(0.6)
    assert session.panel.outcome is outcome and session.panel.staleness()
    assert session.panel.plot.chart is not None and session.ui.toleranceSpinBox.value == 4


def testAHiddenPanelLeavesTheParametersAlone(session):
    """Segmentations that come and go, and segment selectors that follow them, change nothing until it is opened."""
    session.widget.exit()
    parameters = session.parameters
    nodes = twoBoxes()
    session.settle(0.1)
    assert session.nodes == [None, None] and parameters.referenceSegment == parameters.testSegment == ""
    session.widget.enter()
    session.settle(0.1)
    assert session.nodes == nodes and session.ui.applyButton.enabled
    choose(session, *nodes)
    other = nodes[1].GetSegmentation().AddEmptySegment("Other")
    before = parameters.testSegment
    session.widget.exit()
    session.ui.testSelector.setCurrentSegmentID(other)
    nodes[1].GetSegmentation().RemoveSegment(before)
    session.settle(0.5)
    assert session.nodes == nodes and parameters.testSegment == before
    session.widget.enter()
    session.settle(0.5)
    assert session.nodes == nodes and parameters.testSegment == session.ui.testSelector.currentSegmentID() == ""
    says(session.ui.applyButton.accessibleDescription, "test")
    session.ui.testSelector.setCurrentSegmentID(other)
    session.settle(0.1)
    assert session.nodes == nodes and parameters.testSegment == other
    session.widget.exit()
    slicer.mrmlScene.RemoveNode(nodes[0])
    session.settle(0.1)
    assert session.nodes == [None, nodes[1]]
    session.widget.enter()
    session.settle(0.1)
    assert session.nodes == [None, nodes[1]] and session.ui.referenceSelector.currentNode() is None


def testAClosedSceneLeavesNoGeometry(session):
    """Also when another module is open, what was measured goes with the scene: it may fill the memory."""
    choose(session, *twoBoxes(), "Box")
    session.apply()
    outcome = weakref.ref(session.panel.outcome)
    assert outcome().comparisons
    session.widget.exit()
    slicer.mrmlScene.Clear(0)
    session.settle(0.1)
    gc.collect()
    assert outcome() is None


def measureForever(monkeypatch) -> None:
    """Let comparisons go on until they are stopped, and the dialog that can stop them come soon."""
    from SegmentMetricsPanel import work

    from SegmentMetricsLib.base import progress
    from SegmentMetricsLib.case import comparison

    def endless(pair):
        while True:
            progress.checkpoint()
            time.sleep(0.005)

    monkeypatch.setattr(work, "PATIENCE", 0.05)
    monkeypatch.setattr(comparison, "comparePair", endless)


def testStopping(session, monkeypatch):
    """Cancelled work leaves nothing behind, also when it is in the middle of a calculation."""
    choose(session, *twoBoxes(), "Box")
    measureForever(monkeypatch)
    dialogs = []
    create = slicer.util.createProgressDialog

    def createAndCancel(**options):
        dialogs.append(create(**options))
        dialogs[-1].cancel()
        return dialogs[-1]

    monkeypatch.setattr(slicer.util, "createProgressDialog", createAndCancel)
    before = slicer.mrmlScene.GetNumberOfNodes()
    session.apply()
    assert len(dialogs) == 1 and says(session.ui.messageLabel.text)
    title = dialogs[0].fontMetrics().horizontalAdvance(dialogs[0].windowTitle)
    assert dialogs[0].minimumWidth > title + 150, "the title has room beside the buttons of the window"
    assert slicer.mrmlScene.GetNumberOfNodes() == before and session.panel.outcome is None
    monkeypatch.undo()
    session.apply()
    assert session.panel.outcome is not None and not session.ui.messageLabel.text


def testTheDialogFails(session, monkeypatch):
    """The calculation ends before anything else happens; it would go on unseen, and with what is shown then."""

    def fail(*_, **__):
        raise RuntimeError("No dialog.")

    choose(session, *twoBoxes(), "Box")
    measureForever(monkeypatch)
    monkeypatch.setattr(slicer.util, "createProgressDialog", fail)
    with pytest.raises(RuntimeError, match=r"No dialog\."):
        session.panel.apply()
    assert [thread.name for thread in threading.enumerate() if thread.name == "SegmentMetrics"] == []
    assert not session.panel.model.isBusy
    monkeypatch.undo()
    session.settle(0.1)
    session.apply()
    assert session.panel.outcome is not None


def testEventsThatMayBringAnObjectAreNotReadAsText(session):
    """What Slicer hands over with a changed labelmap may be the ID of a segment, or the labelmap itself."""
    boxes = {"Box": shapes.box((6, 5, 5), (9, 9, 9)), "Other": shapes.box((12, 5, 5), (15, 9, 9))}
    choose(session, *(segmentation(name, **boxes) for name in ("First", "Second")), "Box")
    session.apply()
    watcher, event = session.panel.watcher, slicer.vtkSegmentation.SourceRepresentationModified
    handlers = [handler for _node, observed, handler, *_ in watcher.Observations if observed == event]
    assert len(handlers) == 2 and not any(hasattr(handler, "CallDataType") for handler in handlers)
    node = session.nodes[1]
    segment, image = session.parameters.testSegment, slicer.vtkOrientedImageData()
    node.GetSegmentation().SeparateSegmentLabelmap(segment)
    assert watcher.suspects is None and not isStale(session), "the same voxels in a layer of their own"
    node.GetBinaryLabelmapRepresentation(segment, image)
    edit(node, segment, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    assert watcher.suspects is None and isStale(session)


def testTheModelsFakesAreLikeTheRealThing(session):
    """What the model is tested with has the parameters, defaults and functions that it meets in Slicer."""
    import panelfakes
    from SegmentMetricsPanel.parameters import SegmentMetricsParameterNode
    from SegmentMetricsPanel.scene import SlicerScene

    fakes = vars(panelfakes.parameters())
    assert set(fakes) == set(SegmentMetricsParameterNode.__annotations__)
    for name, value in fakes.items():
        real = getattr(session.parameters, name)
        real = list(real) if isinstance(value, list) else getattr(real, "name", real)
        assert real == getattr(value, "name", value), name
    assert {name for name in vars(panelfakes.Scene) if not name.startswith("_")} <= set(dir(SlicerScene))


def testAChoiceOfAnotherVersion(session):
    """A saved scene may hold a choice that this version does not offer: the default is taken."""
    node = session.parameters.parameterNode
    session.panel.useNode(None)
    node.SetParameter("plot", "heatMap")
    node.SetParameter("tolerance", "3.0")
    session.widget.useParameterNode()
    assert session.parameters.plot.name == "histogram" and session.parameters.tolerance == 3


def testScriptsNeedNotWait(session):
    first, second = twoBoxes()
    third = segmentation("Third", Box=shapes.box((7, 5, 5), (9, 9, 9)))
    parameters = session.parameters
    parameters.reference, parameters.test = first, second
    parameters.referenceSegment = parameters.testSegment = "Box"  # names are not IDs
    parameters.referenceSegment = first.GetSegmentation().GetSegmentIdBySegmentName("Box")
    parameters.testSegment = second.GetSegmentation().GetSegmentIdBySegmentName("Box")
    session.ui.applyButton.click()
    assert session.panel.outcome is not None
    before = session.panel.outcome.records[0].measurements["HD"].value
    session.ui.testSelector.setCurrentNode(third)
    session.ui.applyButton.click()
    assert session.panel.outcome.node("test") is third
    assert session.panel.outcome.records[0].measurements["HD"].value != before


@pytest.mark.parametrize("isVisited", [False, True])
def testASegmentChangesWhileMeasuring(session, monkeypatch, isVisited):
    """What is shown then is out of date at once, also when the module was left and opened again meanwhile."""
    import qt
    from SegmentMetricsPanel import watching, work

    from SegmentMetricsLib.case import comparison

    edited, compared = threading.Event(), comparison.comparePair

    def slow(pair):
        assert edited.wait(30)
        time.sleep(2 * watching.DELAY / 1000)
        return compared(pair)

    def change():
        mask = orientedImage(structureFromImage(shapes.box((9, 5, 5), (9, 9, 9)), "Box", None, 0.5).mask)
        edit(session.parameters.test, session.parameters.testSegment, mask, lambda voxels: None)
        assert not session.panel.apply() and not session.panel.compareTools(), "nothing else begins meanwhile"
        if isVisited:
            session.widget.exit()
            session.widget.enter()
        edited.set()

    choose(session, *twoBoxes(), "Box")
    session.apply()
    session.set(session.ui.toleranceSpinBox, value=3)
    monkeypatch.setattr(work, "PATIENCE", 0.05)
    monkeypatch.setattr(comparison, "comparePair", slow)
    qt.QTimer.singleShot(50, change)
    before = session.panel.outcome
    assert session.panel.apply() and edited.is_set() and session.panel.outcome is not before
    session.settle(0.1)
    assert "Box" in session.panel.staleness() and session.isShown(session.ui.staleLabel)
    monkeypatch.undo()
    session.apply()
    assert not isStale(session)
