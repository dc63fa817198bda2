"""Over- and under-contouring of a pair, also with empty structures, shared by its signed measurements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...analysis import facing
from ...base.errors import Undefined
from ...comparison.values import Located
from ...model.structures import BOTH_EMPTY
from . import formulas as signed

if TYPE_CHECKING:
    from ...comparison.workspace import Workspace


def towardSides(pair: Workspace) -> dict[str, signed.Side]:
    """Return the signed distances of the boundary that faces each side of the patient, by its letter."""
    # numbers of the whole boundary come first: what they need is freed before single elements take as much memory
    over, under = pair.once(largest, True).value, pair.once(largest, False).value
    if pair.isLarge:
        pair.signedDistances.forget()
    return signed.bySide(pair.signedDistances, pair.boundaries, over, under)


def emptinessToward(pair: Workspace, side: str) -> str:
    """Return the pair's emptiness. Raises Undefined if it does not matter, as no part of a contour faces the side.

    The reason is then the same as without an empty structure. Closed surfaces in space face all sides.
    """
    if pair.emptiness and pair.emptiness != BOTH_EMPTY and pair.dimension == 2:
        signed.requireFaced(pair.once(_facedSides), side)
    return pair.emptiness


def _facedSides(pair: Workspace) -> frozenset[str]:
    """Return the sides faced by the structure that is not empty."""
    return facing.facedSides(next(structure for structure in pair.structures if not structure.isEmpty).surface)


def largest(pair: Workspace, over: bool) -> Located:
    """Return the largest over- or under-contouring of a pair without an empty structure."""
    return signed.largest(pair.signedDistances, over)


def fractionOutside(pair: Workspace, tolerance: float, over: bool) -> float:
    """Return the over- or under-contoured fraction of both boundaries, 0 or 1 if one structure is empty."""
    _requireAny(pair)
    if pair.emptiness:
        return float(over == pair.reference.isEmpty)
    return signed.fractionBeyond(pair.signedDistances, tolerance, 1 if over else -1)


def largestOutside(pair: Workspace, over: bool) -> Located:
    """Return the largest over- or under-contouring, 0 or infinite if one structure is empty."""
    _requireAny(pair)
    if pair.emptiness:
        return Located(math.inf if over == pair.reference.isEmpty else 0.0, None)
    return pair.once(largest, over)


def volumeOutside(pair: Workspace, over: bool) -> float:
    """Return the volume in mm3 (area in mm2) that only the test (over) or only the reference encloses."""
    if pair.emptiness:
        return pair.voxelVolume(1 if over else 0)
    counts = pair.crispCounts
    number = counts.falsePositive if over else counts.falseNegative
    return number * (pair.overlapGrid.grid.voxelSize if counts.unit == "voxel" else 1.0)


def _requireAny(pair: Workspace) -> None:
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
