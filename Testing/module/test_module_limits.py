"""The panel on the stand-in with input that is out of the ordinary."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
import slicer
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import choose, segmentation, twoBoxes
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonTransforms import vtkThinPlateSplineTransform

from SegmentMetricsLib.metrics.registry import FAMILIES, ONLY_BY_NAME


def testNamesAreCopiedAsOneCell(desktop, session):
    """A tab or a line break in a name would begin another cell, which a spreadsheet may take for a formula."""
    name = "=Organ\t=1+1\n@SUM(1)"
    session.parameters.reference, session.parameters.test = twoBoxes(name)
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    session.ui.copyButton.click()
    heading, row = desktop.app.clipboard().text().split("\n")[2:4]
    assert row.split("\t")[0] == "'=Organ =1+1 @SUM(1)" and row.count("\t") == heading.count("\t")
    session.ui.modeComboBox.currentIndex = 0


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


@pytest.mark.nightly
def testManySegments(session):
    nodes = []
    for which in range(2):
        masks = {f"Part {n}": shapes.box((5 + which, 5, 5), (8 + which, 8, 8 + n % 3)) for n in range(60)}
        nodes.append(segmentation(f"Many {which}", **masks))
    session.parameters.reference, session.parameters.test = nodes
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    before = time.process_time()
    session.apply()
    assert session.ui.mainTable.rowCount == 60
    assert time.process_time() - before < 8
    session.ui.modeComboBox.currentIndex = 0


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


def testDecimalsAreTypedInPeace(session):
    assert not any(
        getattr(session.ui, name).keyboardTracking for name in ("toleranceSpinBox", "percentileSpinBox", "rangeSpinBox")
    )


@pytest.mark.parametrize("scale", [1.0, 1.5])
def testThePanelStaysNarrow(session, scale):
    from desktop import photographs

    name, critical = 80 * "x", 80 * "y"
    boxes = shapes.box((6, 5, 5), (9, 9, 9)), shapes.box((8, 5, 5), (9, 9, 9))
    nodes = [segmentation(which, **{name: box, critical: boxes[1]}) for which, box in zip(("A", "B"), boxes)]
    choose(session, *nodes, name)
    session.ui.settingsButton.click()
    session.ui.advancedGroupBox.collapsed = False
    session.chooseFamilies(*(family for family in FAMILIES if family not in ONLY_BY_NAME))
    session.checkCriticals(critical)
    session.apply()
    assert session.ui.slicesTable.rowCount
    top = session.ui.inputsSection.parent()
    with photographs.fontScale(scale):
        session.settle(0.1)
        for name in session.panel.pages.buttons:
            session.panel.pages.open(name)
            session.settle(0.05)
            assert top.minimumSizeHint.width() <= (300 if scale == 1 else 380), name
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")
    session.ui.advancedGroupBox.collapsed = True
    session.ui.settingsButton.click()
    session.panel.pages.open("numbers")


def testResultsDoNotWidenThePanel(session):
    from desktop import photographs

    top = session.ui.inputsSection.parent()
    with photographs.fontScale():
        choose(session, *twoBoxes())
        session.apply()
        session.settle(0.1)
        assert top.minimumSizeHint.width() <= 300


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


def testAStructureThatCannotBeComparedDoesNotPass(session, monkeypatch, tmp_path):
    """The verdict on the case knows of it, in the panel and in the report."""
    from segmentnodes import breakSegment

    from SegmentMetricsLib.case.protocol.protocol import parseProtocol
    from SegmentMetricsLib.mrml import tableFromProtocol

    box = shapes.box((6, 5, 5), (9, 9, 9))
    session.parameters.reference, session.parameters.test = (segmentation(n, A=box, B=box) for n in ("One", "Two"))
    session.parameters.protocol = tableFromProtocol(
        parseProtocol("Structure,Measurement,Relation,Pass,Warn\n*,VolumeDifference,within,2000,3000\n", "Limits")
    )
    breakSegment(monkeypatch, "B")
    session.ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    assert (
        "NOT EVALUABLE" in session.ui.judgmentLabel.text and "1 not evaluable, 1 pass" in session.ui.judgmentLabel.text
    )
    assert "B: B is broken." in session.ui.findingsLabel.text
    (row,) = session.texts(session.ui.protocolTable)
    assert row == ["Volume diff.", "0.00", "±2 (±3) cm³", "pass"]
    tip = session.ui.protocolTable.item(0, 0).toolTip()
    assert "Volume difference 0.00 cm³ is within ±2 cm³." in tip
    path = tmp_path / "report.html"
    session.panel.reports.write(path)
    text = path.read_text("utf-8")
    assert "<h2>Not compared</h2><ul><li><b>B</b>: B is broken." in text and "1 of 2 structures compared" in text
    session.ui.modeComboBox.currentIndex = 0
