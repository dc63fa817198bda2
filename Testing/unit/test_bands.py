"""Boundary intersection over union against areas and volumes that are known, and against the full grid."""

from __future__ import annotations

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair
from SegmentMetricsLib.geometry.masks import boxAround
from SegmentMetricsLib.geometry.meshing import fromMask, fromPolyData
from SegmentMetricsLib.metrics.bands import bandsearch, bandvoxels
from SegmentMetricsLib.metrics.bands import lookup as bandlookup
from SegmentMetricsLib.metrics.bands import methods as bandmethods
from SegmentMetricsLib.metrics.bands.sizes import Bands
from SegmentMetricsLib.model.inputs import labelMasks


def biou(first, second, tolerance=2.0) -> float:
    settings = Settings(tolerances=(tolerance,), families=("boundary",))
    return compare(first, second, settings)[f"BIoU_{tolerance:g}mm"].value


def testBoxesWithKnownBands():
    # bands of two boxes 12 x 12 x 12, one shifted by 1: as meshes, where edges are sharp
    first, second = shapes.boxMesh((0, 0, 0), (12, 12, 12)), shapes.boxMesh((1, 0, 0), (13, 12, 12))
    band = 12**3 - 8**3
    # what is in both boxes, 11 x 12 x 12, less what is deep in either one: 8 x 8 x 8 twice, overlapping in 7 x 8 x 8
    shared = 11 * 12 * 12 - (2 * 8**3 - 7 * 8 * 8)
    assert biou(first, second) == pytest.approx(shared / (2 * band - shared), abs=0.003)


@pytest.mark.parametrize("tolerance", [0.05, 0.3, 2.0])
def testBoxesWithKnownBandsOfAnyWidth(tolerance):
    first, second = shapes.boxMesh((0, 0, 0), (12, 12, 12)), shapes.boxMesh((1, 0, 0), (13, 12, 12))
    deep = 12 - 2 * tolerance
    # how far what is deep in either one reaches along x within what is in both; then as above
    along = 2 * (11 - tolerance) - max(0, 11 - 2 * tolerance) if tolerance < 1 else 2 * deep - (deep - 1)
    shared = 11 * 12 * 12 - along * deep**2
    band = 12**3 - deep**3
    assert biou(first, second, tolerance) == pytest.approx(shared / (2 * band - shared), abs=0.003)


@pytest.mark.nightly
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (3.0, 3.0, 3.0), (0.5, 0.5, 2.0), (0.98, 0.98, 2.5)])
@pytest.mark.parametrize("tolerance", [0.5, 2.0])
def testAutomaticSamplingAgreesWithRandomPoints(spacing, tolerance):
    masks = blobPair(spacing)
    boundaries = BoundaryPair(*map(fromMask, masks), reach=tolerance)
    truth, error = randomTruth(boundaries, masks, tolerance)
    assert bandmethods.bands(boundaries, masks, tolerance).overlap == pytest.approx(truth, abs=0.002 + 2 * error)


def blobPair(spacing):
    """Return two masks of over 1,000 voxels that overlap, the second one shifted and worn off."""
    first = np.pad(shapes.blob(3, (20, 18, 16), 0.35, 3.0), 2)
    second = np.roll(first, 1, axis=2) & np.pad(shapes.blob(4, (20, 18, 16), 0.93, 2.0), 2)
    masks = tuple(labelMasks(shapes.imageOf(array, spacing), 0.5)[1] for array in (first, second))
    assert min(mask.count for mask in masks) > 1000
    return masks


