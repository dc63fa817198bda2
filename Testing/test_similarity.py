"""The Medical Similarity Index: values computed by hand, pairing, flagged slices, what does not change it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.geometry import contours, meshing
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.surfaces import toPolyData
from SegmentMetricsLib.inputs import labelMasks
from SegmentMetricsLib.metrics import publishedsimilarity, similarity, slicecontours
from SegmentMetricsLib.metrics.similarity import Levels
from SegmentMetricsLib.metrics.slicecontours import Contour, Planes
from SegmentMetricsLib.records import Record

KEYS = ["MSI", "MSIPaired", "PairedDistance", "MSI3D"]


def measured(reference, test, **settings):
    return compare(reference, test, Settings(families="similarity", **settings))


def stack(slices, **geometry):
    """Return the image of slices [j, i]."""
    return shapes.imageOf(np.stack([np.asarray(s, np.uint8) for s in slices]), **geometry)


def disc(radius: float, center=(30, 30), size: int = 60) -> np.ndarray:
    j, i = np.mgrid[:size, :size]
    return np.hypot(i - center[0], j - center[1]) <= radius


def square(low, high, size: int = 30) -> np.ndarray:
    """Return the slice of a rectangle of pixels from low to high (i, j), both included."""
    array = np.zeros((size, size), bool)
    array[low[1] : high[1] + 1, low[0] : high[0] + 1] = True
    return array


def maskOf(array, axes=None, start=(0, 0, 0)) -> Mask:
    array = np.asarray(array)
    array = array[None] if array.ndim == 2 else array
    return Mask.fromArray(array, Grid(array.shape[::-1], np.eye(4) if axes is None else axes), start)


class TestWeight:
    def testValues(self):
        # WF(d, l) = exp(-d² / (2 (10 / l)²)): exp(-1/2) at 10 mm for level 1, and at 1 mm for level 10
        assert similarity.weight(10, 1) == pytest.approx(math.exp(-0.5)) == similarity.weight(1, 10)
        # 5 mm, level 2: (10 / 2)² = 25, exp(-25 / 50)
        assert similarity.weight(5, 2) == pytest.approx(0.606531, abs=1e-6)
        assert similarity.weight(0, 7) == 1

    def testSides(self):
        # inside level 1, outside level 10, on the contour the milder one
        scores = Levels(1, 10).scores(np.full(3, 2.0), np.array([-1, 0, 1]))
        assert scores == pytest.approx([math.exp(-4 / 200), math.exp(-4 / 200), math.exp(-2)])


class TestLocalDistances:
    def testThreePointsAgainstThree(self):
        """The reference has a spike that no test point is close to: only the backward distance sees it.

        reference (0, 0), (4, 0), (4, 9); test (0, 1), (4, 1)
        forward: (0, 1) -> (0, 0): 1, (4, 1) -> (4, 0): 1
        backward: (0, 0) is closest to (0, 1): 1; (4, 0) to (4, 1): 1; (4, 9) to (4, 1): 8
        """
        reference, test = np.array([[0, 0], [4, 0], [4, 9.0]]), np.array([[0, 1], [4, 1.0]])
        local, pairs = similarity.localDistances(test, reference, np.zeros_like(test), 1e-9)
        assert local.tolist() == [1, 8] == pairs.tolist()

    def testMovedForPairingOnly(self):
        """Moved by (10, 0) the two coincide, so each is paired with its like and 10 mm away from it."""
        reference = np.array([[0, 0], [4, 0], [4, 3.0]])
        local, pairs = similarity.localDistances(reference - [10, 0], reference, np.tile([10.0, 0], (3, 1)), 1e-9)
        assert local.tolist() == [0, 0, 0] and pairs.tolist() == [10, 10, 10]

    @pytest.mark.parametrize("seed", range(4))
    def testAgainstTheDefinition(self, seed):
        """Equations 1 to 4 word by word, on a lattice with many equal distances."""
        generator = np.random.default_rng(seed)
        mine, other = generator.integers(0, 7, (12, 2)).astype(float), generator.integers(0, 7, (15, 2)).astype(float)
        shift = np.array([1.0, 0.5])
        expected = []
        distances = np.linalg.norm((mine + shift)[:, None] - other, axis=2)
        for number, row in enumerate(distances):
            isClosest = distances[number] <= distances.min(axis=0) + 1e-9
            backward = row[isClosest].max(initial=0)
            expected.append(max(row.min(), backward))
        local, pairs = similarity.localDistances(mine, other, np.tile(shift, (12, 1)), 1e-9)
        assert local == pytest.approx(expected)
        for point, distance, pair in zip(mine, local, pairs, strict=True):
            partners = np.linalg.norm(point + shift - other, axis=1)
            at = np.linalg.norm(point - other, axis=1)[np.abs(partners - distance) < 1e-9]
            assert np.abs(at - pair).min() < 1e-9

    def testManyEqual(self):
        """All points of a circle are equally far from its center."""
        angles = np.radians(np.arange(0, 360, 5))
        circle = 3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        local, pairs = similarity.localDistances(np.zeros((1, 2)), circle, np.zeros((1, 2)), 1e-9)
        assert local == pytest.approx([3]) == pairs


class TestHandComputed:
    def testShiftedSquare(self):
        """A square moved by (3, 4) mm: every point is paired with its like, 5 mm away: exp(-25 / 200) = 0.882497."""
        result = measured(stack([square((5, 5), (14, 14))]), stack([square((8, 9), (17, 18))]))
        assert list(result) == KEYS
        assert result["MSI"].value == pytest.approx(0.882497, abs=1e-6)
        assert result["MSIPaired"].value == pytest.approx(0.882497, abs=1e-6)
        assert result["PairedDistance"].value == pytest.approx(5, abs=1e-9)
        assert result["MSI3D"].value == pytest.approx(0.882497, abs=1e-6)

    def testShiftedPixel(self):
        """One pixel against the third one beside it, pixels of 2 mm: exp(-36 / 200) = 0.835270."""
        one, other = (stack([square(at, at, 9)] * 2, spacing=(2, 2, 5)) for at in ((1, 4), (4, 4)))
        result = measured(one, other)
        assert result["MSI"].value == pytest.approx(0.835270, abs=1e-6)
        # the contour of a pixel: four diagonals of sqrt(2) mm in steps of at most 1 mm, 5.66 mm in 6
        assert [c.points for s in result.similarity.slices for c in s.contours] == [6, 6]
        # in pixels the distance is 3: exp(-9 / 200)
        inPixels = measured(one, other, msiUnit="pixel")
        assert inPixels["MSI"].value == pytest.approx(0.955997, abs=1e-6)
        assert inPixels["PairedDistance"].text() == "3.00 pixel"

    @pytest.mark.parametrize(("levels", "exponent"), [((1, 1), 1), ((1, 10), 100), ((10, 1), 1)])
    def testDiscs(self, levels, exponent):
        """Concentric circles of radius 10 and 12: 2 mm everywhere, outside: exp(-(2 ol)² / 200)."""
        angles = np.radians(np.arange(0, 360, 0.25))
        circles = [shapes.loops(r * np.stack([np.cos(angles), np.sin(angles)], axis=1)) for r in (10, 12)]
        result = measured(*circles, il=levels[0], ol=levels[1])
        assert result["MSI"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)
        assert result["PairedDistance"].value == pytest.approx(2, abs=2e-3)
        # the other way round the test lies inside
        other = measured(*circles[::-1], il=levels[1], ol=levels[0])
        assert other["MSI"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)
        assert other["MSI3D"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)

    def testDiscsOfPixels(self):
        """The same as masks, 24 against 20 mm: exp(-16 / 200) up to the roughness of pixels, at most half a one."""
        result = measured(stack([disc(20)] * 2), stack([disc(24)] * 2))
        assert math.exp(-(4.8**2) / 200) < result["MSI"].value < math.exp(-(3.5**2) / 200)

    @pytest.mark.parametrize(("levels", "exponent"), [((1, 1), 1), ((1, 5), 25)])
    def testBalls(self, levels, exponent):
        """Concentric balls of 20 and 24 mm: exp(-(4 ol)² / 200) on the surfaces; meshes have no slices."""
        result = measured(shapes.ballMesh(20), shapes.ballMesh(24), il=levels[0], ol=levels[1])
        assert result["MSI3D"].value == pytest.approx(math.exp(-16 * exponent / 200), rel=0.03)
        assert result["MSI"].status == "undefined" and "have no slices" in result["MSI"].reason
        assert result.similarity is None

    def testWeightedByArea(self):
        """Two elements, one three times as large: 0 mm and 10 mm away from theirs: (1 + 3 exp(-1/2)) / 4."""
        points, others = np.array([[0, 0, 0], [50, 0, 0.0]]), np.array([[0, 0, 0], [60, 0, 0.0]])
        # the reference's sizes are such that nothing is moved
        value = similarity.surfaceScore(
            points, np.array([1, 3.0]), others, np.array([3, 5.0]), Levels(), np.array([1, 1])
        )
        assert value == pytest.approx((1 + 3 * math.exp(-0.5)) / 4)

    def testMedians(self):
        """Slices moved by 0, 2 and 4 mm and one that the test lacks: scores 1, exp(-4/200), exp(-16/200), 0."""
        blank = np.zeros((30, 30))
        reference = stack([square((5, 5), (14, 14))] * 4)
        test = stack([*(square((5 + d, 5), (14 + d, 14)) for d in (0, 2, 4)), blank])
        result = measured(reference, test)
        small, large = math.exp(-16 / 200), math.exp(-4 / 200)
        assert [s.score for s in result.similarity.slices] == pytest.approx([1, large, small, 0])
        assert result["MSI"].value == pytest.approx((small + large) / 2)
        assert result["MSIPaired"].value == pytest.approx(large)
        assert result["PairedDistance"].value == pytest.approx(2)
        assert result["MSI"].reason == "1 of 4 slices cannot be paired and count as 0"
        assert result["MSIPaired"].reason == "1 of 4 slices cannot be paired and are left out"
        (finding,) = (f for f in result.findings if "Similarity" in f)
        assert "look at 3 (numbered from 0 along k)" in finding


class TestPublished:
    """Erratum: the authors' program gives points on the contour 0, looks from the reference, after the alignment."""

    def testIdenticalAndMoved(self):
        reference, moved = stack([square((5, 5), (14, 14))]), stack([square((7, 5), (16, 14))])
        assert measured(reference, reference)["MSI"].value == 1
        assert measured(reference, reference, asPublished=True)["MSI"].value == 0
        assert measured(reference, moved)["MSI"].value == pytest.approx(math.exp(-4 / 200))
        assert measured(reference, moved, asPublished=True)["MSI"].value == 0

    @pytest.mark.parametrize(("il", "ol"), [(1, 1), (1, 10), (10, 1)])
    def testConcentricSquares(self, il, ol):
        """5 x 5 pixels in the middle of 7 x 7: 16 boundary pixels of the reference, all in what the test goes around.

        The 12 that are no corners are 1 pixel from the test. A corner is 1 from two test pixels, but the test's corner,
        sqrt(2) away, has it as its closest one. So (12 exp(-ol²/200) + 4 exp(-2 ol²/200)) / 16. Pixels are 3 mm wide,
        which changes nothing.
        """
        reference, test = (
            stack([s] * 2, spacing=(3, 3, 5)) for s in (square((10, 10), (14, 14)), square((9, 9), (15, 15)))
        )
        result = measured(reference, test, asPublished=True, il=il, ol=ol)
        expected = (12 * math.exp(-(ol**2) / 200) + 4 * math.exp(-2 * ol**2 / 200)) / 16
        assert result["MSI"].value == pytest.approx(expected, abs=1e-9)
        assert result["PairedDistance"].text() == f"{(12 + 4 * math.sqrt(2)) / 16:.2f} pixel"
        assert result.similarity.unit == "pixel"
        # the definition averages over the 24 points of the test: 20 at 1 mm, 4 at sqrt(2)
        chains = [Contour(np.array(points, float)) for points in (ring(2), ring(3))]
        _, distances = similarity.localDistances(chains[1].points, chains[0].points, np.zeros((24, 2)), 1e-9)
        assert sorted(distances) == pytest.approx([1] * 20 + [math.sqrt(2)] * 4)

    def testSinglePixelsAndLines(self):
        """Chains without an inside: points on them score 0."""
        line = stack([square((5, 5), (14, 5))])
        pixel = stack([square((9, 9), (9, 9))])
        assert measured(line, line, asPublished=True)["MSI"].value == 0
        assert measured(pixel, pixel, asPublished=True)["MSI"].value == 0
        # the chain of a line of 10 pixels runs there and back: 18 pixels, the two ends once; the single pixel is 4
        # below it and 4 and 5 pixels from its ends
        away = np.hypot(np.arange(5, 15) - 9, 4)
        times = np.array([1, *[2] * 8, 1])
        result = measured(line, pixel, asPublished=True)
        assert result["MSI"].value == pytest.approx((times * np.exp(-(away**2) / 200)).sum() / 18)

    def testCornersConnectAndHolesAreNoContours(self):
        touching = square((5, 5), (9, 9)) | square((10, 10), (14, 14))
        assert len(slicecontours.chains(maskOf(touching), Planes(maskOf(touching).grid, 2, "pixel"))[0]) == 1
        holed = square((5, 5), (14, 14)) & ~square((8, 8), (10, 10))
        (chain,) = slicecontours.chains(maskOf(holed), Planes(maskOf(holed).grid, 2, "pixel"))[0]
        assert len(chain.points) == 36

    def testOnLine(self):
        """On a row, on a diagonal, beside both, on the row but behind its end, on the pixel of a chain of one."""
        start, end = np.array([[0, 0], [1, 0], [3, 3.0]]), np.array([[1, 0], [2, 1], [3, 3.0]])
        points = np.array([[0.4, 0], [1.7, 0.7], [1.7, 0.6], [5, 0], [3, 3.0]])
        assert publishedsimilarity.isOnLine(points, start, end).tolist() == [True, True, False, False, True]


