"""Results as MRML nodes: tables and distance maps, in one folder per pair, replaced and not piled up by another run."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPolyData, vtkTable

from ..surfaces import toPolyData
from . import colors, folders
from .conversion import FLIP, toRas
from .conversion import displayedSurface as convertedSurface
from .headless import ensureScene

# Table nodes are saved with six digits, so everything is also kept as text with all digits.
COMPARISON_ATTRIBUTE = "SegmentMetrics.Comparison"
COMPARISONS_ATTRIBUTE = "SegmentMetrics.Comparisons"

SIDES = ("reference", "test")


def showTable(comparison, tableNode=None, scene=None):
    """Show a comparison as a table with one row per measurement and return its vtkMRMLTableNode.

    Columns: Measurement (its key), Title, Value, Unit, ReferenceToTest, TestToReference, Status, Reason; numbers are
    NaN where there is none. The node's attribute SegmentMetrics.Comparison holds comparison.toDictionary() as JSON with
    all digits. tableNode: the node to fill, else the one of an earlier run of the same pair, else a new one. scene:
    None is Slicer's.
    """
    scene = ensureScene() if scene is None else scene
    rows = list(comparison.measurements.values())
    columns = [
        ("Measurement", "Measurement", [row.key for row in rows], "Short name of the measurement"),
        ("Title", "Title", [row.title for row in rows], "Full name of the measurement"),
        ("Value", "Value", [row.value for row in rows], "Value in the unit of its row"),
        ("Unit", "Unit", [row.unit for row in rows], "Unit of the values, empty for a ratio"),
        (
            "ReferenceToTest",
            "Reference to test",
            _numbers(row.referenceToTest for row in rows),
            "The same measured from the reference's surface to the test's only",
        ),
        (
            "TestToReference",
            "Test to reference",
            _numbers(row.testToReference for row in rows),
            "The same measured from the test's surface to the reference's only",
        ),
        ("Status", "Status", [row.status for row in rows], "ok, infinite or undefined"),
        ("Reason", "Reason", [row.reason or "" for row in rows], "Why a value is not a finite number"),
    ]
    node = tableNode or folders.findResult(comparison, "table", scene) or scene.AddNewNodeByClass("vtkMRMLTableNode")
    wasModifying = node.StartModify()
    node.SetName(f"{_pairName(comparison)}: measurements")
    _fillTable(node, [(name, title, "", values, description) for name, title, values, description in columns])
    node.SetAttribute(COMPARISON_ATTRIBUTE, json.dumps(comparison.toDictionary(), allow_nan=False))
    node.EndModify(wasModifying)
    folders.addToFolder(node, comparison, "table")
    return node


def showComparisonsTable(comparisons: Sequence, tableNode=None, scene=None):
    """Show many comparisons as a table with one row per pair and return its vtkMRMLTableNode.

    Columns: Reference, Test, ReferenceFile, TestFile, one column of numbers per measurement with its title, unit and
    description (NaN where a pair does not have it), and Remarks with the reasons of values that are not finite. The
    node's attribute SegmentMetrics.Comparisons holds all pairs as JSON with all digits. tableNode: the node to fill,
    else a new one. scene: None is Slicer's.
    """
    scene = ensureScene() if scene is None else scene
    comparisons = list(comparisons)
    columns = []
    for side in SIDES:
        structures = [getattr(comparison, side) for comparison in comparisons]
        columns.append((side.title(), side.title(), "", [s.name for s in structures], f"Structure of the {side}"))
    for side in SIDES:
        files = [str(getattr(comparison, side).file or "") for comparison in comparisons]
        columns.append((f"{side.title()}File", f"{side.title()} file", "", files, f"File that the {side} came from"))
    measurements = {key: m for comparison in comparisons for key, m in comparison.measurements.items()}
    for key, measurement in measurements.items():
        found = [comparison.measurements.get(key) for comparison in comparisons]
        values = _numbers(None if m is None else m.value for m in found)
        columns.append((key, measurement.title, measurement.unit, values, measurement.description))
    columns.append(("Remarks", "Remarks", "", [_remarks(c) for c in comparisons], "Why values are not finite numbers"))
    node = tableNode or scene.AddNewNodeByClass("vtkMRMLTableNode", "Segment Metrics: all pairs")
    wasModifying = node.StartModify()
    _fillTable(node, columns)
    everything = [comparison.toDictionary() for comparison in comparisons]
    node.SetAttribute(COMPARISONS_ATTRIBUTE, json.dumps(everything, allow_nan=False))
    node.EndModify(wasModifying)
    return node


def showDistanceMap(
    comparison,
    side: str = "reference",
    kind: str = "signed",
    surface: str = "displayed",
    range: float | None = None,
    displayedSurface: vtkPolyData | None = None,
    modelNode=None,
    tolerance: float | None = None,
    scene=None,
):
    """Show how far the other surface is at every point of one surface and return the vtkMRMLModelNode.

    Its point arrays SignedDistance (positive where the test lies outside the reference) and Distance are in mm. It is
    drawn with colors of its own and a legend in the 3D views, and as a colored line in the slice views.

    side: "reference" or "test", the surface that is drawn. kind: "signed", "absolute", or "tolerance" (three bands); if
    a surface is open, so that inside and outside cannot be told apart, signed is drawn as absolute. surface:
    "displayed" draws the smooth surface that Slicer shows, where every point takes the distance of the nearest measured
    element, "measured" the measured surface itself. range: end of the color range in mm; None takes a round number that
    98 % of both surfaces do not exceed, at least the tolerance. displayedSurface: the smooth surface as vtkPolyData in
    RAS, else it is made. modelNode: the node to fill, else the one of an earlier run of the same pair and side, else a
    new one. tolerance: in mm; None takes the first one of the comparison's settings. scene: None is Slicer's.
    Raises ValueError for an unknown choice, a range or tolerance that is not positive, and when there are no distances.
    """
    _checkChoice("side", side, SIDES)
    _checkChoice("kind", kind, colors.KINDS)
    _checkChoice("surface", surface, ("displayed", "measured"))
    tolerance = float(comparison.settings.tolerances[0] if tolerance is None else tolerance)
    for name, value in (("range", range), ("tolerance", tolerance)):
        if value is not None and not 0 < value < np.inf:
            raise ValueError(f"The {name} of a distance map is a positive number of millimeters, not {value}.")
    scene = ensureScene() if scene is None else scene
    polyData = distanceMap(comparison, side, surface, displayedSurface)
    limit = range or automaticRange(comparison, tolerance)

    model = modelNode or folders.findResult(comparison, f"distance map on {side}", scene)
    model = model or scene.AddNewNodeByClass("vtkMRMLModelNode")
    wasModifying = model.StartModify()
    model.SetName(f"{_pairName(comparison)}: distance map on {side}")
    model.SetAndObservePolyData(polyData)
    model.EndModify(wasModifying)
    colorMap(model, kind, side, limit, tolerance, hasSides(comparison))
    folders.addToFolder(model, comparison, f"distance map on {side}")
    folders.removeUnusedColors(scene)
    return model


def distanceMap(comparison, side: str, surface: str = "displayed", displayedSurface=None) -> vtkPolyData:
    """Return the surface of one side in RAS with the point arrays SignedDistance and Distance in mm, all finite.

    Arguments and errors as for showDistanceMap.
    """
    if comparison.distances is None:
        empty = [s.name for s in (comparison.reference, comparison.test) if s.surface is None or s.surface.isEmpty]
        because = f"because {' and '.join(empty)} is empty" if empty else "for this pair"
        raise ValueError(f"There is no distance map {because}.")
    directed = comparison.distances.referenceToTest if side == "reference" else comparison.distances.testToReference
    result = vtkPolyData()
    if surface == "measured":
        result.ShallowCopy(toRas(toPolyData(directed.surface)))
        signed = _withoutGaps(directed.atPoints, directed.surface.points)
    else:
        result.ShallowCopy(displayedSurface or convertedSurface(getattr(comparison, side)))
        points = vtk_to_numpy(result.GetPoints().GetData()).astype(float) * np.diag(FLIP)[:3]
        signed = _nearestValues(points, directed.positions, directed.signed)
    for name, values in (("SignedDistance", signed), ("Distance", np.abs(signed))):
        array = numpy_to_vtk(np.ascontiguousarray(values, dtype=float), deep=True)
        array.SetName(name)
        result.GetPointData().AddArray(array)
    return result


def automaticRange(comparison, tolerance: float) -> float:
    """Return the end of the color range in mm, the same for both sides of a comparison so that their maps compare."""
    directions = (comparison.distances.referenceToTest, comparison.distances.testToReference)
    return colors.pleasantLimit(max(tolerance, *(directed.percentile(98) for directed in directions)))


def hasSides(comparison) -> bool:
    """Return whether the distances have a sign that means inside or outside: both surfaces are closed."""
    directions = (comparison.distances.referenceToTest, comparison.distances.testToReference)
    return all(directed.surface.isClosed for directed in directions)


def colorMap(model, kind: str, side: str, limit: float, tolerance: float, signed: bool = True) -> None:
    """Give the model node of a distance map its colors and legend; what else the user set on its display stays.

    limit: end of the color range in mm. signed: whether the distances tell inside from outside.
    """
    scene = model.GetScene()
    low, high = colors.scalarRange(kind, limit, tolerance, signed)
    model.CreateDefaultDisplayNodes()
    display = model.GetDisplayNode()
    colorNode = display.GetColorNode()
    isNew = colorNode is None or not colorNode.GetAttribute(colors.COLORS_ATTRIBUTE)
    if isNew:
        colorNode = scene.AddNewNodeByClass("vtkMRMLProceduralColorNode")
    colorNode.SetName(f"{model.GetName()} (colors)")
    colors.fillColorNode(colorNode, kind, low, high, signed)
    wasModifying = display.StartModify()
    if isNew:
        display.SetVisibility2D(True)
        display.SetSliceIntersectionThickness(4)
        # little shading, so that the colors on the organ are those of the legend
        display.SetAmbient(0.25)
        display.SetDiffuse(0.85)
        display.SetSpecular(0.0)
    display.SetAndObserveColorNodeID(colorNode.GetID())
    array = "SignedDistance" if signed and kind != "absolute" else "Distance"
    display.SetActiveScalar(array, vtkDataObject.POINT)
    display.SetScalarRangeFlag(display.UseManualScalarRange)
    display.SetScalarRange(low, high)
    display.SetScalarVisibility(True)
    display.EndModify(wasModifying)
    colors.showLegend(model, kind, side, tolerance, signed)


def _nearestValues(points: np.ndarray, positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return for every point (n, 3) the value of the nearest of the positions (m, 3) whose value is finite."""
    from scipy.spatial import cKDTree

    finite = np.isfinite(values)
    if not finite.any():
        raise ValueError("There is no distance map because no distance of this pair is a finite number.")
    if not finite.all():
        positions, values = positions[finite], values[finite]
    # an unbalanced tree is built in half the time and answers as fast for points spread over a surface
    tree = cKDTree(positions, balanced_tree=False, compact_nodes=False)
    return values[tree.query(points, workers=-1)[1]]


