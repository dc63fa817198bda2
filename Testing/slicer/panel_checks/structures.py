"""All structures of two segmentations, and protocols."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import slicer
from sayings import says

from .fitting import covered, cutOff, panelOf, resize
from .lesions import cubes
from .session import STRUCTURE, Session, goBack
from .views import shownIn


def checkPairs(session: Session) -> None:
    """What belongs together can be proposed by overlap and edited; Apply measures it, and the panel says how it was."""
    ui, p = session.ui, session.parameters
    families = session.families
    session.chooseFamilies("overlap")
    session.set(ui.modeComboBox, currentIndex=1)
    assert session.isShown(ui.pairsGroupBox) and says(ui.pairsGroupBox.title, "8", "9")
    assert pairs(session)["Submandibular_R"] == ("None", "") and pairs(session)[STRUCTURE] == (STRUCTURE, "name")
    assert not ui.proposePairsButton.enabled and not ui.resetPairsButton.enabled, "nothing is left over in the test"
    segmentation = p.test.GetSegmentation()
    segment = segmentation.GetSegment(segmentation.GetSegmentIdBySegmentName("Mandible"))
    segment.SetName("Unterkiefer")
    session.settle(0.6)
    assert pairs(session)["Mandible"] == ("None", "") and "Unterkiefer" in ui.unpairedLabel.text
    session.apply()
    (proposal,) = session.panel.outcome.findings
    shown = ui.findingsLabel.text.split("<br>")[-1]
    assert proposal.kind.name == "PROPOSED" and "Mandible" in shown and "Unterkiefer" in shown
    session.click(ui.proposePairsButton)
    test, how = pairs(session)["Mandible"]
    assert test == "Unterkiefer" and how.startswith("overlap 0."), how
    says(session.panel.staleness())
    session.apply()
    records = {record.name: record for record in session.panel.outcome.records}
    assert len(records) == 8
    says("\n".join(records["Mandible / Unterkiefer"].findings), "Mandible", "Unterkiefer")
    assert how == f"overlap {records['Mandible / Unterkiefer'].measurements['DSC'].value:.2f}"
    choosePair(session, "Brainstem", "Unterkiefer")
    assert pairs(session)["Brainstem"] == ("Unterkiefer", "chosen") and pairs(session)["Mandible"] == ("None", "")
    assert "Brainstem" in ui.unpairedLabel.text
    choosePair(session, STRUCTURE, "None")
    session.apply()
    names = {record.name for record in session.panel.outcome.records}
    assert "Brainstem / Unterkiefer" in names and STRUCTURE not in names
    says(ui.findingsLabel.text.split("<br>")[0], "Mandible", STRUCTURE)
    session.click(ui.resetPairsButton)
    assert list(p.pairs) == [] and pairs(session)[STRUCTURE] == (STRUCTURE, "name") and session.panel.staleness()
    segment.SetName("Mandible")
    ui.modeComboBox.currentIndex = 0
    session.chooseFamilies(*families)
    session.settle(0.6)
    session.choose(STRUCTURE)
    session.apply()


def checkWorstFirst(session: Session) -> None:
    """Without a protocol: alarms first, then what is missed, then the lowest NSD; the first one is shown."""
    ui, given, before, families = session.ui, session.nodes, session.results(), session.families
    nodes = [cubes("Planned", Fine=4, Slight=4, Missed=4, Alarming=4), cubes("Drawn", Fine=4, Slight=7, Alarming=40)]
    nodes[1].GetSegmentation().AddEmptySegment("Missed", "Missed")
    with slicer.util.NodeModify(session.parameters.parameterNode):
        session.parameters.reference, session.parameters.test = nodes
    session.set(ui.modeComboBox, currentIndex=1)
    session.chooseFamilies("boundary", "overlap")
    session.apply()
    assert [row[0] for row in session.texts(ui.mainTable)] == ["⚠ Alarming", "Missed", "Slight", "Fine"]
    assert ui.mainTable.currentRow() == 0 and "<b>Alarming</b>" in ui.summaryLabel.text
    ui.modeComboBox.currentIndex = 0
    session.chooseFamilies(*families)
    goBack(session, given, before, *nodes)


def pairs(session: Session) -> dict[str, tuple[str, str]]:
    """What is shown as counterpart of every structure, and how it was found."""
    table = session.ui.pairsTable
    shown = {}
    for row in range(table.rowCount):
        box = session.panel.pairs.boxes[row]
        shown[session.texts(table)[row][0]] = (box.itemText(box.currentIndex), table.item(row, 2).text())
    return shown


def choosePair(session: Session, reference: str, test: str) -> None:
    """Choose a counterpart in the row of a structure."""
    table = session.ui.pairsTable
    row = next(row for row in range(table.rowCount) if table.item(row, 0).text() == reference)
    box = session.panel.pairs.boxes[row]
    session.set(box, currentIndex=box.findText(test))


PROTOCOL = """Structure,Measurement,Relation,Pass,Warn,Source
Parotid_L,HD95,<=,3,10,Somebody 2020
Parotid_L,DSC,>=,0.99,,
Parotid_*,NSD_3mm,>=,0.5,,
Nowhere,DSC,>=,0.5,,
"""


def checkAllStructures(session: Session) -> None:
    """All structures: a row each, unmatched ones named; a click shows one; results of another mode are named."""

    from SegmentMetricsLib.mrml import navigation

    ui = session.ui
    session.chooseFamilies("boundary", "signed", "overlap")
    session.set(ui.modeComboBox, currentIndex=1)
    assert says(session.panel.staleness(), STRUCTURE) and session.isShown(ui.staleLabel)
    for node in session.nodes:
        segmentation = node.GetSegmentation()
        segment = segmentation.GetSegment(segmentation.GetSegmentIdBySegmentName("Submandibular_L"))
        segment.SetName("Glandula_submandibularis_sinistra_planCT")
    session.settle(0.6)
    with session.isAlive():
        session.apply()
    assert cutOff(ui.mainFrame) == [], "a name of forty letters can be read"
    names = [row[0] for row in session.texts(ui.mainTable)]
    assert len(names) == 8 and STRUCTURE in names
    worst = sorted(session.panel.outcome.records, key=lambda record: record.measurements["NSD_2mm"].value)[0].name
    assert names[0] == worst and f"<b>{worst}</b>" in ui.summaryLabel.text, "the worst first, without alarms by NSD"
    says(ui.findingsLabel.text, "Submandibular_R")
    with session.isAlive():
        session.panel.results.main.onCell(names.index("Mandible"), 0)
        session.settle(0.2)
    assert "Mandible" in ui.summaryLabel.text
    outcome, number = session.panel.outcome, session.panel.model.number()
    middle = np.mean(outcome.comparisons[number].reference.box, axis=0) * (-1, -1, 1)
    for node in navigation.sliceNodesOf(slicer.mrmlScene):
        assert np.abs(shownIn(node, middle[None])[0, :2]).max() < 0.1, "the views go there"
    assertRoom(session, names.index("OpticNrv_L"))
    ui.automaticRangeCheckBox.click()
    ui.rangeSpinBox.value = 7
    for name in ("Brainstem", "Mandible"):
        session.panel.results.main.onCell(names.index(name), 0)
        session.settle(0.2)
        (model,) = session.maps().values()
        assert model.GetDisplayNode().GetScalarRange() == (-7, 7), "one scale for all"
    session.click(ui.automaticRangeCheckBox)
    assert {side: one.GetName().split(":")[0] for side, one in session.maps().items()} == {"reference": "Mandible"}
    session.set(ui.plotComboBox, currentIndex=1)
    chart = session.panel.plot.chart
    assert chart.GetNumberOfPlotSeriesNodes() == 8 + 1
    ui.plotComboBox.currentIndex = 0
    session.set(ui.modeComboBox, currentIndex=0)
    says(session.panel.staleness())
    session.choose(STRUCTURE)
    session.apply()


def assertRoom(session: Session, row: int) -> None:
    """The table has the height that is left, and a page has room for what is said of the structure in a row."""
    pages, frame = session.panel.pages, session.ui.mainFrame
    session.click(pages.buttons["numbers"])
    session.panel.results.main.onCell(row, 0)
    resize(session, 1920, 900)
    page = pages.frame("numbers")
    assert frame.minimumHeight < frame.height < frame.maximumHeight and page.height <= page.sizeHint.height()
    session.click(pages.buttons["map"])
    assert session.isShown(session.ui.mapFarthestLabel)
    found = covered(panelOf(session)) + covered(pages.frame("map")) + covered(session.ui.mapControlsFrame)
    assert not found, found
    session.click(pages.buttons["numbers"])
    resize(session, 1920, 1080)


def checkProtocol(session: Session) -> None:
    """A protocol in a table judges what is compared; what it needs is measured, too."""
    import qt

    from SegmentMetricsLib import Settings, mrml
    from SegmentMetricsLib.case.protocol.protocol import parseProtocol

    ui, before = session.ui, [row[0] for row in session.texts(session.ui.mainTable)]
    assert not session.isShown(ui.judgmentLabel) and not session.isShown(ui.protocolTable)
    node = mrml.tableFromProtocol(parseProtocol(PROTOCOL, "Limits"))
    session.settle(0.1)
    box = ui.protocolComboBox
    session.set(box, currentIndex=box.findText(node.GetName()))
    assert session.parameters.protocol is node and session.panel.staleness()
    assert ui.settingsButton.text.endswith(f" · {node.GetName()}")
    session.apply()
    names = [row[0] for row in session.texts(ui.mainTable)]
    assert [name for name in names if name in before] == before and "NSD 3 mm" in names
    assert "FAIL" in ui.judgmentLabel.text and "1 fail, 1 warn, 1 pass" in ui.judgmentLabel.text
    settings = Settings(tolerances=3, families="boundary")
    wider = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    rows = session.texts(ui.protocolTable)
    assert [row[3] for row in rows] == ["warn", "fail", "pass"]
    assert [rows[0][0], rows[0][2]] == ["HD95", "≤ 3 (10) mm"] and rows[2][1] == f"{wider['NSD_3mm'].value:.3f}"
    tip = ui.protocolTable.item(0, 3).toolTip()
    assert " 3 mm" in tip and "10 mm" in tip and "Somebody 2020" in tip
    column = next(n for n in range(node.GetNumberOfColumns()) if node.GetColumnName(n) == "Pass")
    assert node.SetCellText(1, column, "0.1")
    session.settle(0.1)
    assert session.panel.staleness(), "the table was edited"
    session.apply()
    assert "WARN" in ui.judgmentLabel.text and session.texts(ui.protocolTable)[1][3] == "pass"
    families = session.families
    session.chooseFamilies("overlap")  # and of each structure what the protocol needs
    session.set(ui.modeComboBox, currentIndex=1)
    session.apply()
    verdicts = {row[0]: row[1] for row in session.texts(ui.mainTable)}
    assert verdicts[STRUCTURE] == "warn" and verdicts["Mandible"] == "no limits" and len(verdicts) == 9
    assert list(verdicts)[:2] == ["Nowhere", STRUCTURE] and list(verdicts.values())[2:] == ["pass"] + 6 * ["no limits"]
    assert verdicts["Nowhere"] == "not evaluable" and ui.mainTable.item(0, 1).toolTip(), "with the reason"
    assert not ui.mainTable.item(1, 1).flags() & qt.Qt.ItemIsSelectable, "a selected row does not cover its color"
    assert ui.mainTable.currentRow() == 1 and STRUCTURE in ui.summaryLabel.text, "the worst is seen first"
    assert {side: one.GetName().split(":")[0] for side, one in session.maps().items()} == {"reference": STRUCTURE}
    assert "Nowhere" in ui.findingsLabel.text and "not evaluable" in ui.judgmentLabel.text
    path = Path(session.folder.name) / "verdicts.csv"
    session.panel.files.writers["verdicts"](path)
    assert session.isShown(ui.verdictsButton) and "not evaluable" in path.read_text(encoding="utf-8")
    session.set(ui.modeComboBox, currentIndex=0)
    session.chooseFamilies(*families)
    session.choose(STRUCTURE)
    assert node.SetCellText(2, 1, "NSD_2mm")  # which is measured in any case
    session.settle(0.1)
    session.apply()
