"""Slices at uneven heights, as layers of a grid that is even: each slice has its own thickness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .planes import LEAST_SHARE, ROUNDING, UNEVENNESS, distinct, leastDistance, lieOnSlices, thinOut

# A step between slices that is this many times as large as both steps beside it is a gap, not a thick slice.
GAP = 3.0
# Steps of up to so many slices, one after the other, are a part of an image in which slices are farther apart.
WIDEST = 5
# The thinnest slice is cut into at most so many layers, in search of layers that end where slices do.
MOST_LAYERS = 8
# Structures were drawn on the same slices if they have contours on this share of all planes within their extent.
SAME_SLICES = 0.6


@dataclass(frozen=True, eq=False)
class Slabs:
    """Slices, each of which reaches half the way to its neighbors, cut into layers of equal thickness.

    heights: (n,) of the slices in mm, ascending. edges: (n + 1,) number of the first layer of each slice, and the one
    behind the last. distance: thickness of a layer in mm. start: height of the middle of layer 0 in mm.
    """

    heights: np.ndarray
    edges: np.ndarray
    distance: float
    start: float

    @staticmethod
    def of(heights: np.ndarray) -> Slabs:
        """Return the layers of slices at heights (n,) in mm, at least two, ascending.

        The first and the last slice are as thick as if the slices went on at the same distance.
        """
        ends = 2 * heights[0] - heights[1], 2 * heights[-1] - heights[-2]
        around = np.concatenate([ends[:1], heights, ends[1:]])
        bounds = (around[1:] + around[:-1]) / 2
        edges, distance = _layersOf(bounds)
        return Slabs(heights, edges, distance, float(bounds[0] + distance / 2))

    @property
    def depth(self) -> int:
        """The number of layers."""
        return int(self.edges[-1])

    @property
    def thickness(self) -> np.ndarray:
        """(n,) mm."""
        return np.diff(self.edges) * self.distance

    @property
    def description(self) -> str:
        """How thick the slices are, in words."""
        return f"{self.thickness.min():.4g} to {self.thickness.max():.4g} mm thick, half the way to both neighbors"

    def numbersAt(self, layers: np.ndarray) -> np.ndarray:
        """Return the numbers (m,) of slices at places (m,) among the layers; halfway between two slices they change."""
        return np.interp(self.start + layers * self.distance, self.heights, np.arange(len(self.heights)))

    def layersOf(self, slices: np.ndarray, first: int) -> tuple[np.ndarray, int]:
        """Return the layers of slices, an array [slice, ...], and the number of the first. first: number of a slice."""
        counts = np.diff(self.edges)[first : first + len(slices)]
        return np.repeat(slices, counts, axis=0), int(self.edges[first])


def _layersOf(bounds: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the numbers (n,) of layers at which slices end, and the thickness of a layer in mm.

    It is the largest one for which layers end where slices do, else the one for which that is closest. bounds: (n,)
    heights in mm at which slices end, ascending.
    """
    thinnest = float(np.diff(bounds).min())
    found = []
    for number in range(1, MOST_LAYERS + 1):
        places = (bounds - bounds[0]) * number / thinnest
        edges = np.rint(places).astype(np.int64)
        error = float(np.abs(places - edges).max()) * thinnest / number
        found.append((error, number, edges))
        if error <= UNEVENNESS * thinnest:
            break
    _, number, edges = min(found, key=lambda one: one[0])
    return edges, thinnest / number


def goOn(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return heights (n,) of slices in mm, at least two, with those that would be in gaps and beyond the ends.

    All are ascending. In a gap, slices go on from both sides at the same distance. low, high: heights in mm that they
    reach.
    """
    steps = np.diff(heights)
    # the steps below and above each step; at the ends only one is there
    below, above = (np.roll(np.pad(steps, 1, "reflect" if len(steps) > 1 else "edge"), by)[1:-1] for by in (1, -1))
    isGap = steps > GAP * np.maximum(below, above)
    downward = np.where(isGap, above, steps)[0]
    upward = np.where(isGap, below, steps)[-1]
    found = [heights, _from(heights[0], -downward, low), _from(heights[-1], upward, high)]
    for number in np.flatnonzero(isGap):
        lower, upper = heights[number : number + 2]
        middle = (lower + upper) / 2
        found += [_from(lower, below[number], middle), _from(upper, -above[number], middle)]
    return thinOut(np.sort(np.concatenate(found)), LEAST_SHARE * float(steps.min()))


def _from(height: float, step: float, end: float) -> np.ndarray:
    """Return the heights of slices that go on from one in steps, until an end is at most half a step away."""
    number = int(np.floor((end - height) / step + 0.5 - ROUNDING))
    return height + step * np.arange(1, number + 1)


def unevenPlanes(own: np.ndarray, structures: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the heights (n,) in mm of slices that are unevenly spaced, as contours show, None if they do not.

    own: heights (m,) in mm of the contours of a structure. structures: of those of all that were drawn on its image,
    which together show its slices, unless each was drawn on planes of its own.
    """
    planes, together = distinct(own), distinct(np.concatenate([own, *structures]))
    extents = [np.unique(np.searchsorted(together, heights + ROUNDING)) for heights in structures if len(heights)]
    if sum(map(len, extents)) > SAME_SLICES * sum(int(np.ptp(numbers)) + 1 for numbers in extents):
        planes = together
    return planes if len(planes) > 2 and areUneven(planes, leastDistance(planes)) else None


def areUneven(heights: np.ndarray, distance: float) -> bool:
    """Return whether planes at heights (n,) in mm, ascending, are slices at uneven distances.

    They are not if all lie on slices at a distance in mm, and slices are missing here and there, or many in a gap; but
    two wide steps of one width, one after the other, are a part in which slices are farther apart.
    """
    if not lieOnSlices(heights, distance):
        return True
    counts = np.rint(np.diff(heights) / distance)
    isWide = (counts > 1) & (counts <= WIDEST)
    return bool((isWide[1:] & isWide[:-1] & (counts[1:] == counts[:-1])).any())
