"""Fields of distances: every number against brute force, and the closed forms that they are made of against points."""

from __future__ import annotations

import math
from functools import cache

import naive
import numpy as np
import pytest
import shapes
from givendistances import Directions
from shapes import boundaryOf

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances import elements, linear
from SegmentMetricsLib.distances.bounded import Bounded, combine
from SegmentMetricsLib.distances.field import Field
from SegmentMetricsLib.distances.largest import balancedBounds
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair, DirectedDistances, withTies
from SegmentMetricsLib.geometry.surfaces import Surface
from SegmentMetricsLib.model.inputs import structureFromPolyData
from SegmentMetricsLib.show.maps import samplesOf

TAUS, PERCENTS, LIMITS = (0.5, 1.0, 2.0), (50, 95), np.array([0.0, 0.3, 1.0001, 1.7])


def ofMesh(mesh) -> Surface:
    return structureFromPolyData(mesh, "Mesh").surface


def boxes(*corners, size=(8, 7, 9)) -> np.ndarray:
    """Return a mask [k, j, i] of boxes of voxels, from the lower to the upper index (i, j, k), both included."""
    result = np.zeros(size[::-1], bool)
    for low, high in corners:
        result[tuple(slice(a, b + 1) for a, b in zip(low[::-1], high[::-1], strict=True))] = True
    return result


def blob(seed: int, spacing=(1.0, 1.2, 2.0)) -> Surface:
    return boundaryOf(np.pad(shapes.blob(seed, (5, 5, 4), 0.5, 1.2), 1), spacing)


def worn(share: float) -> Surface:
    """Return a share of the voxels of a blob, of which the smaller ones lie in the larger ones."""
    array = np.pad(shapes.blob(1, (4, 4, 4), 0.5, 1.2), 1)
    return boundaryOf(array & (np.random.default_rng(1).random(array.shape) < share), (0.9, 1.1, 1.5))


# Pairs, and the longest side of the pieces by which they are measured again.
PAIRS = {
    "blobs": (lambda: (blob(1), blob(2)), 0.35),
    "nested": (lambda: [worn(share) for share in (1, 0.7)], 0.4),
    "moved by a voxel": (lambda: [boundaryOf(boxes(((1 + n, 1, 1), (3 + n, 3, 3)))) for n in (0, 1)], 0.2),
    "one more voxel": (lambda: [boundaryOf(boxes(BOX, ((2, 2, 1), (2, 2, 3 + n)))) for n in (0, 1)], 0.2),
    "one voxel": (lambda: [boundaryOf(boxes(((1 + n, 1, 1), (1 + n, 1, 1))), (0.5, 1, 2)) for n in (0, 1)], 0.05),
    "sheets": (lambda: [boundaryOf(boxes(((1, 1, 2), (4, 4 + n, 2))), (1, 1, 2.5 - n)) for n in (0, 1)], 0.2),
    "far apart": (lambda: [boundaryOf(boxes(((1, 1, z), (2, 2, z + 1)), size=(5, 5, 20))) for z in (1, 16)], 0.2),
    "huge triangles": (lambda: [ofMesh(mesh) for mesh in (shapes.boxMesh((-5, -4, -4), (5, 4, 4.5)), BALL)], 0.4),
    "mask and mesh": (lambda: (boundaryOf(boxes(BOX)), ofMesh(shapes.boxMesh((1, 1, 1), (4, 3, 3)))), 0.2),
    "open": (lambda: (ofMesh(shapes.openBox()), ofMesh(shapes.boxMesh((3, 3, -1), (8, 8, 11)))), 0.4),
    "contours": (lambda: [ofMesh(shapes.loops(polygon)) for polygon in POLYGONS], 0.01),
}
BOX = ((1, 1, 1), (3, 3, 3))
BALL = shapes.ballMesh(5, (0.5, 0, 0), 8)
POLYGONS = [(0, 0), (7, 0), (7, 5), (3, 6), (0, 4)], [(1, -1), (8, 0.5), (6, 6), (1, 3)]
# Largest errors beyond those of brute force: mm, and shares.
NEAR_MEAN, NEAR_PERCENTILE, NEAR_SHARE = 0.001, 0.01, 0.002


