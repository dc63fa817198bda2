"""The Medical Similarity Index: values computed by hand, pairing, flagged slices."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import shapes
from findingwork import ofKind
from sayings import says
from scipy.spatial.distance import cdist
from vtkmodules.vtkFiltersModeling import vtkLinearSubdivisionFilter

from SegmentMetricsLib import Comparison, Settings, compare

KEYS = ["MSI", "MSIPaired", "PairedDistance", "MeanBLD", "MSI3D"]


def measured(reference, test, **settings):
    return compare(reference, test, Settings(families="similarity", **settings))


def values(result) -> list[float]:
    return [result[key].value for key in KEYS]


def stack(slices, **geometry):
    """Return the image of slices [j, i]."""
    return shapes.imageOf(np.array(slices, np.uint8), **geometry)


def disc(radius: float, center=(30, 30), size: int = 60) -> np.ndarray:
    j, i = np.mgrid[:size, :size]
    return np.hypot(i - center[0], j - center[1]) <= radius


def square(low, high, size: int = 30) -> np.ndarray:
    """Return the slice of a rectangle of pixels from low to high (i, j), both included."""
    array = np.zeros((size, size), bool)
    array[low[1] : high[1] + 1, low[0] : high[0] + 1] = True
    return array


SMALL, LARGE, NOTHING = square((2, 2), (6, 6)), square((2, 2), (12, 12)), np.zeros((30, 30), bool)


class TestHandComputed:
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
        angles = np.radians(np.arange(360))
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
        """One box, and the same with its triangles cut."""
        box, finer = shapes.boxMesh((0, 0, 0), (60, 40, 30)), vtkLinearSubdivisionFilter()
        finer.SetInputData(box)
        finer.Update()
        for pair in ((box, finer.GetOutput()), (finer.GetOutput(), box)):
            assert measured(*pair)["MSI3D"].value > 0.99

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
        for key in ("MSI", "MSIPaired"):
            says(result[key].reason, 1, 4)
        says(ofKind(result, "remark")[-1], 1, 4, "S 3.0 mm")


class TestPublished:
    """Erratum: the authors' formula gives points on the contour 0, looks from the reference, after the alignment."""

    def testIdenticalAndMoved(self):
        reference, moved = stack([square((5, 5), (14, 14))]), stack([square((7, 5), (16, 14))])
        assert measured(reference, reference)["MSI"].value == 1
        assert measured(reference, moved)["MSI"].value == pytest.approx(math.exp(-4 / 200))
        assert measured(reference, moved, asPublished=True)["MSI"].value == 0

    @pytest.mark.parametrize(("il", "ol"), [(1, 1), (1, 10), (10, 1)])
    def testConcentricSquares(self, il, ol):
        """5 x 5 pixels in the middle of 7 x 7: 16 boundary pixels of the reference, all in what the test goes around.

        The 12 that are no corners are 1 pixel from the test. A corner is 1 from two test pixels, but the test's corner,
        sqrt(2) away, has it as its closest one. So (12 exp(-ol²/200) + 4 exp(-2 ol²/200)) / 16. Pixels are 3 mm wide,
        which changes nothing.
        """
        squares = square((10, 10), (14, 14)), square((9, 9), (15, 15))
        reference, test = (stack([s] * 2, spacing=(3, 3, 5)) for s in squares)
        result = measured(reference, test, asPublished=True, il=il, ol=ol)
        expected = (12 * math.exp(-(ol**2) / 200) + 4 * math.exp(-2 * ol**2 / 200)) / 16
        assert result["MSI"].value == pytest.approx(expected, abs=1e-9)
        assert result["MeanBLD"].text() == f"{(12 + 4 * math.sqrt(2)) / 16:.2f} pixel"
        assert result.similarity.unit == "pixel"

    def testSinglePixelsAndLines(self):
        """Chains without an inside: points on them score 0, as on contours."""
        line, pixel = stack([square((5, 5), (14, 5))]), stack([square((9, 9), (9, 9))])
        for one in (line, pixel, stack([square((5, 5), (14, 14))])):
            assert measured(one, one, asPublished=True)["MSI"].value == 0
        # the chain of a line of 10 pixels runs there and back: 18 pixels, the two ends once; the single pixel is 4
        # below it and 4 and 5 pixels from its ends
        away = np.hypot(np.arange(5, 15) - 9, 4)
        times = np.array([1, *[2] * 8, 1])
        result = measured(line, pixel, asPublished=True)
        assert result["MSI"].value == pytest.approx((times * np.exp(-(away**2) / 200)).sum() / 18)


