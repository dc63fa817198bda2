"""Worst places: the connected patches of two boundaries that lie farther apart than a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..distances.surfacedistances import TIE_TOLERANCE, DirectedDistances, SurfaceDistances, withTies
from ..geometry.graphs import components
from ..geometry.surfaces import Surface, outwardNormals

# Toward which side of the patient the LPS axes point.
DIRECTIONS = (("R", "L"), ("A", "P"), ("I", "S"))
# mm around a place over which the normal is averaged: single voxel faces point anywhere
NORMAL_RADIUS = 5.0
# A side dominates if the mean of unit normals reaches that far toward it, and to the next side at most that much of it.
CLEAR_MAJORITY = 0.5
CLEAR_LEAD = 0.6
# Elements and cells from which the dominant side is found.
MOST_SAMPLES = 3_000


@dataclass(frozen=True)
class Place:
    """Where two boundaries differ.

    rank: 1 is the worst. value: distance in mm at its worst point, positive where the test lies outside the reference.
    area: of the patch, mm2 (length in mm for contours). position: LPS of the worst point, mm. direction: R, L, A, P, S
    or I, the side of the structure on which it lies. side: the boundary that sticks out there, "reference" or "test".
    normal: outward unit normal (LPS), smoothed, of the boundary that lies inside there, which is the reference where
    the test lies outside it; zero where there is none.
    """

    rank: int
    value: float
    area: float
    position: tuple[float, float, float]
    direction: str
    side: str
    normal: tuple[float, float, float]

    def toDictionary(self) -> dict:
        """Return the place for JSON."""
        return {**self.__dict__, "position": list(self.position), "normal": list(self.normal)}

    @staticmethod
    def fromDictionary(data: Mapping) -> Place:
        """Return the place that toDictionary() described."""
        return Place(**{**data, "position": tuple(data["position"]), "normal": tuple(data["normal"])})


@dataclass(frozen=True)
class _Patch:
    """A connected part of one boundary: which of its cells, its worst element, signed distance there, and size.

    position: the worst place (3,), mm, where it is known closer than by the element.
    """

    cells: np.ndarray
    peak: int
    value: float
    area: float
    position: np.ndarray | None = None


def worstPlaces(distances: SurfaceDistances, tolerance: float, most: int = 10) -> tuple[Place, ...]:
    """Return the places where two boundaries are farther apart than a tolerance in mm, the worst first.

    A place usually shows on both boundaries: the patch that holds the largest distance stands for it, and a patch of
    the other boundary that lies opposite is the same place. most: how many to return at the most.
    """
    from scipy.spatial import cKDTree

    sides = [_patches(direction, tolerance) for direction in distances.directions]
    centers = [_cellCenters(direction.surface) for direction in distances.directions]
    # unbalanced ones are made in half the time, and answer as fast for points spread over a surface
    trees = [cKDTree(points, balanced_tree=False, compact_nodes=False) for points in centers]
    owners = [
        _owners(direction.surface, patches) for direction, patches in zip(distances.directions, sides, strict=True)
    ]
    for direction, *known in zip(distances.directions, sides, owners, trees, strict=True):
        _takeLargest(direction, *known)
    ranked = sorted(
        ((round(abs(patch.value), 6), side, number) for side in (0, 1) for number, patch in enumerate(sides[side])),
        reverse=True,
    )
    places, taken = [], set()
    for _, side, number in ranked:
        if (side, number) in taken:
            continue
        patch, direction = sides[side][number], distances.directions[side]
        # all patches of the other boundary that lie opposite this one are the same place
        _, opposite = trees[1 - side].query(centers[side][patch.cells])
        taken.update((1 - side, int(owner)) for owner in np.unique(owners[1 - side][opposite]) if owner >= 0)
        position = patch.position
        if position is None:
            position = direction.farthestPlace(patch.peak, patch.value > 0)
        inner = 0 if patch.value > 0 else 1
        normal = _normalBelow(position, distances.directions[inner].surface, trees[inner])
        places.append((patch, side, position, normal))
        if len(places) == most:
            break
    return tuple(
        Place(
            rank,
            patch.value,
            patch.area,
            tuple(position.tolist()),
            _side(normal),
            ("reference", "test")[side],
            tuple(normal.tolist()),
        )
        for rank, (patch, side, position, normal) in enumerate(places, start=1)
    )


def mostlyToward(distances: SurfaceDistances, tolerance: float, over: bool = True) -> str:
    """Return the side of the structure at which most of the over- or under-contoured boundary lies.

    tolerance: in mm; counted is what lies farther than that, weighted by size times what is beyond. over: whether the
    over-contoured (True) or the under-contoured boundary is meant. Returns R, L, A, P, S or I, and "" when no side
    clearly dominates, nothing is beyond the tolerance, or a boundary is open.
    """
    from scipy.spatial import cKDTree

    if not distances.hasSides:
        return ""
    # The normal of the boundary that lies inside tells the side, also for the flanks of a bump on the other one, whose
    # own normals point all around.
    inner = distances.directions[0 if over else 1].surface
    # a part of the cells, spread over the surface, shows the side as well as all of them
    cells = np.arange(0, len(inner.cells), 1 + len(inner.cells) // MOST_SAMPLES)
    normals = outwardNormals(inner, cells)
    tree = cKDTree(_cellCenters(inner)[cells])
    total, weight = np.zeros(3), 0.0
    for direction in distances.directions:
        excess = (1 if over else -1) * direction.signed - tolerance
        beyond = np.flatnonzero(excess > TIE_TOLERANCE)
        if not len(beyond):
            continue
        step = 1 + len(beyond) // MOST_SAMPLES
        beyond = beyond[::step]
        weights = direction.sizesOf(beyond) * excess[beyond] * step
        total += weights @ normals[tree.query(direction.positionsOf(beyond))[1]]
        weight += weights.sum()
    if weight == 0:
        return ""
    second, first = np.sort(np.abs(total))[-2:]
    dominates = first >= CLEAR_MAJORITY * weight and second <= CLEAR_LEAD * first
    return _side(total) if dominates else ""


def _patches(direction: DirectedDistances, tolerance: float) -> list[_Patch]:
    """Return the connected parts of a boundary beyond the tolerance; over- and under-contoured ones are apart."""
    pieces = direction.pieces
    signed = direction.signed.reshape(-1, pieces)
    patches = []
    for sign in (1, -1):
        beyond = sign * signed > withTies(tolerance)
        cells = np.flatnonzero(beyond.any(axis=1))
        if not len(cells):
            continue
        corners = direction.surface.cells[cells]
        rows = np.repeat(np.arange(len(cells)), corners.shape[1])
        points = np.unique(corners, return_inverse=True)[1].ravel() + len(cells)
        labels = components(rows, points, points.max() + 1)
        labels = np.unique(labels[: len(cells)], return_inverse=True)[1]
        farthest = direction.rangesOf((cells[:, None] * pieces + np.arange(pieces)).ravel())[sign > 0]
        values = np.where(beyond[cells], sign * farthest.reshape(-1, pieces), -1)
        sizes = direction.surface.sizes[cells] / pieces * beyond[cells].sum(axis=1)
        areas = np.bincount(labels, sizes)
        order = np.lexsort((values.max(axis=1), labels))
        ends = np.cumsum(np.bincount(labels))
        for first, last, area in zip(ends - np.bincount(labels), ends, areas, strict=True):
            members = order[first:last]
            peak = _firstOfFarthest(direction, cells[members], values[members])
            cell, piece = divmod(peak, pieces)
            value = sign * float(values[np.searchsorted(cells, cell), piece])
            patches.append(_Patch(cells[members], peak, value, float(area)))
    return patches


def _takeLargest(direction: DirectedDistances, patches: list[_Patch], owners: np.ndarray, tree) -> None:
    """Let the patch that holds the largest distance of a boundary tell just that, and where it is.

    It is known closer than those of elements. owners, tree: of the boundary's cells, as _owners() and for their
    centers.
    """
    number = owners[tree.query(direction.largestPlace)[1]]
    if number >= 0:
        patch, largest = patches[number], float(direction.largest)
        if largest > abs(patch.value) + TIE_TOLERANCE:  # of several equally far it is not the first
            value = largest if patch.value > 0 else -largest
            patches[number] = replace(patch, value=value, position=direction.largestPlace)


def _firstOfFarthest(direction: DirectedDistances, cells: np.ndarray, values: np.ndarray) -> int:
    """Return the element of some cells (n,) with the largest value (n, pieces).

    Of several that are equally far, which is common on lattices, the one with the lowest coordinates: noise in the
    last digit, as of a scene that was saved, must not choose among them.
    """
    rows, columns = np.nonzero(values >= values.max() - TIE_TOLERANCE)
    elements = cells[rows] * values.shape[1] + columns
    x, y, z = np.round(direction.positionsOf(elements), 3).T
    return int(elements[np.lexsort((x, y, z))[0]])


def _owners(surface: Surface, patches: list[_Patch]) -> np.ndarray:
    """Return the number of the patch that every cell of a boundary belongs to, -1 for none."""
    owners = np.full(len(surface.cells), -1)
    for number, patch in enumerate(patches):
        owners[patch.cells] = number
    return owners


def _cellCenters(surface: Surface) -> np.ndarray:
    return sum(surface.points[column] for column in surface.cells.T) / surface.dimension


def _normalBelow(position: np.ndarray, surface: Surface, tree) -> np.ndarray:
    """Return the mean outward unit normal (3,) of a boundary where it is next to a position; zero if it has none.

    tree: search tree of the boundary's cell centers.
    """
    cell = tree.query(position)[1]
    near = np.array(tree.query_ball_point(tree.data[cell], NORMAL_RADIUS))
    sizes = surface.sizes[near]
    mean = sizes @ outwardNormals(surface, near)
    length = np.linalg.norm(mean)
    if length < 0.5 * sizes.sum():  # both walls of something thin
        return outwardNormals(surface, np.array([cell]))[0]
    return mean / length if length > 0 else mean


def _side(normal: np.ndarray) -> str:
    """Return the letter of the patient's side toward which an LPS vector points most."""
    axis = int(np.abs(normal).argmax())
    return DIRECTIONS[axis][int(normal[axis] > 0)]
