"""The command compare: two files or folders."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError, oneLine, reasonOf
from ..settings import Settings
from ..workers import requireWorkers
from .options import (
    BRACKETS,
    addLabelNames,
    addOutput,
    addPairs,
    addProtocol,
    addReport,
    addSettings,
    choicesFrom,
    isReportWanted,
    pathFrom,
    protocolFrom,
    requireWritable,
    settingsFrom,
)
from .results import finalStatus, tellFailures, unfinishedResults

# More findings than this are left to metrics.json.
MOST_FINDINGS = 12


def add(commands) -> None:
    """Add the command to the parser."""
    compare = commands.add_parser(
        "compare",
        help="compare a test segmentation with a reference",
        description="Compare a test segmentation with a reference: one structure, or all that both have.",
        epilog=BRACKETS,
    )
    compare.add_argument(
        "reference", metavar="REFERENCE", type=pathFrom, help="label map, segmentation, mesh or folder"
    )
    compare.add_argument("test", metavar="TEST", type=pathFrom, help="label map, segmentation, mesh or folder")
    addOutput(compare)
    compare.add_argument(
        "--structure", metavar="NAME", action="append", help="compare only this structure, or label (may be repeated)"
    )
    addPairs(compare)
    addLabelNames(compare)
    compare.add_argument(
        "--numbers-only",
        action="store_true",
        help="write neither the surfaces nor the pictures of the pairs, which take most of the time",
    )
    addProtocol(compare)
    addReport(compare)
    compare.add_argument(
        "--report-patient",
        metavar="TEXT",
        default="",
        help="write a report that names the patient so; else it names nobody",
    )
    compare.add_argument(
        "--workers", metavar="N", type=int, help="processes of this computer (one per processor, where worth it)"
    )
    addSettings(compare)
    compare.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare two files or folders and return the exit status."""
    requireWorkers(options.workers)
    settings = settingsFrom(options)
    if options.fail_on and options.protocol is None:
        raise InputError("Without a protocol there is no verdict: give --protocol, or leave --fail-on out.")
    report = newReport(options, settings) if isReportWanted(options) else None
    if report is not None:
        settings = report.settings
    requireWritable(options.output)
    from .. import structures
    from ..cohort.casework import criticalsOf
    from ..files import reading as files
    from ..files.labelnames import labelNamesFrom
    from ..pairing import pairStructures

    choices = choicesFrom(options.pair or ())
    protocol = protocolFrom(options)
    labelNames = labelNamesFrom(options.label_names)
    paths = (options.reference, options.test)
    sets = files.readAll(paths, settings.threshold, settings.membershipMaximum, labelNames)
    names = options.structure
    if names:
        names = [structures.labelNamed(name, [*sets[0], *sets[1]], labelNames) for name in names]
    pairing = pairStructures(*sets, names, choices)
    if not pairing.pairs and not options.structure:
        reference, test = (
            structures.listed(f"{s.name} (empty)" if s.isEmpty else s.name for s in given) for given in sets
        )
        remarks = "".join(f" {remark}" for remark in (*pairing.findings, *structures.leftOutOf(*sets)))
        raise InputError(
            f"No structure has the same name in both: {options.reference} has {reference}; {options.test} has {test}."
            f"{remarks}"
        )
    criticals = criticalsOf(sets[0], settings)
    isWhole = not options.structure
    return compareAndWrite(
        pairing,
        settings,
        options.output,
        criticals=criticals,
        protocol=protocol,
        isWhole=isWhole,
        report=report,
        workers=options.workers,
        isNumbersOnly=options.numbers_only,
        failOn=options.fail_on,
    )


def newReport(options: argparse.Namespace, settings: Settings):
    """Return the report that the options ask for, empty; its settings measure slices, too."""
    from ..report import Report

    title = f"{options.test.name or options.test} compared with {options.reference.name or options.reference}"
    return Report(title, settings, withConventions=options.report_conventions, patient=options.report_patient)


