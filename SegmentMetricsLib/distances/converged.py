"""The distances of one boundary, refined until their numbers no longer change, for all who ask for distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..metrics.boundary import withTies
from .bounded import Bounded
from .elements import pieces
from .linear import PIECES
from .refinement import Refined, extrapolated, refined
from .surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances

# Pieces of every element that stand for it where elements are shown or grouped, as a number of cuts, by dimension.
SHOWN_SUBDIVISIONS = {3: 1, 2: 5}


def measure(pair: BoundaryPair, tolerances: Sequence[float], percentiles: Sequence[float]) -> SurfaceDistances:
    """Return the distances in both directions, as precisely as tolerances in mm and percentiles need."""
    limits = [withTies(tolerance) for tolerance in tolerances]
    both = refined([pair.sampler(source) for source in (0, 1)], limits, [p for p in percentiles if p < 100])
    directions = [ConvergedDistances(one) for one in both]
    return SurfaceDistances(*directions, "lattice lookup" if pair.lattice is not None else "search tree")


class ConvergedDistances(DirectedDistances):
    """Distances of a boundary that are linear functions on pieces of its elements.

    Every number of the whole boundary is that of these functions, with bounds. Single elements, for maps, charts and
    places, are the pieces of the boundary's own elements, equally many of each, with their mean distances.
    """

    def __init__(self, refined: Refined):
        surface = refined.sampler.surface
        points = refined.values[: len(surface.points)]
        given = {
            "surface": surface,
            "subdivisions": SHOWN_SUBDIVISIONS[surface.dimension],
            "measurePoints": lambda: points,
            "refined": refined,
        }
        # not the distances of single pieces: few ask for them
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @cached_property
    def signed(self) -> np.ndarray:
        """(n,) mean signed distances of the pieces in mm."""
        return self._corners.mean(axis=0)

    @cached_property
    def _corners(self) -> np.ndarray:
        """(corners, n) signed distances at the corners of the pieces."""
        base = self.refined.base
        cut = pieces(base.signed).reshape(base.corners, -1, len(base.nodes))
        return np.swapaxes(cut, 1, 2).reshape(base.corners, -1)

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return self._corners.min(axis=0), self._corners.max(axis=0)

    def farthestPlace(self, element: int, isPositive: bool) -> np.ndarray:
        base, refined = self.refined.base, self.refined
        values = self._corners[:, element] if isPositive else -self._corners[:, element]
        cell, piece = divmod(element, len(PIECES[base.corners]))
        node = base.nodes[cell][PIECES[base.corners][piece][values.argmax()]]
        return refined.sampler.points(refined.coordinates[node][None])[0]

    @cached_property
    def between(self) -> float:
        # the pieces' sides are half as long; no place of one is farther than 1/2, or in a triangle
        # the root of 1/3, of that from a corner
        return self.refined.sampler.longestSide / 2 / (2 if self.refined.base.corners == 2 else 3**0.5)

    @cached_property
    def totalSize(self) -> float:
        return self.refined.totalSize

    @cached_property
    def mean(self) -> Bounded:
        return self.refined.mean

    @cached_property
    def signedMean(self) -> Bounded:
        return self.refined.signedMean

    @cached_property
    def largest(self) -> Bounded:
        return self.refined.largest

    def farthest(self, side: int) -> tuple[Bounded, np.ndarray]:
        return self.refined.farthest(side)

    def meanOf(self, elements: np.ndarray) -> Bounded:
        base, count = self.refined.base, len(PIECES[self.refined.base.corners])
        sizes = self.sizes[elements]
        coarse = base.signed[: base.corners].mean(axis=0)
        differences = (self.signed.reshape(-1, count).mean(axis=1) - coarse) * base.sizes / count
        differences *= elements.reshape(-1, count).sum(axis=1)
        return extrapolated(float(self.signed[elements] @ sizes), differences, float(sizes.sum()), -np.inf)

    def sizeWithin(self, tolerance: float) -> Bounded:
        return self.refined.sizeWithin(tolerance)

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        return self.refined.sizeBeyond(limit, side)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        return self.refined.sizesBeyond(limits, side)

    def percentile(self, percent: float) -> Bounded:
        return self.largest if percent == 100 else self.refined.boundedPercentile(percent)
