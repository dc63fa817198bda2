"""The outcome in one sentence, the side where most of it is, and records that come back from files."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import shapes
from vtkmodules.vtkFiltersCore import vtkAppendPolyData
from vtkmodules.vtkFiltersSources import vtkSphereSource

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.base.errors import Cause, Reason
from SegmentMetricsLib.case import summary
from SegmentMetricsLib.case.places import mostlyToward
from SegmentMetricsLib.case.records import Record
from SegmentMetricsLib.metrics.registry import REGISTRY, findMetric
from SegmentMetricsLib.settings.settings import DEFAULT_FAMILIES

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


def distancesOf(reference, test):
    return compare(reference, test, Settings(families="signed")).distances


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

    def testOnAllSidesNoDirection(self):
        assert compare(ball(), ball(20)).summary.endswith(" cm3 larger, over-contoured.")

    def testWithinToleranceSaysNothingOfSides(self):
        assert compare(ball(), ball(16)).summary.endswith("100 % of the surface within 2 mm; test is 2.9 cm3 larger.")

    def testNoDirectionsWithoutOverlap(self):
        """A contour somewhere else is not over-contoured on one side."""
        result = compare(ball(8, (-20, 0, 0)), ball(9, (20, 0, 0)))
        assert result.summary.startswith("DSC 0, HD95 4") and result.summary.endswith(
            " 0 % of the surface within 2 mm; test is 1.0 cm3 larger."
        )
        assert summary.sentence(replace(result.record(), summary="")) == result.summary

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

    @pytest.mark.parametrize("families", [DEFAULT_FAMILIES, ("overlap",), ("agreement",)])
    def testSurfaceWithAnotherDefect(self, families):
        """It is closed, but its parts cut through each other."""
        reference, test = shapes.ballMesh(11, resolution=24), crossing()
        result = compare(reference, test, Settings(families=families))
        assert result.summary.endswith("surface has a defect, so inside, outside and volumes are undefined.")
        assert {m.cause for m in result.values() if m.status == "undefined"} == {Cause.DEFECT}
        asMedPy = compare(reference, test, Settings(families=("boundary", "overlap"), convention="MedPy"))
        assert asMedPy.summary == "A surface has a defect, so inside, outside and volumes are undefined."

    def testACriticalStructureWithoutAnInsideIsNeitherOfTheTwo(self):
        result = compare(ball(), ball(18), Settings(families="hazard"), criticals={"cord": hemisphere()})
        assert "is not closed" in result["SIS"].reason
        assert result.summary == "The chosen measurements do not allow a summary."

    def testTheReasonsWordsDoNotMatter(self):
        result = compare(shapes.ballMesh(11, resolution=24), hemisphere())

        def reworded(reason):
            return Reason("it has a hole", reason.kind, reason.values) if isinstance(reason, Reason) else reason

        said = {key: replace(m, reason=reworded(m.reason)) for key, m in result.items()}
        assert summary.sentence(replace(result, measurements=said)) == result.summary

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
        assert summary.sentence(record) == record.summary == record.toDictionary()["summary"]
        assert "inferiorly" in record.summary
        # without it, what the numbers alone tell
        assert summary.sentence(replace(record, summary="")).endswith("same volume, over- and under-contoured.")

    @pytest.mark.parametrize(
        ("share", "text"),
        [
            (1.0, "100 %"),
            (1 - 1e-12, "100 %"),
            (0.99999, "more than 99.9 %"),
            (0.9994, "99.9 %"),
            (0.9951, "99.5 %"),
            (0.994, "99 %"),
            (0.5, "50 %"),
            (0.004, "less than 1 %"),
            (0.0, "0 %"),
        ],
    )
    def testOnlyEverythingIsAHundredPercent(self, share, text):
        assert summary._percent(share) == text

    @pytest.mark.parametrize(
        ("share", "text"), [(1.0, "1.00"), (0.9999, "0.99"), (0.687, "0.69"), (0.0001, "0.01"), (0.0, "0")]
    )
    def testOnlyTheSameVoxelsAreADiceOfOne(self, share, text):
        assert summary._fraction(share) == text

    @pytest.mark.parametrize(
        ("amount", "text"),
        [
            (0.01, "less than 0.1 mm3"),
            (0.2, "0.2 mm3"),
            (42.4, "42 mm3"),
            (96, "0.1 cm3"),
            (4130, "4.1 cm3"),
            (2.5e5, "250 cm3"),
        ],
    )
    def testVolumes(self, amount, text):
        assert summary._size(amount, planar=False) == text

    @pytest.mark.parametrize(
        ("value", "text"), [(0, "0 mm"), (0.01, "below 0.1 mm"), (3.24, "3.2 mm"), (99.96, "100 mm"), (240.4, "240 mm")]
    )
    def testMillimeters(self, value, text):
        assert summary._millimeters(value) == text


class TestDominantSide:
    @pytest.mark.parametrize(
        ("shift", "over", "under"),
        [
            ((6, 0, 0), "L", "R"),
            ((-6, 0, 0), "R", "L"),
            ((0, 6, 0), "P", "A"),
            ((0, -6, 0), "A", "P"),
            ((0, 0, 6), "S", "I"),
            ((0, 0, -6), "I", "S"),
            ((4.5, 4.5, 0), "", ""),  # between two sides
        ],
    )
    def testShifts(self, shift, over, under):
        distances = distancesOf(shapes.ballMesh(15, resolution=24), shapes.ballMesh(15, shift))
        assert (mostlyToward(distances, 2.0), mostlyToward(distances, 2.0, over=False)) == (over, under)

    def testNoneWhereNothingOrEverythingIsBeyond(self):
        assert (
            mostlyToward(distancesOf(shapes.ballMesh(15, resolution=24), shapes.ballMesh(16, resolution=24)), 2.0) == ""
        )
        assert (
            mostlyToward(distancesOf(shapes.ballMesh(15, resolution=24), shapes.ballMesh(20, resolution=24)), 2.0) == ""
        )

    def testTheFlanksOfABumpCountForItsSide(self):
        plain, bumped = shapes.boxMesh((0, 0, 0), (20, 20, 20)), shapes.box((0, 0, 0), (19, 19, 19), (50, 24, 24))
        long = shapes.box((20, 8, 8), (40, 11, 11), (50, 24, 24))
        assert mostlyToward(distancesOf(bumped, bumped | long), 2.0) == "L"
        assert mostlyToward(distancesOf(bumped | long, bumped), 2.0, over=False) == "L"
        assert mostlyToward(distancesOf(plain, plain), 2.0) == ""

    def testOpenSurfacesHaveNone(self):
        assert mostlyToward(compare(shapes.ballMesh(11, resolution=24), hemisphere()).distances, 2.0) == ""


class TestPlaceNormals:
    @pytest.mark.parametrize("shift", [(6, 0, 0), (0, -6, 0), (0, 0, 6)])
    def testOutwardUnitNormals(self, shift):
        place = compare(ball(), ball(center=shift)).worstPlaces[0]
        outward = np.sign(place.value) * np.array(shift) / 6
        assert np.linalg.norm(place.normal) == pytest.approx(1)
        assert np.dot(place.normal, outward) > 0.9


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
        back = Record.fromDictionary(written)
        assert back.toDictionary() == record.toDictionary()
        assert (back.name, back.findings, back.worstPlaces) == (record.name, record.findings, record.worstPlaces)
        for key, measurement in record.measurements.items():
            for name, value in vars(measurement).items():
                np.testing.assert_equal(getattr(back.measurements[key], name), value, err_msg=f"{key} {name}")

    def testSignsOfInfiniteValues(self):
        back = [Record.fromDictionary(compare(*p).toDictionary()) for p in ((ball(), NOTHING), (NOTHING, ball()))]
        assert [record.measurements["SignedMean"].value for record in back] == [-math.inf, math.inf]
        assert back[0].measurements["HD"].value == math.inf

    def testKeysOfOtherVersionsAreKept(self):
        data = compare(ball(), ball(18)).toDictionary()
        data["measurements"]["Later_3mm"] = {"value": None, "unit": "mm", "status": "undefined", "reason": "why"}
        later = Record.fromDictionary(data).measurements["Later_3mm"]
        assert later.title == "Later_3mm" and math.isnan(later.value) and later.reason == "why"

    @pytest.mark.parametrize("data", [{}, [], None, {"reference": {}}, "text"])
    def testSomethingElse(self, data):
        with pytest.raises(ValueError, match="not a comparison"):
            Record.fromDictionary(data)

    def testEveryKeyLeadsToItsDefinition(self):
        ofDose = {"dosePercent": "90", "doseVolume": "0.1", "doseLevel": "20"}
        for definition in REGISTRY:
            key = definition.keyFor(
                {"percentile": "99.5", "tolerance": "2.5", "beta": "0.5", "quantile": "0.9", **ofDose}
            )
            found = findMetric(key)
            assert found.metric is definition and definition.key.format(**found.words) == key
        assert findMetric("HD").metric.key == "HD"
        assert findMetric("HDmax") is None and findMetric("") is None