class TestPairing:
    def testByCenters(self):
        """Two squares, each moved by its own way: the stored order does not matter, the closest centers do."""
        reference = stack([square((2, 2), (6, 6)) | square((20, 2), (24, 6))])
        test = stack([square((20, 3), (24, 7)) | square((4, 2), (8, 6))])
        (only,) = measured(reference, test).similarity.slices
        assert sorted(c.meanBLD for c in only.contours) == pytest.approx([1, 2])
        assert only.score == pytest.approx((math.exp(-1 / 200) + math.exp(-4 / 200)) / 2)

    @pytest.mark.parametrize(
        ("mine", "other", "names"),
        [
            (SMALL, NOTHING, ["reference"]),
            (NOTHING, SMALL, ["test"]),
            (SMALL | square((20, 2), (24, 6)), SMALL, ["reference", "2", "test", "1"]),
            (LARGE & ~square((5, 5), (6, 6)), LARGE, ["reference", "1", "test"]),
            (
                SMALL | square((12, 2), (16, 6)),
                square((7, 2), (11, 6)) | square((25, 25), (28, 28)),
                ["reference", "test"],
            ),
        ],
    )
    def testFlagged(self, mine, other, names):
        same = square((2, 2), (8, 8))
        result = measured(stack([same, mine, same]), stack([same, other, same]))
        flagged = result.similarity.slices[1]
        assert (flagged.score, flagged.distance, flagged.contours) == (0, None, ())
        says(flagged.flag, *names)
        assert result["MSI"].value == 1 and result.similarity.flagged == (flagged,)

    def testAllFlagged(self):
        one, other = ([square((2, 2), (8, 8)), np.zeros((30, 30))] for _ in range(2))
        result = measured(stack(one), stack(other[::-1]))
        assert (result["MSI"].value, result["MSIPaired"].value) == (0, 0)
        assert result["PairedDistance"].status == "infinite" == result["MeanBLD"].status
        says(result["PairedDistance"].reason)

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


# The contours of slices that the similarity index follows: traced, resampled, cut apart


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
        pairs = [(self.joined, other) for other in (self.joined, np.zeros((60, 60)), self.apart | disc(4, (30, 50)))]
        # a horseshoe, which has a single notch; what is convex; what has at most 50 pixels
        horseshoe = square((5, 5), (24, 24), 60) & ~square((10, 10), (19, 24), 60)
        few = square((5, 5), (8, 8), 60) | square((14, 5), (17, 8), 60) | square((9, 6), (13, 7), 60)
        pairs += [(shape, self.apart) for shape in (horseshoe, square((5, 5), (24, 24), 60), few)]
        for one, other in pairs:
            pair = stack([one]), stack([other])
            assert measured(*pair, splitContours=True).similarity == measured(*pair).similarity

    def testHolesDoNotCountAsParts(self):
        """Both have a hole in one of the discs: two outer contours and a hole each, once the neck is cut."""
        hole = square((16, 28), (20, 32), 60)
        pair = stack([self.joined & ~hole]), stack([self.apart & ~hole])
        (only,) = measured(*pair, splitContours=True).similarity.slices
        assert not only.flag and sorted(c.hole for c in only.contours) == [False, False, True]


# Distances of contours that belong together: paired average Hausdorff distance, bidirectional local distances


def centered(side: float):
    """Return a square around the origin as lines."""
    h = side / 2
    return shapes.loops([(-h, -h), (h, -h), (h, h), (-h, h)])


