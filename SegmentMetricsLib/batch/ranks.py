"""Statistics of ordered numbers, which hold with infinite ones too: quantiles, rank tests and their effect sizes.

An infinite number is larger (or smaller) than all finite ones, and that is all that ranks need. A mean needs more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.measurement import ROUNDING, ROUNDING_OF_ZERO

# Relative difference up to which absolute differences are ties: they only differ by the rounding of a subtraction.
NEAR = 1e-9
# Standard normal quantile of a 95 % interval.
NORMAL = 1.959963984540054
# Most differences for which p is computed exactly here; SciPy approximates for more than this if there are ties.
MOST_EXACT = 13
# Most differences for which the one-sided p is exact.
MOST_EXACT_GREATER = 100
# Most differences for which the interval of the shift is exact: the numbers of choices of signs are exact up to this.
MOST_EXACT_SHIFT = 50


def quantile(values: np.ndarray, share: float) -> float:
    """Return the quantile of sorted numbers (n,) by linear interpolation, as NumPy for finite ones.

    Between a finite and an infinite number it is infinite; two opposite infinite ones cancel. share: from 0 to 1.
    """
    place = share * (len(values) - 1)
    low, high = float(values[math.floor(place)]), float(values[math.ceil(place)])
    if low == high or place == math.floor(place):
        return low
    if math.isinf(low) or math.isinf(high):
        return 0.0 if low == -high else low + high
    return low + (place - math.floor(place)) * (high - low)


def medianOf(values: np.ndarray) -> float:
    """Return the median of at least one number (n,); two opposite infinite ones in the middle cancel."""
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(np.median(values), nan=0.0, posinf=math.inf, neginf=-math.inf))


def tie(given: Sequence[float] | np.ndarray, relative: float, absolute: float = 0.0) -> np.ndarray:
    """Return numbers (n,) in which those that differ by no more than a relative or an absolute difference are equal."""
    values = np.array(given, float)
    order = np.argsort(values, kind="stable")
    first = math.nan
    for place in order:
        value = values[place]
        # of infinite numbers only equal ones are close
        if not math.isclose(value, first, rel_tol=relative, abs_tol=absolute):
            first = value
        values[place] = first
    return values


class SignedRank(NamedTuple):
    """The outcome of comparing paired numbers: the second of each pair minus the first.

    cases: number of pairs. medianDifference: of the differences. p: two-sided, of Wilcoxon's signed-rank test.
    rankBiserial: the matched-pairs rank-biserial correlation, from -1 to 1: the share of the sum of ranks where the
    second is larger, minus the share where it is smaller. shift: the Hodges-Lehmann estimate, the median of the means
    of all pairs of differences. Low, High: their 95 % intervals; that of the shift is infinite where there are too few
    cases for one. reason: why there is no p.
    """

    cases: int
    medianDifference: float | None = None
    p: float | None = None
    rankBiserial: float | None = None
    rankBiserialLow: float | None = None
    rankBiserialHigh: float | None = None
    shift: float | None = None
    shiftLow: float | None = None
    shiftHigh: float | None = None
    reason: str = ""


def compareRanks(first: np.ndarray, second: np.ndarray) -> SignedRank:
    """Return the comparison of paired numbers (n,), none of which is NaN (Wilcoxon 1945, doi:10.2307/3001968).

    Two infinite numbers of the same sign are a tie; an infinite difference has the largest absolute rank, which several
    share. Numbers that only differ by rounding are ties, and so are absolute differences that do.
    """
    count = len(first)
    if not count:
        return SignedRank(0, reason="no case has both")
    isSame = [
        math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING_OF_ZERO) for a, b in zip(first, second, strict=True)
    ]
    differences = np.zeros(count)
    # two infinite numbers are the same, so that they are not subtracted
    np.subtract(second, first, out=differences, where=~np.array(isSame, bool))
    median = medianOf(differences)
    if not differences.any():
        return SignedRank(count, median, reason="the methods do not differ in any case")
    ranks = signedRanks(differences)
    used = ranks[ranks != 0]
    if count <= MOST_EXACT:
        p = min(1.0, 2 * min(_chances(used), _chances(-used)))
    else:
        from scipy.stats import wilcoxon

        # the ranks of ranks are the ranks, so SciPy needs neither infinite numbers nor a tolerance
        p = float(wilcoxon(ranks).pvalue)
    effect = float(used.sum() / np.abs(used).sum())
    # that of the share of larger means of two differences, whose variance is at most that of a share of half as many
    # (Hoeffding 1948, doi:10.1214/aoms/1177730196), whatever the distribution: it is rather too wide, and has a width
    # even if all differences agree
    low, high = wilson((1 + effect) / 2, len(used) / 2)
    return SignedRank(count, median, p, effect, 2 * low - 1, 2 * high - 1, *shiftOf(differences))


def signedRanks(differences: np.ndarray) -> np.ndarray:
    """Return the ranks (n,) of absolute differences, with the sign of these; 0 for a difference of 0."""
    from scipy.stats import rankdata

    result = np.zeros(len(differences))
    isUsed = differences != 0
    result[isUsed] = rankdata(tie(np.abs(differences[isUsed]), NEAR))
    return result * np.sign(differences)


def _chances(ranks: np.ndarray) -> float:
    """Return how likely the positive of signed ranks sum up to at least what they do, if both signs are equally likely.

    SciPy returns the same, but with ties it enumerates all choices of signs, which takes a second; older versions
    approximate.
    """
    # ties have the mean of their ranks, which may be half of an integer, hence the factor 2
    doubled = np.round(2 * np.abs(ranks)).astype(int)
    return float(min(1.0, _chancesOfSums(doubled)[int(doubled[ranks > 0].sum()) :].sum()))


def _chancesOfSums(ranks: Iterable[int]) -> np.ndarray:
    """Return how likely each sum of the positive ones of some ranks is, if both signs are equally likely."""
    chances = np.ones(1)
    for rank in ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return chances


def wilson(share: float, count: float) -> tuple[float, float]:
    """Return the 95 % score interval of a share of a number (Wilson 1927, doi:10.1080/01621459.1927.10502953)."""
    square = NORMAL**2
    center = (share + square / 2 / count) / (1 + square / count)
    reach = math.sqrt(square * (share * (1 - share) / count + square / 4 / count**2)) / (1 + square / count)
    return max(0.0, center - reach), min(1.0, center + reach)


def shiftOf(differences: np.ndarray) -> tuple[float, float, float]:
    """Return the Hodges-Lehmann estimate of differences (n,) and its 95 % interval (1963, doi:10.1214/aoms/1177704172).

    The interval holds the shifts that Wilcoxon's test does not reject: by its exact distribution without ties for up to
    50 cases, by the normal one for more. It is infinite for fewer than six cases, which cannot reject any shift.
    """
    count = len(differences)
    rows, columns = np.triu_indices(count)
    with np.errstate(invalid="ignore"):
        means = (differences[rows] + differences[columns]) / 2
    # two cases that are infinitely far apart in opposite directions cancel, as in the sum of ranks
    means[np.isnan(means)] = 0
    # how many of the smallest sums of ranks Wilcoxon's test rejects on either side at 5 %
    if count <= MOST_EXACT_SHIFT:
        below = np.cumsum(_chancesOfSums(range(1, count + 1)))
        rejected = int(np.searchsorted(below, 0.025, side="right"))
    else:
        deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
        rejected = math.floor(count * (count + 1) / 4 - NORMAL * deviation) + 1
    if not rejected:
        return medianOf(means), -math.inf, math.inf
    # of hundreds of cases there are too many means to sort them all
    ends = np.partition(means, [rejected - 1, len(means) - rejected])
    return medianOf(means), float(ends[rejected - 1]), float(ends[-rejected])


class Friedman(NamedTuple):
    """The outcome of Friedman's test: number of blocks, chi-squared and p, None where there is no test."""

    cases: int
    statistic: float | None = None
    p: float | None = None


