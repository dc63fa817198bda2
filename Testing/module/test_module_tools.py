"""Other tools, reports, protocols and tables: what is missing or out of order, and the files that they become."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from subprocess import CalledProcessError

import pytest
import shapes
import slicer
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from sayings import says
from scenework import applyAll, choose, observers, segmentation, twoBoxes
from tiers import rarely


def twoStructures() -> list:
    """Return two segmentations that have A and B, and the first one C alone."""
    first = {"A": shapes.box((6, 5, 5), (9, 9, 9)), "B": shapes.box((12, 5, 5), (16, 9, 9))}
    second = {"A": shapes.box((7, 5, 5), (9, 9, 9)), "B": shapes.box((12, 5, 5), (16, 9, 12))}
    alone = shapes.box((2, 2, 2), (4, 4, 4))
    return [segmentation("First", **first, C=alone), segmentation("Second", **second)]


def testToolsOfEveryStructure(session):
    """Each structure of many has numbers of its own, computed when they are wanted."""
    session.ui.modeComboBox.currentIndex = 1
    choose(session, *twoStructures(), "A")
    session.apply()
    shown, isOne = [], lambda node: node.GetAttribute("SegmentMetrics.Role") == "conventions"
    for number in (0, 1):
        session.panel.model.showPair(number)
        session.settle(0.05)
        assert session.ui.conventionsTable.rowCount == 0
        session.askTools()
        shown.append(session.texts(session.ui.conventionsTable))
    assert shown[0] != shown[1] and len(list(filter(isOne, session.results()))) == 2
    session.panel.model.showPair(0)
    session.settle(0.05)
    assert session.texts(session.ui.conventionsTable) == shown[0]
    session.apply()
    assert not any(map(isOne, session.results()))


@pytest.mark.parametrize("mode", [1, *rarely([0])])
def testReportsMeasureOnlyWhatWasNotMeasured(session, tmp_path, monkeypatch, mode):
    """The profile of slices is all that a report needs beside what is shown; with it, nothing is measured again."""
    import html

    from SegmentMetricsLib.case import comparison

    measured, compared = [], comparison.comparePair
    monkeypatch.setattr(comparison, "comparePair", lambda pair: measured.append(pair) or compared(pair))
    choose(session, *twoStructures(), "A")
    session.set(session.ui.modeComboBox, currentIndex=mode)
    texts = []
    for families, again in ((("boundary", "overlap"), 1 + mode), (("boundary", "overlap", "slices"), 0)):
        session.chooseFamilies(*families)
        session.apply()
        measured.clear()
        path = tmp_path / "report.html"
        assert session.panel.report(path) and len(measured) == again
        texts.append(re.sub(r"\d\d:\d\d(:\d\d)?", "", html.unescape(path.read_text(encoding="utf-8"))))
    assert texts[0] == texts[1]
    # what has changed a moment ago is no part of what was measured
    session.nodes[1].GetSegmentation().RemoveSegment(session.nodes[1].GetSegmentation().GetNthSegmentID(0))
    assert not session.panel.report(tmp_path / "stale.html") and not (tmp_path / "stale.html").exists()
    session.settle(0.5)


def testReportWithoutPlotlyAndOneThatCannotBeWritten(desktop, session, tmp_path, monkeypatch):
    """Nobody is asked but for a place; instead of a map that turns, both surfaces are drawn from four sides."""
    monkeypatch.setattr("SegmentMetricsLib.show.report.document.hasPlotly", lambda: False)
    choose(session, *twoBoxes(), "Box")
    session.apply()
    desktop.answers.append(str(tmp_path / "Box"))
    session.click(session.ui.reportButton)
    ((dialog, path),) = desktop.shown
    assert (dialog, Path(path).name) == ("getSaveFileName", "Box_First_Second.html")
    text = (tmp_path / "Box.html").read_text(encoding="utf-8")
    titles = re.findall('<img alt="([^"]*)" src="data:image/jpeg;base64,', text)
    for title, which in zip(titles, ("Reference", "Test"), strict=True):
        says(title, which)
    desktop.answers.append(str(tmp_path / "missing" / "report.html"))
    session.click(session.ui.reportButton)
    assert [shown[0] for shown in desktop.shown if shown[0] != "getSaveFileName"] == ["Critical"]
    assert session.ui.applyButton.enabled and session.ui.reportButton.enabled
    (error,) = desktop.exceptions
    assert isinstance(error, OSError)
    desktop.forget()


def testMissingPackageIsOffered(desktop, session, monkeypatch):
    """Center lines need a package: it is offered once, and never as a command for a shell. It may not be installed."""
    desktop.answers.append(CalledProcessError(1, "pip install"))
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setitem(sys.modules, "skimage.morphology", None)
    nodes = twoStructures()
    choose(session, *nodes, "A")
    session.chooseFamilies("overlap", "topology")
    for _time in range(2):
        session.apply()
    assert desktop.shown == [("pip_ensure", "scikit-image>=0.22")]
    reasons = [one.reason for one in session.panel.outcome.records[0].measurements.values() if one.reason]
    assert any("slicer.util.pip_install" in reason for reason in reasons), "the rest was measured"
    session.chooseFamilies("boundary", "signed", "overlap")
    session.apply()


def testReportsDoNotNameASceneThatWasClosed(session, tmp_path):
    """Slicer keeps the name of a file when the scene is closed; what comes later is not in it until it is saved."""
    path, name = str(tmp_path / "scene.mrb"), session.panel.model.scene.fileName
    twoBoxes()
    assert slicer.util.saveScene(path)
    slicer.mrmlScene.SetURL(path)
    assert name() == "scene.mrb"
    slicer.mrmlScene.Clear(0)
    assert slicer.mrmlScene.GetURL() == path and name() == ""
    slicer.util.loadScene(path, {"clear": True})
    session.settle(0.2)
    slicer.mrmlScene.SetURL(path)
    assert name() == "scene.mrb"
    slicer.mrmlScene.SetURL("")


def testThePanelSaysThatSmoothingWouldShrinkTheMap(session):
    choose(session, *twoBoxes(), "Box")
    session.apply()
    p, label = session.parameters, session.ui.mapFarthestLabel
    session.set(p, mapSide=type(p.mapSide).test)
    says(label.text, "test")
    session.set(p, mapSurface=type(p.mapSurface).measured)
    assert label.text == ""


PROTOCOL = "Structure,Measurement,Relation,Pass\nBox,DSC,>=,0.1\nBox,HD95,<=,0.5\n"


def chooseProtocol(session, text: str) -> None:
    box = session.ui.protocolComboBox
    session.set(box, currentIndex=box.findText(text))


def testProtocolsOfFilesAndExamples(desktop, session, tmp_path):
    path = tmp_path / "limits.csv"
    path.write_text(PROTOCOL, encoding="utf-8")
    choose(session, *twoBoxes(), "Box")
    desktop.answers.append(str(path))
    chooseProtocol(session, "From a file...")
    node = session.parameters.protocol
    assert node.GetNumberOfRows() == 2 and session.ui.protocolComboBox.currentText == node.GetName()
    session.apply()
    assert [row[-1] for row in session.texts(session.ui.protocolTable)] == ["pass", "fail"]
    chooseProtocol(session, "From a file...")  # and the dialog is canceled
    assert session.parameters.protocol is node and session.ui.protocolComboBox.currentText == node.GetName()
    chooseProtocol(session, "Example: head-and-neck-tolerances")
    assert session.parameters.protocol.GetNumberOfRows() > 5 and session.panel.staleness()
    session.apply()
    says(session.ui.judgmentLabel.text.rpartition("<br>")[2])
    assert session.ui.protocolTable.rowCount == 0
    chooseProtocol(session, node.GetName())
    session.apply()
    slicer.mrmlScene.RemoveNode(node)
    session.settle(0.1)
    assert session.parameters.protocol is None and session.ui.protocolComboBox.currentText == "None"
    assert session.panel.staleness() and session.isShown(session.ui.protocolTable), "verdicts stay until the next run"
    session.apply()
    assert not session.isShown(session.ui.protocolTable) and not session.isShown(session.ui.judgmentLabel)
    assert not session.panel.staleness()
    path.write_text(PROTOCOL.replace("0.5", "half"), encoding="utf-8")
    desktop.answers.append(str(path))
    chooseProtocol(session, "From a file...")
    (message,) = [shown[1] for shown in desktop.shown if shown[0] == "Critical"]
    says(message, "limits.csv", "3", "half")
    assert session.parameters.protocol is None and session.ui.protocolComboBox.currentIndex == 0


def press(session, table, *keys) -> list[int]:
    """Press keys in a table and return the rows that are highlighted then."""
    for key in keys:
        QTest.keyClick(table._native, key)
    session.settle(0.1)
    return sorted({item.row() for item in table.selectedItems()})


def testTheOverviewFollowsTheKeyboard(session):
    """The pair whose row is highlighted is the one that is shown, however it came to be highlighted."""
    session.parameters.reference, session.parameters.test = observers()
    applyAll(session, ("Bar", "Rod", "chosen"))
    table = session.ui.mainTable
    assert table.rowCount == 2 and press(session, table) == [0] and session.panel.model.number() == 0
    assert press(session, table, Qt.Key_Down) == [1] and session.panel.model.number() == 1
    assert "Bar" in session.ui.summaryLabel.text
    assert press(session, table, Qt.Key_Right) == [1] and session.panel.model.number() == 1
    assert press(session, table, Qt.Key_Home, Qt.Key_Up) == [0] and session.panel.model.number() == 0
    session.panel.results.main.onHeading(0)
    assert press(session, table) == [1], "what is sorted is not chosen anew"
    assert session.panel.model.number() == 0


def testGoingToPlacesWithTheKeyboard(session, monkeypatch):
    """The arrows go from place to place, once for each; nothing happens when the list is filled or sorted."""
    from SegmentMetricsLib.mrml import navigation

    visited = []
    monkeypatch.setattr(navigation, "jumpTo", lambda position, *_, **__: visited.append(tuple(position)))
    session.ui.toleranceSpinBox.value = 1
    choose(session, *twoBoxes())
    session.apply()
    places = session.panel.places
    assert places.places and visited == []
    # the arrows begin at the top, also after a list has become another one
    assert press(session, session.ui.placesTable, Qt.Key_Down) == [0]
    assert visited == [tuple(places.places[0].position)]
    places.table.onHeading(1)
    places.table.select(0)
    session.settle(0.1)
    assert len(visited) == 1
    places.table.onCell(places.table.order.index(0), 0)
    assert visited[1:] == visited[:1], "a click on the highlighted row goes there again"


def ask(desktop, *answers) -> Path | None:
    """Ask for a file as the button of a table does; the answers are those of the dialogs."""
    from SegmentMetricsPanel import saving

    desktop.answers[:] = answers
    path = saving.askForPath(None, "Export", "metrics.csv", "Table (*.csv)")
    assert desktop.answers == []
    return path


def testAFileHasTheSuffixThatItLacks(desktop, session, tmp_path):
    """Whatever dots are in its name; a name that became another one overwrites no file without being asked."""
    for name, expected in (("liver 2.5mm", "liver 2.5mm.csv"), ("LIVER.CSV", "LIVER.CSV"), ("given.csv", "given.csv")):
        assert ask(desktop, str(tmp_path / name)) == tmp_path / expected
    path, buttons = tmp_path / "liver 2.5mm.csv", QMessageBox.StandardButton
    path.write_text("precious")
    assert ask(desktop, str(tmp_path / "liver 2.5mm"), buttons.Cancel.value) is None
    says(desktop.shown[-1][1], "liver 2.5mm.csv")
    assert ask(desktop, str(tmp_path / "liver 2.5mm"), buttons.Ok.value) == path
    assert ask(desktop, str(path)) == path, "the dialog asks about names that stay as they are"
    choose(session, *twoBoxes())
    session.apply()
    desktop.answers.append(str(tmp_path / "plain"))
    session.click(session.ui.exportButton)
    assert session.isShown(session.ui.messageLabel)
    says(session.ui.messageLabel.text, tmp_path / "plain.csv")
    assert sorted(path.name for path in tmp_path.glob("plain*")) == ["plain.csv", "plain.schema.csv"]


def testDialogsBeginWhereFilesWere(desktop, session, tmp_path):
    """Where the scene is, then where the user went, to write or to read; of another scene somewhere else."""
    folders = [tmp_path / name for name in ("scene", "export", "other", "protocols")]
    for folder in folders:
        folder.mkdir()
    before, box = slicer.mrmlScene.GetRootDirectory(), session.ui.protocolComboBox
    for root in (folders[0], folders[0], folders[2], folders[0], tmp_path / "gone"):
        slicer.mrmlScene.SetRootDirectory(str(root))
        ask(desktop, str(folders[1] / "metrics.csv") if root == folders[0] else "")
    slicer.mrmlScene.SetRootDirectory(str(folders[0]))
    for answer in (str(folders[3] / "none.csv"), ""):  # the first one is not there, and the panel says so
        desktop.answers.insert(0, answer)
        session.set(box, currentIndex=box.count - 1)
    slicer.mrmlScene.SetRootDirectory(before)
    begun = [Path(start) for dialog, start, *_ in desktop.shown if dialog.startswith("get")]
    assert begun[:5] == [folder / "metrics.csv" for folder in (folders[0], folders[1], folders[2], folders[1], Path())]
    assert begun[5:] == [folders[1], folders[3]]
    desktop.messages.clear()