class TestPairedDistance:
    def testConcentricSquares(self):
        """Sides of 10 and 14 mm.

        From the inner one 2 mm everywhere. From a side of the outer one 2 mm on 10 of 14 mm; beyond, sqrt(4 + t²) for t
        from 0 to 2, of which the integral is sqrt(8) + 2 asinh(1) at either end.
        """
        outward = (20 + 2 * (math.sqrt(8) + 2 * math.asinh(1))) / 14
        for pair in ((10, 14), (14, 10)):
            result = measured(*map(centered, pair), meshSpacing=0.1)
            assert result["PairedDistance"].value == pytest.approx((2 + outward) / 2, abs=2e-3)

    def testMedianOverContoursAndSlices(self):
        """Squares moved by 0, 2 and 4 pixels in one slice, equal ones in the next: medians of three and of two."""
        lows = [(2, 2), (2, 18), (18, 2)]
        moved = [(2, 2), (4, 18), (22, 2)]
        squares = ([square(low, (low[0] + 5, low[1] + 5)) for low in which] for which in (lows, moved))
        first, other = map(np.logical_or.reduce, squares)
        result = measured(stack([first, first]), stack([other, first]))
        one, two = result.similarity.slices
        assert one.distance == sorted(c.distance for c in one.contours)[1] > 0 == two.distance
        assert result["PairedDistance"].value == pytest.approx(one.distance / 2)


