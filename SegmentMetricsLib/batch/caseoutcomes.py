"""The outcome of comparing the structures of one case, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError, reasonOf
from ..base.texts import cutShort, oneLine, tellingApart
from ..case.casework import comparePair, criticalsOf, readableChoices, withLabelsNamed
from ..case.comparison import Comparison
from ..case.missing import compareMissing, diagonal, structureName, whatIsMissing, whichLacks
from ..case.pairing import pairStructures, whyNothingIsPaired
from ..case.protocol.judgment import Judgment, judgeCase
from ..case.protocol.measuring import compareMatch
from ..comparison.findings import asDictionaries
from ..comparison.measurements import Measurement
from ..io.reading import readAll
from ..io.structurenames import settled
from ..model.naming import pairTitle
from ..model.structures import Match, unusableIn
from .cases import FAILED, OK, Task

if TYPE_CHECKING:
    from ..show.report import Report

# A comparison, and all measurements by convention and key.
Compared = tuple[Comparison, dict[str, Mapping[str, Measurement]]]


def compared(task: Task) -> dict:
    """Compare and judge the structures of a case, write its report if requested, and return the outcome as strict JSON.

    If a structure cannot be used or a pair cannot be compared, the case fails, but its other pairs are kept. Raises
    InputError and OSError for a case that cannot be run at all.
    """
    labelNames = dict(task.labelNames)
    paths = (task.reference, task.test)
    sets = readAll(paths, task.settings.threshold, task.settings.membershipMaximum, labelNames)
    sets = settled(sets, name=task.structure)
    task = replace(task, settings=withLabelsNamed(task.settings, *sets, labelNames))
    choices = readableChoices(task.choices, *sets, labelNames, isNeeded=False)
    pairing = pairStructures(*sets, choices=choices, labelNames=labelNames)
    compareTwo = partial(comparePair, criticals=criticalsOf(sets[0], task.settings))
    report = _newReport(task)
    settings = task.settings if report is None else report.settings

    def compareOne(match: Match) -> Compared:
        return compareMatch(match, settings, task.protocol, compareTwo)

    unusable = unusableIn(pairing, *sets)
    whys = [*unusable.values(), *map(str, pairing.failures.values())]
    pairs = _Pairs(
        failures={**unusable, **{name: reasonOf(error) for name, error in pairing.failures.items()}},
        problems=list(dict.fromkeys(map(oneLine, whys))),
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
        "reason": " ".join(cutShort(problems)),
        "pairs": pairs.records,
        "unmatched": unmatched,
        "missing": missing,
        "pairing": {
            "proposals": [match.toDictionary() for match in pairing.proposals],
            "findings": asDictionaries(pairing.findings if pairing.pairs else whyNothingIsPaired(pairing, sets)),
        },
        **({"failures": pairs.failures} if pairs.failures else {}),
    }
    judged: Judgment | None = None
    if task.protocol is not None:
        judged = judgeCase(task.protocol, pairs.measured, unmatched, failures=pairs.failures)
        result["protocol"] = judged.toDictionary()
    if report is not None:
        report.write(
            Path(task.report), judgment=judged, unmatched=unmatched, failures=pairs.failures, findings=pairing.findings
        )
        result["report"] = Path(task.report).name
    return result


@dataclass
class _Pairs:
    """The results of the pairs of a case, without their geometry.

    failures: reasons by name for structures and pairs that cannot be compared. records: pairs as plain values.
    measured: names and measurements, as judgeCase() takes them. problems: why pairs cannot be compared, in sentences.
    """

    failures: dict[str, str]
    records: list[dict] = field(default_factory=list)
    measured: list[tuple[tuple[str, str], dict[str, Mapping[str, Measurement]]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, match: Match, compareOne: Callable[[Match], Compared], report: Report | None) -> None:
        """Compare a pair and keep the results, or the reason why that is not possible."""
        try:
            # a copy, so that the surfaces made on the way are freed with it
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


def _newReport(task: Task) -> Report | None:
    if not task.report:
        return None
    from ..show.report import Report

    titles = tellingApart([task.reference, task.test])
    origins = (titles[task.reference], titles[task.test])
    return Report(task.title, task.settings, withConventions=task.withConventions, origins=origins)
