"""Pictures of slices through the place of the largest distance: both contours as measured, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base.markup import Markup, fill, join
from ...base.texts import LETTERS_OF_AXES, shortest
from ...case.comparison import Comparison
from ...distances.surfacedistances import TIE_TOLERANCE
from ...metrics.measurement import roundText
from ...model.structures import REFERENCE_AND_TEST
from ..charts import INSIDE, OUTSIDE
from ..distributions import roundBelow
from . import sliceviews
from .blocks import NOTHING, fromFile
from .gray import AUTOMATIC, Gray, Plane, idOf, jpeg
from .sliceviews import Largest, Picture, Polyline, SliceView

# Position and size of the window of a picture in pixels; letters surround it, and the scale bar is below.
LEFT, TOP, ACROSS, DOWN, BELOW = 18, 21, 264, 244, 27
# Pixels between contours and the edge of the window.
ROOM = 14
# Tolerance for thinning lines and resolution of coordinates, in pixels; together the error is less than 0.2.
THINNED, STEP = 0.12, 0.1
# The same for thumbnails, on pages about many cases.
SMALL_THINNED = 1.2
# Maximum points of all lines in a set of pictures; if there are more, for example for noise, lines are thinned further.
MOST_POINTS = 2500
# If the contours' extent exceeds MOST_DISTANCES times the largest distance, which would be too small to see, only a
# part is shown: SHOWN_DISTANCES times the largest distance, but at least the fraction LEAST_PART of the extent.
MOST_DISTANCES, SHOWN_DISTANCES, LEAST_PART = 30, 15, 0.4
# The window covers at least this fraction of the surfaces' extent, so that the tip of one is recognizable as a tip.
LEAST_EXTENT = 0.15
# The colors of the reference and the test on an image.
ON_IMAGE = "#4fc3ff", "#ffab40"
# Maximum length of the scale bar in pixels.
LONGEST_BAR = 62
# The mark of the largest distance in the legend.
LARGEST = Markup(
    '<g class="mark"><path d="M6 6h20"/><circle class="end" cx="26" cy="6" r="1.5"/><circle cx="6" cy="6" r="5"/></g>'
)


class Window(NamedTuple):
    """The visible part of a plane.

    center: (2,) mm from the place. scale: pixels per mm. isPart: not all is visible. size: across and down, pixels.
    """

    center: np.ndarray
    scale: float
    isPart: bool
    size: tuple[int, int] = (ACROSS, DOWN)

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Convert points (n, 2) of the plane to pixels of the window."""
        return (points - self.center) * self.scale + np.array(self.size) / 2

    def line(self, line: Polyline) -> Polyline:
        """Convert a line of the plane to one in pixels of the window."""
        return Polyline(self.pixels(line.points), line.isClosed)

    def frame(self, view: SliceView) -> dict[str, Any]:
        """Return what surrounds the window in a picture, by the placeholders of its template."""
        across, down = self.size
        return {
            "width": across + 2 * LEFT,
            "height": TOP + down + BELOW,
            "left": LEFT,
            "top": TOP,
            "across": across,
            "down": down,
            "columns": round(across / STEP),
            "rows": round(down / STEP),
            "letters": letters(view, self.size),
            "bar": barOf(self.scale, down),
        }

    def planeOf(self, view: SliceView, place: np.ndarray, at: float) -> Plane:
        """Return the rectangle in the patient that the window shows. place: (3,) LPS mm. at: LPS of the plane, mm."""
        width, height = np.array(self.size) / self.scale
        corner = place + view.axes[:, :2] @ (self.center - np.array([width, height]) / 2)
        corner[view.axis] = at
        return Plane(corner, view.axes[:, 0], view.axes[:, 1], float(width), float(height))


