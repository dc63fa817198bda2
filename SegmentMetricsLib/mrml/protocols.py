"""Protocols as table nodes, which can be edited in Slicer and are saved with the scene."""

from __future__ import annotations

import csv
import io

from vtkmodules.vtkCommonCore import vtkStringArray

from ..base.errors import InputError, requireKind
from ..case.protocol.protocol import OPTIONAL, REQUIRED, Protocol, parseProtocol
from .nodes import asNode, asScene, nodesOf, oneChange

PROTOCOL_ATTRIBUTE = "SegmentMetrics.Protocol"


def protocolFromTable(tableNode) -> Protocol:
    """Return the protocol in a vtkMRMLTableNode, whose columns are named like those of protocol files.

    Parameters
    ----------
    tableNode
        The table node to read.

    Returns
    -------
    Protocol

    Raises
    ------
    ValueError
        For invalid contents, naming the column and the row as a line number (the heading is line 1).
    """
    if not hasattr(tableNode, "IsA") or not tableNode.IsA("vtkMRMLTableNode"):
        raise InputError("There is no table with a protocol.")
    table = tableNode.GetTable()
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # so that a name that starts with # is not taken for a comment
    columns = range(table.GetNumberOfColumns())
    writer.writerow([table.GetColumnName(column) or "" for column in columns])
    for row in range(table.GetNumberOfRows()):
        # line breaks in cells would change the line numbers
        writer.writerow([" ".join(table.GetValue(row, column).ToString().split()) for column in columns])
    return parseProtocol(file.getvalue(), tableNode.GetName() or "the table")


def allProtocols(scene) -> list:
    """Return the table nodes in a scene that have the columns required for a protocol."""
    tables = [node for node in nodesOf(scene, "vtkMRMLTableNode") if node.GetTable()]
    names = [{node.GetColumnName(number) for number in range(node.GetNumberOfColumns())} for node in tables]
    return [node for node, own in zip(tables, names, strict=True) if own >= set(REQUIRED)]


def tableFromProtocol(protocol: Protocol, *, tableNode=None, scene=None):
    """Write a protocol into a vtkMRMLTableNode, one row per rule, and return the node.

    Parameters
    ----------
    protocol : Protocol
        The protocol to write.
    tableNode : optional
        The node to fill; None creates one.
    scene : optional
        None means Slicer's scene.

    Returns
    -------
    vtkMRMLTableNode
    """
    requireKind(protocol, Protocol, "The protocol", "a Protocol, as readProtocol() returns it")
    scene = asScene(scene)
    kind = "vtkMRMLTableNode"
    node = asNode(tableNode, kind) or scene.AddNewNodeByClass(kind, f"Protocol {protocol.name}".strip())
    with oneChange(node):
        node.RemoveAllColumns()
        for name in (*REQUIRED, *OPTIONAL):
            array = vtkStringArray()
            array.SetName(name)
            for rule in protocol.rules:
                array.InsertNextValue(rule.cells()[name])
            node.AddColumn(array)
        node.SetAttribute(PROTOCOL_ATTRIBUTE, protocol.version)
    return node
