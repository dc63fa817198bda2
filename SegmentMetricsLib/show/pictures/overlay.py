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
from ...base.palettes import rgb
from ...base.texts import shortest
from ...geometry.surfaces import Surface, triangleIndices
from ...model.grayimages import GrayImage
from ...model.naming import pairTitle
from ...model.structures import REFERENCE_AND_TEST
from ..maps import Coloring, findLimits, valuesOn, variationLimit
from ..rendering import Camera, Direction, Shape, axesToward, draw, fit, linesOf, normalsOf, smoothEdges, writePng
from ..report.gray import PRESETS, Gray
from ..report.slicepictures import ACROSS, DOWN, ON_IMAGE, captionOf, contoursOf, extentOf, windowsOf
from ..report.sliceviews import largestOf, picturesOf
from .lettering import render, textWidth

# Candidate directions toward the viewer (LPS). The first is preferred; the others show what it would hide.
DIRECTIONS = {
    "the patient's left and front": (0.5, -0.8, 0.3),
    "the patient's right and front": (-0.5, -0.8, 0.3),
    "the patient's left and back": (0.5, 0.8, 0.3),
    "the patient's right and back": (-0.5, 0.8, 0.3),
    "the patient's left, front and feet": (0.5, -0.7, -0.55),
    "the patient's right, front and feet": (-0.5, -0.7, -0.55),
}
# Of these, the first four: what one hides is seen from the opposite one, which is as far from the other end.
SIDEWAYS = tuple(DIRECTIONS)[:4]
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