def compareMany(values: np.ndarray) -> Friedman:
    """Return Friedman's test of whether methods differ (1937, doi:10.1080/01621459.1937.10503522).

    p is that of the chi-squared distribution, which is rough for fewer than ten cases. values: (cases, methods), at
    least three methods; numbers of a case that only differ by rounding are ties. There is no test if no method differs
    in any case.
    """
    from scipy.stats import friedmanchisquare

    ranks = np.array([ranksOf(row) for row in values])
    if not len(ranks) or not np.ptp(ranks, axis=1).any():
        return Friedman(len(values))
    found = friedmanchisquare(*ranks.T)
    return Friedman(len(values), float(found.statistic), float(found.pvalue))


def correctAll(given: Mapping, isStepwise: bool) -> dict:
    """Return p by name, corrected for all of them by Bonferroni, or stepwise by Holm (1979, jstor:4615733).

    given: p by name; None, where there was no test, stays None and does not count.
    """
    tests = sorted((p, place) for place, p in enumerate(given.values()) if p is not None)
    result: list[float | None] = [None] * len(given)
    least = 0.0
    for step, (p, place) in enumerate(tests):
        least = max(least, min(1.0, p * (len(tests) - step * isStepwise)))
        result[place] = least
    return dict(zip(given, result, strict=True))


def ranksOf(values: np.ndarray) -> np.ndarray:
    """Return the ranks (n,) of numbers from the smallest; those that only differ by rounding share their mean rank."""
    from scipy.stats import rankdata

    return rankdata(tie(values, ROUNDING, ROUNDING_OF_ZERO))


def signedRankGreater(differences: np.ndarray) -> float | None:
    """Return the one-sided p of Wilcoxon's signed-rank test that differences (n,) lie above 0, None if all are 0.

    Differences of 0 are left out. p is exact, also with ties, for up to MOST_EXACT_GREATER differences, and by the
    normal approximation with correction for ties and continuity beyond.
    """
    ranks = signedRanks(np.asarray(differences, float))
    ranks = ranks[ranks != 0]
    if not len(ranks):
        return None
    if len(ranks) <= MOST_EXACT_GREATER:
        return _chances(ranks)
    from scipy.stats import wilcoxon

    return float(wilcoxon(ranks, alternative="greater", method="approx", correction=True).pvalue)
