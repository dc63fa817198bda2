"""The picture of a comparison: both surfaces colored by distance, side by side, with the main numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkStripper, vtkTubeFilter

from ..base.errors import InputError
from ..base.texts import shortest
from ..geometry.grids import RAS_FROM_LPS
from ..model.grayimages import GrayImage
from ..model.naming import pairTitle
from ..model.structures import REFERENCE_AND_TEST
from . import colors, outputs, variationmaps
from .conversion import noteOf, withNormals
from .headless import privateScene
from .lettering import INK, PALE_INK, textWidth, writeText
from .slicestrip import sliceStrip
from .views import ANTERIOR_LEFT, ThreeDView, startOpenGLCheck, viewAxes, writePng

# Candidate directions toward the viewer (RAS). The first is preferred; the others show what it would hide.
DIRECTIONS = {
    "the patient's left and front": ANTERIOR_LEFT,
    "the patient's right and front": (0.5, 0.8, 0.3),
    "the patient's left and back": (-0.5, -0.8, 0.3),
    "the patient's right and back": (0.5, -0.8, 0.3),
    "the patient's left, front and feet": (-0.5, 0.7, -0.55),
    "the patient's right, front and feet": (0.5, 0.7, -0.55),
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
    "the patient's left": (-1, 0, 0),
    "the patient's front": (0, 1, 0),
    "the patient's feet": (0, 0, -1),
}

BACKGROUND = (0.985, 0.988, 0.992)
LINE = (0.86, 0.88, 0.90)
# The area of a picture that the structure fills: left, bottom, right, top as fractions.
AREA = (0.06, 0.09, 0.94, 0.9)
SMALLEST = (640, 400)
# Samples per pixel for pictures of lines.
LINE_SAMPLES = 8


class ViewCache:
    """Views that are reused for drawing several pictures; close it, or use it in a with statement.

    Creating a view takes longer than drawing a picture. Nothing of a drawn picture remains in a view.
    """

    def __init__(self) -> None:
        self._views: dict[int, ThreeDView] = {}

    def view(self, samples: int) -> ThreeDView:
        """Return an empty view with this number of samples per pixel; its size and camera are arbitrary.

        Raises NoOpenGLError on a machine that cannot draw.
        """
        if samples not in self._views:
            self._views[samples] = ThreeDView(privateScene(), background=(BACKGROUND, BACKGROUND), samples=samples)
        return self._views[samples]

    def close(self) -> None:
        """Release the views; drawing again creates new ones."""
        while self._views:
            self._views.popitem()[1].close()

    def __enter__(self) -> ViewCache:
        return self

    def __exit__(self, *error) -> None:
        self.close()


class Coloring(NamedTuple):
    """How maps are colored. kind, tolerance: as for outputs.showDistanceMap. limit: the end of the scale in mm.

    hasSides: whether distances have signs.
    """

    kind: str
    limit: float
    tolerance: float
    hasSides: bool


class Overlay:
    """The picture of a comparison before it is drawn. It does not keep the comparison alive.

    The reference's surface is on the left, the test's on the right. Both are colored by the distance to the other one,
    seen from the direction that shows the differences best, and overlaid with the outline of the other one. They are
    drawn as Slicer shows them, or around their voxels if smoothing would shrink them, which is written above. size:
    width and height in pixels, at least 640 x 400. kind, range, tolerance: as for outputs.showDistanceMap. Slicer's
    scene is not changed. image: what the contours were drawn on, to add slices of it with the contours below, or None.
    Raises NoOpenGLError on a machine that cannot draw, ValueError for wrong arguments and if there are no distances.
    """

    def __init__(
        self,
        comparison,
        size: tuple[int, int] = (1200, 700),
        kind: str = "signed",
        range: float | None = None,
        tolerance: float | None = None,
        image: GrayImage | None = None,
    ) -> None:
        if any(given < least for given, least in zip(size, SMALLEST, strict=True)):
            raise InputError(f"An overlay picture needs at least 640 x 400 pixels, not {size[0]} x {size[1]}.")
        limit, tolerance = outputs.checkedLimits(comparison, kind, range, tolerance)
        comparison.distances.forget()  # its caches are not needed after computing the limits
        startOpenGLCheck()  # runs while the surfaces are created
        self._size, self._maps = size, visibleMaps(comparison, kind)
        if comparison.dimension == 2:
            seenFrom, direction = sliceDirection(comparison.reference.surface.normal)
        else:
            seenFrom = bestDirection(self._maps, *_seen(kind, limit))
            direction = np.array(DIRECTIONS[seenFrom])
        self._seenFrom, self._direction = seenFrom, direction
        self._coloring = Coloring(kind, limit, tolerance, comparison.distances.hasSides)
        self._names = pairTitle((comparison.reference.name, comparison.test.name))
        self._numbers = mainNumbers(comparison, tolerance, kind)
        self._strip = None
        if image is not None:
            self._strip = sliceStrip(comparison, image, size[0], _scaleOf(size), _bytes(BACKGROUND))

    def write(self, path: str | Path, cache: ViewCache) -> Path:
        """Draw the picture, write it as PNG and return the path. Raises OSError if the file cannot be written."""
        width, height = self._size
        scale = _scaleOf(self._size)
        header = round(88 * scale)
        strip = round(150 * scale)  # on the right, for the legend and the orientation marker
        canvas = np.tile(_bytes(BACKGROUND), (height, width, 1))
        view = cache.view(LINE_SAMPLES if _isPlanar(self._maps) else 0)
        _drawMaps(view, canvas[header:], self._maps, 2 * (self._direction,), strip, self._coloring, scale)
        edges = ((width - strip) // 2, header)
        _writeHeader(canvas, self._names, self._numbers, scale)
        _writeSides(canvas, edges, scale, self._coloring.kind)
        _writeNotes(canvas, self._maps, edges, scale)
        _writeDirection(canvas, self._seenFrom, 0, scale)
        return writePng(canvas if self._strip is None else np.concatenate([canvas, self._strip]), path)


class VariationPicture:
    """The picture of where observers differ, before it is drawn: the consensus from two sides, colored by the local SD.

    found: an ObservedStructure with a variation. size: as for Overlay. Raises NoOpenGLError on a machine that cannot
    draw.
    """

    def __init__(self, found, size: tuple[int, int] = (1200, 700)) -> None:
        startOpenGLCheck()
        self._size, self._map = size, withNormals(variationmaps.variationMap(found))
        self._coloring = Coloring("sd", variationmaps.limitOf(found), 0.0, True)
        if found.consensus.dimension == 2:
            self._seenFrom = [sliceDirection(found.variation.surface.normal)]
        else:
            first = bestDirection([self._map], self._coloring.limit, colors.ARRAYS["sd"], SIDEWAYS)
            self._seenFrom = [(name, np.array(DIRECTIONS[name])) for name in (first, SIDEWAYS[first])]
        self._names = found.name
        self._numbers = [
            ("observers", str(len(found.variation.distances))),
            ("local SD", f"{found.variation.rootMeanSquareSD:.2f} mm"),
            ("95 % within", f"{found.variation.percentile95SD:.2f} mm"),
        ]

    def write(self, path: str | Path, cache: ViewCache) -> Path:
        """Draw the picture, write it as PNG and return the path. Raises OSError if the file cannot be written."""
        width, height = self._size
        scale = _scaleOf(self._size)
        header, strip = round(88 * scale), round(150 * scale)
        canvas = np.tile(_bytes(BACKGROUND), (height, width, 1))
        views = [direction for _, direction in self._seenFrom]
        maps = [self._map] * len(views)
        view = cache.view(LINE_SAMPLES if _isPlanar(maps) else 0)
        _drawMaps(view, canvas[header:], maps, views, strip, self._coloring, scale, hasOutlines=False)
        _writeHeader(canvas, self._names, self._numbers, scale)
        _writeNotes(canvas, [self._map], (width - strip, header), scale)
        for number, (name, _) in enumerate(self._seenFrom):
            _writeDirection(canvas, name, number * ((width - strip) // len(views)), scale)
        return writePng(canvas, path)


def _scaleOf(size: tuple[int, int]) -> float:
    """Return the scale of text and lines in a picture of a size in pixels."""
    return min(size[0] / 1200, size[1] / 700)


def visibleMaps(comparison, kind: str = "signed") -> list[vtkPolyData]:
    """Return the distance maps of both sides, each on the surface that conversion.drawnSurface() returns, with normals.

    kind: as for outputs.showDistanceMap.
    """
    maps = (outputs.distanceMap(comparison, side, withLocal=kind == "bld") for side in REFERENCE_AND_TEST)
    return [withNormals(surface) for surface in maps]


def bestDirection(
    maps: list[vtkPolyData], limit: float, array: str = "Distance", names: Iterable[str] = DIRECTIONS
) -> str:
    """Return the name of the direction in DIRECTIONS from which the largest values are seen best.

    maps: surfaces with normals and the point array. limit: values are clipped to this maximum. array: name of the point
    array. names: of the directions to choose from.
    """
    names = list(names)
    toward = np.array([viewAxes(DIRECTIONS[name])[2] for name in names])
    seen = np.zeros(len(names))
    for surface in maps:
        weight = np.minimum(vtk_to_numpy(surface.GetPointData().GetArray(array)), limit) ** 2
        seen += weight @ np.maximum(vtk_to_numpy(surface.GetPointData().GetNormals()) @ toward.T, 0)
    best = int(seen.argmax())
    return names[best if seen[best] > PREFERENCE * seen[0] else 0]


def _seen(kind: str, limit: float) -> tuple[float, str]:
    """Return the largest value that matters and the point array of a kind of map, signs aside."""
    return 1.0 if kind == "hazard" else limit, {"hazard": "Hazard", "bld": "BLD", "dose": "Dose"}.get(kind, "Distance")


def sliceDirection(normal: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the viewing direction of contours with a normal (3,) in LPS: its name and its vector (3,) in RAS."""
    normal = np.asarray(normal) @ RAS_FROM_LPS[:3, :3]
    along = {name: float(normal @ direction) for name, direction in SLICE_DIRECTIONS.items()}
    name = max(along, key=lambda key: abs(along[key]))
    return name, normal * np.sign(along[name])


