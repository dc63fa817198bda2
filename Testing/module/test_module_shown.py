"""What the panel shows when, and where: alarms first, nothing without results, no number in part."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QScrollArea
from scenework import applyAll, choose, segmentation, twoBoxes

BOX = (6, 5, 5), (15, 11, 12)
NARROW = 304  # pixels: from here on, ordinary distances toward each side need no scrolling
# What there is nothing to be seen in before anything was measured.
OF_RESULTS = ("allNumbersButton", "copyButton", "exportButton", "reportButton", "plotLabel", "plotComboBox",
              "mainFrame", "notesButton", "sidesTable", "alarmsLabel", "findingsLabel", "placesTable", "pagesFrame",
              "numbersPage", "mapPage")  # fmt: skip


def apart(**more) -> list:
    """Return two segmentation nodes with a structure A that does not overlap, and more structures that do."""
    boxes = shapes.box((2, 2, 2), (5, 5, 5)), shapes.box((15, 15, 15), (20, 20, 20))
    return [segmentation(which, A=box, **more) for which, box in zip(("First", "Second"), boxes)]


@pytest.fixture
def alone(session):
    """The content of the panel as a window of its own, which can be as narrow as wanted."""
    top = session.ui.inputsSection.parent()._native
    parent = top.parent()
    while not isinstance(parent, QScrollArea):
        parent = parent.parent()
    parent.takeWidget()
    top.setParent(None)  # what was taken may be around it
    top.show()
    yield top
    parent.setWidget(top)
    top.show()


def testTheModuleInAWindowOfItsOwn(session):
    """Without a parent Slicer's base class calls setup() before it returns: nothing may be reset after that."""
    widget = type(session.widget)()
    assert widget.panel is not None and widget.logic is not None
    widget.enter()
    assert widget.isOpen and widget.panel.parameters is not None
    widget.exit()
    widget.cleanup()
    widget.parent.deleteLater()


def testNothingIsShownBeforeTheFirstApply(session):
    ui = session.ui
    assert ui.summaryLabel.text == "Choose a reference and a test segment, then Apply."
    choose(session, *twoBoxes())
    assert [name for name in OF_RESULTS if session.isShown(getattr(ui, name))] == []
    assert ui.summaryLabel.text == "Press Apply."
    session.parameters.testSegment = ""
    session.settle(0.1)
    assert (ui.summaryLabel.text, ui.messageLabel.text) == ("", "Choose a segment of the test."), "one sentence"
    choose(session, *session.nodes)
    session.apply()
    hidden = {name for name in OF_RESULTS if not session.isShown(getattr(ui, name))}
    assert hidden - {"notesButton", "findingsLabel", "placesTable"} == {"alarmsLabel", "mapPage"}
    session.parameters.result = None
    session.settle(0.1)
    assert session.panel.outcome is None and ui.summaryLabel.text == "Press Apply."
    assert [name for name in OF_RESULTS if session.isShown(getattr(ui, name))] == []


def testPlotsAreOfferedWhereDistancesWere(session):
    choose(session, *twoBoxes())
    session.chooseFamilies("overlap")
    session.apply()
    assert session.isShown(session.ui.mainFrame) and not session.isShown(session.ui.plotComboBox)
    session.chooseFamilies("boundary", "signed", "overlap")
    session.apply()
    assert session.isShown(session.ui.plotComboBox)


