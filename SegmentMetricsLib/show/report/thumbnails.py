"""Small pictures of pairs for pages about many cases: both contours in a slice through the largest distance."""

from __future__ import annotations

import numpy as np

from ...case.comparison import Comparison
from .planecuts import Line, thinned
from .slicepictures import ACROSS, DOWN, STEP, drawn, pathOf, windowsOf
from .sliceviews import largestOf, picturesOf

# Width and height in units of the contours' coordinates, and the tolerance for thinning them in these units.
SIZE = (round(ACROSS / STEP), round(DOWN / STEP))
THINNED = 12.0


def thumbnail(comparison: Comparison) -> dict | None:
    """Return both contours as data of SVG paths within SIZE, with the name of the plane; None if there is no slice."""
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
    (sides,) = drawn(found, windowsOf(found, largest.distance, extent))
    paths = []
    for lines in sides:
        few = thinned([Line(line.points.astype(float), line.isClosed) for line in lines], THINNED) if lines else []
        paths.append(pathOf([Line(np.rint(points).astype(int), isClosed) for points, isClosed in few if len(points)]))
    return {"view": found[0].view.name, "reference": paths[0], "test": paths[1]}
