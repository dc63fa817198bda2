"""The distances of one boundary, refined until their numbers no longer change, for all who ask for distances."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .bounded import Bounded
from .linear import PIECES
from .refinement import Refined, refined
from .surfacedistances import BoundaryPair, DirectedDistances, SurfaceDistances, withTies

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
        given = {
            "surface": surface,
            "subdivisions": SHOWN_SUBDIVISIONS[surface.dimension],
            "measurePoints": self._atPoints,
            "refined": refined,
            "_groups": {},
        }
        # not the distances of single pieces: few ask for them
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def _atPoints(self) -> np.ndarray:
        values = np.zeros(len(self.surface.points))
        values[self.refined.points] = self.refined.values[: len(self.refined.points)]
        return values

    @cached_property
    def signed(self) -> np.ndarray:
        """(n,) mean signed distances of the pieces in mm."""
        return self._corners.mean(axis=0)

    @cached_property
    def _nodes(self) -> np.ndarray:
        """(elements, pieces, corners) numbers of the points that are the corners of the pieces of what was asked."""
        base, corners = self.refined.base, self.refined.base.corners
        isWhole = self.refined.perCell == 2 ** ((corners - 1) * self.subdivisions)
        nodes = base.nodes[:, :corners] if isWhole else base.nodes[:, PIECES[corners]]
        return nodes.reshape(len(self.refined.chosen), -1, corners)

    @cached_property
    def _corners(self) -> np.ndarray:
        """(corners, n) signed distances at the corners of the pieces."""
        asked = self.refined.values[self._nodes]
        values = np.zeros((len(self.surface.cells), *asked.shape[1:]))
        values[self.refined.chosen] = asked
        return np.ascontiguousarray(values.reshape(-1, asked.shape[2]).T)

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return self._corners.min(axis=0), self._corners.max(axis=0)

    def farthestPlace(self, element: int, isPositive: bool) -> np.ndarray:
        values = self._corners[:, element] if isPositive else -self._corners[:, element]
        cell, piece = divmod(element, self._nodes.shape[1])
        row = np.flatnonzero(self.refined.chosen == cell)
        if not len(row):  # both boundaries have it
            return self.surface.points[self.surface.cells[cell, 0]]
        node = self._nodes[row[0], piece, values.argmax()]
        return self.refined.sampler.points(self.refined.coordinates[node][None])[0]

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

    def meanOf(self, groups: np.ndarray, pieces: int) -> Bounded:
        """Return the mean signed distance in mm of groups (g,) of so many elements each, one after the other."""
        sizes, sums, differences = (values.take(groups) for values in self._grouped(pieces))
        return self.refined.extrapolated(float(sums.sum()), differences, float(sizes.sum()), -np.inf)

    def _grouped(self, pieces: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return size, distance times size, and by how much this differs from that of what was cut, of every group."""
        if pieces not in self._groups:
            # what pieces were cut from has one corner in each of the first of them
            count, corners = len(PIECES[len(self._corners)]), range(len(self._corners))
            values = self._corners.reshape(len(corners), -1, count)
            coarse = sum(values[corner, :, corner] for corner in corners) / len(corners)
            differences = (self.signed.reshape(-1, count) - coarse[:, None]).ravel()
            size = self.sizes[::pieces]
            ofGroups = (functools.reduce(np.add, each.reshape(-1, pieces).T) for each in (self.signed, differences))
            self._groups[pieces] = size * pieces, *(size * sums for sums in ofGroups)
        return self._groups[pieces]

    def sizeWithin(self, tolerance: float) -> Bounded:
        return self.refined.sizeWithin(tolerance)

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        return self.refined.sizeBeyond(limit, side)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        return self.refined.sizesBeyond(limits, side)

    def percentile(self, percent: float) -> Bounded:
        return self.largest if percent == 100 else self.refined.boundedPercentile(percent)
