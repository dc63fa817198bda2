"""The different sides of triangles and segments: those that neighbors share are one."""

from __future__ import annotations

import numpy as np

# The ends of the sides of an element, by its corners: of a segment and of a triangle.
SIDES = {2: np.array([[0, 1]]), 3: np.array([[0, 1], [1, 2], [2, 0]])}


def uniqueSides(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sides (s, 2) of elements of `count` points, and each element's side numbers (k, 1 or 3)."""
    if cells.shape[1] == 2:
        return cells, np.arange(len(cells))[:, None]
    following = cells.take(SIDES[3][:, 1], axis=1)
    low, high = np.minimum(cells, following).ravel(), np.maximum(cells, following, out=following).ravel()
    order = inOrder(low, high, count)
    low, high = low.take(order), high.take(order)
    isFirst = np.ones(len(order), bool)
    np.logical_or(low[1:] != low[:-1], high[1:] != high[:-1], out=isFirst[1:])
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(isFirst, dtype=np.int32) - 1
    return np.stack([low.compress(isFirst), high.compress(isFirst)], axis=1), numbers.reshape(-1, 3)


def inOrder(first: np.ndarray, second: np.ndarray, count: int) -> np.ndarray:
    """Return the order (n,) of pairs of whole numbers below `count`.

    Numbers of 16 bits are sorted by counting, which is several times faster than by comparing: digit by digit.
    """
    shifts = range(0, max(count - 1, 1).bit_length(), 16)
    return np.lexsort([(column >> shift).astype(np.uint16) for column in (second, first) for shift in shifts])
