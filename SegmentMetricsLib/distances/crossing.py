"""Where the size of what a function does not exceed reaches a wanted one: percentiles of piecewise linear functions.

Over one triangle the size grows with the limit like a parabola between the values at its corners, over a segment like a
line. So between two neighboring values of all corners the size of everything is one parabola, and where it reaches a
wanted size is known in closed form. Which two neighbors these are is guessed, as if the size grew evenly, and halved
where the guess is wrong.
"""

from __future__ import annotations

import numpy as np

from .linear import orderedShareBelow

# How far a guess may be off, as a part of the values there are.
GUESSED = 16
# Elements times limits looked at at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 14
# Functions that change by less than this over an element are level; by as little may be divided twice.
LEVEL = 1e-100


def firstReaching(
    ascending: tuple[np.ndarray, ...],
    sizes: np.ndarray,
    wanted: float,
    limits: np.ndarray,
    reached: np.ndarray,
    precision: float = 0.0,
) -> float:
    """Return the smallest value up to which linear functions have a wanted size, or one that is up to precision larger.

    ascending: their values (n,) at the corners of every element, in order. limits, reached: (m,) values between which
    it is sought, in order, and the sizes up to these; the first one if that is not smaller, the last one if it is.
    """
    if reached[0] >= wanted or reached[-1] < wanted:
        return float(limits[0] if reached[0] >= wanted else limits[-1])
    values = None
    while True:
        number = int(np.searchsorted(reached, wanted))
        (least, most), (sizeLeast, sizeMost) = (
            (float(one) for one in limits[number - 1 : number + 1]),
            reached[number - 1 : number + 1],
        )
        if most - least <= precision:
            return most
        isNear = (ascending[0] < most) & (ascending[-1] > least)
        below = float(sizes.compress(ascending[-1] <= least).sum())
        wanted, sizeLeast, sizeMost = wanted - below, sizeLeast - below, sizeMost - below
        ascending, sizes = tuple(column.compress(isNear) for column in ascending), sizes.compress(isNear)
        if values is None:
            values = np.sort(np.concatenate(ascending))
        values = values[np.searchsorted(values, least, "right") : np.searchsorted(values, most, "left")]
        count = len(values)
        if not count:
            return reachedWithin(ascending, sizes, wanted, least, most)
        guess = least + (most - least) * (wanted - sizeLeast) / (sizeMost - sizeLeast)
        place, off = int(np.searchsorted(values, guess)), count // GUESSED + 1
        between = values[[max(place - off, 0), count // 2, min(place + off, count - 1)]]
        limits = np.unique([least, *between, most])
        reached = np.concatenate([[sizeLeast], sizesBelow(ascending, sizes, limits[1:-1]), [sizeMost]])


def sizesBelow(ascending: tuple[np.ndarray, ...], sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) on which linear functions are at most each of the limits (m,)."""
    result, count = np.zeros(len(limits)), max(CHUNK // max(len(limits), 1), 1)
    limits = limits[:, None]
    for first in range(0, len(sizes), count):
        chosen = slice(first, first + count)
        low, high, size = ascending[0][chosen], ascending[-1][chosen], sizes[chosen]
        span = high - low
        level = np.flatnonzero(span < LEVEL)
        growth = size / np.maximum(span, LEVEL)
        if len(ascending) == 2:
            result += np.einsum("mn,n->m", _between(low, limits, high) - low, growth)
        else:
            # what is below is a triangle at the lowest corner, as far as the middle one, and then all but another one
            middle = ascending[1][chosen]
            above, under = _between(low, limits, middle), _between(middle, limits, high)
            above -= low
            np.subtract(high, under, out=under)
            result += np.einsum("mn,mn,n->m", above, above, growth / np.maximum(middle - low, LEVEL))
            result -= np.einsum("mn,mn,n->m", under, under, growth / np.maximum(high - middle, LEVEL))
            result += np.einsum("n,n->", growth, high - middle)
        if len(level):
            result += np.einsum("mn,n->m", limits >= low[level], size[level])
    return result


def _between(low: np.ndarray, values: np.ndarray, high: np.ndarray) -> np.ndarray:
    result = np.maximum(values, low)
    return np.minimum(result, high, out=result)


def sizesBeyond(ascending: tuple[np.ndarray, ...], sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) on which linear functions exceed each of many limits (m,), which ascend.

    ascending: their values (n,) at the corners of every element, in order.
    """
    first, last = (np.searchsorted(limits, values) for values in (ascending[0], ascending[-1]))
    # up to the lowest value all of an element is beyond; from the highest on nothing is
    result = np.cumsum(np.bincount(first, sizes, len(limits) + 1)[::-1])[::-1][1:]
    crossed = np.flatnonzero(last > first)
    while len(crossed):
        number = first[crossed]
        share = 1 - orderedShareBelow(tuple(column[crossed] for column in ascending), limits[number])
        result += np.bincount(number, share * sizes[crossed], len(limits))
        first[crossed] += 1
        crossed = crossed[first[crossed] < last[crossed]]
    return result


def reachedWithin(ascending, sizes: np.ndarray, wanted: float, least: float, most: float) -> float:
    """Return the same as firstReaching() where no element has the value of a corner between least and most."""
    low, high = ascending[0], ascending[-1]
    crossed = (low <= least) & (high >= most) & (high > low)
    low, high, sizes = (values.compress(crossed) for values in (low, high, sizes))
    # the size at least + t is constant + linear t + square t^2
    if len(ascending) == 2:
        growth = sizes / (high - low)
        constant, linear, square = (growth * (least - low)).sum(), growth.sum(), 0.0
    else:
        middle = ascending[1][crossed]
        isLower = middle >= most
        end = np.where(isLower, low, high)
        square = sizes / ((high - low) * np.where(isLower, middle - low, middle - high))
        constant = (square * (least - end) ** 2).sum() + sizes[~isLower].sum()
        linear, square = 2 * (square * (least - end)).sum(), square.sum()
    missing = wanted - constant
    if missing <= 0:
        return float(least)
    root = max(linear**2 + 4 * square * missing, 0.0) ** 0.5
    # the size jumps at most, or grows so slowly that it is not reached before
    return float(min(least + 2 * missing / (linear + root), most)) if linear + root > 0 else float(most)


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
