"""The panel's tables with the keyboard, and the files that they are exported to."""

from __future__ import annotations

from pathlib import Path

import slicer
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from scenework import applyAll, choose, observers, twoBoxes


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
    session.ui.modeComboBox.currentIndex = 0


def testGoingToPlacesWithTheKeyboard(session, monkeypatch):
    """The arrows go from place to place, once for each; nothing happens when the list is filled or sorted."""
    from SegmentMetricsLib.mrml import navigation

    visited = []
    monkeypatch.setattr(navigation, "jumpTo", lambda position, *_, **__: visited.append(tuple(position)))
    session.chooseFamilies("boundary", "slices")
    session.ui.toleranceSpinBox.value = 1
    choose(session, *twoBoxes())
    session.apply()
    places, slices = session.panel.places, session.panel.slices
    assert places.places and len(slices.rows) > 3 and visited == []
    # the arrows begin at the top, also after a list has become another one
    assert press(session, session.ui.placesTable, Qt.Key_Down) == [0]
    assert visited == [tuple(places.places[0].position)]
    assert press(session, session.ui.slicesTable, Qt.Key_Down, Qt.Key_Down, Qt.Key_Left) == [1]
    assert visited[1:] == [tuple(slices.rows[number].place) for number in (0, 1)]
    slices.table.onHeading(1)
    slices.table.onHeading(1)
    slices.table.select(3)
    session.settle(0.1)
    assert len(visited) == 3
    slices.table.onCell(slices.table.order.index(3), 0)
    assert visited[3:] == [tuple(slices.rows[3].place)], "a click on the highlighted row goes there again"
    session.ui.toleranceSpinBox.value = 2
    session.chooseFamilies("boundary", "signed", "overlap")


def exportedTo(desktop, session, path) -> None:
    """Export the measurements to where the file dialog says."""
    desktop.answers.insert(0, str(path))
    session.ui.exportButton.click()
    assert desktop.answers == []


def testNamesOfExportedTables(desktop, session, tmp_path):
    """A name gets the suffix that it lacks, whatever dots are in it, and the columns' file goes with it."""
    choose(session, *twoBoxes())
    session.apply()
    for name in ("liver 2.5mm", "plain", "LIVER.CSV", "given.csv"):
        exportedTo(desktop, session, tmp_path / name)
        assert session.isShown(session.ui.messageLabel)
    assert session.ui.messageLabel.text == f"The table was written to {tmp_path / 'given.csv'}."
    found = sorted(path.name for path in tmp_path.iterdir())
    stems = [("LIVER", ".CSV"), ("given", ".csv"), ("liver 2.5mm", ".csv"), ("plain", ".csv")]
    assert found == sorted(f"{stem}{end}" for stem, suffix in stems for end in (suffix, ".schema.csv"))
    assert [shown[0] for shown in desktop.shown] == ["getSaveFileName"] * 4


def testDialogsBeginWhereFilesWereSaved(desktop, session, tmp_path):
    """Where the scene is, then where the user went; files of another scene are not put beside those of this one."""
    choose(session, *twoBoxes())
    session.apply()
    folders = [tmp_path / name for name in ("scene", "export", "other")]
    for folder in folders:
        folder.mkdir()
    before = slicer.mrmlScene.GetRootDirectory()
    for root in (folders[0], folders[0], folders[2], folders[0], tmp_path / "gone"):
        slicer.mrmlScene.SetRootDirectory(str(root))
        exportedTo(desktop, session, folders[1] / "metrics.csv" if root == folders[0] else "")
    slicer.mrmlScene.SetRootDirectory(before)
    begun = [Path(start) for _dialog, start in desktop.shown]
    expected = [folders[0], folders[1], folders[2], folders[1], Path()]
    assert begun == [folder / "metrics_Box_First_Second.csv" for folder in expected]


def testProtocolsAreLookedForWhereFilesWere(desktop, session, tmp_path):
    """A dialog to read begins where one to write does, and the other way round; not in Slicer's program folder."""
    before = slicer.mrmlScene.GetRootDirectory()
    folders = [tmp_path / name for name in ("scene", "protocols")]
    for folder in folders:
        folder.mkdir()
    slicer.mrmlScene.SetRootDirectory(str(folders[0]))
    choose(session, *twoBoxes())
    session.apply()
    box = session.ui.protocolComboBox
    for answer in ("", str(folders[1] / "none.csv"), ""):  # the second one is not there, and the panel says so
        desktop.answers.insert(0, answer)
        box.currentIndex = box.count - 1
        session.settle(0.05)
    exportedTo(desktop, session, "")
    slicer.mrmlScene.SetRootDirectory(before)
    begun = [Path(start) for dialog, start in (shown[:2] for shown in desktop.shown) if dialog.startswith("get")]
    assert begun == [folders[0], folders[0], folders[1], folders[1] / "metrics_Box_First_Second.csv"]
    desktop.messages.clear()


def testAFileThatTheDialogDidNotAskAbout(desktop, session, tmp_path):
    """A name that became another one by its suffix does not overwrite a file without being asked."""
    choose(session, *twoBoxes())
    session.apply()
    path = tmp_path / "liver 2.5mm.csv"
    path.write_text("precious")
    desktop.answers.append(QMessageBox.StandardButton.Cancel.value)
    exportedTo(desktop, session, tmp_path / "liver 2.5mm")
    assert path.read_text() == "precious" and "liver 2.5mm.csv exists already" in desktop.shown[-1][1]
    desktop.answers.append(QMessageBox.StandardButton.Ok.value)
    exportedTo(desktop, session, tmp_path / "liver 2.5mm")
    assert path.read_text().startswith("Reference")
    path.write_text("precious")
    exportedTo(desktop, session, path)  # the dialog asks about names that stay as they are
    assert path.read_text().startswith("Reference") and desktop.shown[-1][0] == "getSaveFileName"
