"""Verdicts: what rules say about numbers, about cases, and about structures that are empty."""

from __future__ import annotations

import json
import math

import pytest
import shapes
from test_protocol import measurement, protocolOf

from SegmentMetricsLib import Settings, compare
from SegmentMetricsLib.case.protocol.judgment import judge, judgeCase, ruleOf, score, worst
from SegmentMetricsLib.case.protocol.protocol import Rule
from SegmentMetricsLib.metrics.registry import restore
from SegmentMetricsLib.show.verdicts import verdictTable


@pytest.mark.parametrize(
    "relation, limit, warning, value, verdict",
    [
        ("<=", 3, 5, 3.0, "pass"),
        ("<", 3, 5, 3.0, "warn"),
        ("<=", 3, 5, 5.0, "warn"),
        ("<", 3, 5, 5.0, "fail"),
        # but for rounding these are 3, 0.9 and 0
        ("<=", 3, None, 3.0000000000000004, "pass"),
        ("<", 3, None, 2.9999999999999996, "fail"),
        ("within", 3, None, -3.0000001, "pass"),
        ("<=", 0, None, 1e-12, "pass"),
        (">=", 0.9, 0.8, 0.79, "fail"),
        ("within", 2, 3, -2.0, "pass"),
        ("within", 2, 3, 3.5, "fail"),
        (">=", 3, None, math.inf, "pass"),
        ("<=", 3, 5, -math.inf, "pass"),
        ("within", 3, 5, -math.inf, "fail"),
        ("<=", 3, 5, math.nan, "not evaluable"),
    ],
)
def testVerdicts(relation, limit, warning, value, verdict):
    found = judge(
        "Lens", Rule("Lens", "HD95", relation, limit, warning), measurement(value, reason="the test is empty")
    )
    assert found.verdict == verdict and found.reason.endswith(".")
    json.dumps(found.toDictionary(), allow_nan=False)


@pytest.mark.parametrize(
    "value, text",
    [
        (3.0000062, "3.00001 mm"),
        (2.9961, "2.996 mm"),
        (3.0000001, "3.00 mm"),  # equal but for rounding
        (0.0041, "< 0.01 mm"),
    ],
)
def testValuesAreSeenOnTheirSideOfTheLimit(value, text):
    rule = Rule("Lens", "HD95", "<=", 3)
    found = judge("Lens", rule, measurement(value))
    assert found.reason.startswith(f"HD95 {text} ") and found.valueText == text
    assert found.verdict == ("pass" if rule.keeps(float(text.removeprefix("< ").split()[0]), 3) else "fail")


@pytest.mark.parametrize(
    "value, limit, warning, texts, reason",
    [
        (-3490, 2000, 3000, ("-3.49 cm3", "±2 cm3 (warn ±3 cm3)"), "-3.49 cm3 exceeds ±2 cm3 and the warning limit of"),
        (0.05, 2000, None, ("< 0.01 cm3", "±2 cm3"), "< 0.01 cm3 is within ±2 cm3."),
        (math.nan, 2000, None, ("undefined", "±2 cm3"), "The test is empty."),
    ],
)
def testValuesAndLimitsHaveOneUnit(value, limit, warning, texts, reason):
    rule = Rule("Lens", "VolumeDifference", "within", limit, warning)
    found = judge("Lens", rule, measurement(value, "VolumeDifference", "mm3", reason="the test is empty"))
    assert (found.valueText, found.limitsText) == texts and reason in found.reason
    # the files keep the unit of the protocol
    assert (found.toDictionary()["pass"], found.toDictionary()["unit"]) == (limit, "mm3")
    assert ruleOf(found.toDictionary()) == rule


def testTheWorstVerdictAndTheScore():
    assert worst(["pass", "warn"]) == "warn" and worst(["fail", "not evaluable"]) == "fail"
    assert worst(["pass", "not evaluable"]) == "not evaluable" and worst([]) == "not evaluable"
    rules = [Rule("Lens", "HD95", "<=", limit, None, weight) for limit, weight in ((1, 1.0), (3, 2.0), (3, 5.0))]
    verdicts = [judge("Lens", rule, measurement(value)) for rule, value in zip(rules, (2, 2, math.nan))]
    assert score(verdicts) == pytest.approx(2 / 3) and score(verdicts[2:]) is None


