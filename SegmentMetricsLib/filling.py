"""Pixels inside closed contours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def filled(loop: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return which pixels [row, column] have their center inside a closed contour, by the even-odd rule.

    loop: (n, 2) column and row of its points in pixels, the last one joined to the first. A contour that goes to a hole
    and back along the same line leaves the hole out.
    """
    start, end = loop, np.roll(loop, -1, axis=0)
    swapped = (start[:, 1] > end[:, 1])[:, None]
    low, high = np.where(swapped, end, start), np.where(swapped, start, end)
    # the rows whose centers a line crosses, its lower end included, its upper one not
    first = np.clip(np.ceil(low[:, 1]).astype(int), 0, shape[0])
    last = np.clip(np.ceil(high[:, 1]).astype(int), 0, shape[0])
    which = np.repeat(np.arange(len(loop)), last - first)
    row = np.arange(len(which)) - np.repeat(np.cumsum(last - first) - last, last - first)
    share = (row - low[which, 1]) / (high[which, 1] - low[which, 1])
    crossing = low[which, 0] + share * (high[which, 0] - low[which, 0])
    # a pixel is inside when an odd number of lines cross its row at its center or before
    column = np.clip(np.ceil(crossing).astype(int), 0, shape[1])
    changes = np.zeros((shape[0], shape[1] + 1), np.int32)
    np.add.at(changes, (row, column), 1)
    return np.cumsum(changes, axis=1)[:, :-1] % 2 == 1


def combined(loops: Sequence[np.ndarray], shape: tuple[int, int]) -> tuple[np.ndarray, bool]:
    """Return the pixels [row, column] that the contours of one slice enclose together, and whether some cross.

    One inside another is a hole, one inside that an island again; what contours that cross enclose is joined; one that
    repeats another counts once.
    """
    parts = sorted((filled(loop, shape) for loop in loops), key=np.count_nonzero, reverse=True)
    total, crossing = np.zeros(shape, bool), False
    for number, part in enumerate(parts):
        if any(np.array_equal(part, earlier) for earlier in parts[:number]):
            continue
        shared = total & part
        if not shared.any() or np.array_equal(shared, part):
            total ^= part
        else:
            # in a hole of an outer contour, or across a line
            crossing = crossing or any(_cross(part, earlier) for earlier in parts[:number])
            total |= part
    return total, crossing


def _cross(one: np.ndarray, other: np.ndarray) -> bool:
    shared = np.count_nonzero(one & other)
    return 0 < shared < min(np.count_nonzero(one), np.count_nonzero(other))
