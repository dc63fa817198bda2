"""All measurements of all ordered pairs of observers and tests, and whether a test is within what the observers do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...base.errors import InputError
from ...base.parallel import eachSideBySide
from ...base.plain import storeAs, toPlain
from ...conventions.presets import PRESETS
from ...distances.surfacedistances import SurfaceDistances
from ...metrics.findings import asFinding
from ...metrics.measurement import ROUNDING, Measurement, measure
from ...metrics.pair import Pair
from ...metrics.registry import findMetric
from ...model.structure import Structure
from ...settings.settings import Settings
from ..casework import SMALL, costOf
from ..comparison import Comparison, ask, comparePair, measureTogether

# Distances of several pairs are pooled in steps of this many mm.
STEP = 0.001


class PairSpread(NamedTuple):
    """How a measurement varies over pairs of observers; infinite values count, undefined ones are left out.

    mean, sd, low, high: NaN without a value; mean and SD of infinite values are not finite. pairs: number of values.
    undefined: number of pairs without one.
    """

    mean: float
    sd: float
    low: float
    high: float
    pairs: int
    undefined: int

    def toDictionary(self) -> dict:
        """Return the spread for JSON, with null for what is not finite."""
        return toPlain(dict(zip(("mean", "SD", "lowest", "highest", "pairs", "undefined"), self, strict=True)))


class Pooled(NamedTuple):
    """How much of two boundaries is how far from the other. sizes: (n,) in mm2 at n times STEP mm. total: of both."""

    sizes: np.ndarray
    total: float

    @staticmethod
    def of(distances: SurfaceDistances) -> Pooled:
        """Return both directions of a pair together."""
        steps = [np.rint(direction.distances / STEP).astype(np.int64) for direction in distances.directions]
        sizes = [direction.sizesOf(np.arange(len(direction.distances))) for direction in distances.directions]
        # of nothing it would count in whole numbers
        counted = np.bincount(np.concatenate(steps), np.concatenate(sizes), 1).astype(float)
        total = sum(direction.totalSize for direction in distances.directions)
        # what is part of both has no distance
        counted[0] += total - counted.sum()
        return Pooled(counted, total)

    def within(self, tolerance: float) -> float:
        """Return the share of both boundaries within a tolerance in mm."""
        return float(self.sizes[: round(tolerance / STEP) + 1].sum()) / self.total


def averageNumbers(values: np.ndarray) -> float:
    """Return the mean of numbers (n,): infinite if some are, NaN if some are infinite toward either side."""
    with np.errstate(invalid="ignore"):
        return float(values.mean())


def percentileOf(pooled: Sequence[Pooled], percent: float) -> float:
    """Return the distance in mm within which a percentage of all boundaries of some pairs lies, NaN without a pair."""
    if not pooled:
        return math.nan
    together = np.zeros(max(len(one.sizes) for one in pooled))
    for one in pooled:
        together[: len(one.sizes)] += one.sizes
    reached = np.cumsum(together)
    return float(np.searchsorted(reached, percent / 100 * reached[-1] * (1 - 1e-12))) * STEP


@dataclass(frozen=True)
class Matrix:
    """The measurements of all ordered pairs.

    size: number of observers and tests. pairs: measurements by key for each pair of a row, the reference, and a column,
    the test; a pair that could not be compared is missing. pooled: distances of each pair with the lower number first.
    findings: alarms, with the pairs that have them. failures: why pairs could not be compared.
    """

    size: int
    pairs: Mapping[tuple[int, int], Mapping[str, Measurement]]
    pooled: Mapping[tuple[int, int], Pooled] = field(default_factory=dict)
    findings: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    failures: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The keys of all measurements, in their order."""
        return list(dict.fromkeys(key for measurements in self.pairs.values() for key in measurements))

    def any(self, key: str) -> Measurement:
        """Return one of the measurements of a key, for its title, unit and so on."""
        return next(found[key] for found in self.pairs.values() if key in found)

    def values(self, key: str) -> np.ndarray:
        """Return the values (size, size) of a measurement, by row and column; NaN where there is none."""
        result = np.full((self.size, self.size), np.nan)
        for place, measurements in self.pairs.items():
            if key in measurements:
                result[place] = measurements[key].value
        return result

    def spread(self, key: str, observers: Sequence[int]) -> PairSpread:
        """Return how a measurement varies over the pairs of some observers.

        Every pair counts once if the measurement does not depend on the order, else in both orders.
        """
        every = list(itertools.permutations(observers, 2))
        values = self.values(key)
        found = findMetric(key)
        # the background that counts may be that of the reference's image
        isSame = all(values[a, b] == values[b, a] or np.isnan([values[a, b], values[b, a]]).all() for a, b in every)
        isSame = isSame and found is not None and found.metric.symmetric
        chosen = [pair for pair in every if not isSame or pair[0] < pair[1]]
        given = np.array([values[pair] for pair in chosen])
        known = given[~np.isnan(given)]
        if not len(known):
            return PairSpread(*4 * (math.nan,), 0, len(given))
        sd = float(known.std(ddof=1)) if len(known) > 1 and np.isfinite(known).all() else math.nan
        low, high = float(known.min()), float(known.max())
        return PairSpread(averageNumbers(known), sd, low, high, len(known), len(given) - len(known))


