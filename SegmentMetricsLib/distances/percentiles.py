"""The limit up to which the size of linear functions on pieces of elements reaches a wanted one: percentiles.

Over one triangle the size on which a linear function is at most a limit is quadratic in the limit between the values at
its corners; over a segment it is linear. So between two neighboring values of all corners the total size is a
polynomial, whose factors are summed once; what is left to look at are the few pieces with a corner between the ends of
the range in which the limit is sought.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.progress import checkpoint
from .linear import WITH_PIECES, ordered, turned, withPieces

if TYPE_CHECKING:
    from .field import Field

# Above this many pieces, those that no longer matter are left out at every step. Pieces whose distances differ by less
# than this, mm, are equally far all over.
MANY, LEVEL = 4096, 1e-9
# Bins in which a percentile is sought first.
BINS = 512
# Relative rounding error of a sum of sizes.
SIZE_ROUNDING = 1e-12


class Pieces:
    """Pieces of elements that limits between `least` and `most` (s,), mm, pass through.

    The size of a piece below a limit grows with the square of the distance from its lowest corner up to the middle one,
    and with that from its highest corner beyond; linearly for segments. So what all pieces contribute is a polynomial
    between any two of their corners.

    corners: (2 or 3, n) distances at their corners in ascending order, mm. growth: (1 or 2, n) factors of these powers.
    segment: (n,). sums: (3, s) of all else: the size below all limits, and the factors of t and t^2 by which that of
    pieces between two of whose corners all limits lie grows with t, the distance of a limit from `least`. levels: the
    distances (k,), sizes (k,) and segments (k,) of pieces that are equally far all over. Sizes are extrapolated: 4/3 of
    that of a piece, and -1/3 of that of the whole element, which is one of the pieces, too.
    """

    def __init__(self, corners, growth, segment, sums, levels, least, most):
        self.corners, self.growth, self.segment, self.sums = corners, growth, segment, sums
        self.levels, self.least, self.most = levels, least, most

    @cached_property
    def atEnds(self) -> tuple[np.ndarray, np.ndarray]:
        """The sizes (s,) within `least` and within `most`."""
        return self.reach(self.least), self.reach(self.most)

    @staticmethod
    def of(field: Field, chosen: np.ndarray, below: np.ndarray, least: np.ndarray, most: np.ndarray) -> Pieces:
        """Return the pieces of some leaves (c,) of a field. below: (s,) size of the leaves below all limits."""
        leaves = field.leaves
        count, ofLeaves = len(WITH_PIECES[leaves.corners]), leaves.sizes.take(chosen)
        corners = np.stack(ordered(withPieces(turned(field.values.take(leaves.nodes[:, chosen])))))
        sizes = np.tile(ofLeaves * 4 / 3 / (count - 1), count)
        sizes[: len(chosen)] = -ofLeaves / 3
        segment = np.tile(leaves.segment.take(chosen), count)
        # a piece that reaches below 0 counts twice, as it is and negated, less its whole size once
        both = np.flatnonzero(corners[0] < 0)
        if len(both):
            below = below - np.bincount(segment[both], sizes[both], field.count)
            corners = np.concatenate([corners, -corners[::-1, both]], axis=1)
            sizes, segment = np.concatenate([sizes, sizes[both]]), np.concatenate([segment, segment[both]])
        span = corners[-1] - corners[0]
        isLevel = span < LEVEL
        levels = [values[np.flatnonzero(isLevel)] for values in (corners[-1], sizes, segment)]
        growth = sizes / np.maximum(span, LEVEL) * ~isLevel
        if len(corners) == 3:
            steps = np.diff(corners, axis=0)
            below = below + np.bincount(segment, growth * steps[1], field.count)
            growth = growth / np.maximum(steps, LEVEL) * np.array([[1], [-1]])
        else:
            growth = growth[None]
        sums = np.stack([below, *np.zeros((2, field.count))])
        # most of them are larger than the range of limits, so that few are left to look at
        return Pieces(corners, growth, segment, sums, levels, least, most).between(least, most)

    def reach(self, limits: np.ndarray) -> np.ndarray:
        """Return the sizes (s,) within limits (s,) in mm."""
        below, linear, square = self.sums
        away = limits - self.least
        result = below + (linear + square * away) * away
        if len(self.segment):
            result += np.bincount(self.segment, self._sizes(limits.take(self.segment)), len(limits))
        values, sizes, segment = self.levels
        if len(values):
            result += np.bincount(segment, sizes * (values <= limits.take(segment)), len(limits))
        return result

    def _sizes(self, limits: np.ndarray) -> np.ndarray:
        """Return the sizes (n,) of all pieces within a limit (n,) each, in mm, but for a constant."""
        first, *middle, last = self.corners
        sizes = np.minimum(limits, self.corners[1])
        np.maximum(sizes, first, out=sizes)
        sizes -= first
        if not middle:
            sizes *= self.growth[0]
            return sizes
        sizes *= sizes
        sizes *= self.growth[0]
        away = np.maximum(limits, middle[0])
        np.minimum(away, last, out=away)
        away -= last
        away *= away
        away *= self.growth[1]
        sizes += away
        return sizes

    def between(self, low: np.ndarray, high: np.ndarray) -> Pieces:
        """Return the pieces that limits from low (s,) to high (s,) pass through."""
        segment, count = self.segment, len(low)
        least, most = low.take(segment), high.take(segment)
        # what all limits are below, between or beyond the same corners of is a polynomial in the limit
        areInside = [(one <= least) & (other >= most) for one, other in itertools.pairwise(self.corners)]
        isKept = (self.corners[-1] > least) & (self.corners[0] < most)
        for isInside in areInside:
            isKept &= ~isInside
        away = low - self.least
        below, linear, square = self.sums
        sums = np.stack([below + (linear + square * away) * away, linear + 2 * square * away, square])
        sums[0] += np.bincount(segment, self._sizes(least) * ~isKept, count)
        for step, isInside in enumerate(areInside):
            rows = np.flatnonzero(isInside)
            ofRows, growth = segment.take(rows), self.growth[step].take(rows)
            if len(self.corners) == 2:
                sums[1] += np.bincount(ofRows, growth, count)
            else:
                end = self.corners[2 * step].take(rows)
                sums[1] += np.bincount(ofRows, 2 * growth * (least.take(rows) - end), count)
                sums[2] += np.bincount(ofRows, growth, count)
        values, sizes, ofLevels = self.levels
        isReached = values <= low.take(ofLevels)
        sums[0] += np.bincount(ofLevels, sizes * isReached, count)
        levels = [some[np.flatnonzero(~isReached & (values <= high.take(ofLevels)))] for some in self.levels]
        kept = np.flatnonzero(isKept)
        corners, growth = self.corners.take(kept, axis=1), self.growth.take(kept, axis=1)
        return Pieces(corners, growth, segment.take(kept), sums, levels, low, high)

    def usualCorners(self, low: np.ndarray, high: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return for every segment (s,) the median of the corners between low (s,) and high (s,), if there are any.

        On a lattice many corners are equally far: none of their pieces matters any more once a range ends there.
        """
        result = otherwise.copy()
        for number in np.unique(self.segment).tolist():
            corners = self.corners[:, self.segment == number].ravel()
            corners = corners[(corners > low[number]) & (corners < high[number])]
            if len(corners):
                result[number] = np.partition(corners, len(corners) // 2)[len(corners) // 2]
        return result

    def repeated(self, count: int) -> Pieces:
        """Return the pieces once more for every number that is sought: segment n of round r is r * s + n."""
        rounds = np.arange(count) * len(self.least)
        segment, ofLevels = (np.add.outer(rounds, some).ravel() for some in (self.segment, self.levels[2]))
        every = (np.tile(some, count) for some in (self.corners, self.growth, self.sums, self.least, self.most))
        corners, growth, sums, least, most = every
        levels = [*(np.tile(some, count) for some in self.levels[:2]), ofLevels]
        result = Pieces(corners, growth, segment, sums, levels, least, most)
        result.__dict__["atEnds"] = tuple(np.tile(some, count) for some in self.atEnds)
        return result

    def solve(self, wanted: np.ndarray, precision: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest limits (s,) in mm within which segments have the wanted sizes (s,), or a little more.

        Also returns where (s,) they are between `least` and `most`; elsewhere the nearer of these is the limit.
        """
        wanted, pieces = wanted * (1 - SIZE_ROUNDING), self
        low, high = self.least, self.most
        atLow, atHigh = self.atEnds
        isFound = (atLow < wanted) & (atHigh >= wanted)
        result = np.maximum(np.where(atLow >= wanted, low, high), 0.0)
        isOpen = isFound & (high - low > precision)
        weights, wasHigh = np.ones((2, len(wanted))), np.zeros(len(wanted), np.int8)
        step = 0
        while isOpen.any():
            checkpoint()
            if step and (len(pieces.segment) > MANY or step % 4 == 0):
                pieces = pieces.between(low, high)
            # regula falsi, in which an end that stays gets half the weight (Illinois); now and then the range is halved
            below, above = (wanted - atLow) * weights[0], (atHigh - wanted) * weights[1]
            share = np.where(below + above > 0, below / np.where(below + above > 0, below + above, 1), 0.5)
            # a little beyond the root, so that both ends close in on it
            share = np.clip(share + np.where(share < 0.5, 0.2, -0.2) * precision / (high - low), 0.0, 1.0)
            middle = low + (high - low) * (0.5 if step % 5 == 4 else share)
            if len(pieces.segment) > MANY and step % 2:
                middle = pieces.usualCorners(low, high, middle)
            at = pieces.reach(middle)
            isHigh = at >= wanted
            weights = np.where([isHigh, ~isHigh], np.where([wasHigh == 1, wasHigh == -1], weights / 2, weights), 1.0)
            wasHigh = np.where(isHigh, 1, -1).astype(np.int8)
            high, atHigh = np.where(isHigh & isOpen, middle, high), np.where(isHigh & isOpen, at, atHigh)
            low, atLow = np.where(isHigh | ~isOpen, low, middle), np.where(isHigh | ~isOpen, atLow, at)
            result = np.where(isOpen, high, result)
            isOpen &= high - low > precision
            step += 1
        # large areas of lattices are equally far, so that the size jumps there
        values, _, segment = pieces.levels
        rows = np.flatnonzero((values > low.take(segment)) & (values <= result.take(segment)))
        np.minimum.at(result, segment[rows], values[rows])
        return result, isFound


def binned(
    segment: np.ndarray, values: np.ndarray, sizes: np.ndarray, top: np.ndarray, wanted: np.ndarray, isAbove: bool
) -> np.ndarray:
    """Return values (s,) up to which segments have at least the wanted sizes (s,), or not isAbove: surely less.

    segment, values, sizes: (k,) of elements, with values from 0 to less than top (s,).
    """
    width = top / BINS
    keys = np.multiply(segment, BINS, dtype=np.intp) + (values / width.take(segment)).astype(np.intp)
    sums = np.bincount(keys, sizes, len(top) * BINS).reshape(-1, BINS).cumsum(axis=1)
    number = (sums < wanted[:, None]).sum(axis=1)
    return width * np.minimum(number + 1, BINS) if isAbove else width * np.minimum(number, BINS - 1) - 1e-9


def evenlySpread(
    segment: np.ndarray, low: np.ndarray, high: np.ndarray, sizes: np.ndarray, top: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits (s,) within which segments would have wanted sizes (s,) if every element were spread evenly.

    Also returns the size per mm (s,) around them. segment, low, high, sizes: (k,) of elements, spread from low to high,
    which are from 0 to less than top (s,).
    """
    width = top / BINS
    ofElements = width.take(segment)
    end = np.maximum(high, low + ofElements)
    density = sizes / (end - low)
    ends = np.arange(1, BINS + 2) * width[:, None]
    reached = np.zeros((len(top), BINS + 1))
    for values, sign in ((low, 1), (end, -1)):
        keys = np.multiply(segment, BINS + 1, dtype=np.intp) + (values / ofElements).astype(np.intp)
        count, sums = (
            np.bincount(keys, some, len(top) * (BINS + 1)).reshape(-1, BINS + 1).cumsum(axis=1)
            for some in (density, density * values)
        )
        reached = reached + sign * (count * ends - sums)
    number = (reached < wanted[:, None]).sum(axis=1).clip(1, BINS)
    rows = np.arange(len(top))
    return (number + 0.5) * width, (reached[rows, number] - reached[rows, number - 1]) / width
