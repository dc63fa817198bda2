"""Means from a sample of the elements: what is drawn, what it adds up to, and how far that may be off."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances import means, refinement
from SegmentMetricsLib.distances.elements import Part
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.model.inputs import structureFromImage

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


def meanToBox(box, other, steps: int = 400) -> float:
    """Return the mean distance of a box's faces to another box's, both (2, 3) mm, from points on a fine grid."""
    center, half = np.mean(other, axis=0), np.ptp(other, axis=0) / 2
    along = (np.arange(steps) + 0.5) / steps
    means, areas = [], []
    for axis in range(3):
        across = [number for number in range(3) if number != axis]
        sides = np.ptp(box, axis=0)[across]
        for end in box:
            points = np.empty((steps, steps, 3))
            points[..., axis] = end[axis]
            for number, length, places in zip(across, sides, (along[:, None], along), strict=True):
                points[..., number] = box[0][number] + length * places
            beyond = np.abs(points - center) - half
            deepest = beyond.max(axis=-1)
            outside = np.linalg.norm(np.maximum(beyond, 0), axis=-1)
            means.append(np.where(deepest < 0, -deepest, outside).mean())
            areas.append(sides.prod())
    return float(np.average(means, weights=areas))


@pytest.mark.parametrize("size", [(50, 40, 30), *rarely([(25, 50, 40), (60, 20, 35)])])
@pytest.mark.parametrize("shift", [(0.3, 0.2, 0.1), (0.2, 0.3, 0.05), (0.4, 0.05, 0.2), (0.6, 0.2, 0.4)])
def testTrianglesAsLargeAsFaces(size, shift):
    """Where distances change only close to edges, sums of few differences cancel by chance, and shrink late."""
    boxes = [np.array([(0, 0, 0), size], float), np.array([shift, np.add(size, shift)], float)]
    truth = (meanToBox(*boxes) + meanToBox(*boxes[::-1])) / 2
    found = compare(*(shapes.boxMesh(*box) for box in boxes), Settings(families="boundary"))["MASD"]
    assert found.lower <= truth <= found.upper
    assert found.value == pytest.approx(truth, abs=0.002) and found.upper - found.lower < 0.008
