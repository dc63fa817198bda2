"""Worst places: the connected patches of two boundaries that lie farther apart than a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.plain import storeAs
from ..base.texts import LETTERS_OF_AXES
from ..distances.surfacedistances import TIE_TOLERANCE, DirectedDistances, SurfaceDistances, withTies
from ..geometry.nearpoints import NearPoints
from ..geometry.parts import components
from ..geometry.surfaces import Surface, outwardNormals
from ..model.dose import Dose
from ..model.structures import REFERENCE_AND_TEST

# Radius in mm around a place over which normals are averaged, because single voxel faces point anywhere.
NORMAL_RADIUS = 5.0
# A side dominates if the mean unit normal has at least this component toward it, and at most this fraction of that
# toward the next side.
CLEAR_MAJORITY = 0.5
CLEAR_LEAD = 0.6
# Maximum number of elements and cells sampled to find the dominant side.
MOST_SAMPLES = 3_000
# Places that are listed.
MOST = 10


@dataclass(frozen=True)
class Place:
    """Where two boundaries differ.

    rank: 1 is the worst. value: distance in mm at its worst point, positive where the test lies outside the reference.
    area: of the patch, mm2 (length in mm for contours). position: LPS of the worst point, mm. direction: R, L, A, P, S
    or I, the side of the structure on which it lies. side: the boundary on which the worst point lies, "reference" or
    "test". normal: smoothed outward unit normal (LPS) of the inner boundary there, which is the reference where the
    test lies outside it; zero if there is none. dose: of a plan at the worst point in Gy; None if none is given, and
    outside its grid.
    """

    rank: int
    value: float
    area: float
    position: tuple[float, float, float]
    direction: str
    side: str
    normal: tuple[float, float, float]
    dose: float | None = storeAs(default=None, isLeftOut=True)


class _Side:
    """A boundary and its patches (k,): connected parts beyond the tolerance, either over- or under-contoured.

    cells, owners: (m,) cells of patches, and the patch of each; a cell may be listed for two patches. peaks: (k,) the
    worst elements. values: (k,) signed distances there, mm. areas: (k,) mm2 or mm. positions: the worst places (3,),
    mm, by patch, if known more precisely than by the element.
    """

    def __init__(self, direction: DirectedDistances, tolerance: float):
        limit = withTies(tolerance)
        over, under = (np.flatnonzero(sign * direction.signed > limit) for sign in (1, -1))
        elements = np.concatenate([over, under])
        # a cell with elements of both kinds is there twice
        cells = direction.cells.take(elements // direction.pieces)
        isFirst = np.diff(cells, prepend=-1) != 0
        isFirst[len(over) : len(over) + 1] = True
        starts = np.flatnonzero(isFirst)
        self.direction, self.cells = direction, cells[starts]
        self.owners = _connect(direction.surface, self.cells, int(np.searchsorted(starts, len(over))))
        self.positions: dict[int, np.ndarray] = {}
        sizes = direction.sizesOf(elements)
        self.areas = np.bincount(self.owners, np.add.reduceat(sizes, starts) if len(sizes) else sizes)
        low, high = direction.rangesOf(elements)
        far = np.concatenate([high[: len(over)], -low[len(over) :]])
        self.peaks, self.values = np.zeros(0, int), np.zeros(0)
        if len(far):
            largest = np.maximum.reduceat(far, starts)
            most = np.zeros(self.owners.max() + 1)
            np.maximum.at(most, self.owners, largest)
            rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(far)))
            farthest = np.flatnonzero(far >= (most - TIE_TOLERANCE)[self.owners][rows])
            # of equally far ones, common on lattices, the one with the lowest coordinates, so that noise in the last
            # digit, as of a saved scene, does not matter; then that of the cell with the smallest maximum
            rows = rows[farthest]
            x, y, z = np.round(direction.positionsOf(elements[farthest]), 3).T
            order = np.lexsort((largest[rows], x, y, z, self.owners[rows]))
            chosen = farthest[order[np.diff(self.owners[rows[order]], prepend=-1) > 0]]
            self.peaks = elements[chosen]
            self.values = np.where(chosen < len(over), far[chosen], -far[chosen])
            self._takeLargest()

    @cached_property
    def centers(self) -> np.ndarray:
        """(n, 3) centers of all cells, LPS mm."""
        return _centersOf(self.direction.surface.points, self.direction.surface.cells)

    @cached_property
    def near(self) -> NearPoints:
        """Finds centers."""
        return NearPoints(self.centers)

    @cached_property
    def ownerOf(self) -> np.ndarray:
        """(n,) the patch of every cell, -1 for none."""
        result = np.full(len(self.direction.surface.cells), -1)
        result[self.cells] = self.owners
        return result

    def _takeLargest(self) -> None:
        """Give the boundary's largest distance, which is known more precisely than those of elements, to its patch."""
        largest = float(self.direction.largest)
        # nothing to do if all patches are equally far
        if not (largest > np.abs(self.values) + TIE_TOLERANCE).any():
            return
        place = self.direction.largestPlace
        there = self.owners[self.cells == self.near.nearest(place[None])]
        if len(there) > 1:  # the cell has parts in two patches, one of either kind
            isOver = self.direction.reach(1) >= self.direction.reach(-1)
            there = there[(self.values[there] > 0) == isOver]
        for number in there.tolist():
            if largest > abs(self.values[number]) + TIE_TOLERANCE:
                self.values[number] = np.copysign(largest, self.values[number])
                self.positions[number] = place

    def opposite(self, beyond: _Side, number: int) -> set[int]:
        """Return the patches that lie opposite a patch of the other boundary, given by number."""
        if not len(self.peaks):
            return set()
        cells = beyond.cells[beyond.owners == number]
        found = self.ownerOf[self.near.nearest(beyond.centers.take(cells, axis=0))]
        return set(np.unique(found[found >= 0]).tolist())

    def position(self, number: int) -> np.ndarray:
        """Return the worst place (3,) of a patch, mm."""
        if (known := self.positions.get(number)) is not None:
            return known
        return self.direction.farthestPlace(int(self.peaks[number]), bool(self.values[number] > 0))


