"""The dose of a plan."""

from __future__ import annotations

import math

import numpy as np
import slicer
import vtk
from sayings import says

from .session import Session, goBack

SAYS_SO = {"DicomRtImport.DoseVolume": "1", "DicomRtImport.DoseUnitName": "GY"}


def checkDose(session: Session) -> None:
    """A volume becomes the dose; a page, curves and colors show it; a change of it or of the choice is noticed."""
    ui, panel, nodes, before = session.ui, session.panel, session.nodes, session.results()
    families = session.families
    plan, plain = volume(session, "Plan", **SAYS_SO), volume(session, "Plain")
    box = ui.doseComboBox
    offered = [box.itemText(n) for n in range(box.count)]
    assert offered[:2] == ["None", "Plan"] and offered[-1] == "Another volume..." and "Plain" not in str(offered)
    session.set(box, currentIndex=len(offered) - 1)
    (plainText,) = (text for text in map(box.itemText, range(box.count)) if text.startswith("Plain"))
    assert "Gy" in plainText and box.currentIndex == 0
    assert "dose" not in panel.pages.offered
    session.set(box, currentIndex=1)
    assert session.parameters.dose is plan and "dose" in session.families
    says(panel.staleness())
    session.apply()
    assert panel.staleness() == "" and "dose" in panel.pages.offered
    session.click(panel.pages.buttons["dose"])
    assert ui.doseTable.viewport().height >= ui.doseTable.rowHeight(0) > 0, "the numbers are in sight, too"
    measurements = panel.outcome.records[0].measurements
    ends = [measurements[f"Dmean{end}"].text() for end in ("Reference", "Test", "Difference")]
    assert session.texts(ui.doseTable)[0] == ["Dmean", *ends]
    (caveat,) = (one for one in panel.outcome.records[0].findings if one.kind.name == "PLAN_OF_ONE")
    assert caveat in ui.doseCaveatLabel.text
    assertColors(session)
    measured = measurements["DmeanTest"].value
    plan.SetName("Renamed")
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    plan.SetAndObserveTransformNodeID(transform.GetID())
    session.settle(0.6)
    assert panel.staleness() == "", "neither its values nor its places are others"
    matrix = vtk.vtkMatrix4x4()
    matrix.SetElement(2, 3, 8.0)  # mm toward superior: 2 Gy less are where the structures are
    transform.SetMatrixTransformToParent(matrix)
    session.settle(0.6)
    says(panel.staleness())
    session.apply()
    assert math.isclose(panel.outcome.records[0].measurements["DmeanTest"].value, measured - 2, abs_tol=1e-3)
    slicer.mrmlScene.RemoveNode(plan)
    session.settle(0.2)
    assert session.parameters.dose is None and box.currentIndex == 0
    says(ui.applyButton.accessibleDescription)
    session.chooseFamilies(*families)
    panel.pages.open("numbers")
    goBack(session, nodes, before, transform, plain)


def assertColors(session: Session) -> None:
    """The curves have the colors of the two, said beside them; the map has those of a dose, from 0 Gy on."""
    from SegmentMetricsLib.base.palettes import COMPARED, rgb

    ui, chart = session.ui, session.panel.doses.chart
    series = [chart.GetNthPlotSeriesNode(n) for n in range(chart.GetNumberOfPlotSeriesNodes())]
    assert [one.GetName() for one in series] == ["Reference", "Test"] and not chart.GetLegendVisibility()
    for one, color in zip(series, COMPARED.values(), strict=True):
        assert np.allclose(one.GetColor(), rgb(color)) and color in ui.doseCaveatLabel.text
    session.set(ui.mapKindComboBox, currentIndex=5)
    display = session.maps()["reference"].GetDisplayNode()
    assert display.GetActiveScalarName() == "Dose" and display.GetScalarRange()[0] == 0 < display.GetScalarRange()[1]
    assert not ui.rangeSpinBox.enabled
    session.set(ui.mapKindComboBox, currentIndex=0)


def volume(session: Session, name: str, **attributes):
    """A volume around the structures whose values rise by 1 for every 4 mm toward superior."""
    bounds = [0.0] * 6
    session.nodes[0].GetRASBounds(bounds)
    low, high = np.reshape(bounds, (3, 2)).T
    size = np.ceil((high - low) / 4).astype(int) + 20
    matrix = np.diag([4.0, 4.0, 4.0, 1.0])
    matrix[:3, 3] = low - 40
    node = slicer.util.addVolumeFromArray(np.indices(size[::-1])[0].astype(np.float32), matrix, name)
    for key, value in attributes.items():
        node.SetAttribute(key, value)
    session.settle(0.1)
    return node
