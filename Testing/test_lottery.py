"""Points drawn by lot, and what is concluded from those that were."""

from __future__ import annotations

import numpy as np
import pytest

from SegmentMetricsLib.metrics.lottery import IN_OTHER, LEAST_CHANCE, NOWHERE, Corrections, Lottery, Trust

CELLS, PER_CELL = 4000, 64


def marginsAndLottery(overlap=0.5):
    """Return margins in steps of 0.001 mm (CELLS * PER_CELL,) for two boundaries, and a lottery of these points."""
    random = np.random.default_rng(0)
    lots = random.random(CELLS * PER_CELL, np.float32)
    margins = [random.integers(0, 1000, (CELLS, PER_CELL)).astype(np.uint16) for _ in (0, 1)]
    margins[0][::4] = NOWHERE
    codes = [margins[n] + np.where(np.arange(PER_CELL) % 2, IN_OTHER, 0).astype(np.uint16) for n in (0, 1)]
    wrong = np.sort(np.append(random.random(1000) ** 2, 0))
    trusts = [Trust(np.full(CELLS, scale, np.float32), wrong) for scale in (1.0, 0.5)]
    return [m.ravel() for m in margins], Lottery(lots, codes, 0.001, trusts, overlap)


def testPointsAreDrawnAsOftenAsTheirChances():
    margins, lottery = marginsAndLottery()
    few, many = (lottery.within(1.0, count, count) for count in (4000, 12_000))
    counts = []
    for factor in (few, many):
        drawn = [lottery.drawn(number, factor) for number in (0, 1)]
        assert sum(map(len, drawn)) == pytest.approx(factor / lottery.within(0, 1, np.inf), rel=0.05)
        counts.append(drawn)
    for number, (one, more) in enumerate(zip(*counts, strict=True)):
        # searched points serve again when more are drawn
        assert np.isin(one, more).all()
        chances = lottery.chances(number, one, few)
        assert (margins[number][one] < NOWHERE).all() and chances.min() > 0 and chances.max() <= 1
        # so that each stands for as many as its chance is small
        assert (1 / chances).sum() == pytest.approx(np.count_nonzero(margins[number] < NOWHERE), rel=0.2)


def testCloseToABorderAndInTheOtherBandPointsAreDrawnMoreOften():
    margins, lottery = marginsAndLottery(overlap=0.4)
    inOther = np.tile(np.arange(PER_CELL) % 2 == 1, CELLS)
    for number, scale in ((0, 1.0), (1, 0.5)):
        chances = lottery.chances(number, np.arange(len(inOther)), 0.01)
        assert chances[~inOther & (margins[number] == 5)].mean() == pytest.approx(0.4 * 0.01, rel=0.1)
        nearest, far = chances[inOther & (margins[number] < 3)], inOther & (margins[number] > 1000 * scale - 10)
        assert nearest == pytest.approx(np.full(len(nearest), 0.01), rel=0.1)
        # beyond what the interpolation was ever off, the least chance
        if number == 1:
            beyond = far & (margins[number] < NOWHERE) & (margins[number] > 500)
            assert chances[beyond] == pytest.approx(np.full(np.count_nonzero(beyond), LEAST_CHANCE * 0.01), rel=1e-3)
        assert not chances[margins[number] == NOWHERE].any()


@pytest.mark.parametrize("isTold", [True, False])
def testHowFarOffACellIsFollowsFromItsCornersIfTheseTell(isTold):
    random = np.random.default_rng(1)
    doubts = random.exponential(1, 500).astype(np.float32)
    rows = random.integers(0, 500, 2000)
    off = random.exponential(0.01, 2000) * (doubts[rows] if isTold else 1)
    trust = Trust.of(doubts, rows, off, 1e-6)
    assert trust.scales[rows].mean() == pytest.approx(0.01, rel=0.1)
    assert (trust.wrong[0], len(trust.wrong)) == (0, 2001) and (np.diff(trust.wrong) >= 0).all()
    # as evenly far off, in these terms, in all cells
    assert trust.wrong.mean() == pytest.approx(1, rel=0.2)
    spread = np.ptp(trust.scales) / trust.scales.mean()
    assert spread > 4 if isTold else spread < 1


@pytest.mark.parametrize("off", [[], [0.0, 0.0]])
def testWhereTheInterpolationIsExactNothingIsDividedByZero(off):
    trust = Trust.of(np.zeros(3, np.float32), np.arange(len(off)), np.array(off), 1e-5)
    assert trust.scales.min() > 0 and trust.scales.max() <= 1.0001e-5 and not trust.wrong.any()


def testCorrectionsAreRightOnAverageAndTellHowFarOffTheyAre():
    random = np.random.default_rng(2)
    count = 3000
    guessed = [random.random(count) < 0.5 for _ in (0, 1)]
    truly = [member ^ (random.random(count) < 0.1) for member in guessed]
    chances = [random.uniform(0.1, 0.6, count), random.uniform(0.05, 1.5, count).clip(0, 1)]
    # one of them does not come near the last points, and says so from the start
    chances[1][-300:], truly[1][-300:] = 0, guessed[1][-300:]
    expected = [np.count_nonzero(f(*truly)) - np.count_nonzero(f(*guessed)) for f in (np.logical_and, np.logical_or)]
    overlap, found = 0.4, []
    for _ in range(400):
        lots = random.random(count)
        seen = [np.where(lots < chances[n], truly[n], guessed[n]) for n in (0, 1)]
        corrections = Corrections(guessed, seen, chances)
        found.append((corrections.both, corrections.either, corrections.error(overlap)))
    both, either, errors = np.array(found).T
    for values, value in zip((both, either), expected, strict=True):
        assert values.mean() == pytest.approx(value, abs=3 * values.std() / 20)
    differences = both - overlap * either
    # that there are no more points adds to what the draw does
    wrong = (truly[0] & truly[1]).astype(float) - (guessed[0] & guessed[1])
    wrong -= overlap * ((truly[0] | truly[1]).astype(float) - (guessed[0] | guessed[1]))
    assert np.mean(errors**2) == pytest.approx(differences.var() + (wrong**2).sum(), rel=0.15)


def testWithNothingWrongNothingIsCorrected():
    guessed = [np.array([True, False, True]), np.array([True, True, False])]
    corrections = Corrections(guessed, guessed, [np.full(3, 0.5), np.zeros(3)])
    assert (corrections.both, corrections.either, corrections.error(0.5)) == (0, 0, 0)