def ring(half: int) -> list:
    """Return the boundary pixels of a square, in order."""
    side = list(range(-half, half))
    return (
        [(s, -half) for s in side]
        + [(half, s) for s in side]
        + [(-s, half) for s in side]
        + [(-half, -s) for s in side]
    )


class TestPairing:
    def testByCenters(self):
        """Two squares, each moved by its own way: the stored order does not matter, the closest centers do."""
        reference = stack([square((2, 2), (6, 6)) | square((20, 2), (24, 6))])
        test = stack([square((20, 3), (24, 7)) | square((4, 2), (8, 6))])
        (only,) = measured(reference, test).similarity.slices
        assert sorted(c.distance for c in only.contours) == pytest.approx([1, 2])
        assert only.score == pytest.approx((math.exp(-1 / 200) + math.exp(-4 / 200)) / 2)

    @pytest.mark.parametrize(
        ("mine", "other", "flag"),
        [
            (square((2, 2), (6, 6)), np.zeros((30, 30)), "only the reference has a contour here"),
            (np.zeros((30, 30)), square((2, 2), (6, 6)), "only the test has a contour here"),
            (
                square((2, 2), (6, 6)) | square((20, 2), (24, 6)),
                square((2, 2), (6, 6)),
                "the reference has 2 contours here, the test 1 contour",
            ),
            (
                square((2, 2), (6, 6)) | square((12, 2), (16, 6)),
                square((7, 2), (11, 6)) | square((25, 25), (28, 28)),
                "two contours of the reference are nearest to the same contour of the test",
            ),
            (
                square((2, 2), (12, 12)) & ~square((5, 5), (6, 6)),
                square((2, 2), (12, 12)),
                "the reference has 1 hole here, the test no holes",
            ),
        ],
    )
    def testFlagged(self, mine, other, flag):
        same = square((2, 2), (8, 8))
        result = measured(stack([same, mine, same]), stack([same, other, same]))
        flagged = result.similarity.slices[1]
        assert (flagged.flag, flagged.score, flagged.distance, flagged.contours) == (flag, 0, None, ())
        assert result["MSI"].value == 1 and result.similarity.flagged == (flagged,)

    def testAllFlagged(self):
        one, other = ([square((2, 2), (8, 8)), np.zeros((30, 30))] for _ in range(2))
        result = measured(stack(one), stack(other[::-1]))
        assert (result["MSI"].value, result["MSIPaired"].value) == (0, 0)
        assert result["PairedDistance"].status == "infinite"
        assert result["PairedDistance"].reason == "in no slice can the contours be paired"

    def testHoles(self):
        """A ring's hole is paired with the hole, and what lies in the hole lies outside.

        Both outer contours are the same. The test's hole is 2 pixels larger all around, so its contour lies inside the
        reference: 20 sides 2 mm away; only the inside level changes the score.
        """
        outer = square((2, 2), (27, 27))
        reference = stack([outer & ~square((12, 12), (17, 17))] * 2)
        test = stack([outer & ~square((10, 10), (19, 19))] * 2)
        plain, hard = (measured(reference, test, il=il, ol=1).similarity.slices[0].contours for il in (1, 5))
        assert [c.hole for c in plain] == [False, True]
        assert plain[0].score == hard[0].score == 1
        assert hard[1].score < 0.7 < math.exp(-(2.9**2) / 200) < plain[1].score < math.exp(-4 / 200) + 1e-9
        assert measured(reference, test, il=1, ol=5).similarity.slices[0].contours == plain

    def testPosition(self):
        """The center of the contour, in LPS mm, also of an oblique image."""
        direction = shapes.rotation((1, 2, 3), 25)
        geometry = {"spacing": (1, 1, 3), "origin": (5, -6, 7), "direction": direction}
        image = stack([np.zeros((30, 30)), square((5, 7), (14, 12))], **geometry)
        (only,) = measured(image, image).similarity.slices
        assert only.index == 1
        assert only.position == pytest.approx(image.TransformContinuousIndexToPhysicalPoint((9.5, 9.5, 1)))


