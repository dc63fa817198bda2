"""Pixels inside closed contours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def filled(start: np.ndarray, end: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return which pixels [row, column] have their center inside closed contours, by the even-odd rule.

    start, end: (n, 2) column and row, in pixels, where their line segments start and end. A contour that goes to a hole
    and back along the same line leaves the hole out.
    """
    swapped = (start[:, 1] > end[:, 1])[:, None]
    low, high = np.where(swapped, end, start), np.where(swapped, start, end)
    # the rows whose centers a segment crosses, its lower end included, its upper one not
    first, last = (np.clip(np.ceil(ends[:, 1]).astype(int), 0, shape[0]) for ends in (low, high))
    which = np.repeat(np.arange(len(low)), last - first)
    row = np.arange(len(which)) - np.repeat(np.cumsum(last - first) - last, last - first)
    share = (row - low[which, 1]) / (high[which, 1] - low[which, 1])
    crossing = low[which, 0] + share * (high[which, 0] - low[which, 0])
    # a pixel is inside when an odd number of segments cross its row at its center or before
    column = np.clip(np.ceil(crossing).astype(int), 0, shape[1])
    changes = np.zeros((shape[0], shape[1] + 1), np.int32)
    np.add.at(changes, (row, column), 1)
    return np.cumsum(changes, axis=1)[:, :-1] % 2 == 1


def combined(loops: Sequence[np.ndarray], shape: tuple[int, int]) -> tuple[np.ndarray, bool]:
    """Return the pixels [row, column] that the contours of one slice enclose together, and whether some cross.

    One inside another is a hole, one inside that an island again; what contours that cross enclose is joined; one that
    repeats another counts once.
    """
    parts = [filled(loop, np.roll(loop, -1, axis=0), shape) for loop in loops]
    parts.sort(key=np.count_nonzero, reverse=True)
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
