"""Boundary metrics: unsigned distances between two contours.

Every function takes the distances in both directions between two non-empty boundaries. Elements are weighted by their
size. The numbers of one direction, such as its mean or a percentile, are defined by distances.field.Field.
Source: Podobnik & Vrtovec, Metrics Revolutions, arXiv:2410.02630 and MeshMetrics, arXiv:2509.05670.
"""

from __future__ import annotations

from ...comparison.values import Directed
from ...distances.bounded import combined
from ...distances.surfacedistances import SurfaceDistances, withTies


def hausdorff(distances: SurfaceDistances) -> Directed:
    """Return the Hausdorff distance in mm: the largest distance of any element to the other boundary."""
    there, back = (direction.largest for direction in distances.directions)
    return Directed(combined(max, there, back), there, back)


def percentileHausdorff(distances: SurfaceDistances, percent: float) -> Directed:
    """Return the percentile Hausdorff distance in mm, which `percent` of either boundary does not exceed.

    Weighted by element size, without interpolation. percent: in (0, 100].
    """
    there, back = (direction.percentile(percent) for direction in distances.directions)
    return Directed(combined(max, there, back), there, back)


def meanAverageSurfaceDistance(distances: SurfaceDistances) -> Directed:
    """Return MASD in mm: the mean of the two directed mean distances."""
    there, back = (direction.mean for direction in distances.directions)
    return Directed(combined(lambda a, b: (a + b) / 2, there, back), there, back)


def averageSymmetricSurfaceDistance(distances: SurfaceDistances) -> Directed:
    """Return ASSD in mm: the mean distance over both boundaries together."""
    sizes = [direction.totalSize for direction in distances.directions]
    there, back = (direction.mean for direction in distances.directions)
    pooled = combined(lambda a, b: (a * sizes[0] + b * sizes[1]) / (sizes[0] + sizes[1]), there, back)
    return Directed(pooled, there, back)


def normalizedSurfaceDistance(distances: SurfaceDistances, tolerance: float) -> Directed:
    """Return NSD, the surface Dice, in [0, 1]: the fraction of both boundaries that lies within a tolerance in mm.

    A distance that equals the tolerance counts as within. Source: Nikolov et al., arXiv:1809.04430.
    """
    limit = withTies(tolerance)
    sizes = [direction.sizeWithin(limit) for direction in distances.directions]
    totals = [direction.totalSize for direction in distances.directions]
    pooled = combined(lambda *parts: sum(parts) / sum(totals), *sizes)
    return Directed(pooled, *(size / whole for size, whole in zip(sizes, totals)))


def shareOfTies(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the fraction of both boundaries, in [0, 1], whose distance equals the tolerance in mm."""
    sizes = [d.sizeBetween(withTies(tolerance, -1), withTies(tolerance)) for d in distances.directions]
    return sum(sizes) / sum(direction.totalSize for direction in distances.directions)