def testAlarmsStandDirectlyBelowTheVerdict(session):
    """With a sign and words, and in colors that are read in a dark theme, too; what is no alarm comes after them."""
    ui = session.ui
    choose(session, *apart(), "A")
    session.apply()
    assert session.isShown(ui.alarmsLabel)
    assert ui.alarmsLabel.text.startswith("<b>⚠ Check this first</b><br>• The two ")
    assert "<br>• The two contours do not overlap at all: " in ui.alarmsLabel.text
    assert "do not overlap" not in ui.findingsLabel.text
    layout = ui.summaryLabel._native.parent().layout()
    names = ("summaryLabel", "notesButton", "alarmsLabel", "findingsLabel", "mainFrame")
    first, *others = [layout.indexOf(getattr(ui, name)._native) for name in names]
    assert others == [first + 1, first + 2, first + 3, first + 4]
    assert ui.notesButton.text.startswith("⚠ Check this first: ") and ui.notesButton.checked
    ui.notesButton.click()
    assert not session.isShown(ui.alarmsLabel) and session.isShown(ui.notesButton)
    ui.notesButton.click()
    before = QApplication.palette()
    dark = QPalette(before)
    dark.setColor(QPalette.ColorRole.Window, QColor("#303030"))
    dark.setColor(QPalette.ColorRole.WindowText, QColor("white"))
    try:
        for palette in (before, dark):
            QApplication.setPalette(palette)
            QApplication.processEvents()
            image = ui.alarmsLabel._native.grab().toImage()
            lightness = sorted(
                image.pixelColor(x, y).lightnessF() for x in range(4, image.width() - 4) for y in range(4, 20)
            )
            assert lightness[-1] > 0.85 and lightness[0] < 0.35  # dark letters on a light ground
    finally:
        QApplication.setPalette(before)


@pytest.mark.parametrize("far", [0, 150])
def testNumbersAreShownInWhole(session, alone, far):
    """Where there is no room for all of them the tables scroll."""
    from desktop import photographs

    boxes = (
        shapes.box((6, 5, 5), (15, 11, 12)),
        shapes.box((8, 5, 5), (15, 12, 12), (24, 24, 24), (1, 1, 1), (far,) * 3),
    )
    choose(session, *(segmentation(which, Box=box) for which, box in zip(("First", "Second"), boxes)))
    with photographs.fontScale():
        session.chooseFamilies("boundary", "signed", "slices")
        session.apply()
        for width in (NARROW, 380, 640):
            alone.resize(width, alone.heightForWidth(width))
            for _ in range(2):  # layouts within layouts, then what these made of the tables
                alone.grab()
                QApplication.processEvents()
            for table in (session.ui.sidesTable._native, session.ui.slicesTable._native):
                for column in range(1, table.columnCount()):
                    assert table.columnWidth(column) >= table.sizeHintForColumn(column), (width, column)
                assert table.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            if not far:  # distances of one or two digits need no scrolling
                sides = session.ui.sidesTable._native
                assert sides.horizontalHeader().length() == sides.viewport().width()
    session.chooseFamilies("boundary", "signed", "overlap")


def testAnAutomaticRangeIsOnlyShown(session):
    """Looking at a map changes nothing that is saved; who wants another range begins with the one that is shown."""
    ui, p = session.ui, session.parameters
    p.range = 7.5
    choose(
        session,
        segmentation("First", Box=shapes.box(*BOX)),
        segmentation("Second", Box=shapes.box(*BOX[:1], (9, 9, 9))),
    )
    session.apply()
    (model,) = session.maps().values()
    automatic = model.GetDisplayNode().GetScalarRange()[1]
    assert ui.rangeSpinBox.value == automatic != 7.5 and p.range == 7.5 and not ui.rangeSpinBox.enabled
    before = p.parameterNode.GetMTime()
    session.panel.map.shown = None  # as when the scene has just been loaded
    session.panel.refresh()
    session.settle(0.1)
    assert p.parameterNode.GetMTime() == before
    p.range = 8.5  # of a script, for later
    session.settle(0.1)
    assert ui.rangeSpinBox.value == automatic == model.GetDisplayNode().GetScalarRange()[1]
    ui.automaticRangeCheckBox.click()
    session.settle(0.1)
    assert p.range == ui.rangeSpinBox.value == automatic == model.GetDisplayNode().GetScalarRange()[1]
    ui.rangeSpinBox.value = 4
    session.settle(0.1)
    assert p.range == 4 and model.GetDisplayNode().GetScalarRange() == (-4, 4)
    p.range = 6.25
    session.settle(0.1)
    assert ui.rangeSpinBox.value == 6.25 and model.GetDisplayNode().GetScalarRange() == (-6.25, 6.25)
    session.widget.exit()
    ui.rangeSpinBox.value = 3
    assert p.range == 6.25
    session.widget.enter()
    ui.automaticRangeCheckBox.click()
    session.settle(0.1)
    assert ui.rangeSpinBox.value == automatic and p.range == 6.25


