"""Signed distances: on which side the test lies. Positive is outside the reference, that is over-contoured.

Every function takes the distances of both directions and pools both boundaries by element size.
"""

from __future__ import annotations

import functools
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..distances.bounded import Bounded, combined
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances, withTies
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
    faces = [_Faces(reference, sidesOfReference(boundaries)), _Faces(test, sidesBelow(boundaries, test))]
    between = reference.between if test.between is None else max(reference.between, test.between)
    sides = {}
    for name in SIDES:
        parts = [np.flatnonzero(one.sides & sideBit(name)) for one in faces]
        sizes = [float(one.sizes.take(part).sum()) for one, part in zip(faces, parts)]
        if sum(sizes) > 0:
            there = [(one, part) for one, part in zip(faces, parts) if len(part)]
            means = [one.mean(part) if size else 0.0 for one, part, size in zip(faces, parts, sizes)]
            mean = combined(lambda *values, sizes=sizes: sum(m * s for m, s in zip(values, sizes)) / sum(sizes), *means)
            # An element's mean, not its ends: they may belong to a neighbor that faces another side. Adding 0 takes the
            # sign off zeros.
            largest = max(float(one.largest.take(part).max()) for one, part in there) + 0.0
            smallest = min(float(one.smallest.take(part).min()) for one, part in there) + 0.0
            if between is not None:
                high = max(float(one.high.take(part).max()) for one, part in there)
                low = min(float(one.low.take(part).min()) for one, part in there)
                largest = Bounded(largest, largest - between, high + between)
                smallest = Bounded(smallest, low - between, smallest + between)
            sides[name] = Side(mean, largest, smallest)
    return sides


class _Faces:
    """The elements of one boundary in groups that face one way: those of one cell, or each for itself.

    distances: from the boundary. sides: (g,) that the groups face, as sums of sideBit().
    """

    def __init__(self, distances: DirectedDistances, sides: np.ndarray):
        self.distances, self.sides = distances, sides
        self.pieces = len(distances.signed) // len(sides)
        self.sizes = distances.sizes[:: self.pieces] * self.pieces

    @cached_property
    def largest(self) -> np.ndarray:
        """(g,) largest signed distance of the elements of every group, mm."""
        return self._reduced(np.maximum, self.distances.signed)

    @cached_property
    def smallest(self) -> np.ndarray:
        """(g,) smallest signed distance of the elements of every group, mm."""
        return self._reduced(np.minimum, self.distances.signed)

    @cached_property
    def high(self) -> np.ndarray:
        """(g,) largest signed distance found on any element of every group, mm."""
        return self._reduced(np.maximum, self.distances.ranges[1])

    @cached_property
    def low(self) -> np.ndarray:
        """(g,) smallest signed distance found on any element of every group, mm."""
        return self._reduced(np.minimum, self.distances.ranges[0])

    def _reduced(self, function: np.ufunc, values: np.ndarray) -> np.ndarray:
        # column by column, as rows of four are slow to reduce
        return functools.reduce(function, values.reshape(-1, self.pieces).T)

    @cached_property
    def means(self) -> np.ndarray:
        """(g,) mean signed distance of the elements of every group, which are equally large, mm."""
        return self._reduced(np.add, self.distances.signed) / self.pieces

    def mean(self, groups: np.ndarray) -> float:
        """Return the mean signed distance in mm of some groups, Bounded where its error is known."""
        if self.distances.between is None:
            sizes = self.sizes.take(groups)
            return float(self.means.take(groups) @ sizes) / float(sizes.sum())
        return self.distances.meanOf(groups, self.pieces)


def _fractionBeyond(distances: SurfaceDistances, tolerance: float, side: int) -> float:
    # the tie rule of the normalized surface distance, so that the two fractions and NSD add up to 1
    beyond = [d.sizeBeyond(withTies(tolerance), side) for d in distances.directions]
    size = sum(d.totalSize for d in distances.directions)
    return combined(lambda *parts: sum(parts) / size, *beyond)
