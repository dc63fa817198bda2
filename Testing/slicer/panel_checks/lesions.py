"""Lesions, colored in place of the map."""

from __future__ import annotations

import numpy as np
import slicer
from vtk.util.numpy_support import numpy_to_vtk

from .session import Session, goBack
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
    session.apply()
    assert "</b>: 1 of 2 lesions missed, 1 invented; DSC" in ui.summaryLabel.text, ui.summaryLabel.text
    assert session.panel.settings.boxes["instances"].text == "Lesions"
    session.panel.pages.open("lesions")
    assert [row[0] for row in session.texts(ui.lesionsTable)] == ["missed", "invented", "found"]
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    ui.lesionsButton.click()
    session.settle(0.1)
    (model,) = [n for n in session.results() if n.GetAttribute("SegmentMetrics.Role") == "lesions"]
    assert model.GetDisplayNode().GetVisibility() and drawn(session) == {}
    assert not any(node.GetDisplayNode().GetVisibility() for node in nodes)
    assert ui.lesionsButton.text == "Back to the map"
    ui.lesionsButton.click()
    session.settle(0.1)
    assert not model.GetDisplayNode().GetVisibility()
    assert set(drawn(session)) == {("map", "reference"), ("line", "test")}
    session.chooseFamilies(*families)
    session.panel.pages.open("numbers")
    goBack(session, given, before, *nodes)


def cubes(name: str, *places: int):
    """A segmentation with cubes of 5 mm in a row."""
    array = np.zeros((12, 12, 60), np.uint8)
    for place in places:
        array[3:8, 3:8, place : place + 5] = 1
    image = slicer.vtkOrientedImageData()
    image.SetDimensions(*reversed(array.shape))
    image.GetPointData().SetScalars(numpy_to_vtk(array.ravel(), deep=True))
    segment = slicer.vtkSegment()
    segment.SetName("Nodules")
    segment.AddRepresentation("Binary labelmap", image)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    node.GetSegmentation().AddSegment(segment, "Nodules")
    return node
