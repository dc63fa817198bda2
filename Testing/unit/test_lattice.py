"""The table lookup against the search tree, and its parts against geometry."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib.conventions.meshes import signedDistances
from SegmentMetricsLib.distances.elements import LatticeSampler
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair, measureTogether, packs
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.meshing import fromMask


def masksOf(first, second, spacing, offset=(0, 0, 0)) -> tuple[Mask, Mask]:
    """Return two masks on one lattice whose images begin at different voxels."""
    matrix = np.diag([*spacing, 1.0])
    grid = Grid(first.shape[::-1], matrix)
    other = Grid((1, 1, 1), matrix).resize(offset, np.array(offset) + second.shape[::-1] - 1)
    return Mask.fromArray(first, grid), Mask.fromArray(second, other)


def bothRoads(pair: tuple[Mask, Mask]):
    """Return the signed distances of the nodes of a field, also in its second pass, by lookup and by search."""
    boundaries = BoundaryPair(*(fromMask(mask) for mask in pair))
    assert boundaries.isLookedUp
    sampler = LatticeSampler(boundaries.lattice, boundaries.surfaces)
    pieces = sampler.cut(sampler.base, np.arange(len(sampler.base.sizes)))
    segments = np.empty(len(sampler.values), int)
    for elements in (sampler.base, pieces):
        segments[elements.nodes] = elements.segment
    bySearch = np.empty(len(segments))
    for segment in (0, 1):
        rows = np.flatnonzero(segments == segment)
        signed = boundaries.search(1 - segment).signedDistances(sampler.points(rows))
        bySearch[rows] = signed if segment else -signed
    return sampler.values, bySearch


@pytest.mark.parametrize("seed", [0, 1, *rarely(range(2, 6))])
def testLookupEqualsSearch(seed):
    random = np.random.default_rng(seed)
    spacing = random.uniform(0.3, 3, 3) if seed else (1.0, 1.0, 1.0)
    # noise without smoothing has every case; shifted far, most points lie beyond the tables
    masks = [shapes.blob(10 * seed + n, (11, 12, 10), random.uniform(0.1, 0.7), 0.3 * (seed % 3)) for n in (0, 1)]
    offset = random.integers(-4, 5, 3) if seed % 2 else np.array((0, 12, 0))
    byLookup, bySearch = bothRoads(masksOf(*masks, spacing, offset))
    # the lookup takes the side from the voxels, the search from the normals of what is nearest
    assert np.abs(byLookup - bySearch)[np.abs(bySearch) > 1e-5].max() < 1e-6
    assert np.abs(np.abs(byLookup) - np.abs(bySearch)).max() < 1e-6


@pytest.mark.parametrize("cuts", [0, 1])
def testLookupEqualsSearchAtCentersOfPieces(cuts):
    """Of which other tools make their distances; in any order within an element."""
    boundaries = BoundaryPair(*map(fromMask, masksOf(shapes.blob(1), shapes.blob(2), (1.0, 0.9, 2.0))))
    found = []
    for _ in range(2):
        every = np.concatenate([signedDistances(boundaries, source, cuts) for source in (0, 1)])
        found.append(np.sort(every.reshape(-1, 4**cuts), axis=1))
        boundaries.lattice = None
    assert found[0] == pytest.approx(found[1], abs=2e-5)


def testSmallPairsTogether():
    """As segments of one field they have the same numbers as alone, however many; those of another grid stay alone."""
    spacing = (4.0, 3.6, 8.0)
    made = [masksOf(shapes.blob(n), shapes.blob(n + 1), spacing, (first, 0, 1)) for n, first in enumerate((0, 1, 30))]
    made.append(masksOf(*np.eye(2, dtype=int)[:, None, None], spacing))  # of so few triangles that more are cut
    made += 43 * [masksOf(*np.ones((2, 3, 2, 2)), spacing, (1, 0, 0))]
    made.append(masksOf(shapes.blob(7), shapes.blob(8), (1.0, 1.0, 1.0)))

    def pairs():
        return [BoundaryPair(*(fromMask(mask) for mask in masks)) for masks in made]

    assert packs(pairs()) == [[*range(47)], [47]]
    for pair, together in zip(pairs(), measureTogether(pairs(), (1.0,), (95,)), strict=True):
        for one, other in zip(pair.measure((1.0,), (95,)).directions, together.directions, strict=True):
            numbers = ([d.percentile(95), d.mean, d.sizeWithin(1.0001), d.largest] for d in (one, other))
            for mine, theirs in zip(*numbers):
                assert (theirs, theirs.bounds) == (mine, mine.bounds)
            np.testing.assert_array_equal(other.atPoints, one.atPoints)
            assert other.centers == pytest.approx(one.centers, abs=1e-9)
            assert (other.cells == one.cells).all()


def testWhatIsFarIsNotPutTogether():
    """Neither long structures that run in other directions, nor voxels too far apart to number cells in 32 bits."""
    grid = shapes.gridOf((20_001, 20_001, 400))
    rods = (Mask(np.ones(np.where(np.arange(3) == axis, 300, 1), np.uint8), (9, 9, 9), grid) for axis in (0, 1))
    assert packs([BoundaryPair(fromMask(rod), fromMask(rod)) for rod in rods]) == [[0], [1]]
    voxels = (Mask.ofVoxels(np.array([(far, far, 0)]), grid) for far in (0, 20_000))
    assert not BoundaryPair(*map(fromMask, voxels)).isLookedUp


def testVoxelsOfAnySize():
    """Beyond the tables' reach, too, distances are as much smaller as voxels are, down to those of microscopes."""
    found = []
    for size in (1.0, 1e-3, 1e-6):
        masks = masksOf(shapes.blob(4), shapes.blob(5), (0.9 * size, 1.1 * size, 2.3 * size), (30, 0, 1))
        directions = BoundaryPair(*(fromMask(mask) for mask in masks)).measure((), ()).directions
        found.append([direction.largest / size for direction in directions])
    assert found[1] == pytest.approx(found[0], rel=1e-8) and found[2] == pytest.approx(found[0], rel=1e-8)
