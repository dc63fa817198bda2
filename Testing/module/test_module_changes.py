"""The panel on the stand-in while nodes come, change and go, and work is stopped."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
import slicer
from panel_checks.session import edit, isStale
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import choose, segmentation, twoBoxes

from SegmentMetricsLib.model.inputs import structureFromImage
from SegmentMetricsLib.mrml.conversion import orientedImage


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
    monkeypatch.setattr(comparison, "compared", endless)


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
    assert len(dialogs) == 1 and session.ui.messageLabel.text == "The comparison was stopped."
    assert slicer.mrmlScene.GetNumberOfNodes() == before and session.panel.outcome is None
    monkeypatch.undo()
    session.apply()
    assert session.panel.outcome is not None and not session.ui.messageLabel.text


@pytest.mark.parametrize("failing", ["createProgressDialog", "_look"])
def testTheDialogFails(desktop, session, monkeypatch, failing):
    """The calculation ends before anything else happens; it would go on unseen, and with what is shown then."""
    from SegmentMetricsPanel import work

    def fail(*_, **__):
        raise RuntimeError("No dialog.")

    choose(session, *twoBoxes(), "Box")
    measureForever(monkeypatch)
    monkeypatch.setattr(work.LongWork if failing == "_look" else slicer.util, failing, fail)
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


def testTheSceneIsClosing(session):
    choose(session, *twoBoxes(), "Box")
    tried = []

    def onClosing(caller, event):
        tried.append(session.panel.apply())

    tag = slicer.mrmlScene.AddObserver(slicer.mrmlScene.StartCloseEvent, onClosing)
    slicer.mrmlScene.Clear(0)
    slicer.mrmlScene.RemoveObserver(tag)
    session.settle(0.1)
    assert tried == [False] and session.results() == []


def testAnotherSceneIsAdded(session, tmp_path):
    nodes = twoBoxes()
    choose(session, *nodes, "Box")
    session.apply()
    slicer.util.saveScene(str(tmp_path / "one.mrb"))
    slicer.util.loadScene(str(tmp_path / "one.mrb"))
    session.settle(0.5)
    assert len(slicer.util.getNodesByClass("vtkMRMLSegmentationNode")) == 4
    assert session.panel.outcome is not None and not session.panel.staleness()
    session.apply()
    assert len(session.maps()) == 1


def testAnotherSegmentationIsChosenWithTheSameStructure(session):
    first, second = twoBoxes()
    third = segmentation("Third", Other=shapes.box((1, 1, 1), (3, 3, 3)), Box=shapes.box((7, 5, 5), (9, 9, 9)))
    choose(session, first, second, "Box")
    session.ui.testSelector.setCurrentNode(third)
    session.settle(0.1)
    assert session.parameters.test is third
    assert third.GetSegmentation().GetSegment(session.parameters.testSegment).GetName() == "Box"
    assert session.ui.testSelector.currentSegmentID() == session.parameters.testSegment


def testADeletedSegmentIsNotReplacedSilently(session):
    first, second = twoBoxes()
    other = second.GetSegmentation().AddEmptySegment("Other")
    choose(session, first, second, "Box")
    session.apply()
    session.ui.autoUpdateCheckBox.click()
    segment = session.parameters.testSegment
    second.GetSegmentation().RemoveSegment(segment)
    session.settle(0.6)
    assert session.parameters.test is None and session.parameters.testSegment != other
    assert "removed" in session.ui.staleLabel.text and "Apply" not in session.ui.staleLabel.text
    session.ui.autoUpdateCheckBox.click()


@pytest.mark.parametrize("side", ["reference", "test"])
def testADeletedSegmentIsOneOfAll(session, side):
    """The segmentation stays chosen and is measured again, also where the segment was chosen for a single pair."""
    from SegmentMetricsPanel.enumerations import Mode

    boxes = {"L": shapes.box((6, 5, 5), (9, 9, 9)), "R": shapes.box((12, 5, 5), (15, 9, 9))}
    nodes = [segmentation(name, **boxes) for name in ("First", "Second")]
    choose(session, *nodes, "L")
    session.parameters.mode, session.parameters.autoUpdate = Mode.allStructures, True
    session.apply()
    assert len(session.panel.outcome.records) == 2
    node = nodes[side == "test"]
    node.GetSegmentation().RemoveSegment(getattr(session.parameters, f"{side}Segment"))
    session.settle(0.6)
    assert session.nodes == nodes and getattr(session.parameters, f"{side}Segment") == ""
    assert len(session.panel.outcome.records) == 1 and not session.panel.staleness()
    session.parameters.mode, session.parameters.autoUpdate = Mode.onePair, False
    session.settle(0.1)
    selector = getattr(session.ui, f"{side}Selector")
    assert selector.currentNode() is node and selector.currentSegmentID() == ""
    assert f"a segment of the {side}" in session.ui.applyButton.accessibleDescription
    selector.setCurrentSegmentID(node.GetSegmentation().GetSegmentIdBySegmentName("R"))
    session.settle(0.1)
    session.parameters.mode = Mode.allStructures
    session.settle(0.1)
    slicer.mrmlScene.RemoveNode(node)
    session.settle(0.1)
    assert getattr(session.parameters, side) is None
    session.parameters.mode = Mode.onePair


@pytest.mark.parametrize("kind", ["input", "cancelled", "unexpected"])
def testAutoUpdateDoesNotInsist(desktop, session, monkeypatch, kind):
    from SegmentMetricsLib.base.errors import InputError
    from SegmentMetricsLib.base.progress import Cancelled

    choose(session, *twoBoxes(), "Box")
    session.apply()
    attempts = []

    def fail(parameters, work, isPartWanted):
        attempts.append(1)
        raise {"input": InputError, "cancelled": Cancelled, "unexpected": RuntimeError}[kind]("No.")

    monkeypatch.setattr(session.panel.logic, "measure", fail)
    session.ui.autoUpdateCheckBox.click()
    session.ui.toleranceSpinBox.value = 3
    session.settle(0.5)
    assert len(attempts) == 1
    assert session.ui.autoUpdateCheckBox.checked == (kind != "cancelled")
    if kind == "unexpected":
        assert [shown[0] for shown in desktop.shown] == ["Critical"]
        desktop.forget()
    else:
        assert session.ui.messageLabel.text
    session.parameters.autoUpdate = False


def testSegmentationsThatComeLaterAreChosen(session):
    nodes = twoBoxes()
    session.settle(0.1)
    assert session.nodes == nodes and session.ui.applyButton.enabled


def comes(session, name: str):
    """Add a segmentation of that name, and return it when the panel has noticed."""
    node = segmentation(name, Box=shapes.box((8, 5, 5), (9, 9, 10)))
    session.settle(0.1)
    return node


def testWhatAScriptChoseStaysWhenSegmentationsCome(session):
    first, _ = twoBoxes()
    third = comes(session, "Third")
    choose(session, first, third)
    comes(session, "Fourth")
    assert session.nodes == [first, third]
    session.apply()
    comes(session, "Fifth")
    assert session.nodes == [first, third] and not session.panel.staleness()


def testASuggestionThatWasMeasuredStays(session):
    first = segmentation("First", Box=shapes.box((6, 5, 5), (9, 9, 9)), Other=shapes.box((4, 15, 16), (15, 17, 20)))
    session.settle(0.1)
    assert session.nodes == [first, first]
    session.apply()
    comes(session, "Second")
    assert session.nodes == [first, first] and not session.panel.staleness()


def testAChoiceOfAnotherVersion(session):
    """A saved scene may hold a choice that this version does not offer: the default is taken."""
    node = session.parameters.parameterNode
    session.panel.setParameters(None)
    node.SetParameter("plot", "heatMap")
    node.SetParameter("tolerance", "3.0")
    session.widget.useParameterNode()
    assert session.parameters.plot.name == "histogram" and session.parameters.tolerance == 3


def testAnotherSelectorIsWarnedAboutOnce(session, monkeypatch, caplog):
    """Another version of Slicer may call the part of the selector with the segments otherwise."""
    from SegmentMetricsPanel.views import inputs

    monkeypatch.setattr(inputs, "SEGMENTS_FRAME", "frame_Other")
    for index in (1, 0, 1, 0):
        session.ui.modeComboBox.currentIndex = index
        session.settle(0.05)
    assert [record.levelname for record in caplog.records if "frame_Other" in record.message] == ["WARNING"] * 2
    for chooser in session.panel.inputs.choosers:
        chooser.isWarned = False


def testTheSelectorShowsThatNothingIsChosen(session):
    first, second = twoBoxes()
    choose(session, first, second, "Box")
    session.parameters.testSegment = ""
    session.settle(0.1)
    assert session.ui.testSelector.currentSegmentID() == "" and not session.ui.applyButton.enabled
    session.ui.swapButton.click()
    session.settle(0.1)
    assert [session.ui.referenceSelector.currentSegmentID(), session.parameters.referenceSegment] == ["", ""]
    assert session.ui.testSelector.currentSegmentID() == session.parameters.testSegment != ""


def testTheTestFollowsAgainOnceItHasTheStructure(session):
    boxes = {name: shapes.box((6 + n, 5, 5), (9, 9, 9)) for n, name in enumerate("ABC")}
    first, second = segmentation("First", **boxes), segmentation("Second", A=boxes["A"], C=boxes["C"])
    choose(session, first, second, "A")

    def shown(name: str) -> str:
        identifier = first.GetSegmentation().GetSegmentIdBySegmentName(name)
        session.ui.referenceSelector.setCurrentSegmentID(identifier)
        session.settle(0.1)
        segment = second.GetSegmentation().GetSegment(session.parameters.testSegment)
        return segment.GetName() if segment else ""

    assert [shown(name) for name in "CBA"] == ["C", "", "A"]
    assert (
        shown("B") == ""
        and "test" in session.ui.applyButton.accessibleDescription
        and not session.ui.applyButton.enabled
    )


def testWithoutDistancesThereAreNoPlaces(session):
    first, second = twoBoxes()
    empty = second.GetSegmentation().AddEmptySegment("", "Nothing")
    choose(session, first, second, "Box")
    session.parameters.testSegment = empty
    session.apply()
    assert session.panel.outcome.records and session.ui.placesLabel.text == "No distances were measured."


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


def testRemovedAndReplacedAtOnce(session):
    first, second = twoBoxes()
    third = segmentation("Third", Box=shapes.box((7, 5, 5), (9, 9, 9)))
    choose(session, first, second, "Box")
    slicer.mrmlScene.RemoveNode(second)
    session.parameters.test = third
    session.parameters.testSegment = third.GetSegmentation().GetSegmentIdBySegmentName("Box")
    session.settle(0.1)
    assert session.parameters.test is third


def testRemovedInABatch(session):
    first, second = twoBoxes()
    choose(session, first, second, "Box")
    session.apply()
    slicer.mrmlScene.StartState(slicer.mrmlScene.BatchProcessState)
    slicer.mrmlScene.RemoveNode(second)
    slicer.mrmlScene.EndState(slicer.mrmlScene.BatchProcessState)
    session.settle(0.1)
    assert "removed" in session.ui.staleLabel.text and not session.ui.applyButton.enabled
    slicer.mrmlScene.StartState(slicer.mrmlScene.BatchProcessState)
    table, others = session.parameters.result, session.results()
    others.remove(table)
    slicer.mrmlScene.RemoveNode(table)
    slicer.mrmlScene.EndState(slicer.mrmlScene.BatchProcessState)
    session.settle(0.1)
    assert session.results() == others != [] and session.panel.outcome is None and session.ui.resultsTable.rowCount == 0


@pytest.mark.parametrize("isVisited", [False, True])
def testASegmentChangesWhileMeasuring(session, monkeypatch, isVisited):
    """What is shown then is out of date at once, also when the module was left and opened again meanwhile."""
    import qt
    from SegmentMetricsPanel import watching, work

    from SegmentMetricsLib.case import comparison

    edited, compared = threading.Event(), comparison.compared

    def slow(pair):
        assert edited.wait(30)
        time.sleep(2 * watching.DELAY / 1000)
        return compared(pair)

    def change():
        mask = orientedImage(structureFromImage(shapes.box((9, 5, 5), (9, 9, 9)), "Box", None, 0.5).mask)
        edit(session.parameters.test, session.parameters.testSegment, mask, lambda voxels: None)
        if isVisited:
            session.widget.exit()
            session.widget.enter()
        edited.set()

    choose(session, *twoBoxes(), "Box")
    session.apply()
    session.ui.toleranceSpinBox.value = 3
    session.settle(0.1)
    monkeypatch.setattr(work, "PATIENCE", 0.05)
    monkeypatch.setattr(comparison, "compared", slow)
    qt.QTimer.singleShot(50, change)
    before = session.panel.outcome
    assert session.panel.apply() and edited.is_set() and session.panel.outcome is not before
    session.settle(0.1)
    assert "Box" in session.panel.staleness() and session.isShown(session.ui.staleLabel)
    monkeypatch.undo()
    session.apply()
    assert not isStale(session)
    session.ui.toleranceSpinBox.value = 2


def testTheSceneIsClosedWhileMeasuring(session, monkeypatch):
    import qt

    choose(session, *twoBoxes(), "Box")
    measureForever(monkeypatch)
    qt.QTimer.singleShot(100, lambda: slicer.mrmlScene.Clear(0))
    assert not session.panel.apply()
    session.settle(0.1)
    assert session.panel.outcome is None and session.results() == []


def testDifferentStructuresCanBeChosen(session):
    first, second = (
        segmentation(name, L=shapes.box((6, 5, 5), (9, 9, 9)), R=shapes.box((12, 5, 5), (15, 9, 9)))
        for name in ("First", "Second")
    )
    session.settle(0.1)
    right = second.GetSegmentation().GetSegmentIdBySegmentName("R")
    session.ui.testSelector.setCurrentSegmentID(right)
    session.settle(0.1)
    names = [
        n.GetSegmentation().GetSegment(s).GetName()
        for n, s in zip(session.nodes, (session.parameters.referenceSegment, session.parameters.testSegment))
    ]
    assert session.nodes == [first, second] and names == ["L", "R"]
    session.ui.referenceSelector.setCurrentSegmentID(first.GetSegmentation().GetSegmentIdBySegmentName("R"))
    session.settle(0.1)
    assert session.parameters.testSegment == right


def testCriticalStructuresFollowTheSegmentsOfTheReference(session):
    boxes = {name: shapes.box((6 + n, 5, 5), (9, 9, 9)) for n, name in enumerate(("Organ", "Cord", "Nerve"))}
    nodes = [segmentation("First", **boxes), segmentation("Second", Organ=boxes["Cord"])]
    choose(session, *nodes, "Organ")
    session.chooseFamilies("overlap", "hazard")
    box = session.ui.criticalComboBox

    def offered() -> list[str]:
        session.settle(0.5)
        return [box.itemText(row) for row in range(box.count)]

    assert offered() == ["Cord", "Nerve"]
    session.checkCriticals("Cord")
    nodes[0].GetSegmentation().AddEmptySegment("", "Vessel")
    assert offered() == ["Cord", "Nerve", "Vessel"] and list(session.parameters.critical) == ["Cord"]
    session.apply()
    assert session.panel.outcome.settings.critical == (("Cord", 1.0),)
    session.ui.swapButton.click()  # the other one has no such segment
    assert offered() == [] and "critical" in session.ui.applyButton.accessibleDescription
    session.ui.swapButton.click()
    assert offered() == ["Cord", "Nerve", "Vessel"] and not session.panel.staleness()
    nodes[0].GetSegmentation().RemoveSegment(nodes[0].GetSegmentation().GetSegmentIdBySegmentName("Cord"))
    assert offered() == ["Nerve", "Vessel"] and not session.ui.applyButton.enabled
    assert "removed" in session.panel.staleness()
    session.chooseFamilies("boundary", "signed", "overlap")


def testSegmentsWithEachOthersIDsAsNames(session):
    """The panel measures the chosen segments, and the critical structures by the names that are shown."""
    boxes = {"Organ": (6, 5, 5), "Cord": (10, 5, 5), "Nerve": (3, 18, 4)}
    first = segmentation("First", **{n: shapes.box(low, [c + 3 for c in low]) for n, low in boxes.items()})
    second = segmentation("Second", Organ=shapes.box((7, 5, 5), (10, 8, 8)))
    inside = first.GetSegmentation()
    _, cord, nerve = inside.GetSegmentIDs()
    inside.GetSegment(cord).SetName(nerve)
    inside.GetSegment(nerve).SetName(cord)
    choose(session, first, second, "Organ")
    session.chooseFamilies("overlap", "hazard")
    session.checkCriticals(cord)
    session.apply()
    assert [(s.name, s.source["segmentID"]) for s in session.panel.outcome.comparisons[0].criticals] == [(cord, nerve)]
    assert not session.panel.staleness()
    for names in ((cord, nerve), (nerve, cord)):
        for segment, name in zip((cord, nerve), names):
            inside.GetSegment(segment).SetName(name)
        session.settle(0.5)
        assert bool(session.panel.staleness()) == (names == (cord, nerve)), "what is critical is another one meanwhile"
    session.chooseFamilies("boundary", "signed", "overlap")
    session.parameters.referenceSegment = cord
    session.apply()
    assert session.panel.outcome.comparisons[0].reference.source["segmentID"] == cord
    assert session.panel.outcome.records[0].reference["name"] == nerve
    assert not session.panel.staleness() and not session.panel.outcome.change()