@cache
def measured(name: str):
    """Return both directions of a pair, each with the same by brute force."""
    make, longest = PAIRS[name]
    surfaces = make()
    directions = BoundaryPair(*surfaces).measure(TAUS, PERCENTS).directions
    corners = [surface.corners(np.arange(surface.count)) for surface in surfaces]
    dense = [naive.Dense(corners[n], corners[1 - n], longest, surfaces[1 - n].isClosed, 2 * n - 1) for n in (0, 1)]
    return list(zip(directions, dense, strict=True))


def numbersOf(direction, dense):
    """Yield numbers with bounds, the same by brute force with its error, and how far off they may be beyond that."""

    def share(size):
        return combine(lambda part: part / direction.totalSize, size)

    yield "mean", direction.mean, dense.mean(), NEAR_MEAN
    yield "signed mean", direction.signedMean, dense.mean(isSigned=True), NEAR_MEAN
    for percent in PERCENTS:
        yield f"HD{percent}", direction.percentile(percent), dense.percentile(percent), NEAR_PERCENTILE
    for limit in map(withTies, TAUS):
        yield f"within {limit}", share(direction.sizeWithin(limit)), dense.within(limit), NEAR_SHARE
        for side in (1, -1):
            found = share(direction.sizeBeyond(limit, side))
            yield f"beyond {side * limit}", found, dense.beyond(limit, side), NEAR_SHARE


def testBoundsOfTwoSpheres():
    """Distances rise evenly, so bounds of percentiles are as wide to either side. The largest is between the nodes."""
    pair = shapes.ballMesh(20, resolution=24), shapes.ballMesh(20, (0, 0, 3), resolution=20)
    direction = compare(*pair, Settings(metrics="HD95")).distances.testToReference
    for found in map(direction.percentile, (50, 80, 95)):
        assert found - found.lower == pytest.approx(found.upper - found, rel=0.2)
    atNodes = float(direction.field.base.range[1][direction.rows].max())
    assert atNodes < direction.largest - 0.005
    between = direction.sizeWithin((atNodes + direction.largest) / 2)
    assert between.lower < between == direction.totalSize == direction.sizeWithin(direction.largest.upper + 9).lower


class TestAgainstBruteForce:
    @pytest.mark.parametrize("name", PAIRS)
    def testNumbers(self, name):
        held = []
        for direction, dense in measured(name):
            assert direction.totalSize == pytest.approx(dense.total)
            for what, found, (expected, uncertain), near in numbersOf(direction, dense):
                assert found == pytest.approx(expected, abs=near + uncertain), what
                assert found.lower <= found <= found.upper
                held.append(found.lower - uncertain <= expected <= found.upper + uncertain)
        assert np.mean(held) >= 0.95

    @pytest.mark.parametrize("name", PAIRS)
    def testLargestDistances(self, name):
        """Bounds are certain on either side, and the place is one of the boundary that is so far away."""
        both = measured(name)
        corners = [direction.surface.corners(np.arange(direction.surface.count)) for direction, _ in both]
        sides = (1, -1) if all(direction.surface.isClosed for direction, _ in both) else ()
        for side in (0, *sides):
            every = [one.farthest(side) if side else one.field.largest()[one.number] for one, _ in both]
            # toward one side only the larger of the two is searched for
            reach = max(found for found, _ in every) if side else -math.inf
            for number, ((found, place), (_, dense)) in enumerate(zip(every, both, strict=True)):
                most = dense.largest(side)
                assert found.lower <= found <= found.upper <= max(found, reach, 0) + 0.0101
                assert max(most, 0) <= max(found.upper, 0) + 1e-9 and max(found, 0) <= max(most, 0) + dense.reach
                if found > 0:
                    assert naive.distancesTo(place[None], corners[1 - number]).min() == pytest.approx(found, abs=1e-5)
                    assert naive.distancesTo(place[None], corners[number]).min() < 1e-6

    @pytest.mark.parametrize("name", PAIRS)
    def testCurves(self, name):
        """All limits together are each of them alone; what is beyond never grows."""
        for direction, dense in measured(name):
            for side in (1, -1):
                found = direction.sizesBeyond(LIMITS, side) / direction.totalSize
                assert (np.diff(found) <= 0).all()
                for limit, share in zip(LIMITS, found, strict=True):
                    # extrapolation must not make the curve rise
                    alone = direction.sizeBeyond(limit, side) / direction.totalSize
                    assert share == pytest.approx(alone, abs=0.002)
                    if limit:
                        expected, uncertain = dense.beyond(limit, side)
                        assert share == pytest.approx(expected, abs=2 * NEAR_SHARE + uncertain)

    def testTies(self):
        """Of two boxes of 3 x 3 x 3 voxels, one of them a voxel farther along x, nothing is more than 1 mm away.

        All of one end is that far, whose flat part has 2 x 2 mm; of the other end, inside, what lies beyond 1 mm from
        the sides, 1 x 1 mm.
        """
        for direction, _ in measured("moved by a voxel"):
            ties = direction.sizeWithin(withTies(1.0)) - direction.sizeWithin(withTies(1.0, -1))
            assert ties == pytest.approx(4 + 1, abs=0.01)
            assert direction.sizeWithin(withTies(1.0)) == direction.totalSize
            assert float(direction.percentile(95)) == float(direction.largest) == 1

    def testWhatIsShared(self):
        """The voxel more is all that differs; no element of the rest is looked at."""
        for direction, dense in measured("one more voxel"):
            assert direction.field.shared[direction.number] > 0.7 * direction.totalSize
            assert direction.percentile(50) == 0 and direction.percentile(50).upper < 1e-4
            expected, uncertain = dense.within(1e-6)
            assert direction.sizeWithin(0.0) / direction.totalSize == pytest.approx(expected, abs=uncertain)
            assert len(np.unique(direction.cells)) + len(direction.sharedCells) == direction.surface.count


