"""Comparison of paired structures, from the pairs to the files and the printed tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..base.texts import oneLine
from .results import finalStatus, progressBar, tellFailures, tellWhere, terminalWidth, unfinishedResults

if TYPE_CHECKING:
    from ..case.caseresult import CaseResult
    from ..case.casework import Case
    from ..settings.settings import Settings
    from ..show.report import Report
    from ..show.report.document import Part

# Most findings that are printed; the others are in metrics.json.
MOST_FINDINGS = 12
# The file with the others, with and without a folder for it.
METRICS_FILE, UNWRITTEN_FILE = "metrics.json", "metrics.json, which --output DIR writes"


def compareAndWrite(
    case: Case,
    output: Path | None,
    *,
    extraFiles: Sequence[Path] = (),
    report: Report | None = None,
    failOn: str | None = None,
    workers: int | None = None,
    isNumbersOnly: bool = False,
    isJson: bool = False,
    dicomWriters: Sequence[Callable[[CaseResult], object]] = (),
) -> int:
    """Compare all pairs, write the results and print the tables; either all files are written or none.

    output: folder for the files, None to write nothing. extraFiles: copied to that folder. report: to be filled and
    written, or None. failOn: the verdict from which on the exit status is 3, in the spelling of the option. workers:
    number of processes, None for as many as are worthwhile. isNumbersOnly: whether surfaces, pictures and worst places
    are omitted. isJson: whether to print the content of metrics.json instead of tables. dicomWriters: write the
    result as DICOM. Returns the exit status: 1 if some pairs could not be compared, 3 if the verdict is at least as bad
    as failOn. Raises InputError when none could be compared.
    """
    from ..case.comparison import Comparison
    from ..show import writing
    from .pairwork import WrittenPair, WrittenPairs

    pairs, found = case.pairing.pairs, dict[int, WrittenPair]()
    names = list(writing.fileNames(reference.name for reference, _ in pairs))
    hasPlaces = report is not None or not (isNumbersOnly or (output is None and not isJson))
    with unfinishedResults(output) as unfinished:
        isShowing = unfinished is not None and not isNumbersOnly
        with progressBar(len(pairs), "pair", len(pairs) > 1) as progress:
            work = WrittenPairs(case, names, unfinished, report, isShowing, hasPlaces)
            for number, one in work.each(workers):
                progress(pairs[number].reference.name)
                found[number] = one
        result = case.result({number: one.record for number, one in found.items()})
        result.requireAny()
        order = [number for number in sorted(found) if isinstance(found[number].record, Comparison)]
        document = _document(result, case.settings, [work.filesOf(number) for number in order])
        if unfinished is not None:
            if report is not None:
                for number in order:
                    report.include(cast("Part", found[number].part))
            _write(result, document, report, unfinished)
            for path in extraFiles:
                shutil.copy(path, unfinished / path.name)
        for write in dicomWriters:
            write(result)
    where = UNWRITTEN_FILE if output is None else METRICS_FILE
    if isJson:
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        _show(result, where)
    if output or not isJson:
        tellWhere(output, isApart=True, isAside=isJson)
    unusable = [why for title, why in case.unusable.items() if title not in result.errors]
    problems = list(dict.fromkeys([*map(str, result.errors.values()), *unusable]))
    tellFailures(problems, where)
    return finalStatus(bool(problems), [result.judgment.verdict] if result.judgment else [], failOn)


def _document(result: CaseResult, settings: Settings, files: Sequence[dict]) -> dict:
    """Return the content of metrics.json. files: for each pair, the names of its files by kind."""
    from ..show import writing

    document = writing.document(result, result.pairing, settings, files, result.multiLabel)
    if result.failures:
        document["failures"] = result.failures
    if result.judgment:
        # the protocol adds different settings for each structure
        for pair, one in zip(document["pairs"], result, strict=True):
            pair["settings"] = one.settings.toDictionary()
        document["protocol"] = result.judgment.toDictionary()
    return document


def _write(result: CaseResult, document: dict, report: Report | None, folder: Path) -> None:
    """Write the files about all pairs, beside those of each pair. report: of them, or None."""
    from ..show import verdicts as verdictwriting
    from ..show import writing

    if result.judgment:
        verdictwriting.writeVerdicts(document["protocol"], folder / writing.VERDICTS_FILE)
    if report is not None:
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


def _show(result: CaseResult, where: str) -> None:
    """Print the tables and the findings. where: the file with the findings that are not printed."""
    from ..model.naming import onlyIn
    from ..show import tables
    from ..show.verdicts import verdictTable

    width = terminalWidth()
    print(tables.pairTable(result[0], width) if len(result) == 1 else tables.overviewTable(result, width))
    if (overlap := result.multiLabel) is not None:
        print("\n" + tables.multiLabelTable(overlap))
    for sentence in onlyIn(result.unmatched, result.failures):
        print(f"\n{oneLine(sentence)}")
    if judged := result.judgment:
        print(f"\nProtocol {oneLine(judged.protocol.name)}: {judged.verdict}\n{verdictTable(judged)}")
    findings = list(tables.remarks(result, result.findings))
    if findings:
        more = len(findings) - MOST_FINDINGS
        print("\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in {where}" if more > 0 else ""))
