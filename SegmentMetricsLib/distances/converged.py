"""Distances of one boundary, refined until the numbers derived from them no longer change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import cast

import numpy as np

from .bounded import Bounded
from .linear import PIECES
from .refinement import Refined, refined
from .surfacedistances import BoundaryPair, DirectedDistances, Groups, SurfaceDistances, withTies

# Subdivisions of every element where elements are shown or grouped, by dimension.
SHOWN_SUBDIVISIONS = {3: 1, 2: 5}
# Elements processed at a time.
CHUNK = 1 << 15


def measure(pair: BoundaryPair, tolerances: Sequence[float], percentiles: Sequence[float]) -> SurfaceDistances:
    """Return the distances in both directions, as precisely as required by tolerances in mm and percentiles."""
    limits = [withTies(tolerance) for tolerance in tolerances]
    both = refined([pair.sampler(source) for source in (0, 1)], limits, [p for p in percentiles if p < 100])
    there, back = (ConvergedDistances.of(one) for one in both)
    return SurfaceDistances(there, back, "lattice lookup" if pair.lattice is not None else "search tree")


@dataclass(frozen=True, eq=False, repr=False)
class ConvergedDistances(DirectedDistances):
    """Distances of a boundary that are linear functions on pieces of its elements; the default.

    Methods that override DirectedDistances are documented there, for distances that are constant on each element. Here
    the numbers are computed by Refined.

    Every number of the whole boundary is that of these functions, with bounds. Single elements, for maps, charts and
    places, are the pieces of the boundary's own elements, the same number per element, with their mean distances.
    """

    refined: Refined

    @staticmethod
    def of(refined: Refined) -> ConvergedDistances:
        """Return the distances of a boundary that was refined."""
        surface = refined.sampler.surface
        return ConvergedDistances(surface, SHOWN_SUBDIVISIONS[surface.dimension], refined)

    @cached_property
    def signed(self) -> np.ndarray:
        """(n,) mean signed distances of the pieces in mm; rarely needed."""
        result = np.zeros((len(self.surface.cells), self.pieces))
        for cells, values in self._eachPart():
            result[cells] = values.mean(axis=0).T
        return result.ravel()

    @cached_property
    def atPoints(self) -> np.ndarray:
        values = np.zeros(len(self.surface.points))
        values[self.refined.points] = self.refined.values[: len(self.refined.points)]
        return values

    def forget(self) -> None:
        super().forget()
        self.refined.forget()

    def rangesOf(self, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cells, pieces = np.divmod(elements, self.pieces)
        rows = np.searchsorted(self.refined.chosen, cells).clip(max=len(self.refined.chosen) - 1)
        # elements shared by both boundaries have distance 0
        asked = np.flatnonzero(self.refined.chosen[rows] == cells)
        low, high = np.zeros((2, len(elements)))
        for first in range(0, len(asked), CHUNK):
            chosen = asked[first : first + CHUNK]
            corners = self._nodes(rows[chosen])[np.arange(len(chosen)), pieces[chosen]].T
            values = self.refined.values.take(corners)
            low[chosen], high[chosen] = values.min(axis=0), values.max(axis=0)
        return low, high

    def _eachPart(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield batches of the boundary's elements (k,) and the signed distances at the corners of their pieces.

        The distances (corners, pieces, k) of all elements at once would take much memory. Elements shared by both
        boundaries are left out.
        """
        for first in range(0, len(self.refined.chosen), CHUNK):
            rows = np.arange(first, min(first + CHUNK, len(self.refined.chosen)))
            yield self.refined.chosen[rows], self.refined.values.take(self._nodes(rows).T)

    def _nodes(self, rows: np.ndarray) -> np.ndarray:
        """Return the point numbers (k, pieces, corners) of the corners of the pieces of some elements.

        rows: (k,) of the elements in refined.chosen.
        """
        base, corners, perCell = self.refined.base, self.refined.base.corners, self.refined.perCell
        nodes = base.nodes.reshape(len(self.refined.chosen), perCell, -1)[rows]
        nodes = nodes[..., :corners] if perCell == self.pieces else nodes[..., PIECES[corners]]
        return nodes.reshape(len(rows), -1, corners)

    def farthestPlace(self, element: int, isPositive: bool) -> np.ndarray:
        cell, piece = divmod(element, self.pieces)
        row = np.flatnonzero(self.refined.chosen == cell)
        if not len(row):  # shared by both boundaries
            return self.surface.points[self.surface.cells[cell, 0]]
        nodes = self._nodes(row)[0, piece]
        values = self.refined.values[nodes] if isPositive else -self.refined.values[nodes]
        return self.refined.sampler.points(self.refined.coordinates[nodes[values.argmax()]][None])[0]

    @cached_property
    def between(self) -> float:
        # The pieces' sides are half as long. No place on a piece is farther from the nearest corner than 1/2 of its
        # longest side, or in a triangle than sqrt(1/3) of it.
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
        return self.refined.largestAndPlace[0]

    @property
    def largestPlace(self) -> np.ndarray:
        return self.refined.largestAndPlace[1]

    def reached(self, side: int) -> float:
        return float((side * self.refined.values).max())

    def farthest(self, side: int, known: float = 0.0) -> tuple[Bounded, np.ndarray]:
        return self.refined.largestToward(side, known)

    def meanOf(self, groups: Groups, chosen: np.ndarray) -> Bounded:
        sizes = groups.sizes.take(chosen)
        fine = float((groups.means.take(chosen) * sizes).sum())
        return self.refined.extrapolated(
            fine, cast(np.ndarray, groups.differences).take(chosen), float(sizes.sum()), -np.inf
        )

    def grouped(self, pieces: int) -> Groups:
        if pieces == self.pieces:
            return self._ofCells()
        differences = np.zeros((len(self.surface.cells), self.pieces // pieces))
        for cells, values in self._eachPart():
            more = self._differences(cells, values, values.mean(axis=0))
            differences[cells] = more.reshape(-1, pieces, len(cells)).sum(axis=1).T
        return super().grouped(pieces)._replace(differences=differences.ravel())

    def _ofCells(self) -> Groups:
        """Return the groups formed by all pieces of each cell."""
        means, high, low, differences = np.zeros((4, len(self.surface.cells)))
        for cells, values in self._eachPart():
            ofPieces = values.mean(axis=0)
            means[cells] = ofPieces.mean(axis=0)
            high[cells], low[cells] = values.max(axis=(0, 1)), values.min(axis=(0, 1))
            differences[cells] = self._differences(cells, values, ofPieces).sum(axis=0)
        return Groups(self.surface.sizes, means, high, low, differences)

    def _differences(self, cells: np.ndarray, values: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Return distance times size of pieces (p, k), minus the same from the coarser elements they were cut from.

        cells: (k,) to which the pieces belong. values: (corners, p, k) at their corners. means: (p, k) of these.
        """
        count, corners = len(PIECES[self.refined.base.corners]), len(values)
        # the n-th piece contains the n-th corner of the element that the pieces were cut from
        whole = values.reshape(corners, -1, count, len(cells))
        coarse = reduce(np.add, (whole[corner, :, corner] for corner in range(corners))) / corners
        more = (means.reshape(whole.shape[1:]) - coarse[:, None]).reshape(-1, len(cells))
        more *= self.surface.sizes.take(cells) / self.pieces
        return more

    def sizeWithin(self, tolerance: float) -> Bounded:
        return self.refined.sizeWithin(tolerance)

    def sizeBetween(self, low: float, high: float) -> float:
        return self.refined.sizeBetween(low, high)

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        return self.refined.sizeBeyond(limit, side)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        return self.refined.sizesBeyond(limits, side)

    def percentile(self, percent: float) -> Bounded:
        return self.largest if percent == 100 else self.refined.boundedPercentile(percent)
