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
from SegmentMetricsLib.metrics.registry import restored
from SegmentMetricsLib.show.verdicts import verdictTable


@pytest.mark.parametrize(
    "relation, limit, warning, value, verdict",
    [
        ("<=", 3, 5, 3.0, "pass"),
        ("<", 3, 5, 3.0, "warn"),
        ("<=", 3, 5, 5.0, "warn"),
        ("<", 3, 5, 5.0, "fail"),
        ("<=", 3, None, 3.0001, "fail"),
        # but for rounding these are 3, 0.9 and 0
        ("<=", 3, None, 3.0000000000000004, "pass"),
        ("<", 3, None, 2.9999999999999996, "fail"),
        (">=", 0.9, None, 0.89999999, "pass"),
        (">", 0.9, None, 0.90000001, "fail"),
        ("within", 3, None, -3.0000001, "pass"),
        ("<=", 0, None, 1e-12, "pass"),
        ("<=", 0, None, 1e-6, "fail"),
        (">=", 0.9, 0.8, 0.9, "pass"),
        (">", 0.9, 0.8, 0.9, "warn"),
        (">=", 0.9, 0.8, 0.79, "fail"),
        ("within", 2, 3, -2.0, "pass"),
        ("within", 2, 3, -2.5, "warn"),
        ("within", 2, 3, 3.5, "fail"),
        ("<=", 3, 5, math.inf, "fail"),
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
        (3.0041, "3.004 mm"),
        (2.9961, "2.996 mm"),
        (3.0000001, "3.00 mm"),  # equal but for rounding
        (3.1, "3.10 mm"),
        (10.0732, "10.07 mm"),
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
        (-71.5, 5, None, ("-71.5 mm3", "±5 mm3"), "-71.5 mm3 exceeds ±5 mm3."),
        (0.05, 2000, None, ("< 0.01 cm3", "±2 cm3"), "< 0.01 cm3 is within ±2 cm3."),
        (2004, 2000, None, ("2.004 cm3", "±2 cm3"), "2.004 cm3 exceeds ±2 cm3."),
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


def testLimitsOfWhatWasNotMeasuredHaveTheirUnit():
    assert judge("a", Rule("a", "HD95", "<=", 3, 5), None).limitsText == "≤ 3 mm (warn 5 mm)"
    assert judge("a", Rule("a", "NSD_2mm", ">", 0.9), None).limitsText == "> 0.9"
    # in voxels or in mm, nobody knows
    assert judge("a", Rule("a", "AVD", "<", 3), None).limitsText == "< 3"


def testReasons():
    rule = Rule("Lens", "HD95", "<=", 3, 5)
    assert judge("Lens", rule, measurement(2.5)).reason == "HD95 2.50 mm is at most 3 mm."
    assert judge("Lens", rule, measurement(4)).reason == "HD95 4.00 mm exceeds 3 mm; the warning limit is 5 mm."
    # 5.00 would look like the limit
    assert judge("Lens", rule, measurement(5.00001)).reason == (
        "HD95 5.00001 mm exceeds 3 mm and the warning limit of 5 mm."
    )
    signed = judge("Lens", Rule("Lens", "SignedMean", "within", 0.5, 1), measurement(0.728547, "SignedMean"))
    assert signed.reason == "Signed mean 0.73 mm exceeds ±0.5 mm; the warning limit is ±1 mm."
    share = Rule("Lens", "NSD_2mm", ">", 0.9, 0.8)
    for value, said in (
        (0.95, "0.950 is above 0.9"),
        (0.9, "0.900 is not above 0.9; the warning limit is 0.8"),
        (0.8, "0.800 is not above 0.9, nor is it above the warning limit of 0.8"),
    ):
        assert judge("Lens", share, measurement(value, "NSD_2mm", "")).reason == f"NSD (2 mm) {said}."
    assert judge("Lens", Rule("Lens", "OverFraction_2mm", "<", 0.1), None).reason == (
        "Over-contoured fraction (2 mm) was not measured."
    )
    infinite = judge("Lens", rule, measurement(math.inf, reason="the test is empty"))
    assert infinite.reason == "HD95 is infinite because the test is empty; the limit is 3 mm."
    undefined = judge("Lens", rule, measurement(math.nan, reason="both structures are empty"))
    assert undefined.reason == "Both structures are empty."
    assert judge("Lens", rule, None).reason == "HD95 was not measured."


def testTheWorstVerdictAndTheScore():
    assert worst(["pass", "warn"]) == "warn" and worst(["fail", "not evaluable"]) == "fail"
    assert worst(["pass", "not evaluable"]) == "not evaluable" and worst([]) == "not evaluable"
    rules = [Rule("Lens", "HD95", "<=", limit, None, weight) for limit, weight in ((1, 1.0), (3, 2.0), (3, 5.0))]
    verdicts = [judge("Lens", rule, measurement(value)) for rule, value in zip(rules, (2, 2, math.nan))]
    assert score(verdicts) == pytest.approx(2 / 3) and score(verdicts[2:]) is None


def testTheScoreIsShownWhereRulesHaveWeights():
    values = {"SegmentMetrics": {"HD95": measurement(1), "MASD": measurement(2)}}
    given = [(("Lens", "Lens"), values)], {"reference": [], "test": []}
    even = judgeCase(protocolOf("Lens,HD95,<=,3", "Lens,MASD,<=,1"), *given)
    assert "Score" not in verdictTable(even) and not even.isWeighted
    lines = verdictTable(judgeCase(protocolOf("Lens,HD95,<=,3,,3", "Lens,MASD,<=,1"), *given)).splitlines()
    heading, _, row = lines[:3]
    # the rule that is kept counts three times as much as the one that is not
    assert heading.split() == ["Structure", "Verdict", "Score", "Reason"] and row.split()[:3] == [
        "Lens",
        "fail",
        "0.75",
    ]


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


def testTheDictionaryOfACase():
    protocol = protocolOf("Lens*,HD95,<=,3", "Lens*,DSC,>=,0.9,,2,MedPy", "Lens*,MASD,<=,1")
    values = {"SegmentMetrics": {"HD95": measurement(1)}, "MedPy": {"DSC": measurement(0.5, "DSC", "")}}
    judged = judgeCase(protocol, [(("Lens_L", "Lens_L"), values)], {"reference": [], "test": []}).toDictionary()
    (structure,) = judged["structures"]
    assert (judged["verdict"], structure["verdict"], structure["structure"]) == ("fail", "fail", "Lens_L")
    assert judged["score"] == structure["score"] == 1 / (1 + 2)
    assert structure["reason"] == "DSC as by MedPy 0.500 is below 0.9."
    found = [[rule[key] for key in ("measurement", "value", "unit", "verdict")] for rule in structure["rules"]]
    assert found == [["HD95", 1, "mm", "pass"], ["DSC", 0.5, "", "fail"], ["MASD", None, "", "not evaluable"]]


def testMeasuredLikeAnyOther():
    """The verdict is about the very number of compare()."""
    box, shifted = shapes.box((6, 6, 6), (15, 14, 13)), shapes.box((8, 6, 6), (17, 14, 13))
    protocol = protocolOf("*,DSC,>=,0.8", "*,DSC,>,0.8", "*,HD,<=,2.0000001", "*,VolumeDifference,within,1e-6")
    (settings,) = protocol.settingsFor(Settings(), "x").values()
    comparison = compare(box, shifted, settings)
    judged = judgeCase(protocol, [(("x", "x"), {"SegmentMetrics": comparison})], {})
    # of 10 columns of voxels 8 are shared: 2 * 8 / 20
    assert [v.verdict for v in judged.verdicts] == ["pass", "fail", "pass", "pass"]


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
    again = restored("OverFraction_2mm", result["OverFraction_2mm"].toDictionary())
    for given in (result["OverFraction_2mm"], again):
        found = judge("a", Rule("a", "OverFraction_2mm", "<=", 0.05), given)
        assert found.reason == "The test is empty, so Over-contoured fraction (2 mm) 0.000 says nothing."
    found = judge("a", Rule("a", "NSD_2mm", ">=", 0.9), result["NSD_2mm"])
    assert (found.verdict, found.reason) == ("fail", "NSD (2 mm) 0.000 is below 0.9 because the test is empty.")
    found = judge("a", Rule("a", "HD95", "<=", 3), result["HD95"])
    assert found.reason == "HD95 is infinite because the test is empty; the limit is 3 mm."
