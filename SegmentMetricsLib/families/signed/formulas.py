"""Signed distances: positive where the test lies outside the reference, that is, over-contoured.

All numbers pool the distances of both directions, weighted by element size.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.facing import DIRECTIONS, sideBit, sidesBelow, sidesOfElements, sidesOfShared
from ...base.errors import Cause, Reason, Undefined
from ...comparison.values import Located
from ...distances.bounded import Bounded, combined
from ...distances.surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances, touching, withTies


class Side(NamedTuple):
    """Signed distances in mm of the boundary toward one side of the patient: mean, largest and smallest."""

    mean: float
    largest: float
    smallest: float


class Faces(NamedTuple):
    """The part of one boundary that faces one side: its size in mm2 or mm, and its signed distances in mm.

    high, low: the largest and the smallest distance found there, including the corners of elements.
    """

    size: float = 0.0
    mean: float = 0.0
    high: float = -math.inf
    low: float = math.inf


def mean(distances: SurfaceDistances) -> float:
    """Return the signed mean distance in mm: positive if the test is larger than the reference overall."""
    sizes = [direction.totalSize for direction in distances.directions]
    means = [direction.signedMean for direction in distances.directions]
    return combined(lambda *parts: sum(m * s for m, s in zip(parts, sizes)) / sum(sizes), *means)


def fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    """Return the fraction of both boundaries, in [0, 1], where the test lies beyond a tolerance in mm on one side.

    side: 1 for outside the reference, over-contoured, -1 for inside, under-contoured.
    """
    # ties count as in the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(withTies(tolerance), side) for d in distances.directions]
    size = sum(d.totalSize for d in distances.directions)
    return combined(lambda *parts: sum(parts) / size, *beyond)


def largest(distances: SurfaceDistances, over: bool) -> Located:
    """Return the largest over- or under-contouring in mm and its place; 0 without a place if there is none."""
    side = 1 if over else -1
    found, known = {}, 0.0
    # the boundary that reaches farther comes first: on the other one, smaller distances do not matter
    for direction in sorted(distances.directions, key=lambda direction: -direction.reached(side)):
        found[direction] = direction.farthest(side, known)
        known = max(known, found[direction][0])
    value = combined(lambda *values: max(0.0, *values), *(value for value, _ in found.values()))
    position = max((found[direction] for direction in distances.directions), key=lambda one: one[0])[1]
    return Located(value, tuple(position.tolist()) if value > 0 else None)


def toward(sides: dict[str, Side], side: str) -> Side:
    """Return the result of bySide() for R, L, A, P, S or I. Raises Undefined if no boundary faces that side."""
    requireFaced(sides, side)
    return sides[side]


def requireFaced(sides: Collection[str], side: str) -> None:
    """Raise Undefined if a side is not among the sides that parts of the boundary face."""
    if side not in sides:
        raise Undefined(Reason.of(Cause.NO_BOUNDARY, side=side))


def bySide(distances: SurfaceDistances, boundaries: BoundaryPair, over: float, under: float) -> dict[str, Side]:
    """Return the signed distances toward each side of the patient that parts of the boundary face.

    An element belongs to the side of the largest component of the reference's outward normal: on the reference, the
    element's own normal; on the test, the normal at the nearest place of the reference. An element that faces two sides
    equally belongs to both. boundaries: the boundaries between which the distances were measured. over, under: the
    largest over- and under-contouring in mm, from largest(); the side on which each lies gets the same value.
    """
    reference, test = distances.directions
    # one boundary after the other, because all elements of one take much memory
    faces = [_faces(reference, sidesOfElements(reference)), _faces(test, sidesBelow(boundaries, test))]
    between = max(one.between for one in distances.directions)
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
    """Return the mean signed distance in mm toward one side. parts: of either boundary facing it, not both empty."""
    size = sum(part.size for part in parts)
    means = [part.mean for part in parts]
    return combined(lambda *values: sum(m * part.size for m, part in zip(values, parts)) / size, *means)


def largestToward(parts: Sequence[Faces], between: float, over: float, isThere: bool) -> float:
    """Return the largest signed distance in mm toward one side, with bounds.

    parts: the parts of either boundary that face the side. between: upper bound in mm of how far distances between the
    sampled places exceed those of the parts. over: the largest over-contouring in mm, not negative. isThere: whether it
    lies on this side, which then gets the same value.
    """
    return _extreme(max(part.high for part in parts), between, over if isThere else None, over)


def smallestToward(parts: Sequence[Faces], between: float, under: float, isThere: bool) -> float:
    """Return the smallest signed distance in mm toward one side, with bounds.

    parts, between: as for largestToward(). under: the largest under-contouring in mm, not negative. isThere: whether it
    lies on this side, whose smallest distance is then its negative.
    """
    return _opposite(_extreme(-min(part.low for part in parts), between, under if isThere else None, under))


def _farthestSides(extremes: dict[str, float]) -> list[str]:
    """Return the sides with the largest distance, given that of each side; several if they are equal."""
    top = max(extremes.values(), default=0.0)
    return [name for name, value in extremes.items() if value >= top - touching(abs(top))]


def _extreme(value: float, between: float, reached: float | None, known: float) -> float:
    """Return the largest distance in mm toward one side, with bounds.

    value: the largest distance found on the parts that face the side. reached: the largest distance of all sides if it
    lies on this one, else None. known: the largest distance of all sides, not negative, which is an upper bound.
    """
    if reached:
        return reached
    value += 0.0  # turns -0.0 into 0.0
    upper = getattr(known, "upper", None)
    upper = value + between if upper is None else min(value + between, upper)
    return Bounded(value, value, max(value, upper))


def _opposite(number: float) -> float:
    """Return the negative of a number, with bounds if the number has any."""
    value = 0.0 - number
    if not isinstance(number, Bounded) or number.upper is None or number.lower is None:
        return value
    return Bounded(value, 0.0 - number.upper, 0.0 - number.lower)


def _faces(direction: DirectedDistances, sides: np.ndarray) -> dict[str, Faces]:
    """Return the part of a boundary that faces each side, by the side's letter.

    sides: (k,) sums of sideBit(), one per element of the field.
    """
    sizes, low, high = direction.ofElements
    sidesShared, sizesShared = sidesOfShared(direction)
    found = dict.fromkeys(DIRECTIONS, Faces())
    for name in DIRECTIONS:
        part, shared = (np.flatnonzero((some & sideBit(name)) != 0) for some in (sides, sidesShared))
        if not len(part) and not len(shared):
            continue
        more = float(sizesShared.take(shared).sum())
        size = float(sizes.take(part).sum()) + more
        least, most = (0.0, 0.0) if len(shared) else (math.inf, -math.inf)
        mean = direction.meanOver(part, more) if size else 0.0
        found[name] = Faces(
            size, mean, float(high.take(part).max(initial=most)), float(low.take(part).min(initial=least))
        )
    return found
