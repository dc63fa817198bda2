"""Distributions of distances over two boundaries, for charts: histograms and cumulative shares.

Both boundaries are pooled, elements are weighted by size, and distances equal to a limit count as within it, as in the
normalized surface distance. So the bars within the tolerance add up to NSD, which is also the value of the curve there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..distances.surfacedistances import TIE_TOLERANCE, SurfaceDistances
from ..model.dose import Dose

# The width of bins is the tolerance divided by one of these, so that bins end at the tolerance and at round numbers.
PARTS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 80, 100, 200, 500, 1000)
MOST_BINS = 60
POINTS_OF_CURVE = 121
# Possible ends of axes, times a power of ten.
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8)


@dataclass(frozen=True)
class Histogram:
    """Shares of two boundaries by distance.

    edges: (n + 1,) mm, ascending, one of them 0; symmetric about 0 for signed distances. shares: (n,) % of both
    boundaries; distances beyond the edges are counted in the outer bins. beyond: share of these in %. largest: largest
    distance in mm. isSplit: whether a bin was split, so that not all have the same width.
    """

    edges: np.ndarray
    shares: np.ndarray
    beyond: float
    largest: float
    isSplit: bool

    @property
    def heights(self) -> np.ndarray:
        """(n,) the shares; if a bin was split, % of both boundaries per mm, so that areas of bars are shares."""
        return self.shares / np.diff(self.edges) if self.isSplit else self.shares

    @property
    def outerBars(self) -> str:
        """Text on the share beyond the axis that the outer bars include; "" if there is none."""
        if self.beyond <= 0:
            return ""
        share = f"{self.beyond:.1f} %" if self.beyond >= 0.05 else "less than 0.1 %"
        return f"outer bars: also {share} beyond, up to {self.largest:.1f} mm"

    @property
    def centers(self) -> np.ndarray:
        """(n,) middles of the bins in mm."""
        return (self.edges[:-1] + self.edges[1:]) / 2


def histogram(distances: SurfaceDistances, tolerance: float, signed: bool, isSplit: bool = False) -> Histogram:
    """Return the distribution of the distances of both boundaries.

    The range shows all distances unless a few far ones would squeeze the rest; these are then counted in the outer
    bins. tolerance: in mm; one of the edges, unless the distances are so large that bins are wider. signed: whether to
    keep the two sides apart; a distance of 0 then counts half on either side. isSplit: whether the tolerance is an edge
    in any case; a wider bin that contains it is split there.
    """
    largest = max(direction.largest for direction in distances.directions)
    usual = usualLargest(distances)
    # the tolerance must not be at the end of the axis
    limit = roundAbove(max(largest, 1.25 * tolerance))
    squeezed = roundAbove(max(1.5 * usual, 1.25 * tolerance))
    if limit >= 2 * squeezed:
        limit = squeezed
    most = MOST_BINS // 2 if signed else MOST_BINS
    widths = [tolerance / parts for parts in PARTS if limit / (tolerance / parts) <= most * (1 + 1e-9)]
    width = widths[-1] if widths else roundAbove(limit / most)
    # rounded, so that an edge equals the tolerance exactly
    edges = np.round(np.arange(math.ceil(limit / width * (1 - 1e-9)) + 1) * width, 9)
    isSplit = isSplit and not np.isclose(edges, tolerance, rtol=0, atol=1e-6 * width).any()
    if isSplit:
        edges = np.union1d(edges, [tolerance])
    total = sum(direction.totalSize for direction in distances.directions)
    limits = edges + TIE_TOLERANCE
    # sizes beyond each edge toward either side; those beyond the last edge are counted in the last bin
    over, under = (reduce(np.add, (d.sizesBeyond(limits, side) for d in distances.directions)) for side in (1, -1))
    # sums of many sizes leave a remainder where there is nothing
    beyond = float(over[-1] + under[-1]) if largest > edges[-1] else 0.0
    outside, within = (farther[:-1] - np.append(farther[1:-1], 0.0) for farther in (over, under))
    zero = np.zeros(len(outside))
    zero[0] = total - over[0] - under[0]
    if signed:
        shares = np.concatenate([(within + zero / 2)[::-1], outside + zero / 2])
        edges = np.concatenate([-edges[:0:-1], edges])
    else:
        shares = outside + within + zero
    return Histogram(edges, 100 * shares / total, 100 * beyond / total, largest, isSplit)


def usualLargest(distances: SurfaceDistances) -> float:
    """Return the distance in mm that 98 % of either boundary do not exceed: the end of scales but for outliers."""
    return max(direction.percentile(98) for direction in distances.directions)


def cumulativePositions(limit: float, tolerance: float) -> np.ndarray:
    """Return distances (n,) in mm, ascending from 0 to the limit, at which a curve is drawn; one is the tolerance."""
    return np.union1d(np.linspace(0, limit, POINTS_OF_CURVE), [min(tolerance, limit)])


def cumulativeShares(distances: SurfaceDistances, positions: np.ndarray) -> np.ndarray:
    """Return the shares (n,) in % of both boundaries that lie within ascending distances (n,) in mm."""
    limits = np.asarray(positions) + TIE_TOLERANCE
    total = sum(direction.totalSize for direction in distances.directions)
    beyond = sum(d.sizesBeyond(limits, side) for d in distances.directions for side in (1, -1))
    # rounding of the sum must not end above the whole
    return np.clip(100 * (1 - beyond / total), 0.0, 100.0)


def cumulativeLimit(many: Sequence[SurfaceDistances], tolerance: float) -> float:
    """Return the end in mm of the axis for the curves of many pairs.

    It covers nearly all distances of nearly all pairs, so that an outlying pair does not squeeze the others.
    """
    usual = [usualLargest(distances) for distances in many]
    return roundAbove(max(float(np.quantile(usual, 0.9)), 2 * tolerance))


def mapRange(distances: SurfaceDistances, tolerance: float) -> float:
    """Return the distance in mm of the outermost color of a map: round, rarely exceeded, not below the tolerance.

    It is the same for both boundaries, so that their maps are comparable, and at least 0.1 mm, as for equal boundaries.
    """
    return roundAbove(max(usualLargest(distances), tolerance, 0.1))


def doseRange(dose: Dose, distances: SurfaceDistances) -> float:
    """Return the end of the colors of a dose in Gy: a round number that no corner of either surface exceeds."""
    found = [dose.at(one.surface.points) for one in distances.directions]
    largest = max(float(values[areKnown].max(initial=0)) for values, areKnown in found)
    return roundAbove(largest or 1.0)


def roundAbove(value: float, steps: Sequence[float] = ROUND) -> float:
    """Return the smallest of some numbers times a power of ten that is not below a positive value."""
    decade = 10.0 ** math.floor(math.log10(value))
    step = next(step for step in (*steps, 10) if step * decade >= value * (1 - 1e-9))
    return float(f"{step * decade:.3g}")


def roundBelow(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a positive value."""
    decade = 10.0 ** math.floor(math.log10(value))
    return float(f"{max(step for step in (1, 2, 5) if step * decade <= value * (1 + 1e-9)) * decade:.1g}")


def roundRange(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis that contains two values; the ends and their middle are round numbers."""
    high = high if high > low else low + 1
    step, decimals = roundBelow((high - low) / 8), -math.floor(math.log10((high - low) / 8))
    first = math.floor(low / step + 1e-9)
    halves = math.ceil((high / step - first) / 2 - 1e-9)
    return round(first * step, decimals), round((first + 2 * halves) * step, decimals)
