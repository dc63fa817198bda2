"""What a batch does: its plan, the run of its cases, and what is written about all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError, asPath
from ..base.parallel import requireWorkers
from ..base.texts import oneLine, pluralize
from ..batch import tasks
from ..batch.batchresults import BatchResults, readBatch
from ..batch.casefolders import casesIn
from ..batch.cases import FAILED, CaseList, Task, readList, tasksOf
from ..batch.collected import Collected
from ..batch.plots import removePlots, writePlots
from ..batch.resultfiles import DICOM, REPORT, REPORTS, CohortFiles, requireInputsKept, writeParquet
from ..batch.statistics import Summary, compareMethods
from ..batch.summaryoptions import Options
from ..batch.summarywriting import lackingCases, writeSummary
from ..case.protocol.protocol import Protocol, asProtocol
from ..io.dicom.opening import WRITING, requireInstalled
from ..model.structures import asName
from ..settings.settings import Settings, asSettings
from ..show.report.blocks import PLOTLY_FILE
from ..show.report.document import hasPlotly, plotlyScript
from ..show.report.index import INDEX
from ..show.writing import fileNames
from .comparing import makeDisplayed
from .options import requireWritable
from .results import progressBar

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True)
class Plan:
    """What a batch is to do, read from its options before anything runs.

    tasks: of all cases, with the same settings, chosen structures and pairs, and with or without reports. output: the
    folder of the results. given: the list of cases. statistics: the options of the summary. plotted: names of
    measurements, None for no plots; plottedStructures: of the structures in them, () for all.
    """

    tasks: Sequence[Task]
    output: Path
    given: CaseList
    statistics: Options
    plotted: Sequence[str] | None = None
    plottedStructures: Sequence[str] = ()


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

    A case that fails does not stop the others. The same call continues where it was interrupted.

    Parameters
    ----------
    cases : str | os.PathLike
        A table with the columns case, reference and test; if `tests` is given, the folder of the references.
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
        The dose of a plan, for cases without one of their own; several RTDOSE of its parts as FILE or FILE=WEIGHT.
    options : Options | None, optional
        Options of the statistics; None means the defaults.
    isReported : bool, optional
        Whether to write a report for each case, and a page about all.
    overwrites : bool, optional
        Whether results in the folder that were made with other settings, or of other cases, are removed; otherwise
        they are an error.
    workers : int, optional
        Number of processes. 1 uses this process only; more import the calling script again, so that it needs
        `if __name__ == "__main__":`.

    Returns
    -------
    BatchResults
        Its remarks say which files have no counterpart and which cases a method lacks.

    Raises
    ------
    ValueError
        For a table or folders that cannot be read, and for arguments that a batch cannot use.
    """
    requireWorkers(workers)
    path, folder = asPath(cases), asPath(output)
    requireWritable(folder)
    requireInputsKept(folder, [path])
    if tests is None:
        given = readList(path, labelNames)
    else:
        methods = tests.items() if isinstance(tests, Mapping) else [("", tests)]
        given = casesIn(path, [(name, asPath(one)) for name, one in methods], labelNames)
    pairs = tuple((asName(name), asName(other)) for name, other in (choices or {}).items())
    chosen = tuple(asName(one) for one in ([names] if isinstance(names, (str, int)) else names or ()))
    rules, statistics = asProtocol(protocol), options or Options()
    plan = planOf(given, asSettings(settings), folder, statistics, rules, dose, choices=pairs, names=chosen)
    plan = withReports(plan) if isReported else plan
    with CohortFiles(folder, plan.tasks, overwrites) as files:
        done = carryOut(plan, files, workers, isHere=True)
    remarks = [*given.remarks, *lackingCases(done.found.cohort)]
    return BatchResults([*readBatch(folder).outcomes, *done.broken], given.cases, remarks)


