"""The hazard around critical structures as a volume to overlay on the image in the slice views."""

from __future__ import annotations

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from ..base.errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from ..show.maps import Coloring, requireHazard
from . import colors, folders, outputs
from .arguments import asScene, requireComparison
from .resultnodes import nameResult, resultNode

# lower values are transparent, so that the underlying image remains unchanged
LEAST_SHOWN = 0.01


def showHazard(comparison, *, volumeNode=None, scene=None):
    """Show the hazard around a comparison's critical structures and return its vtkMRMLScalarVolumeNode.

    The volume covers the part of the evaluated grid that has any hazard; values are in [0, 1]. It has the same colors
    as hazard on distance maps and is transparent where there is none. To show it, choose it as the foreground of the
    slice views.

    Parameters
    ----------
    comparison
        The comparison to show.
    volumeNode : optional
        The node to fill; None reuses the node of an earlier run of the same pair or creates one.
    scene : optional
        None is Slicer's.

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
    scene = asScene(scene)
    image = vtkImageData()
    image.SetDimensions(*field.values.shape[::-1])
    scalars = numpy_to_vtk(np.ascontiguousarray(field.values, np.float32).ravel(), deep=True)
    scalars.SetName("Hazard")
    image.GetPointData().SetScalars(scalars)
    high = field.low + field.values.shape[::-1] - 1
    matrix = vtkMatrix4x4()
    matrix.DeepCopy((RAS_FROM_LPS @ field.grid.resized(field.low, high).matrix).ravel())
    kind, name = "vtkMRMLScalarVolumeNode", f"{outputs.pairName(comparison)}: hazard"
    with resultNode(kind, comparison, "hazard", name, scene=scene, given=volumeNode) as node:
        node.SetIJKToRASMatrix(matrix)
        node.SetAndObserveImageData(image)
    _color(node)
    folders.removeUnusedColors(scene)
    return node


def _color(node) -> None:
    """Set the colors of the volume node, unless it has them already, so that changes by the user are kept."""
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    colorNode = display.GetColorNode()
    if colorNode is not None and colorNode.GetAttribute(colors.COLORS_ATTRIBUTE):
        return
    coloring = Coloring("hazard", 1.0, 1.0, True)
    colorNode = node.GetScene().AddNewNodeByClass("vtkMRMLProceduralColorNode")
    nameResult(colorNode, f"{node.GetName()} (colors)")
    colors.fillColorNode(colorNode, coloring)
    wasModifying = display.StartModify()
    display.SetAndObserveColorNodeID(colorNode.GetID())
    display.SetAutoWindowLevel(False)
    display.SetWindowLevelMinMax(*coloring.ends)
    display.SetAutoThreshold(False)
    display.SetThreshold(LEAST_SHOWN, coloring.ends[1])
    display.SetApplyThreshold(True)
    display.EndModify(wasModifying)
