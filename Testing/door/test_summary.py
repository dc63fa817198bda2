"""The outcome in one sentence, the side where most of it is, and records that come back from files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapes
from sayings import refused, says

from SegmentMetricsLib import Comparison, Settings, compare

NOTHING = shapes.imageOf(np.zeros((60, 60, 60), np.uint8))

BALL, LARGER = shapes.ball(15), shapes.ball(18, (5, 0, 0))
SQUARE = shapes.loops([(0, 0), (20, 0), (20, 20), (0, 20)])
BULGED = shapes.loops([(0, 0), (20, 0), (20, 8), (26, 8), (26, 12), (20, 12), (20, 20), (0, 20)])
MESH = shapes.ballMesh(11, resolution=24)
# of two balls that cut through each other
CROSSING = shapes.append(*(shapes.ballMesh(10, (x, 0, 0)) for x in (0, 8)))
BOXES = [shapes.box((8, 8, 2), (12, 12, 6)), *(shapes.box((8, 8, z), (12, 12, end)) for z, end in ((2, 7), (12, 16)))]


DISTANCES = "HD95 {HD95:.1f} mm", "{NSD_2mm:.0%}", "2 mm"
# Two structures, settings, and what the sentence tells.
SENTENCES = [
    (BALL, shapes.ball(15, (0, 0, -6)), {}, ["DSC {DSC:.2f}", *DISTANCES]),
    (BALL, LARGER, {}, ["10.2 cm3"]),
    (LARGER, BALL, {}, ["10.2 cm3"]),
    # a contour somewhere else is not over-contoured on one side
    (shapes.ball(8, (-20, 0, 0)), shapes.ball(9, (20, 0, 0)), {}, ["DSC 0", *DISTANCES, "1.0 cm3"]),
    (BALL, BALL, {}, []),
    *((BALL, BALL, {"families": some}, []) for some in ("boundary", "overlap")),
    (BALL, NOTHING, {}, ["reference", "test"]),
    (NOTHING, BALL, {}, ["test", "reference"]),
    (NOTHING, NOTHING, {}, []),
    (*BOXES[::2], {"extent": "common"}, []),
    (*BOXES[:2], {"extent": "common"}, []),
    (MESH, shapes.openBox(), {}, DISTANCES),
    # closed, but its parts cut through each other
    (MESH, CROSSING, {}, []),
    *((MESH, CROSSING, {"families": one}, []) for one in ("overlap", "agreement")),
    (MESH, CROSSING, {"families": ("boundary", "overlap"), "convention": "MedPy"}, []),
    (SQUARE, BULGED, {}, ["2 mm", "0.2 cm2"]),
    # only what was measured
    (BALL, LARGER, {"families": "instances"}, ["1"]),
    (BALL, NOTHING, {"families": "instances"}, ["reference", "test"]),
    (BOXES[0], BOXES[2], {"families": "instances"}, ["1"]),
    (BALL, LARGER, {"families": "boundary"}, ["HD95 {HD95:.1f} mm"]),
    (BALL, LARGER, {"families": "signed"}, ["2.9 mm"]),
    (BALL, LARGER, {"families": "overlap"}, ["DSC 0.70", "10.2 cm3"]),
]


@pytest.mark.parametrize(("reference", "test", "settings", "names"), SENTENCES)
def testSentencesAndRecords(reference, test, settings, names):
    comparison = compare(reference, test, Settings(**settings))
    says(comparison.summary, *(name.format(**comparison.numbers).replace("%", " %") for name in names))
    undefined = {one.cause.name for one in comparison.values() if one.status == "undefined" and one.cause}
    assert ("DEFECT" in undefined) == (test is CROSSING)
    # as it comes back from a file
    record = comparison.record()
    back = Comparison.fromDictionary(json.loads(json.dumps(record.toDictionary(), allow_nan=False)))
    assert back.toDictionary() == record.toDictionary() and back.summary == record.summary == comparison.summary
    assert (back.name, back.findings, back.worstPlaces) == (record.name, record.findings, record.worstPlaces)
    for key, measurement in record.measurements.items():
        for name, value in vars(measurement).items():
            np.testing.assert_equal(getattr(back.measurements[key], name), value, err_msg=f"{key} {name}")


def testACriticalStructureWithoutAnInsideIsNeitherOfTheTwo():
    result = compare(BALL, shapes.ball(18), Settings(families="hazard"), criticals={"cord": shapes.openBox()})
    says(result["SIS"].reason, *(one.name for one in result.criticals))
    assert [one.name for one in result.criticals] == ["cord"]
    says(result.summary)


@pytest.mark.parametrize("data", [{}, [], None, {"reference": {}}, "text"])
def testWhatIsNoRecord(data):
    with refused():
        Comparison.fromDictionary(data)
