"""Results as MRML nodes: tables and distance maps, in one folder per pair, replaced and not piled up by another run."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPolyData, vtkTable

from ..cores import threads
from ..errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from ..geometry.surfaces import barycentricWeights, toPolyData
from ..metrics.distributions import mapRange
from ..settings import OWN_CONVENTION
from ..structures import REFERENCE_AND_TEST
from . import colors, folders
from .conversion import displayedSurface as convertedSurface
from .conversion import toRas
from .headless import ensureScene
from .nodenames import nameResult

# Table nodes are saved with six digits, so everything is also kept as text with all digits.
COMPARISON_ATTRIBUTE = "SegmentMetrics.Comparison"
COMPARISONS_ATTRIBUTE = "SegmentMetrics.Comparisons"
# why what a node keeps cannot be read
OTHER_VERSION = "Another version of SegmentMetrics may have written it."
# what a distance map needs to get other colors when its distances are no longer in memory
MAP_ATTRIBUTE = "SegmentMetrics.Map"

# mm; what is shown where nothing was measured with a tolerance.
DEFAULT_TOLERANCE = 2.0
# Elements looked at at a time, so that temporary arrays stay small.
CHUNK = 1 << 16


def showTable(comparison, tableNode=None, scene=None):
    """Show a comparison as a table with one row per measurement and return its vtkMRMLTableNode.

    Columns: Measurement (its key), Title, Value, Unit, ReferenceToTest, TestToReference, Status, Reason; numbers are
    NaN where there is none. The node's attribute SegmentMetrics.Comparison holds comparison.toDictionary() as JSON with
    all digits. tableNode: the node to fill, else the one of an earlier run of the same pair, else a new one. scene:
    None is Slicer's.
    """
    if not hasattr(comparison, "measurements"):
        raise InputError("showTable shows one comparison; showComparisonsTable shows many.")
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
    nameResult(node, f"{pairName(comparison)}: measurements{_ofConvention(comparison)}")
    fillTable(node, [(name, title, "", values, description) for name, title, values, description in columns])
    node.SetAttribute(COMPARISON_ATTRIBUTE, json.dumps(comparison.toDictionary(), allow_nan=False))
    node.EndModify(wasModifying)
    folders.addToFolder(node, comparison, "table")
    return node


def showComparisonsTable(comparisons: Sequence, tableNode=None, scene=None):
    """Show many comparisons as a table with one row per pair and return its vtkMRMLTableNode.

    comparisons: Comparisons or Records. Columns: Reference, Test, ReferenceFile, TestFile, one column of numbers per
    measurement with its title, unit and description (NaN where a pair does not have it), and Remarks with the reasons
    of values that are not finite. The node's attribute SegmentMetrics.Comparisons holds all pairs as JSON with all
    digits. tableNode: the node to fill, else the one of an earlier run, else a new one; it is in the folder of all
    pairs. scene: None is Slicer's.
    """
    scene = ensureScene() if scene is None else scene
    records = [pair.record() if hasattr(pair, "record") else pair for pair in comparisons]
    columns = []
    if any(record.convention != OWN_CONVENTION for record in records):
        named = [record.convention for record in records]
        columns.append(("Convention", "Convention", "", named, "Tool whose convention boundary and overlap follow"))
    for what, ofName, ofTitle, description in (
        ("name", "", "", "Structure of the {}"),
        ("file", "File", " file", "File of the {}"),
    ):
        for side in REFERENCE_AND_TEST:
            values = [str(getattr(record, side)[what] or "") for record in records]
            word = side.capitalize()
            columns.append((word + ofName, word + ofTitle, "", values, description.format(side)))
    measurements = {key: measurement for record in records for key, measurement in record.measurements.items()}
    for key, measurement in measurements.items():
        found = [record.measurements.get(key) for record in records]
        values = _numbers(None if m is None else m.value for m in found)
        columns.append((key, measurement.title, measurement.unit, values, measurement.description))
    remarks = [_remarks(record) for record in records]
    columns.append(("Remarks", "Remarks", "", remarks, "Why values are not finite numbers"))
    owner = folders.allPairs(comparisons, scene)
    node = tableNode or folders.findResult(owner, "table", scene)
    node = node or scene.AddNewNodeByClass("vtkMRMLTableNode")
    wasModifying = node.StartModify()
    nameResult(node, folders.folderName(owner, scene))
    fillTable(node, columns)
    everything = [record.toDictionary() for record in records]
    node.SetAttribute(COMPARISONS_ATTRIBUTE, json.dumps(everything, allow_nan=False))
    node.EndModify(wasModifying)
    folders.addToFolder(node, owner, "table")
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

    Its point arrays SignedDistance (positive where the test lies outside the reference) and Distance are in mm; Hazard,
    in [0, 1], is there if the comparison has critical structures. It is drawn with colors of its own and a legend in
    the 3D views, and as a colored line in the slice views.

    side: "reference" or "test", the surface that is drawn. kind: "signed", "absolute", "tolerance" (three bands), or
    "hazard"; if a surface is open, so that inside and outside cannot be told apart, signed is drawn as absolute.
    surface: "displayed" draws the smooth surface that Slicer shows, where every point takes the distance of the nearest
    measured element, "measured" the measured surface itself. range: end of the color range in mm. tolerance: in mm.
    Both are chosen as checkedLimits says when None. displayedSurface: the smooth surface as vtkPolyData in RAS, else it
    is made.
    modelNode: the node to fill, else the one of an earlier run of the same pair and side, else a new one. scene: None
    is Slicer's. Raises ValueError for an unknown choice, a range or tolerance that is not positive, and when there are
    no distances, or no hazard for that kind.
    """
    _checkChoice("side", side, REFERENCE_AND_TEST)
    _checkChoice("surface", surface, ("displayed", "measured"))
    limit, tolerance = checkedLimits(comparison, kind, range, tolerance)
    scene = ensureScene() if scene is None else scene
    polyData = distanceMap(comparison, side, surface, displayedSurface)
    model = modelNode or folders.findResult(comparison, mapRole(side), scene)
    model = model or scene.AddNewNodeByClass("vtkMRMLModelNode")
    wasModifying = model.StartModify()
    nameResult(model, f"{pairName(comparison)}: {mapRole(side)}")
    model.SetAndObservePolyData(polyData)
    model.EndModify(wasModifying)
    signed = comparison.distances.hasSides
    colorMap(model, kind, side, limit, tolerance, signed)
    automatic, _ = checkedLimits(comparison, kind, None, tolerance)
    known = {"side": side, "surface": surface, "limit": automatic, "tolerance": tolerance, "signed": signed}
    model.SetAttribute(MAP_ATTRIBUTE, json.dumps(known))
    folders.addToFolder(model, comparison, mapRole(side))
    folders.removeUnusedColors(scene)
    return model


