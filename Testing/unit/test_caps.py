"""Triangles as thin as a line, which close a mesh: those without any area, and those that rounding gave one."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.geometry import meshing
from SegmentMetricsLib.geometry.surfaces import Surface, toPolyData

SIZE = np.array([8.0, 4.0, 16.0])
BOX = meshing.fromPolyData(shapes.boxMesh((0, 0, 0), SIZE))


def capped(surface: Surface, seed: int) -> Surface:
    """Return a surface with caps on some of its sides: the triangle on one hand is cut in two there, the other is not.

    No triangle has two of them. A cap is between the ends of the side and the point where it is cut.
    """
    random = np.random.default_rng(seed)
    points, cells = list(surface.points), list(map(tuple, surface.cells.tolist()))
    sides = {side: cell for cell in cells for side in zip(cell, (*cell[1:], cell[0]))}
    used = set()
    for start, end in random.permutation(list(sides)).tolist():
        one, other = sides[start, end], sides[end, start]
        if used & {one, other}:
            continue
        used |= {one, other}
        share, middle = random.choice([0.25, 0.5, 0.75]), len(points)
        (tip,) = set(one) - {start, end}
        points.append(points[start] + share * (points[end] - points[start]))
        cells.remove(one)
        cells += [(start, middle, tip), (middle, end, tip), (start, end, middle)]
    return Surface(np.array(points), np.array(cells))


def rounded(surface: Surface) -> Surface:
    """Return a turned surface as files with single precision hold it, in which no three points are on one line."""
    turned = surface.points @ shapes.rotation((1, 2, 3), 37).T
    return Surface(turned.astype(np.float32).astype(float), surface.cells)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1, 3])
def testCapsLeaveNoHoles(seed, times):
    """Also where caps have caps."""
    surface = BOX
    for _ in range(times):
        surface = capped(surface, seed)
    read = meshing.fromPolyData(toPolyData(surface))
    assert read.isClosed and read.nonManifoldEdges == 0
    assert read.volume == pytest.approx(SIZE.prod(), rel=1e-12)
    (repair,) = read.repairs
    assert repair.endswith(("triangles without area were left out", "1 triangle without area was left out"))


def testCapsThatNothingNeeds():
    """One beside whole triangles is left out, and nothing is cut; so is one whose points are those of a hole."""
    points = np.concatenate([BOX.points, [BOX.points[BOX.cells[0, :2]].mean(axis=0)]])
    loose = [*BOX.cells[0, :2], len(BOX.points)]
    read = meshing.fromPolyData(shapes.meshOf(points, [*BOX.cells, loose]))
    assert read.isClosed and len(read.cells) == len(BOX.cells)
    assert read.repairs == ("1 triangle without area was left out",)
    opened = meshing.fromPolyData(shapes.meshOf(points, [*BOX.cells[1:], loose]))
    assert not opened.isClosed and opened.sizes.sum() == pytest.approx(BOX.sizes[1:].sum())


def testFlatBodiesAreNotSaidToBeTurned():
    """Which way their triangles face is a matter of rounding."""
    ball = meshing.fromPolyData(shapes.ballMesh(10, resolution=16))
    for cell in ball.cells[:20]:
        read = meshing.fromPolyData(shapes.meshOf(ball.points, [cell, cell[::-1]]))
        assert read.defect == "encloses nothing" and read.repairs == ()
