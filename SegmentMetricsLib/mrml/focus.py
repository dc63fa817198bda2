"""Showing only the compared structures in the views, with a line for each that is not colored, and putting all back."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
from vtkmodules.vtkCommonCore import VTK_UNSIGNED_CHAR
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData

from ..base.palettes import COMPARED, rgb
from ..model.structures import REFERENCE_AND_TEST
from .folders import ROLE_ATTRIBUTE, isResult, removeNodes
from .images import shownVolumes
from .markers import placingKept
from .nodes import inRas, nodesOf, oneChange, segmentIDs

# On display nodes of others that are hidden now, or of which only some segments are shown, as outlines: how they were
# shown before, as JSON. It is saved with a scene, so that they come back when that is loaded.
HIDDEN_ATTRIBUTE = "SegmentMetrics.HiddenByFocus"
HIDDEN_ALONE = json.dumps({"Visibility": 1})
# What an outline changes of a segmentation's display node.
LOOK = ("Visibility", "Visibility3D", "Visibility2DFill", "Visibility2DOutline", "SliceIntersectionThickness")
# On the hidden nodes that are drawn here: the side that a line shows, or one of the next two.
SIDE_ATTRIBUTE = "SegmentMetrics.FocusSide"
# The attribute's value on the mark of the farthest point, and its color.
POINT, POINT_COLOR = "farthest point", "#ffff00"
# The attribute's value on the empty label map of slice views without an image, and its voxels along an axis at most.
EXTENT, MOST_VOXELS = "extent", 200
THICKNESS = 2  # pixels
# In 3D views, the test lets the reference inside it shine through.
OPACITY = {"reference": 1.0, "test": 0.45}
# What would cover or surround the compared structures. Images stay, as do markups: somebody put them there to be seen.
HIDDEN = ("vtkMRMLSegmentationDisplayNode", "vtkMRMLModelDisplayNode", "vtkMRMLVolumeRenderingDisplayNode")


def hideOthers(scene) -> list:
    """Hide all visible segmentations, models and volume renderings but our own; return their display nodes."""
    hidden = []
    for display in _displayNodes(scene):
        node = display.GetDisplayableNode()
        if node is None or node.GetHideFromEditors() or not display.GetVisibility():
            continue
        if node.IsA("vtkMRMLModelNode") and isResult(node, node.GetAttribute(ROLE_ATTRIBUTE) or ""):
            continue
        with oneChange(display):
            display.SetAttribute(HIDDEN_ATTRIBUTE, HIDDEN_ALONE)
            display.SetVisibility(False)
        hidden.append(display)
    return hidden


def forgetIfShown(display) -> None:
    """Leave it to the user whether something is shown if they have shown it since hideOthers() has hidden it."""
    if display.GetVisibility() and display.GetAttribute(HIDDEN_ATTRIBUTE) == HIDDEN_ALONE:
        display.RemoveAttribute(HIDDEN_ATTRIBUTE)


def restoreOthers(scene) -> None:
    """Show again what was hidden or shown as an outline, also before the scene was saved and loaded."""
    for display in _displayNodes(scene):
        before = display.GetAttribute(HIDDEN_ATTRIBUTE)
        if not before:
            continue
        with oneChange(display):
            display.RemoveAttribute(HIDDEN_ATTRIBUTE)
            look, node = json.loads(before), display.GetDisplayableNode()
            segments = look.pop("segments", {})
            for name, value in look.items():
                getattr(display, f"Set{name}")(value)
            for each in segments.keys() & set(segmentIDs(node) if segments else ()):
                isVisible, color = segments[each]
                display.SetSegmentVisibility(each, isVisible)
                if color[0] < 0:
                    display.UnsetSegmentOverrideColor(each)
                else:
                    display.SetSegmentOverrideColor(each, *color)


def showOutlines(outlines: Mapping, scene) -> None:
    """Show only some segments as outlines in the slice views, until restoreOthers().

    outlines: by segmentation display node the colors, RGB in [0, 1] or None for its own, by segment ID. What has no
    display node, None, is not shown.
    """
    for display, colors in outlines.items():
        if display is None:
            continue
        before, looks = display.GetAttribute(HIDDEN_ATTRIBUTE), {}
        segments = display.GetDisplayableNode().GetSegmentation().GetSegmentIDs()
        with oneChange(display):
            if before in (None, HIDDEN_ALONE):
                looks = {name: getattr(display, f"Get{name}")() for name in LOOK}
                looks["Visibility"] = looks["Visibility"] or before == HIDDEN_ALONE
                looks["segments"] = {
                    each: [display.GetSegmentVisibility(each), list(display.GetSegmentOverrideColor(each))]
                    for each in segments
                }
                display.SetAttribute(HIDDEN_ATTRIBUTE, json.dumps(looks))
            display.SetVisibility(True)
            display.SetVisibility3D(False)
            display.SetVisibility2DFill(False)
            display.SetVisibility2DOutline(True)
            display.SetSliceIntersectionThickness(THICKNESS)
            for each in segments:
                display.SetSegmentVisibility(each, each in colors)
                if colors.get(each) is not None:
                    display.SetSegmentOverrideColor(each, *colors[each])


def showLines(surfaces: Mapping[str, vtkPolyData], scene, in2D=REFERENCE_AND_TEST, in3D: bool = False) -> None:
    """Show surfaces, RAS mm by side, in the slice views for the sides in2D, and perhaps in 3D; remove the others."""
    found = _ours(scene)
    for side in REFERENCE_AND_TEST:
        model = found.get(side)
        if side not in surfaces:
            removeNodes([model] if model is not None else [], scene)
            continue
        if model is None:
            model = _hiddenNode("vtkMRMLModelNode", side, scene)
            display = model.GetDisplayNode()
            display.SetColor(*rgb(COMPARED[side]))
            display.SetOpacity(OPACITY[side])
            display.SetSliceIntersectionThickness(THICKNESS)
        if model.GetPolyData() is not surfaces[side]:
            model.SetAndObservePolyData(surfaces[side])
        display = model.GetDisplayNode()
        with oneChange(display):
            display.SetVisibility(True)
            display.SetVisibility2D(side in in2D)
            display.SetVisibility3D(in3D)


def showPoint(position, scene) -> None:
    """Mark a place, LPS mm, in all views; None removes the mark."""
    node = _ours(scene).get(POINT)
    if position is None:
        removeNodes([node] if node is not None else [], scene)
        return
    if node is None:
        with placingKept(scene):
            node = _hiddenNode("vtkMRMLMarkupsFiducialNode", POINT, scene)
        display = node.GetDisplayNode()
        display.SetSelectedColor(*rgb(POINT_COLOR))
        display.SetGlyphTypeFromString("CrossDot2D")
        display.SetPointLabelsVisibility(False)
        display.SetPropertiesLabelVisibility(False)
        display.SetOccludedVisibility(True)
        display.SetSliceProjection(True)  # the slices go through the middle of the patch, not through its tip
        node.SetLocked(True)
    node.RemoveAllControlPoints()
    node.AddControlPoint(*inRas(position).tolist())


def showExtent(low, high, scene) -> None:
    """Give slice views without an image, whose sliders are wrong, an empty label map between two corners, LPS mm."""
    bare, node = [], _ours(scene).get(EXTENT)
    for composite in nodesOf(scene, "vtkMRMLSliceCompositeNode"):
        labels = scene.GetNodeByID(composite.GetLabelVolumeID() or "")
        if not composite.GetBackgroundVolumeID() and labels in (None, node):
            bare.append(composite)
    if not bare:
        return
    size = np.maximum(np.asarray(high) - low, 1.0)
    spacing = np.maximum(size / MOST_VOXELS, 1.0)
    node = node or _hiddenNode("vtkMRMLLabelMapVolumeNode", EXTENT, scene)
    image = vtkImageData()
    image.SetDimensions(*(np.ceil(size / spacing).astype(int) + 1).tolist())
    image.AllocateScalars(VTK_UNSIGNED_CHAR, 1)
    image.GetPointData().GetScalars().Fill(0)
    node.SetAndObserveImageData(image)
    node.SetSpacing(*spacing.tolist())
    node.SetIJKToRASDirections(-1, 0, 0, 0, -1, 0, 0, 0, 1)
    node.SetOrigin(*inRas(low).tolist())
    for composite in bare:
        composite.SetLabelVolumeID(node.GetID())


def removeLines(scene) -> None:
    """Remove the lines, the mark and the empty label map from the scene."""
    found = _ours(scene)
    for composite in nodesOf(scene, "vtkMRMLSliceCompositeNode") if EXTENT in found else ():
        if composite.GetLabelVolumeID() == found[EXTENT].GetID():
            composite.SetLabelVolumeID(None)
    removeNodes(found.values(), scene)


def _ours(scene) -> dict:
    """Return the nodes that are drawn here, by what they show."""
    return {what: node for node in scene.GetNodes() if (what := node.GetAttribute(SIDE_ATTRIBUTE))}


def _hiddenNode(className: str, what: str, scene):
    """Return a new node that nobody sees in lists of nodes and that is never saved."""
    import slicer

    node = getattr(slicer, className)()
    node.SetName(f"Segment Metrics: {what}")
    node.SetHideFromEditors(True)  # before it is added, otherwise it gets an item in the Data module
    node.SetSaveWithScene(False)
    node.SetAttribute(SIDE_ATTRIBUTE, what)
    node = scene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    node.GetDisplayNode().SetSaveWithScene(False)
    return node


def _displayNodes(scene) -> list:
    return [node for node in scene.GetNodes() if any(map(node.IsA, HIDDEN))]


def chooseInEditor(segmentationNode, segment: str, scene) -> None:
    """Let Segment Editor edit a segment on the image in the views when it is opened, not the first of the scene."""
    node = scene.GetSingletonNode("SegmentEditor", "vtkMRMLSegmentEditorNode")
    if node is None:
        import slicer

        node = slicer.vtkMRMLSegmentEditorNode()
        node.SetSingletonTag("SegmentEditor")
        node = scene.AddNode(node)
    shown = shownVolumes(scene)
    # one after the other, because with another segmentation the editor takes the first segment and another image
    node.SetAndObserveSegmentationNode(segmentationNode)
    for image in shown[:1]:
        node.SetAndObserveSourceVolumeNode(image)
    node.SetSelectedSegmentID(segment)
