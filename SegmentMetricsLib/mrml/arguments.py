"""Checks of the arguments that scripts give: comparisons, nodes and scenes."""

from __future__ import annotations

from ..base.errors import InputError
from .headless import ensureScene


def asScene(given):
    """Return the scene to show results in: the given one, or Slicer's for None. Raises InputError for anything else."""
    if given is None:
        return ensureScene()
    _requireClass(given, "vtkMRMLScene", "The scene")
    return given


def asNode(given, className: str):
    """Return the node to fill, or None for None. Raises InputError unless it is of the class."""
    if given is not None:
        _requireClass(given, className, "The node to fill")
    return given


def requireComparison(given, hint: str = "choose one, as in comparisons[0]") -> None:
    """Raise InputError for anything but the result of a comparison. hint: on what to do with several of them."""
    if isinstance(given, (list, tuple)) and any(hasattr(one, "reference") for one in given):
        raise InputError(f"One comparison is needed here, not several: {hint}.")
    if not hasattr(given, "reference"):  # a Comparison, or what stands for one
        kind = given.GetClassName() if hasattr(given, "GetClassName") else type(given).__name__
        raise InputError(f"A comparison is needed here, not {kind}.")


def _requireClass(given, className: str, what: str) -> None:
    if not hasattr(given, "IsA") or not given.IsA(className):
        kind = given.GetClassName() if hasattr(given, "GetClassName") else type(given).__name__
        raise InputError(f"{what} must be a {className}, not {kind}.")
