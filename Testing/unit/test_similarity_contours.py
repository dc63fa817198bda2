"""The contours of slices that the similarity index follows: traced, resampled, cut apart."""

from __future__ import annotations

import numpy as np
import pytest
import shapes
from similaritywork import disc, maskOf, measured, square, stack

from SegmentMetricsLib.geometry import meshing, slicecontours
from SegmentMetricsLib.geometry.crosssections import ofVoxels
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.geometry.masks import Mask
from SegmentMetricsLib.geometry.slicecontours import Contour, Planes
from SegmentMetricsLib.metrics import similarity


def contoursOf(mask, planes: Planes) -> dict[int, list[Contour]]:
    return slicecontours.ofSections(ofVoxels(mask, planes.axis), planes)


def isInside(mask, planes: Planes, positions: np.ndarray, slices: np.ndarray) -> np.ndarray:
    return ofVoxels(mask, planes.axis).contains(np.linalg.solve(planes.scale, positions.T).T, slices)


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

    def testHolesDoNotCountAsParts(self):
        """Both have a hole in one of the discs: two outer contours and a hole each, once the neck is cut."""
        hole = square((16, 28), (20, 32), 60)
        pair = stack([self.joined & ~hole]), stack([self.apart & ~hole])
        (only,) = measured(*pair, splitContours=True).similarity.slices
        assert not only.flag and sorted(c.hole for c in only.contours) == [False, False, True]

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
        found = contoursOf(mask, Planes(mask.grid, 2, "mm"))[0]
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
        for index, found in contoursOf(mask, planes).items():
            plane = mask.grid.plane(index, 2)
            surface = meshing.fromMask(Mask.fromArray(mask.block([0, 0, index], [16, 14, index]), plane))
            expected = {frozenset(map(tuple, pair)) for pair in np.round(surface.points[surface.cells], 6).tolist()}
            lines = [(c.points[n], c.points[n - 1]) for c in found for n in range(len(c.points))]
            world = [[planes.toWorld(index, p) for p in line] for line in lines]
            assert {frozenset(map(tuple, pair)) for pair in np.round(world, 6).tolist()} == expected
            assert len(lines) == len(expected)
            area = sum(c.area for c in found)
            assert area == pytest.approx(surface.volume)

    def testSides(self):
        """Inside, outside, and on the contour, which runs half a pixel around the pixels' centers."""
        mask = maskOf(square((5, 5), (10, 10)))
        planes = Planes(mask.grid, 2, "mm")
        points = np.array([[7, 7], [7, 10.5], [7, 10.7], [10.25, 10.25], [10.4, 10.4], [-90, 7]])
        for inside in (
            lambda p, s: isInside(mask, planes, p, s),
            similarity.insidePolygons(contoursOf(mask, planes)),
        ):
            found = similarity.sidesOf(points, np.zeros(len(points), int), inside, 1e-6)
            assert found.tolist() == [-1, 0, 1, 0, 1, 1]

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
