"""The field of hazard: where it is stored, what is cut out of it, and what is beyond a critical structure's reach."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings
from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import hazard
from SegmentMetricsLib.metrics.hazard import HazardField, kernelOf

GRID = Grid((12, 11, 10), np.eye(4))
BOX = np.array([0, 0, 0]), np.array([11, 10, 9])


def stored() -> HazardField:
    """Return a field whose 5 x 4 x 3 values, all different, begin at voxel (2, 1, 3)."""
    return HazardField(np.arange(1.0, 61).reshape(3, 4, 5), np.array([2, 1, 3]), GRID, BOX)


@pytest.mark.parametrize("combination", ["max", "sum"])
def testEveryCriticalStructureReachesAsFar(combination):
    """Two voxels at either end of the box; 1 - (d / 2.5)^2 at 0, 1 and 2 mm is 1, 0.84 and 0.36."""
    settings = Settings(hazardReach=2.5, hazardCombination=combination)
    ends = [Mask(np.ones((1, 1, 1), np.uint8), at, GRID) for at in ((0, 0, 0), (11, 10, 9))]
    found = hazard.hazardAround([(ends[0], 1.0), (ends[1], 0.5)], GRID, BOX, kernelOf(settings)).block(*BOX)
    assert found[0, 0, :4] == pytest.approx([1, 0.84, 0.36, 0])
    assert found[:4, 0, 0] == pytest.approx([1, 0.84, 0.36, 0])
    assert found[9, 10, :-5:-1] == pytest.approx([0.5, 0.42, 0.18, 0])
    assert found[9, :-5:-1, 11] == pytest.approx([0.5, 0.42, 0.18, 0])
    assert found[1, 1, 1] == pytest.approx(1 - 3 / 6.25)
    # of the 27 voxels 0 to 2 mm from a corner along each axis 7 are sqrt(8), 3 or sqrt(12) mm away
    assert np.count_nonzero(found) == 2 * (27 - 7)


def testOneSlice():
    """A slice has no voxels above and below, but hazard."""
    grid = Grid((6, 5, 1), np.eye(4), planar=True)
    mask = Mask(np.ones((1, 1, 1), np.uint8), (2, 2, 0), grid)
    box = np.array([0, 0, 0]), np.array([5, 4, 0])
    found = hazard.hazardAround([(mask, 1.0)], grid, box, kernelOf(Settings(hazardReach=2))).block(*box)
    assert found[0, 2] == pytest.approx([0, 0.75, 1, 0.75, 0, 0])
    assert found[0, :, 2] == pytest.approx([0, 0.75, 1, 0.75, 0])


@pytest.mark.parametrize("isMesh", [False, True])
def testBeyondReachNothingIsStored(isMesh):
    """Critical structures from 20 to 30 mm; the box ends at 11 mm."""
    far = Mask(np.ones((1, 1, 11), np.uint8), (20, 5, 5), GRID)
    if isMesh:
        far = meshing.fromPolyData(shapes.boxMesh((20, 4, 4), (30, 6, 6)))
    for reach, stored in ((5, False), (8.9, False), (9.5, True)):
        found = hazard.hazardAround([(far, 1.0)], GRID, BOX, kernelOf(Settings(hazardReach=reach)))
        assert bool(found.block(*BOX).any()) == stored
        assert found.at([(11, 5, 5)]) == pytest.approx([1 - (9 / reach) ** 2 if stored else 0], abs=1e-9)
        assert found.values.size < 12 * 11 * 10


@pytest.mark.parametrize("kernel", ["polynomial", "exponential"])
def testInsideACriticalStructureAllIsHazardous(kernel):
    """A map of distances knows no boundary where there is nothing outside."""
    everything = Mask(np.ones((10, 11, 12), np.uint8), (0, 0, 0), GRID)
    box = np.array([2, 1, 3]), np.array([6, 4, 5])
    found = hazard.hazardAround([(everything, 0.8)], GRID, box, kernelOf(Settings(hazardKernel=kernel))).block(*box)
    assert found.shape == (3, 4, 5) and found == pytest.approx(0.8)
