"""Pictures of slices through the place of the largest distance: both contours as measured, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...base.coordinates import LETTERS_OF_AXES
from ...base.markup import Markup, filled, joined
from ...base.texts import shortest
from ...case.comparison import Comparison
from ...distances.surfacedistances import TIE_TOLERANCE
from ...metrics.measurement import roundText
from ...model.structures import REFERENCE_AND_TEST
from ..charts import INSIDE, OUTSIDE
from .blocks import NOTHING, fromFile
from .gray import AUTOMATIC, Gray, Plane, idOf, jpeg
from .planecuts import CutLine, clipped, thinned
from .sliceviews import Largest, Picture, SliceView, largestOf, picturesOf

# Size of a picture and position and size of its window in pixels; letters surround it, the scale bar is below.
WIDTH, HEIGHT = 300, 292
LEFT, TOP, ACROSS, DOWN = 18, 21, 264, 244
# Pixels between contours and the edge of the window, and pixels beyond it up to which continuing contours are drawn.
ROOM, BEYOND = 14, 8
# Tolerance for thinning lines and resolution of coordinates, in pixels; together the error is less than 0.2.
THINNED, STEP = 0.12, 0.1
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
    surfaces = [direction.surface for direction in comparison.knownDistances.directions]
    largest = largestOf(comparison)
    found = picturesOf(surfaces, largest)
    if not found:
        return NOTHING
    boxes = np.array([surface.box for surface in surfaces])
    windows = windowsOf(found, largest.distance, float((boxes[:, 1] - boxes[:, 0]).max()))
    images, automatic = _imagesOf(found, windows, boxes, gray, name)
    texts = [
        _figure(picture, sides, window, largest, f"{name}{picture.view.name[0]}", image)
        for picture, sides, window, image in zip(found, drawn(found, windows), windows, images, strict=True)
    ]
    title = "through the place of the largest distance" if largest.isAny else "through the middle"
    return fromFile(
        "cuts",
        kind="cuts imaged" if gray else "cuts",
        colors=colors(gray),
        heading=f"Slice{'s' if len(found) > 1 else ''} {title}",
        filters=automatic,
        legend=legend(largest, gray is not None),
        slices=joined(texts),
    )


def _imagesOf(
    pictures: Sequence[Picture], windows: Sequence[Window], boxes: np.ndarray, gray: Gray | None, name: str
) -> tuple[list[Markup], Markup]:
    """Return what lies under the contours of pictures, nothing without an image, and the filter that it needs.

    boxes: (2, 2, 3) lowest and highest coordinates of both boundaries, LPS mm.
    """
    if gray is None:
        return [NOTHING] * len(pictures), NOTHING
    found = [
        gray.codes(window.planeOf(picture.view, picture.place, picture.at), 0.5 / window.scale)
        for picture, window in zip(pictures, windows, strict=True)
    ]
    first = gray.firstWindow(boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0))
    return [underlay(codes, first, name) for codes in found], gray.automatic(found, name)


def underlay(codes: np.ndarray, gray: str, name: str, size: tuple[int, int] = (ACROSS, DOWN)) -> Markup:
    """Return an image that fills the window of a picture; without codes, its frame for a script.

    gray: the window of gray values in which it is first shown. name: prefix of the automatic one's filter. size: of the
    picture's window in pixels.
    """
    across, down = (round(side / STEP) for side in size)
    return filled(
        '<image class="gray" width="$across" height="$down" preserveAspectRatio="none" data-own="$own" '
        'filter="url(#$filter)" href="data:image/jpeg;base64,$data"/>',
        across=across,
        down=down,
        own=idOf(AUTOMATIC, name),
        filter=idOf(gray, name),
        data=jpeg(codes) if len(codes) else "",
    )


def colors(gray: Gray | None) -> Markup:
    """Return the colors of both contours as style: lighter ones on the dark of an image."""
    reference, test = (INSIDE, OUTSIDE) if gray is None else ON_IMAGE
    return filled("--reference:$reference;--test:$test", reference=reference, test=test)


def windowsOf(pictures: Sequence[Picture], distance: float, extent: float) -> list[Window]:
    """Return the windows of pictures, which have the same scale.

    distance: the largest, in mm. extent: longest side of the boundaries, in mm.
    """
    boxes = list(map(_boxOf, pictures))
    room = np.array([ACROSS, DOWN]) - 2 * ROOM
    scale = min(
        float((room / np.maximum(_shown(low, high, distance), LEAST_EXTENT * extent)).min()) for low, high in boxes
    )
    windows = []
    for picture, (low, high) in zip(pictures, boxes, strict=True):
        # use the whole window, even if it is larger than the chosen part
        shown = np.minimum(high - low, room / scale)
        middle = np.zeros(2) if picture.end is None else picture.end / 2
        center = np.clip(middle, low + shown / 2, high - shown / 2)
        windows.append(Window(center, scale, bool((shown < (high - low) * (1 - 1e-9)).any())))
    return windows


def _boxOf(picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest coordinates (2,) of all that a picture shows, mm from the place."""
    places = [np.zeros((1, 2)), *(line.points for lines in picture.contours for line in lines)]
    if picture.end is not None:
        places.append(picture.end[None])
    points = np.concatenate(places)
    return points.min(axis=0), points.max(axis=0)


