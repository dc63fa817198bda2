"""Distances between voxels: by hand, against distance maps, and between clouds."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.base.errors import Undefined
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import voxel as voxels


def testFlatCloudsAreFlatInAnyDirection():
    """In an oblique plane rounding leaves a variance across it that is not quite 0."""
    for size in (20, 40, 60):
        k, j, i = np.indices((size, size, size))
        plane = i + j + k == size
        masks = [Mask.fromArray(part, Grid((size,) * 3, np.eye(4))) for part in (plane, plane & (i > size // 3))]
        with pytest.raises(Undefined, match="singular"):
            voxels.mahalanobis(*masks)


def testNearestVoxelOnAShearedLattice():
    """The nearest voxel need not be at the rim in voxel indices: against all voxels, one by one."""
    axes = np.array([[1, 2.4, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    grid = Grid((16, 18, 14), axes)
    masks = [Mask.fromArray(shapes.blob(seed, share=0.3), grid) for seed in (1, 2)]
    points = [grid.toWorld(np.argwhere(m.voxels)[:, ::-1] + m.low) for m in masks]
    for found, start, goal in zip(voxels.measure(*masks, "mm"), points, points[::-1], strict=True):
        exact = np.concatenate([np.linalg.norm(goal - point, axis=1).min(keepdims=True) for point in start])
        assert found.mean == pytest.approx(exact.mean())
        assert found.quantile(0.9) == pytest.approx(np.quantile(exact, 0.9))


@pytest.mark.parametrize("unit", ["mm", "voxel"])
@pytest.mark.parametrize("shape", [(30, 40, 45), (1, 80, 90)])
def testDistancesOfMeshesAreTheSameFromAMap(monkeypatch, unit, shape):
    """One by one the search finds the same, in space and in a plane, for structures that are apart in part."""
    grid = Grid(shape[::-1], np.diag([0.5, 0.5, 0.5, 1]), planar=shape[0] == 1)
    masks = [Mask.fromArray(shapes.blob(seed, shape[::-1], share), grid) for seed, share in ((1, 0.3), (2, 0.1))]
    searched = voxels.measure(*masks, unit, areMeshes=True)
    monkeypatch.setattr(voxels, "MOST_SEARCHED", 10)
    for found, expected in zip(voxels.measure(*masks, unit, areMeshes=True), searched, strict=True):
        assert found.shared == expected.shared and len(found.distances) > 10
        assert found.distances == pytest.approx(expected.distances, rel=1e-12)
