"""The verdicts of a protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping

from SegmentMetricsLib.case.protocol import judgment as words
from SegmentMetricsLib.metrics.findings import splitAlarms
from SegmentMetricsLib.metrics.measurement import typeset
from SegmentMetricsLib.show import tables
from SegmentMetricsLib.show.report.ranking import UNJUDGED, severity
from SegmentMetricsLib.show.verdicts import summary

from ..markup import escape
from ..translation import _
from .maps import isEmpty
from .table import TableContents

# Light colors for dark text; the words say the same.
COLORS = {words.PASS: "#bfe3d0", words.WARN: "#fbe6a2", words.FAIL: "#f2b28c", words.NOT_EVALUABLE: "#dddddd"}


def verdict(outcome, number: int) -> str:
    """Return the verdict on an outcome and on one of its pairs as HTML, or "" if it was not judged."""
    if outcome is None or not outcome.judgment:
        return ""
    judgment, structure = outcome.judgment, _judgedPart(outcome, number)
    what = [s["verdict"] for s in judgment["structures"]]
    if not outcome.isOfAll:
        what = [rule["verdict"] for s in judgment["structures"] for rule in s["rules"]]
    counts = f"{judgment['name']}: {summary(what)}" if what else judgment["name"]
    lines = [f"{badge(judgment['verdict'])} {escape(counts)}"]
    if outcome.isOfAll and structure:
        lines.append(f"{badge(structure['verdict'])} {escape(structure['structure'])}")
    elif structure is None:
        lines.append(_("The protocol has no rule for this structure."))
    return "<br>".join(lines)


def rules(outcome, number: int) -> TableContents:
    """Return the table of the rules for one pair of an outcome, empty if there are none."""
    structure = _judgedPart(outcome, number)
    if not structure:
        return TableContents()
    headings = [
        (_("Metric"), _("What the protocol judges, and the tool whose number it is if the protocol names one.")),
        (_("Value"), _("What was measured.")),
        (_("Limit (warn)"), _("The limit, and the looser one up to which there is only a warning.")),
        (_("Verdict"), _("Hover over a row to read why.")),
    ]
    rows = []
    for rule in structure["rules"]:
        limits, value, verdict = words.ruleOf(rule), rule["value"], rule["verdict"]
        unit = rule["unit"] or words.unitOf(limits, None)
        metric = f"{tables.heading(limits.measurement)}\n{limits.convention}".strip()
        limit, *looser = (words.limitText(limits, n, unit) for n in (limits.limit, limits.warning) if n is not None)
        bound, space, shownUnit = limit.partition(" ")
        more = "".join(f" ({text.partition(' ')[0]})" for text in looser)
        # only the limit has the unit, to leave room for the tool's name
        text = "-" if value is None else words.valueText(limits, value, unit).removesuffix(f"{space}{shownUnit}")
        bounds = typeset(f"{words.SIGNS[limits.relation]}{bound}{more}{space}{shownUnit}")
        tip = "\n".join(filter(None, (typeset(rule["reason"]), limits.source)))
        cells = (metric, metric, tip), (text, value, tip), (bounds, limits.limit, tip)
        rows.append([*cells, (verdict, verdict, tip, COLORS[verdict])])
    return TableContents.of(headings, rows, stretched=[0])


def _judgedPart(outcome, number: int) -> Mapping | None:
    isJudged = outcome is not None and outcome.judgment and outcome.records
    return ofStructure(outcome.judgment, outcome.records[number].name) if isJudged else None


def ofStructure(judgment: Mapping, name: str) -> Mapping | None:
    """Return the part of a judgment about a structure, or None if there is none."""
    return next((each for each in judgment["structures"] if each["structure"] == name), None)


def _urgency(outcome, record) -> tuple:
    """Return what a record is sorted by: verdict, alarms, what is missed, the lowest NSD or the worst main number."""
    structure = ofStructure(outcome.judgment, record.name) if outcome.judgment else None
    verdict = severity(structure["verdict"] if structure else UNJUDGED)
    missed = sum(lesion.event == "missed" for lesion in record.lesions or ())
    keys = tables.overviewKeys(record.measurements) or list(record.measurements)
    key = next((key for key in keys if key.startswith("NSD")), keys[0] if keys else "")
    numbers = [record.measurements.get(key), record.measurements.get("HD")]
    main, farthest = (None if one is None or math.isnan(one.value) else one.value for one in numbers)
    isLowerWorse = numbers[0] is None or numbers[0].better != "lower"
    worth = -math.inf if main is None else main
    where = not splitAlarms(record.findings).alarms, not isEmpty(record), -missed, worth if isLowerWorse else -worth
    return verdict, *where, -(farthest or 0.0)


def partsWithoutResult(outcome) -> list[Mapping]:
    """Return the parts of a judgment about structures that have limits in the protocol but were not compared."""
    compared = {record.name for record in outcome.records}
    return [each for each in (outcome.judgment or {}).get("structures", ()) if each["structure"] not in compared]


def orderOfRows(outcome) -> list[int]:
    """Return the order of the rows, the worst first: records, and behind those of a verdict what was not compared."""
    keys = [_urgency(outcome, record) for record in outcome.records]
    keys += [(severity(each["verdict"]), math.inf) for each in partsWithoutResult(outcome)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def verdictCell(judgment: Mapping, name: str) -> tuple:
    """Return the cell with a structure's verdict for the table of many pairs; the reason is its tool tip."""
    structure = ofStructure(judgment, name)
    # sorted by severity, not alphabetically
    if structure is None:
        return UNJUDGED, str(severity(UNJUDGED)), _("The protocol has no rule for this structure.")
    verdict = structure["verdict"]
    return verdict, str(severity(verdict)), typeset(structure["reason"]), COLORS[verdict]


def badge(verdict: str) -> str:
    """Return a colored verdict as HTML for a label."""
    return f'<span style="background-color: {COLORS[verdict]}; color: black;">&nbsp;{verdict.upper()}&nbsp;</span>'
