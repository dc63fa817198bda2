"""What the outcomes of all cases of a batch say together, and each of them in one line for people."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from ..base.texts import commaSeparated, cutShort, tellingApart
from ..case.protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN
from ..metrics.registry import restore
from ..model.naming import onlyIn
from ..model.structures import TEST_EMPTY
from ..show.report.index import FAILED, CaseLine
from .alarms import Alarms, inShort, titleOfPair
from .cases import OK, caseTitle
from .cohortpage import CohortPage
from .lesionsizes import LesionSizes
from .missing import REFERENCE, TEST, Roster
from .statistics import Cohort

# Most names that are listed; further ones are only counted.
MOST_NAMES = 12
# This many structures with the same alarms are named in the list of cases.
MOST_ALARMED = 4


class Collected:
    """What a batch tells of all its cases.

    outcomes: of the cases that were run. broken: of lines that are not cases, which are in the list of cases only.
    cases: as of a Cohort.
    paired: names of reference and test of the compared pairs. lines: of the list of cases. judged: titles of cases and
    their verdicts. withoutLimits: names of structures for which a protocol has no limits.
    """

    def __init__(
        self, outcomes: Iterable[Mapping], broken: Iterable[Mapping], roster: Roster, cases: Iterable[str] = ()
    ):
        self.cohort = Cohort(roster=roster, cases=cases)
        self.alarms, self.page, self.lesionSizes = Alarms(), CohortPage(), LesionSizes()
        self.paired: set[tuple[str, str]] = set()
        self.judged: list[tuple[str, str]] = []
        self.withoutLimits: list[str] = []
        self.lines = []
        for outcome in outcomes:
            named = self.cohort.add(outcome)
            self.page.add(outcome, named)
            self.lesionSizes.add(outcome["method"], named)
            self.alarms.add(outcome)
            self.paired |= {(pair[REFERENCE]["name"], pair[TEST]["name"]) for pair in outcome["pairs"]}
            if outcome.get("protocol"):
                self.judged.append((titleOf(outcome), outcome["protocol"]["verdict"]))
                self.withoutLimits += outcome["protocol"].get("withoutLimits", ())
            self.lines.append(lineOf(outcome))
        self.lines += map(lineOf, broken)


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
        if failures:
            why = " ".join(cutShort(f"{name} could not be compared: {why}" for name, why in failures.items()))
        else:
            why = outcome["reason"]
            # the page shows no folders, except where files differ in nothing else
            for path, title in tellingApart(filter(None, (outcome["reference"], outcome["test"]))).items():
                why = why.replace(path, title)
        if judged and judged["verdict"] == FAIL:
            why = f"{why} {_ofRules(judged)}"
    elif judged:
        why = _ofRules(judged)
    else:  # the structure that is farthest apart, and the structures that only one side has
        worst = max(outcome["pairs"], key=_badness, default=None)
        found = [] if worst is None else [f"{titleOfPair(worst)}: {worst.get('summary', '')}"]
        why = " ".join([*found, *(f"{sentence}." for sentence in onlyIn(outcome["unmatched"]))])
    # what has to be looked at before any number means anything, with the structures
    names: dict[str, list[str]] = {}
    for pair in outcome["pairs"]:
        if alarms := inShort(pair):
            names.setdefault(alarms, []).append(titleOfPair(pair))
    toCheck = [
        f"{'All structures' if len(some) == number > 1 else commaSeparated(some, MOST_ALARMED)}: {alarms}"
        for alarms, some in names.items()
    ]
    if ofCase := inShort(outcome.get("pairing", {})):
        toCheck.append(f"The whole case: {ofCase}")
    return CaseLine(
        titleOf(outcome),
        FAILED if isFailed else judged["verdict"] if judged else "",
        f"{number} of {number + len(failures)}" if failures else str(number),
        why,
        outcome.get("report", ""),
        ". ".join(toCheck),
    )


def notPassing(judged: Sequence[tuple[str, str]]) -> list[str]:
    """Return the cases that do not pass, one line per verdict. judged: titles and verdicts of all cases."""
    lines = []
    for verdict in (FAIL, NOT_EVALUABLE, WARN):
        if titles := [title for title, given in judged if given == verdict]:
            lines.append(f"  {verdict}: {commaSeparated(titles, MOST_NAMES)}")
    return lines


def _ofRules(judged: Mapping) -> str:
    """Return the most violated rule, with its structure; for a case that passes, that all rules are kept."""
    found = [(rule["structure"], rule) for structure in judged["structures"] for rule in structure["rules"]]
    if not found:
        return "No rule applies to the compared structures."
    if judged["verdict"] == PASS:
        return f"All limits are met ({len(found)} of {len(found)})."

    def excess(rule: Mapping) -> float:
        """Return the distance of a value from its limit as a fraction of the limit, infinite without a value."""
        if rule["value"] is None:
            return math.inf
        size = abs(rule["value"]) if rule["relation"] == "within" else rule["value"]
        return abs(size - rule["pass"]) / max(abs(rule["pass"]), 1e-9)

    worst = [(name, rule) for name, rule in found if rule["verdict"] == judged["verdict"]]
    name, rule = max(worst, key=lambda each: excess(each[1]))
    more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
    return f"{name}: {rule['reason']}{more}"


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
