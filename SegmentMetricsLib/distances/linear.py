"""Functions that are linear over triangles or line segments: shares of size, percentiles and means, in closed form.

values: (3, n) at the corners of triangles or (2, n) at the ends of segments. Every result is (n,), one per element: a
fraction of the element's size, or a mean over it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry.surfaces import PIECES

# Corners, by node number, of the whole element and then of each of its pieces.
WITH_PIECES = {corners: np.vstack([np.arange(corners), ofPieces]) for corners, ofPieces in PIECES.items()}
# Corners whose distances differ by less than this, mm, are equally far, and so is what lies between them; and by less
# than this, they are so but for rounding. Both are fractions of the largest distance if that is below 1 mm, but not
# of less than the last, mm.
LEVEL, TIE, SMALLEST = 1e-5, 1e-8, 1e-7
# Bins in which a percentile is guessed.
BINS = 512
# Relative rounding error of a sum of sizes.
SIZE_ROUNDING = 1e-12


def sortCorners(values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the values (corners, n) as one array (n,) per corner, the smallest values of all elements first."""
    first, second = np.minimum(values[0], values[1]), np.maximum(values[0], values[1])
    if len(values) == 2:
        return first, second
    return np.minimum(first, values[2]), np.maximum(first, np.minimum(second, values[2])), np.maximum(second, values[2])


