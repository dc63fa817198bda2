"""Boundary intersection over union against areas and volumes that are known, and against the full grid."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, bands, compare
from SegmentMetricsLib.distances import BoundaryPair
from SegmentMetricsLib.inputs import labelMasks
from SegmentMetricsLib.meshing import fromMask


def biou(first, second, tolerance=2.0, **settings) -> float:
    settings = Settings(tolerances=(tolerance,), families=("boundary",), **settings)
    return compare(first, second, settings)[f"BIoU_{tolerance:g}mm"].value


def testBoxesWithKnownBands():
    # bands of two boxes 12 x 12 x 12, one shifted by 1: as meshes, where edges are sharp
    first, second = shapes.boxMesh((0, 0, 0), (12, 12, 12)), shapes.boxMesh((1, 0, 0), (13, 12, 12))
    band = 12**3 - 8**3
    # what is in both boxes, 11 x 12 x 12, less what is deep in either one: 8 x 8 x 8 twice, overlapping in 7 x 8 x 8
    shared = 11 * 12 * 12 - (2 * 8**3 - 7 * 8 * 8)
    assert biou(first, second) == pytest.approx(shared / (2 * band - shared), abs=0.003)


@pytest.mark.parametrize("seed", range(3))
def testAutomaticSamplingAgreesWithTheFullGrid(seed):
    images = [shapes.imageOf(shapes.blob(seed + 7 * n, (30, 28, 26), 0.4, 3.0), (0.9, 1.1, 1.4)) for n in (0, 1)]
    full = biou(*images, oversampling=5)
    assert biou(*images) == pytest.approx(full, abs=0.002)


def testLookupAndSearchSeeTheSameBands():
    masks = tuple(labelMasks(shapes.imageOf(shapes.blob(seed), (1.0, 1.0, 2.0)), 0.5)[1] for seed in (5, 6))
    boundaries = BoundaryPair(*map(fromMask, masks), reach=2.0)
    byLookup = bands.bands(boundaries, masks, 2.0, 3)
    boundaries.lattice = None
    bySearch = bands.bands(boundaries, masks, 2.0, 3)
    assert byLookup.samples == bySearch.samples
    assert byLookup.overlap == pytest.approx(bySearch.overlap, abs=1e-3)


def testCandidatesMissNoPartOfABand():
    masks = tuple(labelMasks(shapes.imageOf(shapes.blob(seed, (24, 24, 24), 0.5, 3.0)), 0.5)[1] for seed in (8, 9))
    boundaries = BoundaryPair(*map(fromMask, masks), reach=1.5)
    voxels, near = bands.bandCandidates(masks, 1.5)
    chosen = {tuple(v) for v in voxels[near[0]].tolist()}
    points = np.random.default_rng(1).uniform(-1, 25, (20000, 3))
    signed = boundaries.search(0).signedDistances(masks[0].grid.toWorld(points))
    inBand = points[(signed < 0) & (signed > -1.5)]
    assert len(inBand) > 1000
    assert all(tuple(v) in chosen for v in np.rint(inBand).astype(int).tolist())


@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
def testSubVoxelsOfAFullGrid(pieces):
    voxels = np.array([[2, 3, 4], [-1, 0, 7]])
    denominator = bands.lattice.subVoxelPositions(pieces).denominator
    points = bands.subVoxels(voxels, pieces, pieces**3, None) / denominator
    offsets = (points.reshape(2, -1, 3) - voxels[:, None]).reshape(-1, 3)
    expected = (np.arange(pieces) + 0.5) / pieces - 0.5
    for axis in range(3):
        assert np.unique(offsets[:, axis].round(12)) == pytest.approx(expected)
    assert len(np.unique(points.round(9), axis=0)) == 2 * pieces**3


def testChosenSubVoxelsAreEvenAndAlwaysTheSame():
    voxels = np.stack(np.meshgrid(*[np.arange(20)] * 3, indexing="ij"), -1).reshape(-1, 3)
    first, second = (bands.subVoxels(voxels, 5, 3, None) for _ in range(2))
    assert (first == second).all()
    offsets = first.reshape(-1, 3, 3) - 5 * voxels[:, None]
    counts = [np.bincount((offsets[..., axis] + 2).ravel(), minlength=5) for axis in range(3)]
    assert np.array(counts) / (3 * len(voxels)) == pytest.approx(0.2 * np.ones((3, 5)), abs=0.01)
