"""The command compare: two files or folders."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ..base.errors import InputError
from ..base.parallel import requireWorkers
from . import options as shared
from .parsing import Parser
from .structuredreports import addStructuredReport, dicomWriters


def addArguments(parser: Parser) -> None:
    """Add what the command takes to its parser."""
    parser.description = "Compare a test segmentation with a reference: one structure, or all that both have."
    parser.usage = "%(prog)s REFERENCE TEST [-o DIR] [OPTION ...]"
    shared.addShared(parser.add_argument, "reference", "test")
    compared = parser.add_argument_group("what is compared")
    shared.addShared(compared.add_argument, "--structure", "--pair", "--label-names", "--dose")
    image = "image under the contours in report and pictures"
    compared.add_argument("--image", metavar="FILE", type=shared.pathFrom, help=image)
    shared.addSettings(parser)
    results = parser.add_argument_group("what comes out")
    shared.addOutput(results, "folder for the results (else they are only printed)")
    results.add_argument("--numbers-only", action="store_true", help="write no surfaces, pictures or worst places")
    shared.addReport(parser, results)
    patient = "write a report that names this patient (by default it names none)"
    parser.addFurther("--report-patient", metavar="TEXT", default="", help=patient)
    addStructuredReport(parser, results)
    shared.addProtocol(results)
    results.add_argument("--json", action="store_true", help="print the content of metrics.json instead of tables")
    shared.addShared(results.add_argument, "--workers")
    shared.addShared(parser.addFurther, "--grid-uncertainty")


def run(options: argparse.Namespace) -> int:
    """Compare two files or folders and return the exit status."""
    requireWorkers(options.workers)
    shared.requireFolder(options, shared.reportAsked(options))
    settings = shared.settingsFrom(options)
    if options.fail_on and options.protocol is None:
        raise InputError("Without a protocol there is no verdict: give --protocol, or leave --fail-on out.")
    writers = dicomWriters(options)
    from ..case.comparison import adapt
    from ..case.protocol.protocol import readProtocol
    from ..io.doses import readWeighted, weightedDoses
    from .comparing import compareAndWrite, makeDisplayed

    protocol = None if options.protocol is None else readProtocol(options.protocol)
    settings, dose = adapt(settings, dose=readWeighted(weightedDoses(options.dose, Path())))
    shared.tellWithoutEffect(options, settings, [protocol])
    case = shared.openFrom(options, settings, dose=dose, image=options.image, protocol=protocol)
    case = replace(case, displayed=makeDisplayed, isSpread=options.grid_uncertainty)
    return compareAndWrite(case, options, dicomWriters=writers)