def testACase():
    protocol = protocolOf("Lens_L,HD95,<=,3", "Lens_R,HD95,<=,3", "Chiasm,HD95,<=,3", "Brain*,DSC,>=,0.9")
    measured = [(("Lens-Lt", "Lens_L"), {"SegmentMetrics": {"HD95": measurement(1)}})]
    judged = judgeCase(protocol, measured, {"reference": ["Right Lens"], "test": []})
    assert [(v.structure, v.verdict, v.reason) for v in judged.verdicts] == [
        ("Lens-Lt / Lens_L", "pass", "HD95 1.00 mm is at most 3 mm."),
        ("Right Lens", "not evaluable", "Only the reference has Right Lens."),
        ("Chiasm", "not evaluable", "There is no structure Chiasm."),
        ("Brain*", "not evaluable", "There is no structure Brain*."),
    ]
    assert judged.verdict == "not evaluable" and judged.toDictionary()["score"] == 1.0
    assert len(judgeCase(protocol, measured, {"reference": [], "test": []}, isWhole=False).verdicts) == 1
    none = judgeCase(protocol, [], {"reference": [], "test": []}, isWhole=False)
    assert none.verdict == "not evaluable" and verdictTable(none) == "No rule applies to the compared structures."


def testWhatCouldNotBeComparedDoesNotPass():
    """Under every rule that fits it, by either name of a pair; it is neither missing nor only in one."""
    protocol = protocolOf("*,HD95,<=,3", "Lens_L,DSC,>=,0.9", "Chiasm,DSC,>=,0.9", "Eye,DSC,>=,0.9")
    measured = [(("Brain", "Brain"), {"SegmentMetrics": {"HD95": measurement(1)}})]
    failures = {"Lens-Lt / left lens": "they lie too far apart", "Eye": "It is broken.", "Chiasm": "It is odd."}
    judged = judgeCase(protocol, measured, {"reference": ["Chiasm"], "test": []}, failures=failures)
    assert judged.verdict == "not evaluable"
    assert [(v.structure, v.rule.measurement, v.verdict, v.reason) for v in judged.verdicts[1:]] == [
        ("Lens-Lt / left lens", "HD95", "not evaluable", "They lie too far apart."),
        ("Lens-Lt / left lens", "DSC", "not evaluable", "They lie too far apart."),
        ("Eye", "HD95", "not evaluable", "It is broken."),
        ("Eye", "DSC", "not evaluable", "It is broken."),
        ("Chiasm", "HD95", "not evaluable", "It is odd."),
        ("Chiasm", "DSC", "not evaluable", "It is odd."),
    ]


# Empty structures


@pytest.mark.parametrize("convention", ["SegmentMetrics", "MedPy", "EvaluateSegmentation", "Plastimatch"])
@pytest.mark.parametrize("isReferenceEmpty, isTestEmpty", [(True, False), (False, True), (True, True)])
def testNothingPassesOnAnEmptyStructure(isReferenceEmpty, isTestEmpty, convention):
    """Whatever is measured, and whichever way a limit goes; as where the structure is not there."""
    whole = shapes.box((5, 5, 5), (10, 10, 10))
    reference, test = (whole * 0 if isEmpty else whole for isEmpty in (isReferenceEmpty, isTestEmpty))
    result = compare(reference, test, Settings.preset(convention, families=("boundary", "signed", "overlap", "effort")))
    verdicts = {
        judge("a", Rule("a", key, relation, limit, warning), given).verdict
        for key, given in result.items()
        for relation, limits in (("<=", (0, 1e9)), (">=", (0, -1e9)), ("within", (0, 1e9)))
        for limit, warning in ((limits[0], limits[1]), (limits[1], None))
    }
    assert len(result) > 30 and verdicts <= {"fail", "not evaluable"}


def testWhyAnEmptyStructureDoesNotPass():
    whole = shapes.box((5, 5, 5), (10, 10, 10))
    result = compare(whole, whole * 0, Settings(families=("boundary", "signed")))
    again = restore("OverFraction_2mm", result["OverFraction_2mm"].toDictionary())
    for given in (result["OverFraction_2mm"], again):
        found = judge("a", Rule("a", "OverFraction_2mm", "<=", 0.05), given)
        assert found.reason == "The test is empty, so Over-contoured fraction (2 mm) 0.000 says nothing."
    found = judge("a", Rule("a", "NSD_2mm", ">=", 0.9), result["NSD_2mm"])
    assert (found.verdict, found.reason) == ("fail", "NSD (2 mm) 0.000 is below 0.9 because the test is empty.")
    found = judge("a", Rule("a", "HD95", "<=", 3), result["HD95"])
    assert found.reason == "HD95 is infinite because the test is empty; the limit is 3 mm."
