"""Contours that cross, touch and repeat: inside is what an odd number of them goes around, for every measurement."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from sayings import refused, says

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry import meshing


def rectangle(left, bottom, right, top):
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


SQUARE = rectangle(0, 0, 20, 20)


@pytest.mark.parametrize(
    ("test", "area", "shared", "isCleaned"),
    [
        ([rectangle(0, 0, 12, 12), rectangle(8, 8, 20, 20)], 256, 256, True),
        ([rectangle(0, 0, 12, 20), rectangle(8, 0, 20, 20)], 320, 320, True),
        ([rectangle(0, 0, 10, 20), rectangle(10, 0, 20, 20)], 400, 400, True),
        ([rectangle(0, 0, 10, 20), rectangle(10, 5, 20, 15)], 300, 300, True),
        ([rectangle(0, 0, 10, 10), rectangle(10, 10, 20, 20)], 200, 200, False),
        ([SQUARE, SQUARE], 400, 400, True),
        ([SQUARE, SQUARE[2:] + SQUARE[:2], SQUARE[::-1]], 400, 400, True),
        ([[(0, 0), (20, 20), (20, 0), (0, 20)]], 200, 200, True),
        ([rectangle(-10, 5, 30, 15), rectangle(5, -10, 15, 30)], 600, 200, True),
        # the line to the hole and back
        ([[*SQUARE, (0, 10), (5, 10), (5, 15), (15, 15), (15, 5), (5, 5), (5, 10), (0, 10)]], 300, 300, True),
    ],
)
def testOverlappingContours(test, area, shared, isCleaned):
    for z in (0.0, 7.0):
        result = compare(shapes.loops(SQUARE, z=z), shapes.loops(*test, z=z), Settings(families="overlap"))
        values = {key: measurement.value for key, measurement in result.items()}
        assert values["VolumeTest"] == pytest.approx(area)
        assert values["DSC"] == pytest.approx(2 * shared / (400 + area), rel=1e-6)
        assert values["IoU"] == pytest.approx(shared / (400 + area - shared), rel=1e-6)
        assert values["TPR"] == pytest.approx(shared / 400, rel=1e-6)
        assert values["PPV"] == pytest.approx(shared / area, rel=1e-6)
        assert len(result.findings) == isCleaned and all(says(finding, "test") for finding in result.findings)


def testSameAreaAsPixels():
    """Random polygons that cross themselves, against the fill of a fine image."""
    for seed in range(5):
        polygons = np.random.default_rng(seed).uniform(0, 40, (2, 9, 2))
        surface = meshing.fromPolyData(shapes.loops(*polygons))
        x, y = np.meshgrid(np.arange(400) / 10 + 0.0512, np.arange(400) / 10 + 0.0487)
        inside = np.zeros(x.shape, bool)
        for polygon in polygons:
            for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
                inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) / (by - ay) * (bx - ax))
        assert surface.volume == pytest.approx(inside.sum() / 100, rel=0.01)


def testContoursThatCancelOut():
    path = [(0, 0), (10, 0), (10, 10), (10, 0)]
    with refused():
        meshing.fromPolyData(shapes.loops(path))
