"""The elements of boundaries, and what measures distances at their nodes: by lookup on a lattice, or by search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from ..base.progress import chunks
from ..geometry.cellcases import caseAreas, caseSides, nestedSurfaces, trianglesIn
from ..geometry.meshing import MaskSurface, cutLong
from ..geometry.surfaces import Surface
from ..geometry.triangles import distancesToTriangles, uniqueSides
from .lattice import Lattice

# The nodes of an element as weights of its corners: the corners, then the middles of its sides 01, 12, 20. The second
# pass adds the middles between these: of the halves of every side, and of the sides of the inner piece.
NODES = {2: ((4, 0), (0, 4), (2, 2)), 3: ((4, 0, 0), (0, 4, 0), (0, 0, 4), (2, 2, 0), (0, 2, 2), (2, 0, 2))}
MORE_NODES = {
    2: ((3, 1), (1, 3)),
    3: ((3, 1, 0), (1, 3, 0), (0, 3, 1), (0, 1, 3), (1, 0, 3), (3, 0, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)),
}
# The nodes of each of the PIECES of an element, numbered in the order of both.
NODES_OF_PIECES = {
    2: np.array([[0, 2, 3], [2, 1, 4]]),
    3: np.array([[0, 3, 5, 6, 12, 11], [3, 1, 4, 7, 8, 13], [5, 4, 2, 14, 9, 10], [3, 4, 5, 13, 14, 12]]),
}
# Up to this many elements, all of a segment are cut in the second pass: choosing some would take as long.
FEW = 1_000
# Up to this many triangles of masks there are more passes.
FEWEST = 50
# Above this many cells of both masks, their boundaries are measured one after the other.
LARGE = 1 << 22


class Elements:
    """Elements of the boundaries of a field with the distances at their nodes.

    nodes: (3 or 6, k) numbers of their nodes: the corners, then the middles of the sides. sizes: (k,) mm or mm2.
    sides: (k,) mm of the longest side, or an upper bound. segment: (k,) the boundary that they belong to. rows: (k,)
    the element of the first pass that they are a part of. low, high: (k,) smallest and largest signed distance at the
    nodes, mm. coarse, fine: (k,) mean signed distance from the corners alone, and from the pieces, mm.
    """

    def __init__(self, *arrays: np.ndarray):
        self._arrays = arrays
        self.nodes, self.sizes, self.sides, self.segment, self.rows, *summary = arrays
        self.low, self.high, self.coarse, self.fine = summary
        self.corners = 2 if len(self.nodes) == 3 else 3

    @staticmethod
    def of(values: np.ndarray, nodes: np.ndarray, *others: np.ndarray) -> Elements:
        """Return elements whose nodes have signed distances (n,), mm. others: sizes, sides, segment and rows."""
        corners, summary = 2 if len(nodes) == 3 else 3, np.empty((4, nodes.shape[1]))
        low, high, coarse, fine = summary
        for chosen in chunks(nodes.shape[1]):
            ofNodes = values.take(nodes[:, chosen])
            np.minimum.reduce(ofNodes, axis=0, out=low[chosen])
            np.maximum.reduce(ofNodes, axis=0, out=high[chosen])
            ends, middles = (np.add.reduce(some, axis=0) for some in (ofNodes[:corners], ofNodes[corners:]))
            # each middle is a corner of three of the four pieces of a triangle, or of both pieces of a segment
            coarse[chosen] = ends / corners
            fine[chosen] = (ends + 3 * middles) / 12 if corners == 3 else (ends + 2 * middles) / 4
        return Elements(nodes, *others, *summary)

    def signedRange(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest signed distance (k,) toward one side (1 or -1), mm."""
        return (self.low, self.high) if side > 0 else (-self.high, -self.low)

    @cached_property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest distance (k,) on every element, mm."""
        return np.maximum(np.maximum(self.low, -self.high), 0), np.maximum(self.high, -self.low)

    def rowsOf(self, segment: int) -> slice:
        """Return the rows of a segment; only for elements that are in the order of segments."""
        # of the same type, as a copy of all would be converted
        ends = np.array([segment, segment + 1], self.segment.dtype)
        return slice(*np.searchsorted(self.segment, ends).tolist())

    def choose(self, rows: np.ndarray) -> Elements:
        """Return some of the elements, given by number."""
        return Elements(*(some.take(rows, axis=-1) for some in self._arrays))

    def replace(self, rows: np.ndarray, pieces: Elements) -> Elements:
        """Return the elements with pieces, as many of each, in the place of some of them (n,), given by number."""
        kept = np.delete(np.arange(len(self.sizes)), rows)
        order = np.argsort(np.concatenate([kept, np.repeat(rows, len(pieces.sizes) // len(rows))]), kind="stable")
        both = ((one.take(kept, axis=-1), other) for one, other in zip(self._arrays, pieces._arrays, strict=True))
        return Elements(*(np.concatenate(arrays, axis=-1).take(order, axis=-1) for arrays in both))


class Sampler:
    """Measures distances for a field whose segments are the two directions of one pair or of several; by search.

    surfaces: the boundaries of all segments: the references of all pairs, then their tests. search: returns that of the
    reference (0) or the test (1) of a single pair.

    base: the elements of all segments, in their order. values: (n,) signed distances in mm at the nodes, more after
    every cut. totals, shared: (s,) mm2 or mm of every segment, and of elements that are part of both boundaries.
    lengths: (s,) mm of an average element of either boundary. areFew, areLarge: (s,) whether there are so few elements
    that all are cut, and whether they may be so large that they are cut more than once.
    """

    def __init__(self, surfaces: Sequence[Surface], search: Any = None):
        self.surfaces, self.search = surfaces, search
        self.values = np.zeros(0)
        self._places: list[tuple[int, Callable[[np.ndarray], np.ndarray]]] = []
        self.totals = np.array([float(surface.sizes.sum()) for surface in surfaces])
        self.shared, self.lengths = np.zeros(len(surfaces)), np.ones(len(surfaces))
        self._measureBase()

    def _measureBase(self) -> None:
        self._firsts: list[int] = []
        self._cells: list[np.ndarray] = []
        nodes, sizes, longest, lengths = [], [], [], []
        for source, surface in enumerate(self.surfaces):
            points, cells, owners = cutLong(surface)
            sides, numbers = uniqueSides(cells)
            ends = points.take(sides[:, 0], axis=0), points.take(sides[:, 1], axis=0)
            nodePlaces = np.concatenate([points, (ends[0] + ends[1]) / 2])
            self._firsts.append(self._append(self.measureAt(source, nodePlaces), partial(np.take, nodePlaces, axis=0)))
            ofElements = np.concatenate([cells, len(points) + numbers], axis=1).T + self._firsts[-1]
            nodes.append(ofElements.astype(np.int32))
            sizes.append((surface.sizes / np.bincount(owners, minlength=surface.count)).take(owners))
            self._cells.append(owners)
            longest.append(np.linalg.norm(ends[1] - ends[0], axis=1).take(numbers).max(axis=1))
            lengths.append((self.totals[source] / len(cells)) ** (1 / (surface.dimension - 1)))
        self.lengths = np.full(2, min(lengths))
        segment = np.repeat(np.arange(2, dtype=np.int8), [len(size) for size in sizes])
        self._start(np.concatenate(nodes, axis=1), np.concatenate(sizes), np.concatenate(longest), segment)

    def _start(self, nodes: np.ndarray, sizes: np.ndarray, sides: np.ndarray, segment: np.ndarray) -> None:
        self.base = Elements.of(self.values, nodes, sizes, sides, segment, np.arange(len(sizes)))
        self.areFew = np.bincount(segment, minlength=len(self.totals)) <= FEW
        self.areLarge = np.ones(len(self.totals), bool)

    def _append(self, values: np.ndarray, points: Callable[[np.ndarray], np.ndarray]) -> int:
        """Append nodes, and return the number of the first. points: returns the LPS points (n, 3) of some of them.

        Neither a closure nor a method of a sampler: these could not go to other processes, and would keep it.
        """
        first = len(self.values)
        self._places.append((first, points))
        self.values = np.concatenate([self.values, values])
        return first

    def points(self, nodes: np.ndarray) -> np.ndarray:
        """Return the LPS points (n, 3) of nodes given by number (n,), mm."""
        result = np.empty((len(nodes), 3))
        number = np.searchsorted([first for first, _ in self._places], nodes, side="right") - 1
        for which, (first, points) in enumerate(self._places):
            rows = np.flatnonzero(number == which)
            if len(rows):
                result[rows] = points(nodes[rows] - first)
        return result

    def measureAt(self, segment: int, points: np.ndarray) -> np.ndarray:
        """Return signed distances (n,) in mm of LPS points (n, 3) on the boundary of a segment."""
        signed = self.search(1 - segment).signedDistances(points)
        # outside the reference is over-contoured for the test; the reference outside the test is under-contoured
        return (-signed if segment == 0 and self.search(1 - segment).isClosed else signed) + 0.0

    def nearestTriangles(self, segments: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the triangles (n, 3, 3) in mm next to LPS points (n, 3) on the boundaries of segments (n,)."""
        result = np.empty((len(points), 3, 3))
        for segment in np.unique(segments).tolist():
            own = segments == segment
            result[own] = self.search(1 - segment).nearestTriangles(points[own])
        return result

    def cut(self, elements: Elements, rows: np.ndarray) -> Elements:
        """Return the pieces of some elements, one after the other, after searching the distances at their nodes."""
        count = elements.corners
        weights = np.array(MORE_NODES[count]) / 4
        more = np.empty((len(weights), len(rows)), np.int32)
        for segment in np.unique(elements.segment.take(rows)).tolist():
            chosen = np.flatnonzero(elements.segment.take(rows) == segment)
            nodes = elements.nodes[:, rows[chosen]]
            corners = self.points(nodes[:count].ravel()).reshape(count, -1, 3)
            points = np.einsum("pc,cnx->pnx", weights, corners)
            # neighbors share the middles of half sides, which are known by the corner and the middle at their ends
            halves = np.arange(len(chosen) * len(weights)).reshape(len(weights), -1)
            if count == 3:
                ends = np.stack([nodes[[0, 1, 1, 2, 2, 0]], nodes[[3, 3, 4, 4, 5, 5]]]).astype(np.int64)
                keys = ends[0] * len(self.values) + ends[1]
                _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
                halves[:6] = numbers.reshape(6, -1)
                halves[6:] = len(firsts) + np.arange(3 * len(chosen)).reshape(3, -1)
                points = np.concatenate([points[:6].reshape(-1, 3)[firsts], points[6:].reshape(-1, 3)])
            points = points.reshape(-1, 3)
            more[:, chosen] = self._append(self.measureAt(segment, points), partial(np.take, points, axis=0)) + halves
        return pieces(self.values, elements, rows, more)

    def surfaceCells(self, segment: int) -> np.ndarray:
        """Return the number (k,) of the boundary's triangle or segment to which each element of the base belongs."""
        return self._cells[segment]

    def atPoints(self, segment: int) -> np.ndarray:
        """Return the signed distance (n,) in mm at every point of the boundary of a segment."""
        # the nodes of a segment begin with the boundary's own points
        first = self._firsts[segment]
        return self.values[first : first + len(self.surfaces[segment].points)]

    def mayReach(self, rows: np.ndarray, side: int) -> np.ndarray:
        """Return whether elements (n,) of the base may have distances toward the positive (1) or negative (-1) side."""
        return np.ones(len(rows), bool)


