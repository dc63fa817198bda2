"""Verdicts: the judgment of the comparisons of a case by a protocol, and in words why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...base.errors import requireKind
from ...base.plain import finite, fromPlain, toPlain
from ...base.texts import shortest
from ...metrics.measurement import (
    IN_CENTIMETERS,
    LEAST_IN_CENTIMETERS,
    ROUNDING,
    ROUNDING_OF_ZERO,
    Measurement,
    decimalsOf,
    fixDecimals,
    roundText,
)
from ...metrics.registry import findMetric
from ...model import naming
from .protocol import Protocol, Rule

PASS, WARN, FAIL, NOT_EVALUABLE = "pass", "warn", "fail", "not evaluable"
# The meaning of a score, in sentences.
SCORE_NOTE = (
    "The score is the weight of a structure's passed rules over that of all its rules that could be evaluated: with "
    "weights of 3 and 1, of which the first passes, it is 0.75. It decides nothing; the verdict is that of the worst "
    "rule."
)
# From best to worst: the verdict on a group is the worst of its members'.
VERDICTS = (PASS, WARN, NOT_EVALUABLE, FAIL)
# Phrases for a value that keeps a limit, for one that does not, and between the latter and a second limit.
PHRASES = {
    "<=": ("is at most", "exceeds", " and"),
    "<": ("is below", "is not below", ", nor is it below"),
    ">=": ("is at least", "is below", " and"),
    ">": ("is above", "is not above", ", nor is it above"),
    "within": ("is within", "exceeds", " and"),
}
SIGNS = {"<=": "≤ ", "<": "< ", ">=": "≥ ", ">": "> ", "within": ""}
# Most decimal places used to distinguish a value from a limit.
MOST_DIGITS = 17
# Families whose units depend on the settings.
UNIT_BY_SETTINGS = ("voxel", "similarity")


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
        """The limits as text for people, in the unit of the value, such as "≤ 3 mm (warn 5 mm)"."""
        rule, unit = self.rule, unitOf(self.rule, self.measurement)
        text = SIGNS[rule.relation] + limitText(rule, rule.limit, unit)
        return text if rule.warning is None else f"{text} (warn {limitText(rule, rule.warning, unit)})"

    def toDictionary(self) -> dict:
        """Return the verdict as plain values for files."""
        given = self.measurement
        rule = {key: value for key, value in toPlain(self.rule).items() if key != "where"}
        found = {"value": given and finite(given.value), "unit": given.unit if given else ""}
        return rule | {"structure": self.structure, **found, "verdict": self.verdict, "reason": self.reason}


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
            return Verdict(structure, rule, measurement, verdict, explain(rule, measurement, isKept, isWarning))
        why = f"{measurement.empty}, so {nameRule(rule)} {valueText(rule, value, measurement.unit)} says nothing"
    sentence = f"{why[:1].upper()}{why[1:]}{'' if why.endswith('.') else '.'}"
    return Verdict(structure, rule, measurement, NOT_EVALUABLE, sentence)


def ruleOf(data: Mapping) -> Rule:
    """Return the rule of a verdict. data: the result of Verdict.toDictionary()."""
    return fromPlain(Rule, data)


@dataclass(frozen=True)
class Judgment:
    """A case's judgment by a protocol. withoutLimits: names of structures, and titles of pairs, without any rule."""

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

    def byStructure(self) -> dict[str, list[Verdict]]:
        """Return the verdicts by structure, in the order in which they were judged."""
        result: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            result.setdefault(verdict.structure, []).append(verdict)
        return result

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
        protocol = {name: getattr(self.protocol, name) for name in ("name", "version", "comments")}
        found = {"verdict": self.verdict, "score": score(self.verdicts), "structures": structures}
        return toPlain({**protocol, **found, "withoutLimits": self.withoutLimits})


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
    return "-" if (given := score(verdicts)) is None else f"{given:.2f}"


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
    for which, alone in unmatched.items():
        # a structure that cannot be used on the other side must not be reported as missing there
        left = naming.notAmong(alone, failures)
        subjects += [(name, (name,), {}, f"only the {which} has {name}") for name in left]
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


