"""The Medical Similarity Index: values computed by hand, pairing, flagged slices."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapes
from similaritywork import KEYS, measured, square, stack
from vtkmodules.vtkFiltersModeling import vtkLinearSubdivisionFilter

from SegmentMetricsLib.geometry.slicecontours import Contour
from SegmentMetricsLib.metrics import similarity
from SegmentMetricsLib.metrics.similarity import Levels


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


class TestHandComputed:
    def testShiftedSquare(self):
        """A square moved by (3, 4) mm: every point is paired with its like, 5 mm away: exp(-25 / 200) = 0.882497."""
        result = measured(stack([square((5, 5), (14, 14))]), stack([square((8, 9), (17, 18))]))
        assert list(result) == KEYS
        assert result["MSI"].value == pytest.approx(0.882497, abs=1e-6)
        assert result["MSIPaired"].value == pytest.approx(0.882497, abs=1e-6)
        assert result["MeanBLD"].value == pytest.approx(5, abs=1e-9)
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
        assert inPixels["MeanBLD"].text() == "3.00 pixel"

    @pytest.mark.parametrize(("levels", "exponent"), [((1, 1), 1), ((1, 10), 100), ((10, 1), 1)])
    def testDiscs(self, levels, exponent):
        """Concentric circles of radius 10 and 12: 2 mm everywhere, outside: exp(-(2 ol)² / 200)."""
        angles = np.radians(np.arange(0, 360, 0.25))
        circles = [shapes.loops(r * np.stack([np.cos(angles), np.sin(angles)], axis=1)) for r in (10, 12)]
        result = measured(*circles, il=levels[0], ol=levels[1])
        assert result["MSI"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)
        assert result["MeanBLD"].value == pytest.approx(2, abs=2e-3)
        assert result["PairedDistance"].value == pytest.approx(2, abs=2e-3)
        # the other way round the test lies inside
        other = measured(*circles[::-1], il=levels[1], ol=levels[0])
        assert other["MSI"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)
        assert other["MSI3D"].value == pytest.approx(math.exp(-4 * exponent / 200), rel=1e-3)

    def testHowMeshesAreCutIntoTrianglesHardlyMatters(self):
        """One box, and the same with its triangles cut once and twice."""
        box = shapes.boxMesh((0, 0, 0), (60, 40, 30))
        for times in (1, 2):
            finer = vtkLinearSubdivisionFilter()
            finer.SetNumberOfSubdivisions(times)
            finer.SetInputData(box)
            finer.Update()
            for pair in ((box, finer.GetOutput()), (finer.GetOutput(), box)):
                assert measured(*pair)["MSI3D"].value > 0.99

    def testWeightedByArea(self):
        """Two elements, one three times as large: 0 mm and 10 mm away from theirs: (1 + 3 exp(-1/2)) / 4."""
        points, others = np.array([[0, 0, 0], [50, 0, 0.0]]), np.array([[0, 0, 0], [60, 0, 0.0]])
        # the reference's sizes are such that nothing is moved
        sizes, otherSizes, sides = np.array([1, 3.0]), np.array([3, 5.0]), np.array([1, 1])
        elements = similarity.PairedElements(points, sizes, others, otherSizes, sides)
        value = similarity.surfaceScore(elements, il=1, ol=1)
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
        assert result["MeanBLD"].value == pytest.approx(2)
        assert result["MSI"].reason == "1 of 4 slices cannot be paired and count as 0"
        assert result["MSIPaired"].reason == "1 of 4 slices cannot be paired and are left out"
        (finding,) = (f for f in result.findings if "Similarity" in f)
        assert "look at S 3.0 mm." in finding


class TestPublished:
    """Erratum: the authors' formula gives points on the contour 0, looks from the reference, after the alignment."""

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
        assert result["MeanBLD"].text() == f"{(12 + 4 * math.sqrt(2)) / 16:.2f} pixel"
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
        assert sorted(c.meanBLD for c in only.contours) == pytest.approx([1, 2])
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
        assert result["PairedDistance"].status == "infinite" == result["MeanBLD"].status
        assert result["PairedDistance"].reason == "in no slice can the contours be paired"

    def testHoles(self):
        """A ring's hole is paired with the hole, and what lies in the hole lies outside.

        Both outer contours are the same. The test's hole is 2 pixels larger all around, so its contour lies inside the
        reference: 20 sides 2 mm away; only the inside level changes the score.
        """
        outer = square((2, 2), (27, 27))
        reference = stack([outer & ~square((12, 12), (17, 17))] * 2)
        test = stack([outer & ~square((10, 10), (19, 19))] * 2)
        plain, hard = (measured(reference, test, il=il, ol=1).similarity.slices[0].contours for il in (1, 4.9))
        assert [c.hole for c in plain] == [False, True]
        assert plain[0].score == hard[0].score == 1
        assert hard[1].score < 0.7 < math.exp(-(2.9**2) / 200) < plain[1].score < math.exp(-4 / 200) + 1e-9
        assert measured(reference, test, il=1, ol=4.9).similarity.slices[0].contours == plain