def _shown(low: np.ndarray, high: np.ndarray, distance: float) -> np.ndarray:
    """Return the size (2,) in mm of the part of a box that is worth showing. distance: the largest, in mm."""
    sides = high - low
    whole, most = float(sides.max()), np.inf
    if distance > TIE_TOLERANCE and whole > MOST_DISTANCES * distance:
        most = max(SHOWN_DISTANCES * distance, LEAST_PART * whole)
    return np.minimum(sides, most)


def drawn(pictures: Sequence[Picture], windows: Sequence[Window]) -> list[list[list[CutLine]]]:
    """Return both contours of pictures as lines, clipped to the windows, thinned, and in units of STEP pixels."""
    low, high = np.full(2, -BEYOND), np.array([ACROSS, DOWN]) + BEYOND
    inPixels = [
        [
            [clipped(CutLine(window.pixels(line.points), line.isClosed), low, high) for line in lines]
            for lines in p.contours
        ]
        for p, window in zip(pictures, windows, strict=True)
    ]
    # thin the lines of all pictures at once, which takes no longer than for one
    thin = iter(_thinnedToFew([line for sides in inPixels for lines in sides for line in lines]))
    whole = [[[next(thin) for _ in lines] for lines in sides] for sides in inPixels]
    return [
        [[CutLine(np.rint(p / STEP).astype(int), isClosed) for p, isClosed in lines if len(p)] for lines in sides]
        for sides in whole
    ]


def _thinnedToFew(lines: Sequence[CutLine]) -> list[CutLine]:
    """Return thinned lines with at most MOST_POINTS points in all; lines too small to be visible may become empty."""
    tolerance = THINNED
    result = thinned(lines, tolerance)
    while sum(len(line.points) for line in result) > MOST_POINTS:
        tolerance *= 2
        isSeen = [len(points) > 0 and float(np.ptp(points, axis=0).max()) > tolerance for points, _ in result]
        result = thinned(
            [
                line if seen else CutLine(line.points[:0], line.isClosed)
                for line, seen in zip(result, isSeen, strict=True)
            ],
            tolerance,
        )
    return result


def pathOf(lines: Sequence[CutLine]) -> str:
    """Return lines with integer coordinates (n, 2) as the data of an SVG path."""
    parts = []
    for line in lines:
        moves = np.diff(line.points, axis=0)
        steps = moves[moves.any(axis=1)].ravel().tolist() or [0, 0]  # a single point is drawn as a dot
        start = " ".join(map(str, line.points[0].tolist()))
        text = f"M{start}l{' '.join(map(str, steps))}{'z' if line.isClosed else ''}"
        parts.append(text.replace(" -", "-"))
    return "".join(parts)


def barLength(scale: float) -> float:
    """Return the length of the scale bar in mm: 1, 2 or 5 times a power of ten. scale: pixels per mm."""
    longest = LONGEST_BAR / scale
    decade = 10.0 ** np.floor(np.log10(longest))
    factor = max(factor for factor in (1, 2, 5) if factor * decade <= longest * (1 + 1e-9))
    return float(f"{factor * decade:.1g}")


def _figure(
    picture: Picture,
    sides: Sequence[Sequence[CutLine]],
    window: Window,
    largest: Largest,
    name: str,
    image: Markup = NOTHING,
) -> Markup:
    """Return a picture with its caption.

    sides: lines to draw, by side. name: prefix of the IDs in it. image: what lies under the lines.
    """
    caption = f"{picture.view.name.capitalize()}, {_heightText(picture)}"
    notes = _notes(picture, largest, window)
    told = "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
    return fromFile(
        "slice",
        width=WIDTH,
        height=HEIGHT,
        title=f"{caption}. {largest.sentence() if largest.isAny else 'The contours are equal.'}{told}",
        left=LEFT,
        top=TOP,
        across=ACROSS,
        down=DOWN,
        columns=round(ACROSS / STEP),
        rows=round(DOWN / STEP),
        contours=joined((image, _contours(sides, name))),
        mark=_mark(picture, window) if largest.isAny else "",
        letters=letters(picture.view),
        bar=barOf(window.scale),
        caption=caption,
        notes=filled(" <small>$notes</small>", notes="; ".join(notes)) if notes else "",
    )


def _heightText(picture: Picture) -> str:
    """Return the position of a plane, in the usual form but rounded to 0.1 mm, for finding the plane in a viewer."""
    return towardText(picture.view, picture.at)


def towardText(view: SliceView, at: float) -> str:
    """Return an LPS coordinate along the normal of a plane as the letter of the patient's side and mm."""
    return f"{LETTERS_OF_AXES[view.axis][int(at > 0)]} {roundText(abs(at), 1)} mm"


