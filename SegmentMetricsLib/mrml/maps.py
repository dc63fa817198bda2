"""Distance maps that are in the scene already: other colors, shown or hidden, and the segments that they cover."""

from __future__ import annotations

import json

from . import colors, folders
from .outputs import MAP_ATTRIBUTE, SIDES, colorMap

# on a map's model: which segments were visible before it covered them, by side
COVERED_ATTRIBUTE = "SegmentMetrics.CoveredSegments"


def mapRole(side: str) -> str:
    """Return the role of the map on one side in the folder of its pair."""
    return f"distance map on {side}"


def findMaps(pair, scene) -> dict:
    """Return the models of a pair's maps by side; pair: a Comparison or SegmentPair."""
    found = folders.findResults(pair, scene)
    return {side: found[mapRole(side)] for side in SIDES if mapRole(side) in found}


def allMaps(scene) -> list:
    """Return the models of all maps of a scene."""
    return [node for node in scene.GetNodes() if isMap(node)]


def isMap(node) -> bool:
    """Return whether a node is the model of a distance map."""
    roles = {mapRole(side) for side in SIDES}
    return node.IsA("vtkMRMLModelNode") and node.GetAttribute(folders.ROLE_ATTRIBUTE) in roles


def mapInformation(model) -> dict:
    """Return what a map's model remembers: side, surface ("displayed" or "measured"), limit (mm), tolerance, signed."""
    return json.loads(model.GetAttribute(MAP_ATTRIBUTE) or "{}")


def recolor(model, kind: str, range: float | None = None) -> None:
    """Give a map other colors. kind, range: as for showDistanceMap; None is the range that was chosen automatically."""
    known = mapInformation(model)
    colorMap(model, kind, known["side"], range or known["limit"], known["tolerance"], known["signed"])


def setVisible(model, visible: bool, slices: bool = True, legend: bool = True) -> None:
    """Show or hide a map, its contour in the slice views and its legend, and make way for it or restore what it hid."""
    if visible:
        cover(model)
    display = model.GetDisplayNode()
    if display is not None:
        wasModifying = display.StartModify()
        display.SetVisibility(visible)
        display.SetVisibility2D(slices)
        display.EndModify(wasModifying)
    legendNode = colors.legendOf(model)
    if legendNode is not None:
        legendNode.SetVisibility(visible and legend)
    if not visible:
        uncover(model)


def setOpacity(model, opacity: float) -> None:
    """Set the opacity, 0 to 1, of a map in the 3D views and of its contour in the slice views."""
    display = model.GetDisplayNode()
    display.SetOpacity(opacity)
    display.SetSliceIntersectionOpacity(opacity)


def cover(model) -> None:
    """Hide the compared segments in the 3D views, else they would cover the map; only once."""
    if model.GetAttribute(COVERED_ATTRIBUTE):
        return
    hidden = {}
    for side, (node, segment) in _segments(model).items():
        display = node.GetDisplayNode()
        if display is not None and display.GetSegmentVisibility3D(segment):
            display.SetSegmentVisibility3D(segment, False)
            hidden[side] = segment
    model.SetAttribute(COVERED_ATTRIBUTE, json.dumps(hidden))


def uncover(model) -> None:
    """Show the segments again that cover() hid."""
    hidden = json.loads(model.GetAttribute(COVERED_ATTRIBUTE) or "{}")
    model.RemoveAttribute(COVERED_ATTRIBUTE)
    for side, (node, segment) in _segments(model).items():
        display = node.GetDisplayNode()
        if display is not None and hidden.get(side) == segment:
            display.SetSegmentVisibility3D(segment, True)


def _segments(model) -> dict:
    """Return the compared segments that are still there: node and segment ID by side."""
    pair = json.loads(model.GetAttribute(folders.PAIR_ATTRIBUTE) or "[]")
    found = {}
    for (side, role), key in zip(folders.REFERENCE_ROLES.items(), pair):
        node = model.GetNodeReference(role)
        isSegment = key[0] == "segment" and node is not None and node.GetSegmentation() is not None
        if isSegment and key[1] in node.GetSegmentation().GetSegmentIDs():
            found[side] = node, key[1]
    return found
