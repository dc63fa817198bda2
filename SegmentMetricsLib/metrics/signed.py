"""Signed distances: on which side the test lies. Positive is outside the reference, that is over-contoured.

Every function takes the distances of both directions and pools both boundaries by element size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distances.bounded import Bounded, combined
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, Groups, SurfaceDistances, withTies
from ..errors import Undefined
from .facing import SIDES, sideBit, sidesBelow, sidesOfReference


class Located(NamedTuple):
    """A value and the LPS position in mm where it was found, None when it stands for no place."""

    value: float
    position: tuple[float, float, float] | None


class Side(NamedTuple):
    """Signed distances in mm of the boundary toward one side of the patient: mean, largest and smallest."""

    mean: float
    largest: float
    smallest: float


def mean(distances: SurfaceDistances) -> float:
    """Return the signed mean distance in mm: positive where the test is larger than the reference on the whole."""
    sizes = [direction.totalSize for direction in distances.directions]
    means = [direction.signedMean for direction in distances.directions]
    return combined(lambda *parts: sum(m * s for m, s in zip(parts, sizes)) / sum(sizes), *means)


def overFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther outside the reference than tau."""
    return _fractionBeyond(distances, tolerance, 1)


def underFraction(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the share of both boundaries in [0, 1] where the test lies farther inside the reference than tau."""
    return _fractionBeyond(distances, tolerance, -1)


def largest(distances: SurfaceDistances, over: bool) -> Located:
    """Return the largest over- or under-contouring in mm, not negative, and where it is; 0 and nowhere without any."""
    side = 1 if over else -1
    found = [direction.farthest(side) for direction in distances.directions]
    value = combined(lambda *values: max(0.0, *values), *(value for value, _ in found))
    position = max(found, key=lambda one: one[0])[1]
    return Located(value, tuple(position.tolist()) if value > 0 else None)


def toward(sides: dict[str, Side], side: str) -> Side:
    """Return what bySide() found toward R, L, A, P, S or I. Raises Undefined when no boundary faces that side."""
    if side not in sides:
        raise Undefined(f"no part of the boundary faces {side}")
    return sides[side]


def bySide(distances: SurfaceDistances, boundaries: BoundaryPair) -> dict[str, Side]:
    """Return the signed distances toward each side of the patient that some of the boundary faces.

    An element belongs to the side of the largest component of the reference's outward normal: its own on the reference,
    on the test the one at the nearest place of the reference. One that faces two sides equally belongs to both.
    boundaries: between which the distances were measured.
    """
    reference, test = distances.directions
    faces = [_Faces.of(reference, sidesOfReference(boundaries)), _Faces.of(test, sidesBelow(boundaries, test))]
    between = reference.between if test.between is None else max(reference.between, test.between)
    sides = {}
    for name in SIDES:
        parts = [np.flatnonzero(one.sides & sideBit(name)) for one in faces]
        sizes = [float(one.groups.sizes.take(part).sum()) for one, part in zip(faces, parts)]
        if sum(sizes) > 0:
            there = [(one.groups, part) for one, part in zip(faces, parts) if len(part)]
            means = [
                one.distances.meanOf(one.groups, part) if size else 0.0 for one, part, size in zip(faces, parts, sizes)
            ]
            mean = combined(lambda *values, sizes=sizes: sum(m * s for m, s in zip(values, sizes)) / sum(sizes), *means)
            # An element's mean, not its ends: they may belong to a neighbor that faces another side. Adding 0 takes the
            # sign off zeros.
            largest = max(float(groups.largest.take(part).max()) for groups, part in there) + 0.0
            smallest = min(float(groups.smallest.take(part).min()) for groups, part in there) + 0.0
            if between is not None:
                high = max(float(groups.high.take(part).max()) for groups, part in there)
                low = min(float(groups.low.take(part).min()) for groups, part in there)
                largest = Bounded(largest, largest - between, high + between)
                smallest = Bounded(smallest, low - between, smallest + between)
            sides[name] = Side(mean, largest, smallest)
    return sides


class _Faces(NamedTuple):
    """The elements of one boundary in groups that face one way: those of one cell, or each for itself.

    distances: from the boundary. sides: (g,) that the groups face, as sums of sideBit().
    """

    distances: DirectedDistances
    sides: np.ndarray
    groups: Groups

    @staticmethod
    def of(distances: DirectedDistances, sides: np.ndarray) -> _Faces:
        count = distances.pieces * len(distances.surface.cells)
        return _Faces(distances, sides, distances.grouped(count // len(sides)))


def _fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    # the tie rule of the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(withTies(tolerance), side) for d in distances.directions]
    size = sum(d.totalSize for d in distances.directions)
    return combined(lambda *parts: sum(parts) / size, *beyond)
