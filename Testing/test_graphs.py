"""Connected parts of graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from SegmentMetricsLib.geometry.graphs import components


@pytest.mark.parametrize("links", [0, 20, 100, 130, 400])
def testPartsAreThoseOfScipy(links):
    count = 200
    one, other = np.random.default_rng(links).integers(0, count, (2, links))
    graph = coo_matrix((np.ones(links), (one, other)), (count, count))
    found = components(one, other, count)
    assert (found == connected_components(graph, directed=False)[1]).all()
    # numbered in the order of their first nodes
    assert (
        np.unique(found, return_index=True)[1] == np.flatnonzero(np.diff(np.maximum.accumulate(found), prepend=-1))
    ).all()


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled", "from both ends"])
def testALongWayIsOnePart(order):
    nodes = np.arange(5000)
    way = {
        "ascending": nodes,
        "descending": nodes[::-1],
        "shuffled": np.random.default_rng(0).permutation(nodes),
        "from both ends": np.stack([nodes[:2500], nodes[:2499:-1]], axis=1).ravel(),
    }[order]
    assert not components(way[:-1], way[1:], len(way)).any()
    # but for one link
    parts = components(np.delete(way[:-1], 2000), np.delete(way[1:], 2000), len(way))
    assert len(set(parts[way[:2001]].tolist())) == len(set(parts[way[2001:]].tolist())) == 1
    assert parts.max() == 1
