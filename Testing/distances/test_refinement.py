"""Converged distances against shapes whose distances are known, and against dense sampling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import shapes
from test_lattice import masksOf
from tiers import rarely

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.distances import converged, cutting, linear, refinement
from SegmentMetricsLib.distances.bounded import Bounded, combined
from SegmentMetricsLib.distances.farthest import farthest, slowBounds
from SegmentMetricsLib.distances.surfacedistances import BoundaryPair, withTies
from SegmentMetricsLib.families.registry import restored
from SegmentMetricsLib.geometry import edges
from SegmentMetricsLib.geometry.closest import ClosestSurface
from SegmentMetricsLib.geometry.meshing import fromMask
from SegmentMetricsLib.geometry.surfaces import Surface
from SegmentMetricsLib.geometry.triangles import distancesToTriangles
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

BOUNDARY = ("HD", "HD95", "MASD", "ASSD", "NSD_1mm", "NSD_2mm")
SIGNED = ("SignedMean", "OverFraction_1mm", "UnderFraction_1mm", "OverMax", "UnderMax", "MeanR", "MaxS", "MinA")
CONVERGED = Settings(accuracy="converged", tolerances=(1.0, 2.0), families=("boundary", "signed"))
# Largest errors: HD, HD95, means in mm; shares.
WANTED = {"HD": 0.01, "HD95": 0.03, "MASD": 0.002, "ASSD": 0.002, "NSD_1mm": 0.003, "NSD_2mm": 0.003}


def assertOrdered(comparison, keys) -> None:
    for key in keys:
        measurement = comparison[key]
        assert measurement.lower <= measurement.value <= measurement.upper, key


def blobs(seed: int, spacing=(1.5, 1.5, 3.0), size=(14, 16, 12)):
    """Return two masks that differ by smooth noise."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng(seed)
    base, change = (gaussian_filter(random.standard_normal(size[::-1]), width) for width in (2.5, 2.0))
    fields = (base / base.std(), base / base.std() + 0.5 * change / change.std())
    return masksOf(*(field > np.quantile(fields[0], 0.6) for field in fields), spacing)


def structures(masks):
    from SegmentMetricsLib import Structure

    return [Structure(name, mask) for name, mask in zip("AB", masks, strict=True)]


class TestLinear:
    values = np.random.default_rng(0).normal(size=(3, 40))

    @pytest.mark.parametrize("corners", [2, 3])
    def testSharesAndMeansAgainstPoints(self, corners):
        values = self.values[:corners]
        places = np.random.default_rng(1).dirichlet(np.ones(corners), 40_000)
        points = places @ values
        for limit in (-0.4, 0.0, 0.3, 1.1):
            assert linear.shareBelow(values, limit) == pytest.approx((points <= limit).mean(axis=0), abs=0.015)
        assert linear.shareWithin(values, 0.5) == pytest.approx((np.abs(points) <= 0.5).mean(axis=0), abs=0.015)
        assert linear.meanMagnitude(values) == pytest.approx(np.abs(points).mean(axis=0), abs=0.015)

    def testPlateaus(self):
        values = np.array([[1.0, 1, 1], [-1, -1, -1], [1, 1, 2], [0, 0, 0], [2, 2, 2]]).T
        assert linear.shareWithin(values, 1.0).tolist() == [1, 1, 0, 1, 0]
        assert linear.shareBelow(values, -1.0).tolist() == [0, 1, 0, 0, 0]
        assert linear.meanMagnitude(values).tolist() == pytest.approx([1, 1, 4 / 3, 0, 2])

    def testLimitsOfTheirOwn(self):
        ascending = linear.ordered(self.values)
        limits = np.linspace(-1, 1, 40)
        expected = [linear.shareBelow(self.values[:, n : n + 1], limit)[0] for n, limit in enumerate(limits)]
        assert linear.orderedShareBelow(ascending, limits) == pytest.approx(expected)


