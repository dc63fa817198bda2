"""The outcome in one sentence, the side where most of it is, and records that come back from files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import shapes
from vtkmodules.vtkFiltersCore import vtkAppendPolyData
from vtkmodules.vtkFiltersSources import vtkSphereSource

from SegmentMetricsLib import Comparison, Settings, compare

NOTHING = shapes.imageOf(np.zeros((60, 60, 60), np.uint8))


def ball(radius=15, center=(0, 0, 0)):
    return shapes.ball(radius, center)


def hemisphere():
    source = vtkSphereSource()
    source.SetRadius(10)
    source.SetEndPhi(90)
    source.Update()
    return source.GetOutput()


def crossing():
    """Two balls that cut through each other in one mesh."""
    append = vtkAppendPolyData()
    for center in ((0, 0, 0), (8, 0, 0)):
        append.AddInputData(shapes.ballMesh(10, center))
    append.Update()
    return append.GetOutput()


BALL, LARGER = ball(), ball(18, (5, 0, 0))
SQUARE = shapes.loops([(0, 0), (20, 0), (20, 20), (0, 20)])
BULGED = shapes.loops([(0, 0), (20, 0), (20, 8), (26, 8), (26, 12), (20, 12), (20, 20), (0, 20)])
MESH = shapes.ballMesh(11, resolution=24)
BOXES = [shapes.box((8, 8, 2), (12, 12, 6)), *(shapes.box((8, 8, z), (12, 12, end)) for z, end in ((2, 7), (12, 16)))]


@pytest.mark.parametrize(("reference", "test", "settings", "sentence"), [
    (BALL, ball(center=(0, 0, -6)), {}, "DSC {DSC:.2f}, HD95 {HD95:.1f} mm, {NSD_2mm:.0%} of the surface within 2 mm; "
     "test has the same volume, over-contoured mostly inferiorly and under-contoured mostly superiorly."),
    (BALL, LARGER, {}, "...; test is 10.2 cm3 larger, over-contoured mostly on the left."),
    (LARGER, BALL, {}, "...; test is 10.2 cm3 smaller, under-contoured mostly on the left."),
    # a contour somewhere else is not over-contoured on one side
    (ball(8, (-20, 0, 0)), ball(9, (20, 0, 0)), {},
     "DSC 0, HD95 {HD95:.1f} mm, 0 % of the surface within 2 mm; test is 1.0 cm3 larger."),
    (BALL, BALL, {}, "The two contours are identical."),
    *((BALL, BALL, {"families": some}, "The two contours are identical.") for some in ("boundary", "overlap")),
    (BALL, NOTHING, {}, "Only the reference exists: the test is empty."),
    (NOTHING, BALL, {}, "Only the test exists: the reference is empty."),
    (NOTHING, NOTHING, {}, "Both contours are empty."),
    (*BOXES[::2], {"extent": "common"}, "Nothing was compared: the two contours have no common extent..."),
    (*BOXES[:2], {"extent": "common"}, "The two contours are identical."),
    (MESH, hemisphere(), {}, "HD95 {HD95:.1f} mm, {NSD_2mm:.0%} of the surface within 2 mm; "
     "a surface is not closed, so inside, outside and volumes are undefined."),
    # closed, but its parts cut through each other
    *((MESH, crossing(), {"families": some}, "...urface has a defect, so inside, outside and volumes are undefined.")
      for some in (Settings().families, "overlap", "agreement")),
    (MESH, crossing(), {"families": ("boundary", "overlap"), "convention": "MedPy"}, "A surface has a defect, ..."),
    (SQUARE, BULGED, {}, "... of the contour within 2 mm; test is 0.2 cm2 larger, over-contoured mostly on the left."),
    # only what was measured
    (BALL, LARGER, {"families": "instances"}, "None of 1 lesion missed."),
    (BALL, NOTHING, {"families": "instances"}, "Only the reference exists: the test is empty."),
    (BOXES[0], BOXES[2], {"families": "instances"}, "1 of 1 lesion missed, 1 invented."),
    (BALL, LARGER, {"families": "boundary"}, "HD95 ... mm."),
    (BALL, LARGER, {"families": "signed"}, "Test lies 2.9 mm outside on average, over-contoured mostly on the left."),
    (BALL, LARGER, {"families": "overlap"}, "DSC 0.70; test is 10.2 cm3 larger."),
])  # fmt: skip
def testSentences(reference, test, settings, sentence):
    comparison = compare(reference, test, Settings(**settings))
    expected = sentence.format(**comparison.numbers).replace("%", " %").replace("  %", " %")
    parts = map(re.escape, expected.split("..."))
    assert re.fullmatch(".*".join(parts), comparison.summary), comparison.summary
    record = comparison.record()
    assert record.summary == record.toDictionary()["summary"] == comparison.summary
    undefined = {one.cause.name for one in comparison.values() if one.status == "undefined" and one.cause}
    assert ("DEFECT" in undefined) == ("has a defect" in sentence)


def testACriticalStructureWithoutAnInsideIsNeitherOfTheTwo():
    result = compare(BALL, ball(18), Settings(families="hazard"), criticals={"cord": hemisphere()})
    assert "is not closed" in result["SIS"].reason
    assert result.summary == "The chosen measurements do not allow a summary."


class TestRecords:
    @pytest.mark.parametrize(
        "pair",
        [
            lambda: (ball(), ball(18, (5, 0, 0))),
            lambda: (ball(), NOTHING),
            lambda: (NOTHING, ball()),
            lambda: (NOTHING, NOTHING),
            lambda: (MESH, hemisphere()),
            lambda: (MESH, crossing()),
            lambda: (shapes.loops([(0, 0), (9, 0), (9, 9)]), shapes.loops([(0, 0), (12, 0), (12, 12)])),
        ],
    )
    def testTheyComeBackFromJson(self, pair):
        record = compare(*pair(), Settings(tolerances=(2, 0.5), percentiles=(95, 99.5))).record()
        written = json.loads(json.dumps(record.toDictionary(), allow_nan=False))
        back = Comparison.fromDictionary(written)
        assert back.toDictionary() == record.toDictionary()
        assert (back.name, back.findings, back.worstPlaces) == (record.name, record.findings, record.worstPlaces)
        for key, measurement in record.measurements.items():
            for name, value in vars(measurement).items():
                np.testing.assert_equal(getattr(back.measurements[key], name), value, err_msg=f"{key} {name}")

    @pytest.mark.parametrize("data", [{}, [], None, {"reference": {}}, "text"])
    def testSomethingElse(self, data):
        with pytest.raises(ValueError, match="not a comparison"):
            Comparison.fromDictionary(data)
