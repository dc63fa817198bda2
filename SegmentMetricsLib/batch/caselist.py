"""The cases of a batch, one line each, for people: the cases to be checked, why, and their reports."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from ..base.texts import commaSeparated, cutShort, tellingApart
from ..case.protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN
from ..metrics.registry import restore
from ..model.naming import onlyIn
from ..model.structures import TEST_EMPTY
from ..show.report.index import FAILED, CaseLine
from .alarms import SHORT, alarmsOfCase, inShort, titleOfPair
from .cases import OK, caseTitle

# Most names that are listed; further ones are only counted.
MOST_NAMES = 12
# This many structures with the same alarms are named in the list of cases.
MOST_ALARMED = 4


def titleOf(outcome: Mapping) -> str:
    """Return the title of the case of an outcome, with its method."""
    return caseTitle(outcome["case"], outcome["method"])


def lineOf(outcome: Mapping) -> CaseLine:
    """Return the line about an outcome from results.jsonl."""
    judged = outcome.get("protocol")
    isFailed = outcome["status"] != OK
    failures = outcome.get("failures", {})
    number = len(outcome["pairs"])
    if isFailed or failures:
        why = _ofFailures(outcome, failures)
        if judged and judged["verdict"] == FAIL:
            why = f"{why} {_ofRules(judged)}"
    else:
        why = _ofRules(judged) if judged else _ofPairs(outcome)
    return CaseLine(
        titleOf(outcome),
        FAILED if isFailed else judged["verdict"] if judged else "",
        f"{number} of {number + len(failures)}" if failures else str(number),
        why,
        outcome.get("report", ""),
        _alarms(outcome),
    )


def _alarms(outcome: Mapping) -> str:
    """Return what has to be looked at before any number means anything, with the structures; "" without any."""
    names: dict[str, list[str]] = {}
    for pair in outcome["pairs"]:
        if alarms := inShort(pair):
            names.setdefault(alarms, []).append(titleOfPair(pair))
    ofCase = [SHORT[kind] for kind in alarmsOfCase(outcome)]
    number = len(outcome["pairs"])
    ofPairs = [
        f"{'All structures' if len(some) == number > 1 else commaSeparated(some, MOST_ALARMED)}: {alarms}"
        for alarms, some in names.items()
    ]
    return ". ".join([*ofPairs, *([f"The whole case: {'; '.join(ofCase)}"] if ofCase else [])])


def notPassing(judged: Sequence[tuple[str, str]]) -> list[str]:
    """Return the cases that do not pass, one line per verdict. judged: titles and verdicts of all cases."""
    lines = []
    for verdict in (FAIL, NOT_EVALUABLE, WARN):
        titles = [title for title, given in judged if given == verdict]
        if titles:
            lines.append(f"  {verdict}: {commaSeparated(titles, MOST_NAMES)}")
    return lines


def _ofFailures(outcome: Mapping, failures: Mapping[str, str]) -> str:
    if failures:
        return " ".join(cutShort(f"{name} could not be compared: {why}" for name, why in failures.items()))
    reason = outcome["reason"]
    paths = filter(None, (outcome["reference"], outcome["test"]))
    # the page shows no folders, except where files differ in nothing else
    for path, title in tellingApart(paths).items():
        reason = reason.replace(path, title)
    return reason


def _ofRules(judged: Mapping) -> str:
    """Return the most violated rule, with its structure; for a case that passes, that all rules are kept."""
    found = [(rule["structure"], rule) for structure in judged["structures"] for rule in structure["rules"]]
    if not found:
        return "No rule applies to the compared structures."
    if judged["verdict"] == PASS:
        return f"All limits are met ({len(found)} of {len(found)})."
    worst = [(name, rule) for name, rule in found if rule["verdict"] == judged["verdict"]]
    name, rule = max(worst, key=lambda each: _excess(each[1]))
    more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
    return f"{name}: {rule['reason']}{more}"


def _excess(rule: Mapping) -> float:
    """Return the distance of a value from its limit as a fraction of the limit, infinite without a value."""
    if rule["value"] is None:
        return math.inf
    size = abs(rule["value"]) if rule["relation"] == "within" else rule["value"]
    return abs(size - rule["pass"]) / max(abs(rule["pass"]), 1e-9)


def _ofPairs(outcome: Mapping) -> str:
    """Return the structure that is farthest apart, and the structures that only one side has."""
    parts = [f"{sentence}." for sentence in onlyIn(outcome["unmatched"])]
    if outcome["pairs"]:
        worst = max(outcome["pairs"], key=_badness)
        parts.insert(0, f"{titleOfPair(worst)}: {worst.get('summary', '')}")
    return " ".join(parts)


def _badness(pair: Mapping) -> float:
    """Return a measure of how far apart a pair is: a percentile of distances, else the largest one, else minus Dice.

    A test without a voxel is infinitely far from its reference, whatever a tool makes of it.
    """
    keys = [key for key in pair["measurements"] if re.fullmatch(r"HD[\d.]+", key)] + ["HD", "DSC"]
    for key in keys:
        if key in pair["measurements"]:
            measurement = restore(key, pair["measurements"][key])
            if measurement.empty == TEST_EMPTY or math.isinf(measurement.value):
                return math.inf
            if not math.isnan(measurement.value):
                return -measurement.value if key == "DSC" else measurement.value
    return -math.inf
