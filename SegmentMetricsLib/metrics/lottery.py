"""Which points are searched because their interpolated distances may be wrong, and what that corrects.

A point is searched for one boundary at a time, with a chance of its own for each: the points whose interpolated
distance is close to a border of one band are mostly far from those of the other one. What the search of one boundary
changes by itself counts by the chance of that; what only both change together counts by the smaller chance. So the
expected result is that of searching every point (Horvitz and Thompson, doi:10.1080/01621459.1952.10483446).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# The largest of the steps in which margins are told, which says that a point cannot be in a band at all, and what is
# added to the steps of points that lie in the other band.
NOWHERE = 32767
IN_OTHER = NOWHERE + 1
# Chance to be drawn of points where the interpolation is hardly wrong, as a share of that where it surely is; and that
# of points outside the other band, at least, as a share of that of points inside.
LEAST_CHANCE, LEAST_OUTSIDE = 0.02, 0.2
# Chances are tabulated for so many margins.
CHANCES = 4096
# How many points are wrong, about, as a share of those at which the interpolation is off by more than their margin:
# half of these are off to the other side, and more of them by less.
WRONGLY = 0.22
# Points of every cell that tell how many there are of which chance.
FEW_OF_CELL = 8
# Points asked at a time whether they are drawn, so that temporary arrays stay in the processor's cache.
CHUNK = 1 << 16
# Shares that what the cells' own corners tell may have in how far off the interpolation is thought to be there.
LOCAL_SHARES = np.linspace(0, 0.9, 10)


@dataclass(frozen=True, eq=False)
class Trust:
    """How far off the interpolation of the distances to one boundary is.

    scales: (cells,) about how far in mm. wrong: (k,) how far off it was at some points, in multiples of that, ascending
    from 0.
    """

    scales: np.ndarray
    wrong: np.ndarray

    @staticmethod
    def of(doubts: np.ndarray, rows: np.ndarray, off: np.ndarray, least: float) -> Trust:
        """Return how far off it is, from what it was at some points, of cells (k,), by mm (k,).

        doubts: (cells,) by how much the corners of each cell disagree, mm. least: mm, > 0. How much doubts tell differs
        from shape to shape: next to creases that pass through corners, nothing.
        """
        typical = max(float(off.mean()) if len(off) else 0.0, least)
        doubts = doubts / max(float(doubts[rows].mean()) if len(rows) else 0.0, least)
        # the likeliest of some mixtures, if how far off points are is distributed exponentially
        mixtures = [share * doubts[rows] + (1 - share) for share in LOCAL_SHARES]
        fits = [np.log(np.mean(off / m) + least) + np.log(m).mean() if len(rows) else 0.0 for m in mixtures]
        share = LOCAL_SHARES[int(np.argmin(fits))]
        scales = typical * (share * doubts + (1 - share))
        return Trust(scales.astype(np.float32), np.sort(np.append(off / scales[rows], 0.0)))


class Lottery:
    """Draws points by lot for each boundary. Who is drawn among few is drawn among more as well.

    lots: (n,) of the points, in [0, 1). codes: for each boundary (cells, n / cells) uint16: the margins in steps, plus
    IN_OTHER. step: mm. trusts: for each boundary. overlap: about that of the bands.
    """

    def __init__(self, lots: np.ndarray, codes: list[np.ndarray], step: float, trusts: list[Trust], overlap: float):
        self._lots, self._codes, self._perCell = lots, [code.ravel() for code in codes], codes[0].shape[1]
        # who joins one band moves the overlap by 1 inside the other band, and by the overlap outside
        self._inside = np.array([max(overlap, LEAST_OUTSIDE), 1], np.float32)
        # margins are looked up by so many places for each step, cell by cell
        tops = [max(float(trust.wrong[-1]), 1e-6) for trust in trusts]
        self._places = [
            np.float32(step * (CHANCES - 1) / top) / trust.scales for trust, top in zip(trusts, tops, strict=True)
        ]
        self._tables = [_chancesUpTo(top, trust.wrong) for trust, top in zip(trusts, tops, strict=True)]
        # of the first points of every cell, which are spread evenly, too
        few = min(FEW_OF_CELL, self._perCell)
        every = np.add.outer(np.arange(0, len(lots), self._perCell), np.arange(few)).ravel()
        share = max(1, len(every)) / max(1, len(lots))
        self._sum = sum(float(self._weights(number, every).sum(dtype=float)) for number in (0, 1)) / share

    def _weights(self, number: int, points: np.ndarray) -> np.ndarray:
        """Return what the chances of points (k,) to be drawn for one boundary are proportional to, at most 1."""
        codes = self._codes[number].take(points)
        margins = codes & np.uint16(NOWHERE)
        # points of a cell are a power of two
        places = self._places[number].take(points >> (self._perCell.bit_length() - 1))
        places *= margins
        weights = self._tables[number].take(np.minimum(places, np.float32(CHANCES - 1), out=places).astype(np.int32))
        weights *= self._inside.take(codes >> np.uint16(15))
        weights *= margins != NOWHERE
        return weights

    def factorFor(self, error: float) -> float:
        """Return what chances are to be multiplied with so that the draw's standard error is about so many points."""
        return WRONGLY * self._sum / error**2

    def within(self, factor: float, fewest: int, most: int) -> float:
        """Return a factor at which at least and at most so many searches are expected, about."""
        return float(np.clip(factor, fewest / max(self._sum, 1e-9), most / max(self._sum, 1e-9)))

    def drawn(self, number: int, factor: float) -> np.ndarray:
        """Return the numbers of the points (k,), ascending, that are searched for one boundary."""
        factor, found = np.float32(factor), [np.zeros(0, np.intp)]
        for first in range(0, len(self._lots), CHUNK):
            lots = self._lots[first : first + CHUNK]
            # nobody has a larger weight than 1
            points = np.flatnonzero(lots < factor)
            weights = self._weights(number, first + points)
            weights *= factor
            found.append(first + points[lots.take(points) < weights])
        return np.concatenate(found)

    def chances(self, number: int, points: np.ndarray, factor: float) -> np.ndarray:
        """Return how likely points (k,) were to be drawn for one boundary, in [0, 1]."""
        return np.minimum(self._weights(number, points).astype(float) * factor, 1)


