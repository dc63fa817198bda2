"""The panel while other modules are open, and when the user comes back to it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
import slicer
from panel_checks.session import edit
from scenework import choose, twoBoxes


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


def testLeavingTheModule(desktop, session):
    choose(session, *twoBoxes(), "Box")
    session.apply()
    outcome = session.panel.outcome
    session.widget.exit()
    session.ui.toleranceSpinBox.value = 4
    assert session.parameters.tolerance == 2
    session.widget.enter()
    session.settle(0.1)
    assert session.panel.outcome is outcome and session.ui.toleranceSpinBox.value == 2


def testVisitsLeaveNothingBehind(session):
    parameters = session.parameters
    for _ in range(5):
        session.widget.exit()
        session.widget.enter()
    assert session.parameters is parameters and len(session.panel.Observations) <= 4


def testVisitsDoNotSlowChangesDown(session, monkeypatch):
    """What an ended connection with the widgets leaves on the parameter node goes with it."""
    updates = []
    kind = type(session.parameters)
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


def testScenesLoadedWhileAnotherModuleIsShown(session, tmp_path):
    """The module leaves them alone until it is opened."""
    choose(session, *twoBoxes(), "Box")
    slicer.util.saveScene(str(tmp_path / "one.mrb"))
    session.widget.exit()
    slicer.mrmlScene.Clear(0)
    slicer.util.loadScene(str(tmp_path / "one.mrb"))
    session.settle(0.1)
    assert session.panel.parameters is None
    session.widget.enter()
    session.settle(0.1)
    assert [node.GetName() for node in session.nodes] == ["First", "Second"] and session.ui.applyButton.enabled


def testAScriptsResultsAreShownButNotFollowed(session):
    """While another module is open, the panel shows what a script measures, and then leaves the scene alone again."""
    choose(session, *twoBoxes(), "Box")
    session.widget.exit()
    assert session.panel.apply() and not session.panel.isActive
    (model,) = session.maps().values()
    outcome, plot = session.panel.outcome, session.panel.plot.chart
    assert session.ui.mainTable.rowCount > 0 and plot is not None and outcome.shows(model)
    session.parameters.tolerance = 4
    shrink(session.nodes[1], session.parameters.testSegment)
    session.settle(0.6)
    slicer.mrmlScene.RemoveNode(plot)
    session.settle(0.1)
    assert session.panel.outcome is outcome and session.panel.plot.chart is None
    assert not session.panel.isActive and session.ui.toleranceSpinBox.value == 2
    session.widget.enter()
    session.settle(0.6)
    assert session.panel.outcome is outcome and session.panel.staleness()
    assert session.panel.plot.chart is not None and session.ui.toleranceSpinBox.value == 4


def testScriptsAskForMoreWhileAnotherModuleIsShown(session):
    """Other tools' numbers and the report follow the edits that the hidden panel has only remembered."""
    path = Path(session.folder.name) / "hidden.html"
    choose(session, *twoBoxes(), "Box")
    session.widget.exit()
    panel = session.panel
    assert not panel.report(path) and panel.apply() and panel.compareTools()
    assert session.ui.conventionsTable.rowCount > 1 and not panel.isActive
    assert panel.report(path) and path.exists() and not panel.isActive
    path.unlink()
    shrink(session.nodes[1], session.parameters.testSegment)
    assert not panel.report(path) and not path.exists() and "Box" in panel.staleness()


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
    assert session.ui.applyButton.accessibleDescription == "Choose a segment of the test."
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


def testMeasuredAgainAfterTheTableWasDeletedElsewhere(session):
    """The results of a script that measures the same pair right afterwards are those that stay."""
    choose(session, *twoBoxes(), "Box")
    session.apply()
    before = len(session.results())
    session.widget.exit()
    slicer.mrmlScene.RemoveNode(session.parameters.result)
    assert session.panel.apply() and session.parameters.result is session.panel.outcome.table
    session.widget.enter()
    session.settle(0.1)
    assert session.panel.outcome.table.GetScene() is slicer.mrmlScene and len(session.results()) == before
    assert session.ui.mainTable.rowCount > 0 and session.maps()


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
