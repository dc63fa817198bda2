"""Measures the distance of one boundary of a pair to the other at places between its points."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import cast

import numpy as np

from ..geometry.cellcases import caseEdges, nodePositions
from ..geometry.closest import ClosestSurface
from ..geometry.surfaces import Surface, longestSides
from . import lattice as lookup

# The tables for places between the points grow with every halving: up to the first of these they are always made, up to
# the second one only for many places; beyond that, the search tree is used.
LATTICE_HALVINGS, LARGEST_LATTICE_HALVINGS, MANY_PLACES = 2, 3, 15_000
# Coordinates on a lattice are multiples of 1 / SCALE voxel: sides can be halved eight times.
SCALE = 512
# mm; points of two boundaries that are no farther apart are the same.
SAME = 1e-9
# Boundaries are apart if their boxes differ at both ends by more than this multiple of an element's longest side.
APART = 8


class Sampler:
    """Measures the distances of places on one boundary to the other one.

    Places are given by coordinates (n, 3): LPS mm, or on a lattice integer multiples of 1 / SCALE voxel; SCALE is a
    power of two, so that sides can be halved exactly.

    source: the reference (0) or the test (1). closest: returns the closest-point search of the other boundary, which is
    built only if a place needs it. lattice: on which both lie, or None.
    """

    def __init__(
        self,
        surfaces: tuple[Surface, Surface],
        source: int,
        closest: Callable[[], ClosestSurface],
        lattice: lookup.Lattice | None,
    ):
        self.surface, self.target = surfaces[source], surfaces[1 - source]
        self._source, self._closest, self._lattice = source, closest, lattice
        # outside the reference is over-contoured for the test; the reference outside the test is under-contoured
        self._sign = -1 if source == 0 and self.target.isClosed else 1

    @property
    def other(self) -> ClosestSurface:
        """The closest-point search of the other boundary."""
        return self._closest()

    @property
    def isOnLattice(self) -> bool:
        """Whether distances are looked up, unless sides have been halved too often for that."""
        return self._lattice is not None

    @cached_property
    def different(self) -> np.ndarray:
        """Numbers (k,) of the boundary's elements; on a lattice without those known to be shared by both boundaries."""
        if self._lattice is None:
            return np.arange(len(self.surface.cells))
        # at least one, so that there is something to measure
        different = lookup.differentCells(self._lattice, self._doubled, self.surface.cells)
        return different if len(different) else np.zeros(1, np.int64)

    @cached_property
    def _doubled(self) -> np.ndarray:
        return lookup.doubledPoints(cast(lookup.Lattice, self._lattice), self.surface, self._source)

    def forget(self) -> None:
        """Free the memory of the points' coordinates on a lattice."""
        self.__dict__.pop("_doubled", None)

    @property
    def coordinates(self) -> np.ndarray:
        """(n, 3) the boundary's points."""
        if self._lattice is None:
            return self.surface.points
        return self._doubled * (SCALE // 2)

    @cached_property
    def longestSide(self) -> float:
        """Upper bound in mm of the length of elements' sides."""
        if self._lattice is not None:
            ends = caseEdges()[0] * self._lattice.grid.spacing
            return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
        return float(longestSides(self.surface).max())

    @property
    def isApart(self) -> bool:
        """Whether most distances are probably large: they take long to find, and are nearly linear within an element.

        A tube that only extends beyond the other one is not apart from it.
        """
        apart = np.abs(np.subtract(self.surface.box, self.target.box))
        return bool(apart.min(axis=0).max() > APART * self.longestSide)

    def points(self, coordinates: np.ndarray) -> np.ndarray:
        """Return places as LPS points (n, 3), mm."""
        return coordinates if self._lattice is None else self._lattice.grid.toWorld(coordinates / SCALE)

    def signed(self, coordinates: np.ndarray, halvings: int, sides: np.ndarray | None = None) -> np.ndarray:
        """Return signed distances (n,) in mm at places (n, 3); positive where the test lies outside the reference.

        halvings: number of halvings of elements' sides that make the places corners. sides: (n,) 1 or -1 where the sign
        is known, 0 elsewhere.
        """
        tabulated = LARGEST_LATTICE_HALVINGS if len(coordinates) >= MANY_PLACES else LATTICE_HALVINGS
        if self._lattice is None or halvings > tabulated:
            return self.signedAt(self.points(coordinates), sides)
        positions, shift = nodePositions(halvings), SCALE.bit_length() - 2 - halvings
        result = lookup.signedDistancesAt(
            self._lattice, self._source, coordinates, positions, lambda points: self._closest().distances(points), shift
        )
        result *= self._sign
        return result

    def signedAt(self, points: np.ndarray, sides: np.ndarray | None = None) -> np.ndarray:
        """Return signed distances (n,) in mm at LPS points (n, 3), mm. sides: as far as known, see signed()."""
        if self._lattice is None:
            return self._sign * self._closest().signedDistances(points)
        sides = np.zeros(len(points)) if sides is None else sides.copy()
        unknown = np.flatnonzero(sides == 0)
        sides[unknown] = self.sidesAt(points[unknown])
        return sides * self.distancesAt(points) + 0.0  # no negative zeros

    def sidesAt(self, points: np.ndarray) -> np.ndarray:
        """Return the signs (n,) of signed distances at LPS points (n, 3), mm: 1, -1, or 0, which may be either.

        On a lattice no search is needed.
        """
        if self._lattice is not None:
            return np.where(self._lattice.isInsideAt(1 - self._source, points), -self._sign, self._sign)
        return np.sign(self.signedAt(points))

    def distancesAt(self, points: np.ndarray) -> np.ndarray:
        """Return the distances (n,) in mm of LPS points (n, 3), not negative."""
        return self._closest().distances(points)

    def mayReach(self, centers: np.ndarray, side: int) -> np.ndarray:
        """Return whether elements (n,) may have distances toward the positive (1) or the negative (-1) side.

        centers: (n, 3) inside the elements, not on their rims. On a lattice the surrounding voxels may exclude them.
        """
        if self._lattice is None:
            return np.ones(len(centers), bool)
        return self._lattice.mayLeave(self._source, centers // SCALE, side * self._sign > 0)

    def nearestTriangles(self, points: np.ndarray) -> np.ndarray:
        """Return the corners (n, 3, 3) of the other boundary's triangle next to each of the LPS points (n, 3), mm."""
        return self._closest().nearestTriangles(points)

    def areShared(self, cells: np.ndarray) -> np.ndarray:
        """Return whether elements (k,) of the boundary, given by number, are also elements of the other one."""
        from scipy.spatial import cKDTree

        used, numbers = np.unique(self.surface.cells[cells], return_inverse=True)
        away, same = cKDTree(self.target.points, balanced_tree=False).query(self.surface.points[used])
        same[away > SAME] = -1
        mine, theirs = same[numbers.reshape(len(cells), -1)], self.target.cells
        return (mine >= 0).all(axis=1) & np.isin(rowKeys(mine), rowKeys(theirs))


def rowKeys(cells: np.ndarray) -> np.ndarray:
    """Return one value per row (k, c) of point numbers, independent of the order of the numbers in the row."""
    rows = np.ascontiguousarray(np.sort(cells, axis=1).astype(np.int64))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
