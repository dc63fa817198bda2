"""Showing a result over the image in the slice views, and restoring the previous foreground."""

from __future__ import annotations

from .folders import isResult

# on the composite nodes of slice views: the previous foreground and its opacity
BEFORE_REFERENCE = "SegmentMetrics.Foreground"
OPACITY_ATTRIBUTE = "SegmentMetrics.ForegroundOpacity"
OPACITY = 0.6


def showOver(volumeNode, scene) -> None:
    """Show a volume node of results as the foreground of all slice views; None restores the previous foreground.

    Slice views whose foreground was changed meanwhile are not restored.
    """
    for composite in scene.GetNodes():
        if not composite.IsA("vtkMRMLSliceCompositeNode"):
            continue
        if volumeNode is None:
            _hide(composite, scene)
        else:
            _show(composite, volumeNode)


def _show(composite, volumeNode) -> None:
    if composite.GetForegroundVolumeID() == volumeNode.GetID():
        return
    if composite.GetAttribute(OPACITY_ATTRIBUTE) is None:
        composite.SetNodeReferenceID(BEFORE_REFERENCE, composite.GetForegroundVolumeID())
        composite.SetAttribute(OPACITY_ATTRIBUTE, str(composite.GetForegroundOpacity()))
    composite.SetForegroundVolumeID(volumeNode.GetID())
    composite.SetForegroundOpacity(OPACITY)


def _hide(composite, scene) -> None:
    opacity = composite.GetAttribute(OPACITY_ATTRIBUTE)
    if opacity is None:
        return
    shown = scene.GetNodeByID(composite.GetForegroundVolumeID() or "")
    if shown is None or isResult(shown, "hazard"):
        composite.SetForegroundVolumeID(composite.GetNodeReferenceID(BEFORE_REFERENCE))
        composite.SetForegroundOpacity(float(opacity))
    composite.RemoveAttribute(OPACITY_ATTRIBUTE)
    composite.SetNodeReferenceID(BEFORE_REFERENCE, None)