def slicePictures(comparison: Comparison, name: str, gray: Gray | None = None) -> Markup:
    """Return the slices through the place of the largest distance, or nothing for contours in an oblique plane.

    For equal boundaries, the slices are through their center. name: a prefix for HTML IDs that is unique in the page.
    gray: the image to show under the contours, or None.
    """
    found, largest = sliceviews.picturesOf(comparison), sliceviews.largestOf(comparison)
    if not found:
        return NOTHING
    windows = windowsOf(found, largest.distance, extentOf(comparison))
    images, automatic = [NOTHING] * len(found), NOTHING
    if gray is not None:
        codes = [
            gray.codes(window.planeOf(picture.view, picture.place, picture.at), 0.5 / window.scale)
            for picture, window in zip(found, windows, strict=True)
        ]
        boxes = np.array([direction.surface.box for direction in comparison.knownDistances.directions])
        first = gray.firstWindow(boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0))
        images, automatic = [underlay(one, first, name) for one in codes], gray.filters(codes, name)
    figures = []
    for picture, window, sides, image in zip(found, windows, contoursOf(found, windows), images, strict=True):
        caption, notes = captionOf(picture.view, picture.at), _notes(picture, largest, window)
        told = "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
        contours = _contours(sides, f"{name}{picture.view.name[0]}")
        figures.append(
            fromFile(
                "slice",
                **window.frame(picture.view),
                title=f"{caption}. {largest.sentence() if largest.isAny else 'The contours are equal.'}{told}",
                contours=join((image, contours)),
                mark=_mark(picture, window) if largest.isAny else "",
                caption=caption,
                notes=fill(" <small>$notes</small>", notes="; ".join(notes)) if notes else "",
            )
        )
    title = "through the place of the largest distance" if largest.isAny else "through the middle"
    return fromFile(
        "cuts",
        kind="cuts imaged" if gray else "cuts",
        colors=colors(gray),
        heading=f"Slice{'s' if len(found) > 1 else ''} {title}",
        filters=automatic,
        legend=legend(largest, gray is not None),
        slices=join(figures),
    )


def extentOf(comparison: Comparison) -> float:
    """Return the longest side in mm of the boxes around both boundaries."""
    boxes = (direction.surface.box for direction in comparison.knownDistances.directions)
    return max(float(np.max(high - low)) for low, high in boxes)


def underlay(codes: np.ndarray, gray: str, name: str, size: tuple[int, int] = (ACROSS, DOWN)) -> Markup:
    """Return an image that fills the window of a picture; without codes, its frame for a script.

    gray: the window of gray values in which it is first shown. name: prefix of the automatic one's filter. size: of the
    picture's window in pixels.
    """
    across, down = (round(side / STEP) for side in size)
    image = (
        '<image class="gray" width="$across" height="$down" preserveAspectRatio="none" data-own="$own" '
        'filter="url(#$filter)" href="data:image/jpeg;base64,$data"/>'
    )
    data = jpeg(codes) if len(codes) else ""
    return fill(image, across=across, down=down, own=idOf(AUTOMATIC, name), filter=idOf(gray, name), data=data)


def colors(gray: Gray | None) -> Markup:
    """Return the colors of both contours as style: lighter ones on the dark of an image."""
    reference, test = (INSIDE, OUTSIDE) if gray is None else ON_IMAGE
    return fill("--reference:$reference;--test:$test", reference=reference, test=test)


def windowsOf(pictures: Sequence[Picture], distance: float, extent: float) -> list[Window]:
    """Return windows of pictures, in one scale. distance: the largest, extent: longest side of boundaries, in mm."""
    boxes, scale, windows = [], np.inf, []
    room = np.array([ACROSS, DOWN]) - 2 * ROOM
    for picture in pictures:
        # all that it shows, mm from the place
        places = [np.zeros((1, 2)), *(line.points for lines in picture.contours for line in lines)]
        points = np.concatenate(places if picture.end is None else [*places, picture.end[None]])
        low, high = points.min(axis=0), points.max(axis=0)
        boxes.append((low, high))
        whole, most = float((high - low).max()), np.inf
        if distance > TIE_TOLERANCE and whole > MOST_DISTANCES * distance:
            most = max(SHOWN_DISTANCES * distance, LEAST_PART * whole)
        shown = np.maximum(np.minimum(high - low, most), LEAST_EXTENT * extent)
        scale = min(scale, float((room / shown).min()))
    for picture, (low, high) in zip(pictures, boxes, strict=True):
        # use the whole window, even if it is larger than the chosen part
        shown = np.minimum(high - low, room / scale)
        middle = np.zeros(2) if picture.end is None else picture.end / 2
        center = np.clip(middle, low + shown / 2, high - shown / 2)
        windows.append(Window(center, scale, bool((shown < (high - low) * (1 - 1e-9)).any())))
    return windows


