"""Percentiles of the distances on the elements of a boundary, and how far they may be off.

A percentile is where the size within a distance reaches the wanted share of all. The size from the finer pieces and
that from the elements as a whole differ; by a third of it the finer one is corrected (see refinement.py). What may be
left of that, over how much size there is around the percentile, is how far it may be off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .crossing import crossedBetween, firstReaching, sizesBelow, valueAbove, valueBelow
from .elements import Leaves
from .extrapolation import BOUNDS, ROUNDING, SIZE_ROUNDING, errorOf

# A share cannot be found better than this by cutting; where a percentile depends on less it stays uncertain.
LEAST_SHARE = 2e-5
# Where around a percentile its bounds are sought first, how precisely they are found there, and how precisely the
# percentile is before it is corrected, as multiples of its error.
AROUND, COARSE, ROUGH = np.array([-8, -4, -2, -1, 0, 1, 2, 4, 8]), 1 / 80, 1 / 16
# The share of its bounds' width that lies to either side of it at least.
LEAST_OF_WIDTH = 0.25
# Distances between which it is sought where nothing is known of it, as parts of the way from the first to the last.
FAR_AROUND = np.arange(5) / 4
# How far around a guess it is sought first, as a multiple of its error.
GUESSED = 32


class Estimate(NamedTuple):
    """A percentile in mm with bounds, the leaves (c,) it passes through, how much these differ, and may."""

    value: float
    low: float
    high: float
    chosen: np.ndarray
    differences: np.ndarray
    wanted: float


class Percentiles:
    """Finds a percentile on leaves.

    totalSize, sharedSize: mm2 or mm, of the boundary, and of what both boundaries have, which is not among the leaves.
    error: in mm, how precisely it is wanted. last: what it was before elements were cut further.
    """

    def __init__(self, leaves: Leaves, totalSize: float, sharedSize: float, error: float, last: Estimate | None = None):
        self.leaves, self.totalSize, self.sharedSize = leaves, totalSize, sharedSize
        self.error, self._last = error, last
        # among whose pieces sizes are sought, the fewest first
        self._known: list[Surroundings] = []

    def estimate(self, percent: float) -> Estimate:
        """Return the smallest distance that at least `percent` of the size does not exceed."""
        near, size, last = self.error, percent / 100 * self.totalSize, self._last
        around = None if last is None else self._around(self._steps(last.value))
        if around is not None and around.holds(self._wanted(size)):
            self._known = [around]
            fine = self._ofSize(size, ROUGH * near)
        else:
            fine = self._ofSize(size, ROUGH * near)
            around = self._around(self._steps(fine))
            self._known.insert(0, around)
        low, high = np.interp([fine - near, fine + near], around.limits, around.reached)
        wanted = max((high - low) / 2, LEAST_SHARE * self.totalSize)
        _, chosen, differences, _ = self.leaves.passed(fine)
        # with a third of the differences the size up to it is that much larger, so another one is wanted
        size -= float(differences.sum()) / 3
        error = BOUNDS * errorOf(differences)
        value = self._ofSize(size)
        low, high = self._bound(size - error, around, -1), self._bound(size + error, around, 1)
        # where much lies equally far, a size says nothing of one side, but distances are not known better there
        margin = max(LEAST_OF_WIDTH * (high - low), ROUNDING)
        low, high = max(min(low, value - margin), 0.0), max(high, value + margin)
        return Estimate(value, low, high, chosen, differences, wanted)

    def _bound(self, size: float, around: Surroundings, side: int) -> float:
        """Return a distance in mm within which there is no more (side -1) or no less (1) than a size, and nearly it."""
        wanted = self._wanted(size)
        if around.holds(wanted):
            return float(np.interp(wanted, around.reached, around.limits)) + side * COARSE * self.error
        # what lies far off need not be told closely
        return self._ofSize(size, self.error) - (self.error if side < 0 else 0.0)

    def _wanted(self, size: float) -> float:
        """Return how much of a size has to be found among the leaves."""
        return min(size, self.totalSize) * (1 - SIZE_ROUNDING) - self.sharedSize

    def _ofSize(self, size: float, precision: float = 0.0) -> float:
        """Return the smallest distance in mm within which the boundary has a size, or one up to precision larger."""
        wanted = self._wanted(size)
        if wanted <= 0:  # also where more is taken off a small size than there is
            return 0.0 if self.sharedSize else float(self.leaves.low.min())
        for around in self._known:
            if around.holds(wanted):
                return around.reaching(wanted, precision)
        self._known.append(self._far(wanted))
        return self._known[-1].reaching(wanted, precision)

    def _far(self, wanted: float) -> Surroundings:
        """Return pieces between which a size is reached."""
        leaves, last = self.leaves, self._last
        if last is not None:
            low, high, margin = last.low, last.high, AROUND[-1] * self.error
        else:
            # where the middles between the elements' least and largest distances reach it
            low = high = valueAbove((leaves.low + leaves.high) / 2, leaves.sizes, wanted)
            margin = GUESSED * self.error
        low, high = max(low - margin, 0.0), high + margin
        found = self._around(low + (high - low) * FAR_AROUND)
        if found.holds(wanted):
            return found
        # the size within a distance lies between that of the elements wholly within and of those partly within
        least, most = valueBelow(leaves.low, leaves.sizes, wanted), valueAbove(leaves.high, leaves.sizes, wanted)
        return self._around(least + (most - least) * FAR_AROUND)

    def _steps(self, value: float) -> np.ndarray:
        return np.maximum(value + self.error * AROUND, 0.0)

    def _around(self, limits: np.ndarray) -> Surroundings:
        """Return the pieces that a limit between the first and the last of some (m,) in mm passes through."""
        least, most = limits[0], limits[-1]
        for known in self._known:
            if known.limits[0] <= least and most <= known.limits[-1]:
                return Surroundings.of(limits, known.below, known.ascending, known.sizes)
        below, ascending, sizes = self.leaves.between(least, most)
        # what reaches down to the other side counts there as well: once for each side, less once
        both = np.flatnonzero(ascending[0] < 0)
        if len(both):
            ascending = np.concatenate([ascending, -ascending[::-1, both]], axis=1)
            below -= float(sizes[both].sum())
            sizes = np.concatenate([sizes, sizes[both]])
        return Surroundings.of(limits, below, ascending, sizes)


class Surroundings(NamedTuple):
    """Pieces through which limits in mm pass, and how much lies within these.

    limits: (m,) mm, in order. reached: (m,) mm2 or mm, within them. below: of that, what lies below all of them and is
    not among the pieces. ascending: (corners, n) distances on the pieces in order. sizes: (n,) of these, mm2 or mm.
    """

    limits: np.ndarray
    reached: np.ndarray
    below: float
    ascending: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def of(limits: np.ndarray, below: float, ascending: np.ndarray, sizes: np.ndarray) -> Surroundings:
        """Return the sizes within limits (m,) of pieces, leaving out those that lie wholly below or above all limits.

        below: size of what lies below all limits and is not among the pieces. ascending, sizes: of all pieces.
        """
        more, ascending, sizes = crossedBetween(ascending, sizes, limits[0], limits[-1])
        below += more
        return Surroundings(limits, sizesBelow(ascending, sizes, limits) + below, below, ascending, sizes)

    def holds(self, wanted: float) -> bool:
        """Return whether a size is reached between the limits."""
        return bool(self.reached[0] < wanted <= self.reached[-1])

    def reaching(self, wanted: float, precision: float) -> float:
        """Return the smallest distance within which there is a wanted size, or the nearer end of the limits."""
        below = self.below
        return firstReaching(self.ascending, self.sizes, wanted - below, self.limits, self.reached - below, precision)
