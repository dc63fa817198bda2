"""The mean distance over a boundary, refined by a sample of its elements.

The idea
--------
Every element gives two estimates of its mean distance: one from its corners alone, and a finer one from its pieces. The
differences of all elements of a boundary have a sum D. If all pieces were cut again, the mean would change by another
sum of differences, about a quarter of D where the distance is smooth; and so on, by D / 3 altogether (Richardson
extrapolation). But the distance has kinks, and it is not known in advance whether the next sum is a fifth of D or half.

Cutting all pieces to find out would cost four times the work so far, and is not needed: a sample estimates sums well.
Some elements are drawn, those with large differences more often, and their pieces are cut. The change of each beyond
the expected quarter, times the number of elements it represents, adds up to an estimate of the change of all elements.
The next sum is again expected to be a quarter of that, a third altogether. So with R, the estimated change beyond the
expected one, the mean is

    from pieces  +  D / 3  +  4/3 R.

Where the next sum is still too large, elements are drawn from the pieces of those that were drawn, and so on. Each
finer level has smaller differences, and needs fewer draws.

Whether an element is drawn is decided independently for each: if the fractional part of the next multiple of the golden
ratio is less than the element's chance. Neighbors have consecutive multiples, whose fractional parts are spread evenly,
so that the drawn elements are as well. And the same pair always gives the same number, whether its distances were
looked up or searched for.

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

# Expected ratio of the next sum of differences to the current one.
EXPECTED = 1 / 4
# How often elements are drawn (from a boundary, from their pieces, from the pieces of these, ...); and the fewest and
# the most per draw.
MOST_LEVELS, FEWEST_DRAWN, MOST_DRAWN = 5, 100, 2000
# Error of a single draw, as a fraction of the sum of the magnitudes of all differences.
SPREAD = 0.25
# Up to this many elements, some are cut in any case.
FEW = 300
# Added to every difference when elements are drawn, as a multiple of the average: where whole and pieces agree by
# chance, finer pieces need not.
LEAST_CHANCE = 1.0
# Fractions that may remain as error: of the last sum of differences of the drawn elements, and, as random part, of the
# root of the sum of squares of both their changes beyond expectation and the last differences of all elements.
LEFT_OF_DRAWN, CHANCE_OF_DRAWN = 0.08, 0.5
# Elements processed at a time in drawing, so that temporary arrays stay small.
CHUNK = 1 << 15
GOLDEN = (5**0.5 - 1) / 2

# Returns the mean of every element of a part from its corners, and from its pieces.
Means = Callable[[Part], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Sample:
    """Elements drawn from a part.

    rows: (n,) numbers of the elements. chances: (n,) probabilities of having been drawn; an element represents as many
    elements as the reciprocal. pieces: their pieces, element by element, with the sizes of all elements they represent.
    """

    rows: np.ndarray
    chances: np.ndarray
    pieces: Part


class Estimate:
    """A mean over the elements of a boundary and its error, updated as more and more elements are drawn.

    total: distance times size, mm times mm2 (mm for contours). error: estimated error of `total`. differences: (k,) of
    the elements that can be drawn. left: fractions of them that may remain, as for errorOf().
    """

    def __init__(self, whole: Part, means: Means, left: tuple[float, float]):
        self._means = means
        self.total, self.differences = told(whole, means)
        self._sum = float(self.differences.sum())
        self.total += self._sum * EXPECTED / (1 - EXPECTED)
        self.error = errorOf(self.differences, left)
        self._scale, self._variance = abs(self._sum), 0.0
        # probability that an element and all it was cut from were drawn, for all elements with known differences
        self._chances = np.broadcast_to(1.0, len(self.differences))

    def add(self, sample: Sample) -> None:
        """Update the estimate with elements that were drawn from those with the current differences."""
        _, ofPieces = told(sample.pieces, self._means)
        beyond = ofPieces.reshape(len(sample.rows), -1).sum(axis=1)
        beyond -= EXPECTED * self.differences[sample.rows] / sample.chances
        more = float(beyond.sum())
        self._sum, self.total = EXPECTED * self._sum + more, self.total + more / (1 - EXPECTED)
        # a sum may vanish by chance
        self._scale = max(abs(self._sum), EXPECTED * self._scale)
        self._variance += float(((1 - sample.chances) * beyond**2).sum())
        chances = self._chances[sample.rows] * sample.chances
        self._chances = np.repeat(chances, len(ofPieces) // len(chances))
        # differences that cancel, as on two faces of a box, need not cancel after the pieces are cut
        squares = self._variance / (1 - EXPECTED) ** 2 + float((self._chances * ofPieces**2).sum())
        self.error = LEFT_OF_DRAWN * self._scale + CHANCE_OF_DRAWN * squares**0.5
        self.differences = ofPieces

    def over(self, size: float, least: float) -> Bounded:
        """Return the mean over a size, not below `least`, with bounds, mm."""
        return Bounded.within(self.total / size, BOUNDS * self.error / size + ROUNDING, least, np.inf)


class MeanDistances:
    """Means over the elements of a boundary, some of which are drawn and cut until the error is as small as wanted.

    whole: all elements, before any has been cut. size: of the boundary, mm2 (mm for contours). left: fractions of the
    differences that may remain as error, as for errorOf(). wanted: acceptable error, mm.
    """

    def __init__(self, whole: Part, size: float, left: tuple[float, float], wanted: float):
        self._whole, self._size, self._left, self._wanted = whole, size, left, wanted * size
        self.samples: list[Sample] = []
        self._estimate, self._last = Estimate(whole, Part.means, left), whole

    def draw(self) -> Part | None:
        """Return elements to be cut for add(), with the sizes of all elements they represent, or None if not needed."""
        # elements shared by both boundaries have distance 0
        low, high = self._last.signedRange(1)
        isApart = (low < -ROUNDING) | (high > ROUNDING)
        count = np.count_nonzero(isApart)
        # the differences of a few elements may vanish by chance
        isKnown = count > FEW and self._estimate.error <= self._wanted
        if isKnown or not count or len(self.samples) == MOST_LEVELS:
            self._estimate.differences = np.zeros(0)  # frees memory, as they are no longer needed
            return None
        self._rows, self._chances = drawn(self._estimate.differences, isApart, CHANCE_OF_DRAWN * self._wanted)
        part = self._last.chosen(self._rows)
        return replace(part, sizes=part.sizes / self._chances)

    def add(self, pieces: Part) -> None:
        """Update the estimate with the pieces of the elements that were drawn last."""
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
    """Return the sum of distance times size from pieces, and the differences (k,) to that from corners alone."""
    coarse, fine = means(part)
    differences = np.subtract(fine, coarse)
    differences *= part.sizes
    return total(fine, part.sizes), differences


def drawn(differences: np.ndarray, canBe: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (n,) of elements drawn with probabilities by their differences (k,), and these probabilities.

    canBe: (k,) whether an element can be drawn. error: acceptable error of the sum due to drawing.
    """
    chances = np.abs(differences)
    chances *= canBe
    sum_, count = float(chances.sum()), np.count_nonzero(canBe)
    needed = (SPREAD * sum_ / error) ** 2
    # without any differences all elements have the same probability
    least = LEAST_CHANCE * sum_ / count or 1.0
    chances += least
    chances *= np.clip(needed, FEWEST_DRAWN, MOST_DRAWN) / (sum_ + least * count)
    parts, number = [], 0
    for first in range(0, len(chances), CHUNK):
        some = first + np.flatnonzero(canBe[first : first + CHUNK])
        multiples = np.arange(number, number + len(some)) * GOLDEN
        parts.append(some[multiples - np.floor(multiples) < chances.take(some)])
        number += len(some)
    rows = np.concatenate(parts)
    return rows, np.minimum(chances.take(rows), 1)
