"""Whether a test is within what the observers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...base.plain import storeAs
from ...metrics.measurement import ROUNDING
from .matrix import Matrix, meanOf


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
    return (meanOf(known) if len(known) else np.nan), len(found) - len(known)


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
