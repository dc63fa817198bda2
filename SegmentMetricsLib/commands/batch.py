"""The command batch: many cases, on the processors of this computer or on a cluster."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.parallel import availableProcessors, requireWorkers
from ..base.texts import counted, didYouMean, oneLine
from ..batch.summaryoptions import (
    BONFERRONI,
    CORRECTIONS,
    EMPTY,
    LEAVE_OUT,
    MISSING,
    RESAMPLES,
    SEED,
    TREATMENTS,
    Options,
)
from ..model.naming import parse
from ..settings.names import OWN_CONVENTION
from .options import (
    DEFAULTS,
    addDose,
    addGridUncertainty,
    addLabelNames,
    addOutput,
    addProtocol,
    addReport,
    addSettings,
    addStructure,
    choicesFrom,
    isReportWanted,
    namesFrom,
    pathFrom,
    protocolFrom,
    requireWritable,
    settingsFrom,
    tellWithoutEffect,
)
from .results import finalStatus, progressBar, tellFailures, terminalWidth

if TYPE_CHECKING:
    from ..io.sheets import Sheet

NOTHING_RUN = 2


def add(commands) -> None:
    """Add the command to the parser."""
    batch = commands.add_parser(
        "batch",
        help="compare many cases and summarize them",
        description="Compare many cases on all processors, and summarize them. Run the same command again to continue "
        "where it was interrupted.",
        usage="%(prog)s (CASES.csv | --reference-dir DIR --test-dir DIR) -o DIR [OPTION ...]",
        epilog=DEFAULTS,
    )
    batch.add_argument(
        "cases",
        metavar="CASES.csv",
        type=pathFrom,
        nargs="?",
        help="table: case, reference, test[, protocol, method, image, dose]; not needed with --reference-dir",
    )
    batch.add_argument(
        "--reference-dir",
        metavar="DIR",
        type=pathFrom,
        help="folder of the references, a file or a folder for each case",
    )
    batch.add_argument(
        "--test-dir",
        metavar="[NAME=]DIR",
        action="append",
        help="folder of the tests of a method, whose files are called like those of the references, apart from the "
        "extension and from words such as seg or prediction (may be repeated, for several methods)",
    )
    addOutput(batch, "folder for the results; a later run continues there")
    addProtocol(batch)
    addReport(batch)
    addGridUncertainty(batch)
    where = batch.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", metavar="N", type=int, help="number of processes on this computer (one per processor)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="address of a Dask scheduler to run on its workers")
    batch.add_argument(
        "--infinite",
        choices=TREATMENTS,
        default=LEAVE_OUT,
        help="how means and standard deviations treat infinite values (%(default)s)",
    )
    batch.add_argument(
        "--missing",
        choices=MISSING,
        default=EMPTY,
        help="treat structures that one side of a case lacks as empty, or leave them out (%(default)s)",
    )
    batch.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default=BONFERRONI,
        help="how p is corrected for the number of tests: of each measurement, or of all (%(default)s)",
    )
    addStructure(batch)
    batch.add_argument(
        "--pair",
        metavar="REFERENCE=TEST",
        action="append",
        help="compare these two structures in every case that has both, although their names differ (may be repeated)",
    )
    addLabelNames(batch)
    addDose(batch, ", for cases without one of their own")
    batch.add_argument("--resamples", metavar="N", type=int, default=RESAMPLES, help="bootstrap samples (%(default)s)")
    batch.add_argument("--seed", metavar="N", type=int, default=SEED, help="random seed of the bootstrap (%(default)s)")
    batch.add_argument(
        "--correlate",
        metavar="FAMILY|KEY,...",
        action="append",
        help="measurements whose rankings are correlated (all for which lower or higher is better)",
    )
    batch.add_argument(
        "--plots",
        metavar="FAMILY|KEY,...",
        action="append",
        nargs="?",
        const="",
        help="draw figures for papers, as SVG, PDF and PNG: box plots of these measurements (the main ones), "
        "Bland-Altman plots of volumes, the ranking of methods, rank correlations",
    )
    batch.add_argument(
        "--plot-structure",
        metavar="NAME",
        action="append",
        help="draw only this structure (all; may be repeated)",
    )
    addSettings(batch)
    batch.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run all cases that have no outcome yet and return the exit status.

    It is 1 if any case failed, 2 if none has a pair, and 3 if any has a verdict at least as bad as --fail-on.
    """
    requireWorkers(options.workers)
    if options.seed < 0:
        raise InputError(f"The seed must not be negative, not {options.seed}.")
    settings = settingsFrom(options)
    requireWritable(options.output)
    from ..base.texts import commaSeparated
    from ..batch import tasks as cohort
    from ..batch.alarms import Alarms
    from ..batch.caselist import lineOf, titleOf
    from ..batch.cases import tasksOf
    from ..batch.cohortpage import CohortPage
    from ..batch.correlations import chosenKeys, writeCorrelations
    from ..batch.plots import keysToPlot, removePlots, requireMatplotlib
    from ..batch.resultfiles import CohortFiles, columnsOf, requireInputsKept, writeParquet
    from ..batch.statistics import Cohort, compareMethods
    from ..batch.summarywriting import remarks, summaryTable, writeSummary
    from ..comparison.findings import Finding, Kind
    from ..io.labelnames import labelNamesFrom
    from ..model.structures import REFERENCE_AND_TEST

    summaryOptions = Options(
        treatment=options.infinite,
        resamples=options.resamples,
        seed=options.seed,
        missing=options.missing,
        correction=options.correction,
    )
    pairs = pairsFrom(options)
    cases, structures, labelFile = casesFrom(options)
    labelNames = labelNamesFrom(labelFile)
    names = options.structure or ()
    tasks = tasksOf(cases, settings, protocolFrom(options), pairs, labelNames, names, structures, options.dose)
    # they ask for the family dose as well if any case has one
    settings = next((task.settings for task in tasks), settings)
    if cases.ignored:
        ignored = oneLine(commaSeparated(cases.ignored))
        print(f"segment-metrics: {cases.source}: ignored columns: {ignored}", file=sys.stderr)
    tellWithoutEffect(options, settings, {task.protocol for task in tasks}, ["labelWeights"])
    inputs = (options.cases, options.protocol, labelFile, options.settings, options.dose)
    requireInputsKept(options.output, [Path(given) for given in inputs if given])
    # an error in a protocol is reported as the problem of a task
    if options.fail_on and not any(task.protocol or task.problem for task in tasks):
        raise InputError("No case has a protocol, so there are no verdicts: give one, or leave --fail-on out.")
    correlated = None if options.correlate is None else namesFrom(options.correlate)
    chosenKeys(correlated or (), columnsOf(tasks))
    if options.grid_uncertainty:
        tasks = [replace(task, isSpread=True, fingerprint=f"{task.fingerprint}+grid") for task in tasks]
    plotted = None if options.plots is None else namesFrom(options.plots)
    if plotted is not None:
        requireMatplotlib()
        keysToPlot(plotted, columnsOf(tasks))
    elif options.plot_structure:
        raise InputError("--plot-structure chooses structures for --plots, which is missing.")
    if isReportWanted(options):
        tasks = withReports(tasks, options.output, options.report_conventions)
    if settings.surface == "displayed":
        from .pairwork import displayed

        tasks = [replace(task, displayed=displayed) for task in tasks]

    with executors(options, len(tasks)) as (makeExecutor, window), CohortFiles(options.output, tasks) as files:
        if aside := files.earlier.describe():
            print(f"segment-metrics: {aside}", file=sys.stderr)
        files.repeatRows()
        repeated = len(files.done)
        # lines that are not tasks, such as a second one of the same case, are only rows of the tables
        broken = [cohort.runCase(task) for task in tasks if task.problem]
        for outcome in broken:
            files.addRows(outcome)
        try:
            failures = broken + runWaiting(tasks, files, makeExecutor, window)
        except (KeyboardInterrupt, SystemExit):  # the latter on SIGTERM
            tellHowToGoOn(len(files.done), len(tasks), options.output)
            raise
        files.sortTables(broken)
        counts = {"given": len(tasks), "ok": len(tasks) - len(failures), "failed": len(failures), "repeated": repeated}
        together, judged, lines, unlimited = Cohort(roster=files.roster), [], [], []
        alarms, paired, page = Alarms(), set(), CohortPage()
        for outcome in files.outcomes():
            page.add(outcome, together.add(outcome))
            alarms.add(outcome)
            paired |= {tuple(pair[side]["name"] for side in REFERENCE_AND_TEST) for pair in outcome["pairs"]}
            lines.append(lineOf(outcome))
            if outcome.get("protocol"):
                judged.append((titleOf(outcome), outcome["protocol"]["verdict"]))
                unlimited += outcome["protocol"].get("withoutLimits", ())
        lines += map(lineOf, broken)
        content = None
        if isReportWanted(options):
            content = page.content(together, summaryOptions, compareMethods(together, summaryOptions))
        files.writeIndex(lines, Path(cases.source).stem, content)
        summaries = writeSummary(together, summaryOptions, counts, options.output, settings.convention, alarms)
        writeCorrelations(together, summaryOptions, options.output, correlated, settings.convention)
        undrawn = []
        if plotted is None:
            removePlots(options.output, unless=summaryOptions)
        else:
            undrawn = drawPlots(options, plotted, together, summaryOptions, settings)
        writeParquet(options.output)
    table = summaryTable(summaries, together, summaryOptions, terminalWidth())
    # a summary must not hide that some of its numbers are meaningless
    known = {name for pair in paired for name in pair} | set(together.structures)
    caveats = [Finding.of(Kind.PLAN_OF_ONE)] if "dose" in settings.families else []
    said = [*alarms.lines(), *remarks(together, summaryOptions), *caveats]
    said += [*unusedChoices(pairs, paired), *unusedNames(names, known), *undrawn]
    report(failures, judged, unlimited, counts, table, said, options.output, settings.convention)
    if not together.roster.hasPairs:
        if counts["ok"]:
            print("segment-metrics: no case has a structure with the same name in both", file=sys.stderr)
        return NOTHING_RUN
    return finalStatus(bool(failures), [verdict for _, verdict in judged], options.fail_on)


