"""Which sides of the patient the reference faces, at its own elements and below those of the test.

Between two masks on one lattice this needs no search. A point knows from the table lookup (lattice.py) how far away the
reference is; looking through the same tables again tells in which cells it is so near. Where in a cell follows from the
three small things that the lookup works with: the step to that cell, the position of the point inside its own cell, and
the case of the other. Hundreds of thousands of points share some ten thousand such triples, and the sides are found
once for each of them.

On a lattice many points have several places of the reference equally near. They belong to the sides of all of these:
which of them a search happens to find first would depend on how the image is stored, and on rounding. The few points
that are far are cheaper to ask from the search tree, as for their distances, and then all triangles that far away.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import vtkCellLocator

from ..distances.lattice import CellTables, Lattice, cellTables, doubledPoints
from ..distances.surfacedistances import BoundaryPair, DirectedDistances, touching
from ..geometry.cases import caseTriangles, elementPositions
from ..geometry.products import product
from ..geometry.surfaces import Surface, eachOutwardNormals, elementCenters, outwardNormals, toPolyData
from ..geometry.triangles import closestPoints
from ..progress import checkpoint

# Sides of the patient and the LPS vectors that point there.
SIDES = {"R": (-1, 0, 0), "L": (1, 0, 0), "A": (0, -1, 0), "P": (0, 1, 0), "S": (0, 0, 1), "I": (0, 0, -1)}
# Components of unit normals that differ by less are equal: a diagonal surface faces two sides.
EQUAL_COMPONENTS = 1e-6
# Squared distances that differ by this share are equal: the tables have single precision.
EQUAL_SQUARES = 1e-5
# Up to so many elements of a mesh are looked up one by one; of more, and of masks, those of one cell belong together.
MOST_ELEMENTS = 100_000
# Points looked up at a time: small enough that the temporary arrays stay in the processor's cache.
CHUNK = 1 << 15


def sidesOf(normals: np.ndarray) -> np.ndarray:
    """Return the sides (n,) toward which unit normals (n, 3) have their largest component, as the sum of sideBit()."""
    x, y, z = np.abs(normals.T)
    # a cell without size, whose normal is zero, faces nowhere
    least = np.maximum(np.maximum(np.maximum(x, y), z) - EQUAL_COMPONENTS, EQUAL_COMPONENTS)
    result = np.zeros(len(normals), np.uint8)
    for side, vector in SIDES.items():
        axis = int(np.abs(vector).argmax())
        result |= (normals[:, axis] * vector[axis] >= least).view(np.uint8) * sideBit(side)
    return result


def sideBit(side: str) -> np.uint8:
    """Return the power of two that stands for one of the SIDES."""
    return np.uint8(1 << list(SIDES).index(side))


def sidesOfReference(boundaries: BoundaryPair) -> np.ndarray:
    """Return the sides (m,) that the cells of the reference face, as sums of sideBit()."""
    return np.concatenate([sidesOf(normals) for normals in eachOutwardNormals(boundaries.surfaces[0])])


def sidesBelow(boundaries: BoundaryPair, test: DirectedDistances) -> np.ndarray:
    """Return the sides that the reference faces where it is nearest to each element (n,) or each cell (m,) of the test.

    boundaries: the pair, both closed. test: the distances from its test. The sides are sums of sideBit().
    """
    reference = boundaries.surfaces[0]
    if boundaries.lattice is not None and reference.target is reference:
        return _byLookup(boundaries, test)
    count = test.pieces * len(test.surface.cells)
    if reference.lattice is None and count <= MOST_ELEMENTS:
        return _sidesAt(boundaries, test, np.arange(count))
    # the piece in the middle of a cell stands for all of them: its place and its side belong together
    centers = elementCenters(test.surface.points, test.surface.cells, 0)
    apart = np.linalg.norm(test.positions.reshape(-1, test.pieces, 3) - centers[:, None], axis=2)
    middle = apart.argmin(axis=1) + test.pieces * np.arange(len(centers))
    return _sidesAt(boundaries, test, middle)


def _sidesAt(boundaries: BoundaryPair, test: DirectedDistances, elements: np.ndarray) -> np.ndarray:
    """Return the sides (n,) that the reference faces below the centers of some elements (n,) of the test."""
    places, signed = test.positionsOf(elements), test.signed[elements]
    # the mean of an element that reaches from one side to the other may have the other sign than its center
    low, high = test.rangesOf(elements)
    crossed = np.flatnonzero((low < 0) & (high > 0))
    signed[crossed] = boundaries.search(0).signedDistances(places[crossed])
    return sidesOf(_normalsAt(boundaries.surfaces[0], places, signed))


def _normalsAt(reference: Surface, points: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Return the outward unit normals (n, 3) of a boundary below points (n, 3), on whose side `signed` tells.

    Next to an edge between two cells it is the way from the edge to the point that counts.
    """
    center = reference.center
    locator = vtkCellLocator()
    locator.SetDataSet(toPolyData(Surface(reference.points - center, reference.cells, reference.normal)))
    locator.BuildLocator()
    local = points - center
    closest, cell, part, squared = [0.0] * 3, mutable(0), mutable(0), mutable(0.0)
    feet, cells = np.empty_like(local), np.empty(len(local), np.int64)
    # how far the boundary is, is known, which makes the search short
    touch = touching(float(np.sqrt(reference.sizes.mean())))
    reach = (np.abs(signed) + touch).tolist()
    for number, point in enumerate(local.tolist()):
        if number % 4096 == 0:
            checkpoint()
        if not locator.FindClosestPointWithinRadius(point, reach[number], closest, cell, part, squared):
            locator.FindClosestPoint(point, closest, cell, part, squared)
        feet[number], cells[number] = closest, cell.get()
    ways = (local - feet) * np.where(signed < 0, -1, 1)[:, None]
    return _directions(ways, outwardNormals(reference, cells), touch)


