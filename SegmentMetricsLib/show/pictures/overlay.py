"""The picture of a comparison: both surfaces colored by distance, side by side, with the main numbers.

What distances were measured on is drawn, as the picture says; Slicer's views show its own, smoother surfaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkRenderingFreeType import vtkVectorText

from ...base.errors import InputError, asPath
from ...base.texts import shortest
from ...geometry.surfaces import Surface, triangleIndices
from ...model.grayimages import GrayImage
from ...model.naming import pairTitle
from ...model.structures import REFERENCE_AND_TEST
from ..maps import Coloring, checkedLimits, valuesOn, variationLimit
from ..rendering import Camera, Shape, axesToward, draw, fit, linesOf, normalsOf, plain, smoothEdges, writePng
from .lettering import INK, PALE_INK, textWidth, writeText
from .slicestrip import sliceStrip

# Candidate directions toward the viewer (LPS). The first is preferred; the others show what it would hide.
DIRECTIONS = {
    "the patient's left and front": (0.5, -0.8, 0.3),
    "the patient's right and front": (-0.5, -0.8, 0.3),
    "the patient's left and back": (0.5, 0.8, 0.3),
    "the patient's right and back": (-0.5, 0.8, 0.3),
    "the patient's left, front and feet": (0.5, -0.7, -0.55),
    "the patient's right, front and feet": (-0.5, -0.7, -0.55),
}
# Of these, each with the one that shows what it hides.
SIDEWAYS = {
    "the patient's left and front": "the patient's right and back",
    "the patient's right and front": "the patient's left and back",
    "the patient's left and back": "the patient's right and front",
    "the patient's right and back": "the patient's left and front",
}
# Another direction is used only if it shows more than this many times as much of the differences.
PREFERENCE = 1.25
# Slices in radiological convention: axial seen from the feet, coronal from the front, sagittal from the left.
SLICE_DIRECTIONS = {
    "the patient's left": (1, 0, 0),
    "the patient's front": (0, -1, 0),
    "the patient's feet": (0, 0, -1),
}
# The sides of the patient as directions (LPS).
SIDES = {"R": (-1, 0, 0), "L": (1, 0, 0), "A": (0, -1, 0), "P": (0, 1, 0), "I": (0, 0, -1), "S": (0, 0, 1)}

Direction = Sequence[float] | np.ndarray
BACKGROUND = (0.985, 0.988, 0.992)
LINE = (0.86, 0.88, 0.90)
# The colors of the cube with the sides of the patient and of its letters.
CUBE, LETTERS = "#d6dde5", "#29303f"
# The area of a picture that the structure fills: left, top, right, bottom as fractions.
AREA = (0.06, 0.1, 0.94, 0.91)
SIZE, SMALLEST = (1200, 700), (640, 400)
# Size of a contour's line as a fraction of its extent, and of the outline of the other one as a part of that.
LINE_WIDTH, THIN = 0.012, 0.2


def drawOverlay(
    comparison,
    path: str | PathLike,
    *,
    size: tuple[int, int] = SIZE,
    kind: str = "signed",
    image: GrayImage | None = None,
) -> Path:
    """Draw the picture of a comparison, write it as PNG and return the path.

    The reference's measured surface is on the left, the test's on the right. Both are colored by the distance to the
    other one, seen from the direction that shows the differences best, and overlaid with the outline of the other one.
    size: width and height in pixels, at least 640 x 400. kind: one of maps.KINDS. image: what the contours were drawn
    on, to add slices of it with the contours below, or None. Raises ValueError for wrong arguments and if there are no
    distances, and OSError if the file cannot be written.
    """
    path = asPath(path)
    if any(given < least for given, least in zip(size, SMALLEST, strict=True)):
        raise InputError(f"An overlay picture needs at least 640 x 400 pixels, not {size[0]} x {size[1]}.")
    limit, tolerance = checkedLimits(comparison, kind, None, None)
    coloring = Coloring(kind, limit, tolerance, comparison.distances.hasSides)
    surfaces = [direction.surface for direction in comparison.distances.directions]
    shapes = []
    for side, surface in zip(REFERENCE_AND_TEST, surfaces, strict=True):
        values = valuesOn(comparison, side, withLocal=kind == "bld")[coloring.array]
        shapes.append(Shape(surface.points, surface.cells, values, coloring.hasSides))
    comparison.distances.forget()  # free memory, as drawing needs as much again
    if surfaces[0].normal is not None:
        seenFrom, direction = sliceDirection(surfaces[0].normal)
    else:
        seenFrom, direction = bestDirection(shapes, 1.0 if kind == "hazard" else limit)
    canvas, middle = _page(size, pairTitle((comparison.reference.name, comparison.test.name)),
                           mainNumbers(comparison, tolerance, kind))  # fmt: skip
    _drawShapes(canvas, shapes, 2 * [direction], coloring)
    _writeSides(canvas, middle, coloring.kind)
    what = "contours" if comparison.dimension == 2 else "surfaces"
    _writeDirection(canvas, f"The measured {what}, seen from {seenFrom}", 0)
    if image is not None:
        strip = sliceStrip(comparison, image, size[0], _scaleOf(canvas), _bytes(BACKGROUND))
        canvas = canvas if strip is None else np.concatenate([canvas, strip])
    return writePng(canvas, path)


def drawVariation(found, path: str | PathLike) -> Path:
    """Draw where observers differ: their consensus from two sides, colored by the local SD; return the path.

    found: an ObservedStructure with a variation. Raises OSError.
    """
    surface: Surface = found.variation.surface
    shape = Shape(surface.points, surface.cells, found.variation.localSD, surface.isClosed)
    coloring = Coloring("sd", variationLimit(found), 0.0, True)
    if surface.normal is not None:
        views = dict([sliceDirection(surface.normal)])
    else:
        first, _ = bestDirection([shape], coloring.limit, SIDEWAYS)
        views = {name: DIRECTIONS[name] for name in (first, SIDEWAYS[first])}
    numbers = [
        ("observers", str(len(found.variation.distances))),
        ("local SD", f"{found.variation.rootMeanSquareSD:.2f} mm"),
        ("95 % within", f"{found.variation.percentile95SD:.2f} mm"),
    ]
    canvas, _ = _page(SIZE, found.name, numbers)
    _drawShapes(canvas, [shape] * len(views), list(views.values()), coloring, hasOutlines=False)
    half = (SIZE[0] - _strip(canvas)) // len(views)
    for number, name in enumerate(views):
        what = "contours" if found.consensus.dimension == 2 else "surfaces"
        text = f"Seen from {name}" if number else f"The measured {what}, seen from {name}"
        _writeDirection(canvas, text, number * half)
    return writePng(canvas, asPath(path))


def bestDirection(shapes: Sequence[Shape], limit: float, names: Iterable[str] = DIRECTIONS) -> tuple[str, Direction]:
    """Return the direction from which the largest values are seen best: its name and its vector (3,), LPS.

    limit: values are clipped to this maximum. names: of those of DIRECTIONS to choose from.
    """
    names = list(names)
    toward = np.array([DIRECTIONS[name] for name in names])
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    seen = np.zeros(len(names))
    for shape in shapes:
        weight = np.minimum(np.abs(shape.values), limit) ** 2
        seen += weight @ np.maximum(normalsOf(shape.points, shape.triangles) @ toward.T, 0)
    best = int(seen.argmax())
    name = names[best if seen[best] > PREFERENCE * seen[0] else 0]
    return name, DIRECTIONS[name]


def sliceDirection(normal: np.ndarray) -> tuple[str, Direction]:
    """Return the viewing direction of contours with a normal (3,): its name and its vector (3,), LPS."""
    along = {name: float(normal @ np.array(direction)) for name, direction in SLICE_DIRECTIONS.items()}
    name = max(along, key=lambda key: abs(along[key]))
    return name, normal * np.sign(along[name])


def mainNumbers(comparison, tolerance: float, kind: str = "signed") -> list[tuple[str, str]]:
    """Return labels and values of the main measurements that the comparison has, for the header of a picture."""
    found = comparison.measurements
    if kind == "hazard":
        return [(key, found[key].text()) for key in ("DSC", "wDice", "SIS", "STAR") if key in found]
    if kind == "dose":
        return [(key, found[key].text()) for key in ("DSC", "DmeanDifference", "D95Difference") if key in found]
    tau = shortest(tolerance)
    percentiles = [f"HD{shortest(percentile)}" for percentile in comparison.settings.percentiles]
    wanted = {**{key: key for key in percentiles}, "MASD": "MASD", f"NSD_{tau}mm": f"NSD {tau} mm", "DSC": "DSC"}
    return [(label, found[key].text()) for key, label in wanted.items() if key in found]


def _scaleOf(canvas: np.ndarray) -> float:
    return min(canvas.shape[1] / 1200, canvas.shape[0] / 700)


def _strip(canvas: np.ndarray) -> int:
    """Return the width of the part on the right of a picture, for the legend and the cube."""
    return round(150 * _scaleOf(canvas))


def _page(size: tuple[int, int], names: str, numbers: list[tuple[str, str]]) -> tuple[np.ndarray, int]:
    """Return a picture (height, width, 3) with a structure's name and numbers, and where its second half begins."""
    width, height = size
    canvas = np.tile(_bytes(BACKGROUND), (height, width, 1))
    scale = _scaleOf(canvas)
    margin = round(28 * scale)
    x = width - margin
    for label, value in reversed(numbers):
        x -= max(textWidth(label, _sizeOf(13, scale)), textWidth(value, _sizeOf(22, scale), True))
        writeText(canvas, label, (x, 31 * scale), _sizeOf(13, scale), PALE_INK)
        writeText(canvas, value, (x, 57 * scale), _sizeOf(22, scale), INK, bold=True)
        x -= round(34 * scale)
    writeText(canvas, names, (margin, 47 * scale), _sizeOf(30, scale), INK, bold=True, width=x - margin)
    canvas[round(82 * scale), margin : width - margin] = _bytes(LINE)
    return canvas, (width - _strip(canvas)) // 2


