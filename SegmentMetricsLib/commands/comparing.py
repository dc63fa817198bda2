"""Comparison of paired structures, from the pairs to the files and the printed tables."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import reasonOf
from ..base.texts import oneLine
from .results import NOT_WRITTEN, finalStatus, progressBar, tellFailures, terminalWidth, unfinishedResults

if TYPE_CHECKING:
    from ..case.caseresult import CaseResult, PairResult
    from ..case.casework import Case
    from ..case.multilabel import MultiLabel
    from ..case.protocol.protocol import Protocol
    from ..model.structures import Match
    from ..show.report import Report

# Most findings that are printed; the others are in metrics.json.
MOST_FINDINGS = 12
# The file with the others, with and without a folder for it.
METRICS_FILE, UNWRITTEN_FILE = "metrics.json", "metrics.json, which --output DIR writes"


@dataclass(frozen=True)
class Request:
    """How the pairs of a case are to be compared, and the requested output.

    output: folder for the files, None to write nothing. extraFiles: copied to that folder. protocol: to judge by, or
    None. failOn: the verdict from which on the exit status is 3, in the spelling of the option. report: to be filled
    and written, or None. workers: number of processes, None for as many as are worthwhile. isNumbersOnly: whether
    surfaces and overlay pictures are omitted. isSpread: whether to compute what the grid contributes to measurements.
    isJson: whether to print the content of metrics.json instead of tables.
    """

    output: Path | None
    extraFiles: Sequence[Path] = ()
    protocol: Protocol | None = None
    failOn: str | None = None
    report: Report | None = None
    workers: int | None = None
    isNumbersOnly: bool = False
    isSpread: bool = False
    isJson: bool = False


def compareAndWrite(case: Case, request: Request) -> int:
    """Compare all pairs, write the results and print the tables; either all files are written or none.

    Return the exit status: 1 if some pairs could not be compared, 3 if the verdict is at least as bad as failOn. Raises
    InputError when none could be compared.
    """
    output = request.output
    with nullcontext() if output is None else unfinishedResults(output) as unfinished:
        result, files = _compared(case, request, unfinished)
        document, multiLabel = _document(case, result, files)
        if unfinished is not None:
            _write(result, document, request.report, unfinished)
            for path in request.extraFiles:
                shutil.copy(path, unfinished / path.name)
    where = UNWRITTEN_FILE if output is None else METRICS_FILE
    if request.isJson:
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        _show(result, multiLabel, where)
    said = f"Results are in {oneLine(str(output))}{os.sep}" if output else "" if request.isJson else NOT_WRITTEN
    if said:
        print(f"\n{said}", file=sys.stderr if request.isJson else sys.stdout)
    unusable = [why for title, why in case.unusable.items() if title not in result.errors]
    problems = list(dict.fromkeys([*map(str, result.errors.values()), *unusable]))
    tellFailures(problems, where)
    return finalStatus(bool(problems), [result.judgment.verdict] if result.judgment else [], request.failOn)


def _compared(case: Case, request: Request, folder: Path | None) -> tuple[CaseResult, list]:
    """Return the result of a case, with the record of each pair, and for each pair the names of its files by kind.

    folder: for the files of the pairs, None to write none. Raises InputError when no pair can be compared.
    """
    from ..case.casework import PairWork
    from ..show import writing
    from .pairwork import WrittenPairs, displayed, inProcesses

    pairs = case.pairing.pairs
    names = list(writing.fileNames(reference.name for reference, _ in pairs))
    work = PairWork(
        case.settings, request.protocol, case.criticals, displayed, isSpread=request.isSpread, dose=case.dose
    )

    def each(_: Callable[[int, Match], PairResult], matches: Sequence[Match]) -> Iterator:
        for number, outcome in inProcesses(written, matches, request.workers):
            progress.set_postfix_str(oneLine(matches[number].reference.name), refresh=False)
            progress.update()
            yield number, outcome

    with progressBar(len(pairs), "pair", len(pairs) > 1) as progress:
        written = WrittenPairs(work, names, folder, request.report, request.isNumbersOnly, case.image)
        result = case.compare(request.protocol, written, each)
    result.requireAny()
    return result, [written.filesOf(pairs.index(match)) for match in result.pairing.pairs]


def _document(case: Case, result: CaseResult, files: Sequence[dict]) -> tuple[dict, MultiLabel | None]:
    """Return the content of metrics.json, and the overlap of all labels if it was measured."""
    from ..case import multilabel
    from ..show import writing

    shares = [one.share for one in result.results]
    failed = {title: reasonOf(error) for title, error in result.errors.items()}
    overlap = multilabel.ofShares(shares, result.unmatchedReference, result.unmatchedTest, case.settings, failed)
    document = writing.document(result, result.pairing, case.settings, files, overlap)
    if result.failures:
        document["failures"] = result.failures
    if result.judgment:
        # the protocol adds different settings for each structure
        for pair, one in zip(document["pairs"], result.results, strict=True):
            pair["settings"] = one.settings.toDictionary()
        document["protocol"] = result.judgment.toDictionary()
    return document, overlap


def _write(result: CaseResult, document: dict, report: Report | None, folder: Path) -> None:
    """Write the files about all pairs, beside those of each pair. report: to be filled and written, or None."""
    from ..show import verdicts as verdictwriting
    from ..show import writing

    if result.judgment:
        verdictwriting.writeVerdicts(document["protocol"], folder / writing.VERDICTS_FILE)
    if report is not None:
        for one in result.results:
            report.include(one.output)
        report.write(
            folder / writing.REPORT_FILE,
            judgment=result.judgment,
            unmatched=result.unmatched,
            failures=result.failures,
            findings=result.findings,
        )
        document = {**document, "report": writing.REPORT_FILE}
    writing.writeJson(document, folder / METRICS_FILE)
    writing.writeCsv(result, folder / "metrics.csv")
    writing.writeLists(result, folder)
    writing.writeCsvSchema(result, folder / "metrics.schema.csv")


def _show(result: CaseResult, multiLabel: MultiLabel | None, where: str) -> None:
    """Print the tables and the findings. where: the file with the findings that are not printed."""
    from ..model.naming import onlyIn
    from ..show import tables
    from ..show.verdicts import verdictTable

    width = terminalWidth()
    print(tables.pairTable(result[0], width) if len(result) == 1 else tables.overviewTable(result, width))
    if multiLabel is not None:
        print("\n" + tables.multiLabelTable(multiLabel))
    for sentence in onlyIn(result.unmatched, result.failures):
        print(f"\n{oneLine(sentence)}")
    if judged := result.judgment:
        print(f"\nProtocol {oneLine(judged.protocol.name)}: {judged.verdict}\n{verdictTable(judged)}")
    findings = list(tables.remarks(result, result.findings))
    if findings:
        more = len(findings) - MOST_FINDINGS
        print("\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in {where}" if more > 0 else ""))