def randomTruth(boundaries, masks, tolerance, count=4):
    """Return the overlap by random points with exact distances, count ** 3 or more a voxel, and about its error."""
    random = np.random.default_rng(11)
    low, high = boxAround(*masks)
    low, high = low - 2, high + 2
    voxels = low + np.argwhere(np.ones(high - low + 1, bool))
    # from the center of a voxel to its corners
    reach = np.linalg.norm(masks[0].grid.spacing) / 2
    away = [boundaries.search(number).signedDistances(masks[0].grid.toWorld(voxels)) for number in (0, 1)]
    near = [(signed < reach) & (signed > -tolerance - reach) for signed in away]
    voxels, near = voxels[near[0] | near[1]], [flags[near[0] | near[1]] for flags in near]
    strata = np.stack(np.meshgrid(*[np.arange(count)] * 3, indexing="ij"), -1).reshape(-1, 3)
    places = (strata + random.random((len(voxels), count**3, 3))) / count - 0.5
    points = masks[0].grid.toWorld((voxels[:, None] + places).reshape(-1, 3))
    inBand = []
    for number in (0, 1):
        signed = np.ones(len(points))
        asked = np.repeat(near[number], count**3)
        signed[asked] = boundaries.search(number).signedDistances(points[asked])
        inBand.append((signed < 0) & (signed > -tolerance))
    union = np.count_nonzero(inBand[0] | inBand[1])
    truth = np.count_nonzero(inBand[0] & inBand[1]) / union
    # half of what points without strata would have
    error = 0.5 * np.sqrt(truth * (1 - truth) / union)
    return (truth, error) if error < 0.001 else randomTruth(boundaries, masks, tolerance, count + 2)


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 2.0])
def testLookupAndSearchAgreeOnAutomaticSampling(tolerance):
    masks = blobPair((1.0, 1.0, 2.0))
    boundaries = BoundaryPair(*map(fromMask, masks), reach=tolerance)
    byLookup = bandmethods.bands(boundaries, masks, tolerance)
    boundaries.lattice = None
    bySearch = bandmethods.bands(boundaries, masks, tolerance)
    assert byLookup.overlap == pytest.approx(bySearch.overlap, abs=0.003)
    assert byLookup.union == pytest.approx(bySearch.union, rel=0.005)
    # what is wanted of structures of over 1,000 voxels: 0.2 %pt, and what costs nothing more by lookup
    assert 0 < byLookup.error < 0.00075 and 0 < bySearch.error < 0.00105
    assert bySearch.overlap.lower == pytest.approx(bySearch.overlap - 2 * bySearch.error)


def testAnAccuracyOutOfReachIsNotClaimed(monkeypatch):
    masks = blobPair((1.0, 1.0, 2.0))
    boundaries = BoundaryPair(*map(fromMask, masks), reach=1.0)
    expected = bandmethods.bands(boundaries, masks, 1.0).overlap
    monkeypatch.setattr(bandvoxels, "MOST_VOXELS", 1 << 15)
    monkeypatch.setattr(bandsearch, "LARGEST_DRAW", 2000)
    found, met = bandsearch.searchedBands(boundaries, masks, 1.0, 1e-6)
    assert found.samples < 60_000 and 0 < met < found.samples
    assert 0.001 < found.error < 0.02
    assert found.overlap == pytest.approx(expected, abs=4 * found.error)


def testBoundsOfAnOverlapAreNeverCloserThanWhatNobodyLookedAt():
    for error, expected in ((1e-6, 0.0003), (0.001, 0.002)):
        overlap = Bands(1.0, 2.0, 1000, error).overlap
        assert (overlap.lower, overlap, overlap.upper) == pytest.approx((0.5 - expected, 0.5, 0.5 + expected))
    # the same twice is known without looking, and a count of all sub-voxels has no bounds
    same = Bands(2.0, 2.0, 1000, 0.0).overlap
    assert (same.lower, same.upper) == (1, 1)
    assert not hasattr(Bands(1.0, 2.0, 1000).overlap, "lower")


@pytest.mark.parametrize("tolerance", [1e-6, 0.001, 0.02, 0.05, 0.2, 1.0, 5.0])
def testSingleVoxel(tolerance):
    # an octahedron of half-axis 1/2 and its neighbor, which it touches in a corner
    one = shapes.box((5, 5, 5), (5, 5, 5))
    assert biou(one, one, tolerance) == 1
    assert biou(one, shapes.box((6, 5, 5), (6, 5, 5)), tolerance) == 0
    # two voxels hold the octahedron's half and more: all within reach when tau exceeds the inner radius
    overlap = biou(one, shapes.box((5, 5, 5), (6, 5, 5)), tolerance)
    assert 0 < overlap < 0.5
    # random points with exact distances, 1.5 million; beyond 0.3 mm everything lies in the bands
    known = {0.02: 0.1674, 0.05: 0.1737, 0.2: 0.2207, 1.0: 0.25, 5.0: 0.25}
    if tolerance in known:
        assert overlap == pytest.approx(known[tolerance], abs=0.005)


