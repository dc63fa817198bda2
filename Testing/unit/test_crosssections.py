"""Where slices cut closed surfaces, against cases worked out by hand and against what is counted."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from shapes import gridOf

from SegmentMetricsLib.geometry import meshing, slicecontours
from SegmentMetricsLib.geometry.contours import insideContours
from SegmentMetricsLib.geometry.crosssections import boxesOf, cut, follow
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.slicecontours import Planes
from SegmentMetricsLib.geometry.slicing import stackOf, stacksOf
from SegmentMetricsLib.metrics import sliceareas

TURNED = shapes.rotation((1, 2, 3), 40)
MIRRORED = np.diag([1.0, 1.0, -1.0])


def maskOf(seed: int, spacing=(1, 1.5, 2), origin=(3, 4, 5), direction=TURNED) -> Mask:
    return shapes.maskOf(shapes.blob(seed), spacing, origin, direction)


def areasOf(sections) -> dict[int, float]:
    """Return the area in pixels by slice."""
    (x0, y0), (x1, y1) = sections.start.T, sections.end.T
    sums = np.bincount(sections.slices - sections.slices[0], (x0 * y1 - y0 * x1) / 2)
    return {int(sections.slices[0]) + number: area for number, area in enumerate(sums.tolist())}


@pytest.mark.parametrize("direction", [np.eye(3), TURNED, TURNED @ MIRRORED], ids=["straight", "oblique", "mirrored"])
def testAMaskIsCutWhereItsOwnSlicesAreContoured(direction):
    mask = maskOf(1, direction=direction)
    own, found = stacksOf(mask, cut(meshing.fromMask(mask), mask.grid))

    def directed(stack):
        rows = np.column_stack([stack.numbers, stack.contours.points[stack.contours.cells].reshape(-1, 6)])
        return {tuple(row) for row in (np.round(rows, 3) + 0.0).tolist()}

    assert len(own.numbers) == len(found.numbers) > 500 and directed(own) == directed(found)
    np.testing.assert_allclose(own.shift, found.shift)
    np.testing.assert_allclose(own.contours.normal, found.contours.normal)
    assert not np.isin(own.keys, found.keys).any() and (np.diff(found.numbers) >= 0).all()


def testABoxFromTwoToFive():
    """What lies exactly in a plane counts as below it: the slices 2, 3 and 4 as when voxels are filled."""
    surface = meshing.fromPolyData(shapes.boxMesh((1, 1, 2), (4, 3, 5)))
    sections = cut(surface, gridOf())
    assert areasOf(sections) == {2: 6, 3: 6, 4: 6}
    # pixels of 0.5 mm x 2 mm have the same area in mm2
    assert areasOf(cut(surface, gridOf(spacing=(0.5, 2, 1)))) == pytest.approx(dict.fromkeys((2, 3, 4), 6))
    assert areasOf(cut(surface, gridOf(), (3, 9))) == {3: 6, 4: 6}
    # downward: what is on the high face is the first slice
    assert areasOf(cut(surface, gridOf(direction=MIRRORED))) == dict.fromkeys((-5, -4, -3), 6)
    assert cut(surface, gridOf(), (7, 9)).isEmpty
    # long sides are cut as finely as pixels are wide, and come back
    stack = stackOf(sections, 100.0)
    assert stack.contours.sizes.max() <= 1 + 1e-9 and stack.contours.sizes.min() > 0
    assert stack.contours.sizes.sum() == pytest.approx(3 * 10)


def testWhatOnlyTouchesAPlane():
    """Two wedges, one on its edge in a plane and one below it: neither encloses anything there."""
    points = [(0, 0, 3), (4, 0, 3), (0, -1, 5), (4, -1, 5), (0, 1, 5), (4, 1, 5)]
    cells = [(0, 1, 3), (0, 3, 2), (0, 4, 5), (0, 5, 1), (2, 3, 5), (2, 5, 4), (0, 2, 4), (1, 5, 3)]
    surface = meshing.fromPolyData(shapes.meshOf(points, cells))
    assert surface.isClosed
    grid = gridOf()
    sections = cut(surface, grid)
    assert areasOf(sections) == {3: 0, 4: pytest.approx(4)}
    assert list(slicecontours.ofSections(sections, Planes(grid, 2, "mm"))) == [4]


@pytest.mark.parametrize("direction", [np.eye(3), TURNED @ MIRRORED], ids=["straight", "turned"])
def testContoursAreClosedAndTellInsideFromOutside(direction):
    """The contours of a surface on another grid enclose the places that its voxels' surface encloses there."""
    mask, grid = maskOf(2), gridOf((9, 9, 9), (1.3, 0.9, 1.7), (1, 2, 3), direction)
    sections = cut(meshing.fromMask(mask), grid)
    np.testing.assert_allclose(sections.end, sections.start[follow(sections.starts, sections.ends)], atol=1e-9)
    contours = slicecontours.ofSections(sections, Planes(grid, 2, "pixel"))
    areas = areasOf(sections)
    for k, found in contours.items():
        assert sum(contour.area for contour in found) == pytest.approx(areas[k])
    low, high = sections.start.min(axis=0) - 1, sections.start.max(axis=0) + 1
    random = np.random.default_rng(3)
    for k in list(contours)[::3]:
        places = low + random.random((4000, 2)) * (high - low)
        isHere = sections.slices == k
        inside = insideContours(places, sections.start[isHere], sections.end[isHere])
        assert inside.mean() * (high - low).prod() == pytest.approx(areas[k], abs=0.05 * (high - low).prod())
        # each contour winds once around what it encloses
        assert (inside == (sum(_windings(places, c.points) for c in contours[k]) > 0.5)).all()


