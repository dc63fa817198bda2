"""Distances of one boundary to another, sampled until the numbers derived from them no longer change.

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
extrapolation; for a mean of one sign this is Simpson's rule):

* mean distance: by the difference of the two means. The remaining error is estimated from a sample (means.py).
* share within a tolerance: by the difference of the two shares, which is nonzero only for triangles that the line of
  the tolerance passes through.
* percentile: the limit at which the size up to it, corrected in this way, reaches the wanted size.

What error remains after that? Over thousands of elements most differences cancel, as they have either sign. A part of
their sum remains, and a random error proportional to the root of the sum of their squares. Where the two together show
that a share or a percentile is not precise enough, the elements with the largest differences are cut: their pieces
become elements with nodes of their own. This is repeated. Elements that bend strongly are also cut where all their
nodes lie on one side of a limit, but near it: the limit may pass between them without any difference. There is no
difference either where a face lies a tolerance away and bends off beside it: according to both corners and pieces the
line passes next to a flat node, whereas in truth it follows the kink. Such elements are cut, too. The doubt that is
left counts in full in the bounds, as these errors all have the same sign.

So nearly all elements stay as first measured, and only some lines on the surface are refined. Boundaries of few
elements, unless they lie far apart, are cut everywhere at once, which takes less time than choosing and is usually
enough. Where both boundaries lie on one lattice, the elements they share have distance 0: their size is counted, but no
distances are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from ..base.parallel import sideBySide
from ..base.progress import checkpoint
from ..geometry.edges import uniqueSides
from ..geometry.surfaces import meanLength
from .bounded import Bounded
from .crossing import sizesBeyond
from .cutting import compacted, divided, middlesOf, quartered, sidesOfPieces
from .elements import Leaves, Part, Passed, pieces
from .extrapolation import (
    BOUNDS,
    LEAST_SHARE_ERROR,
    LEFT_OF_FINE_MEAN,
    LEFT_OF_MEAN,
    LEFT_OF_SIZE,
    ROUNDING,
    SIZE_ROUNDING,
    errorOf,
)
from .extremes import extreme
from .linear import PIECES, ordered
from .means import MeanDistances
from .percentiles import Estimate, Percentiles
from .sampling import Sampler

# Errors at which refinement stops: mm for means; fraction of the boundary for shares within a tolerance; mm for
# percentiles.
MEAN_ERROR, SHARE_ERROR, PERCENTILE_ERROR = 0.0005, 0.0015, 0.006
# If an element bends by more than this, mm, a limit may pass between its nodes although they all lie on one side of it.
BENT = 0.07
# For boundaries whose elements are shorter than this on average, mm, the errors in mm are reduced in proportion.
SHORT = 0.3
# Largest acceptable gap between the bounds of the largest distance, mm.
LARGEST_ERROR = 0.01
# Each segment of a contour is divided into this many elements.
PARTS_OF_SEGMENT = 16
# Most rounds of refinement, and most halvings of sides: on a lattice, where coordinates are integers, and elsewhere,
# where triangles may be as large as a face of the structure.
MOST_ROUNDS, LATTICE_HALVINGS, MOST_HALVINGS = 9, 7, 10
# Up to this many elements, all are cut at once: refining only some would take as long. Fewer where places are searched,
# which takes longer than looking them up.
FEW_ELEMENTS, FEW_TO_SEARCH = 4_000, 1_000
# Up to this many elements, a thread per boundary is not worthwhile: where they are looked up, and where searched.
FEW_TO_SHARE, FEW_SEARCHED_TO_SHARE = 200_000, 3_000
# No more leaves are cut once more nodes than this were added: per node of the first round, and at least.
MOST_ADDED, ALWAYS_ADDED = 4.0, 400_000


def refined(samplers: Sequence[Sampler], limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
    """Return the refined boundary of each sampler, refined in parallel until nothing is left to cut.

    limits: in mm; sizes within them become precise. percentiles: in (0, 100); of each percentile, the largest of all
    boundaries becomes precise.
    """
    few = FEW_TO_SHARE if all(sampler.isOnLattice for sampler in samplers) else FEW_SEARCHED_TO_SHARE
    isLong = sum(len(sampler.surface.cells) for sampler in samplers) > few
    directions = sideBySide([partial(Refined, sampler, limits, percentiles) for sampler in samplers], isLong)
    others = {one: [other for other in directions if other is not one] for one in directions}
    active = directions
    for _ in range(MOST_ROUNDS):
        if not active:
            break
        sideBySide([partial(one.estimate, one.fresh(others[one])) for one in active], isLong)
        checkpoint()
        wereCut = sideBySide([partial(one.cut, others[one]) for one in active], isLong)
        active = [one for one, wasCut in zip(active, wereCut, strict=True) if wasCut]
    return directions


class Refined:
    """One boundary with the distances at the nodes of its elements, cut as often as the wanted numbers require.

    sampler: measures the distances. limits, percentiles: the wanted numbers, see refined().
    """

    def __init__(self, sampler: Sampler, limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
        self.sampler = sampler
        surface = sampler.surface
        self.totalSize = float(surface.sizes.sum())
        scale = min(1.0, meanLength(surface) / SHORT, meanLength(sampler.target) / SHORT)
        meanError, self.percentileError, self.largestError, self.bent = (
            length * scale for length in (MEAN_ERROR, PERCENTILE_ERROR, LARGEST_ERROR, BENT)
        )
        # elements shared by both boundaries have distance 0; only their size counts
        self.chosen = sampler.different
        sizes = surface.sizes.take(self.chosen)
        self.sharedSize = max(self.totalSize - float(sizes.sum()), 0.0) if len(sizes) < len(surface.cells) else 0.0
        self.points, cells = compacted(surface.cells.take(self.chosen, axis=0), len(surface.points))
        self.coordinates, self.values = sampler.coordinates.take(self.points, axis=0), np.zeros(0)
        halvings = 0
        if surface.dimension == 2:
            # segments may be as long as a side of the structure, and there are few of them
            self.coordinates, cells = divided(self.coordinates, cells, PARTS_OF_SEGMENT)
            sides = uniqueSides(cells)
        else:
            sides = uniqueSides(cells)
            few = FEW_ELEMENTS if sampler.isOnLattice else FEW_TO_SEARCH
            if len(surface.cells) <= few and not sampler.isApart:
                halvings = 1
                self.coordinates, cells, sides = quartered(self.coordinates, cells, *sides)
        self.perCell = len(cells) // len(sizes)
        sizes = np.repeat(sizes / self.perCell, self.perCell)
        # base: the boundary's own elements or their equal parts; fine: the pieces cut out of them
        self.leftOfMean = LEFT_OF_FINE_MEAN if halvings else LEFT_OF_MEAN
        self.base = self._withNodes(cells, sizes, np.full(len(cells), halvings, np.int8), sides)
        del cells, sides  # sampling needs as much memory again
        self.values = self.base.values = sampler.signed(self.coordinates, halvings + 1)
        sampler.forget()
        self._means = MeanDistances(self.base, self.totalSize, self.leftOfMean, meanError)
        self.fine = self.base.chosen(np.zeros(0, int))
        # whether the elements are the boundary's own, none of them cut yet
        self._areWhole = not halvings
        # limits whose shares are not precise enough yet
        self._limits = list(limits)
        # estimates may be from earlier leaves; percentiles in _isKnown have estimates for the current ones
        self._percentiles = tuple(percentiles)
        self._estimates: dict[float, Estimate] = {}
        self._isKnown: set[float] = set()
        self._mostHalvings = LATTICE_HALVINGS if sampler.isOnLattice else MOST_HALVINGS
        self._most = len(self.values) + max(ALWAYS_ADDED, MOST_ADDED * len(self.values))

    def fresh(self, others: Sequence[Refined]) -> list[float]:
        """Return the percentiles that are not precise enough yet."""
        return [percent for percent in self._percentiles if not self._isSmaller(percent, others)]

    def estimate(self, percentiles: Sequence[float]) -> None:
        """Estimate percentiles; call this before cut()."""
        self._fresh = percentiles
        for percent in percentiles:
            self.percentileEstimate(percent)

    def _isSmaller(self, percent: float, others: Sequence[Refined]) -> bool:
        """Return whether a percentile is certainly smaller than another boundary's, so that it does not matter."""
        mine = self._estimates.get(percent)
        return mine is not None and any(other._estimates[percent].low > mine.high for other in others)

    def cut(self, others: Sequence[Refined]) -> bool:
        """Cut the elements that make some number too imprecise; return whether there were any."""
        flags = np.zeros(len(self.leaves.sizes), bool)
        if self._areWhole:
            limits = [*self._limits, *(self._estimates[percent].value for percent in self._fresh)]
            flags |= self.leaves.mayHold(limits, self.bent)
            self._areWhole = False
        # shares that were once precise enough stay so
        self._limits = [limit for limit in self._limits if self._markForShare(limit, flags)]
        known = set()
        for percent in self._fresh:
            found = self._estimates[percent]
            matters = not self._isSmaller(percent, others)
            if matters and not self._mark(flags, found.chosen, found.differences, found.wanted):
                known.add(percent)
        self._percentiles = tuple(percent for percent in self._percentiles if percent not in known)
        chosen = np.flatnonzero(flags & (self.leaves.halvings < self._mostHalvings))
        if len(self.values) > self._most:
            chosen = chosen[:0]
        drawn = self._means.draw()
        if not len(chosen) and drawn is None:
            return False
        self._cut(self.leaves.split(chosen), drawn)
        return True

    @cached_property
    def leaves(self) -> Leaves:
        """The elements that have not been cut further."""
        return Leaves(self.base, self.fine)

    def _forgetLeaves(self) -> None:
        """Discard the leaves, which are rebuilt when needed."""
        self.__dict__.pop("leaves", None)

    def forget(self) -> None:
        """Free the memory of everything that is rebuilt when needed."""
        self._forgetLeaves()
        self.sampler.forget()
        for part in self.parts:
            part.forget()

    @property
    def parts(self) -> tuple[Part, Part]:
        return self.base, self.fine

    def _withNodes(
        self, cells: np.ndarray, sizes: np.ndarray, halvings: np.ndarray, ofCells: tuple[np.ndarray, np.ndarray]
    ) -> Part:
        """Return elements (k, 2 or 3) of existing points as a part, after adding the middles of their sides as points.

        Distances at the middles are sampled, unless those at the existing points are still unknown.
        ofCells: the sides and their numbers, as returned by uniqueSides().
        """
        (sides, numbers), count = ofCells, len(self.coordinates)
        middles = middlesOf(self.coordinates, sides)
        if len(self.values):
            ofSides = np.empty(len(sides), np.int8)
            ofSides[numbers] = halvings[:, None] + 1
            values, atEnds = np.empty(len(middles)), self.values.take(sides[:, 0])
            for halved in np.unique(halvings + 1).tolist():
                rows = ofSides == halved
                near = atEnds.compress(rows)
                # The sign can change between an end and the middle only if the distance at the end is no larger than
                # the length between the two.
                known = np.where(np.abs(near) > self.sampler.longestSide / 2.0**halved, np.sign(near), 0)
                values[rows] = self.sampler.signed(middles.compress(rows, axis=0), halved, known)
            self.values = np.concatenate([self.values, values])
        self.coordinates = np.concatenate([self.coordinates, middles])
        nodes = np.concatenate([cells, count + numbers], axis=1, dtype=np.int32, casting="same_kind")
        return Part(self.values, nodes, sizes, halvings + 1, np.ones(len(nodes), bool))

    def _piecesOf(self, part: Part) -> Part:
        """Return the pieces of elements, element by element."""
        count = len(PIECES[part.corners])
        sizes, halvings = np.repeat(part.sizes / count, count), np.repeat(part.halvings, count)
        return self._withNodes(part.pieces(), sizes, halvings, sidesOfPieces(part.nodes, len(self.coordinates)))

    def _cut(self, chosen: tuple[np.ndarray, np.ndarray], drawn: Part | None = None) -> None:
        """Cut some leaves of both parts, and elements drawn as a sample, into pieces; all are sampled together."""
        cut = self.base.chosen(chosen[0]).joined(self.fine.chosen(chosen[1]))
        asked = cut if drawn is None else cut.joined(drawn)
        new = self._piecesOf(asked)
        # otherwise each would keep an outdated array of distances in memory
        for part in (self.base, *(sample.pieces for sample in self._means.samples)):
            part.values = self.values
        ofLeaves, ofDrawn = np.split(np.arange(len(new.sizes)), [len(PIECES[new.corners]) * len(cut.sizes)])
        if drawn is not None:
            self._means.add(new.chosen(ofDrawn))
        if len(cut.sizes):
            for part, rows in zip(self.parts, chosen):
                part.isLeaf[rows] = False
            self.fine = self.fine.chosen(np.flatnonzero(self.fine.isLeaf)).joined(new.chosen(ofLeaves))
            self._forgetLeaves()
            self._isKnown.clear()

    def _markForShare(self, limit: float, flags) -> bool:
        found, wanted = self.leaves.within(limit), SHARE_ERROR * self.totalSize
        wasMarked = self._mark(flags, found.chosen, found.differences, wanted)
        return self._markDoubtful(flags, found.chosen, found.doubts, wanted) or wasMarked

    def percentileEstimate(self, percent: float) -> Estimate:
        """Return the estimate of a percentile for the current leaves."""
        if percent not in self._isKnown:
            last = self._estimates.get(percent)
            percentiles = Percentiles(self.leaves, self.totalSize, self.sharedSize, self.percentileError, last)
            self._estimates[percent] = percentiles.estimate(percent)
            self._isKnown.add(percent)
        return self._estimates[percent]

    @staticmethod
    def _markDoubtful(flags: np.ndarray, chosen: np.ndarray, doubts: np.ndarray, wanted: float) -> bool:
        """Flag the leaves with the largest doubts, so that those of the others sum to at most half of `wanted`.

        All doubts err to the same side and do not cancel. Returns whether any leaf had to be flagged.
        """
        if float(doubts.sum()) <= wanted:
            return False
        order = np.argsort(-doubts, kind="stable")
        left = doubts.sum() - np.cumsum(doubts.take(order))
        flags[chosen[order[: 1 + np.count_nonzero(left > wanted / 2)]]] = True
        return True

    @staticmethod
    def _mark(flags: np.ndarray, chosen: np.ndarray, differences: np.ndarray, wanted: float) -> bool:
        """Flag the leaves with the largest differences, so that the error of the others is at most half of `wanted`.

        chosen: numbers of the leaves that the differences belong to. Returns whether any leaf had to be flagged.
        """
        if errorOf(differences) <= wanted:
            return False
        # Binned by magnitude in steps of a fifth, which is as good as sorted; tiny differences are never worth cutting.
        with np.errstate(divide="ignore"):
            steps = (4 * np.log2(np.abs(differences) / wanted)).clip(-160, 160).astype(np.int64) + 160
        sums, squares = (np.cumsum(np.bincount(steps, values)) for values in (differences, differences**2))
        ofSum, ofChance = LEFT_OF_SIZE
        kept = np.flatnonzero(ofSum * np.abs(sums) + ofChance * np.sqrt(squares) <= wanted / 2)
        flags[chosen[steps > (kept[-1] if len(kept) else 0)]] = True
        return True

    @cached_property
    def largestAndPlace(self) -> tuple[Bounded, np.ndarray]:
        """Largest distance in mm toward either side, with guaranteed bounds, and its place (3,)."""
        return extreme(self)

    def largestToward(self, side: int, known: float = 0.0) -> tuple[Bounded, np.ndarray]:
        """Return the largest signed distance in mm toward the positive (1) or negative (-1) side, and its place (3,).

        known: a distance in mm already found elsewhere; a smaller result need not be accurate.
        """
        largest, place = self.largestAndPlace
        # the largest distance of all is the result if it is known to lie on this side
        if self.values[np.abs(self.values).argmax()] * side > 0 and self.sampler.sidesAt(place[None])[0] * side > 0:
            return largest, place
        found, place = extreme(self, side, known)
        # no distance on one side exceeds the largest of all, which usually has a tighter bound
        (lower, upper), (_, most) = found.bounds, largest.bounds
        return Bounded(found, lower, max(lower, min(upper, max(most, known)))), place

    @property
    def mean(self) -> Bounded:
        """Mean distance in mm."""
        return self._means.magnitude

    @cached_property
    def signedMean(self) -> Bounded:
        """Mean signed distance in mm."""
        return self._means.signed

    def extrapolated(self, fine: float, differences: np.ndarray, size: float, least: float) -> Bounded:
        """Return an extrapolated mean, not below `least`.

        fine: sum of the finer summands, over a size. differences: the finer summands minus the coarser ones.
        """
        value = (fine + float(differences.sum()) / 3) / size
        error = BOUNDS * errorOf(differences, self.leftOfMean) / size + ROUNDING
        return Bounded.within(value, error, least, np.inf)

    def sizeWithin(self, limit: float) -> Bounded:
        """Return the size within a limit in mm."""
        passed = self.leaves.within(limit)
        found = self._bounded(passed.size + self.sharedSize, passed)
        return self._doubted(found, limit, np.abs(self.values)) if found.lower == self.totalSize else found

    def sizeBetween(self, low: float, high: float) -> float:
        """Return the size of the elements whose nodes are all farther than `low`, but not than `high`, mm."""
        leaves = self.leaves
        return float(leaves.sizes[(leaves.low > low) & (leaves.high <= high)].sum())

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        """Return the size farther than a limit in mm toward the positive (1) or the negative (-1) side."""
        passed = self.leaves.beyond(limit, side)
        found = self._bounded(passed.size + (self.sharedSize if limit < 0 else 0.0), passed)
        return self._doubted(found, limit, side * self.values) if found.upper == 0 else found

    def _doubted(self, size: float, limit: float, values: np.ndarray) -> Bounded:
        """Return a size that is all or nothing, with an error if something between the nodes may exceed the limit.

        values: the distances in mm at the nodes that are compared with the limit.
        """
        isExact = values.max(initial=-np.inf) + self.sampler.longestSide <= limit or self.largestAndPlace[0] <= limit
        error = 0.0 if isExact else LEAST_SHARE_ERROR * self.totalSize
        return Bounded.within(float(size), error, 0.0, self.totalSize)

    def _bounded(self, size: float, passed: Passed) -> Bounded:
        """Return an extrapolated size with bounds. passed: the leaves that the limit passes through."""
        # all and nothing are exact, despite rounding in the sum of thousands of sizes
        if abs(size - self.totalSize) <= SIZE_ROUNDING * self.totalSize:
            size = self.totalSize
        elif size <= SIZE_ROUNDING * self.totalSize:
            size = 0.0
        size += float(passed.differences.sum()) / 3
        error = BOUNDS * errorOf(passed.differences) + float(passed.doubts.sum())
        if len(passed.chosen):
            error = max(error, LEAST_SHARE_ERROR * self.totalSize)
        return Bounded.within(size, error, 0.0, self.totalSize)

    def sizesBeyond(self, limits: np.ndarray, side: int) -> np.ndarray:
        """Return the sizes (n,) farther than each of some ascending limits (n,) in mm toward one side (1 or -1)."""
        fine = np.where(np.asarray(limits) < 0, self.sharedSize, 0.0)
        coarse = fine.copy()
        for part in self.parts:
            rows = np.flatnonzero(part.isLeaf)
            nodes, sizes, count = side * part.signed(rows), part.sizes[rows], len(PIECES[part.corners])
            fine += sizesBeyond(ordered(pieces(nodes)), np.tile(sizes / count, count), limits)
            coarse += sizesBeyond(ordered(nodes[: part.corners]), sizes, limits)
        # extrapolation must not make the curve rise
        return np.minimum.accumulate(np.clip(fine + (fine - coarse) / 3, 0.0, self.totalSize))

    def boundedPercentile(self, percent: float) -> Bounded:
        """Return the smallest distance in mm that at least `percent` of the size does not exceed, with bounds."""
        found = self.percentileEstimate(percent)
        return Bounded(found.value, found.low, found.high)
