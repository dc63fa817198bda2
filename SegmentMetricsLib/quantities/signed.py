"""Over- and under-contouring of a pair, also of empty structures: what its signed measurements share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import Undefined
from ..metrics import facing, signed
from ..structures import BOTH_EMPTY

if TYPE_CHECKING:
    from ..pair import Pair


def towardSides(pair: Pair) -> dict[str, signed.Side]:
    """Return the signed distances of the boundary that faces each side of the patient, by its letter."""
    # single elements take as much memory as what numbers of the whole were found from, which were measured before
    over, under = pair.once(largest, True).value, pair.once(largest, False).value
    if pair.isLarge:
        pair.signedDistances.forget()
    return signed.bySide(pair.signedDistances, pair.boundaries, over, under)


def emptinessToward(pair: Pair, side: str) -> str:
    """Return which structure is empty. Raises Undefined where that does not matter: nothing of a plane faces the side.

    It is the same reason as without an empty structure. Closed surfaces in space face all sides.
    """
    if pair.emptiness and pair.emptiness != BOTH_EMPTY and pair.dimension == 2:
        signed.requireFaced(pair.once(_facedSides), side)
    return pair.emptiness


def _facedSides(pair: Pair) -> frozenset[str]:
    """Return the sides that the one structure faces that is not empty."""
    return facing.facedSides(next(structure for structure in pair.structures if not structure.isEmpty).surface)


def largest(pair: Pair, over: bool) -> signed.Located:
    """Return the largest over- or under-contouring of a pair neither structure of which is empty."""
    return signed.largest(pair.signedDistances, over)


def fractionOutside(pair: Pair, tolerance: float, over: bool) -> float:
    """Return the over- or under-contoured share of both boundaries; without a counterpart it is all or nothing."""
    _requireAny(pair)
    if pair.emptiness:
        return float(over == pair.reference.isEmpty)
    return signed.fractionBeyond(pair.signedDistances, tolerance, 1 if over else -1)


def largestOutside(pair: Pair, over: bool) -> signed.Located:
    """Return the largest over- or under-contouring; without a counterpart it is infinite or nothing."""
    _requireAny(pair)
    if pair.emptiness:
        return signed.Located(math.inf if over == pair.reference.isEmpty else 0.0, None)
    return pair.once(largest, over)


def volumeOutside(pair: Pair, over: bool) -> float:
    """Return the volume in mm3 (area in mm2) that only the test (over) or only the reference encloses."""
    if pair.emptiness:
        return pair.voxelVolume(1 if over else 0)
    counts = pair.counts
    number = counts.falsePositive if over else counts.falseNegative
    return number * (pair.overlapGrid[0].voxelSize if counts.unit == "voxel" else 1.0)


def _requireAny(pair: Pair) -> None:
    if pair.emptiness == BOTH_EMPTY:
        raise Undefined(BOTH_EMPTY)
