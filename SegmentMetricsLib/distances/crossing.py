"""Where the size of what a function does not exceed reaches a wanted one: percentiles of piecewise linear functions."""

from __future__ import annotations

import numpy as np

from .linear import orderedShareBelow


def firstReaching(
    ascending: tuple[np.ndarray, ...], sizes: np.ndarray, wanted: float, least: float, most: float, precision: float
):
    """Return the smallest value up to which linear functions have a wanted size, to a precision.

    ascending: their values (n,) at the corners of every element, in order. least, most: between which it is sought; the
    one itself if the size is not smaller there, the other if the size does not reach there.
    """
    sizeLeast, sizeMost = (total(orderedShareBelow(ascending, limit), sizes) for limit in (least, most))
    if sizeLeast >= wanted or sizeMost < wanted:
        return float(least if sizeLeast >= wanted else most)
    # Where the size grows smoothly, secants find the place in few steps. An end that stays twice counts half (Illinois
    # rule), so that both ends move. A jump of the size needs halving: when two secants have not halved the interval.
    weightLeast = weightMost = 1.0
    moved, slow, before = 0, 0, most - least
    while most - least > precision * max(1.0, most):
        below, above = weightLeast * (wanted - sizeLeast), weightMost * (sizeMost - wanted)
        ratio = 0.5 if slow >= 2 or below + above <= 0 else below / (below + above)
        middle = least + (most - least) * min(max(ratio, 1e-3), 1 - 1e-3)
        size = total(orderedShareBelow(ascending, middle), sizes)
        if size >= wanted:
            most, sizeMost, weightMost = middle, size, 1.0
            weightLeast = weightLeast / 2 if moved > 0 else 1.0
            moved = 1
        else:
            least, sizeLeast, weightLeast = middle, size, 1.0
            weightMost = weightMost / 2 if moved < 0 else 1.0
            moved = -1
        slow, before = (0, most - least) if most - least <= before / 2 else (slow + 1, before)
        isNear = (ascending[0] <= most) & (ascending[-1] > least)
        if isNear.mean() < 0.7:
            within = float(sizes[ascending[-1] <= least].sum())
            wanted, sizeLeast, sizeMost = wanted - within, sizeLeast - within, sizeMost - within
            ascending, sizes = tuple(column[isNear] for column in ascending), sizes[isNear]
    return float(most)


def valueBelow(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value, below all if need be, such that the size of the values up to it is less than wanted."""
    edges, sums = binnedSums(values, sizes, bins)
    return float(edges[np.searchsorted(sums, wanted * (1 - 1e-9))]) - 1e-9


def valueAbove(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value such that the size of the values up to it is at least wanted."""
    edges, sums = binnedSums(values, sizes, bins)
    return float(edges[min(np.searchsorted(sums, wanted * (1 - 1e-9)) + 1, bins)])


def binnedSums(values: np.ndarray, sizes: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return edges (bins + 1,) and the size of the values below the upper edge of every bin (bins,)."""
    top = float(values.max()) * (1 + 1e-9) + 1e-9
    numbers = (values * (bins / top)).astype(np.int32)
    return np.linspace(0, top, bins + 1), np.cumsum(np.bincount(numbers, sizes, bins))


def total(values: np.ndarray, sizes: np.ndarray) -> float:
    """Return the sum of values times sizes; the linear algebra library would start threads for that."""
    return float(np.einsum("i,i->", values, sizes))
