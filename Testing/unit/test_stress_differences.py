"""The statistics of the stress test over many cases, against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from SegmentMetricsLib import Measurement
from SegmentMetricsLib.batch.ranks import MOST_EXACT_GREATER, signedRankGreater
from SegmentMetricsLib.batch.stresscases import StressOutcome, differences


def testOneSided():
    # all ten cases worse: one of 2^10 choices of signs, half of the two-sided p
    assert signedRankGreater(np.arange(1.0, 11)) == 2.0**-10
    assert signedRankGreater(-np.arange(1.0, 11)) == 1
    # ranks 1.5, 1.5 and 3: of the eight choices three reach the 4.5 of those above 0
    assert signedRankGreater(np.array([2.0, -2, 0, 5])) == 3 / 8
    assert signedRankGreater(np.zeros(4)) is None and signedRankGreater(np.zeros(0)) is None
    for size in (20, 50, 400):
        values = np.random.default_rng(size).normal(0.05, 1, size)
        isExact = size <= MOST_EXACT_GREATER
        expected = wilcoxon(values, alternative="greater", method="exact" if isExact else "approx")
        assert signedRankGreater(values) == pytest.approx(expected.pvalue, abs=1e-9 if isExact else 1e-3)


def measured(key: str, value: float) -> dict[str, Measurement]:
    isFinite = np.isfinite(value)
    data = {"value": value if isFinite else None, "unit": "", "status": "ok" if isFinite else "infinite"}
    return {key: Measurement.fromDictionary(key, data)}


@pytest.mark.parametrize(
    ("key", "pairs", "cases", "mean", "p"),
    [
        ("STAR", [(0.8, 0.3), (0.6, 0.4), (0.9, 0.2)], 3, (0.5 + 0.2 + 0.7) / 3, 1 / 8),
        ("wDice", [(0.3, 0.8), (0.4, 0.6), (0.5, 0.9)], 3, -(0.5 + 0.2 + 0.4) / 3, 1 / 8),
        # the other way round there is no evidence at all
        ("STAR", [(0.3, 0.8), (0.4, 0.6), (0.2, 0.9)], 3, -(0.5 + 0.2 + 0.7) / 3, 1),
        ("DSC", [(0.9, 0.9), (0.8, 0.8 + 1e-12)], 2, 0, None),
        ("HD95", [(np.inf, 3), (2, 1), (3, 1)], 2, 1.5, 1 / 4),
        ("HD95", [(np.inf, 3)], 0, None, None),
    ],
)
def testDifferences(key, pairs, cases, mean, p):
    outcomes = [
        StressOutcome(f"case {n}", "", "Cube", measured(key, risky), measured(key, neutral))
        for n, (risky, neutral) in enumerate(pairs)
    ]
    (found,) = differences([*outcomes, StressOutcome("case 9", "", "Cube", reason="none")])
    assert (found.cases, found.leftOut, found.p) == (cases, len(pairs) - cases, p)
    assert found.meanDifference == pytest.approx(mean)
    assert bool(found.reason) == (p is None)
    if cases > 2:
        assert found.low < found.meanDifference < found.high