class TestBounded:
    def testItIsANumberWithBounds(self):
        value = Bounded.within(0.99, 0.05, 0.0, 1.0)
        assert (value, value.lower, value.upper) == (0.99, pytest.approx(0.94), 1.0)
        assert combined(max, value, Bounded(0.9, 0.9, 2.0)).upper == 2.0
        assert combined(max, value, 3.0).lower is None


class TestKnownShapes:
    @pytest.mark.parametrize("shift", [0.05, 0.3, 1.0, 2.7])
    def testShiftedBox(self, shift):
        comparison = compare(
            shapes.boxMesh((0, 0, 0), (10, 10, 10)), shapes.boxMesh((shift, 0, 0), (10 + shift, 10, 10)), CONVERGED
        )
        assertOrdered(comparison, (*BOUNDARY, *SIGNED))
        # One end lies `shift` off, so does the other but for its rim, which is nearer to the other box's sides; what
        # the sides have for themselves makes up for most of that.
        mean = (200 * shift + 4 / 3 * shift**3) / 600
        assert comparison["HD"].value == pytest.approx(shift, abs=1e-6)
        # large faces that are close and everywhere equally far
        assert comparison["HD"].upper <= shift + 0.01 + 1e-5
        assert comparison["MASD"].lower <= mean <= comparison["MASD"].upper
        assert comparison["MASD"].value == pytest.approx(mean, abs=0.002)
        assert comparison["HD95"].value == pytest.approx(shift, abs=1e-4)

    @pytest.mark.parametrize(
        ("side", "margin", "tolerance"), [(10, 0.5, 0.5), (10, 1, 1), (40, 2, 2), (10, 0.5, 0.501)]
    )
    def testFaceThatLiesTheToleranceAway(self, side, margin, tolerance):
        """Beside the face below which it is flat, the distance rises slowly: the limit passes far from any node."""
        boxes = shapes.boxMesh((0, 0, 0), (side,) * 3), shapes.boxMesh((margin,) * 3, (side - margin,) * 3)
        found = compare(*boxes, Settings(tolerances=(tolerance,), families="boundary"))[f"NSD_{tolerance:g}mm"]
        flat, beside = side - 2 * margin, math.sqrt(withTies(tolerance) ** 2 - margin**2)
        # along the sides of the face a strip as wide as that, at its corners quarters of a circle
        within = flat**2 + 4 * flat * beside + math.pi * beside**2
        expected = (within + flat**2) / (side**2 + flat**2)
        assert found.value == pytest.approx(expected, abs=0.002)
        assert found.lower <= expected <= found.upper

    @pytest.mark.parametrize("factor", [1e-2, 1e-3, 1e-4])
    @pytest.mark.parametrize("areMeshes", [False, True])
    def testTinyVoxels(self, factor, areMeshes):
        """Under a microscope, too, errors are a small part of an element, however many elements there are."""
        found = []
        for scale in (1.0, factor):
            pair = [fromMask(mask) for mask in blobs(3, tuple(scale * step for step in (1.5, 1.5, 3.0)))]
            if areMeshes:
                pair = [Surface(surface.points, surface.cells) for surface in pair]
            found.append(converged.measure(BoundaryPair(*pair), (scale,), (95,)).directions)
        for usual, tiny in zip(*found, strict=True):
            for one, other in ((usual.largest, tiny.largest), (usual.percentile(95), tiny.percentile(95))):
                assert (other.upper - other.lower) / factor <= 0.25
                assert other / factor == pytest.approx(one, abs=0.05)

    def testTiltedPlaneIsExactWithoutCutting(self):
        # over a plane distances are linear, so the first nodes tell all
        points = np.array([[0.0, 0, 1], [4, 0, 3], [0, 4, 1], [4, 4, 3]])
        cells = np.array([[0, 1, 2], [1, 3, 2]])
        floor = np.array([[-99.0, -99, 0], [99, -99, 0], [-99, 99, 0], [99, 99, 0]])
        pair = BoundaryPair(Surface(points, cells, openEdges=4), Surface(floor, cells, openEdges=4))
        refined = refinement.refined([pair.sampler(0)], (2.0,), (50, 95))[0]
        assert len(refined.fine.nodes) == 0
        assert refined.mean == pytest.approx(2, abs=1e-9)
        assert refined.sizeWithin(2.0) / refined.totalSize == pytest.approx(0.5, abs=1e-6)
        assert refined.boundedPercentile(25) == pytest.approx(1.5, abs=1e-5)
        assert refined.boundedPercentile(95) == pytest.approx(2.9, abs=1e-5)
        assert 3 <= refined.largestAndPlace[0].upper <= 3.01
        assert refined.sizesBeyond(np.array([0.5, 1.5, 2.0, 3.5]), 1) / refined.totalSize == pytest.approx(
            [1, 0.75, 0.5, 0], abs=1e-6
        )
        assert refined.sizesBeyond(np.array([0.5, 1.5]), -1).tolist() == [0, 0]

    def testConcentricBalls(self):
        comparison = compare(shapes.ballMesh(20, resolution=24), shapes.ballMesh(22.5, resolution=24), CONVERGED)
        assertOrdered(comparison, (*BOUNDARY, *SIGNED))
        # everything is equally far, nothing can be left out
        assert comparison["HD"].value == pytest.approx(2.5, abs=1e-6)
        assert comparison["HD"].upper - comparison["HD"].lower <= 0.01 + 1e-5
        assert comparison["MASD"].value == pytest.approx(2.5, abs=0.05)
        assert comparison["SignedMean"].value == pytest.approx(comparison["ASSD"].value, abs=1e-6)
        assert comparison["NSD_2mm"].value == 0

    def testPolygon(self):
        # two squares, one twice as wide: on the long sides the distance grows linearly beyond the end of the other
        comparison = compare(
            shapes.loops([(0, 0), (2, 0), (2, 2), (0, 2)]),
            shapes.loops([(0, 0), (4, 0), (4, 2), (0, 2)]),
            Settings(accuracy="converged", tolerances=(1.0,), percentiles=(50, 95, 100), oversampling=1),
        )
        assert comparison.dimension == 2
        assert comparison["HD"].value == pytest.approx(2, abs=1e-9)
        assert comparison["HD100"].value == comparison["HD"].value
        assert comparison["HD"].upper <= 2.01
        # the short side is 2 mm off all along, the long ones 0 to 2 mm
        testToReference = (2 * 2 * 1.0 + 2 * 2.0) / 12
        # the side of the small one within the large one is nearest to the two long sides
        referenceToTest = 1.0 / 8
        assert comparison["MASD"].testToReference == pytest.approx(testToReference, abs=0.002)
        assert comparison["MASD"].referenceToTest == pytest.approx(referenceToTest, abs=0.002)
        assertOrdered(comparison, ("HD", "HD50", "HD95", "HD100", "MASD", "ASSD", "NSD_1mm", "SignedMean"))

    def testIdenticalBoundariesAreZeroForSure(self):
        for image in (shapes.ball(8), shapes.ballMesh(8)):
            comparison = compare(image, image, CONVERGED)
            for key in ("HD", "HD95", "MASD", "ASSD", "SignedMean"):
                assert comparison[key].value == pytest.approx(0, abs=1e-6)
                assert comparison[key].upper < 0.01
            assert comparison["NSD_1mm"].lower == 1

    def testOpenSurfaces(self):
        plane = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0], [4, 4, 0]])
        cells = np.array([[0, 1, 2], [1, 3, 2]])
        crossing = plane * [1, 1, 0] + np.array([[0, 0, -1.0], [0, 0, 1], [0, 0, -1], [0, 0, 1]])
        floor = Surface(plane * 50 - [90, 90, 0], cells, openEdges=4)
        pair = BoundaryPair(Surface(crossing, cells, openEdges=4), floor)
        refined = refinement.refined([pair.sampler(0)], (0.5,), (95,))[0]
        # distances have no sign here, so the kink where the two cross has to be found by cutting
        assert refined.mean == pytest.approx(0.5, abs=0.002)
        assert refined.sizeWithin(0.5) / refined.totalSize == pytest.approx(0.5, abs=0.003)