def _isPlanar(maps: list[vtkPolyData]) -> bool:
    return maps[0].GetNumberOfPolys() == 0


def _drawMaps(
    view: ThreeDView,
    canvas: np.ndarray,
    maps: list,
    directions: Sequence,
    strip: int,
    coloring: Coloring,
    scale: float,
    hasOutlines: bool = True,
) -> None:
    """Draw maps side by side, each from its direction, and the strip with legend and orientation on the right.

    hasOutlines: whether two maps are drawn with the outline of the other one.
    """
    height, width = canvas.shape[:2]
    half = (width - strip) // len(maps)
    points = np.concatenate([vtk_to_numpy(surface.GetPoints().GetData()) for surface in maps])
    thickness = 0.006 * np.ptp(points, axis=0).max()
    view.resize((half, height))
    images, lines = [], []
    for surface, direction in zip(maps, directions, strict=True):
        view.lookFrom(direction, points, AREA)
        if _isPlanar(maps):
            images.append(_imageOf(view, tube(surface, thickness), coloring))
            if hasOutlines:
                thin = _imageOf(view, tube(surface, 0.2 * thickness), coloring)
                lines.append(_softened(_covered(thin, canvas)))
        else:
            images.append(_imageOf(view, surface, coloring))
            lines.append(_edge(_covered(images[-1], canvas), 0.8 * scale))
    for n, image in enumerate(images):
        if not hasOutlines:
            canvas[:, n * half : (n + 1) * half] = image
            continue
        where = np.nonzero(lines[1 - n])
        share = 0.9 * lines[1 - n][where][:, None]
        image[where] = np.rint(image[where] * (1 - share) + 255 * np.array(INK) * share)
        canvas[:, n * half : (n + 1) * half] = image

    # The strip shows only the legend of a model without geometry and the orientation marker.
    with _hiddenMap(view.scene, vtkPolyData(), coloring) as empty:
        empty.GetDisplayNode().SetVisibility(True)
        _printLegend(colors.legendOf(empty), width - len(maps) * half, scale, coloring)
        left = len(maps) * half
        view.resize((width - left, height))
        view.lookFrom(directions[0], points)
        view.showOrientationMarker()
        canvas[:, left:] = view.image()
        view.showOrientationMarker("None")