def worstPlaces(distances: SurfaceDistances, tolerance: float, most: int | None = MOST) -> tuple[Place, ...]:
    """Return the places where two boundaries are farther apart than a tolerance in mm, the worst first.

    A place usually shows on both boundaries. The patch with the larger distance represents it; patches of the other
    boundary opposite to it are the same place and are not listed. most: maximum number of places, None for all.
    """
    sides = [_Side(direction, tolerance) for direction in distances.directions]
    every = [(round(abs(v), 6), which, n) for which in (0, 1) for n, v in enumerate(sides[which].values.tolist())]
    places: list[tuple[int, int]] = []
    taken: set[tuple[int, int]] = set()
    for _, which, number in sorted(every, reverse=True):
        if (which, number) in taken:
            continue
        places.append((which, number))
        if len(places) == most:
            break
        # all patches of the other boundary that lie opposite this one are the same place
        taken.update((1 - which, other) for other in sides[1 - which].opposite(sides[which], number))
    values = [float(sides[which].values[number]) for which, number in places]
    positions = np.array([sides[which].position(number) for which, number in places]).reshape(-1, 3)
    normals = _normalsBelow(sides, positions, np.array(values) < 0)
    found = []
    for rank, ((which, number), value) in enumerate(zip(places, values, strict=True), 1):
        position, normal = (tuple(one[rank - 1].tolist()) for one in (positions, normals))
        area, side = float(sides[which].areas[number]), REFERENCE_AND_TEST[which]
        found.append(Place(rank, value, area, position, _letter(normals[rank - 1]), side, normal))
    return tuple(found)


def withDose(places: Sequence[Place], dose: Dose, isRanked: bool) -> tuple[Place, ...]:
    """Return the first MOST places with their doses. isRanked: whether that with the largest dose is the first."""
    values, areWithin = dose.at(np.array([place.position for place in places]).reshape(-1, 3))
    found = [replace(p, dose=float(v) if isIn else None) for p, v, isIn in zip(places, values, areWithin, strict=True)]
    if isRanked:
        found.sort(key=lambda place: -1.0 if place.dose is None else place.dose, reverse=True)
    return tuple(replace(place, rank=rank) for rank, place in enumerate(found[:MOST], start=1))


