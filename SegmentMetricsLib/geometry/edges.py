"""The different sides of triangles and segments: those that neighbors share are one."""

from __future__ import annotations

import numpy as np

# The ends of the sides of an element, by its corners: of a segment and of a triangle.
SIDES = {2: np.array([[0, 1]]), 3: np.array([[0, 1], [1, 2], [2, 0]])}


def uniqueSides(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sides (s, 2) of elements of `count` points, and each element's side numbers (k, 1 or 3)."""
    corners = cells.shape[1]
    ends = cells[:, SIDES[corners]].reshape(-1, 2)
    if corners == 2:
        return ends, np.arange(len(ends))[:, None]
    first, second = ends.T
    bits = int(count).bit_length()
    # in place where it can be: these arrays are among the largest that a boundary needs
    keys = np.minimum(first, second).astype(np.int64, copy=False)
    keys <<= bits
    keys |= np.maximum(first, second)
    del ends, first, second
    order, ordered = inOrder(keys, 2 * bits)
    isFirst = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=isFirst[1:])
    different = ordered[isFirst]
    del keys, ordered
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(isFirst, dtype=np.int32) - 1
    return np.stack([different >> bits, different & (1 << bits) - 1], axis=1), numbers.reshape(-1, 3)


def inOrder(keys: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order (n,) of whole numbers of so many bits, and the numbers in this order.

    Sorting numbers is several times faster than finding their order, so each takes its place along where it can.
    """
    room = len(keys).bit_length()
    if bits + room > 62:
        order = np.argsort(keys, kind="stable")
        return order, keys[order]
    both = keys << room
    both |= np.arange(len(keys))
    both.sort()
    order = both & (1 << room) - 1
    both >>= room
    return order, both
