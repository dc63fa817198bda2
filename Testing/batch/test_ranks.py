"""Rank statistics against SciPy, hand-worked examples, and numbers from the literature."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from SegmentMetricsLib.batch.ranks import (
    compareMany,
    compareRanks,
    correctAll,
    effectInterval,
    shiftOf,
    signedRanks,
    tie,
)

INF = math.inf


def compared(differences):
    return compareRanks(np.full(len(differences), 100.0), 100 + np.array(differences, float))


def testTies():
    assert list(tie([3, 1 + 5e-10, 1, INF, INF, 1 + 2e-9], 1e-9)) == [3, 1, 1, INF, INF, 1 + 2e-9]
    # a chain of close numbers is not one tie
    chain = tie([1, 1 + 8e-10, 1 + 1.6e-9], 1e-9)
    assert chain[0] == chain[1] != chain[2]


def testNearTiesOfDifferencesAreTies():
    """0.9 - 0.8 and 0.8 - 0.7 differ in the 16th digit, which must not decide on ranks."""
    first, second = np.array([0.8, 0.7, 0.5, 0.5]), np.array([0.9, 0.8, 0.4, 0.9])
    assert len(set(np.abs(second - first))) == 3
    assert list(signedRanks(second - first)) == [2, 2, -2, 4]
    # no more than the 2 of the negative one: no rank, or a single 2 of three; 4 of 16 choices, and as many mirrored
    assert compareRanks(first, second).p == 8 / 16


def testRestsOfSumsThatCancelAreTies():
    """Contours that are moved have a signed mean of 0 but for its rounding, which must not decide on ranks."""
    methods = np.array([[-1.2e-17, 0.0, 6.4e-17]] * 8)
    same = compareRanks(methods[:, 0], methods[:, 2])
    assert (same.medianDifference, same.p, same.rankBiserial) == (0, None, None)
    assert same.reason == "the methods do not differ in any case" and compareMany(methods).p is None
    # small values that are not rests do decide
    assert compareRanks(np.zeros(8), np.full(8, 1e-8)).p == 2 / 2**8


def testInfiniteAgainstInfiniteIsATie():
    found = compareRanks(np.array([INF, 1, 2, 3]), np.array([INF, 2, 4, 6]))
    assert (found.cases, found.p, found.rankBiserial) == (4, 2 / 8, 1)
    assert found.medianDifference == 1.5  # of 0, 1, 2, 3
    same = compareRanks(np.array([INF, 2.0]), np.array([INF, 2.0]))
    assert same == (2, 0, None, *[None] * 6, "the methods do not differ in any case")


def testPIsSciPysWithAStandInForInfinity():
    """Ranks do not care how large the largest number is."""
    generator = np.random.default_rng(3)
    for count in (6, 11, 14, 80):
        first, second = generator.integers(0, 12, (2, count)).astype(float)
        second[:2], first[2] = INF, INF
        found = compareRanks(first, second)
        stood = [np.where(np.isinf(values), 1e6, values) for values in (first, second)]
        differences = np.round(stood[1] - stood[0], -6) + np.where(
            np.isinf(first) | np.isinf(second), 0, second - first
        )
        differences[np.isinf(first) & np.isinf(second)] = 0
        if count > 13:
            assert found.p == pytest.approx(scipy.stats.wilcoxon(differences).pvalue, rel=1e-12)
        else:
            used = differences[differences != 0]
            exact = scipy.stats.PermutationMethod(n_resamples=np.inf)
            assert found.p == pytest.approx(scipy.stats.wilcoxon(used, method=exact).pvalue, rel=1e-12)


def testTheEffectSize():
    # Kerby 2014, doi:10.2466/11.IT.3.1: favorable minus unfavorable share of the sum of ranks
    found = compared([1, 2, -3, 4])
    assert found.rankBiserial == pytest.approx((1 + 2 + 4 - 3) / 10)
    assert compared([1, 2, 3]).rankBiserial == 1 and compared([-1, -2, 0]).rankBiserial == -1


def testTheIntervalOfTheEffectSize():
    # Wilson's interval of 5 of 5 is from 0.5655 to 1 (Newcombe 1998); ten differences count as five
    assert effectInterval(1, 10) == pytest.approx((2 * 0.5655 - 1, 1), abs=1e-4)
    # five differences in one direction do not show one: p is 0.06
    low, high = effectInterval(1, 5)
    assert low < 0 < high == 1
    assert effectInterval(-0.4, 12) == pytest.approx(tuple(-end for end in reversed(effectInterval(0.4, 12))))


def testTheShift():
    # of 1, 2 and 6 the means of two are 1, 1.5, 2, 3.5, 4, 6
    assert shiftOf(np.array([1.0, 2, 6])) == (2.75, -INF, INF)
    # six cases: only the smallest of 64 sums is rejected, so the interval goes from the smallest to the largest
    assert shiftOf(np.array([1.0, 2, 3, 4, 5, 6])) == (3.5, 1, 6)
    assert shiftOf(np.array([1.0, 2, 3, 4, 5, INF]))[2] == INF


@pytest.mark.parametrize("count", [7, 15, 60])
def testTheIntervalOfTheShiftIsWhatTheTestDoesNotReject(count):
    differences = np.random.default_rng(count).normal(0.4, 1, count)
    shift, low, high = shiftOf(differences)
    assert low < shift < high
    for end, inward in ((low, 1e-6), (high, -1e-6)):
        p = [scipy.stats.wilcoxon(differences - end - step).pvalue for step in (inward, -inward)]
        assert p[0] > 0.05 >= p[1]


def testFriedmanIsSciPys():
    generator = np.random.default_rng(5)
    for values in (generator.normal(size=(8, 3)), generator.integers(0, 3, (12, 4)).astype(float)):
        found, expected = compareMany(values), scipy.stats.friedmanchisquare(*values.T)
        assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert found.cases == len(values)


def testFriedmanOfTies():
    # infinite values of a case are a tie, and so are those that differ by rounding
    tie = compareMany(np.array([[1, INF, INF], [1, 2, 2 * (1 + 1e-8)]]))
    assert tie.statistic == pytest.approx(scipy.stats.friedmanchisquare([1, 1], [2, 2], [2, 2]).statistic)
    assert compareMany(np.ones((3, 3))) == (3, None, None) and compareMany(np.ones((0, 3))) == (0, None, None)


def testCorrections():
    given = {"a": 0.01, "b": 0.04, "none": None, "c": 0.03, "d": 0.005}
    assert correctAll(given, False) == pytest.approx({"a": 0.04, "b": 0.16, "none": None, "c": 0.12, "d": 0.02})
    # Holm: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which must not be less than the one before
    assert correctAll(given, True) == pytest.approx({"a": 0.03, "b": 0.06, "none": None, "c": 0.06, "d": 0.02})
    assert correctAll({"a": 0.6, "b": 0.9}, True) == {"a": 1, "b": 1}
