"""The command demo: the sample that comes with the project."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from .comparing import Request, compareAndWrite
from .options import DEFAULTS, addOutput, addSettings, requireWritable, settingsFrom


def add(commands) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser(
        "demo",
        help="compare two made-up observers' head-and-neck contours",
        description="Write the contours of two made-up observers into a folder, and compare them.",
        usage="%(prog)s [-o DIR] [OPTION ...]",
        epilog=DEFAULTS,
    )
    addOutput(demo, "folder (%(default)s)", Path("segment-metrics-demo"))
    addSettings(demo)
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the two observers of the sample and return the exit status."""
    settings = settingsFrom(options)
    requireWritable(options.output)
    from ..case.casework import openCase
    from ..io.reading import readAll
    from ..io.samples import FILES, FOLDER

    paths = [FOLDER / name for name in FILES]
    # the results refer to the copies beside them, not to the files of the package
    reference, test = (
        own.having(replace(s, file=str(options.output / path.name)) for s in own)
        for own, path in zip(readAll(paths), paths, strict=True)
    )
    return compareAndWrite(openCase(reference, test, settings), Request(options.output, paths))
