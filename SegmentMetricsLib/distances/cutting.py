"""Elements of a boundary cut into equal pieces: the points, corners and sides that these have."""

from __future__ import annotations

import numpy as np

from ..geometry.edges import CORNERS_OF_SIDES, uniqueSides
from .linear import PIECES

# What the sides of a triangle's pieces are: the halves of its sides 01, 12, 20 where they start and where they end, and
# the sides inside, across its corners. By the numbers of their ends, and by piece.
HALVES, INSIDE = np.array([[0, 3], [1, 4], [2, 5], [1, 3], [2, 4], [0, 5]]), np.array([[5, 3], [3, 4], [4, 5]])
SIDES_OF_PIECES = np.array([[0, 6, 5], [3, 1, 7], [8, 4, 2], [7, 8, 6]])


def quartered(coordinates: np.ndarray, cells: np.ndarray, sides: np.ndarray, numbers: np.ndarray):
    """Return triangles cut into four: more points, after those that are there, the pieces (4 k, 3), and their sides.

    sides, numbers: of the triangles (k, 3), as uniqueSides() tells them, and so they are returned.
    """
    middles = np.arange(len(coordinates), len(coordinates) + len(sides), dtype=np.int32)
    halves = np.stack([sides.ravel(), np.repeat(middles, 2)], axis=1)
    nodes = np.concatenate([cells, middles.take(numbers)], axis=1)
    points = np.concatenate([coordinates, middlesOf(coordinates, sides)])
    return points, cutCells(nodes), _withInside(halves, halvesOf(cells, numbers), nodes)


def sidesOfPieces(nodes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what uniqueSides() tells of the pieces of elements with these nodes (k, 3 or 6), of `count` points.

    Nothing is sorted for that: what pieces of neighbors share are the halves of the elements' sides, which are told by
    a side's middle. What is inside of an element that is there twice is told twice.
    """
    if nodes.shape[1] == 3:
        return uniqueSides(cutCells(nodes))
    halves = halvesOf(nodes[:, :3], nodes[:, 3:])
    # of those that are the same the last one stands for all
    numbers, every = np.empty(2 * count, np.int32), np.arange(halves.size, dtype=np.int32)
    numbers[halves.ravel()] = every
    different = np.flatnonzero(numbers.take(halves.ravel()) == every)
    numbers[halves.ravel()[different]] = every[: len(different)]
    return _withInside(_ends(nodes, HALVES).take(different, axis=0), numbers.take(halves), nodes)


def halvesOf(cells: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the numbers (k, 6) of the halves of the sides of triangles (k, 3): where these start, and where they end.

    sides: (k, 3) their numbers. The halves of side n are 2 n, at its end with the smaller number, and 2 n + 1.
    """
    starts = 2 * sides
    starts += cells > cells[:, CORNERS_OF_SIDES[3][:, 1]]
    return np.concatenate([starts, starts ^ 1], axis=1)


def _withInside(halves: np.ndarray, numbers: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides of the pieces of triangles: halves (h, 2) of the triangles' sides, and what is inside of these.

    numbers: (k, 6) of the halves, as halvesOf() orders them. nodes: (k, 6) of the triangles.
    """
    inside = _ends(nodes, INSIDE)
    ofInside = np.arange(len(halves), len(halves) + len(inside), dtype=np.int32).reshape(-1, 3)
    numbers = np.concatenate([numbers, ofInside], axis=1, dtype=np.int32)
    return np.concatenate([halves, inside]), numbers[:, SIDES_OF_PIECES].reshape(-1, 3)


def _ends(nodes: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the ends (s * k, 2) of sides (s, 2) of triangles, told by which of their nodes (k, 6) these are."""
    return nodes[:, sides].reshape(-1, 2)


def cutCells(nodes: np.ndarray) -> np.ndarray:
    """Return the corners (pieces * k, 2 or 3) of the pieces of elements from their nodes (k, 3 or 6)."""
    pieces = PIECES[2 if nodes.shape[1] == 3 else 3]
    return nodes[:, pieces].reshape(-1, pieces.shape[1])


def compacted(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which of `count` points elements use, (n,) in ascending order, and the elements (k, .) of these alone."""
    isUsed = np.zeros(count, bool)
    isUsed[cells.ravel()] = True
    used = np.flatnonzero(isUsed)
    if len(used) == count:
        return used, cells
    numbers = np.empty(count, np.int32)
    numbers[used] = np.arange(len(used), dtype=np.int32)
    return used, numbers.take(cells)


def divided(coordinates: np.ndarray, cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return more points, after those that are there, and the segments (m * count, 2) of segments cut so often."""
    start, end = coordinates[cells[:, 0]], coordinates[cells[:, 1]]
    steps = np.arange(1, count)[:, None]
    between = (start[:, None] * (count - steps) + end[:, None] * steps) / count
    numbers = len(coordinates) + np.arange(len(cells) * (count - 1)).reshape(len(cells), -1)
    chain = np.concatenate([cells[:, :1], numbers, cells[:, 1:]], axis=1)
    points = np.concatenate([coordinates, between.reshape(-1, 3)])
    return points, np.stack([chain[:, :-1], chain[:, 1:]], axis=2).reshape(-1, 2)


def middlesOf(coordinates: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the middles (s, 3) of sides (s, 2), in coordinates that are whole numbers divisible by 2 or real ones."""
    middles = coordinates.take(sides[:, 0], axis=0)
    middles += coordinates.take(sides[:, 1], axis=0)
    if middles.dtype.kind == "i":
        middles >>= 1
    else:
        middles /= 2
    return middles
