"""Choosing two segments, Apply, and the numbers."""

from __future__ import annotations

from pathlib import Path

import slicer
import vtk
from sayings import says

from .session import STRUCTURE, Session, edit, isStale
from .views import drawn


def checkOpening(session: Session) -> None:
    """Opened on an empty scene, the module chooses the first two segmentations and a structure that both have."""
    from SegmentMetrics import SegmentMetricsLogic

    slicer.util.selectModule("SegmentMetrics")
    session.settle(0.2)
    assert not session.ui.applyButton.enabled
    SegmentMetricsLogic().loadSample()
    session.settle(0.2)
    assert [node.GetName() for node in session.nodes] == ["Observer 1", "Observer 2"]
    assert session.ui.applyButton.enabled and not session.results()
    session.choose(STRUCTURE)
    names = [
        node.GetSegmentation().GetSegment(segment).GetName()
        for node, segment in zip(session.nodes, (session.parameters.referenceSegment, session.parameters.testSegment))
    ]
    assert names == [STRUCTURE, STRUCTURE], "the other observer's contour of the same structure follows"


def checkApply(session: Session) -> None:
    """Apply shows the numbers that the library computes, and the segmentations stay what they were."""
    from SegmentMetricsLib import mrml

    before = [node.GetSegmentation().GetMTime() for node in session.nodes]
    session.apply()
    assert [node.GetSegmentation().GetMTime() for node in session.nodes] == before
    expected = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE)
    shown = session.panel.outcome.records[0].measurements
    assert {key: m.value for key, m in shown.items()} == {key: m.value for key, m in expected.items()}
    rows = session.texts(session.ui.mainTable)
    assert [row[0] for row in rows][:4] == ["DSC", "HD95", "NSD 2 mm", "HD"]
    sides = session.texts(session.ui.sidesTable)
    assert [row[0] for row in sides] == ["Mean", "Max", "Min"]
    assert session.parameters.result.GetTable().GetNumberOfRows() == len(expected), "the node holds all numbers"
    directed = expected["HD"].referenceToTest, expected["HD"].testToReference
    assert rows[3][1:] == [expected["HD"].text(), *(f"{value:.2f}" for value in directed)]
    assert [float(text) for text in sides[1][1:]] == [round(expected[f"Max{side}"].value, 1) for side in "RLAPSI"]
    assert expected.summary.split(";")[0] in session.ui.summaryLabel.text
    assert not session.ui.staleLabel.isVisibleTo(session.ui.staleLabel.parent())
    line = [row[0] for row in rows].index("DSC")
    assert "doi" in session.ui.mainTable.item(line, 0).toolTip()
    session.remembered["HD95"] = expected["HD95"].value


def checkSorting(session: Session) -> None:
    """A click on a heading sorts by value, the third one brings the order back."""
    table, ui = session.panel.results.main, session.ui
    for each in (ui.mainTable, ui.placesTable, ui.slicesTable, ui.conventionsTable, ui.sidesTable, ui.pairsTable):
        assert not each.tabKeyNavigation, "the Tab key leaves it"
    before = session.texts(ui.mainTable)
    table.onHeading(1)
    values = [table.shown.rows[n][1][1] for n in table.order]
    assert values == sorted(values) and session.texts(session.ui.mainTable) != before
    table.onHeading(1)
    assert [table.shown.rows[n][1][1] for n in table.order] == sorted(values, reverse=True)
    table.onHeading(1)
    assert session.texts(session.ui.mainTable) == before
    for _time in range(2):
        table.onHeading(2)
        assert sorted(table.order) == list(range(len(before))) and table.shown.rows[table.order[-1]][2].value is None
    table.onHeading(2)
    places = session.panel.places.table
    places.onCell(0, 0)
    places.onHeading(2)
    assert places.order[session.ui.placesTable.currentRow()] == 0, "what is selected stays selected"
    places.onHeading(2)
    places.onHeading(2)


def checkCopyAndExport(session: Session) -> None:
    """The table can be pasted into a spreadsheet, and is exported with all digits."""
    import csv

    import qt

    session.ui.copyButton.click()
    lines = qt.QApplication.clipboard().text().split("\n")
    numbers = session.panel.outcome.records[0].measurements
    assert lines[:2] == [f"Reference: {STRUCTURE}, Observer 1", f"Test: {STRUCTURE}, Observer 2"]
    assert len(lines) == 3 + len(numbers) - 18 + 1 + session.ui.sidesTable.rowCount and lines[3].startswith("HD\t")
    path = Path(session.folder.name) / "metrics.csv"
    session.panel.files.writers["export"](path)
    with path.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["HD95"]) == session.remembered["HD95"] and row["Reference"] == STRUCTURE
    assert (row["ReferenceFile"], row["TestFile"]) == ("Observer 1", "Observer 2"), "there are no files, but names"
    assert path.with_name("metrics.schema.csv").exists()


