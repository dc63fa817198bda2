"""The dose of a plan in the panel: choosing a volume, its page, and the colors of the map."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import numpy as np
import slicer
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import applyAll, choose, observers, twoBoxes
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from SegmentMetricsLib.mrml import doses, maps


def volume(name: str, **attributes):
    """Return a volume around the origin whose values rise by 1 for every 4 mm toward superior."""
    image = vtkImageData()
    image.SetDimensions(40, 40, 40)
    image.GetPointData().SetScalars(numpy_to_vtk(np.indices((40, 40, 40), np.float32)[0].ravel(), deep=True))
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", name)
    node.SetSpacing(4, 4, 4)
    node.SetOrigin(-80, -80, -80)
    node.SetAndObserveImageData(image)
    for key, value in attributes.items():
        node.SetAttribute(key, value)
    return node


def testFromTheChoiceToThePage(session):
    ui, panel = session.ui, session.panel
    choose(session, *twoBoxes())
    plain, plan = volume("CT"), volume("Plan", **{doses.IS_DOSE: "1", doses.UNIT: "GY"})
    session.settle(0.1)
    box = ui.doseComboBox
    assert [box.itemText(n) for n in range(box.count)] == ["None", "Plan", "Another volume..."]
    box.currentIndex = 2
    session.settle(0.1)
    assert [box.itemText(n) for n in range(box.count)] == ["None", "Plan", "CT, taken to be in Gy"]
    assert box.currentIndex == 0 and session.parameters.dose is None
    session.apply()
    assert not ui.doseTable.rowCount and "dose" not in panel.pages.offered
    box.currentIndex = 1
    session.settle(0.1)
    assert session.parameters.dose is plan and panel.settings.boxes["dose"].checked
    assert panel.staleness() == "Another dose is chosen."
    session.apply()
    assert panel.staleness() == "" and "dose" in panel.pages.offered
    panel.pages.open("dose")
    record = panel.outcome.records[0]
    texts = [ui.doseTable.item(0, column).text() for column in range(4)]
    assert texts == [
        "Dmean",
        *(record.measurements[f"Dmean{end}"].text() for end in ("Reference", "Test", "Difference")),
    ]
    assert "made for one of the two contours" in ui.doseCaveatLabel.text
    assert panel.doses.plot.chart is not None and panel.doses.plot.isIntact
    # the same by script
    comparison = (
        slicer.modules.segmentmetrics.widgetRepresentation()
        .self()
        .logic.compareSegments(session.parameters.reference, "Box", session.parameters.test, "Box", dose=plan)
    )
    assert comparison["DmeanTest"].value == record.measurements["DmeanTest"].value
    box.currentIndex = 2
    session.settle(0.1)
    assert session.parameters.dose is plain and panel.staleness() == "Another dose is chosen."
    slicer.mrmlScene.RemoveNode(plain)
    session.settle(0.1)
    assert session.parameters.dose is None and box.currentIndex == 0
    assert panel.model.whyNot() == "Choose a dose, or turn off the dose metrics."
    session.chooseFamilies("boundary", "signed", "overlap")


def testADoseThatIsMovedOrEditedIsNoticed(session):
    panel = session.panel
    choose(session, *twoBoxes())
    plan = volume("Plan", **{doses.IS_DOSE: "1", doses.UNIT: "GY"})
    session.parameters.dose = plan
    session.settle(0.1)
    session.apply()
    measured = panel.outcome.records[0].measurements["DmeanTest"].value
    assert panel.staleness() == ""
    plan.SetName("Renamed")
    session.settle(0.4)
    assert panel.staleness() == "", "neither its values nor its places are others"
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    plan.SetAndObserveTransformNodeID(transform.GetID())
    session.settle(0.4)
    assert panel.staleness() == ""
    matrix = vtkMatrix4x4()
    matrix.SetElement(2, 3, 8.0)  # mm toward superior, so that 2 Gy less are where the structures are
    transform.SetMatrixTransformToParent(matrix)
    session.settle(0.4)
    assert panel.staleness() == "The dose has changed."
    session.apply()
    assert panel.staleness() == ""
    assert panel.outcome.records[0].measurements["DmeanTest"].value == pytest.approx(measured - 2)
    vtk_to_numpy(plan.GetImageData().GetPointData().GetScalars())[:] *= 2
    plan.GetImageData().GetPointData().GetScalars().Modified()
    plan.GetImageData().Modified()
    session.settle(0.4)
    assert panel.staleness() == "The dose has changed."
    session.parameters.dose = None
    session.chooseFamilies("boundary", "signed", "overlap")


@pytest.mark.nightly
def testTheMapAndAllStructures(session):
    ui, parameters = session.ui, session.parameters
    parameters.reference, parameters.test = observers()
    parameters.dose = volume("Plan", **{doses.IS_DOSE: "1", doses.UNIT: "GY"})
    applyAll(session, ("Bar", "Rod", "chosen"))
    assert session.panel.staleness() == "" and ui.doseTable.rowCount
    parameters.mapKind = type(parameters.mapKind).dose
    session.settle(0.1)
    (model,) = [one for one in maps.allMaps(slicer.mrmlScene) if maps.isShown(one)]
    assert model.GetDisplayNode().GetActiveScalarName() == "Dose"
    parameters.mapKind = type(parameters.mapKind).signed
    parameters.dose = None
    ui.modeComboBox.currentIndex = 0
