"""The command demo: the sample that comes with the project."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from .compare import newReport
from .comparing import Request, compareAndWrite
from .options import DEFAULTS, addOutput, addReport, addSettings, isReportWanted, requireWritable, settingsFrom


def add(commands) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser(
        "demo",
        help="compare two made-up observers' head-and-neck contours",
        description="Write the contours of two made-up observers and their CT into a folder, and compare them.",
        usage="%(prog)s [-o DIR] [OPTION ...]",
        epilog=DEFAULTS,
    )
    addOutput(demo, "folder (%(default)s)", Path("segment-metrics-demo"))
    addReport(demo)
    addSettings(demo)
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the two observers of the sample and return the exit status."""
    settings = settingsFrom(options)
    requireWritable(options.output)
    from ..case.casework import openCase
    from ..io.reading import readAll
    from ..io.samples import FILES, FOLDER, IMAGE

    paths, image = [FOLDER / name for name in FILES], FOLDER / IMAGE
    # the results refer to the copies beside them, not to the files of the package
    options.reference, options.test = (options.output / path.name for path in paths)
    reference, test = (
        own.having(replace(structure, file=str(copy)) for structure in own)
        for own, copy in zip(readAll(paths), (options.reference, options.test), strict=True)
    )
    case = openCase(reference, test, settings, image=image)
    report = newReport(options, case) if isReportWanted(options) else None
    if report is not None:
        case = replace(case, settings=report.settings)
    return compareAndWrite(case, Request(options.output, [*paths, image], report=report))