class TestSplitting:
    # two discs of radius 8 joined by a neck, and apart
    joined = disc(8, (18, 30)) | disc(8, (42, 30)) | square((18, 28), (42, 32), 60)
    apart = disc(8, (18, 30)) | disc(8, (42, 30))

    @pytest.mark.parametrize("order", [1, -1])
    def testNeckIsCut(self, order):
        pair = [stack([self.joined] * 2), stack([self.apart] * 2)][::order]
        whole, cut = (measured(*pair, splitContours=split) for split in (False, True))
        assert whole["MSI"].value == 0 and len(whole.similarity.flagged) == 2
        assert not cut.similarity.flagged and cut["MSI"].value > 0.9
        assert all(len(s.contours) == 2 for s in cut.similarity.slices)

    def testNothingToEven(self):
        """Contours are cut only where their numbers differ, and only if that makes them equal."""
        for other in (self.joined, np.zeros((60, 60)), self.apart | disc(4, (30, 50))):
            pair = stack([self.joined]), stack([other])
            assert measured(*pair, splitContours=True).similarity == measured(*pair).similarity

    def testWhere(self):
        """The neck is 5 pixels wide; the cut is its width, and both parts keep their share of the area."""
        mask = maskOf(self.joined)
        planes = Planes(mask.grid, 2, "mm")
        (whole,) = slicecontours.ofMask(mask, planes)[0]
        parts = slicecontours.cutApart([whole], 2, planes.pixelArea)
        assert sum(p.area for p in parts) == pytest.approx(whole.area)
        assert [p.area for p in parts] == pytest.approx([whole.area / 2] * 2, rel=0.05)
        assert sum(p.lengths.sum() for p in parts) == pytest.approx(whole.lengths.sum() + 2 * 5)

    @pytest.mark.parametrize(
        "shape",
        [
            # a horseshoe has a single notch
            square((5, 5), (24, 24)) & ~square((10, 10), (19, 24)),
            # convex
            square((5, 5), (24, 24)),
            # at most 50 pixels
            square((5, 5), (8, 8)) | square((14, 5), (17, 8)) | square((9, 6), (13, 7)),
        ],
    )
    def testNotCut(self, shape):
        mask = maskOf(shape)
        found = slicecontours.ofMask(mask, Planes(mask.grid, 2, "mm"))[0]
        assert slicecontours.cutApart(found, 2, 1.0) == found


