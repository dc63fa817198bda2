"""The points next to some places, or within a distance of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import chunks

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Up to this many distances from places to points, measuring all of them, so many at a time, takes less time than
# importing SciPy.
EVERY, AT_ONCE = 2_500_000, 1 << 16


class NearPoints:
    """Finds those of some points (n, 3) that are next to places, or within a distance of them."""

    def __init__(self, points: np.ndarray):
        # relative to their center, so that points far from the origin keep their digits
        self._center = points.mean(axis=0)
        self._points = points - self._center

    def nearest(self, places: np.ndarray) -> np.ndarray:
        """Return the number of the point next to each place (k, 3)."""
        if len(places) * len(self._points) <= EVERY:
            return np.concatenate([np.zeros(0, np.int64), *(some.argmin(axis=1) for some in self._squares(places))])
        return self._tree.query(places - self._center)[1]

    def within(self, places: np.ndarray, radius: float) -> list[np.ndarray]:
        """Return the numbers (m,) of the points within a radius of each place (k, 3), ascending."""
        if len(places) * len(self._points) <= EVERY:
            return [np.flatnonzero(row <= radius**2) for some in self._squares(places) for row in some]
        return [np.sort(np.array(found)) for found in self._tree.query_ball_point(places - self._center, radius)]

    def _squares(self, places: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the squared distances (., n) of some of the places (k, 3) from all points."""
        columns = np.ascontiguousarray(self._points.T)
        for chosen in chunks(len(places), max(1, AT_ONCE // len(self._points))):
            away = np.zeros(())
            for coordinates, column in zip((places[chosen] - self._center).T, columns, strict=True):
                ways = np.subtract.outer(coordinates, column)
                away = away + np.square(ways, out=ways)
            yield away

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

        return cKDTree(self._points, balanced_tree=False, compact_nodes=False)
