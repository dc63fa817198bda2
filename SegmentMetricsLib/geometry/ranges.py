"""Ranges of whole numbers, all of them at once, and in parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..base.progress import checkpoint


def levelsOf(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return range numbers and values of all integers from `first` to below `last` (n,), range by range."""
    counts = np.maximum(last - first, 0)
    number = np.repeat(np.arange(len(counts)), counts)
    return number, np.arange(len(number), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts - first, counts)


def splitBy(values: np.ndarray, numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the values that have each of the numbers (n,) from 0 to below a count, in their order."""
    order = np.argsort(numbers, kind="stable")
    return np.split(values[order], np.searchsorted(numbers[order], np.arange(1, count + 1)))[:count]


def partsOf(counts: np.ndarray, most: int) -> Iterator[slice]:
    """Yield slices of items with counts (n,) that sum to at most `most`, or of single items. Each is a checkpoint()."""
    ends, start = np.cumsum(counts, dtype=np.int64), 0
    while start < len(ends):
        checkpoint()
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