def testThereIsNoMapToChangeWithoutDistances(session):
    """What is ticked stays so, for the next structure."""
    from SegmentMetricsPanel.views.maps import OF_MAP

    ui = session.ui
    second = segmentation("Second", Box=shapes.box(*BOX))
    second.GetSegmentation().AddEmptySegment("", "A")
    choose(session, segmentation("First", A=shapes.box(*BOX), Box=shapes.box(*BOX)), second, "A")
    session.apply()
    assert not ui.messageLabel.text and "the test is empty" in ui.summaryLabel.text
    controls = [getattr(ui, name) for name in (*OF_MAP, "rangeLabel", "automaticRangeCheckBox", "rangeSpinBox")]
    assert not ui.showMapCheckBox.enabled and not any(control.enabled for control in controls)
    assert ui.showHazardCheckBox.enabled, "it needs no distances"
    assert ui.showMapCheckBox.accessibleDescription == "No distances were measured." and ui.showMapCheckBox.checked
    choose(session, *session.nodes, "Box")
    session.apply()
    assert ui.showMapCheckBox.enabled and all(control.enabled for control in controls[:-1]) and session.maps()
    assert "in the 3D views" in ui.showMapCheckBox.accessibleDescription
    ui.showMapCheckBox.click()
    session.settle(0.1)
    assert ui.showMapCheckBox.enabled and not ui.mapControlsFrame.enabled
    ui.showMapCheckBox.click()
    session.settle(0.1)


def testVerdictsAreSeenInTheSelectedRow(session):
    """The color of the selection does not cover that of the verdict."""
    from SegmentMetricsLib.case.protocol.protocol import parseProtocol
    from SegmentMetricsLib.mrml import tableFromProtocol

    session.parameters.reference, session.parameters.test = twoBoxes()
    rules = "Structure,Measurement,Relation,Pass\nBox,HD,<=,0.1\n"
    session.parameters.protocol = tableFromProtocol(parseProtocol(rules, "Limits"))
    applyAll(session)
    table = session.ui.mainTable
    assert {item.column() for item in table.selectedItems()} == {0, *range(2, table.columnCount)}
    table._native.grab()
    place = table._native.visualItemRect(table._native.item(0, 1)).adjusted(3, 3, -3, -3).topLeft()
    from SegmentMetricsPanel.contents.verdicts import COLORS

    assert table._native.viewport().grab().toImage().pixelColor(place).name() == COLORS["fail"]
    session.ui.modeComboBox.currentIndex = 0


def testMapOfBidirectionalLocalDistances(session):
    """It is drawn when it is first chosen; a map that has them is only colored again."""
    nodes = [segmentation(f"{n}", Box=shapes.box((6 + 3 * n, 5, 5), (15 + 3 * n, 11, 12))) for n in range(2)]
    choose(session, *nodes, "Box")
    session.apply()
    (model,) = session.maps().values()
    assert not model.GetPolyData().GetPointData().HasArray("BLD")
    kinds = [session.ui.mapKindComboBox.itemText(n) for n in range(session.ui.mapKindComboBox.count)]
    for kind, array in (("Bidirectional local distance", "BLD"), ("Distance", "Distance")):
        session.ui.mapKindComboBox.currentIndex = kinds.index(kind)
        session.settle(0.1)
        (model,) = session.maps().values()
        assert model.GetDisplayNode().GetActiveScalarName() == array
        assert model.GetPolyData().GetPointData().GetArray("BLD").GetRange() == pytest.approx((3, 3))
        assert session.ui.rangeLabel.enabled
