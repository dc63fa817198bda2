"""The picture of a comparison: both surfaces colored by distance, side by side, with the main numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData

from . import colors, outputs
from .headless import privateScene
from .lettering import INK, PALE_INK, textWidth, writeText
from .views import ANTERIOR_LEFT, ThreeDView, startOpenGLCheck, viewAxes, writePng

# Where a viewer may stand (RAS). The first one is preferred; the others show what it would hide.
DIRECTIONS = {
    "the patient's left and front": ANTERIOR_LEFT,
    "the patient's right and front": (0.5, 0.8, 0.3),
    "the patient's left and back": (-0.5, -0.8, 0.3),
    "the patient's right and back": (0.5, -0.8, 0.3),
    "the patient's left, front and feet": (-0.5, 0.7, -0.55),
    "the patient's right, front and feet": (0.5, 0.7, -0.55),
}
# How much more of the differences another direction must show to be taken instead.
PREFERENCE = 1.25

BACKGROUND = (0.985, 0.988, 0.992)
LINE = (0.86, 0.88, 0.90)
# The part of a picture that the organ fills: left, bottom, right, top.
AREA = (0.06, 0.08, 0.94, 0.9)


def writeOverlay(
    comparison,
    path: str | Path,
    size: tuple[int, int] = (1200, 700),
    kind: str = "signed",
    range: float | None = None,
    tolerance: float | None = None,
) -> Path:
    """Draw a comparison with Slicer's 3D view and color legend, write it as PNG and return the path.

    Left the reference's surface, right the test's, both colored by their distance to the other one and seen from the
    direction that shows the differences best. size: width and height in pixels, at least 640 x 400. kind, range,
    tolerance: as for outputs.showDistanceMap. Slicer's scene is not touched. Raises NoOpenGLError on a machine that
    cannot draw, ValueError for wrong arguments and when there are no distances, OSError when it cannot write.
    """
    if min(size[0] - 640, size[1] - 400) < 0:
        raise ValueError(f"An overlay picture needs at least 640 x 400 pixels, not {size[0]} x {size[1]}.")
    startOpenGLCheck()  # it runs beside the making of the surfaces
    maps = [outputs.distanceMap(comparison, side) for side in outputs.SIDES]
    tolerance = float(comparison.settings.tolerances[0] if tolerance is None else tolerance)
    limit = range or outputs.automaticRange(comparison, tolerance)
    where = bestDirection(maps, limit)

    width, height = size
    scale = min(width / 1200, height / 700)
    header = round(88 * scale)
    legend = round(150 * scale)  # the strip at the right that the legend and the orientation cube take
    left = (width - legend) // 2
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = np.rint(255 * np.array(BACKGROUND))
    _drawMaps(canvas[header:], comparison, maps, where, left, legend, (kind, limit, tolerance), scale)
    _writeHeader(canvas, comparison, where, (left, header), scale, tolerance)
    return writePng(canvas, path)


def bestDirection(maps: list[vtkPolyData], limit: float) -> str:
    """Return the name of the direction in DIRECTIONS from which the differences between two surfaces are seen best.

    maps: surfaces with point normals and the point array Distance; limit: mm, larger distances count no more than it.
    Surfaces without normals are seen from the first direction.
    """
    names = list(DIRECTIONS)
    toward = np.array([viewAxes(DIRECTIONS[name])[2] for name in names])
    seen = np.zeros(len(names))
    for surface in maps:
        normals = surface.GetPointData().GetNormals()
        if normals is None:
            continue
        weight = np.minimum(vtk_to_numpy(surface.GetPointData().GetArray("Distance")), limit) ** 2
        seen += weight @ np.maximum(vtk_to_numpy(normals) @ toward.T, 0)
    best = int(seen.argmax())
    return names[best if seen[best] > PREFERENCE * seen[0] else 0]


def _drawMaps(canvas, comparison, maps, where, left, legend, coloring, scale) -> None:
    """Draw both maps below the header: the reference left, the test right of it with the legend."""
    kind, limit, tolerance = coloring
    height, width = canvas.shape[:2]
    points = np.concatenate([vtk_to_numpy(surface.GetPoints().GetData()) for surface in maps])
    scene = privateScene()
    # The view comes first: Slicer shows only legends that are added while it exists.
    with ThreeDView(scene, (left, height), (BACKGROUND, BACKGROUND)) as view:
        models = []
        for side, surface in zip(outputs.SIDES, maps, strict=True):
            models.append(scene.AddNewNodeByClass("vtkMRMLModelNode"))
            models[-1].SetAndObservePolyData(surface)
            # the legend is at the right for both
            outputs.colorMap(models[-1], kind, "reference", limit, tolerance, outputs.hasSides(comparison))
        displays = [model.GetDisplayNode() for model in models]
        displays[1].SetVisibility(False)
        colors.legendOf(models[0]).SetVisibility(False)  # one legend serves both
        view.lookFrom(DIRECTIONS[where], points, AREA)
        canvas[:, :left] = view.image()

        displays[0].SetVisibility(False)
        displays[1].SetVisibility(True)
        _printLegend(colors.legendOf(models[1]), legend / (width - left), scale)
        view.showOrientationMarker()
        view.resize((width - left, height))
        # as large as in the left picture, with the legend beside it
        share = left / (width - left)
        view.lookFrom(DIRECTIONS[where], points, (AREA[0] * share, AREA[1], AREA[2] * share, AREA[3]))
        canvas[:, left:] = view.image()


def _printLegend(legend, share: float, scale: float) -> None:
    """Set a legend in dark letters into the right share of the view, above the orientation marker."""
    for style, size in ((legend.GetTitleTextProperty(), 14), (legend.GetLabelTextProperty(), 13)):
        style.SetColor(*INK)
        style.SetFontFamilyToArial()
        style.SetFontSize(max(round(size * scale), 9))
        style.SetBold(False)
        style.SetItalic(False)
        style.SetShadow(False)
    legend.SetSize(0.8 * share, 0.55)
    legend.SetPosition(0.97, 0.75)
    legend.SetVisibility(True)


def _writeHeader(canvas, comparison, where: str, edges: tuple[int, int], scale: float, tolerance: float) -> None:
    """Write the structure's name, the main numbers, and what the two pictures show."""
    left, header = edges
    width = canvas.shape[1]
    margin = round(28 * scale)

    def sized(points: float) -> int:
        return max(round(points * scale), 9)

    x = width - margin
    for label, value in reversed(mainNumbers(comparison, tolerance)):
        wide = max(textWidth(label, sized(13)), textWidth(value, sized(22), True))
        x -= wide
        writeText(canvas, label, (x, 34 * scale), sized(13), PALE_INK)
        writeText(canvas, value, (x, 62 * scale), sized(22), INK, bold=True)
        x -= round(34 * scale)
    names = dict.fromkeys((comparison.reference.name, comparison.test.name))
    writeText(canvas, " / ".join(names), (margin, 50 * scale), sized(30), INK, bold=True, width=x - margin)
    canvas[round(82 * scale), margin : width - margin] = np.rint(255 * np.array(LINE))
    for start, side, other in ((0, "Reference", "test"), (left, "Test", "reference")):
        y = header + 16 * scale
        used = writeText(canvas, side, (start + margin, y), sized(15), INK, bold=True)
        note = f"colored by distance to the {other}"
        writeText(canvas, note, (start + margin + used + 8 * scale, y), sized(14), PALE_INK)
    writeText(canvas, f"Seen from {where}", (margin, canvas.shape[0] - 18 * scale), sized(13), PALE_INK)


def mainNumbers(comparison, tolerance: float) -> list[tuple[str, str]]:
    """Return label and value of the measurements a picture names, those of them that the comparison has."""
    wanted = ("HD95", "MASD", f"NSD_{tolerance:g}mm", "DSC")
    found = [comparison.measurements[key] for key in wanted if key in comparison.measurements]
    return [(m.key.replace("_", " "), formatValue(m.value, m.unit)) for m in found]


def formatValue(value: float, unit: str) -> str:
    """Return a value as it is written in a picture: three significant digits below ten, and words for what is no number."""
    if np.isnan(value):
        return "n/a"
    if np.isinf(value):
        return "infinite"
    digits = 3 if not unit else 2 if abs(value) < 10 else 1
    return f"{value:.{digits}f} {unit}".rstrip()
