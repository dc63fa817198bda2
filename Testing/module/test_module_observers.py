"""Several observers in the panel: who is one, the matrix, the map of where they differ, and the pair of a cell."""

from __future__ import annotations

import shapes
import slicer
from sayings import says
from scenework import segmentation

from SegmentMetricsLib.case.protocol.protocol import readProtocol
from SegmentMetricsLib.mrml.outcomes import variationMaps


def testSavedAndLoaded(session, tmp_path, monkeypatch):
    """A scene keeps what is seen; report and protocol are what the command writes, and need what was measured."""
    import qt

    ui, path = session.ui, str(tmp_path / "scene.mrb")
    for name, x in (("Ärztin", 0), ("Ben", 2), ("Chris", 6), ("AI", 1)):
        node = segmentation(name, Box=shapes.box((5 + x, 8, 8), (10 + x, 13, 13), (26, 20, 20)))
    slicer.mrmlScene.RemoveNode(node.GetDisplayNode())  # which those that a script makes need not have
    session.settle(0.1)
    session.set(ui.modeComboBox, currentIndex=2)
    session.chooseFamilies("boundary", "overlap")
    ui.observersTable.item(3, 1).setCheckState(qt.Qt.Checked)
    session.settle(0.1)
    assert not ui.observersReportButton.enabled and not ui.observersProtocolButton.enabled
    session.apply()

    def seen() -> list:
        tables = (ui.observersTable, ui.matrixTable, ui.outlierTable)
        shown = [m.GetName() for m in variationMaps(slicer.mrmlScene) if m.GetDisplayNode().GetVisibility()]
        return [ui.summaryLabel.text, *map(session.texts, tables), shown, session.panel.staleness()]

    for button, name in ((ui.observersReportButton, "page.html"), (ui.observersProtocolButton, "limits.csv")):
        assert button.enabled
        monkeypatch.setattr("SegmentMetricsPanel.views.files.askForPath", lambda *_, name=name: tmp_path / name)
        session.click(button)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<title>page: " in page and "data:image/png;base64," in page
    says(ui.messageLabel.text, tmp_path / "page.html")
    rules = readProtocol(tmp_path / "limits.csv").rules
    assert {rule.structure for rule in rules} == {"Box"} and "HD95" in {rule.measurement for rule in rules}
    before = seen()
    assert slicer.util.saveScene(path)
    slicer.mrmlScene.Clear(0)
    session.settle(0.1)
    assert session.panel.model.observers.outcome is None and not session.isShown(ui.observersPage)
    slicer.util.loadScene(path)
    session.settle(0.3)
    assert seen() == before and before[-2] and not before[-1]
    assert not ui.observersReportButton.enabled and says(ui.observersReportButton.accessibleDescription)
    ui.matrixTable._native.cellClicked.emit(0, 1)
    session.settle(0.2)
    assert session.panel.outcome.records[0].measurements["HD95"].value == 2.0
