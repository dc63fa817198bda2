"""Positions in the patient as texts."""

from __future__ import annotations

from collections.abc import Iterable

# Sides of the patient toward which the LPS axes point, the negative direction first.
LETTERS_OF_AXES = (("R", "L"), ("A", "P"), ("I", "S"))


def positionText(position: Iterable[float]) -> str:
    """Return a position (3,), LPS in mm, as Slicer's views show it: R or L, A or P, S or I, and millimeters."""
    return " ".join(coordinateText(value, axis) for value, axis in zip(position, range(3), strict=True))


def coordinateText(value: float, axis: int, decimals: int = 0) -> str:
    """Return a coordinate of an LPS axis in mm as Slicer's views show it: R or L, A or P, S or I, and millimeters."""
    # half millimeters are common on lattices: noise in the last digit, as of a saved scene, must not affect rounding
    return f"{LETTERS_OF_AXES[axis][int(value > 0)]} {abs(value) + 1e-6:.{decimals}f}"