def _directions(ways: np.ndarray, normals: np.ndarray, touch: float) -> np.ndarray:
    """Return ways (n, 3) in mm as unit vectors, normals (n, 3) in the place of those no longer than `touch`, mm."""
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    return np.where(lengths > touch, ways / np.where(lengths > 0, lengths, 1), normals)


def _byLookup(boundaries: BoundaryPair, test: DirectedDistances) -> np.ndarray:
    """Return the sides (m,) that a mask's boundary faces where it is nearest to the centers of the other's cells."""
    lattice, surface = boundaries.lattice, test.surface
    positions = elementPositions(0)
    tables = cellTables(lattice.spacing, positions)
    multiples = _sums(doubledPoints(lattice, surface, 1), surface.cells)
    cells, numbers = lattice.split(multiples, positions)
    # triangles of equal cells coincide, and a center that lies on no cell face belongs to the one around it only
    within = (positions.local > 0).all(axis=1)
    codes = lattice.codes[0].take(cells)
    isSame = (codes == lattice.codes[1].take(cells)) & within.take(numbers)
    same, asked = np.flatnonzero(isSame), np.flatnonzero(~isSame)
    squared, far = lattice.squaredDistances(0, cells[asked], numbers[asked], tables)
    near = np.delete(np.arange(len(asked)), far)
    # the first step is none
    found = [(same, numbers[same] * 256 + codes[same])]
    found += _allNearest(lattice, asked[near], squared[near], cells, numbers, tables)
    triples = np.concatenate([triple for _, triple in found])
    isThere = np.zeros(triples.max(initial=0) + 1, bool)
    isThere[triples] = True
    different = np.flatnonzero(isThere)
    axes = lattice.grid.axes / lattice.grid.spacing
    # by triple, outside and inside one after the other
    sides = np.zeros((2, len(isThere)), np.uint8)
    sides[:, different] = _sidesOfTriples(tables, different, axes)
    start = lattice.isInside(0, cells, numbers, tables) * len(isThere)
    result = np.zeros(len(cells), np.uint8)
    for owners, triple in found:
        result[owners] |= sides.ravel().take(start[owners] + triple)
    if len(far):
        places = lattice.grid.toWorld(multiples[asked[far]] / positions.denominator)
        result[asked[far]] = _sidesOfAllNearest(boundaries, places)
    return result


