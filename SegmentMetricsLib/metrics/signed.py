"""Signed distances: on which side the test lies. Positive is outside the reference, that is over-contoured.

Every function takes the distances of both directions and pools both boundaries by element size.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from ..distances.bounded import Bounded, combined
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances, touching, withTies
from ..errors import Cause, Undefined
from .facing import DIRECTIONS, sideBit, sidesBelow, sidesOfReference

# Why there are no distances toward a side.
NO_BOUNDARY = "no part of the boundary faces {side}"


class Located(NamedTuple):
    """A value and the LPS position in mm where it was found, None when it stands for no place."""

    value: float
    position: tuple[float, float, float] | None


class Side(NamedTuple):
    """Signed distances in mm of the boundary toward one side of the patient: mean, largest and smallest."""

    mean: float
    largest: float
    smallest: float


class Faces(NamedTuple):
    """What of one boundary faces one side: its size in mm2 or mm, and signed distances in mm.

    high, low: the largest and the smallest that were found there, the ends of elements included.
    """

    size: float = 0.0
    mean: float = 0.0
    high: float = -math.inf
    low: float = math.inf


def mean(distances: SurfaceDistances) -> float:
    """Return the signed mean distance in mm: positive where the test is larger than the reference on the whole."""
    sizes = [direction.totalSize for direction in distances.directions]
    means = [direction.signedMean for direction in distances.directions]
    return combined(lambda *parts: sum(m * s for m, s in zip(parts, sizes)) / sum(sizes), *means)


def fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther than a tolerance in mm on one side.

    side: 1 for outside the reference, over-contoured, -1 for inside, under-contoured.
    """
    # the tie rule of the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(withTies(tolerance), side) for d in distances.directions]
    size = sum(d.totalSize for d in distances.directions)
    return combined(lambda *parts: sum(parts) / size, *beyond)


def largest(distances: SurfaceDistances, over: bool) -> Located:
    """Return the largest over- or under-contouring in mm, not negative, and where it is; 0 and nowhere without any."""
    side = 1 if over else -1
    found, known = {}, 0.0
    # from the boundary that reaches farther: on the other one nothing smaller matters
    for direction in sorted(distances.directions, key=lambda direction: -direction.reached(side)):
        found[direction] = direction.farthest(side, known)
        known = max(known, found[direction][0])
    value = combined(lambda *values: max(0.0, *values), *(value for value, _ in found.values()))
    position = max((found[direction] for direction in distances.directions), key=lambda one: one[0])[1]
    return Located(value, tuple(position.tolist()) if value > 0 else None)


def toward(sides: dict[str, Side], side: str) -> Side:
    """Return what bySide() found toward R, L, A, P, S or I. Raises Undefined when no boundary faces that side."""
    requireFaced(sides, side)
    return sides[side]


def requireFaced(sides: Collection[str], side: str) -> None:
    """Raise Undefined when a side is not among those that some of the boundary faces."""
    if side not in sides:
        raise Undefined(NO_BOUNDARY.format(side=side), Cause.NO_BOUNDARY)


def bySide(distances: SurfaceDistances, boundaries: BoundaryPair, over: float, under: float) -> dict[str, Side]:
    """Return the signed distances toward each side of the patient that some of the boundary faces.

    An element belongs to the side of the largest component of the reference's outward normal: its own on the reference,
    on the test the one at the nearest place of the reference. One that faces two sides equally belongs to both.
    boundaries: between which the distances were measured. over, under: the largest over- and under-contouring in mm, as
    largest() tells; the side on which it lies has the same.
    """
    reference, test = distances.directions
    # one boundary after the other, as all of its elements take much memory
    faces = [_faces(reference, sidesOfReference(boundaries)), _faces(test, sidesBelow(boundaries, test))]
    between = reference.between if test.between is None else max(reference.between, test.between)
    found = {name: [one[name] for one in faces] for name in DIRECTIONS}
    found = {name: parts for name, parts in found.items() if sum(part.size for part in parts) > 0}
    overmost = _farthestSides({name: max(part.high for part in parts) for name, parts in found.items()})
    undermost = _farthestSides({name: -min(part.low for part in parts) for name, parts in found.items()})
    return {
        name: Side(
            meanToward(parts),
            largestToward(parts, between, over, name in overmost),
            smallestToward(parts, between, under, name in undermost),
        )
        for name, parts in found.items()
    }


def meanToward(parts: Sequence[Faces]) -> float:
    """Return the mean signed distance in mm of what faces one side. parts: what of either boundary does, not empty."""
    size = sum(part.size for part in parts)
    means = [part.mean for part in parts]
    return combined(lambda *values: sum(m * part.size for m, part in zip(values, parts)) / size, *means)


def largestToward(parts: Sequence[Faces], between: float | None, over: float, isThere: bool) -> float:
    """Return the largest signed distance in mm of what faces one side, with bounds if `between` is given.

    parts: what of either boundary faces it. between: by how many mm a distance between the places that were asked may
    exceed those of the parts. over: the largest over-contouring in mm, not negative. isThere: whether that lies on this
    side, which then has the same.
    """
    return _extreme(max(part.high for part in parts), between, over if isThere else None, over)


def smallestToward(parts: Sequence[Faces], between: float | None, under: float, isThere: bool) -> float:
    """Return the smallest signed distance in mm of what faces one side, with bounds if `between` is given.

    parts, between: as for largestToward(). under: the largest under-contouring in mm, not negative. isThere: whether
    that lies on this side, whose smallest distance then is its negative.
    """
    return _opposite(_extreme(-min(part.low for part in parts), between, under if isThere else None, under))


def _farthestSides(extremes: dict[str, float]) -> list[str]:
    """Return which sides have the largest distance of all, told that of each: several, where it lies between them."""
    top = max(extremes.values(), default=0.0)
    return [name for name, value in extremes.items() if value >= top - touching(abs(top))]


def _extreme(value: float, between: float | None, reached: float | None, known: float) -> float:
    """Return the largest distance toward one side, with bounds where `between` tells how close it is known.

    value: the largest that was found on what faces that side. reached: that of all in mm if it is on this side. known:
    that of all, not negative, which nothing exceeds.
    """
    if reached:
        return reached
    value += 0.0  # takes the sign off zeros
    if between is None:
        return value
    upper = getattr(known, "upper", None)
    upper = value + between if upper is None else min(value + between, upper)
    return Bounded(value, value, max(value, upper))


def _opposite(number: float) -> float:
    """Return a number with the other sign, and its bounds if it has any."""
    value = 0.0 - number
    if getattr(number, "upper", None) is None:
        return value
    return Bounded(value, 0.0 - number.upper, 0.0 - number.lower)


def _faces(distances: DirectedDistances, sides: np.ndarray) -> dict[str, Faces]:
    """Return what of a boundary faces each side, by name.

    sides: (g,) as sums of sideBit(), which its elements face in groups: those of one cell, or each for itself.
    """
    groups = distances.grouped(distances.pieces * len(distances.surface.cells) // len(sides))
    found = dict.fromkeys(DIRECTIONS, Faces())
    for name in DIRECTIONS:
        part = np.flatnonzero((sides & sideBit(name)) != 0)
        if len(part):
            size = float(groups.sizes.take(part).sum())
            high, low = float(groups.high.take(part).max()), float(groups.low.take(part).min())
            mean = distances.meanOf(groups, part) if size else 0.0
            found[name] = Faces(size, mean, high, low)
    return found