def planOf(
    given: CaseList,
    settings: Settings,
    output: Path,
    statistics: Options,
    protocol: Protocol | None,
    dose: str | Path | Sequence[str] | None,
    **common: Any,
) -> Plan:
    """Return the plan of a batch of the given cases; arguments are as of a Plan and tasksOf(). Raises InputError."""
    displayed = makeDisplayed if settings.surface == "displayed" else None
    return Plan(tasksOf(given, settings, protocol, dose, displayed=displayed, **common), output, given, statistics)


def withReports(plan: Plan, withConventions: bool = False) -> Plan:
    """Return a plan with a report file for each case, in the folder reports of the results."""
    folder = (plan.output / REPORTS).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if hasPlotly():  # once for all pages
        (folder / PLOTLY_FILE).write_text(plotlyScript(), encoding="utf-8")
    # a case may have the name of the page about all cases
    _, *names = fileNames([Path(INDEX).stem, *("_".join(filter(None, task.key)) for task in plan.tasks)])
    tasks = [
        replace(task, report=str(folder / f"{name}.html"), withConventions=withConventions, script=PLOTLY_FILE)
        for task, name in zip(plan.tasks, names, strict=True)
    ]
    return replace(plan, tasks=tasks)


def withStructuredReports(plan: Plan, hasCopies: bool) -> Plan:
    """Return a plan with a DICOM structured report for each case, in the folder dicom of the results.

    With several methods, each has a folder there with those of its cases.
    """
    requireInstalled("highdicom", WRITING)
    folder = (plan.output / DICOM).resolve()
    methods = list(dict.fromkeys(task.method for task in plan.tasks))
    places: dict[tuple[str, str], str] = {}
    for method, name in zip(methods, fileNames(methods), strict=True):
        own = [task for task in plan.tasks if task.method == method]
        ofMethod = folder / name if any(methods) else folder
        for task, case in zip(own, fileNames(one.case for one in own), strict=True):
            places[task.key] = str(ofMethod / case / REPORT)
    tasks = [replace(task, structuredReport=places[task.key], hasCopies=hasCopies) for task in plan.tasks]
    return replace(plan, tasks=tasks)


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
    repeated = len(files.done)
    # lines that are not tasks, such as a second one of the same case, are only rows of the tables
    broken = [tasks.runCase(task) for task in plan.tasks if task.problem]
    waiting = [task for task in plan.tasks if not task.problem and task.key not in files.done]
    failed: dict[tuple[str, str], dict] = {}
    try:
        running = closing(tasks.runAll(waiting, workers, executor, isHere=isHere))
        with progressBar(len(waiting), "case") as progress, running as outcomes:
            for task, outcome in outcomes:
                files.add(outcome)
                if outcome["status"] == FAILED:
                    failed[task.key] = {**outcome, "pairs": []}
                progress(task.title)
    except (KeyboardInterrupt, SystemExit):  # the latter on SIGTERM
        done = f"done so far: {len(files.done)} of {pluralize(len(plan.tasks), 'case')}, kept in {plan.output}{os.sep}"
        print(oneLine(f"segment-metrics: {done}; run the same command again to go on from there"), file=sys.stderr)
        raise
    finally:
        files.writeTables(broken)
    # in the order of the tasks, whichever was completed first
    failures = [*broken, *(failed[task.key] for task in waiting if task.key in failed)]
    given, first = len(plan.tasks), plan.tasks[0]
    counts = {"given": given, "ok": given - len(failures), "failed": len(failures), "repeated": repeated}
    found = Collected(files.outcomes(), broken, files.roster, plan.given.cases)
    cohort, statistics, convention = found.cohort, plan.statistics, first.settings.convention
    tests = compareMethods(cohort, statistics)
    content = found.page.content(cohort, statistics, tests) if first.report else None
    files.writeIndex(found.lines, Path(plan.given.sheet.source).stem, content, lackingCases(cohort))
    summaries = writeSummary(cohort, statistics, tests, counts, plan.output, convention, found.alarms)
    found.lesionSizes.write(plan.output, statistics.missing)
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
    return Done(found, broken, failures, counts, summaries, undrawn)
