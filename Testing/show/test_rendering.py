"""Pictures: surfaces from the named side, the nearer ones in front, and letters that are where they are wanted."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import shapes
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib.base.palettes import ABSOLUTE, SIGNED
from SegmentMetricsLib.show.pictures import lettering
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


def testTextIsWhereItIsWanted():
    canvas = np.full((60, 300, 3), 255, np.uint8)
    width = lettering.writeText(canvas, "HD95", (20, 40), 24)
    rows, columns = np.nonzero(canvas.max(axis=2) < 128)
    assert rows.max() == pytest.approx(39, abs=1)  # on the baseline
    assert columns.min() == pytest.approx(21, abs=2)
    assert columns.max() == pytest.approx(20 + width, abs=3)
    assert lettering.textWidth("HD95", 24) == pytest.approx(width, abs=2)
    # and shortened where it is too long
    canvas = np.full((60, 400, 3), 255, np.uint8)
    assert lettering.writeText(canvas, "Submandibular gland, left", (0, 40), 24, width=120) <= 120
    assert (canvas[:, 125:] == 255).all()


def testScriptsAreDrawnByPillowWithAFontOfTheComputer(monkeypatch):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, which has a font, is not installed")
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    monkeypatch.setattr(lettering, "FONT_FILES", ("nowhere.ttf", str(fonts / "DejaVuSans.ttf")))
    lettering._render.cache_clear()
    canvas = np.full((40, 200, 3), 255, np.uint8)
    width = lettering.writeText(canvas, "Жабри", (5, 30), 20)
    assert width == lettering.textWidth("Жабри", 20) > 40 and (canvas[15:30, 5:20] < 128).sum() > 40
    # of a script that the font does not have, nothing is drawn, and beside others a question mark
    assert lettering.textWidth("肝臓", 20) == 0
    assert lettering.textWidth("肝 L", 20) == lettering.textWidth("? L", 20) > 0
    lettering._render.cache_clear()


def testMissingCharacters(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    lettering._render.cache_clear()
    assert lettering.textWidth("肝臓", 20) == 0
    canvases = [np.full((40, 100, 3), 255, np.uint8) for _ in range(2)]
    for canvas, text in zip(canvases, ("肝 ö", "? ö"), strict=True):
        lettering.writeText(canvas, text, (5, 30), 20)
    np.testing.assert_array_equal(*canvases)
    lettering._render.cache_clear()
