"""Connected parts of graphs, such as triangles that share an edge or voxels that touch."""

from __future__ import annotations

import numpy as np


def components(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """Return which of the connected parts every node (count,) of a graph with these links belongs to.

    one, other: (l,) the nodes at the two ends of each link. Parts are numbered from 0, in the order of their first
    nodes.

    Every node begins as a part of its own. Parts join the lowest of those that they are linked to, until no link leads
    from one part to another; the number of parts that are left to join falls by half at least with every other round.
    """
    nodes = np.arange(count)
    lowest = nodes.copy()
    while len(one):
        np.minimum.at(lowest, np.maximum(one, other), np.minimum(one, other))
        # what a part has joined has itself joined another one
        further = lowest.take(lowest)
        while not np.array_equal(further, lowest):
            lowest, further = further, further.take(further)
        one, other = lowest.take(one), lowest.take(other)
        isOpen = np.flatnonzero(one != other)
        one, other = one.take(isOpen), other.take(isOpen)
    return (np.cumsum(lowest == nodes) - 1).take(lowest)
