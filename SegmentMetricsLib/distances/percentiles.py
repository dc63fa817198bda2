"""Percentiles of the distances on the elements of a boundary, and how far they may be off.

A percentile is where the size within a distance reaches the wanted share of all. The size from the finer pieces and
that from the elements as a whole differ; by a third of it the finer one is corrected (see refinement.py). What may be
left of that, over how much size there is around the percentile, is how far it may be off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .crossing import firstReaching, sizesBelow, valueAbove, valueBelow
from .elements import Leaves
from .extrapolation import BOUNDS, ROUNDING, SIZE_ROUNDING, errorOf
from .linear import negative

# A share cannot be found better than this by cutting; where a percentile depends on less it stays uncertain.
LEAST_SHARE = 2e-5
# How far around a percentile its bounds are sought first, and how precisely, as multiples of its error.
AROUND, COARSE = (1, 2, 4, 8), 1 / 80


class Estimate(NamedTuple):
    """A percentile in mm with bounds, the leaves (c,) it passes through, how much these differ, and may."""

    value: float
    low: float
    high: float
    chosen: np.ndarray
    differences: np.ndarray
    wanted: float


class Percentiles:
    """Finds percentiles on leaves.

    totalSize, sharedSize: mm2 or mm, of the boundary, and of what both boundaries have, which is not among the leaves.
    error: in mm, how precisely they are wanted.
    """

    def __init__(self, leaves: Leaves, totalSize: float, sharedSize: float, error: float):
        self.leaves, self.totalSize, self.sharedSize, self.error = leaves, totalSize, sharedSize, error

    def estimate(self, percent: float, last: Estimate | None = None) -> Estimate:
        """Return the smallest distance that at least `percent` of the size does not exceed.

        last: what it was before elements were cut further.
        """
        near = self.error
        within = None if last is None else self._around(max(last.low - near, 0.0), last.high + near)
        fine = self._ofSize(percent / 100 * self.totalSize, within, near / 16)
        within = self._around(max(fine - AROUND[-1] * near, 0.0), fine + AROUND[-1] * near)
        limits, reached = within.sizesAround(fine, near)
        low, high = np.interp([fine - near, fine + near], limits, reached)
        wanted = max((high - low) / 2, LEAST_SHARE * self.totalSize)
        _, chosen, differences = self.leaves.within(fine)
        # with a third of the differences the size up to it is that much larger, so another one is wanted
        size = percent / 100 * self.totalSize - float(differences.sum()) / 3
        error = BOUNDS * errorOf(differences)
        value = self._ofSize(size, within)
        low, high = (
            float(np.interp(bound - self.sharedSize, reached, limits))
            if reached[0] < bound - self.sharedSize < reached[-1]
            else self._ofSize(bound, within, COARSE * near)
            for bound in (size - error, size + error)
        )
        low, high = max(min(low - COARSE * near, value - ROUNDING), 0.0), max(high, value + ROUNDING)
        return Estimate(value, low, high, chosen, differences, wanted)

    def _ofSize(self, size: float, within: Surroundings | None, precision: float = 0.0) -> float:
        """Return the smallest distance in mm within which the boundary has a size, sought among some pieces first."""
        wanted = min(size, self.totalSize) * (1 - SIZE_ROUNDING) - self.sharedSize
        if wanted <= 0:  # also where more is taken off a small size than there is
            return 0.0 if self.sharedSize else float(self.leaves.low.min())
        if within is not None:
            found = within.reaching(wanted, precision)
            if within.least < found < within.most:
                return found
        leaves = self.leaves
        # the size within a distance lies between that of the elements wholly within and of those partly within
        least, most = valueBelow(leaves.low, leaves.sizes, wanted), valueAbove(leaves.high, leaves.sizes, wanted)
        return self._around(least, most).reaching(wanted, precision)

    def _around(self, least: float, most: float) -> Surroundings:
        """Return the pieces that a limit from least to most in mm passes through."""
        leaves = self.leaves
        below = float(leaves.sizes[leaves.high <= least].sum())
        ascending, sizes = leaves.between(least, most)
        # what reaches down to the other side counts there as well: once for each side, less once
        both = np.flatnonzero(ascending[0] < 0)
        if len(both):
            turned = negative(column[both] for column in ascending)
            below -= float(sizes[both].sum())
            ascending = tuple(np.concatenate(columns) for columns in zip(ascending, turned))
            sizes = np.concatenate([sizes, sizes[both]])
        return Surroundings(least, most, below, ascending, sizes)


class Surroundings(NamedTuple):
    """Pieces through which limits from least to most in mm pass, and the size of what lies below all of these limits.

    ascending: (n,) each, distances at their corners in order. sizes: (n,) mm2 or mm.
    """

    least: float
    most: float
    below: float
    ascending: tuple[np.ndarray, ...]
    sizes: np.ndarray

    def sizesAround(self, value: float, near: float) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (n,) around one, multiples of `near` away where there are pieces, and the sizes within."""
        steps = np.array([*(-step for step in reversed(AROUND)), 0, *AROUND])
        limits = (value + near * steps).clip(self.least, self.most)
        return limits, sizesBelow(self.ascending, self.sizes, limits) + self.below

    def reaching(self, wanted: float, precision: float) -> float:
        """Return the smallest distance within which there is a wanted size, or the nearer end of the limits."""
        return firstReaching(self.ascending, self.sizes, wanted - self.below, self.least, self.most, precision)