class LatticeSampler(Sampler):
    """Looks the distances between masks up on their lattice."""

    def __init__(self, lattice: Lattice, surfaces: Sequence[Surface]):
        self.lattice = lattice
        self._axes = tuple(lattice.grid.axes.ravel().tolist())
        super().__init__(surfaces)

    def _measureBase(self) -> None:
        found = [self.lattice.triangles(source, areDiffering=True) for source in (0, 1)]
        self._homes, self._triangles = map(np.concatenate, zip(*found, strict=True))
        sizes = caseAreas(self._axes).take(self._triangles)
        segment, every = (self._homes // self.lattice.size).astype(np.int8), [one.count for one in self.surfaces]
        count = len(self.surfaces)
        rest = np.maximum(self.totals - np.bincount(segment, sizes, count), 0.0)
        self.shared = np.where(np.bincount(segment, minlength=count) < every, rest, 0.0)
        self.lengths = np.tile(np.sqrt((self.totals / every).reshape(2, -1).min(axis=0)), 2)
        nodes = self._measure(np.arange(len(segment)), NODES[3])
        self._start(nodes, sizes, caseSides(self._axes).take(self._triangles), segment)
        self.areLarge = np.less_equal(every, FEWEST)

    def _measure(self, rows: np.ndarray, weights: tuple[tuple[int, ...], ...]) -> np.ndarray:
        """Append the distances at places on elements (k,), and return the numbers (places, k) of these nodes."""
        if not len(rows):
            return np.zeros((len(weights), 0), np.int32)
        # the boundaries of large masks one after the other: numbering their places takes memory for every cell
        ofTest = int(np.searchsorted(self._homes.take(rows), self.lattice.codes.shape[1]))
        if self.lattice.codes.size > LARGE and 0 < ofTest < len(rows):
            return np.concatenate([self._measure(some, weights) for some in np.split(rows, [ofTest])], axis=1)
        homes, triangles = self._homes.take(rows), self._triangles.take(rows)
        values, numbers, points = self.lattice.measure(homes, triangles, weights)
        return numbers + np.int32(self._append(values, points))

    def cut(self, elements: Elements, rows: np.ndarray) -> Elements:
        if elements is not self.base:
            return super().cut(elements, rows)
        more = self._measure(rows, MORE_NODES[3])
        return pieces(self.values, self.base, rows, more)

    def surfaceCells(self, segment: int) -> np.ndarray:
        source, number = divmod(segment, len(self.lattice.masks))
        codes = self.lattice.codes[:, number * self.lattice.size : (number + 1) * self.lattice.size]
        own, other = codes[source], codes[1 - source]
        cells = np.flatnonzero(own + np.uint8(1) > 1)
        rows, _, _ = trianglesIn(own.take(cells))
        return np.flatnonzero((own.take(cells) != other.take(cells)).take(rows))

    def atPoints(self, segment: int) -> np.ndarray:
        surface = cast(MaskSurface, self.surfaces[segment])
        result, rows = np.zeros(len(surface.points)), self.base.rowsOf(segment)
        result[surface.cornersOfCases[:, self.surfaceCells(segment)]] = self.values.take(self.base.nodes[:3, rows])
        return result

    def measureAt(self, segment: int, points: np.ndarray) -> np.ndarray:
        # the lattice knows the sides without a search
        count = len(self.lattice.masks)
        isReference, isInside = segment < count, self.lattice.isInsideAt((segment + count) % (2 * count), points)
        away = distancesToTriangles(points, self.nearestTriangles(np.array([segment]), points))
        return np.where(isInside == isReference, 1.0, -1.0) * away + 0.0

    def nearestTriangles(self, segments: np.ndarray, points: np.ndarray) -> np.ndarray:
        # their sum may be more than the bytes of segments hold
        targets = np.add(segments, len(self.lattice.masks), dtype=np.intp) % len(self.surfaces)
        return self.lattice.nearestTriangles(targets, points)

    def mayReach(self, rows: np.ndarray, side: int) -> np.ndarray:
        homes, count = self._homes.take(rows), self.lattice.codes.shape[1]
        isTest, (outward, inward) = homes >= count, nestedSurfaces()
        others = homes + np.where(isTest, -count, count)
        cases = tuple(self.lattice.codes.ravel().take(cells) for cells in (homes, others))
        return ~np.where(isTest == (side > 0), outward[cases], inward[cases])


def pieces(values: np.ndarray, base: Elements, rows: np.ndarray, more: np.ndarray) -> Elements:
    """Return the pieces of elements (k,), one element after the other. more: (., k) numbers of their MORE_NODES."""
    ofPieces = NODES_OF_PIECES[base.corners]
    nodes = np.concatenate([base.nodes.take(rows, axis=1), more])[ofPieces.T]
    count = len(ofPieces)
    nodes = np.ascontiguousarray(nodes.transpose(0, 2, 1)).reshape(len(nodes), -1)
    parts = base.sizes.take(rows) / count, base.sides.take(rows) / 2, base.segment.take(rows), base.rows.take(rows)
    return Elements.of(values, nodes, *(np.repeat(some, count) for some in parts))
