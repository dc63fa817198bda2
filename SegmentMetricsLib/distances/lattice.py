"""Distances between two masks on one lattice by table lookup, without a search tree.

The idea
--------
The unsmoothed boundary of a mask is made cell by cell. A cell is the box between eight neighboring voxel centers. Which
of the eight belong to the structure is encoded in an 8-bit number, the cell's *case*. The case alone decides which
triangles the cell contains: at most five, out of only 189 different ones, because every corner of every triangle is the
middle of a cell edge.

For the same reason the points from which we measure (centers of triangles or of their pieces, triangle corners, points
of a regular sub-grid) have only a few hundred different *positions* inside a cell. So the distance from a point in cell
X to the piece of boundary in cell Y depends on three small things: the step from X to Y, the position, and the case of
Y. For a given step this is a table of positions x 256 cases that depends only on the voxel spacing.

The distance from a point to the whole boundary is the minimum over the cells around it:

    distance(point) = min over steps s of  table[s][position of point, case of (cell of point + s)]

Every position has its own order of steps, by the gap between it and the cell a step away; a point is finished as soon
as its best value is not above the gap to the next cell. Most points of two contours of the same organ are finished
after eight or twelve cells. For the few that are far away a search tree is cheaper and is used.

Inside or outside is looked up the same way: by the case of the point's own cell in the other mask, and the position.

The result is exact (the tables hold true point-to-triangle distances in single precision) and the same as that of the
search tree; the tests compare the two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from threading import Lock

import numpy as np

from ..base.parallel import lockedCache
from ..base.progress import chunks
from ..geometry import cellcases
from ..geometry.cellcases import Positions
from ..geometry.closest import ROUNDINGS, ClosestSurface
from ..geometry.grids import Grid
from ..geometry.lateral import MORE_SLICES
from ..geometry.masks import Mask
from ..geometry.meshing import CORNERS
from ..geometry.nearest import squaredRadiiOfCases
from ..geometry.surfaces import Surface
from ..geometry.triangles import TriangleSet

# Number of cells that the lookup reaches along each axis before the search tree takes over.
REACH = 4
# Largest reach that a tolerance can require: the number of steps grows with its cube, and the ends of masks that are
# cut off beyond a slab must stay out of reach.
LARGEST_REACH = MORE_SLICES - 3
# Numbers of cells after which finished points are removed: at first, and the step from there on; and after which those
# that are left are searched, however many: the same pair has to give the same digits whatever is measured with it.
FIRST_RANKS, MORE_RANKS, MOST_RANKS = (8, 16, 28), 16, 124
# Points looked up at a time: small enough that the temporary arrays stay in the processor's cache.
CHUNK = 1 << 16
# The cells of a mask are numbered in 32 bits.
MOST_CELLS = np.iinfo(np.int32).max
# The precision of coordinates in the search, as a fraction of the shortest side of a voxel.
PRECISION = 2.0**-24
# Triangles and tabulated positions processed at a time, for the same reason.
CELLS, TABLE_CHUNK = 1 << 13, 128


class CellTables:
    """Squared distances from positions in a cell to the pieces of boundary in the cells around it, for one spacing.

    steps: (n, 3) from cell to cell along i, j, k, ordered by `bounds`, the gap between the two cells in mm. Every
    position has its own order: the cell of rank 0 is the nearest.
    """

    def __init__(self, spacing: tuple[float, float, float], positions: Positions, reach: int):
        self.spacing = np.array(spacing)
        self._positions = positions
        self.points = positions.local / positions.denominator * self.spacing
        self.reach = reach
        steps = np.array(list(itertools.product(range(-reach, reach + 1), repeat=3)))
        bounds = np.linalg.norm(np.maximum(np.abs(steps) - 1, 0) * self.spacing, axis=1).round(9)
        # everything beyond the reach is at least this far away
        self.horizon = float(reach * self.spacing.min())
        order = np.lexsort((np.linalg.norm(steps * self.spacing, axis=1), bounds))
        order = order[bounds[order] < self.horizon]
        self.steps, self.bounds = steps[order], bounds[order]
        self._tables: dict[range, np.ndarray] = {}
        self._lock = Lock()

    @cached_property
    def _ranked(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.arange(-self.reach, self.reach + 1)[:, None, None] * self.spacing
        # squared gaps along single axes, which are the same few for all cells
        gaps = np.maximum(np.maximum(low - self.points, self.points - low - self.spacing), 0) ** 2
        alongX, alongY, alongZ = np.ascontiguousarray(gaps.transpose(2, 1, 0), np.float32)
        x, y, z = self.steps.T + self.reach
        gaps = alongX.take(x, axis=1) + alongY.take(y, axis=1) + alongZ.take(z, axis=1)
        order = np.argsort(gaps, axis=1, kind="stable")
        horizon = np.full((1, len(self.points)), self.horizon**2, np.float32)
        gaps = np.minimum(np.take_along_axis(gaps, order, axis=1).T, horizon)
        return np.ascontiguousarray(order.T, np.int16), np.concatenate([gaps, horizon])

    @cached_property
    def order(self) -> np.ndarray:
        """(ranks, p) numbers of the steps from a position, the one to the nearest cell first."""
        return self._ranked[0]

    @cached_property
    def gaps(self) -> np.ndarray:
        """(ranks + 1, p) lower bounds in mm2 of the squared distances from a position to cells from a rank on."""
        return self._ranked[1]

    def blockFrom(self, first: int) -> range:
        """Return the ranks from one on after which finished points are removed."""
        end = next((end for end in FIRST_RANKS if end > first), first + MORE_RANKS)
        return range(first, min(end, len(self.order)))

    def tables(self, ranks: range) -> np.ndarray:
        """(r * p * 256,) squared mm from a position to a case in the cell of a rank, for a block of ranks.

        The value of the k-th rank, position p and case c is at index 256 * (k * number of positions + p) + c.
        """
        with self._lock:  # a second thread uses the table made by the first
            if ranks not in self._tables:
                self._tables[ranks] = self._make(self.steps[self.order[ranks.start : ranks.stop]])
        return self._tables[ranks]

    def _make(self, steps: np.ndarray) -> np.ndarray:
        """Return the squared distances (r * p * 256,) in mm2 from positions to all cases steps (r, p, 3) away.

        A place and its mirror images in the middle of the cell are equally far from the mirror images of a triangle. So
        of up to eight places only one is measured.
        """
        # the cells stay where they are: the places move the other way; in half multiples from the middle
        denominator = self._positions.denominator
        places = 2 * (self._positions.local - denominator * steps) - denominator
        away, mirrors = np.abs(places), ((places < 0) @ [1, 2, 4]).ravel()
        base = int(away.max()) + 1
        keys, columns = np.unique(away @ [1, base, base**2], return_inverse=True)
        columns = columns.ravel()
        measured = np.stack([keys % base, keys // base % base, keys // base**2], axis=1) / (2 * denominator)
        squared = self.distancesTo(self._mirrored, (measured + 0.5) * self.spacing)
        # those that are next to each other and in the same mirror are taken together
        groups = 8 * (columns // TABLE_CHUNK) + mirrors
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups[order], np.arange(1, int(groups.max()) + 1))
        result = np.empty((len(order), 256), np.float32)
        for chosen in np.split(order, ends):
            if not len(chosen):
                continue
            chunk, mirror = divmod(int(groups[chosen[0]]), 8)
            some = squared[:, chunk * TABLE_CHUNK : (chunk + 1) * TABLE_CHUNK]
            values = np.ascontiguousarray(cellcases.ofCases(some, np.minimum, cellcases.mirrorImages()[mirror]).T)
            result[chosen] = values.take(columns[chosen] % TABLE_CHUNK, axis=0)
        return result.ravel()

    @cached_property
    def _mirrored(self) -> TriangleSet:
        """The triangles of all cases and their mirror images, in mm."""
        return TriangleSet(cellcases.mirroredTriangles() * self.spacing)

    def distancesTo(self, pieces: TriangleSet, points: np.ndarray) -> np.ndarray:
        """Return the squared distances (t + 1, p) in mm2 from points (p, 3) to triangles, inf in the last row."""
        result = np.full((len(pieces.sides) + 1, len(points)), np.inf, np.float32)
        for chosen in chunks(len(points), TABLE_CHUNK):
            result[:-1, chosen] = pieces.squaredDistances(points[chosen])
        # the position is on the triangle
        result[result <= (ROUNDINGS * np.finfo(float).eps * self.horizon) ** 2] = 0
        return result

    @cached_property
    def inside(self) -> np.ndarray:
        """(p * 256,) whether position p lies inside the structure of case c, at index 256 p + c."""
        return cellcases.isInsideAllCases(self.points / self.spacing).ravel()


@lockedCache(16)
def cellTables(spacing: tuple[float, float, float], positions: Positions, reach: int = REACH) -> CellTables:
    """Return the tables of a spacing in mm, cached for the next pair of structures."""
    return CellTables(spacing, positions, reach)


class Lattice:
    """The cells of the masks of pairs on one grid: pair after pair of the first masks, then of the second ones.

    The margin around every pair keeps the lookup from reaching the next one. Raises ValueError if the masks do not
    share a lattice with axes at right angles, or if it has too many cells.
    """

    def __init__(self, pairs: Sequence[Sequence[Mask]], reach: int = REACH):
        grid = pairs[0][0].grid
        if not grid.isRectangular or any(mask.grid.offsetOn(grid) is None for pair in pairs for mask in pair):
            raise ValueError("The masks do not lie on one lattice with axes at right angles.")
        self.grid, self.reach = grid, reach
        # otherwise rotated images would get separate tables for a difference in the sixteenth digit
        self.spacing = tuple(round(float(s), 9) for s in grid.spacing)
        self.masks = [[mask.on(grid) for mask in pair] for pair in pairs]
        self.lows = np.array([np.min([m.low for m in pair], axis=0) - reach - 2 for pair in self.masks])
        highs = np.array([np.max([m.high for m in pair], axis=0) + reach + 2 for pair in self.masks])
        # of the cells of one pair along i, j, k
        self.low, self.shape = self.lows[0], (highs - self.lows).max(axis=0)
        self.strides = np.array([1, self.shape[0], self.shape[0] * self.shape[1]])
        self.size = int(self.shape.prod())
        if self.size * len(pairs) > MOST_CELLS:
            raise ValueError("The lattice has too many cells.")
        # how far in mm the search moves boundaries from each other, so that none is nearer than the wanted one
        extent = float(np.linalg.norm((np.ptp(self.lows, axis=0) + self.shape) * self.spacing))
        self._room = 2.0 ** np.ceil(np.log2(4 * extent))

    @cached_property
    def codes(self) -> np.ndarray:
        """(2, n) the case of every cell, for each mask; they need as much memory as the masks."""
        blocks = [(pair, low, low + self.shape) for pair, low in zip(self.masks, self.lows, strict=True)]
        every = ([cellcases.cellCodes(pair[n].block(low, high)).ravel() for pair, low, high in blocks] for n in (0, 1))
        return np.stack([np.concatenate(codes) for codes in every])

    def __getstate__(self) -> dict:
        """Leave out what is made again when needed."""
        return {name: value for name, value in self.__dict__.items() if name not in ("codes", "_search")}

    def forget(self) -> None:
        """Free the memory of what is made again when needed."""
        self.__dict__ = self.__getstate__()

    def triangles(self, source: int, areDiffering: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangles of one mask: their cells (m,) and numbers (m,), see Cases.

        The cells of the second mask follow those of the first one. areDiffering: whether to leave out the cells where
        both masks have the same triangles.
        """
        own, other = self.codes[source], self.codes[1 - source]
        isMixed = own + np.uint8(1) > 1
        cells = np.flatnonzero(isMixed & (own != other) if areDiffering else isMixed)
        rows, numbers, _ = cellcases.trianglesIn(own.take(cells))
        return cells.take(rows) + source * len(own), numbers

    def measure(
        self, homes: np.ndarray, triangles: np.ndarray, weights: tuple[tuple[int, ...], ...]
    ) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Return the signed distances (n,) in mm at the distinct places on triangles (m,) in cells (m,).

        They are positive where the second structure lies outside the first one, on either boundary. Also returns the
        numbers (places, m) of the places on every triangle, and a function that returns the LPS points (k, 3) of places
        given by number (k,).

        homes, triangles: as returned by triangles(). weights: of the corners of a triangle, for each place.
        """
        places, count = cellcases.trianglePlaces(weights)[0], self.codes.shape[1]
        cells, positions, numbers = cellcases.numberedPlaces(homes, triangles, self.strides, weights)
        isSecond = cells >= count
        others, tables = cells + np.where(isSecond, -count, count), cellTables(self.spacing, places)
        squared, far = self.squaredDistances(others, positions, tables)
        values = np.sqrt(squared, dtype=float)
        isInside = tables.inside.take(positions * 256 + self.codes.ravel().take(others))
        np.negative(values, out=values, where=isInside)
        # kept for all places, hence small; no method of a sampler, which would be kept as well
        own = np.where(isSecond, cells - count, cells).astype(np.int32), positions.astype(np.int16)
        if len(far):
            index = self.indexOf(own[0].take(far), own[1].take(far), places)
            away = self._search.distances(self._aside(index, others.take(far) // self.size))
            values[far] = np.copysign(away, values[far])
        np.negative(values, out=values, where=~isSecond)
        values += 0.0  # no negative zeros
        return values, numbers, partial(self.pointsOf, *own, places)

    def pointsOf(self, cells: np.ndarray, positions: np.ndarray, places: Positions, rows: np.ndarray) -> np.ndarray:
        """Return the LPS points (k, 3) in mm of some (k,) of the positions (n,), given by number, in cells (n,)."""
        return self.grid.toWorld(self.indexOf(cells.take(rows), positions.take(rows), places))

    def indexOf(self, cells: np.ndarray, positions: np.ndarray, places: Positions) -> np.ndarray:
        """Return the places (n, 3) of positions (n,) in cells (n,) of the first masks, in voxel indices of the grid."""
        numbers, cells = np.divmod(cells, self.size)
        corners = np.stack(np.unravel_index(cells, self.shape, order="F"), axis=1) + self.lows.take(numbers, axis=0)
        return corners + places.local.take(positions, axis=0) / places.denominator

    def isInsideAt(self, target: int, points: np.ndarray) -> np.ndarray:
        """Return whether any LPS points (n, 3) in mm lie inside a mask: of the first masks, then of the second ones."""
        source, number = divmod(target, len(self.masks))
        counted = self.grid.toIndex(points) - self.lows[number]
        cells = np.floor(counted).astype(np.int64)
        result = np.zeros(len(points), bool)
        rows = np.flatnonzero(((cells >= 0) & (cells < self.shape)).all(axis=1))
        codes = self.codes[source].take(number * self.size + cells[rows] @ self.strides)
        result[rows] = codes == 255
        isMixed = (codes > 0) & (codes < 255)
        rows, codes = rows[isMixed], codes[isMixed]
        for chosen in chunks(len(rows), CELLS):
            local = counted[rows[chosen]] - cells[rows[chosen]]
            result[rows[chosen]] = cellcases.isInside(local, codes[chosen])
        return result

    # Search beside the tables

    def nearestTriangles(self, targets: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the corners (n, 3, 3) in mm of the triangles of boundaries (n,) next to LPS points (n, 3)."""
        return self._back(self._search.nearestTriangles(self._aside(self.grid.toIndex(points), targets)), targets)

    def trianglesWithin(self, target: int, points: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return triangles (k, 3, 3) in mm within squared distances (n,) of LPS points (n, 3), and these points."""
        corners, owners = self._search.trianglesWithin(self._aside(self.grid.toIndex(points), target), squared)
        return self._back(corners, np.array([target])), owners

    @cached_property
    def _search(self) -> ClosestSurface:
        """The boundaries of all masks beside each other, so that a single search serves all of them."""
        places, ofMasks, count = cellcases.trianglePlaces(CORNERS)[0], [], 0
        ofCases = squaredRadiiOfCases(tuple(np.diag(self.spacing).ravel().tolist()))
        for source, before in enumerate((0, self.codes.shape[1])):
            homes, triangles = self.triangles(source)
            owners, positions, numbers = cellcases.numberedPlaces(homes, triangles, self.strides, CORNERS)
            points = self._aside(self.indexOf(owners - before, positions, places), owners // self.size)
            ofMasks.append((points, numbers.T + count, ofCases.take(triangles)))
            count += len(points)
        points, cells, squaredRadii = map(np.concatenate, zip(*ofMasks, strict=True))
        return ClosestSurface(Surface(points, cells), squaredRadii)

    def _aside(self, index: np.ndarray, targets: np.ndarray | int) -> np.ndarray:
        """Return places in voxel indices (n, 3) of the grid in mm, next to where the search has the boundaries (n,)."""
        # rounded to a power of two, they keep all digits when moved: the same is found whatever stands beside them
        precision = PRECISION * 2.0 ** np.floor(np.log2(min(self.spacing)))
        points = np.rint(index * self.spacing / precision) * precision
        points[:, 0] += np.multiply(targets, self._room)
        return points

    def _back(self, corners: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the LPS corners (n, 3, 3) in mm of triangles found by the search in boundaries (n,)."""
        corners[..., 0] -= (targets * self._room)[:, None]
        return self.grid.toWorld((corners / self.spacing).reshape(-1, 3)).reshape(corners.shape)

    def squaredDistances(
        self, cells: np.ndarray, numbers: np.ndarray, tables: CellTables
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return squared distances (n,) in mm2 to the boundary of a mask, and the indices (m,) of those not final.

        These points are left for the search. cells, numbers: (n,) as for lookUp().
        """
        best, active = np.full(len(cells), np.inf, np.float32), np.arange(len(cells))
        block = range(0)
        while len(active) and block.stop < min(len(tables.order), MOST_RANKS):
            block = tables.blockFrom(block.stop)
            left, together = [np.zeros(0, np.intp)], CHUNK // len(block)
            for part in chunks(len(active), together):
                chosen = active[part]
                number = numbers.take(chosen)
                squared = self.lookUp(cells.take(chosen), number, block, tables).min(axis=0)
                value = np.minimum(best.take(chosen), squared, out=squared)
                best[chosen] = value
                left.append(chosen.compress(value > tables.gaps[block.stop].take(number)))
            active = np.concatenate(left)
        return best, active

    def lookUp(self, cells: np.ndarray, numbers: np.ndarray, ranks: range, tables: CellTables) -> np.ndarray:
        """Return the squared distances (r, n) in mm2 of points to a mask, looked up in the tables of a block of ranks.

        cells: (n,) of the mask in which the positions (n,), given by number, lie; those of the second mask follow those
        of the first.
        """
        positions = numbers.astype(np.intp)
        shifts = (tables.steps @ self.strides).take(tables.order[ranks.start : ranks.stop])
        neighbors = shifts.take(positions, axis=1, mode="clip")
        neighbors += cells
        index = np.add.outer(np.arange(len(ranks)) * (256 * len(tables.points)), 256 * positions)
        index += self.codes.ravel().take(neighbors, mode="clip")
        return tables.tables(ranks).take(index, mode="clip")


def cellsWithin(grid: Grid, distance: float) -> int:
    """Return the reach of the tables along each axis in cells: up to a distance in mm, if that is not too far."""
    needed = int(np.ceil(distance / grid.spacing.min()))
    return needed if REACH < needed <= LARGEST_REACH else REACH
