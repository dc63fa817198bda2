"""The distances of boundaries to others: linear functions on the pieces of their elements, and what follows from them.

The idea
--------
The distance to a boundary is nearly linear over a small triangle. Where the nearest part of the other boundary is flat
it is exactly linear, and with a sign even where the two boundaries cross. So a triangle is not represented by its
center, but by its *nodes*: the three corners and the middles of the three sides. These cut it into four pieces with a
linear function on each (a segment has its ends and its middle, and two pieces). Corners and sides are shared by
neighbors: the nodes of a surface of n triangles are 2n points, half as many as the centers of the pieces. For a linear
function the mean distance and the share of a piece within a tolerance are known in closed form (linear.py), so the line
on which the distance equals tau may pass through a piece; it need not follow the edges.

How large is the error? The same number computed from the whole triangle, with its three corners alone, is a coarser
estimate. Halving the sides reduces the error to a quarter if the function is smooth, so the error left in the finer
number is about a third of the *difference* between the two. Adding this third removes most of it (Richardson
extrapolation; for a mean of one sign this is Simpson's rule). What error remains after that? Over thousands of elements
most differences cancel, as they have either sign. A part of their sum remains, and a random error proportional to the
root of the sum of their squares.

Where that is more than is wanted, there is one *second pass*: the elements that a limit passes through with a large
difference, or may pass through unseen because they bend, are cut, and their pieces become elements with nodes of their
own; of small boundaries all elements are. For the mean, a sample of elements is cut, too, and shows how far the
extrapolation is off for all of them.

A field holds several boundaries, its *segments*: both directions of a pair, or those of many pairs of small structures.
Every step is taken for all of them at once, as most of the time of small structures is the number of steps. Numbers are
arrays with one value per segment.

Sources: Richardson, Phil. Trans. R. Soc. A 210, 1911 (extrapolation); Horvitz & Thompson, JASA 47, 1952, and Cochran,
Sampling Techniques, 3rd edition, 1977 (the sample of elements).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base.progress import checkpoint
from ..geometry.edges import CORNERS_OF_SIDES
from .bounded import Bounded
from .elements import Elements, Sampler
from .largest import farthest
from .linear import PIECES, meanMagnitude, ordered, shareBelow, shareWithin

# Errors above which there is a second pass: mm for means; fraction of the boundary for shares within a tolerance; mm
# for percentiles. For boundaries whose elements are shorter than SHORT on average, mm, those in mm are reduced in
# proportion.
MEAN_ERROR, SHARE_ERROR, PERCENTILE_ERROR, SHORT = 0.0005, 0.0015, 0.006, 0.3
# If an element bends by more than this, mm, a limit may pass between its nodes although they all lie on one side of it.
BENT = 0.07
# Up to this many elements, all of a segment are cut in the second pass: choosing some would take as long.
FEW = 1_000
# Fractions that remain as error after extrapolation: of the sum of differences, and of its random part, the root of the
# sum of squares. Means are smoother than sizes up to a limit, whose line jumps from one side of a kink to the other.
LEFT_OF_MEAN, LEFT_OF_SIZE = (0.15, 0.3), (0.2, 1.0)
# The same after the second pass, for a mean.
LEFT_OF_SAMPLE = (0.08, 0.5)
# In one of twenty pairs an error may reach this multiple of its estimate.
BOUNDS = 5.5
# Smallest error of a share: estimates from few elements are not more precise than this.
LEAST_SHARE_ERROR = 0.0003
# Rounding error of any distance, mm, and relative one of a sum of sizes.
ROUNDING, SIZE_ROUNDING = 1e-6, 1e-12
# Expected ratio of the next sum of differences to the current one.
EXPECTED = 1 / 4
# The fewest and the most elements drawn for the mean, and the error of a single draw, as a fraction of the sum of the
# magnitudes of all differences.
FEWEST_DRAWN, MOST_DRAWN, SPREAD = 100, 2000, 0.25
GOLDEN = (5**0.5 - 1) / 2
# A limit passes next to a node if it differs from the distance there by less than this fraction of the element's bend.
NEXT_TO_NODE = 0.25
# A percentile is found to this precision in mm, at first only roughly, and its bounds to a fraction of the error that is
# wanted. The fraction of the size by which the size within it may be off.
PRECISION, ROUGH, COARSE, MARGIN = 1e-6, 2e-3, 1 / 20, 0.002
# Above this many pieces, those that no longer matter are left out at every step. Pieces whose distances differ by less
# than this, mm, are equally far all over.
MANY, LEVEL = 4096, 1e-9
# Elements processed at a time, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 13
# Bins in which a percentile is sought first, and how far around its guess, as a multiple of the error that is wanted.
BINS, GUESSED = 512, 4
# Corners, by node number, of the whole element and then of each of its pieces.
WITH_PIECES = {corners: np.vstack([np.arange(corners), ofPieces]) for corners, ofPieces in PIECES.items()}


class Field:
    """Signed distances of boundaries at the nodes of their elements.

    sampler: measures them. limits, percentiles: the numbers that have to be precise: sizes within limits in mm, and
    percentiles in (0, 100).

    base: the elements of all segments. leaves: the same after some of them were replaced by their pieces. leafRows,
    areCut: (k,) the element of the base of each leaf, and whether the leaf is a piece of it. values: (n,)
    mm at the nodes, positive where the test lies outside the reference, in either direction; never negative for open
    boundaries. totals: (s,) mm2 or mm of every segment. shared: (s,) of elements that are part of both boundaries, which
    are not among the elements.
    """

    def __init__(self, sampler: Sampler, limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
        self.sampler = sampler
        self.base, self.totals, self.shared = sampler.base, sampler.totals, sampler.shared
        self.count = len(self.totals)
        scales = self.scales = np.minimum(1.0, sampler.lengths / SHORT)
        self._meanError, self._percentileError, self._bent = (
            length * scales for length in (MEAN_ERROR, PERCENTILE_ERROR, BENT)
        )
        self._done: dict[tuple, Any] = {}
        self.leaves, self._cut, self._chances = self.base, np.zeros(0, np.intp), np.zeros(0)
        self.leafRows, self.areCut = np.arange(len(self.base.sizes)), np.zeros(len(self.base.sizes), bool)
        self._refine(limits, percentiles)

    @property
    def values(self) -> np.ndarray:
        return self.sampler.values

    def once(self, compute: Callable[..., Any], *arguments) -> Any:
        """Return compute(self, *arguments), computed once for all segments."""
        key = (compute.__name__, *arguments)
        if key not in self._done:
            self._done[key] = compute(self, *arguments)
        return self._done[key]

    # The second pass

    def _refine(self, limits: Sequence[float], percentiles: Sequence[float]) -> None:
        """Cut the elements that make a wanted number too imprecise."""
        if not len(self.base.sizes):
            return
        isFew = np.bincount(self.base.segment, minlength=self.count) <= FEW
        flags = isFew.take(self.base.segment)
        if isFew.all():
            self._cutElements(np.ones(len(flags)))
            return
        wanted = SHARE_ERROR * self.totals
        asked = [(np.full(self.count, limit), wanted) for limit in limits]
        for percent in percentiles:
            value, density, _ = self._percentile(percent)
            asked.append((value, np.maximum(density * self._percentileError, 2e-5 * self.totals)))
        bends = self.base.bends()
        bent = np.flatnonzero(bends > self._bent.take(self.base.segment))
        low, high = self.base.range
        low, high = low.take(bent) - bends.take(bent), high.take(bent) + bends.take(bent)
        for limit, error in asked:
            ofBent = limit.take(self.base.segment.take(bent))
            flags[bent] |= (low <= ofBent) & (high > ofBent)
            chosen, _, differences, doubts = self._passed(limit)
            self._mark(flags, chosen, differences, error, LEFT_OF_SIZE)
            self._mark(flags, chosen, doubts, error, (1.0, 0.0))
        _, differences = self._means(self.base, isSigned=False)
        isRough = self._errorOf(self.base.segment, differences, LEFT_OF_MEAN) > self._meanError * self.totals
        chances = flags.astype(float)
        rough = np.flatnonzero(isRough & ~isFew)
        for segment in rough.tolist():
            rows = self.base.rowsOf(segment)
            some = rows.start + np.flatnonzero(~flags[rows])
            chances[some] = drawn(np.abs(differences[some]), float(self._meanError[segment] * self.totals[segment]))
        self._cutElements(chances)

    def _cutElements(self, chances: np.ndarray) -> None:
        """Replace the elements with chances (k,) above 0, those with which they were drawn, by their pieces."""
        self._cut = np.flatnonzero(chances)
        if len(self._cut):
            checkpoint()
            self._chances = chances.take(self._cut)
            self._pieces = self.sampler.cut(self._cut)
            kept = np.flatnonzero(chances == 0)
            self.leaves = self.base.chosen(kept).joined(self._pieces)
            count = len(self._pieces.sizes) // len(self._cut)
            self.leafRows = np.concatenate([kept, np.repeat(self._cut, count)])
            self.areCut = np.arange(len(self.leafRows)) >= len(kept)

    def _mark(
        self, flags: np.ndarray, chosen: np.ndarray, amounts: np.ndarray, wanted: np.ndarray, left: tuple[float, float]
    ) -> None:
        """Flag the elements with the largest amounts (c,), so that the error of the others is at most half of `wanted`.

        Only in segments whose error exceeds the wanted one (s,). left: as for _errorOf().
        """
        segment = self.leaves.segment.take(chosen)
        isVague = self._errorOf(segment, amounts, left) > wanted
        if not isVague.any():
            return
        # binned by magnitude in steps of a fifth, which is as good as sorted; tiny amounts are never worth cutting
        with np.errstate(divide="ignore"):
            steps = (4 * np.log2(np.abs(amounts) / wanted.take(segment))).clip(-160, 160).astype(np.intp) + 160
        keys, shape = segment * 321 + steps, (self.count, 321)
        sums, squares = (
            np.bincount(keys, values, self.count * 321).reshape(shape).cumsum(axis=1) for values in (amounts, amounts**2)
        )
        isKept = left[0] * np.abs(sums) + left[1] * np.sqrt(squares) <= wanted[:, None] / 2
        kept = np.where(isKept, np.arange(321), 0).max(axis=1)
        flags[chosen[(steps > kept.take(segment)) & isVague.take(segment)]] = True

    def _errorOf(self, segment: np.ndarray, differences: np.ndarray, left: tuple[float, float]) -> np.ndarray:
        """Return the estimated errors (s,) of extrapolated sums.

        differences: (n,) finer minus coarser summands. left: remaining fractions of their sum and of its random part.
        """
        sums, squares = (np.bincount(segment, values, self.count) for values in (differences, differences**2))
        return left[0] * np.abs(sums) + left[1] * np.sqrt(squares)

    # Means

    def mean(self) -> list[Bounded]:
        """Return the mean distance of every segment in mm, with bounds."""
        return self.once(Field._boundedMean, False)

    def signedMean(self) -> list[Bounded]:
        """Return the mean signed distance of every segment in mm, with bounds."""
        return self.once(Field._boundedMean, True)

    def _means(self, elements: Elements, isSigned: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return distance times size of elements (k,), from their pieces, and the differences to that from corners."""
        coarse, fine = elements.coarse, elements.fine
        if not isSigned:
            coarse, fine = np.abs(coarse), np.abs(fine)
            # exact where the sign does not change
            crossed = np.flatnonzero((elements.low < 0) & (elements.high > 0))
            for chosen in chunksOf(crossed):
                values = withPieces(self.values.take(elements.nodes[:, chosen]))
                coarse[chosen], fine[chosen] = ofWholeAndPieces(meanMagnitude(values), elements.corners)
        return fine * elements.sizes, (fine - coarse) * elements.sizes

    def _boundedMean(self, isSigned: bool) -> list[Bounded]:
        segment = self.base.segment
        fine, differences = self._means(self.base, isSigned)
        sums = np.bincount(segment, differences, self.count)
        value = np.bincount(segment, fine, self.count) + sums / 3
        error = self._errorOf(segment, differences, LEFT_OF_MEAN)
        if len(self._cut):
            own = segment.take(self._cut)
            _, ofPieces = self._means(self._pieces, isSigned)
            ofPieces = ofPieces.reshape(len(self._cut), -1)
            beyond = (ofPieces.sum(axis=1) - EXPECTED * differences.take(self._cut)) / self._chances
            more = np.bincount(own, beyond, self.count)
            value += more / (1 - EXPECTED)
            scale = np.maximum(np.abs(EXPECTED * sums + more), EXPECTED * np.abs(sums))
            variance = np.bincount(own, (1 - self._chances) * beyond**2, self.count) / (1 - EXPECTED) ** 2
            # differences that cancel, as on two faces of a box, need not cancel after the pieces are cut
            squares = variance + np.bincount(own, (ofPieces**2).sum(axis=1) / self._chances, self.count)
            ofSample = LEFT_OF_SAMPLE[0] * scale + LEFT_OF_SAMPLE[1] * np.sqrt(squares)
            error = np.where(np.bincount(own, minlength=self.count) > 0, ofSample, error)
        least = -np.inf if isSigned else 0.0
        value, error = value / self.totals, BOUNDS * error / self.totals + ROUNDING
        return [Bounded.within(v, e, least, np.inf) for v, e in zip(value.tolist(), error.tolist(), strict=True)]

    def meanOver(self, rows: np.ndarray, more: float) -> Bounded:
        """Return the mean signed distance in mm over some elements of the base (n,), and a size `more` without any."""
        base = self.base
        sizes = base.sizes.take(rows)
        fine = base.fine.take(rows) * sizes
        differences = fine - base.coarse.take(rows) * sizes
        sums, squares, size = float(differences.sum()), float((differences**2).sum()), float(sizes.sum()) + more
        error = BOUNDS * (LEFT_OF_MEAN[0] * abs(sums) + LEFT_OF_MEAN[1] * squares**0.5) / size + ROUNDING
        return Bounded.within((float(fine.sum()) + sums / 3) / size, error, -np.inf, np.inf)

    # Sizes up to a limit

    def sizeWithin(self, limit: float) -> list[Bounded]:
        """Return the size of every segment within a limit in mm, with bounds."""
        return self.once(Field._boundedSize, limit, 0)

    def sizeBeyond(self, limit: float, side: int) -> list[Bounded]:
        """Return the size of every segment farther than a limit in mm toward one side (1 or -1), with bounds."""
        return self.once(Field._boundedSize, limit, side)

    def _boundedSize(self, limit: float, side: int) -> list[Bounded]:
        chosen, sizes, differences, doubts = self._passed(np.full(self.count, limit), side)
        sizes = sizes + (self.shared if side == 0 or limit < 0 else 0.0)
        segment = self.leaves.segment.take(chosen)
        # all and nothing are exact, despite rounding in the sum of thousands of sizes
        sizes = np.where(np.abs(sizes - self.totals) <= SIZE_ROUNDING * self.totals, self.totals, sizes)
        sizes = np.where(sizes <= SIZE_ROUNDING * self.totals, 0.0, sizes)
        sizes = sizes + np.bincount(segment, differences, self.count) / 3
        errors = BOUNDS * self._errorOf(segment, differences, LEFT_OF_SIZE) + np.bincount(segment, doubts, self.count)
        isPassed = np.bincount(segment, minlength=self.count) > 0
        errors = np.where(isPassed, np.maximum(errors, LEAST_SHARE_ERROR * self.totals), errors)
        for number in range(self.count):
            # all or nothing, unless something between the nodes may exceed the limit
            isWhole = sizes[number] == (self.totals[number] if side == 0 else 0.0)
            if isWhole and not isPassed[number] and self._reached(number, side) + self.sampler.longest > limit:
                if float(self.largest(number)[0]) > limit:
                    errors[number] = LEAST_SHARE_ERROR * self.totals[number]
        return [
            Bounded.within(size, error, 0.0, total)
            for size, error, total in zip(sizes.tolist(), errors.tolist(), self.totals.tolist(), strict=True)
        ]

    def _reached(self, number: int, side: int) -> float:
        rows = self.base.rowsOf(number)
        low, high = self.base.range if side == 0 else self.base.signedRange(side)
        return float(high[rows].max(initial=0.0))

    def _passed(self, limits: np.ndarray, side: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the leaves (c,) that limits (s,) in mm pass through, and sizes (s,) within the limits, or beyond.

        Also returns for every such leaf the size from its pieces minus that from the whole element (c,), and the size
        (c,) that both may miss, see doubtfulShares(). side: 0 for sizes within the limits, 1 or -1 for those beyond them
        toward that side.
        """
        leaves = self.leaves
        low, high = leaves.range if side == 0 else leaves.signedRange(side)
        limit = limits.take(leaves.segment) if self.count > 1 else limits
        isWhole = high <= limit if side == 0 else low > limit
        chosen = np.flatnonzero((low <= limit) & (high > limit))
        sizes = np.bincount(leaves.segment, leaves.sizes * isWhole, self.count)
        fine, differences, doubts = np.empty((3, len(chosen)))
        for part in chunks(len(chosen)):
            rows = chosen[part]
            nodes, limit = self.values.take(leaves.nodes[:, rows]), limits.take(leaves.segment[rows])
            nodes = turned(nodes) if side == 0 else side * nodes
            values, every = withPieces(nodes), np.tile(limit, len(WITH_PIECES[leaves.corners]))
            shares = shareWithin(values, every) if side == 0 else 1 - shareBelow(values, every)
            coarse, fine[part] = ofWholeAndPieces(shares, leaves.corners)
            differences[part], doubts[part] = fine[part] - coarse, doubtfulShares(nodes, limit)
        ofChosen, segment = leaves.sizes.take(chosen), leaves.segment.take(chosen)
        sizes += np.bincount(segment, fine * ofChosen, self.count)
        return chosen, sizes, differences * ofChosen, doubts * ofChosen

    def sizeBetween(self, low: float, high: float) -> np.ndarray:
        """Return the size (s,) of the leaves whose nodes are all farther than `low`, but not than `high`, mm."""
        smallest, largest = self.leaves.range
        isBetween = (smallest > low) & (largest <= high)
        return np.bincount(self.leaves.segment, self.leaves.sizes * isBetween, self.count)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        """Return the sizes (s, n) farther than each of some ascending limits (n,) in mm toward one side (1 or -1)."""
        leaves, limits = self.leaves, np.asarray(limits)
        low, high = leaves.signedRange(side)
        first, last = np.searchsorted(limits, low), np.searchsorted(limits, high)
        width = len(limits) + 1
        # an element is wholly beyond limits below its lowest value, and not at all beyond those from its highest one on
        every = np.bincount(leaves.segment * width + first, leaves.sizes, self.count * width).reshape(self.count, width)
        result = np.cumsum(every[:, ::-1], axis=1)[:, ::-1][:, 1:]
        result = result + np.where(limits < 0, self.shared[:, None], 0.0)
        crossed = np.flatnonzero(last > first)
        while len(crossed):
            for rows in (crossed[part] for part in chunks(len(crossed))):
                values = withPieces(side * self.values.take(leaves.nodes[:, rows]))
                limit = np.tile(limits[first[rows]], len(WITH_PIECES[leaves.corners]))
                coarse, fine = ofWholeAndPieces(1 - shareBelow(values, limit), leaves.corners)
                sizes = (fine + (fine - coarse) / 3) * leaves.sizes[rows]
                np.add.at(result, (leaves.segment[rows], first[rows]), sizes)
            first[crossed] += 1
            crossed = crossed[first[crossed] < last[crossed]]
        # extrapolation must not make the curve rise
        return np.minimum.accumulate(np.clip(result, 0.0, self.totals[:, None]), axis=1)

    # Percentiles

    def percentile(self, percent: float) -> list[Bounded]:
        """Return the distance in mm that at least `percent` of every segment's size does not exceed, with bounds."""
        if percent == 100:
            return [self.largest(number)[0] for number in range(self.count)]
        return self.once(Field._boundedPercentile, percent)

    def _boundedPercentile(self, percent: float) -> list[Bounded]:
        value, density, pieces = self._percentile(percent)
        chosen, _, differences, _ = self._passed(value)
        error = BOUNDS * self._errorOf(self.leaves.segment.take(chosen), differences, LEFT_OF_SIZE)
        near = COARSE * self._percentileError
        # the bounds are first sought not far away; all three numbers of every segment are found together
        width = 6 * error / np.maximum(density, 1e-9) + ROUGH + near
        low, high = np.maximum(value - width, pieces.least), np.minimum(value + width, pieces.most)
        wanted = percent / 100 * self.totals
        wanted = np.minimum(np.concatenate([wanted, wanted - error, wanted + error]), np.tile(self.totals, 3))
        precision = np.concatenate([np.full(self.count, PRECISION), near, near])
        found, isFound = pieces.between(low, high).repeated(3).solve(wanted, precision)
        found, isFound, wanted, precision = (some.reshape(3, -1) for some in (found, isFound, wanted, precision))
        for number in np.flatnonzero(~isFound.all(axis=1)):
            far, isThere = pieces.solve(wanted[number], precision[number])
            if not (isFound[number] | isThere).all():
                pieces = self._piecesAround(percent, np.maximum(error / self.totals, MARGIN))
                far, _ = pieces.solve(wanted[number], precision[number])
            found[number] = np.where(isFound[number], found[number], far)
        value, low, high = found
        low = low - near
        # Where a large area is equally far, sizes put a bound right at the value, but distances are less precise.
        margin = np.maximum(0.25 * (high - low), ROUNDING)
        low, high = np.maximum(np.minimum(low, value - margin), 0.0), np.maximum(high, value + margin)
        return [Bounded(*each) for each in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)]

    def _percentile(self, percent: float) -> tuple[np.ndarray, np.ndarray, Pieces]:
        """Return a rough percentile (s,) in mm, the size per mm (s,) around it, and pieces that it passes through."""
        pieces = self._piecesAround(percent, MARGIN)
        value, _ = pieces.solve(percent / 100 * self.totals, ROUGH)
        low, high = value - self._percentileError, value + self._percentileError
        around = pieces.between(low, high)
        return value, (around.reach(high) - around.reach(low)) / (high - low), pieces

    def _piecesAround(self, percent: float, margins: np.ndarray | float) -> Pieces:
        """Return the pieces that limits pass through between which a percentile lies.

        margins: (s,) fraction of the size by which the wanted size may be more or less.
        """
        leaves = self.leaves
        low, high = leaves.range
        top = self.highest() * (1 + 1e-9) + 1e-9
        least, most = ((percent / 100 + sign * margins) * self.totals - self.shared for sign in (-1, 1))
        near = evenlySpread(leaves.segment, low, high, leaves.sizes, top, (least, most))
        near = [
            np.maximum(limits + sign * GUESSED * self._percentileError, -1e-9) for limits, sign in zip(near, (-1, 1))
        ]
        found = self._piecesBetween(*near)
        isFound = (found.reach(near[0]) - self.shared < least) & (found.reach(near[1]) - self.shared >= most)
        if isFound.all():
            return found
        # the size within a limit lies between that of the elements wholly within it and of those at least partly so
        far = (
            binned(leaves.segment, low, leaves.sizes, top, least * (1 - 1e-9), False),
            binned(leaves.segment, high, leaves.sizes, top, most, True),
        )
        return self._piecesBetween(*(np.where(isFound, one, other) for one, other in zip(near, far, strict=True)))

    def _piecesBetween(self, least: np.ndarray, most: np.ndarray) -> Pieces:
        """Return the pieces that limits from least (s,) to most (s,) in mm pass through."""
        leaves = self.leaves
        low, high = leaves.range
        isBelow = high <= least.take(leaves.segment)
        chosen = np.flatnonzero((low <= most.take(leaves.segment)) & ~isBelow)
        below = np.bincount(leaves.segment, leaves.sizes * isBelow, self.count) + self.shared
        return Pieces.of(self, chosen, below, least, most)

    def highest(self) -> np.ndarray:
        """Return the largest distance (s,) at any node of every segment, mm."""
        result = np.zeros(self.count)
        _, high = self.leaves.range
        np.maximum.at(result, self.leaves.segment, high)
        return result

    # The largest distance

    def largest(self, number: int, side: int = 0, known: float = 0.0) -> tuple[Bounded, np.ndarray]:
        """Return the largest distance in mm of a segment, with guaranteed bounds, and its place (3,), LPS mm.

        side: 0 for both sides; 1 or -1 for the largest signed distance toward the positive or negative side, which is
        negative if nothing lies there. known: a distance in mm already found elsewhere; smaller ones are not searched
        for: the result then only shows that none exceeds the upper bound.
        """
        key = ("largest", number, side, known)
        if key not in self._done:
            self._done[key] = farthest(self, number, side, known)
        return self._done[key]


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
        return Pieces(corners, growth, segment, sums, levels, least, most)

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

    def repeated(self, count: int) -> Pieces:
        """Return the pieces once more for every number that is sought: segment n of round r is r * s + n."""
        rounds = np.arange(count) * len(self.least)
        segment, ofLevels = (np.add.outer(rounds, some).ravel() for some in (self.segment, self.levels[2]))
        every = (np.tile(some, count) for some in (self.corners, self.growth, self.sums, self.least, self.most))
        corners, growth, sums, least, most = every
        levels = [*(np.tile(some, count) for some in self.levels[:2]), ofLevels]
        return Pieces(corners, growth, segment, sums, levels, least, most)

    def solve(self, wanted: np.ndarray, precision: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest limits (s,) in mm within which segments have the wanted sizes (s,), or a little more.

        Also returns where (s,) they are between `least` and `most`; elsewhere the nearer of these is the limit.
        """
        wanted, pieces = wanted * (1 - SIZE_ROUNDING), self
        low, high = self.least, self.most
        atLow, atHigh = pieces.reach(low), pieces.reach(high)
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


def chunks(count: int, size: int = CHUNK) -> Iterator[slice]:
    """Yield slices that divide a count of rows into parts whose temporary arrays stay in the processor's cache."""
    for first in range(0, count, size):
        checkpoint()
        yield slice(first, first + size)


def chunksOf(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield parts of row numbers (n,), see chunks()."""
    return (rows[part] for part in chunks(len(rows)))


def evenlySpread(
    segment: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    sizes: np.ndarray,
    top: np.ndarray,
    wanted: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Return values (s,) up to which segments would have each of the wanted sizes (s,) if elements were spread evenly.

    segment, low, high, sizes: (k,) of elements, spread from low to high, which are from 0 to less than top (s,).
    """
    width = top / BINS
    ofElements = width.take(segment)
    density = sizes / np.maximum(high - low, ofElements)
    end = np.maximum(high, low + ofElements)
    ends = np.arange(1, BINS + 2) * width[:, None]
    reached = 0.0
    for values, sign in ((low, 1), (end, -1)):
        keys = segment * (BINS + 1) + (values / ofElements).astype(np.intp)
        count, sums = (
            np.bincount(keys, some, len(top) * (BINS + 1)).reshape(-1, BINS + 1).cumsum(axis=1)
            for some in (density, density * values)
        )
        reached = reached + sign * (count * ends - sums)
    return [((reached < some[:, None]).sum(axis=1) + 0.5) * width for some in wanted]


def binned(
    segment: np.ndarray, values: np.ndarray, sizes: np.ndarray, top: np.ndarray, wanted: np.ndarray, isAbove: bool
) -> np.ndarray:
    """Return values (s,) up to which segments have at least the wanted sizes (s,), or not isAbove: surely less.

    segment, values, sizes: (k,) of elements, with values from 0 to less than top (s,).
    """
    width = top / BINS
    keys = segment * BINS + (values / width.take(segment)).astype(np.intp)
    sums = np.bincount(keys, sizes, len(top) * BINS).reshape(-1, BINS).cumsum(axis=1)
    number = (sums < wanted[:, None]).sum(axis=1)
    return width * np.minimum(number + 1, BINS) if isAbove else width * np.minimum(number, BINS - 1) - 1e-9


def drawn(differences: np.ndarray, error: float) -> np.ndarray:
    """Return the chances (k,) of elements to be drawn for a sample, 0 for those that are not.

    Those with large differences (k,) are drawn more often. Whether an element is drawn is decided independently for
    each: if the fractional part of the next multiple of the golden ratio is less than its chance. Neighbors have
    consecutive multiples, whose fractional parts are spread evenly, so that the drawn elements are as well. And the
    same pair always gives the same number. error: acceptable error of the sum due to drawing.
    """
    sum_ = float(differences.sum())
    # where whole and pieces agree by chance, finer pieces need not; without any differences all chances are the same
    least = sum_ / max(len(differences), 1) or 1.0
    wanted = np.clip((SPREAD * sum_ / (LEFT_OF_SAMPLE[1] * error)) ** 2, FEWEST_DRAWN, MOST_DRAWN)
    chances = (differences + least) * (wanted / (sum_ + least * len(differences)))
    multiples = np.arange(len(chances)) * GOLDEN
    return np.where(multiples - np.floor(multiples) < chances, np.minimum(chances, 1.0), 0.0)


def doubtfulShares(nodes: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return the fraction of elements (c,) that may lie on the other side of a limit in mm though both estimates agree.

    Where a flat region ends in a kink and the limit is close to the distance of the flat region, whole and pieces both
    place the limit's line right beside the flat node. In truth it may run along the kink, half-way on average.
    nodes: (., c) distances at the nodes in mm. limit: (c,).
    """
    starts, ends = CORNERS_OF_SIDES[2 if len(nodes) == 3 else 3].T
    bends = np.maximum.reduce(np.abs(nodes[-len(starts) :] - (nodes[starts] + nodes[ends]) / 2))
    ranges = np.maximum.reduce(nodes) - np.minimum.reduce(nodes)
    isNear = np.minimum.reduce(np.abs(nodes - limit)) < NEXT_TO_NODE * bends
    return np.where(isNear, bends / np.maximum(np.maximum(ranges, bends), 1e-300) / 2, 0.0)


def turned(nodes: np.ndarray) -> np.ndarray:
    """Return values at the nodes (., c) of elements, negated for elements where their sum is negative."""
    return nodes * np.copysign(1.0, np.add.reduce(nodes, axis=0))


def withPieces(nodes: np.ndarray) -> np.ndarray:
    """Return the values (corners, (1 + pieces) * c) at the corners of elements, and then at those of their pieces."""
    corners = 2 if len(nodes) == 3 else 3
    return nodes[WITH_PIECES[corners].T].reshape(corners, -1)


def ofWholeAndPieces(values: np.ndarray, corners: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (c,) of whole elements and the means over their pieces.

    values: ((1 + pieces) * c,) in the order of withPieces(). corners: number of corners of an element.
    """
    values = values.reshape(len(WITH_PIECES[corners]), -1)
    return values[0], np.add.reduce(values[1:]) / (len(values) - 1)
