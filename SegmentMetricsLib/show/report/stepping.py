"""All slices of a structure, to step through: both contours, the image under them, and where the worst places are."""

from __future__ import annotations

import numpy as np

from ...base.markup import Markup, fill, join
from ...case.comparison import Comparison
from ...geometry.surfaces import Surface
from ...metrics.measurement import roundText
from .blocks import NOTHING, data, fromFile
from .gray import Gray, jpeg
from .slicepictures import LEFT, TOP, Window, captionOf, colors, legend, pathOf, underlay
from .sliceviews import STRAIGHT, Largest, SliceView, cutAcross, joinSegments, largestOf, thinToFew, viewAcross

# Size of the window of a slice in pixels, and mm around the structure that it shows at least.
ACROSS, DOWN, AROUND = 400, 360, 12.0
# Tolerance for thinning lines in pixels, and most points of all lines of a structure.
THINNED, MOST_POINTS = 0.15, 40_000
# Most pixels of all slices of a structure together: more make them no clearer than the screen shows them.
MOST_PIXELS = 2_500_000
# For boundaries without slices of their own: about so many, no closer than this in mm.
SLICES_OF_MESH, CLOSEST = 60, 1.0
# Most worst places that are marked.
MOST_MARKS = 10


def stepPictures(comparison: Comparison, name: str, gray: Gray | None = None) -> Markup:
    """Return the slices of both boundaries to step through, nothing for contours in a plane.

    They are those of the reference's image, or evenly spaced ones. name: a prefix for HTML IDs that is unique in the
    page. gray: the image to show under the contours, or None.
    """
    if comparison.dimension == 2:
        return NOTHING
    surfaces = [direction.surface for direction in comparison.knownDistances.directions]
    boxes = np.array([surface.box for surface in surfaces])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    view, heights = _heights(comparison, gray, low, high)
    middle = (low + high) / 2
    # of all slices, around the box
    sides = (high - low) @ np.abs(view.axes[:, :2])
    room = np.maximum(sides + 2 * AROUND, 1.2 * sides)
    window = Window(np.zeros(2), float((np.array([ACROSS, DOWN]) / room).min()), False, (ACROSS, DOWN))
    contours = [_contours(surface, view, middle, heights, window) for surface in surfaces]
    images: list[str] = []
    automatic = choices = underneath = NOTHING
    if gray is not None:
        # so that all slices together have no more than MOST_PIXELS
        finest = float(np.sqrt(ACROSS * DOWN / window.scale**2 * len(heights) / MOST_PIXELS))
        finest = max(0.5 / window.scale, finest)
        codes = [gray.codes(window.planeOf(view, middle, height), finest) for height in heights.tolist()]
        images, automatic = list(map(jpeg, codes)), gray.filters(codes, name)
        first = gray.firstWindow(low, high)
        options = join(
            fill("<option$selected>$name</option>", selected=Markup(' selected=""') if one == first else "", name=one)
            for one in gray.windows
        )
        switch = '<label>Window <select data-windows="" autocomplete="off">$options</select></label>'
        choices = fill(switch, options=options)
        underneath = underlay(np.zeros((0, 0), np.uint8), first, name, (ACROSS, DOWN))
    largest = largestOf(comparison)
    marks = _marks(comparison, largest, view, middle, heights, window)
    content = {
        "at": [captionOf(view, height) for height in heights.tolist()],
        "reference": contours[0],
        "test": contours[1],
        "images": images,
        "marks": marks,
        "first": marks[0]["slice"] if marks else len(heights) // 2,
    }
    return fromFile(
        "steps",
        kind="cuts imaged" if gray else "cuts",
        colors=colors(gray),
        name=name,
        filters=automatic,
        legend=legend(largest, True),
        windows=choices,
        **window.frame(view),
        image=underneath,
        last=len(heights) - 1,
        first=content["first"],
        data=data(content),
    )


def _heights(
    comparison: Comparison, gray: Gray | None, low: np.ndarray, high: np.ndarray
) -> tuple[SliceView, np.ndarray]:
    """Return the plane of the slices, and the ascending LPS coordinates (n,) of those that cut a box, mm."""
    view, grid = viewAcross(comparison)
    if grid is not None:
        isStraight = abs(grid.direction[view.axis, 2]) >= STRAIGHT
        step, start = float(grid.spacing[2]), float((grid.origin if isStraight else low)[view.axis])
    else:
        step = max(CLOSEST, float(high[2] - low[2]) / SLICES_OF_MESH)
        if gray is not None:
            step = float(gray.image.grid.worldSteps[2])
        start = float(low[2]) + step / 2
    first = int(np.ceil((low[view.axis] - start) / step - 1e-6))
    last = int(np.floor((high[view.axis] - start) / step + 1e-6))
    if last < first:  # thinner than the distance of slices
        return view, np.array([(low[view.axis] + high[view.axis]) / 2])
    return view, start + step * np.arange(first, last + 1)


def _contours(surface: Surface, view: SliceView, middle: np.ndarray, heights: np.ndarray, window: Window) -> list[str]:
    count = len(heights)
    step = float(heights[1] - heights[0]) if count > 1 else 1.0
    first = np.where(np.arange(3) == view.axis, heights[0], middle)
    cuts = cutAcross(surface, view.axes, first, step, count)
    lines = [[window.line(line) for line in joinSegments(part)] for part in cuts]
    thin = iter(thinToFew([line for ofSlice in lines for line in ofSlice], THINNED, MOST_POINTS))
    return [pathOf([next(thin) for _ in ofSlice]) for ofSlice in lines]


def _marks(
    comparison: Comparison, largest: Largest, view: SliceView, middle: np.ndarray, heights: np.ndarray, window: Window
) -> list[dict]:
    """Return the places that are marked, the largest distance first: their slices, pixels, ranks and distances.

    rank: in the list of worst places, 0 for the largest distance if that is not among them.
    """
    if not largest.isAny:
        return []
    places = [(place.rank, np.array(place.position), abs(place.value)) for place in comparison.worstPlaces[:MOST_MARKS]]
    if not places or not np.allclose(places[0][1], largest.position):
        places.insert(0, (0, largest.position, largest.distance))
    marks = []
    for rank, position, value in places:
        x, y = window.pixels(((position - middle) @ view.axes[:, :2])[None])[0].tolist()
        number = int(np.abs(heights - position[view.axis]).argmin())
        marks.append(
            {"slice": number, "x": round(x + LEFT, 1), "y": round(y + TOP, 1), "rank": rank, "mm": roundText(value, 2)}
        )
    return marks
