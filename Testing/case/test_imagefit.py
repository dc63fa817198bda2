"""Whether the image under the contours is theirs is said before anybody signs contours on another patient's CT."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes

from SegmentMetricsLib.case.findings.imagefit import aroundPairs, imageFindings
from SegmentMetricsLib.geometry.grids import Grid
from SegmentMetricsLib.metrics.findings import Kind
from SegmentMetricsLib.model import inputs
from SegmentMetricsLib.model.grayimages import GrayImage

BALL = replace(
    inputs.structureFromImage(shapes.ball(12), "Ball", None, 0.5), name="Ball", frameOfReference="1.2.3", patient="a"
)


def imageFrom(low: float, high: float, **told) -> GrayImage:
    matrix = np.diag([2.0, 2.0, 2.0, 1.0])
    matrix[:3, 3] = low
    size = int((high - low) / 2) + 1
    return GrayImage(np.zeros((size,) * 3, np.int16), Grid((size,) * 3, matrix), name="CT", **told)


@pytest.mark.parametrize(
    ("image", "kinds"),
    [
        (imageFrom(-30, 30, frameOfReference="1.2.3", patient="a"), []),
        (imageFrom(-30, 30), []),
        (imageFrom(-30, 30, frameOfReference="1.2.4", patient="a"), [Kind.IMAGE_IN_OTHER_FRAME]),
        (imageFrom(-30, 30, frameOfReference="scanner"), []),  # nothing that a UID can be compared with
        (imageFrom(-30, 30, patient="b"), [Kind.IMAGE_OF_OTHER]),
        (imageFrom(40, 90), [Kind.IMAGE_ELSEWHERE]),
        (imageFrom(-30, 6), [Kind.IMAGE_IN_PART]),
        (imageFrom(-12, 12), []),  # the surface is half a voxel outside the centers
    ],
)
def testWhatIsDoubtfulAboutAnImage(image, kinds):
    found = list(imageFindings(image, [(BALL, BALL)]))
    assert [finding.kind for finding in found] == kinds
    assert all("CT" in finding and "Ball" in finding for finding in found)
    # what is kept around the structures does not change that
    kept = aroundPairs(image, [(BALL, BALL)])
    assert [finding.kind for finding in imageFindings(kept, [(BALL, BALL)])] == kinds


@pytest.mark.parametrize(("height", "kinds"), [(0.0, [Kind.IMAGE_IN_PART]), (90.0, [Kind.IMAGE_ELSEWHERE])])
def testASingleSliceDoesNotCoverAVolume(height, kinds):
    matrix = np.diag([2.0, 2.0, 2.0, 1.0])
    matrix[:3, 3] = -30, -30, height
    image = GrayImage(np.zeros((1, 31, 31), np.int16), Grid((31, 31, 1), matrix, planar=True), name="CT")
    assert [finding.kind for finding in imageFindings(image, [(BALL, BALL)])] == kinds
