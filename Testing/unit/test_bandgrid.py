"""Boundary bands on regular grids of sub-voxels, as MeshMetrics measures them, by their definition."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.conventions import gridbands as bandgrid
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.model.inputs import labelMasks


@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [(4, 5, 6), (1, 14, 12), (14, 1, 12)], ids=str)
def testFullGridByItsDefinition(size, pieces, monkeypatch):
    """Every sub-voxel of the image asked by itself; those whose centers lie on a boundary are outside."""
    masks = []
    for seed in (1, 2):
        array = shapes.blob(seed, [max(count, 2) for count in size], 0.5, 0.9)[: size[0], : size[1], : size[2]]
        padded = np.pad(array, [(0, 0) if count == 1 else (1, 1) for count in size])
        masks.append(labelMasks(shapes.imageOf(padded, (0.9, 1.1, 1.7)), 0.5)[1])
    boundaries, grid = BoundaryPair(*map(fromMask, masks), reach=1.3), masks[0].grid
    along = [np.zeros(1) if count == 1 else (np.arange(pieces) + 0.5) / pieces - 0.5 for count in grid.size]
    parts = np.stack(np.meshgrid(*along), axis=-1).reshape(-1, 3)
    places = grid.toWorld((np.argwhere(np.ones(grid.size))[:, None] + parts).reshape(-1, 3))
    signed = [boundaries.search(number).signedDistances(places) for number in (0, 1)]
    one, other = ((distance < -1e-5) & (distance > 1e-5 - 1.3) for distance in signed)
    expected = [np.count_nonzero(found) * grid.voxelSize / len(parts) for found in (one & other, one | other)]
    # a few blocks at a time, counted from the first voxel of the boundaries' grid and from another one
    monkeypatch.setattr(bandgrid, "CHUNK", 700)
    wider = grid.resized(np.where(np.array(grid.size) > 1, -3, 0), np.array(grid.size) - 1)
    for given in (masks, [mask.on(wider) for mask in masks]):
        found = bandgrid.gridBands(boundaries, given, 1.3, pieces)
        assert [found.intersection, found.union] == pytest.approx(expected, rel=1e-9)
        assert found.error is None and 0 < found.overlap < 1


def testPointsOnABoundaryAreNotInItsBand():
    """Sub-voxels whose centers lie on the boundary: rounding, other for every place in space, must not choose."""
    arrays = [np.pad(shapes.blob(seed, (5, 7, 8), 0.4, 0.7), 1) for seed in (1, 2)]
    spacing, turn = (0.333, 0.509, 2.0), shapes.rotation((1, 2, 3), 40)
    overlaps = []
    for origin, direction in (((0, 0, 0), None), ((0, 0, 0), turn), ((500.1, -300.7, 70.3), turn)):
        masks = [labelMasks(shapes.imageOf(a, spacing, origin, direction), 0.5)[1] for a in arrays]
        overlaps.append(bandgrid.gridBands(BoundaryPair(*map(fromMask, masks)), masks, 4.26, 3).overlap)
    assert overlaps == pytest.approx([overlaps[0]] * 3, abs=1e-9)
