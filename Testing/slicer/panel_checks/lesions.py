"""Lesions, colored in place of the map."""

from __future__ import annotations

import math

import numpy as np
import slicer
from sayings import says
from vtk.util.numpy_support import numpy_to_vtk

from .drawing import waitFor
from .session import Session, edit, goBack
from .views import drawn


def checkLesions(session: Session) -> None:
    """The sentence begins with them; colored, nothing else is drawn over them; the same button goes back to the map."""
    ui, before, given = session.ui, session.results(), session.nodes
    nodes = [cubes("First", 4, 20), cubes("Second", 5, 40)]
    families = session.families
    with slicer.util.NodeModify(session.parameters.parameterNode):
        session.parameters.reference, session.parameters.test = nodes
        session.parameters.referenceSegment = session.parameters.testSegment = "Nodules"
    session.settle(0.1)
    session.chooseFamilies("boundary", "signed", "overlap", "instances")
    assert "lesions" not in session.panel.pages.offered
    session.apply()
    says(ui.summaryLabel.text.partition("; DSC")[0], "</b>: 1 of 2")
    assert session.panel.settings.boxes["instances"].text == "Lesions"
    session.panel.pages.open("lesions")
    rows = session.texts(ui.lesionsTable)
    assert [row[0] for row in rows] == ["missed", "invented", "found"] and rows[0][3].startswith("R 22")
    says(ui.lesionsLabel.text, "2", "1")
    session.panel.lesions.table.onCell(1, 0)
    yellow = next(n for n in slicer.util.getNodesByClass("vtkMRMLSliceNode") if n.GetName() == "Yellow")
    assert math.isclose(abs(yellow.GetSliceOffset()), 42, abs_tol=1e-3), "views go to a lesion"
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    session.click(ui.lesionsButton)
    (model,) = [n for n in session.results() if n.GetAttribute("SegmentMetrics.Role") == "lesions"]
    assert model.GetDisplayNode().GetVisibility() and drawn(session) == {}
    assert not any(node.GetDisplayNode().GetVisibility() for node in nodes)
    says(ui.lesionsButton.text)
    session.click(ui.showMapCheckBox)
    assert not model.GetDisplayNode().GetVisibility() and session.maps(), "the map takes the place of the lesions"
    session.click(ui.showMapCheckBox)
    assert not model.GetDisplayNode().GetVisibility(), "they do not come back by themselves"
    session.click(ui.lesionsButton)
    session.click(ui.lesionsButton)
    assert not model.GetDisplayNode().GetVisibility()
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    session.click(ui.lesionsButton)
    assertFollowed(session, model)
    session.click(ui.lesionsButton)
    session.chooseFamilies(*families)
    session.panel.pages.open("numbers")
    goBack(session, given, before, *nodes)


def assertFollowed(session: Session, model) -> None:
    """While somebody draws in another module, no line lies on the lesions, and they are those of the last stroke."""
    node, image = session.nodes[1], slicer.vtkOrientedImageData()
    session.click(session.ui.followCheckBox)
    slicer.util.selectModule("Data")
    session.settle(0.1)
    assert drawn(session) == {} and model.GetDisplayNode().GetVisibility()
    before = session.panel.outcome
    node.GetBinaryLabelmapRepresentation("Nodules", image)
    edit(node, "Nodules", image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    waitFor(session, lambda: session.panel.outcome is not before)
    assert session.panel.outcome.shows(model) and model.GetDisplayNode().GetVisibility() and drawn(session) == {}
    slicer.util.selectModule("SegmentMetrics")
    session.click(session.ui.followCheckBox)


def cubes(name: str, *places: int, **segments: int):
    """A segmentation with a segment of cubes of 5 mm in a row, or with segments of one cube each."""
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    for key, along in {"Nodules": places, **{key: (place,) for key, place in segments.items()}}.items():
        array = np.zeros((12, 12, 60), np.uint8)
        for place in along:
            array[3:8, 3:8, place : place + 5] = 1
        image = slicer.vtkOrientedImageData()
        image.SetDimensions(*reversed(array.shape))
        image.GetPointData().SetScalars(numpy_to_vtk(array.ravel(), deep=True))
        segment = slicer.vtkSegment()
        segment.SetName(key)
        segment.AddRepresentation("Binary labelmap", image)
        if along:
            node.GetSegmentation().AddSegment(segment, key)
    return node