def contoursOf(pictures: Sequence[Picture], windows: Sequence[Window]) -> list[list[list[Polyline]]]:
    """Return both contours of pictures as thinned lines in pixels of their windows."""
    # thin the lines of all pictures at once, which takes no longer than for one
    pairs = list(zip(pictures, windows, strict=True))
    every = [window.line(line) for picture, window in pairs for lines in picture.contours for line in lines]
    thinned = iter(sliceviews.thinToFew(every, THINNED, MOST_POINTS))
    return [[[next(thinned) for _ in lines] for lines in picture.contours] for picture in pictures]


def pathOf(lines: Sequence[Polyline]) -> str:
    """Return lines in pixels as the data of an SVG path, in units of STEP pixels."""
    parts = []
    for points, isClosed in lines:
        if not len(points):
            continue
        places = np.rint(points / STEP).astype(int)
        moves = np.diff(places, axis=0)
        steps = moves[moves.any(axis=1)].ravel().tolist() or [0, 0]  # a single point is drawn as a dot
        start = " ".join(map(str, places[0].tolist()))
        text = f"M{start}l{' '.join(map(str, steps))}{'z' if isClosed else ''}"
        parts.append(text.replace(" -", "-"))
    return "".join(parts)


def captionOf(view: SliceView, at: float) -> str:
    """Return the name of a plane, and its LPS coordinate as the patient's side and mm, for finding it in a viewer."""
    return f"{view.name.capitalize()}, {letterToward(view, at)} {roundText(abs(at), 1)} mm"


def letterToward(view: SliceView, value: float) -> str:
    """Return the letter of the patient's side for the sign of an LPS coordinate along the normal of a plane."""
    return LETTERS_OF_AXES[view.axis][int(value > 0)]


def _notes(picture: Picture, largest: Largest, window: Window) -> list[str]:
    notes = ["a part of the contours"] if window.isPart else []
    other = REFERENCE_AND_TEST[1 - REFERENCE_AND_TEST.index(largest.side)]
    notes += [f"no {side} in this plane" for side, lines in zip(REFERENCE_AND_TEST, picture.contours) if not lines]
    if picture.moved:
        off = f"{roundText(abs(picture.moved), 1)} mm toward {letterToward(picture.view, picture.moved)}"
        notes.append(f"moved {off}, as the place itself lies at a tip")
    if largest.isAny and picture.end is None:
        away = f"{roundText(abs(picture.behind), 1)} mm toward {letterToward(picture.view, picture.behind)}"
        notes.append(f"nearest {other} point {away}")
    return notes


def _contours(sides: Sequence[Sequence[Polyline]], name: str) -> Markup:
    """Return both contours as SVG; the area enclosed by only one of them is filled with its color."""
    used, lines, areas = [], [], []
    for side, own in zip(REFERENCE_AND_TEST, sides, strict=True):
        if any(len(line.points) for line in own):
            words = {"id": f"{name}{side[0]}", "side": side}
            used.append(fill('<path id="$id" d="$path"/>', **words, path=pathOf(own)))
            lines.append(fill('<use href="#$id" class="$side"/>', **words))
            # open lines enclose nothing
            if all(line.isClosed for line in own):
                areas.append(fill('<use href="#$id" class="only $side"/>', **words))
    if len(areas) == len(REFERENCE_AND_TEST):
        clip = '<clipPath id="${name}c"><use href="#${name}r" clip-rule="evenodd"/></clipPath>'
        used.append(fill(clip, name=name))
        areas.append(fill('<use href="#${name}t" class="both" clip-path="url(#${name}c)"/>', name=name))
    return fill("<defs>$used</defs>$drawn", used=join(used), drawn=join((*areas, *lines)))


def _mark(picture: Picture, window: Window) -> Markup:
    """Return the ring around the place, and the line to the nearest place on the other boundary, as SVG."""
    places = [np.zeros(2)] if picture.end is None else [np.zeros(2), picture.end]
    pixels = np.round(window.pixels(np.array(places)) + np.array([LEFT, TOP]), 1).tolist()
    (x, y), *ends = ([f"{n:g}" for n in place] for place in pixels)
    mark = f'<circle cx="{x}" cy="{y}" r="5"/>'
    for a, b in ends:
        mark = f'<path d="M{x} {y}L{a} {b}"/><circle class="end" cx="{a}" cy="{b}" r="1.5"/>{mark}'
    return Markup(f'<g class="halo">{mark}</g><g class="mark">{mark}</g>')


