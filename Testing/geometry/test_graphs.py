"""Connected parts, against another program's and against parts that are known, and points next to places."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from SegmentMetricsLib.geometry.nearpoints import NearPoints
from SegmentMetricsLib.geometry.parts import components


@pytest.mark.parametrize("links", [0, 1, 60, 150, 400])
def testPartsOfRandomGraphs(links):
    one, other = np.random.default_rng(links).integers(0, 200, (2, links))
    graph = coo_array((np.ones(links), (one, other)), (200, 200))
    assert np.array_equal(components(one, other, 200), connected_components(graph, directed=False)[1])


@pytest.mark.parametrize("order", [1, -1])
def testLongChainsAndStars(order):
    """The last node of all may be the one that all others are linked with."""
    nodes = np.arange(3000)[::order]
    for one, other in ((nodes[1:], nodes[:-1]), (nodes[1:], np.full(2999, nodes[0]))):
        assert not components(one, other, 3000).any()
        # without the link of one node there are two parts
        assert components(one[1:], other[1:], 3000).max() == 1


@pytest.mark.parametrize("isFlat", [False, True])
@pytest.mark.parametrize("count", [1, 2, 700])
def testPointsNextToPlaces(count, isFlat):
    random = np.random.default_rng(count)
    points, places = (30 * random.normal(size=(number, 3)) + (90, -400, 1500) for number in (count, 60))
    if isFlat:
        points[:, 2] = places[:, 2] = 7
    away = np.linalg.norm(points - places[:, None], axis=2)
    near = NearPoints(points)
    for few in (places[:3], places):
        assert np.array_equal(near.nearest(few), away.argmin(axis=1)[: len(few)])
    found = near.within(places, 12.0)
    assert all(np.array_equal(some, np.flatnonzero(row <= 12)) for some, row in zip(found, away, strict=True))