def tube(contours: vtkPolyData, radius: float) -> vtkPolyData:
    """Return contours (lines) as tubes of a radius in mm with the same point arrays; plain lines look ragged."""
    stripper = vtkStripper()
    stripper.SetInputData(contours)
    stripper.JoinContiguousSegmentsOn()
    filter = vtkTubeFilter()
    filter.SetInputConnection(stripper.GetOutputPort())
    filter.SetRadius(radius)
    filter.SetNumberOfSides(12)
    filter.Update()
    return filter.GetOutput()


@contextmanager
def _hiddenMap(scene, surface: vtkPolyData, coloring: Coloring) -> Iterator:
    """Temporarily add a colored surface to the scene, hidden and with its legend hidden; yield its model node."""
    kind, limit, tolerance, signed = coloring
    model = scene.AddNewNodeByClass("vtkMRMLModelNode")
    model.SetAndObservePolyData(surface)
    outputs.colorMap(model, kind, "reference", limit, tolerance, signed)  # "reference" puts the legend on the right
    legend, display = colors.legendOf(model), model.GetDisplayNode()
    legend.SetVisibility(False)
    display.SetVisibility(False)
    try:
        yield model
    finally:
        for node in (legend, display.GetColorNode(), display, model):
            scene.RemoveNode(node)


