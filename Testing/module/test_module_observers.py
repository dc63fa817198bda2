"""Several observers in the panel: who is one, the matrix, the map of where they differ, and the pair of a cell."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
import slicer
from panel_checks.session import edit
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import segmentation

from SegmentMetricsLib.case.protocol.protocol import readProtocol
from SegmentMetricsLib.mrml import navigation
from SegmentMetricsLib.mrml.outcomes import variationMaps


def box(x: int):
    return shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26))


def load(session) -> list:
    """Load three observers and a test, and choose the mode."""
    nodes = [segmentation(name, Box=box(x)) for name, x in (("Ärztin", 0), ("Ben", 2), ("Chris", 6), ("AI", 1))]
    session.settle(0.1)
    session.ui.modeComboBox.currentIndex = 2
    session.settle(0.1)
    session.chooseFamilies("boundary", "overlap")
    return nodes


def check(session, row: int, column: int, isChecked: bool) -> None:
    import qt

    state = qt.Qt.Checked if isChecked else qt.Qt.Unchecked
    session.ui.observersTable.item(row, column).setCheckState(state)
    session.settle(0.1)


def shownMaps() -> list[str]:
    return [m.GetName() for m in variationMaps(slicer.mrmlScene) if m.GetDisplayNode().GetVisibility()]


def inThreeD(node) -> bool:
    return bool(node.GetDisplayNode().GetVisibility3D())


def testOneOfSeveralStructures(session):
    """The one with the largest disagreement is shown first; views go to another one; one alone can be compared."""
    ui = session.ui
    for name, x in (("Ann", 0), ("Ben", 1), ("Chris", 2)):
        segmentation(name, Near=box(x), Far=box(4 * x))
    session.settle(0.1)
    ui.modeComboBox.currentIndex = 2
    session.settle(0.1)
    session.chooseFamilies("boundary", "overlap")
    session.apply()
    assert "<b>Far</b>" in ui.summaryLabel.text
    before = navigation.viewState(slicer.mrmlScene)
    ui.observedStructureComboBox.currentIndex = ui.observedStructureComboBox.findText("Near")
    session.settle(0.1)
    assert "<b>Near</b>" in ui.summaryLabel.text
    assert not navigation.isSameView(navigation.viewState(slicer.mrmlScene), before, slicer.mrmlScene)
    only = ui.observedOnlyComboBox
    assert [only.itemText(n) for n in range(only.count)] == ["All structures", "Near", "Far"]
    only.currentIndex = 1
    session.settle(0.1)
    assert session.panel.staleness() == "The selection has changed."
    session.apply()
    content = session.panel.model.observers.outcome.content
    assert [one["name"] for one in content["structures"]] == ["Near"] and content["observers"] == [
        "Ann",
        "Ben",
        "Chris",
    ]
    only.currentIndex = 0
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)


def testFiveClicksLeadToTheSentenceAndTheMap(session):
    ui = session.ui
    nodes = load(session)
    check(session, 3, 1, True)
    session.apply()
    assert ui.summaryLabel.text.startswith("<b>Box</b>: Three observers agree within 1.6 mm SD")
    assert "Chris differs most" in ui.summaryLabel.text and "AI is within their range" in ui.summaryLabel.text
    assert session.texts(ui.matrixTable)[0] == ["", "2.00", "6.00", "1.00"], "HD95 of pairs, in the given order"
    assert ui.observersLabel.text.startswith("Conformity index 0.250, generalized 0.429.")
    assert "AI: rank 1 in HD95" in ui.observersLabel.text
    assert session.texts(ui.outlierTable)[0][1] == "+5.2"
    assert shownMaps() == ["Box: local SD of 3 observers"]
    consensus = slicer.mrmlScene.GetFirstNodeByName("Consensus of 3 observers (majority)")
    assert consensus.GetSegmentation().GetNumberOfSegments() == 1
    assert not consensus.GetDisplayNode().GetVisibility2DFill(), "only a line over what was drawn"
    assert "Consensus" not in str(session.texts(ui.observersTable)), "it is no observer"
    assert not any(inThreeD(node) for node in [*nodes, consensus]), "they would cover the map"
    (model,) = variationMaps(slicer.mrmlScene)
    for hide in (ui.showVariationCheckBox.click, lambda: model.GetDisplayNode().SetVisibility(False)):
        hide()
        session.settle(0.1)
        assert shownMaps() == [] and all(inThreeD(node) for node in nodes) and not ui.showVariationCheckBox.checked
        ui.showVariationCheckBox.click()
        session.settle(0.1)
        assert shownMaps() and not inThreeD(nodes[0])
    slicer.mrmlScene.RemoveNode(model)
    session.settle(0.1)
    assert all(inThreeD(node) for node in nodes) and not ui.showVariationCheckBox.checked
    segmentation("Later", Box=box(3))
    session.settle(0.1)
    assert session.texts(ui.observersTable)[-1][0] == "Later" and session.panel.staleness() == ""


def testACellShowsItsPairAndTheButtonLeavesIt(session):
    ui = session.ui
    nodes = load(session)
    session.apply()
    ui.matrixTable._native.cellClicked.emit(2, 1)
    session.settle(0.2)
    p, values = session.parameters, dict(line[:2] for line in session.texts(ui.mainTable))
    assert (p.reference, p.test) == (nodes[2], nodes[1]) and values["HD95"] == "4.00 mm"
    assert "Chris (reference) and Ben (test)</b>: DSC" in ui.summaryLabel.text
    assert shownMaps() == [] and list(session.maps()) == ["reference"] and session.panel.staleness() == ""
    assert session.isShown(ui.allObserversButton) and ui.matrixTable.item(2, 1).font().underline()
    ui.matrixTable._native.cellClicked.emit(1, 1)
    session.settle(0.1)
    assert p.reference is nodes[2], "nobody is compared with himself"
    ui.allObserversButton.click()
    session.settle(0.2)
    assert session.panel.outcome is None and session.maps() == {} and shownMaps() and not ui.numbersPage.visible


def testSavedAndLoaded(session, tmp_path):
    ui = session.ui
    load(session)
    check(session, 3, 1, True)
    session.apply()
    path = str(tmp_path / "scene.mrb")

    def seen() -> list:
        tables = (ui.observersTable, ui.matrixTable, ui.outlierTable)
        return [ui.summaryLabel.text, *map(session.texts, tables), shownMaps(), session.panel.staleness()]

    before = seen()
    assert slicer.util.saveScene(path)
    slicer.mrmlScene.Clear(0)
    session.settle(0.1)
    assert session.panel.model.observers.outcome is None and not session.isShown(ui.observersPage)
    slicer.util.loadScene(path)
    session.settle(0.3)
    assert seen() == before and before[-2] and not before[-1]
    ui.matrixTable._native.cellClicked.emit(0, 1)
    session.settle(0.2)
    assert session.panel.outcome.records[0].measurements["HD95"].value == 2.0


def testWhatChangesIsSaidAndNothingIsLost(session):
    ui, observers = session.ui, session.panel.model.observers
    nodes = load(session)
    session.apply()
    node, image = nodes[1], slicer.vtkOrientedImageData()
    segment = node.GetSegmentation().GetNthSegmentID(0)
    node.GetBinaryLabelmapRepresentation(segment, image)
    edit(node, segment, image, lambda voxels: voxels.__setitem__(slice(0, 200), 0))
    session.settle(0.6)
    assert session.panel.staleness() == "Box of Ben has changed." and "Out of date" in ui.staleLabel.text
    session.apply()
    assert session.panel.staleness() == ""
    check(session, 0, 0, False)
    assert session.panel.staleness() == "The selection has changed."
    check(session, 0, 0, True)
    slicer.mrmlScene.RemoveNode(nodes[3])
    session.settle(0.6)
    assert session.panel.staleness() and observers.outcome is not None, "the numbers stay"
    for row in (0, 1):
        check(session, row, 0, False)
    assert ui.applyButton.accessibleDescription == "Check at least two observers." and not ui.applyButton.enabled
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)
    assert session.isShown(ui.referenceSelector) and not session.isShown(ui.observersTable) and shownMaps() == []


def testSegmentsOfOneSegmentation(session):
    ui = session.ui
    segmentation("All", Anna=box(0), Ben=box(2), Empty=shapes.box((0, 0, 0), (0, 0, 0), (40, 26, 26)), Model=box(1))
    session.settle(0.1)
    ui.modeComboBox.currentIndex = 2
    session.settle(0.1)
    ui.observersOfComboBox.currentIndex = 1
    session.settle(0.1)
    assert [line[0] for line in session.texts(ui.observersTable)] == ["Anna", "Ben", "Empty", "Model"]
    assert not ui.applyButton.enabled
    for row in (0, 1):
        check(session, row, 0, True)
    check(session, 3, 1, True)
    session.apply()
    assert "Two observers agree with DSC 0.8" in ui.summaryLabel.text
    assert "With two observers there is no consensus" in ui.observersRemarksLabel.text
    assert session.texts(ui.matrixTable)[0] == ["", "2.00", "1.00"] and shownMaps() == []


def testReportAndProtocol(session, tmp_path, monkeypatch):
    """They are what the command writes; a scene that was loaded has to be measured again first."""
    ui = session.ui
    assert not ui.observersReportButton.enabled and not ui.observersProtocolButton.enabled
    load(session)
    check(session, 3, 1, True)
    session.apply()
    for button, name in ((ui.observersReportButton, "page.html"), (ui.observersProtocolButton, "limits.csv")):
        assert button.enabled
        monkeypatch.setattr("SegmentMetricsPanel.views.observers.askForPath", lambda *_, name=name: tmp_path / name)
        button.click()
        session.settle(0.1)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<title>page: 3 observers and 1 test" in page and "data:image/png;base64," in page
    assert ui.messageLabel.text == f"The report was written to {tmp_path / 'page.html'}."
    rules = readProtocol(tmp_path / "limits.csv").rules
    assert {rule.structure for rule in rules} == {"Box"} and "HD95" in {rule.measurement for rule in rules}
    slicer.util.saveScene(str(tmp_path / "scene.mrb"))
    slicer.mrmlScene.Clear(0)
    slicer.util.loadScene(str(tmp_path / "scene.mrb"))
    session.settle(0.2)
    assert not ui.observersReportButton.enabled and "Apply again" in ui.observersReportButton.accessibleDescription
