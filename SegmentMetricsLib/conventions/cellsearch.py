"""EvaluateSegmentation's search for the nearest voxel, which can miss it.

From a voxel outside, the program walks toward the center of the other structure until it meets it. The number of steps
it took is taken for a radius in voxels, and only the cells of 7 x 7 x 7 voxels that the radius touches are searched. A
step is 1 mm over the spacing long, measured in voxels; where voxels are smaller than 1 mm along an axis, the radius
falls short, and a voxel farther away is found, or none: then the one found before counts again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..cores import threads
from .elements import faceBorder
from .rules import Sample
from .sampling import Sampling

CELL = 7
# How many of the nearest voxels are looked at for one in the searched cells, one number after the other.
NEIGHBORS = (1, 8, 64)


@dataclass(frozen=True)
class CellSearch:
    """Distances from all voxels of a structure, 0 in the overlap, to the face-neighbor border of the other one."""

    def __call__(self, sampling: Sampling) -> tuple[Sample, Sample]:
        return self._measure(sampling, 0), self._measure(sampling, 1)

    def _measure(self, sampling: Sampling, number: int) -> Sample:
        mask, other = sampling.arrays[number], sampling.arrays[1 - number]
        outside = np.argwhere(mask & ~other)
        distances = np.zeros(np.count_nonzero(mask))
        if len(outside):
            distances[: len(outside)] = _found(sampling, 1 - number, outside)
        return Sample(distances)


def _found(sampling: Sampling, number: int, start: np.ndarray) -> np.ndarray:
    """Return the distances (n,) in mm from voxels (n, 3) to the border voxels of a mask that the search finds."""
    unit = sampling.spacing
    goals = sampling.indices(faceBorder, number)
    tree = sampling.tree(faceBorder, number, tuple(unit))
    radius = _radii(sampling.arrays[number], start, unit)
    everywhere = radius < 0
    # conversion to whole numbers cuts off, also below zero
    low = np.maximum(np.trunc((start - radius[:, None]) / CELL), 0)
    high = np.trunc((start + radius[:, None]) / CELL)
    low[everywhere], high[everywhere] = 0, np.inf
    cells = goals // CELL
    which = np.full(len(start), -1)
    open_ = np.arange(len(start))
    for count in NEIGHBORS:
        count = min(count, len(goals))
        _, nearest = tree.query(start[open_] * unit, k=[*range(1, count + 1)], workers=threads())
        searched = ((cells[nearest] >= low[open_, None]) & (cells[nearest] <= high[open_, None])).all(axis=2)
        hit = searched.any(axis=1)
        which[open_[hit]] = nearest[hit, searched.argmax(axis=1)[hit]]
        open_ = open_[~hit]
    for index in open_:
        inside = np.flatnonzero(((cells >= low[index]) & (cells <= high[index])).all(axis=1))
        if len(inside):
            steps = ((goals[inside] - start[index]) * unit) ** 2
            which[index] = inside[steps.sum(axis=1).argmin()]
    # none found: the last one found stays
    last = np.maximum.accumulate(np.where(which >= 0, np.arange(len(which)), -1))
    which = np.where(last >= 0, which[last], 0)
    return np.sqrt((((goals[which] - start) * unit) ** 2).sum(axis=1))


def _radii(mask: np.ndarray, start: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return after how many steps toward the mask's center each walk meets the mask, -1 for those that leave it."""
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
