"""Pictures of surfaces: what is seen is what lies in front, in the colors of its values, from the named side."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib.base.palettes import ABSOLUTE, SIGNED
from SegmentMetricsLib.show.rendering import Camera, Shape, axesToward, draw, interpolate
from SegmentMetricsLib.show.report.figures import SIZE, VIEWS

WHITE = 255


def surfaceOf(mesh, valueOf) -> Shape:
    points = vtk_to_numpy(mesh.GetPoints().GetData())
    triangles = vtk_to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    return Shape(points.astype(np.float32), triangles.astype(np.int32), valueOf(points).astype(np.float32))


def seen(surface: Shape, side: str, scale: float = 4.0, isSigned: bool = True, finer: int = 2) -> np.ndarray:
    canvas = np.full((SIZE[1], SIZE[0], 3), WHITE, np.uint8)
    camera = Camera(axesToward(VIEWS[side]), np.zeros(3), np.array(SIZE) / 2, scale)
    ends, palette = ((-1.0, 1.0), SIGNED) if isSigned else ((0.0, 1.0), ABSOLUTE)
    shape = surface._replace(isClosed=isSigned)
    share = draw(canvas, shape, camera, lambda values: interpolate(values, *ends, palette), finer=finer)
    assert ((share > 0) >= (canvas != WHITE).any(axis=2)).all()
    return canvas.astype(float)


def color(text: str) -> np.ndarray:
    return np.array([int(text[n : n + 2], 16) for n in (1, 3, 5)])


def hue(pixel: np.ndarray) -> np.ndarray:
    """Return a color without its brightness, which is that of the light."""
    return pixel / np.linalg.norm(pixel)


@pytest.mark.parametrize(
    ("side", "expected"), [("front", SIGNED[0]), ("back", SIGNED[-1]), ("left", None), ("right", None)]
)
def testTheSideTowardTheViewerIsSeen(side, expected):
    """The front of this ball, toward A, lies inside, and its back outside: on the left and right it is half of each."""
    mesh = shapes.ballMesh(20.0)
    for surface in (surfaceOf(mesh, lambda points: np.sign(points[:, 1])), None):
        if surface is None:  # of the other orientation, which looks the same
            found = surfaceOf(mesh, lambda points: np.sign(points[:, 1]))
            surface = Shape(found.points, found.triangles[:, ::-1], found.values)
        shown = seen(surface, side)
        middle = shown[SIZE[1] // 2]
        if expected is not None:
            np.testing.assert_allclose(hue(middle[SIZE[0] // 2]), hue(color(expected)), atol=0.02)
        else:
            ends = [hue(middle[SIZE[0] // 2 + step]) for step in (-40, 40)]
            inOrder = (SIGNED[0], SIGNED[-1]) if side == "left" else (SIGNED[-1], SIGNED[0])
            for found, wanted in zip(ends, inOrder, strict=True):
                np.testing.assert_allclose(found, hue(color(wanted)), atol=0.02)


def testWhatIsBehindIsHidden():
    """Two plates, the nearer one smaller: brute force over the pixels of the nearer one."""
    corners = np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], float)
    points = np.concatenate([corners * 20, corners * 8 + (0, -5, 0)])
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    for order in (1, -1):  # whichever is drawn first
        triangles = np.concatenate([faces, faces + 4])[::order]
        values = np.repeat((0.0, 1.0), 4)
        surface = Shape(*(part.astype(kind) for part, kind in
                                   ((points, np.float32), (triangles, np.int32), (values, np.float32))))  # fmt: skip
        shown = seen(surface, "front", isSigned=False)
        isNear = np.linalg.norm(shown - color(ABSOLUTE[-1]), axis=2) < np.linalg.norm(
            shown - color(ABSOLUTE[0]), axis=2
        )
        assert isNear.sum() == pytest.approx((16 * 4) ** 2, rel=0.03)
        assert (shown.mean(axis=2) < WHITE - 4).sum() == pytest.approx((40 * 4) ** 2, rel=0.03)
