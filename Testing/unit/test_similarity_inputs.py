"""The similarity index of all kinds of inputs, what does not change it, its settings and its record."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import shapes
from similaritywork import KEYS, disc, maskOf, measured, square, stack, values

from SegmentMetricsLib.case.comparison import Comparison
from SegmentMetricsLib.geometry import meshing, slicecontours
from SegmentMetricsLib.geometry.crosssections import ofVoxels
from SegmentMetricsLib.geometry.slicecontours import Planes
from SegmentMetricsLib.geometry.surfaces import toPolyData
from SegmentMetricsLib.model.inputs import labelMasks


def lump(seed: int) -> np.ndarray:
    """Return a ball with bumps and dents [k, j, i], some of which are contours of their own in a slice."""
    from scipy.ndimage import gaussian_filter

    k, j, i = np.mgrid[-5:6, -10:11, -9:10]
    noise = gaussian_filter(np.random.default_rng(seed).standard_normal(k.shape), 1.5)
    return np.sqrt((k / 4) ** 2 + (j / 8) ** 2 + (i / 7) ** 2) < 0.9 + 2 * noise


BLOBS = [lump(seed) for seed in (1, 2)]


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
            found = slicecontours.ofSections(ofVoxels(mask), Planes(mask.grid, 2, "mm"))[0]
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

    def testOpenMesh(self):
        """Without an inside a mesh cannot be drawn on slices, nor judged by two levels."""
        surface = meshing.fromPolyData(shapes.ballMesh(10))
        polyData = toPolyData(replace(surface, cells=surface.cells[1:]))
        image = shapes.ball(10, spacing=(1, 1, 2), origin=(-15, -15, -16), size=(31, 31, 17))
        result = measured(polyData, image, ol=2)
        assert "so it has no inside" in result["MSI"].reason and "so it has no inside" in result["MSI3D"].reason
        assert measured(polyData, image)["MSI3D"].value > 0.99

    def testBetweenSlices(self):
        box, mesh = shapes.box((2, 2, 2), (6, 6, 6)), shapes.boxMesh((3.2, 3.2, 3.2), (3.4, 3.4, 3.4))
        for pair, which in (((box, mesh), "test"), ((mesh, box), "reference")):
            assert measured(*pair)["MSI"].reason == f"no slice of the image goes through the {which}"
        assert measured(box, mesh, asPublished=True)["MSI"].reason == "the test encloses no voxel"
        # thinner than a pixel, but a slice goes through it
        result = measured(box, shapes.boxMesh((3.2, 3.2, 2.8), (3.4, 3.4, 3.4)))
        assert [s.index for s in result.similarity.slices if not s.flag] == [3]

    @pytest.mark.parametrize("settings", [{}, {"asPublished": True}, {"splitContours": True, "ol": 3}])
    def testEmpty(self, settings):
        box, nothing = shapes.box((2, 2, 2), (6, 6, 6)), shapes.imageOf(np.zeros((24, 24, 24), np.uint8))
        for pair, which in (((box, nothing), "test"), ((nothing, box), "reference")):
            result = measured(*pair, **settings)
            assert [result[key].value for key in KEYS] == [0, 0, math.inf, math.inf, 0]
            assert {result[key].reason for key in KEYS} == {f"the {which} is empty"}
            assert result.similarity is None
        assert {m.status for m in measured(nothing, nothing, **settings).values()} == {"undefined"}


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
    record = Comparison.fromDictionary(data)
    assert record.similarity == result.similarity and record.toDictionary() == data