def mapRole(side: str) -> str:
    """Return the role of the map on one side in the folder of its pair."""
    return f"distance map on {side}"


def distanceMap(comparison, side: str, surface: str = "displayed", displayedSurface=None) -> vtkPolyData:
    """Return the surface of one side in RAS with the point arrays SignedDistance and Distance in mm, all finite.

    And Hazard, in [0, 1], if the comparison has critical structures. Arguments and errors as for showDistanceMap.
    """
    requireDistances(comparison)
    directed = comparison.distances.referenceToTest if side == "reference" else comparison.distances.testToReference
    result = vtkPolyData()
    if surface == "measured":
        result.ShallowCopy(toRas(toPolyData(directed.surface)))
        signed = _withoutGaps(directed.atPoints, directed.surface.points)
    else:
        result.ShallowCopy(displayedSurface or convertedSurface(getattr(comparison, side)))
        signed = _nearestValues(_lpsPoints(result), *_middleElements(directed))
    arrays = {"SignedDistance": signed, "Distance": np.abs(signed)}
    if comparison.hazard is not None:
        arrays["Hazard"] = comparison.hazard.at(_lpsPoints(result))
    for name, values in arrays.items():
        array = numpy_to_vtk(np.ascontiguousarray(values, dtype=float), deep=True)
        array.SetName(name)
        result.GetPointData().AddArray(array)
    return result


def _lpsPoints(polyData: vtkPolyData) -> np.ndarray:
    """Return the points (n, 3) of a polydata in RAS, in LPS mm."""
    return vtk_to_numpy(polyData.GetPoints().GetData()).astype(float) * np.diag(RAS_FROM_LPS)[:3]


def requireDistances(comparison, what: str = "distance map") -> None:
    """Raise ValueError, saying why, when a comparison has no distances to show. what: what they would be shown as."""
    empty = [f"the {which}" for which in REFERENCE_AND_TEST if getattr(comparison, which).isEmpty]
    if empty:
        verb = "are" if len(empty) > 1 else "is"
        raise InputError(f"There is no {what} because {' and '.join(empty)} {verb} empty.")
    if comparison.distances is None:
        raise InputError(f"There is no {what} because no measurement of distances was asked for.")


def checkedLimits(comparison, kind: str, range: float | None, tolerance: float | None) -> tuple[float, float]:
    """Return the end of the color range and the tolerance of a map in mm; what is None is chosen automatically.

    The tolerance is the first one of the comparison's settings, 2 mm if there is none. The range is a round number that
    98 % of either surface does not exceed, at least the tolerance, the same for both sides so that their maps compare.
    Raises ValueError for a kind that does not exist, numbers that are not positive, when there are no distances, and
    for kind "hazard" without critical structures.
    """
    _checkChoice("kind", kind, colors.KINDS)
    if kind == "hazard":
        requireHazard(comparison)
    for name, value in (("range", range), ("tolerance", tolerance)):
        if value is not None and not 0 < value < np.inf:
            raise InputError(f"The {name} of a distance map is a positive number of millimeters, not {value}.")
    requireDistances(comparison)
    tolerance = shownTolerance(comparison) if tolerance is None else tolerance
    if range is None:
        range = mapRange(comparison.distances, tolerance)
    return float(range), float(tolerance)


