"""Verdicts: what a protocol says about the comparisons of a case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..measurements import Measurement
from ..settings import shortest
from .protocol import Protocol, Rule

PASS, WARN, FAIL, NOT_EVALUABLE = "pass", "warn", "fail", "not evaluable"
# From the best to the worst: the verdict on many is the worst of theirs.
VERDICTS = (PASS, WARN, NOT_EVALUABLE, FAIL)


@dataclass(frozen=True)
class Verdict:
    """What a rule says about a structure.

    structure: its name, or what the rule calls it when there is none. measurement: None when there was nothing to
    measure. verdict: "pass", "warn", "fail" or "not evaluable", with the reason in a sentence.
    """

    structure: str
    rule: Rule
    measurement: Measurement | None
    verdict: str
    reason: str

    def toDictionary(self) -> dict:
        """Return the verdict as plain values for files."""
        value = self.measurement.value if self.measurement else math.nan
        return {
            "structure": self.structure,
            "measurement": self.rule.measurement,
            "convention": self.rule.convention,
            "value": value if math.isfinite(value) else None,
            "unit": self.measurement.unit if self.measurement else "",
            "relation": self.rule.relation,
            "pass": self.rule.limit,
            "warn": self.rule.warning,
            "weight": self.rule.weight,
            "verdict": self.verdict,
            "reason": self.reason,
            "source": self.rule.source,
        }


def judge(structure: str, rule: Rule, measurement: Measurement | None, reason: str = "") -> Verdict:
    """Return what a rule says about one measurement. reason: why there is none.

    A structure that is empty passes nothing: what its number keeps is no more evaluable than that of one that is not
    there.
    """
    if measurement is None:
        why = reason or f"{rule.measurement} was not measured"
        return Verdict(structure, rule, None, NOT_EVALUABLE, _sentence(why))
    if math.isnan(measurement.value):
        return Verdict(structure, rule, measurement, NOT_EVALUABLE, _sentence(measurement.reason))
    value = measurement.value
    verdict = PASS if rule.keeps(value, rule.limit) else FAIL
    if verdict == FAIL and rule.warning is not None and rule.keeps(value, rule.warning):
        verdict = WARN
    if measurement.empty and verdict != FAIL:
        why = f"{measurement.empty}, so {_named(rule)} {_text(rule, measurement)} says nothing"
        return Verdict(structure, rule, measurement, NOT_EVALUABLE, _sentence(why))
    cause = measurement.empty or (measurement.reason if math.isinf(value) else "")
    because = f" because {cause}" if cause else ""
    limit = rule.warning if verdict == WARN else rule.limit
    relation = "within +-" if rule.relation == "within" else f"{rule.relation} "
    holds = "is" if verdict == PASS else f"is not {relation}{shortest(rule.limit)} but" if verdict == WARN else "is not"
    return Verdict(
        structure,
        rule,
        measurement,
        verdict,
        _sentence(f"{_named(rule)} {_text(rule, measurement)} {holds} {relation}{shortest(limit)}{because}"),
    )


def _named(rule: Rule) -> str:
    """Return what a rule is about, with the convention that it demands."""
    return f"{rule.measurement} as by {rule.convention}" if rule.convention else rule.measurement


def _text(rule: Rule, measurement: Measurement) -> str:
    """Return a value in the unit of the limits, with so many digits that it is never seen on the wrong side."""
    if math.isinf(measurement.value):
        return measurement.text()
    limits = [limit for limit in (rule.limit, rule.warning) if limit is not None]

    def kept(value: float) -> list[bool]:
        return [rule.keeps(value, limit) for limit in limits]

    texts = (f"{measurement.value:.{digits}g}" for digits in range(6, 18))
    text = next(text for text in texts if kept(float(text)) == kept(measurement.value))
    return f"{text} {measurement.unit}".rstrip()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


@dataclass(frozen=True)
class Judgment:
    """What a protocol says about a case."""

    protocol: Protocol
    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> str:
        """The worst verdict of all; "not evaluable" when there is none."""
        return worst(verdict.verdict for verdict in self.verdicts)

    def byStructure(self) -> dict[str, tuple[Verdict, ...]]:
        """Return the verdicts of every structure, in the order in which they were judged."""
        result: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            result.setdefault(verdict.structure, []).append(verdict)
        return {name: tuple(verdicts) for name, verdicts in result.items()}

    def toDictionary(self) -> dict:
        """Return the judgment as in metrics.json."""
        structures = [
            {
                "structure": name,
                "verdict": worst(verdict.verdict for verdict in verdicts),
                "reason": " ".join(v.reason for v in verdicts if v.verdict == worst(w.verdict for w in verdicts)),
                "score": score(verdicts),
                "rules": [verdict.toDictionary() for verdict in verdicts],
            }
            for name, verdicts in self.byStructure().items()
        ]
        return {
            "name": self.protocol.name,
            "version": self.protocol.version,
            "comments": list(self.protocol.comments),
            "verdict": self.verdict,
            "score": score(self.verdicts),
            "structures": structures,
        }


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of verdicts, "not evaluable" of none."""
    return max(verdicts, key=VERDICTS.index, default=NOT_EVALUABLE)


def score(verdicts: Sequence[Verdict]) -> float | None:
    """Return the weight of the rules that pass over that of all that can be evaluated, in [0, 1]; None without any."""
    judged = [verdict for verdict in verdicts if verdict.verdict != NOT_EVALUABLE]
    total = sum(verdict.rule.weight for verdict in judged)
    return sum(verdict.rule.weight for verdict in judged if verdict.verdict == PASS) / total if judged else None


def judgeCase(
    protocol: Protocol,
    measured: Sequence[tuple[tuple[str, str], Mapping[str, Mapping[str, Measurement]]]],
    unmatched: Mapping[str, Sequence[str]],
    isWhole: bool = True,
) -> Judgment:
    """Return what a protocol says about a case.

    measured: for every pair the names of its two structures, and its measurements by convention, that of the comparison
    first, and key. unmatched: the
    names of structures that only the "reference" or only the "test" has. A rule for a structure that is not there, or
    only in one, is not evaluable. isWhole: whether these are all structures, so that others are not there.
    """
    verdicts = []
    for names, byConvention in measured:
        title = " / ".join(dict.fromkeys(names))
        for rule in protocol.rulesFor(*names):
            measurements = byConvention.get(rule.convention or next(iter(byConvention)), {})
            verdicts.append(judge(title, rule, measurements.get(rule.measurement)))
    for which, names in unmatched.items():
        for name in names:
            for rule in protocol.rulesFor(name):
                verdicts.append(judge(name, rule, None, f"only the {which} has {name}"))
    everyName = [name for names, _ in measured for name in names]
    everyName += [name for names in unmatched.values() for name in names]
    for rule in protocol.rules:
        if isWhole and not any(rule.fits(name) for name in everyName):
            verdicts.append(judge(rule.structure, rule, None, f"there is no structure {rule.structure}"))
    return Judgment(protocol, tuple(verdicts))
