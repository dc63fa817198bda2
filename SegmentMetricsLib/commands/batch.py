"""The command batch: many cases, on the processors of this computer or on a cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.parallel import availableProcessors, requireWorkers
from ..base.texts import commaSeparated, oneLine, pluralize
from ..batch.summaryoptions import CORRECTIONS, MISSING, TREATMENTS, Options
from ..conventions.convention import OWN_CONVENTION
from ..model.naming import findMeant, hintAt, labelNumber, parse
from . import options as shared
from .parsing import Parser
from .results import finalStatus, tellFailures, tellWhere, terminalWidth
from .structuredreports import addStructuredReport

if TYPE_CHECKING:
    from ..batch.cases import CaseList
    from .batchrun import Done, Plan

NOTHING_RUN = 2


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = "Compare many cases and summarize them; a second run continues the first."
    parser.usage = "%(prog)s (CASES.csv | --reference-dir DIR --test-dir DIR) -o DIR [OPTION ...]"
    cases = "table: case, reference, test[, method, protocol, ...]"
    parser.add_argument("cases", metavar="CASES.csv", type=shared.pathFrom, nargs="?", help=cases)
    compared = parser.add_argument_group("what is compared")
    references = "folder of the references instead of a table"
    compared.add_argument("--reference-dir", metavar="DIR", type=shared.pathFrom, help=references)
    tests = "folder of the tests of a method, named like the references (may be repeated)"
    compared.add_argument("--test-dir", metavar="[NAME=]DIR", action="append", help=tests)
    shared.addShared(compared.add_argument, "--structure", "--pair", "--label-names", "--dose")
    shared.addSettings(parser)
    results = parser.add_argument_group("what comes out")
    shared.addOutput(results, "folder for the results; a later run continues there")
    results.add_argument("--overwrite", action="store_true", help="remove what other settings or cases left there")
    shared.addReport(parser, results)
    addStructuredReport(parser, results, isForEach=True)
    shared.addProtocol(results)
    plots = "draw figures of these measurements (the main ones)"
    results.add_argument("--plots", metavar="KEY,...", action="append", nargs="?", const="", help=plots)
    structure = "draw only this structure (may be repeated)"
    parser.addFurther("--plot-structure", metavar="NAME", action="append", help=structure)
    correction = "how p is corrected for the number of tests: of each measurement, or of all"
    for flag, name, choices, text in (
        ("--infinite", "treatment", TREATMENTS, "how means and standard deviations treat infinite values"),
        ("--missing", "missing", MISSING, "treat structures that one side of a case lacks as empty, or leave them out"),
        ("--correction", "correction", CORRECTIONS, correction),
    ):
        usual = getattr(Options, name)
        parser.addFurther(flag, dest=name, choices=choices, default=usual, help=f"{text} (%(default)s)")
    shared.addShared(parser.addFurther, "--resamples", "--seed", "--grid-uncertainty")
    where = results.add_mutually_exclusive_group()
    where.add_argument("--workers", metavar="N", type=int, help="number of processes (one per processor)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler")


def run(options: argparse.Namespace) -> int:
    """Run all cases that have no outcome yet and return the exit status.

    It is 1 if any case failed, 2 if none has a pair, and 3 if any has a verdict at least as bad as --fail-on.
    """
    requireWorkers(options.workers)
    plan = planFrom(options)
    from ..batch.resultfiles import CohortFiles
    from ..batch.tasks import cluster
    from .batchrun import carryOut

    here = nullcontext((None, options.workers or availableProcessors()))
    with (
        cluster(options.scheduler) if options.scheduler else here as (executor, workers),
        CohortFiles(plan.output, plan.tasks, options.overwrite) as files,
    ):
        done = carryOut(plan, files, workers, executor)
    tell(plan, done)
    if not done.found.cohort.roster.hasPairs:
        if done.counts["ok"]:
            print("segment-metrics: no case has a structure with the same name in both", file=sys.stderr)
        return NOTHING_RUN
    return finalStatus(bool(done.failures), [verdict for _, verdict in done.found.judged], options.fail_on)


def planFrom(options: argparse.Namespace) -> Plan:
    """Return what the options ask for, once all of it is known to be possible.

    Columns of the list and options that have no effect are named on standard error. Raises InputError.
    """
    settings = shared.settingsFrom(options)
    from ..batch.plots import keysToPlot, requirePlots
    from ..batch.resultfiles import columnsOf, requireInputsKept
    from ..case.protocol.protocol import readProtocol
    from ..io.doses import weightedDoses
    from ..io.labelnames import labelNamesFrom
    from ..model.ignored import IGNORE
    from .batchrun import planOf, withReports, withStructuredReports

    statistics = Options(**{one.name: getattr(options, one.name) for one in fields(Options)})
    given = _casesFrom(options)
    for sentence in given.remarks:
        print(f"segment-metrics: {oneLine(sentence)}", file=sys.stderr)
    if settings.ignore is None and IGNORE in labelNamesFrom(given.labels).values():
        print(f"segment-metrics: The label {IGNORE} counts on neither side where a reference has it.", file=sys.stderr)
    for option in options.pair:
        if option.endswith("="):
            raise InputError(f"A pair is given as REFERENCE=TEST, not {option!r}.")
    common = {
        "choices": tuple(pair for pair in shared.choicesFrom(options.pair) if pair[1] is not None),
        "names": tuple(options.structure or ()),
        "isSpread": options.grid_uncertainty,
    }
    protocol = None if options.protocol is None else readProtocol(options.protocol)
    plan = planOf(given, settings, options.output, statistics, protocol, options.dose or None, **common)
    if given.sheet.ignored:
        ignored = oneLine(commaSeparated(given.sheet.ignored))
        print(f"segment-metrics: {given.sheet.source}: ignored columns: {ignored}", file=sys.stderr)
    shared.tellWithoutEffect(options, plan.tasks[0].settings, {task.protocol for task in plan.tasks}, ["labelWeights"])
    # an error in a protocol is reported as the problem of a task
    if options.fail_on and not any(task.protocol or task.problem for task in plan.tasks):
        raise InputError("No case has a protocol, so there are no verdicts: give one, or leave --fail-on out.")
    if options.plots is not None:
        requirePlots()
        plotted = shared.namesFrom(options.plots)
        keysToPlot(plotted, columnsOf(plan.tasks))
        plan = replace(plan, plotted=plotted, plottedStructures=options.plot_structure or ())
    elif options.plot_structure:
        raise InputError("--plot-structure chooses structures for --plots, which is missing.")
    doses = [path for path, _ in weightedDoses(options.dose, Path())]
    inputs = (options.cases, options.protocol, given.labels, options.settings, *doses)
    requireInputsKept(shared.requireOutput(options), [Path(file) for file in inputs if isinstance(file, (str, Path))])
    if options.sr:
        plan = withStructuredReports(plan, hasCopies=not options.sr_by_name)
    return withReports(plan, options.report_conventions) if shared.reportAsked(options) else plan


def _casesFrom(options: argparse.Namespace) -> CaseList:
    """Return the cases in a table, or in a folder of references and one of tests for each method."""
    from ..batch.casefolders import casesIn, methodFolders
    from ..batch.cases import readList

    tests = None if options.test_dir is None else methodFolders(options.test_dir)
    if options.reference_dir is None and tests is None:
        if options.cases is None:
            raise InputError("Cases are given as a table, or as folders with --reference-dir and --test-dir.")
        return readList(options.cases, options.label_names)
    if options.cases is not None:
        raise InputError(f"Cases are given as a table or as folders, not as both: leave out {options.cases}.")
    if options.reference_dir is None or tests is None:
        missing = "--reference-dir" if options.reference_dir is None else "--test-dir"
        raise InputError(f"Folders are compared with --reference-dir and --test-dir; {missing} is missing.")
    return casesIn(options.reference_dir, tests, options.label_names)


def tell(plan: Plan, done: Done) -> None:
    """Print the results of all cases; failures go to standard error."""
    from ..batch.collected import notPassing, titleOf
    from ..batch.summarywriting import remarkOnMissing, summaryTable
    from ..metrics.findings import Finding, Kind
    from ..show.verdicts import noLimits, summary

    found, counts, first = done.found, done.counts, plan.tasks[0]
    convention = first.settings.convention
    if table := summaryTable(done.summaries, found.cohort, plan.statistics, terminalWidth()):
        stated = "" if convention == OWN_CONVENTION else f", boundary and overlap in the convention {convention}"
        print(f"Median (interquartile range){stated}\n\n{table}\n")
    # a summary must not hide that some of its numbers are meaningless
    sentences = [*found.alarms.lines(), *remarkOnMissing(found.cohort, plan.statistics)]
    sentences += [Finding.of(Kind.PLAN_OF_ONE)] if "dose" in first.settings.families else []
    sentences += [*unusedChoices(first.choices, found.paired)]
    known = {name for pair in found.paired for name in pair} | set(found.cohort.structures)
    for name in first.names:
        if labelNumber(name) is None and not findMeant(name, known):
            sentences.append(f"--structure {oneLine(name)}: no case has such a structure.{hintAt(name, known)}")
    if sentences := [*sentences, *done.undrawn]:
        print("\n".join(sentences) + "\n")
    repeated = f", {counts['repeated']} of them in an earlier run" if counts["repeated"] else ""
    print(f"{counts['ok']} of {pluralize(counts['given'], 'case')} compared{repeated}.")
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
