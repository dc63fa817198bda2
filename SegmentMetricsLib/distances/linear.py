"""Functions that are linear over triangles or line segments: shares of size and means, in closed form.

values: (3, n) at the corners of triangles or (2, n) at the ends of segments. Every result is (n,), one per element: a
fraction of the element's size, or a mean over it.
"""

from __future__ import annotations

import numpy as np

from ..geometry.surfaces import PIECES

# Corners, by node number, of the whole element and then of each of its pieces.
WITH_PIECES = {corners: np.vstack([np.arange(corners), ofPieces]) for corners, ofPieces in PIECES.items()}


def ordered(values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the values (corners, n) as one array (n,) per corner, the smallest values of all elements first."""
    first, second = np.minimum(values[0], values[1]), np.maximum(values[0], values[1])
    if len(values) == 2:
        return first, second
    return np.minimum(first, values[2]), np.maximum(first, np.minimum(second, values[2])), np.maximum(second, values[2])


def shareBelow(values: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the share of every element on which the function is at most its limit (n,)."""
    low, *middle, high = ordered(values)
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
    ascending = ordered(values)
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
    low, middle, high = (
        np.where(isLowest, low, -high),
        np.where(isLowest, middle, -middle),
        np.where(isLowest, high, -low),
    )
    alone = low**2 / ((middle - low) * (high - low))
    result[crossed] = (low + middle + high - 2 * alone * low) / 3
    return result


def turned(nodes: np.ndarray) -> np.ndarray:
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