def compareAndWrite(
    pairing,
    settings: Settings,
    output: Path,
    extraFiles: Sequence[Path] = (),
    criticals: Mapping | None = None,
    protocol=None,
    isWhole: bool = True,
    report=None,
    workers: int | None = None,
    isNumbersOnly: bool = False,
    failOn: str | None = None,
) -> int:
    """Compare all pairs, write the results, print the tables. Either all files arrive in the output folder, or none.

    Return the exit status: 1 if some pairs could not be compared, 3 where the verdict is as bad as failOn says, as the
    option spells it. Raises InputError when none could.
    criticals: critical structures by name. protocol: to judge by. isWhole: whether the pairing is about all structures.
    report: to be filled and written, too, None for none. workers: processes, None as many as are worth it.
    isNumbersOnly: whether surfaces and overlay pictures are left out.
    """
    from tqdm import tqdm

    from .. import multilabel, tables
    from ..files import writing
    from ..protocol import verdictwriting
    from ..protocol.judgment import judgeCase, titleOf
    from .pairwork import Job, outcomes

    with unfinishedResults(output) as unfinished:
        names = list(writing.fileNames(reference.name for reference, _ in pairing.pairs))
        job = Job(settings, protocol, criticals or {}, unfinished, report, isNumbersOnly)
        # the bar shows on terminals only, and only when there is something to wait for
        isShown = None if len(pairing.pairs) > 1 else True
        with tqdm(total=len(pairing.pairs), unit="pair", disable=isShown, leave=False) as progress:

            def done(name: str) -> None:
                progress.set_postfix_str(oneLine(name), refresh=False)
                progress.update()

            outcomeOf, errors = outcomes(job, pairing.pairs, names, workers, done)
        failed = {titleOf(s.name for s in pairing.pairs[number]): reasonOf(error) for number, error in errors.items()}
        failures = {**(unusableIn(pairing) if isWhole else {}), **failed}
        found = list(outcomeOf.values())
        pairing = replace(pairing, pairs=tuple(pairing.pairs[number] for number in outcomeOf))
        records, files, shares = ([getattr(one, what) for one in found] for what in ("record", "files", "share"))
        measured = [
            ((match.reference.name, match.test.name), one.byConvention)
            for match, one in zip(pairing.pairs, found, strict=True)
        ]
        if report is not None:
            for one in found:
                report.include(one.part)
        multiLabel = multilabel.ofShares(shares, pairing.unmatchedReference, pairing.unmatchedTest, settings, failed)
        document = writing.document(records, pairing, settings, files, multiLabel)
        if failures:
            document["failures"] = failures
        judged = protocol and judgeCase(protocol, measured, document["unmatched"], isWhole, failures)
        if judged:
            # what the protocol asked for, structure by structure
            for pair, one in zip(document["pairs"], found, strict=True):
                pair["settings"] = one.settings.toDictionary()
            document["protocol"] = judged.toDictionary()
            verdictwriting.writeVerdicts(document["protocol"], unfinished / writing.VERDICTS_FILE)
        if report is not None:
            path = unfinished / writing.REPORT_FILE
            report.write(path, judged or None, document["unmatched"], failures, pairing.findings)
            document["report"] = writing.REPORT_FILE
        writing.writeJson(document, unfinished / "metrics.json")
        writing.writeCsv(records, unfinished / "metrics.csv")
        writing.writeCsvSchema(records, unfinished / "metrics.schema.csv")
        for path in extraFiles:
            shutil.copy(path, unfinished / path.name)

    if records:
        print(tables.pairTable(records[0]) if len(records) == 1 else tables.overviewTable(records))
    else:
        print("None of the chosen structures is in both.")
    if multiLabel is not None:
        print("\n" + tables.multiLabelTable(multiLabel))
    for which, structures in (("reference", pairing.unmatchedReference), ("test", pairing.unmatchedTest)):
        if structures:
            print(f"\nOnly in the {which}: {oneLine(', '.join(s.name for s in structures))}")
    if judged:
        print(f"\nProtocol {oneLine(protocol.name)}: {judged.verdict}\n{verdictwriting.verdictTable(judged)}")
    findings = [*map(oneLine, pairing.findings), *tables.remarks(records)]
    if findings:
        more = len(findings) - MOST_FINDINGS
        print(
            "\n" + "\n".join(findings[:MOST_FINDINGS]) + (f"\n... and {more} more in metrics.json" if more > 0 else "")
        )
    print(f"\nResults are in {oneLine(str(output))}{os.sep}")
    problem = next((one.problem for one in found if one.problem), "")
    if problem:
        print(f"No overlay pictures: {oneLine(problem)}", file=sys.stderr)
    tellFailures(list(map(str, errors.values())), "metrics.json")
    return finalStatus(bool(errors), [judged.verdict] if judged else [], failOn)


def unusableIn(pairing) -> dict[str, str]:
    """Return why structures were left out of the files that those of a pairing are from, by name."""
    from ..structures import unusableOf

    paired = [[match.reference for match in pairing.pairs], [match.test for match in pairing.pairs]]
    return unusableOf(*paired, pairing.unmatchedReference, pairing.unmatchedTest)
