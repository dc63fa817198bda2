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
same kind. Halving the sides leaves a quarter of an error if the function is smooth, so what is left in the finer number
is about a third of the *difference* between the two. Going that third farther removes most of it (Richardson's
extrapolation; for a mean of one sign this is Simpson's rule):

* mean distance: by the difference of the two means. How wrong that still is, a sample tells (means.py).
* share within a tolerance: by the difference of the two shares, which only triangles have through which the line of the
  tolerance passes.
* percentile: where the size up to a limit, corrected like that, reaches the wanted one.

What remains after that? Over thousands of elements most differences cancel, as they have either sign; what does not
cancel is their sum, of which a part remains, and what is left of the others to chance is the root of the sum of their
squares. Where both tell that a share or a percentile is not known well enough, the elements with the largest
differences are cut: their pieces become elements with nodes of their own. And so on. Elements that bend much are cut
also where all their nodes lie on one side of a limit, but near it: it may pass between them, and no difference says so.
Nor does one where a face lies a tolerance away and bends off beside it: the line passes next to a flat node by the
corners and by the pieces, and on the boundary at the kink. Such elements are cut, too, and what is left of them counts
in the bounds as a whole, as they all err to one side.

So nearly everything stays as it was measured first, and some lines on the surface are looked at closely. Boundaries of
few elements, unless they lie far apart, are cut all over at once, which takes less time than choosing, and is mostly
enough. And where both boundaries lie on one lattice, what they have in common is no distance away: it is counted, and
not asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from ..cores import sideBySide
from ..geometry.edges import uniqueSides
from ..progress import checkpoint
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

# Errors at which refinement stops: mm for means; share of the boundary for shares within a tolerance; mm for
# percentiles.
MEAN_ERROR, SHARE_ERROR, PERCENTILE_ERROR = 0.0005, 0.0015, 0.006
# Where the middles of an element's sides are farther than this from what the corners tell, mm, a limit may pass between
# its nodes though they all lie on one side.
BENT = 0.07
# Boundaries smaller than this, mm, have errors in mm as much smaller.
SMALL = 1.0
# How far the bounds of the largest distance may be apart, mm.
LARGEST_ERROR = 0.01
# Equal parts of a segment that are the elements of contours.
PARTS_OF_SEGMENT = 16
# How often elements are looked at, and sides halved at most: on a lattice, where coordinates are whole, and elsewhere,
# where triangles may be as large as a face of the structure.
MOST_ROUNDS, LATTICE_HALVINGS, MOST_HALVINGS = 9, 7, 10
# Of so many elements each is cut at once: looking closely at some takes as long. Fewer where places are searched, which
# takes longer than to look them up.
FEW_ELEMENTS, FEW_TO_SEARCH = 4_000, 1_000
# Fewer elements are not worth a thread for each boundary, looked up and searched.
FEW_TO_SHARE, FEW_SEARCHED_TO_SHARE = 200_000, 3_000
# Nodes added at most, per node of the first round and at least.
MOST_ADDED, ALWAYS_ADDED = 4.0, 400_000


def refined(samplers: Sequence[Sampler], limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
    """Return the boundaries whose distances samplers tell, refined side by side until nothing is left to cut.

    limits: in mm, for which sizes within shall be precise; percentiles: in (0, 100), the distances that this share of
    the size does not exceed, of which the largest of all boundaries shall be.
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
    """One boundary with the distances at the nodes of its elements, cut as often as the wanted numbers need.

    sampler: tells the distances. limits, percentiles: which numbers are wanted, see refined().
    """

    def __init__(self, sampler: Sampler, limits: Sequence[float] = (), percentiles: Sequence[float] = ()):
        self.sampler = sampler
        surface = sampler.surface
        self.totalSize = float(surface.sizes.sum())
        scale = min(1.0, math.dist(*surface.box) / SMALL)
        meanError, self.percentileError, self.largestError, self.bent = (
            length * scale for length in (MEAN_ERROR, PERCENTILE_ERROR, LARGEST_ERROR, BENT)
        )
        # what both boundaries have is no distance away, and is only counted
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
        # the boundary's own elements or their equal parts, and what was cut out of them
        self.leftOfMean = LEFT_OF_FINE_MEAN if halvings else LEFT_OF_MEAN
        self.base = self._withNodes(cells, sizes, np.full(len(cells), halvings, np.int8), sides)
        del cells, sides  # to ask takes as much memory
        self.values = self.base.values = sampler.signed(self.coordinates, halvings + 1)
        sampler.forget()
        self._means = MeanDistances(self.base, self.totalSize, self.leftOfMean, meanError)
        self.fine = self.base.chosen(np.zeros(0, int))
        # whether the elements are the boundary's own, of which none has been cut
        self._areWhole = not halvings
        # what is not known well enough yet: the shares within limits
        self._limits = list(limits)
        # estimates tell roughly where percentiles lie; those that are known hold for the leaves as they are
        self._percentiles, self._estimates, self._isKnown = tuple(percentiles), {}, set()
        self._mostHalvings = LATTICE_HALVINGS if sampler.isOnLattice else MOST_HALVINGS
        self._most = len(self.values) + max(ALWAYS_ADDED, MOST_ADDED * len(self.values))

    def fresh(self, others: Sequence[Refined]) -> list[float]:
        """Return the percentiles that still have to be known better."""
        return [percent for percent in self._percentiles if not self._isSmaller(percent, others)]

    def estimate(self, percentiles: Sequence[float]) -> None:
        """Tell where percentiles lie, before cut() is asked."""
        self._fresh = percentiles
        for percent in percentiles:
            self.percentileEstimate(percent)

    def _isSmaller(self, percent: float, others: Sequence[Refined]) -> bool:
        """Return whether a percentile is certainly smaller than another direction's, so that it does not matter."""
        mine = self._estimates.get(percent)
        return mine is not None and any(other._estimates[percent].low > mine.high for other in others)

    def cut(self, others: Sequence[Refined]) -> bool:
        """Cut the elements because of which some number is not known well enough; return whether there were any."""
        flags = np.zeros(len(self.leaves.sizes), bool)
        if self._areWhole:
            limits = [*self._limits, *(self._estimates[percent].value for percent in self._fresh)]
            flags |= self.leaves.mayHold(limits, self.bent)
            self._areWhole = False
        # what is known well enough once stays so
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
        """Give back the leaves, which are put together anew when they are asked for."""
        self.__dict__.pop("leaves", None)

    def forget(self) -> None:
        """Give back the memory of all that is made anew when it is asked for."""
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
        """Return elements (k, 2 or 3) of points that are there, after adding the middles of their sides.

        Once distances are known, those of the middles are asked.
        ofCells: the sides, and their numbers, as uniqueSides() tells them.
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
                # on the way from an end to the middle the sign changes only if the end is no farther than the middle
                known = np.where(np.abs(near) > self.sampler.longestSide / 2.0**halved, np.sign(near), 0)
                values[rows] = self.sampler.signed(middles.compress(rows, axis=0), halved, known)
            self.values = np.concatenate([self.values, values])
        self.coordinates = np.concatenate([self.coordinates, middles])
        nodes = np.concatenate([cells, count + numbers], axis=1, dtype=np.int32, casting="same_kind")
        return Part(self.values, nodes, sizes, halvings + 1, np.ones(len(nodes), bool))

    def _piecesOf(self, part: Part) -> Part:
        """Return the pieces of elements, one element's after the other's."""
        count = len(PIECES[part.corners])
        sizes, halvings = np.repeat(part.sizes / count, count), np.repeat(part.halvings, count)
        return self._withNodes(part.pieces(), sizes, halvings, sidesOfPieces(part.nodes, len(self.coordinates)))

    def _cut(self, chosen: tuple[np.ndarray, np.ndarray], drawn: Part | None = None) -> None:
        """Cut some leaves of both parts into their pieces, and elements that were drawn; places are asked together."""
        cut = self.base.chosen(chosen[0]).joined(self.fine.chosen(chosen[1]))
        asked = cut if drawn is None else cut.joined(drawn)
        new = self._piecesOf(asked)
        # else each would keep the distances as they were at its time
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
        """Return a percentile of the elements as they are now."""
        if percent not in self._isKnown:
            last = self._estimates.get(percent)
            percentiles = Percentiles(self.leaves, self.totalSize, self.sharedSize, self.percentileError, last)
            self._estimates[percent] = percentiles.estimate(percent)
            self._isKnown.add(percent)
        return self._estimates[percent]

    @staticmethod
    def _markDoubtful(flags: np.ndarray, chosen: np.ndarray, doubts: np.ndarray, wanted: float) -> bool:
        """Flag the leaves with the largest doubts, so that without them half of what is wanted is left.

        These all err to one side, so that they do not cancel. Returns whether any had to be.
        """
        if float(doubts.sum()) <= wanted:
            return False
        order = np.argsort(-doubts, kind="stable")
        left = doubts.sum() - np.cumsum(doubts.take(order))
        flags[chosen[order[: 1 + np.count_nonzero(left > wanted / 2)]]] = True
        return True

    @staticmethod
    def _mark(flags: np.ndarray, chosen: np.ndarray, differences: np.ndarray, wanted: float) -> bool:
        """Flag the leaves with the largest differences, so that the error is half of what is wanted without them.

        chosen: whose differences they are. Returns whether any had to be.
        """
        if errorOf(differences) <= wanted:
            return False
        # By magnitude, in steps of a fifth, which is as good as sorted; what is tiny is never worth cutting.
        with np.errstate(divide="ignore"):
            steps = (4 * np.log2(np.abs(differences) / wanted)).clip(-160, 160).astype(np.int64) + 160
        sums, squares = (np.cumsum(np.bincount(steps, values)) for values in (differences, differences**2))
        ofSum, ofChance = LEFT_OF_SIZE
        kept = np.flatnonzero(ofSum * np.abs(sums) + ofChance * np.sqrt(squares) <= wanted / 2)
        flags[chosen[steps > (kept[-1] if len(kept) else 0)]] = True
        return True

    @cached_property
    def largestAndPlace(self) -> tuple[Bounded, np.ndarray]:
        """Largest distance in mm toward either side, whose bounds are certain, and its place (3,)."""
        return extreme(self)

    def largestToward(self, side: int, known: float = 0.0) -> tuple[Bounded, np.ndarray]:
        """Return the largest signed distance in mm toward the positive (1) or negative (-1) side, and its place (3,).

        known: one in mm that is reached elsewhere, below which it does not matter how large it is.
        """
        largest, place = self.largestAndPlace
        # mostly the side of the largest distance is known
        if self.values[np.abs(self.values).argmax()] * side > 0 and self.sampler.sidesAt(place[None])[0] * side > 0:
            return largest, place
        found, place = extreme(self, side, known)
        # nothing on one side is farther than all, which is mostly known better
        upper = min(found.upper, max(largest.upper, known))
        return Bounded(found, found.lower, max(found.lower, upper)), place

    @property
    def mean(self) -> Bounded:
        """Mean distance in mm."""
        return self._means.magnitude

    @cached_property
    def signedMean(self) -> Bounded:
        """Mean signed distance in mm."""
        return self._means.signed

    def extrapolated(self, fine: float, differences: np.ndarray, size: float, least: float) -> Bounded:
        """Return a mean, not below `least`, from the finer sum over a size and what its coarser summands differ."""
        value = (fine + float(differences.sum()) / 3) / size
        error = BOUNDS * errorOf(differences, self.leftOfMean) / size + ROUNDING
        return Bounded.within(value, error, least, np.inf)

    def sizeWithin(self, limit: float) -> Bounded:
        """Return the size of what is at most a limit in mm away."""
        passed = self.leaves.within(limit)
        found = self._bounded(passed.size + self.sharedSize, passed)
        return self._doubted(found, limit, np.abs(self.values)) if found.lower == self.totalSize else found

    def sizeBetween(self, low: float, high: float) -> float:
        """Return the size of the elements wholly farther than one distance in mm, and no farther than another."""
        leaves = self.leaves
        return float(leaves.sizes[(leaves.low > low) & (leaves.high <= high)].sum())

    def sizeBeyond(self, limit: float, side: int) -> Bounded:
        """Return the size of what is farther than a limit in mm toward the positive (1) or the negative (-1) side."""
        passed = self.leaves.beyond(limit, side)
        found = self._bounded(passed.size + (self.sharedSize if limit < 0 else 0.0), passed)
        return self._doubted(found, limit, side * self.values) if found.upper == 0 else found

    def _doubted(self, size: float, limit: float, values: np.ndarray) -> Bounded:
        """Return a size that is all or nothing, with an error where something between the nodes exceeds the limit.

        values: the distances in mm at the nodes that are to be compared with the limit.
        """
        isExact = values.max(initial=-np.inf) + self.sampler.longestSide <= limit or self.largestAndPlace[0] <= limit
        error = 0.0 if isExact else LEAST_SHARE_ERROR * self.totalSize
        return Bounded.within(float(size), error, 0.0, self.totalSize)

    def _bounded(self, size: float, passed: Passed) -> Bounded:
        """Return a size with bounds, from what is known of the leaves that the limit passes through."""
        # all and nothing are exact, whatever the sum of thousands of sizes says
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
        """Return the sizes (n,) of what is farther than limits (n,) in mm, ascending, toward one side (1 or -1)."""
        fine = np.where(np.asarray(limits) < 0, self.sharedSize, 0.0)
        coarse = fine.copy()
        for part in self.parts:
            rows = np.flatnonzero(part.isLeaf)
            nodes, sizes, count = side * part.signed(rows), part.sizes[rows], len(PIECES[part.corners])
            fine += sizesBeyond(ordered(pieces(nodes)), np.tile(sizes / count, count), limits)
            coarse += sizesBeyond(ordered(nodes[: part.corners]), sizes, limits)
        # a curve, which never rises
        return np.minimum.accumulate(np.clip(fine + (fine - coarse) / 3, 0.0, self.totalSize))

    def boundedPercentile(self, percent: float) -> Bounded:
        """Return the smallest distance in mm that at least `percent` of the size does not exceed, with bounds."""
        found = self.percentileEstimate(percent)
        return Bounded(found.value, found.low, found.high)
