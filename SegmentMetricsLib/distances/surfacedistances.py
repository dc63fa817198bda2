"""Distances between two boundaries: computed once in both directions, reduced many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ..base.errors import InputError
from ..base.parallel import sideBySide
from ..geometry.closest import ClosestSurface
from ..geometry.surfaces import Surface, barycentricWeights, elementCenters
from . import lattice
from .sampling import Sampler

# Lookup tables grow with the number of pieces; above this many subdivisions the search tree is used.
LARGEST_LATTICE_SUBDIVISIONS = 1
# Boundaries on a lattice are exactly tau apart over large areas: rounding must not decide whether they are within tau.
# In mm; for tolerances below 1 mm, as a fraction of the tolerance.
TIE_TOLERANCE = 1e-4
# Up to this many cells of both boundaries, a thread per direction is not worthwhile.
FEW_TO_SHARE = 200_000

T = TypeVar("T")


class Groups(NamedTuple):
    """Groups (g,) of elements of one boundary: their sizes in mm2 or mm, and signed distances in mm.

    means: per group. high, low: the largest and the smallest found on any element of a group.
    differences: distance times size of each group, minus the same computed from the coarser elements that its elements
    were cut from; None if unknown.
    """

    sizes: np.ndarray
    means: np.ndarray
    high: np.ndarray
    low: np.ndarray
    differences: np.ndarray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DirectedDistances:
    """Distances from the elements of one boundary to the other boundary.

    This class defines every number, such as the mean or a percentile, for elements that have one distance each. What
    these are is up to its two kinds. SampledDistances, for the accuracy "sampled", has the distances of the elements'
    centers. ConvergedDistances, for "converged", the default, defines the same numbers anew for distances that vary
    linearly across the elements, which it cuts until the numbers no longer change. Both have:

    signed: (n,) mm, positive where the test lies outside the reference, in either direction; always positive for open
    surfaces. atPoints: (len(surface.points),) signed distance in mm at every point of the boundary.

    surface: the boundary to measure from; its cells are cut `subdivisions` times into the elements.
    """

    surface: Surface
    subdivisions: int

    def __repr__(self) -> str:
        return f"<{type(self).__name__} from {self.surface!r}>"

    if TYPE_CHECKING:  # a field of one kind, computed by the other

        @property
        def signed(self) -> np.ndarray: ...

        @property
        def atPoints(self) -> np.ndarray: ...

    @cached_property
    def distances(self) -> np.ndarray:
        """(n,) distances in mm, not negative."""
        return np.abs(self.signed)

    @property
    def pieces(self) -> int:
        """Number of elements that each cell of the boundary is cut into."""
        return 2 ** ((self.surface.dimension - 1) * self.subdivisions)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(n,) area of every element in mm2, or length in mm for contours."""
        return np.repeat(self.surface.sizes / self.pieces, self.pieces)

    @cached_property
    def totalSize(self) -> float:
        """Area of the whole boundary in mm2, or length in mm."""
        return float(self.sizes.sum())

    @cached_property
    def positions(self) -> np.ndarray:
        """(n, 3) LPS centers of the elements, mm."""
        return elementCenters(self.surface.points, self.surface.cells, self.subdivisions)

    def position(self, element: int) -> np.ndarray:
        """Return the LPS center (3,) of one element, mm."""
        return self.positionsOf(np.array([element]))[0]

    def positionsOf(self, elements: np.ndarray) -> np.ndarray:
        """Return the LPS centers (n, 3) of some elements (n,) in mm, without computing the large array of all."""
        cells, pieces = np.divmod(elements, self.pieces)
        weights = barycentricWeights(self.surface.dimension, self.subdivisions)
        return np.einsum("nc,ncx->nx", weights[pieces] / weights[0].sum(), self.surface.corners(cells))

    @cached_property
    def mean(self) -> float:
        """Mean distance in mm, weighted by element size."""
        return float(self.distances @ self.sizes) / self.totalSize

    @cached_property
    def largest(self) -> float:
        """Largest distance of an element in mm."""
        return float(self.distances.max())

    @cached_property
    def signedMean(self) -> float:
        """Mean signed distance in mm, weighted by element size."""
        return float(self.signed @ self.sizes) / self.totalSize

    def forget(self) -> None:
        """Free the memory of cached values."""
        for name in ("distances", "sizes", "positions"):
            self.__dict__.pop(name, None)

    def rangesOf(self, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest signed distance (n,) in mm found on each of some elements (n,)."""
        return self.signed[elements], self.signed[elements]

    def sizesOf(self, elements: np.ndarray) -> np.ndarray:
        """Return the areas (n,) of some elements (n,) in mm2, or their lengths in mm for contours."""
        return self.surface.sizes[elements // self.pieces] / self.pieces

    @property
    def between(self) -> float | None:
        """Upper bound in mm of how far distances between sampled places exceed rangesOf(); None if unknown."""
        return None

    def grouped(self, pieces: int) -> Groups:
        """Return groups of `pieces` consecutive elements each; the elements of a group are equally large."""
        every = np.arange(len(self.signed))
        low, high = (values.reshape(-1, pieces).T for values in self.rangesOf(every))
        means, sizes = self.signed.reshape(-1, pieces).T, self.sizes[::pieces] * pieces
        # row by row: NumPy is slow to reduce along a short axis
        return Groups(
            sizes,
            reduce(np.add, means) / pieces,
            reduce(np.maximum, high),
            reduce(np.minimum, low),
        )

    def meanOf(self, groups: Groups, chosen: np.ndarray) -> float:
        """Return the mean signed distance in mm over some groups, given by index (c,)."""
        sizes = groups.sizes.take(chosen)
        return float(groups.means.take(chosen) @ sizes) / float(sizes.sum())

    def reached(self, side: int) -> float:
        """Return a lower bound of the largest signed distance in mm toward one side (1 or -1)."""
        return float((side * self.signed).max())

    def farthest(self, side: int, known: float = 0.0) -> tuple[float, np.ndarray]:
        """Return the largest signed distance in mm toward the positive (1) or the negative (-1) side, and its place.

        known: a distance in mm already found elsewhere; a smaller result need not be accurate.
        """
        worst = int((side * self.signed).argmax())
        return side * float(self.signed[worst]), self.position(worst)

    @property
    def largestPlace(self) -> np.ndarray:
        """The place (3,) of the largest distance toward either side, mm."""
        return self.position(int(self.distances.argmax()))

    def farthestPlace(self, element: int, isPositive: bool) -> np.ndarray:
        """Return the place (3,) in mm of the largest or the smallest distance on an element."""
        return self.position(element)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        """Return the sizes (n,) farther than each of some ascending limits (n,) in mm toward one side (1 or -1)."""
        bins = np.searchsorted(limits, side * self.signed, side="left")
        return self.totalSize - np.cumsum(np.bincount(bins, self.sizes, len(limits) + 1))[:-1]

    def sizeBeyond(self, limit: float, side: int) -> float:
        """Return the size farther than a limit in mm toward the positive (1) or negative (-1) side."""
        return float(self.sizes[side * self.signed > limit].sum())

    def sizeWithin(self, tolerance: float) -> float:
        """Return the size of the elements whose distance is at most the tolerance in mm."""
        return float(self.sizes[self.distances <= tolerance].sum())

    def sizeBetween(self, low: float, high: float) -> float:
        """Return the size of the elements whose distance exceeds `low` but not `high`, mm."""
        return float(self.sizes[(self.distances > low) & (self.distances <= high)].sum())

    def percentile(self, percent: float) -> float:
        """Return the smallest distance in mm that at least `percent` of the boundary's size does not exceed.

        No interpolation between elements. percent: in (0, 100].
        """
        # Sort only the elements above a distance that is certainly less than the percentile.
        wanted = percent / 100 * self.totalSize
        floor = self._floorBelow(wanted)
        above = np.flatnonzero(self.distances > floor)
        order = above[np.argsort(self.distances[above])]
        share = np.cumsum(self.sizes[order]) + (self.totalSize - self.sizes[above].sum())
        # rounding of the sum must not decide between two neighboring values
        first = int(np.searchsorted(share, wanted * (1 - 1e-12)))
        return float(self.distances[order[min(first, len(order) - 1)]])

    def _floorBelow(self, wanted: float) -> float:
        """Return a distance within which the boundary's size is certainly less than wanted (-1 if none)."""
        if np.ptp(self.distances) <= 1e-9 * self.largest:
            return -1.0  # equal up to rounding, so there is nothing to bin
        shares, edges = np.histogram(self.distances, bins=256, weights=self.sizes)
        below = np.cumsum(shares) < wanted * (1 - 1e-9)
        count = int(below.argmin()) if not below.all() else len(below) - 1
        return float(edges[count - 1]) if count > 0 else -1.0


@dataclass(frozen=True, eq=False, repr=False)
class SampledDistances(DirectedDistances):
    """Distances of the elements' centers. measurePoints: returns the signed distances at the boundary's points."""

    signed: np.ndarray
    measurePoints: Callable[[], np.ndarray]

    @cached_property
    def atPoints(self) -> np.ndarray:
        return self.measurePoints()


@dataclass(frozen=True, eq=False, repr=False)
class ExchangedDistances(DirectedDistances):
    """Distances of a boundary after reference and test changed places: those of the original with the other sign."""

    original: DirectedDistances

    @staticmethod
    def of(original: DirectedDistances) -> ExchangedDistances:
        """Return distances with the other sign."""
        return ExchangedDistances(original.surface, original.subdivisions, original)

    @property
    def signed(self) -> np.ndarray:
        return 0.0 - self.original.signed

    @property
    def atPoints(self) -> np.ndarray:
        return 0.0 - self.original.atPoints

    @property
    def mean(self) -> float:
        return self.original.mean

    @property
    def largest(self) -> float:
        return self.original.largest

    @property
    def largestPlace(self) -> np.ndarray:
        return self.original.largestPlace

    @property
    def signedMean(self) -> float:
        return -self.original.signedMean

    @property
    def totalSize(self) -> float:
        return self.original.totalSize

    @property
    def between(self) -> float | None:
        return self.original.between

    def forget(self) -> None:
        super().forget()
        self.original.forget()

    def rangesOf(self, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.original.rangesOf(elements)
        return 0.0 - high, 0.0 - low

    def grouped(self, pieces: int) -> Groups:
        sizes, means, high, low, differences = self.original.grouped(pieces)
        return Groups(sizes, 0.0 - means, 0.0 - low, 0.0 - high, None if differences is None else 0.0 - differences)

    def meanOf(self, groups: Groups, chosen: np.ndarray) -> float:
        # of groups as given, whose signs are changed already
        return self.original.meanOf(groups, chosen)

    def reached(self, side: int) -> float:
        return self.original.reached(-side)

    def farthest(self, side: int, known: float = 0.0) -> tuple[float, np.ndarray]:
        return self.original.farthest(-side, known)

    def farthestPlace(self, element: int, isPositive: bool) -> np.ndarray:
        return self.original.farthestPlace(element, not isPositive)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        return self.original.sizesBeyond(limits, -side)

    def sizeBeyond(self, limit: float, side: int) -> float:
        return self.original.sizeBeyond(limit, -side)

    def sizeWithin(self, tolerance: float) -> float:
        return self.original.sizeWithin(tolerance)

    def sizeBetween(self, low: float, high: float) -> float:
        return self.original.sizeBetween(low, high)

    def percentile(self, percent: float) -> float:
        return self.original.percentile(percent)


@dataclass(frozen=True, eq=False)
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

    def ofBoth(self, ask: Callable[[DirectedDistances], T]) -> list[T]:
        """Return the results of a function for both directions, in parallel if they are large."""
        count = sum(len(direction.surface.cells) for direction in self.directions)
        return sideBySide([partial(ask, direction) for direction in self.directions], count > FEW_TO_SHARE)

    def exchanged(self) -> SurfaceDistances:
        """Return the same distances with reference and test exchanged. Distances to an open boundary have no sign."""
        toTest, toReference = (
            ExchangedDistances.of(one) if other.surface.isClosed else one
            for one, other in zip(self.directions, self.directions[::-1], strict=True)
        )
        return SurfaceDistances(toReference, toTest, self.method)

    @cached_property
    def usualLargest(self) -> float:
        """Distance in mm not exceeded by 98 % of either boundary: the end of scales that outliers may exceed."""
        return max(self.ofBoth(lambda direction: direction.percentile(98)))

    def forget(self) -> None:
        """Free the memory of cached values."""
        for direction in self.directions:
            direction.forget()


class BoundaryPair:
    """The non-empty boundaries of a reference and a test structure, prepared for measuring distances between them.

    reach: distance in mm that table lookup should cover if both are masks on one lattice. searches: the closest-point
    searches of boundaries that are in several pairs, to use and to add to; None for a pair with its own.
    Raises InputError if one is a surface and the other contours, or if contours lie in different planes.
    """

    def __init__(
        self,
        reference: Surface,
        test: Surface,
        reach: float = 0.0,
        searches: dict[Surface, ClosestSurface] | None = None,
    ):
        if reference.dimension != test.dimension:
            raise InputError("A surface in space cannot be compared with contours in a plane.")
        if reference.dimension == 2 and not liesInPlane(reference, test):
            raise InputError("The contours lie in different planes.")
        self.surfaces = (reference, test)
        self.lattice = sharedLattice(reference, test, reach)
        self._reach, self._areShared = reach, searches is not None
        self._searches: dict[Surface, ClosestSurface] = {} if searches is None else searches

    def __getstate__(self) -> dict:
        """Leave out the search trees, which are rebuilt in the other process."""
        return {**self.__dict__, "_searches": {}}

    def exchanged(self) -> BoundaryPair:
        """Return the pair with reference and test exchanged, which shares the search trees."""
        return BoundaryPair(self.surfaces[1], self.surfaces[0], self._reach, self._searches)

    def search(self, number: int) -> ClosestSurface:
        """Return the closest-point search of the reference (0) or the test (1)."""
        surface = self.surfaces[number]
        if surface not in self._searches:
            self._searches[surface] = ClosestSurface(surface.target)
        return self._searches[surface]

    def forget(self) -> None:
        """Free the memory of the pair's own search trees and the lattice; they are rebuilt when needed again."""
        if not self._areShared:
            self._searches.clear()
        if self.lattice is not None:
            self.lattice.forget()

    def signedDistances(self, source: int, subdivisions: int | None) -> np.ndarray:
        """Return signed distances (n,) in mm from one boundary's elements, or from its points (subdivisions None).

        Positive where the test lies outside the reference.
        """
        surface, target = self.surfaces[source], 1 - source
        if self.lattice is not None and (subdivisions or 0) <= LARGEST_LATTICE_SUBDIVISIONS:
            # the search tree is built only if a point needs it
            values = lattice.signedDistances(
                self.lattice, surface, source, subdivisions, lambda points: self.search(target).distances(points)
            )
        else:
            points = surface.points
            if subdivisions is not None:
                points = elementCenters(points, surface.cells, subdivisions)
            values = self.search(target).signedDistances(points)
        # outside the reference is over-contoured for the test; the reference outside the test is under-contoured
        return -values if source == 0 and self.surfaces[target].isClosed else values

    def sampler(self, source: int) -> Sampler:
        """Return a sampler of distances from one boundary, the reference (0) or the test (1), to the other."""
        target = 1 - source
        return Sampler(self.surfaces, source, partial(self.search, target), self.lattice)

    def measure(self, subdivisions: int) -> SurfaceDistances:
        """Return the distances in both directions from the centers of the subdivided elements.

        Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630.
        """
        directions = [
            SampledDistances(
                self.surfaces[source],
                subdivisions,
                self.signedDistances(source, subdivisions),
                partial(self.signedDistances, source, None),
            )
            for source in (0, 1)
        ]
        byLookup = self.lattice is not None and subdivisions <= LARGEST_LATTICE_SUBDIVISIONS
        return SurfaceDistances(directions[0], directions[1], "lattice lookup" if byLookup else "search tree")


def sharedLattice(reference: Surface, test: Surface, reach: float) -> lattice.Lattice | None:
    """Return the lattice on which both unsmoothed surfaces were built, or None."""
    if reference.lattice is None or test.lattice is None or reference.mask is None or test.mask is None:
        return None
    grid = reference.mask.grid
    if not grid.isRectangular or test.mask.grid.offsetOn(grid) is None:
        return None
    return lattice.Lattice((reference.mask, test.mask), lattice.cellsWithin(grid, reach))


def liesInPlane(reference: Surface, test: Surface) -> bool:
    """Return whether two contours are coplanar within a thousandth of their extent."""
    extent = np.ptp([reference.box, test.box], axis=1).max()
    offset = (test.points - reference.center) @ reference.normal
    return bool(np.abs(offset).max() <= 1e-3 * extent)


def withTies(tolerance: float, side: int = 1) -> float:
    """Return the distance in mm up to which something counts as within a tolerance in mm, or with side -1 as below."""
    return tolerance + side * TIE_TOLERANCE * min(1.0, tolerance)


def touching(elementLength: float) -> float:
    """Return the distance in mm up to which something counts as touching a boundary with elements of a length in mm."""
    return TIE_TOLERANCE * min(1.0, elementLength)
