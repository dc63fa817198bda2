"""The panel on the stand-in with input and in situations that are out of the ordinary."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
import slicer
from desktop import Desktop
from panel_checks import Session
from scenework import choose, segmentation
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonTransforms import vtkThinPlateSplineTransform

from SegmentMetricsLib.settings import FAMILIES

MODULE = Path(__file__).parents[1] / "SegmentMetrics" / "SegmentMetrics.py"


@pytest.fixture(scope="module")
def desktop():
    with Desktop() as desktop:
        desktop.loadModule(MODULE)
        slicer.util.selectModule("SegmentMetrics")
        yield desktop


@pytest.fixture
def session(desktop):
    slicer.mrmlScene.Clear(0)
    desktop.forget()
    session = Session()
    session.settle(0.05)
    yield session
    assert desktop.exceptions == [] and desktop.messages == []


def twoBoxes(name: str = "Box") -> list:
    boxes = shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9))
    return [segmentation(which, **{name: box}) for which, box in zip(("First", "Second"), boxes)]


def testNothingIsThere(session):
    assert not session.ui.applyButton.enabled
    assert session.ui.applyButton.toolTip == "Choose a reference segmentation."
    assert not session.panel.apply() and session.results() == []


def testOneSegmentationOnly(session):
    node = segmentation("Only", A=shapes.box((6, 5, 5), (9, 9, 9)), B=shapes.box((8, 5, 5), (9, 9, 9)))
    session.panel.inputs.chooseLikely()
    session.settle(0.05)
    assert session.nodes == [node, node]
    session.apply()
    assert session.panel.outcome.records[0].measurements["HD"].value == pytest.approx(2, abs=0.3)


def testNamesAreShownAsTheyAre(session):
    name = "<b>Left & right</b> " + 80 * "x"
    choose(session, *twoBoxes(name), name)
    session.apply()
    assert "&lt;b&gt;Left &amp; right" in session.ui.verdictLabel.text


@pytest.mark.parametrize("source", ["surface", "planar contour"])
def testSegmentsWithoutVoxels(session, source):
    nodes = twoBoxes()
    names = slicer.vtkSegmentationConverter
    surface = names.GetSegmentationClosedSurfaceRepresentationName()
    for node in nodes:
        segmentationObject = node.GetSegmentation()
        assert segmentationObject.CreateRepresentation(surface)
        segmentationObject.SetSourceRepresentationName(surface)
        segmentationObject.RemoveRepresentation(names.GetSegmentationBinaryLabelmapRepresentationName())
        if source == "planar contour":
            planar = names.GetSegmentationPlanarContourRepresentationName()
            for identifier in segmentationObject.GetSegmentIDs():
                segmentationObject.GetSegment(identifier).AddRepresentation(planar, vtkPolyData())
            segmentationObject.SetSourceRepresentationName(planar)
            segmentationObject.RemoveRepresentation(surface)
    choose(session, *nodes, "Box")
    session.apply()
    if source == "surface":
        assert session.panel.outcome.records[0].surface == "imported"
        assert session.maps() and not session.ui.messageLabel.text
    else:
        assert session.panel.outcome is None and session.results() == []
        assert "surface" in session.ui.messageLabel.text


def testBentByATransform(session):
    nodes = twoBoxes()
    points, moved = vtkPoints(), vtkPoints()
    for corner in np.array(np.meshgrid([-30, 30], [-30, 30], [-30, 30])).reshape(3, -1).T:
        points.InsertNextPoint(corner)
        moved.InsertNextPoint(corner + np.array([2, 0, 0]) if corner[2] > 0 else corner)
    spline = vtkThinPlateSplineTransform()
    spline.SetSourceLandmarks(points)
    spline.SetTargetLandmarks(moved)
    spline.SetBasisToR()
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLTransformNode")
    transform.SetAndObserveTransformToParent(spline)
    nodes[1].SetAndObserveTransformNodeID(transform.GetID())
    choose(session, *nodes, "Box")
    session.apply()
    assert session.maps() and not session.panel.staleness()
    moved.SetPoint(7, 60, 30, 30)
    spline.Modified()
    transform.TransformModified()
    session.settle(0.6)
    assert "changed" in session.panel.staleness()


def testStopping(session, monkeypatch):
    """Cancelled work leaves nothing behind, also when it is in the middle of a calculation."""
    from SegmentMetricsPanel import work

    from SegmentMetricsLib import comparison, progress

    def endless(pair):
        while True:
            progress.checkpoint()
            time.sleep(0.005)

    choose(session, *twoBoxes(), "Box")
    monkeypatch.setattr(work, "PATIENCE", 0.05)
    monkeypatch.setattr(comparison, "compared", endless)
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


def testManySegments(session):
    nodes = []
    for which in range(2):
        masks = {f"Part {n}": shapes.box((5 + which, 5, 5), (8 + which, 8, 8 + n % 3)) for n in range(500)}
        nodes.append(segmentation(f"Many {which}", **masks))
    session.parameters.reference, session.parameters.test = nodes
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    before = time.perf_counter()
    session.apply()
    assert session.ui.resultsTable.rowCount == 500
    assert time.perf_counter() - before < 60
    session.ui.modeComboBox.currentIndex = 0


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


def testHiddenSegmentsComeBackWhenTheMapIsDeleted(session):
    choose(session, *twoBoxes(), "Box")
    session.apply()
    assert session.visibleInThreeD() == [False, False]
    (model,) = session.maps().values()
    slicer.mrmlScene.RemoveNode(model)
    session.settle(0.2)
    assert session.visibleInThreeD() == [True, True] and not session.ui.showMapCheckBox.checked


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
    assert "gone" in session.ui.staleLabel.text and "Apply" not in session.ui.staleLabel.text
    session.ui.autoUpdateCheckBox.click()


@pytest.mark.parametrize("kind", ["input", "cancelled", "unexpected"])
def testAutoUpdateDoesNotInsist(desktop, session, monkeypatch, kind):
    from SegmentMetricsLib.errors import InputError
    from SegmentMetricsLib.progress import Cancelled

    choose(session, *twoBoxes(), "Box")
    session.apply()
    attempts = []

    def fail(parameters, work):
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


def testTwoPairsOfSegmentationsHaveTheirOwnResults(session):
    first, second = twoBoxes()
    third = segmentation("Third", Box=shapes.box((7, 5, 5), (9, 9, 9)))
    session.ui.modeComboBox.currentIndex = 1
    for test in (second, third):
        choose(session, first, test, "Box")
        session.apply()
    tables = [node for node in session.results() if node.GetAttribute("SegmentMetrics.Role") == "table"]
    assert len(tables) == 2
    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer.mrmlScene)
    folders = {hierarchy.GetItemName(hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node))) for node in tables}
    assert folders == {
        f"Segment Metrics: all structures of First (reference) vs all structures of {name} (test)"
        for name in ("Second", "Third")
    }
    session.ui.modeComboBox.currentIndex = 0


def testNothingInCommon(session):
    nodes = segmentation("One", A=shapes.box((6, 5, 5), (9, 9, 9)), B=shapes.box((6, 5, 5), (9, 9, 9)))
    other = segmentation("Two", C=shapes.box((6, 5, 5), (9, 9, 9)), D=shapes.box((6, 5, 5), (9, 9, 9)))
    session.parameters.reference, session.parameters.test = nodes, other
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    assert "no structure" in session.ui.verdictLabel.text and "Only in the test: C, D." in session.ui.findingsLabel.text
    assert not session.ui.copyButton.enabled and not session.ui.exportButton.enabled
    session.ui.modeComboBox.currentIndex = 0


def testSegmentationsThatComeLaterAreChosen(session):
    nodes = twoBoxes()
    session.settle(0.1)
    assert session.nodes == nodes and session.ui.applyButton.enabled


def testResultsThatCannotBeReadAreSaidToBe(session):
    table = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLTableNode", "Old results")
    table.SetAttribute("SegmentMetrics.Outcome", '{"run": "1"}')
    session.parameters.result = table
    session.settle(0.1)
    assert "Old results" in session.ui.messageLabel.text and session.panel.outcome is None


def testVisitsLeaveNothingBehind(session):
    parameters = session.parameters
    for _ in range(5):
        session.widget.exit()
        session.widget.enter()
    assert session.parameters is parameters and len(session.panel.Observations) <= 4


def testDecimalsAreTypedInPeace(session):
    assert not any(
        getattr(session.ui, name).keyboardTracking
        for name in ("toleranceSpinBox", "percentileSpinBox", "rangeSpinBox", "subdivisionsSpinBox")
    )


@pytest.mark.parametrize("scale", [1.0, 1.5])
def testThePanelStaysNarrow(session, scale):
    from desktop import photographs

    name, critical = 80 * "x", 80 * "y"
    boxes = shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9))
    nodes = [segmentation(which, **{name: box, critical: boxes[1]}) for which, box in zip(("A", "B"), boxes)]
    choose(session, *nodes, name)
    session.ui.advancedGroupBox.collapsed = False
    session.chooseFamilies(*FAMILIES)
    session.checkCriticals(critical)
    session.apply()
    assert session.ui.slicesTable.rowCount
    top = session.ui.inputsSection.parent()
    with photographs.fontScale(scale):
        session.settle(0.1)
        assert top.minimumSizeHint.width() <= 380
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")
    session.ui.advancedGroupBox.collapsed = True


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
    assert "gone" in session.ui.staleLabel.text and not session.ui.applyButton.enabled
    slicer.mrmlScene.StartState(slicer.mrmlScene.BatchProcessState)
    slicer.mrmlScene.RemoveNode(session.parameters.result)
    slicer.mrmlScene.EndState(slicer.mrmlScene.BatchProcessState)
    session.settle(0.1)
    assert session.results() == []


def testFarApart(session):
    nodes = twoBoxes()
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    matrix = transform.GetMatrixTransformToParent()
    matrix.SetElement(0, 3, 900.0)
    matrix.SetElement(1, 3, 900.0)
    transform.SetMatrixTransformToParent(matrix)
    nodes[1].SetAndObserveTransformNodeID(transform.GetID())
    choose(session, *nodes, "Box")
    session.apply()
    assert session.maps() and session.ui.rangeSpinBox.value > 1000


def testTheSceneIsClosedWhileMeasuring(session, monkeypatch):
    from SegmentMetricsPanel import work

    from SegmentMetricsLib import comparison, progress

    def endless(pair):
        while True:
            progress.checkpoint()
            time.sleep(0.005)

    choose(session, *twoBoxes(), "Box")
    monkeypatch.setattr(work, "PATIENCE", 0.05)
    monkeypatch.setattr(comparison, "compared", endless)
    import qt

    qt.QTimer.singleShot(100, lambda: slicer.mrmlScene.Clear(0))
    assert not session.panel.apply()
    session.settle(0.1)
    assert session.panel.outcome is None and session.results() == []


def testMeasuringWhileAnotherModuleIsShown(session):
    choose(session, *twoBoxes(), "Box")
    session.widget.exit()
    assert session.panel.apply()
    session.settle(0.1)
    assert session.ui.resultsTable.rowCount > 0 and session.maps()


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
    assert offered() == [] and "critical" in session.ui.applyButton.toolTip
    session.ui.swapButton.click()
    assert offered() == ["Cord", "Nerve", "Vessel"] and not session.panel.staleness()
    nodes[0].GetSegmentation().RemoveSegment(nodes[0].GetSegmentation().GetSegmentIdBySegmentName("Cord"))
    assert offered() == ["Nerve", "Vessel"] and not session.ui.applyButton.enabled
    assert "gone" in session.panel.staleness()
    session.chooseFamilies("boundary", "signed", "overlap")


def testHazardIsNotShownForCriticalStructuresWithoutVoxels(session):
    boxes = shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9))
    nodes = [segmentation(which, Organ=box) for which, box in zip(("First", "Second"), boxes)]
    nodes[0].GetSegmentation().AddEmptySegment("", "Cord")
    choose(session, *nodes, "Organ")
    session.chooseFamilies("boundary", "hazard")
    session.checkCriticals("Cord")
    session.parameters.showHazard = True
    session.apply()
    assert session.panel.outcome.records[0].measurements["SIS"].status == "undefined"
    assert "no hazard to show" in session.ui.messageLabel.text and session.maps()
    session.parameters.showHazard = False
    session.chooseFamilies("boundary", "signed", "overlap")