def _drawShapes(
    canvas: np.ndarray,
    shapes: Sequence[Shape],
    directions: Sequence[Direction],
    coloring: Coloring,
    hasOutlines: bool = True,
) -> None:
    """Draw shapes side by side, each from its direction, and legend and cube on the right.

    hasOutlines: whether two shapes are drawn with the outline of the other one.
    """
    scale, strip = _scaleOf(canvas), _strip(canvas)
    header = round(88 * scale)
    half = (canvas.shape[1] - strip) // len(shapes)
    points = np.concatenate([shape.points for shape in shapes])
    isPlanar = shapes[0].triangles.shape[1] == 2
    fields = [canvas[header:, n * half : (n + 1) * half] for n in range(len(shapes))]
    lines = []
    for field, shape, direction in zip(fields, shapes, directions, strict=True):
        camera = fit(points, direction, (half, field.shape[0]), AREA)
        if isPlanar:
            radius = LINE_WIDTH / 2 * np.ptp(points, axis=0).max()
            toward = axesToward(direction)[2]
            bands = [linesOf(*shape[:3], toward, radius * part) for part in (1, THIN)]
            draw(field, bands[0], camera, coloring.colors, isLit=False)
            lines.append(draw(field.copy(), bands[1], camera, coloring.colors) if hasOutlines else None)
        else:
            share = draw(field, shape, camera, coloring.colors, finer=1)
            smoothEdges(field)
            lines.append(_edge(share, 0.8 * scale) if hasOutlines else None)
    for field, line in zip(fields, lines[::-1], strict=True):
        if line is not None:
            where = np.nonzero(line)
            share = 0.9 * line[where][:, None]
            field[where] = np.rint(field[where] * (1 - share) + 255 * np.array(INK) * share)
    _drawLegend(canvas, coloring, scale)
    _drawCube(canvas, directions[0], scale)


