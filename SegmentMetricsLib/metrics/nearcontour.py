"""Distances of points to contours of short segments, which lie in one plane or in many slices."""

from __future__ import annotations

import numpy as np

from ..base.parallel import threads
from ..base.progress import chunks
from ..geometry.surfaces import Surface

# Candidate segments in the first pass of a search for the nearest one.
NEIGHBORS = 4
# Up to this many points, starting threads takes longer than the query.
FEW = 2000
# Square in mm2 of a length that is none.
SMALLEST_SQUARE = 1e-300
# Point-segment pairs processed at a time.
CHUNK = 1 << 19


class NearContour:
    """Search for the distances of points to contours of short segments, exact up to a limit."""

    def __init__(self, contour: Surface):
        from scipy.spatial import cKDTree

        start, end = contour.points[contour.cells[:, 0]], contour.points[contour.cells[:, 1]]
        # by axis: (3, m)
        self._start, self._step = np.ascontiguousarray(start.T), np.ascontiguousarray((end - start).T)
        # a contour of one point has a segment without a length
        self._scale = 1 / np.maximum((self._step**2).sum(axis=0), SMALLEST_SQUARE)
        self._halfLength = float(contour.sizes.max()) / 2
        self._middles = cKDTree((start + end) / 2)

    def nearest(self, points: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (n,) in mm of LPS points (n, 3), and the indices (n,) of their nearest segments.

        Both are exact for distances up to `limit`. Beyond it, the returned distance exceeds `limit`, too, but another
        segment may be nearer.
        """
        result, owners = np.empty(len(points)), np.empty(len(points), np.int64)
        rest, count = np.arange(len(points)), min(NEIGHBORS, self._middles.n)
        while len(rest):
            undecided = []
            for part in chunks(len(rest), max(1, CHUNK // count)):
                chosen = rest[part]
                workers = threads() if len(chosen) > FEW else 1
                found = self._middles.query(points[chosen], k=count, workers=workers)
                radii, numbers = (values.reshape(len(chosen), count) for values in found)
                squared = self._squaredDistances(points[chosen, None], numbers)
                best = np.arange(len(chosen)), squared.argmin(axis=1)
                owners[chosen], result[chosen] = numbers[best], np.sqrt(squared[best])
                # lower bound of the distance to all other segments
                least = radii[:, -1] - self._halfLength
                undecided.append(chosen[(least < result[chosen]) & (least <= limit)])
            if count == self._middles.n:
                break
            rest, count = np.concatenate(undecided), min(4 * count, self._middles.n)
        return result, owners

    def areWithin(self, points: np.ndarray, numbers: np.ndarray, limit: float) -> np.ndarray:
        """Return whether LPS points (n, 3) are at most `limit` mm from one segment each, given by index (n,)."""
        return self._squaredDistances(points, numbers) <= limit**2

    def _squaredDistances(self, points: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return squared distances in mm2 of points (..., 3) to segments, given by index (...)."""
        offsets = [points[..., axis] - self._start[axis].take(numbers) for axis in range(3)]
        steps = [self._step[axis].take(numbers) for axis in range(3)]
        along = sum(offset * step for offset, step in zip(offsets, steps, strict=True)) * self._scale.take(numbers)
        np.clip(along, 0, 1, out=along)
        return sum((offset - along * step) ** 2 for offset, step in zip(offsets, steps, strict=True))
