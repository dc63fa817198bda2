"""The Medical Similarity Index by the formula of its authors' code, on chains of boundary pixels.

Source: Fazekas et al., arXiv:2508.09722. That formula differs from the definition in their article: it takes the mean
over the points of the reference instead of the test, decides about inside and outside after aligning the centers of
mass, and gives points on the contour the score 0 instead of 1. So identical contours have the index 0, and so do
contours that differ by a shift only.

It is the authors' formula, not their program. Before it applies the formula, their program traces Canny edges (30, 200)
of the gray picture of a mask, where this traces the 8-connected boundary pixels; that moves the score of a slice of
1 mm by 0.07 to 0.12 on average and by up to 0.46. It also leaves out slices that only one side has, and scores those
where two contours of the reference are nearest to one of the test; here both are flagged and count as 0, with
MSIPaired beside it, which leaves them out.
"""

from __future__ import annotations

import numpy as np

from ...base.progress import checkpoint
from ...geometry.contours import insideContours
from ...geometry.slicecontours import SAME, Contour, Planes
from .formulas import (
    ContourScore,
    Levels,
    Similarity,
    Slices,
    averageDistances,
    localDistances,
    paired,
    position,
    sliceScore,
    weight,
)

# Points processed at a time.
CHUNK = 500


def measure(reference: Slices, test: Slices, planes: Planes, levels: Levels) -> Similarity:
    """Return how well a test follows the reference, both given as chains of boundary pixels, neither empty."""
    slices = []
    for index in sorted({*reference, *test}):
        checkpoint()
        mine, other = reference.get(index, []), test.get(index, [])
        pairs, flag = paired(mine, other)
        scores = tuple(scored(*pair, levels) for pair in pairs)
        slices.append(sliceScore(index, position(index, mine or other, planes), scores, flag))
    return Similarity(tuple(slices), planes.axis, planes.unit)


def scored(reference: Contour, test: Contour, levels: Levels) -> ContourScore:
    """Return the score of two chains, in [0, 1], from distances in pixels."""
    shift = np.broadcast_to(test.center - reference.center, reference.points.shape)
    _, distances = localDistances(reference.points, test.points, shift, SAME)
    moved = reference.points + shift
    start, end = test.points, test.points + test.steps
    # what the test encloses was drawn too far outside
    level = np.where(insideContours(moved, start, end), levels.outside, levels.inside)
    counts = (distances > SAME) & ~isOnLine(moved, start, end)
    scores = np.where(counts, weight(distances, level), 0.0)
    (apart,) = averageDistances([(reference, test)], [reference.points], [test.points])
    return ContourScore(float(scores.mean()), float(apart), len(scores), False, float(distances.mean()))


def isOnLine(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return whether points (n, 2) lie on segments from start to end (m, 2) between neighboring pixels.

    Neighbors share a side or a corner; a segment may have no length.
    """
    step = end - start
    squares = np.maximum((step**2).sum(axis=1), SAME**2)
    # such segments lie on rows, columns and diagonals only
    lines = np.column_stack([points, points.sum(axis=1), points[:, 0] - points[:, 1]])
    candidates = np.flatnonzero((np.abs(lines - np.rint(lines)) <= 2 * SAME).any(axis=1))
    result = np.zeros(len(points), bool)
    for first in range(0, len(candidates), CHUNK):
        chosen = candidates[first : first + CHUNK]
        offset = points[chosen, None] - start
        along = np.clip((offset * step).sum(axis=2) / squares, 0, 1)
        result[chosen] = np.linalg.norm(offset - along[..., None] * step, axis=2).min(axis=1) <= SAME
    return result
