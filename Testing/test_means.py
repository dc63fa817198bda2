"""Means from a sample of the elements: what is drawn, what it adds up to, and how far that may be off."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.distances import means, refinement
from SegmentMetricsLib.distances.elements import Part
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.inputs import structureFromImage

DIFFERENCES = np.random.default_rng(0).lognormal(sigma=1.5, size=20_000) * np.random.default_rng(1).choice(
    [-1, 1], 20_000
)
EVERY = np.ones(len(DIFFERENCES), bool)


def testWhatIsDrawnStandsForAll():
    error = 0.04 * np.abs(DIFFERENCES).sum()
    rows, chances = means.drawn(DIFFERENCES, EVERY, error)
    assert means.FEWEST_DRAWN * 0.8 < len(rows) < means.FEWEST_DRAWN * 1.2
    assert len(set(rows.tolist())) == len(rows) and (chances > 0).all() and (chances <= 1).all()
    # what is larger is drawn more often, and stands for fewer
    assert np.corrcoef(np.abs(DIFFERENCES[rows]), chances)[0, 1] > 0.9
    assert (1 / chances).sum() == pytest.approx(len(DIFFERENCES), rel=0.1)
    assert np.abs(DIFFERENCES[rows] / chances).sum() == pytest.approx(np.abs(DIFFERENCES).sum(), rel=0.1)


@pytest.mark.parametrize("error", [0.1, 0.01, 0.001])
def testASmallerErrorNeedsMore(error):
    rows, _ = means.drawn(DIFFERENCES, EVERY, error * np.abs(DIFFERENCES).sum())
    needed = np.clip((means.SPREAD / error) ** 2, means.FEWEST_DRAWN, means.MOST_DRAWN)
    assert len(rows) == pytest.approx(needed, rel=0.2)


def testOnlyWhatCanBeIsDrawn():
    # as if what cannot be drawn were not there: both roads to distances have the same elements, but for those
    canBe = np.arange(len(DIFFERENCES)) % 3 > 0
    rows, chances = means.drawn(DIFFERENCES, canBe, 50.0)
    alone, same = means.drawn(DIFFERENCES[canBe], np.ones(canBe.sum(), bool), 50.0)
    assert canBe[rows].all() and rows.tolist() == np.flatnonzero(canBe)[alone].tolist()
    assert chances == pytest.approx(same)


def testFewAreAllDrawn():
    rows, chances = means.drawn(DIFFERENCES[:90], EVERY[:90], 1e-3)
    assert rows.tolist() == list(range(90)) and (chances == 1).all()
    # also where nothing differs
    rows, chances = means.drawn(np.zeros(90), EVERY[:90], 1e-3)
    assert rows.tolist() == list(range(90)) and (chances == 1).all()


@pytest.fixture(scope="module")
def refined():
    """Balls of coarse voxels that differ by single ones, so that the distance has many kinks."""
    images = [
        shapes.ball(radius, center, (3, 3, 3), (-66, -66, -66), (45, 45, 45))
        for radius, center in ((54, (0, 0, 0)), (54, (0.9, 0.6, 0.3)))
    ]
    surfaces = [fromMask(structureFromImage(image, "", None, 0.5).mask) for image in images]
    return refinement.refined([BoundaryPair(*surfaces).sampler(0)], (1.0,), (95,))[0]


def testSampledMeansAreThoseOfAllPieces(refined):
    """Cutting every element twice more tells what the sample estimates, and what is told without it is farther off."""
    (first, *_) = refined._means.samples
    assert 0 < len(first.rows) < len(refined.base.sizes) / 3
    found = {"magnitude": refined.mean, "signed": refined.signedMean}
    totals = {"magnitude": [], "signed": []}
    part = refined.base
    for _ in range(2):
        part = refined._piecesOf(part)
        for name, told in (("magnitude", Part.means), ("signed", Part.signedMeans)):
            totals[name].append(told(part)[1] @ part.sizes / refined.totalSize)
    truths = {name: fine + (fine - coarse) / 3 for name, (coarse, fine) in totals.items()}
    for name, truth in truths.items():
        assert found[name] == pytest.approx(truth, abs=0.001), name
        assert found[name].lower <= truth <= found[name].upper, name
        assert found[name].upper - found[name].lower < 0.01, name
    alone = means.Estimate(refined.base, Part.means, refined.leftOfMean)
    assert abs(alone.total / refined.totalSize - truths["magnitude"]) > 0.002
    assert alone.error > refined._means._wanted