def _withoutGaps(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    return values if np.isfinite(values).all() else _nearestValues(points, points, values)


def _fillTable(node, columns: list[tuple]) -> None:
    """Replace a table node's columns by (name, title, unit, values, description)."""
    table = vtkTable()
    for name, _, _, values, _ in columns:
        array = vtkStringArray() if all(isinstance(value, str) for value in values) else vtkDoubleArray()
        array.SetName(name)
        for value in values:
            array.InsertNextValue(value)
        table.AddColumn(array)
    node.SetAndObserveTable(table)
    for name, title, unit, _, description in columns:
        node.SetColumnTitle(name, title)
        node.SetColumnDescription(name, description)
        if unit:
            node.SetColumnUnitLabel(name, unit)
    node.SetUseColumnTitleAsColumnHeader(True)
    node.SetLocked(True)  # results are read, not typed


def _numbers(values) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def _remarks(comparison) -> str:
    reasons = [f"{m.key}: {m.reason or m.status}" for m in comparison.measurements.values() if m.status != "ok"]
    return "; ".join(reasons)


def _pairName(comparison) -> str:
    names = dict.fromkeys((comparison.reference.name, comparison.test.name))
    return " vs ".join(names)


def _checkChoice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"The {name} of a distance map is {', '.join(choices[:-1])} or {choices[-1]}, not {value}.")