def mostlyToward(distances: SurfaceDistances, tolerance: float, over: bool = True) -> str:
    """Return the side of the structure at which most of the over- or under-contoured boundary lies.

    tolerance: in mm; elements beyond it are weighted by size times the excess distance. over: whether to consider the
    over-contoured (True) or the under-contoured boundary. Returns R, L, A, P, S or I, or "" if no side clearly
    dominates, nothing is beyond the tolerance, or a boundary is open.
    """
    if not distances.hasSides:
        return ""
    # The normal of the inner boundary decides the side, also for the flanks of a bump on the outer one, whose own
    # normals point in all directions.
    inner = distances.directions[0 if over else 1].surface
    points, excesses = [], []
    for direction in distances.directions:
        excess = (direction.signed if over else -direction.signed) - tolerance
        # a sample of the elements and of the cells, spread over the surface, suffices to find the side
        beyond = np.flatnonzero(excess > TIE_TOLERANCE)
        step = 1 + len(beyond) // MOST_SAMPLES
        points.append(direction.positionsOf(beyond[::step]))
        excesses.append(direction.sizesOf(beyond[::step]) * excess[beyond[::step]] * step)
    weights = np.concatenate(excesses)
    if (weight := weights.sum()) == 0:
        return ""
    cells = np.arange(0, len(inner.cells), 1 + len(inner.cells) // MOST_SAMPLES)
    centers = NearPoints(_centersOf(inner.points, inner.cells[cells]))
    total = weights @ outwardNormals(inner, cells[centers.nearest(np.concatenate(points))])
    second, first = np.sort(np.abs(total))[-2:]
    dominates = first >= CLEAR_MAJORITY * weight and second <= CLEAR_LEAD * first
    return _letter(total) if dominates else ""


def _connect(surface: Surface, cells: np.ndarray, over: int) -> np.ndarray:
    """Return the patches (m,) to which cells (m,) belong, numbered in the order of their first cells.

    over: how many of the cells, the first ones, are over-contoured; they are in no patch with the others.
    """
    if not len(cells):
        return cells
    points = surface.cells.take(cells, axis=0)
    points[over:] += len(surface.points)
    rows = np.repeat(np.arange(len(cells)), points.shape[1])
    points = np.unique(points, return_inverse=True)[1].ravel() + len(cells)
    return np.unique(components(rows, points, points.max() + 1)[: len(cells)], return_inverse=True)[1]


def _centersOf(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the means (n, 3) of the corners of cells (n, corners), mm."""
    # corner by corner: NumPy is slow to reduce along a short axis
    first, *others = cells.T
    result = points.take(first, axis=0)
    for column in others:
        result += points.take(column, axis=0)
    result /= cells.shape[1]
    return result


def _normalsBelow(sides: Sequence[_Side], positions: np.ndarray, isUnder: np.ndarray) -> np.ndarray:
    """Return the mean outward unit normals (n, 3) of the inner boundary next to positions (n, 3), zeros for none.

    isUnder: (n,) whether the test is the inner boundary.
    """
    normals = np.zeros(positions.shape)
    for side, rows in zip(sides, (np.flatnonzero(~isUnder), np.flatnonzero(isUnder)), strict=True):
        if len(rows):
            surface = side.direction.surface
            # a new search: what was asked before must not decide which of several equally near cells is found
            centers = NearPoints(side.centers)
            cells = centers.nearest(positions[rows])
            near = centers.within(side.centers[cells], NORMAL_RADIUS)
            ends = np.cumsum([len(some) for some in near])
            # in one call, because the first look-up takes long
            every = outwardNormals(surface, np.concatenate([*near, cells]))
            for row, some, end, alone in zip(rows, near, ends, every[ends[-1] :], strict=True):
                sizes = surface.sizes[some]
                mean = sizes @ every[end - len(some) : end]
                length = np.linalg.norm(mean)
                if length < 0.5 * sizes.sum():  # the cells belong to opposite walls of something thin
                    normals[row] = alone
                elif length > 0:
                    normals[row] = mean / length
    return normals


def _letter(normal: np.ndarray) -> str:
    axis = int(np.abs(normal).argmax())
    return LETTERS_OF_AXES[axis][int(normal[axis] > 0)]