class TestContours:
    @pytest.mark.parametrize("seed", range(3))
    def testTracedAsMeasuredElsewhere(self, seed):
        """The segments are those of the contours of single slices, on a sheared and rotated grid."""
        axes = np.eye(4)
        axes[:3, :3] = (
            shapes.rotation((1, 2, 3), 50) @ np.diag([1, 1.5, 2]) @ np.array([[1, 0.3, 0], [0, 1, 0], [0, 0, 1]])
        )
        axes[:3, 3] = 10, 20, 30
        mask = maskOf(shapes.blob(seed, (17, 15, 4)), axes)
        planes = Planes(mask.grid, 2, "mm")
        for index, found in slicecontours.ofMask(mask, planes).items():
            plane = mask.grid.plane(index, 2)
            surface = meshing.fromMask(Mask.fromArray(mask.block([0, 0, index], [16, 14, index]), plane))
            expected = {frozenset(map(tuple, pair)) for pair in np.round(surface.points[surface.cells], 6).tolist()}
            lines = [(c.points[n], c.points[n - 1]) for c in found for n in range(len(c.points))]
            world = [[planes.toWorld(index, p) for p in line] for line in lines]
            assert {frozenset(map(tuple, pair)) for pair in np.round(world, 6).tolist()} == expected
            assert len(lines) == len(expected)
            area = sum(c.area for c in found)
            assert area == pytest.approx(surface.volume)

    @pytest.mark.parametrize("axis", [0, 1, 2])
    def testInside(self, axis):
        """The quick answer is that of the even-odd rule for the same contours."""
        mask = maskOf(shapes.blob(5, (9, 11, 8)), np.diag([1, 1.5, 2, 1]))
        planes = Planes(mask.grid, axis, "mm")
        generator = np.random.default_rng(0)
        for index, found in slicecontours.ofMask(mask, planes).items():
            points = generator.uniform(-3, 26, (300, 2))
            start = np.concatenate([c.points for c in found])
            end = start + np.concatenate([c.steps for c in found])
            expected = contours.insideContours(points, start, end)
            answer = slicecontours.isInside(mask, planes, points, np.full(len(points), index))
            assert (answer == expected).all() and 0 < expected.sum() < len(expected)

    def testSides(self):
        """Inside, outside, and on the contour, which runs half a pixel around the pixels' centers."""
        mask = maskOf(square((5, 5), (10, 10)))
        planes = Planes(mask.grid, 2, "mm")
        points = np.array([[7, 7], [7, 10.5], [7, 10.7], [10.25, 10.25], [10.4, 10.4], [-90, 7]])
        for inside in (
            lambda p, s: slicecontours.isInside(mask, planes, p, s),
            similarity.insidePolygons(slicecontours.ofMask(mask, planes)),
        ):
            found = similarity.sidesOf(points, np.zeros(len(points), int), inside, 1e-6)
            assert found.tolist() == [-1, 0, 1, 0, 1, 1]

    def testResampled(self):
        contour = Contour(np.array([[0, 0], [4, 0], [4, 2], [0, 2.0]]))
        assert contour.resampled(2.0).tolist() == [[0, 0], [2, 0], [4, 0], [4, 2], [2, 2], [0, 2]]
        # 12 mm in steps of at most 1.7 mm are 8 of 1.5 mm
        assert contour.resampled(1.7, start=1)[:3].tolist() == [[4, 0], [4, 1.5], [3, 2]]
        assert len(contour.resampled(100)) == 3
        assert contour.center.tolist() == [2, 1] and contour.area == 8 and not contour.isHole

    @pytest.mark.parametrize(
        ("spacing", "direction", "axis"),
        [
            ((1, 1, 3), np.eye(3), 2),
            ((3, 1, 1), np.eye(3), 0),
            ((0.977, 0.977, 0.8), np.eye(3), 2),
            ((1, 1.5, 1), np.eye(3), 1),
            ((1, 2, 1.5), np.eye(3), 1),
            ((1, 1, 1), np.eye(3), 2),
            ((1, 1, 1), np.eye(3)[[2, 0, 1]], 1),
            ((1, 1, 1), shapes.rotation((1, 2, 3), 30), 2),
        ],
    )
    def testSliceAxis(self, spacing, direction, axis):
        matrix = np.eye(4)
        matrix[:3, :3] = direction * spacing
        assert Grid((5, 6, 7), matrix).sliceAxis == axis
        assert Grid((1, 6, 7), matrix, planar=True).sliceAxis == 0