BACKGROUND = (0.985, 0.988, 0.992)
RULE = (0.86, 0.88, 0.90)
INK, PALE_INK = (0.13, 0.15, 0.19), (0.42, 0.45, 0.50)
# The colors of the cube with the sides of the patient and of its letters.
CUBE, LETTERS = "#d6dde5", "#29303f"
# The area of a picture that the structure fills: left, top, right, bottom as fractions.
AREA = (0.06, 0.1, 0.94, 0.91)
SIZE, SMALLEST = (1200, 700), (640, 400)
# The main measurements of kinds that do not show distances.
NUMBERS = {"hazard": ("DSC", "wDice", "SIS", "STAR"), "dose": ("DSC", "DmeanDifference", "D95Difference")}
# Size of a contour's line as a fraction of its extent, and of the outline of the other one as a part of that.
LINE_WIDTH, THIN = 0.012, 0.2
# Of slices: heights in pixels of the text above and of the margin below, and width of lines, for a scale of 1.
HEAD, FOOT, LINE = 56, 24, 1.6
# Pixels as they are.
FLAT = Camera(np.eye(3), np.zeros(3), np.zeros(2), 1.0)


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
    limit, tolerance = findLimits(comparison, kind, None, None)
    coloring = Coloring(kind, limit, tolerance, comparison.distances.hasSides)
    surfaces = [direction.surface for direction in comparison.distances.directions]
    shapes = []
    for side, surface in zip(REFERENCE_AND_TEST, surfaces, strict=True):
        values = valuesOn(comparison, side, withLocal=kind == "bld")[coloring.legend.array]
        shapes.append(Shape(surface.points, surface.cells, values, coloring.hasSides))
    comparison.distances.forget()  # free memory, as drawing needs as much again
    if surfaces[0].normal is not None:
        seenFrom, direction = sliceDirection(surfaces[0].normal)
    else:
        seenFrom, direction = bestDirection(shapes, 1.0 if kind == "hazard" else limit)
    canvas = Canvas(size)
    title = pairTitle((comparison.reference.name, comparison.test.name))
    canvas.writeHead(title, mainNumbers(comparison, tolerance, kind))
    canvas.drawShapes(shapes, 2 * [direction], coloring)
    canvas.writeSides(kind)
    what = "contours" if comparison.dimension == 2 else "surfaces"
    canvas.writeDirection(f"The measured {what}, seen from {seenFrom}", 0)
    if image is not None:
        canvas.addSlices(comparison, image)
    return writePng(canvas.pixels, path)


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
        views = {name: DIRECTIONS[name] for name in (first, SIDEWAYS[-1 - SIDEWAYS.index(first)])}
    canvas, variation = Canvas(SIZE), found.variation
    sds = [f"{sd:.2f} mm" for sd in (variation.rootMeanSquareSD, variation.percentile95SD)]
    labels = ("observers", "local SD", "95 % within")
    canvas.writeHead(found.name, list(zip(labels, (str(len(variation.distances)), *sds), strict=True)))
    canvas.drawShapes([shape] * len(views), list(views.values()), coloring)
    what = "contours" if found.consensus.dimension == 2 else "surfaces"
    for number, name in enumerate(views):
        text = f"Seen from {name}" if number else f"The measured {what}, seen from {name}"
        canvas.writeDirection(text, number * (canvas.room // len(views)))
    return writePng(canvas.pixels, asPath(path))


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
    tau = shortest(tolerance)
    percentiles = [f"HD{shortest(percentile)}" for percentile in comparison.settings.percentiles]
    wanted = NUMBERS.get(kind, (*percentiles, "MASD", f"NSD_{tau}mm", "DSC"))
    labels = {f"NSD_{tau}mm": f"NSD {tau} mm"}
    return [(labels.get(key, key), found[key].text()) for key in wanted if key in found]


class Canvas:
    """A picture (height, width, 3) in the making. scale: of its texts and margins. room: width for shapes, pixels."""

    def __init__(self, size: tuple[int, int]):
        width, height = size
        self.pixels = np.tile(toBytes(BACKGROUND), (height, width, 1))
        self.scale = min(width / 1200, height / 700)
        self.margin = round(28 * self.scale)
        # on the right are the legend and the cube
        self.room = width - round(150 * self.scale)

    def sizeOf(self, points: float) -> int:
        """Return a size of letters in pixels."""
        return max(round(points * self.scale), 9)

    def write(self, text: str, x: float, y: float, points: float, color=PALE_INK, bold=False, width=None) -> int:
        """Write a line of text and return its width in pixels; beyond a maximum width it ends with an ellipsis.

        x, y: where it starts, and its baseline, in pixels.
        """
        size = self.sizeOf(points)
        while width is not None and text and textWidth(text, size, bold) > width:
            text = text.removesuffix("...")[:-1].rstrip() + "..." if text != "..." else ""
        letters, above = render(text, size, bold)
        left, top = round(x), round(y) - above
        # clip the text to the picture
        rows = slice(max(top, 0), min(top + letters.shape[0], self.pixels.shape[0]))
        columns = slice(max(left, 0), min(left + letters.shape[1], self.pixels.shape[1]))
        if rows.start < rows.stop and columns.start < columns.stop:
            share = letters[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left, None]
            part = self.pixels[rows, columns]
            self.pixels[rows, columns] = np.rint(part * (1 - share) + 255 * np.array(color) * share)
        return letters.shape[1]

    def writeHead(self, name: str, numbers: Sequence[tuple[str, str]]) -> None:
        """Write a structure's name, and numbers with their labels."""
        scale = self.scale
        x = self.pixels.shape[1] - self.margin
        for label, value in reversed(numbers):
            x -= max(textWidth(label, self.sizeOf(13)), textWidth(value, self.sizeOf(22), True))
            self.write(label, x, 31 * scale, 13)
            self.write(value, x, 57 * scale, 22, INK, bold=True)
            x -= round(34 * scale)
        self.write(name, self.margin, 47 * scale, 30, INK, bold=True, width=x - self.margin)
        self.pixels[round(82 * scale), self.margin : -self.margin] = toBytes(RULE)

    def writeDirection(self, text: str, left: int) -> None:
        """Write from where a picture is seen, below it. left: its left edge."""
        self.write(text, left + 28 * self.scale, self.pixels.shape[0] - 21 * self.scale, 13)

    def writeSides(self, kind: str) -> None:
        """Write the captions of the pictures of reference and test."""
        middle, gap, y = self.room // 2, 8 * self.scale, (88 + 15) * self.scale
        for start, side, other in ((0, "Reference", "test"), (middle, "Test", "reference")):
            used = self.write(side, start + self.margin, y, 15, INK, bold=True)
            note, longer = f"colored by {kind}", f"colored by {kind}, with the outline of the {other}"
            if kind not in ("hazard", "dose"):
                distance = "bidirectional local distance" if kind == "bld" else "distance"
                note = f"colored by {distance} to the {other}"
                longer = f"{note}, whose outline is drawn"
            room = middle - self.margin - used - gap
            note = longer if textWidth(longer, self.sizeOf(14)) <= room else note
            self.write(note, start + self.margin + used + gap, y, 14, width=room)

    def drawShapes(self, shapes: Sequence[Shape], directions: Sequence[Direction], coloring: Coloring) -> None:
        """Draw shapes side by side, each from its direction, two with the outline of the other one; legend and cube."""
        hasOutlines = any(shape is not shapes[0] for shape in shapes)
        half = self.room // len(shapes)
        points = np.concatenate([shape.points for shape in shapes])
        lines = []
        fields = [self.pixels[round(88 * self.scale) :, n * half : (n + 1) * half] for n in range(len(shapes))]
        for field, shape, direction in zip(fields, shapes, directions, strict=True):
            camera = fit(points, direction, (half, field.shape[0]), AREA)
            if shape.triangles.shape[1] == 2:
                radius = LINE_WIDTH / 2 * np.ptp(points, axis=0).max()
                toward = axesToward(direction)[2]
                bands = [linesOf(*shape[:3], toward, radius * part) for part in (1, THIN)]
                draw(field, bands[0], camera, coloring.colors, isLit=False)
                lines.append(draw(field.copy(), bands[1], camera, coloring.colors) if hasOutlines else None)
            else:
                share = draw(field, shape, camera, coloring.colors, finer=1)
                smoothEdges(field)
                lines.append(_edge(share, 0.8 * self.scale) if hasOutlines else None)
        for field, line in zip(fields, lines[::-1], strict=True):
            if line is not None:
                where = np.nonzero(line)
                share = 0.9 * line[where][:, None]
                field[where] = np.rint(field[where] * (1 - share) + 255 * np.array(INK) * share)
        self._drawLegend(coloring)
        self._drawCube(directions[0])

    def addSlices(self, comparison, image: GrayImage) -> None:
        """Add slices below, if there are any: both contours on the image, through the place of the largest distance."""
        found = picturesOf(comparison)
        if not found:
            return
        windows = windowsOf(found, largestOf(comparison).distance, extentOf(comparison))
        scale, margin, (top, width, _) = self.scale, self.margin, self.pixels.shape
        across = min((width - 4 * margin) // 3, round(1.35 * ACROSS * scale))
        zoom = across / ACROSS
        down, head = round(DOWN * zoom), round(HEAD * scale)
        strip = np.tile(toBytes(BACKGROUND), (head + down + round(FOOT * scale), width, 1))
        self.pixels = np.concatenate([self.pixels, strip])
        strip, gray = self.pixels[top:], Gray(image)
        low, high = PRESETS["soft tissue"] if image.isHounsfield else image.range()
        left = (width - len(found) * across - (len(found) - 1) * margin) // 2
        for number, (picture, window, sides) in enumerate(zip(found, windows, contoursOf(found, windows), strict=True)):
            start = left + number * (across + margin)
            field = strip[head : head + down, start : start + across]
            values = gray.sample(window.planeOf(picture.view, picture.place, picture.at), down, across)
            shade = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1)) * 255
            field[:] = np.rint(shade)[..., None]
            for lines, color in zip(sides, ON_IMAGE, strict=True):
                for line in lines:
                    points = np.pad(line.points * zoom, ((0, 0), (0, 1)))
                    cells = np.stack([np.arange(len(points)), np.roll(np.arange(len(points)), -1)], axis=1)
                    band = linesOf(points, cells, np.zeros(len(points)), np.array([0.0, 0.0, 1.0]), LINE * scale / 2)
                    draw(field, band, FLAT, color, isLit=False)
            self.write(captionOf(picture.view, picture.at), start, top + round(46 * scale), 14, INK)
        x = left
        for text, color in zip(REFERENCE_AND_TEST, ON_IMAGE, strict=True):
            strip[round(10 * scale) : round(14 * scale), x : x + round(26 * scale)] = toBytes(rgb(color))
            x += round(32 * scale)
            x += self.write(text, x, top + round(17 * scale), 14) + round(20 * scale)

    def _drawLegend(self, coloring: Coloring) -> None:
        """Draw a scale of the colors with its title in the upper right."""
        scale, size, (low, high) = self.scale, self.sizeOf(14), coloring.ends
        top, bottom = round(180 * scale), round(483 * scale)
        right = self.pixels.shape[1] - round(25 * scale)
        left = right - round(21 * scale)
        self.pixels[top:bottom, left:right] = np.rint(coloring.colors(np.linspace(high, low, bottom - top)))[:, None]
        if coloring.isOfWords:
            step = (high - low) / len(coloring.legend.bands)
            labels = [(name, low + (number + 0.5) * step) for number, name in enumerate(coloring.legend.bands)]
        else:
            labels = [(f"{value:g}".replace("-", "\N{MINUS SIGN}"), value) for value in np.linspace(low, high, 5)]
        for text, value in labels:
            y = bottom - (value - low) / (high - low) * (bottom - top)
            self.write(text, left - 6 * scale - textWidth(text, size), y + 0.36 * size, 14, INK)
        lines = coloring.title.split("\n")
        for number, line in enumerate(lines):
            y = top - 14 * scale - (len(lines) - 1 - number) * 1.25 * size
            self.write(line, right - textWidth(line, size), y, 14, INK)

    def _drawCube(self, direction: Direction) -> None:
        """Draw a cube that names the sides of the patient in the lower right."""
        axes = axesToward(direction)
        middle = np.array(self.pixels.shape[1::-1]) - 76 * self.scale
        camera = Camera(axes, np.zeros(3), middle, 64 * self.scale)
        for letter, normal in SIDES.items():
            if axes[2] @ normal < 1e-6:
                continue
            face = axesToward(normal)
            corners = np.array([(-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.5), (-0.5, 0.5, 0.5)]) @ face
            square = Shape(corners, np.array([(0, 1, 2), (0, 2, 3)]), np.zeros(4), isClosed=False)
            draw(self.pixels, square, camera, CUBE)
            text = vtkVectorText()
            text.SetText(letter)
            text.Update()
            outline: vtkPolyData = text.GetOutput()
            points = vtk_to_numpy(outline.GetPoints().GetData()) * (1.0, -1.0, 0.0)
            low, high = points.min(axis=0), points.max(axis=0)
            points = ((points - (low + high) / 2) * 0.6 / (high - low).max() + (0, 0, 0.51)) @ face
            letters = Shape(points, triangleIndices(outline), np.zeros(len(points)), isClosed=False)
            draw(self.pixels, letters, camera, LETTERS)


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


def toBytes(color: tuple[float, float, float]) -> np.ndarray:
    """Return a color of 0 to 1 as bytes (3,)."""
    return np.rint(255 * np.array(color)).astype(np.uint8)
