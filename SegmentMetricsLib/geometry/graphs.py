"""Connected parts of graphs, such as triangles that share an edge or voxels that touch."""

from __future__ import annotations

import numpy as np


def components(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """Return the number of the connected part that every node (count,) of a graph belongs to.

    one, other: (l,) the nodes at the two ends of each link. Parts are numbered from 0, in the order of their first
    nodes. This is as fast as SciPy's search, whose import takes longer than a comparison of small structures.
    """
    # the lowest node known to be connected with every node
    lowest = np.arange(count)
    while len(one):
        one, other = lowest.take(one), lowest.take(other)
        apart = np.flatnonzero(one != other)
        one, other = one.take(apart), other.take(apart)
        np.minimum.at(lowest, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(lower := lowest.take(lowest), lowest):
            lowest = lower
    isFirst = lowest == np.arange(count)
    return (np.cumsum(isFirst) - 1).take(lowest)