def _edge(shape: np.ndarray, thickness: float) -> np.ndarray:
    """Return the edge of a shape (height, width) of 0 to 1 as a smooth line in [0, 1]; thickness in pixels."""
    from scipy.ndimage import gaussian_filter

    line = np.zeros_like(shape)
    rows, columns = (np.flatnonzero(shape.any(axis=across)) for across in (1, 0))
    if len(rows):
        # the margin contains the whole line, which extends no farther than the smoothing
        box = tuple(slice(max(used[0] - 8, 0), used[-1] + 9) for used in (rows, columns))
        smooth = gaussian_filter(shape[box], 1.0)
        slope = np.maximum(np.hypot(*np.gradient(smooth)), 1e-3)
        line[box] = np.clip(thickness + 0.5 - np.abs(smooth - 0.5) / slope, 0, 1)
    return line


def _drawLegend(canvas: np.ndarray, coloring: Coloring, scale: float) -> None:
    """Draw a scale of the colors with its title in the upper right of a picture."""
    size, (low, high) = _sizeOf(14, scale), coloring.ends
    top, bottom = round(180 * scale), round(483 * scale)
    right = canvas.shape[1] - round(25 * scale)
    left = right - round(21 * scale)
    heights = np.linspace(high, low, bottom - top)
    canvas[top:bottom, left:right] = np.rint(coloring.colors(heights))[:, None]
    if coloring.isOfWords:
        names, step = coloring.bands, (high - low) / len(coloring.bands)
        labels = [(name, low + (number + 0.5) * step) for number, name in enumerate(names)]
    else:
        labels = [(f"{value:g}".replace("-", "\N{MINUS SIGN}"), value) for value in np.linspace(low, high, 5)]
    for text, value in labels:
        y = bottom - (value - low) / (high - low) * (bottom - top)
        writeText(canvas, text, (left - 6 * scale - textWidth(text, size), y + 0.36 * size), size)
    lines = coloring.title.split("\n")
    for number, line in enumerate(lines):
        y = top - 14 * scale - (len(lines) - 1 - number) * 1.25 * size
        writeText(canvas, line, (right - textWidth(line, size), y), size)