def shareBelow(values: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the share of every element on which the function is at most its limit (n,)."""
    low, *middle, high = sortCorners(values)
    result = (high <= limit).astype(float)
    crossed = np.flatnonzero((low < limit) & (limit < high))
    low, high, limit = low[crossed], high[crossed], limit[crossed]
    if not middle:
        result[crossed] = (limit - low) / (high - low)
        return result
    # the part below is a triangle at the lowest corner, or all but a triangle at the highest
    between = middle[0][crossed]
    isLower = limit <= between
    span = (high - low) * np.where(isLower, between - low, high - between)
    corner = np.where(isLower, limit - low, high - limit) ** 2 / np.where(span > 0, span, 1)
    result[crossed] = np.where(isLower, corner, 1 - corner)
    return result


def shareWithin(values: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the share of every element on which the absolute value of the function is at most its limit (n,)."""
    result = shareBelow(values, limit)
    low = np.flatnonzero(np.minimum.reduce(values) < -limit)
    result[low] += shareBelow(-values[:, low], limit[low]) - 1
    return result


def meanMagnitude(values: np.ndarray) -> np.ndarray:
    """Return the mean of the absolute value of the function over every element."""
    result = np.abs(values.sum(axis=0)) / len(values)
    ascending = sortCorners(values)
    crossed = np.flatnonzero((ascending[0] < 0) & (ascending[-1] > 0))
    if not len(crossed):
        return result
    if len(values) == 2:
        low, high = -ascending[0][crossed], ascending[1][crossed]
        result[crossed] = (low**2 + high**2) / (2 * (low + high))
        return result
    # One corner is on the other side of zero than the two others: the function changes sign on the triangle there.
    low, middle, high = (column[crossed] for column in ascending)
    isLowest = middle > 0
    low, high = np.where(isLowest, low, -high), np.where(isLowest, high, -low)
    middle = np.abs(middle)
    alone = low**2 / ((middle - low) * (high - low))
    result[crossed] = (low + middle + high - 2 * alone * low) / 3
    return result


def turn(nodes: np.ndarray) -> np.ndarray:
    """Return values at the nodes (., c) of elements, negated for elements where their sum is negative."""
    return nodes * np.copysign(1.0, np.add.reduce(nodes, axis=0))


def withPieces(nodes: np.ndarray) -> np.ndarray:
    """Return the values (corners, (1 + pieces) * c) at the corners of elements, and then at those of their pieces."""
    corners = 2 if len(nodes) == 3 else 3
    return nodes[WITH_PIECES[corners].T].reshape(corners, -1)


def ofWholeAndPieces(values: np.ndarray, corners: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (c,) of whole elements and the means over their pieces.

    values: ((1 + pieces) * c,) in the order of withPieces(). corners: number of corners of an element.
    """
    values = values.reshape(len(WITH_PIECES[corners]), -1)
    return values[0], np.add.reduce(values[1:]) / (len(values) - 1)


def invertSizes(
    values: np.ndarray, sizes: np.ndarray, below: float, least: float, most: float
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return a function that finds the limits within which a segment has wanted sizes: with these, percentiles.

    Over one triangle the size on which a linear function is at most a limit is quadratic in the limit, with one
    polynomial between the two lower values at its corners and another one between the two upper; over a segment it is
    linear. So between two neighboring values of all corners the total size is a polynomial, too. Near a guess of the
    percentile all corners are sorted and their contributions summed up: every limit is then the root of one quadratic.

    Sizes are extrapolated: 4/3 of that of the pieces, less 1/3 of that of the whole element.

    values: (3 or 6, c) signed distances at the nodes of the elements that the limits pass through, mm. sizes: (c,).
    below: size of all other elements within `least`. least, most: mm, between which the limits are sought.
    """
    ascending, count = np.stack(sortCorners(withPieces(turn(values)))), 2 if len(values) == 3 else 4
    sizes = np.concatenate([sizes / -3, np.tile(sizes * 4 / 3 / count, count)])
    # a piece that reaches below 0 counts twice, as it is and negated, less its whole size once
    both = np.flatnonzero(ascending[0] < 0)
    if len(both):
        below -= float(sizes[both].sum())
        ascending = np.concatenate([ascending, -ascending[::-1, both]], axis=1)
        sizes = np.concatenate([sizes, sizes[both]])
    isWhole = ascending[-1] <= least
    below += float(sizes.sum(where=isWhole))
    passed = np.flatnonzero(~isWhole & (ascending[0] < most))
    ascending, sizes = ascending.take(passed, axis=1), sizes.take(passed)
    # factors of 1, t and t^2 by which the size grows from each of the corners on; t is the limit less `least`
    first, *middle, last = ends = ascending - least
    span, zeros = last - first, np.zeros(len(sizes))
    scale = float(np.clip(ascending[-1].max(initial=0.0), SMALLEST, 1.0))
    level, tie = LEVEL * scale, TIE * scale
    with np.errstate(divide="ignore", invalid="ignore"):
        if middle:
            lower, upper = middle[0] - first, last - middle[0]
            isLevel = span < level
            rise = np.where(isLevel | (lower < level), 0.0, sizes / (span * lower))
            fall = np.where(isLevel | (upper < level), 0.0, sizes / (span * upper))
            one, other = rise * first, fall * last
            constant = [one * first, sizes - one * first - other * last, other * last]
            steps = np.array([constant, [-2 * one, 2 * (one + other), -2 * other], [rise, -rise - fall, fall]])
        else:
            rise = np.where(span < level, 0.0, sizes / span)
            steps = np.array([[-rise * first, sizes + rise * first], [rise, -rise], [zeros, zeros]])
    ends, steps = ends.ravel(), steps.reshape(3, -1)
    isBefore = ends <= 0
    start = (steps * isBefore).sum(axis=1)
    start[0] += below
    inside = np.flatnonzero(~isBefore & (ends < most - least))
    inside = inside[np.argsort(ends[inside])]
    starts = np.concatenate([[0.0], ends[inside]])
    factors = np.cumsum(np.concatenate([start[:, None], steps[:, inside]], axis=1), axis=1)
    constant, linear, square = factors
    # where all that was begun is complete, the size is exact: an area that is as large as wanted must not miss it
    isFirst, isLast = inside < len(sizes), inside >= ends.size - len(sizes)
    begun = np.cumsum(np.concatenate([[np.count_nonzero(first <= 0)], isFirst.astype(int) - isLast]))
    complete = np.cumsum(np.concatenate([[below], sizes.take(inside % max(len(sizes), 1)) * isLast]))
    isConstant = begun == 0
    constant[isConstant], linear[isConstant], square[isConstant] = complete[isConstant], 0.0, 0.0
    stops = np.append(starts[1:], most - least)
    atStarts = constant + (linear + square * starts) * starts
    atStops = constant + (linear + square * stops) * stops
    # between equal corners some of the contributions are missing; extrapolation may make the curve fall a little
    reached = np.where(stops - starts > tie, np.maximum(atStarts, atStops), -np.inf)
    reached = np.maximum.accumulate(reached)

    def find(wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest limits (n,) in mm within which the segment has the wanted sizes (n,), or a little more.

        Also returns whether (n,) they lie between `least` and `most`.
        """
        wanted = wanted * (1 - SIZE_ROUNDING)
        rows = np.searchsorted(reached, wanted)
        isFound = rows < len(starts)
        rows = np.minimum(rows, len(starts) - 1)
        start, missing = starts[rows], wanted - atStarts[rows]
        isFound &= (atStarts[0] < wanted) | (least < 0)
        _, linear, square = factors[:, rows]
        slope = linear + 2 * square * start
        root = slope + np.sqrt(np.maximum(slope**2 + 4 * square * missing, 0))
        steps = np.where(missing > 0, 2 * missing / np.where(root > 0, root, 1), 0.0)
        stops = np.append(starts[1:], np.inf)[rows]
        return least + np.minimum(start + steps, stops), isFound

    return find


def estimatePercentiles(
    segment: np.ndarray, low: np.ndarray, high: np.ndarray, sizes: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits (s,) within which segments would have wanted sizes (s,) if every element were spread evenly.

    Also returns the size per mm (s,) around them. segment, low, high, sizes: (k,) of elements, spread from low to high.
    """
    count = len(wanted)
    top = np.zeros(count)
    np.maximum.at(top, segment, high)
    width = (top * (1 + 1e-9) + 1e-9) / BINS
    ofElements = width.take(segment)
    end = np.maximum(high, low + ofElements)
    density = sizes / (end - low)
    ends = np.arange(1, BINS + 2) * width[:, None]
    reached = np.zeros((count, BINS + 1))
    for values, sign in ((low, 1), (end, -1)):
        keys = np.multiply(segment, BINS + 1, dtype=np.intp) + (values / ofElements).astype(np.intp)
        number, sums = (
            np.bincount(keys, some, count * (BINS + 1)).reshape(-1, BINS + 1).cumsum(axis=1)
            for some in (density, density * values)
        )
        reached = reached + sign * (number * ends - sums)
    number = (reached < wanted[:, None]).sum(axis=1).clip(1, BINS)
    rows = np.arange(count)
    return (number + 0.5) * width, (reached[rows, number] - reached[rows, number - 1]) / width
