"""The panel on the stand-in with input that is out of the ordinary."""

from __future__ import annotations

import time

import numpy as np
import pytest
import shapes
import slicer
from scenework import choose, segmentation, twoBoxes
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonTransforms import vtkThinPlateSplineTransform


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


def testDecimalsAreTypedInPeace(session):
    assert not any(
        getattr(session.ui, name).keyboardTracking for name in ("toleranceSpinBox", "percentileSpinBox", "rangeSpinBox")
    )


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