def lump(seed: int) -> np.ndarray:
    """Return a ball with bumps and dents [k, j, i], some of which are contours of their own in a slice."""
    from scipy.ndimage import gaussian_filter

    k, j, i = np.mgrid[-5:6, -10:11, -9:10]
    noise = gaussian_filter(np.random.default_rng(seed).standard_normal(k.shape), 1.5)
    return np.sqrt((k / 4) ** 2 + (j / 8) ** 2 + (i / 7) ** 2) < 0.9 + 2 * noise


BLOBS = [lump(seed) for seed in (1, 2)]
SPACINGS = [(1, 1.5, 2), (1, 1, 2.5), (1.5, 1.5, 1.5)]


def values(result) -> list[float]:
    return [result[key].value for key in KEYS]


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("settings", [{}, {"il": 2, "ol": 5}, {"il": 2, "ol": 5, "asPublished": True}], ids=str)
class TestInvariance:
    def testRigidMotion(self, spacing, settings):
        moved = {"spacing": spacing, "origin": (500, -300, 70), "direction": shapes.rotation((3, -1, 2), 40)}
        there = measured(*(shapes.imageOf(b, spacing) for b in BLOBS), **settings)
        here = measured(*(shapes.imageOf(b, **moved) for b in BLOBS), **settings)
        assert values(here) == pytest.approx(values(there), abs=1e-9)
        assert 0 < there["MSIPaired"].value < 1 and 0 < there["MSI3D"].value < 1

    @pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (1, 2, 0)])
    @pytest.mark.parametrize("turned", [(1, 1, 1), (-1, 1, -1), (1, -1, 1)])
    def testStoredOrderOfAxes(self, spacing, settings, order, turned):
        """The same voxels with the axes stored in another order and running the other way."""
        images = []
        for array in BLOBS:
            # [k, j, i] -> [i, j, k] and back
            turnedArray = array.T.transpose(order)[tuple(slice(None, None, t) for t in turned)]
            direction = np.eye(3)[:, list(order)] * turned
            newSpacing = np.array(spacing)[list(order)].astype(float)
            # where the first voxel of the new array lies
            size = np.array(array.T.shape)[list(order)]
            origin = direction @ (newSpacing * np.where(np.array(turned) < 0, -(size - 1), 0))
            images.append(shapes.imageOf(turnedArray.T.copy(), newSpacing.tolist(), origin.tolist(), direction))
        there = measured(*(shapes.imageOf(b, spacing) for b in BLOBS), **settings)
        here = measured(*images, **settings)
        # the diagonal of a cell of the surface depends on the order of the axes, contours do not
        assert values(here)[:3] == pytest.approx(values(there)[:3], abs=1e-9)
        assert values(here)[3] == pytest.approx(values(there)[3], abs=1e-2)