def casesFrom(options: argparse.Namespace) -> tuple[Sheet, Sequence[str] | None, Path | None]:
    """Return the table of cases, what single structures in it are called, and the file with the names of labels.

    For folders, what is in them and what does not match is printed first. Raises InputError if neither a table nor
    folders are given, or both.
    """
    if options.reference_dir is None and options.test_dir is None:
        from ..batch.cases import readList

        if options.cases is None:
            raise InputError("Cases are given as a table, or as folders with --reference-dir and --test-dir.")
        return readList(options.cases), None, options.label_names
    from ..batch.casefolders import casesIn, labelsBeside, methodFolders

    if options.cases is not None:
        raise InputError(f"Cases are given as a table or as folders, not as both: leave out {options.cases}.")
    if options.reference_dir is None or options.test_dir is None:
        missing = "--reference-dir" if options.reference_dir is None else "--test-dir"
        raise InputError(f"Folders are compared with --reference-dir and --test-dir; {missing} is missing.")
    tests = methodFolders(options.test_dir)
    found = casesIn(options.reference_dir, tests)
    said = list(found.remarks)
    labelFile = options.label_names
    if labelFile is None and (labelFile := labelsBeside(options.reference_dir, tests)):
        said.append(f"The names of the labels are those of {labelFile}.")
    for sentence in said:
        print(f"segment-metrics: {oneLine(sentence)}", file=sys.stderr)
    return found.sheet, found.structures, labelFile


