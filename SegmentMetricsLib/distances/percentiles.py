"""Percentiles of the distances on the elements of a boundary, with error bounds.

A percentile is the distance within which the size reaches the wanted fraction of the total. The size from the finer
pieces and that from the whole elements differ; the finer one is corrected by a third of the difference (see
refinement.py). The error that may remain, divided by the size per mm around the percentile, is the error of the
percentile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .crossing import crossedBetween, firstReaching, sizesBelow, valueAbove, valueBelow
from .elements import Leaves
from .extrapolation import BOUNDS, ROUNDING, SIZE_ROUNDING, errorOf

# Cutting cannot reduce the error of a share below this; a percentile that depends on less stays uncertain.
LEAST_SHARE = 2e-5
# As multiples of a percentile's error: the distances from it at which its bounds are sought first, the precision of the
# bounds there, and the precision of the percentile before it is corrected.
AROUND, COARSE, ROUGH = np.array([-8, -4, -2, -1, 0, 1, 2, 4, 8]), 1 / 80, 1 / 16
# Each bound is at least this fraction of the distance between both bounds away from the percentile.
LEAST_OF_WIDTH = 0.25
# Distances between which an unknown percentile is sought, as fractions of the way from the first to the last.
FAR_AROUND = np.arange(5) / 4
# How far around a guess the percentile is sought first, as a multiple of its error.
GUESSED = 32


class Estimate(NamedTuple):
    """A percentile in mm with bounds.

    chosen: (c,) numbers of the leaves it passes through. differences: (c,) of these, see Passed. wanted: acceptable
    error of the size within the percentile, mm2 or mm.
    """

    value: float
    low: float
    high: float
    chosen: np.ndarray
    differences: np.ndarray
    wanted: float


class Percentiles:
    """Finds a percentile on leaves.

    totalSize, sharedSize: mm2 or mm, of the boundary, and of the elements shared by both boundaries, which are not
    among the leaves. error: wanted precision in mm. last: the estimate before elements were cut further.
    """

    def __init__(self, leaves: Leaves, totalSize: float, sharedSize: float, error: float, last: Estimate | None = None):
        self.leaves, self.totalSize, self.sharedSize = leaves, totalSize, sharedSize
        self.error, self._last = error, last
        # sizes are sought in these one after the other, those with the fewest pieces first
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
        # extrapolation adds a third of the differences, so a size smaller by as much is sought
        size -= float(differences.sum()) / 3
        error = BOUNDS * errorOf(differences)
        value = self._ofSize(size)
        low, high = self._bound(size - error, around, -1), self._bound(size + error, around, 1)
        # Where a large area is equally far, sizes put a bound right at the value, but distances are less precise.
        margin = max(LEAST_OF_WIDTH * (high - low), ROUNDING)
        low, high = max(min(low, value - margin), 0.0), max(high, value + margin)
        return Estimate(value, low, high, chosen, differences, wanted)

    def _bound(self, size: float, around: Surroundings, side: int) -> float:
        """Return a close lower (side -1) or upper (1) bound in mm of the distance within which a size is reached."""
        wanted = self._wanted(size)
        if around.holds(wanted):
            return float(np.interp(wanted, around.reached, around.limits)) + side * COARSE * self.error
        # far from the percentile a coarse bound is enough
        return self._ofSize(size, self.error) - (self.error if side < 0 else 0.0)

    def _wanted(self, size: float) -> float:
        """Return the part of a size that has to be found on the leaves."""
        return min(size, self.totalSize) * (1 - SIZE_ROUNDING) - self.sharedSize

    def _ofSize(self, size: float, precision: float = 0.0) -> float:
        """Return the smallest distance in mm within which the boundary has a size, or one up to `precision` larger."""
        wanted = self._wanted(size)
        if wanted <= 0:  # also if the correction exceeds a small size
            return 0.0 if self.sharedSize else float(self.leaves.low.min())
        for around in self._known:
            if around.holds(wanted):
                return around.reaching(wanted, precision)
        self._known.append(self._far(wanted))
        return self._known[-1].reaching(wanted, precision)

    def _far(self, wanted: float) -> Surroundings:
        """Return new surroundings between whose limits a size is reached."""
        leaves, last = self.leaves, self._last
        if last is not None:
            low, high, margin = last.low, last.high, AROUND[-1] * self.error
        else:
            # guess: every element has the middle of its range of distances
            low = high = valueAbove((leaves.low + leaves.high) / 2, leaves.sizes, wanted)
            margin = GUESSED * self.error
        low, high = max(low - margin, 0.0), high + margin
        found = self._around(low + (high - low) * FAR_AROUND)
        if found.holds(wanted):
            return found
        # the size within a distance lies between that of the elements wholly within it and of those at least partly so
        least, most = valueBelow(leaves.low, leaves.sizes, wanted), valueAbove(leaves.high, leaves.sizes, wanted)
        return self._around(least + (most - least) * FAR_AROUND)

    def _steps(self, value: float) -> np.ndarray:
        return np.maximum(value + self.error * AROUND, 0.0)

    def _around(self, limits: np.ndarray) -> Surroundings:
        """Return the surroundings of ascending limits (m,) in mm."""
        least, most = limits[0], limits[-1]
        for known in self._known:
            if known.limits[0] <= least and most <= known.limits[-1]:
                return Surroundings.of(limits, known.below, known.ascending, known.sizes)
        below, ascending, sizes = self.leaves.between(least, most)
        # a piece that reaches below 0 counts twice, as it is and negated, less its whole size once
        both = np.flatnonzero(ascending[0] < 0)
        if len(both):
            ascending = np.concatenate([ascending, -ascending[::-1, both]], axis=1)
            below -= float(sizes[both].sum())
            sizes = np.concatenate([sizes, sizes[both]])
        return Surroundings.of(limits, below, ascending, sizes)


class Surroundings(NamedTuple):
    """Pieces that a limit between the first and the last of some limits passes through, and the sizes within these.

    limits: (m,) mm, ascending. reached: (m,) mm2 or mm, sizes within the limits. below: the part of each size that lies
    below all limits and is not among the pieces. ascending: (corners, n) distances at the pieces' corners, in ascending
    order. sizes: (n,) of the pieces, mm2 or mm.
    """

    limits: np.ndarray
    reached: np.ndarray
    below: float
    ascending: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def of(limits: np.ndarray, below: float, ascending: np.ndarray, sizes: np.ndarray) -> Surroundings:
        """Return the surroundings of limits (m,), leaving out pieces that lie wholly below or above all limits.

        below: size that lies below all limits and is not among the pieces. ascending, sizes: of all pieces.
        """
        more, ascending, sizes = crossedBetween(ascending, sizes, limits[0], limits[-1])
        below += more
        return Surroundings(limits, sizesBelow(ascending, sizes, limits) + below, below, ascending, sizes)

    def holds(self, wanted: float) -> bool:
        """Return whether a size is reached between the limits."""
        return bool(self.reached[0] < wanted <= self.reached[-1])

    def reaching(self, wanted: float, precision: float) -> float:
        """Return the smallest distance within which a wanted size is reached, or the nearer end of the limits."""
        below = self.below
        return firstReaching(self.ascending, self.sizes, wanted - below, self.limits, self.reached - below, precision)