def checkStaleness(session: Session) -> None:
    """Results are out of date as soon as a segment, a transform or a setting changes, and only then."""
    node, segment = session.nodes[1], session.parameters.testSegment
    assert not isStale(session)
    node.GetSegmentation().GetSegment(segment).SetColor(0.1, 0.6, 0.2)
    node.SetName("Observer two")
    node.GetDisplayNode().SetSegmentOpacity3D(segment, 0.5)
    assert not isStale(session), "colors and names change no number"
    image = slicer.vtkOrientedImageData()
    node.GetBinaryLabelmapRepresentation(segment, image)
    before = slicer.vtkOrientedImageData()
    before.DeepCopy(image)
    edit(node, segment, image, lambda voxels: voxels[: len(voxels) // 2].fill(0))
    assert isStale(session) and STRUCTURE in session.ui.staleLabel.text
    edit(node, segment, before, lambda voxels: None)
    assert not isStale(session), "undone"
    transform = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    node.SetAndObserveTransformNodeID(transform.GetID())
    assert not isStale(session), "identity moves nothing"
    matrix = vtk.vtkMatrix4x4()
    matrix.SetElement(0, 3, 3.0)
    transform.SetMatrixTransformToParent(matrix)
    says("\n".join(whyNot(session)))  # nothing leaves before that was looked at
    assert isStale(session)
    says("\n".join(whyNot(session)))
    slicer.mrmlScene.RemoveNode(transform)
    assert not isStale(session) and whyNot(session) == []
    session.ui.toleranceSpinBox.value = 3
    assert isStale(session)
    session.ui.toleranceSpinBox.value = 2
    assert not isStale(session)
    session.ui.swapButton.click()
    assert isStale(session) and session.nodes[0] is node
    session.ui.swapButton.click()
    assert not isStale(session)


def whyNot(session: Session) -> list[str]:
    """Why buttons that take results out of the panel are disabled."""
    ui = session.ui
    buttons = (ui.copyButton, ui.exportButton, ui.reportButton)
    return [button.accessibleDescription for button in buttons if not button.enabled]


def checkBadInput(session: Session) -> None:
    """What cannot be compared is said in words; nothing is left behind."""
    ui, parameters = session.ui, session.parameters
    resultsBefore = session.results()
    before = sorted(node.GetName() for node in resultsBefore)
    test = parameters.test, parameters.testSegment
    parameters.test, parameters.testSegment = test[0], ""
    session.settle(0.1)
    assert ui.testSelector.currentSegmentID() == "" and says(ui.messageLabel.text, "test")
    parameters.testSegment = test[1]
    session.chooseFamilies("boundary", "signed", "overlap", "slices")
    session.settle(0.1)
    # an empty segment is no error: distances are infinite, and there is no map
    empty = parameters.test.GetSegmentation().AddEmptySegment("Nothing")
    session.set(parameters, testSegment=empty)
    session.apply()
    distance = session.panel.outcome.records[0].measurements["HD"]
    assert distance.status == "infinite" and distance.reason in ui.summaryLabel.text and not session.maps()
    said = [ui.messageLabel, ui.alarmsLabel, ui.findingsLabel]
    assert [label.text for label in said] == ["", "", ""], "it is said once"
    assert session.panel.plot.chart is None and set(drawn(session)) == {("line", "reference")}
    assert not ui.showMapCheckBox.enabled and ui.showMapCheckBox.checked and not ui.mapSideComboBox.enabled
    says(ui.showMapCheckBox.accessibleDescription)
    slicer.mrmlScene.RemoveNode(parameters.result)
    session.settle(0.2)
    assert session.panel.outcome is None and ui.mainTable.rowCount == 0
    others = [node for node in session.results() if node not in resultsBefore]
    assert others, "the profile of the slices stays until somebody deletes it"
    for node in others:
        slicer.mrmlScene.RemoveNode(node)
    session.set(parameters, testSegment=test[1])
    parameters.test.GetSegmentation().RemoveSegment(empty)
    session.settle(0.5)
    session.apply()
    after = sorted(node.GetName() for node in session.results())
    assert after == before, set(after) ^ set(before)
    assert not ui.messageLabel.text
