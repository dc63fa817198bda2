"""Moving all slice views and 3D cameras to a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

import numpy as np

from ..base.errors import InputError
from ..show.rendering import axesToward
from .nodes import asScene, inRas, matrixArray, nodesOf, oneChange

# Limits of a camera's distance from the place in mm; the user's zoom is kept within them.
NEAREST = 40.0
FARTHEST = 350.0
# Half the size in mm that a structure is at least taken to have: a single voxel needs no larger picture.
SMALLEST = 5.0
# A slice view that shows a structure as a whole shows this many times its size.
MARGIN = 1.5
# Distance in mm from the end of what is drawn to a slice that would otherwise be empty.
INSIDE = 0.5
# The columns of a table of slices with the place to show, RAS in mm.
PLACE_COLUMNS = ("R", "A", "S")


def jumpTo(
    position: Sequence[float], *, normal: Sequence[float] | None = None, scene=None, cameras: Iterable | None = None
) -> None:
    """Center the 3D views on a place and move all slice views to it.

    Slice views keep their zoom, and their pan unless the place would be out of sight. 3D views look at the place from
    outside.

    Parameters
    ----------
    position : Sequence[float]
        The place in LPS, mm.
    normal : Sequence[float] | None, optional
        Outward normal (LPS) of the surface at the place, of any length; None or zero keeps each camera's viewing
        direction.
    scene : optional
        None means Slicer's scene.
    cameras : Iterable | None, optional
        The vtkMRMLCameraNodes to move; None moves those of all 3D views in the scene.
    """
    import slicer

    scene = asScene(scene)
    point = _coordinates(position, "position")
    slicer.vtkMRMLSliceNode.JumpAllSlices(scene, *point.tolist(), slicer.vtkMRMLSliceNode.OffsetJumpSlice)
    for node in sliceNodesOf(scene):
        offset = np.linalg.solve(matrixArray(node.GetSliceToRAS()), [*point, 1])[:2] - node.GetXYZOrigin()[:2]
        if (np.abs(offset) > np.array(node.GetFieldOfView()[:2]) / 2).any():  # out of sight
            node.JumpSliceByCentering(*point.tolist())
    outward = None if normal is None else _coordinates(normal, "normal")
    for camera in camerasOf(scene) if cameras is None else cameras:
        lookAt(camera, point, outward)


def frame(
    box: tuple[Sequence[float], Sequence[float]],
    place: Sequence[float] | None = None,
    *,
    normal: Sequence[float] | None = None,
    drawn: np.ndarray | None = None,
    scene,
) -> None:
    """Show a box as a whole in all views: the slice views through a place, the 3D views from the side it lies on.

    box: the lowest and the highest LPS coordinates (3,) in mm. place: LPS, mm; None is the middle of the box. drawn:
    points (n, 3), LPS mm, of the surfaces that are drawn: a slice beside all of them moves to the nearest one that is
    not empty.
    """
    low, high = (_coordinates(corner, "corner of a box") for corner in box)
    corners = np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(-1, 3)
    middle = (low + high) / 2
    point = middle if place is None else _coordinates(place, "place")
    for node in sliceNodesOf(scene):
        _frameInSlice(node, corners, point, drawn)
    outward = None if normal is None else _coordinates(normal, "normal")
    radius = max(float(np.linalg.norm(high - low)) / 2, SMALLEST)
    for camera in camerasOf(scene):
        lookAt(camera, middle, outward, radius)


def _frameInSlice(node, corners: np.ndarray, point: np.ndarray, drawn: np.ndarray | None) -> None:
    """Move a slice node to a point; center and zoom it so that the box with these corners (8, 3) is seen."""
    toRas = matrixArray(node.GetSliceToRAS())[:3, :3]
    axes = toRas / np.linalg.norm(toRas, axis=0)  # columns: right, up and normal of the slice
    middle = corners.mean(axis=0)
    position = float(axes[:, 2] @ point)
    if drawn is not None and len(drawn):
        along = drawn @ inRas(axes[:, 2])
        low, high = float(along.min()), float(along.max())
        if not low < position < high:
            inside = min(INSIDE, (high - low) / 2)
            position = float(np.clip(position, low + inside, high - inside))
    center = middle + axes[:, 2] * (position - float(axes[:, 2] @ middle))
    width, height = np.maximum(np.ptp(corners @ axes[:, :2], axis=0), 2 * SMALLEST)
    columns, rows = node.GetDimensions()[:2]
    with oneChange(node):
        node.JumpSliceByCentering(*center.tolist())
        if columns > 0 and rows > 0:  # else it has never been drawn
            visible = MARGIN * max(width, height * columns / rows)
            node.SetFieldOfView(visible, visible * rows / columns, node.GetFieldOfView()[2])


def sliceNodesOf(scene) -> list:
    """Return the nodes of the slice views that the layout shows, or of all of them if there is no layout."""
    nodes = nodesOf(scene, "vtkMRMLSliceNode")
    return [node for node in nodes if node.IsMappedInLayout()] or nodes


def viewState(scene) -> dict:
    """Return where all slice views and cameras look, by node ID, for isSameView() and setViewState().

    The zoom of slice views, which follows their size, is told apart.
    """
    state: dict[str, tuple[tuple, tuple]] = {}
    for node in sliceNodesOf(scene):
        looks: tuple = node.GetSliceToRAS().GetData(), node.GetXYZOrigin()
        state[node.GetID()] = looks, (node.GetFieldOfView(), node.GetDimensions()[:2])
    for camera in camerasOf(scene):
        looks = camera.GetPosition(), camera.GetFocalPoint(), camera.GetViewUp(), camera.GetParallelScale()
        state[camera.GetID()] = looks, ()
    return state


def isSameView(first: dict, second: dict) -> bool:
    """Return whether two states look at the same place, whatever the zoom of slice views."""
    return {key: looks for key, (looks, _) in first.items()} == {key: looks for key, (looks, _) in second.items()}


def setViewState(state: dict, scene) -> None:
    """Let slice views and cameras look where they did for viewState(); one of another size shows at least as much."""
    for identifier, (looks, zoom) in state.items():
        node = scene.GetNodeByID(identifier)
        if node is not None and node.IsA("vtkMRMLSliceNode"):
            (toRas, origin), ((width, height, depth), size) = looks, zoom
            with oneChange(node):
                node.GetSliceToRAS().DeepCopy(toRas)
                columns, rows = node.GetDimensions()[:2]
                if (columns, rows) != size and columns > 0 and rows > 0:
                    width = max(width, height * columns / rows)
                    height = width * rows / columns
                node.SetFieldOfView(width, height, depth)
                node.SetXYZOrigin(*origin)
                node.UpdateMatrices()
        elif node is not None:
            _aim(node, *looks)


def _aim(camera, position, focalPoint, up, scale: float) -> None:
    with oneChange(camera):
        camera.SetFocalPoint(*focalPoint)
        camera.SetPosition(*position)
        camera.SetViewUp(*up)
        camera.SetParallelScale(float(scale))
    camera.ResetClippingRange()


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
        None means the node's scene.

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
    position = tuple(inRas(point).tolist())
    jumpTo(position, scene=node.GetScene() if scene is None else scene, cameras=())
    return position


def camerasOf(scene) -> list:
    """Return the camera nodes that belong to the 3D views of a scene."""
    layouts = {node.GetLayoutName() for node in nodesOf(scene, "vtkMRMLViewNode")}
    return [node for node in nodesOf(scene, "vtkMRMLCameraNode") if node.GetLayoutName() in layouts]


def lookAt(camera, point: np.ndarray, toward: np.ndarray | None = None, radius: float | None = None) -> None:
    """Aim a camera node at a point (3,), RAS in mm, so that a radius around it is visible, if there is one.

    toward: from the point to the viewer; None or zero keeps the direction.
    """
    away = np.array(camera.GetPosition()) - camera.GetFocalPoint()
    distance = float(np.linalg.norm(away))
    if toward is None or not np.any(toward):
        toward, up = away, np.array(camera.GetViewUp())
    else:
        up = -inRas(axesToward(inRas(toward))[1])
    if not np.any(toward):  # the camera is at its own focal point
        toward, up = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    halfAngle, scale = np.radians(camera.GetViewAngle()) / 2, camera.GetParallelScale()
    distance = float(np.clip(distance, NEAREST, FARTHEST)) if radius is None else radius / float(np.sin(halfAngle))
    if radius is not None:
        scale = radius
    elif camera.GetParallelProjection():
        # in parallel projection the scale determines the visible extent: limit it to the same extents as in perspective
        scale = np.clip(scale, NEAREST * np.tan(halfAngle), FARTHEST * np.tan(halfAngle))
    _aim(camera, (point + distance * toward / np.linalg.norm(toward)).tolist(), point.tolist(), up.tolist(), scale)


def _coordinates(given, what: str) -> np.ndarray:
    """Return the three finite coordinates, LPS, of an argument in RAS. Raises InputError for anything else."""
    try:
        vector = np.asarray(given, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"The {what} must be three numbers, not {given!r}.")
    return inRas(vector)