def _imageOf(view: ThreeDView, surface: vtkPolyData, coloring: Coloring) -> np.ndarray:
    """Return the picture (height, width, 3) of one colored surface.

    Surfaces are drawn one at a time because the graphics driver needs as much memory for each as the surface itself.
    """
    with _hiddenMap(view.scene, surface, coloring) as model:
        display = model.GetDisplayNode()
        # the inside of a closed surface is never seen, and most of the time is spent on shading
        display.SetBackfaceCulling(coloring.hasSides and surface.GetNumberOfPolys() > 0)
        display.SetVisibility(True)
        actors: Any = view.renderer.GetActors()
        for actor in actors:
            if actor.GetMapper() is not None:
                # interpolate distances rather than colors between points, for clean edges between bands
                actor.GetMapper().SetInterpolateScalarsBeforeMapping(True)
        return view.image()


def _covered(image: np.ndarray, canvas: np.ndarray) -> np.ndarray:
    """Return the foreground of a picture as an array (height, width) of 0 and 1."""
    red, green, blue = (image[..., channel] != value for channel, value in enumerate(canvas[0, 0]))
    return (red | green | blue).astype(np.float32)


def _softened(line: np.ndarray) -> np.ndarray:
    """Return a thin line (height, width) of 0 and 1 with antialiasing."""
    from scipy.ndimage import gaussian_filter

    return np.clip(1.5 * gaussian_filter(line, 0.8), 0, 1)


def _edge(shape: np.ndarray, thickness: float) -> np.ndarray:
    """Return the edge of a shape (height, width) of 0 and 1 as a smooth line in [0, 1]; thickness in pixels."""
    from scipy.ndimage import gaussian_filter

    line = np.zeros_like(shape)
    if not shape.any():
        return line
    # the margin contains the whole line, which extends no farther than the smoothing
    box = tuple(_around(np.asarray(shape.any(axis=across)), 8) for across in (1, 0))
    smooth = gaussian_filter(shape[box], 1.0)
    slope = np.maximum(np.hypot(*np.gradient(smooth)), 1e-3)
    line[box] = np.clip(thickness + 0.5 - np.abs(smooth - 0.5) / slope, 0, 1)
    return line


def _around(isUsed: np.ndarray, margin: int) -> slice:
    """Return the range of nonzero entries along an axis (n,), extended by a margin on both sides."""
    used = np.flatnonzero(isUsed)
    return slice(max(used[0] - margin, 0), used[-1] + 1 + margin)


def _printLegend(legend, strip: int, scale: float, coloring: Coloring) -> None:
    """Place a legend with dark text in the upper part of the strip. strip: its width in pixels."""
    legend.SetTitleText(colors.legendTitle(coloring.kind, coloring.tolerance, coloring.hasSides))
    legend.SetNumberOfLabels(5)
    for style in (legend.GetTitleTextProperty(), legend.GetLabelTextProperty()):
        style.SetColor(*INK)
        style.SetFontFamilyToArial()
        style.SetBold(False)
        style.SetItalic(False)
        style.SetShadow(False)
        style.SetLineSpacing(1.25)
    share = 0.62  # fraction of the strip's width
    legend.SetSize(share, 0.58)
    legend.SetPosition((0.84 - share) / (1 - share), 0.8)
    # as in colors.showLegend: pad the labels with blanks so that their text has the intended size
    size = max(round(14 * scale), 9)
    display = legend.GetDisplayableNode().GetDisplayNode()
    isOfWords = legend.GetUseColorNamesForLabels()
    names = display.GetColorNode()
    first, last = display.GetScalarRange()
    labels = (
        [names.GetColorName(n) or "" for n in range(names.GetNumberOfColors())]
        if isOfWords
        else [f"{value:g}" for value in np.linspace(first, last, legend.GetNumberOfLabels())]
    )
    widest = max(labels, key=lambda label: textWidth(label, size))
    blank = textWidth("0 0", size) - textWidth("00", size)
    blanks = max(round((0.8 * share * strip + 6 - textWidth(widest, size)) / blank), 0)
    legend.SetLabelFormat(f"%{len(widest) + blanks}{'s' if isOfWords else 'g'}")
    legend.SetVisibility(True)


