"""Results as MRML nodes: tables and distance maps in one folder per pair, where each run replaces the previous one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPolyData, vtkTable

from ..base.errors import requireKind
from ..conventions.convention import OWN_CONVENTION
from ..metrics.measurement import typeset
from ..model.structures import REFERENCE_AND_TEST
from ..show.distributions import doseRange, mapRange
from ..show.maps import Coloring, findLimits, requireChoice, requireDistances, valuesOn
from ..show.resulttables import CONVENTION, measurementsTable, pairsTable
from ..show.tablemodel import Column, Table, plain
from . import colors, folders
from .conversion import drawnSurface as drawn
from .conversion import noteOf, pointsOf
from .folders import nameResult, resultNode
from .nodes import addToPoints, asScene, oneChange, requireComparison

# Table nodes are saved with six digits, so all values are also stored as text with all digits.
COMPARISON_ATTRIBUTE = "SegmentMetrics.Comparison"
COMPARISONS_ATTRIBUTE = "SegmentMetrics.Comparisons"
# Titles of the columns that name files.
FILE_TITLES = {"ReferenceFile": "Reference file", "TestFile": "Test file"}
# the likely reason why data stored in a node cannot be read
OTHER_VERSION = "Another version of SegmentMetrics may have written them."
# the information needed to recolor a distance map when its distances are no longer in memory
MAP_ATTRIBUTE = "SegmentMetrics.Map"


def showTable(comparison, *, tableNode=None, scene=None):
    """Show a comparison as a table with one row per measurement and return its vtkMRMLTableNode.

    Columns: Measurement (its key), Title, Value, Unit, ReferenceToTest, TestToReference, Status, Reason; missing
    numbers are NaN. The node's attribute SegmentMetrics.Comparison holds comparison.toDictionary() as JSON with all
    digits.

    Parameters
    ----------
    comparison
        The comparison to show.
    tableNode : optional
        The node to fill; None reuses the node of an earlier run of the same pair, or observers, or creates one.
    scene : optional
        The scene of the nodes; None means Slicer's.

    Returns
    -------
    vtkMRMLTableNode
    """
    requireComparison(comparison, "showComparisonsTable shows many")
    convention = comparison.convention
    name = f"{pairName(comparison)}: measurements{'' if convention == OWN_CONVENTION else f' ({convention})'}"
    with resultNode("vtkMRMLTableNode", comparison, "table", name, scene=scene, given=tableNode) as node:
        fillTable(node, allNumbers([comparison], isOfAll=False))
        node.SetAttribute(COMPARISON_ATTRIBUTE, json.dumps(comparison.toDictionary(), allow_nan=False))
    return node


def showComparisonsTable(comparisons: Sequence, *, tableNode=None, scene=None):
    """Show many comparisons as a table with one row per pair and return its vtkMRMLTableNode.

    Parameters
    ----------
    comparisons : Sequence
        Comparisons or Records. Columns: Reference, Test, ReferenceFile, TestFile, one column of numbers per measurement
        with its title, unit and description (NaN where a pair does not have it), and Remarks with the reasons of values
        that are not finite. The node's attribute SegmentMetrics.Comparisons holds all pairs as JSON with all digits.
    tableNode, scene : optional
        As for showTable. The node is placed in the folder of all pairs.

    Returns
    -------
    vtkMRMLTableNode
    """
    scene = asScene(scene)
    requireKind(comparisons, Sequence, "The input", "several comparisons")
    for comparison in comparisons:
        requireComparison(comparison)
    records = [pair.record() for pair in comparisons]
    owner = folders.allPairs(comparisons, scene)
    name = folders.folderName(owner, scene)
    with resultNode("vtkMRMLTableNode", owner, "table", name, scene=scene, given=tableNode) as node:
        fillTable(node, allNumbers(records, isOfAll=True))
        everything = [record.toDictionary() for record in records]
        node.SetAttribute(COMPARISONS_ATTRIBUTE, json.dumps(everything, allow_nan=False))
    return node


def allNumbers(records: Sequence, isOfAll: bool) -> Table:
    """Return the table of all measurements of a pair, one per row, or of many pairs, one pair per row."""
    if not isOfAll:
        return measurementsTable(records[0].measurements.values())
    table = pairsTable(records)
    titles = {column.key: column.heading for column in table.columns} | FILE_TITLES
    if CONVENTION.key in titles:  # which all other columns depend on
        titles = {CONVENTION.key: CONVENTION.heading} | titles
    table, rows = table.only(titles), []
    for row, record in zip(table.rows, records, strict=True):
        reasons = [f"{m.key}: {m.reason or m.status}" for m in record.measurements.values() if m.status != "ok"]
        rows.append([*row, "; ".join(reasons)])
    remarks = Column("Remarks", description="Why values are not finite numbers", isText=True)
    return Table([*table.columns, remarks], rows)


def withTexts(table: Table) -> Table:
    """Return a table with what people read in place of numbers: views of table nodes show nan where there is none."""
    texts = table.texts()[1:]
    return Table(
        [column._replace(unit="", isText=True) for column in table.columns], [list(map(typeset, row)) for row in texts]
    )


def showDistanceMap(
    comparison,
    *,
    side: str = "reference",
    kind: str = "signed",
    surface: str = "displayed",
    range: float | None = None,
    displayedSurface: vtkPolyData | None = None,
    modelNode=None,
    tolerance: float | None = None,
    drawnSurface: vtkPolyData | None = None,
    scene=None,
):
    """Show the distance to the other surface at every point of one surface and return the vtkMRMLModelNode.

    Its point arrays SignedDistance (positive where the test lies outside the reference) and Distance are in mm. If the
    comparison has critical structures, there is also an array Hazard in [0, 1], with a dose an array Dose in Gy, which
    is 0 outside the grid of the dose, and for the kind "bld" an array BLD in mm. The model has its own color node. It
    is shown in the 3D views with a legend, and in the slice views as a colored line.

    Parameters
    ----------
    comparison
        The comparison to show.
    side : str, optional
        "reference" or "test", the surface that is drawn.
    kind : str, optional
        "signed", "absolute", "tolerance" (three bands), "hazard", "dose" or "bld", the bidirectional local distance,
        which also shows parts of the other surface to which no point is nearest, such as spikes; if a surface is
        open, so that inside and outside cannot be told apart, signed is drawn as absolute.
    surface : str, optional
        "displayed" draws the smooth surface that Slicer shows, with the distance of the nearest measured element at
        every point; "measured" draws the measured surface itself. Where smoothing leaves less than 90 % of the voxels'
        volume, as of small and thin structures, the surface around them is drawn all the same, and the description of
        the node says so.
    range : float | None, optional
        End of the color range in mm, of a dose in Gy.
    displayedSurface : vtkPolyData | None, optional
        The smooth surface as vtkPolyData in RAS; None creates it.
    modelNode : optional
        The node to fill; None reuses the node of an earlier run of the same pair and side or creates one.
    tolerance : float | None, optional
        In mm. If None, both are chosen as described for findLimits.
    drawnSurface : vtkPolyData | None, optional
        What distanceMap() returned for this comparison, side, surface and kind, perhaps in a thread; None calls it.
    scene : optional
        None means Slicer's scene.

    Returns
    -------
    vtkMRMLModelNode

    Raises
    ------
    ValueError
        For an unknown choice, for a range or tolerance that is not positive, if there are no distances, and if there is
        no hazard or no dose for that kind.
    """
    requireComparison(comparison)
    requireChoice("side", side, REFERENCE_AND_TEST)
    requireChoice("surface", surface, ("displayed", "measured"))
    limit, tolerance = findLimits(comparison, kind, range, tolerance)
    scene = asScene(scene)
    polyData = drawnSurface or distanceMap(comparison, side, surface, displayedSurface, kind == "bld")
    name = f"{pairName(comparison)}: {mapRole(side)}"
    with resultNode("vtkMRMLModelNode", comparison, mapRole(side), name, scene=scene, given=modelNode) as model:
        model.SetAndObservePolyData(polyData)
    signed = comparison.distances.hasSides
    isFirst = model.GetDisplayNode() is None
    colorMap(model, Coloring(kind, limit, tolerance, signed))
    automatic = mapRange(comparison.distances, tolerance)
    known = {"side": side, "surface": surface, "limit": automatic, "tolerance": tolerance, "signed": signed}
    if comparison.dose is not None:
        known["doseLimit"] = doseRange(comparison.dose, comparison.distances)
    model.SetAttribute(MAP_ATTRIBUTE, json.dumps(known))
    other = folders.findResult(comparison, mapRole("test" if side == "reference" else "reference"), scene)
    if isFirst and other is not None:
        colors.makeRoom(colors.legendOf(model), colors.legendOf(other))
    return model


def mapRole(side: str) -> str:
    """Return the role of the map on one side in the folder of its pair."""
    return f"distance map on {side}"


def distanceMap(
    comparison, side: str, surface: str = "displayed", displayedSurface=None, withLocal: bool = False
) -> vtkPolyData:
    """Return the surface of one side in RAS with the point arrays of showDistanceMap, and with BLD if it is wanted."""
    requireDistances(comparison)
    directed = comparison.distances.directions[REFERENCE_AND_TEST.index(side)]
    structure = getattr(comparison, side)
    result, isMeasured = drawn(structure, side, directed.surface, surface, displayedSurface)
    for name, values in valuesOn(comparison, side, None if isMeasured else pointsOf(result), withLocal).items():
        addToPoints(result, name, values)
    return result


def colorMap(model, coloring: Coloring, array: str = "", words: Mapping[str, str] | None = None) -> None:
    """Set the colors and the legend of a map's model node; other display properties set by the user are kept.

    words: the colors by name if the array of points holds their numbers.
    """
    scene, array, ends = model.GetScene(), array or coloring.legend.array, coloring.ends
    colored: Mapping[str, str] | Sequence[str] = coloring.legend.palette
    if words is not None:
        colored, ends = words, (-0.5, len(words) - 0.5)
    elif coloring.kind == "tolerance":
        colored = dict(zip(coloring.legend.bands, coloring.legend.palette, strict=True))
    model.CreateDefaultDisplayNodes()
    display = model.GetDisplayNode()
    before = display.GetColorNode()
    isNew = before is None or not before.GetAttribute(colors.COLORS_ATTRIBUTE)
    # only a color table keeps names in a saved scene
    className = "vtkMRMLColorTableNode" if isinstance(colored, Mapping) else "vtkMRMLProceduralColorNode"
    isKept = not isNew and before.IsA(className)
    colorNode = before if isKept else scene.AddNewNodeByClass(className)
    colors.fillColorNode(colorNode, coloring.kind, colored, ends)
    with oneChange(display):
        if isNew:
            display.SetVisibility2D(True)
            display.SetSliceIntersectionThickness(4)
            # little shading, so that the colors on the surface match the legend
            display.SetAmbient(0.3)
            display.SetDiffuse(0.8)
            display.SetSpecular(0.0)
        display.SetAndObserveColorNodeID(colorNode.GetID())
        display.SetActiveScalar(array, vtkDataObject.POINT)
        display.SetScalarRangeFlag(display.UseManualScalarRange)
        display.SetScalarRange(*ends)
        display.SetScalarVisibility(True)
        if model.GetPolyData().GetNumberOfPolys() == 0:  # contours
            display.SetLineWidth(5)
            display.SetLighting(False)
    folders.removeUnusedColors(scene)  # first, as the name of the one before is taken
    nameResult(colorNode, f"{model.GetName()} (colors)")
    model.SetDescription(noteOf(model.GetPolyData()))
    colors.showLegend(model, coloring, len(colored))


def fillTable(node, table: Table) -> None:
    """Replace the contents of a table node by a table. Missing numbers are NaN."""
    found = vtkTable()
    for number, column in enumerate(table.columns):
        array: Any = vtkStringArray() if column.isText else vtkDoubleArray()
        array.SetName(column.key)
        for value in (plain(row[number]) for row in table.rows):
            array.InsertNextValue(value if column.isText else math.nan if value is None else float(value))
        found.AddColumn(array)
    node.SetAndObserveTable(found)
    for column in table.columns:
        node.SetColumnTitle(column.key, column.heading)
        node.SetColumnDescription(column.key, column.description)
        if column.unit:
            node.SetColumnUnitLabel(column.key, column.unit)
    node.SetUseColumnTitleAsColumnHeader(True)
    node.SetLocked(True)  # results are not to be edited


def pairName(comparison) -> str:
    """Return the name of a pair as used in the names of its nodes."""
    names = dict.fromkeys((comparison.reference.name, comparison.test.name))
    return " vs ".join(names)
