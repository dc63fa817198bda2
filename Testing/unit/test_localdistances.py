"""Distances of contours that belong together: paired average Hausdorff distance, bidirectional local distances."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
import reference
import shapes
import SimpleITK
from scipy.spatial.distance import cdist
from similaritywork import disc, measured, square, stack
from vtkmodules.util.numpy_support import vtk_to_numpy

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.plain import fromPlain, toPlain
from SegmentMetricsLib.geometry.meshing import fromPolyData
from SegmentMetricsLib.metrics.similarity import localDistancesAt
from SegmentMetricsLib.metrics.slices import SliceRow
from SegmentMetricsLib.show.writing import measuredSurfaces

# Label -> paired average Hausdorff distance and mean bidirectional local distance in mm.
ORGANS = {5: (0.70, 1.43), 1: (0.52, 0.86), 2: (0.69, 1.22), 6: (0.83, 1.67), 7: (1.18, 2.30)}


def centered(side: float):
    """Return a square around the origin as lines."""
    h = side / 2
    return shapes.loops([(-h, -h), (h, -h), (h, h), (-h, h)])


def organs():
    return [
        SimpleITK.ReadImage(str(reference.FOLDER / "data" / f"organs_{side}.nii.gz")) for side in ("reference", "test")
    ]


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
        first, other = (
            np.logical_or.reduce([square(low, (low[0] + 5, low[1] + 5)) for low in which]) for which in (lows, moved)
        )
        result = measured(stack([first, first]), stack([other, first]))
        one, two = result.similarity.slices
        assert one.distance == sorted(c.distance for c in one.contours)[1] > 0 == two.distance
        assert result["PairedDistance"].value == pytest.approx(one.distance / 2)

    @reference.needsReference
    @pytest.mark.nightly
    @pytest.mark.parametrize("label", ORGANS)
    def testOrgans(self, label):
        """The same from contours traced by scikit-image, and from the distances of densely spaced points."""
        measure = pytest.importorskip("skimage.measure", reason="needs scikit-image")
        images = organs()
        result = compare(*images, Settings(families="similarity"), label=label)
        distances = []
        for k in range(images[0].GetSize()[2]):
            contours = []
            for image in images:
                mask = np.pad(SimpleITK.GetArrayViewFromImage(image)[k] == label, 1).astype(float)
                contours.append([3 * c for c in measure.find_contours(mask, 0.5, fully_connected="low")])
            if len(contours[0]) == len(contours[1]) == 1:
                points = [densely(contour, 0.05) for (contour,) in contours]
                distances.append((directed(*points) + directed(*points[::-1])) / 2)
        single = [s for s in result.similarity.slices if len(s.contours) == 1]
        assert len(single) == len(distances) > 3
        assert [s.distance for s in single] == pytest.approx(distances, abs=0.02)
        values = result["PairedDistance"].value, result["MeanBLD"].value
        assert values == pytest.approx(ORGANS[label], abs=0.02 / 2)
        assert values[0] == median(s.distance for s in result.similarity.paired)


def densely(line: np.ndarray, step: float) -> np.ndarray:
    """Return points (m, 2) along a closed line (n, 2) whose last point is the first."""
    ends = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.arange(0, ends[-1], step)
    return np.stack([np.interp(at, ends, line[:, axis]) for axis in (0, 1)], axis=1)


def directed(points: np.ndarray, others: np.ndarray) -> float:
    return float(np.mean([cdist(part, others).min(axis=1).mean() for part in np.array_split(points, 50)]))


def byDefinition(points: np.ndarray, others: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return the bidirectional local distances (n,) of points as paired after a shift and measured before it."""
    apart = cdist(points + shift, others)
    pairs = apart.argmin(axis=1)
    largest = apart.min(axis=1)
    for number, nearest in enumerate(apart.argmin(axis=0)):
        if apart[nearest, number] > largest[nearest]:
            largest[nearest], pairs[nearest] = apart[nearest, number], number
    return np.linalg.norm(points - others[pairs], axis=1)