@pytest.mark.parametrize("shift", [pytest.param(0.7, marks=pytest.mark.nightly), 1.4])
def testBandsThinnerThanVoxelsApproachTheOverlapOfTheSurfaces(shift):
    images = [
        shapes.ball(8, size=(24, 24, 24), origin=(-12,) * 3),
        shapes.ball(8, (shift, 0, 0), size=(24, 24, 24), origin=(-12,) * 3),
    ]
    overlaps = [biou(*images, tolerance) for tolerance in (1e-4, 1e-2, 0.05)]
    # the surfaces coincide in part, and the wider the bands the more they share
    assert 0.05 < overlaps[0] < overlaps[2] < 0.5
    assert overlaps[0] == pytest.approx(overlaps[1], abs=0.02)


@pytest.mark.parametrize("kind", ["mesh", "mask", "thick slice", "thin slice"])
def testBandsAsThinAsSurfacesAreAsLargeAsThese(kind):
    """A box 10 mm wide, and its lower 6 mm: the lower faces and part of the upright ones are those of both."""
    arrays = [np.zeros((14, 14, 14), bool) for _ in range(2)]
    arrays[0][2:12, 2:12, 2:12] = arrays[1][2:8, 2:12, 2:12] = True
    isFlat = "slice" in kind
    spacing = (1.0, 1.0, 1e-3 if kind == "thin slice" else 1.0)
    images = (shapes.imageOf(array[:, 7][None] if isFlat else array, spacing) for array in arrays)
    masks = tuple(labelMasks(image, 0.5)[1] for image in images)
    surfaces = [fromMask(mask) for mask in masks]
    # the edges and corners of masks are cut; those below the smaller one's upper face are of both
    edge, corner = 0.5**0.5, 3**0.5 / 8
    if kind == "mesh":
        surfaces = [fromPolyData(shapes.boxMesh((0, 0, 0), (10, 10, height))) for height in (10, 6)]
        sizes, shared = (600, 440), 100 + 4 * 60
    elif isFlat:
        sizes, shared = (36 + 4 * edge, 28 + 4 * edge), 9 + 2 * 5 + 2 * edge
    else:
        sizes = (6 * 81 + 12 * 9 * edge + 8 * corner, 2 * 81 + 4 * 45 + (8 * 9 + 4 * 5) * edge + 8 * corner)
        shared = 81 + 4 * 45 + 4 * (9 + 5) * edge + 4 * corner
    found = bandmethods.bands(BoundaryPair(*surfaces), masks, 0.002)
    assert found.intersection == pytest.approx(0.002 * shared, rel=0.002)
    assert found.union == pytest.approx(0.002 * (sum(sizes) - shared), rel=0.002)


def testSquaresInASlice():
    """Bands between two squares, 10 and 6 mm wide, without four corners each."""
    images = []
    for low in (2, 4):
        array = np.zeros((1, 14, 16), bool)
        array[0, 2:12, low : low + 10] = True
        images.append(shapes.imageOf(array, (1, 1, 4)))
    assert biou(*images) == pytest.approx(31.5 / (2 * 63.5 - 31.5), abs=0.002)


@pytest.mark.parametrize("tolerance", [0.5, 2.0])
def testMovingSwappingAndCroppingChangeNothing(tolerance):
    first, second = (np.pad(shapes.blob(seed, (14, 13, 12), 0.4, 2.0), 5) for seed in (1, 2))

    def overlapOf(*images):
        return biou(*images, tolerance)

    overlap = overlapOf(shapes.imageOf(first), shapes.imageOf(second))
    assert overlapOf(shapes.imageOf(second), shapes.imageOf(first)) == overlap
    cropped = shapes.imageOf(first[3:-2, 2:-1, 4:-4], origin=(4, 2, 3))
    for other in (
        shapes.imageOf(second[3:-2, 2:-1, 4:-4], origin=(4, 2, 3)),
        shapes.imageOf(second[1:-4, 4:, 2:-1], origin=(2, 4, 1)),
    ):
        assert overlapOf(cropped, other) == overlap
    moved = [shapes.imageOf(np.roll(array, (2, -3, 1), (0, 1, 2))) for array in (first, second)]
    assert overlapOf(*moved) == overlap


