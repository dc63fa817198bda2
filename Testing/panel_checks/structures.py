"""All structures of two segmentations, and protocols."""

from __future__ import annotations

from .session import STRUCTURE, Session

PROTOCOL = """Structure,Measurement,Relation,Pass,Warn,Source
Parotid_L,HD95,<=,3,10,Somebody 2020
Parotid_L,DSC,>=,0.99,,
Parotid_*,NSD_3mm,>=,0.5,,
Nowhere,DSC,>=,0.5,,
"""


def checkAllStructures(session: Session) -> None:
    """All structures of the same name: a row each, unmatched ones named; a click shows one of them."""
    ui = session.ui
    ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    names = [row[0] for row in session.texts(ui.resultsTable)]
    assert len(names) == 8 and STRUCTURE in names
    assert "Only in the reference: Submandibular_R." in ui.findingsLabel.text
    session.panel.results.table.onCell(names.index("Mandible"), 0)
    session.settle(0.2)
    assert "Mandible" in ui.verdictLabel.text
    assert [model.GetName() for model in session.maps().values()] == ["Mandible: distance map on reference"]
    ui.plotComboBox.currentIndex = 1
    session.settle(0.1)
    chart = session.panel.plot.viewNode.GetPlotChartNode()
    assert chart.GetNumberOfPlotSeriesNodes() == 8 + 1
    ui.plotComboBox.currentIndex = 0
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)
    session.choose(STRUCTURE)
    session.apply()


def checkProtocol(session: Session) -> None:
    """A protocol in a table judges what is compared; what it says follows the table and never changes the numbers."""
    from SegmentMetricsPanel.protocols import COLORS

    from SegmentMetricsLib import Settings, mrml
    from SegmentMetricsLib.protocol.protocol import parseProtocol

    ui, before = session.ui, session.texts(session.ui.resultsTable)
    assert not session.isShown(ui.judgmentLabel) and not session.isShown(ui.protocolTable)
    node = mrml.tableFromProtocol(parseProtocol(PROTOCOL, "Limits"))
    session.settle(0.1)
    box = ui.protocolComboBox
    box.currentIndex = box.findText(node.GetName())
    session.settle(0.1)
    assert session.parameters.protocol is node and session.panel.staleness()
    session.apply()
    assert session.texts(ui.resultsTable) == before
    assert "FAIL" in ui.judgmentLabel.text and "1 fail, 1 warn, 1 pass" in ui.judgmentLabel.text
    settings = Settings(tolerances=3)
    wider = mrml.compareSegments(session.nodes[0], STRUCTURE, session.nodes[1], STRUCTURE, settings)
    rows = session.texts(ui.protocolTable)
    assert [row[2] for row in rows] == ["warn", "fail", "pass"]
    assert rows[0][0] == "HD95 <= 3" and rows[2][1] == f"{wider['NSD_3mm'].value:.3f}"
    item = ui.protocolTable.item(0, 2)
    assert item.background().color().name() == COLORS["warn"]
    assert "is not <= 3" in item.toolTip() and "Somebody 2020" in item.toolTip()
    column = next(n for n in range(node.GetNumberOfColumns()) if node.GetColumnName(n) == "Pass")
    assert node.SetCellText(1, column, "0.1")
    session.settle(0.1)
    assert session.panel.staleness(), "the table was edited"
    session.apply()
    assert "WARN" in ui.judgmentLabel.text and session.texts(ui.protocolTable)[1][2] == "pass"
    assert node.SetCellText(1, column, "much")
    session.settle(0.1)
    assert not ui.applyButton.enabled and "much" in ui.messageLabel.text and "line 3" in ui.messageLabel.text
    assert node.SetCellText(1, column, "0.1")
    session.settle(0.1)
    assert not session.panel.staleness() and ui.applyButton.enabled
    ui.modeComboBox.currentIndex = 1
    session.settle(0.1)
    session.apply()
    verdicts = {row[0]: row[1] for row in session.texts(ui.resultsTable)}
    assert verdicts[STRUCTURE] == "warn" and verdicts["Mandible"] == "" and len(verdicts) == 8
    assert "Nowhere" in ui.findingsLabel.text and "not evaluable" in ui.judgmentLabel.text
    ui.modeComboBox.currentIndex = 0
    session.settle(0.1)
    session.choose(STRUCTURE)
    session.apply()
