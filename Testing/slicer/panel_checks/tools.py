"""What other tools would report, and the reports: a page, and DICOM."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from sayings import says

from SegmentMetricsLib import readReport

from .fitting import assertFits
from .session import SMALL, STRUCTURE, Session, isStale


def checkTools(session: Session) -> None:
    """What other tools would report, in colors that say how misleading it is; older numbers are not shown."""
    from SegmentMetricsPanel.contents.conventions import COLORS

    from SegmentMetricsLib import conventions, mrml

    ui = session.ui
    assertAnswers(session)
    session.chooseFamilies("boundary", "signed", "overlap", "slices")
    session.choose(STRUCTURE)
    session.apply()
    comparison = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE)
    expected = comparison.conventions(["MedPy", "Plastimatch"])  # of all of them, which take long
    assert ui.conventionsTable.rowCount == 0
    session.panel.pages.open("tools")  # which calculates nothing by itself
    session.settle(0.2)
    assert ui.conventionsTable.rowCount == 0
    session.askTools()
    assertFits(session, "tools")
    assert not session.isShown(ui.conventionsButton) and session.isShown(ui.conventionsLegendLabel)
    shown = session.panel.conventions.record.conventions
    for tool, numbers in expected.items():
        assert {k: n.value for k, n in shown[tool].items()} == {k: n.value for k, n in numbers.items()}
    assert set(shown) <= set(conventions.allConventions()) and len(shown) > 12
    assert ui.conventionsKeyComboBox.currentText.startswith("HD95")
    rows = session.texts(ui.conventionsTable)
    assert rows[0] == ["SegmentMetrics", comparison["HD95"].text().partition(" ")[0], ""]
    assert [row[0] for row in rows[1:]] == list(shown)
    line = [row[0] for row in rows].index("Plastimatch")
    number = expected["Plastimatch"]["HD95"]
    assert rows[line][1:] == [number.text().partition(" ")[0], f"{number.difference:+.2f}"]
    item = ui.conventionsTable.item(line, 1)
    assert number.leaning and item.background().color().name() == COLORS[number.leaning]
    assert number.reason[1:] in item.toolTip() and number.leaning in item.toolTip()
    session.set(ui.conventionsKeyComboBox, currentIndex=0)
    everything = session.texts(ui.conventionsTable)
    assert len(everything) == len(rows) and len(everything[0]) > 7
    path = Path(session.folder.name) / "conventions.csv"
    session.panel.files.writers["conventionsExport"](path)
    assert "MedPy" in path.read_text(encoding="utf-8")
    ui.conventionsKeyComboBox.currentIndex = ui.conventionsKeyComboBox.findText("HD95")
    ui.toleranceSpinBox.value = 3
    assert isStale(session) and session.isShown(ui.conventionsStaleLabel) and not ui.numberEdit.enabled
    ui.toleranceSpinBox.value = 2
    assert not isStale(session) and not session.isShown(ui.conventionsStaleLabel)
    session.panel.pages.open("numbers")


def assertAnswers(session: Session) -> None:
    """A number is found among those of all tools, here of something small; what is no number is refused."""
    ui = session.ui
    session.choose(SMALL)
    session.apply()
    dice = session.panel.outcome.records[0].measurements["DSC"].value
    for text, *names in ((f"{dice:.4f}", "DSC of SegmentMetrics"), ("x",)):
        ui.numberEdit.text = text
        session.panel.conventions.onNumber()
        shown = ui.answerLabel.text
        assert bool(shown) == session.isShown(ui.answerLabel) == bool(names) and all(name in shown for name in names)
    says(session.panel.model.notice, "'x'")


def checkReport(session: Session) -> None:
    """A report is written for what is chosen, with the other tools if that is wanted, once there are results."""
    ui, path = session.ui, Path(session.folder.name) / "Case 1.html"
    assert ui.reportButton.enabled, ui.reportButton.accessibleDescription
    assert session.panel.report(path)
    page = path.read_text(encoding="utf-8")
    assert "<title>Case 1: " in page and f"{STRUCTURE}</summary>" not in page
    assert "data-steps=" in page and "Plastimatch" not in page
    names = [f"{STRUCTURE} of {node.GetName()}" for node in session.nodes]
    origins = re.findall(r"<span>(\w+): <b>(.*?)</b>", page)
    assert origins[:2] == [*zip(("Reference", "Test"), names)]
    assert "Scene" not in dict(origins), "it has not been saved"
    digests = re.findall(r" mm<br><code>(\w{24})</code>", page)
    assert len(set(digests)) == 2 and "SHA-256" not in page, "segments of no file are told by their contents"
    assert 'class="verdict warn"' in page, "with what the protocol says"
    assert str(path) in ui.messageLabel.text
    session.click(ui.reportConventionsCheckBox)
    assert session.panel.report(path) and "Plastimatch" in path.read_text(encoding="utf-8")
    ui.reportConventionsCheckBox.click()
    session.set(ui.toleranceSpinBox, value=3)
    assert not ui.reportButton.enabled and says(ui.reportButton.accessibleDescription)
    assert not session.panel.report(path)
    session.set(ui.toleranceSpinBox, value=2)
    assert ui.reportButton.enabled


def checkDicom(session: Session) -> None:
    """The results are exported to DICOM, with the segments, where the packages for it are; else they are named."""
    ui, path = session.ui, Path(session.folder.name) / "Case 1.dcm"
    assert ui.dicomButton.enabled and session.isShown(ui.dicomButton), ui.dicomButton.accessibleDescription
    if importlib.util.find_spec("highdicom") is None:
        assert not session.panel.report(path) and "highdicom" in ui.messageLabel.text and not path.exists()
        return
    assert session.panel.report(path), ui.messageLabel.text
    assert str(path) in ui.messageLabel.text
    assert sorted(file.name for file in path.parent.glob("Case 1*.dcm")) == ["Case 1.dcm", "Case 1_segmentation.dcm"]
    (found,) = readReport(path)
    shown = session.panel.outcome.records[0]
    assert found.name == shown.name and found.measurements["HD95"].value == shown.measurements["HD95"].value
    assert not session.panel.report(path) and str(path) in ui.messageLabel.text