def testOtherTolerancesBeforeDoNotMatter():
    images = [shapes.imageOf(shapes.blob(seed, (14, 13, 12), 0.4, 2.0)) for seed in (1, 2)]
    alone = biou(*images)
    together = compare(*images, Settings(tolerances=(0.5, 1.0, 2.0, 3.0), families=("boundary",)))
    assert together["BIoU_2mm"].value == alone


@pytest.mark.parametrize("count", [64, 128, 1024])
def testSpreadPositionsAreEven(count):
    positions = bandlookup.spreadPositions(count)
    places = positions.local / positions.denominator
    assert places.min() > 0 and places.max() < 1
    for axis in range(3):
        # one in each of as many slices, none half-way
        assert sorted((places[:, axis] * count).astype(int)) == list(range(count))
    # every aligned block of eight has one in each octant, or nearly so
    octants = ((places * 2).astype(int) @ [1, 2, 4]).reshape(-1, 8)
    assert min(len(set(block)) for block in octants.tolist()) >= 4
    # no point on the planes on which triangles lie
    for normal in ((1, 1, 0), (1, 0, -1), (1, 1, 1), (1, -1, 1)):
        doubled = 2 * places @ normal
        assert np.abs(doubled - np.rint(doubled)).min() > 1e-6


@pytest.mark.parametrize("count", sorted(bandlookup.TURNED))
def testSingleVoxelsHaveTheirVolume(count):
    """A sixth of a cube: all are measured by the same points, so that no number of them makes up for an error."""
    positions = bandlookup.spreadPositions(count)
    places = positions.local / positions.denominator
    corners = np.indices((2, 2, 2)).reshape(3, -1).T
    inside = np.abs(places[:, None] - corners).sum(axis=2) < 0.5
    assert inside.sum() / count == pytest.approx(1 / 6, rel=0.035)


def testManySingleVoxelsBesideABlock():
    """Their bands are all of them; those of the block are where they would be without."""
    voxels = np.zeros((26, 26, 26), bool)
    voxels[2:9, 2:9, 2:9] = True
    speckled = voxels.copy()
    speckled[12::2, 12::2, 2::2] = True
    pair = [shapes.imageOf(some) for some in (voxels, speckled)]
    block = compare(pair[0], pair[0], Settings(families="overlap"))["VolumeReference"].value
    single = 7 * 7 * 12 / 6
    # of the block all is closer than 5 mm to its boundary
    assert biou(*pair, tolerance=5.0) == pytest.approx(block / (block + single), abs=0.002)


def testScrambledNumbersAreSpreadEvenlyAndStayTheSame():
    voxels = np.argwhere(np.ones((20, 20, 20))) - 10
    numbers = bandlookup.scrambled(voxels)
    assert numbers.min() >= 0 and numbers.max() < 1
    # each within any tenth, and next to any other one, as often as by chance
    assert np.histogram(numbers, 10, (0, 1))[0] == pytest.approx(np.full(10, 800), abs=120)
    assert np.abs(np.corrcoef(numbers[:-1], numbers[1:]) - np.eye(2)).max() < 0.05
    assert (bandlookup.scrambled(voxels[::-1])[::-1] == numbers).all()


@pytest.mark.parametrize("reach", [(0, 0, 0), (1, 2, 3), (7, 0, 4), (30, 1, 1)])
def testSpreadIsABoxAroundEveryFlag(reach):
    flags = np.random.default_rng(1).random((12, 11, 13)) > 0.995
    expected = np.zeros_like(flags)
    for place in np.argwhere(flags):
        expected[tuple(slice(max(p - r, 0), p + r + 1) for p, r in zip(place, reach, strict=True))] = True
    assert expected.any() and (bandlookup.spread(flags.copy(), np.array(reach)) == expected).all()