class TestElements:
    def testSidesAreSharedByNeighbors(self):
        random = np.random.default_rng(4)
        cells = np.stack([random.permutation(50)[:3] for _ in range(200)])
        sides, numbers = edges.uniqueSides(cells)
        assert numbers.shape == cells.shape
        assert len({tuple(side) for side in sides.tolist()}) == len(sides)
        ends = np.stack([cells, np.roll(cells, -1, axis=1)], axis=2)
        assert (sides[numbers] == np.sort(ends, axis=2)).all()

    @pytest.mark.parametrize("count", [1, 2, 200, 1 << 16, (1 << 16) + 1, 1 << 31])
    def testInOrder(self, count):
        first, second = np.random.default_rng(6).integers(0, count, (2, 500))
        first[100:200] = first[0]
        second[150:200] = second[100:150]
        order = edges.inOrder(first, second).tolist()
        assert order == sorted(range(500), key=lambda row: (first[row], second[row]))

    @pytest.mark.parametrize("corners", [2, 3])
    def testSidesOfPieces(self, corners):
        """Those that are found without sorting are those of the pieces."""
        every = np.array(list(itertools.combinations(range(50), corners)))
        cells = np.random.default_rng(4).permuted(every[:: len(every) // 200], axis=1)
        sides, numbers = edges.uniqueSides(cells)
        nodes = np.concatenate([cells, 50 + numbers], axis=1)
        count = 50 + len(sides)
        expected = ofEach(*edges.uniqueSides(cutting.cutCells(nodes)))
        found = [cutting.sidesOfPieces(nodes, count)]
        if corners == 3:
            points, pieces, ofPieces = cutting.quartered(np.zeros((50, 3)), cells, sides, numbers)
            assert len(points) == count and (pieces == cutting.cutCells(nodes)).all()
            found.append(ofPieces)
        for one in found:
            assert (ofEach(*one) == expected).all()
            assert len(one[0]) == len(np.unique(np.sort(one[0], axis=1), axis=0))


def ofEach(sides, numbers):
    """Return the ends of the sides of every element, the smaller number first."""
    return np.sort(sides[numbers], axis=2)


class TestAgainstDenseSampling:
    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
    def testNumbersConverge(self, seed):
        pair = structures(blobs(seed))
        comparison = compare(*pair, CONVERGED)
        assertOrdered(comparison, (*BOUNDARY, *SIGNED))
        dense = [
            compare(*pair, Settings(tolerances=(1.0, 2.0), subdivisions=n, families="boundary", oversampling=1))
            for n in (3, 4)
        ]
        for key in BOUNDARY:
            coarse, fine = (values[key].value for values in dense)
            # what dense sampling itself is off by
            uncertain = abs(fine - coarse)
            if key == "HD":
                assert comparison["HD"].upper - comparison["HD"].lower <= 0.01 + 1e-6
                assert fine <= comparison["HD"].upper
                assert comparison["HD"].value >= fine - 1e-6
            else:
                assert abs(comparison[key].value - fine) <= WANTED[key] + uncertain, key

    @pytest.mark.nightly
    def testRefinementIsNeeded(self):
        # the same without any cutting is off by more than is wanted: the test above can fail
        pair = BoundaryPair(*(fromMask(mask) for mask in blobs(1)))
        dense = pair.measure(4).referenceToTest
        refined = converged.measure(pair, (1.0,), (95,)).referenceToTest.refined
        base = refined.base
        coarse = linear.shareWithin(base.signed(slice(None))[:3], 1.0001) @ base.sizes / refined.totalSize
        truth = dense.sizeWithin(1.0001) / dense.totalSize
        assert abs(coarse - truth) > 0.002
        assert abs(refined.sizeWithin(1.0001) / refined.totalSize - truth) < abs(coarse - truth) / 2


@pytest.mark.parametrize("percent", [1e-9, 0.001, 0.1])
def testTheSmallestPercentilesAreNotBelowTheSmallestDistance(percent):
    balls = [shapes.ball(radius, size=(30, 30, 30), origin=(-15, -15, -15)) for radius in (9, 10)]
    comparison = compare(*balls, Settings(families="boundary", percentiles=(percent,)))
    found = comparison[f"HD{percent:g}"]
    for value, direction in zip(
        (found.referenceToTest, found.testToReference), comparison.distances.directions, strict=True
    ):
        assert value == pytest.approx(np.abs(direction.atPoints).min(), abs=0.01) and value > 0.5


class TestRoads:
    @pytest.mark.parametrize("seed", range(3))
    def testLookupAndSearchAgree(self, seed, monkeypatch):
        # both ask at the same places
        monkeypatch.setattr(refinement, "FEW_TO_SEARCH", refinement.FEW_ELEMENTS)
        random = np.random.default_rng(seed)
        pair = BoundaryPair(*(fromMask(mask) for mask in blobs(seed, random.uniform(0.7, 3, 3))))
        byLookup = converged.measure(pair, (1.0, 2.0), (95,))
        pair.lattice = None
        bySearch = converged.measure(pair, (1.0, 2.0), (95,))
        assert (byLookup.method, bySearch.method) == ("lattice lookup", "search tree")
        for one, other in zip(byLookup.directions, bySearch.directions, strict=True):
            assert np.abs(one.signed - other.signed).max() < 1e-6
            assert np.abs(one.atPoints - other.atPoints).max() < 1e-6
            for name in ("mean", "signedMean", "largest"):
                assert getattr(one, name) == pytest.approx(getattr(other, name), abs=2e-6)
            assert one.percentile(95) == pytest.approx(other.percentile(95), abs=1e-5)
            for limit in (1.0001, 2.0001):
                within = [d.sizeWithin(limit) / d.totalSize for d in (one, other)]
                assert within[0] == pytest.approx(within[1], abs=1e-5)

    def testMovingBothChangesNothing(self):
        meshes = shapes.ballMesh(12, resolution=24), shapes.boxMesh((-11, -9, -10), (9, 11, 12))
        surfaces = [inputs.structureFromPolyData(mesh, name).surface for mesh, name in zip(meshes, "AB", strict=True)]
        rotation = shapes.rotation((1, 2, -0.5), 33)
        moved = [Surface(s.points @ rotation.T + [300.0, -40, 75], s.cells) for s in surfaces]
        still, turned = (converged.measure(BoundaryPair(*pair), (2.0,), (95,)) for pair in (surfaces, moved))
        for one, other in zip(still.directions, turned.directions, strict=True):
            assert one.mean == pytest.approx(other.mean, abs=1e-5)
            assert one.largest == pytest.approx(other.largest, abs=0.01)
            assert one.percentile(95) == pytest.approx(other.percentile(95), abs=1e-4)
            assert one.sizeWithin(2) / one.totalSize == pytest.approx(other.sizeWithin(2) / other.totalSize, abs=1e-4)

    def testSearchesWithAndWithoutSideAgree(self):
        surface = fromMask(blobs(2)[0])
        tree = ClosestSurface(surface)
        random = np.random.default_rng(2)
        points = surface.points[random.integers(0, len(surface.points), 300)] + random.normal(0, 2, (300, 3))
        signed = np.abs(tree.signedDistances(points))
        assert tree.distances(points) == pytest.approx(signed, abs=1e-9)
        assert tree.distances(points[:0]).shape == (0,)
        assert distancesToTriangles(points, tree.nearestTriangles(points)) == pytest.approx(signed, abs=1e-6)

    def testThePercentileOfTheNearerDirectionIsRefinedNoFurther(self):
        # a ball with a spur: the way back is much longer than the way there
        meshes = shapes.ballMesh(8, resolution=24), shapes.boxMesh((-8, -8, -8), (30, 8, 8))
        surfaces = [inputs.structureFromPolyData(mesh, name).surface for mesh, name in zip(meshes, "AB", strict=True)]
        pair = BoundaryPair(*surfaces)
        both = converged.measure(pair, (), (95,)).directions
        alone = [refinement.refined([pair.sampler(source)], (), (95,))[0] for source in (0, 1)]
        there, back = (one.percentile(95) for one in both)
        assert there.upper < back.lower
        # the numbers are the same within what is known of them, the larger one as precisely as when it is alone
        assert back == pytest.approx(alone[1].boundedPercentile(95), abs=0.01)
        assert there.lower - 0.01 <= alone[0].boundedPercentile(95) <= there.upper + 0.01
        assert len(both[0].refined.values) <= len(alone[0].values)


class TestFarthest:
    @pytest.mark.parametrize("move", [(0.0, 0.0, 0.0), *rarely([(0.3, 0.0, 0.0)])])
    def testManyElementsThatAreEquallyFar(self, move):
        # phantoms: the largest distance is nearly everywhere
        radius = 12 if any(move) else 9
        pair = shapes.ballMesh(12, resolution=120), shapes.ballMesh(radius, move, resolution=120)
        found = compare(*pair, Settings(families="boundary"))["HD"]
        assert found.value == pytest.approx(12 - radius + max(move), abs=0.005)
        assert found.upper - found.lower <= 0.0101

    def testBoundsHoldAndAreTight(self):
        # distances to a few points: the farthest place lies somewhere inside
        random = np.random.default_rng(3)
        targets = random.uniform(0, 10, (12, 3))

        def distances(points):
            return np.linalg.norm(points[:, None] - targets, axis=2).min(axis=1)

        def nearest(points):
            rows = np.linalg.norm(points[:, None] - targets, axis=2).argmin(axis=1)
            return np.repeat(targets[rows, None], 3, axis=1)

        elements = random.uniform(0, 10, (30, 3, 3))
        atCorners = distances(elements.reshape(-1, 3)).reshape(30, 3)
        low, high, place = farthest(elements, atCorners, distances, nearest, 0.01)
        dense = np.einsum("pc,ncx->npx", random.dirichlet(np.ones(3), 4000), elements).reshape(-1, 3)
        assert distances(dense).max() <= high
        assert high - low <= 0.01 + 1e-5
        assert distances(place[None])[0] == pytest.approx(low)

    def testWeighingTrianglesKeepsTheBoundsTightBetweenTwoFaces(self):
        # halfway between two planes the distance shrinks toward either: no single triangle bounds it well
        faces = np.array([[[-50.0, -50, 3], [50, -50, 3], [0, 80, 3]], [[-50, -50, -3], [50, -50, -3], [0, 80, -3]]])
        element = np.array([[[0.0, 0, -1], [1, 0, 1.2], [0.3, 1, 0.4]]])
        asked = []

        def distances(points):
            asked.append(len(points))
            return np.stack([distancesToTriangles(points, face) for face in faces]).min(axis=0)

        def nearest(points):
            return faces[(points[:, 2] < 0).astype(int)]

        low, high, _ = farthest(element, distances(element[0])[None], distances, nearest, 0.01)
        assert low <= 3 <= high <= low + 0.01 + 1e-5
        assert sum(asked) < 200

    def testDistancesToTriangles(self):
        # against dense points of the triangles, one of them as thin as a line, one a point
        random = np.random.default_rng(5)
        triangles = random.uniform(0, 4, (12, 3, 3))
        triangles[0, 2], triangles[1] = triangles[0, :2].mean(axis=0), triangles[1, 0]
        weights = random.dirichlet(np.full(3, 0.6), 60_000)
        for point in random.uniform(-1, 5, (6, 3)):
            found = distancesToTriangles(point, triangles)
            dense = np.linalg.norm(np.einsum("pc,tcx->ptx", weights, triangles) - point, axis=2).min(axis=0)
            assert (found <= dense + 1e-9).all()
            assert found == pytest.approx(dense, abs=0.03)


class TestMeasurements:
    def testBoundsAreWrittenAndRead(self):
        comparison = compare(*structures(blobs(2)), Settings(accuracy="converged", families=DEFAULT_FAMILIES))
        data = comparison["HD95"].toDictionary()
        assert data["lower"] <= data["value"] <= data["upper"]
        assert restored("HD95", data) == comparison["HD95"]
        assert "lower" not in comparison["DSC"].toDictionary()
        assert comparison.toDictionary()["subdivisions"] is None

    def testFixedSamplingHasNone(self):
        comparison = compare(*structures(blobs(2)), Settings(subdivisions=0, oversampling=1))
        assert comparison["HD"].lower is None and comparison["HD"].upper is None


@pytest.mark.parametrize(
    ("low", "high", "isApart"),
    [((5, 5, 5), (8, 8, 24), False), ((5, 5, 5), (8, 8, 44), False), ((5, 25, 5), (8, 28, 24), True)],
    ids=["same", "longer", "elsewhere"],
)
def testATubeThatEndsLaterIsNotApart(low, high, isApart):
    size = (40, 40, 50)
    images = [shapes.box((5, 5, 5), (8, 8, 24), size), shapes.box(low, high, size)]
    pair = BoundaryPair(*(fromMask(inputs.labelMasks(image, 0.5)[1]) for image in images))
    assert [pair.sampler(source).isApart for source in (0, 1)] == [isApart] * 2


@pytest.mark.parametrize("corners", [2, 3])
def testNothingIsFartherThanTheSlowestGrowthAllows(corners):
    """Distances to two or three points, of all functions that grow by 1 mm per mm those that leave least room."""
    random = np.random.default_rng(8)
    elements = random.normal(size=(500, corners, 3))
    weights = random.dirichlet(np.full(corners, 0.5), 400)
    targets = elements + random.normal(0, 1.5, elements.shape)

    def distances(places):
        return np.linalg.norm(places[:, :, None] - targets[:, None], axis=3).min(axis=2)

    bounds = slowBounds(elements, distances(elements))
    largest = distances(np.einsum("wc,kcx->kwx", weights, elements)).max(axis=1)
    assert (bounds >= largest).all()
    # and they do leave little
    length = np.linalg.norm(elements[:, 1] - elements[:, 0], axis=1)
    assert np.median((bounds - largest) / length) < 0.6
    even = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.75**0.5, 0]])[:corners]
    told = slowBounds(even[None], np.full((1, corners), 5.0))[0]
    assert told == pytest.approx(5 + (0.5 if corners == 2 else 3**-0.5), abs=1e-5)
    told = slowBounds(even[None], np.array([[5.0, 4.8, 4.6]])[:, :corners])[0]
    assert told == pytest.approx(5.4 if corners == 2 else 4.8 + 2 / 3, abs=1e-5)


def testAllAndNothingAreDoubtedWhereTheLargestDistanceExceedsTheTolerance():
    """Between the nodes something is farther: the share within is not certain to be 1, nor that beyond to be 0."""
    doubted = 0
    for seed in range(12):
        blobs = [shapes.imageOf(shapes.blob(seed + n, (9, 10, 11), 0.3)) for n in (0, 500)]
        worst = compare(*blobs, Settings(families="boundary"))["HD"].value
        tolerance = round(worst - 0.002, 4)
        found = compare(*blobs, Settings(families=("boundary", "signed"), tolerances=tolerance))
        within = found[f"NSD_{tolerance:g}mm"]
        beyond = [found[f"{which}Fraction_{tolerance:g}mm"] for which in ("Over", "Under")]
        assert within.lower < 1 and max(share.upper for share in beyond) > 0
        doubted += within.value == 1
    assert doubted
    same = compare(blobs[0], blobs[0])
    assert (same["NSD_2mm"].lower, same["OverFraction_2mm"].upper) == (1, 0)
