"""Where the size of what a function does not exceed reaches a wanted one: percentiles of piecewise linear functions.

Over one triangle the size grows with the limit like a parabola between the values at its corners, over a segment like a
line. So between two neighboring values of all corners the size of everything is one parabola, and where it reaches a
wanted size is known in closed form. Which two neighbors these are is guessed, as if the size grew evenly, and halved
where the guess is wrong.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from .linear import orderedShareBelow

# How far a guess may be off, as a part of the values there are.
GUESSED = 16
# Elements times limits looked at at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 15
# Functions that change by less than this over an element are level; by as little may be divided twice.
LEVEL = 1e-100


def firstReaching(
    ascending: np.ndarray,
    sizes: np.ndarray,
    wanted: float,
    limits: np.ndarray,
    reached: np.ndarray,
    precision: float = 0.0,
) -> float:
    """Return the smallest value up to which linear functions have a wanted size, or one that is up to precision larger.

    ascending: (corners, n) their values at the corners of every element, in order. limits, reached: (m,) values, in
    order, between which it is sought, and the sizes up to these; the first one if that is not smaller, the last one if
    it is.
    """
    limits, reached = limits.tolist(), reached.tolist()
    if reached[0] >= wanted or reached[-1] < wanted:
        return limits[0] if reached[0] >= wanted else limits[-1]
    number = bisect_left(reached, wanted)
    below, ascending, sizes = crossedBetween(ascending, sizes, *limits[number - 1 : number + 1])
    wanted, reached = wanted - below, [size - below for size in reached]
    values = None
    while True:
        (least, most), (sizeLeast, sizeMost) = (some[number - 1 : number + 1] for some in (limits, reached))
        if most - least <= precision:
            return most
        if values is None:
            values = ascending[(ascending > least) & (ascending < most)]
            values.sort()
        else:
            values = values[values.searchsorted(least, "right") : values.searchsorted(most)]
        count = len(values)
        if not count:
            return reachedWithin(ascending, sizes, wanted - sizeLeast, least, most)
        guess = least + (most - least) * (wanted - sizeLeast) / (sizeMost - sizeLeast)
        place, off = int(values.searchsorted(guess)), count // GUESSED + 1
        between = sorted({values.item(n) for n in (max(place - off, 0), count // 2, min(place + off, count - 1))})
        limits = [least, *between, most]
        reached = [sizeLeast, *sizesBelow(ascending, sizes, np.array(between)).tolist(), sizeMost]
        number = bisect_left(reached, wanted)


def crossedBetween(
    ascending: np.ndarray, sizes: np.ndarray, least: float, most: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the size of the elements that lie below two limits, and what is known of those that one between crosses.

    ascending, sizes: as for firstReaching(), and so they are returned.
    """
    isBelow = ascending[-1] <= least
    crossed = np.flatnonzero((ascending[0] <= most) & ~isBelow)
    below = float(sizes.compress(isBelow).sum())
    return below, ascending.take(crossed, axis=1), sizes.take(crossed)


def sizesBelow(ascending: np.ndarray, sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) on which linear functions are at most each of the limits (m,).

    ascending: (corners, n) their values at the corners of every element, in order.
    """
    result, count = np.zeros(len(limits)), max(CHUNK // max(len(limits), 1), 1)
    limits = limits[:, None]
    for first in range(0, len(sizes), count):
        values, size = ascending[:, first : first + count], sizes[first : first + count]
        span = values[-1] - values[0]
        level = np.flatnonzero(span < LEVEL)
        growth = size / np.maximum(span, LEVEL)
        # how far the limits, or the corners they are beyond, are from the lowest corner, and back from the highest one
        away = np.maximum(limits, values[:-1, None])
        np.minimum(away, values[1:, None], out=away)
        away -= values[::2, None]
        if len(values) == 2:
            result += np.einsum("kmn,n->m", away, growth)
        else:
            # what is below is a triangle at the lowest corner, as far as the middle one, and then all but another one
            steps = values[1:] - values[:-1]
            factors = growth / np.maximum(steps, LEVEL)
            np.negative(factors[1], out=factors[1])
            result += np.einsum("kmn,kn->m", np.square(away, out=away), factors)
            result += total(growth, steps[1])
        if len(level):
            result += np.einsum("mn,n->m", limits >= values[0].take(level), size.take(level))
    return result


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


def reachedWithin(ascending: np.ndarray, sizes: np.ndarray, missing: float, least: float, most: float) -> float:
    """Return up to which value from least to most there is more than up to least by a size that is missing there.

    ascending, sizes: as for firstReaching(), of elements that have the value of no corner between the two.
    """
    crossed = np.flatnonzero((ascending[0] <= least) & (ascending[-1] >= most))
    low, *middle, high = ascending.take(crossed, axis=1)
    sizes = sizes.take(crossed)
    # up to least + t there is more by linear t + square t^2
    if middle:
        end = np.where(middle[0] >= most, low, high)
        squares = sizes / ((high - low) * (middle[0] - end))
        linear, square = 2 * total(squares, least - end), float(squares.sum())
    else:
        linear, square = float((sizes / (high - low)).sum()), 0.0
    root = max(linear**2 + 4 * square * missing, 0.0) ** 0.5
    # the size jumps at most, or grows so slowly that it is not reached before
    return min(least + 2 * missing / (linear + root), most) if linear + root > 0 else most


def valueBelow(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value, below all if need be, such that the size of the values up to it is less than wanted."""
    width, sums = binnedSums(values, sizes, bins)
    return width * int(sums.searchsorted(wanted * (1 - 1e-9))) - 1e-9


def valueAbove(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value such that the size of the values up to it is at least wanted."""
    width, sums = binnedSums(values, sizes, bins)
    return width * min(int(sums.searchsorted(wanted * (1 - 1e-9))) + 1, bins)


def binnedSums(values: np.ndarray, sizes: np.ndarray, bins: int) -> tuple[float, np.ndarray]:
    """Return the width of bins from 0 upward, and the size of the values below the upper edge of every bin (bins,)."""
    width = (float(values.max()) * (1 + 1e-9) + 1e-9) / bins
    return width, np.cumsum(np.bincount((values / width).astype(np.int32), sizes, bins))


def total(values: np.ndarray, sizes: np.ndarray) -> float:
    """Return the sum of values times sizes; the linear algebra library would start threads for that."""
    return float(np.einsum("i,i->", values, sizes))