def nameRule(rule: Rule) -> str:
    """Return the measurement of a rule as named in a sentence, with the convention that the rule demands."""
    name, _, parameter = rule.measurement.partition("_")
    found = findMetric(rule.measurement)
    short = (found.metric.heading if found else "") or name
    if short[-1] in ".>" and found:  # no headings in a sentence that are abbreviated for a column
        short = found.metric.title.partition(",")[0]
    with_ = f" ({parameter.replace('mm', ' mm')})" if parameter else ""
    return f"{short}{with_}{f' as by {rule.convention}' if rule.convention else ''}"


def unitOf(rule: Rule, measurement: Measurement | None) -> str:
    """Return the unit of a rule's limits: that of the measurement, or without one of the definition, "" if unknown."""
    if measurement is not None:
        return measurement.unit
    found = findMetric(rule.measurement)
    return "" if found is None or found.metric.family in UNIT_BY_SETTINGS else found.metric.unit


def valueText(rule: Rule, value: float, unit: str) -> str:
    """Return a value as text for people, in the unit of its rule's limits.

    It has more digits than usual only if it would otherwise look equal to a limit that it does not equal.
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    shown, factor = _scale(rule, unit)
    known, usual = _sides(rule, value), decimalsOf(shown)
    tellingApart = (n for n in range(usual, MOST_DIGITS) if _sides(rule, round(value / factor, n) * factor) == known)
    digits = next(tellingApart, MOST_DIGITS)
    text = fixDecimals(value / factor, shown) if digits == usual else roundText(value / factor, digits)
    return f"{text} {shown}".rstrip()


def limitText(rule: Rule, limit: float, unit: str) -> str:
    """Return a limit in the unit in which valueText() shows a value."""
    shown, factor = _scale(rule, unit)
    sign = "±" if rule.relation == "within" else ""
    return f"{sign}{(Decimal(shortest(limit)) / factor).normalize():f} {shown}".rstrip()


def explain(rule: Rule, measurement: Measurement, isKept: bool, isWarning: bool) -> str:
    """Return a sentence that compares a value with its limits. isWarning: whether it keeps only the laxer one."""
    value, unit = measurement.value, measurement.unit
    limit = limitText(rule, rule.limit, unit)
    laxer = None if rule.warning is None or isKept else limitText(rule, rule.warning, unit)
    if math.isinf(value):
        cause = measurement.empty or measurement.reason
        because = f" because {cause}" if cause else ""
        size = "minus infinite" if value < 0 else "infinite"
        return f"{nameRule(rule)} is {size}{because}; the limit is {limit}."
    keeps, breaks, also = PHRASES[rule.relation]
    text = f"{nameRule(rule)} {valueText(rule, value, unit)} {keeps if isKept else breaks} {limit}"
    if laxer is not None:
        text += f"; the warning limit is {laxer}" if isWarning else f"{also} the warning limit of {laxer}"
    return f"{text} because {measurement.empty}." if measurement.empty else f"{text}."


def _scale(rule: Rule, unit: str) -> tuple[str, int]:
    """Return the unit in which a value and its limits are shown, and its size in the given unit."""
    limits = [abs(limit) for limit in (rule.limit, rule.warning) if limit]
    larger, factor = IN_CENTIMETERS.get(unit, (unit, 1))
    # small limits, such as 5 mm3, are shown in mm3
    return (larger, factor) if all(limit >= LEAST_IN_CENTIMETERS * factor for limit in limits) else (unit, 1)


def _sides(rule: Rule, value: float) -> list[tuple[bool, bool]]:
    """Return, for each limit of a rule, whether a value keeps it, and whether they are equal apart from rounding."""
    size = abs(value) if rule.relation == "within" else value
    limits = [limit for limit in (rule.limit, rule.warning) if limit is not None]
    return [(rule.keeps(value, n), math.isclose(size, n, rel_tol=ROUNDING, abs_tol=ROUNDING_OF_ZERO)) for n in limits]
