"""Protocols as table nodes, which people edit in Slicer and which are saved with the scene."""

from __future__ import annotations

import csv
import io

from vtkmodules.vtkCommonCore import vtkStringArray

from ..errors import InputError
from ..protocol.protocol import OPTIONAL, REQUIRED, Protocol, parseProtocol
from .headless import ensureScene

PROTOCOL_ATTRIBUTE = "SegmentMetrics.Protocol"


def protocolFromTable(tableNode) -> Protocol:
    """Return the protocol in a vtkMRMLTableNode whose columns are called like those of the file.

    Raises ValueError, naming the row as line (the heading is line 1) and the column, for whatever does not make sense.
    """
    if tableNode is None or not tableNode.IsA("vtkMRMLTableNode"):
        raise InputError("There is no table with a protocol.")
    table = tableNode.GetTable()
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # a name that starts with # is no comment
    columns = range(table.GetNumberOfColumns())
    writer.writerow([table.GetColumnName(column) or "" for column in columns])
    for row in range(table.GetNumberOfRows()):
        # a line break would be another line of the file
        writer.writerow([" ".join(table.GetValue(row, column).ToString().split()) for column in columns])
    return parseProtocol(file.getvalue(), tableNode.GetName() or "the table")


def allProtocols(scene) -> list:
    """Return the table nodes of a scene that have the columns that a protocol needs."""
    nodes = scene.GetNodesByClass("vtkMRMLTableNode")
    nodes.UnRegister(None)
    tables = [nodes.GetItemAsObject(number) for number in range(nodes.GetNumberOfItems())]
    return [node for node in tables if _columns(node) >= set(REQUIRED)]


def _columns(node) -> set[str]:
    return {node.GetColumnName(number) for number in range(node.GetNumberOfColumns())} if node.GetTable() else set()


def tableFromProtocol(protocol: Protocol, tableNode=None, scene=None):
    """Write a protocol into a vtkMRMLTableNode, one row per rule, and return the node.

    tableNode: the node to fill, else a new one. scene: None is Slicer's.
    """
    scene = ensureScene() if scene is None else scene
    node = tableNode or scene.AddNewNodeByClass("vtkMRMLTableNode", f"Protocol {protocol.name}".strip())
    wasModifying = node.StartModify()
    node.RemoveAllColumns()
    rows = [rule.cells() for rule in protocol.rules]
    for name in (*REQUIRED, *OPTIONAL):
        array = vtkStringArray()
        array.SetName(name)
        for cells in rows:
            array.InsertNextValue(cells[name])
        node.AddColumn(array)
    node.SetAttribute(PROTOCOL_ATTRIBUTE, protocol.version)
    node.EndModify(wasModifying)
    return node
