"""The command batch: many cases, on the processors of this computer or on a cluster."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError, asPath
from ..base.parallel import availableProcessors, requireWorkers
from ..base.texts import counted, oneLine
from ..batch.summaryoptions import CORRECTIONS, MISSING, TREATMENTS, Options
from ..conventions.convention import OWN_CONVENTION
from ..model.naming import findMeant, hintAt, labelNumber, parse
from .batchplan import Plan, planFrom
from .options import addOutput, addProtocol, addReport, addSettings, addShared, pathFrom, requireWritable
from .parsing import Parser
from .results import finalStatus, progressBar, tellFailures, tellWhere, terminalWidth
from .structuredreports import addStructuredReport

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..batch.batchresults import BatchResults
    from ..batch.collected import Collected
    from ..batch.resultfiles import CohortFiles
    from ..batch.statistics import Summary
    from ..case.protocol.protocol import Protocol
    from ..settings.settings import Settings

NOTHING_RUN = 2


def fill(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = "Compare many cases, and summarize them. The same command again goes on where it ended."
    parser.usage = "%(prog)s (CASES.csv | --reference-dir DIR --test-dir DIR) -o DIR [OPTION ...]"
    parser.add_argument(
        "cases",
        metavar="CASES.csv",
        type=pathFrom,
        nargs="?",
        help="table: case, reference, test[, method, protocol, ...]",
    )
    compared = parser.add_argument_group("what is compared")
    compared.add_argument(
        "--reference-dir", metavar="DIR", type=pathFrom, help="folder of the references instead of a table"
    )
    compared.add_argument(
        "--test-dir",
        metavar="[NAME=]DIR",
        action="append",
        help="folder of the tests of a method, named like the references (may be repeated)",
    )
    addShared(compared.add_argument, "--structure", "--pair", "--label-names", "--dose")
    addSettings(parser)
    results = parser.add_argument_group("what comes out")
    addOutput(results, "folder for the results; a later run continues there")
    results.add_argument("--overwrite", action="store_true", help="remove what other settings or cases left there")
    addReport(parser, results)
    addStructuredReport(parser, results, isForEach=True)
    addProtocol(results)
    results.add_argument(
        "--plots",
        metavar="KEY,...",
        action="append",
        nargs="?",
        const="",
        help="draw figures of these measurements (the main ones)",
    )
    parser.addFurther(
        "--plot-structure", metavar="NAME", action="append", help="draw only this structure (may be repeated)"
    )
    parser.addFurther(
        "--infinite",
        choices=TREATMENTS,
        default=Options.treatment,
        help="how means and standard deviations treat infinite values (%(default)s)",
    )
    parser.addFurther(
        "--missing",
        choices=MISSING,
        default=Options.missing,
        help="treat structures that one side of a case lacks as empty, or leave them out (%(default)s)",
    )
    parser.addFurther(
        "--correction",
        choices=CORRECTIONS,
        default=Options.correction,
        help="how p is corrected for the number of tests: of each measurement, or of all (%(default)s)",
    )
    addShared(parser.addFurther, "--resamples", "--seed", "--grid-uncertainty")
    where = results.add_mutually_exclusive_group()
    where.add_argument("--workers", metavar="N", type=int, help="number of processes (one per processor)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler")


def run(options: argparse.Namespace) -> int:
    """Run all cases that have no outcome yet and return the exit status.

    It is 1 if any case failed, 2 if none has a pair, and 3 if any has a verdict at least as bad as --fail-on.
    """
    requireWorkers(options.workers)
    plan = planFrom(options)
    from ..batch import tasks as cohort
    from ..batch.resultfiles import CohortFiles

    here = nullcontext((None, options.workers or availableProcessors()))
    with (
        cohort.cluster(options.scheduler) if options.scheduler else here as (executor, workers),
        CohortFiles(plan.output, plan.tasks, options.overwrite) as files,
    ):
        done = carryOut(plan, files, workers, executor)
    tell(plan, done)
    if not done.found.cohort.roster.hasPairs:
        if done.counts["ok"]:
            print("segment-metrics: no case has a structure with the same name in both", file=sys.stderr)
        return NOTHING_RUN
    return finalStatus(bool(done.failures), [verdict for _, verdict in done.found.judged], options.fail_on)


def compareBatch(
    cases: str | os.PathLike,
    settings: Settings | None = None,
    *,
    output: str | os.PathLike,
    tests: str | os.PathLike | Mapping[str, str | os.PathLike] | None = None,
    protocol: Protocol | str | os.PathLike | None = None,
    names: Collection[str] | None = None,
    choices: Mapping[str, str] | None = None,
    labelNames: Mapping[int, str] | str | Path | None = None,
    dose: str | Path | Sequence[str] | None = None,
    options: Options | None = None,
    isReported: bool = False,
    overwrites: bool = False,
    workers: int = 1,
) -> BatchResults:
    """Compare many cases, write and summarize the results as the command batch does, and return them.

    A case that fails stops no other. The same call goes on where it was interrupted.

    Parameters
    ----------
    cases : str | os.PathLike
        A table with the columns case, reference and test, as for readCases(); with tests the folder of the references.
    settings : Settings | None, optional
        What to measure and how; None means the defaults.
    output : str | os.PathLike
        Folder of the results.
    tests : str | os.PathLike | Mapping[str, str | os.PathLike] | None, optional
        The folder of the tests, or the folders of several methods by their names; None for a table.
    protocol : Protocol | str | os.PathLike | None, optional
        Judges cases without one of their own: a Protocol, a file, or the name of an example.
    names : Collection[str] | None, optional
        Structures to compare, in any spelling; all when None.
    choices : Mapping[str, str] | None, optional
        Names of test structures by names of reference structures, compared in every case that has both.
    labelNames : Mapping[int, str] | str | Path | None, optional
        Names, by number, of labels that have none of their own, or a file with them.
    dose : str | Path | Sequence[str] | None, optional
        Of a plan, for cases without one of their own; several RTDOSE of its parts as FILE or FILE=WEIGHT.
    options : Options | None, optional
        For the statistics; None means the usual ones.
    isReported : bool, optional
        Whether to write a report for each case, and a page about all.
    overwrites : bool, optional
        Whether results in the folder that were made with other settings, or of other cases, are removed. If not, they
        are an error.
    workers : int, optional
        Number of processes. With 1 all is done in this process; more start anew what runs this, so that a script needs
        `if __name__ == "__main__":`.

    Returns
    -------
    BatchResults
        Its remarks say what folders hold and what a method lacks.

    Raises
    ------
    ValueError
        For a table or folders that cannot be read, and for arguments that no batch can have.
    """
    requireWorkers(workers)
    from ..batch.batchresults import BatchResults, readBatch
    from ..batch.casefolders import casesIn
    from ..batch.cases import readList
    from ..batch.resultfiles import CohortFiles, requireInputsKept
    from ..batch.summarywriting import lackingCases
    from ..case.protocol.protocol import asProtocol
    from ..model.structures import asName
    from ..settings.settings import asSettings
    from .batchplan import planOf, withReports

    path, folder = asPath(cases), asPath(output)
    requireWritable(folder)
    requireInputsKept(folder, [path])
    if tests is None:
        given = readList(path, labelNames)
    else:
        methods = tests.items() if isinstance(tests, Mapping) else [("", tests)]
        given = casesIn(path, [(name, asPath(one)) for name, one in methods], labelNames)
    pairs = [(asName(name), asName(other)) for name, other in (choices or {}).items()]
    chosen = [asName(one) for one in ([names] if isinstance(names, (str, int)) else names or ())]
    plan = planOf(given, asSettings(settings), folder, asProtocol(protocol), pairs, chosen, dose, options)
    plan = withReports(plan) if isReported else plan
    with CohortFiles(folder, plan.tasks, overwrites) as files:
        done = carryOut(plan, files, workers, isHere=True)
    remarks = [*given.remarks, *lackingCases(done.found.cohort)]
    return BatchResults([*readBatch(folder).outcomes, *done.broken], given.cases, remarks)


@dataclass(frozen=True)
class Done:
    """What a batch found.

    broken: outcomes of lines that are no tasks. failures: these, and outcomes of cases that failed. counts: numbers of
    cases: given, ok, failed, and repeated from an earlier run. undrawn: sentences on what was not drawn.
    """

    found: Collected
    broken: Sequence[dict]
    failures: Sequence[dict]
    counts: Mapping[str, int]
    summaries: Sequence[Summary]
    undrawn: Sequence[str]


def carryOut(
    plan: Plan, files: CohortFiles, workers: int, executor: Executor | None = None, *, isHere: bool = False
) -> Done:
    """Run all cases of a plan that have no outcome yet, and write all there is to say about them.

    workers, executor, isHere: as for runAll().
    """
    from ..batch import tasks as cohort
    from ..batch.cases import FAILED
    from ..batch.collected import Collected

    repeated = len(files.done)
    # lines that are not tasks, such as a second one of the same case, are only rows of the tables
    broken = [cohort.runCase(task) for task in plan.tasks if task.problem]
    for outcome in broken:
        files.addRows(outcome)
    waiting = [task for task in plan.tasks if not task.problem and task.key not in files.done]
    failed: dict[tuple[str, str], dict] = {}
    try:
        running = closing(cohort.runAll(waiting, workers, executor, isHere=isHere))
        with progressBar(len(waiting), "case") as progress, running as outcomes:
            for task, outcome in outcomes:
                files.add(outcome)
                if outcome["status"] == FAILED:
                    failed[task.key] = {**outcome, "pairs": []}
                progress(task.title)
    except (KeyboardInterrupt, SystemExit):  # the latter on SIGTERM
        done = f"done so far: {len(files.done)} of {counted(len(plan.tasks), 'case')}, kept in {plan.output}{os.sep}"
        print(oneLine(f"segment-metrics: {done}; run the same command again to go on from there"), file=sys.stderr)
        raise
    files.rewriteTables(broken)
    # in the order of the tasks, whichever was completed first
    failures = [*broken, *(failed[task.key] for task in waiting if task.key in failed)]
    given = len(plan.tasks)
    counts = {"given": given, "ok": given - len(failures), "failed": len(failures), "repeated": repeated}
    found = Collected(files.outcomes(), broken, files.roster, plan.given.cases)
    return Done(found, broken, failures, counts, *writeStatistics(plan, found, files, counts))


def writeStatistics(
    plan: Plan, found: Collected, files: CohortFiles, counts: Mapping[str, int]
) -> tuple[list[Summary], list[str]]:
    """Write what there is to say about all cases; return the summaries, and in a sentence why nothing was drawn.

    counts: as of Done.
    """
    from ..batch.plots import removePlots, writePlots
    from ..batch.resultfiles import writeParquet
    from ..batch.statistics import compareMethods
    from ..batch.summarywriting import lackingCases, writeSummary

    cohort, statistics, convention = found.cohort, plan.statistics, plan.settings.convention
    tests = compareMethods(cohort, statistics)
    content = found.page.content(cohort, statistics, tests) if plan.isReported else None
    files.writeIndex(found.lines, Path(plan.given.sheet.source).stem, content, lackingCases(cohort))
    summaries = writeSummary(cohort, statistics, tests, counts, plan.output, convention, found.alarms)
    found.lesionSizes.write(plan.output)
    undrawn = []
    if plan.plotted is None:
        removePlots(plan.output, unless=statistics)
    else:
        drawn = plan.plotted, plan.plottedStructures
        try:
            if not writePlots(cohort, statistics, tests, plan.output, *drawn, convention):
                undrawn = ["Nothing could be drawn, as no test has a structure."]
        except InputError as error:  # the numbers are there, whatever was asked to be drawn of them
            undrawn = [oneLine(str(error))]
    writeParquet(plan.output)
    return summaries, undrawn


def tell(plan: Plan, done: Done) -> None:
    """Print the results of all cases; failures go to standard error."""
    from ..batch.collected import notPassing, titleOf
    from ..batch.summarywriting import remarks, summaryTable
    from ..metrics.findings import Finding, Kind
    from ..show.verdicts import noLimits, summary

    found, counts, convention = done.found, done.counts, plan.settings.convention
    if table := summaryTable(done.summaries, found.cohort, plan.statistics, terminalWidth()):
        stated = "" if convention == OWN_CONVENTION else f", boundary and overlap in the convention {convention}"
        print(f"Median (interquartile range){stated}\n\n{table}\n")
    # a summary must not hide that some of its numbers are meaningless
    sentences = [*found.alarms.lines(), *remarks(found.cohort, plan.statistics)]
    sentences += [Finding.of(Kind.PLAN_OF_ONE)] if "dose" in plan.settings.families else []
    sentences += [*unusedChoices(plan.pairs, found.paired)]
    known = {name for pair in found.paired for name in pair} | set(found.cohort.structures)
    for name in plan.names:
        if labelNumber(name) is None and not findMeant(name, known):
            sentences.append(f"--structure {oneLine(name)}: no case has such a structure.{hintAt(name, known)}")
    if sentences := [*sentences, *done.undrawn]:
        print("\n".join(sentences) + "\n")
    repeated = f", {counts['repeated']} of them in an earlier run" if counts["repeated"] else ""
    print(f"{counts['ok']} of {counted(counts['given'], 'case')} compared{repeated}.")
    if found.judged:
        print(f"Protocol: {summary(verdict for _, verdict in found.judged)}.")
        for line in filter(None, [*map(oneLine, notPassing(found.judged)), noLimits(found.withoutLimits)]):
            print(line)
    tellFailures([f"{titleOf(outcome)}: {outcome['reason']}" for outcome in done.failures], "results.csv")
    tellWhere(plan.output)


def unusedChoices(choices: Iterable[tuple[str, str]], paired: Collection[tuple[str, str]]) -> list[str]:
    """Return sentences about chosen pairs that no case has.

    choices: names of reference and test, in every way to read them; labels chosen by number are not checked. paired:
    names of compared pairs.
    """
    spelled = {tuple(parse(name).spelled for name in pair) for pair in paired}
    isUsed: dict[str, bool] = {}
    for pair in choices:
        isOfLabels = any(labelNumber(name) is not None for name in pair)
        mayBe = isOfLabels or tuple(parse(name).spelled for name in pair) in spelled
        isUsed["=".join(pair)] = isUsed.get("=".join(pair), False) or mayBe
    return [f"--pair {oneLine(text)}: no case has such a pair." for text, used in isUsed.items() if not used]
