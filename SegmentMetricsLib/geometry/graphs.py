"""Connected parts of graphs, such as triangles that share an edge or voxels that touch."""

from __future__ import annotations

import numpy as np


def components(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    """Return which of the connected parts every node (count,) of a graph with these links belongs to.

    one, other: (l,) the nodes at the two ends of each link. Parts are numbered from 0.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    # in the form that the search wants, which would else take longer to make than to search
    graph = coo_matrix((np.ones(len(one)), (one, other)), (count, count)).tocsr()
    return connected_components(graph, directed=False)[1]
