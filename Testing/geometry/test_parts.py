"""Separate parts of masks: the same as those that scipy finds voxel by voxel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import generate_binary_structure, label

from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.parts import partSizes, partsOf


@pytest.mark.parametrize(("connectivity", "rank"), [(6, 1), (18, 2), (26, 3)])
@pytest.mark.parametrize("shape", [(7, 9, 11), (1, 20, 20), (40, 3, 2), (5, 1, 1)])
def testParts(connectivity, rank, shape):
    for seed in range(8):
        array = np.random.default_rng(seed).random(shape) < 0.05 * (1 + seed)
        mask = Mask.fromArray(array, Grid(shape[::-1], np.eye(4)))
        expected, count = label(array, generate_binary_structure(3, rank))
        parts = partsOf(mask, connectivity)
        i, j, k = parts.voxels.T
        assert parts.count == count and len(parts.voxels) == array.sum()
        # both number the same voxels alike, whatever the numbers are
        assert len(set(zip(parts.numbers.tolist(), expected[k, j, i].tolist()))) == count
        sizes = sorted(np.bincount(expected.ravel())[1:].tolist(), reverse=True)
        assert partSizes(mask, connectivity) == sizes
