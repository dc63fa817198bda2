"""EvaluateSegmentation's search for the nearest voxel, which can miss it.

From a voxel outside the other structure, the program walks toward that structure's center until it meets the structure.
The number of steps is then used as a radius in voxels, and only the cells of 7 x 7 x 7 voxels that this radius touches
are searched. A step is 1 mm long, that is, 1 mm over the spacing in voxels. If voxels are smaller than 1 mm along an
axis, the radius is too short, and a voxel farther away is found, or none; then the voxel found before is used again.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..base.parallel import threads
from ..base.progress import chunks
from .elements import faceBorder
from .rules import Sample
from .toolmasks import Sampling

CELL = 7
# Pairs of voxels measured at a time.
PAIRS = 1 << 17


def searchCells(sampling: Sampling) -> tuple[Sample, Sample]:
    """Return distances from all voxels of a structure, 0 in the overlap, to the face-neighbor border of the other one.

    Those of the voxels outside the other one come first.
    """
    samples = []
    for number, mask in enumerate(sampling.arrays):
        outside = np.argwhere(mask & ~sampling.arrays[1 - number])
        distances = np.zeros(np.count_nonzero(mask))
        if len(outside):
            distances[: len(outside)] = _searchBorder(sampling, 1 - number, outside)
        samples.append(Sample(distances))
    return samples[0], samples[1]


def _searchBorder(sampling: Sampling, number: int, start: np.ndarray) -> np.ndarray:
    """Return the distances (n,) in mm from voxels (n, 3) to the border voxels of a mask that the search finds."""
    unit = sampling.spacing
    goals = sampling.indices(faceBorder, number)
    tree = sampling.tree(faceBorder, number, tuple(unit))
    radius = _radii(sampling.arrays[number], start, unit)
    everywhere = radius < 0
    # the program's conversion to integers truncates toward zero
    low = np.maximum(np.trunc((start - radius[:, None]) / CELL), 0)
    high = np.trunc((start + radius[:, None]) / CELL)
    low[everywhere], high[everywhere] = 0, np.inf
    cells = goals // CELL
    # usually the nearest voxel of all is in the searched cells
    _, nearest = tree.query(start * unit, workers=threads())
    isSearched = ((cells[nearest] >= low) & (cells[nearest] <= high)).all(axis=1)
    which = np.where(isSearched, nearest, -1)
    open_ = np.flatnonzero(~isSearched)
    # neighboring voxels search the same cells
    boxes, ofBox = np.unique(np.concatenate([low, high], axis=1)[open_], axis=0, return_inverse=True)
    order = np.argsort(ofBox.ravel(), kind="stable")
    ends = np.searchsorted(ofBox.ravel()[order], np.arange(len(boxes) + 1))
    for box, (first, last) in zip(boxes, pairwise(ends.tolist()), strict=True):
        inside = np.flatnonzero(((cells >= box[:3]) & (cells <= box[3:])).all(axis=1))
        ofThis = open_[order[first:last]]
        for part in chunks(len(ofThis), max(1, PAIRS // max(1, len(inside)))):
            rows = ofThis[part]
            if len(inside):
                steps = ((goals[inside] - start[rows, None]) * unit) ** 2
                which[rows] = inside[steps.sum(axis=2).argmin(axis=1)]
    # where none is found, the last one found is used again
    last = np.maximum.accumulate(np.where(which >= 0, np.arange(len(which)), -1))
    which = np.where(last >= 0, which[last], 0)
    return np.sqrt((((goals[which] - start) * unit) ** 2).sum(axis=1))


def _radii(mask: np.ndarray, start: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return the steps after which walks toward the mask's center meet the mask, -1 for those that leave the image."""
    toward = np.argwhere(mask).mean(axis=0) - start
    length = np.sqrt(((toward * unit) ** 2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = toward / length[:, None]
    radius = np.full(len(start), -1.0)
    walking = np.flatnonzero(length > 0)
    largest = np.array(mask.shape) - 1
    number = 0
    while len(walking):
        number += 1
        place = start[walking] + number * steps[walking]
        left = ((place < 0) | (place > largest)).any(axis=1)
        walking, place = walking[~left], place[~left]
        met = mask[tuple(place.astype(int).T)]
        radius[walking[met]] = number
        walking = walking[~met]
    return radius
