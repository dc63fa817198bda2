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


def whole(field: HazardField) -> np.ndarray:
    """Return a stored field [k, j, i] put into the grid by plain slices."""
    k, j, i = field.values.shape
    result = np.zeros((10, 11, 12))
    result[3 : 3 + k, 1 : 1 + j, 2 : 2 + i] = field.values
    return result


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ((0, 0, 0), (11, 10, 9)),
        ((3, 2, 4), (5, 3, 4)),  # inside what is stored
        ((1, 0, 2), (3, 2, 3)),  # across its beginning
        ((5, 3, 5), (9, 9, 9)),  # across its end
        ((2, 1, 3), (6, 4, 5)),  # just that
        ((6, 4, 5), (6, 4, 5)),  # its last voxel
        ((7, 1, 3), (9, 4, 5)),  # beside it
    ],
)
def testBlocks(low, high):
    expected = whole(stored())[low[2] : high[2] + 1, low[1] : high[1] + 1, low[0] : high[0] + 1]
    assert (stored().block(np.array(low), np.array(high)) == expected).all()


def testBetweenVoxels():
    field = stored()
    # halfway along each axis from voxel (3, 2, 4), whose neighbors differ by 1, 5 and 20
    value = whole(field)[4, 2, 3]
    points = [(3, 2, 4), (3.5, 2, 4), (3, 2.5, 4), (3, 2, 4.5), (1.5, 1, 3), (-9, 1, 3), (9, 9, 99)]
    assert field.at(points) == pytest.approx([value, value + 0.5, value + 2.5, value + 10, 0.5, 0, 0])


@pytest.mark.parametrize(("start", "kept"), [(2.5, range(2, 6)), (2.25, range(2, 6)), (2.75, range(3, 7))])
def testVoxelsWhoseCentersLieInAGrid(start, kept):
    """A grid of 4 voxels from start - 1/2 to start + 7/2: what lies at its beginning is in it, at its end is not."""
    everything = HazardField(1 + np.arange(10.0 * 11 * 12).reshape(10, 11, 12), np.zeros(3, int), GRID, BOX)
    for axis in range(3):
        matrix, size = np.eye(4), np.array([40, 40, 40])
        matrix[:3, 3] = -10
        matrix[axis, 3], size[axis] = start, 4
        inside = np.zeros((10, 11, 12), bool)
        inside[tuple(list(kept) if 2 - axis == n else slice(None) for n in range(3))] = True
        found = everything.within(Grid(tuple(size.tolist()), matrix))
        assert (found.values == np.where(inside, everything.values, 0)).all()
    assert everything.values.min() == 1, "the field itself stays what it is"


def testPartOfAFieldInATurnedGrid():
    matrix = np.eye(4)
    matrix[:3, :3] = shapes.rotation((0, 0, 1), 30)
    matrix[:3, 3] = (4, 1, 4)
    found = stored().within(Grid((3, 4, 1), matrix))
    for k, j, i in np.ndindex(3, 4, 5):
        place = (np.array([i + 2, j + 1, k + 3]) - matrix[:3, 3]) @ matrix[:3, :3]
        inside = (place >= -0.5).all() and (place < [2.5, 3.5, 0.5]).all()
        assert found.values[k, j, i] == (stored().values[k, j, i] if inside else 0)
    assert 0 < np.count_nonzero(found.values) < 20


def testTotalOutside():
    mask = Mask(np.ones((2, 2, 2), np.uint8), (1, 1, 3), GRID)
    inside = whole(stored())[3:5, 1:3, 2].sum()
    assert stored().totalOutside(mask) == 60 * 61 / 2 - inside


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