def _windings(places: np.ndarray, points: np.ndarray) -> np.ndarray:
    ways = (points[:, 0] + 1j * points[:, 1])[None] - (places[:, 0] + 1j * places[:, 1])[:, None]
    return np.angle(np.roll(ways, -1, axis=1) / ways).sum(axis=1) / (2 * np.pi)


@pytest.mark.parametrize("direction", [np.eye(3), TURNED, TURNED @ MIRRORED], ids=["straight", "oblique", "mirrored"])
def testSharedAreas(direction):
    """What the voxels of two masks share in the slices of one of them: against many places asked one by one."""
    mask, other = maskOf(5, direction=np.eye(3)), maskOf(6, (1.3, 0.9, 1.7), (2.7, 4.3, 6.1), np.eye(3))
    center = other.corners().mean(axis=0)
    origin = center + direction @ (other.grid.origin - center)
    other = Mask(other.voxels, other.offset, gridOf(other.grid.size, 1, origin, direction @ other.grid.axes))
    stacks = stacksOf(mask, cut(meshing.fromMask(other), mask.grid))
    found = sliceareas.areasOf((mask, cut(boxesOf(other), mask.grid)), stacks)
    size = 16
    steps = (np.arange(size) + 0.5) / size - 0.5
    for k in range(mask.low[2], mask.high[2] + 1, 3):
        j, i = np.nonzero(mask.voxels[k - mask.offset[2]])
        i, j = (index[:, None, None] + offset for index, offset in zip((i, j), mask.offset))
        x, y = np.broadcast_arrays(i + steps, j + steps[:, None])
        places = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, k + 1e-9)])
        index = np.floor(other.grid.toIndex(mask.grid.toWorld(places)) + 0.5).astype(int) - other.low
        isThere = ((index >= 0) & (index < other.voxels.shape[::-1])).all(axis=1)
        i, j, layer = index[isThere].T
        expected = np.count_nonzero(other.voxels[layer, j, i]) / size**2
        assert found.shared[k - found.first] == pytest.approx(expected, abs=0.005 * len(x) + 0.05)
        assert found.areas[0][k - found.first] == len(x)
