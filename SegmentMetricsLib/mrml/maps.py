"""Existing distance maps in the scene: recoloring, showing and hiding them and the segments that they cover."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from ..base.errors import InputError
from ..model.structures import REFERENCE_AND_TEST
from ..show.maps import LEGENDS, Coloring
from . import colors, folders
from .nodes import nodesOf, oneChange, segmentIDs
from .outputs import MAP_ATTRIBUTE, colorMap, mapRole

# On display nodes of segmentations: the IDs of visible segments that maps of pairs, or of observers, cover in 3D.
COVERED_ATTRIBUTE, BY_OBSERVERS_ATTRIBUTE = ("SegmentMetrics.CoveredSegments", "SegmentMetrics.CoveredByObservers")


def allMaps(scene) -> list:
    """Return the models of all maps in a scene."""
    return [node for node in scene.GetNodes() if isMap(node)]


def isMap(node) -> bool:
    """Return whether a node is the model of a distance map; a copy that the user made of one is not."""
    return node.IsA("vtkMRMLModelNode") and folders.isResult(node, *map(mapRole, REFERENCE_AND_TEST))


def hasSurface(model) -> bool:
    """Return whether a map has a surface; its file may be missing from a loaded scene."""
    return model.GetPolyData() is not None


def isMadeFor(model, surface: str, kind: str) -> bool:
    """Return whether a map is drawn on a surface, "displayed" or "measured", with all that a kind shows."""
    isThere = hasSurface(model) and mapInformation(model)["surface"] == surface
    return isThere and (kind != "bld" or bool(model.GetPolyData().GetPointData().HasArray(LEGENDS["bld"].array)))


def isShown(model) -> bool:
    """Return whether a map is visible."""
    display = model.GetDisplayNode()
    return hasSurface(model) and display is not None and bool(display.GetVisibility())


def mapInformation(model) -> dict:
    """Return the data stored with a map: side, surface ("displayed" or "measured"), limit (mm), tolerance, signed."""
    return json.loads(model.GetAttribute(MAP_ATTRIBUTE) or "{}")


def recolor(model, kind: str, range: float | None = None) -> None:
    """Recolor a map. kind, range: as for showDistanceMap. Raises ValueError if it was made without what is shown."""
    if not hasSurface(model):
        raise InputError(f"{model.GetName()} cannot be shown: its surface was not saved with the scene.")
    known = mapInformation(model)
    problems = {
        "hazard": "This map has no hazard to show, because it was made without critical structures.",
        "bld": "This map has no bidirectional local distance; make it again with showDistanceMap, kind bld.",
        "dose": "This map has no dose to show, because it was made without one.",
    }
    if kind in problems and not model.GetPolyData().GetPointData().HasArray(LEGENDS[kind].array):
        raise InputError(problems[kind])
    automatic = known["doseLimit" if kind == "dose" else "limit"]
    colorMap(model, Coloring(kind, range or automatic, known["tolerance"], known["signed"]))


def showMaps(models: Collection, scene, slices: bool = True, legend: bool = True, opacity: float = 1.0) -> None:
    """Show these maps and hide all others and the segments that they cover in 3D; the first one's legend is for all."""
    cover(models, scene)
    for model in allMaps(scene):
        isShown = model in models
        display = model.GetDisplayNode()
        if display is not None:
            with oneChange(display):
                display.SetVisibility(isShown)
                display.SetVisibility2D(slices)
                if isShown:
                    display.SetOpacity(opacity)
                    display.SetSliceIntersectionOpacity(opacity)
    showLegend(models if legend else (), scene)


def showLegend(models: Collection, scene) -> None:
    """Show one legend for all of these maps, that of the first one, and hide all others; () hides all."""
    for model in allMaps(scene):
        node = colors.legendOf(model)
        if node is not None:
            node.SetVisibility(model is next(iter(models), None))


def cover(models: Collection, scene) -> None:
    """Hide the segments covered by these maps in the 3D views, and show those again that only other maps covered."""
    hideIn3D([segment for model in models for segment in _segments(model)], scene, COVERED_ATTRIBUTE)


def coverNodes(nodes: Iterable, scene) -> None:
    """Hide all segments of some nodes in the 3D views, where they would cover a map, and show those hidden before."""
    segments = [(node.GetDisplayNode(), each) for node in nodes for each in segmentIDs(node)]
    hideIn3D(segments, scene, BY_OBSERVERS_ATTRIBUTE)


def hideIn3D(segments: Iterable[tuple], scene, attribute: str) -> None:
    """Hide segments, each a display node and an ID, in the 3D views; show those again that were hidden so before.

    attribute: on display nodes, says which. What the other attribute lists, too, stays hidden.
    """
    wanted: dict = {}
    other = BY_OBSERVERS_ATTRIBUTE if attribute == COVERED_ATTRIBUTE else COVERED_ATTRIBUTE
    for display, segment in segments:
        wanted.setdefault(display, []).append(segment)
    for display in nodesOf(scene, "vtkMRMLSegmentationDisplayNode"):
        hidden, elsewhere = (set(json.loads(display.GetAttribute(each) or "[]")) for each in (attribute, other))
        now = wanted.get(display, ())
        with oneChange(display):
            for segment in hidden.difference(now, elsewhere).intersection(segmentIDs(display.GetDisplayableNode())):
                display.SetSegmentVisibility3D(segment, True)
            hidden.intersection_update(now)
            for segment in now:
                # segments hidden by the user stay hidden
                if segment in elsewhere or display.GetSegmentVisibility3D(segment):
                    display.SetSegmentVisibility3D(segment, False)
                    hidden.add(segment)
            display.SetAttribute(attribute, json.dumps(sorted(hidden)) if hidden else None)


def _segments(model) -> list[tuple]:
    """Return the compared segments that still exist, each as a display node and its ID."""
    pair = json.loads(model.GetAttribute(folders.PAIR_ATTRIBUTE) or "[]")
    nodes = [model.GetNodeReference(role) for role in folders.REFERENCE_ROLES.values()]
    known = [(node, key[1]) for node, key in zip(nodes, pair) if key[0] == "segment" and key[1] in segmentIDs(node)]
    return [(node.GetDisplayNode(), segment) for node, segment in known]