def pairsFrom(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the pairs that the options name, as choicesFrom(). Raises InputError for one without a test structure."""
    for option in options.pair or ():
        if option.endswith("="):
            raise InputError(f"A pair is given as REFERENCE=TEST, not {option!r}.")
    return [(reference, test) for reference, test in choicesFrom(options.pair or ()) if test is not None]


def unusedChoices(choices: Iterable[tuple[str, str]], paired: Collection[tuple[str, str]]) -> list[str]:
    """Return sentences about chosen pairs that no case has.

    choices: names of reference and test, in every way to read them; labels chosen by number are not checked. paired:
    names of compared pairs.
    """
    spelled = {tuple(parse(name).spelled for name in pair) for pair in paired}
    isUsed: dict[str, bool] = {}
    for pair in choices:
        mayBe = any(name.isdigit() for name in pair) or tuple(parse(name).spelled for name in pair) in spelled
        isUsed["=".join(pair)] = isUsed.get("=".join(pair), False) or mayBe
    return [f"--pair {oneLine(text)}: no case has such a pair." for text, used in isUsed.items() if not used]


def unusedNames(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return sentences about chosen structures that no case has. known: names of all structures that were compared."""
    spelled = {parse(name).spelled for name in known}
    unused = [name for name in names if not name.isdigit() and parse(name).spelled not in spelled]
    return [f"--structure {oneLine(name)}: no case has such a structure.{didYouMean(name, known)}" for name in unused]


def withReports(tasks: Sequence, output: Path, withConventions: bool) -> list:
    """Return the tasks with a report file for each, in the folder reports of the results."""
    from ..batch.resultfiles import REPORTS
    from ..show.report.blocks import PLOTLY_FILE
    from ..show.report.document import hasPlotly, plotlyScript
    from ..show.report.index import INDEX
    from ..show.writing import fileNames
    from .pairwork import drawnMap

    folder = (output / REPORTS).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if hasPlotly():  # once for all pages
        (folder / PLOTLY_FILE).write_text(plotlyScript(), encoding="utf-8")
    # a case may have the name of the page about all cases
    _, *names = fileNames([Path(INDEX).stem, *("_".join(filter(None, task.key)) for task in tasks)])
    return [
        # the fingerprint includes the report, so that an outcome without one is not reused
        replace(
            task,
            report=str(folder / f"{name}.html"),
            withConventions=withConventions,
            script=PLOTLY_FILE,
            drawn=drawnMap,
            fingerprint=f"{task.fingerprint} report" + (" with conventions" if withConventions else ""),
        )
        for task, name in zip(tasks, names, strict=True)
    ]


def executors(options: argparse.Namespace, tasks: int):
    """Return a context manager that yields a factory of executors and the number of tasks to submit at a time."""
    from ..batch import tasks as cohort

    if options.scheduler:
        return cohort.cluster(options.scheduler)
    return cohort.processes(min(options.workers or availableProcessors(), max(tasks, 1)))


def drawPlots(options: argparse.Namespace, names: Sequence[str], together, summaryOptions, settings) -> list[str]:
    """Draw the figures, and return in a sentence why there is none. names: of the measurements."""
    from ..batch.plots import writePlots
    from ..batch.statistics import compareMethods

    try:
        written = writePlots(
            together,
            summaryOptions,
            compareMethods(together, summaryOptions),
            options.output,
            names=names,
            structures=options.plot_structure or (),
            convention=settings.convention,
        )
    except InputError as error:  # the numbers are there, whatever was asked to be drawn of them
        return [oneLine(str(error))]
    return [] if written else ["Nothing could be drawn, as no test has a structure."]


def tellHowToGoOn(done: int, number: int, output: Path) -> None:
    """Print how much of an interrupted run is kept, and how to continue."""
    print(
        oneLine(
            f"segment-metrics: done so far: {done} of {counted(number, 'case')}, kept in {output}{os.sep}; "
            "run the same command again to go on from there"
        ),
        file=sys.stderr,
    )


def runWaiting(tasks: Sequence, files, makeExecutor, window: int) -> list[dict]:
    """Run the tasks that are not done, write their outcomes, and return those that failed, without their pairs.

    They are in the order of the tasks, regardless of the order of completion.
    """
    from ..batch import tasks as cohort
    from ..batch.cases import FAILED

    failures = {}
    waiting = [task for task in tasks if not task.problem and task.key not in files.done]
    with (
        progressBar(len(waiting), "case") as progress,
        closing(cohort.runAll(waiting, makeExecutor, window)) as outcomes,
    ):
        for task, outcome in outcomes:
            files.add(outcome)
            if outcome["status"] == FAILED:
                failures[task.key] = {**outcome, "pairs": []}
            progress.set_postfix_str(task.title, refresh=False)
            progress.update()
    return [failures[task.key] for task in waiting if task.key in failures]


def report(
    failures: Sequence[dict],
    judged: Sequence[tuple[str, str]],
    unlimited: Sequence[str],
    counts,
    table: str,
    sentences: Sequence[str],
    output: Path,
    convention: str,
) -> None:
    """Print the results of the cases; failures go to standard error.

    judged: titles of cases and verdicts. unlimited: names of structures without limits.
    """
    from ..batch.caselist import notPassing, titleOf

    if table:
        stated = "" if convention == OWN_CONVENTION else f", boundary and overlap in the convention {convention}"
        print(f"Median (interquartile range){stated}\n\n{table}\n")
    if sentences:
        print("\n".join(sentences) + "\n")
    repeated = f", {counts['repeated']} of them in an earlier run" if counts["repeated"] else ""
    print(f"{counts['ok']} of {counted(counts['given'], 'case')} compared{repeated}.")
    if judged:
        from ..show.verdicts import summary, unjudged

        print(f"Protocol: {summary(verdict for _, verdict in judged)}.")
        print("".join(f"{oneLine(line)}\n" for line in notPassing(judged)), end="")
        print("".join(f"{line}\n" for line in filter(None, [unjudged(unlimited)])), end="")
    tellFailures([f"{titleOf(outcome)}: {outcome['reason']}" for outcome in failures], "results.csv")
    print(f"Results are in {oneLine(str(output))}{os.sep}")
