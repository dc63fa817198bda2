"""Moving all slice views and 3D cameras to a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

import numpy as np

from ..base.errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from .arguments import asScene
from .views import viewAxes

# Limits of a camera's distance from the place in mm; the user's zoom is kept within them.
NEAREST = 120.0
FARTHEST = 350.0
# The columns of a table of slices with the place to show, RAS in mm.
PLACE_COLUMNS = ("R", "A", "S")


def jumpTo(
    position: Sequence[float], *, normal: Sequence[float] | None = None, scene=None, cameras: Iterable | None = None
) -> None:
    """Center the 3D views on a place and move all slice views to it.

    Slice views keep their pan and zoom. 3D views look at the place from outside.

    Parameters
    ----------
    position : Sequence[float]
        LPS, mm.
    normal : Sequence[float] | None, optional
        Outward normal (LPS) of the surface at the place, of any length; None or zero keeps each camera's viewing
        direction.
    scene : optional
        None is Slicer's.
    cameras : Iterable | None, optional
        The vtkMRMLCameraNodes to move; None moves those of all 3D views in the scene.
    """
    import slicer

    scene = asScene(scene)
    point = _ras(_coordinates(position, "position"))
    slicer.vtkMRMLSliceNode.JumpAllSlices(scene, *point.tolist(), slicer.vtkMRMLSliceNode.OffsetJumpSlice)
    if normal is not None:
        normal = _coordinates(normal, "normal")
    outward = None if normal is None or not np.any(normal) else _ras(normal)
    for camera in camerasOf(scene) if cameras is None else cameras:
        lookAt(camera, point, outward)


def jumpToSlice(node, row: int, *, scene=None) -> tuple[float, float, float]:
    """Move all slice views to a slice of a per-slice profile and return the place shown, LPS in mm.

    The place is where the two contours differ most in that slice. 3D views do not move.

    Parameters
    ----------
    node
        The vtkMRMLPlotSeriesNode or the vtkMRMLTableNode created by showSlices, or one loaded with a scene.
    row : int
        Index of the point in the plot, which is also that of the row in the table.
    scene : optional
        None is the node's.

    Returns
    -------
    tuple[float, float, float]

    Raises
    ------
    ValueError
        For other nodes and rows.
    """
    if not hasattr(node, "IsA"):
        raise InputError(f"A plot series or a table of slices is needed, not {type(node).__name__}.")
    tableNode = node.GetTableNode() if node.IsA("vtkMRMLPlotSeriesNode") else node
    table = tableNode.GetTable() if tableNode is not None and tableNode.IsA("vtkMRMLTableNode") else None
    if table is None or any(table.GetColumnByName(column) is None for column in PLACE_COLUMNS):
        raise InputError(f"{node.GetName()} does not show slices.")
    if not isinstance(row, Integral) or not 0 <= row < table.GetNumberOfRows():
        raise InputError(f"There is no slice {row!r}; there are {table.GetNumberOfRows()}.")
    point = np.array([table.GetValueByName(row, column).ToDouble() for column in PLACE_COLUMNS])
    position = tuple(_ras(point).tolist())  # the matrix is its own inverse
    jumpTo(position, scene=node.GetScene() if scene is None else scene, cameras=())
    return position


def camerasOf(scene) -> list:
    """Return the camera nodes that belong to the 3D views of a scene."""
    nodes = list(scene.GetNodes())
    layouts = {node.GetLayoutName() for node in nodes if node.IsA("vtkMRMLViewNode")}
    return [node for node in nodes if node.IsA("vtkMRMLCameraNode") and node.GetLayoutName() in layouts]


def lookAt(camera, point: np.ndarray, toward: np.ndarray | None = None) -> None:
    """Aim a camera node at a point (3,), RAS in mm. toward: from the point to the viewer; None keeps the direction."""
    away = np.array(camera.GetPosition()) - camera.GetFocalPoint()
    distance = np.linalg.norm(away)
    if toward is None:
        toward, up = away, np.array(camera.GetViewUp())
    else:
        up = viewAxes(toward)[1]
    if not np.any(toward):  # the camera is at its own focal point
        toward, up = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    distance = float(np.clip(distance, NEAREST, FARTHEST))
    wasModifying = camera.StartModify()
    camera.SetFocalPoint(*point.tolist())
    camera.SetPosition(*(point + distance * toward / np.linalg.norm(toward)).tolist())
    camera.SetViewUp(*up.tolist())
    if camera.GetParallelProjection():
        # in parallel projection the scale determines the visible extent: limit it to the same extents as in perspective
        perMillimeter = np.tan(np.radians(camera.GetViewAngle()) / 2)
        scale = np.clip(camera.GetParallelScale(), NEAREST * perMillimeter, FARTHEST * perMillimeter)
        camera.SetParallelScale(float(scale))
    camera.EndModify(wasModifying)
    camera.ResetClippingRange()


def _coordinates(given, what: str) -> np.ndarray:
    """Return the three finite coordinates of an argument. Raises InputError for anything else."""
    try:
        vector = np.asarray(given, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"The {what} must be three numbers, not {given!r}.")
    return vector


def _ras(vector: Sequence[float]) -> np.ndarray:
    return RAS_FROM_LPS[:3, :3] @ np.asarray(vector, dtype=float)
