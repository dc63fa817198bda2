"""Cutting the elements of a boundary into equal pieces: the points, corners and sides of the pieces."""

from __future__ import annotations

import numpy as np

from ..geometry.edges import CORNERS_OF_SIDES, uniqueSides
from .linear import PIECES

# The sides of a triangle's pieces: the halves of its sides 01, 12, 20 at their starts and at their ends, and the sides
# inside, across its corners. Given by the node numbers of their ends, and the numbers of these sides by piece.
HALVES, INSIDE = np.array([[0, 3], [1, 4], [2, 5], [1, 3], [2, 4], [0, 5]]), np.array([[5, 3], [3, 4], [4, 5]])
SIDES_OF_PIECES = np.array([[0, 6, 5], [3, 1, 7], [8, 4, 2], [7, 8, 6]])


def quartered(coordinates: np.ndarray, cells: np.ndarray, sides: np.ndarray, numbers: np.ndarray):
    """Return triangles cut into four: the points with new ones appended, the pieces (4 k, 3), and their sides.

    sides, numbers: of the triangles (k, 3), as returned by uniqueSides(); those of the pieces have the same form.
    """
    middles = np.arange(len(coordinates), len(coordinates) + len(sides), dtype=np.int32)
    halves = np.stack([sides.ravel(), np.repeat(middles, 2)], axis=1)
    nodes = np.concatenate([cells, middles.take(numbers)], axis=1)
    points = np.concatenate([coordinates, middlesOf(coordinates, sides)])
    return points, cutCells(nodes), _withInside(halves, halvesOf(cells, numbers), nodes)


def sidesOfPieces(nodes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides of the pieces of elements with nodes (k, 3 or 6), in the form of uniqueSides().

    count: number of points. No sorting is needed: pieces of neighbors share only halves of the elements' sides, which
    are identified by the side's middle. The inner sides of an element that occurs twice are returned twice.
    """
    if nodes.shape[1] == 3:
        return uniqueSides(cutCells(nodes))
    halves = halvesOf(nodes[:, :3], nodes[:, 3:])
    # the last one of equal halves represents all of them
    numbers, every = np.empty(2 * count, np.int32), np.arange(halves.size, dtype=np.int32)
    numbers[halves.ravel()] = every
    different = np.flatnonzero(numbers.take(halves.ravel()) == every)
    numbers[halves.ravel()[different]] = every[: len(different)]
    return _withInside(_ends(nodes, HALVES).take(different, axis=0), numbers.take(halves), nodes)


def halvesOf(cells: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the numbers (k, 6) of the halves of the sides of triangles (k, 3): at the sides' starts, then at the ends.

    sides: (k, 3) their numbers. The halves of side n are 2 n, at its end with the smaller point number, and 2 n + 1.
    """
    starts = 2 * sides
    starts += cells > cells[:, CORNERS_OF_SIDES[3][:, 1]]
    return np.concatenate([starts, starts ^ 1], axis=1)


def _withInside(halves: np.ndarray, numbers: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides of the pieces of triangles: halves (h, 2) of the triangles' sides, and the sides inside these.

    numbers: (k, 6) of the halves, in the order of halvesOf(). nodes: (k, 6) of the triangles.
    """
    inside = _ends(nodes, INSIDE)
    ofInside = np.arange(len(halves), len(halves) + len(inside), dtype=np.int32).reshape(-1, 3)
    numbers = np.concatenate([numbers, ofInside], axis=1, dtype=np.int32)
    return np.concatenate([halves, inside]), numbers[:, SIDES_OF_PIECES].reshape(-1, 3)


def _ends(nodes: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the ends (s * k, 2) of sides (s, 2) of triangles; the sides are given as columns of the nodes (k, 6)."""
    return nodes[:, sides].reshape(-1, 2)


def cutCells(nodes: np.ndarray) -> np.ndarray:
    """Return the corners (pieces * k, 2 or 3) of the pieces of elements from their nodes (k, 3 or 6)."""
    pieces = PIECES[2 if nodes.shape[1] == 3 else 3]
    return nodes[:, pieces].reshape(-1, pieces.shape[1])


def compacted(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (n,) of the points in use, ascending, and the elements (k, .) renumbered accordingly."""
    isUsed = np.zeros(count, bool)
    isUsed[cells.ravel()] = True
    used = np.flatnonzero(isUsed)
    if len(used) == count:
        return used, cells
    numbers = np.empty(count, np.int32)
    numbers[used] = np.arange(len(used), dtype=np.int32)
    return used, numbers.take(cells)


def divided(coordinates: np.ndarray, cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points with new ones appended, and the `count` equal parts (m * count, 2) of all segments."""
    start, end = coordinates[cells[:, 0]], coordinates[cells[:, 1]]
    steps = np.arange(1, count)[:, None]
    between = (start[:, None] * (count - steps) + end[:, None] * steps) / count
    numbers = len(coordinates) + np.arange(len(cells) * (count - 1)).reshape(len(cells), -1)
    chain = np.concatenate([cells[:, :1], numbers, cells[:, 1:]], axis=1)
    points = np.concatenate([coordinates, between.reshape(-1, 3)])
    return points, np.stack([chain[:, :-1], chain[:, 1:]], axis=2).reshape(-1, 2)


def middlesOf(coordinates: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return the middles (s, 3) of sides (s, 2). coordinates: floating-point, or integers divisible by 2."""
    middles = coordinates.take(sides[:, 0], axis=0)
    middles += coordinates.take(sides[:, 1], axis=0)
    if middles.dtype.kind == "i":
        middles >>= 1
    else:
        middles /= 2
    return middles
