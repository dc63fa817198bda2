"""The hazard around critical structures as a volume over the image in the slice views."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from ..base.errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from ..show.maps import Coloring, requireHazard
from . import colors, folders, outputs
from .folders import nameResult, resultNode
from .nodes import nodesOf, oneChange, requireComparison

# lower values are transparent, so that the underlying image remains unchanged
LEAST_SHOWN = 0.01
# On the composite nodes of slice views: the foreground before, and its opacity.
BEFORE_REFERENCE, OPACITY_ATTRIBUTE = "SegmentMetrics.Foreground", "SegmentMetrics.ForegroundOpacity"
OPACITY = 0.6


def showHazard(comparison, *, volumeNode=None, scene=None):
    """Show the hazard around a comparison's critical structures and return its vtkMRMLScalarVolumeNode.

    The volume covers the part of the evaluated grid that has any hazard; values are in [0, 1]. It has the same colors
    as hazard on distance maps and is transparent where there is none. To show it, choose it as the foreground of the
    slice views.

    Parameters
    ----------
    comparison, volumeNode, scene
        As for showTable.

    Returns
    -------
    vtkMRMLScalarVolumeNode

    Raises
    ------
    ValueError
        If there is no hazard to show.
    """
    requireComparison(comparison)
    requireHazard(comparison)
    field = comparison.hazard
    if not field.values.size:
        raise InputError("There is no hazard to show: the critical structures are too far away from the image.")
    image = vtkImageData()
    image.SetDimensions(*field.values.shape[::-1])
    scalars = numpy_to_vtk(np.ascontiguousarray(field.values, np.float32).ravel(), deep=True)
    scalars.SetName("Hazard")
    image.GetPointData().SetScalars(scalars)
    high = field.low + field.values.shape[::-1] - 1
    matrix = vtkMatrix4x4()
    matrix.DeepCopy((RAS_FROM_LPS @ field.grid.resize(field.low, high).matrix).ravel())
    kind, name = "vtkMRMLScalarVolumeNode", f"{outputs.pairName(comparison)}: hazard"
    with resultNode(kind, comparison, "hazard", name, scene=scene, given=volumeNode) as node:
        node.SetIJKToRASMatrix(matrix)
        node.SetAndObserveImageData(image)
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    if display.GetColorNode() is None or not display.GetColorNode().GetAttribute(colors.COLORS_ATTRIBUTE):
        coloring = Coloring("hazard", 1.0, 1.0, True)
        colorNode = node.GetScene().AddNewNodeByClass("vtkMRMLProceduralColorNode")
        nameResult(colorNode, f"{node.GetName()} (colors)")
        colors.fillColorNode(colorNode, "hazard", coloring.legend.palette, coloring.ends)
        with oneChange(display):
            display.SetAndObserveColorNodeID(colorNode.GetID())
            display.SetAutoWindowLevel(False)
            display.SetWindowLevelMinMax(*coloring.ends)
            display.SetAutoThreshold(False)
            display.SetThreshold(LEAST_SHOWN, coloring.ends[1])
            display.SetApplyThreshold(True)
    folders.removeUnusedColors(node.GetScene())
    return node


def showOver(volumeNode, scene) -> None:
    """Show a volume as the foreground of all slice views; None restores the one before where it is still shown."""
    for composite in nodesOf(scene, "vtkMRMLSliceCompositeNode"):
        opacity, shown = composite.GetAttribute(OPACITY_ATTRIBUTE), composite.GetForegroundVolumeID()
        if volumeNode is not None and shown != volumeNode.GetID():
            if opacity is None:
                composite.SetNodeReferenceID(BEFORE_REFERENCE, shown)
                composite.SetAttribute(OPACITY_ATTRIBUTE, str(composite.GetForegroundOpacity()))
            composite.SetForegroundVolumeID(volumeNode.GetID())
            composite.SetForegroundOpacity(OPACITY)
        elif volumeNode is None and opacity is not None:
            node = scene.GetNodeByID(shown or "")
            if node is None or folders.isResult(node, "hazard"):
                composite.SetForegroundVolumeID(composite.GetNodeReferenceID(BEFORE_REFERENCE))
                composite.SetForegroundOpacity(float(opacity))
            composite.RemoveAttribute(OPACITY_ATTRIBUTE)
            composite.SetNodeReferenceID(BEFORE_REFERENCE, None)
