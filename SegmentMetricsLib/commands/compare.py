"""The command compare: two files or folders."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import InputError
from ..base.parallel import requireWorkers
from ..base.texts import tellingApart
from .comparing import compareAndWrite
from .options import (
    DEFAULTS,
    addDose,
    addGridUncertainty,
    addLabelNames,
    addOutput,
    addPairs,
    addProtocol,
    addReport,
    addSettings,
    addStructure,
    choicesFrom,
    isReportWanted,
    pathFrom,
    protocolFrom,
    requireWritable,
    settingsFrom,
    tellWithoutEffect,
)
from .parsing import Parser
from .structuredreports import addStructuredReport, dicomWriters

if TYPE_CHECKING:
    from ..case.casework import Case

# The options for a report by their names in the parser's namespace.
REPORTS = {"report": "--report", "report_conventions": "--report-conventions", "report_patient": "--report-patient"}


def fill(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = "Compare a test segmentation with a reference: one structure, or all that both have."
    parser.usage = "%(prog)s REFERENCE TEST [-o DIR] [OPTION ...]"
    parser.epilog = DEFAULTS
    parser.add_argument("reference", metavar="REFERENCE", type=pathFrom, help="label map, segmentation, mesh or folder")
    parser.add_argument("test", metavar="TEST", type=pathFrom, help="label map, segmentation, mesh or folder")
    compared = parser.add_argument_group("what is compared")
    addStructure(compared)
    addPairs(compared)
    addLabelNames(compared)
    addDose(compared)
    compared.add_argument(
        "--image", metavar="FILE", type=pathFrom, help="image under the contours in report and pictures"
    )
    addSettings(parser)
    results = parser.add_argument_group("what comes out")
    addOutput(results, "folder for the results (else they are only printed)")
    results.add_argument("--numbers-only", action="store_true", help="write no surfaces, pictures and worst places")
    addReport(parser, results)
    parser.addFurther(
        "--report-patient",
        metavar="TEXT",
        default="",
        help="write a report with this name of the patient (it has none)",
    )
    addStructuredReport(parser, results)
    addProtocol(results)
    results.add_argument("--json", action="store_true", help="print the content of metrics.json instead of tables")
    results.add_argument("--workers", metavar="N", type=int, help="number of processes (one per processor, if it pays)")
    addGridUncertainty(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare two files or folders and return the exit status."""
    requireWorkers(options.workers)
    requireFolderForReport(options)
    settings = settingsFrom(options)
    if options.fail_on and options.protocol is None:
        raise InputError("Without a protocol there is no verdict: give --protocol, or leave --fail-on out.")
    isReported = isReportWanted(options)
    if options.output is not None:
        requireWritable(options.output)
    writers = dicomWriters(options)
    from ..case.casework import openCase
    from ..case.comparison import adapt
    from ..io.doses import readWeighted, weightedDoses
    from ..io.labelnames import labelNamesFrom
    from .pairwork import displayed

    choices = choicesFrom(options.pair or ())
    protocol = protocolFrom(options)
    settings, dose = adapt(settings, dose=readWeighted(weightedDoses(options.dose or (), Path())))
    tellWithoutEffect(options, settings, [protocol])
    case = openCase(
        options.reference,
        options.test,
        settings,
        names=options.structure,
        choices=choices,
        labelNames=labelNamesFrom(options.label_names),
        needsPair=True,
        dose=dose,
        image=options.image,
        protocol=protocol,
    )
    case = replace(case, displayed=displayed, isSpread=options.grid_uncertainty)
    report = newReport(options, case) if isReported else None
    if report is not None:
        case = replace(case, settings=report.settings)
    return compareAndWrite(
        case,
        options.output,
        report=report,
        failOn=options.fail_on,
        workers=options.workers,
        isNumbersOnly=options.numbers_only,
        isJson=options.json,
        dicomWriters=writers,
    )


def requireFolderForReport(options: argparse.Namespace) -> None:
    """Raise InputError when a report is requested without a folder for it."""
    asked = next((flag for name, flag in REPORTS.items() if getattr(options, name)), None)
    if asked and options.output is None:
        raise InputError(f"{asked} writes files and needs a folder for them: give --output DIR.")


def newReport(options: argparse.Namespace, case: Case):
    """Return an empty report about a case as requested by the options; its settings also select slices."""
    from ..show.report import Report

    titles = tellingApart([options.reference, options.test])
    origins = (titles[options.reference], titles[options.test])
    title = f"{origins[1]} compared with {origins[0]}"
    return Report(
        title,
        case.settings,
        withConventions=options.report_conventions,
        patient=options.report_patient,
        origins=origins,
        image=case.image,
    )
