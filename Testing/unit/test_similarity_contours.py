"""The contours of slices that the similarity index follows: traced, resampled, cut apart."""

from __future__ import annotations

import numpy as np
import pytest
from similaritywork import disc, maskOf, measured, square, stack

from SegmentMetricsLib.geometry import slicecontours
from SegmentMetricsLib.geometry.crosssections import ofVoxels
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
