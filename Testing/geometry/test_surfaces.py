"""Boundaries from masks and polydata: areas, volumes, closedness, repairs, contours."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.model.inputs import labelMasks


def surfaceOf(image):
    return meshing.fromMask(labelMasks(image, 0.5)[1])


def testPolygonsAreTriangulated():
    points = [(x, y, z) for z in (0, 1) for y in (0, 2) for x in (0, 3)]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    surface = meshing.fromPolyData(shapes.meshOf(points, quads))
    assert len(surface.cells) == 12 and surface.isClosed and surface.nonManifoldEdges == 0
    assert surface.volume == pytest.approx(6)
    assert surface.repairs == ()


def testContoursWithAHole():
    outer, hole = [(0, 0), (9, 0), (9, 6), (0, 6)], [(2, 2), (4, 2), (4, 4), (2, 4)]
    for second in (hole, hole[::-1]):
        surface = meshing.fromPolyData(shapes.loops(outer, second, z=3.5))
        assert surface.dimension == 2 and surface.volume == pytest.approx(54 - 4)
        assert surface.sizes.sum() == pytest.approx(30 + 8)
        signed = ClosestSurface(surface).signedDistances(
            np.array([[1, 1, 3.5], [3, 3, 3.5], [-2, 3, 3.5], [8, 3, 3.5]])
        )
        assert signed == pytest.approx([-1, 1, 2, -1])


def testContoursOfAMaskInAnyPlane():
    array = np.zeros((12, 1, 10), bool)
    array[3:8, 0, 2:9] = True
    image = shapes.imageOf(array, (0.5, 3, 2), (1, 2, 3))
    surface = surfaceOf(image)
    assert surface.dimension == 2
    # the corners are cut half-way between pixel centers
    assert surface.volume == pytest.approx(7 * 0.5 * 5 * 2 - 4 * (0.25 * 1) / 2)
    assert np.ptp(surface.points[:, 1]) == 0
