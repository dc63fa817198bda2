"""The mean distance over a boundary, whose last digits are told by a sample of its elements.

The idea
--------
Every element tells its mean distance twice: from its corners alone, and from its pieces, more finely. The differences
of a boundary have a sum D. Would all pieces be cut again, that would change the mean by another sum of differences,
about a quarter of D where the distance is smooth; and so on, by D / 3 altogether (Richardson's extrapolation). But the
distance has kinks, and there is no telling beforehand whether the next sum is a fifth of D or a half.

Looking at all pieces to find that out costs four times what has been done so far, and is not needed: sums are what
samples are good at. Some elements are drawn, those with large differences more often, and their pieces are cut. How
much more than the expected quarter each of them changes, times the number of elements for which it stands, adds up to
an estimate of what all of them together do. What remains after that is again expected to be a quarter, a third in all,
so that with R, what the drawn ones change beyond expectation, the mean is

    from pieces  +  D / 3  +  4/3 R.

Where the next sum is still too large for that, elements are drawn from the pieces of those that were drawn, and so on.
Each finer level has smaller differences, and needs fewer draws.

Whether an element is drawn is decided for each of them by itself: where the next multiple of the golden ratio, but for
its whole part, is less than the element's chance. Neighbors have consecutive multiples, which are spread evenly, so
that what is drawn is as well; and the same pair always gives the same number, whether its distances were looked up or
searched for.

Sources: Horvitz & Thompson, A generalization of sampling without replacement from a finite universe, JASA 47, 1952
(unequal chances); Cochran, Sampling Techniques, 3rd edition, 1977 (difference estimator); Giles, Multilevel Monte Carlo
path simulation, Operations Research 56, 2008 (levels).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .bounded import Bounded
from .crossing import total
from .elements import Part
from .extrapolation import BOUNDS, ROUNDING, errorOf

# The part of a sum of differences that the next one is expected to be.
EXPECTED = 1 / 4
# How often elements are drawn: from a boundary, from their pieces, from the pieces of these; and how many at a time.
MOST_LEVELS, FEWEST_DRAWN, MOST_DRAWN = 5, 100, 2000
# What one draw adds to the error, as a share of the sum of the sizes of all differences.
SPREAD = 0.25
# Of no more elements than this some are cut in any case.
FEW = 300
# What even small differences count when elements are drawn, as a share of the average: where the corners agree by
# chance the pieces need not.
LEAST_CHANCE = 1.0
# What may be left of the last sum of differences of those that were drawn, and what is left to chance, as a share of
# the root of the sum of squares: of what they change beyond expectation, and of the last differences of all elements.
LEFT_OF_DRAWN, CHANCE_OF_DRAWN = 0.08, 0.5
# Elements asked whether they are drawn at a time, so that temporary arrays stay small.
CHUNK = 1 << 15
GOLDEN = (5**0.5 - 1) / 2

# Tells the mean of every element of a part from its corners, and from its pieces.
Means = Callable[[Part], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Sample:
    """Elements drawn from a part.

    rows: (n,) which elements. chances: (n,) of having been drawn: each stands for as many as the reciprocal says.
    pieces: what they were cut into, one element's after the other's, as large as all for which they stand.
    """

    rows: np.ndarray
    chances: np.ndarray
    pieces: Part


class Estimate:
    """A mean over the elements of a boundary, and what it may be off by, as more and more elements are drawn.

    total: distance times size, mm times mm2 (mm for contours), and error: how far off that is estimated to be.
    differences: (k,) of the elements that can be drawn. left: what may be left of their sum, as for errorOf().
    """

    def __init__(self, whole: Part, means: Means, left: tuple[float, float]):
        self._means = means
        self.total, self.differences = told(whole, means)
        self._sum = float(self.differences.sum())
        self.total += self._sum * EXPECTED / (1 - EXPECTED)
        self.error = errorOf(self.differences, left)
        self._scale, self._variance = abs(self._sum), 0.0
        # of having been drawn again and again, of all elements whose differences are known
        self._chances = np.broadcast_to(1.0, len(self.differences))

    def add(self, sample: Sample) -> None:
        """Take into account what elements tell that were drawn from those of which was known so far."""
        _, ofPieces = told(sample.pieces, self._means)
        beyond = ofPieces.reshape(len(sample.rows), -1).sum(axis=1)
        beyond -= EXPECTED * self.differences[sample.rows] / sample.chances
        more = float(beyond.sum())
        self._sum, self.total = EXPECTED * self._sum + more, self.total + more / (1 - EXPECTED)
        # a sum that vanishes may do so by chance
        self._scale = max(abs(self._sum), EXPECTED * self._scale)
        self._variance += float(((1 - sample.chances) * beyond**2).sum())
        chances = self._chances[sample.rows] * sample.chances
        self._chances = np.repeat(chances, len(ofPieces) // len(chances))
        # differences that cancel, as on two faces of a box, need not do so when the pieces are cut
        squares = self._variance / (1 - EXPECTED) ** 2 + float((self._chances * ofPieces**2).sum())
        self.error = LEFT_OF_DRAWN * self._scale + CHANCE_OF_DRAWN * squares**0.5
        self.differences = ofPieces

    def over(self, size: float, least: float) -> Bounded:
        """Return the mean over a size, not below `least`, with bounds, mm."""
        return Bounded.within(self.total / size, BOUNDS * self.error / size + ROUNDING, least, np.inf)


class MeanDistances:
    """Means over the elements of a boundary, of which some are drawn and cut while a wanted error in mm needs that.

    whole: all elements, before any has been cut. size: of the boundary, mm2 (mm for contours). left: what may be left
    of the sum of their differences, as for errorOf().
    """

    def __init__(self, whole: Part, size: float, left: tuple[float, float], wanted: float):
        self._whole, self._size, self._left, self._wanted = whole, size, left, wanted * size
        self.samples: list[Sample] = []
        self._estimate, self._last = Estimate(whole, Part.means, left), whole

    def draw(self) -> Part | None:
        """Return elements to be cut, whose pieces add() wants, as large as all for which they stand; None for none."""
        # what both boundaries have is no distance away
        low, high = self._last.signedRange(1)
        isApart = (low < -ROUNDING) | (high > ROUNDING)
        count = np.count_nonzero(isApart)
        # the differences of a few elements may vanish by chance
        isKnown = count > FEW and self._estimate.error <= self._wanted
        if isKnown or not count or len(self.samples) == MOST_LEVELS:
            self._estimate.differences = np.zeros(0)  # they take memory, and are not asked for any more
            return None
        self._rows, self._chances = drawn(self._estimate.differences, isApart, CHANCE_OF_DRAWN * self._wanted)
        part = self._last.chosen(self._rows)
        return replace(part, sizes=part.sizes / self._chances)

    def add(self, pieces: Part) -> None:
        """Take into account the pieces of the elements that were drawn last."""
        self.samples.append(Sample(self._rows, self._chances, pieces))
        self._estimate.add(self.samples[-1])
        self._last = pieces

    @property
    def magnitude(self) -> Bounded:
        """Mean distance in mm."""
        return self._estimate.over(self._size, 0.0)

    @property
    def signed(self) -> Bounded:
        """Mean signed distance in mm."""
        estimate = Estimate(self._whole, Part.signedMeans, self._left)
        for sample in self.samples:
            estimate.add(sample)
        return estimate.over(self._size, -np.inf)


def told(part: Part, means: Means) -> tuple[float, np.ndarray]:
    """Return distance times size of all elements by their pieces, and how much more (k,) that is than by corners."""
    coarse, fine = means(part)
    differences = np.subtract(fine, coarse)
    differences *= part.sizes
    return total(fine, part.sizes), differences


def drawn(differences: np.ndarray, canBe: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (n,) of some elements, drawn by their differences (k,), and the chances that these had.

    canBe: (k,) which elements can be drawn. error: of the sum that may come from drawing.
    """
    chances = np.abs(differences)
    chances *= canBe
    sum_, count = float(chances.sum()), np.count_nonzero(canBe)
    needed = (SPREAD * sum_ / error) ** 2
    # where nothing differs all are alike
    least = LEAST_CHANCE * sum_ / count or 1.0
    chances += least
    chances *= np.clip(needed, FEWEST_DRAWN, MOST_DRAWN) / (sum_ + least * count)
    rows, number = [], 0
    for first in range(0, len(chances), CHUNK):
        some = first + np.flatnonzero(canBe[first : first + CHUNK])
        multiples = np.arange(number, number + len(some)) * GOLDEN
        rows.append(some[multiples - np.floor(multiples) < chances.take(some)])
        number += len(some)
    rows = np.concatenate(rows)
    return rows, np.minimum(chances.take(rows), 1)