def _chancesUpTo(top: float, wrong: np.ndarray) -> np.ndarray:
    """Return the weights (CHANCES,) float32 of margins from 0 to a top, from how far off some points were, ascending.

    The root of how likely a point is wrong is the best use of a number of searches (Neyman's allocation). The chance
    falls with the margin without jumps: what rounding does to margins must not decide who is drawn.
    """
    share = 1 - np.interp(np.linspace(0, top, CHANCES), wrong, np.linspace(0, 1, len(wrong)))
    return np.sqrt(np.maximum(share, LEAST_CHANCE**2)).astype(np.float32)


class Corrections:
    """What searches change in the numbers of points in both bands and in either: of some points that were drawn.

    guessed, found: for each boundary which points (k,) seemed to lie in its band, and which do by all that was searched
    of them. chances: for each boundary (k,) those of being searched; where one was not, what is found is the guess.
    """

    def __init__(self, guessed: list[np.ndarray], found: list[np.ndarray], chances: list[np.ndarray]):
        wrong = np.flatnonzero((guessed[0] != found[0]) | (guessed[1] != found[1]))
        (a, b), (c, d) = ([member[wrong] for member in members] for members in (guessed, found))
        # what is never searched changes nothing
        one, other = (np.where(chance[wrong] > 0, chance[wrong], 1) for chance in chances)
        self._inverse = 1 / one, 1 / other, 1 / np.minimum(one, other)
        self._both = _changes(a & b, c & b, a & d, c & d)
        self._either = _changes(a | b, c | b, a | d, c | d)

    @property
    def both(self) -> float:
        """By how many points the number in both bands changes."""
        return float(self._estimates(self._both).sum())

    @property
    def either(self) -> float:
        """By how many points the number in either band changes."""
        return float(self._estimates(self._either).sum())

    def error(self, overlap: float) -> float:
        """Return the standard error in points of the numerator of the overlap, less the overlap times the other.

        That of the draw, and of there being so many points in all, which are no more than a sample of places.
        """
        parts = [both - overlap * either for both, either in zip(self._both, self._either, strict=True)]
        return float(np.sqrt((self._estimates(parts) ** 2).sum()))

    def _estimates(self, changes: Sequence[np.ndarray]) -> np.ndarray:
        first, second, together = (change * inverse for change, inverse in zip(changes, self._inverse, strict=True))
        return first + second + together


def _changes(none: np.ndarray, one: np.ndarray, other: np.ndarray, all_: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return by how much flags (k,) change with what one boundary tells, the other, and both beyond their sum."""
    none, one, other, all_ = (flags.astype(float) for flags in (none, one, other, all_))
    return one - none, other - none, all_ - one - other + none
