"""The command observers: several observers of the same structures, and tests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.parallel import requireWorkers, spread
from ..base.texts import oneLine
from . import options as shared
from .parsing import Parser
from .results import SOME_FAILED, progressBar, tellWhere, terminalWidth, unfinishedResults
from .structuredreports import addStructuredReport, dicomWriters

if TYPE_CHECKING:
    from ..case.observers.gathering import ObserverCase, Organ
    from ..case.observers.observed import ObservedStructure
    from ..case.observers.study import ObserverStudy

METHODS = ("majority", "staple", "mean-surface")


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = (
        "Compare several observers of the same structures: all pairs, their consensus, who differs most "
        "and where, and whether tests, such as automatic contours, are within the observers' range."
    )
    parser.usage = "%(prog)s OBSERVER OBSERVER ... [--test FILE|DIR] ... [-o DIR] [OPTION ...]"
    parser.add_argument("observers", metavar="OBSERVER", nargs="+", type=shared.pathFrom, help=shared.CONTOURS)
    compared = parser.add_argument_group("what is compared")
    test = "contours to compare with the observers, such as automatic ones (may be repeated)"
    compared.add_argument("--test", metavar="FILE|DIR", action="append", default=[], type=shared.pathFrom, help=test)
    names = "names of the observers, then of the tests (those of the files)"
    compared.add_argument("--names", metavar="NAME", nargs="+", help=names)
    shared.addShared(compared.add_argument, "--structure", "--label-names")
    how = "the voxels that most have, SimpleITK's STAPLE filter, or the zero of the mean signed distance (%(default)s)"
    compared.add_argument("--consensus", choices=METHODS, default=METHODS[0], help=f"consensus: {how}")
    shared.addSettings(parser)
    results = parser.add_argument_group("what comes out")
    shared.addOutput(results, "folder for the results (else they are only printed)")
    results.add_argument("--numbers-only", action="store_true", help="draw no pictures")
    shared.addShared(results.add_argument, "--report")
    protocol = "write tolerances and limits from the observers as a protocol"
    results.add_argument("--write-protocol", metavar="FILE", type=shared.pathFrom, help=protocol)
    addStructuredReport(parser, results)
    consensus = "write the consensus as DICOM segmentation (SEG)"
    parser.addFurther("--consensus-seg", metavar="FILE.dcm", type=shared.pathFrom, help=consensus)
    shared.addShared(results.add_argument, "--workers")


def run(options: argparse.Namespace) -> int:
    """Compare the observers, write and print the results, and return the exit status."""
    requireWorkers(options.workers)
    settings = shared.settingsFrom(options)
    shared.requireFolder(options, "--report" if options.report else "")
    if options.write_protocol is not None:
        shared.requireWritable(options.write_protocol.absolute().parent)
    writers = dicomWriters(options)
    shared.tellWithoutEffect(options, settings, [], ["ignore"])
    from ..case.observers.gathering import gather
    from ..case.observers.study import studyOf
    from ..io.labelnames import labelNamesFrom
    from ..show import observers as observerfiles
    from ..show import writing
    from .comparing import makeDisplayed

    labelNames = labelNamesFrom(options.label_names)
    names = None if options.names is None else shared.namesFrom(options.names)
    given = (options.observers, options.test, settings, names, options.consensus, options.structure, labelNames)
    case = replace(gather(*given), displayed=makeDisplayed)
    organs = case.comparable
    files = writing.fileNames(organ.name for organ in organs)
    output, earlier = options.output, []
    if output is not None:
        earlier = [*writing.earlierResults(output), *observerfiles.earlierResults(output)]
    with unfinishedResults(output, earlier) as unfinished:
        written = WrittenStudy(replace(case, organs=()), unfinished, not options.numbers_only)
        study = studyOf(case, _each(written, list(zip(organs, files, strict=True)), options.workers))
        shown = [file for organ, file in zip(organs, files, strict=True) if organ.name in {one.name for one in study}]
        if options.report:
            from ..show.report.observers import writeReport

            writeReport(study, shown, unfinished, output)
        if unfinished is not None:
            extra = {"report": writing.REPORT_FILE} if options.report else {}
            observerfiles.write(study, shown, unfinished, extra)
        dicom = [path for write in writers for path in write(study)]
    # after the results, which are kept if there is no protocol, and whose folder may be its own
    unwritten = "" if options.write_protocol is None else _protocolProblem(study, options.write_protocol)
    _show(study, options, bool(options.write_protocol and not unwritten), dicom)
    if unwritten:
        print(f"segment-metrics: {oneLine(unwritten)}", file=sys.stderr)
    isPartial = len(study) < len(organs) or bool(case.failures or case.leftOut or unwritten)
    return SOME_FAILED if isPartial else 0


@dataclass(frozen=True)
class WrittenStudy:
    """The work on any structure of a study with the files about it; each process has its own.

    folder: for the files, None to write none. isDrawn: whether to draw pictures.
    """

    case: ObserverCase
    folder: Path | None
    isDrawn: bool

    def __call__(self, task: tuple[Organ, str]) -> ObservedStructure:
        """Return what was found of a structure, given with the name of its files, after writing these."""
        from ..case.observers.study import observe

        organ, name = task
        found = observe(self.case, organ)
        if isinstance(found, InputError):
            raise found
        if self.folder is not None:
            from ..show import observers as observerfiles
            from ..show import writing

            observerfiles.writeStructure(found, name, self.folder)
            if self.isDrawn and found.variation is not None:
                from ..show.pictures.overlay import drawVariation

                drawVariation(found, self.folder / writing.fileName("picture", name))
        # without the surfaces, which are many times as large as the voxels that they are made of
        return replace(found, structures=[None if s is None else s.anew() for s in found.structures])


def _each(
    written: WrittenStudy, tasks: Sequence[tuple[Organ, str]], workers: int | None
) -> list[ObservedStructure | InputError]:
    """Return the result for every structure. workers: number of processes, None for as many as are worthwhile."""
    from ..case.casework import costOf

    def cost(task: tuple[Organ, str]) -> float:
        members = [one for one in task[0].structures if one is not None]
        return len(members) * (0.1 + 1e-5 * costOf(members))

    found: dict[int, ObservedStructure | InputError] = {}
    with progressBar(len(tasks), "structure", len(tasks) > 1) as progress:
        for number, outcome in spread(written, tasks, cost, workers):
            progress(tasks[number][0].name)
            if isinstance(outcome, Exception) and not isinstance(outcome, InputError):
                raise outcome
            found[number] = outcome
    return [found[number] for number in range(len(tasks))]


def _protocolProblem(study: ObserverStudy, path: Path) -> str:
    """Write the protocol from the observers, and return why that was not possible, "" if it was."""
    from ..case.observers.limits import protocolFrom
    from ..show.writing import writeProtocol

    try:
        protocol = protocolFrom(study)
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        writeProtocol(protocol, path)
    except InputError as error:
        return str(error)
    except OSError as error:
        return f"{path}: the protocol cannot be written ({error.strerror})."
    return ""


def _show(study: ObserverStudy, options: argparse.Namespace, hasProtocol: bool, dicom: Sequence[Path]) -> None:
    from ..show import observers as observerfiles
    from ..show import tables

    print(tables.align(observerfiles.table(study), terminalWidth()))
    for sentence in observerfiles.sentences(study):
        print(f"\n{oneLine(sentence)}")
    if hasProtocol:
        print(f"\nThe protocol is in {oneLine(str(options.write_protocol))}")
    tellWhere(options.output, isApart=True, dicom=dicom)