class TestInputs:
    def testWhereSurfacesTouchNoSideIsPunished(self):
        """The same surface as voxels and as a mesh: rounding must not decide whether a shared place is outside."""
        images = [shapes.imageOf(b, (1, 1, 2)) for b in BLOBS]
        mesh = toPolyData(meshing.fromMask(labelMasks(images[1], 0.5)[1]))
        voxels, mixed = (measured(images[0], test, il=2, ol=5)["MSI3D"].value for test in (images[1], mesh))
        assert mixed == pytest.approx(voxels, abs=1e-9)

    def testNotSymmetric(self):
        """The mean is over the test's points, so exchanging the two changes it a little, and the levels' meaning."""
        pair = [shapes.imageOf(b, (1, 1, 2)) for b in BLOBS]
        there, back = measured(*pair), measured(*pair[::-1])
        assert there["MSIPaired"].value != back["MSIPaired"].value
        assert there["MSIPaired"].value == pytest.approx(back["MSIPaired"].value, abs=0.1)

    def testImageEdge(self):
        """Contours are closed at the image edge: the same structure in a larger image has the same index."""
        pair = [square((0, 0), (14, 29)), square((0, 0), (17, 25))]
        small = measured(*(stack([s] * 2) for s in pair))
        large = measured(*(stack([np.pad(s, 4)] * 2, origin=(-4, -4, 0)) for s in pair))
        assert values(small) == pytest.approx(values(large), abs=1e-9) and 0 < small["MSI"].value < 1

    def testOneSliceIsTheSliceOfAVolume(self):
        pair = disc(12), disc(14, (33, 30))
        volume = measured(*(stack([s, s]) for s in pair), ol=3)
        for planar in (measured(*(shapes.imageOf(s) for s in pair), ol=3), measured(*(stack([s]) for s in pair), ol=3)):
            assert values(planar)[:3] == pytest.approx(values(volume)[:3], abs=1e-9)
            assert len(planar.similarity.slices) == 1

    def testGivenContoursAreThoseOfPixels(self):
        """Contours given as lines through the middles between pixels: the same but for how densely they are sampled."""
        masks = [
            square((5, 5), (14, 14)) & ~square((8, 8), (10, 10)),
            square((6, 4), (16, 14)) & ~square((8, 9), (11, 11)),
        ]
        lines = []
        for array in masks:
            mask = maskOf(array)
            found = slicecontours.ofMask(mask, Planes(mask.grid, 2, "mm"))[0]
            lines.append(shapes.loops(*(c.points for c in found)))
        asMasks, asLines = measured(*map(shapes.imageOf, masks), ol=4), measured(*lines, ol=4)
        assert values(asLines) == pytest.approx(values(asMasks), abs=0.03)
        assert [c.hole for c in asLines.similarity.slices[0].contours] == [False, True]
        for settings in ({"asPublished": True}, {"msiUnit": "pixel"}):
            assert measured(*lines, **settings)["MSI"].reason == "contours without an image have no pixels"

    def testDifferentPlanes(self):
        triangle = [(0, 0), (9, 0), (0, 9)]
        result = measured(shapes.loops(triangle), shapes.loops(triangle, z=5))
        assert {result[key].reason for key in KEYS} == {"the contours lie in different planes"}

    def testDifferentGrids(self):
        """The slices are the reference's; the test is brought there."""
        reference = shapes.ball(10, spacing=(1, 1, 2), origin=(-15, -15, -16), size=(31, 31, 17))
        test = shapes.ball(10, spacing=(0.5, 0.5, 1), origin=(-15, -15, -16), size=(61, 61, 33))
        result = measured(reference, test)
        assert [s.index for s in result.similarity.slices] == list(range(3, 14))
        assert result["MSI"].value > 0.99 and not result.similarity.flagged

    def testMeshOnImage(self):
        image, mesh = shapes.ball(10, spacing=(1, 1, 2), origin=(-15, -15, -16), size=(31, 31, 17)), shapes.ballMesh(10)
        for pair in ((image, mesh), (mesh, image)):
            result = measured(*pair)
            assert result["MSI"].value > 0.99 and result["MSI3D"].value > 0.99
            assert {s.index for s in result.similarity.slices} == set(range(3, 14))

    def testOpenMesh(self):
        """Without an inside a mesh cannot be drawn on slices, nor judged by two levels."""
        surface = meshing.fromPolyData(shapes.ballMesh(10))
        polyData = toPolyData(replace(surface, cells=surface.cells[1:]))
        image = shapes.ball(10, spacing=(1, 1, 2), origin=(-15, -15, -16), size=(31, 31, 17))
        result = measured(polyData, image, ol=2)
        assert "so it has no inside" in result["MSI"].reason and "so it has no inside" in result["MSI3D"].reason
        assert measured(polyData, image)["MSI3D"].value > 0.99

    def testThinnerThanVoxels(self):
        mesh = shapes.boxMesh((3.2, 3.2, 3.2), (3.4, 3.4, 3.4))
        result = measured(shapes.box((2, 2, 2), (6, 6, 6)), mesh)
        assert result["MSI"].reason == "the test encloses no voxel"

    @pytest.mark.parametrize("settings", [{}, {"asPublished": True}, {"splitContours": True, "ol": 3}])
    def testEmpty(self, settings):
        box, nothing = shapes.box((2, 2, 2), (6, 6, 6)), shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
        for pair, which in (((box, nothing), "test"), ((nothing, box), "reference")):
            result = measured(*pair, **settings)
            assert [result[key].value for key in KEYS] == [0, 0, math.inf, 0]
            assert {result[key].reason for key in KEYS} == {f"the {which} is empty"}
            assert result.similarity is None
        assert {m.status for m in measured(nothing, nothing, **settings).values()} == {"undefined"}

    def testNotByDefault(self):
        box = shapes.box((2, 2, 2), (6, 6, 6))
        result = compare(box, box)
        assert not set(KEYS) & set(result) and result.similarity is None
        assert "similarity" not in result.toDictionary()


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"il": 0}, "The inside level must be greater than 0 and at most 1000, not 0."),
            ({"ol": -1}, "The outside level must be greater than 0 and at most 1000, not -1."),
            ({"ol": "high"}, "The outside level must be a number, not 'high'."),
            ({"msiUnit": "voxel"}, "The unit of contour distances must be one of mm, pixel, not 'voxel'."),
            ({"asPublished": 1}, "Whether the similarity index is computed as published must be True or False, not 1."),
            ({"splitContours": None}, "Whether contours are split must be True or False, not None."),
        ],
    )
    def testRefused(self, given, message):
        with pytest.raises(ValueError) as caught:
            Settings(**given)
        assert str(caught.value) == message

    def testDefaults(self):
        settings = Settings()
        assert (settings.il, settings.ol, settings.asPublished, settings.msiUnit) == (1, 1, False, "mm")

    def testCommandLine(self):
        from SegmentMetricsLib.__main__ import makeParser
        from SegmentMetricsLib.commands.options import settingsFrom

        options = ["--metrics", "similarity", "--il", "2", "--ol", "10", "--as-published", "--msi-unit", "pixel"]
        given = makeParser().parse_args(["compare", "a", "b", "--output", "c", *options, "--split-contours"])
        settings = settingsFrom(given)
        assert settings == Settings(
            families="similarity", il=2, ol=10, asPublished=True, msiUnit="pixel", splitContours=True
        )


def testFiles():
    """The slices are in metrics.json, and come back from there."""
    result = measured(stack([disc(12), disc(9), disc(3)]), stack([disc(13), disc(9, (32, 30)), np.zeros((60, 60))]))
    data = json.loads(json.dumps(result.toDictionary(), allow_nan=False))
    first, _, last = data["similarity"]["slices"]
    assert data["similarity"]["axis"] == 2 and data["similarity"]["unit"] == "mm"
    assert first["score"] == result.similarity.slices[0].contours[0].score and len(first["position"]) == 3
    assert last == {
        **last,
        "index": 2,
        "flag": "only the reference has a contour here",
        "distance": None,
        "contours": [],
    }
    record = Record.fromDictionary(data)
    assert record.similarity == result.similarity and record.toDictionary() == data
