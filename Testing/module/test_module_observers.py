"""Several observers in the panel: who is one, the matrix, the map of where they differ, and the pair of a cell."""

from __future__ import annotations

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytest.importorskip("PySide6", reason="PySide6 is not installed")

import shapes
from panelfixtures import desktop as desktop  # the fixtures
from panelfixtures import session as session
from scenework import segmentation


def box(x: int):
    return shapes.box((5 + x, 8, 8), (14 + x, 17, 17), (40, 26, 26))


def load(session) -> list:
    """Load three observers and a test, and choose the mode."""
    nodes = [segmentation(name, Box=box(x)) for name, x in (("Ärztin", 0), ("Ben", 2), ("Chris", 6), ("AI", 1))]
    session.settle(0.1)
    session.ui.modeComboBox.currentIndex = 2
    session.settle(0.1)
    return nodes


def check(session, row: int, column: int, isChecked: bool) -> None:
    import qt

    state = qt.Qt.Checked if isChecked else qt.Qt.Unchecked
    session.ui.observersTable.item(row, column).setCheckState(state)
    session.settle(0.1)


def testFiveClicksLeadToTheSentenceAndTheMap(session):
    ui = session.ui
    load(session)
    check(session, 3, 1, True)
    session.apply()
    assert ui.summaryLabel.text.startswith("<b>Box</b>: Three observers agree within 2.")
    assert "Chris differs most" in ui.summaryLabel.text and "AI is within their range" in ui.summaryLabel.text
    print(session.texts(ui.matrixTable), ui.observersLabel.text, session.texts(ui.outlierTable))
