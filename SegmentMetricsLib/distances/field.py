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
root of the sum of squares. Elements with the same difference count as one there: on a lattice many lie in the same
way to the other boundary, as where a structure is shifted by a voxel, and then all of them have the same error.

Where that is more than is wanted, there is a *second pass*: the elements that a limit passes through with a large
difference are cut, and their pieces become elements with nodes of their own; of small boundaries all elements are. For
the mean, a sample of elements is cut, too, and shows how far the extrapolation is off for all of them. Further passes
are for meshes, whose triangles may be large, and for the rare pair whose error is still many times what is wanted.

A field holds several boundaries, its *segments*: both directions of a pair, or those of many pairs of small structures.
Every step is taken for all of them at once, as most of the time of small structures is the number of steps. Numbers are
arrays with one value per segment.

Sources: Richardson, Phil. Trans. R. Soc. A 210, 1911 (extrapolation); Horvitz & Thompson, JASA 47, 1952, and Cochran,
Sampling Techniques, 3rd edition, 1977 (the sample of elements).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce, wraps
from typing import Any

import numpy as np

from ..base.progress import chunks
from ..geometry.triangles import CORNERS_OF_SIDES
from . import linear
from .bounded import Bounded
from .elements import Elements, Sampler
from .largest import farthest

# Errors above which there is a second pass: mm for means; fraction of the boundary for shares within a tolerance; mm
# for percentiles. For boundaries whose elements are shorter than SHORT on average, mm, those in mm are reduced in
# proportion.
MEAN_ERROR, SHARE_ERROR, PERCENTILE_ERROR, SHORT = 0.0005, 0.0015, 0.006, 0.3
# Up to this many elements of a segment, all are cut in any case where there are further passes.
FEWEST = 300
# Fractions that remain as error after extrapolation: of the sum of differences, and of its random part, the root of the
# sum of squares. Means are smoother than sizes up to a limit, whose line jumps from one side of a kink to the other.
LEFT_OF_MEAN, LEFT_OF_SIZE = (0.12, 0.4), (0.2, 0.7)
# Differences of less than this, mm2 or mm3, are the same.
SAME = 1e-9
# In one of twenty pairs an error may reach this multiple of its estimate.
BOUNDS_OF_MEAN, BOUNDS_OF_PERCENTILE, BOUNDS_OF_KINKS = 1.6, 3.0, 0.5
# Passes after the second one, elements of a segment that are cut in each, and how many times too large errors are that
# need them, except for segments that always do.
MORE_PASSES, MOST_CUT, TOO_LARGE = 4, 20_000, 4
# Smallest error of a share: estimates from few elements are not more precise than this.
LEAST_SHARE_ERROR = 0.0003
# Rounding error of any distance, mm.
ROUNDING = 1e-6
# Expected ratio of the next sum of differences to the current one.
EXPECTED = 1 / 4
# The fewest and the most elements drawn for the mean, and the error of a single draw, as a fraction of the sum of the
# magnitudes of all differences.
FEWEST_DRAWN, MOST_DRAWN, SPREAD = 100, 2000, 0.5
GOLDEN = (5**0.5 - 1) / 2
# A limit passes next to a node if it differs from the distance there by less than this fraction of the element's bend.
NEXT_TO_NODE = 0.25
# How far around a guess a percentile is sought at first, as a fraction of the size; then so many times as far.
MARGIN, FARTHER = 0.002, 4


