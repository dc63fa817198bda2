"""Percentiles of piecewise linear functions: the limit up to which their size reaches a wanted one.

Over one triangle the size on which a linear function is at most a limit is quadratic in the limit between the values
at its corners; over a segment it is linear. So between two neighboring values of all corners the total size is
quadratic, and the limit at which it reaches a wanted size is known in closed form. The two neighboring values are found
by interpolation, as if the size grew evenly, and by bisection where that guess is wrong.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from .linear import orderedShareBelow

# A guess is bracketed by values this fraction of all values away (1 / GUESSED) on either side.
GUESSED = 16
# Elements times limits processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 15
# Functions that change by less than this over an element are constant. Dividing by it twice does not overflow.
LEVEL = 1e-100


def firstReaching(
    ascending: np.ndarray,
    sizes: np.ndarray,
    wanted: float,
    limits: np.ndarray,
    reached: np.ndarray,
    precision: float = 0.0,
) -> float:
    """Return the smallest value up to which linear functions have a wanted size, or one up to `precision` larger.

    ascending: (corners, n) their values at the corners of every element, in ascending order. limits, reached: (m,)
    ascending values between which it is sought, and the sizes up to these. The first limit is returned if the wanted
    size is reached there already, the last one if it is not reached at all.
    """
    ends: list[float] = limits.tolist()
    upTo: list[float] = reached.tolist()
    if upTo[0] >= wanted or upTo[-1] < wanted:
        return ends[0] if upTo[0] >= wanted else ends[-1]
    number = bisect_left(upTo, wanted)
    below, ascending, sizes = crossedBetween(ascending, sizes, *ends[number - 1 : number + 1])
    wanted, upTo = wanted - below, [size - below for size in upTo]
    values = None
    while True:
        (least, most), (sizeLeast, sizeMost) = (some[number - 1 : number + 1] for some in (ends, upTo))
        if sizeLeast >= wanted:  # reached already, up to the rounding of what was subtracted
            return least
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
        ends = [least, *between, most]
        upTo = [sizeLeast, *sizesBelow(ascending, sizes, np.array(between)).tolist(), sizeMost]
        number = bisect_left(upTo, wanted)


def crossedBetween(
    ascending: np.ndarray, sizes: np.ndarray, least: float, most: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the size of the elements below both limits, and those that some limit between the two crosses.

    ascending, sizes: as for firstReaching(); those of the crossed elements are returned in the same form.
    """
    isBelow = ascending[-1] <= least
    crossed = np.flatnonzero((ascending[0] <= most) & ~isBelow)
    below = float(sizes.compress(isBelow).sum())
    return below, ascending.take(crossed, axis=1), sizes.take(crossed)


def sizesBelow(ascending: np.ndarray, sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) on which linear functions are at most each of the limits (m,).

    ascending: (corners, n) their values at the corners of every element, in ascending order.
    """
    result, count = np.zeros(len(limits)), max(CHUNK // max(len(limits), 1), 1)
    limits = limits[:, None]
    for first in range(0, len(sizes), count):
        values, size = ascending[:, first : first + count], sizes[first : first + count]
        span = values[-1] - values[0]
        level = np.flatnonzero(span < LEVEL)
        growth = size / np.maximum(span, LEVEL)
        # the limits, clipped to the values of neighboring corners, relative to the lowest and to the highest corner
        away = np.maximum(limits, values[:-1, None])
        np.minimum(away, values[1:, None], out=away)
        away -= values[::2, None]
        if len(values) == 2:
            result += np.einsum("kmn,n->m", away, growth)
        else:
            # the part below is a triangle at the lowest corner up to the middle one, then all but one at the highest
            steps = values[1:] - values[:-1]
            factors = growth / np.maximum(steps, LEVEL)
            np.negative(factors[1], out=factors[1])
            result += np.einsum("kmn,kn->m", np.square(away, out=away), factors)
            result += total(growth, steps[1])
        if len(level):
            result += np.einsum("mn,n->m", limits >= values[0].take(level), size.take(level))
    return result


def sizesBeyond(ascending: tuple[np.ndarray, ...], sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) on which linear functions exceed each of many ascending limits (m,).

    ascending: their values (n,) at the corners of every element, in ascending order.
    """
    first, last = (np.searchsorted(limits, values) for values in (ascending[0], ascending[-1]))
    # an element is wholly beyond limits below its lowest value, and not at all beyond those from its highest value on
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
    """Return the value from `least` to `most` up to which the size exceeds that up to `least` by `missing`.

    ascending, sizes: as for firstReaching(), of elements without corner values between the two.
    """
    crossed = np.flatnonzero((ascending[0] <= least) & (ascending[-1] >= most))
    low, *middle, high = ascending.take(crossed, axis=1)
    sizes = sizes.take(crossed)
    # up to least + t the size grows by linear t + square t^2
    if middle:
        end = np.where(middle[0] >= most, low, high)
        squares = sizes / ((high - low) * (middle[0] - end))
        linear, square = 2 * total(squares, least - end), float(squares.sum())
    else:
        linear, square = float((sizes / (high - low)).sum()), 0.0
    root = max(linear**2 + 4 * square * missing, 0.0) ** 0.5
    # otherwise the size jumps at `most`, or grows too slowly to be reached before
    return min(least + 2 * missing / (linear + root), most) if linear + root > 0 else most


def valueBelow(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value, possibly below all values, such that the size of the values up to it is less than wanted."""
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
    """Return the sum of values times sizes, without the linear algebra library, which would start threads."""
    return float(np.einsum("i,i->", values, sizes))
