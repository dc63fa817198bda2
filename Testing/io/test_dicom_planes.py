"""The planes of DICOM contours: how far apart they are, and where they lie without their image."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from SegmentMetricsLib import Settings, compare

pytest.importorskip("pydicom", reason="pydicom is not installed (extra dicom)")

from test_dicom_contours import X, circle, cylinder, tilted, written


@pytest.mark.parametrize("shift", [0.01, 0.2, 1.0, 1.5])
def testWithoutTheImageStructuresHaveTheirOwnPlanes(tmp_path, shift):
    heights = np.arange(0, 30, 3.0)
    regions = {"A": cylinder(heights), "B": cylinder(heights + shift, (40, 0)), "One": cylinder([6.0], (80, 0))}
    found = written(tmp_path, {**regions, "None": []}, None)
    for name in "AB":
        assert found[name].mask.size == pytest.approx(np.pi * 100 * 30, rel=0.01)
        (note,) = found[name].notes
        assert "planes 3 mm apart" in note
        assert not found[name].mask.touchesEdge
    assert found["One"].mask.size == pytest.approx(np.pi * 100 * 3, rel=0.01)
    assert found["None"].isEmpty
    corners = found["B"].mask.corners()[:, 2]
    assert (corners.min(), corners.max()) == pytest.approx((shift - 1.5, shift + 28.5))


@pytest.mark.parametrize("height", [0.1, -62.7, 10.1, 5.0])
def testWithoutTheImageOnePlaneIsOne(tmp_path, height):
    """The mean of many equal heights is not always that height."""
    loops = [circle(3, height), circle(2, height, (9.3, 0.2))[::7], circle(2, height, (-9.3, 0.2))[::20]]
    eye = cylinder(height + np.arange(-15, 15, 3.0))
    found = written(tmp_path, {"Eye": eye, "Cord": eye, "Lens": loops}, None)
    assert found["Lens"].mask.grid.spacing[2] == pytest.approx(3) and found["Eye"].mask.grid.spacing[2] == 3
    assert len(found["Lens"].mask.voxels) == 1


def testSetsWithoutTheirImageShareALattice(tmp_path):
    """What two observers drew on the same slices is compared voxel by voxel."""
    first = written(tmp_path / "a", {"A": cylinder(np.arange(0, 30, 3.0), (0.2, 0.1))}, None)["A"]
    second = written(tmp_path / "b", {"A": cylinder(np.arange(-3, 24, 3.0), (1.1, 0.4))}, None)["A"]
    assert second.mask.grid.offsetOn(first.mask.grid) is not None


# what runs along the rows, the columns and across the slices
VIEWS = {
    "sagittal": np.array([(0, 1, 0), (0, 0, -1), (-1, 0, 0)], float).T,
    "coronal": np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)], float).T,
    "oblique": Rotation.from_euler("xyz", (25, -15, 40), degrees=True).as_matrix(),
}


@pytest.mark.parametrize("view", VIEWS)
def testPlanesOfAnyImage(tmp_path, view):
    """Without the image it is the contours that tell in which planes they lie, whatever some odd one says."""
    turn, heights = VIEWS[view], np.arange(0, 30, 3.0)
    tube = [loop for height in heights for loop in (circle(10, height, count=720), circle(5, height, (3.3, 0.2), 720))]
    regions = {"Tube": tube, "Rod": cylinder(heights, (30, 0)), "Needle": [tilted()], "Upright": [circle(60, 0.0) @ X]}
    found = written(tmp_path, {name: [loop @ turn.T for loop in loops] for name, loops in regions.items()}, None)
    assert list(found) == ["Tube", "Rod"]
    grid = found["Tube"].mask.grid
    assert abs(grid.direction[:, 2] @ turn[:, 2]) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(grid.spacing, (0.5, 0.5, 3), rtol=1e-5)
    assert found["Tube"].mask.size == pytest.approx(10 * 3 * np.pi * (10**2 - 5**2), rel=0.01)
    assert "planes 3 mm apart" in found["Tube"].notes[0]


def testObserversOnObliquePlanesShareALattice(tmp_path):
    both = (cylinder(np.arange(low, 30, 3.0)) for low in (0, 6))
    loops = [[loop @ VIEWS["oblique"].T for loop in own] for own in both]
    first, second = (written(tmp_path / str(n), {"A": some}, None)["A"] for n, some in enumerate(loops))
    assert second.mask.grid.offsetOn(first.mask.grid) is not None
    assert compare(first, second, Settings(families="overlap"))["DSC"].value == pytest.approx(2 * 8 / 18, abs=1e-3)