def compareAll(
    structures: Sequence[Structure | None], settings: Settings, criticals: Sequence[Mapping[str, Structure]]
) -> Matrix:
    """Compare all ordered pairs of structures but None. criticals: by name, for each structure as a reference."""
    # before the threads start, which would otherwise make the surface of a structure each for itself
    present = {n: structure for n, structure in enumerate(structures) if structure is not None}
    eachSideBySide(lambda structure: structure.surface, list(present.values()))
    places = list(itertools.combinations(present, 2))
    opened: dict[tuple[int, int], Pair | InputError] = {}
    for first, second in places:
        try:
            opened[first, second] = Pair(present[first], present[second], settings, criticals[first])
        except InputError as error:
            opened[first, second] = error
    measureTogether(one for one in opened.values() if isinstance(one, Pair) and costOf(one.structures) <= SMALL)

    def both(place: tuple[int, int]) -> tuple | InputError:
        """Return the measurements of a pair in both orders, its alarms, and its distances, None without any."""
        pair = opened.pop(place)  # so that what is computed of it goes with it
        if isinstance(pair, InputError):
            return pair
        try:
            comparison = comparePair(pair)
            exchanged = _exchange(pair, comparison, criticals[place[1]])
        except InputError as error:
            return error
        alarms = [finding for finding in map(asFinding, comparison.findings) if finding.isAlarm]
        distances = comparison.distances
        return comparison.measurements, exchanged, alarms, None if distances is None else Pooled.of(distances)

    pairs, pooled = {}, {}
    findings: dict[str, list[tuple[int, int]]] = {}
    failures: dict[str, list[tuple[int, int]]] = {}
    for place, outcome in zip(places, eachSideBySide(both, places), strict=True):
        if isinstance(outcome, InputError):
            failures.setdefault(str(outcome), []).append(place)
            continue
        pairs[place], pairs[place[::-1]], alarms, distances = outcome
        if distances is not None:
            pooled[place] = distances
        for finding in alarms:
            findings.setdefault(finding, []).append(place)
    return Matrix(len(structures), pairs, pooled, findings, failures)


def _exchange(pair: Pair, comparison: Comparison, criticals: Mapping[str, Structure]) -> Mapping[str, Measurement]:
    """Return the measurements of a pair with reference and test exchanged; what that leaves as it is, is taken over."""
    exchanged = pair.exchange(criticals)
    # of empty structures and of parts of them, reasons and more name the reference and the test
    isPlain = pair.settings.convention in PRESETS and not pair.emptiness and pair.extent.description is None
    found = {}
    for one in ask(exchanged):
        known = comparison[one.key]
        if isPlain and one.metric.symmetric and not one.metric.dependsOnGrid and known.status == "ok":
            both = known.testToReference, known.referenceToTest
            found[one.key] = replace(known, referenceToTest=both[0], testToReference=both[1])
        else:
            found[one.key] = measure(exchanged, one)
    exchanged.forget()
    return found


@dataclass(frozen=True)
class TestVerdict:
    """How a test compares with the observers.

    name: of the test. mean: by key, its mean over all observers as the reference; infinite if one is infinite, NaN
    without any. rank: 1 plus the number of observers that are better; isWithin: whether it is not worse than the worst
    observer. Both only have measurements with a better direction. undefined: number of observers against whom a
    measurement is undefined and left out, where there are any.
    """

    __test__ = False  # not a test of pytest

    name: str
    mean: Mapping[str, float]
    rank: Mapping[str, int]
    isWithin: Mapping[str, bool]
    undefined: Mapping[str, int] = storeAs(isLeftOut=True)


def meansAsTest(values: np.ndarray, number: int, observers: Sequence[int]) -> tuple[float, int]:
    """Return the mean of a measurement of an observer or a test against the other observers, and how many have none.

    values: (n, n) with the reference in the row and the test in the column. NaN if all are undefined.
    """
    found = values[[other for other in observers if other != number], number]
    known = found[~np.isnan(found)]
    return (averageNumbers(known) if len(known) else np.nan), len(found) - len(known)


def verdictOf(matrix: Matrix, name: str, number: int, observers: Sequence[int], isRanked: bool) -> TestVerdict:
    """Return how a test compares with observers, all given by their number in the matrix.

    isRanked: whether there are enough observers for ranks and a verdict.
    """
    mean, rank, isWithin, undefined = {}, {}, {}, {}
    for key in matrix.keys:
        values, better = matrix.values(key), matrix.any(key).better
        mean[key], missing = meansAsTest(values, number, observers)
        if missing:
            undefined[key] = missing
        own = [meansAsTest(values, observer, observers)[0] for observer in observers]
        # worse is larger from here on
        sign = 1 if better == "lower" else -1
        known = sign * np.array([value for value in own if not np.isnan(value)])
        if not (isRanked and better and len(known)) or np.isnan(mean[key]):
            continue
        worse = sign * mean[key]
        isBetter = (known < worse) & ~np.isclose(known, worse, rtol=ROUNDING, atol=0)
        rank[key] = 1 + int(isBetter.sum())
        isWithin[key] = not bool(isBetter.all())
    return TestVerdict(name, mean, rank, isWithin, undefined)
