"""The sides of the patient that the reference faces, at its own elements and nearest to those of the test.

Between two masks on one lattice, this needs no search. The tables of distances to the reference (lattice.py) also show
in which cells it is nearest. The place in such a cell follows from the three small things that the lookup uses: the
step to that cell, the position of the point inside its own cell, and the case of the other cell. Hundreds of thousands
of points share some ten thousand such triples, and the sides are computed once for each of them.

On a lattice, many points have several equally near places on the reference. They belong to the sides of all of these,
because the one that a search happens to find first would depend on how the image is stored, and on rounding. For the
few far points, it is cheaper to use the search tree, as for their distances, and then all triangles that far away.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..base.parallel import lockedCache
from ..base.progress import chunks
from ..distances.lattice import CellTables, Lattice, cellTables
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, touching
from ..geometry.cellcases import caseNormals, trianglePlaces
from ..geometry.cellcases import cases as caseTable
from ..geometry.closest import ClosestSurface
from ..geometry.products import product
from ..geometry.surfaces import Surface, eachOutwardNormals, meanLength, outwardNormals
from ..geometry.triangles import closestPoints

# Sides of the patient and the LPS vectors that point there.
DIRECTIONS = {"R": (-1, 0, 0), "L": (1, 0, 0), "A": (0, -1, 0), "P": (0, 1, 0), "S": (0, 0, 1), "I": (0, 0, -1)}
# Components of unit normals that differ by less than this are equal: a diagonal surface faces two sides.
EQUAL_COMPONENTS = 1e-6
# Squared distances that differ by at most this fraction are equal: the tables have single precision.
EQUAL_SQUARES = 1e-5
# Weights of a triangle's corners at its center.
CENTER = ((1, 1, 1),)
# Points looked up at a time: small enough that the temporary arrays stay in the processor's cache.
CHUNK = 1 << 15


def sidesOf(normals: np.ndarray) -> np.ndarray:
    """Return the sides (n,) toward which unit normals (n, 3) have their largest component, as the sum of sideBit()."""
    x, y, z = np.abs(normals.T)
    # a cell without size has a zero normal and faces no side
    least = np.maximum(np.maximum(np.maximum(x, y), z) - EQUAL_COMPONENTS, EQUAL_COMPONENTS)
    result = np.zeros(len(normals), np.uint8)
    for side, vector in DIRECTIONS.items():
        axis = int(np.abs(vector).argmax())
        result |= (normals[:, axis] * vector[axis] >= least).view(np.uint8) * sideBit(side)
    return result


def facedSides(surface: Surface) -> frozenset[str]:
    """Return the sides of the patient that parts of a boundary face."""
    together = np.uint8(0)
    for normals in eachOutwardNormals(surface, surface.cells):
        together |= np.bitwise_or.reduce(sidesOf(normals))
    return frozenset(side for side in DIRECTIONS if together & sideBit(side))


def sideBit(side: str) -> np.uint8:
    """Return the power of two that stands for one of the DIRECTIONS."""
    return np.uint8(1 << list(DIRECTIONS).index(side))


def sidesOfElements(direction: DirectedDistances) -> np.ndarray:
    """Return the sides (k,) that the elements of a boundary face themselves, as sums of sideBit()."""
    return sidesOf(direction.field.sampler.outwardNormals(direction.number))


def sidesOfShared(direction: DirectedDistances) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (n,) that the parts of both boundaries face, as sums of sideBit(), and their sizes (n,)."""
    normals, sizes = direction.field.sampler.outwardNormalsOfShared(direction.number)
    return sidesOf(normals), sizes


def sidesBelow(boundaries: BoundaryPair, test: DirectedDistances) -> np.ndarray:
    """Return the sides (k,) that the reference faces where it is nearest to each element of the test.

    boundaries: the pair, both closed. test: the distances from its test. The sides are sums of sideBit().
    """
    if boundaries.isLookedUp:
        return _byLookup(boundaries)
    touch = touching(meanLength(boundaries.surfaces[0]))
    return sidesOf(_normalsAt(boundaries.search(0), test.centers, touch))


