"""The values that other tools would have reported, as a table in the scene."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields

from ..base.errors import InputError, requireKind
from ..conventions import allConventions
from ..conventions.evaluation import Reported, Reports
from ..show.tablemodel import Column, Table
from .folders import resultNode
from .nodes import requireComparison
from .outputs import OTHER_VERSION, fillTable, pairName

# Table nodes are saved with six digits, so all values are also stored as text with all digits.
CONVENTIONS_ATTRIBUTE = "SegmentMetrics.Conventions"
FIELDS = tuple(one.name for one in fields(Reported))
COLUMNS = (
    Column("Convention", description="Short name of the tool", isText=True),
    Column("Tool", description="Tool and the version whose numbers these are", isText=True),
    Column("Measurement", description="Short name of the measurement", isText=True),
    Column("Name", "Name in the tool", description="What the tool calls the measurement", isText=True),
    Column("Value", description="What the tool would have reported"),
    Column("Unit", description="Unit of the value, empty for a ratio", isText=True),
    Column("ReferenceValue", "SegmentMetrics", description="Value without any convention"),
    Column("Difference", description="Value minus the value without any convention, in mm or as a ratio"),
    Column(
        "Leaning",
        description="Whether the contours seem more alike than they are (over-optimistic) or less",
        isText=True,
    ),
    Column(
        "Reproducible",
        description="Whether the tool itself gives this number; if not, it is the value of the tool's definition",
        isText=True,
    ),
    Column("Reason", description="What the tool does", isText=True),
)


def showConventionsTable(
    comparison, *, conventions: Mapping[str, Mapping[str, Reported]] | None = None, tableNode=None, scene=None
):
    """Show the values that other tools would have reported as a table and return its vtkMRMLTableNode.

    The table has one row for every value of every tool. Columns: Convention, Tool (with its version), Measurement (its
    key), Name (in the tool), Value and Unit, ReferenceValue, Difference (value minus reference value, in mm or as a
    fraction), Leaning ("over-optimistic", "over-pessimistic", either of them preceded by "slightly ", or ""; for
    colors), Reproducible ("yes" or "no") and Reason; missing numbers are NaN. The node's attribute
    SegmentMetrics.Conventions holds all of it as JSON with all digits.

    Parameters
    ----------
    comparison
        The comparison to show.
    conventions : Mapping[str, Mapping[str, Reported]] | None, optional
        The result of comparison.conventions(), None to compute it.
    tableNode, scene : optional
        As for showTable.

    Returns
    -------
    vtkMRMLTableNode
    """
    requireComparison(comparison)
    conventions = comparison.conventions() if conventions is None else conventions
    requireKind(conventions, Mapping, "The table of other tools", "the result of comparison.conventions()")
    everything, rows = {}, []
    for tool, numbers in conventions.items():
        everything[tool] = {key: _write(number) for key, number in numbers.items()}
        for one in numbers.values():
            label = allConventions()[tool].label
            row = [tool, label, one.key, one.name, one.value, one.unit, one.reference, one.difference]
            rows.append([*row, one.leaning, "yes" if one.isReproducible else "no", one.reason])
    name = f"{pairName(comparison)}: what other tools would report"
    with resultNode("vtkMRMLTableNode", comparison, "conventions", name, scene=scene, given=tableNode) as node:
        fillTable(node, Table(COLUMNS, rows))
        node.SetAttribute(CONVENTIONS_ATTRIBUTE, json.dumps(everything, allow_nan=False))
    return node


def recallConventions(tableNode) -> dict[str, dict[str, Reported]]:
    """Return the values that showConventionsTable stored in a table node, for example after a scene was loaded.

    They are a mapping convention -> key -> Reported, as returned by comparison.conventions().

    Parameters
    ----------
    tableNode
        A table that showConventionsTable() made.

    Returns
    -------
    dict[str, dict[str, Reported]]

    Raises
    ------
    ValueError
        If the node has none or they cannot be read, for example because another version of SegmentMetrics wrote them.
    """
    if not hasattr(tableNode, "GetAttribute"):
        kind = type(tableNode).__name__
        raise InputError(f"A table node with the results of other tools is needed, not {kind}.")
    text = tableNode.GetAttribute(CONVENTIONS_ATTRIBUTE) or ""
    try:
        kept = json.loads(text)
        return {
            tool: Reports(allConventions()[tool].tool, {key: _recall(number) for key, number in numbers.items()})
            for tool, numbers in kept.items()
            if tool in allConventions()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        name = tableNode.GetName()
        raise InputError(f"The results of other tools cannot be read from {name}. {OTHER_VERSION}") from error


def _write(number: Reported) -> dict:
    """Return a number for JSON with all that _recall() needs, in which inf and nan are texts."""
    given = {name: getattr(number, name) for name in FIELDS}
    texts = {name: repr(one) for name, one in given.items() if isinstance(one, float) and not math.isfinite(one)}
    return number.toDictionary() | given | texts


def _recall(stored: Mapping) -> Reported:
    given = {name: stored[name] for name in FIELDS}
    return Reported(**given | {name: float(given[name]) for name in ("value", "reference")})
