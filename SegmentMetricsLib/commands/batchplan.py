"""What the command batch is to do: read from its options, and known to be possible, before anything runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.texts import oneLine
from ..batch.summaryoptions import Options
from .options import (
    choicesFrom,
    namesFrom,
    reportAsked,
    requireOutput,
    requireWritable,
    settingsFrom,
    tellWithoutEffect,
)

if TYPE_CHECKING:
    from ..batch.cases import CaseList, Task
    from ..case.protocol.protocol import Protocol
    from ..settings.settings import Settings


@dataclass(frozen=True)
class Plan:
    """What a batch is to do, read from its options before anything runs.

    output: the folder of the results. given: the list of cases. names: of the structures that were chosen, () for all.
    pairs: names of the pairs that were chosen. statistics: the options of the summary. isReported: whether there are
    reports. plotted: names of measurements, None for no plots; plottedStructures: of the structures in them, () for
    all.
    """

    tasks: Sequence[Task]
    settings: Settings
    output: Path
    given: CaseList
    names: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    statistics: Options
    isReported: bool = False
    plotted: Sequence[str] | None = None
    plottedStructures: Sequence[str] = ()


def planFrom(options: argparse.Namespace) -> Plan:
    """Return what the options ask for, once all of it is known to be possible.

    Columns of the list and options that have no effect are named on standard error. Raises InputError.
    """
    if options.seed < 0:
        raise InputError(f"The seed must not be negative, not {options.seed}.")
    settings = settingsFrom(options)
    if options.output is not None:
        requireWritable(options.output)
    from ..base.texts import commaSeparated
    from ..batch.plots import keysToPlot, requirePlots
    from ..batch.resultfiles import columnsOf, requireInputsKept
    from ..case.protocol.protocol import readProtocol
    from ..io.doses import weightedDoses
    from ..io.labelnames import labelNamesFrom
    from ..model.ignored import IGNORE

    statistics = Options(
        treatment=options.infinite,
        resamples=options.resamples,
        seed=options.seed,
        missing=options.missing,
        correction=options.correction,
    )
    given = _casesFrom(options)
    for sentence in given.remarks:
        print(f"segment-metrics: {oneLine(sentence)}", file=sys.stderr)
    if settings.ignore is None and IGNORE in labelNamesFrom(given.labels).values():
        print(f"segment-metrics: The label {IGNORE} counts on neither side where a reference has it.", file=sys.stderr)
    for option in options.pair:
        if option.endswith("="):
            raise InputError(f"A pair is given as REFERENCE=TEST, not {option!r}.")
    pairs = [(reference, test) for reference, test in choicesFrom(options.pair) if test is not None]
    protocol = None if options.protocol is None else readProtocol(options.protocol)
    names, dose = options.structure or (), options.dose or None
    plan = planOf(given, settings, options.output, protocol, pairs, names, dose, statistics)
    if options.grid_uncertainty:
        tasks = [replace(task, isSpread=True, fingerprint=f"grid+{task.fingerprint}") for task in plan.tasks]
        plan = replace(plan, tasks=tasks)
    if given.sheet.ignored:
        ignored = oneLine(commaSeparated(given.sheet.ignored))
        print(f"segment-metrics: {given.sheet.source}: ignored columns: {ignored}", file=sys.stderr)
    tellWithoutEffect(options, plan.settings, {task.protocol for task in plan.tasks}, ["labelWeights"])
    # an error in a protocol is reported as the problem of a task
    if options.fail_on and not any(task.protocol or task.problem for task in plan.tasks):
        raise InputError("No case has a protocol, so there are no verdicts: give one, or leave --fail-on out.")
    if options.plots is not None:
        requirePlots()
        plotted = namesFrom(options.plots)
        keysToPlot(plotted, columnsOf(plan.tasks))
        plan = replace(plan, plotted=plotted, plottedStructures=options.plot_structure or ())
    elif options.plot_structure:
        raise InputError("--plot-structure chooses structures for --plots, which is missing.")
    doses = [path for path, _ in weightedDoses(options.dose, Path())]
    inputs = (options.cases, options.protocol, given.labels, options.settings, *doses)
    requireInputsKept(requireOutput(options), [Path(file) for file in inputs if isinstance(file, (str, Path))])
    if options.sr:
        plan = withStructuredReports(plan, hasCopies=not options.sr_by_name)
    return withReports(plan, options.report_conventions) if reportAsked(options) else plan


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


def planOf(
    given: CaseList,
    settings: Settings,
    output: Path,
    protocol: Protocol | None,
    pairs: Sequence[tuple[str, str]],
    names: Sequence[str],
    dose: str | Path | Sequence[str] | None,
    statistics: Options | None,
) -> Plan:
    """Return the plan of a batch of the given cases; arguments are as of a Plan and tasksOf(). Raises InputError."""
    from ..batch.cases import tasksOf

    tasks = tasksOf(given, settings, protocol, pairs, names, dose)
    # they ask for the family dose as well if any case has one
    settings = next((task.settings for task in tasks), settings)
    if settings.surface == "displayed":
        from .comparing import makeDisplayed

        tasks = [replace(task, displayed=makeDisplayed) for task in tasks]
    return Plan(tasks, settings, output, given, names, pairs, statistics or Options())


def withReports(plan: Plan, withConventions: bool = False) -> Plan:
    """Return a plan with a report file for each case, in the folder reports of the results."""
    from ..batch.resultfiles import REPORTS
    from ..show.report.blocks import PLOTLY_FILE
    from ..show.report.document import hasPlotly, plotlyScript
    from ..show.report.index import INDEX
    from ..show.writing import fileNames

    folder = (plan.output / REPORTS).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if hasPlotly():  # once for all pages
        (folder / PLOTLY_FILE).write_text(plotlyScript(), encoding="utf-8")
    # a case may have the name of the page about all cases
    _, *names = fileNames([Path(INDEX).stem, *("_".join(filter(None, task.key)) for task in plan.tasks)])
    tasks = [
        # the fingerprint includes the report, so that an outcome without one is not reused
        replace(
            task,
            report=str(folder / f"{name}.html"),
            withConventions=withConventions,
            script=PLOTLY_FILE,
            fingerprint=f"{task.fingerprint} report" + (" with conventions" if withConventions else ""),
        )
        for task, name in zip(plan.tasks, names, strict=True)
    ]
    return replace(plan, tasks=tasks, isReported=True)


def withStructuredReports(plan: Plan, hasCopies: bool) -> Plan:
    """Return a plan with a DICOM structured report for each case, in the folder dicom of the results."""
    from ..batch.resultfiles import DICOM, REPORT
    from ..io.dicom.opening import WRITING, requireInstalled
    from ..show.writing import fileNames

    requireInstalled("highdicom", WRITING)
    folder = (plan.output / DICOM).resolve()
    names = fileNames("_".join(filter(None, task.key)) for task in plan.tasks)
    tasks = [
        replace(
            task,
            structuredReport=str(folder / name / REPORT),
            hasCopies=hasCopies,
            fingerprint=f"{task.fingerprint} dicom" + ("" if hasCopies else " by name"),
        )
        for task, name in zip(plan.tasks, names, strict=True)
    ]
    return replace(plan, tasks=tasks)