def _normalsAt(reference: ClosestSurface, points: np.ndarray, touch: float) -> np.ndarray:
    """Return the outward unit normals (n, 3) of a boundary nearest to points (n, 3).

    At an edge between two cells, the normal is the direction from the edge to the point, unless that distance is at
    most `touch`, mm.
    """
    signed, outward = reference.signedDistancesAndGradients(points)
    near = np.flatnonzero(np.abs(signed) <= touch)
    corners = reference.nearestTriangles(points[near]).reshape(-1, 3)
    triangles = Surface(corners, np.arange(len(corners)).reshape(-1, 3))
    outward[near] = outwardNormals(triangles, np.arange(len(near)))
    return outward


def _directions(ways: np.ndarray, normals: np.ndarray, touch: float) -> np.ndarray:
    """Return vectors (n, 3) in mm as unit vectors; normals (n, 3) replace those no longer than `touch`, mm."""
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    return np.where(lengths > touch, ways / np.where(lengths > 0, lengths, 1), normals)


def _byLookup(boundaries: BoundaryPair) -> np.ndarray:
    """Return the sides (k,) that the reference faces where it is nearest to the centers of the test's triangles.

    Triangles that the reference has as well are left out.
    """
    lattice = cast(Lattice, boundaries.lattice)
    homes, triangles, _ = lattice.triangles(1, areDiffering=True)
    places = trianglePlaces(CENTER)
    # a center never lies on the face of its cell
    cells, numbers = homes - lattice.codes.shape[1], places.ofTriangles[:, 0].take(triangles)
    tables = cellTables(lattice.spacing, places)
    # rounded, or rotated images would get tables of their own for a difference in the sixteenth digit
    axes = (lattice.grid.axes / lattice.grid.spacing).round(12)
    sides = _sidesOfTriples(lattice.spacing, tuple(axes.ravel().tolist()))
    isInside = tables.inside.take(numbers * 256 + lattice.codes[0].take(cells))
    result, parts = np.empty(len(cells), np.uint8), [np.zeros(0, np.intp)]
    for chosen in chunks(len(cells), CHUNK):
        result[chosen], isFar = _ofAllNearest(lattice, cells[chosen], numbers[chosen], isInside[chosen], sides)
        parts.append(chosen.start + isFar)
    far = np.concatenate(parts)
    if len(far):
        result[far] = _sidesOfAllNearest(boundaries, lattice.pointsOf(cells[far], numbers[far], places))
    return result


def _sidesOfAllNearest(boundaries: BoundaryPair, places: np.ndarray) -> np.ndarray:
    """Return the sides (n,) that the reference faces at all of its places nearest to LPS points (n, 3)."""
    surface, closest = boundaries.surfaces[0], boundaries.search(0)
    touch = touching(meanLength(surface))
    squared = closest.distances(places) ** 2 * (1 + EQUAL_SQUARES) + touch**2
    cells, owners = closest.trianglesWithin(places, squared)
    local, corners = places[owners] - closest.center, surface.corners(cells) - closest.center
    ways = local - closestPoints(local, corners)
    outward = np.where(cast(Lattice, boundaries.lattice).isInsideAt(0, places), -1, 1)
    ways *= outward[owners, None]
    sides = sidesOf(_directions(ways, outwardNormals(surface, cells), touch))
    result = np.zeros(len(places), np.uint8)
    np.bitwise_or.at(result, owners, sides)
    return result


