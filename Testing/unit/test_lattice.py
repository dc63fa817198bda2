"""The table lookup against the search tree, and its parts against geometry."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapes
from tiers import rarely

from SegmentMetricsLib.conventions.meshes import signedDistances
from SegmentMetricsLib.distances import lattice
from SegmentMetricsLib.distances.elements import EVERY_NODE, LatticeSampler, Sampler
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair, measureTogether, packs
from SegmentMetricsLib.geometry.cellcases import (
    caseTriangles,
    cellCodes,
    nestedSurfaces,
    ofCases,
    trianglePlaces,
)
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.geometry.triangles import TriangleSet
from SegmentMetricsLib.metrics.bands import lookup as bandlookup
from SegmentMetricsLib.model.inputs import labelMasks

# Weights of the center of a triangle.
CENTER = ((1, 1, 1),)


def masksOf(first, second, spacing, offset=(0, 0, 0)) -> tuple[Mask, Mask]:
    """Return two masks on one lattice whose images begin at different voxels."""
    matrix = np.diag([*spacing, 1.0])
    grid = Grid(first.shape[::-1], matrix)
    other = Grid((1, 1, 1), matrix).resized(offset, np.array(offset) + second.shape[::-1] - 1)
    return Mask.fromArray(first, grid), Mask.fromArray(second, other)


def bothRoads(pair: tuple[Mask, Mask], asked):
    """Return the signed distances by lookup and by search.

    asked: "nodes" for those of a field, also in its second pass; a number of cuts for the centers of pieces, in any
    order within an element.
    """
    boundaries = BoundaryPair(*(fromMask(mask) for mask in pair))
    assert boundaries.isLookedUp
    if asked != "nodes":
        found = []
        for _ in range(2):
            every = np.concatenate([signedDistances(boundaries, source, asked) for source in (0, 1)])
            found.append(np.sort(every.reshape(-1, 4**asked), axis=1).ravel())
            boundaries.lattice = None
        return found
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
@pytest.mark.parametrize("asked", ["nodes", 0, 1])
def testLookupEqualsSearch(seed, asked):
    random = np.random.default_rng(seed)
    spacing = random.uniform(0.3, 3, 3) if seed else (1.0, 1.0, 1.0)
    # noise without smoothing has every case; shifted far, most points lie beyond the tables
    masks = [shapes.blob(10 * seed + n, (11, 12, 10), random.uniform(0.1, 0.7), 0.3 * (seed % 3)) for n in (0, 1)]
    offset = random.integers(-4, 5, 3) if seed % 2 else np.array((0, 12, 0))
    byLookup, bySearch = bothRoads(masksOf(*masks, spacing, offset), asked)
    # the lookup takes the side from the voxels, the search from the normals of what is nearest
    assert np.abs(byLookup - bySearch)[np.abs(bySearch) > 1e-5].max() < 1e-6
    assert np.abs(np.abs(byLookup) - np.abs(bySearch)).max() < 1e-6


def testSidesAreThoseOfTheVoxels():
    first = np.zeros((7, 7, 7), bool)
    first[2:5, 2:5, 2:5] = True
    second = np.zeros((7, 7, 7), bool)
    second[3, 3, 3] = True
    # the small one lies wholly inside the large one: everything is under-contoured
    for pair, side in (((first, second), -1), ((second, first), 1)):
        for asked in ("nodes", 0, 1):
            assert (side * bothRoads(masksOf(*pair, (1, 1, 1)), asked)[0] > 0).all()


def testCaseTriangles():
    triangles, cases = caseTriangles()
    assert triangles.shape == (189, 3, 3)
    # a corner of a triangle is the middle of a cell edge: one coordinate is 1/2, the others 0 or 1
    assert ((triangles == 0.5).sum(axis=2) == 1).all()
    assert (cases[[0, 255]] == -1).all()
    assert (cases[1:255] >= 0).all()
    # one corner inside: the triangle around it
    assert set(map(tuple, triangles[cases[1, 0]].tolist())) == {(0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)}


@pytest.mark.parametrize("weights", [CENTER, EVERY_NODE[3], ((2, 0, 0), (0, 2, 0), (0, 0, 2))])
def testPlacesOnTriangles(weights):
    """All of them are among the distinct ones, or in the next cell."""
    positions, triangles = trianglePlaces(weights), caseTriangles()[0]
    expected = np.einsum("nc,tcx->tnx", np.array(weights) / sum(weights[0]), triangles)
    found = positions.local[positions.ofTriangles] / positions.denominator + positions.steps
    assert found == pytest.approx(expected) and set(np.unique(positions.steps)) <= {0, 1}
    assert len(np.unique(positions.local, axis=0)) == len(positions.local)
    assert (positions.local >= 0).all() and (positions.local < positions.denominator).all()


def testDistancesToATriangle():
    triangle = np.array([[[0.0, 0, 0], [4, 0, 0], [0, 3, 0]]])
    points = np.array([[1.0, 1, 2], [-3, -4, 0], [2, -1, 0], [4, 3, 0], [5, 0, 0]])
    squared = TriangleSet(triangle).squaredDistances(points)
    # above the face; before a corner; beside a leg; beyond the hypotenuse 3x + 4y = 12; beyond the other corner
    assert np.sqrt(squared[0]) == pytest.approx([2, 5, 1, (3 * 4 + 4 * 3 - 12) / 5, 1])


def testCellCodes():
    block = np.zeros((2, 2, 3), np.uint8)
    block[1, 0, 1] = 1  # x 1, y 0, z 1
    assert cellCodes(block).ravel().tolist() == [1 << (1 + 4), 1 << (0 + 4)]


def testMasksOnDifferentLatticesHaveNone():
    image = shapes.ball(5, size=(20, 20, 20), origin=(-10, -10, -10))
    moved = shapes.ball(5, size=(20, 20, 20), origin=(-10.4, -10, -10))
    surfaces = [fromMask(labelMasks(i, 0.5)[1]) for i in (image, moved)]
    assert BoundaryPair(*surfaces).lattice is None
    with pytest.raises(ValueError, match="lattice"):
        lattice.Lattice([[labelMasks(i, 0.5)[1] for i in (image, moved)]])


@pytest.mark.parametrize("perCell", [16, 32, 64, 256])
def testBandMembershipAsBits(perCell):
    masks = masksOf(shapes.blob(3), shapes.blob(4), (1.0, 0.8, 1.5))
    pair = BoundaryPair(*(fromMask(mask) for mask in masks), reach=3.0)
    tables = bandlookup.bandTables(pair.lattice.spacing, 512, pair.lattice.reach, 1.3)
    random = np.random.default_rng(0)
    cells = np.sort(random.choice(np.flatnonzero(pair.lattice.codes[1]), 300))
    blocks = random.integers(0, 512 // perCell, len(cells))
    strides = tables.steps @ pair.lattice.strides
    found = bandlookup.bandMembership(pair.lattice.codes[1], strides, cells, blocks, tables.inBlocks(perCell))
    bits = np.unpackbits(found.reshape(len(cells), -1).view(np.uint8), axis=1)
    assert bits.shape == (len(cells), perCell)
    positions = bandlookup.spreadPositions(512)
    local = positions.local[blocks[:, None] * perCell + np.arange(perCell)] / positions.denominator
    index = np.stack(np.unravel_index(cells, pair.lattice.shape, order="F"), axis=1) + pair.lattice.low
    places = pair.lattice.grid.toWorld((index[:, None] + local).reshape(-1, 3))
    signed = pair.search(1).signedDistances(places).reshape(bits.shape)
    decided = (np.abs(signed) > 1e-5) & (np.abs(signed + 1.3) > 1e-5)
    assert ((bits > 0) == ((signed < 0) & (signed > -1.3)))[decided].mean() > 0.9999
    counted = bandlookup.Estimate.of([found, found])
    assert (counted.both.sum(axis=1) == bits.sum(axis=1)).all()


def blocksOf(tables) -> list[range]:
    """Return the blocks of ranks after which finished points are removed."""
    blocks = [tables.blockFrom(0)]
    while blocks[-1].stop < len(tables.order):
        blocks.append(tables.blockFrom(blocks[-1].stop))
    return blocks


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.5, 0.7, 3.0)])
def testEveryPositionLooksAtTheNearestCellsFirst(spacing):
    tables = lattice.cellTables(spacing, trianglePlaces(EVERY_NODE[3]))
    low = tables.steps * tables.spacing
    for number, point in enumerate(tables.points):
        outside = np.maximum(np.maximum(low - point, point - low - tables.spacing), 0)
        gaps = (outside[tables.order[:, number]] ** 2).sum(axis=1)
        assert (np.diff(gaps) >= -1e-5).all()
        assert tables.gaps[:-1, number] == pytest.approx(np.minimum(gaps, tables.horizon**2), rel=1e-6)
        assert sorted(tables.order[:, number]) == list(range(len(tables.steps)))
    blocks = blocksOf(tables)
    assert blocks[0].start == 0 and blocks[-1].stop == len(tables.order)
    assert all(one.stop == other.start for one, other in itertools.pairwise(blocks))


def testSideOfPlacesAnywhere():
    masks = masksOf(shapes.blob(5), shapes.blob(6), (1.0, 0.8, 1.5))
    boundaries = BoundaryPair(*(fromMask(mask) for mask in masks))
    random = np.random.default_rng(1)
    grid = masks[1].grid
    places = grid.toWorld(random.uniform(-8, 30, (3000, 3)))
    found = boundaries.lattice.isInsideAt(1, places)
    signed = boundaries.search(1).signedDistances(places)
    assert 0.02 < found.mean() < 0.9
    assert (found == (signed < 0))[np.abs(signed) > 1e-6].all()
    # at the centers of voxels there is no doubt
    index = np.stack(np.meshgrid(*map(np.arange, grid.size), indexing="ij"), axis=-1).reshape(-1, 3)
    inMask = masks[1].block((0, 0, 0), np.array(grid.size) - 1)[tuple(index.T[::-1])]
    assert (boundaries.lattice.isInsideAt(1, grid.toWorld(index)) == (inMask != 0)).all()


@pytest.mark.parametrize("seed", [1, 4, *rarely((0, 2, 3, 5))])
def testNothingReachesWhereSurfacesAreNested(seed):
    """Of random masks, one of them a part of the other or nearly: told by single triangles, asked at many places."""
    random = np.random.default_rng(seed)
    first = shapes.blob(seed) > 0
    second = first & (random.random(first.shape) < (0.7 if seed % 2 else 0.97))
    if seed >= 4:
        second |= random.random(first.shape) < 0.02
    pair = masksOf(first, second, (0.9, 1.1, 2.5))
    boundaries = BoundaryPair(*(fromMask(mask) for mask in pair))
    weights = random.dirichlet(np.ones(3), 20)
    sampler = LatticeSampler(boundaries.lattice, boundaries.surfaces)
    excluded = 0
    for source in (0, 1):
        rows = np.arange(len(sampler.base.sizes))[sampler.base.rowsOf(source)]
        corners = sampler.points(sampler.base.nodes[:3, rows].ravel()).reshape(3, -1, 3)
        signed = sampler.signedAt(source, np.einsum("pc,cnx->npx", weights, corners).reshape(-1, 3))
        signed = signed.reshape(len(rows), -1)
        for side in (1, -1):
            reaches = sampler.mayReach(rows, side)
            assert (side * signed[~reaches]).max(initial=0.0) < 1e-6
            excluded += np.count_nonzero(~reaches)
    assert excluded > 500


def testNestedSurfaces():
    outward, inward = nestedSurfaces()
    corner, edge, slab = 0b00000001, 0b00000011, 0b00001111
    for inner, outer in ((corner, edge), (edge, slab), (corner, 255), (slab, 255), (slab, slab)):
        assert outward[inner, outer]
        assert outer == 255 or inward[outer, inner]
    assert inward[corner, 0] and not outward[corner, 0]
    assert not outward[edge, corner] and not inward[corner, edge]
    # two voxels side by side, and two others: neither is a part of the other, so nothing is told
    assert not outward[0b00000011, 0b00001100] and not inward[0b00000011, 0b00001100]
    # the voxels of 11 are among those of 27, but 27 is cut across the corners of a face, and 11 along them
    assert not outward[11, 27]


@pytest.mark.parametrize(
    ("spacing", "positions"),
    [((1.0, 1.0, 1.0), trianglePlaces(CENTER)), ((0.7, 1.3, 2.5), trianglePlaces(EVERY_NODE[3]))],
)
def testTablesHoldTheDistancesOfEveryStep(spacing, positions):
    """Of places that mirror each other only one is measured; here every one is, cell by cell."""
    tables = lattice.CellTables(spacing, positions, 3)
    pieces = TriangleSet(caseTriangles()[0] * tables.spacing)
    for block in blocksOf(tables)[:: len(blocksOf(tables)) - 1]:
        found = tables.tables(block).reshape(len(block), len(tables.points), 256)
        for rank, ofRank in zip(block, found, strict=True):
            for step in np.unique(tables.order[rank]):
                chosen = np.flatnonzero(tables.order[rank] == step)
                away = tables.distancesTo(pieces, tables.points - tables.steps[step] * tables.spacing)
                expected = ofCases(away, np.minimum).T
                np.testing.assert_allclose(ofRank[chosen], expected[chosen], rtol=1e-6)


def testSmallPairsTogether():
    """As segments of one field they have the same numbers as alone; those of another grid stay alone."""
    made = [masksOf(shapes.blob(n), shapes.blob(n + 1), (1.0, 0.9, 2.0), (n, 0, 1)) for n in range(3)]
    made.append(masksOf(shapes.blob(7), shapes.blob(8), (1.0, 1.0, 1.0)))

    def pairs():
        return [BoundaryPair(*(fromMask(mask) for mask in masks)) for masks in made]

    assert packs(pairs()) == [[0, 1, 2], [3]]
    for pair, together in zip(pairs(), measureTogether(pairs(), (1.0,), (95,)), strict=True):
        for one, other in zip(pair.measure((1.0,), (95,)).directions, together.directions, strict=True):
            for mine, theirs in zip(
                *([d.percentile(95), d.mean, d.sizeWithin(1.0001), d.largest] for d in (one, other))
            ):
                assert theirs == pytest.approx(mine, abs=1e-9) and theirs.bounds == pytest.approx(mine.bounds, abs=1e-6)
            assert other.atPoints == pytest.approx(one.atPoints, abs=1e-9)
            assert other.centers == pytest.approx(one.centers, abs=1e-9)
            assert (other.cells == one.cells).all()
