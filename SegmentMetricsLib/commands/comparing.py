"""Comparison of paired structures, from the pairs to the files and the printed tables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base.errors import reasonOf
from ..base.texts import commaSeparated, oneLine
from ..settings.settings import Settings
from .results import finalStatus, progressBar, tellFailures, terminalWidth, unfinishedResults

# Most findings that are printed; the others are in metrics.json.
MOST_FINDINGS = 12
# The file with the others, with and without a folder for it; and the last line if there is none.
METRICS_FILE, UNWRITTEN_FILE = "metrics.json", "metrics.json, which --output DIR writes"
NOT_WRITTEN = "Nothing was written; --output DIR keeps numbers, surfaces and pictures, and with --report a report."


@dataclass(frozen=True)
class Request:
    """How the pairs of a pairing are to be compared, and the requested output.

    output: folder for the files, None to write nothing. extraFiles: copied to that folder. criticals: critical
    structures by name. protocol: to judge by, or None. failOn: the verdict from which on the exit status is 3, in the
    spelling of the option. isWhole: whether the pairing covers all structures. report: to be filled and written, or
    None. workers: number of processes, None for as many as are worthwhile. isNumbersOnly: whether surfaces and overlay
    pictures are omitted.
    """

    settings: Settings
    output: Path | None
    extraFiles: Sequence[Path] = ()
    criticals: Mapping = field(default_factory=dict)
    protocol: object = None
    failOn: str | None = None
    isWhole: bool = True
    report: object = None
    workers: int | None = None
    isNumbersOnly: bool = False

    def job(self, folder: Path | None):
        """Return the common part of the work on all pairs. folder: for the files, None to write none."""
        from .pairwork import Job

        return Job(self.settings, self.protocol, self.criticals, folder, self.report, self.isNumbersOnly)


@dataclass(frozen=True)
class _Compared:
    """The results of a pairing.

    pairing: with only the pairs that could be compared. results: one for each of these. problems: why other pairs and
    structures could not be. document: the content of metrics.json. multiLabel: the overlap of all labels, or None.
    judged: the judgment by the protocol, or None.
    """

    pairing: object
    results: Sequence
    problems: Sequence[str]
    document: dict
    multiLabel: object
    judged: object

    @property
    def records(self) -> list:
        return [result.record for result in self.results]

    @property
    def failures(self) -> dict[str, str]:
        return self.document.get("failures", {})


def compareAndWrite(pairing, request: Request) -> int:
    """Compare all pairs, write the results and print the tables; either all files are written or none.

    Return the exit status: 1 if some pairs could not be compared, 3 if the verdict is at least as bad as failOn. Raises
    InputError when none could be compared.
    """
    output = request.output
    with nullcontext() if output is None else unfinishedResults(output) as unfinished:
        compared = _compared(request.job(unfinished), pairing, request.workers, request.isWhole)
        if unfinished is not None:
            _write(compared, request.report, unfinished)
            for path in request.extraFiles:
                shutil.copy(path, unfinished / path.name)
    where = UNWRITTEN_FILE if output is None else METRICS_FILE
    _show(compared, where)
    print(f"\n{NOT_WRITTEN if output is None else f'Results are in {oneLine(str(output))}{os.sep}'}")
    problem = next((one.problem for one in compared.results if one.problem), "")
    if problem:
        print(f"No overlay pictures: {oneLine(problem)}", file=sys.stderr)
    tellFailures(list(dict.fromkeys(compared.problems)), where)
    return finalStatus(bool(compared.problems), [compared.judged.verdict] if compared.judged else [], request.failOn)


def _compared(job, pairing, workers: int | None, isWhole: bool) -> _Compared:
    """Return the results of a pairing. Raises InputError when none of its pairs can be compared."""
    from ..case import multilabel
    from ..case.protocol.judgment import judgeCase
    from ..model.naming import pairTitle
    from ..show import writing
    from .pairwork import compareEach

    names = list(writing.fileNames(reference.name for reference, _ in pairing.pairs))
    with progressBar(len(pairing.pairs), "pair", len(pairing.pairs) > 1) as progress:

        def done(name: str) -> None:
            progress.set_postfix_str(oneLine(name), refresh=False)
            progress.update()

        resultOf, errors = compareEach(job, pairing.pairs, names, workers, done)
    failedPairs = {pairTitle(s.name for s in pairing.pairs[number]): error for number, error in errors.items()}
    notCompared = {**pairing.failures, **failedPairs}
    failed = {title: reasonOf(error) for title, error in notCompared.items()}
    failures = {**(unusableIn(pairing) if isWhole else {}), **failed}
    found = list(resultOf.values())
    pairing = replace(pairing, pairs=tuple(pairing.pairs[number] for number in resultOf))
    records, files, shares = ([getattr(one, what) for one in found] for what in ("record", "files", "share"))
    measured = [
        ((match.reference.name, match.test.name), one.byConvention)
        for match, one in zip(pairing.pairs, found, strict=True)
    ]
    unmatched = pairing.unmatchedReference, pairing.unmatchedTest
    multiLabel = multilabel.ofShares(shares, *unmatched, job.settings, failed)
    document = writing.document(records, pairing, job.settings, files, multiLabel)
    if failures:
        document["failures"] = failures
    judged = job.protocol and judgeCase(
        job.protocol, measured, document["unmatched"], isWhole=isWhole, failures=failures
    )
    if judged:
        # the protocol adds different settings for each structure
        for pair, one in zip(document["pairs"], found, strict=True):
            pair["settings"] = one.settings.toDictionary()
        document["protocol"] = judged.toDictionary()
    unusable = [why for title, why in failures.items() if title not in failed]
    return _Compared(pairing, found, [*map(str, notCompared.values()), *unusable], document, multiLabel, judged)


def _write(compared: _Compared, report, folder: Path) -> None:
    """Write the files about all pairs, beside those of each pair. report: to be filled and written, or None."""
    from ..show import verdicts as verdictwriting
    from ..show import writing

    document, records = compared.document, compared.records
    if compared.judged:
        verdictwriting.writeVerdicts(document["protocol"], folder / writing.VERDICTS_FILE)
    if report is not None:
        for one in compared.results:
            report.include(one.part)
        findings = compared.pairing.findings
        path = folder / writing.REPORT_FILE
        report.write(
            path,
            judgment=compared.judged or None,
            unmatched=document["unmatched"],
            failures=compared.failures,
            findings=findings,
        )
        document = {**document, "report": writing.REPORT_FILE}
    writing.writeJson(document, folder / METRICS_FILE)
    writing.writeCsv(records, folder / "metrics.csv")
    writing.writeCsvSchema(records, folder / "metrics.schema.csv")


def _show(compared: _Compared, where: str) -> None:
    """Print the tables and the findings. where: the file with the findings that are not printed."""
    from ..model.naming import notAmong
    from ..show import tables
    from ..show.verdicts import verdictTable

    records, pairing = compared.records, compared.pairing
    width = terminalWidth()
    print(tables.pairTable(records[0], width) if len(records) == 1 else tables.overviewTable(records, width))
    if compared.multiLabel is not None:
        print("\n" + tables.multiLabelTable(compared.multiLabel))
    for which, structures in (("reference", pairing.unmatchedReference), ("test", pairing.unmatchedTest)):
        # a structure that is damaged on the other side is among the failures
        if names := notAmong((s.name for s in structures), compared.failures):
            print(f"\nOnly in the {which}: {oneLine(commaSeparated(names))}")
    if judged := compared.judged:
        print(f"\nProtocol {oneLine(judged.protocol.name)}: {judged.verdict}\n{verdictTable(judged)}")
    findings = [*map(oneLine, pairing.findings), *tables.remarks(records)]
    if findings:
        more = len(findings) - MOST_FINDINGS
        print("\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in {where}" if more > 0 else ""))


def unusableIn(pairing) -> dict[str, str]:
    """Return the reasons, by name, for which structures were left out of the files of a pairing."""
    from ..model import structures

    return structures.unusableIn(pairing, *pairing.sets)