def _sized(points: float, scale: float) -> int:
    return max(round(points * scale), 9)


def _writeDirection(canvas: np.ndarray, seenFrom: str, left: int, scale: float) -> None:
    """Write from where a picture is seen, below it. left: its left edge."""
    place = (left + 28 * scale, canvas.shape[0] - 21 * scale)
    writeText(canvas, f"Seen from {seenFrom}", place, _sized(13, scale), PALE_INK)


def _writeHeader(canvas: np.ndarray, names: str, numbers: list[tuple[str, str]], scale: float) -> None:
    """Write the structure's name and the main numbers."""
    width = canvas.shape[1]
    margin = round(28 * scale)
    x = width - margin
    for label, value in reversed(numbers):
        x -= max(textWidth(label, _sized(13, scale)), textWidth(value, _sized(22, scale), True))
        writeText(canvas, label, (x, 31 * scale), _sized(13, scale), PALE_INK)
        writeText(canvas, value, (x, 57 * scale), _sized(22, scale), INK, bold=True)
        x -= round(34 * scale)
    writeText(canvas, names, (margin, 47 * scale), _sized(30, scale), INK, bold=True, width=x - margin)
    canvas[round(82 * scale), margin : width - margin] = _bytes(LINE)


def _writeSides(canvas: np.ndarray, edges: tuple[int, int], scale: float, kind: str) -> None:
    """Write the captions of the pictures of reference and test. edges: left and top of the right one."""
    left, header = edges
    margin = round(28 * scale)
    for start, side, other in ((0, "Reference", "test"), (left, "Test", "reference")):
        y = header + 15 * scale
        used = writeText(canvas, side, (start + margin, y), _sized(15, scale), INK, bold=True)
        note, longer = f"colored by {kind}", f"colored by {kind}, with the outline of the {other}"
        if kind not in ("hazard", "dose"):
            distance = "bidirectional local distance" if kind == "bld" else "distance"
            note = f"colored by {distance} to the {other}"
            longer = note + ", whose outline is drawn"
        room = left - margin - used - 8 * scale
        note = longer if textWidth(longer, _sized(14, scale)) <= room else note
        writeText(canvas, note, (start + margin + used + 8 * scale, y), _sized(14, scale), PALE_INK, width=room)


def _writeNotes(canvas: np.ndarray, maps: Sequence, edges: tuple[int, int], scale: float) -> None:
    """Write below the captions which maps are not on the surface that Slicer shows. edges: as for _writeSides."""
    (left, header), margin = edges, round(28 * scale)
    for number, surface in enumerate(maps):
        place = (number * left + margin, header + 35 * scale)
        writeText(canvas, noteOf(surface), place, _sized(13, scale), PALE_INK, width=left - margin)


def _bytes(color: tuple[float, float, float]) -> np.ndarray:
    """Return a color with components in [0, 1] as bytes."""
    return np.rint(255 * np.array(color)).astype(np.uint8)


def mainNumbers(comparison, tolerance: float, kind: str = "signed") -> list[tuple[str, str]]:
    """Return labels and values of the main measurements that the comparison has, for the header of a picture."""
    found = comparison.measurements
    if kind == "hazard":
        return [(key, found[key].text()) for key in ("DSC", "wDice", "SIS", "STAR") if key in found]
    if kind == "dose":
        return [(key, found[key].text()) for key in ("DSC", "DmeanDifference", "D95Difference") if key in found]
    tau = shortest(tolerance)
    wanted = {
        f"HD{shortest(percentile)}": f"HD{shortest(percentile)}" for percentile in comparison.settings.percentiles
    }
    wanted |= {"MASD": "MASD", f"NSD_{tau}mm": f"NSD {tau} mm", "DSC": "DSC"}
    return [(label, found[key].text()) for key, label in wanted.items() if key in found]
