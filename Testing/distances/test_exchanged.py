"""Distances after reference and test changed places: those measured in that order, without measuring again."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings
from SegmentMetricsLib.comparison.workspace import Workspace
from SegmentMetricsLib.model.inputs import labelMasks, structureFromPolyData
from SegmentMetricsLib.model.structures import Structure

LIMITS = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])


def ofMask(seed: int) -> Structure:
    return Structure("Blob", labelMasks(shapes.imageOf(np.pad(shapes.blob(seed, (12, 13, 11)), 2)), 0.5)[1])


def ofMesh(mesh) -> Structure:
    return structureFromPolyData(mesh, "Mesh")


# methods and properties with their arguments, other than signed and atPoints
ASKED = {
    "mean": (), "largest": (), "signedMean": (), "totalSize": (), "between": (), "largestPlace": (),
    "reached": (1,), "farthest": (-1,), "sizesBeyond": (LIMITS, 1), "sizeBeyond": (0.5, -1), "sizeWithin": (1.0,),
    "sizeBetween": (0.5, 2.0), "percentile": (95,), "rangesOf": (np.arange(9),), "farthestPlace": (3, True),
}  # fmt: skip


@pytest.mark.parametrize("accuracy", ["converged", "sampled"])
@pytest.mark.parametrize("pair", [
    (ofMask(1), ofMask(2)),
    (ofMesh(shapes.boxMesh((0, 0, 0), (10, 9, 8))), ofMesh(shapes.ballMesh(6, (5, 5, 5), 12))),
    (ofMesh(shapes.openBox()), ofMesh(shapes.ballMesh(6, (5, 5, 5), 12))),
], ids=["masks", "meshes", "one is open"])  # fmt: skip
def testExchangedDistancesAreThoseOfTheOtherOrder(pair, accuracy):
    settings = Settings(accuracy=accuracy)
    exchanged = Workspace(*pair, settings).distances.exchanged()
    measured = Workspace(*reversed(pair), settings).distances
    assert exchanged.method == measured.method and exchanged.hasSides == measured.hasSides
    for one, other in zip(exchanged.directions, measured.directions, strict=True):
        assert one.surface is other.surface
        np.testing.assert_array_equal(one.atPoints, other.atPoints)
        np.testing.assert_array_equal(one.signed, other.signed)
        for name, arguments in ASKED.items():
            values = [getattr(direction, name) for direction in (one, other)]
            values = [value(*arguments) if arguments else value for value in values]
            for found, expected in zip(*(v if isinstance(v, tuple) else (v,) for v in values), strict=True):
                np.testing.assert_array_equal(found, expected, name)
                assert getattr(found, "bounds", None) == getattr(expected, "bounds", None)
        groups = [direction.grouped(direction.pieces) for direction in (one, other)]
        for found, expected in zip(*groups, strict=True):
            np.testing.assert_array_equal(found, expected)
        chosen = np.arange(0, len(groups[0].sizes), 3)
        means = [direction.meanOf(group, chosen) for direction, group in zip((one, other), groups, strict=True)]
        assert reduce(float.__sub__, map(float, means)) == 0
    exchanged.forget()


def testExchangedPairSharesItsSearches():
    """Pairs that have a structure in common search its boundary with one tree, which forgetting a pair keeps."""
    structures, searches = [ofMesh(shapes.ballMesh(6, (x, 0, 0), 12)) for x in (0, 1, 2)], {}
    for first, second in ((0, 1), (0, 2), (1, 2)):
        pair = Workspace(structures[first], structures[second], Settings(), searches=searches)
        pair.distances.ofBoth(lambda direction: direction.mean)
        pair.forget()
    assert set(searches) == {structure.surface for structure in structures}
    other = pair.exchanged()
    assert other.boundaries.search(0) is searches[structures[2].surface]
    assert Workspace(*structures[:2], Settings(extent="common"), searches=searches).boundaries._searches is not searches
