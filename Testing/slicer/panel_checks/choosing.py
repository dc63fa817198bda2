"""Choosing what is measured and how."""

from __future__ import annotations

import math

import numpy as np
import slicer
from sayings import says

from .session import STRUCTURE, Session, edit, isStale


def checkFamilies(session: Session) -> None:
    """Every family of the library can be chosen; what concerns only families that are not chosen is not shown."""
    from SegmentMetricsLib.metrics.registry import FAMILIES

    ui = session.ui
    boxes = session.panel.settings.boxes
    assert list(boxes) == list(FAMILIES) and all(box.toolTip for box in boxes.values())
    assert [family for family, box in boxes.items() if box.checked] == ["boundary", "signed", "overlap"]
    assert session.isShown(ui.percentileSpinBox)
    hidden = (ui.criticalComboBox, ui.hazardKernelComboBox, ui.hazardReachSpinBox, ui.hazardDecaySpinBox)
    hidden += (ui.gridComboBox, ui.betaSpinBox, ui.quantileSpinBox, ui.voxelUnitComboBox)
    ui.advancedGroupBox.collapsed = False
    assert not any(session.isShown(widget) for widget in hidden)
    ui.advancedGroupBox.collapsed = True
    session.chooseFamilies("agreement", "voxel")
    assert session.panel.staleness()
    ui.advancedGroupBox.collapsed = False
    assert all(session.isShown(widget) for widget in hidden[4:]) and not session.isShown(ui.percentileSpinBox)
    session.apply()
    before = session.panel.outcome.records[0].measurements
    assert {m.family for m in before.values()} == {"agreement", "voxel"} and not session.isShown(ui.plotComboBox)
    ui.betaSpinBox.value = 2
    ui.gridComboBox.currentIndex = 1
    session.set(ui.voxelUnitComboBox, currentIndex=1)
    assert session.panel.staleness()
    session.apply()
    after = session.panel.outcome.records[0].measurements
    assert "FMS_2" in after and after["AVD"].unit == "voxel" and after["ACC"].value < before["ACC"].value
    ui.betaSpinBox.value = 1
    ui.gridComboBox.currentIndex = ui.voxelUnitComboBox.currentIndex = 0


def checkExtent(session: Session) -> None:
    """The common extent can be chosen, and the results say so."""
    session.chooseFamilies("overlap")
    session.apply()
    session.set(session.ui.extentComboBox, currentIndex=1)
    assert session.panel.staleness()
    session.apply()
    (remark,) = session.panel.outcome.records[0].findings
    assert remark in session.ui.findingsLabel.text and "1" in session.ui.notesButton.text
    for _time in range(2):
        session.click(session.ui.notesButton)
        assert session.isShown(session.ui.findingsLabel) == bool(session.ui.notesButton.checked)
    session.set(session.ui.extentComboBox, currentIndex=0)
    session.apply()
    assert not session.panel.outcome.records[0].findings and not session.ui.findingsLabel.text
    session.chooseFamilies("boundary", "signed", "overlap")


def checkConvention(session: Session) -> None:
    """The numbers can be those of another tool, which then decides the surface, and the results say so."""
    from SegmentMetricsLib import Settings, conventions, mrml

    ui = session.ui
    ui.advancedGroupBox.collapsed = False
    tools = [ui.conventionComboBox.itemText(n) for n in range(ui.conventionComboBox.count)]
    assert tools[0] == ui.conventionComboBox.currentText and len(tools) == 1 + len(conventions.allConventions())
    assert session.isShown(ui.surfaceComboBox)
    session.set(ui.conventionComboBox, currentIndex=next(n for n, text in enumerate(tools) if text.startswith("MedPy")))
    assert session.parameters.convention == "MedPy" and session.panel.staleness()
    assert not session.isShown(ui.surfaceComboBox)
    session.apply()
    settings = Settings(convention="MedPy", families="boundary")
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    assert session.panel.outcome.records[0].measurements["HD95"].value == expected["HD95"].value
    assert expected["HD95"].value != session.remembered["HD95"]
    assert "MedPy" in ui.summaryLabel.text and "MedPy" in ui.findingsLabel.text
    session.set(ui.conventionComboBox, currentIndex=0)
    session.apply()
    assert session.panel.outcome.records[0].measurements["HD95"].value == session.remembered["HD95"]


def checkHazard(session: Session) -> None:
    """Hazard needs critical structures of the reference; results are out of date when one of those changes."""
    ui, reference = session.ui, session.nodes[0]
    session.chooseFamilies("boundary", "hazard")
    assert not ui.applyButton.enabled and session.isShown(ui.messageLabel)
    assert ui.applyButton.accessibleDescription == says(ui.messageLabel.text)
    session.checkCriticals("Mandible")
    assert list(session.parameters.critical) == ["Mandible"] and ui.applyButton.enabled
    assert "Mandible" in ui.criticalComboBox.toolTip
    assert session.isShown(ui.hazardReachSpinBox) and not session.isShown(ui.hazardDecaySpinBox)
    session.apply()
    assert "SIS" in session.panel.outcome.records[0].measurements and not isStale(session)
    critical = reference.GetSegmentation().GetSegmentIdBySegmentName("Mandible")
    image = slicer.vtkOrientedImageData()
    reference.GetBinaryLabelmapRepresentation(critical, image)
    before = slicer.vtkOrientedImageData()
    before.DeepCopy(image)
    edit(reference, critical, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    assert isStale(session) and "Mandible" in ui.staleLabel.text
    edit(reference, critical, before, lambda voxels: None)
    assert not isStale(session), "undone"
    checkHazardInViews(session)
    session.checkCriticals()
    session.chooseFamilies("boundary", "signed", "overlap")
    ui.mapKindComboBox.currentIndex = 3
    session.apply()
    assert session.maps()["reference"].GetDisplayNode().GetActiveScalarName() == "SignedDistance"
    says(ui.messageLabel.text)
    session.set(session.ui.mapKindComboBox, currentIndex=0)
    assert not session.isShown(ui.messageLabel)


def checkHazardInViews(session: Session) -> None:
    """Hazard colors the map, and lies over the image in the slice views until the box is not checked any more."""
    ui = session.ui
    session.set(ui.mapKindComboBox, currentIndex=3)
    display = session.maps()["reference"].GetDisplayNode()
    assert display.GetActiveScalarName() == "Hazard" and display.GetScalarRange() == (0, 1)
    assert not ui.rangeSpinBox.enabled
    session.set(ui.mapKindComboBox, currentIndex=0)
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    image = slicer.util.addVolumeFromArray(np.zeros((2, 2, 2), np.int16), name="Image")
    for composite in composites:
        composite.SetForegroundVolumeID(image.GetID())
        composite.SetForegroundOpacity(0.25)
    assert composites and session.isShown(ui.showHazardCheckBox)
    session.click(ui.showHazardCheckBox)
    for composite in composites:
        shown = slicer.mrmlScene.GetNodeByID(composite.GetForegroundVolumeID())
        assert shown.GetAttribute("SegmentMetrics.Role") == "hazard" and composite.GetForegroundOpacity() > 0.5
    session.apply()
    assert slicer.mrmlScene.GetNodeByID(composites[0].GetForegroundVolumeID()) is shown, "another run replaces it"
    session.click(ui.showHazardCheckBox)
    for composite in composites:
        assert composite.GetForegroundVolumeID() == image.GetID()
        assert math.isclose(composite.GetForegroundOpacity(), 0.25)
    slicer.mrmlScene.RemoveNode(image)
    slicer.mrmlScene.RemoveNode(shown)
    session.settle(0.1)
