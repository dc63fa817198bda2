"""Voxels drawn at random, and what is concluded from those that were."""

from __future__ import annotations

import numpy as np
import pytest

from SegmentMetricsLib.metrics.bands.importancesampling import (
    Corrections,
    ImportanceSampling,
    chancesOf,
    ramp,
)

COUNT = 60_000


def voxelsAndSampling():
    """Return how much of voxels (COUNT,) is in two bands by a guess and in truth, and a sampling of them."""
    random = np.random.default_rng(0)
    above = [random.uniform(-2, 2, COUNT).astype(np.float32) for _ in (0, 1)]
    truly = [ramp(a + random.laplace(0, 0.05, COUNT).astype(np.float32), 0.3) for a in above]
    guessed = [ramp(a, 0.3) for a in above]
    chances = [np.maximum(chancesOf(a, np.full(COUNT, 0.05), 0.3), np.float32(0.01)) for a in above]
    chances[0][::4], truly[0][::4] = 0, guessed[0][::4]
    searched = []

    def search(number, voxels):
        searched.append((number, voxels))
        return truly[number][voxels]

    return guessed, truly, searched, ImportanceSampling(chances, lambda voxels: [g[voxels] for g in guessed], search)


def testMoreSearchesTellBetterAndHowWellTheyTell():
    guessed, truly, _, sampling = voxelsAndSampling()
    expected = [kind(*truly).sum(dtype=float) - kind(*guessed).sum(dtype=float) for kind in (np.minimum, np.maximum)]
    errors = []
    for count in (1000, 4000, 16_000):
        corrections = sampling.corrections(sampling.within(0.0, count, count))
        errors.append(corrections.error(0.5))
        difference = corrections.both - expected[0] - 0.5 * (corrections.either - expected[1])
        assert abs(difference) < 4 * errors[-1]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.3) and errors[2] < errors[1]


@pytest.mark.parametrize("isWhole", [True, False])
def testCorrectionsAreRightOnAverageAndTellHowFarOffTheyAre(isWhole):
    random = np.random.default_rng(2)
    count = 3000
    guessed = [random.random(count) for _ in (0, 1)]
    guessed = [np.rint(member) for member in guessed] if isWhole else guessed
    truly = [np.where(random.random(count) < 0.1, 1 - member, member) for member in guessed]
    chances = [random.uniform(0.1, 0.6, count), random.uniform(0.05, 1.5, count).clip(0, 1)]
    # one of them does not come near the last voxels, and says so from the start
    chances[1][-300:], truly[1][-300:] = 0, guessed[1][-300:]
    expected = [f(*truly).sum() - f(*guessed).sum() for f in (np.minimum, np.maximum)]
    overlap, found = 0.4, []
    for _ in range(400):
        draws = random.random(count)
        seen = [np.where(draws < chances[n], truly[n], guessed[n]) for n in (0, 1)]
        corrections = Corrections(guessed, seen, chances)
        found.append((corrections.both, corrections.either, corrections.error(overlap)))
    both, either, errors = np.array(found).T
    for values, value in zip((both, either), expected, strict=True):
        assert values.mean() == pytest.approx(value, abs=3 * values.std() / 20)
    assert np.mean(errors**2) == pytest.approx((both - overlap * either).var(), rel=0.15)