def _notes(picture: Picture, largest: Largest, window: Window) -> list[str]:
    """Return notes for the caption of a picture."""
    notes = ["a part of the contours"] if window.isPart else []
    other = REFERENCE_AND_TEST[1 - REFERENCE_AND_TEST.index(largest.side)]
    notes += [
        f"no {side} in this plane"
        for side, lines in zip(REFERENCE_AND_TEST, picture.contours, strict=True)
        if not lines
    ]
    if picture.moved:
        off = f"{roundText(abs(picture.moved), 1)} mm toward {_toward(picture, picture.moved)}"
        notes.append(f"moved {off}, as the place itself lies at a tip")
    if largest.isAny and picture.end is None:
        away = f"{roundText(abs(picture.behind), 1)} mm toward {_toward(picture, picture.behind)}"
        notes.append(f"nearest {other} point {away}")
    return notes


def _toward(picture: Picture, value: float) -> str:
    """Return the letter of the patient's side for the sign of an LPS coordinate along the normal of a plane."""
    return LETTERS_OF_AXES[picture.view.axis][int(value > 0)]


def _contours(sides: Sequence[Sequence[CutLine]], name: str) -> Markup:
    """Return both contours as SVG; the area enclosed by only one of them is filled with its color."""
    used, lines, areas = [], [], []
    for side, own in zip(REFERENCE_AND_TEST, sides, strict=True):
        if own:
            words = {"id": f"{name}{side[0]}", "side": side}
            used.append(filled('<path id="$id" d="$path"/>', **words, path=pathOf(own)))
            lines.append(filled('<use href="#$id" class="$side"/>', **words))
            # open lines enclose nothing
            if all(line.isClosed for line in own):
                areas.append(filled('<use href="#$id" class="only $side"/>', **words))
    if len(areas) == len(REFERENCE_AND_TEST):
        clip = '<clipPath id="${name}c"><use href="#${name}r" clip-rule="evenodd"/></clipPath>'
        used.append(filled(clip, name=name))
        areas.append(filled('<use href="#${name}t" class="both" clip-path="url(#${name}c)"/>', name=name))
    return filled("<defs>$used</defs>$drawn", used=joined(used), drawn=joined((*areas, *lines)))


def _mark(picture: Picture, window: Window) -> Markup:
    """Return the ring around the place, and the line to the nearest place on the other boundary, as SVG."""
    x, y = (f"{n:g}" for n in np.round(window.pixels(np.zeros(2)) + np.array([LEFT, TOP]), 1).tolist())
    mark = filled('<circle cx="$x" cy="$y" r="5"/>', x=x, y=y)
    if picture.end is not None:
        a, b = (f"{n:g}" for n in np.round(window.pixels(picture.end) + np.array([LEFT, TOP]), 1).tolist())
        line = '<path d="M$x ${y}L$a $b"/><circle class="end" cx="$a" cy="$b" r="1.5"/>$mark'
        mark = filled(line, x=x, y=y, a=a, b=b, mark=mark)
    return filled('<g class="halo">$mark</g><g class="mark">$mark</g>', mark=mark)


def letters(view: SliceView, size: tuple[int, int] = (ACROSS, DOWN)) -> Markup:
    """Return the letters of the patient's sides around a window as SVG. size: of the window in pixels."""
    across, down = size
    middle, height = LEFT + across / 2, TOP + down / 2
    places = [(LEFT / 2, height), (across + 1.5 * LEFT, height), (middle, TOP / 2), (middle, TOP + down + 12)]
    return joined(
        filled('<text x="$x" y="$y">$letter</text>', x=f"{x:g}", y=f"{y + 4.5:g}", letter=letter)
        for letter, (x, y) in zip(view.letters, places)
    )


def barOf(scale: float, down: int = DOWN) -> Markup:
    """Return the scale bar below a window as SVG. down: height of the window in pixels."""
    length, y = barLength(scale), TOP + down + 12
    width = round(length * scale, 1)
    return filled(
        '<path class="bar" d="$path"/><text class="scale" x="$x" y="$y">$length mm</text>',
        path=f"M{LEFT + 1} {y - 4}v8m0-4h{width:g}m0-4v8",
        x=f"{LEFT + width + 7:g}",
        y=f"{y + 4.5:g}",
        length=shortest(length),
    )


def legend(largest: Largest, isImaged: bool = False) -> Markup:
    """Return the legend of lines, colors and marks. isImaged: whether there is an image, and nothing hides it."""
    line, area = '<path class="$side" d="M1 6h30"/>', '<rect class="only $side" x="1" y="1" width="14" height="10"/>'
    samples = [(filled(line, side=side), 32, side) for side in REFERENCE_AND_TEST]
    if not isImaged:
        samples += [(filled(area, side=side), 16, f"only {side}") for side in REFERENCE_AND_TEST]
    if largest.isAny:
        samples.append((LARGEST, 28, f"largest distance, {roundText(largest.distance, 2)} mm"))
    return joined(
        filled(
            '<span><svg aria-hidden="true" width="$width" height="12" viewBox="0 0 $width 12">$drawing</svg> '
            "$text</span> ",
            width=width,
            drawing=drawing,
            text=text,
        )
        for drawing, width, text in samples
    )
