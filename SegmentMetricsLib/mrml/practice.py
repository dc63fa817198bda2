"""Practicing: a reference that this module shows only when it is revealed, and the table of a session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..base.errors import InputError
from ..show.tablemodel import Column, Table
from ..show.writing import writeTable
from .inputs import segmentationOf
from .nodes import asScene, oneChange
from .outputs import fillTable

# On a segmentation node that is a reference for practicing: whether it was revealed. Sets that are prepared for
# practicing are saved with HIDDEN.
PRACTICE_ATTRIBUTE = "SegmentMetrics.Practice"
HIDDEN, REVEALED = "hidden", "revealed"
# The title and the columns of a session's table.
TITLE = "Practice session"
COLUMNS = (
    Column("Time", unit="s", description="Seconds of work until the edit was measured"),
    Column("Strokes", description="Edits of the test so far"),
    Column("DSC", description="Dice similarity coefficient"),
    Column("HD", unit="mm", description="The first percentile of the distance"),
    Column("NSD", description="The first normalized surface distance"),
)


def setPractice(segmentationNode, state: str) -> None:
    """Make a segmentation a HIDDEN or REVEALED reference for practicing, or for "" an ordinary one again."""
    segmentationOf(segmentationNode)
    segmentationNode.SetAttribute(PRACTICE_ATTRIBUTE, state or None)
    display = segmentationNode.GetDisplayNode()
    if display is not None:
        display.SetVisibility(state != HIDDEN)


def practiceState(segmentationNode) -> str:
    """Return "hidden" or "revealed" for a reference for practicing, "" for other segmentations and for None."""
    state = segmentationNode.GetAttribute(PRACTICE_ATTRIBUTE) if segmentationNode is not None else None
    return state if state in (HIDDEN, REVEALED) else ""


def keepSession(rows: Sequence[Sequence[float]], tableNode=None):
    """Store the rows of a session, with values for COLUMNS, in a table node and return it; None makes a new one."""
    node = tableNode or asScene(None).AddNewNodeByClass("vtkMRMLTableNode", TITLE)
    with oneChange(node):
        fillTable(node, Table(COLUMNS, rows))
    return node


def readSession(tableNode) -> list[list[float]]:
    """Return the rows of a session's table. Raises InputError if it is not one."""
    table = tableNode.GetTable()
    columns = [table.GetColumnByName(column.key) for column in COLUMNS]
    if None in columns:
        raise InputError(f"{tableNode.GetName()} is not the table of a practice session.")
    return [[column.GetValue(row) for column in columns] for row in range(table.GetNumberOfRows())]


def writeSession(tableNode, path: Path) -> None:
    """Write a session as a CSV file. Raises InputError if the table is not that of a session."""
    writeTable(Table(COLUMNS, readSession(tableNode)), path)