class TestHighLevels:
    @pytest.mark.parametrize("level", [5, 10, 20])
    def testIntegralAlongTheContour(self, level):
        """Against equations 1 to 4 and 10 for many times as many points, wherever these begin."""
        spacing = 3.0
        masks = disc(7.3), disc(7.3, (31, 30)) | disc(3, (36, 35))
        images = [stack([mask] * 2, spacing=(spacing, spacing, 3)) for mask in masks]
        (found, _) = measured(*images, il=level, ol=level).similarity.slices
        scores = []
        measure = pytest.importorskip("skimage.measure", reason="needs scikit-image")
        lines = [spacing * measure.find_contours(m.astype(float), 0.5, fully_connected="low")[0] for m in masks]
        for start in (0, 137):
            mine, other = (densely(line, 0.05) for line in lines)
            mine = np.roll(mine, start, axis=0)
            shift = mine.mean(axis=0) - other.mean(axis=0)
            distances = byDefinition(other, mine, shift)
            scores.append(np.exp(-((distances * level / 10) ** 2) / 2).mean())
        assert [found.score] * 2 == pytest.approx(scores, abs=0.01)


class TestProfile:
    def testColumns(self):
        """Slices moved by 0 and 3 pixels, and one that only the reference has."""
        one = square((5, 5), (14, 14))
        images = [
            stack(slices, spacing=(2, 2, 3))
            for slices in ([one, one, one], [one, square((8, 5), (17, 14)), np.zeros((30, 30))])
        ]
        for unit, key, moved in (("mm", "MeanBLD", 6), ("pixel", "MeanBLD_pixel", 3)):
            rows = compare(*images, Settings(families=("similarity", "slices"), msiUnit=unit)).slices
            assert [row.values[key] for row in rows] == pytest.approx([0, moved, math.inf], abs=1e-9)
            assert [row.values["MSI"] for row in rows] == pytest.approx([1, math.exp(-(moved**2) / 200), 0])
            assert [fromPlain(SliceRow, toPlain(row)) for row in rows] == list(rows)


class TestMap:
    def testConcentricBalls(self):
        small, large = (fromPolyData(shapes.ballMesh(radius)) for radius in (20, 24))
        for pair in ((small, large), (large, small)):
            assert localDistancesAt(*pair, 2.0) == pytest.approx(4, abs=0.4)
        assert localDistancesAt(small, small, 2.0) == pytest.approx(0, abs=1e-12)

    def testSpike(self):
        """The test has a needle 12 voxels long: the reference's distance below it is 0, its local distance is 12."""
        plain = np.zeros((40, 40, 40), np.uint8)
        plain[10:20, 8:32, 8:32] = 1
        needle = plain.copy()
        needle[20:32, 20, 20] = 1
        images = [shapes.imageOf(array) for array in (plain, needle)]
        comparison = compare(*images, Settings(families=("boundary", "similarity")))
        arrays = measuredSurfaces(comparison).GetPointData()
        distance, local, side = (vtk_to_numpy(arrays.GetArray(name)) for name in ("Distance", "BLD", "Side"))
        assert distance[side == 0].max() < 1.1 and 11 < local[side == 0].max() < 13
        assert (local >= 0).all() and np.median(local[side == 0]) < 0.5

    def testAgainstTheDefinition(self):
        one, other = (
            fromPolyData(shapes.boxMesh(*corners)) for corners in (((0, 0, 0), (6, 5, 4)), ((1, 0, 0), (8, 6, 5)))
        )
        whole, others = one, other
        found = localDistancesAt(whole, others, 100.0)
        centers = [s.sizes @ s.points[s.cells].mean(axis=1) / s.sizes.sum() for s in (one, other)]
        assert found == pytest.approx(byDefinition(one.points, other.points, centers[1] - centers[0]))
