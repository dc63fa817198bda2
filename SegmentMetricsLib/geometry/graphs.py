"""Connected parts of graphs, such as triangles that share an edge or voxels that touch."""

from __future__ import annotations

import numpy as np


def components(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """Return the number of the connected part that every node (count,) of a graph belongs to.

    one, other: (l,) the nodes at the two ends of each link. Parts are numbered from 0.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    # in the format of the search, whose own conversion would take longer than the search itself
    graph = coo_matrix((np.ones(len(one)), (one, other)), (count, count)).tocsr()
    return connected_components(graph, directed=False)[1]
