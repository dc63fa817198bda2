"""Hazard-aware measurements against cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import says

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.metrics import hazard
from SegmentMetricsLib.metrics.hazard import kernelOf

HAZARD = Settings(families="hazard")
# The critical structure is a wall of voxels 2 to 4 along i, across the image of 24 x 24 x 24 voxels of 1 mm.
WALL = shapes.box((2, 0, 0), (4, 23, 23))
REFERENCE, TEST = shapes.box((8, 5, 5), (12, 9, 9)), shapes.box((7, 5, 5), (11, 9, 9))
EMPTY = shapes.imageOf(np.zeros((24, 24, 24), np.uint8))


def valuesOf(reference, test, settings=HAZARD, **criticals) -> dict[str, float]:
    return compare(reference, test, settings, criticals=criticals or {"Wall": WALL}).numbers


@pytest.mark.parametrize("kernel", ["polynomial", "exponential"])
@pytest.mark.parametrize("shear", [0.0, 0.3])
def testFieldOfAnyShapeAndGrid(kernel, shear):
    settings = Settings(hazardKernel=kernel, hazardReach=4, hazardPower=1.5, hazardDecay=3)
    shape = shapes.blob(1, (12, 10, 9), 0.05)
    grid = Grid((12, 10, 9), np.array([[1, shear, 0, 5], [0, 1.5, 0, 6], [0, 0, 2.5, 7], [0, 0, 0, 1]]))
    box = np.array([0, 0, 0]), np.array([11, 9, 8])
    found = hazard.hazardAround([(Mask.fromArray(shape, grid), 0.8)], grid, box, kernelOf(settings)).block(*box)
    places, critical = (grid.toWorld(np.argwhere(one)[:, ::-1]) for one in (np.ones_like(shape), shape))
    distances = np.linalg.norm(places[:, None] - critical, axis=2).min(axis=1).reshape(shape.shape)
    expected = np.exp(-distances / 3) if kernel == "exponential" else np.maximum(0, 1 - (distances / 4) ** 1.5)
    assert found == pytest.approx(0.8 * expected, abs=1e-6)


def testTheNearestVoxelOfASteepGridMayHaveNoNeighborOutside():
    cross = np.zeros((3, 3, 3), bool)
    cross[1, 1, :] = cross[1, :, 1] = cross[:, 1, 1] = True
    grid = Grid((3, 3, 3), np.array([[1, 0.9, 0, 0], [0, 0.3, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]))
    box = np.zeros(3, int), np.full(3, 2)
    kernel = kernelOf(Settings(hazardKernel="exponential"))
    found = hazard.hazardAround([(Mask.fromArray(cross, grid), 1)], grid, box, kernel)
    # one step along i and back along j from the middle are 0.1 and -0.3 mm
    assert found.values[1, 0, 2] == pytest.approx(np.exp(-np.hypot(0.1, 0.3) / 8), abs=1e-9)


def testEmptyStructures():
    missed, invented = valuesOf(REFERENCE, EMPTY), valuesOf(EMPTY, TEST)
    assert [missed[key] for key in ("RFN", "RFP", "SIS", "wDice")] == pytest.approx([1, 0, 0.7, 0])
    assert invented["RFN"] == 0 and 0 < invented["RFP"] < 1 and invented["wDice"] == 0
    both = REFERENCE, TEST
    for pair, criticals in ((both, None), (both, {"Wall": EMPTY}), ((EMPTY, EMPTY), {"Wall": WALL})):
        found = compare(*pair, HAZARD, criticals=criticals)
        ((status, reason),) = {(m.status, m.reason) for m in found.values()}
        assert status == "undefined" and says(reason)
    # what is not measured needs no critical structure
    assert compare(REFERENCE, TEST, Settings(families="overlap", critical="Cord"))["DSC"].status == "ok"


def testMeshesAndContours():
    settings = Settings(families="hazard", meshSpacing=0.25)
    reference, test = shapes.boxMesh((8, 0, 0), (12, 4, 4)), shapes.boxMesh((8, 0, 0), (11, 4, 4))
    found = valuesOf(reference, test, settings, Wall=shapes.boxMesh((0, -1, -1), (4, 5, 5)))
    # integral of 1 - (d / 10)^2 from 7 to 8 mm over that from 4 to 8 mm
    assert found["RFN"] == pytest.approx((1 - (8**3 - 7**3) / 300) / (4 - (8**3 - 4**3) / 300), rel=0.03)
    assert found["RFP"] == 0
    squares = [shapes.loops([(a, 0), (b, 0), (b, 4), (a, 4)]) for a, b in ((8, 12), (8, 11), (0, 4))]
    flat = valuesOf(squares[0], squares[1], settings, Wall=squares[2])
    assert flat["RFN"] == pytest.approx(found["RFN"], rel=0.05)


@pytest.mark.parametrize("kind", ["image", "mesh"])
def testCriticalStructuresThinnerThanAVoxelCount(kind):
    """A nerve of 0.2 mm between the centers of the voxels: they lie in it as much as in the voxels that it crosses."""
    nerve = shapes.boxMesh((3.6, 9.6, -0.4), (3.8, 9.8, 23.4))
    if kind == "image":
        nerve = shapes.box((1, 1, 0), (1, 1, 119), (3, 3, 120), (0.2, 0.2, 0.2), (3.5, 9.5, -0.4))
    voxels = shapes.box((4, 10, 0), (4, 10, 23))
    assert valuesOf(REFERENCE, TEST, C=nerve) == pytest.approx(valuesOf(REFERENCE, TEST, C=voxels))


def testAReferenceThatIsACriticalStructureItself():
    """As when all structures of a patient are compared; then hazard does not tell one error from another."""
    settings = Settings(families=("overlap", "hazard"))
    for size, isSaid in ((24, True), (26, True), (24, False)):
        image = shapes.box((8, 5, 5), (12, 9, 9), size=(size,) * 3)
        critical = shapes.box((8, 5, 5), (12, 9, 9 if isSaid else 10))
        result = compare(image, shapes.box((8, 5, 5), (11, 9, 9)), settings, criticals={"Itself": critical})
        assert result["RFN"].value == pytest.approx(0.2)
        told = [finding for finding in result.findings if "reference" in finding]
        assert len(told) == isSaid and all(map(says, told))


def testCriticalStructuresFarAwayOrMuchLarger(monkeypatch):
    """What is too large to be listed voxel by voxel on the grid of the structures is known by its surface."""
    far = shapes.boxMesh((1e5, 1e5, 1e5), (1e5 + 50, 1e5 + 50, 1e5 + 50))
    found = compare(REFERENCE, TEST, HAZARD, criticals={"Far": far})
    assert [found[key].value for key in ("RFN", "RFP", "SIS", "STAR")] == [0, 0, 0, 0]
    says(found["wDice"].reason)
    # the face that counts lies at the centers of voxels
    halfSpace = shapes.boxMesh((-900, -900, -900), (4, 900, 900))
    for settings in (HAZARD, Settings(families="hazard", hazardKernel="exponential")):
        expected = valuesOf(REFERENCE, TEST, settings, C=shapes.box((0, 0, 0), (4, 23, 23)))
        assert valuesOf(REFERENCE, TEST, settings, C=halfSpace) == pytest.approx(expected, rel=1e-6)
    # or the nearest of its voxels is searched: deep inside, too, the hazard is 1
    for name in ("LARGEST_MAP", "MOST_LARGER"):
        monkeypatch.setattr(hazard, name, 0)
    assert valuesOf(REFERENCE, TEST, C=shapes.box((0, 0, 0), (20, 23, 23)))["STAR"] == pytest.approx(1)


def testFieldIsThatOfTheMeasurements():
    comparison = compare(REFERENCE, TEST, HAZARD, criticals={"Wall": WALL})
    x = np.array([-9, 0, 1, 3, 4, 4.5, 7, 9.5, 14, 15, 23, 99])
    d = np.array([2, 2, 1, 0, 0, 0.5, 3, 5.5, 10, 10, 10, 10])
    expected = 1 - (d / 10) ** 2
    expected[[5, 7]] = (1 + 0.99) / 2, (0.75 + 0.64) / 2  # between two voxel centers
    points = np.column_stack([x, np.full((len(x), 2), 11.3)])
    assert comparison.hazard.at(points) == pytest.approx(expected, abs=1e-9)
    assert compare(REFERENCE, TEST, criticals={"Wall": WALL}).hazard is None
    assert compare(REFERENCE, TEST, HAZARD).hazard is None
    assert compare(REFERENCE, TEST, HAZARD, criticals={"Wall": EMPTY}).hazard is None
    assert "hazard" not in comparison.toDictionary()
