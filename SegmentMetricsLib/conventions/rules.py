"""The rules by which tools turn the distances of both boundaries into one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..distances.surfacedistances import withTies


@dataclass(frozen=True, eq=False)
class Sample:
    """Distances (n,) in mm of a boundary's elements from the other. weights: (n,) sizes, None if all count alike."""

    distances: np.ndarray
    weights: np.ndarray | None = None

    @property
    def total(self) -> float:
        return float(len(self.distances) if self.weights is None else self.weights.sum())

    @cached_property
    def sum(self) -> float:
        return float(self.distances.sum(dtype=float) if self.weights is None else self.distances @ self.weights)

    @property
    def mean(self) -> float:
        return self.sum / self.total if self.total else math.nan

    @property
    def largest(self) -> float:
        return float(self.distances.max(initial=0.0))

    def within(self, tolerance: float) -> float:
        inside = self.distances <= tolerance
        return float(np.count_nonzero(inside) if self.weights is None else self.weights[inside].sum())

    @cached_property
    def order(self) -> np.ndarray:
        return np.argsort(self.distances, kind="stable")


def largestDistance(toTest: Sample, toReference: Sample) -> float:
    """Return the largest distance of either direction."""
    return max(toTest.largest, toReference.largest)


def weightedPercentile(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the larger directed value: the first distance, in order, at which the share of the size is reached."""

    def distanceOf(sample: Sample) -> float:
        weights = np.ones(len(sample.distances)) if sample.weights is None else sample.weights
        shares = np.cumsum(weights[sample.order]) / np.sum(weights)
        first = int(np.searchsorted(shares, percentile / 100))
        return float(sample.distances[sample.order[min(first, len(shares) - 1)]])

    return max(distanceOf(toTest), distanceOf(toReference))


def linearPercentile(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the larger directed percentile, linearly interpolated between elements."""
    return float(max(np.percentile(sample.distances, percentile) for sample in (toTest, toReference)))


def pooledPercentile(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the percentile of the distances of both directions together, linearly interpolated."""
    return float(np.percentile(np.concatenate([toTest.distances, toReference.distances]), percentile))


def lowerRank(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the larger directed distance of rank (n - 1) p, rounded down and counted from 0."""
    return float(
        max(s.distances[s.order[int((len(s.distances) - 1) * (percentile / 100))]] for s in (toTest, toReference))
    )


def betweenMaxima(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the percentile, linearly interpolated, of two numbers: the largest distance of each direction."""
    return float(np.percentile([toTest.largest, toReference.largest], percentile))


def meanOrdinal(toTest: Sample, toReference: Sample, percentile: float) -> float:
    """Return the mean of the directed k-th smallest distances, k = floor(p n - 1) counted from 0, single precision."""

    def distanceOf(sample: Sample) -> float:
        share = np.float32(percentile / 100) * np.float32(len(sample.distances)) - np.float32(1)
        rank = min(math.floor(share), len(sample.distances) - 1)
        if rank < 0:  # for so few distances, the program reads the memory before them, in practice a 0
            return 0.0
        return float(np.partition(sample.distances, rank)[rank])

    return (distanceOf(toTest) + distanceOf(toReference)) / 2


def meanOfMeans(toTest: Sample, toReference: Sample) -> float:
    """Return the mean of the two directed means."""
    return (toTest.mean + toReference.mean) / 2


def largerMean(toTest: Sample, toReference: Sample) -> float:
    """Return the larger one of the two directed means."""
    return max(toTest.mean, toReference.mean)


def testToReferenceMean(toTest: Sample, toReference: Sample) -> float:
    """Return the mean distance from the test to the reference alone."""
    return toReference.mean


def pooledMean(toTest: Sample, toReference: Sample) -> float:
    """Return the mean over the elements of both boundaries."""
    return (toTest.sum + toReference.sum) / (toTest.total + toReference.total)


def fractionWithin(toTest: Sample, toReference: Sample, tolerance: float) -> float:
    """Return the fraction of both boundaries that is at most the tolerance in mm away from the other one."""
    return (toTest.within(tolerance) + toReference.within(tolerance)) / (toTest.total + toReference.total)


def fractionWithinTies(toTest: Sample, toReference: Sample, tolerance: float) -> float:
    """Return fractionWithin(), where distances that equal the tolerance up to rounding count as within."""
    return fractionWithin(toTest, toReference, withTies(tolerance))


def meanShareWithinOne(toTest: Sample, toReference: Sample, tolerance: float) -> float:
    """Return the mean of the fractions of each boundary whose distances are 1 at most, whatever the tolerance."""
    return (toTest.within(1.0) / toTest.total + toReference.within(1.0) / toReference.total) / 2
