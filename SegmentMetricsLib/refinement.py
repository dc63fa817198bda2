"""Distances of one boundary to another, sampled until the numbers that follow from them no longer change.

The idea
--------
The distance to a boundary is nearly a linear function over a small triangle: where the nearest place of the other
boundary is flat it is linear, with a sign even where the two boundaries cross. So a triangle is not represented by its
center, but by its *nodes*: the three corners and the middles of the three sides, which cut it into four pieces with a
linear function on each (a segment has its ends and its middle, and two pieces). Corners and sides are shared by
neighbors: all nodes of a surface of n triangles are 2n points, half of the centers of the pieces. For a linear function
the mean distance and the share of a piece within a tolerance are known in closed form (linear.py), so the line on which
the distance equals tau may pass through a piece; it need not follow the edges.

How wrong is that? The same number from the triangle as a whole, with its three corners alone, is a coarser one of the
same kind. Halving the sides leaves a quarter of an error if the function is smooth, a half if it has a kink: what is
left in the finer number is about a third, at most all, of the *difference* between the two. Over thousands of elements
most differences cancel, as they have either sign; what does not cancel is their sum, and what is left of the others to
chance is the root of the sum of their squares. Where the sum and this root tell that a number is not known well enough,
the elements with the largest differences are cut: their pieces become elements with nodes of their own. And so on. What
matters differs by number:

* mean distance: the difference of the two means. Going a third of the difference farther removes most of what is left
  (Richardson's extrapolation; for one sign this is Simpson's rule).
* share within a tolerance: only triangles through which the line of the tolerance passes.
* percentile: the same for the percentile's own distance, which becomes better known on the way.

So nearly everything stays as it was measured first, and some lines on the surface are looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from .bounded import Bounded
from .farthest import farthest
from .linear import PIECES, SIDES, meanMagnitude, ordered, orderedShareBelow, shareBelow, shareWithin
from .progress import checkpoint
from .sampling import Sampler

# Errors at which refinement stops: mm for means; share of the boundary for shares within a tolerance; mm for
# percentiles.
MEAN_ERROR, SHARE_ERROR, PERCENTILE_ERROR = 0.001, 0.0005, 0.005
# A share cannot be found better than this by cutting; where a percentile depends on less it stays uncertain.
LEAST_SHARE = 2e-5
# What is left of a sum of differences in the finer number, and after extrapolation; and of the part left to chance.
SUM_LEFT, EXTRAPOLATED_LEFT, CHANCE_LEFT = 0.6, 0.2, 1.0
# How many times its estimate an error may be in one of twenty pairs.
BOUNDS = 2.5
# How far the bounds of the largest distance may be apart, mm; and what rounding may add to any distance.
LARGEST_ERROR, ROUNDING = 0.01, 1e-6
MOST_ROUNDS, MOST_HALVINGS = 6, 7
# Nodes added at most, per node of the first round and at least.
MOST_ADDED, ALWAYS_ADDED = 4.0, 400_000


@dataclass(eq=False)
class Part:
    """Some elements, each with its nodes: the corners, then the middles of the sides.

    values: (n,) signed distances at all points, mm. nodes: (k, 3) or (k, 6) point numbers. sizes: (k,) mm or mm2.
    halvings: (k,) how often the sides have been halved. isLeaf: (k,) whether the element has not been cut further.
    """

    values: np.ndarray
    nodes: np.ndarray
    sizes: np.ndarray
    halvings: np.ndarray
    isLeaf: np.ndarray

    @property
    def corners(self) -> int:
        return 2 if self.nodes.shape[1] == 3 else 3

    def chosen(self, rows: np.ndarray) -> Part:
        """Return some of the elements."""
        return Part(self.values, self.nodes[rows], self.sizes[rows], self.halvings[rows], self.isLeaf[rows])

    def joined(self, other: Part) -> Part:
        """Return these elements and others, whose points include the points of these."""
        both = ((getattr(self, name), getattr(other, name)) for name in ("nodes", "sizes", "halvings", "isLeaf"))
        return Part(other.values, *map(np.concatenate, both))

    @cached_property
    def signed(self) -> np.ndarray:
        """(nodes, k) signed distances at the nodes of every element."""
        return self.values[self.nodes.T]

    def pieces(self, chosen: np.ndarray) -> np.ndarray:
        """Return the signed distances (corners, pieces * c) at the corners of the pieces of some elements (c,)."""
        return self.signed[:, chosen][PIECES[self.corners].T].reshape(self.corners, -1)

    def overPieces(self, values: np.ndarray) -> np.ndarray:
        """Return the means (c,) over the pieces of every element of what is known of all pieces (pieces * c,)."""
        return values.reshape(len(PIECES[self.corners]), -1).mean(axis=0)

    @cached_property
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest distance (k,) on every element."""
        low, high = self.signed.min(axis=0), self.signed.max(axis=0)
        return np.maximum(np.maximum(low, -high), 0), np.maximum(high, -low)

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean distance (k,) on every element: from its corners alone, and from its pieces."""
        corners = self.signed[: self.corners].sum(axis=0)
        coarse = np.abs(corners) / self.corners
        middles = self.signed[self.corners :].sum(axis=0)
        fine = np.abs(corners + 3 * middles) / 12 if self.corners == 3 else np.abs(corners + 2 * middles) / 4
        # that is right where the sign does not change
        crossed = np.flatnonzero((self.range[0] == 0) & (self.range[1] > 0))
        coarse[crossed] = meanMagnitude(self.signed[: self.corners, crossed])
        fine[crossed] = self.overPieces(meanMagnitude(self.pieces(crossed)))
        return coarse, fine

    def shares(self, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which leaves (c,) a limit in mm passes through, and the shares of them within: coarse and fine."""
        low, high = self.range
        crossed = np.flatnonzero((low <= limit) & (high > limit) & self.isLeaf)
        coarse = shareWithin(self.signed[: self.corners, crossed], limit)
        return crossed, coarse, self.overPieces(shareWithin(self.pieces(crossed), limit))