def plane(count: int = 6, size: float = 4.0) -> Surface:
    """Return a square in the plane z = 0, cut into triangles."""
    x, y = np.meshgrid(*[np.linspace(0, size, count + 1)] * 2, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    a = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    b, c, d = a + count + 1, a + count + 2, a + 1
    return Surface(points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


class TestClosedForms:
    @pytest.mark.parametrize("start", [0.0, 1.0, -1.5])
    def testLinearDistancesAreExact(self, start):
        """From `start` to start + 4 over a square: all numbers of that are known."""
        ramp = Field(Directions([plane()], [lambda points: points[:, 0] + start]), (2.0,), (25, 95))
        x = (np.arange(400_000) + 0.5) / 100_000 + start
        assert ramp.mean()[0] == pytest.approx(np.abs(x).mean(), abs=1e-9)
        assert ramp.mean(True)[0] == pytest.approx(start + 2, abs=1e-12)
        for percent in (1e-9, 1, 25, 50, 95, 99.99):
            found, expected = ramp.percentile(percent)[0], np.sort(np.abs(x))[int(percent * 4000)]
            assert found == pytest.approx(expected, abs=2e-5), percent
            assert -2e-3 <= found.lower - expected <= 1e-5 and -1e-5 <= found.upper - expected <= 2e-3
        for limit in (0.3, 1.2, 2.0):
            assert ramp.size(limit)[0] / 16 == pytest.approx((np.abs(x) <= limit).mean(), abs=1e-5)
            for side in (1, -1):
                assert ramp.size(limit, side)[0] / 16 == pytest.approx((side * x > limit).mean(), abs=1e-5)

    def testSmoothDistancesAreExact(self):
        """Of a quadratic function the extrapolated mean is that of Simpson's rule, which has no error."""
        bowl = Field(Directions([plane(2)], [lambda p: 1 + p[:, 0] ** 2 + p[:, 0] * p[:, 1]]))
        assert bowl.mean()[0] == pytest.approx(1 + 4**2 / 3 + 2 * 2, abs=1e-9)

    def testPercentilesOfWhatIsShared(self):
        """Half as much again is shared: a third of all is at 0."""
        sampler = Directions([plane()], [lambda points: 1 + points[:, 0]])
        sampler.shared, sampler.totals = np.array([8.0]), np.array([24.0])
        found = Field(sampler, (), (50,))
        for percent, expected in ((10, 0), (33, 0), (50, 2), (75, 3.5), (99, 4.94)):
            assert found.percentile(percent)[0] == pytest.approx(expected, abs=1e-5)
        assert found.size(0.5)[0] == 8 and found.mean()[0] == pytest.approx(3 * 16 / 24)


def testSeveralPairsAreAsAlone():
    surfaces = [blob(seed) for seed in (1, 2)] + [ofMesh(shapes.boxMesh((0, 0, 0), (5, 4, 3))), plane()]
    targets = [surfaces[1], surfaces[0], ofMesh(BALL), ofMesh(BALL)]
    together = Field(Directions(surfaces, targets), TAUS, PERCENTS)
    for number, surface in enumerate(surfaces):
        # the second halves of pairs follow all first ones
        own, first = divmod(number, 2)
        alone = Field(Directions(surfaces[first::2], targets[first::2]), TAUS, PERCENTS)
        asked = [
            *(("mean", (isSigned,)) for isSigned in (False, True)),
            *(("percentile", (percent,)) for percent in (*PERCENTS, 1)),
            *(("size", (tau, side)) for tau in TAUS for side in (0, 1, -1)),
        ]
        for name, arguments in asked:
            one, other = getattr(together, name)(*arguments)[number], getattr(alone, name)(*arguments)[own]
            assert one == pytest.approx(other, abs=2e-6), (number, name, arguments)
            assert one.bounds == pytest.approx(other.bounds, abs=1e-3), (number, name, arguments)
        one, other = (DirectedDistances(of, n, surface) for of, n in ((together, number), (alone, own)))
        assert one.sizesBeyond(LIMITS, 1) == pytest.approx(other.sizesBeyond(LIMITS, 1))
        for side in (0, 1, -1):
            one, other = together.largest(side)[number], alone.largest(side)[own]
            assert (one[0].bounds, one[1].tolist()) == (other[0].bounds, other[1].tolist())


class TestExchanged:
    @pytest.mark.parametrize("make", [PAIRS["blobs"][0], PAIRS["huge triangles"][0]], ids=["lookup", "search"])
    def testItIsTheOtherSign(self, make):
        """Of the same field, and what is measured in that order."""
        surfaces = make()
        pair = BoundaryPair(*surfaces)
        exchanged = pair.measure(TAUS, PERCENTS).exchange()
        again = BoundaryPair(*surfaces[::-1]).measure(TAUS, PERCENTS)
        assert (exchanged.method, exchanged.hasSides) == (again.method, again.hasSides)
        for found, expected in zip(exchanged.directions, again.directions, strict=True):
            assert found.surface is expected.surface
            np.testing.assert_allclose(found.atPoints, expected.atPoints, rtol=0, atol=1e-9)
            np.testing.assert_allclose(found.signed, expected.signed, rtol=0, atol=1e-9)
            for name in ("mean", "signedMean", "largest"):
                assert getattr(found, name).bounds == pytest.approx(getattr(expected, name).bounds, abs=1e-9), name
            for side in (1, -1):
                assert found.reach(side) == pytest.approx(expected.reach(side), abs=1e-9)
                assert found.farthest(side)[0].bounds == pytest.approx(expected.farthest(side)[0].bounds, abs=1e-9)
                assert found.sizeBeyond(0.5, side) == pytest.approx(expected.sizeBeyond(0.5, side), abs=1e-9)
                assert found.sizesBeyond(LIMITS, side) == pytest.approx(expected.sizesBeyond(LIMITS, side), abs=1e-9)
            rows = np.arange(0, found.rows.stop - found.rows.start, 3)
            assert found.meanOver(rows).bounds == pytest.approx(expected.meanOver(rows).bounds, abs=1e-12)

    def testWhatIsOpenHasNoSide(self):
        surfaces = PAIRS["open"][0]()
        measured = BoundaryPair(*surfaces).measure()
        exchanged = measured.exchange()
        assert not measured.hasSides and not exchanged.hasSides
        # to the open one distances have no sign to be changed; to the closed one they have
        assert exchanged.directions[0].signedMean == measured.directions[1].signedMean > 0
        assert exchanged.directions[1].signedMean == -measured.directions[0].signedMean


def testIdenticalMasksHaveNothingToMeasure():
    """And maps of zeros. That all numbers are those of no difference is held by the tests of the registry."""
    surface = blob(3)
    for direction in BoundaryPair(surface, blob(3)).measure(TAUS, PERCENTS).directions:
        assert len(direction.cells) == 0 and len(direction.sharedCells) == surface.count
        positions, signed = samplesOf(direction)
        assert len(positions) == surface.count and not signed.any() and not direction.atPoints.any()


def testPercentilesWhereMuchIsEquallyFar():
    """No limit is between some and the others, nor beyond them where exactly as much is wanted as they have."""
    sizes, levels = np.ones(200), np.random.default_rng(0).choice([0, 0.5, 1, 2**0.5, 2], 200)
    find = linear.invertSizes(np.tile(levels, (6, 1)), sizes, 0.0, -1e-9, 20.0)
    assert find(np.arange(200) + 0.5)[0] == pytest.approx(np.sort(levels), abs=1e-6)
    nearly = 0.5 + 1e-3 * np.random.default_rng(1).random((6, 200)) + 9 * (np.arange(200) >= 150)
    assert linear.invertSizes(nearly, sizes, 0.0, -1e-9, 20.0)(np.array([150.0]))[0] < 0.502


class TestSecondPass:
    def testWhatIsAskedForIsMorePrecise(self, monkeypatch):
        """Of many elements only those are cut that a wanted limit passes through, and that brings the number closer."""
        monkeypatch.setattr(elements, "FEW", 500)
        arrays = (np.pad(shapes.blob(seed, (16, 16, 10), 0.4, 2.0), 1) for seed in (5, 6))
        surfaces = [boundaryOf(array, (1.0, 1.0, 3.0)) for array in arrays]
        errors = {}
        truth = BoundaryPair(*surfaces).measure((1.0,), (95,)).directions[0].field
        for tolerances in ((), (1.0,)):
            found = BoundaryPair(*surfaces).measure(tolerances).directions[0].field
            assert len(found.base.sizes) > 2 * elements.FEW
            assert found.base.sizes.sum() == pytest.approx(found.elements.sizes.sum())
            errors[tolerances] = found.size(1.0001)[0].upper - found.size(1.0001)[0].lower
            assert found.size(1.0001)[0] == pytest.approx(truth.size(1.0001)[0], rel=0.01)
        assert errors[1.0,] < errors[()]

    @pytest.mark.parametrize("limit", [2.2, 2.5])
    def testElementsThatAreAlikeDoNotCancelOut(self, limit):
        """Where all elements lie in the same way to the other boundary, their errors add up, and another pass follows.

        As where a structure is moved by a voxel. The truth is that of a fine grid over one of the equal squares.
        """
        at = np.indices((24, 24)).reshape(2, -1).T[:, None] + np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
        cells = (4 * np.arange(24 * 24)[:, None, None] + np.array([[0, 1, 2], [1, 3, 2]])).reshape(-1, 3)
        squares = Surface(np.pad(at.reshape(-1, 2), [(0, 0), (0, 1)]).astype(float), cells)

        def roofs(points):
            return 2 + np.abs(points[:, 0] % 1 - 0.3) + 0.7 * np.abs(points[:, 1] % 1 - 0.6)

        sampler = Directions([squares], [roofs])
        sampler.areLarge = np.zeros(1, bool)
        found = Field(sampler, [limit]).size(limit)[0]
        expected = squares.sizes.sum() * (roofs((np.indices((500, 500)).reshape(2, -1).T + 0.5) / 500) <= limit).mean()
        assert found == pytest.approx(expected, abs=0.006 * squares.sizes.sum())
        assert found.lower <= expected <= found.upper


class TestBounds:
    def testNothingIsFartherThanSeveralTrianglesTogetherAllow(self):
        random = np.random.default_rng(9)
        elements, triangles = random.normal(size=(60, 3, 3)), random.normal(0, 1.5, (60, 3, 3, 3))
        bounds = balancedBounds(elements, triangles)
        for element, several, bound in zip(elements, triangles, bounds, strict=True):
            places = random.dirichlet(np.full(3, 0.6), 300) @ element
            assert naive.distancesTo(places, several).min(axis=1).max() <= bound + 1e-9
        # halfway between two planes the distance shrinks toward either: no single triangle bounds it well
        faces = np.array([[[-50.0, -50, z], [50, -50, z], [0, 80, z]] for z in (3, -3, 3)])
        element = np.array([[[0.0, 0, -1], [1, 0, 1.0], [0.3, 1, 0.0]]])
        assert balancedBounds(element, faces[None])[0] == pytest.approx(3)

    def testNumbersWithBounds(self):
        value = Bounded.within(0.99, 0.05, 0.0, 1.0)
        assert (value, value.lower, value.upper) == (0.99, pytest.approx(0.94), 1.0)
        assert combine(max, value, Bounded(0.9, 0.9, 2.0)).upper == 2.0
        for number in (Bounded(1, 0.5, None), Bounded(1, None, 2), Bounded(1), 1.0):
            for pair in ((number, Bounded(3, 2, 4)), (Bounded(3, 2, 4), number)):
                assert (combine(max, *pair), combine(max, *pair).lower) == (3, None)
