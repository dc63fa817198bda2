"""The distinct sides of triangles and segments: a side shared by neighbors counts once."""

from __future__ import annotations

import numpy as np

# The ends of the sides of an element, as corner numbers, by its number of corners: a segment and a triangle.
CORNERS_OF_SIDES = {2: np.array([[0, 1]]), 3: np.array([[0, 1], [1, 2], [2, 0]])}


def uniqueSides(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct sides (s, 2) of elements (k, 2 or 3), and each element's side numbers (k, 1 or 3)."""
    if cells.shape[1] == 2:
        return cells, np.arange(len(cells))[:, None]
    following = cells.take(CORNERS_OF_SIDES[3][:, 1], axis=1)
    low = np.minimum(cells, following).ravel()
    # the points of a side usually have similar numbers, so the step is small and has few digits to sort by
    step = np.maximum(cells, following, out=following).ravel() - low
    order = inOrder(low, step)
    low, step = low.take(order), step.take(order)
    isFirst = np.ones(len(order), bool)
    np.logical_or(low[1:] != low[:-1], step[1:] != step[:-1], out=isFirst[1:])
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(isFirst, dtype=np.int32) - 1
    low, step = low.compress(isFirst), step.compress(isFirst)
    return np.stack([low, low + step], axis=1), numbers.reshape(-1, 3)


def inOrder(*columns: np.ndarray) -> np.ndarray:
    """Return the lexicographic order (n,) of rows of non-negative integers, which are given column by column.

    Sorts digit by digit of 16 bits: these are sorted by counting, several times faster than by comparison.
    """
    digits: list[np.ndarray] = []
    for column in reversed(columns):
        bits = int(column.max(initial=0)).bit_length()
        digits.extend((column >> shift).astype(np.uint16) for shift in range(0, max(bits, 1), 16))
    return np.lexsort(digits)
