"""Fields of distances that are given, as functions of places, or those to any surfaces: several boundaries at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from SegmentMetricsLib.distances.elements import NODES, Sampler
from SegmentMetricsLib.distances.field import Field
from SegmentMetricsLib.distances.surfacedistances import DirectedDistances, SurfaceDistances
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.surfaces import Surface


class Directions(Sampler):
    """Measures from each of some boundaries to its target: a surface, or a function of points (n, 3), in mm."""

    def __init__(self, boundaries: Sequence[Surface], targets: Sequence):
        self._targets = [one if callable(one) else ClosestSurface(one) for one in targets]
        super().__init__(tuple(boundaries))

    def _measureBase(self):
        nodes, sizes = [], []
        for number, surface in enumerate(self.surfaces):
            weights = np.array(NODES[surface.dimension]) / 4
            points = np.einsum("pc,mcx->pmx", weights, surface.corners(np.arange(surface.count))).reshape(-1, 3)
            first = self._append(self.measureAt(number, points), lambda rows, points=points: points[rows])
            nodes.append(first + np.arange(len(points), dtype=np.int32).reshape(len(weights), -1))
            sizes.append(surface.sizes)
        segment = np.repeat(np.arange(len(sizes)), [len(one) for one in sizes])
        self._start(np.concatenate(nodes, axis=1), np.concatenate(sizes), np.zeros(len(segment)), segment)

    def measureAt(self, segment, points):
        target = self._targets[segment]
        return target(points) if callable(target) else target.signedDistances(points)

    def atPoints(self, segment):
        return self.measureAt(segment, self.surfaces[segment].points)


def given(*sides: tuple[Sequence[float], Sequence[float]]) -> SurfaceDistances:
    """Return the distances of a reference and a test whose triangles have signed distances in mm, and sizes in mm2.

    Triangle number n lies in the plane z = n.
    """
    surfaces, functions = [], []
    for signed, sizes in sides:
        corners = [[(0, 0, n), (2 * size, 0, n), (0, 1, n)] for n, size in enumerate(sizes)]
        surfaces.append(Surface(np.reshape(corners, (-1, 3)).astype(float), np.arange(3 * len(sizes)).reshape(-1, 3)))
        functions.append(partial(_ofPlanes, np.array(signed, float)))
    field = Field(Directions(surfaces, functions))
    return SurfaceDistances(*(DirectedDistances(field, n, surface) for n, surface in enumerate(surfaces)), "given")


def _ofPlanes(signed: np.ndarray, points: np.ndarray) -> np.ndarray:
    return signed[np.rint(points[:, 2]).astype(int)]
