"""What comparing the structures of one case finds, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..comparison import Comparison
from ..errors import InputError, oneLine, reasonOf
from ..files.reading import readAll
from ..measurements import Measurement
from ..naming import pairTitle
from ..pairing import pairStructures
from ..protocol.judgment import Judgment, judgeCase
from ..protocol.measuring import compareMatch
from ..structures import Match, Pairing, Structure, commaSeparated, leftOutOf, nameMeant, unusableOf
from .cases import FAILED, OK, Task
from .casework import comparePair, criticalsOf, withLabelsNamed
from .missing import compareMissing, diagonal, isAlonePair, structureName, whatIsMissing, whichLacks

if TYPE_CHECKING:
    from ..report import Report

# A comparison, and all measurements by convention and key.
Compared = tuple[Comparison, dict[str, Mapping[str, Measurement]]]


def compared(task: Task) -> dict:
    """Return what comparing the structures of a case and judging them found, strict JSON; write its report if asked to.

    A pair that cannot be compared makes the case fail, and leaves the others. Raises InputError and OSError for a case
    that cannot be run at all.
    """
    labelNames = dict(task.labelNames)
    paths = (task.reference, task.test)
    sets = readAll(paths, task.settings.threshold, task.settings.membershipMaximum, labelNames)
    task = replace(task, settings=withLabelsNamed(task.settings, *sets, labelNames))
    isAlone = isAlonePair(*sets, paths)
    choices = _applicable(task, labelNames, *sets)
    pairing = pairStructures(*sets, choices=choices, isAlonePair=isAlone, labelNames=labelNames)
    compareTwo = partial(comparePair, criticals=criticalsOf(sets[0], task.settings))
    report = _newReport(task)
    settings = task.settings if report is None else report.settings

    def compareOne(match: Match) -> Compared:
        return compareMatch(match, settings, task.protocol, compareTwo)

    pairs = _Pairs(
        failures={**unusableOf(*sets), **{name: reasonOf(error) for name, error in pairing.failures.items()}},
        problems=list(dict.fromkeys(oneLine(str(error)) for error in pairing.failures.values())),
    )
    for match in pairing.pairs:
        pairs.add(match, compareOne, report)
    criticals = [name for name, _ in settings.critical]
    missing, more = compareMissing(sets, pairing, criticals, lambda match: compareOne(match)[0])
    problems = [*pairs.problems, *more]
    unmatched = {
        "reference": [structure.name for structure in pairing.unmatchedReference],
        "test": [structure.name for structure in pairing.unmatchedTest],
    }
    result = {
        "status": FAILED if problems else OK,
        "reason": " ".join(problems),
        "pairs": pairs.records,
        "unmatched": unmatched,
        "missing": missing,
        "pairing": {
            "proposals": [match.toDictionary() for match in pairing.proposals],
            "findings": [*pairing.findings, *_nothingInCommon(pairing, sets)],
        },
        **({"failures": pairs.failures} if pairs.failures else {}),
    }
    judged: Judgment | None = None
    if task.protocol is not None:
        judged = judgeCase(task.protocol, pairs.measured, unmatched, failures=pairs.failures)
        result["protocol"] = judged.toDictionary()
    if report is not None:
        report.write(Path(task.report), judged, unmatched, pairs.failures, pairing.findings)
        result["report"] = Path(task.report).name
    return result


@dataclass
class _Pairs:
    """What is kept of the pairs of a case, without their geometry.

    failures: reasons by name of what cannot be compared. records: as plain values. measured: names and measurements, as
    judgeCase takes them. problems: why pairs cannot be compared, in sentences.
    """

    failures: dict[str, str]
    records: list[dict] = field(default_factory=list)
    measured: list[tuple[tuple[str, str], dict[str, Mapping[str, Measurement]]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, match: Match, compareOne: Callable[[Match], Compared], report: Report | None) -> None:
        """Compare a pair, and keep what is needed of it."""
        try:
            # the surfaces made on the way do not outlive the pair
            comparison, byConvention = compareOne(match.anew())
        except InputError as error:
            self.problems.append(oneLine(str(error)))
            self.failures[pairTitle(structure.name for structure in match)] = reasonOf(error)
            return
        if report is not None:
            report.add(comparison)
        self.measured.append(((match.reference.name, match.test.name), byConvention))
        self.records.append(
            {
                **comparison.toDictionary(),
                "pairing": {"how": match.how, "confidence": match.confidence},
                "structure": structureName(match),
                "diagonal": diagonal(match),
                **whatIsMissing(whichLacks(match), structureName(match)),
            }
        )


def _nothingInCommon(pairing: Pairing, sets: Sequence[Sequence[Structure]]) -> list[str]:
    """Return what there is to say about a case without a pair."""
    if pairing.pairs:
        return []
    reference, test = (commaSeparated(s.name for s in structures) for structures in sets)
    problem = f"No structure has the same name in both: the reference has {reference}; the test has {test}."
    return [problem, *leftOutOf(*sets)]


def _applicable(task: Task, labelNames: Mapping[int, str], *sets: Sequence[Structure]) -> dict[str, str | None]:
    """Return the choices of a task that are about structures of this case."""
    names = [{structure.name for structure in structures} for structures in sets]

    def isThere(pair: tuple[str, str]) -> bool:
        meant = (nameMeant(name, structures, labelNames) for name, structures in zip(pair, sets, strict=True))
        return all(name in known for name, known in zip(meant, names, strict=True))

    return dict(filter(isThere, task.choices))


def _newReport(task: Task) -> Report | None:
    if not task.report:
        return None
    from ..report import Report

    return Report(task.title, task.settings, task.withConventions)
