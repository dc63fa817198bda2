"""The pictures of a map: what is seen is what lies in front, in the colors of its distances, from the named side."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib.base.palettes import ABSOLUTE, SIGNED
from SegmentMetricsLib.show.report import flatmap
from SegmentMetricsLib.show.report.reduction import ReducedSurface

WHITE = 255


def surfaceOf(mesh, valueOf) -> ReducedSurface:
    points = vtk_to_numpy(mesh.GetPoints().GetData())
    triangles = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    return ReducedSurface(points.astype(np.float32), triangles.astype(np.int32), valueOf(points).astype(np.float32))


def seen(surface: ReducedSurface, side: str, scale: float = 4.0, isSigned: bool = True) -> np.ndarray:
    palette = SIGNED if isSigned else ABSOLUTE
    return flatmap.picture(surface, surface.points, flatmap.SIDES[side], scale, 1.0, isSigned, palette).astype(float)


def color(text: str) -> np.ndarray:
    return np.array([int(text[n : n + 2], 16) for n in (1, 3, 5)])


def hue(pixel: np.ndarray) -> np.ndarray:
    """Return a color without its brightness, which is that of the light."""
    return pixel / np.linalg.norm(pixel)


def testABallFillsItsDisk():
    ball = surfaceOf(shapes.ballMesh(20.0), lambda points: np.zeros(len(points)))
    shown = seen(ball, "front")
    covered = (WHITE - shown.mean(axis=2) > 4).sum()
    assert covered == pytest.approx(math.pi * (20 * 4) ** 2, rel=0.02)
    middle = shown[flatmap.SIZE[1] // 2, flatmap.SIZE[0] // 2]
    np.testing.assert_allclose(hue(middle), hue(color(SIGNED[len(SIGNED) // 2])), atol=0.01)


@pytest.mark.parametrize(
    ("side", "expected"), [("front", SIGNED[0]), ("back", SIGNED[-1]), ("left", None), ("right", None)]
)
def testTheSideTowardTheViewerIsSeen(side, expected):
    """The front of this ball, toward A, lies inside, and its back outside: on the left and right it is half of each."""
    mesh = shapes.ballMesh(20.0)
    for surface in (surfaceOf(mesh, lambda points: np.sign(points[:, 1])), None):
        if surface is None:  # of the other orientation, which looks the same
            found = surfaceOf(mesh, lambda points: np.sign(points[:, 1]))
            surface = ReducedSurface(found.points, found.triangles[:, ::-1], found.signed)
        shown = seen(surface, side)
        middle = shown[flatmap.SIZE[1] // 2]
        if expected is not None:
            np.testing.assert_allclose(hue(middle[flatmap.SIZE[0] // 2]), hue(color(expected)), atol=0.02)
        else:
            ends = [hue(middle[flatmap.SIZE[0] // 2 + step]) for step in (-40, 40)]
            inOrder = (SIGNED[0], SIGNED[-1]) if side == "left" else (SIGNED[-1], SIGNED[0])
            for found, wanted in zip(ends, inOrder, strict=True):
                np.testing.assert_allclose(found, hue(color(wanted)), atol=0.02)


def testTheHeadIsAbove():
    mesh = shapes.ballMesh(20.0)
    shown = seen(surfaceOf(mesh, lambda points: points[:, 2] > 0), "front", isSigned=False)
    column = shown[:, flatmap.SIZE[0] // 2]
    for row, wanted in ((40, ABSOLUTE[-1]), (140, ABSOLUTE[0])):
        np.testing.assert_allclose(hue(column[row]), hue(color(wanted)), atol=0.03)


def testWhatIsBehindIsHidden():
    """Two plates, the nearer one smaller: brute force over the pixels of the nearer one."""
    corners = np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], float)
    points = np.concatenate([corners * 20, corners * 8 + (0, -5, 0)])
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    for order in (1, -1):  # whichever is drawn first
        triangles = np.concatenate([faces, faces + 4])[::order]
        values = np.repeat((0.0, 1.0), 4)
        surface = ReducedSurface(*(part.astype(kind) for part, kind in
                                   ((points, np.float32), (triangles, np.int32), (values, np.float32))))  # fmt: skip
        shown = seen(surface, "front", isSigned=False)
        isNear = np.linalg.norm(shown - color(ABSOLUTE[-1]), axis=2) < np.linalg.norm(
            shown - color(ABSOLUTE[0]), axis=2
        )
        assert isNear.sum() == pytest.approx((16 * 4) ** 2, rel=0.03)
        assert (shown.mean(axis=2) < WHITE - 4).sum() == pytest.approx((40 * 4) ** 2, rel=0.03)
