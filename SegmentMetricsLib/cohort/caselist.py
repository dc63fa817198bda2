"""The cases of a batch, a line each, for people: which of them need a look, why, and where their reports are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..measurements import Measurement
from ..naming import pairTitle
from ..protocol.judgment import FAIL, NOT_EVALUABLE, PASS, WARN
from ..report.index import FAILED, CaseLine
from ..structures import REFERENCE_AND_TEST, commaSeparated
from .alarms import inShort
from .cases import OK, caseTitle

# So many names are listed, and then how many more there are.
MOST_NAMES = 12


def titleOf(outcome: Mapping) -> str:
    """Return what the case of an outcome is called, with its method."""
    return caseTitle(outcome["case"], outcome["method"])


def lineOf(outcome: Mapping) -> CaseLine:
    """Return the line about an outcome, as results.jsonl has it."""
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
    """Return what has to be looked at before any number means anything, structure by structure; "" without any."""
    found = [(_nameOf(pair), inShort(pair)) for pair in outcome["pairs"]]
    return "; ".join(f"{name}: {alarms}" for name, alarms in found if alarms)


def notPassing(judged: Sequence[tuple[str, str]]) -> list[str]:
    """Return which cases do not pass, a line for every verdict. judged: their titles, with their verdicts."""
    lines = []
    for verdict in (FAIL, NOT_EVALUABLE, WARN):
        titles = [title for title, given in judged if given == verdict]
        if titles:
            lines.append(f"  {verdict}: {commaSeparated(titles, MOST_NAMES)}")
    return lines


def _ofFailures(outcome: Mapping, failures: Mapping[str, str]) -> str:
    if failures:
        return " ".join(f"{name} could not be compared: {why}" for name, why in failures.items())
    reason = outcome["reason"]
    for path in (outcome["reference"], outcome["test"]):  # of files, a page gives nothing but their names
        reason = reason.replace(path, Path(path).name) if path else reason
    return reason


def _ofRules(judged: Mapping) -> str:
    """Return the rule that is kept worst, with its structure; of a case that passes, that all are kept."""
    found = [(rule["structure"], rule) for structure in judged["structures"] for rule in structure["rules"]]
    if not found:
        return "No rule applies to the compared structures."
    if judged["verdict"] == PASS:
        return f"All limits are kept ({len(found)} of {len(found)})."
    worst = [(name, rule) for name, rule in found if rule["verdict"] == judged["verdict"]]
    name, rule = max(worst, key=lambda each: _excess(each[1]))
    more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
    return f"{name}: {rule['reason']}{more}"


def _excess(rule: Mapping) -> float:
    """Return by how much a value misses its limit, as a share of the limit."""
    if rule["value"] is None:
        return math.inf
    size = abs(rule["value"]) if rule["relation"] == "within" else rule["value"]
    return abs(size - rule["pass"]) / max(abs(rule["pass"]), 1e-9)


def _ofPairs(outcome: Mapping) -> str:
    """Return the structure that is farthest apart, and what the test lacks."""
    parts = [f"Only in the {side}: {commaSeparated(names)}." for side, names in outcome["unmatched"].items() if names]
    if outcome["pairs"]:
        worst = max(outcome["pairs"], key=_badness)
        parts.insert(0, f"{_nameOf(worst)}: {worst.get('summary', '')}")
    return " ".join(parts)


def _nameOf(pair: Mapping) -> str:
    return pairTitle(pair[side]["name"] for side in REFERENCE_AND_TEST)


def _badness(pair: Mapping) -> float:
    """Return how far apart a pair is: by a percentile of distances, else by the largest one, else by its Dice."""
    keys = [key for key in pair["measurements"] if re.fullmatch(r"HD[\d.]+", key)] + ["HD", "DSC"]
    for key in keys:
        if key in pair["measurements"]:
            value = Measurement.fromDictionary(key, pair["measurements"][key]).value
            if not math.isnan(value):
                return -value if key == "DSC" else value
    return -math.inf