def shownTolerance(comparison) -> float:
    """Return the tolerance in mm that maps and charts show: the first one of the settings, 2 mm if there is none."""
    return next(iter(comparison.settings.tolerances), DEFAULT_TOLERANCE)


def requireHazard(comparison) -> None:
    """Raise ValueError when a comparison has no hazard to show."""
    if comparison.hazard is None:
        raise InputError(
            "There is no hazard to show: measure the family hazard with critical structures that are not empty."
        )


def colorMap(model, kind: str, side: str, limit: float, tolerance: float, signed: bool = True) -> None:
    """Give the model node of a distance map its colors and legend; what else the user set on its display stays.

    limit: end of the color range in mm. signed: whether the distances tell inside from outside.
    """
    scene = model.GetScene()
    low, high = colors.scalarRange(kind, limit, tolerance, signed)
    model.CreateDefaultDisplayNodes()
    display = model.GetDisplayNode()
    before = display.GetColorNode()
    isNew = before is None or not before.GetAttribute(colors.COLORS_ATTRIBUTE)
    isKept = not isNew and before.IsA(colors.colorNodeClass(kind))
    colorNode = before if isKept else scene.AddNewNodeByClass(colors.colorNodeClass(kind))
    colors.fillColorNode(colorNode, kind, low, high, signed)
    wasModifying = display.StartModify()
    if isNew:
        display.SetVisibility2D(True)
        display.SetSliceIntersectionThickness(4)
        # little shading, so that the colors on the organ are those of the legend
        display.SetAmbient(0.3)
        display.SetDiffuse(0.8)
        display.SetSpecular(0.0)
    if model.GetPolyData().GetNumberOfPolys() == 0:  # contours
        display.SetLineWidth(5)
        display.SetLighting(False)
    display.SetAndObserveColorNodeID(colorNode.GetID())
    if not (isNew or isKept):
        scene.RemoveNode(before)
    nameResult(colorNode, f"{model.GetName()} (colors)")
    array = "Hazard" if kind == "hazard" else "SignedDistance" if signed and kind != "absolute" else "Distance"
    display.SetActiveScalar(array, vtkDataObject.POINT)
    display.SetScalarRangeFlag(display.UseManualScalarRange)
    display.SetScalarRange(low, high)
    display.SetScalarVisibility(True)
    display.EndModify(wasModifying)
    colors.showLegend(model, kind, side, tolerance, signed)


def _middleElements(directed) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (m, 3) and signed distances (m,) of the measured elements that a map takes its values from.

    Of a subdivided triangle that is the piece in its middle: the others differ by less than the eye can tell, and there
    may be hundreds.
    """
    weights = barycentricWeights(directed.surface.dimension, directed.subdivisions)
    middle = int(np.ptp(weights, axis=1).argmin())
    if np.ptp(weights[middle]) != 0:  # an even number of pieces of a segment has none
        return directed.positions, directed.signed
    points, cells = directed.surface.points, directed.surface.cells
    centers = np.empty((len(cells), 3))
    for first in range(0, len(cells), CHUNK):
        chosen = slice(first, first + CHUNK)
        points.take(cells[chosen], axis=0).mean(axis=1, out=centers[chosen])
    return centers, directed.signed[middle :: len(weights)]


def _nearestValues(points: np.ndarray, positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return for every point (n, 3) the value of the nearest of the positions (m, 3) whose value is finite."""
    from scipy.spatial import cKDTree

    finite = np.isfinite(values)
    if not finite.any():
        raise InputError("There is no distance map because no distance of this pair is a finite number.")
    if not finite.all():
        positions, values = positions[finite], values[finite]
    # an unbalanced tree is built in half the time and answers as fast for points spread over a surface
    tree = cKDTree(positions, balanced_tree=False, compact_nodes=False)
    return values[tree.query(points, workers=threads())[1]]


def _withoutGaps(values: np.ndarray, points: np.ndarray) -> np.ndarray:
    return values if np.isfinite(values).all() else _nearestValues(points, points, values)


def fillTable(node, columns: list[tuple]) -> None:
    """Replace a table node's columns by (name, title, unit, values, description); values are all str, or numbers."""
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


def _remarks(record) -> str:
    reasons = [f"{m.key}: {m.reason or m.status}" for m in record.measurements.values() if m.status != "ok"]
    return "; ".join(reasons)


def _ofConvention(comparison) -> str:
    """Return which tool's convention the measurements follow, for names; "" for none."""
    convention = comparison.convention if hasattr(comparison, "convention") else comparison.settings.convention
    return "" if convention == OWN_CONVENTION else f" ({convention})"


def pairName(comparison) -> str:
    """Return what a pair is called in the names of its nodes."""
    names = dict.fromkeys((comparison.reference.name, comparison.test.name))
    return " vs ".join(names)


def _checkChoice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"The {name} of a distance map is {', '.join(choices[:-1])} or {choices[-1]}, not {value}.")
