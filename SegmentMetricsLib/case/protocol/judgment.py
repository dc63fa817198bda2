"""Verdicts: the judgment of the comparisons of a case by a protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...base.errors import requireKind
from ...base.plain import toPlain
from ...metrics.measurement import Measurement
from ...model import naming
from . import wording
from .protocol import Protocol, Rule
from .wording import limitsText, nameRule, unitOf, valueText

PASS, WARN, FAIL, NOT_EVALUABLE = "pass", "warn", "fail", "not evaluable"
# The meaning of a score, in sentences.
SCORE_NOTE = (
    "The score is the weight of a structure's passed rules over that of all its rules that could be evaluated: with "
    "weights of 3 and 1, of which the first passes, it is 0.75. It decides nothing; the verdict is that of the worst "
    "rule."
)
# From best to worst: the verdict on a group is the worst of its members'.
VERDICTS = (PASS, WARN, NOT_EVALUABLE, FAIL)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a rule on a structure.

    structure: its name, or that in the rule when there is no such structure. measurement: None when there was nothing
    to measure. verdict: "pass", "warn", "fail" or "not evaluable". reason: for the verdict, in a sentence.
    """

    structure: str
    rule: Rule
    measurement: Measurement | None
    verdict: str
    reason: str

    @property
    def valueText(self) -> str:
        """The value as text for people, in the unit of the limits; "" when there was nothing to measure."""
        given = self.measurement
        return valueText(self.rule, given.value, given.unit) if given else ""

    @property
    def limitsText(self) -> str:
        """The limits as text for people, in the unit of the value."""
        return limitsText(self.rule, unitOf(self.rule, self.measurement))

    def toDictionary(self) -> dict:
        """Return the verdict as plain values for files."""
        content = {
            "structure": self.structure,
            "measurement": self.rule.measurement,
            "convention": self.rule.convention,
            "value": self.measurement and self.measurement.value,
            "unit": self.measurement.unit if self.measurement else "",
            "relation": self.rule.relation,
            "pass": self.rule.limit,
            "warn": self.rule.warning,
            "weight": self.rule.weight,
            "verdict": self.verdict,
            "reason": self.reason,
            "source": self.rule.source,
        }
        return toPlain(content)


def judge(structure: str, rule: Rule, measurement: Measurement | None, *, reason: str = "") -> Verdict:
    """Return the verdict of a rule on one measurement. reason: why there is none, if it is None.

    An empty structure never passes: if its number keeps the limit, the rule is not evaluable, as for a structure that
    does not exist.
    """
    if measurement is None:
        why = reason or f"{nameRule(rule)} was not measured"
    elif math.isnan(measurement.value):
        why = measurement.reason
    else:
        value = measurement.value
        isKept = rule.keeps(value, rule.limit)
        isWarning = not isKept and rule.warning is not None and rule.keeps(value, rule.warning)
        if not (measurement.empty and (isKept or isWarning)):
            verdict = PASS if isKept else WARN if isWarning else FAIL
            return Verdict(structure, rule, measurement, verdict, wording.reason(rule, measurement, isKept, isWarning))
        why = f"{measurement.empty}, so {nameRule(rule)} {valueText(rule, value, measurement.unit)} says nothing"
    sentence = f"{why[:1].upper()}{why[1:]}{'' if why.endswith('.') else '.'}"
    return Verdict(structure, rule, measurement, NOT_EVALUABLE, sentence)


def ruleOf(data: Mapping) -> Rule:
    """Return the rule of a verdict. data: the result of Verdict.toDictionary()."""
    names = ("structure", "measurement", "relation", "pass", "warn", "weight", "convention", "source")
    return Rule(*(data[name] for name in names))