def uniqueSides(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different sides (s, 2) of elements of `count` points, and each element's side numbers (k, 1 or 3)."""
    corners = cells.shape[1]
    ends = cells[:, SIDES[corners]].reshape(-1, 2)
    if corners == 2:
        return ends, np.arange(len(ends))[:, None]
    keys = ends.min(axis=1) * count + ends.max(axis=1)
    order = np.argsort(keys)
    ordered = keys[order]
    isFirst = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=isFirst[1:])
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = np.cumsum(isFirst) - 1
    return np.stack(np.divmod(ordered[isFirst], count), axis=1), numbers.reshape(-1, 3)


def halfway(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the middles of coordinates, which are whole numbers divisible by 2 or real ones."""
    return (first + second) >> 1 if first.dtype.kind == "i" else (first + second) / 2


class Refined:
    """One boundary with the distances at the nodes of its elements, cut as often as the wanted numbers need.

    sampler: tells the distances. limits: in mm, for which sizes within shall be precise; percentiles: in (0, 100), the
    distances that this share of the size does not exceed, which shall be.
    """

    def __init__(self, sampler: Sampler, limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
        self.sampler = sampler
        surface = sampler.surface
        self.totalSize = float(surface.sizes.sum())
        self.coordinates, self.values = sampler.coordinates, np.zeros(0)
        # the boundary's own elements, and what was cut out of them
        self.base = self._withNodes(surface.cells, surface.sizes, np.zeros(len(surface.cells), np.int8))
        self.fine = self.base.chosen(np.zeros(0, int))
        wanted = [self._meanGoal, *(partial(self._shareGoal, limit) for limit in limits)]
        wanted += [partial(self._percentileGoal, percent) for percent in percentiles]
        most = len(self.values) + max(ALWAYS_ADDED, MOST_ADDED * len(self.values))
        for _ in range(MOST_ROUNDS):
            checkpoint()
            flags = [np.zeros(len(part.nodes), bool) for part in self.parts]
            # what is known well enough once stays so
            wanted = [goal for goal in wanted if goal(flags)]
            chosen = [np.flatnonzero(f & p.isLeaf & (p.halvings < MOST_HALVINGS)) for f, p in zip(flags, self.parts)]
            if not any(map(len, chosen)) or len(self.values) > most:
                break
            self._cut(chosen)

    @property
    def parts(self) -> tuple[Part, Part]:
        return self.base, self.fine

    def _withNodes(self, cells: np.ndarray, sizes: np.ndarray, halvings: np.ndarray) -> Part:
        """Return elements (k, 2 or 3) of points that are there, after adding and asking the middles of their sides."""
        count = len(self.coordinates)
        sides, numbers = uniqueSides(cells, count)
        middles = halfway(self.coordinates[sides[:, 0]], self.coordinates[sides[:, 1]])
        ofSides = np.empty(len(sides), np.int8)
        ofSides[numbers] = halvings[:, None] + 1
        if len(self.values):
            values = np.empty(len(middles))
            for halved in np.unique(ofSides):
                rows = ofSides == halved
                values[rows] = self.sampler.signed(middles[rows], int(halved))
            self.values = np.concatenate([self.values, values])
        self.coordinates = np.concatenate([self.coordinates, middles])
        if not len(self.values):
            self.values = self.sampler.signed(self.coordinates, 1)
        nodes = np.concatenate([cells, count + numbers], axis=1)
        return Part(self.values, nodes, sizes, halvings + 1, np.ones(len(nodes), bool))

    def _cut(self, chosen: list[np.ndarray]) -> None:
        """Cut some leaves of both parts into their pieces."""
        corners, pieces = self.base.corners, len(PIECES[self.base.corners])
        cells = np.concatenate([part.nodes[rows] for part, rows in zip(self.parts, chosen)])[:, PIECES[corners]]
        sizes = np.concatenate([part.sizes[rows] for part, rows in zip(self.parts, chosen)]) / pieces
        halvings = np.concatenate([part.halvings[rows] for part, rows in zip(self.parts, chosen)])
        for part, rows in zip(self.parts, chosen):
            part.isLeaf[rows] = False
        new = self._withNodes(cells.reshape(-1, corners), np.repeat(sizes, pieces), np.repeat(halvings, pieces))
        self.fine = self.fine.chosen(np.flatnonzero(self.fine.isLeaf)).joined(new)

    def _meanGoal(self, flags) -> bool:
        return self._mark(flags, self._meanDifferences(), MEAN_ERROR * self.totalSize, EXTRAPOLATED_LEFT)

    def _shareGoal(self, limit: float, flags) -> bool:
        return self._mark(flags, self._differences(limit), SHARE_ERROR * self.totalSize, SUM_LEFT)

    def _percentileGoal(self, percent: float, flags) -> bool:
        """Flag what decides about a percentile: the size up to it, compared with how much there is around it."""
        value = self.percentile(percent, 1e-4)
        low, high = value - PERCENTILE_ERROR, value + PERCENTILE_ERROR
        around = 0.0
        for part in self.parts:
            near = np.flatnonzero(part.isLeaf & (part.range[0] <= high) & (part.range[1] > low))
            ascending = ordered(np.abs(part.pieces(near)))
            share = part.overPieces(orderedShareBelow(ascending, high) - orderedShareBelow(ascending, low))
            around += total(share, part.sizes[near])
        wanted = max(around / 2, LEAST_SHARE * self.totalSize)
        return self._mark(flags, self._differences(value), wanted, SUM_LEFT)

    def _meanDifferences(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for every part the leaves, and the difference of distance times size, fine against coarse."""
        rows = [np.flatnonzero(part.isLeaf & (part.range[1] > 0)) for part in self.parts]
        return [(r, (p.means[1][r] - p.means[0][r]) * p.sizes[r]) for p, r in zip(self.parts, rows)]

    def _differences(self, limit: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for every part the leaves at a limit in mm, and the difference of size within, fine against coarse."""
        found = [part.shares(limit) for part in self.parts]
        return [(rows, (fine - coarse) * p.sizes[rows]) for p, (rows, coarse, fine) in zip(self.parts, found)]

    @staticmethod
    def _mark(flags, found, wanted: float, sumLeft: float) -> bool:
        """Flag the leaves with the largest differences, so that the error is as wanted without them.

        Returns whether any had to be.
        """
        differences = np.concatenate([difference for _, difference in found])
        if errorOf(differences, sumLeft) <= wanted:
            return False
        order = np.argsort(np.abs(differences))
        ascending = differences[order]
        errors = sumLeft * np.abs(np.cumsum(ascending)) + CHANCE_LEFT * np.sqrt(np.cumsum(ascending**2))
        kept = np.flatnonzero(errors <= wanted)
        least = np.abs(ascending[kept[-1] + 1 if len(kept) else 0])
        for flag, (rows, difference) in zip(flags, found):
            flag[rows[np.abs(difference) >= max(least, 1e-300)]] = True
        return True

    @cached_property
    def largest(self) -> Bounded:
        """Largest distance in mm toward either side; the bounds are certain."""
        return self._largestPlace[0]

    def farthest(self, side: int) -> tuple[Bounded, np.ndarray]:
        """Return the largest signed distance in mm toward the positive (1) or negative (-1) side, and its place (3,).

        The bounds are certain. Where nothing lies on that side it is negative.
        """
        # mostly the side of the largest distance is known
        if self.values[np.abs(self.values).argmax()] * side > 0:
            bounds, place = self._largestPlace
            if self.sampler.signedAt(place[None])[0] * side > 0:
                return bounds, place
        return self._farthest(side)

    @cached_property
    def _largestPlace(self) -> tuple[Bounded, np.ndarray]:
        return self._farthest(0)

    def _farthest(self, side: int) -> tuple[Bounded, np.ndarray]:
        def turned(values: np.ndarray) -> np.ndarray:
            return side * values if side else np.abs(values)

        values = turned(self.values)
        worst = int(values.argmax())
        lowest = highest = float(values[worst])
        place = self.sampler.points(self.coordinates[worst : worst + 1])[0]
        elements, atCorners = [], []
        for part in self.parts:
            # no place of a piece, half as long as its element, is farther than that from the nearest of its corners
            near = self.sampler.longestSide / (2 if part is self.base else 4)
            high = turned(part.signed).max(axis=0) if side else part.range[1]
            leaves = np.flatnonzero(part.isLeaf & (high > lowest - near))
            if part is self.base:
                equal = leaves[part.range[1][leaves] <= ROUNDING]
                if len(equal):
                    leaves = np.setdiff1d(leaves, equal[self.sampler.areShared(equal)])
            nodes = part.nodes[leaves][:, PIECES[part.corners]].reshape(-1, part.corners)
            elements.append(self.sampler.points(self.coordinates[nodes.ravel()]).reshape(*nodes.shape, 3))
            atCorners.append(values[nodes])
        elements, atCorners = np.concatenate(elements), np.concatenate(atCorners)
        if len(elements):
            found = farthest(elements, atCorners, lambda points: turned(self.sampler.signedAt(points)), LARGEST_ERROR)
            if found[0] > lowest:
                lowest, place = found[0], found[2]
            highest = found[1]
        return Bounded(lowest, lowest, max(lowest, highest)), place

    @cached_property
    def mean(self) -> Bounded:
        """Mean distance in mm."""
        fine = sum(total(p.means[1][p.isLeaf], p.sizes[p.isLeaf]) for p in self.parts)
        differences = np.concatenate([difference for _, difference in self._meanDifferences()])
        return extrapolated(fine, differences, self.totalSize, 0.0)

    @cached_property
    def signedMean(self) -> Bounded:
        """Mean signed distance in mm."""
        fine, differences = 0.0, []
        for part in self.parts:
            leaves = np.flatnonzero(part.isLeaf)
            corners, middles = (nodes[:, leaves].mean(axis=0) for nodes in np.split(part.signed, [part.corners]))
            # linear on every piece, of which each middle is a corner of three (of both, of a segment)
            fineMeans = (corners + 3 * middles) / 4 if part.corners == 3 else (corners + middles) / 2
            fine += total(fineMeans, part.sizes[leaves])
            differences.append((fineMeans - corners) * part.sizes[leaves])
        return extrapolated(fine, np.concatenate(differences), self.totalSize, -np.inf)

    def sizeWithin(self, limit: float) -> Bounded:
        """Return the size of what is at most a limit in mm away."""
        size, differences = 0.0, []
        for part in self.parts:
            size += float(part.sizes[part.isLeaf & (part.range[1] <= limit)].sum())
            crossed, coarse, fine = part.shares(limit)
            size += total(fine, part.sizes[crossed])
            differences.append((fine - coarse) * part.sizes[crossed])
        return Bounded.within(size, BOUNDS * errorOf(np.concatenate(differences), SUM_LEFT), 0.0, self.totalSize)

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        """Return the size of what is farther than a limit in mm toward the positive (1) or the negative (-1) side."""
        size, differences = 0.0, []
        for part in self.parts:
            low, high = part.signed.min(axis=0), part.signed.max(axis=0)
            if side < 0:
                low, high = -high, -low
            size += float(part.sizes[part.isLeaf & (low > limit)].sum())
            crossed = np.flatnonzero(part.isLeaf & (low <= limit) & (high > limit))
            coarse = 1 - shareBelow(side * part.signed[: part.corners, crossed], limit)
            fine = 1 - part.overPieces(shareBelow(side * part.pieces(crossed), limit))
            size += total(fine, part.sizes[crossed])
            differences.append((fine - coarse) * part.sizes[crossed])
        return Bounded.within(size, BOUNDS * errorOf(np.concatenate(differences), SUM_LEFT), 0.0, self.totalSize)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        """Return the sizes (n,) of what is farther than limits (n,) in mm, ascending, toward one side (1 or -1)."""
        result = np.zeros(len(limits))
        for part in self.parts:
            rows = np.flatnonzero(part.isLeaf)
            ascending = ordered(side * part.pieces(rows))
            sizes = np.tile(part.sizes[rows] / len(PIECES[part.corners]), len(PIECES[part.corners]))
            first, last = (np.searchsorted(limits, values) for values in (ascending[0], ascending[-1]))
            # up to the lowest value all of an element is beyond; from the highest on nothing is
            result += np.cumsum(np.bincount(first, sizes, len(limits) + 1)[::-1])[::-1][1:]
            crossed = np.flatnonzero(last > first)
            while len(crossed):
                number = first[crossed]
                share = 1 - orderedShareBelow(tuple(column[crossed] for column in ascending), limits[number])
                result += np.bincount(number, share * sizes[crossed], len(limits))
                first[crossed] += 1
                crossed = crossed[first[crossed] < last[crossed]]
        return result

    def boundedPercentile(self, percent: float) -> Bounded:
        """Return percentile() with bounds: the percentiles as far off as the size up to it may be wrong."""
        value = self.percentile(percent)
        size = self.sizeWithin(value)
        low, high = (100 * abs(bound - size) / self.totalSize for bound in (size.lower, size.upper))
        return Bounded(
            value,
            max(self.percentile(max(percent - high, 0.0)) - ROUNDING, 0.0),
            self.percentile(min(percent + low, 100.0)) + ROUNDING,
        )

    def percentile(self, percent: float, precision: float = 1e-8) -> float:
        """Return the smallest distance in mm that at least `percent` of the size does not exceed."""
        wanted = percent / 100 * self.totalSize * (1 - 1e-12)
        leaves = [np.flatnonzero(part.isLeaf) for part in self.parts]
        low, high = (np.concatenate([p.range[n][rows] for p, rows in zip(self.parts, leaves)]) for n in (0, 1))
        sizes = np.concatenate([p.sizes[rows] for p, rows in zip(self.parts, leaves)])
        # the size within a distance lies between that of the elements wholly within and of those partly within
        least, most = valueBelow(low, sizes, wanted), valueAbove(high, sizes, wanted)
        wanted -= float(sizes[high <= least].sum())
        near = []
        for part, rows in zip(self.parts, leaves):
            rows = rows[(part.range[1][rows] > least) & (part.range[0][rows] <= most)]
            values, count = part.pieces(rows), len(PIECES[part.corners])
            low, *_, high = ascending = ordered(values)
            sizes = np.tile(part.sizes[rows] / count, count)
            # within is what is not above and not below: what is crossed by zero counts once for each side, less once
            isNegative, isCrossed = high <= 0, (low < 0) & (high > 0)
            turned = ordered(-values[:, isNegative | isCrossed])
            near.append((*(column[~isNegative] for column in ascending), sizes[~isNegative]))
            near.append((*turned, sizes[isNegative | isCrossed]))
            wanted += float(sizes[isCrossed].sum())
        *ascending, sizes = (np.concatenate(columns) for columns in zip(*near))
        return firstReaching(tuple(ascending), sizes, wanted, least, most, precision)


def firstReaching(
    ascending: tuple[np.ndarray, ...], sizes: np.ndarray, wanted: float, least: float, most: float, precision: float
):
    """Return the smallest value up to which linear functions have a wanted size, to a precision.

    ascending: their values (n,) at the corners of every element, in order. It lies between least, where the size is
    smaller, and most.
    """
    sizeLeast, sizeMost = (total(orderedShareBelow(ascending, limit), sizes) for limit in (least, most))
    isSecant = True
    while most - least > precision * max(1.0, most):
        # Where the size grows smoothly a secant finds the place in few steps; halving in between bounds their number.
        ratio = (wanted - sizeLeast) / (sizeMost - sizeLeast) if isSecant and sizeMost > sizeLeast else 0.5
        middle = least + (most - least) * min(max(ratio, 1e-3), 1 - 1e-3)
        isSecant = not isSecant
        size = total(orderedShareBelow(ascending, middle), sizes)
        if size >= wanted:
            most, sizeMost = middle, size
        else:
            least, sizeLeast = middle, size
        isNear = (ascending[0] <= most) & (ascending[-1] > least)
        if isNear.mean() < 0.7:
            within = float(sizes[ascending[-1] <= least].sum())
            wanted, sizeLeast, sizeMost = wanted - within, sizeLeast - within, sizeMost - within
            ascending, sizes = tuple(column[isNear] for column in ascending), sizes[isNear]
    return float(most)


def valueBelow(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value such that the size of the values up to it is less than wanted; below all values if there is none."""
    edges, sums = binnedSums(values, sizes, bins)
    return float(edges[np.searchsorted(sums, wanted * (1 - 1e-9))]) - 1e-9


def valueAbove(values: np.ndarray, sizes: np.ndarray, wanted: float, bins: int = 1024) -> float:
    """Return a value such that the size of the values up to it is at least wanted."""
    edges, sums = binnedSums(values, sizes, bins)
    return float(edges[min(np.searchsorted(sums, wanted * (1 - 1e-9)) + 1, bins)])


def binnedSums(values: np.ndarray, sizes: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return edges (bins + 1,) and the size of the values below the upper edge of every bin (bins,)."""
    top = float(values.max()) * (1 + 1e-9) + 1e-9
    numbers = (values * (bins / top)).astype(np.int32)
    return np.linspace(0, top, bins + 1), np.cumsum(np.bincount(numbers, sizes, bins))


def total(values: np.ndarray, sizes: np.ndarray) -> float:
    """Return the sum of values times sizes; the linear algebra library would start threads for that."""
    return float(np.einsum("i,i->", values, sizes))


def errorOf(differences: np.ndarray, sumLeft: float) -> float:
    """Return the estimated error of a sum whose finer and coarser summands (n,) differ so much."""
    return sumLeft * abs(float(differences.sum())) + CHANCE_LEFT * float(np.sqrt((differences**2).sum()))


def extrapolated(fine: float, differences: np.ndarray, size: float, least: float) -> Bounded:
    """Return a mean, not below `least`, from its finer sum, the differences (n,) to the coarser summands, and the size."""
    value = (fine + float(differences.sum()) / 3) / size
    return Bounded.within(value, BOUNDS * errorOf(differences, EXTRAPOLATED_LEFT) / size + ROUNDING, least, np.inf)
