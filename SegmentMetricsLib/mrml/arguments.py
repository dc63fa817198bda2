"""Checks of the arguments that scripts give: comparisons, nodes and scenes."""

from __future__ import annotations

from ..errors import InputError
from .headless import ensureScene


def asScene(given):
    """Return the scene to show results in: the given one, or Slicer's for None. Raises InputError for anything else."""
    if given is None:
        return ensureScene()
    _requireClass(given, "vtkMRMLScene", "The scene")
    return given


def asNode(given, className: str, what: str):
    """Return the node to fill, or None for None. Raises InputError unless it is of the class. what: in the message."""
    if given is not None:
        _requireClass(given, className, f"The {what}")
    return given


def requireComparison(given, hint: str = "") -> None:
    """Raise InputError for anything but the result of a comparison. hint: on what to do with several of them."""
    if not hasattr(given, "measurements"):
        isMany = isinstance(given, (list, tuple)) and any(hasattr(one, "measurements") for one in given)
        what = "one comparison" if isMany else "a comparison"
        more = hint or "choose one, as in comparisons[0]"
        raise InputError(f"This shows {what}, not {type(given).__name__}{f': {more}' if isMany else ''}.")


def _requireClass(given, className: str, what: str) -> None:
    if not hasattr(given, "IsA") or not given.IsA(className):
        kind = given.GetClassName() if hasattr(given, "GetClassName") else type(given).__name__
        raise InputError(f"{what} must be a {className}, not {kind}.")
