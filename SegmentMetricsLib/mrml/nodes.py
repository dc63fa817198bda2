"""Scenes and nodes: those that scripts give, changes that are one event, and arrays of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk

from ..base.errors import InputError
from ..geometry.grids import RAS_FROM_LPS
from .headless import ensureScene


def asScene(given):
    """Return the scene to show results in: the given one, or Slicer's for None. Raises InputError for anything else."""
    return ensureScene() if given is None else asNode(given, "vtkMRMLScene", "The scene")


def asNode(given, className: str, what: str = "The node to fill"):
    """Return a given node, or None for None. Raises InputError unless it is of the class."""
    if given is not None and not (hasattr(given, "IsA") and given.IsA(className)):
        raise InputError(f"{what} must be a {className}, not {_kindOf(given)}.")
    return given


def requireComparison(given, hint: str = "choose one, as in comparisons[0]") -> None:
    """Raise InputError for anything but the result of a comparison. hint: on what to do with several of them."""
    if isinstance(given, (list, tuple)) and any(hasattr(one, "reference") for one in given):
        raise InputError(f"One comparison is needed here, not several: {hint}.")
    if not hasattr(given, "reference"):  # a Comparison, or what stands for one
        raise InputError(f"A comparison is needed here, not {_kindOf(given)}.")


def _kindOf(given) -> str:
    return given.GetClassName() if hasattr(given, "GetClassName") else type(given).__name__


@contextmanager
def oneChange(node) -> Iterator[None]:
    """Let a node tell about all changes within this block at once."""
    wasModifying = node.StartModify()
    try:
        yield
    finally:
        node.EndModify(wasModifying)


def nodesOf(scene, className: str) -> list:
    """Return the nodes of a class; the scene's own lookup by class goes through all nodes for every one of them."""
    return [node for node in scene.GetNodes() if node.IsA(className)]


def inRas(position) -> np.ndarray:
    """Return a position or a direction (3,) in RAS instead of LPS, or the other way round."""
    return RAS_FROM_LPS[:3, :3] @ np.asarray(position, float)


def addToPoints(polyData, name: str, values: np.ndarray) -> None:
    """Add numbers to the points of a polydata, in double precision."""
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=float), deep=True)
    array.SetName(name)
    polyData.GetPointData().AddArray(array)


def matrixArray(matrix) -> np.ndarray:
    """Return a vtkMatrix4x4 as an array (4, 4)."""
    return np.reshape(matrix.GetData(), (4, 4))


def segmentIDs(node) -> Sequence[str]:
    """Return the IDs of the segments of a segmentation node, none of None and of a node without a segmentation."""
    return () if node is None or node.GetSegmentation() is None else node.GetSegmentation().GetSegmentIDs()