def _ofAllNearest(
    lattice: Lattice, cells: np.ndarray, numbers: np.ndarray, isInside: np.ndarray, sides: SidesOfTriples
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (n,) that the reference faces at all of its places nearest to points, and far points (k,).

    cells, numbers, isInside: (n,) of the points. The sides of the far points, which are given by index, have no
    meaning.
    """
    tables, codes = sides.tables, lattice.codes[0]
    shifts, touch = tables.steps @ lattice.strides, np.float32(touching(min(lattice.spacing)) ** 2)
    best, active, found = np.full(len(cells), np.inf, np.float32), np.arange(len(cells)), []
    block = range(0)
    while len(active) and block.stop < len(tables.order):
        block = tables.blockFrom(block.stop, len(active))
        cell, number = cells.take(active), numbers.take(active)
        squared = lattice.lookedUp(cell, number, block, tables)
        best[active] = nearest = np.minimum(best.take(active), squared.min(axis=0))
        limit = nearest * np.float32(1 + EQUAL_SQUARES) + touch
        hits = np.flatnonzero(squared <= limit)
        ranks, columns = np.divmod(hits, len(active))
        number, cell = number.take(columns), cell.take(columns)
        steps = tables.order.ravel().take((ranks + block.start) * len(tables.points) + number).astype(np.intp)
        triples = (steps * len(tables.points) + number) * 256 + codes.take(cell + shifts.take(steps))
        found.append((active.take(columns), triples, squared.ravel().take(hits)))
        active = active[limit >= tables.gaps[block.stop].take(numbers.take(active))]
    owners, triples, squared = map(np.concatenate, zip(*found, strict=True))
    # something nearer may have been found later, or nothing at all
    isNearest = (squared <= best.take(owners) * np.float32(1 + EQUAL_SQUARES) + touch) & (squared < np.inf)
    owners, triples = owners.compress(isNearest), triples.compress(isNearest)
    result = np.zeros(len(cells), np.uint8)
    np.bitwise_or.at(result, owners, sides.of(triples, isInside.take(owners)))
    return result, active


class SidesOfTriples:
    """Table of the sides that the reference faces nearest to positions in cells, for one spacing and image orientation.

    A triple is (index of the step to a cell * number of positions + index of the position) * 256 + the cell's case.
    axes: (3, 3) unit vectors of the lattice in columns. Entries are computed when first needed.
    """

    def __init__(self, tables: CellTables, axes: np.ndarray):
        self.tables, self._axes = tables, axes
        # for positions outside the reference and inside; 0 means not computed yet
        self._known = np.zeros((2, len(tables.steps) * len(tables.points) * 256), np.uint8)

    def of(self, triples: np.ndarray, isInside: np.ndarray) -> np.ndarray:
        """Return sides (n,) by triple (n,). isInside: (n,) whether the position is inside the reference."""
        asked = triples.compress(self._known[0].take(triples) == 0)
        if len(asked):
            asked = np.unique(asked)
            self._known[:, asked] = self._found(asked)
        return self._known.ravel().take(isInside * self._known.shape[1] + triples)

    def _found(self, triples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sides (n,) for positions outside the reference, and for those inside, by triple (n,)."""
        tables = self.tables
        triangles, trianglesOf, *_ = caseTable()
        rest, cases = np.divmod(triples, 256)
        steps, numbers = np.divmod(rest, len(tables.points))
        # every triangle of every case once
        isOther = np.ones((len(cases), trianglesOf.shape[1]), bool)
        isOther[:, 1:] = np.diff(trianglesOf[cases], axis=1) != 0
        owners, slots = np.nonzero(isOther)
        points = (tables.points[numbers] - tables.steps[steps] * tables.spacing)[owners]
        ways = points - closestPoints(points, triangles[trianglesOf[cases[owners], slots]] * tables.spacing)
        squared = (ways**2).sum(axis=1)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        touch = touching(float(tables.spacing.min()))
        limits = np.minimum.reduceat(squared, starts) * (1 + EQUAL_SQUARES) + touch**2
        nearest = np.flatnonzero(squared <= limits[owners])
        owners, slots, ways = owners[nearest], slots[nearest], ways[nearest]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        touches = squared[nearest] <= touch**2
        # the other way where the case turns the triangle
        normals = caseNormals(tuple(np.diag(tables.spacing).ravel().tolist()))[trianglesOf[cases[owners], slots]]
        normals = np.where(caseTable().areTurned[cases[owners], slots, None], -normals, normals)
        outside = sidesOf(product(_directions(ways, normals, touch), self._axes.T))
        # inside, the vector from the boundary to the position points to the opposite side
        inside = np.where(touches, outside, _opposite(outside))
        return np.bitwise_or.reduceat(outside, starts), np.bitwise_or.reduceat(inside, starts)


@lockedCache(4)
def _sidesOfTriples(spacing: tuple[float, float, float], axes: tuple[float, ...]) -> SidesOfTriples:
    """Return the table of sides for a spacing in mm and the axes of a lattice, cached for the next pair."""
    return SidesOfTriples(cellTables(spacing, trianglePlaces(CENTER)), np.reshape(axes, (3, 3)))


def _opposite(sides: np.ndarray) -> np.ndarray:
    """Return the opposite sides (n,): the DIRECTIONS come in pairs."""
    return (sides & 0b010101) << 1 | (sides & 0b101010) >> 1
