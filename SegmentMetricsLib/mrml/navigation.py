"""Bringing a place into view: all slice views and the 3D cameras."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from .headless import ensureScene
from .views import viewAxes

# How far a camera stands from the place, in mm: a user's zoom within these limits stays.
NEAREST = 120.0
FARTHEST = 350.0
# The columns of a table of slices that say where to look, RAS in mm.
PLACE_COLUMNS = ("R", "A", "S")


def jumpTo(
    position: Sequence[float], normal: Sequence[float] | None = None, scene=None, cameras: Iterable | None = None
) -> None:
    """Bring a place into the middle of the 3D views and into the slices of all slice views.

    Slice views keep their pan and zoom. 3D views look at the place from outside.
    position: LPS, mm. normal: outward normal (LPS) of the organ there, of any length; None or zero keeps the direction
    that a camera looks in. scene: None is Slicer's. cameras: the vtkMRMLCameraNodes to move, None takes those of all
    views of the scene.
    """
    import slicer

    scene = ensureScene() if scene is None else scene
    point = _ras(position)
    slicer.vtkMRMLSliceNode.JumpAllSlices(scene, *point.tolist(), slicer.vtkMRMLSliceNode.OffsetJumpSlice)
    outward = None if normal is None or not np.any(normal) else _ras(normal)
    for camera in camerasOf(scene) if cameras is None else cameras:
        lookAt(camera, point, outward)


def jumpToSlice(node, row: int, scene=None) -> tuple[float, float, float]:
    """Bring a slice of a per-slice profile into all slice views and return the place shown, LPS in mm.

    They go to where the two contours differ most in that slice; 3D views stay. node: the vtkMRMLPlotSeriesNode or the
    vtkMRMLTableNode that showSlices made, also one that was loaded with a scene. row: number of the point in the plot,
    which is that of the row in the table. scene: None is the node's. Raises ValueError for other nodes and numbers.
    """
    tableNode = node.GetTableNode() if node.IsA("vtkMRMLPlotSeriesNode") else node
    table = tableNode.GetTable() if tableNode is not None and tableNode.IsA("vtkMRMLTableNode") else None
    if table is None or any(table.GetColumnByName(column) is None for column in PLACE_COLUMNS):
        raise InputError(f"{node.GetName()} does not show slices.")
    if not 0 <= row < table.GetNumberOfRows():
        raise InputError(f"There is no slice {row}; there are {table.GetNumberOfRows()}.")
    point = np.array([table.GetValueByName(row, column).ToDouble() for column in PLACE_COLUMNS])
    position = tuple(_ras(point).tolist())  # the matrix is its own inverse
    jumpTo(position, scene=node.GetScene() if scene is None else scene, cameras=())
    return position


def camerasOf(scene) -> list:
    """Return the camera nodes of a scene that belong to one of its 3D views."""
    nodes = list(scene.GetNodes())
    layouts = {node.GetLayoutName() for node in nodes if node.IsA("vtkMRMLViewNode")}
    return [node for node in nodes if node.IsA("vtkMRMLCameraNode") and node.GetLayoutName() in layouts]


def lookAt(camera, point: np.ndarray, toward: np.ndarray | None = None) -> None:
    """Turn a camera node to a point (3,) RAS, in mm. toward: from the point to the viewer; None keeps that."""
    away = np.array(camera.GetPosition()) - camera.GetFocalPoint()
    distance = np.linalg.norm(away)
    if toward is None:
        toward, up = away, np.array(camera.GetViewUp())
    else:
        up = viewAxes(toward)[1]
    if not np.any(toward):  # a camera that stands where it looks
        toward, up = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    distance = float(np.clip(distance, NEAREST, FARTHEST))
    wasModifying = camera.StartModify()
    camera.SetFocalPoint(*point.tolist())
    camera.SetPosition(*(point + distance * toward / np.linalg.norm(toward)).tolist())
    camera.SetViewUp(*up.tolist())
    if camera.GetParallelProjection():
        # how much is seen then depends on the scale: as much as in perspective from between the limits
        perMillimeter = np.tan(np.radians(camera.GetViewAngle()) / 2)
        scale = np.clip(camera.GetParallelScale(), NEAREST * perMillimeter, FARTHEST * perMillimeter)
        camera.SetParallelScale(float(scale))
    camera.EndModify(wasModifying)
    camera.ResetClippingRange()


def _ras(vector: Sequence[float]) -> np.ndarray:
    return RAS_FROM_LPS[:3, :3] @ np.asarray(vector, dtype=float)