def once(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a number of all segments once for the same arguments."""

    @wraps(compute)
    def call(self: Field, *arguments):
        key = compute.__name__, *arguments
        if key not in self.known:
            self.known[key] = compute(self, *arguments)
        return self.known[key]

    return call


class Field:
    """Signed distances of boundaries at the nodes of their elements.

    sampler: measures them. limits, percentiles: the numbers that have to be precise: sizes within limits in mm, and
    percentiles in (0, 100).

    base: the elements of all segments. elements: the same after some of them were replaced by their pieces; both are in
    the order of segments. values: (n,) mm at the nodes, positive where the test lies outside the reference, in either
    direction; never negative for open boundaries. totals: (s,) mm2 or mm of every segment. shared: (s,) of elements
    that are part of both boundaries and not among the elements.
    """

    def __init__(self, sampler: Sampler, limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
        self.sampler = sampler
        self.base, self.totals, self.shared = sampler.base, sampler.totals, sampler.shared
        self.count = len(self.totals)
        self.scales = np.minimum(1.0, sampler.lengths / SHORT)
        self.known: dict[tuple, Any] = {}
        self._cuts: list[tuple[np.ndarray, Elements]] = []
        if len(self.base.sizes):
            self._refine(limits, percentiles)

    @cached_property
    def elements(self) -> Elements:
        return reduce(lambda elements, cut: elements.replace(*cut), self._cuts, self.base)

    def forget(self) -> None:
        """Free the memory of what is made again when needed, unless other pairs need it next."""
        if self.count == 2:
            self.__dict__.pop("elements", None)
            self.base.__dict__.pop("range", None)

    # The second pass

    def _refine(self, limits: Sequence[float], percentiles: Sequence[float]) -> None:
        """Cut the elements that make a wanted number too imprecise."""
        isCut = self.sampler.areFew.take(self.base.segment)
        self._drawn, self._probabilities = np.zeros(0, np.intp), np.zeros(0)
        if not self.sampler.areFew.all():
            isCut |= self._findImprecise(limits, percentiles)
            # the sample must not depend on what else is asked
            _, differences = self._means(self.base, isSigned=False)
            wanted, probabilities = MEAN_ERROR * self.scales * self.totals, np.zeros(len(differences))
            for number in np.flatnonzero(~self.sampler.areFew).tolist():
                own = self.base.rowsOf(number)
                probabilities[own] = drawSample(np.abs(differences[own]), float(wanted[number]))
            self._drawn = np.flatnonzero(probabilities)
            self._probabilities = probabilities.take(self._drawn)
            isCut[self._drawn] = True
        rows = np.flatnonzero(isCut)
        if len(rows):
            self._cut(rows)
            _, pieces = self._cuts[0]
            count = len(pieces.sizes) // len(rows)
            ofDrawn = np.searchsorted(rows, self._drawn)[:, None] * count + np.arange(count)
            self._piecesOfDrawn = pieces.choose(ofDrawn.ravel())
        for _ in range(MORE_PASSES):
            flags = self._findImprecise(limits, percentiles, isAgain=True)
            every = map(self.elements.rowsOf, range(self.count))
            rows = np.concatenate([own.start + np.flatnonzero(flags[own])[:MOST_CUT] for own in every])
            if not len(rows):
                break
            self._cut(rows)

    def _cut(self, rows: np.ndarray) -> None:
        self._cuts.append((rows, self.sampler.cut(self.elements, rows)))
        self.elements = self.elements.replace(*self._cuts[-1])
        self.known.clear()

    def _findImprecise(
        self, limits: Sequence[float], percentiles: Sequence[float], isAgain: bool = False
    ) -> np.ndarray:
        """Return which elements (k,) make sizes within limits in mm or percentiles too imprecise.

        isAgain: after the second pass; also means, where elements may be large.
        """
        elements, share = self.elements, SHARE_ERROR * self.totals
        wanted: list[tuple[float | tuple[float, ...], np.ndarray]] = [(limit, share) for limit in limits]
        # after the second pass percentiles are precise enough, except for pairs whose elements may be large
        areLarge = self.sampler.areLarge
        areMeant = areLarge | np.roll(areLarge, self.count // 2) | (not isAgain)
        for percent in percentiles if areMeant.any() else ():
            value, density = self._estimate(percent)
            error = np.maximum(density * PERCENTILE_ERROR * self.scales, 2e-5 * self.totals)
            wanted.append((tuple(value.tolist()), np.where(areMeant, error, np.inf)))
        flags = np.zeros(len(elements.sizes), bool)
        factor = np.where(self.sampler.areLarge | (not isAgain), 1, TOO_LARGE)
        for limit, error in wanted:
            chosen, _, differences, kinkSizes = self._sizesAt(limit, 0)
            self._flagLargest(flags, chosen, differences, factor * error, LEFT_OF_SIZE)
            self._flagLargest(flags, chosen, kinkSizes, factor * error, (1.0, 0.0))
        if isAgain and self.sampler.areLarge.any():
            _, differences = self._means(elements, isSigned=False)
            # those of very few elements may vanish by chance
            isLarge = self.sampler.areLarge.take(elements.segment)
            flags |= isLarge & (np.bincount(elements.segment, minlength=self.count) <= FEWEST).take(elements.segment)
            error = np.where(self.sampler.areLarge, MEAN_ERROR * self.scales * self.totals, np.inf)
            self._flagLargest(flags, np.arange(len(flags)), differences, error, LEFT_OF_MEAN)
        return flags

    def _flagLargest(
        self, flags: np.ndarray, chosen: np.ndarray, amounts: np.ndarray, wanted: np.ndarray, left: tuple[float, float]
    ) -> None:
        """Flag the elements with the largest amounts (c,), so that the error of the others is at most half of `wanted`.

        Only in segments whose error exceeds the wanted one (s,). left: as for errorsLeft().
        """
        starts = np.searchsorted(self.elements.segment.take(chosen), np.arange(self.count))
        for rows, some, error in zip(np.split(chosen, starts[1:]), np.split(amounts, starts[1:]), wanted.tolist()):
            order, ends, errors = errorsLeft(some, left)
            if errors[-1] > error:
                flags[rows[order[ends[np.flatnonzero(errors <= error / 2).max()] :]]] = True

    def _errorOf(self, segment: np.ndarray, differences: np.ndarray, left: tuple[float, float]) -> np.ndarray:
        """Return the estimated errors (s,) of extrapolated sums; see errorsLeft(). segment: (n,) ascending."""
        parts = np.split(differences, np.searchsorted(segment, np.arange(1, self.count)))
        return np.array([errorsLeft(part, left)[2][-1] for part in parts])

    # Means

    def _means(self, elements: Elements, isSigned: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return distance times size of elements (k,), from their pieces, and the differences to that from corners."""
        coarse, fine = elements.coarse, elements.fine
        if not isSigned:
            coarse, fine = np.abs(coarse), np.abs(fine)
            # exact where the sign does not change
            crossed = np.flatnonzero((elements.low < 0) & (elements.high > 0))
            for part in chunks(len(crossed)):
                chosen = crossed[part]
                values = linear.withPieces(self.sampler.values.take(elements.nodes[:, chosen]))
                coarse[chosen], fine[chosen] = linear.ofWholeAndPieces(linear.meanMagnitude(values), elements.corners)
        return fine * elements.sizes, (fine - coarse) * elements.sizes

    @once
    def mean(self, isSigned: bool = False) -> list[Bounded]:
        """Return the mean distance of every segment in mm, or the mean signed distance, with bounds."""
        areFew = self.sampler.areFew
        # of small boundaries the elements; of others the base and the sample, as elements depend on what else is asked
        value: Any = 0.0
        error: Any = 0.0
        if areFew.any():
            fine, differences = self._means(self.elements, isSigned)
            value = np.bincount(self.elements.segment, fine + differences / 3, self.count)
            error = self._errorOf(self.elements.segment, differences, LEFT_OF_MEAN)
        if not areFew.all():
            segment, own = self.base.segment, self.base.segment.take(self._drawn)
            fine, differences = self._means(self.base, isSigned)
            _, ofPieces = self._means(self._piecesOfDrawn, isSigned)
            ofPieces = ofPieces.reshape(len(own), -1)
            beyond = (ofPieces.sum(axis=1) - EXPECTED * differences.take(self._drawn)) / self._probabilities
            # those that were not drawn are represented by those that were
            sums, ofDrawn = np.bincount(segment, differences, self.count), np.bincount(own, beyond, self.count)
            ofBase: Any = np.bincount(segment, fine + differences / 3, self.count) + ofDrawn / (1 - EXPECTED)
            sums = np.maximum(np.abs(EXPECTED * sums + ofDrawn), np.abs(EXPECTED * sums))
            variance = np.bincount(own, (1 - self._probabilities) * beyond**2, self.count) / (1 - EXPECTED) ** 2
            # differences that cancel, as on two faces of a box, need not cancel after the pieces are cut
            squares = np.bincount(own, (ofPieces**2).sum(axis=1) / self._probabilities, self.count)
            errorOfBase = LEFT_OF_MEAN[0] * sums + np.sqrt(LEFT_OF_MEAN[1] ** 2 * squares + variance)
            value, error = np.where(areFew, value, ofBase), np.where(areFew, error, errorOfBase)
        least = -np.inf if isSigned else 0.0
        value, error = value / self.totals, BOUNDS_OF_MEAN * error / self.totals + ROUNDING
        return [Bounded.within(v, e, least, np.inf) for v, e in zip(value.tolist(), error.tolist(), strict=True)]

    # Sizes up to a limit

    def estimateSize(self, limit: float, side: int = 0) -> np.ndarray:
        """Return the sizes (s,) of size() without bounds, which may need the largest distance."""
        chosen, sizes, differences, _ = self._sizesAt(limit, side)
        sizes = sizes + (self.shared if side == 0 or limit < 0 else 0.0)
        # all and nothing are exact, despite rounding in the sum of thousands of sizes
        sizes = np.where(np.abs(sizes - self.totals) <= linear.SIZE_ROUNDING * self.totals, self.totals, sizes)
        sizes = np.where(sizes <= linear.SIZE_ROUNDING * self.totals, 0.0, sizes)
        return sizes + np.bincount(self.elements.segment.take(chosen), differences, self.count) / 3

    @once
    def size(self, limit: float, side: int = 0) -> list[Bounded]:
        """Return the size of every segment within a limit in mm, or farther toward one side (1 or -1), with bounds."""
        sizes = self.estimateSize(limit, side)
        chosen, _, differences, kinkSizes = self._sizesAt(limit, side)
        segment = self.elements.segment.take(chosen)
        errors = self._errorOf(segment, differences, LEFT_OF_SIZE)
        errors = errors + BOUNDS_OF_KINKS * np.bincount(segment, kinkSizes, self.count)
        isPassed = np.bincount(segment, minlength=self.count) > 0
        errors = np.where(isPassed, np.maximum(errors, LEAST_SHARE_ERROR * self.totals), errors)
        _, high = self.base.range if side == 0 else self.base.signedRange(side)
        for number, own in enumerate(map(self.base.rowsOf, range(self.count))):
            # all or nothing, unless something between the nodes may exceed the limit
            isWhole = not isPassed[number] and sizes[number] == (self.totals[number] if side == 0 else 0.0)
            reached, longest = (float(some[own].max(initial=0.0)) for some in (high, self.base.sides))
            isExact = isWhole and reached + longest <= limit
            if isWhole and not isExact and float(self.largest()[number][0]) > limit:
                errors[number] = LEAST_SHARE_ERROR * self.totals[number]
        return [
            Bounded.within(size, error, 0.0, total)
            for size, error, total in zip(sizes.tolist(), errors.tolist(), self.totals.tolist(), strict=True)
        ]

    @once
    def _sizesAt(
        self, limit: float | tuple[float, ...], side: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the elements (c,) that a limit in mm, or one of each segment, passes through; sizes (s,) within it.

        Also returns for every such element the size from its pieces minus that from the whole element (c,), and the
        size (c,) that both may miss, see kinkShares(). side: 0 for sizes within the limit, 1 or -1 for those beyond it
        toward that side.
        """
        elements, limits = self.elements, np.broadcast_to(limit, self.count)
        low, high = elements.range if side == 0 else elements.signedRange(side)
        ofEach = limits.take(elements.segment) if isinstance(limit, tuple) else limit
        isWhole = high <= ofEach if side == 0 else low > ofEach
        chosen = np.flatnonzero((low <= ofEach) & (high > ofEach))
        sizes = np.bincount(elements.segment, elements.sizes * isWhole, self.count)
        fine, differences, kinkSizes = np.empty((3, len(chosen)))
        for part in chunks(len(chosen)):
            rows = chosen[part]
            nodes, ofEach = self.sampler.values.take(elements.nodes[:, rows]), limits.take(elements.segment[rows])
            nodes = linear.turn(nodes) if side == 0 else side * nodes
            values, every = linear.withPieces(nodes), np.tile(ofEach, len(linear.WITH_PIECES[elements.corners]))
            shares = linear.shareWithin(values, every) if side == 0 else 1 - linear.shareBelow(values, every)
            coarse, fine[part] = linear.ofWholeAndPieces(shares, elements.corners)
            differences[part], kinkSizes[part] = fine[part] - coarse, kinkShares(nodes, ofEach)
        ofChosen, segment = elements.sizes.take(chosen), elements.segment.take(chosen)
        sizes += np.bincount(segment, fine * ofChosen, self.count)
        return chosen, sizes, differences * ofChosen, kinkSizes * ofChosen

    # Percentiles

    @once
    def percentile(self, percent: float) -> list[Bounded]:
        """Return the distance in mm that at least `percent` of every segment's size does not exceed, with bounds."""
        if percent == 100:
            return [largest for largest, _ in self.largest()]
        elements, result = self.elements, []
        for number, (guess, density) in enumerate(zip(*self._estimate(percent))):
            own, total = elements.rowsOf(number), float(self.totals[number])
            low, high = (some[own] for some in elements.range)
            wanted, top = percent / 100 * total, float(high.max(initial=0.0))
            away = MARGIN * total / max(density, 1e-9)
            while True:
                least, most = max(guess - away, -1e-9), guess + away
                chosen = np.flatnonzero((low <= most) & (high > least))
                below = float(elements.sizes[own].sum(where=high <= least)) + float(self.shared[number])
                values = self.sampler.values.take(elements.nodes[:, own].take(chosen, axis=1))
                sizes = elements.sizes[own].take(chosen)
                find = linear.invertSizes(values, sizes, below, least, most)
                value, isFound = find(np.array([wanted]))
                isAll = least < 0 and most > top
                if isFound.all() or isAll:
                    pieces, corners = linear.withPieces(linear.turn(values)), elements.corners
                    shares = linear.shareWithin(pieces, np.full(pieces.shape[1], value))
                    coarse, fine = linear.ofWholeAndPieces(shares, corners)
                    differences = (fine - coarse) * sizes
                    error = BOUNDS_OF_PERCENTILE * float(errorsLeft(differences, LEFT_OF_SIZE)[2][-1])
                    limits, isFound = find(np.array([wanted - error, min(wanted + error, total)]))
                    if isFound.all() or isAll:
                        break
                away *= FARTHER
            value, lower, upper = np.maximum([*value, *limits], 0.0).tolist()
            # Where a large area is equally far, sizes put a bound right at the value, but distances are less precise.
            margin = max(0.25 * (upper - lower), ROUNDING)
            result.append(Bounded(value, max(0.0, min(lower, value - margin)), max(upper, value + margin)))
        return result

    @once
    def _estimate(self, percent: float) -> tuple[np.ndarray, np.ndarray]:
        """Return a percentile (s,) in mm and the size per mm (s,) around it as if elements were spread evenly."""
        elements = self.elements
        return linear.estimatePercentiles(
            elements.segment, *elements.range, elements.sizes, percent / 100 * self.totals - self.shared
        )

    # The largest distance

    @once
    def largest(self, side: int = 0) -> list[tuple[Bounded, np.ndarray]]:
        """Return the largest distance in mm of every segment, with guaranteed bounds, and its place (3,), LPS mm.

        side: 0 for both sides; 1 or -1 for the largest signed distance toward the positive or negative side, which is
        negative if nothing lies there. Toward one side only the larger distance of the two boundaries of a pair is
        searched for: that of the other boundary then only has an upper bound.
        """
        return farthest(self, side)


def errorsLeft(differences: np.ndarray, left: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the estimated error of the extrapolated sum of the elements with the smallest differences, for any number.

    Returns the order (n,) of elements by magnitude of difference, numbers (g,) of elements, from 0 to all of them, and
    the errors (g,) of the first so many; elements with the same difference are not torn apart.

    differences: (n,) finer minus coarser summands. left: remaining fractions of their sum and of its random part.
    """
    order = np.argsort(np.abs(differences))
    ascending = differences.take(order)
    isEnd = np.diff(np.abs(ascending), append=np.inf) > SAME
    sums = np.concatenate([[0.0], np.cumsum(ascending)[isEnd]])
    squares = np.cumsum(np.diff(sums, prepend=0.0) ** 2)
    ends = np.concatenate([[0], np.flatnonzero(isEnd) + 1])
    return order, ends, left[0] * np.abs(sums) + left[1] * np.sqrt(squares)


def drawSample(differences: np.ndarray, error: float) -> np.ndarray:
    """Return the probabilities (k,) of elements to be drawn for a sample, 0 for those that are not.

    Those with large differences (k,) are drawn more often. Whether an element is drawn is decided independently for
    each: if the fractional part of the next multiple of the golden ratio is less than its chance. Neighbors have
    consecutive multiples, whose fractional parts are spread evenly, so that the drawn elements are as well. And the
    same pair always gives the same number. error: acceptable error of the sum due to drawing.
    """
    sum_ = float(differences.sum())
    # where whole and pieces agree by chance, finer pieces need not; without any differences all are drawn alike
    least = sum_ / max(len(differences), 1) or 1.0
    wanted = np.clip((SPREAD * sum_ / error) ** 2, FEWEST_DRAWN, MOST_DRAWN)
    probabilities = (differences + least) * (wanted / (sum_ + least * len(differences)))
    multiples = np.arange(len(probabilities)) * GOLDEN
    return np.where(multiples - np.floor(multiples) < probabilities, np.minimum(probabilities, 1.0), 0.0)


def kinkShares(nodes: np.ndarray, limit: np.ndarray) -> np.ndarray:
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