def _sidesOfAllNearest(boundaries: BoundaryPair, places: np.ndarray) -> np.ndarray:
    """Return the sides (n,) that the reference faces at all of its places that are nearest to LPS points (n, 3)."""
    surface, closest = boundaries.surfaces[0], boundaries.search(0)
    touch = touching(float(np.sqrt(surface.sizes.mean())))
    squared = closest.distances(places) ** 2 * (1 + EQUAL_SQUARES) + touch**2
    cells, owners = closest.trianglesWithin(places, squared)
    local, corners = places[owners] - closest.center, surface.corners(cells) - closest.center
    ways = local - closestPoints(local, corners)
    outward = np.where(boundaries.lattice.isInsideAt(0, places), -1, 1)
    ways *= outward[owners, None]
    sides = sidesOf(_directions(ways, outwardNormals(surface, cells), touch))
    result = np.zeros(len(places), np.uint8)
    np.bitwise_or.at(result, owners, sides)
    return result


def _sums(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the sums (m, 3) of the corners of cells (m, 3): multiples of a third of what points (n, 3) count in."""
    result = points.take(cells[:, 0], axis=0)
    for corner in cells.T[1:]:
        result += points.take(corner, axis=0)
    return result


def _allNearest(
    lattice: Lattice, asked: np.ndarray, squared: np.ndarray, cells: np.ndarray, numbers: np.ndarray, tables: CellTables
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return which points (k,) have a nearest place of the reference in which cell, as triples (k,); no point twice.

    asked: (n,) points whose squared distance (n,) in mm2 is known. cells, numbers: of all points. A triple is
    (number of the step to the cell * number of positions + number of the position) * 256 + the cell's case.
    """
    count = len(tables.points) * 256
    limits = squared * np.float32(1 + EQUAL_SQUARES) + np.float32(touching(min(lattice.spacing)) ** 2)
    found = []
    for first in range(0, len(asked), CHUNK):
        checkpoint()
        chosen, limit = asked[first : first + CHUNK], limits[first : first + CHUNK]
        for block in tables.blocks:
            isOpen = tables.gaps[block.start].take(numbers[chosen]) <= limit
            chosen, limit = chosen[isOpen], limit[isOpen]
            if not len(chosen):
                break
            number = numbers[chosen]
            for rank, (index, away) in zip(block, lattice.lookedUp(0, cells[chosen], number, block, tables)):
                hits = np.flatnonzero(away <= limit)
                steps = tables.order[rank].take(number[hits]).astype(np.intp)
                found.append((chosen[hits], index[hits] + steps * count))
    return found


def _sidesOfTriples(tables: CellTables, triples: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (n,) that the reference faces below positions outside it, and inside.

    triples: (n,) those of _allNearest(). axes: (3, 3) unit vectors of the lattice, in columns.
    """
    triangles, trianglesOf = caseTriangles()
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
    normals = outwardNormalsOfCases(tuple(tables.spacing.tolist()))[cases[owners], slots]
    outside = sidesOf(product(_directions(ways, normals, touch), axes.T))
    # the way from the boundary inward points to the opposite side
    inside = np.where(touches, outside, _opposite(outside))
    return tuple(np.bitwise_or.reduceat(sides, starts) for sides in (outside, inside))


def _opposite(sides: np.ndarray) -> np.ndarray:
    """Return the opposite sides (n,): the SIDES come in pairs."""
    return (sides & 0b010101) << 1 | (sides & 0b101010) >> 1


@lru_cache(maxsize=8)
def outwardNormalsOfCases(spacing: tuple[float, float, float]) -> np.ndarray:
    """Return the outward unit normals (256, 5, 3) of the triangles of all cases for a spacing in mm.

    Every corner of a triangle lies half-way between a voxel inside and one outside, which tell its outer side. Zeros
    for cases without triangles.
    """
    triangles, trianglesOf = caseTriangles()
    normals = np.cross(*np.moveaxis((triangles[:, 1:] - triangles[:, :1]) * spacing, 1, 0))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    starts, ends = np.floor(triangles), np.ceil(triangles)
    # the bit of the voxel where each corner's cell edge starts, and the way along that edge
    bits, ways = (starts @ (1, 2, 4)).astype(int), (ends - starts) * spacing
    isInside = np.arange(256)[:, None, None] >> bits[trianglesOf] & 1
    outward = np.einsum("csn,csnx->csx", np.where(isInside, 1, -1), ways[trianglesOf])
    result = normals[trianglesOf] * np.sign(np.einsum("csx,csx->cs", normals[trianglesOf], outward))[..., None]
    result[[0, 255]] = 0
    return result