def letters(view: SliceView, size: tuple[int, int]) -> Markup:
    """Return the letters of the patient's sides around a window as SVG. size: of the window in pixels."""
    across, down = size
    middle, height = LEFT + across / 2, TOP + down / 2
    places = [(LEFT / 2, height), (across + 1.5 * LEFT, height), (middle, TOP / 2), (middle, TOP + down + 12)]
    parts = (f'<text x="{x:g}" y="{y + 4.5:g}">{one}</text>' for one, (x, y) in zip(view.letters, places))
    return Markup("".join(parts))


def barOf(scale: float, down: int = DOWN) -> Markup:
    """Return the scale bar below a window as SVG. down: height of the window in pixels."""
    length, y = roundBelow(LONGEST_BAR / scale), TOP + down + 12
    width = round(length * scale, 1)
    text = f'<text class="scale" x="{LEFT + width + 7:g}" y="{y + 4.5:g}">{shortest(length)} mm</text>'
    return Markup(f'<path class="bar" d="M{LEFT + 1} {y - 4}v8m0-4h{width:g}m0-4v8"/>{text}')


def legend(largest: Largest, isImaged: bool = False) -> Markup:
    """Return the legend of lines, colors and marks. isImaged: whether there is an image, and nothing hides it."""
    line, area = '<path class="$side" d="M1 6h30"/>', '<rect class="only $side" x="1" y="1" width="14" height="10"/>'
    samples = [(fill(line, side=side), 32, side) for side in REFERENCE_AND_TEST]
    if not isImaged:
        samples += [(fill(area, side=side), 16, f"only {side}") for side in REFERENCE_AND_TEST]
    if largest.isAny:
        samples.append((LARGEST, 28, f"largest distance, {roundText(largest.distance, 2)} mm"))
    frame = '<svg aria-hidden="true" width="$width" height="12" viewBox="0 0 $width 12">$drawing</svg>'
    return join(fill(f"<span>{frame} $text</span> ", width=wide, drawing=one, text=text) for one, wide, text in samples)


def thumbnail(comparison: Comparison) -> dict | None:
    """Return both contours in a slice through the largest distance, None if there is none.

    They are data of SVG paths, as of pathOf(), with the name of the plane.
    """
    pictures = [] if comparison.distances is None else sliceviews.picturesOf(comparison)
    if not pictures:
        return None
    # at the upper or lower end, the axial slice has only one of the two
    picture = next((one for one in pictures if all(one.contours)), pictures[0])
    return _thumbnailOf(picture, sliceviews.largestOf(comparison).distance, extentOf(comparison))


def typical(comparison: Comparison) -> dict | None:
    """Return both contours in a typical slice, as thumbnail() does: the one whose mean distance is the median.

    Without slices it is the one in the middle. None for contours in a plane, which have only one.
    """
    if comparison.distances is None or comparison.dimension == 2:
        return None
    surfaces = [direction.surface for direction in comparison.distances.directions]
    boxes = np.array([surface.box for surface in surfaces])
    view, place = sliceviews.VIEWS[0], boxes.mean(axis=(0, 1))
    shared = sorted((row for row in comparison.slices if not row.only), key=lambda row: row["MASD"])
    if shared:
        view, _ = sliceviews.viewAcross(comparison)
        place[view.axis] = shared[len(shared) // 2].place[view.axis]
    extent = float(np.ptp(boxes, axis=(0, 1)).max())
    to = sliceviews.BESIDE * extent
    before = [sliceviews.cutBeside(surface, place, view.axes, to)[0] for surface in surfaces]
    contours = sliceviews.joinSegments(before[0]), sliceviews.joinSegments(before[1])
    picture = Picture(view, place, float(place[view.axis]), contours, None, 0.0)
    return _thumbnailOf(picture, 0.0, extent) if all(contours) else None


def _thumbnailOf(picture: Picture, distance: float, extent: float) -> dict:
    """Return the contours of a picture as data of SVG paths. distance, extent: as of windowsOf()."""
    (sides,) = contoursOf([picture], windowsOf([picture], distance, extent))
    reference, test = (pathOf(sliceviews.thinLines(lines, SMALL_THINNED)) for lines in sides)
    return {"view": picture.view.name, "reference": reference, "test": test}