def _drawCube(canvas: np.ndarray, direction: Direction, scale: float) -> None:
    """Draw a cube that names the sides of the patient in the lower right of a picture."""
    axes = axesToward(direction)
    side = 64 * scale
    middle = np.array([canvas.shape[1] - 76 * scale, canvas.shape[0] - 76 * scale])
    camera = Camera(axes, np.zeros(3), middle, side)
    for letter, normal in SIDES.items():
        if axes[2] @ normal < 1e-6:
            continue
        face = axesToward(normal)
        corners = np.array([(-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.5), (-0.5, 0.5, 0.5)]) @ face
        square = Shape(corners, np.array([(0, 1, 2), (0, 2, 3)]), np.zeros(4), isClosed=False)
        draw(canvas, square, camera, plain(CUBE))
        text = vtkVectorText()
        text.SetText(letter)
        text.Update()
        outline: vtkPolyData = text.GetOutput()
        points = vtk_to_numpy(outline.GetPoints().GetData()) * (1.0, -1.0, 0.0)
        low, high = points.min(axis=0), points.max(axis=0)
        points = ((points - (low + high) / 2) * 0.6 / (high - low).max() + (0, 0, 0.51)) @ face
        letters = Shape(points, triangleIndices(outline), np.zeros(len(points)), isClosed=False)
        draw(canvas, letters, camera, plain(LETTERS))


def _sizeOf(points: float, scale: float) -> int:
    return max(round(points * scale), 9)


def _writeDirection(canvas: np.ndarray, text: str, left: int) -> None:
    """Write from where a picture is seen, below it. left: its left edge."""
    scale = _scaleOf(canvas)
    writeText(canvas, text, (left + 28 * scale, canvas.shape[0] - 21 * scale), _sizeOf(13, scale), PALE_INK)


def _writeSides(canvas: np.ndarray, middle: int, kind: str) -> None:
    """Write the captions of the pictures of reference and test. middle: left edge of the second one."""
    scale = _scaleOf(canvas)
    margin = round(28 * scale)
    for start, side, other in ((0, "Reference", "test"), (middle, "Test", "reference")):
        y = (88 + 15) * scale
        used = writeText(canvas, side, (start + margin, y), _sizeOf(15, scale), INK, bold=True)
        note, longer = f"colored by {kind}", f"colored by {kind}, with the outline of the {other}"
        if kind not in ("hazard", "dose"):
            distance = "bidirectional local distance" if kind == "bld" else "distance"
            note = f"colored by {distance} to the {other}"
            longer = note + ", whose outline is drawn"
        room = middle - margin - used - 8 * scale
        note = longer if textWidth(longer, _sizeOf(14, scale)) <= room else note
        writeText(canvas, note, (start + margin + used + 8 * scale, y), _sizeOf(14, scale), PALE_INK, width=room)


def _bytes(color: tuple[float, float, float]) -> np.ndarray:
    return np.rint(255 * np.array(color)).astype(np.uint8)
