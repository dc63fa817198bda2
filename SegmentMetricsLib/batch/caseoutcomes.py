"""The outcome of comparing the structures of one case, as plain values."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import PairError
from ..base.texts import cutShort, oneLine, tellingApart
from ..case.caseresult import CaseResult
from ..case.casework import Case, openCase
from ..case.comparison import Comparison
from ..case.missing import compareMissing, diagonal, structureName, whatIsMissing, whichLacks
from ..io.dicom.opening import isDicom
from ..io.doses import readWeighted
from ..metrics.findings import asDictionaries
from ..model.structures import Match
from .cases import FAILED, OK, Task

if TYPE_CHECKING:
    from ..case.comparison import Comparison
    from ..show.report import Report
    from ..show.report.document import Part


def outcomeOf(task: Task) -> dict:
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
        dose=readWeighted(task.doses),
        image=task.image if task.image and task.report else None,
        protocol=task.protocol,
    )
    case = replace(case, displayed=task.displayed, isSpread=task.isSpread)
    report = _newReport(replace(task, settings=case.settings), case)
    if report is not None:
        from ..show.report.slicepictures import thumbnail, typical

        case = replace(case, settings=report.settings)
    found: dict[int, Comparison | PairError] = {}
    parts: dict[int, Part] = {}
    thumbnails: dict[int, dict] = {}

    def keep(number: int, one: Comparison | PairError) -> None:
        if report is not None and not isinstance(one, PairError):
            parts[number] = report.part(one, number)
            both = {"thumbnail": thumbnail(one), "typical": typical(one)}
            thumbnails[number] = {name: picture for name, picture in both.items() if picture}
        found[number] = one if isinstance(one, PairError) else one.record(hasPlaces=report is not None)

    for pack in case.packs():
        # copies, so that the surfaces made on the way are freed with them
        compared = case.pairs(case.pairing.pairs[number].anew() for number in pack)
        for number in pack:
            keep(number, next(compared))
    result = case.result(found)
    if report is not None:
        for number in sorted(parts):
            report.include(parts[number])
    missing, more = compareMissing(case)
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
    if task.structuredReport and result:
        from ..show.structuredreport import writeReport

        target = Path(task.structuredReport)
        shutil.rmtree(target.parent, ignore_errors=True)  # of a run of this case that failed
        image = Path(task.image)
        sources = [image] if task.image and (image.is_dir() or isDicom(image)) else []
        files = writeReport(result, target, sources=sources, hasCopies=task.hasCopies)
        outcome["structuredReport"] = "/".join(files[0].parts[-2:])
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
