"""The outcome in one sentence, the side where most of it is, and records that come back from files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import shapes

from SegmentMetricsLib import Comparison, Settings, compare

NOTHING = shapes.imageOf(np.zeros((60, 60, 60), np.uint8))


def ball(radius=15, center=(0, 0, 0)):
    return shapes.ball(radius, center)


BALL, LARGER = ball(), ball(18, (5, 0, 0))
SQUARE = shapes.loops([(0, 0), (20, 0), (20, 20), (0, 20)])
BULGED = shapes.loops([(0, 0), (20, 0), (20, 8), (26, 8), (26, 12), (20, 12), (20, 20), (0, 20)])
MESH = shapes.ballMesh(11, resolution=24)
# of two balls that cut through each other
CROSSING = shapes.append(*(shapes.ballMesh(10, (x, 0, 0)) for x in (0, 8)))
BOXES = [shapes.box((8, 8, 2), (12, 12, 6)), *(shapes.box((8, 8, z), (12, 12, end)) for z, end in ((2, 7), (12, 16)))]


NEAR = "DSC {DSC:.2f}, HD95 {HD95:.1f} mm, {NSD_2mm:.0%} of the surface within 2 mm; test has the same volume, "
BOTH_SIDES = "over-contoured mostly inferiorly and under-contoured mostly superiorly."
LEFT, UNDEFINED = "over-contoured mostly on the left.", "so inside, outside and volumes are undefined."
DISTANCES = "HD95 {HD95:.1f} mm, {NSD_2mm:.0%} of the surface within 2 mm; "
# Two structures, settings, and the sentence, in which ... stands for anything.
SENTENCES = [
    (BALL, ball(center=(0, 0, -6)), {}, NEAR + BOTH_SIDES),
    (BALL, LARGER, {}, f"...; test is 10.2 cm3 larger, {LEFT}"),
    (LARGER, BALL, {}, "...; test is 10.2 cm3 smaller, under-contoured mostly on the left."),
    # a contour somewhere else is not over-contoured on one side
    (ball(8, (-20, 0, 0)), ball(9, (20, 0, 0)), {}, f"DSC 0, {DISTANCES}test is 1.0 cm3 larger."),
    (BALL, BALL, {}, "The two contours are identical."),
    *((BALL, BALL, {"families": some}, "The two contours are identical.") for some in ("boundary", "overlap")),
    (BALL, NOTHING, {}, "Only the reference exists: the test is empty."),
    (NOTHING, BALL, {}, "Only the test exists: the reference is empty."),
    (NOTHING, NOTHING, {}, "Both contours are empty."),
    (*BOXES[::2], {"extent": "common"}, "Nothing was compared: the two contours have no common extent..."),
    (*BOXES[:2], {"extent": "common"}, "The two contours are identical."),
    (MESH, shapes.openBox(), {}, f"{DISTANCES}a surface ..., {UNDEFINED}"),
    # closed, but its parts cut through each other
    (MESH, CROSSING, {}, f"...urface has a defect, {UNDEFINED}"),
    *((MESH, CROSSING, {"families": one}, f"...urface has a defect, {UNDEFINED}") for one in ("overlap", "agreement")),
    (MESH, CROSSING, {"families": ("boundary", "overlap"), "convention": "MedPy"}, "A surface has a defect, ..."),
    (SQUARE, BULGED, {}, f"... of the contour within 2 mm; test is 0.2 cm2 larger, {LEFT}"),
    # only what was measured
    (BALL, LARGER, {"families": "instances"}, "None of 1 lesion missed."),
    (BALL, NOTHING, {"families": "instances"}, "Only the reference exists: the test is empty."),
    (BOXES[0], BOXES[2], {"families": "instances"}, "1 of 1 lesion missed, 1 invented."),
    (BALL, LARGER, {"families": "boundary"}, "HD95 ... mm."),
    (BALL, LARGER, {"families": "signed"}, f"Test lies 2.9 mm outside on average, {LEFT}"),
    (BALL, LARGER, {"families": "overlap"}, "DSC 0.70; test is 10.2 cm3 larger."),
]


@pytest.mark.parametrize(("reference", "test", "settings", "sentence"), SENTENCES)
def testSentencesAndRecords(reference, test, settings, sentence):
    comparison = compare(reference, test, Settings(**settings))
    expected = sentence.format(**comparison.numbers).replace("%", " %").replace("  %", " %")
    parts = map(re.escape, expected.split("..."))
    assert re.fullmatch(".*".join(parts), comparison.summary), comparison.summary
    undefined = {one.cause.name for one in comparison.values() if one.status == "undefined" and one.cause}
    assert ("DEFECT" in undefined) == ("has a defect" in sentence)
    # as it comes back from a file
    record = comparison.record()
    back = Comparison.fromDictionary(json.loads(json.dumps(record.toDictionary(), allow_nan=False)))
    assert back.toDictionary() == record.toDictionary() and back.summary == record.summary == comparison.summary
    assert (back.name, back.findings, back.worstPlaces) == (record.name, record.findings, record.worstPlaces)
    for key, measurement in record.measurements.items():
        for name, value in vars(measurement).items():
            np.testing.assert_equal(getattr(back.measurements[key], name), value, err_msg=f"{key} {name}")


def testACriticalStructureWithoutAnInsideIsNeitherOfTheTwo():
    result = compare(BALL, ball(18), Settings(families="hazard"), criticals={"cord": shapes.openBox()})
    assert "cord" in result["SIS"].reason
    assert result.summary == "The chosen measurements do not allow a summary."


@pytest.mark.parametrize("data", [{}, [], None, {"reference": {}}, "text"])
def testWhatIsNoRecord(data):
    with pytest.raises(ValueError, match="not a comparison"):
        Comparison.fromDictionary(data)
