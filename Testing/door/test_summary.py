"""The outcome in one sentence, the side where most of it is, and records that come back from files."""

from __future__ import annotations

import json

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


def testNothingInCommonIsNoSummaryOfNumbers():
    apart = shapes.box((8, 8, 2), (12, 12, 6)), shapes.box((8, 8, 12), (12, 12, 16))
    settings = Settings(extent="common")
    assert compare(*apart, settings).summary.startswith("Nothing was compared: the two contours have no common extent")
    assert compare(apart[0], shapes.box((8, 8, 2), (12, 12, 7)), settings).summary == "The two contours are identical."


class TestSentence:
    def testAShiftHasTwoSides(self):
        comparison = compare(ball(), ball(center=(0, 0, -6)))
        near = f"{100 * comparison['NSD_2mm'].value:.0f} %"
        assert comparison.summary == (
            f"DSC {comparison['DSC'].value:.2f}, HD95 {comparison['HD95'].value:.1f} mm, {near} of the surface within "
            "2 mm; test has the same volume, over-contoured mostly inferiorly and under-contoured mostly superiorly."
        )

    def testLargerAndToOneSide(self):
        comparison = compare(ball(), ball(18, (5, 0, 0)))
        volume = comparison["VolumeDifference"].value / 1000
        assert comparison.summary.endswith(f"; test is {volume:.1f} cm3 larger, over-contoured mostly on the left.")
        assert compare(ball(18, (5, 0, 0)), ball()).summary.endswith(
            f"; test is {volume:.1f} cm3 smaller, under-contoured mostly on the left."
        )

    def testNoDirectionsWithoutOverlap(self):
        """A contour somewhere else is not over-contoured on one side."""
        result = compare(ball(8, (-20, 0, 0)), ball(9, (20, 0, 0)))
        assert result.summary.startswith("DSC 0, HD95 4") and result.summary.endswith(
            " 0 % of the surface within 2 mm; test is 1.0 cm3 larger."
        )

    def testIdentical(self):
        for settings in (Settings(), Settings(families="boundary"), Settings(families="overlap")):
            assert compare(ball(), ball(), settings).summary == "The two contours are identical."

    def testEmpty(self):
        assert compare(ball(), NOTHING).summary == "Only the reference exists: the test is empty."
        assert compare(NOTHING, ball()).summary == "Only the test exists: the reference is empty."
        assert compare(NOTHING, NOTHING).summary == "Both contours are empty."

    def testOpenSurface(self):
        summary = compare(shapes.ballMesh(11, resolution=24), hemisphere()).summary
        assert summary.startswith("HD95 ") and " of the surface within 2 mm" in summary
        assert summary.endswith("; a surface is not closed, so inside, outside and volumes are undefined.")
        assert "contoured" not in summary

    @pytest.mark.parametrize("families", [Settings().families, "overlap", "agreement"])
    def testSurfaceWithAnotherDefect(self, families):
        """It is closed, but its parts cut through each other."""
        reference, test = shapes.ballMesh(11, resolution=24), crossing()
        result = compare(reference, test, Settings(families=families))
        assert result.summary.endswith("surface has a defect, so inside, outside and volumes are undefined.")
        assert {m.cause.name for m in result.values() if m.status == "undefined"} == {"DEFECT"}
        asMedPy = compare(reference, test, Settings(families=("boundary", "overlap"), convention="MedPy"))
        assert asMedPy.summary == "A surface has a defect, so inside, outside and volumes are undefined."

    def testACriticalStructureWithoutAnInsideIsNeitherOfTheTwo(self):
        result = compare(ball(), ball(18), Settings(families="hazard"), criticals={"cord": hemisphere()})
        assert "is not closed" in result["SIS"].reason
        assert result.summary == "The chosen measurements do not allow a summary."

    def testContours(self):
        square = shapes.loops([(0, 0), (20, 0), (20, 20), (0, 20)])
        bulged = shapes.loops([(0, 0), (20, 0), (20, 8), (26, 8), (26, 12), (20, 12), (20, 20), (0, 20)])
        summary = compare(square, bulged).summary
        assert " of the contour within 2 mm" in summary
        assert summary.endswith("test is 0.2 cm2 larger, over-contoured mostly on the left.")

    @pytest.mark.parametrize(
        ("family", "begin", "end"),
        [
            ("boundary", "HD95 ", " mm."),
            ("signed", "Test lies ", "over-contoured mostly on the left."),
            ("overlap", "DSC 0.", "larger."),
        ],
    )
    def testOnlyWhatWasMeasured(self, family, begin, end):
        summary = compare(ball(), ball(18, (5, 0, 0)), Settings(families=family)).summary
        assert summary.startswith(begin) and summary.endswith(end)

    def testARecordKeepsTheSentence(self):
        record = compare(ball(), ball(center=(0, 0, -6))).record()
        assert record.summary == record.toDictionary()["summary"]
        assert "inferiorly" in record.summary


class TestRecords:
    @pytest.mark.parametrize(
        "pair",
        [
            lambda: (ball(), ball(18, (5, 0, 0))),
            lambda: (ball(), NOTHING),
            lambda: (NOTHING, ball()),
            lambda: (NOTHING, NOTHING),
            lambda: (shapes.ballMesh(11, resolution=24), hemisphere()),
            lambda: (shapes.ballMesh(11, resolution=24), crossing()),
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
