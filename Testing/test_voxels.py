"""Distances between voxels: by hand, against distance maps, and between clouds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
from scipy import ndimage

from SegmentMetricsLib import Settings, compare

BOTH = Settings(families=("overlap", "agreement", "voxel"))


def testErrataOfAverageAndProbabilisticDistance():
    # two voxels against one of them and one beside: distances 0, 1 there, 0 back
    row = np.zeros((1, 3, 6), np.uint8)
    row[0, 1, 1:4] = 1
    other = np.zeros_like(row)
    other[0, 1, 1] = 1
    comparison = compare(shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)), BOTH)
    average = comparison["AVD"]
    assert (average.referenceToTest, average.testToReference) == (2, 0)  # (0 + 2 + 4) / 3 mm
    assert average.value == 2, "the larger of the two; their mean would be 1"
    assert comparison["HDvox"].value == 4
    assert comparison["PBD"].value == 2 / (2 * 1)
    inVoxels = compare(
        shapes.imageOf(row, (2, 1, 1)), shapes.imageOf(other, (2, 1, 1)),
        Settings(families="voxel", voxelUnit="voxel", quantiles=(1, 0.75)),
    )  # fmt: skip
    assert (inVoxels["AVD"].value, inVoxels["HDvox"].value, inVoxels["AVD"].unit) == (1, 2, "voxel")
    assert inVoxels["AVD"].text() == "1.00 voxel"
    assert inVoxels["HDvox_0.75"].value == 1.5  # of 0, 1, 2, halfway between the last two


@pytest.mark.parametrize("unit", ["mm", "voxel"])
def testDistancesAgainstDistanceMaps(unit):
    spacing = (0.7, 1.3, 2.5)
    masks = [shapes.blob(seed, (18, 16, 14), 0.2, 1.5) for seed in (5, 6)]
    settings = Settings(families="voxel", voxelUnit=unit, quantiles=(1, 0.9, 0.333))
    comparison = compare(*(shapes.imageOf(mask, spacing) for mask in masks), settings)
    sampling = spacing[::-1] if unit == "mm" else (1, 1, 1)
    maps = [ndimage.distance_transform_edt(~mask, sampling=sampling) for mask in masks]
    there, back = maps[1][masks[0]], maps[0][masks[1]]
    assert comparison["AVD"].referenceToTest == pytest.approx(there.mean(), rel=1e-12)
    assert comparison["AVD"].value == pytest.approx(max(there.mean(), back.mean()), rel=1e-12)
    for key, quantile in (("HDvox", 1), ("HDvox_0.9", 0.9), ("HDvox_0.333", 0.333)):
        expected = max(np.quantile(there, quantile), np.quantile(back, quantile))
        assert comparison[key].value == pytest.approx(expected, rel=1e-12), key


def testMahalanobis():
    spacing = (0.7, 1.3, 2.5)
    masks = [shapes.blob(seed, (18, 16, 14), 0.3, 1.5) for seed in (7, 8)]
    points = [np.argwhere(mask)[:, ::-1] * spacing for mask in masks]
    spread = sum(len(p) * np.cov(p.T, bias=True) for p in points) / sum(map(len, points))
    shift = points[0].mean(axis=0) - points[1].mean(axis=0)
    expected = math.sqrt(shift @ np.linalg.inv(spread) @ shift)
    for unit in ("mm", "voxel"):  # it has no unit
        comparison = compare(
            *(shapes.imageOf(m, spacing) for m in masks), Settings(families="voxel", voxelUnit=unit)
        )  # fmt: skip
        assert comparison["MHD"].value == pytest.approx(expected, rel=1e-10)
        assert comparison["MHD"].unit == ""


def testFlatCloudsHaveNoMahalanobisDistance():
    plates = [shapes.box((3, 3, 4), (9 + n, 9, 4)) for n in range(2)]
    distance = compare(*plates, BOTH)["MHD"]
    assert distance.status == "undefined" and "singular" in distance.reason
    # a planar image has no third direction in which they could spread
    contours = [shapes.imageOf(shapes.blob(seed, (40, 30, 1), 0.3)[0]) for seed in (3, 4)]
    assert compare(*contours, BOTH)["MHD"].status == "ok"
