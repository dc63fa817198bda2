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
    isReportWanted,
    namesFrom,
    protocolFrom,
    requireWritable,
    settingsFrom,
    tellWithoutEffect,
)

if TYPE_CHECKING:
    from ..batch.cases import Task
    from ..io.sheets import Sheet
    from ..settings.settings import Settings


@dataclass(frozen=True)
class Plan:
    """What a batch is to do, read from its options before anything runs.

    output: the folder of the results. source: the name of the list of cases. names: of the structures that were
    chosen, () for all. pairs: names of the pairs that were chosen. isReported: whether there are reports. correlated:
    names of measurements, None for all. plotted: names of measurements, None for no plots; plottedStructures: of the
    structures in them, () for all.
    """

    tasks: Sequence[Task]
    settings: Settings
    output: Path
    source: str
    names: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    statistics: Options
    isReported: bool
    correlated: Sequence[str] | None
    plotted: Sequence[str] | None
    plottedStructures: Sequence[str]


def planned(options: argparse.Namespace) -> Plan:
    """Return what the options ask for, once all of it is known to be possible.

    Columns of the list and options that have no effect are named on standard error. Raises InputError.
    """
    if options.seed < 0:
        raise InputError(f"The seed must not be negative, not {options.seed}.")
    settings = settingsFrom(options)
    requireWritable(options.output)
    from ..base.texts import commaSeparated
    from ..batch.cases import tasksOf
    from ..batch.correlations import chosenKeys
    from ..batch.plots import keysToPlot, requireMatplotlib
    from ..batch.resultfiles import columnsOf, requireInputsKept
    from ..io.labelnames import labelNamesFrom
    from ..model.ignored import IGNORE

    statistics = Options(
        treatment=options.infinite,
        resamples=options.resamples,
        seed=options.seed,
        missing=options.missing,
        correction=options.correction,
    )
    pairs = pairsFrom(options)
    cases, structures, labelFile = casesFrom(options)
    labelNames = labelNamesFrom(labelFile)
    if settings.ignore is None and IGNORE in labelNames.values():
        print(f"segment-metrics: The label {IGNORE} counts on neither side where a reference has it.", file=sys.stderr)
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
    plotted = None if options.plots is None else namesFrom(options.plots)
    if plotted is not None:
        requireMatplotlib()
        keysToPlot(plotted, columnsOf(tasks))
    elif options.plot_structure:
        raise InputError("--plot-structure chooses structures for --plots, which is missing.")
    return Plan(
        tasks=withExtras(tasks, settings, options),
        settings=settings,
        output=options.output,
        source=cases.source,
        names=names,
        pairs=pairs,
        statistics=statistics,
        isReported=isReportWanted(options),
        correlated=correlated,
        plotted=plotted,
        plottedStructures=options.plot_structure or (),
    )


def withExtras(tasks: Sequence[Task], settings: Settings, options: argparse.Namespace) -> Sequence[Task]:
    """Return the tasks with what is made of their comparisons: the grid's uncertainty, reports, displayed surfaces."""
    if options.grid_uncertainty:
        tasks = [replace(task, isSpread=True, fingerprint=f"{task.fingerprint}+grid") for task in tasks]
    if isReportWanted(options):
        tasks = withReports(tasks, options.output, options.report_conventions)
    if settings.surface == "displayed":
        from .pairwork import displayed

        tasks = [replace(task, displayed=displayed) for task in tasks]
    return tasks


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


def withReports(tasks: Sequence[Task], output: Path, withConventions: bool) -> list[Task]:
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