def byDefinition(points: np.ndarray, others: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return the bidirectional local distances (n,) of points as paired after a shift and measured before it."""
    apart = cdist(points + shift, others)
    pairs = apart.argmin(axis=1)
    largest = apart.min(axis=1)
    for number, nearest in enumerate(apart.argmin(axis=0)):
        if apart[nearest, number] > largest[nearest]:
            largest[nearest], pairs[nearest] = apart[nearest, number], number
    return np.linalg.norm(points - others[pairs], axis=1)


def testColumnsOfAProfile():
    """Slices moved by 0 and 3 pixels, and one that only the reference has."""
    one = square((5, 5), (14, 14))
    slices = [one, one, one], [one, square((8, 5), (17, 14)), np.zeros((30, 30))]
    images = [stack(some, spacing=(2, 2, 3)) for some in slices]
    for unit, key, moved in (("mm", "MeanBLD", 6), ("pixel", "MeanBLD_pixel", 3)):
        rows = compare(*images, Settings(families=("similarity", "slices"), msiUnit=unit)).slices
        assert [row.values[key] for row in rows] == pytest.approx([0, moved, math.inf], abs=1e-9)
        assert [row.values["MSI"] for row in rows] == pytest.approx([1, math.exp(-(moved**2) / 200), 0])


def ofSurfaces(reference, test, **settings):
    return compare(reference, test, Settings(families=("boundary", "similarity"), **settings))


class TestMap:
    def testConcentricBalls(self):
        small, large = (shapes.ballMesh(radius, resolution=24) for radius in (20, 24))
        comparison = ofSurfaces(small, large, meshSpacing=2)
        for side in ("reference", "test"):
            assert comparison.localDistances(side) == pytest.approx(4, abs=0.4)
        assert ofSurfaces(small, small, meshSpacing=2).localDistances("test") == pytest.approx(0, abs=1e-12)

    def testSpike(self):
        """The test has a needle 12 voxels long: the reference's distance below it is 0, its local distance is 12."""
        plain = shapes.box((8, 8, 10), (31, 31, 19), (40, 40, 40))
        comparison = ofSurfaces(plain, plain | shapes.box((20, 20, 20), (20, 20, 31), (40, 40, 40)))
        local = comparison.localDistances("reference")
        assert comparison["HD"].referenceToTest < 1.1 and 11 < local.max() < 13
        assert (local >= 0).all() and np.median(local) < 0.5

    def testAgainstTheDefinition(self):
        blobs = (shapes.imageOf(shapes.blob(n, (8, 9, 7)), (1, 1.1, 1.7), (2 * n, 0, n)) for n in (1, 2))
        comparison = ofSurfaces(*blobs, meshSpacing=100)
        one, other = comparison.reference.surface, comparison.test.surface
        centers = [s.sizes @ s.points[s.cells].mean(axis=1) / s.sizes.sum() for s in (one, other)]
        expected = byDefinition(one.points, other.points, centers[1] - centers[0])
        assert comparison.localDistances("reference") == pytest.approx(expected)


# The similarity index of all kinds of inputs, what does not change it, its settings and its record


class TestInputs:
    def testWhereSurfacesTouchNoSideIsPunished(self):
        """The same surface as voxels and as a mesh: rounding must not decide whether a shared place is outside."""
        images = [shapes.imageOf(np.pad(shapes.blob(n, (16, 14, 9), 0.4), 1), (1, 1, 2)) for n in (1, 2)]
        mesh = shapes.surfaceOf(images[1])
        voxels, mixed = (measured(images[0], test, il=2, ol=5)["MSI3D"].value for test in (images[1], mesh))
        assert mixed == pytest.approx(voxels, abs=1e-9)

    def testImageEdge(self):
        """Contours are closed at the image edge: the same structure in a larger image has the same index."""
        pair = square((0, 0), (14, 29)), square((0, 0), (17, 25))
        small, large = (measured(*(stack([np.pad(s, n)] * 2, origin=(-n, -n, 0)) for s in pair)) for n in (0, 4))
        assert values(small) == pytest.approx(values(large), abs=1e-9) and 0 < small["MSI"].value < 1

    def testOneSliceIsTheSliceOfAVolume(self):
        pair = disc(12), disc(14, (33, 30))
        volume = measured(*(stack([s, s]) for s in pair), ol=3)
        for planar in (measured(*(shapes.imageOf(s) for s in pair), ol=3), measured(*(stack([s]) for s in pair), ol=3)):
            assert values(planar)[:3] == pytest.approx(values(volume)[:3], abs=1e-9)
            assert len(planar.similarity.slices) == 1

    def testGivenContoursAreThoseOfPixels(self):
        """Contours given as lines through the middles between pixels: the same but for how densely they are sampled."""
        outer = square((5, 5), (14, 14)), square((6, 4), (16, 14))
        holes = square((8, 8), (10, 10)), square((8, 9), (11, 11))
        masks = [shapes.imageOf(one & ~hole) for one, hole in zip(outer, holes)]
        lines = [shapes.surfaceOf(image) for image in masks]
        asMasks, asLines = measured(*masks, ol=4), measured(*lines, ol=4)
        assert values(asLines) == pytest.approx(values(asMasks), abs=0.03)
        assert [c.hole for c in asLines.similarity.slices[0].contours] == [False, True]
        for settings in ({"asPublished": True}, {"msiUnit": "pixel"}):
            says(measured(*lines, **settings)["MSI"].reason)

    def testDifferentPlanes(self):
        triangle = [(0, 0), (9, 0), (0, 9)]
        result = measured(shapes.loops(triangle), shapes.loops(triangle, z=5))
        assert {result[key].reason for key in KEYS} == {says(result["MSI"].reason)}

    def testOpenMesh(self):
        """Without an inside a mesh cannot be drawn on slices, nor judged by two levels."""
        surface = compare(*[shapes.ballMesh(10)] * 2).reference.surface
        polyData = shapes.meshOf(surface.points, surface.cells[1:])
        image = shapes.ball(10, spacing=(1, 1, 2), origin=(-15, -15, -16), size=(31, 31, 17))
        result = measured(polyData, image, ol=2)
        assert {result[key].cause.name for key in ("MSI", "MSI3D")} == {"NOT_CLOSED"}
        assert measured(polyData, image)["MSI3D"].value > 0.99

    def testBetweenSlices(self):
        box, mesh = shapes.box((2, 2, 2), (6, 6, 6)), shapes.boxMesh((3.2, 3.2, 3.2), (3.4, 3.4, 3.4))
        for pair, which in (((box, mesh), "test"), ((mesh, box), "reference")):
            says(measured(*pair)["MSI"].reason, which)
        says(measured(box, mesh, asPublished=True)["MSI"].reason, "test")
        # thinner than a pixel, but a slice goes through it
        result = measured(box, shapes.boxMesh((3.2, 3.2, 2.8), (3.4, 3.4, 3.4)))
        assert [s.index for s in result.similarity.slices if not s.flag] == [3]


def testFiles():
    """The slices are in metrics.json, and come back from there."""
    result = measured(stack([disc(12), disc(9), disc(3)]), stack([disc(13), disc(9, (32, 30)), np.zeros((60, 60))]))
    data = json.loads(json.dumps(result.toDictionary(), allow_nan=False))
    assert [one["distance"] is None for one in data["similarity"]["slices"]] == [False, False, True]
    record = Comparison.fromDictionary(data)
    assert record.similarity == result.similarity and record.toDictionary() == data
