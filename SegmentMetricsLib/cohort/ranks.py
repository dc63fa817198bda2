"""Ranks of numbers, and the one-sided signed-rank test that is based on them."""

from __future__ import annotations

import numpy as np

# Up to this many differences p is computed exactly.
MOST_EXACT = 100


def ranksOf(values: np.ndarray, rounding: float) -> np.ndarray:
    """Return the ranks (n,) of numbers from the smallest; those that differ by rounding only share their mean rank.

    rounding: relative difference up to which neighbors count as equal. Infinite numbers are the largest or smallest.
    """
    from scipy.stats import rankdata

    ordered = np.sort(np.asarray(values, float))
    with np.errstate(invalid="ignore"):  # infinite minus infinite
        steps = np.diff(ordered)
        isNew = steps > rounding * np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    isNew |= (np.isinf(ordered[1:]) | np.isinf(ordered[:-1])) & (ordered[1:] != ordered[:-1])
    levels = np.concatenate([[0], np.cumsum(isNew)])[: len(ordered)]
    return rankdata(levels)[np.argsort(np.argsort(values, kind="stable"), kind="stable")]


def signedRankGreater(differences: np.ndarray, rounding: float) -> float | None:
    """Return the one-sided p of Wilcoxon's signed-rank test that differences (n,) lie above 0, None if all are 0.

    Differences of 0 are left out (Wilcoxon 1945, doi:10.2307/3001968). p is exact, also with ties, for up to
    MOST_EXACT differences, and by the normal approximation with correction for ties and continuity beyond.
    rounding: relative difference up to which absolute differences are tied.
    """
    differences = np.asarray(differences, float)
    differences = differences[differences != 0]
    if not len(differences):
        return None
    ranks = ranksOf(np.abs(differences), rounding)
    if len(differences) > MOST_EXACT:
        from scipy.stats import wilcoxon

        tied = np.sign(differences) * ranks
        return float(wilcoxon(tied, alternative="greater", method="approx", correction=True).pvalue)
    # tied ranks may be half of an integer, hence the factor 2
    doubled = np.round(2 * ranks).astype(int)
    chances = np.ones(1)  # of each sum of the ranks of positive differences, if both signs are equally likely
    for rank in doubled:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return float(min(1.0, chances[int(doubled[differences > 0].sum()) :].sum()))
