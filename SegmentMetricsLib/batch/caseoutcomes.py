"""The outcome of comparing the structures of one case, as plain values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.texts import cutShort, oneLine, tellingApart
from ..case.caseresult import CaseResult, PairResult
from ..case.casework import Case, PairWork, openCase
from ..case.missing import compareMissing, diagonal, structureName, whatIsMissing, whichLacks
from ..metrics.findings import asDictionaries
from ..model.structures import Match
from .cases import FAILED, OK, Task

if TYPE_CHECKING:
    from ..show.report import Report


def compared(task: Task) -> dict:
    """Compare and judge the structures of a case, write its report if requested, and return the outcome as strict JSON.

    If a structure cannot be used or a pair cannot be compared, the case fails, but its other pairs are kept. Raises
    InputError and OSError for a case that cannot be run at all.
    """
    case = openCase(
        task.reference,
        task.test,
        task.settings,
        names=task.names or None,
        choices=task.choices,
        labelNames=dict(task.labelNames),
        listedAs=task.structure,
        dose=task.dose or None,
        image=task.image if task.image and task.report else None,
    )
    report = _newReport(replace(task, settings=case.settings), case)
    settings = case.settings if report is None else report.settings
    work = PairWork(settings, task.protocol, case.criticals, task.displayed, isSpread=task.isSpread, dose=case.dose)

    thumbnails: dict[int, dict] = {}
    if report is not None:
        from ..show.report.thumbnails import thumbnail, typical

    def kept(number: int, match: Match) -> PairResult:
        # a copy, so that the surfaces made on the way are freed with it
        one = work(number, match.anew())
        if report is not None:
            report.add(one.comparison)
            both = {"thumbnail": thumbnail(one.comparison), "typical": typical(one.comparison)}
            thumbnails[number] = {name: picture for name, picture in both.items() if picture}
        return replace(one, comparison=one.comparison.record())

    result = case.compare(task.protocol, kept)
    criticals = [name for name, _ in settings.critical]
    missing, more = compareMissing(case.sets, case.pairing, criticals, lambda match: work.compare(match)[0])
    problems = [*dict.fromkeys(map(oneLine, _problems(case, result))), *more]
    pairs = [_recordOf(one, match) for one, match in zip(result, result.pairing.pairs, strict=True)]
    outcome = {
        "status": FAILED if problems else OK,
        "reason": " ".join(cutShort(problems)),
        "pairs": pairs,
        "unmatched": result.unmatched,
        "missing": missing,
        "pairing": {
            "proposals": [match.toDictionary() for match in result.proposals],
            "findings": asDictionaries(result.findings),
        },
        **({"failures": result.failures} if result.failures else {}),
    }
    for record, number in zip(pairs, sorted(thumbnails)):
        record.update(thumbnails[number])
    if result.judgment is not None:
        outcome["protocol"] = result.judgment.toDictionary()
    if report is not None:
        report.write(
            Path(task.report),
            judgment=result.judgment,
            unmatched=result.unmatched,
            failures=result.failures,
            findings=case.pairing.findings,
        )
        outcome["report"] = Path(task.report).name
    return outcome


def _problems(case: Case, result: CaseResult) -> list[str]:
    """Return in sentences why structures cannot be used and pairs cannot be compared."""
    return [*case.unusable.values(), *map(str, result.errors.values())]


def _recordOf(record, match: Match) -> dict:
    """Return a record of a pair as plain values, with what a cohort needs of its structures."""
    return {
        **record.toDictionary(),
        "pairing": {"how": match.how, "confidence": match.confidence},
        "structure": structureName(match),
        "diagonal": diagonal(match),
        **whatIsMissing(whichLacks(match), structureName(match)),
    }


def _newReport(task: Task, case: Case) -> Report | None:
    if not task.report:
        return None
    from ..show.report import Report

    titles = tellingApart([task.reference, task.test])
    origins = (titles[task.reference], titles[task.test])
    return Report(
        task.title,
        task.settings,
        withConventions=task.withConventions,
        origins=origins,
        image=case.image,
        script=task.script,
    )
