"""Distances between two boundaries: computed once in both directions, reduced many times."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.errors import InputError
from ..base.progress import chunks
from ..geometry.closest import ClosestSurface
from ..geometry.contours import liesInPlane
from ..geometry.grids import Grid
from ..geometry.surfaces import PIECES, Surface
from .bounded import Bounded
from .elements import LatticeSampler, Sampler
from .field import BOUNDS_OF_MEAN, LEFT_OF_MEAN, ROUNDING, Field, errorsLeft
from .lattice import Lattice, cellsWithin
from .linear import WITH_PIECES, ofWholeAndPieces, shareBelow, withPieces

# Pairs of up to so many triangles are measured together, as long as all of them have no more than so many, are not more
# than so many pairs, and have no more cells: each has as many as the box around all, were they at one place.
SMALL, MOST_TOGETHER, MOST_PAIRS, MOST_CELLS = 10_000, 40_000, 50, 1 << 21
# Boundaries on a lattice are exactly tau apart over large areas: rounding must not decide whether they are within tau.
# In mm; for tolerances below 1 mm, as a fraction of the tolerance.
TIE_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, repr=False)
class DirectedDistances:
    """Distances from one boundary to the other: one segment of a field, seen with reference and test in their places.

    Numbers of the whole boundary are the field's, with bounds. For places, maps and charts, the boundary consists of
    the pieces of the field's elements, `pieces` of each, numbered element by element; they have mean distances.
    Elements that are part of both boundaries are not among these.

    field, number: the field and the segment. surface: the boundary to measure from. sign: -1 if reference and test have
    changed places, which gives all signed distances the other sign.
    """

    field: Field
    number: int
    surface: Surface
    sign: int = 1

    @property
    def totalSize(self) -> float:
        """Area of the whole boundary in mm2, or length in mm."""
        return float(self.field.totals[self.number])

    @property
    def mean(self) -> Bounded:
        """Mean distance in mm."""
        return self.field.mean()[self.number]

    @property
    def signedMean(self) -> Bounded:
        """Mean signed distance in mm."""
        found = self.field.mean(True)[self.number]
        lower, upper = found.bounds
        return found if self.sign > 0 else Bounded(-found, -upper, -lower)

    @property
    def largest(self) -> Bounded:
        """Largest distance in mm."""
        return self.field.largest()[self.number][0]

    @property
    def largestPlace(self) -> np.ndarray:
        """The place (3,) of the largest distance toward either side, LPS mm."""
        return self.field.largest()[self.number][1]

    def farthest(self, side: int) -> tuple[Bounded, np.ndarray]:
        """Return the largest signed distance in mm toward the positive (1) or the negative (-1) side, and its place.

        Where the other boundary of the pair reaches farther toward this side, there may be only an upper bound.
        """
        return self.field.largest(side * self.sign)[self.number]

    def reach(self, side: int) -> float:
        """Return a lower bound of the largest signed distance in mm toward one side (1 or -1)."""
        high = self.field.base.signedRange(side * self.sign)[1][self.rows]
        return float(high.max(initial=0.0 if self.field.shared[self.number] else -np.inf))

    def percentile(self, percent: float) -> Bounded:
        """Return the smallest distance in mm that at least `percent` of the boundary's size does not exceed.

        percent: in (0, 100].
        """
        return self.field.percentile(percent)[self.number]

    def sizeWithin(self, tolerance: float) -> Bounded:
        """Return the size whose distance is at most the tolerance in mm."""
        return self.field.size(tolerance)[self.number]

    def sizeBetween(self, low: float, high: float) -> float:
        """Return about the size whose distance is above one limit in mm and at most the other one."""
        below, within = (self.field.estimateSize(limit)[self.number] for limit in (low, high))
        return float(within - below)

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        """Return the size farther than a limit in mm toward the positive (1) or negative (-1) side."""
        return self.field.size(limit, side * self.sign)[self.number]

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        """Return the sizes (n,) farther than each of some ascending limits (n,) in mm toward one side (1 or -1)."""
        limits, elements, side = np.asarray(limits), self.field.elements, side * self.sign
        own = elements.rowsOf(self.number)
        sizes, (low, high) = elements.sizes[own], (some[own] for some in elements.signedRange(side))
        first, last = np.searchsorted(limits, low), np.searchsorted(limits, high)
        # an element is wholly beyond limits below its lowest value, and not at all beyond those from its highest one on
        result = np.bincount(first, sizes, len(limits) + 1)[::-1].cumsum()[::-1][1:]
        result = result + np.where(limits < 0, self.field.shared[self.number], 0.0)
        crossed = np.flatnonzero(last > first)
        while len(crossed):
            for rows in (crossed[part] for part in chunks(len(crossed))):
                values = withPieces(side * self.field.sampler.values.take(elements.nodes[:, own.start + rows]))
                limit = np.tile(limits[first[rows]], len(WITH_PIECES[elements.corners]))
                coarse, fine = ofWholeAndPieces(1 - shareBelow(values, limit), elements.corners)
                np.add.at(result, first[rows], (fine + (fine - coarse) / 3) * sizes[rows])
            first[crossed] += 1
            crossed = crossed[first[crossed] < last[crossed]]
        # extrapolation must not make the curve rise
        return np.minimum.accumulate(np.clip(result, 0.0, self.totalSize))

    @cached_property
    def atPoints(self) -> np.ndarray:
        """(len(surface.points),) signed distance in mm at every point of the boundary."""
        return self.sign * self.field.sampler.atPoints(self.number) + 0.0

    # Single elements

    @cached_property
    def rows(self) -> slice:
        """The rows of the field's base."""
        return self.field.base.rowsOf(self.number)

    @property
    def pieces(self) -> int:
        """Number of pieces of each of the field's elements."""
        return len(PIECES[self.surface.dimension])

    @cached_property
    def signed(self) -> np.ndarray:
        """(n,) mean signed distances of the pieces in mm."""
        base, first = self.field.base, self.rows.start
        result = np.empty((self.rows.stop - first, self.pieces))
        for chosen in chunks(len(result)):
            nodes = base.nodes[:, first + chosen.start : min(first + chosen.stop, self.rows.stop)]
            values = self.field.sampler.values.take(nodes)
            result[chosen] = (self.sign * values[PIECES[base.corners]].mean(axis=1)).T
        return result.ravel()

    @cached_property
    def distances(self) -> np.ndarray:
        """(n,) distances of the pieces in mm, not negative."""
        return np.abs(self.signed)

    @cached_property
    def cells(self) -> np.ndarray:
        """(k,) number of the boundary's cell that each element of the field belongs to; those of one are together."""
        return self.field.sampler.surfaceCells(self.number)

    @cached_property
    def sharedCells(self) -> np.ndarray:
        """Numbers (n,) of the triangles that are part of both boundaries."""
        isShared = np.ones(self.surface.count, bool)
        isShared[self.cells] = False
        return np.flatnonzero(isShared)

    def _corners(self, pieces: np.ndarray) -> np.ndarray:
        """Return the nodes (corners, n) of some pieces (n,)."""
        rows, piece = np.divmod(pieces, self.pieces)
        base = self.field.base
        return base.nodes[PIECES[base.corners][piece].T, self.rows.start + rows]

    def positionsOf(self, pieces: np.ndarray) -> np.ndarray:
        """Return the LPS centers (n, 3) of some pieces (n,) in mm."""
        corners = self._corners(pieces)
        return self.field.sampler.points(corners.ravel()).reshape(*corners.shape, 3).mean(axis=0)

    def sizesOf(self, pieces: np.ndarray) -> np.ndarray:
        """Return the areas (n,) of some pieces (n,) in mm2, or their lengths in mm for contours."""
        return self.field.base.sizes[self.rows.start + pieces // self.pieces] / self.pieces

    def rangesOf(self, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest signed distance (n,) in mm at the corners of some pieces (n,)."""
        values = self.sign * self.field.sampler.values.take(self._corners(pieces))
        return values.min(axis=0), values.max(axis=0)

    def farthestPlace(self, piece: int, isPositive: bool) -> np.ndarray:
        """Return the place (3,) in mm of the largest or the smallest distance at the corners of a piece."""
        nodes = self._corners(np.array([piece]))[:, 0]
        values = self.sign * self.field.sampler.values.take(nodes) * (1 if isPositive else -1)
        return self.field.sampler.points(nodes[[values.argmax()]])[0]

    @property
    def centers(self) -> np.ndarray:
        """(k, 3) LPS centers of the field's elements, mm."""
        corners = self.field.base.nodes[: self.surface.dimension, self.rows]
        return self.field.sampler.points(corners.ravel()).reshape(*corners.shape, 3).mean(axis=0)

    def meanOver(self, rows: np.ndarray, more: float = 0.0) -> Bounded:
        """Return the mean signed distance in mm over some of the field's elements (n,), with bounds.

        more: size of shared elements, which have distance 0, to be included.
        """
        base, rows = self.field.base, self.rows.start + rows
        sizes = base.sizes.take(rows)
        size, fine = float(sizes.sum()) + more, base.fine.take(rows) * sizes
        differences = fine - base.coarse.take(rows) * sizes
        mean = self.sign * float((fine + differences / 3).sum()) / size
        error = BOUNDS_OF_MEAN * errorsLeft(differences, LEFT_OF_MEAN)[2][-1] / size + ROUNDING
        return Bounded.within(mean, error, -np.inf, np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceDistances:
    """Distances between a reference and a test boundary in both directions. method: name of the algorithm used."""

    referenceToTest: DirectedDistances
    testToReference: DirectedDistances
    method: str

    @property
    def directions(self) -> tuple[DirectedDistances, DirectedDistances]:
        return self.referenceToTest, self.testToReference

    @property
    def hasSides(self) -> bool:
        """Whether signs distinguish inside from outside, as both boundaries are closed."""
        return all(direction.surface.isClosed for direction in self.directions)

    def exchange(self) -> SurfaceDistances:
        """Return the same distances with reference and test exchanged. Distances to an open boundary have no sign."""
        toTest, toReference = (
            replace(one, sign=-one.sign if other.surface.isClosed else one.sign)
            for one, other in zip(self.directions, self.directions[::-1], strict=True)
        )
        return SurfaceDistances(toReference, toTest, self.method)

    def forget(self) -> None:
        """Free the memory of cached values."""
        for direction in self.directions:
            direction.field.forget()
            for name in ("signed", "distances", "cells", "sharedCells"):
                direction.__dict__.pop(name, None)


class BoundaryPair:
    """The non-empty boundaries of a reference and a test structure, prepared for measuring distances between them.

    reach: distance in mm that table lookup should cover if both are masks on one lattice.
    Raises InputError if one is a surface and the other contours, or if contours lie in different planes.
    """

    def __init__(self, reference: Surface, test: Surface, reach: float = 0.0):
        if reference.dimension != test.dimension:
            raise InputError("A surface in space cannot be compared with contours in a plane.")
        if reference.dimension == 2 and not liesInPlane(reference, test):
            raise InputError("The contours lie in different planes.")
        self.surfaces = (reference, test)
        # where both unsmoothed surfaces were built
        self.lattice: Lattice | None = None
        masks = [surface.mask for surface in self.surfaces if surface.mask is not None]
        if len(masks) == 2 and reference.dimension == 3:
            with suppress(ValueError):
                self.lattice = Lattice([masks], cellsWithin(masks[0].grid, reach))
        self._reach = reach
        self._searches: dict[Surface, ClosestSurface] = {}

    def __getstate__(self) -> dict:
        """Leave out the search trees, which are rebuilt in the other process."""
        return {**self.__dict__, "_searches": {}}

    def exchange(self) -> BoundaryPair:
        """Return the pair with reference and test exchanged, which shares the search trees."""
        pair = BoundaryPair(self.surfaces[1], self.surfaces[0], self._reach)
        pair._searches = self._searches
        return pair

    def search(self, number: int) -> ClosestSurface:
        """Return the closest-point search of the reference (0) or the test (1)."""
        surface = self.surfaces[number]
        if surface not in self._searches:
            self._searches[surface] = ClosestSurface(surface.target)
        return self._searches[surface]

    def forget(self) -> None:
        """Free the memory of the search trees and the lattice; they are rebuilt when needed again."""
        self._searches.clear()
        if self.lattice is not None:
            self.lattice.forget()

    @property
    def isLookedUp(self) -> bool:
        """Whether distances are looked up on a lattice, without a search tree."""
        # the ends of boundaries that were cut off beyond a slab must stay out of reach
        return self.lattice is not None and all(surface.target is surface for surface in self.surfaces)

    def measure(self, tolerances: Sequence[float] = (), percentiles: Sequence[float] = ()) -> SurfaceDistances:
        """Return the distances in both directions; numbers for tolerances in mm and percentiles become precise."""
        return measureTogether([self], tolerances, percentiles)[0]


def measureTogether(
    pairs: Sequence[BoundaryPair], tolerances: Sequence[float] = (), percentiles: Sequence[float] = ()
) -> list[SurfaceDistances]:
    """Return the distances of pairs, in their order, as BoundaryPair.measure() does of each.

    Small masks of one grid are measured together, as segments of one field: what a pair costs is mostly the number of
    steps, which are the same for one as for many. All else is measured pair by pair. The numbers are those of single
    pairs, whatever pairs are measured with them.
    """
    limits = [withTies(tolerance) for tolerance in tolerances]
    percentiles = [percent for percent in percentiles if percent < 100]
    result: dict[int, SurfaceDistances] = {}
    for rows in packs(pairs):
        chosen = [pairs[row] for row in rows]
        surfaces = [pair.surfaces[source] for source in (0, 1) for pair in chosen]
        lattice = chosen[0].lattice if chosen[0].isLookedUp else None
        if lattice is not None and len(chosen) > 1:
            masks = [pair.lattice.masks[0] for pair in chosen if pair.lattice is not None]
            lattice = Lattice(masks, lattice.reach)
        sampler = LatticeSampler(lattice, surfaces) if lattice else Sampler(surfaces, chosen[0].search)
        field = Field(sampler, limits, percentiles)
        every = [DirectedDistances(field, segment, surface) for segment, surface in enumerate(surfaces)]
        for row, toTest, toReference in zip(rows, every, every[len(rows) :], strict=False):
            result[row] = SurfaceDistances(toTest, toReference, "lattice lookup" if lattice else "search tree")
    return [result[row] for row in range(len(pairs))]


def packs(pairs: Sequence[BoundaryPair]) -> list[list[int]]:
    """Return the numbers of pairs that are measured together, most of them alone; see measureTogether()."""
    result: list[list[int]] = []
    # the last pack of every grid, how many triangles it has, and the box around each of its pairs
    last: dict[tuple, tuple[list[int], Grid, int, np.ndarray]] = {}
    for row, pair in enumerate(pairs):
        count = sum(surface.count for surface in pair.surfaces)
        if len(pairs) == 1 or pair.lattice is None or not pair.isLookedUp or count > SMALL:
            result.append([row])
            continue
        grid, shape = pair.lattice.grid, pair.lattice.shape
        key = (pair.lattice.reach, *grid.axes.ravel().tolist())
        pack, first, together, box = last.get(key, ([], grid, MOST_TOGETHER, shape))
        together, box = together + count, np.maximum(box, shape)
        isFull = together > MOST_TOGETHER or len(pack) == MOST_PAIRS or (len(pack) + 1) * box.prod() > MOST_CELLS
        if isFull or grid.offsetOn(first) is None:
            pack, first, together, box = [], grid, count, shape
            result.append(pack)
        pack.append(row)
        last[key] = pack, first, together, box
    return result


def withTies(tolerance: float, side: int = 1) -> float:
    """Return the distance in mm up to which something counts as within a tolerance in mm, or with side -1 as below."""
    return tolerance + side * TIE_TOLERANCE * min(1.0, tolerance)


def touching(elementLength: float) -> float:
    """Return the distance in mm up to which something counts as touching a boundary with elements of a length in mm."""
    return TIE_TOLERANCE * min(1.0, elementLength)
