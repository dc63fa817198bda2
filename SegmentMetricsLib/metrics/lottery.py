"""Which voxels are searched because their interpolated depth may be wrong, and what that corrects.

A voxel is searched for one boundary at a time, with a chance of its own for each: the voxels close to where one band
ends are mostly far from where the other one does. What the search of one boundary changes by itself counts by the
chance of that; what only both change together counts by the smaller chance. So the expected result is that of searching
every voxel (Horvitz and Thompson, doi:10.1080/01621459.1952.10483446).

A voxel next to the end of a band counts in part, as a ramp has it that is as wide as a voxel. So it changes by as much
as its depth was wrong, and not, as by chance, by all or nothing: a draw tells the same with a tenth of the searches. On
ridges, where depths turn before they reach the other end of the ramp, that would not be the same in the mean: there
ramps are so narrow that it is all or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

# Chance to be drawn of voxels far from where the band ends, as a share of that of voxels there; and that of voxels
# outside the other band, at least, as a share of that of voxels inside.
LEAST_CHANCE, LEAST_OUTSIDE = 0.01, 0.2
# Voxels are far where the interpolation would have to be off by more than so many times as much as it usually is.
FAR = 4


def ramp(above: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return how much of voxels (n,) counts as in a band that they lie inside the end of by so many mm; in [0, 1].

    width: of the ramp, mm, or (n,) of each.
    """
    return np.clip(above / np.float32(width) + np.float32(0.5), 0, 1)


def isNear(above: np.ndarray, scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return which voxels (...) are close enough to where the band ends to be drawn for that; arguments as below."""
    return np.abs(above) < np.float32(FAR) * scales + np.float32(width / 2)


def chancesOf(above: np.ndarray, scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return what the chances (n,) of voxels to be drawn are best proportional to, at most 1; float32.

    above, scales: (n,) by how many mm they lie inside the end of the band, and about how far off that is. width: of the
    ramp, mm, or of each. It is the root of the mean square of by how much they change (Neyman's allocation), if how far
    off depths are is distributed exponentially.
    """
    beyond = np.maximum(np.abs(above) - np.float32(width / 2), 0)
    return largestChances(scales, width) * np.exp(beyond / (-2 * scales))


def largestChances(scales: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return chancesOf() voxels where the band ends, whose depths are about so far off (...), mm."""
    return np.minimum(scales * np.float32(1.4) / np.float32(width), 1)


class Lottery:
    """Draws voxels at random but repeatably, more when asked for more, and tells what the drawn ones correct.

    chances: for each boundary what those of voxels (n,) to be drawn are proportional to, 0 where nothing can be wrong.
    guessed: returns how much of some voxels (k,), told their numbers, seems to lie in each of the bands. search: does
    so for the reference's (0) or the test's band (1) as a search finds it.
    """

    def __init__(
        self,
        chances: Sequence[np.ndarray],
        guessed: Callable[[np.ndarray], list[np.ndarray]],
        search: Callable[[int, np.ndarray], np.ndarray],
    ):
        self._chances, self._guessed, self._search = chances, guessed, search
        self._larger = np.maximum(*chances)
        # always the same
        self._lots = np.random.default_rng(0).random(len(self._larger), np.float32)
        # the voxels that were searched for each boundary, ascending, and what was found
        self._known = [(np.zeros(0, np.intp), np.zeros(0, np.float32)) for _ in (0, 1)]
        self.total = float(sum(chance.sum(dtype=float) for chance in chances))

    def within(self, factor: float, fewest: float, most: float) -> float:
        """Return a factor of chances at which at least and at most so many searches are expected, about."""
        return float(np.clip(factor, fewest / self.total, most / self.total))

    def corrections(self, factor: float) -> Corrections:
        """Return what searching the voxels changes that are drawn when all chances are multiplied with a factor."""
        every = np.flatnonzero(self._lots < np.float32(factor) * self._larger)
        lots, guessed, found, chances = self._lots.take(every), self._guessed(every), [], []
        for number in (0, 1):
            chance = np.minimum(self._chances[number].take(every) * np.float32(factor), 1)
            isDrawn = lots < chance
            new = guessed[number].copy()
            new[isDrawn] = self._searched(number, every[isDrawn])
            found.append(new)
            chances.append(chance.astype(float))
        return Corrections(guessed, found, chances)

    def _searched(self, number: int, voxels: np.ndarray) -> np.ndarray:
        """Return what searches find of voxels (k,), ascending, among which are all that were searched before."""
        before, values = self._known[number]
        found = np.empty(len(voxels), np.float32)
        isNew = np.ones(len(voxels), bool)
        isNew[np.searchsorted(voxels, before)] = False
        found[~isNew] = values
        if isNew.any():
            found[isNew] = self._search(number, voxels[isNew])
        self._known[number] = voxels, found
        return found


class Corrections:
    """What searches change in the numbers of voxels in both bands and in either: of some voxels that were drawn.

    guessed, found: for each boundary how much of voxels (k,) seemed to lie in its band, and how much does by all that
    was searched of them. chances: for each boundary (k,) those of being searched; where one was not, what is found is
    the guess.
    """

    def __init__(self, guessed: list[np.ndarray], found: list[np.ndarray], chances: list[np.ndarray]):
        (a, b), (c, d) = ([part.astype(float) for part in parts] for parts in (guessed, found))
        # what is never searched changes nothing
        one, other = (np.where(chance > 0, chance, 1) for chance in chances)
        self._inverse = 1 / one, 1 / other, 1 / np.minimum(one, other)
        # how much of a voxel is in both bands: they mostly end side by side
        self._both = _changes(*(np.minimum(*parts) for parts in ((a, b), (c, b), (a, d), (c, d))))
        self._either = _changes(*(np.maximum(*parts) for parts in ((a, b), (c, b), (a, d), (c, d))))

    @property
    def both(self) -> float:
        """By how many voxels the number in both bands changes."""
        return float(self._estimates(self._both).sum())

    @property
    def either(self) -> float:
        """By how many voxels the number in either band changes."""
        return float(self._estimates(self._either).sum())

    def error(self, overlap: float) -> float:
        """Return the standard error in voxels of the numerator of the overlap, less the overlap times the other."""
        parts = [both - overlap * either for both, either in zip(self._both, self._either, strict=True)]
        return float(np.sqrt((self._estimates(parts) ** 2 * (1 - 1 / self._inverse[2])).sum()))

    def _estimates(self, changes: Sequence[np.ndarray]) -> np.ndarray:
        first, second, whole = changes
        one, other, together = self._inverse
        # in this order what changes alike in both bands and in either does so to the last digit
        return whole * together + (first * (one - together) + second * (other - together))


def _changes(none: np.ndarray, one: np.ndarray, other: np.ndarray, all_: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return by how much numbers (k,) change with what one boundary tells, the other, and both."""
    return one - none, other - none, all_ - none