@dataclass(frozen=True)
class Judgment:
    """The judgment of a case by a protocol.

    withoutLimits: the names of structures, and titles of pairs, without any rule.
    """

    protocol: Protocol
    verdicts: tuple[Verdict, ...]
    withoutLimits: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The worst of all verdicts; "not evaluable" when there are none."""
        return worst(verdict.verdict for verdict in self.verdicts)

    @property
    def isWeighted(self) -> bool:
        """Whether the rules have different weights, so that scores say more than how many rules are kept."""
        return any(verdict.rule.weight != 1 for verdict in self.verdicts)

    def byStructure(self) -> dict[str, tuple[Verdict, ...]]:
        """Return the verdicts by structure, in the order in which they were judged."""
        result: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            result.setdefault(verdict.structure, []).append(verdict)
        return {name: tuple(verdicts) for name, verdicts in result.items()}

    def toDictionary(self) -> dict:
        """Return the judgment as plain values, as in metrics.json."""
        structures = [
            {
                "structure": name,
                "verdict": worst(verdict.verdict for verdict in verdicts),
                "reason": " ".join(v.reason for v in verdicts if v.verdict == worst(w.verdict for w in verdicts)),
                "score": score(verdicts),
                "rules": verdicts,
            }
            for name, verdicts in self.byStructure().items()
        ]
        content = {
            "name": self.protocol.name,
            "version": self.protocol.version,
            "comments": self.protocol.comments,
            "verdict": self.verdict,
            "score": score(self.verdicts),
            "structures": structures,
            "withoutLimits": self.withoutLimits,
        }
        return toPlain(content)


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of some verdicts, "not evaluable" for none."""
    return max(verdicts, key=VERDICTS.index, default=NOT_EVALUABLE)


def score(verdicts: Sequence[Verdict]) -> float | None:
    """Return the weight of the passed rules over that of all evaluable ones, in [0, 1]; None without any."""
    judged = [verdict for verdict in verdicts if verdict.verdict != NOT_EVALUABLE]
    total = sum(verdict.rule.weight for verdict in judged)
    return sum(verdict.rule.weight for verdict in judged if verdict.verdict == PASS) / total if judged else None


def scoreText(verdicts: Sequence[Verdict]) -> str:
    """Return a score as text for people, "-" without any."""
    given = score(verdicts)
    return "-" if given is None else f"{given:.2f}"


def judgeCase(
    protocol: Protocol,
    measured: Sequence[tuple[tuple[str, str], Mapping[str, Mapping[str, Measurement]]]],
    unmatched: Mapping[str, Sequence[str]],
    *,
    isWhole: bool = True,
    failures: Mapping[str, str] | None = None,
) -> Judgment:
    """Return the judgment of a case by a protocol.

    Rules for structures that do not exist, that only one side has, or that could not be compared are not evaluable.
    measured: for every pair the names of its two structures, and its measurements by convention, that of the comparison
    first, and key. unmatched: the names of structures that only the "reference" or only the "test" has. isWhole:
    whether these are all structures, so that others do not exist. failures: reasons, by name or pairTitle(), for
    structures and pairs that could not be compared.
    """
    requireKind(protocol, Protocol, "The protocol", "a Protocol, as readProtocol() returns it")
    failures = failures or {}
    # title in verdicts, names by which rules are found, measurements, and why there are none
    subjects: list[tuple[str, Sequence[str], Mapping[str, Mapping[str, Measurement]], str]] = [
        (naming.pairTitle(names), names, byConvention, "") for names, byConvention in measured
    ]
    for title, reason in failures.items():
        subjects.append((title, tuple(dict.fromkeys((title, *title.split(naming.PAIR_JOINT)))), {}, reason))
    # a structure that cannot be used on the other side must not be reported as missing there
    spelled = {naming.parse(title).spelled for title in failures}
    for which, alone in unmatched.items():
        subjects += [
            (name, (name,), {}, f"only the {which} has {name}")
            for name in alone
            if naming.parse(name).spelled not in spelled
        ]
    verdicts, withoutLimits = [], []
    for title, names, byConvention, reason in subjects:
        rules = protocol.rulesFor(*names)
        for rule in rules:
            numbers = byConvention.get(rule.convention or next(iter(byConvention), ""), {})
            verdicts.append(judge(title, rule, numbers.get(rule.measurement), reason=reason))
        if not rules:
            withoutLimits.append(title)
    if isWhole:
        known = {name for _, names, _, _ in subjects for name in names}.union(*unmatched.values())
        absent = [rule for rule in protocol.rules if not any(map(rule.fits, known))]
        verdicts += [judge(r.structure, r, None, reason=f"there is no structure {r.structure}") for r in absent]
    return Judgment(protocol, tuple(verdicts), tuple(dict.fromkeys(withoutLimits)))
