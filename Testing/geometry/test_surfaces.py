"""Boundaries from masks and polydata: areas, volumes, closedness, repairs, contours."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.surfaces import barycentricWeights, elementCenters
from SegmentMetricsLib.model.inputs import labelMasks


def surfaceOf(image):
    return meshing.fromMask(labelMasks(image, 0.5)[1])


def isWatertight(surface) -> bool:
    directed = np.concatenate([surface.cells[:, [0, 1]], surface.cells[:, [1, 2]], surface.cells[:, [2, 0]]])
    forth = {}
    for a, b in directed.tolist():
        forth[a, b] = forth.get((a, b), 0) + 1
    return all(forth.get((b, a), 0) == number for (a, b), number in forth.items())


def testOneVoxelIsAnOctahedron():
    surface = surfaceOf(shapes.box((5, 5, 5), (5, 5, 5), spacing=(1, 2, 3)))
    assert len(surface.cells) == 8 and len(surface.points) == 6
    assert surface.volume == pytest.approx(8 * (0.5 * 1.0 * 1.5) / 6)
    assert isWatertight(surface)


@pytest.mark.parametrize("low", [(0, 0, 0), (4, 4, 4)])
def testBoxAlsoAtTheImageEdge(low):
    high = tuple(int(n) for n in np.add(low, (9, 7, 5)))
    surface = surfaceOf(shapes.box(low, high, size=(10, 8, 6) if low == (0, 0, 0) else (24, 24, 24)))
    assert isWatertight(surface)
    # beveled edges and corners: the faces are drawn in by nothing, the twelve edges cut by 1/8, corners by more
    assert surface.volume == pytest.approx(10 * 8 * 6 - 4 * (10 + 8 + 6) / 8 + 8 / 12, abs=0.7)
    assert surface.points.min(axis=0) == pytest.approx(np.add(low, -0.5))
    assert surface.points.max(axis=0) == pytest.approx(np.add(high, 0.5))


def testSurfaceOfABall():
    surface = surfaceOf(shapes.ball(20, (0.1, 0.2, 0.3)))
    assert surface.volume == pytest.approx(4 / 3 * math.pi * 20**3, rel=0.002)
    # the steps make it larger than the ball's 5027 mm2
    assert surface.sizes.sum() == pytest.approx(1.09 * 4 * math.pi * 20**2, rel=0.01)


def testSeveralComponentsAndAHole():
    array = np.zeros((20, 20, 20), bool)
    array[2:12, 2:12, 2:12] = True
    solid = surfaceOf(shapes.imageOf(array)).volume
    array[5:8, 5:8, 5:8] = False
    hollow = surfaceOf(shapes.imageOf(array))
    small = surfaceOf(shapes.box((5, 5, 5), (7, 7, 7))).volume
    # the boundary of the hole is that of the small box turned inside out
    assert hollow.volume == pytest.approx(solid - small)
    array[15:18, 15:18, 15:18] = True
    both = surfaceOf(shapes.imageOf(array))
    assert both.volume == pytest.approx(solid)
    assert isWatertight(both)


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


@pytest.mark.parametrize("corners", [2, 3])
@pytest.mark.parametrize("subdivisions", [0, 1, 2, 3])
def testSubdivisionKeepsTheCenterOfMass(corners, subdivisions):
    weights = barycentricWeights(corners, subdivisions)
    assert len(weights) == (2 ** (corners - 1)) ** subdivisions
    assert (weights.sum(axis=1) == corners * 2**subdivisions).all()
    assert len(np.unique(weights, axis=0)) == len(weights)
    points, cells = np.array([[0.0, 0, 0], [3, 0, 0], [0, 6, 1]])[:corners], np.arange(corners)[None]
    assert elementCenters(points, cells, subdivisions).mean(axis=0) == pytest.approx(points.mean(axis=0))
