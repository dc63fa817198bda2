"""Small pictures of pairs for pages about many cases: both contours in the worst or in a typical slice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...case.comparison import Comparison
from .planecuts import BESIDE, CutLine, cutBeside, joined, thinned
from .slicepictures import ACROSS, DOWN, STEP, drawn, pathOf, windowsOf
from .sliceviews import VIEWS, Picture, largestOf, picturesOf

# Width and height in units of the contours' coordinates, and the tolerance for thinning them in these units.
SIZE = (round(ACROSS / STEP), round(DOWN / STEP))
THINNED = 12.0


def thumbnail(comparison: Comparison) -> dict | None:
    """Return both contours in a slice through the largest distance, None if there is none.

    They are data of SVG paths within SIZE, with the name of the plane.
    """
    if comparison.distances is None:
        return None
    surfaces = [direction.surface for direction in comparison.distances.directions]
    largest = largestOf(comparison)
    pictures = picturesOf(surfaces, largest)
    if not pictures:
        return None
    # at the upper or lower end, the axial slice has only one of the two
    found = [next((one for one in pictures if all(one.contours)), pictures[0])]
    extent = max(float(np.max(high - low)) for low, high in (surface.box for surface in surfaces))
    return _drawn(found, largest.distance, extent)


def typical(comparison: Comparison) -> dict | None:
    """Return both contours in a typical slice, as thumbnail() does: the one whose mean distance is the median.

    Without slices it is the one in the middle. None for contours in a plane, which have only one.
    """
    if comparison.distances is None or comparison.dimension == 2:
        return None
    surfaces = [direction.surface for direction in comparison.distances.directions]
    boxes = np.array([surface.box for surface in surfaces])
    view, place = VIEWS[0], boxes.mean(axis=(0, 1))
    shared = sorted((row for row in comparison.slices if not row.only), key=lambda row: row.meanDistance)
    mask = comparison.reference.mask or comparison.test.mask
    if shared and mask is not None:
        along = np.abs(mask.grid.slicesLast().direction[:, 2])
        view = next(one for one in VIEWS if one.axis == int(along.argmax()))
        place[view.axis] = shared[len(shared) // 2].place[view.axis]
    extent = float(np.ptp(boxes, axis=(0, 1)).max())
    before, _ = zip(*(cutBeside(surface, place, view.axes, BESIDE * extent) for surface in surfaces), strict=True)
    contours = joined(before[0]), joined(before[1])
    if not all(contours):
        return None
    return _drawn([Picture(view, place, float(place[view.axis]), contours, None, 0.0)], 0.0, extent)


def _drawn(found: Sequence[Picture], distance: float, extent: float) -> dict:
    """Return the contours of a picture as data of SVG paths. distance, extent: as of windowsOf()."""
    (sides,) = drawn(found, windowsOf(found, distance, extent))
    paths = []
    for lines in sides:
        few = thinned([CutLine(line.points.astype(float), line.isClosed) for line in lines], THINNED) if lines else []
        paths.append(
            pathOf([CutLine(np.rint(points).astype(int), isClosed) for points, isClosed in few if len(points)])
        )
    return {"view": found[0].view.name, "reference": paths[0], "test": paths[1]}
