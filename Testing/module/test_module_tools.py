"""Other tools, reports and protocols in the panel on the stand-in, where something is missing or out of order."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import shapes
import slicer
from scenework import choose, segmentation, twoBoxes


def twoStructures() -> list:
    """Return two segmentations that have A and B, and the first one C alone."""
    first = segmentation(
        "First",
        A=shapes.box((6, 5, 5), (9, 9, 9)),
        B=shapes.box((12, 5, 5), (16, 9, 9)),
        C=shapes.box((2, 2, 2), (4, 4, 4)),
    )
    return [first, segmentation("Second", A=shapes.box((7, 5, 5), (9, 9, 9)), B=shapes.box((12, 5, 5), (16, 9, 12)))]


def conventionNodes(session) -> list:
    return [node for node in session.results() if node.GetAttribute("SegmentMetrics.Role") == "conventions"]


def testToolsOfEveryStructure(session):
    """Each structure of many has numbers of its own, computed when they are wanted."""
    session.ui.modeComboBox.currentIndex = 1
    choose(session, *twoStructures(), "A")
    session.apply()
    shown = []
    for number in (0, 1):
        session.panel.model.showPair(number)
        session.settle(0.05)
        assert session.ui.conventionsTable.rowCount == 0
        session.askTools()
        shown.append(session.texts(session.ui.conventionsTable))
    assert shown[0] != shown[1] and len(conventionNodes(session)) == 2
    session.panel.model.showPair(0)
    session.settle(0.05)
    assert session.texts(session.ui.conventionsTable) == shown[0]
    session.apply()
    assert conventionNodes(session) == []


def testAConventionOfAnotherVersion(session):
    choose(session, *twoBoxes(), "Box")
    session.parameters.convention = "Nobody"
    session.settle(0.05)
    assert not session.ui.applyButton.enabled and "Nobody" in session.ui.messageLabel.text
    session.ui.conventionComboBox.currentIndex = 0
    session.settle(0.05)
    assert session.ui.applyButton.enabled and session.parameters.convention == "SegmentMetrics"


def testExportToDicom(desktop, session, tmp_path, monkeypatch):
    """The package for it is offered; without it, the panel says what is needed, and nothing is written."""
    choose(session, *twoStructures(), "A")
    session.apply()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "highdicom", None)
        desktop.answers.extend([str(tmp_path / "A.dcm"), False])
        session.ui.dicomButton.click()
        session.settle(0.1)
    assert [what for what, _ in desktop.shown].count("pip_ensure") == 1 and "highdicom" in session.ui.messageLabel.text
    assert not list(tmp_path.iterdir())
    desktop.answers.append(str(tmp_path / "A"))
    session.ui.dicomButton.click()
    session.settle(0.1)
    # each of the two segmentations has a grid of its own
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.dcm", "A_segmentation.dcm", "A_segmentation2.dcm"]


def testReportOfAllStructures(desktop, session, tmp_path):
    session.ui.modeComboBox.currentIndex = 1
    nodes = twoStructures()
    nodes[0].SetName("Jones^4711")
    choose(session, *nodes, "A")
    session.apply()
    desktop.answers.append(str(tmp_path / "Two structures"))
    session.ui.reportButton.click()
    session.settle(0.1)
    page = (tmp_path / "Two structures.html").read_text(encoding="utf-8")
    assert "2 structures compared" in page and "Only in the reference: C" in page
    assert "Reference: <b>Jones^4711</b>" in page and f"Test: <b>{nodes[1].GetName()}</b>" in page
    session.ui.reportButton.click()  # and the dialog is canceled
    assert [path.name for path in tmp_path.iterdir()] == ["Two structures.html"]


@pytest.mark.parametrize("mode", [0, 1])
def testReportsMeasureOnlyWhatWasNotMeasured(session, tmp_path, monkeypatch, mode):
    """The profile of slices is all that a report needs beside what is shown; with it, nothing is measured again."""
    import html

    from SegmentMetricsLib.case import comparison

    measured, compared = [], comparison.comparePair
    monkeypatch.setattr(comparison, "comparePair", lambda pair: measured.append(pair) or compared(pair))
    choose(session, *twoStructures(), "A")
    session.ui.modeComboBox.currentIndex = mode
    session.settle(0.05)
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
    session.ui.modeComboBox.currentIndex = 0
    session.chooseFamilies("boundary", "signed", "overlap")


def testReportThatCannotBeWritten(desktop, session, tmp_path):
    choose(session, *twoBoxes(), "Box")
    session.apply()
    desktop.answers.append(str(tmp_path / "missing" / "report.html"))
    session.ui.reportButton.click()
    session.settle(0.1)
    assert [shown[0] for shown in desktop.shown if shown[0] != "getSaveFileName"] == ["Critical"]
    assert session.ui.applyButton.enabled and session.ui.reportButton.enabled
    (error,) = desktop.exceptions
    assert isinstance(error, OSError)
    desktop.forget()


def testReportsAskForNothingButTheirPlace(desktop, session, monkeypatch):
    """Also without plotly, which nobody is asked to download; the name that is suggested is that of the pair."""
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    choose(session, *twoBoxes(), "Box")
    session.apply()
    session.ui.reportButton.click()
    ((dialog, path),) = desktop.shown
    assert dialog == "getSaveFileName" and Path(path).name == "Box_First_Second.html"


def testMissingPackageIsOffered(desktop, session, monkeypatch):
    """Center lines need a package: it is offered once, and never as a command for a shell."""
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setitem(sys.modules, "skimage.morphology", None)
    nodes = twoStructures()
    choose(session, *nodes, "A")
    session.chooseFamilies("overlap", "topology")
    for _time in range(2):
        session.apply()
    assert desktop.shown == [("pip_ensure", "scikit-image>=0.22")]
    reasons = [one.reason for one in session.panel.outcome.records[0].measurements.values() if one.reason]
    assert any("slicer.util.pip_install" in reason for reason in reasons)
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


def testReportWithoutPlotlyHasPicturesOfTheMap(desktop, session, tmp_path, monkeypatch):
    """Nothing is downloaded and nobody is asked: both surfaces are drawn from four sides."""
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    choose(session, *twoBoxes(), "Box")
    session.apply()
    desktop.answers.append(str(tmp_path / "Box"))
    session.ui.reportButton.click()
    session.settle(0.1)
    assert [shown[0] for shown in desktop.shown] == ["getSaveFileName"]
    text = (tmp_path / "Box.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot" in text and 'data-figure="' not in text and len(text) < 1_000_000
    titles = re.findall('<img alt="([^"]*)" src="data:image/jpeg;base64,', text)
    assert titles == [f"{which} from the front, left, back, right" for which in ("Reference", "Test")]
    assert text.count('<svg class="flat"') == 2


def testThePanelSaysThatSmoothingWouldShrinkTheMap(session):
    choose(session, *twoBoxes(), "Box")
    session.apply()
    p, label = session.parameters, session.ui.mapFarthestLabel
    p.mapSide = type(p.mapSide).test
    session.settle(0.05)
    assert "The test is drawn around its voxels: smoothing leaves " in label.text
    p.mapSurface = type(p.mapSurface).measured
    session.settle(0.05)
    assert "around its voxels" not in label.text


PROTOCOL = "Structure,Measurement,Relation,Pass\nBox,DSC,>=,0.1\nBox,HD95,<=,0.5\n"


def chooseProtocol(session, text: str) -> None:
    box = session.ui.protocolComboBox
    box.currentIndex = box.findText(text)
    session.settle(0.1)


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
    assert "no rule for this structure" in session.ui.judgmentLabel.text
    assert session.ui.protocolTable.rowCount == 0
    chooseProtocol(session, "None")
    session.apply()
    assert session.parameters.protocol is None and not session.isShown(session.ui.judgmentLabel)


def testAProtocolThatMakesNoSense(desktop, session, tmp_path):
    path = tmp_path / "limits.csv"
    path.write_text(PROTOCOL.replace("0.5", "half"), encoding="utf-8")
    choose(session, *twoBoxes(), "Box")
    desktop.answers.append(str(path))
    chooseProtocol(session, "From a file...")
    (message,) = [shown[1] for shown in desktop.shown if shown[0] == "Critical"]
    assert "limits.csv" in message and "line 3" in message and "half" in message
    assert session.parameters.protocol is None and session.ui.protocolComboBox.currentIndex == 0


def testAProtocolThatIsDeleted(session):
    """The verdicts that were given stay, out of date, until the next run."""
    from SegmentMetricsLib.case.protocol.protocol import parseProtocol
    from SegmentMetricsLib.mrml import tableFromProtocol

    node = tableFromProtocol(parseProtocol(PROTOCOL, "Limits"))
    choose(session, *twoBoxes(), "Box")
    session.parameters.protocol = node
    session.settle(0.05)
    session.apply()
    slicer.mrmlScene.RemoveNode(node)
    session.settle(0.1)
    assert session.parameters.protocol is None and session.ui.protocolComboBox.currentText == "None"
    assert session.panel.staleness() and session.isShown(session.ui.protocolTable)
    session.apply()
    assert not session.isShown(session.ui.protocolTable) and not session.panel.staleness()
